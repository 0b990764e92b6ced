"""The relaxed problem: the cheapest rooms subject to the cuts so far."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tacit.errors import SolverError
from tacit.methods.intervals.search import Search
from tacit.problem import Floats, Integers
from tacit.solver.highs import HighsModel

_DEAREST = 1e6
"""No cost is larger than this for the solver, which calls costs below 1e-7 zero."""
_PATIENCE = 20
"""Rounds after which a cut that was never tight leaves the relaxation."""


def usual_price(costs: Floats) -> float:
    """What to measure costs in, so that most are of the size of 1 and none is out of reach."""
    positive = costs[costs > 0]
    if not len(positive):
        return 1.0
    return max(float(np.median(positive)), float(positive.max()) / _DEAREST)


class Master:
    """The linear relaxation.

    Attributes:
        point: The last optimum.
    """

    def __init__(self, search: Search, *, purge: bool = True):
        """Prepare.

        Args:
            search: The run it belongs to.
            purge: Let cuts go that have not been tight for long.
        """
        self._search = search
        self._purge = purge
        model = self._model = search.model
        self._columns = np.flatnonzero(model.upper > model.lower)
        self._seen: set[int] = set()
        self._gone: set[int] = set()
        self._patience = _PATIENCE
        levels = np.concatenate([rival.level for rival in model.rivals] + [model.right])
        positive = levels[levels > 0]
        # Solvers work with absolute tolerances: bring rooms and costs to the size of 1.
        self._unit = float(np.median(positive)) if len(positive) else 1.0
        self._price = usual_price(model.weight)
        self._rows: sparse.csr_array[Any, Any] = sparse.csr_array((0, model.size))
        self._right = np.zeros(0)
        self._scale = np.zeros(0)
        self._keys = np.zeros(0, np.int64)
        self._idle = np.zeros(0, np.int64)
        self._steady = model.rows.shape[0]
        self._lp = HighsModel(
            sparse.csr_array((0, len(self._columns))),
            row_lower=np.zeros(0),
            row_upper=np.zeros(0),
            lower=model.lower[self._columns] / self._unit,
            upper=model.upper[self._columns] / self._unit,
            cost=model.weight[self._columns] / self._price,
            tolerance=1e-7,
        )
        self._most_reach = model.upper.copy()
        self._most_reach[: model.cell_ends] = 0.0
        self._lp.set_option("random_seed", search.options.seed)
        self._append(model.rows, model.right, np.full(self._steady, -1))
        self.point = model.least_point()

    @property
    def row_count(self) -> int:
        """Rows at present."""
        return len(self._right)

    def add(self, rows: sparse.csr_array[Any, Any], right: Floats) -> int:
        """Add cuts `rows point >= right`; returns how many are new."""
        model = self._model
        # A row that nothing can violate is of no use; only reaches have negative entries.
        falling = rows.multiply(rows < 0)
        least = np.asarray((rows - falling) @ model.lower + falling @ self._most_reach)
        empty = np.diff(rows.indptr) == 0
        needed = np.flatnonzero(
            np.isfinite(right) & ~empty & (least < right - 1e-12 * np.abs(right))
        )
        fresh, keys = [], []
        for row in needed.tolist():
            entries = slice(rows.indptr[row], rows.indptr[row + 1])
            data = np.round(rows.data[entries], 7).tobytes()
            key = hash((rows.indices[entries].tobytes(), data, float(right[row])))
            if key in self._seen:
                continue
            self._seen.add(key)
            fresh.append(row)
            keys.append(key)
            if key in self._gone:
                # What comes back must stay longer, or it would come and go for ever.
                self._gone.discard(key)
                self._patience += 1
        if fresh:
            self._append(sparse.csr_array(rows[fresh]), right[fresh], np.array(keys, np.int64))
            self._search.cut_count += len(fresh)
            self._search.observer.on_cuts(self._search.seconds, len(fresh))
        return len(fresh)

    def _append(self, rows: sparse.csr_array[Any, Any], right: Floats, keys: Integers) -> None:
        # Whatever is fixed counts as a number.
        rest = right - rows @ np.where(self._is_column(), 0.0, self._model.lower)
        largest = self._unit * np.asarray(abs(rows).max(axis=1).todense()).ravel()
        scale = np.where(right > 0, right, np.maximum(np.maximum(largest, np.abs(right)), 1e-300))
        part = sparse.csr_array(rows[:, self._columns].multiply(self._unit / scale[:, None]))
        self._lp.add_rows(part, rest / scale, np.full(len(right), np.inf))
        self._rows = sparse.csr_array(sparse.vstack([self._rows, rows]))
        self._right = np.concatenate([self._right, right])
        self._scale = np.concatenate([self._scale, scale])
        self._keys = np.concatenate([self._keys, keys])
        self._idle = np.concatenate([self._idle, np.zeros(len(right), np.int64)])

    def _is_column(self) -> Any:
        mask = np.zeros(self._model.size, bool)
        mask[self._columns] = True
        return mask

    def solve(self) -> float:
        """Solve the relaxation; returns a proven bound."""
        solution = None
        for cold in (False, True):
            try:
                solution = self._lp.solve(cold=cold, strategy="dual")
            except SolverError:
                continue
            if solution.status == "optimal":
                break
        if solution is None or solution.status != "optimal":
            raise SolverError("the relaxation of the intervals problem could not be solved")
        model = self._model
        point = model.lower.copy()
        point[self._columns] = solution.x * self._unit
        self.point = np.clip(point, model.lower, np.maximum(model.upper, model.lower))
        prices = np.maximum(solution.row_dual, 0.0) * (self._price * self._unit) / self._scale
        bound = self.proven(prices)
        self._watch(prices)
        return bound

    def proven(self, prices: Floats) -> float:
        """The bound that row prices prove, recomputed outside the solver."""
        model = self._model
        reduced = model.weight - self._rows.T @ prices
        # No better point has an end that alone costs more than the best point.
        most = model.upper.copy()
        costly = model.weight > 0
        most[costly] = np.minimum(most[costly], self._search.cutoff / model.weight[costly])
        most = np.maximum(most, model.lower)
        room = np.where(reduced > 0, model.lower, most)
        # On an end without bound and cost, a negative price is rounding.
        counted = np.flatnonzero((reduced != 0) & np.isfinite(room))
        least = reduced[counted] * room[counted]
        return float(prices @ self._right + least.sum())

    def _watch(self, prices: Floats) -> None:
        """Let cuts go that have not been tight for long."""
        self._idle = np.where(prices > 0, 0, self._idle + 1)
        self._idle[: self._steady] = 0
        tired = np.flatnonzero(self._idle > self._patience)
        if not self._purge or len(tired) <= 100:
            return
        self._lp.delete_rows(tired)
        gone = set(self._keys[tired].tolist())
        self._seen -= gone
        self._gone |= gone
        keep = self._idle <= self._patience
        self._rows = sparse.csr_array(self._rows[keep])
        self._right, self._scale = self._right[keep], self._scale[keep]
        self._keys, self._idle = self._keys[keep], self._idle[keep]
