"""Outcomes in a few lines for those who run the command."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.outcome import Outcome
    from tacit.problem import Problem


def summary(outcome: Outcome, problem: Problem) -> list[str]:
    """Status, objective, bound, gap, seconds, cells, and what is guaranteed against whom.

    Confidential: where weights are values, the objective adds up suppressed ones.
    """
    from tacit.release import audit_rows, outcome_rows

    rows = outcome_rows(outcome, problem)
    if outcome.solution is not None:
        rows |= audit_rows(outcome, problem, outcome.audit)
    return as_lines(rows)


def as_lines(rows: dict[str, str]) -> list[str]:
    """Names and texts, one below the other."""
    return [f"{name:<12}{text}" for name, text in rows.items()]
