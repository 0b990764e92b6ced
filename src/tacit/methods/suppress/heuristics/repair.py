"""Patterns that are almost safe, made safe: each pattern once."""

from __future__ import annotations

import numpy as np

from tacit.methods.suppress.heuristics.cleanup import clean_up
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.model import Search
from tacit.problem import Booleans, Floats


class Repair:
    """Makes light patterns safe and offers them."""

    def __init__(self, search: Search, constructor: Constructor):
        self._search = search
        self._constructor = constructor
        self._seen: set[bytes] = set()

    def offer(self, hidden: Booleans, guide: Floats | None = None) -> None:
        """Make a pattern safe, publish what is not needed and offer it.

        Nothing happens if the pattern is known, no lighter than the best, or time is up.

        Args:
            hidden: The pattern.
            guide: How much a relaxation likes each cell, from 0 to 1.
        """
        search = self._search
        key = np.packbits(hidden).tobytes()
        if key in self._seen or search.should_stop() or search.weigh(hidden) >= search.objective:
            return
        self._seen.add(key)
        safe = self._constructor.construct(hidden, guide)
        if safe is not None:
            search.offer(clean_up(search, safe, guide))
