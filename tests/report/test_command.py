"""Reports from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacit
from tacit.cli.main import main


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A JJ file."""
    path = tmp_path / "table.jj"
    tacit.write_jj(tacit.generators.generate_by_name("2d", structure="5-6-3", seed=1), path)
    return path


@pytest.mark.usefixtures("capsys")
def test_both_reports_of_a_jj_file(table: Path, tmp_path: Path) -> None:
    """The report for readers and the internal one are written where asked."""
    readers, house = tmp_path / "r.html", tmp_path / "r.confidential.html"
    arguments = ["protect", str(table), "--quiet", "--time-limit", "5"]
    reports = ["--report", str(readers), "--working-report", str(house)]
    assert main([*arguments, *reports]) == 0
    assert "CONFIDENTIAL" not in readers.read_text()
    assert "CONFIDENTIAL" in house.read_text().splitlines()[0]


@pytest.mark.parametrize(
    ("option", "name", "message"),
    [
        ("--report", "r.pdf", "the name must end in .html"),
        ("--working-report", "r.html", "as in r.confidential.html"),
        ("--report", "nowhere/r.html", "the directory of this output does not exist"),
    ],
)
def test_names_are_refused_before_the_work(
    table: Path,
    tmp_path: Path,
    option: str,
    name: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An impossible name is reported at once."""
    assert main(["protect", str(table), option, str(tmp_path / name)]) == 1
    told = capsys.readouterr()
    assert message in told.err
    assert told.out == ""
