"""`tacit audit`."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit import examples
from tacit.cli.main import main
from tacit.cli.progress import Progress
from tacit.io.jj import read_jj, write_jj
from tacit.problem import Problem

from .conftest import Files


def _audit(*arguments: str | Path) -> int:
    return main(["audit", *map(str, arguments)])


def test_a_safe_publication_is_called_safe(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    """The verdict comes first, and the JSON holds the intervals that the paper prints."""
    out = files.folder / "audit.json"
    assert _audit(files.table, files.safe, "--json", out) == 0
    told = capsys.readouterr()
    assert told.out.startswith("safe: 1 sensitive cell")
    assert told.err == ""
    members = json.loads(out.read_text())
    assert next(iter(members)) == "confidential"
    assert members["audit"]["safe"] is True
    assert members["audit"]["exposed"] == []
    (deduced,) = members["deduced"]
    example = examples.get("003-figure-11")
    for cell, (lower, upper) in example.intervals.items():
        position = deduced["cells"].index(cell)
        assert (deduced["lower"][position], deduced["upper"][position]) == (lower, upper)


def test_an_exposed_cell_is_code_4(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    """A sensitive cell that is left alone is found, in the text as in the JSON."""
    out = files.folder / "audit.json"
    sensitive = int(read_jj(files.table).sensitive[0])
    assert _audit(files.table, files.exposed, "--json", out) == 4
    assert f"cell {sensitive}: 0% of the lower and upper levels" in capsys.readouterr().out
    members = json.loads(out.read_text())
    assert members["audit"]["exposed"] == [sensitive]
    assert [sensitive, "external", "upper", 0.0] in members["exposures"]


@pytest.mark.parametrize(
    ("choice", "count"), [("sensitive", 1), ("suppressed", 4), ("all", 16), ("1,3", 3)]
)
def test_cells_can_be_chosen(files: Files, choice: str, count: int) -> None:
    """Intervals are computed for the chosen cells, and for the sensitive one in any case."""
    out = files.folder / "audit.json"
    assert _audit(files.table, files.safe, "--cells", choice, "--json", out) == 0
    (deduced,) = json.loads(out.read_text())["deduced"]
    assert len(deduced["cells"]) == count


def test_cells_that_do_not_exist_get_a_message(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    """Cell numbers are checked against the table."""
    assert _audit(files.table, files.safe, "--cells", "99") == 1
    assert "there is no cell 99" in capsys.readouterr().err


def test_levels_are_enough_for_a_verdict(files: Files) -> None:
    """Without exact intervals the verdict is the same."""
    assert _audit(files.table, files.safe, "--levels-only") == 0
    assert _audit(files.table, files.exposed, "--levels-only") == 4


def test_saved_evidence_is_verified(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    """What one run saves another one verifies, with the same verdict."""
    for solution, code in ((files.safe, 0), (files.exposed, 4)):
        evidence = files.folder / f"{code}.confidential.json.gz"
        assert _audit(files.table, solution, "--save-evidence", evidence) == code
        first = capsys.readouterr().out
        assert f"evidence written to {evidence}; it is confidential\n" in first
        assert _audit(files.table, solution, "--check-evidence", evidence) == code
        second = capsys.readouterr().out
        assert second.startswith("evidence verified: ")
        assert second.split("\n")[1] == first.split("\n")[0]


def _claim_more(told: dict[str, Any]) -> None:
    told["attackers"][0]["claims"]["amount"][0] += 1


def _exempt_a_cell(told: dict[str, Any]) -> None:
    told["attackers"][0]["own"] = list(range(16))


def _publish_a_cell(told: dict[str, Any]) -> None:
    told["published"]["suppressed"].pop()


@pytest.mark.parametrize(
    ("tamper", "message"),
    [
        (_claim_more, "does not show what it claims about cell 0"),
        (_exempt_a_cell, "no evidence about attacker 'external'"),
        (_publish_a_cell, "another publication"),
    ],
)
def test_tampered_evidence_is_refused(
    files: Files, tamper: Any, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a false claim nor an invented attacker passes; the message names the file."""
    evidence = files.folder / "audit.confidential.json"
    assert _audit(files.table, files.safe, "--save-evidence", evidence) == 0
    told = json.loads(evidence.read_text())
    tamper(told)
    evidence.write_text(json.dumps(told))
    capsys.readouterr()
    assert _audit(files.table, files.safe, "--check-evidence", evidence) == 1
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.startswith(f"tacit: {evidence}: ")
    assert message in found.err


def test_options_of_an_audit_do_not_go_with_a_check(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    """An option that would have no effect is refused."""
    evidence = files.folder / "audit.confidential.json"
    assert _audit(files.table, files.safe, "--save-evidence", evidence) == 0
    assert _audit(files.table, files.safe, "--check-evidence", evidence, "--levels-only") == 1
    assert "leave out --cells, --levels-only and --jobs" in capsys.readouterr().err


def test_a_table_that_does_not_add_up_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both an audit and a check refuse a table that contradicts itself, unless told otherwise."""
    table, solution = tmp_path / "table.jj", tmp_path / "solution.txt"
    problem = Problem(value=[333.3, 333.3, 666.7], upper=999, relations=[[1, 1, -1]], sensitive=[0])
    write_jj(problem, table)
    solution.write_text("0 1")
    evidence = tmp_path / "audit.confidential.json"
    loose = ("--tolerance", "1e-3")
    assert _audit(table, solution, "--save-evidence", evidence, *loose) == 0
    assert _audit(table, solution, "--check-evidence", evidence, *loose) == 0
    capsys.readouterr()
    for options in ((), ("--check-evidence", evidence)):
        assert _audit(table, solution, *options) == 1
        assert capsys.readouterr().err.startswith(f"tacit: {table}: the cells do not add up")


def test_a_solution_of_another_table_is_refused(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files that do not belong together are noticed."""
    other = files.folder / "other.jj"
    write_jj(Problem(value=[1, 2, 3]), other)
    assert _audit(files.table, other) == 1
    assert f"tacit: {other}: this JJ file has 3 cells, the problem 16" in capsys.readouterr().err


def test_single_respondents_need_an_input_that_names_them(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    """Attackers that a JJ file cannot describe are refused rather than left out."""
    assert _audit(files.table, files.safe, "--attackers", "external,singletons") == 1
    assert "a JJ file cannot" in capsys.readouterr().err


def test_single_respondents_attack_where_they_are_known(
    files: Files, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each respondent and all of them together appear in the summary."""
    problem = read_jj(files.table)
    singleton = np.full(problem.cell_count, -1)
    singleton[[0, 2]] = [1, 2]
    named = problem.replace(singleton=singleton)
    monkeypatch.setattr("tacit.jobs.run.read_jj", lambda _: named)
    code = _audit(files.table, files.safe, "--attackers", "external,singletons,all-singletons")
    text = capsys.readouterr().out
    assert code == 4
    for name in ("external", "respondent 1", "respondent 2", "all singletons"):
        assert f"attacker {name}: " in text


def test_work_can_be_shared(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    """Two processes find what one finds."""
    assert _audit(files.table, files.safe) == 0
    alone = capsys.readouterr().out
    assert _audit(files.table, files.safe, "--jobs", "2") == 0
    assert capsys.readouterr().out == alone


def test_ctrl_c_keeps_what_is_known(
    files: Files, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An audit that is stopped says which cells it has not checked, and is not safe."""
    monkeypatch.setattr("tacit.attack.sweep.FLOW_CHUNK", 1)
    stopped: list[int] = []

    def interrupt_once(_self: Progress, done: int, _total: int) -> None:
        if not stopped:
            stopped.append(done)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Progress, "on_progress", interrupt_once)
    assert _audit(files.table, files.safe, "--quiet") == 4
    assert stopped == [1]
    assert "not checked (stopped early): cell" in capsys.readouterr().out


@pytest.mark.parametrize(("moved", "code"), [(10.0, 0), (9.0, 4)])
def test_adjusted_values_are_judged(files: Files, moved: float, code: int) -> None:
    """Values that lie outside the forbidden interval are safe, others are not."""
    problem = read_jj(files.table)
    example = examples.get("003-figure-11")
    value = problem.value.copy()
    for label, sign in (("M2P3", 1), ("M1P3", -1), ("M2P1", -1), ("M1P1", 1)):
        value[example.cell(label)] += sign * moved
    solution = files.folder / "values.json"
    solution.write_text(json.dumps({"values": value.tolist()}))
    out = files.folder / "audit.json"
    assert _audit(files.table, solution, "--json", out) == code
    assert json.loads(out.read_text())["audit"]["checked"] == 1


@pytest.mark.parametrize(("radius", "code"), [(10, 0), (9.5, 4)])
def test_rounded_values_are_attacked(files: Files, radius: float, code: int) -> None:
    """A reader who knows the radius gets exactly that close."""
    problem = read_jj(files.table)
    solution = files.folder / "values.json"
    solution.write_text(json.dumps({"values": problem.value.tolist(), "radius": radius}))
    assert _audit(files.table, solution) == code


CELLS = """\
industry,region,turnover,firms
Total,Total,340,27
Total,N,110,11
Total,S,120,6
Total,W,110,10
A,Total,80,7
A,N,10,1
A,S,20,1
A,W,50,5
B,Total,260,20
B,N,100,10
B,S,100,5
B,W,60,5
"""
TABLE_JOB = """\
[data]
table = "cells.csv"
value = "turnover"
count = "firms"

[dimensions.industry]
[dimensions.region]

[[rules]]
rule = "min-frequency"
minimum = 3

[method]
name = "suppress"
singletons = "respondents"

[outputs]
published = "published.csv"
json = "result.json"
"""
RECTANGLE = ("A,N", "A,S", "B,N", "B,S")
"""Safe from readers; the only contributor to one of the cells can compute the other."""


@pytest.fixture
def insiders(tmp_path: Path) -> Path:
    """A job that protects against single respondents."""
    (tmp_path / "cells.csv").write_text(CELLS)
    (tmp_path / "job.toml").write_text(TABLE_JOB)
    return tmp_path / "job.toml"


def _rectangle(job: Path) -> Path:
    """A publication that is safe from readers only, as a table with empty values."""
    path = job.parent / "rectangle.csv"
    lines = ["industry,region,turnover"]
    for line in CELLS.splitlines()[1:]:
        industry, region, turnover, _ = line.split(",")
        shown = "" if f"{industry},{region}" in RECTANGLE else turnover
        lines.append(f"{industry},{region},{shown}")
    path.write_text("\n".join(lines))
    return path


def test_an_audit_faces_the_attackers_of_the_job(
    insiders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a job protects against its audit tries, and says so; a pattern for readers fails."""
    assert main(["protect", str(insiders), "--quiet"]) == 0
    for solution in ("result.json", "published.csv"):
        capsys.readouterr()
        assert _audit(insiders, insiders.parent / solution) == 0
        told = capsys.readouterr().out
        named = "respondent of (industry=A, region=N), respondent of (industry=A, region=S)"
        assert f"attackers: external, {named}, as the job protects" in told
    rectangle = _rectangle(insiders)
    assert _audit(insiders, rectangle, "--attackers", "external") == 0
    capsys.readouterr()
    out = insiders.parent / "audit.json"
    assert _audit(insiders, rectangle, "--json", out) == 4
    assert "0% of the" in capsys.readouterr().out
    members = json.loads(out.read_text())["audit"]
    assert (members["attackers"], members["verified"]) == (3, True)


def test_evidence_for_readers_is_not_enough_for_the_job(
    insiders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Evidence must be about all attackers of the job, and others in the file do not count."""
    rectangle = _rectangle(insiders)
    evidence = insiders.parent / "audit.confidential.json"
    few = ("--attackers", "external")
    assert _audit(insiders, rectangle, *few, "--save-evidence", evidence) == 0
    capsys.readouterr()
    assert _audit(insiders, rectangle, "--check-evidence", evidence) == 1
    assert "there is no evidence about attacker 'respondent " in capsys.readouterr().err
    assert _audit(insiders, rectangle, "--save-evidence", evidence) == 4
    assert _audit(insiders, rectangle, "--check-evidence", evidence) == 4
    assert _audit(insiders, rectangle, *few, "--check-evidence", evidence) == 0


@pytest.mark.parametrize("own", [[], [5, 6]])
def test_an_invented_attacker_exposes_nobody(
    insiders: Path, own: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    """Evidence about an attacker who is not one of the job does not count."""
    rectangle = _rectangle(insiders)
    evidence = insiders.parent / "audit.confidential.json"
    few = ("--attackers", "external")
    assert _audit(insiders, rectangle, *few, "--save-evidence", evidence) == 0
    told = json.loads(evidence.read_text())
    (honest,) = told["attackers"]
    told["attackers"].append({**honest, "name": "spy", "known": list(range(12)), "own": own})
    evidence.write_text(json.dumps(told))
    capsys.readouterr()
    assert _audit(insiders, rectangle, *few, "--check-evidence", evidence) == 0
    assert "spy" not in capsys.readouterr().out
