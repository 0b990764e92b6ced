"""`paths`: shortest paths or cheapest deviations, clean-up, and a bound.

In networks this is the heuristic of [Castro2007] and [Castro2012, Figure 14], elsewhere that of
[KellyGoldenAssad1992].
"""

from __future__ import annotations

from tacit.methods.suppress.cuts import Master, Root, is_too_large
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.heuristics.first_pattern import first_pattern
from tacit.methods.suppress.model import Search

_BOUND_ROUNDS = 12
"""Rounds of the root loop for the bound."""
_BOUND_SECONDS = 3.0
"""What the bound may take at least; otherwise as long as the pattern took."""


def run(search: Search) -> None:
    """Find a pattern, then a bound by a few rounds of the root loop."""
    search.observer.on_phase("paths")
    first_pattern(search, Constructor(search))
    if not search.should_stop() and not is_too_large(search):
        search.observer.on_phase("relaxation")
        seconds = max(_BOUND_SECONDS, search.seconds)
        Root(search, Master(search), None).run(seconds=seconds, rounds=_BOUND_ROUNDS)
    search.leave_gap()
