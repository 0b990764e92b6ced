"""`Search`: the state of one run of combined suppression."""

from __future__ import annotations

import numpy as np

from tacit.methods.combined.model import CombinedModel, RestrictedModel
from tacit.methods.combined.options import CombinedOptions
from tacit.methods.intervals.options import IntervalsOptions
from tacit.methods.intervals.search import Search as IntervalsSearch
from tacit.observer import Observer
from tacit.problem import Floats

_CRUMB = 1e-6
"""Rooms below this share of the smallest level are rounding, and no reason to pay for a cell."""


class Search(IntervalsSearch):
    """Keeps the best safe rooms, with suppressed cells paid for; see the intervals' `Search`.

    Attributes:
        reasons: Why there is no solution, once that is known.
    """

    model: CombinedModel
    options: CombinedOptions

    def __init__(self, model: CombinedModel, options: CombinedOptions, observer: Observer):
        super().__init__(model, options, observer)
        self.model = model
        self.options = options
        self.reasons: list[str] = []
        problem = model.problem
        levels = np.concatenate([problem.lower_level, problem.upper_level, problem.sliding_level])
        self._crumb = _CRUMB * float(np.min(levels[levels > 0], initial=np.inf))

    def offer(self, point: Floats) -> None:
        """Propose a point; it counts once `confirm` has found it safe."""
        model = self.model
        ends = point[: model.cell_ends]
        ends = np.maximum(np.where(ends < self._crumb, 0.0, ends), model.lower[: len(ends)])
        point = model.completed(ends)
        if model.allows(point):
            super().offer(point)

    def nothing_better(self) -> None:
        """Take note that no solution is better than the best, or that there is none."""
        self.confirm()
        if np.isfinite(self.objective):
            self.raise_bound(self.objective)
        elif self.model.max_suppressed is not None:
            self.reasons = [
                "no solution meets all conditions at once, the number of suppressed cells included"
            ]
            self.stopped_by = "infeasible"


class RestrictedSearch(IntervalsSearch):
    """Keeps the best safe rooms of a pattern, all of whose intervals have their least width."""

    def __init__(self, model: RestrictedModel, options: IntervalsOptions, observer: Observer):
        super().__init__(model, options, observer)
        self._wide = model

    def offer(self, point: Floats) -> None:
        """Propose a point; it counts once `confirm` has found it safe."""
        super().offer(self._wide.widened(point, self._wide.least_width > 0))


class Quiet(Observer):
    """Passes on nothing but the wish to stop: for searches within the search."""

    def __init__(self, observer: Observer):
        self._observer = observer

    def should_stop(self) -> bool:
        """Does whoever listens to the whole search want it to stop?"""
        return self._observer.should_stop()
