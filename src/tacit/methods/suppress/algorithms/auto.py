"""`auto`, `branch-and-cut` and `paths`: pattern, root, rounds and tree, as far as each goes."""

from __future__ import annotations

import numpy as np

from tacit.methods.suppress.cuts import Master
from tacit.methods.suppress.finish import conclude
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.heuristics.first_pattern import first_pattern, is_large
from tacit.methods.suppress.heuristics.neighbourhoods import Neighbourhoods
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.root import Root
from tacit.methods.suppress.rounds import Rounds
from tacit.problem import Booleans

_BOUND_ROUNDS = 12
"""Rounds of the root loop for the bound of a pattern found by paths."""
_TOO_LARGE = 50_000
"""From this number of cells on, the relaxation is left alone."""


def branch_and_cut(search: Search) -> None:
    """Tighten the root, then branch."""
    from tacit.methods.suppress.algorithms.branch_and_cut import Tree

    constructor = Constructor(search)
    search.observer.on_phase("first pattern")
    first_pattern(search, constructor)
    search.observer.on_phase("relaxation")
    master = Master(search)
    root = Root(search, master, constructor)
    root.run(seconds=0.35 * search.options.time_limit)
    if not search.should_stop():
        search.observer.on_phase("branching")
        Tree(search, master, constructor).run()


def auto(search: Search) -> None:
    """What measures best for the table at hand.

    A large table that is no network is first protected module by module; one that is too large
    for the relaxation, too, ends there. All others: tighten the root, improve the pattern, solve
    whole master problems as long as they are easy, then branch, first in small trees.
    """
    constructor = Constructor(search)
    _first_pattern_by_size(search, constructor)
    if search.should_stop():
        return
    if int(search.secondary.sum()) > _TOO_LARGE:
        conclude(search)
        return
    search.observer.on_phase("relaxation")
    master = Master(search)
    root = Root(search, master, constructor)
    limit = search.options.time_limit
    root.run(seconds=0.35 * limit)
    search.observer.on_phase("improvement")
    neighbourhoods = Neighbourhoods(search, constructor)
    neighbourhoods.improve(master.full(master.y), tries=40, seconds=0.1 * limit)
    rounds = Rounds(search, master, constructor, neighbourhoods)
    if not search.should_stop() and not rounds.run(seconds=max(2.0, 0.1 * limit)):
        _branch(search, master, root, constructor)


def _first_pattern_by_size(search: Search, constructor: Constructor) -> None:
    from tacit.methods.suppress.algorithms.modular import protect_by_modules

    # What the relaxation suggests later is worth more of the time than this first pattern.
    is_last = int(search.secondary.sum()) > _TOO_LARGE
    seconds = np.inf if is_last else 0.1 * search.options.time_limit
    if is_large(search):
        protect_by_modules(search, clean_up_seconds=seconds)
    else:
        search.observer.on_phase("first pattern")
        first_pattern(search, constructor, clean_up_seconds=seconds)


def _branch(search: Search, master: Master, root: Root, constructor: Constructor) -> None:
    """Trees over the columns that the relaxation likes, as long as they help; then over all."""
    from tacit.methods.suppress.algorithms.branch_and_cut import Tree

    limit = search.options.time_limit
    search.observer.on_phase("branching")
    while not search.should_stop():
        free = int((~master.fixed_out).sum())
        liked = np.flatnonzero((master.y > 1e-3) | _best_columns(search, master))
        before = search.objective
        if len(liked) < 0.6 * free:
            seconds = min(0.15 * limit, search.seconds_left)
            Tree(search, master, constructor, columns=liked, seconds=seconds).run()
        if search.should_stop():
            return
        if search.objective < before:
            root.run(seconds=0.1 * limit)
            continue
        Tree(search, master, constructor).run()
        return


def _best_columns(search: Search, master: Master) -> Booleans:
    """Columns that the best pattern uses."""
    if search.best is None:
        return np.zeros(len(master.cells), bool)
    return search.best[master.cells]


def paths(search: Search) -> None:
    """Shortest paths or cheapest deviations, clean-up, and a bound.

    The bound comes from a few rounds of the root loop, which get no more time than the pattern
    took, or some seconds.
    """
    search.observer.on_phase("paths")
    first_pattern(search, Constructor(search))
    if search.should_stop() or int(search.secondary.sum()) > _TOO_LARGE:
        conclude(search)
        return
    search.observer.on_phase("relaxation")
    Root(search, Master(search), None).run(seconds=max(3.0, search.seconds), rounds=_BOUND_ROUNDS)
    conclude(search)
