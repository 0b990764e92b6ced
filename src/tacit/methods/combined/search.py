"""`Search`: the state of one run of combined suppression."""

from __future__ import annotations

import numpy as np

from tacit.clock import Clock
from tacit.methods.combined.model import CombinedModel, RestrictedModel
from tacit.methods.combined.options import CombinedOptions
from tacit.methods.intervals.model import IntervalsModel
from tacit.methods.intervals.options import EndsOptions
from tacit.methods.intervals.search import Search as IntervalsSearch
from tacit.observer import Observer, Quiet
from tacit.outcome import StopReason
from tacit.problem import Booleans, Floats


class Search(IntervalsSearch):
    """Keeps the best safe rooms, with suppressed cells paid for; see the intervals' `Search`.

    Attributes:
        reasons: Why there is no solution, once that is known.
    """

    method = "combined"
    model: CombinedModel
    options: CombinedOptions

    def __init__(
        self,
        model: CombinedModel,
        options: CombinedOptions,
        observer: Observer,
        clock: Clock | None = None,
    ):
        super().__init__(model, options, observer, clock)
        self.model = model
        self.options = options

    def offer(self, point: Floats) -> None:
        """Propose a point; it counts once `confirm` has found it safe."""
        model = self.model
        ends = point[: model.cell_ends]
        ends = np.maximum(np.where(ends < self.crumb, 0.0, ends), model.lower[: len(ends)])
        point = model.completed(ends)
        if model.allows(point):
            super().offer(point)

    def closable(self, ends: Floats) -> Booleans:
        """Open cells that might be closed and cost nothing but their width: others are paid for."""
        return np.asarray(super().closable(ends) & (self.model.suppress_weight == 0))

    @property
    def hint(self) -> str:
        """What to say where nothing safe was found."""
        if self.model.max_suppressed is None:
            return ""
        return (
            f"no safe solution with at most {self.model.max_suppressed} suppressed cells was "
            "found; allow more cells or more time"
        )

    def within(self, model: IntervalsModel, options: EndsOptions) -> IntervalsSearch:
        """A search over the cells of a pattern, as part of this one."""
        assert isinstance(model, RestrictedModel)
        return RestrictedSearch(model, options, Quiet(self.observer))

    def take(self, point: Floats) -> None:
        """Keep a point without a look: the audit will say whether it is safe."""
        point = self.model.completed(point[: self.model.cell_ends])
        if self.model.allows(point):
            super().take(point)

    def nothing_better(self) -> None:
        """Take note that no solution is better than the best, or that there is none."""
        self.confirm()
        if np.isfinite(self.objective):
            self.raise_bound(self.objective, "solver")
        elif self.model.max_suppressed is not None:
            self.reasons = [
                "no solution meets all conditions at once, the number of suppressed cells included"
            ]
            self.stop(StopReason.INFEASIBLE)


class RestrictedSearch(IntervalsSearch):
    """Keeps the best safe rooms of a pattern, all of whose intervals have their least width."""

    def __init__(self, model: RestrictedModel, options: EndsOptions, observer: Observer):
        super().__init__(model, options, observer)
        self._wide = model

    def offer(self, point: Floats) -> None:
        """Propose a point; it counts once `confirm` has found it safe."""
        super().offer(self._wide.completed(point))
