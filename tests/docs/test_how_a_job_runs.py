"""The page that follows a job through the code names functions that exist, in their real order."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from tacit.cli.main import main
from tests.jobs.conftest import JOB, RECORDS

from .blocks import ROOT

PACKAGE = ROOT / "src" / "tacit"
PAGE = (ROOT / "docs" / "how-a-job-runs.md").read_text()
STEPS = re.findall(r"(?m)^(\d+)\. `([\w/]+\.py)`, `([\w.]+)`: ", PAGE)
FILES = sorted(set(re.findall(r"`((?:[\w-]+/)*[\w-]+\.py)`", PAGE)))
OUTPUTS = """
report = "report.html"
evidence = "evidence.confidential.json"
working_report = "report.confidential.html"
"""


def _functions(tree: ast.Module) -> Iterator[str]:
    """The names of all functions and methods of a module, with those of their classes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{node.name}.{inner.name}"


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Every function of tacit that `tacit protect job.toml` calls, in the order of first calls."""
    folder = tmp_path_factory.mktemp("job")
    (folder / "records.csv").write_text(RECORDS)
    job = folder / "job.toml"
    job.write_text(JOB + OUTPUTS)
    seen: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)):
            file = Path(code.co_filename).relative_to(PACKAGE).as_posix()
            seen.setdefault(f"{file}::{code.co_qualname}")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        code = main(["protect", str(job), "--quiet"])
    finally:
        sys.setprofile(before)
    assert code == 0
    return [*seen]


def test_steps_are_numbered_through() -> None:
    """No step is left out, and none is written in another way."""
    assert [int(number) for number, _, _ in STEPS] == list(range(1, len(STEPS) + 1))
    assert len(STEPS) == len(re.findall(r"(?m)^\d+\. ", PAGE)) > 20


def test_the_steps_happen_in_this_order(called: list[str]) -> None:
    """A real job calls every function that the page names, each after the one before."""
    named = [f"{file}::{function}" for _, file, function in STEPS]
    assert [name for name in named if name not in called] == []
    places = [called.index(name) for name in named]
    assert [named[at] for at in sorted(range(len(named)), key=places.__getitem__)] == named


@pytest.mark.parametrize(("number", "file", "function"), STEPS)
def test_functions_of_the_steps_exist(number: str, file: str, function: str) -> None:
    """Each step names a function of its file."""
    assert function in _functions(ast.parse((PACKAGE / file).read_text())), f"step {number}"


@pytest.mark.parametrize("file", FILES)
def test_files_of_the_page_exist(file: str) -> None:
    """Paths are relative to the package, or to the project."""
    if file.startswith("methods/suppress/algorithms/"):
        # One file for each algorithm: as soon as there is such a folder, all of them are there.
        assert not (PACKAGE / file).parent.exists() or (PACKAGE / file).is_file()
    else:
        assert (PACKAGE / file).is_file() or (ROOT / file).is_file()
