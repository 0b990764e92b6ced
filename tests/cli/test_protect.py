"""`tacit protect`."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import tacit
from tacit import examples
from tacit.cli.commands import protect
from tacit.cli.main import main
from tacit.cli.progress import Progress
from tacit.io.jj import read_jj, read_jj_status, write_jj
from tacit.io.solutions import read_solution
from tacit.outcome import StopReason, Suppression
from tacit.problem import Problem
from tacit.release.flags import Flags

from .conftest import Files

CONTRACT = [
    "tacit",
    "input",
    "method",
    "algorithm",
    "seed",
    "status",
    "stopped_by",
    "objective",
    "bound",
    "bound_source",
    "gap",
    "seconds",
    "iterations",
    "cuts",
    "cells",
    "sensitive",
    "secondary",
    "secondary_weight",
    "secondary_gap",
    "suppressed",
    "audit",
    "trace",
]
ALONE = Problem(
    value=[20, 22, 42],
    upper=100,
    relations=[[1, 1, -1]],
    sensitive=[0],
    lower_level=[2],
    upper_level=[2],
    must_publish=[False, True, True],
)
"""Whatever is suppressed, cell 0 can be computed."""


def _protect(*arguments: str | Path) -> int:
    return main(["protect", *map(str, arguments)])


def test_bounds_on_quality_are_typed(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    """Sums of deviations are bounded by an option; what is wrong or impossible is told."""
    out = files.folder / "result.json"
    bound = "quality=[{cells=[0, 1, 2, 3], absolute=0}]"
    typed = (files.table, "--method", "adjust", "--json", out, "--option")
    assert _protect(*typed, bound) == 0
    members = json.loads(out.read_text())
    true = read_jj(files.table).value
    assert members["values"][:4] == true[:4].tolist()
    assert members["values"] != true.tolist()
    assert _protect(*typed, bound.replace("3]", "99]")) == 1
    assert "quality bound 1: there is no cell 99; cells are 0 to 15" in capsys.readouterr().err
    every = f"quality=[{{cells={[*range(16)]}, absolute=3}}]"
    assert _protect(*typed, every) == 2
    assert "quality bound 1 (absolute deviation)" in capsys.readouterr().err


def test_a_table_is_protected(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    """Summary and JSON tell the optimum, and the audit command finds the JSON safe."""
    out = files.folder / "result.json"
    assert _protect(files.table, "--weights", "unit", "--seed", "3", "--json", out) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert told.out.startswith(f"{files.table}\n  status      optimal")
    assert "objective   4; solver's bound 4, gap 0.000%" in told.out
    assert "4 of 16 cells: 1 sensitive, 3 secondary" in told.out
    assert "a reader who knows the published cells" in told.out
    members = json.loads(out.read_text())
    assert list(members) == CONTRACT
    assert members["input"] == str(files.table)
    assert (members["method"], members["algorithm"], members["seed"]) == ("suppress", "auto", 3)
    assert (members["status"], members["stopped_by"]) == ("optimal", "gap")
    assert (members["objective"], members["bound"], members["gap"]) == (4.0, 4.0, 0.0)
    assert (members["cells"], members["sensitive"], members["secondary"]) == (16, 1, 3)
    assert len(members["suppressed"]) == 4
    assert members["audit"]["safe"] is True
    assert members["audit"]["exposed"] == []
    assert members["trace"][-1][1:3] == [4.0, 4.0]
    assert all(isinstance(point[3], int) for point in members["trace"])
    assert (members["secondary_weight"], members["secondary_gap"]) == (3.0, 0.0)
    assert (members["audit"]["attackers"], members["audit"]["verified"]) == (1, True)
    assert main(["audit", str(files.table), str(out)]) == 0


@pytest.mark.parametrize("name", ["confidential.jj", "out.Confidential.jj.gz", "out.txt"])
def test_the_pattern_is_written(
    files: Files, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each form of output is read back as the same pattern; one with true values says so."""
    out, result = files.folder / name, files.folder / "result.json"
    assert _protect(files.table, "--weights", "unit", "--out", out, "--json", result) == 0
    told = capsys.readouterr().err
    assert ("is confidential" in told) == (name != "out.txt")
    solution = read_solution(out, read_jj(files.table))
    assert isinstance(solution, Suppression)
    suppressed = json.loads(result.read_text())["suppressed"]
    assert np.flatnonzero(solution.suppressed).tolist() == suppressed
    if name != "out.txt":
        status = read_jj_status(out)
        assert sorted(status[suppressed]) == ["m", "m", "m", "u"]
        np.testing.assert_array_equal(read_jj(out).weight, read_jj(files.table).weight)


def test_the_published_cells_are_written(files: Files) -> None:
    """A table without codes is published by the numbers of its cells."""
    out, result = files.folder / "out.csv", files.folder / "result.json"
    assert _protect(files.table, "--weights", "unit", "--out", out, "--json", result) == 0
    header, *rows = out.read_text().splitlines()
    assert header == "cell,value,status"
    value = read_jj(files.table).value
    suppressed = json.loads(result.read_text())["suppressed"]
    for cell, row in enumerate(rows):
        hidden = cell in suppressed
        shown = "" if hidden else f"{value[cell]:g}"
        assert row == f"{cell},{shown},{'suppressed' if hidden else 'published'}"


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.xlsx", "out.html", "out.jj.gz"])
def test_the_name_of_the_output_chooses_the_format(files: Files, name: str) -> None:
    """What readers may see is written, and no half of a file is left behind."""
    out, result = files.folder / name, files.folder / "result.json"
    assert _protect(files.table, "--weights", "unit", "--out", out, "--json", result) == 0
    starts = {"csv": b"cell,", "parquet": b"PAR1", "xlsx": b"PK", "html": b"<!DOCTYPE html>"}
    assert out.read_bytes().startswith(starts.get(name.split(".")[1], b"\x1f\x8b"))
    assert not list(files.folder.glob("*.tmp"))
    if name == "out.jj.gz":
        suppressed = json.loads(result.read_text())["suppressed"]
        assert np.flatnonzero(read_jj_status(out) == "m").tolist() == suppressed
        assert main(["audit", str(files.table), str(out)]) == 0


def test_marks_and_flags_are_chosen(files: Files) -> None:
    """Readers get the requested marks and flags, primary cells marked only on request."""
    out = files.folder / "out.csv"
    options: list[str | Path] = ["--weights", "unit", "--flags", "sdmx", "--out", out]
    assert _protect(files.table, *options, "--marks", "...") == 0
    text = out.read_text()
    assert text.startswith("cell,value,CONF_STATUS,OBS_STATUS\n")
    assert text.count(",...,N,Q\n") == 4
    assert _protect(files.table, *options, "--tell-primary", "--marks", "c,d") == 0
    text = out.read_text()
    assert (text.count(",c,C,Q\n"), text.count(",d,D,Q\n")) == (1, 3)


def test_the_flags_of_the_command_line_are_those_there_are() -> None:
    """They are written out there, because help must not wait for numpy."""
    assert get_args(Flags) == protect._FLAGS


def test_weights_decide_what_is_best(files: Files) -> None:
    """Costs of the file, units and values give three objectives of the same patterns."""
    problem = read_jj(files.table)
    weight = {
        "file": problem.weight,
        "unit": np.ones(problem.cell_count),
        "value": np.maximum(problem.value, 1),
    }
    for kind, costs in weight.items():
        out = files.folder / f"{kind}.json"
        assert _protect(files.table, "--weights", kind, "--json", out) == 0
        members = json.loads(out.read_text())
        assert members["objective"] == pytest.approx(costs[members["suppressed"]].sum())


def test_a_table_without_sensitive_cells_is_safe_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is suppressed, and the list of suppressed cells can be read back."""
    table, out = tmp_path / "table.jj", tmp_path / "out.txt"
    problem = Problem(value=[20, 22, 42], upper=100, relations=[[1, 1, -1]])
    write_jj(problem, table)
    assert _protect(table, "--out", out) == 0
    assert "none is needed: no cell is sensitive" in capsys.readouterr().out
    solution = read_solution(out, problem)
    assert isinstance(solution, Suppression)
    assert not solution.suppressed.any()


def test_no_safe_pattern_is_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message gives the reason, the JSON says infeasible, and no pattern is written."""
    table, out, result = (tmp_path / name for name in ("table.jj", "out.jj", "result.json"))
    write_jj(ALONE, table)
    assert _protect(table, "--out", out, "--json", result) == 2
    told = capsys.readouterr()
    assert "status      infeasible" in told.out
    assert f"tacit: {table}: no safe pattern exists; {out} was not written:\n" in told.err
    assert "cell 0 cannot be protected" in told.err
    assert not out.exists()
    members = json.loads(result.read_text())
    assert members["status"] == "infeasible"
    assert members["objective"] is None
    assert "suppressed" not in members


def test_too_few_cells_allowed_is_code_2(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    """A limit below the smallest safe pattern leaves none; one that admits it does not harm."""
    assert _protect(files.table, "--max-suppressed", "0") == 2
    assert "at most 0 cells may be suppressed, but 1 are sensitive" in capsys.readouterr().err
    assert _protect(files.table, "--max-suppressed", "3") == 2
    assert _protect(files.table, "--max-suppressed", "4") == 0


def test_stopped_before_any_pattern_is_code_3(
    files: Files, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is called safe that is not known to be."""
    interrupted = tacit.Outcome(status=tacit.Status.INTERRUPTED, stopped_by=StopReason.TIME)
    monkeypatch.setattr("tacit.methods.suppress.run.suppress", lambda *_, **__: interrupted)
    out = files.folder / "result.json"
    assert _protect(files.table, "--json", out) == 3
    assert "stopped before any safe pattern was known" in capsys.readouterr().err
    assert json.loads(out.read_text())["status"] == "interrupted"


def test_ctrl_c_keeps_the_best_pattern(
    files: Files, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stopped at the first pattern, the search hands that over, safe though not proven best."""

    def interrupt(_self: Progress, _seconds: float, _objective: float) -> None:
        signal.raise_signal(signal.SIGINT)

    example = examples.get("002-figure-2.2")
    problem = example.problem.replace(
        upper=1000, sensitive=[4, 8], lower_level=[5, 5], upper_level=[5, 5]
    )
    table, out = files.folder / "two.jj", files.folder / "out.txt"
    write_jj(problem, table)
    monkeypatch.setattr(Progress, "on_solution", interrupt)
    assert _protect(table, "--quiet", "--gap", "0", "--out", out) == 0
    assert capsys.readouterr().err == ""
    assert main(["audit", str(table), str(out)]) == 0


def test_ctrl_c_twice_ends_at_once(
    files: Files, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No result is written after the second Ctrl-C."""

    def interrupt(_self: Progress, *_: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Progress, "on_solution", interrupt)
    out = files.folder / "result.json"
    assert _protect(files.table, "--json", out) == 130
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.endswith("tacit: stopped\n")
    assert not out.exists()


def test_options_are_passed_on(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is typed is what the method gets."""
    seen: dict[str, Any] = {}

    def suppress(problem: Problem, **given: Any) -> tacit.Outcome:
        seen.update(given, weight=problem.weight.tolist())
        return tacit.Outcome(status=tacit.Status.INTERRUPTED)

    monkeypatch.setattr("tacit.methods.suppress.run.suppress", suppress)
    typed = (
        "--method suppress --algorithm stabilized --time-limit 7.5 --gap 0.01 --seed 5 "
        "--weights value --max-suppressed 9 --subproblem meth4 --radius 0.1,1 --tolerance 1e-3 "
        "--jobs 2 --subproblem-solver dual --subproblem-weights cost --reset-radius "
        "--improvement 0.5"
    )
    assert _protect(files.table, *typed.split()) == 3
    seen.pop("observer")
    assert seen == {
        "algorithm": "stabilized",
        "time_limit": 7.5,
        "gap": 0.01,
        "seed": 5,
        "weight": read_jj(files.table).value.tolist(),
        "max_suppressed": 9,
        "subproblem": "meth4",
        "subproblem_solver": "dual",
        "subproblem_weights": "cost",
        "radius": (0.1, 1.0),
        "reset_radius": True,
        "improvement": 0.5,
        "jobs": 2,
        "tolerance": 1e-3,
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--radius", "0.5"], "--radius has no effect on algorithm auto"),
        (["--algorithm", "paths", "--subproblem", "meth2"], "--subproblem has no effect"),
        (["--reset-radius"], "--reset-radius has no effect on algorithm auto"),
        (
            [
                "--algorithm",
                "benders",
                "--subproblem",
                "meth2",
                "--subproblem-solver",
                "interior-point",
            ],
            "meth2 follows a ray",
        ),
        (
            ["--out", "{}/out.xls"],
            "must end in one of .csv, .csv.gz, .parquet, .xlsx, .html, .jj, ",
        ),
        (["--marks", "c"], "no published table is written; name a file with --out"),
        (["--marks", "c", "--out", "{}/out.parquet"], "has a place for marks; leave it out, or "),
        (["--marks", "c,d", "--out", "{}/out.csv"], "two marks tell readers which cells are"),
        (["--out", "{}/nowhere/out.jj"], "the directory of this output does not exist"),
        (["--out", "{}/table.jj"], "this output would replace an input"),
        (["--out", "{}/same.txt", "--json", "{}/same.txt"], "named for two outputs"),
        (["--singletons", "local"], "a JJ file cannot"),
    ],
)
def test_what_makes_no_sense_gets_a_message(
    files: Files, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An option without effect or an output that cannot be is refused before any work."""
    assert _protect(files.table, *(option.format(files.folder) for option in options)) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert message in told.err
    assert len(told.err.splitlines()) == 1


def test_singletons_matter_where_they_are_known(
    files: Files, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those who run the command learn how many respondents were taken into account."""
    problem = read_jj(files.table)
    singleton = np.full(problem.cell_count, -1)
    singleton[problem.sensitive] = 7
    known = problem.replace(singleton=singleton)
    monkeypatch.setattr("tacit.jobs.run.read_jj", lambda _: known)
    assert _protect(files.table, "--singletons", "respondents") == 0
    told = capsys.readouterr().out
    assert "neither a reader who knows" in told
    assert "nor any contributor who is alone in a cell can deduce" in told
    assert "attackers   a reader; 1 contributor who is alone in a cell" in told


def test_a_table_that_does_not_add_up_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A contradictory table is refused, unless the user allows for rounding."""
    table = tmp_path / "table.jj"
    problem = Problem(value=[333.3, 333.3, 666.7], upper=999, relations=[[1, 1, -1]], sensitive=[0])
    write_jj(problem, table)
    assert _protect(table) == 1
    assert capsys.readouterr().err.startswith(f"tacit: {table}: the cells do not add up")
    assert _protect(table, "--tolerance", "1e-3") == 0
    assert "no levels   1 of 1 sensitive cells ask for none" in capsys.readouterr().out


@pytest.mark.shared
def test_a_published_instance_is_solved(shared: Path, tmp_path: Path) -> None:
    """The known optimum of a public table, through the whole command."""
    out = tmp_path / "result.json"
    assert _protect(shared / "instances" / "targus.jj", "--json", out, "--quiet") == 0
    members = json.loads(out.read_text())
    assert (members["status"], members["objective"]) == ("optimal", 2440.0)
