"""What prices of the relations say about senses.

For any prices g of the relations, min over z of cost(z) + g A z without the relations bounds the
closest table from below, and falls apart into cells. For a sensitive cell it is one amount if it
rises and another if it falls: so the bound is linear in the senses. These are the cuts of
paper 003, (20), and a quick judgement of what turning a sense around can bring at best.
"""

from __future__ import annotations

import numpy as np

from tacit.methods.adjust.model import Adjustment
from tacit.problem import Floats


def sense_bounds(
    model: Adjustment, prices: Floats, weight: Floats, cutoff: float = np.inf
) -> tuple[float, Floats, Floats]:
    """A bound on the cost: a constant, and for each sensitive cell what it adds either way.

    Args:
        model: The adjustment problem.
        prices: A price of each relation, as a multiplier of A z = 0.
        weight: What a unit of deviation costs; for `linf`, shares of it that add up to 1.
        cutoff: Only tables that cost less than this need to respect the bound.

    Returns:
        The constant, and for each sensitive cell what it adds if it rises, and if it falls;
        inf where it cannot, -inf where prices say nothing because the cell has no limit.
    """
    slope = -np.asarray(model.A.T @ prices)
    most = model.farthest(cutoff)
    up, down = np.minimum(model.up, most), np.minimum(model.down, most)
    # A rate this little below zero is the rounding of whoever found the prices.
    rounding = _ROUNDING * max(float(np.abs(slope).max(initial=0.0)), float(weight.max(initial=0)))
    quadratic = model.norm == "l2"
    both = _least(weight, slope, np.zeros(model.size), up, quadratic, rounding)
    falling = _least(weight, -slope, np.zeros(model.size), down, quadratic, rounding)
    both = np.minimum(both, falling)
    both[model.sensitive] = 0.0
    own = model.sensitive
    w, s = weight[own], slope[own]
    least = np.where(model.may_rise, model.rise, 0.0)
    rises = _least(w, s, least, up[own], quadratic, rounding)
    least = np.where(model.may_fall, model.fall, 0.0)
    falls = _least(w, -s, least, down[own], quadratic, rounding)
    return (
        float(both.sum()),
        np.where(model.may_rise, rises, np.inf),
        np.where(model.may_fall, falls, np.inf),
    )


_ROUNDING = 1e-9


def _least(
    w: Floats, slope: Floats, low: Floats, high: Floats, quadratic: bool, rounding: float
) -> Floats:
    """The least of w t + slope t, or of w t² + slope t, for t between low and high."""
    high = np.maximum(low, high)
    if quadratic:
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(w > 0, -slope / (2 * w), np.where(slope < -rounding, np.inf, 0.0))
        t = np.clip(t, low, high)
        with np.errstate(invalid="ignore"):
            least = np.where(t == 0, 0.0, w * t * t + slope * t)
        return np.where(np.isinf(t), -np.inf, least)
    rate = w + slope
    has_limit = np.isfinite(high)
    at_limit = np.where(has_limit, rate * np.where(has_limit, high, 0.0), -np.inf)
    return np.where((rate >= 0) | (~has_limit & (rate >= -rounding)), rate * low, at_limit)
