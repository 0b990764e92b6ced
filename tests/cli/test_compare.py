"""`tacit compare`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacit.cli.main import main

from .conftest import Files
from .mistakes import Mistake


def _compare(*arguments: str | Path) -> int:
    return main(["compare", *map(str, arguments), "--quiet"])


def test_methods_side_by_side(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    """One line per method, and the same in JSON, which says that it is confidential."""
    out = files.folder / "compare.json"
    methods = ("--methods", "suppress, intervals,suppress:paths", "--time-limit", "10")
    assert _compare(files.table, *methods, "--json", out) == 0
    told = capsys.readouterr()
    assert told.err == ""
    lines = told.out.splitlines()
    assert lines[0] == str(files.table)
    assert lines[1:3] == [
        "  table       16 cells, 1 sensitive",
        "  each        at most 10 s, seed 1",
    ]
    assert [line.split()[0] for line in lines[5:8]] == ["suppress", "intervals", "suppress:paths"]
    members = json.loads(out.read_text())
    assert next(iter(members)) == "confidential"
    assert members["cells"] == 16
    first, second, third = members["methods"]
    assert (first["label"], first["safe"], first["suppressed"]) == ("suppress", True, 4)
    assert second["intervals"] > 0
    assert third["algorithm"] == "paths"
    assert 0 < second["loss"] < first["loss"] < 1


def test_a_page_is_written(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    """The report names the methods and the input."""
    report = files.folder / "compare.html"
    methods = ("--methods", "suppress,intervals", "--time-limit", "10")
    assert _compare(files.table, *methods, "--report", report) == 0
    assert f"wrote {report}" in capsys.readouterr().out
    page = report.read_text()
    assert "suppress" in page
    assert "intervals" in page
    assert "table.jj" in page


def test_a_job_brings_its_own_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a job says of its method counts for that method; its time limit and seed for all."""
    Mistake(
        "",
        "",
        "",
        "",
        edits={"job.toml": ("time_limit = 5", "time_limit = 7\nseed = 3\nmax_suppressed = 0")},
    ).arrange(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert _compare("job.toml", "--methods", "suppress,intervals") == 0
    told = capsys.readouterr().out
    assert "records     9 read" in told
    assert "each        at most 7 s, seed 3" in told
    assert "suppress: at most 0 cells may be suppressed" in told
    assert not (tmp_path / "published.csv").exists()
    options = ("--option", "suppress.max_suppressed=9", "--time-limit", "4", "--seed", "2")
    assert _compare("job.toml", "--methods", "suppress,intervals", *options) == 0
    told = capsys.readouterr().out
    assert "each        at most 4 s, seed 2" in told
    assert "most cells exact" in told


def test_exit_codes(files: Files, tmp_path: Path) -> None:
    """2 where no method can protect the table, 3 where none had the time."""
    hopeless = Mistake("", "", "", "", edits={"table.jj": ("613 614", "613 614000")})
    folder = tmp_path / "hopeless"
    folder.mkdir()
    hopeless.arrange(folder)
    assert _compare(folder / "table.jj", "--methods", "suppress,intervals") == 2
    assert _compare(files.table, "--methods", "suppress", "--time-limit", "1e-9") == 3


def test_weights_can_be_chosen(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    """Weights as typed reach the methods."""
    out = files.folder / "compare.json"
    assert _compare(files.table, "--methods", "suppress", "--weights", "unit", "--json", out) == 0
    capsys.readouterr()
    assert json.loads(out.read_text())["methods"][0]["objective"] == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--option", "suppress"), "'suppress' is not written METHOD.NAME=VALUE"),
        (("--option", "suppress.seed"), "'seed' is not written NAME=VALUE"),
        (("--methods", "magic"), "there is no method 'magic'; known are suppress"),
        (("--seed", "2000000000"), "above the largest seed"),
    ],
)
def test_what_is_typed_is_checked(
    files: Files,
    arguments: tuple[str, ...],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One message, before anything runs."""
    with pytest.raises(SystemExit):
        _compare(files.table, *arguments)
    assert message in capsys.readouterr().err
