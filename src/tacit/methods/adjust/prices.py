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


def sense_bounds(model: Adjustment, prices: Floats, weight: Floats) -> tuple[float, Floats, Floats]:
    """A bound on the cost: a constant, and for each sensitive cell what it adds either way.

    Args:
        model: The adjustment problem.
        prices: A price of each relation, as a multiplier of A z = 0.
        weight: What a unit of deviation costs; for `linf`, shares of it that add up to 1.

    Returns:
        The constant, and for each sensitive cell what it adds if it rises, and if it falls;
        inf where it cannot.
    """
    slope = -np.asarray(model.A.T @ prices)
    up, down = model.up, model.down
    quadratic = model.norm == "l2"
    both = _least(weight, slope, np.zeros(model.size), up, quadratic)
    both = np.minimum(both, _least(weight, -slope, np.zeros(model.size), down, quadratic))
    both[model.sensitive] = 0.0
    own = model.sensitive
    w, s = weight[own], slope[own]
    rises = _least(w, s, np.where(model.may_rise, model.rise, 0.0), up[own], quadratic)
    falls = _least(w, -s, np.where(model.may_fall, model.fall, 0.0), down[own], quadratic)
    return (
        float(both.sum()),
        np.where(model.may_rise, rises, np.inf),
        np.where(model.may_fall, falls, np.inf),
    )


def _least(w: Floats, slope: Floats, low: Floats, high: Floats, quadratic: bool) -> Floats:
    """The least of w t + slope t, or of w t² + slope t, for t between low and high."""
    if quadratic:
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(w > 0, -slope / (2 * w), np.where(slope < 0, np.inf, 0.0))
        t = np.clip(t, low, np.maximum(low, high))
        with np.errstate(invalid="ignore"):
            return np.where(t == 0, 0.0, w * t * t + slope * t)
    rate = w + slope
    # Where there is no limit, a negative rate is rounding.
    top = np.where(np.isfinite(high), high, low)
    return np.where(rate >= 0, rate * low, rate * np.maximum(top, low))
