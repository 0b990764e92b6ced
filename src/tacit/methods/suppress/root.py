"""The root: tighten the relaxation by cuts, and let it guide safe patterns.

Cuts are sought at the relaxation's own optimum, or between it and a point inside the safe region
(in-out): with many different weights that needs far fewer cuts. Whichever moves the bound is
used.
"""

from __future__ import annotations

import numpy as np

from tacit.methods.suppress.cleanup import clean_up
from tacit.methods.suppress.construct import Constructor
from tacit.methods.suppress.master import Master
from tacit.methods.suppress.search import Search
from tacit.problem import Booleans, Floats

_MOST_CUTS = 1500


class Root:
    """Raises the bound of the relaxation and keeps improving the best pattern."""

    def __init__(self, search: Search, master: Master, constructor: Constructor):
        self._search = search
        self._master = master
        self._constructor = constructor
        # Everything suppressed is safe if anything is.
        self._inside = np.ones(len(master.cells))
        self._best_seen: Booleans | None = None
        self._heuristic_seconds = 0.0

    def run(self, *, seconds: float, patience: int = 12) -> None:
        """Go on until nothing is violated, progress stalls, or time is up."""
        search, master = self._search, self._master
        end = min(search.seconds + seconds, search.options.time_limit)
        uneven = len(np.unique(master.weight)) > 1
        stalled, last = 0, -np.inf
        while not search.finished() and search.seconds < end:
            search.iterations += 1
            if not master.solve():
                search.raise_bound(search.cutoff if np.isfinite(search.objective) else np.inf)
                return
            search.raise_bound(master.objective)
            master.fix()
            added = master.recall(master.y)
            added += master.bridgeless(master.y)
            if added == 0:
                added = self._separate(uneven and stalled < patience // 2)
            if added == 0:
                self.improve()
                return
            gain = master.objective - last
            open_gap = min(search.objective, 2 * abs(master.objective)) - master.objective
            stalled = 0 if gain > 2e-3 * open_gap else stalled + 1
            last = max(last, master.objective)
            if stalled > patience:
                self.improve()
                return
            if search.iterations % 10 == 0 and self._heuristic_seconds < 0.3 * search.seconds:
                self.improve()

    def _separate(self, between: bool) -> int:
        """Add violated cuts; returns how many are new."""
        master = self._master
        y = master.y
        if not between:
            return self.cut_off(y)
        self._draw_inside()
        for share in (0.5, 0.75, 0.9):
            point = share * y + (1 - share) * self._inside
            added = self.cut_off(point)
            if added:
                return added
            self._inside = point
        return self.cut_off(y)

    def _draw_inside(self) -> None:
        """A new best pattern draws the inner point towards it."""
        best = self._search.best
        if best is not None and best is not self._best_seen:
            self._best_seen = best
            self._inside = 0.5 * self._inside + 0.5 * best[self._master.cells]

    def cut_off(self, y: Floats) -> int:
        """Add cuts that a point violates; returns how many are new."""
        master = self._master
        added = 0
        for rival in self._search.rivals:
            cuts = rival.separator.cuts(master.full(y))
            if len(cuts) > _MOST_CUTS:
                worst = np.argsort(-cuts.violation(master.full(y)), kind="stable")
                cuts = cuts.take(worst[:_MOST_CUTS])
            added += master.add(cuts)
        return added

    def improve(self) -> None:
        """Build a pattern along the relaxation's opinion and offer it."""
        search, master = self._search, self._master
        start = search.seconds
        guide = master.full(master.y)
        for threshold in (0.6, 0.9):
            hidden = self._constructor.construct(guide > threshold, guide)
            if hidden is not None:
                search.offer(clean_up(search, hidden, guide))
            if search.finished():
                break
        self._heuristic_seconds += search.seconds - start
