"""A solver that breaks down: what was found before is returned, and nothing is made up."""

from __future__ import annotations

import pytest

from tacit.errors import SolverError
from tacit.generators import generate_table
from tacit.methods.combined import cuts as combined_cuts
from tacit.methods.combined.run import combined
from tacit.methods.engine.relaxation import Relaxation
from tacit.methods.intervals import cuts as interval_cuts
from tacit.methods.intervals.run import intervals
from tacit.outcome import Status, StopReason
from tests.methods.combined import tables as combined_tables
from tests.methods.intervals import tables as interval_tables


def breaks_down(monkeypatch: pytest.MonkeyPatch, kind: type[Relaxation], *, after: int) -> None:
    """The relaxation can be solved so many times and no more."""
    whole, left = kind.solve, [after]

    def solve(self: Relaxation, cutoff: float = float("inf")) -> bool:
        left[0] -= 1
        if left[0] < 0:
            raise SolverError("the relaxation could not be solved")
        return whole(self, cutoff)

    monkeypatch.setattr(kind, "solve", solve)


@pytest.mark.parametrize("after", [0, 2])
def test_combined_suppression_returns_what_it_has(
    monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """Solutions come from patterns before the relaxation is solved."""
    problem = generate_table({"a": 7, "b": 3}, seed=6).problem()
    breaks_down(monkeypatch, combined_cuts.Master, after=after)
    outcome = combined(problem, weights="unit", width_weights="unit", gap=1e-9)
    combined_tables.assert_sound(outcome, problem)
    assert outcome.status is Status.FEASIBLE
    assert outcome.stopped_by is StopReason.EXHAUSTED


@pytest.mark.parametrize("after", [0, 2])
def test_intervals_return_what_they_have(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """There is a safe point before the relaxation is solved."""
    problem = generate_table({"a": 7, "b": 3}, seed=6).problem()
    breaks_down(monkeypatch, interval_cuts.Master, after=after)
    outcome = intervals(problem, weights="unit", gap=1e-9)
    interval_tables.assert_sound(outcome, problem)
    assert outcome.solution is not None
    assert outcome.status is Status.FEASIBLE
    assert outcome.stopped_by is StopReason.EXHAUSTED
