"""Whole numbers near deviations that are not: only what has decimals is looked at again.

The vertices of linear models on tables are integers more often than not. Where they are
not, few cells have decimals, and their neighbours in integers are a small model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit.errors import SolverError
from tacit.problem import Booleans, Floats
from tacit.solver.highs_mip import HighsMip
from tacit.tolerances import INTEGRAL, SUBPROBLEM_GAP

if TYPE_CHECKING:
    from tacit.methods.adjust.model import Adjustment


_DEAR = 0.01
"""What rounding finest cells may cost, as a share, before a model is asked."""
_COST_RANGE = 1e4
"""Costs differ from the usual one by this factor at most: extreme ratios mislead the solver."""


def made_integral(model: Adjustment, z: Floats, *, seconds: float, seed: int = 1) -> Floats | None:
    """Deviations in integers close to others, with the same senses.

    Finest cells go to their nearest integers and totals follow, where limits and levels allow that
    and it costs little. Otherwise only cells with decimals go to one of their two neighbours, then
    all cells of their relations may, and then all cells may move by one more.

    Args:
        model: The adjustment problem, with limits and levels in integers.
        z: Deviations that meet them.
        seconds: Time for all attempts.
        seed: For the solver.

    Returns:
        The cheapest that were found; None without any.
    """
    rounded = _from_finest(model, z)
    if rounded is not None and model.cost(rounded) <= (1 + _DEAR) * model.cost(z):
        return rounded
    near = np.rint(z)
    # No noise is as large as a half.
    loose = np.abs(z - near) > min(INTEGRAL * max(model.unit, 1.0), 0.1)
    share = seconds / 3
    if (model.A @ np.where(loose, 0.0, near)).any() and not loose.any():
        loose = _cells_of(model, np.asarray(model.A @ near) != 0)
    found = _attempt(model, z, loose, 0.0, share, seed)
    if found is None:
        loose = _cells_of(model, np.asarray(abs(model.A) @ loose.astype(float)) > 0)
        found = _attempt(model, z, loose, 0.0, share, seed)
    if found is None:
        found = _attempt(model, z, np.ones(model.size, bool), 1.0, share, seed)
    both = [each for each in (found, rounded) if each is not None]
    return min(both, key=model.cost) if both else None


def _from_finest(model: Adjustment, z: Floats) -> Floats | None:
    """Finest cells rounded, their totals added up; None where that is impossible."""
    if model.finest is None:
        return None
    leaves, of_finest = model.finest
    low, high = model.limits(model.senses(z))
    rounded = np.zeros(of_finest.shape[0])
    rounded[model.cells] = np.clip(np.rint(z), low, high)
    every = np.asarray(of_finest @ rounded[leaves])
    integral = every[model.cells]
    every[model.cells] = 0.0
    if every.any() or (integral < low).any() or (integral > high).any():
        return None
    return integral


def _cells_of(model: Adjustment, relations: Booleans) -> Booleans:
    """The cells of some relations."""
    return np.asarray(abs(model.A).T @ relations.astype(float)) > 0


def _attempt(
    model: Adjustment, z: Floats, loose: Booleans, reach: float, seconds: float, seed: int
) -> Floats | None:
    """The cheapest integral deviations with all other cells rounded; None if not found."""
    low, high = model.limits(model.senses(z))
    free = np.flatnonzero(loose)
    integral = np.clip(np.rint(z), low, high)
    least = np.maximum(np.floor(z[free] + INTEGRAL) - reach, low[free])
    most = np.minimum(np.ceil(z[free] - INTEGRAL) + reach, high[free])
    most = np.maximum(least, most)
    part = sparse.csr_array(model.columns[:, free])
    rows = np.flatnonzero(np.diff(part.indptr) > 0)
    integral[free] = 0.0
    rest = np.asarray(model.A @ integral)
    untouched = np.ones(len(rest), bool)
    untouched[rows] = False
    if rest[untouched].any():
        return None
    if len(free) == 0:
        return integral
    cost = model.weight[free]
    if model.norm == "l2":
        cost = cost * np.maximum(2 * np.abs(z[free]), 1.0)
    usual = float(np.median(cost[cost > 0])) if (cost > 0).any() else 1.0
    # Split by sign, shifted to start at nothing, so that numbers stay small.
    up_low, up_high = np.maximum(least, 0.0), np.maximum(most, 0.0)
    down_low, down_high = np.maximum(-most, 0.0), np.maximum(-least, 0.0)
    part = sparse.csr_array(part[rows])
    target = -rest[rows] - part @ (up_low - down_low)
    steps = cheapest_steps(
        part,
        (target, target),
        np.concatenate([up_high - up_low, down_high - down_low]),
        np.clip(np.concatenate([cost, cost]) / usual, 1 / _COST_RANGE, _COST_RANGE),
        seconds=seconds,
        seed=seed,
    )
    if steps is None:
        return None
    integral[free] = up_low - down_low + steps
    return integral


def cheapest_steps(
    rows: sparse.csr_array[Any, Any],
    ends: tuple[Floats, Floats],
    most: Floats,
    cost: Floats,
    *,
    seconds: float,
    seed: int,
) -> Floats | None:
    """The cheapest integer steps up and down between ends of rows; None if none were found.

    Args:
        rows: Rows over the cells that may move.
        ends: Between what the rows lie.
        most: How far cells may go up, then how far down.
        cost: What a step up costs, then what a step down costs.
        seconds: Time limit.
        seed: For the solver.
    """
    count = rows.shape[1]
    try:
        found = HighsMip(
            sparse.csr_array(sparse.hstack([rows, -rows])),
            row_lower=ends[0],
            row_upper=ends[1],
            lower=np.zeros(2 * count),
            upper=most,
            cost=cost,
            integer=np.ones(2 * count, bool),
            seed=seed,
        ).minimise(seconds=seconds, gap=SUBPROBLEM_GAP)
    except SolverError:
        return None
    if found.x is None:
        return None
    step = np.rint(found.x)
    return np.asarray(step[:count] - step[count:])
