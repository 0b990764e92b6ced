"""Random rounding: each cell for itself, without bias, and without adding up."""

from __future__ import annotations

import numpy as np

from tacit.methods.rounding.model import Lattice, Search
from tacit.outcome import StopReason
from tacit.problem import Integers


def run(search: Search) -> None:
    """Round; what comes out is audited like any other rounding."""
    # Nothing comes after the audit that time would have to be kept for.
    search.clock.reserve = 0.0
    lattice = search.lattice
    counts = unbiased(lattice, search.options.seed)
    search.raise_bound(lattice.least_cost)
    search.audit = search.audited(lattice.values_of(counts), search.observer)
    search.stop(StopReason.HEURISTIC)
    if search.audit.safe:
        search.best = counts
        search.better(lattice.cost_of(counts))
    else:
        search.exposed = sorted({*search.audit.exposed_cells, *search.audit.unchecked})


def unbiased(lattice: Lattice, seed: int) -> Integers:
    """Numbers of bases whose expected values are the true ones.

    A value between two multiples becomes the upper one with the probability with which it lies
    on the way there; a multiple stays what it is.

    Args:
        lattice: The multiples around the true values.
        seed: The same seed gives the same numbers.
    """
    exact = lattice.problem.value / lattice.base
    up = np.random.default_rng(seed).random(len(exact)) < exact - lattice.floor
    # Where a multiple is missed by rounding noise, it is one.
    return lattice.floor + (up & ~lattice.is_multiple)
