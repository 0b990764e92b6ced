"""`benders`: cuts at the relaxation's optimum [CastroVia2016, section 4]."""

from __future__ import annotations

from tacit.methods.intervals.heuristics.surroundings import Surroundings
from tacit.methods.intervals.master import Master
from tacit.methods.intervals.search import Search


def run(search: Search) -> None:
    """Cuts at the relaxation's optimum (paper 000, section 4)."""
    surroundings = Surroundings(search)
    surroundings.first()
    master = Master(search, purge=False)
    while not search.should_stop():
        search.iterations += 1
        search.raise_bound(master.solve())
        search.vertex = master.point
        if search.should_stop():
            return
        found = surroundings.separation.approach(master.point)
        added = master.add(found.rows, found.right)
        if added == 0 or found.walked == 0:
            search.offer(master.point)
            search.confirm()
            return
