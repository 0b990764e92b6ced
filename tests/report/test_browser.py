"""Reports in a real browser: they load without a complaint, on screen and on paper."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

import tacit
from tests.report.releases import large_release, small_release, wide_release

pytestmark = pytest.mark.xdist_group("browser")
RELEASES = {"small": small_release, "wide": wide_release, "large": large_release}


@pytest.fixture(scope="module")
def chromium() -> str:
    """Debian's browser; a test that needs it skips where it is absent."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        reason = "no chromium to look at reports with"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def look(chromium: str, folder: Path, page: Path, *options: str) -> tuple[str, list[str]]:
    """Open a page: the document as the browser holds it, and what it complains about."""
    done = subprocess.run(
        [
            chromium,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            f"--user-data-dir={folder / 'profile'}",
            "--enable-logging=stderr",
            *options,
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout, re.findall(r":CONSOLE[^\]]*\] (.*)", done.stderr)


@pytest.mark.parametrize("name", RELEASES)
def test_a_report_opens_without_complaints(chromium: str, name: str, tmp_path: Path) -> None:
    """The browser has nothing to say, and draws every picture."""
    release = RELEASES[name]()
    page = release.report(tmp_path / "r.confidential.html", confidential=True)
    document, complaints = look(chromium, tmp_path, page, "--dump-dom")
    assert complaints == []
    assert document.count("<svg") == page.read_text().count("<svg") >= 4


def test_complaints_are_heard(chromium: str, tmp_path: Path) -> None:
    """Something that is fetched from elsewhere would be refused, and the refusal be heard."""
    text = small_release().report(tmp_path / "r.html").read_text()
    page = tmp_path / "bad.html"
    page.write_text(text.replace("</main>", '<img src="other.png" alt=""></main>'))
    _, complaints = look(chromium, tmp_path, page, "--dump-dom")
    assert any("Content Security Policy" in complaint for complaint in complaints)


def test_a_report_can_be_seen_and_printed(chromium: str, tmp_path: Path) -> None:
    """A screenshot has the requested size, and the paper version has pages."""
    page = wide_release().report(tmp_path / "r.html")
    shot, paper = tmp_path / "r.png", tmp_path / "r.pdf"
    look(chromium, tmp_path, page, "--window-size=1100,1600", f"--screenshot={shot}")
    assert struct.unpack(">II", shot.read_bytes()[16:24]) == (1100, 1600)
    look(chromium, tmp_path, page, f"--print-to-pdf={paper}")
    assert paper.read_bytes().startswith(b"%PDF")


def test_the_comparison_opens_without_complaints(chromium: str, tmp_path: Path) -> None:
    """The page that compares methods is as sound."""
    row = tacit.report.ComparedMethod(
        method="suppress",
        algorithm="auto",
        status="optimal",
        seconds=1,
        cells=9,
        exposed=0.0,
        deducible_width=0.5,
        utility_loss=0.1,
    )
    page = tacit.report.comparison_report([row], tmp_path / "c.html")
    _, complaints = look(chromium, tmp_path, page, "--dump-dom")
    assert complaints == []
