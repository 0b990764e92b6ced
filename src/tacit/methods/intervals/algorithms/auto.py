"""`auto`: cuts between the relaxation's optimum and a point inside, which moves outwards."""

from __future__ import annotations

from tacit.methods.intervals.heuristics.surroundings import Surroundings
from tacit.methods.intervals.master import Master
from tacit.methods.intervals.search import Search

_PULL = 0.5
"""The share of the way that the inner point follows the best point of a round."""


def run(search: Search) -> None:
    """Cuts on the way from the relaxation's optimum to a point inside, which moves outwards."""
    surroundings = Surroundings(search)
    inside = surroundings.first()
    master = Master(search)
    while not search.should_stop():
        search.iterations += 1
        search.raise_bound(master.solve())
        search.vertex = master.point
        if search.should_stop():
            return
        found = surroundings.separation.approach(master.point, inside)
        added = master.add(found.rows, found.right)
        if inside is not None:
            points = surroundings.safe_points(master.point, inside, found)
            best = min(points, key=search.model.objective)
            inside = inside + _PULL * (best - inside)
            for point in (best, inside):
                search.offer(point)
        elif found.walked == 0:
            search.offer(master.point)
        if added == 0 or found.walked == 0:
            search.confirm()
            search.raise_bound(master.solve())
            return
