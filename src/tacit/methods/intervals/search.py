"""`Search`: what all algorithms for intervals share while they run.

It keeps the best safe intervals and the proven bound, watches the clock and tells the observer.
An algorithm offers points and raises the bound; it never decides alone that a point is safe.
"""

from __future__ import annotations

import numpy as np

from tacit.attack.reach import TOLERANCE, Requests
from tacit.errors import SolverError
from tacit.methods.course import Course
from tacit.methods.intervals.model import IntervalsModel, Rival
from tacit.methods.intervals.options import IntervalsOptions
from tacit.observer import Observer
from tacit.problem import Booleans, Floats, Integers, Problem

_NEAR = 1e-3
"""A point that misses a level by at most this share is opened a little further."""
_CRUMB = 1e-6
"""Rooms below this share of the smallest level are rounding."""
_PAUSE = 0.1
"""Share of the time after which offered points are looked at before the end."""


class Search(Course):
    """The state of one run.

    Attributes:
        model: The intervals problem.
        options: What the user chose.
        best: The best safe rooms so far.
        fallback: A point that is safe but wide, for when there was no time for more.
    """

    def __init__(self, model: IntervalsModel, options: IntervalsOptions, observer: Observer):
        super().__init__(options, observer, bound=model.objective(model.lower))
        self.model = model
        self.options = options
        self.best: Floats | None = None
        self.fallback: Floats | None = None
        self._offered: Floats | None = None
        self._offered_objective = np.inf
        self._looked = 0.0
        problem = model.problem
        levels = np.concatenate([problem.lower_level, problem.upper_level, problem.sliding_level])
        self._smallest = float(np.min(levels[levels > 0], initial=np.inf))

    @property
    def problem(self) -> Problem:
        """The table."""
        return self.model.problem

    @property
    def cutoff(self) -> float:
        """What the best point costs, looked at or not."""
        return min(self.objective, self._offered_objective)

    def finished(self) -> bool:
        """Is it time to stop? If so, `stopped_by` says why."""
        if not self.stopped_by and self.gap_of(self._offered_objective) <= self.options.gap:
            self.confirm()
        return super().finished()

    def out_of_time(self) -> bool:
        """Is it time to stop, whatever has been reached?"""
        return self.seconds >= self.options.time_limit or self.observer.should_stop()

    def offer(self, point: Floats) -> None:
        """Propose a point; it counts once `confirm` has found it safe."""
        objective = self.model.objective(point)
        if objective < min(self.objective, self._offered_objective):
            self._offered, self._offered_objective = point.copy(), objective
            # Looking is not free: the first is looked at, then one now and then.
            if self.best is None or self.seconds > (1 + _PAUSE) * self._looked + 0.5:
                self.confirm()

    def confirm(self) -> None:
        """Look at the best offered point, and keep it if it is safe."""
        point, self._offered, self._offered_objective = self._offered, None, np.inf
        if point is None:
            return
        self._looked = self.seconds
        safe = self._made_safe(point)
        self._looked = self.seconds
        if safe is None:
            return
        objective = self.model.objective(safe)
        if objective < self.objective:
            self.best = safe
            self.better(objective)

    def _made_safe(self, point: Floats) -> Floats | None:
        """The point, opened by what rounding took from it; None if it is not safe."""
        model = self.model
        ends = np.clip(point[: model.cell_ends], model.lower[: model.cell_ends], None)
        # Solvers leave crumbs that are of no use and make trouble for those who look closely.
        if np.isfinite(self._smallest):
            ends[ends < _CRUMB * self._smallest] = 0.0
        for _ in range(3):
            np.minimum(ends, model.upper[: model.cell_ends], out=ends)
            share = min(self.share(rival, ends) for rival in model.rivals)
            if share >= 1 - TOLERANCE:
                return ends
            if share < 1 - _NEAR:
                return None
            ends = ends * ((1 + 1e-10) / share)
        return None

    def share(self, rival: Rival, ends: Floats) -> float:
        """The smallest share of a level that is there against an attacker."""
        cells, levels, sliding = levels_against(self.model, rival)
        both = Requests.both_sides(cells, *np.maximum(levels, sliding))
        try:
            reaches = self.model.answer(rival, ends, both)
        except SolverError:
            # What nobody can judge is not called safe.
            return 0.0
        amount = reaches.amount.reshape(2, -1)
        shares = np.concatenate([amount, amount.sum(0, keepdims=True)])
        asked = np.concatenate([levels, sliding[None]])
        needed: Booleans = asked > 0
        return float(np.min(shares[needed] / asked[needed], initial=1.0))


def levels_against(model: IntervalsModel, rival: Rival) -> tuple[Integers, Floats, Floats]:
    """Sensitive cells to protect against an attacker, upper and lower levels, sliding levels."""
    problem = model.problem
    asked = ~rival.attacker.spares(problem)[problem.sensitive]
    levels = np.stack([problem.upper_level[asked], problem.lower_level[asked]])
    return problem.sensitive[asked], levels, problem.sliding_level[asked]
