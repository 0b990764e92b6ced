"""`benders`: cuts at the relaxation's optimum [CastroVia2016, section 4].

Most intervals are points there, and so many cuts are violated alike: of these the one is taken that
asks most of a point inside [MagnantiWong1981], by a step towards that point too small to matter
otherwise.
"""

from __future__ import annotations

from tacit.methods.intervals.cuts import Found, Master
from tacit.methods.intervals.heuristics.surroundings import Surroundings, optima
from tacit.methods.intervals.search import Search
from tacit.tolerances import STEP_INSIDE


def run(search: Search) -> None:
    """Cut until the optimum is safe."""
    surroundings = Surroundings(search)
    surroundings.first()
    for master in optima(search, surroundings, purges=False):
        if _strong(master, surroundings):
            continue
        found: Found = surroundings.separation.approach(master.x)
        added = master.add(found.rows, found.right)
        if added == 0 or found.walked == 0:
            search.offer(master.x)
            search.confirm()
            if not search.model.is_behind:
                return


def _strong(master: Master, surroundings: Surroundings) -> int:
    """Add cuts a small step inside; returns how many were not there before."""
    inside = surroundings.inside
    if inside is None:
        return 0
    found = surroundings.separation.approach(master.x + STEP_INSIDE * (inside - master.x))
    return master.add(found.rows, found.right)
