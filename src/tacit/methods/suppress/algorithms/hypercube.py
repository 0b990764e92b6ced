"""`hypercube`: hypercubes around sensitive cells, repair, clean-up [GiessingRepsilber2002]."""

from __future__ import annotations

from tacit.attack.subtables import Subtables
from tacit.methods.suppress.heuristics.hypercubes import hypercube_pattern
from tacit.methods.suppress.heuristics.repair import repair_and_clean_up
from tacit.methods.suppress.model import Search


def run(search: Search) -> None:
    """Protect by hypercubes in each subtable, then repair and clean up the whole table."""
    repair_and_clean_up(search, hypercube_pattern(search, Subtables.of(search.problem.relations)))
    search.leave_gap()
