"""Weights as the whole numbers that tau-ARGUS' engine takes for costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from studies.peers.environment import PeerError
from tacit.problem import Floats

Costs: TypeAlias = Literal["exact", "scaled"]

LARGEST_SCALED_COST = 20_000
"""What tau-ARGUS scales the largest cost to when it writes a table for its engine."""
MOST_DECIMALS = 9
_LARGEST_SUM = 2**31 - 1


@dataclass(frozen=True, eq=False)
class WholeCosts:
    """Costs for the engine.

    Attributes:
        cost: One whole number a cell.
        scale: How much larger costs are than weights.
        exact: Whether costs are exactly `scale` times the weights. If not, what is best for
            the costs need not be best for the weights, and a bound for one is none for the other.
    """

    cost: Floats
    scale: float
    exact: bool


def whole_costs(weight: Floats, costs: Costs) -> WholeCosts:
    """Turn weights into whole costs.

    Args:
        weight: The weights.
        costs: `scaled` as tau-ARGUS does it: the largest becomes 20,000, the others shrink
            with it, are rounded and are at least 1. `exact` moves the decimal point until all
            are whole.

    Raises:
        PeerError: The weights have too many decimals to be taken exactly.

    >>> whole_costs(np.array([0.5, 2.25]), "exact").cost.tolist()
    [50.0, 225.0]
    >>> whole_costs(np.array([1.0, 3e6, 4e6]), "scaled").cost.tolist()
    [1.0, 15000.0, 20000.0]
    """
    if costs == "scaled":
        largest = float(weight.max(initial=0.0))
        scale = LARGEST_SCALED_COST / largest if largest > 0 else 1.0
        cost = np.maximum(np.floor(weight * scale + 0.5), 1.0)
        return WholeCosts(cost, scale, bool(np.array_equal(cost, weight * scale)))
    if costs != "exact":
        raise PeerError(f"unknown costs {costs!r}; known are {', '.join(get_args(Costs))}")
    for decimals in range(MOST_DECIMALS + 1):
        scale = 10.0**decimals
        cost = np.round(weight * scale)
        # A decimal weight is the double nearest to it, and so is the quotient.
        if np.array_equal(cost / scale, weight) and cost.sum() <= _LARGEST_SUM:
            return WholeCosts(cost, scale, True)
    raise PeerError(
        "the weights cannot be written as whole numbers that fit the engine; "
        "ask for costs='scaled', which rounds them as tau-ARGUS does"
    )
