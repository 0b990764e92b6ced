"""Improve a safe pattern: publish a part of it again, protect anew, clean up, keep what is lighter.

Small tables with equal weights have many patterns that are almost best; a change of a few cells
leads from one to the next far faster than branching does.
"""

from __future__ import annotations

import numpy as np

from tacit.methods.suppress.heuristics.cleanup import clean_up
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.heuristics.groups import serves
from tacit.methods.suppress.model import Search
from tacit.problem import Booleans, Floats, Integers

_SIZES = (5, 10, 20, 40)
"""How many secondary cells are published again at once, but never more than 40 % of them."""


class Neighbourhoods:
    """Walks from safe pattern to safe pattern, never uphill."""

    def __init__(self, search: Search, constructor: Constructor):
        self._search = search
        self._constructor = constructor
        self._random = np.random.default_rng(search.options.seed)
        touches = abs(search.problem.relations).sign()
        self._relations, self._cells = touches, touches.T.tocsr()
        self._current: Booleans | None = None
        self._seen: Booleans | None = None
        self.tries = 0

    def improve(self, guide: Floats, *, tries: int, seconds: float = np.inf) -> bool:
        """Try a number of changes; True if the best pattern has become lighter.

        Args:
            guide: How far the relaxation suppresses each cell, from 0 to 1.
            tries: Number of changes.
            seconds: Stop after this time, whatever the number.
        """
        search = self._search
        before, end = search.objective, search.seconds + seconds
        for _ in range(tries):
            search.hear()
            if search.should_stop() or search.best is None or search.seconds > end:
                break
            self._step(guide)
        return search.objective < before

    def _step(self, guide: Floats) -> None:
        search, random = self._search, self._random
        assert search.best is not None
        if search.best is not self._seen or self._current is None:
            # Somebody else has found something better.
            self._current, self._seen = search.best, search.best
        secondary = np.flatnonzero(self._current & search.secondary)
        if len(secondary) == 0:
            return
        self.tries += 1
        start = self._current.copy()
        start[self._chosen(secondary)] = False
        suggested = guide * random.random(len(guide)) ** random.choice([0.0, 0.5, 1.0])
        if random.random() < 0.5:
            suggested = np.clip(suggested + 0.5 * random.random(len(guide)), 0.0, 1.0)
        safe = self._constructor.construct(start, suggested)
        if safe is None:
            return
        # Far from what has changed, hardly anything has become superfluous.
        among = self._near(safe != self._current) if serves(search) else None
        liked = suggested + 0.3 * random.random(len(guide))
        found = clean_up(search, safe, liked, among=among)
        if search.weigh(found) <= search.weigh(self._current) and not search.should_stop():
            self._current = found
            if search.offer(found):
                self._seen = search.best

    def _near(self, cells: Booleans) -> Booleans:
        """The cells that share a relation with some cells."""
        return np.asarray(self._cells @ (self._relations @ cells.astype(np.float64)) > 0)

    def _chosen(self, secondary: Integers) -> Integers:
        """Cells to publish again: some near each other, or some from everywhere."""
        random = self._random
        size = min(int(random.choice(_SIZES)), max(1, int(0.4 * len(secondary))))
        candidates = secondary
        if self.tries % 2 == 0:
            near: Floats = np.zeros(self._relations.shape[1])
            near[random.choice(secondary)] = 1.0
            for _ in range(1 + int(random.random() < 0.5)):
                near = np.sign(np.asarray(self._cells @ (self._relations @ near)))
            candidates = secondary[near[secondary] > 0]
        return random.choice(candidates, min(size, len(candidates)), replace=False)
