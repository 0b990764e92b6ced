"""The root: tighten the relaxation by cuts, and let it guide safe patterns.

Cuts are sought at the relaxation's own optimum, or between it and a point inside the safe region
(in-out): with many different weights that needs far fewer cuts. Whichever moves the bound is
used.
"""

from __future__ import annotations

import numpy as np

from tacit.clock import check_time
from tacit.methods.suppress.cuts import Master
from tacit.methods.suppress.heuristics.cleanup import clean_up
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.model import Search
from tacit.problem import Booleans, Floats

_MOST_CUTS = 1500

_WINDOW = 40
"""Rounds without progress after which another way is tried."""


class Root:
    """Raises the bound of the relaxation and keeps improving the best pattern."""

    def __init__(self, search: Search, master: Master, constructor: Constructor | None):
        """Prepare the loop.

        Args:
            search: The run.
            master: The relaxation.
            constructor: Builds patterns along the way; None for the bound alone.
        """
        self._search = search
        self._master = master
        self._constructor = constructor
        # Everything suppressed is safe if anything is.
        self._inside = np.ones(len(master.cells))
        self._best_seen: Booleans | None = None
        self._improved_at = -np.inf
        self._improvements = 0

    def run(self, *, seconds: float, rounds: float = np.inf) -> None:
        """Go on until nothing is violated, progress stalls, or time or rounds are up."""
        search, master = self._search, self._master
        end = min(search.seconds + seconds, search.options.time_limit)
        # Between the points all cells move a little: flows do not mind, linear programmes do.
        between = bool(search.structure.in_network[search.problem.sensitive].any())
        progress = _Progress(search)
        last = search.iterations + rounds
        while not search.should_stop() and search.seconds < end and search.iterations < last:
            search.iterations += 1
            if not master.solve():
                search.nothing_better()
                return
            search.raise_bound(master.objective)
            master.fix()
            if master.recall(master.y) + master.bridgeless(master.y):
                continue
            if progress.stalled(master.objective):
                if not between:
                    break
                between, progress = False, _Progress(search)
            if between:
                between = self._cut_between()
            elif not self._cut_here():
                break
            if self._worth_improving():
                self.improve()
        if not search.should_stop():
            self.improve()

    def _cut_between(self) -> bool:
        """Separate between the inner point and the optimum; False once they have met."""
        y = self._master.y
        self._draw_inside()
        for _ in range(4):
            point = 0.5 * y + 0.5 * self._inside
            if self.cut_off(point):
                return True
            self._inside = point
        return bool(np.abs(self._inside - y).max(initial=0.0) > 1e-3)

    def _cut_here(self) -> int:
        """Separate the optimum itself, looking for less and less obvious cuts."""
        for ceiling in (1.0, 0.5, 0.2, 0.08, 0.03):
            added = self.cut_off(self._master.y, ceiling)
            if added:
                return added
        return 0

    def _draw_inside(self) -> None:
        """A new best pattern draws the inner point towards it."""
        best = self._search.best
        if best is not None and best is not self._best_seen:
            self._best_seen = best
            self._inside = 0.5 * self._inside + 0.5 * best[self._master.cells]

    def _worth_improving(self) -> bool:
        """Has the bound moved far since the last pattern was built?"""
        search = self._search
        if 15 * self._improvements > search.iterations:
            return False
        moved = self._master.objective - self._improved_at
        return moved > 0.1 * (search.objective - self._master.objective)

    def cut_off(self, y: Floats, ceiling: float = 1.0) -> int:
        """Add cuts that a point violates; returns how many are new."""
        master = self._master
        added = 0
        for rival in self._search.rivals:
            check_time()
            cuts = rival.separator.cuts(master.full(y), ceiling=ceiling)
            if len(cuts) > _MOST_CUTS:
                worst = np.argsort(-cuts.violation(master.full(y)), kind="stable")
                cuts = cuts.take(worst[:_MOST_CUTS])
            added += master.add_cuts(cuts)
        return added

    def improve(self) -> None:
        """Build a pattern along the relaxation's opinion and offer it."""
        search, master = self._search, self._master
        if self._constructor is None:
            return
        self._improvements += 1
        self._improved_at = master.objective
        guide = master.full(master.y)
        for threshold in (0.6, 0.9):
            hidden = self._constructor.construct(guide > threshold, guide)
            if hidden is not None:
                seconds = 0.1 * search.options.time_limit
                search.offer(clean_up(search, hidden, guide, seconds=seconds))
            if search.should_stop():
                break


class _Progress:
    """Notices when the bound has all but stopped to move.

    Rounds are counted, not seconds, so that the same table always goes the same way.
    """

    def __init__(self, search: Search):
        self._search = search
        self._history: list[float] = []

    def stalled(self, bound: float) -> bool:
        """Did the bound close less than 1 % of the gap in the last while?"""
        self._history.append(bound)
        window = max(_WINDOW, len(self._history) // 4)
        if len(self._history) <= window:
            return False
        open_gap = min(self._search.objective, 2 * abs(bound)) - bound
        gained = bound - self._history[-1 - window]
        return gained < 0.01 * max(open_gap, 1e-9 * abs(bound))
