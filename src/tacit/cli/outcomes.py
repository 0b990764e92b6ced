"""Outcomes in a few lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.cli.progress import number

if TYPE_CHECKING:
    from tacit.outcome import Outcome
    from tacit.problem import Problem

_ENDS = {
    "gap": "proven within the gap asked for",
    "time": "the time limit was reached",
    "user": "stopped by Ctrl-C",
    "heuristic": "a heuristic, without proof of quality",
    "exhausted": "the search ended without a proof",
}
"""Why a search ended, in words."""


def summary(outcome: Outcome, problem: Problem) -> list[str]:
    """Status, objective, bound, gap, seconds, cells, and what is guaranteed against whom.

    It tells no value, unless weights are values: the objective then adds up suppressed ones.
    """
    report = outcome.report
    end = _ENDS.get(outcome.stopped_by, outcome.stopped_by)
    told = outcome.status.value
    rows = {"status": told if end == told else f"{told}: {end}"}
    if report.objective is not None and report.gap is not None:
        rows["objective"] = (
            f"{number(report.objective)}; proven bound {number(report.bound)}, gap {report.gap:.3%}"
        )
    rows["seconds"] = f"{report.seconds:.1f} with algorithm {outcome.algorithm}"
    if outcome.solution is not None:
        sensitive = len(problem.sensitive)
        hidden = len(outcome.suppressed)
        rows["suppressed"] = (
            f"{hidden} of {problem.cell_count} cells: {sensitive} sensitive, "
            f"{hidden - sensitive} secondary"
        )
        rows["guarantee"] = guarantee(outcome, problem)
    return [f"{name:<12}{text}" for name, text in rows.items()]


def guarantee(outcome: Outcome, problem: Problem) -> str:
    """What the audit of an outcome has established, in one sentence."""
    if len(problem.sensitive) == 0:
        return "none is needed: no cell is sensitive"
    audit = outcome.audit
    if audit is None or not audit.safe:
        return "none: no audit has found this safe"
    levels = problem.lower_level + problem.upper_level + problem.sliding_level
    bare = int((levels == 0).sum())
    names = [found.attacker.name for found in audit.findings]
    who = "a reader who knows the published cells, all relations and the bounds"
    others = [name for name in names if name != "external"]
    if others:
        shown = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        shown += " (knowing what is its own)" if len(others) == 1 else " (each knowing its own)"
        who = f"neither {who} nor {shown}" if "external" in names else shown
    verb = "can" if who.startswith("neither") else "cannot"
    text = f"{who} {verb} deduce any sensitive cell more closely than its protection levels allow"
    if bare:
        text += f" ({bare} of {len(levels)} ask for none and are only left out)"
    return text
