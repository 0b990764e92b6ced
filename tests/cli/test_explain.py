"""`tacit explain`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tests.cli.mistakes.mistake import FILES

from .conftest import Files


def _explain(*arguments: str | Path) -> int:
    return main(["explain", *map(str, arguments)])


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A job with its records, and what it publishes."""
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    path = tmp_path / "job.toml"
    assert main(["protect", str(path), "--quiet", "--json", str(tmp_path / "result.json")]) == 0
    return path


def test_a_secondary_cell_is_explained(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON has the keys of the contract, and says what a reader finds without the cell."""
    out = files.folder / "why.json"
    example = tacit.examples.get("003-figure-11")
    problem = example.problem
    assert example.suppressed is not None
    (sensitive,) = problem.sensitive.tolist()
    cell = next(c for c in np.flatnonzero(example.suppressed).tolist() if c != sensitive)
    assert _explain(files.table, files.safe, str(cell), "--json", out) == 0
    told = capsys.readouterr().out
    assert told.startswith("CONFIDENTIAL: ")
    assert f"cell {sensitive}: 0% of the lower and upper levels, against a reader" in told
    members = json.loads(out.read_text())
    assert next(iter(members)) == "confidential"
    assert (members["cell"], members["status"]) == (cell, "secondary")
    sides = {(each["cell"], each["side"]) for each in members["protects"]}
    assert sides == {(sensitive, "lower"), (sensitive, "upper")}
    assert {each["attacker"] for each in members["protects"]} == {"reader"}
    assert all(each["left"] == 0 for each in members["protects"])
    publishing = members["publishing"]
    assert publishing["possible"] is True
    pattern = np.array(example.suppressed, bool)
    pattern[cell] = False
    pattern[publishing["suppresses_instead"]] = True
    assert tacit.audit(problem, pattern).safe
    assert publishing["cost"] == problem.weight[publishing["suppresses_instead"]].sum()


@pytest.mark.parametrize("form", ["result.json", "published.csv"])
def test_a_cell_is_named_by_its_codes(
    job: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Codes name a cell, a dimension that is left out stands at its total."""
    solution = job.parent / form
    assert _explain(job, solution, "region=N,size=large", "--quiet") == 0
    first = capsys.readouterr().out
    assert "(region=N, size=large): " in first
    assert "rule: p%: a contributor could estimate the largest to within 17%" in first
    assert _explain(job, solution, "region=N", "--quiet") == 0
    assert "(region=N, size=Total): " in capsys.readouterr().out


def test_a_circuit_is_drawn(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The picture says that it is confidential, in its name and in its first line."""
    members = json.loads((job.parent / "result.json").read_text())
    picture = job.parent / "why.confidential.svg"
    cell = members["suppressed"][0]
    assert _explain(job, job.parent / "result.json", cell, "--picture", picture, "--quiet") == 0
    assert "circuit drawn in" in capsys.readouterr().out
    assert picture.read_text().startswith("<!-- CONFIDENTIAL")


def test_an_unwritable_picture_is_refused_before_any_work(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name that does not say that the picture is confidential is refused."""
    picture = job.parent / "why.svg"
    assert _explain(job, job.parent / "result.json", "0", "--picture", picture) == 1
    assert "its name must say so" in capsys.readouterr().err
    assert not picture.exists()


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("99", "there is no cell 99; cells are numbered 0 to"),
        ("-1", "there is no cell -1"),
        ("regoin=N", "there is no dimension 'regoin'; did you mean 'region'?"),
        ("region=N,size=lage", "dimension size has no code 'lage'; did you mean 'large'?"),
        ("region=large", "dimension region has no code 'large'; dimension size has it"),
        ("region=N,region=S", "names dimension region twice"),
        ("N", "is neither a number nor codes such as"),
        ("region=", "dimension region: a code is missing"),
    ],
)
def test_a_cell_that_does_not_exist_gets_a_message(
    job: Path, cell: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong is said, with what may be meant."""
    # A number below zero would be taken for an option.
    assert _explain("--quiet", job, job.parent / "result.json", "--", cell) == 1
    assert message in capsys.readouterr().err


def test_a_jj_file_has_numbers_only(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    """Codes of an input without codes are refused."""
    assert _explain(files.table, files.safe, "region=N") == 1
    assert "this input has no codes, only numbers" in capsys.readouterr().err
