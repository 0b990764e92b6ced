"""What bounds safe tables from below: the relaxation by polygons, and cuts from dual values.

With senses undecided, deviations z = z+ - z- of the relaxation of [Castro2012, (18)] can all be
zero. What it misses: in a relation, what rises and what falls balance, and no cell balances itself.
So with P the sum of either side, |z_j| <= P for every cell j of the relation; as lengths of the
sides of a closed polygon, none is longer than all others together. And with all sensitive cells at
their levels at least, P is no smaller than the larger side of their best division into two.

The columns of the relaxation are the sizes t = |z| of the deviations and P for each relation. Signs
have gone, so that nothing is left to decide; what remains is a linear model of moderate size. Its
dual values are turned into a bound in numpy, so that no solver has to be believed.

For any dual values g of the relations, min over z of cost(z) + g A z without the relations bounds
the closest table from below, and falls apart into cells. For a sensitive cell it is one amount if
it rises and another if it falls: so the bound is linear in the senses. These are the cuts of
[Castro2012, (20)], and a quick judgement of what turning a sense around can bring at best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.errors import SolverError
from tacit.methods.adjust.kernels import least_sides
from tacit.methods.adjust.model import Adjustment, Search
from tacit.problem import Booleans, Floats, Integers
from tacit.solver.highs import HighsModel
from tacit.tolerances import ROUNDING_NOISE, SOLVER_FINE

_SMALL = 20_000
"""Relaxations with fewer entries are solved to a vertex."""
_STEPS = 100_000
"""Steps to divide the sensitive cells of one relation."""
_ALL_STEPS = 20_000_000
"""Steps for all relations together: some tenths of a second."""


def smallest_sides(
    model: Adjustment, A: sparse.csr_array[Any, Any], cells: Integers | None = None
) -> Floats:
    """For each relation what rises in it at least, if sensitive cells are at their levels.

    Args:
        model: The adjustment problem.
        A: Relations.
        cells: Places of the cells that the columns of A stand for; by default all.
    """
    place = model.place[A.indices if cells is None else cells[A.indices]]
    is_own = place >= 0
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))[is_own]
    own, c = place[is_own], A.data[is_own]
    rise, fall = model.rise[own], model.fall[own]
    first = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=A.shape[0]))])
    return least_sides(
        first.astype(np.int64),
        np.abs(c) * np.where(c > 0, rise, fall),
        np.abs(c) * np.where(c > 0, fall, rise),
        max(1000, min(_STEPS, _ALL_STEPS // max(A.shape[0], 1))),
    )


@dataclass(frozen=True, eq=False)
class Relaxation:
    """What the relaxation says.

    Attributes:
        bound: No safe table costs less.
        size: The size of each deviation in the relaxation's optimum.
        tight: The entries of the relations whose polygon rows have a dual value.
    """

    bound: float
    size: Floats
    tight: Booleans


def relax(search: Search) -> Relaxation | None:
    """Solve the relaxation and raise the bound; None if the solver gave up."""
    model = search.model
    if model.size == 0:
        return None
    polygons = _Polygons(model)
    try:
        answer = polygons.solve(search)
    except SolverError:
        return None
    if answer is not None:
        search.raise_bound(answer.bound)
    return answer


class _Polygons:
    """The linear model, scaled."""

    def __init__(self, model: Adjustment):
        self._model = model
        A = model.A
        m, n = A.shape
        k = A.nnz
        self._n, self._m = n, m
        unit, weight = model.unit, model.weight
        self._unit = unit
        self.cost_unit = float(np.median(weight[weight > 0])) if (weight > 0).any() else 1.0
        row = np.repeat(np.arange(m), np.diff(A.indptr))
        entry = np.arange(k)
        sums = sparse.hstack([abs(A), -2 * sparse.identity(m)])
        data = np.concatenate([np.abs(A.data), -np.ones(k)])
        place = (np.tile(entry, 2), np.concatenate([A.indices, n + row]))
        longest = sparse.csr_array((data, place), shape=(k, n + m))
        least = np.zeros(n)
        least[model.sensitive] = model.level / unit
        most = np.maximum(model.up, model.down) / unit
        self.rows = sparse.csr_array(sparse.vstack([sums, longest]))
        self.row_lower = np.concatenate([np.zeros(m), np.full(k, -np.inf)])
        self.row_upper = np.zeros(m + k)
        self.lower = np.concatenate([least, smallest_sides(model, A) / unit])
        # Half of all that may move in a relation is the most that can rise in it.
        self.upper = np.concatenate([most, np.asarray(abs(A) @ most) / 2 + 1.0])
        self.cost = np.concatenate([weight / self.cost_unit, np.zeros(m)])
        if model.norm == "linf":
            self._largest(n, m, weight)

    def _largest(self, n: int, m: int, weight: Floats) -> None:
        """One more column: the largest weighted deviation, which alone costs."""
        rate: Any = sparse.hstack(
            [
                sparse.csr_array(sparse.diags_array(weight / self.cost_unit)),
                sparse.csr_array((n, m)),
                sparse.csr_array(-np.ones((n, 1))),
            ]
        )
        wider = sparse.hstack([self.rows, sparse.csr_array((self.rows.shape[0], 1))])
        self.rows = sparse.csr_array(sparse.vstack([wider, rate]))
        self.row_lower = np.append(self.row_lower, np.full(n, -np.inf))
        self.row_upper = np.append(self.row_upper, np.zeros(n))
        self.cost = np.append(np.zeros(n + m), 1.0)
        largest = float(np.max(self.lower[:n] * weight / self.cost_unit, initial=0.0))
        self.lower, self.upper = np.append(self.lower, largest), np.append(self.upper, np.inf)

    def solve(self, search: Search) -> Relaxation | None:
        lp = HighsModel(
            self.rows,
            row_lower=self.row_lower,
            row_upper=self.row_upper,
            lower=self.lower,
            upper=self.upper,
            cost=self.cost,
            tolerance=SOLVER_FINE,
        )
        settings = {
            "presolve": "on",
            "time_limit": max(0.1, search.seconds_left),
            "simplex_iteration_limit": 2**31 - 1,
        }
        if self.rows.nnz > _SMALL:
            settings |= {"solver": "ipm", "run_crossover": "off"}
        for name, setting in settings.items():
            lp.set_option(name, setting)
        found = lp.solve(cold=True, strategy="dual")
        if len(found.row_dual) != self.rows.shape[0] or len(found.x) == 0:
            return None
        k = self._model.A.nnz
        bound = self.proven(found.row_dual, search.objective) * self.cost_unit * self._unit
        tight = found.row_dual[self._m : self._m + k] < -ROUNDING_NOISE
        return Relaxation(bound, found.x[: self._n] * self._unit, tight)

    def proven(self, duals: Floats, cutoff: float) -> float:
        """The bound that dual values of rows prove, wherever they come from."""
        # A dual value of the wrong sign on a row that is bounded on one side only proves nothing.
        duals = np.where(np.isinf(self.row_lower), np.minimum(duals, 0.0), duals)
        upper = self.upper.copy()
        if np.isfinite(cutoff):
            limit = cutoff / (self.cost_unit * self._unit)
            with np.errstate(divide="ignore", invalid="ignore"):
                most = np.where(self.cost > 0, limit / self.cost, np.inf)
            upper = np.maximum(np.minimum(upper, most), self.lower)
            sides = np.asarray(abs(self._model.A) @ upper[: self._n]) / 2
            n, m = self._n, self._m
            upper[n : n + m] = np.maximum(
                np.minimum(upper[n : n + m], sides), self.lower[n : n + m]
            )
        reduced = self.cost - self.rows.T @ duals
        at = np.where(reduced > 0, self.lower, upper)
        with np.errstate(invalid="ignore"):
            terms = np.where(reduced == 0, 0.0, reduced * at)
        # Right-hand sides are zero.
        return float(terms.sum())


def sense_bounds(
    model: Adjustment, duals: Floats, weight: Floats, cutoff: float = np.inf
) -> tuple[float, Floats, Floats]:
    """A bound on the cost: a constant, and for each sensitive cell what it adds either way.

    Args:
        model: The adjustment problem.
        duals: A dual value of each relation, as a multiplier of A z = 0.
        weight: What a unit of deviation costs; for `linf`, shares of it that add up to 1.
        cutoff: Only tables that cost less than this need to respect the bound.

    Returns:
        The constant, and for each sensitive cell what it adds if it rises, and if it falls;
        inf where it cannot, -inf where they say nothing because the cell has no limit.
    """
    slope = -np.asarray(model.A.T @ duals)
    most = model.farthest(cutoff)
    up, down = np.minimum(model.up, most), np.minimum(model.down, most)
    # A rate this little below zero is rounding by the solver that found the dual values.
    rounding = ROUNDING_NOISE * max(
        float(np.abs(slope).max(initial=0.0)), float(weight.max(initial=0))
    )
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
