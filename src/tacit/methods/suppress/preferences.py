"""Which of the patterns that cost the same is chosen: rather leaves than totals.

Every cell gets a little more weight, the more the larger it is and the higher it stands. All of it
together is less than the weights of two patterns can differ by, so that it decides between patterns
of the same weight and between no others. Objectives and bounds are told in the weights as given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacit.methods.suppress.weights import step_of
from tacit.observer import Observer, Relay
from tacit.outcome import Outcome, Status, StopReason, TracePoint
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.tolerances import LAST_DIGITS

_SHARE = 0.25
"""How much of a step of the weights the preferences of all cells add up to."""
_LITTLE = 1e-3
"""Where weights have no step: how much of the least weight."""
_BY_HEIGHT = 0.01
"""The share of that by which the height of a cell counts; the rest is its value."""


@dataclass(frozen=True, eq=False)
class TieBreak:
    """A little weight for each cell.

    Attributes:
        weight: The weights as given.
        added: What is added to each.
        step: What the weights of two patterns differ by at least if they differ; 0 if not known.
    """

    weight: Floats
    added: Floats
    step: float

    @classmethod
    def of(cls, problem: Problem, weight: Floats) -> TieBreak | None:
        """For a table with these weights; None where there is nothing to choose."""
        free = ~problem.is_sensitive & ~problem.must_publish
        positive = weight[free & (weight > 0)]
        if not len(positive):
            return None
        step = step_of(weight[~problem.must_publish])
        room = _SHARE * step if step > 0 else _LITTLE * float(positive.min())
        added = (1 - _BY_HEIGHT) * _shares(np.abs(problem.value), free)
        added += _BY_HEIGHT * _shares(heights(problem).astype(np.float64), free)
        return cls(weight, room * added, step)

    @property
    def most(self) -> float:
        """What all cells together get."""
        return float(self.added.sum())

    def objective(self, found: float) -> float:
        """The objective of a pattern in the weights as given, as exactly as it can be told."""
        if self.step <= 0 or not np.isfinite(found):
            return found
        return float(np.floor(found / self.step * (1 + LAST_DIGITS)) * self.step)

    def bound(self, found: float) -> float:
        """What a bound says of the weights as given."""
        bound = max(found - self.most, 0.0)
        if self.step > 0 and np.isfinite(bound):
            # Patterns weigh whole steps.
            bound = float(np.ceil(bound / self.step * (1 - LAST_DIGITS)) * self.step)
        return bound

    def listener(self, observer: Observer) -> Observer:
        """Tells an observer objectives and bounds in the weights as given."""
        return _Told(observer, self)

    def told(self, outcome: Outcome, gap: float) -> Outcome:
        """An outcome in the weights as given."""
        report = outcome.report
        objective = None
        if outcome.solution is not None:
            objective = float(self.weight[outcome.suppressed].sum())
        bound = self.bound(report.bound)
        if objective is not None:
            bound = min(bound, objective)
        trace = tuple(
            TracePoint(
                point.seconds,
                None if point.objective is None else self.objective(point.objective),
                self.bound(point.bound),
                point.iteration,
            )
            for point in report.trace
        )
        report = replace(report, objective=objective, bound=bound, trace=trace)
        status, stopped_by = outcome.status, outcome.stopped_by
        if status is Status.OPTIMAL and report.gap is not None and report.gap > gap:
            status, stopped_by = Status.FEASIBLE, StopReason.EXHAUSTED
        return replace(outcome, report=report, status=status, stopped_by=stopped_by)


class _Told(Relay):
    def __init__(self, listener: Observer, ties: TieBreak):
        super().__init__(listener)
        self._ties = ties

    def on_bound(self, seconds: float, bound: float) -> None:
        """Pass it on in the weights as given."""
        super().on_bound(seconds, self._ties.bound(bound))

    def on_solution(self, seconds: float, objective: float) -> None:
        """Pass it on in the weights as given."""
        super().on_solution(seconds, self._ties.objective(objective))

    def on_end(self, outcome: Outcome | None = None) -> None:
        """Pass it on in the weights as given."""
        super().on_end(None if outcome is None else self._ties.told(outcome, np.inf))


def _shares(column: Floats, free: Booleans) -> Floats:
    """A column as shares of its sum over the cells that may be chosen; nothing elsewhere."""
    chosen = np.where(free, column, 0.0)
    total = float(chosen.sum())
    return chosen / total if total > 0 else chosen


def heights(problem: Problem) -> Integers:
    """How many levels lie below each cell, by the relations: 0 for those that are never a total.

    A total is the cell of a relation whose coefficient has another sign than all others.

    >>> heights(Problem(value=[1, 2, 3], relations=[[1, 1, -1]])).tolist()
    [0, 0, 1]
    """
    A = problem.relations
    found = np.zeros(problem.cell_count, np.int64)
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    above = np.bincount(row, A.data > 0, A.shape[0])
    below = np.bincount(row, A.data < 0, A.shape[0])
    # Of two cells the negative one is the total, as tables write it.
    is_total = np.where(A.data < 0, (below == 1)[row], ((above == 1) & (below > 1))[row])
    total = np.full(A.shape[0], -1)
    total[row[is_total]] = A.indices[is_total]
    part = ~is_total & (total[row] >= 0)
    parts, totals = A.indices[part], total[row[part]]
    # Relations that go round in a circle would never end; a table is no deeper than its cells.
    for _ in range(problem.cell_count):
        higher = found.copy()
        np.maximum.at(higher, totals, found[parts] + 1)
        if np.array_equal(higher, found) or higher.max(initial=0) > _DEEPEST:
            break
        found = higher
    return found


_DEEPEST = 1000
