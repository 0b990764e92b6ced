"""The root: cuts for rooms and for patterns together, and solutions along the way."""

from __future__ import annotations

import numpy as np

from tacit.methods.combined.cuts import MixedSeparation
from tacit.methods.combined.heuristics.patterns import Patterns
from tacit.methods.combined.master import Master
from tacit.methods.combined.search import Search
from tacit.methods.intervals.heuristics.surroundings import Surroundings
from tacit.problem import Floats

_PULL = 0.5
"""The share of the way that the inner point follows the best point of a round."""
_AIR = 1.1
"""How much wider than the best solution the vector inside is."""
_WINDOW = 5
"""Rounds without progress after which the root is left."""
_IMPROVING = 0.2
"""The share of the time for solutions along the way."""
_THRESHOLDS = (0.5, 0.9)
"""Cells that the relaxation suppresses by more than this share begin a pattern."""


class Root:
    """Raises the bound of the relaxation and keeps improving the best solution."""

    def __init__(
        self,
        search: Search,
        master: Master,
        patterns: Patterns,
        surroundings: Surroundings | None = None,
        inside: Floats | None = None,
    ):
        """Prepare.

        Args:
            search: The run.
            master: The relaxation.
            patterns: Makes solutions along the way.
            surroundings: Finds cuts for rooms on the way inside; None for mixed cuts alone.
            inside: A point inside.
        """
        self._search = search
        self._master = master
        self._patterns = patterns
        self._surroundings = surroundings
        self.inside = inside
        self._mixed = MixedSeparation(search.model, master.columns, search.out_of_time)
        self._safe: Floats | None = None
        self._drawn: Floats | None = None
        self._bound = self._improved_at = -np.inf
        # The first solution took about as long as others will.
        self._improving, self._lately = 0.0, search.seconds

    def run(self, *, seconds: float) -> None:
        """Go on until nothing is violated, progress stalls, or time is up."""
        search = self._search
        end = search.seconds + seconds
        history: list[float] = []
        while not search.should_stop() and search.seconds < end:
            search.iterations += 1
            if not self.tighten():
                return
            history.append(self._bound)
            if not self.cut() or _stalled(history, search.objective):
                break
            if self._worth_improving():
                self.improve()

    def tighten(self) -> bool:
        """Solve the relaxation with what is known; False if that was the end."""
        search, master = self._search, self._master
        bound = master.solve()
        search.raise_bound(bound)
        self._bound = bound
        if master.infeasible or search.should_stop():
            return False
        master.fix(bound)
        return True

    def cut(self) -> int:
        """Cut the relaxation's optimum off; returns how many cuts that took."""
        added = self.cut_mixed() + self.cut_cells(self._master.x)
        return added + (0 if self._surroundings is None else self.cut_rooms())

    def cut_mixed(self) -> int:
        """Cuts for rooms and patterns together on the way to a vector inside, which follows."""
        master = self._master
        self._draw_inside()
        if self._safe is None:
            return master.add(*self._mixed.cuts(master.point, master.x))
        outer = master.vector
        cuts, share = self._mixed.approach(outer, self._safe)
        self._safe = self._safe + _PULL * (1 - share) * (outer - self._safe)
        return master.add(*cuts)

    def _draw_inside(self) -> None:
        """A new best solution is the vector inside, opened a little."""
        best, master = self._search.best, self._master
        if best is None or best is self._drawn:
            return
        self._drawn = best
        x = self._search.model.suppressed(best)[master.choices]
        rooms = self._search.model.with_reaches(_AIR * best)
        fresh = np.clip(np.concatenate([rooms, x]), 0.0, np.maximum(master.upper, master.lower))
        self._safe = fresh if self._safe is None else 0.5 * (self._safe + fresh)

    def cut_cells(self, x: Floats) -> int:
        """Cuts for patterns at a vector."""
        # With all the room that there is, x alone decides.
        return self._master.add(*self._mixed.cuts(self._search.model.upper, x))

    def cut_rooms(self) -> int:
        """Cuts between the rooms and the point inside, which follows."""
        search, master = self._search, self._master
        assert self._surroundings is not None
        found = self._surroundings.separation.approach(master.point, self.inside)
        added = master.add_for_rooms(found.rows, found.right)
        if self.inside is not None:
            points = self._surroundings.safe_points(master.point, self.inside, found)
            best = min(points, key=search.model.objective)
            self.inside = self.inside + _PULL * (best - self.inside)
            search.offer(best)
        elif found.walked == 0:
            search.offer(master.point)
        return added

    def _worth_improving(self) -> bool:
        """Has the bound moved far since the last solution was built, and not too much time gone?"""
        search = self._search
        if self._improving + self._lately > _IMPROVING * search.seconds:
            return False
        moved = self._bound - self._improved_at
        return moved > 0.1 * max(search.objective - self._bound, 0.0)

    def improve(self) -> None:
        """Build solutions along the relaxation's opinion."""
        search, guide = self._search, self._master.x
        self._improved_at = self._bound
        began = search.seconds
        for threshold in _THRESHOLDS:
            if search.out_of_time():
                return
            self._patterns.along(guide > threshold, guide)
        self._lately = search.seconds - began
        self._improving += self._lately


def _stalled(history: list[float], objective: float) -> bool:
    """Did the bound close less than 5 % of the gap in the last while?"""
    if len(history) <= _WINDOW:
        return False
    bound = history[-1]
    open_gap = min(objective, 2 * abs(bound)) - bound
    return bound - history[-1 - _WINDOW] < 0.05 * max(open_gap, 1e-9 * abs(bound))
