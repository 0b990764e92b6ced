"""Weights in units that suit solvers, whatever they were given in.

Solvers work with absolute tolerances: what weighs 1e-9 costs them nothing. Units are powers of
two, so that weights change their exponents only and objectives come back exactly.
"""

from __future__ import annotations

import numpy as np

from tacit.problem import Floats

_USUAL = (1e-3, 1e6)
"""Weights of which the typical one lies between these stay as they are."""
_INTEGER = (1.0, 2.0**30)
"""Once a pattern is known, integer weights stay as they are if it weighs between these, ..."""
_REAL = (2.0**17, 2.0**23)
"""... others if it weighs between these, or else ..."""
_TARGET = 2.0**20
"""... it is to weigh about this."""
_OUTGROWN = 2.0**7
"""A pattern that weighs less than this needs another unit, unless weights are integers."""
_BEYOND = 2.0**10
"""A weight above that of a known pattern by this factor may as well be infinite."""
_RANGE = 2.0**30
"""Costs that steer a heuristic differ from the typical one by this factor at most."""
_FINEST = 1e-9
"""Steps below this share of the weights are not worth looking at."""
_WEIGHTLESS = 1e-6
"""What cells without a weight cost in heuristics, as a share of the least that others cost."""
HIDDEN_COST = 1e-4
"""What cells cost in further deviations once they are hidden, as a share of their own cost."""


def power_of_two(number: float) -> float:
    """The largest power of two that does not exceed a positive number."""
    return float(np.ldexp(0.5, np.frexp(number)[1]))


def unit_of(weight: Floats) -> float:
    """The unit in which weights are counted before any pattern is known."""
    usual = typical(weight)
    return 1.0 if _USUAL[0] <= usual <= _USUAL[1] else power_of_two(usual)


def unit_for_loss(loss: float, step: float) -> float:
    """The unit in which weights are counted once a pattern is known.

    Args:
        loss: What it weighs, sensitive cells aside.
        step: The step of the weights, see `step_of`.
    """
    least, most = _INTEGER if step >= 2.0**-10 else _REAL
    return 1.0 if least <= loss <= most else power_of_two(loss / _TARGET)


def is_outgrown(loss: float, step: float) -> bool:
    """Is a pattern so light in its unit that tolerances of solvers count?"""
    return step == 0 and 0 < loss < _OUTGROWN


def beyond(loss: float) -> float:
    """A weight that no pattern lighter than the loss contains, by far."""
    return _BEYOND * loss


def typical(weight: Floats) -> float:
    """The median of the positive weights; 1 if there are none."""
    positive = weight[weight > 0]
    return float(np.median(positive)) if len(positive) else 1.0


def step_of(weight: Floats) -> float:
    """What the weights of any two patterns differ by at least, if they differ; 0 if not known.

    It is a power of two of which all weights are multiples: 1 for odd integers.

    >>> step_of(np.array([3.0, 5.0])), step_of(np.array([0.5, 0.75])), step_of(np.array([0.1]))
    (1.0, 0.25, 0.0)
    """
    positive = weight[weight > 0]
    if len(positive) == 0:
        return 0.0
    mantissa, exponent = np.frexp(positive)
    digits = np.ldexp(mantissa, 53).astype(np.int64)
    step = float(np.ldexp((digits & -digits).astype(np.float64), exponent - 53).min())
    return step if step >= _FINEST * float(positive.sum()) else 0.0


def steering(weight: Floats) -> Floats:
    """Positive costs for heuristics: nothing comes for free, nothing is out of all proportion."""
    usual = typical(weight)
    cost = np.clip(weight, usual / _RANGE, usual * _RANGE)
    positive = weight[weight > 0]
    least = max(float(positive.min()), usual / _RANGE) if len(positive) else 1.0
    return np.where(weight > 0, cost, _WEIGHTLESS * least)
