"""The automatic choice, by what the table is."""

from __future__ import annotations

from tacit.methods.rounding.algorithms import milp, partition
from tacit.methods.rounding.model import Search

_LARGE = 1000
"""From this many columns on, parts are rounded one by one before all is rounded at once."""


def run(search: Search) -> None:
    """One mixed-integer model for networks and small tables, parts for others."""
    is_small = search.mip.is_network or len(search.lattice.cost) < _LARGE
    (milp if is_small else partition).run(search)
