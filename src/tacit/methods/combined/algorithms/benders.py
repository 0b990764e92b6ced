"""`benders`: integer master problems, cut off at their optima only."""

from __future__ import annotations

from tacit.methods.combined.algorithms.auto import Rounds
from tacit.methods.combined.heuristics.patterns import Patterns
from tacit.methods.combined.limits import most_rooms
from tacit.methods.combined.master import Master
from tacit.methods.combined.root import Root
from tacit.methods.combined.search import Search
from tacit.methods.intervals.heuristics.surroundings import Surroundings


def run(search: Search) -> None:
    """Whole master problems, cut off at their optima only (paper 002, Algorithm 4.3)."""
    patterns = Patterns(search)
    surroundings = Surroundings(search)
    if surroundings.first() is None or search.should_stop():
        return
    master = Master(search, most_rooms(search))
    root = Root(search, master, patterns, surroundings)
    Rounds(search, master, root, patterns).plain()
