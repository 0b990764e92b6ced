"""`benders`: integer master problems, cut off at their optima only.

This is [KarlssonOlsson2015, Algorithm 4.3].
"""

from __future__ import annotations

import numpy as np

from tacit.methods.combined.algorithms.auto import solve_integer_master
from tacit.methods.combined.cuts import Master
from tacit.methods.combined.heuristics.patterns import Patterns
from tacit.methods.combined.model import Search
from tacit.methods.intervals.heuristics.surroundings import Surroundings


def run(search: Search) -> None:
    """Master problems over all cells, cut off by intervals only."""
    patterns = Patterns(search)
    surroundings = Surroundings(search)
    if not surroundings.first() or search.should_stop():
        return
    master = Master(search)
    while not search.should_stop():
        search.catch_up()
        search.iterations += 1
        master.minimise()
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
        objections = surroundings.separation.approach(master.point)
        if objections.walked == 0:
            search.offer(master.point)
        added = master.add_for_points(objections.rows, objections.right)
        if not added and not search.probe(master.point):
            pattern = np.round(master.suppressed) > 0
            patterns.mend(pattern, pattern.astype(np.float64))
            return
