"""The relaxation by polygons: how close a safe table can be, whatever the senses.

Columns are the sizes t = |z| of the deviations and, for each relation, the sum P of what rises
in it: no cell exceeds P, all cells together make twice P, sensitive cells reach their levels, and
P is no smaller than the best division of them into two sides (see `program`). Signs have gone, so
that nothing is left to decide; what remains is a linear programme of moderate size. Its prices
are turned into a bound in numpy, so that no solver has to be believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.errors import SolverError
from tacit.methods.adjust.mip import smallest_sides
from tacit.methods.adjust.model import Adjustment, Search
from tacit.problem import Booleans, Floats
from tacit.solver.highs import HighsModel

_SMALL = 20_000
"""Relaxations with fewer entries are solved to a vertex."""


@dataclass(frozen=True, eq=False)
class Relaxation:
    """What the relaxation says.

    Attributes:
        bound: No safe table costs less.
        size: The size of each deviation in the relaxation's optimum.
        tight: The entries of the relations whose polygon rows carry a price.
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
    """The linear programme, scaled."""

    def __init__(self, model: Adjustment):
        self._model = model
        A = model.A
        m, n = A.shape
        k = A.nnz
        self._n, self._m = n, m
        unit, weight = model.unit, model.weight
        self._unit = unit
        self.price = float(np.median(weight[weight > 0])) if (weight > 0).any() else 1.0
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
        self.cost = np.concatenate([weight / self.price, np.zeros(m)])
        if model.norm == "linf":
            self._largest(n, m, weight)

    def _largest(self, n: int, m: int, weight: Floats) -> None:
        """One more column: the largest weighted deviation, which alone costs."""
        rate: Any = sparse.hstack(
            [
                sparse.csr_array(sparse.diags_array(weight / self.price)),
                sparse.csr_array((n, m)),
                sparse.csr_array(-np.ones((n, 1))),
            ]
        )
        wider = sparse.hstack([self.rows, sparse.csr_array((self.rows.shape[0], 1))])
        self.rows = sparse.csr_array(sparse.vstack([wider, rate]))
        self.row_lower = np.append(self.row_lower, np.full(n, -np.inf))
        self.row_upper = np.append(self.row_upper, np.zeros(n))
        self.cost = np.append(np.zeros(n + m), 1.0)
        largest = float(np.max(self.lower[:n] * weight / self.price, initial=0.0))
        self.lower, self.upper = np.append(self.lower, largest), np.append(self.upper, np.inf)

    def solve(self, search: Search) -> Relaxation | None:
        lp = HighsModel(
            self.rows,
            row_lower=self.row_lower,
            row_upper=self.row_upper,
            lower=self.lower,
            upper=self.upper,
            cost=self.cost,
            tolerance=1e-8,
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
        bound = self.proven(found.row_dual, search.objective) * self.price * self._unit
        tight = found.row_dual[self._m : self._m + k] < -1e-9
        return Relaxation(bound, found.x[: self._n] * self._unit, tight)

    def proven(self, prices: Floats, cutoff: float) -> float:
        """The bound that prices of rows prove, whoever found them."""
        # A price of the wrong sign on a row that is bounded on one side only proves nothing.
        prices = np.where(np.isinf(self.row_lower), np.minimum(prices, 0.0), prices)
        upper = self.upper.copy()
        if np.isfinite(cutoff):
            limit = cutoff / (self.price * self._unit)
            with np.errstate(divide="ignore", invalid="ignore"):
                most = np.where(self.cost > 0, limit / self.cost, np.inf)
            upper = np.maximum(np.minimum(upper, most), self.lower)
            sides = np.asarray(abs(self._model.A) @ upper[: self._n]) / 2
            n, m = self._n, self._m
            upper[n : n + m] = np.maximum(
                np.minimum(upper[n : n + m], sides), self.lower[n : n + m]
            )
        reduced = self.cost - self.rows.T @ prices
        at = np.where(reduced > 0, self.lower, upper)
        with np.errstate(invalid="ignore"):
            terms = np.where(reduced == 0, 0.0, reduced * at)
        # Right-hand sides are zero.
        return float(terms.sum())
