"""Patterns that are almost safe, made safe."""

from __future__ import annotations

import numpy as np

from tacit.clock import Clock
from tacit.methods.engine import turns
from tacit.methods.suppress.heuristics.cleanup import clean_up
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.heuristics.first_pattern import anything_safe, first_pattern
from tacit.methods.suppress.model import Search
from tacit.problem import Booleans, Floats


class Repair:
    """Makes light patterns safe and offers them, each pattern once."""

    def __init__(self, search: Search, constructor: Constructor):
        self._search = search
        self._constructor = constructor
        self._seen: set[bytes] = set()

    def offer(self, hidden: Booleans, guide: Floats | None = None) -> bool:
        """Make a pattern safe, publish what is not needed and offer it.

        Nothing happens, and it returns False, if the pattern is known, no lighter than the best,
        or time is up.

        Args:
            hidden: The pattern.
            guide: How far a relaxation suppresses each cell, from 0 to 1.
        """
        search = self._search
        key = np.packbits(hidden).tobytes()
        if key in self._seen or search.should_stop() or search.weigh(hidden) >= search.objective:
            return False
        self._seen.add(key)
        safe = self._constructor.construct(hidden, guide)
        if safe is not None:
            search.offer(clean_up(search, safe, guide))
        return True


def repair_and_clean_up(
    search: Search, hidden: Booleans, *, clean_up_seconds: float = np.inf
) -> None:
    """Audit a pattern over all relations, repair what is exposed and publish what is not needed.

    Where no repair is found, for instance because fewer cells may be suppressed than the
    pattern has, the search falls back to what protects the whole table from the beginning.
    """
    constructor = Constructor(search)
    if not search.should_stop():
        search.observer.on_phase("repair")
        safe: Booleans | None = None
        with Clock(turns.SUPPRESS_REPAIR * search.seconds_left) as turn:
            safe = constructor.construct(start=hidden)
        if turn.ran_out:
            anything_safe(search, constructor)
        if safe is not None:
            # Something safe to fall back on should time run out during the clean-up.
            search.offer(safe)
            search.observer.on_phase("clean-up")
            search.offer(clean_up(search, safe, seconds=clean_up_seconds))
    if search.best is None and not search.should_stop():
        first_pattern(search, constructor, clean_up_seconds=clean_up_seconds)
    search.settle_unit()
