"""For networks: the vertices of the linear relaxation are integral [Bacharach1966]."""

from __future__ import annotations

from tacit.errors import InputError
from tacit.methods.rounding.algorithms import milp
from tacit.methods.rounding.model import Search


def run(search: Search) -> None:
    """Round a network, and refuse any other table."""
    if not search.mip.is_network and not search.cut_count:
        raise InputError(
            "this table is not a network; choose algorithm auto, milp or partition instead of flow"
        )
    milp.run(search)
