"""Pages use public names of tacit only, and name files that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tacit

from .blocks import PAGES, ROOT

CONTRIBUTING = ROOT / "CONTRIBUTING.md"
OTHERS = (CONTRIBUTING, ROOT / "SECURITY.md", ROOT / "studies" / "README.md")
PUBLIC_MODULES = ("examples", "generators", "jobs", "report", "rules")
_IMPORT = re.compile(r"(?m)^(?:>>>|\.\.\.) (?:from (tacit[\w.]*) import (.+)|import (tacit[\w.]*))")
_PATH = re.compile(
    r"`(?P<path>(?:[\w.-]+/)*(?:[\w.-]+\.(?:py|md|toml|yml|cff)|(?<=/)))(?:::(?P<name>\w+))?`"
)
_OWN = tuple(
    f"{folder.name}/"
    for parent in (ROOT, ROOT / "src" / "tacit")
    for folder in parent.iterdir()
    if folder.is_dir() and not folder.name.startswith((".", "_"))
)
"""Folders of the project and of the package; other paths on pages belong to examples."""
_MADE = ("site/", "dist/")
"""Folders that commands make."""


def _is_public(module: str, names: str = "") -> bool:
    if module == "tacit":
        return {name.strip().split()[0] for name in names.split(",") if name.strip()} <= set(
            tacit.__all__
        )
    return module.removeprefix("tacit.") in PUBLIC_MODULES


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_blocks_import_public_names_only(page: Path) -> None:
    """What a page shows can be done by its readers, in the next version as well."""
    for module, names, plain in _IMPORT.findall(page.read_text()):
        assert _is_public(module or plain, names), f"{module or plain}: {names}"


def test_public_modules_are_public() -> None:
    """The modules that pages may import from are names of the package."""
    assert set(PUBLIC_MODULES) <= set(tacit.__all__)
    assert not _is_public("tacit.attack.cuts", "Separator")
    assert not _is_public("tacit", "Separator")


@pytest.mark.parametrize(
    "page", [*PAGES, *OTHERS], ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_paths_that_pages_name_exist(page: Path) -> None:
    """Paths are those of the project or of the package; `file.py::Name` is defined there."""
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text())
    absent = []
    for found in _PATH.finditer(text):
        path, name = found["path"], found["name"]
        if not path.startswith(_OWN) or path.startswith(_MADE):
            continue
        if path.startswith("methods/suppress/algorithms/"):
            # Checked with the page on how a job runs.
            continue
        files = [each for each in (ROOT / path, ROOT / "src" / "tacit" / path) if each.exists()]
        defined = name is None or any(
            re.search(rf"(?m)^(?:def|class) {name}\b", file.read_text()) for file in files
        )
        if not files or not defined:
            absent.append(found[0])
    assert absent == []


def test_paths_are_recognised() -> None:
    """Files, folders and definitions of the project are; files of users are not."""
    text = "`src/tacit/clock.py`, `io/exports/`, `methods/engine/driver.py::Search`, `job.toml`"
    found = [each["path"] for each in _PATH.finditer(text)]
    assert found == ["src/tacit/clock.py", "io/exports/", "methods/engine/driver.py", "job.toml"]
    assert [each.startswith(_OWN) for each in found] == [True, True, True, False]
