"""`auto` and `benders`."""

from __future__ import annotations

from tacit.methods.combined.limits import most_rooms
from tacit.methods.combined.master import Master
from tacit.methods.combined.model import CombinedModel
from tacit.methods.combined.narrowest import Narrowest
from tacit.methods.combined.patterns import Patterns
from tacit.methods.combined.root import Root
from tacit.methods.combined.rounds import Rounds
from tacit.methods.combined.search import Search
from tacit.methods.intervals.cutting import Surroundings
from tacit.methods.intervals.elimination import LinearPart
from tacit.methods.intervals.limits import takes_dual_form


def auto(search: Search) -> None:
    """Solutions from both parts, the root, then rounds of whole master problems."""
    limit = search.options.time_limit
    if not search.model.has_choice:
        _widths_alone(search)
        return
    patterns = Patterns(search)
    patterns.first(seconds=0.15 * limit)
    if search.should_stop():
        return
    surroundings, narrowest = None, None
    if walks_are_cheap(search.model):
        surroundings = Surroundings(search)
        inside = surroundings.first()
        if search.should_stop() or inside is None:
            return
        narrowest = Narrowest(search, surroundings, inside)
        narrowest.run(seconds=0.15 * limit)
        patterns.polish(search.model.suppressed(narrowest.best))
        if search.should_stop():
            return
    master = Master(search, most_rooms(search))
    if narrowest is not None:
        master.add_for_rooms(narrowest.rows, narrowest.right)
    inside = None if narrowest is None else narrowest.inside
    root = Root(search, master, patterns, surroundings, inside)
    root.run(seconds=0.3 * limit)
    if not search.should_stop() and not master.infeasible:
        Rounds(search, master, root, patterns).run(seconds=max(2.0, 0.15 * limit))


def _widths_alone(search: Search) -> None:
    """It does not matter which cells are suppressed: an intervals problem is left."""
    surroundings = Surroundings(search)
    inside = surroundings.first()
    if inside is not None and not search.should_stop():
        narrowest = Narrowest(search, surroundings, inside)
        narrowest.run(seconds=search.options.time_limit)
        search.vertex = narrowest.vertex


def walks_are_cheap(model: CombinedModel) -> bool:
    """Are walks to a point inside short programmes, with a row for each relation?

    Their dual form is slow between points with many rooms open.
    """
    return not any(takes_dual_form(LinearPart(model, rival)) for rival in model.rivals)


def benders(search: Search) -> None:
    """Whole master problems, cut off at their optima only (paper 002, Algorithm 4.3)."""
    patterns = Patterns(search)
    surroundings = Surroundings(search)
    if surroundings.first() is None or search.should_stop():
        return
    master = Master(search, most_rooms(search))
    root = Root(search, master, patterns, surroundings)
    Rounds(search, master, root, patterns).plain()
