"""Outcomes in a few lines for people in the house."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.cli.progress import number

if TYPE_CHECKING:
    from tacit.outcome import Outcome
    from tacit.problem import Problem


def summary(outcome: Outcome, problem: Problem) -> list[str]:
    """Status, objective, bound, gap, seconds, cells, and what is guaranteed against whom.

    It tells no value, unless weights are values: the objective then adds up suppressed ones.
    """
    from tacit.release import guarantee, summary_rows

    report = outcome.report
    quality = {}
    if report.objective is not None and report.gap is not None:
        quality["objective"] = (
            f"{number(report.objective)}; {report.bound_name} {number(report.bound)}, "
            f"gap {report.gap:.3%}"
        )
    rows = summary_rows(outcome, problem, quality)
    if outcome.solution is not None:
        rows["guarantee"] = guarantee(problem, outcome.audit)
        if outcome.message:
            rows["note"] = outcome.message
    return as_lines(rows)


def as_lines(rows: dict[str, str]) -> list[str]:
    """Names and texts, one below the other."""
    return [f"{name:<12}{text}" for name, text in rows.items()]
