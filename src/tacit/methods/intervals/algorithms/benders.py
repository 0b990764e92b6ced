"""`benders`: cuts at the relaxation's optimum [CastroVia2016, section 4]."""

from __future__ import annotations

from tacit.methods.intervals.heuristics.surroundings import Surroundings, optima
from tacit.methods.intervals.search import Search


def run(search: Search) -> None:
    """Cut until the optimum is safe."""
    surroundings = Surroundings(search)
    surroundings.first()
    for master in optima(search, surroundings, purges=False):
        found = surroundings.separation.approach(master.x)
        added = master.add(found.rows, found.right)
        if added == 0 or found.walked == 0:
            search.offer(master.x)
            search.confirm()
            if not search.model.is_behind:
                return
