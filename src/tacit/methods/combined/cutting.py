"""`auto` and `benders`."""

from __future__ import annotations

from tacit.methods.combined.limits import most_rooms
from tacit.methods.combined.master import Master
from tacit.methods.combined.narrowest import Narrowest
from tacit.methods.combined.patterns import Patterns
from tacit.methods.combined.root import Root
from tacit.methods.combined.rounds import Rounds
from tacit.methods.combined.search import Search
from tacit.methods.intervals.cutting import Surroundings


def auto(search: Search) -> None:
    """Solutions from both parts, the root, then rounds of whole master problems."""
    limit = search.options.time_limit
    patterns = Patterns(search)
    surroundings = Surroundings(search)
    inside = surroundings.first()
    if search.model.has_choice:
        patterns.first(seconds=0.1 * limit)
    if search.finished() or inside is None:
        return
    narrowest = Narrowest(search, surroundings, inside)
    narrowest.run(seconds=0.15 * limit if search.model.has_choice else limit)
    if search.finished() or not search.model.has_choice:
        return
    patterns.polish(search.model.suppressed(narrowest.best))
    master = Master(search, most_rooms(search))
    master.add_for_rooms(narrowest.rows, narrowest.right)
    root = Root(search, master, patterns, surroundings, narrowest.inside)
    root.run(seconds=0.4 * limit)
    if not search.finished() and not master.infeasible:
        Rounds(search, master, root, patterns).run(seconds=max(2.0, 0.15 * limit))


def benders(search: Search) -> None:
    """Whole master problems, cut off at their optima only (paper 002, Algorithm 4.3)."""
    patterns = Patterns(search)
    surroundings = Surroundings(search)
    if surroundings.first() is None or search.finished():
        return
    master = Master(search, most_rooms(search))
    root = Root(search, master, patterns, surroundings, None)
    Rounds(search, master, root, patterns).plain()
