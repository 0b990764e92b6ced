"""The end of heuristics that look at parts of a table: repair and clean up the whole."""

from __future__ import annotations

import numpy as np

from tacit.clock import Clock
from tacit.methods.suppress.heuristics.cleanup import clean_up
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.heuristics.first_pattern import anything_safe, first_pattern
from tacit.methods.suppress.model import Search
from tacit.outcome import StopReason
from tacit.problem import Booleans

_REPAIR = 0.6
"""The share of the time left that the repair may take before anything safe will do."""


def finish(search: Search, hidden: Booleans, *, clean_up_seconds: float = np.inf) -> None:
    """Audit a pattern over all relations, repair what is exposed and publish what is not needed.

    Where no repair is found, for instance because fewer cells may be suppressed than the
    pattern has, the search falls back to what protects the whole table from the beginning.
    """
    constructor = Constructor(search)
    if not search.should_stop():
        search.observer.on_phase("repair")
        safe: Booleans | None = None
        with Clock(_REPAIR * search.seconds_left) as turn:
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


def conclude(search: Search) -> None:
    """Nothing more is tried, although the bound leaves something open."""
    if search.best is not None and not search.should_stop():
        search.stop(StopReason.HEURISTIC)
