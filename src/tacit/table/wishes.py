"""What is wished of single cells: what they cost, and what attackers know of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.problem import Booleans, Floats


@dataclass(frozen=True, eq=False)
class Wishes:
    """Numbers for some cells; one entry per cell, NaN where nothing is wished.

    Attributes:
        weight: What suppressing the cell costs.
        factor: How many times as much as otherwise it costs.
        lower: The cell is known to be at least so much.
        upper: The cell is known to be at most so much.
    """

    weight: Floats | None = None
    factor: Floats | None = None
    lower: Floats | None = None
    upper: Floats | None = None


def wished_weights(weight: Floats, wishes: Sequence[Wishes], sensitive: Booleans) -> Floats:
    """Weights as they are wished, where otherwise they would be these.

    Factors are for cells that may be published: every pattern pays for sensitive ones.

    >>> nothing = float("nan")
    >>> wish = Wishes(weight=np.array([nothing, 7]), factor=np.array([2, nothing]))
    >>> wished_weights(np.array([3.0, 4.0]), [wish], np.zeros(2, bool)).tolist()
    [6.0, 7.0]
    """
    for wish in wishes:
        if wish.weight is not None:
            weight = np.where(np.isnan(wish.weight), weight, wish.weight)
        if wish.factor is not None:
            weight = weight * np.where(np.isnan(wish.factor) | sensitive, 1.0, wish.factor)
    return weight


def wished_bounds(
    lower: Floats | None, upper: Floats | None, wishes: Sequence[Wishes]
) -> tuple[Floats | None, Floats | None]:
    """Bounds with those that are wished; the tightest count."""
    for wish in wishes:
        if wish.lower is not None:
            lower = wish.lower if lower is None else np.fmax(lower, wish.lower)
        if wish.upper is not None:
            upper = wish.upper if upper is None else np.fmin(upper, wish.upper)
    return lower, upper
