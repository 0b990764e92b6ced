"""One road: whoever asks, the same function protects, audits once and verifies."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.attack import audit as audit_module
from tacit.cli.main import main
from tacit.io.jj import write_jj
from tacit.jobs import open_job, read_job, run_job
from tacit.table import Table


class Counts:
    """How often something was done."""

    audits = 0
    checks = 0
    problems = 0


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> type[Counts]:
    """Count attacks of audits, checks of evidence and problems built."""
    Counts.audits = Counts.checks = Counts.problems = 0
    attack, check = audit_module._attack, audit_module.Audit.check
    built = Table.__dict__["_problem"].func

    def counted_attack(*args: Any) -> Any:
        Counts.audits += 1
        return attack(*args)

    def counted_check(self: tacit.Audit) -> None:
        Counts.checks += 1
        check(self)

    def counted_problem(self: Table) -> tacit.Problem:
        Counts.problems += 1
        found: tacit.Problem = built(self)
        return found

    monkeypatch.setattr(audit_module, "_attack", counted_attack)
    monkeypatch.setattr(audit_module.Audit, "check", counted_check)
    monkeypatch.setattr(Table.__dict__["_problem"], "func", counted_problem)
    return Counts


def _by_jj(folder: Path) -> None:
    table = folder / "table.jj"
    write_jj(tacit.examples.get("003-figure-11").problem, table)
    outputs = ("--json", folder / "result.json", "--working-report", folder / "a.confidential.html")
    assert main(["protect", str(table), "--quiet", *map(str, outputs)]) == 0
    assert "all verified with evidence" in (folder / "a.confidential.html").read_text()


def _by_job(folder: Path) -> None:
    assert main(["protect", str(folder / "job.toml"), "--quiet"]) == 0


def _by_python(folder: Path) -> None:
    run_job(read_job(folder / "job.toml"))


def _by_table(_folder: Path) -> None:
    table = tacit.examples.get("002-figure-2.4").table
    assert table is not None
    tacit.protect(table.apply(tacit.PPercent(10)))


@pytest.mark.parametrize("enter", [_by_jj, _by_job, _by_python, _by_table])
def test_every_entry_audits_once_and_verifies(
    folder: Path, counts: type[Counts], enter: Callable[[Path], None]
) -> None:
    """There is one audit against the one attacker, and its evidence is checked, for everybody."""
    enter(folder)
    assert (counts.audits, counts.checks) == (1, 1)
    assert counts.problems == (0 if enter is _by_jj else 1)


@pytest.mark.parametrize("method", ["intervals", "combined", "adjust", "round"])
def test_every_method_is_verified(folder: Path, counts: type[Counts], method: str) -> None:
    """Whatever the method, its own audit is taken, and verified."""
    options = {"base": 200} if method == "round" else {}
    release = run_job(read_job(folder / "job.toml").replace(method=method, options=options))
    assert counts.checks == 1
    assert counts.problems == 1
    assert counts.audits <= 1 or method == "round"
    assert release.papers.audit is release.papers.outcome.audit


def test_json_tells_what_was_verified(folder: Path) -> None:
    """The result names the attackers and says that the evidence was verified in this run."""
    assert main(["protect", str(folder / "job.toml"), "--quiet"]) == 0
    told = json.loads((folder / "result.json").read_text())
    assert told["audit"]["verified"] is True
    assert told["audit"]["attackers"] == 1
    assert [len(point) for point in told["trace"]] == [4] * len(told["trace"])


def test_evidence_that_does_not_hold_stops_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the evidence of an audit fails, nothing is published, from a JJ file either."""
    table, out = tmp_path / "table.jj", tmp_path / "published.csv"
    write_jj(tacit.examples.get("003-figure-11").problem, table)
    attack = audit_module._attack

    def lie(*args: Any) -> Any:
        found = attack(*args)
        found.evidence.amount[:] += 1
        return found

    monkeypatch.setattr(audit_module, "_attack", lie)
    assert main(["protect", str(table), "--quiet", "--out", str(out)]) == 1
    assert "the evidence does not show what it claims" in capsys.readouterr().err
    assert not out.exists()


def test_an_audit_of_something_else_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a method returns the audit of another pattern, the result is audited again."""
    problem = tacit.examples.get("003-figure-11").problem
    honest = tacit.suppress(problem)
    bare = tacit.Outcome(
        status=tacit.Status.OPTIMAL,
        solution=tacit.Suppression(problem.is_sensitive),
        audit=honest.audit,
    )
    monkeypatch.setattr("tacit.methods.suppress.run.suppress", lambda *_, **__: bare)
    with pytest.raises(tacit.NoReleaseError, match="exposed"):
        tacit.protect(problem)


def test_a_jj_file_is_a_job_with_one_source(tmp_path: Path) -> None:
    """What comes out is what `protect` makes of the problem."""
    table = tmp_path / "table.jj"
    problem = tacit.examples.get("003-figure-11").problem
    write_jj(problem, table)
    by_job = run_job(open_job(table), algorithm="branch-and-cut")
    by_hand = tacit.protect(tacit.read_jj(table), algorithm="branch-and-cut")
    assert by_job.guarantee == by_hand.guarantee
    assert by_job.published.status.tolist() == by_hand.published.status.tolist()


def test_only_protect_makes_releases() -> None:
    """No module but `release/run.py` builds a `Release` or its papers."""
    root = Path(tacit.__file__).parent
    makers = set()
    for file in root.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
                "Release",
                "WorkingPapers",
            ):
                makers.add(file.relative_to(root).as_posix())
    assert makers == {"release/run.py"}


def test_a_problem_is_built_once() -> None:
    """A table hands out the same problem each time; a changed table another one."""
    table = tacit.examples.get("002-figure-2.4").table
    assert table is not None
    assert table.problem() is table.problem()
    assert table.apply(tacit.PPercent(10)).problem() is not table.problem()
