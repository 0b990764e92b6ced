"""A linear relaxation with cuts that come and go.

    minimise cost x  subject to  rows x >= right,  lower <= x <= upper

Steady rows stay; cuts leave when they have not been tight for long, wait in the pool, and come back
when they are violated or found again. What the solver says is recomputed: the bound is the one that
the dual values prove, in numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from tacit.errors import SolverError
from tacit.methods.engine.cut_pool import CutPool, Rows
from tacit.problem import Booleans, Floats, Integers
from tacit.solver.highs import HighsModel, LinearSolution
from tacit.tolerances import LAST_DIGITS, ROUNDING_NOISE, SOLVER, VIOLATED

_PURGE = 100
"""Rows leave the solver once there are more than this to leave."""


class Relaxation:
    """The relaxation of one run.

    Attributes:
        cost: What a unit of each column costs.
        lower: The least of each column.
        upper: The most of each column that a better solution can need.
        pool: All cuts found so far.
        active: Places in the pool of the cuts at work.
        x: The last optimum.
        reduced: Its reduced costs, recomputed.
        bound: No vector that meets the rows costs less, as the dual values prove.
        infeasible: No vector is left.
    """

    def __init__(
        self,
        cost: Floats,
        lower: Floats,
        upper: Floats,
        *,
        unit: Floats | float = 1.0,
        cost_unit: float = 1.0,
        patience: int = 25,
        seed: int | None = None,
        on_cuts: Callable[[int], None] = lambda _: None,
    ):
        """Prepare.

        Args:
            cost: What a unit of each column costs.
            lower: The least of each column.
            upper: The most of each column; may be inf.
            unit: The usual size of columns: solvers work with absolute tolerances, so they are
                given columns of the size of 1.
            cost_unit: What a column of its usual size usually costs, for the same reason.
            patience: Rounds after which a cut that was never tight leaves.
            seed: For the solver; by default its own.
            on_cuts: Told how many cuts joined that were not there before.
        """
        size = len(cost)
        self.cost, self.lower, self.upper = cost, lower.copy(), upper.copy()
        self.unit = np.broadcast_to(np.asarray(unit, float), size)
        self.cost_unit = cost_unit
        self.pool = CutPool(size)
        self.active = np.zeros(0, np.int64)
        self.x = self.lower.copy()
        self.reduced = np.zeros(size)
        self.bound = -np.inf
        self.infeasible = False
        self._patience = patience
        self._on_cuts = on_cuts
        self._steady: Rows = sparse.csr_array((0, size))
        self._steady_lower, self._steady_upper = np.zeros(0), np.zeros(0)
        self._idle = np.zeros(0, np.int64)
        # For each row of the solver's model, steady ones and cuts in the order in which they came:
        # its place in the pool (-1 - place among the steady rows), and what it was divided by.
        self._place = np.zeros(0, np.int64)
        self._scale = np.zeros(0)
        # Columns that cannot vary are constants.
        self._columns = np.flatnonzero(self.upper > self.lower)
        self._lp = HighsModel(
            sparse.csr_array((0, len(self._columns))),
            row_lower=np.zeros(0),
            row_upper=np.zeros(0),
            lower=self.lower[self._columns] / self.unit[self._columns],
            upper=self.upper[self._columns] / self.unit[self._columns],
            cost=(cost * self.unit)[self._columns] / cost_unit,
            tolerance=SOLVER,
        )
        if seed is not None:
            self._lp.set_option("random_seed", seed)

    @property
    def size(self) -> int:
        """Number of columns."""
        return len(self.cost)

    @property
    def steady(self) -> tuple[Rows, Floats, Floats]:
        """The rows that stay, and between what they lie."""
        return self._steady, self._steady_lower, self._steady_upper

    @property
    def active_cuts(self) -> tuple[Rows, Floats]:
        """The cuts at work, and their right-hand sides."""
        return self.pool.rows(self.active), self.pool.right[self.active]

    def add_steady(self, rows: Rows, lower: Floats, upper: Floats | None = None) -> None:
        """Add rows that stay; without `upper` they are bounded from below only."""
        upper = np.full(len(lower), np.inf) if upper is None else upper
        first = self._steady.shape[0]
        self._steady = sparse.csr_array(sparse.vstack([self._steady, rows]))
        self._steady_lower = np.concatenate([self._steady_lower, lower])
        self._steady_upper = np.concatenate([self._steady_upper, upper])
        self._append(rows, lower, upper, -1 - np.arange(first, first + len(lower)))

    def add(self, rows: Rows, right: Floats) -> int:
        """Add cuts; returns how many were not at work before."""
        usable = np.flatnonzero(np.isfinite(right) & (self._least(rows) < _just_below(right)))
        fresh, known = self.pool.put(sparse.csr_array(rows[usable]), right[usable])
        back = np.setdiff1d(known, self.active)
        if len(back):
            # What comes back must stay longer, or it would come and go for ever.
            self._patience += 1
        self._activate(np.concatenate([fresh, back]))
        if len(fresh):
            self._on_cuts(len(fresh))
        return len(fresh) + len(back)

    def recall(self, x: Floats, most: int = 200) -> int:
        """Bring cuts back from the pool that x violates, the worst first; returns how many."""
        missed = self.missed(x)
        missed[self.active] = 0.0
        places = np.flatnonzero(missed > VIOLATED)
        places = places[np.argsort(-missed[places], kind="stable")[:most]]
        self._activate(places)
        return len(places)

    def missed(self, x: Floats) -> Floats:
        """How far x lies beyond each cut of the pool, as a share of the cut's size."""
        right = self.pool.right
        return (right - self.pool.matrix @ x) / np.where(right > 0, right, 1.0)

    def _least(self, rows: Rows) -> Floats:
        """The smallest value of each row within the bounds: a cut that all meet is of no use."""
        falling = sparse.csr_array(rows.multiply(rows < 0))
        highest = np.where(np.isfinite(self.upper), self.upper, 1e300)
        return np.asarray((rows - falling) @ self.lower + falling @ highest)

    def _activate(self, places: Integers) -> None:
        if len(places) == 0:
            return
        rows, right = self.pool.rows(places), self.pool.right[places]
        if ((np.diff(rows.indptr) == 0) & (right > 0)).any():
            self.infeasible = True
        self._append(rows, right, np.full(len(places), np.inf), places)
        self.active = np.concatenate([self.active, places])
        self._idle = np.concatenate([self._idle, np.zeros(len(places), np.int64)])

    def _append(self, rows: Rows, lower: Floats, upper: Floats, places: Integers) -> None:
        if len(places) == 0:
            return
        varies = np.zeros(self.size, bool)
        varies[self._columns] = True
        constant = rows @ np.where(varies, 0.0, self.lower)
        part: Any = rows[:, self._columns].multiply(self.unit[self._columns])
        largest = np.asarray(abs(part).max(axis=1).todense()).ravel()
        scale = np.where(lower > 0, lower, np.where(largest > 0, largest, 1.0))
        scale = np.where(np.isfinite(scale), scale, 1.0)
        self._lp.add_rows(
            sparse.csr_array(part.multiply(1.0 / scale[:, None])),
            (lower - constant) / scale,
            (upper - constant) / scale,
        )
        self._place = np.concatenate([self._place, places])
        self._scale = np.concatenate([self._scale, scale])

    def solve(self, cutoff: float = np.inf) -> bool:
        """Solve; False if no vector is left.

        Args:
            cutoff: Only vectors that cost less are of interest: no column costs more alone.
        """
        if self.infeasible:
            return False
        solution = self._solution()
        if solution is None:
            self.infeasible = True
            return False
        x = self.lower.copy()
        x[self._columns] = solution.x * self.unit[self._columns]
        self.x = np.clip(x, self.lower, np.maximum(self.upper, self.lower))
        duals = solution.row_dual * self.cost_unit / self._scale
        self.bound = self._proven(duals, cutoff)
        self._purge(duals)
        return True

    def _solution(self) -> LinearSolution | None:
        """The solver's answer; None if there is no vector."""
        for cold in (False, True):
            try:
                solution = self._lp.solve(cold=cold, strategy="dual")
            except SolverError:
                continue
            if solution.status == "optimal":
                return solution
            if solution.status == "infeasible":
                return None
        raise SolverError("the relaxation could not be solved")

    def _proven(self, duals: Floats, cutoff: float) -> float:
        """The bound that dual values prove; leaves the reduced costs behind."""
        steady = self._place < 0
        at_steady, at_cuts = -1 - self._place[steady], self._place[~steady]
        lower, upper = np.empty(len(duals)), np.full(len(duals), np.inf)
        lower[steady], upper[steady] = self._steady_lower[at_steady], self._steady_upper[at_steady]
        lower[~steady] = self.pool.right[at_cuts]
        # A dual value on an infinite side proves nothing.
        usable = np.where(duals > 0, np.isfinite(lower), np.isfinite(upper))
        duals = np.where(usable, duals, 0.0)
        right = np.where(duals > 0, lower, upper)
        charged = self._steady[at_steady].T @ duals[steady]
        charged = charged + self.pool.rows(at_cuts).T @ duals[~steady]
        self.reduced = self.cost - charged
        most = self.upper.copy()
        costly = self.cost > 0
        most[costly] = np.minimum(most[costly], cutoff / self.cost[costly])
        most = np.maximum(most, self.lower)
        end = np.where(self.reduced > 0, self.lower, most)
        # On a column without bound or cost, a negative reduced cost is rounding.
        counted = np.flatnonzero((self.reduced != 0) & np.isfinite(end))
        earned = float(duals[duals != 0] @ right[duals != 0])
        return earned + float((self.reduced[counted] * end[counted]).sum())

    def _purge(self, duals: Floats) -> None:
        """Drop cuts that have not been tight for long; they stay in the pool."""
        at_work = np.flatnonzero(self._place >= 0)
        tight = np.abs(duals[at_work]) > ROUNDING_NOISE * self.cost_unit / self._scale[at_work]
        self._idle = np.where(tight, 0, self._idle + 1)
        tired: Booleans = self._idle > self._patience
        if tired.sum() <= _PURGE:
            return
        leaving = at_work[tired]
        self._lp.delete_rows(leaving)
        self._place = np.delete(self._place, leaving)
        self._scale = np.delete(self._scale, leaving)
        self.active, self._idle = self.active[~tired], self._idle[~tired]

    def set_bounds(self, columns: Integers, lower: Floats, upper: Floats) -> None:
        """Change the bounds of some columns that could vary at the beginning."""
        self.lower[columns], self.upper[columns] = lower, upper
        place = np.searchsorted(self._columns, columns)
        unit = self.unit[columns]
        self._lp.set_bounds(place, lower / unit, upper / unit)


def _just_below(right: Floats) -> Floats:
    return np.asarray(right - LAST_DIGITS * np.abs(right))
