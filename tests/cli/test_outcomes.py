"""Outcomes in words."""

from __future__ import annotations

import numpy as np

import tacit
from tacit import examples
from tacit.cli.outcomes import summary

EXAMPLE = examples.get("003-figure-11")
assert EXAMPLE.suppressed is not None
SUPPRESSED = EXAMPLE.suppressed


def test_why_a_search_ended_is_told() -> None:
    """Each reason is a phrase, and no two are the same."""
    for reason, line in (
        ("time", "status      feasible: the time limit was reached"),
        ("heuristic", "status      feasible: a heuristic, without proof of quality"),
    ):
        outcome = tacit.Outcome(
            status=tacit.Status.FEASIBLE,
            stopped_by=tacit.StopReason(reason),
            solution=tacit.Suppression(SUPPRESSED),
        )
        assert summary(outcome, EXAMPLE.problem)[0] == line
    hopeless = tacit.Outcome(status=tacit.Status.INFEASIBLE, stopped_by=tacit.StopReason.INFEASIBLE)
    assert summary(hopeless, EXAMPLE.problem)[0] == "status      infeasible"


def test_an_outcome_that_nobody_audited_guarantees_nothing() -> None:
    """The last line says so."""
    outcome = tacit.Outcome(status=tacit.Status.FEASIBLE, solution=tacit.Suppression(SUPPRESSED))
    assert summary(outcome, EXAMPLE.problem)[-1].startswith("guarantee   none: ")


def test_intervals_are_counted_apart() -> None:
    """Cells published as intervals are not called suppressed."""
    problem = EXAMPLE.problem
    lower = np.where(SUPPRESSED, problem.value - 1, problem.value)
    outcome = tacit.Outcome(
        status=tacit.Status.FEASIBLE, solution=tacit.Intervals(lower, problem.value + 0.0)
    )
    (line,) = [line for line in summary(outcome, problem) if line.startswith("intervals")]
    assert line == "intervals   4 of 16 cells: 1 sensitive, 3 secondary"
