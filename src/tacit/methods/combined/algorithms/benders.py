"""`benders`: integer master problems, cut off by cuts for intervals only.

This is [KarlssonOlsson2015, Algorithm 4.3], with three additions, without which it ends for tiny
tables only: the cuts of the linear relaxation come first [McDanielDevine1977], cuts are found on
the way to a point inside, and the pattern of every master problem is followed until its intervals
are the narrowest, so that it comes up once and leaves a solution behind.
"""

from __future__ import annotations

import numpy as np

from tacit.methods.combined.algorithms.auto import solve_integer_master
from tacit.methods.combined.cuts import Master
from tacit.methods.combined.heuristics.patterns import Patterns
from tacit.methods.combined.model import Search
from tacit.methods.intervals.heuristics.surroundings import Surroundings
from tacit.problem import Booleans
from tacit.tolerances import VIOLATED


def run(search: Search) -> None:
    """Cut the linear relaxation off, then one integer master problem after the other."""
    patterns = Patterns(search)
    surroundings = Surroundings(search)
    if not surroundings.first() or search.should_stop():
        return
    master = Master(search)
    _relax(search, master, surroundings)
    while not search.should_stop():
        search.catch_up()
        search.iterations += 1
        if master.infeasible:
            return
        found = solve_integer_master(
            search, master, seconds=search.seconds_left, gap=0.5 * search.options.gap
        )
        if found.status == "infeasible":
            search.nothing_better()
            return
        search.raise_bound(found.settled_bound, "solver")
        if found.x is None or search.should_stop():
            return
        master.x = found.x
        pattern = np.round(master.suppressed) > 0
        added = _cut(search, master, surroundings)
        point = master.point
        patterns.mend(pattern, pattern.astype(np.float64))
        if not patterns.inner.exposed(pattern):
            _follow(search, master, surroundings, pattern)
        if not added and not search.probe(point):
            return


def _relax(search: Search, master: Master, surroundings: Surroundings) -> None:
    """Cuts until the optimum of the linear relaxation is safe."""
    while not search.should_stop():
        search.catch_up()
        search.iterations += 1
        bound = master.minimise()
        if master.infeasible:
            return
        search.raise_bound(bound)
        if not _cut(search, master, surroundings):
            return


def _follow(search: Search, master: Master, surroundings: Surroundings, pattern: Booleans) -> None:
    """Cuts until the intervals of a pattern are the narrowest, or cost more than the best."""
    with master.held(pattern):
        while not search.should_stop() and master.solve(search.objective):
            if search.model.base + master.bound >= search.objective * (1 - VIOLATED):
                return
            if not _cut(search, master, surroundings):
                return


def _cut(search: Search, master: Master, surroundings: Surroundings) -> int:
    """Cut the last optimum off; returns how many cuts are new."""
    found, best = surroundings.approach(master.point, search.model.objective)
    if best is not None:
        search.offer(best)
    return master.add_for_points(found.rows, found.right)
