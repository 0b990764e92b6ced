"""Random rounding: each cell for itself, without bias, and without adding up."""

from __future__ import annotations

import numpy as np

from tacit.methods.rounding.lattice import Lattice
from tacit.problem import Integers


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
    # Where a multiple is missed by a hair, it is one.
    return lattice.floor + (up & ~lattice.is_multiple)
