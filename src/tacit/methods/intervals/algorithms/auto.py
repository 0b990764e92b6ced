"""`auto`: cuts on the way from the relaxation's optimum to a point inside, which moves outwards."""

from __future__ import annotations

from tacit.methods.intervals.heuristics.surroundings import Surroundings, optima
from tacit.methods.intervals.search import Search


def run(search: Search) -> None:
    """Cut until the optimum is safe, or close enough to a point that is."""
    surroundings = Surroundings(search)
    surroundings.first()
    for master in optima(search, surroundings):
        found, best = surroundings.approach(master.x, search.model.objective)
        added = master.add(found.rows, found.right)
        for point in (best, surroundings.inside):
            if point is not None:
                search.offer(point)
        if added == 0 or found.walked == 0:
            search.confirm()
            search.raise_bound(master.minimise())
            if not search.model.is_behind:
                return
