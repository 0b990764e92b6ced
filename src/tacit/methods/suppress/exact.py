"""`branch-and-cut` and `auto`: root, then tree, with rounds in between where that pays."""

from __future__ import annotations

import numpy as np

from tacit.methods.suppress.construct import Constructor
from tacit.methods.suppress.master import Master
from tacit.methods.suppress.neighbourhoods import Neighbourhoods
from tacit.methods.suppress.root import Root
from tacit.methods.suppress.rounds import Rounds
from tacit.methods.suppress.search import Search
from tacit.methods.suppress.start import first_pattern
from tacit.problem import Booleans


def branch_and_cut(search: Search) -> None:
    """Tighten the root, then branch."""
    from tacit.methods.suppress.branch_and_cut import Tree

    constructor = Constructor(search)
    first_pattern(search, constructor)
    master = Master(search)
    root = Root(search, master, constructor)
    root.run(seconds=0.35 * search.options.time_limit)
    if not search.finished():
        Tree(search, master, constructor).run()


def auto(search: Search) -> None:
    """Tighten the root; improve the pattern in small trees; then branch."""
    from tacit.methods.suppress.branch_and_cut import Tree

    constructor = Constructor(search)
    first_pattern(search, constructor)
    if search.finished():
        return
    master = Master(search)
    root = Root(search, master, constructor)
    root.run(seconds=0.35 * search.options.time_limit)
    neighbourhoods = Neighbourhoods(search, constructor)
    limit = search.options.time_limit
    neighbourhoods.improve(master.full(master.y), tries=40, seconds=0.1 * limit)
    rounds = Rounds(search, master, constructor, neighbourhoods)
    if search.finished() or rounds.run(seconds=max(2.0, 0.1 * limit)):
        return
    while not search.finished():
        free = int((~master.fixed_out).sum())
        liked = np.flatnonzero((master.y > 1e-3) | _best_columns(search, master))
        before = search.objective
        if len(liked) < 0.6 * free:
            seconds = min(0.15 * search.options.time_limit, search.seconds_left)
            Tree(search, master, constructor, columns=liked, seconds=seconds).run()
        if search.finished():
            return
        if search.objective < before:
            root.run(seconds=0.1 * search.options.time_limit)
            continue
        Tree(search, master, constructor).run()
        return


def _best_columns(search: Search, master: Master) -> Booleans:
    """Columns that the best pattern uses."""
    if search.best is None:
        return np.zeros(len(master.cells), bool)
    return search.best[master.cells]


def paths(search: Search) -> None:
    """Shortest paths or cheapest deviations, then clean-up."""
    first_pattern(search, Constructor(search))
    if not search.stopped_by:
        search.stopped_by = "heuristic"
