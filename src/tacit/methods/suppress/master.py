"""The relaxed master problem: suppress as little as possible subject to the cuts so far."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.cuts import Cuts
from tacit.errors import SolverError
from tacit.methods.suppress.search import Search
from tacit.problem import Floats, Integers
from tacit.solver.highs import HighsModel

_PATIENCE = 25
"""Rounds after which a cut that was never tight leaves the relaxation; it stays in the pool."""


class CutPool:
    """All cuts found so far, each once: `rows y >= right` over the secondary cells."""

    def __init__(self, columns: int):
        self._seen: set[int] = set()
        self.rows: sparse.csr_array[Any, Any] = sparse.csr_array((0, columns))
        self.right = np.zeros(0)

    def add(self, rows: sparse.csr_array[Any, Any], right: Floats) -> Integers:
        """Add rows; returns the places in the pool of those that were not there before."""
        keep = []
        for row in range(rows.shape[0]):
            entries = slice(rows.indptr[row], rows.indptr[row + 1])
            data = np.round(rows.data[entries], 7).tobytes()
            key = hash((rows.indices[entries].tobytes(), data, float(right[row])))
            if key not in self._seen:
                self._seen.add(key)
                keep.append(row)
        before = len(self.right)
        if keep:
            self.rows = sparse.csr_array(sparse.vstack([self.rows, rows[keep]]))
            self.right = np.concatenate([self.right, right[keep]])
        return np.arange(before, len(self.right))


class Master:
    """The linear relaxation over the secondary cells, with a pool of cuts.

    Attributes:
        cells: The secondary cells, the columns of the relaxation.
        weight: Their weights.
        side: Conditions other than protection, with `side_lower` and `side_upper`.
        pool: All cuts found so far.
        fixed_out: Columns proven to be 0 in every better solution.
        fixed_in: Columns proven to be 1 in every better solution.
        infeasible: No vector meets the cuts: there is no safe pattern, or none better than the
            best if columns have been fixed.
        active: Places in the pool of the cuts at work: the model's rows after the side rows.
        y: The last optimum.
        reduced: Its reduced costs.
        objective: No pattern weighs less, sensitive cells included: the optimum, or the cutoff by
            which columns were fixed if that is less.
        ceiling: Patterns that weigh at least this may be out of reach of the fixed columns.
    """

    def __init__(self, search: Search):
        self._search = search
        self.cells = np.flatnonzero(search.secondary)
        count = len(self.cells)
        self._column = np.full(search.problem.cell_count, -1, np.int64)
        self._column[self.cells] = np.arange(count)
        self.weight = search.problem.weight[self.cells]
        self.pool = CutPool(count)
        self.fixed_out = np.zeros(count, bool)
        self.fixed_in = np.zeros(count, bool)
        self.infeasible = False
        self.side, self.side_lower, self.side_upper = self._side_rows()
        self._model = HighsModel(
            self.side,
            row_lower=self.side_lower,
            row_upper=self.side_upper,
            lower=np.zeros(count),
            upper=np.ones(count),
            cost=self.weight,
            tolerance=1e-7,
        )
        # Places in the pool of the model's rows after the side rows, and rounds since tight.
        self.active = np.zeros(0, np.int64)
        self._idle = np.zeros(0, np.int64)
        self.y = np.zeros(count)
        self.reduced = np.zeros(count)
        self.objective = search.base
        self.ceiling = np.inf

    def _side_rows(self) -> tuple[sparse.csr_array[Any, Any], Floats, Floats]:
        search = self._search
        rows, needed = search.crowd_rows()
        pattern = abs(search.problem.relations[rows]).sign()
        have = np.asarray(pattern @ search.sensitive.astype(np.float64))
        blocks = [sparse.csr_array(pattern[:, self.cells])]
        lower = [np.maximum(needed - have, 0.0)]
        upper = [np.full(len(rows), np.inf)]
        limit = search.options.max_suppressed
        if limit is not None:
            blocks.append(sparse.csr_array(np.ones((1, len(self.cells)))))
            lower.append(np.zeros(1))
            upper.append(np.array([float(limit - search.sensitive.sum())]))
        return (
            sparse.csr_array(sparse.vstack(blocks)),
            np.concatenate(lower),
            np.concatenate(upper),
        )

    def full(self, y: Floats) -> Floats:
        """A vector over the secondary cells, extended to all cells."""
        whole = self._search.sensitive.astype(np.float64)
        whole[self.cells] = y
        return whole

    def add(self, cuts: Cuts) -> int:
        """Add cuts; returns how many of them are new."""
        rows = sparse.csr_array(cuts.coefficients[:, self.cells])
        return self.add_rows(rows, np.ones(len(cuts)))

    def add_rows(self, rows: sparse.csr_array[Any, Any], right: Floats) -> int:
        """Add rows `rows y >= right` over the secondary cells; returns how many are new."""
        places = self.pool.add(rows, right)
        self._activate(places)
        self._search.cut_count += len(places)
        if len(places):
            self._search.observer.on_cuts(self._search.seconds, len(places))
        return len(places)

    def _activate(self, places: Integers) -> None:
        if len(places) == 0:
            return
        rows = sparse.csr_array(self.pool.rows[places])
        right = self.pool.right[places]
        if ((np.diff(rows.indptr) == 0) & (right > 0)).any():
            self.infeasible = True
        self._model.add_rows(rows, right, np.full(len(places), np.inf))
        self.active = np.concatenate([self.active, places])
        self._idle = np.concatenate([self._idle, np.zeros(len(places), np.int64)])

    def bridgeless(self, y: Floats, most: int = 1000) -> int:
        """Add violated bridgeless rows: a suppressed cell needs company in each relation.

        Sensitive cells with a level need it in any safe pattern. Of the other cells with a
        positive weight some best pattern has none that stands alone: it could be published.
        """
        search = self._search
        problem, A = search.problem, search.problem.relations
        whole = self.full(y)
        useful = search.secondary | search.sensitive
        row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        counted = np.where(useful[A.indices], whole[A.indices], 0.0)
        total = np.bincount(row, counted, minlength=A.shape[0])
        needs = np.zeros(len(whole), bool)
        levels = problem.lower_level + problem.upper_level + problem.sliding_level
        needs[problem.sensitive[levels > 0]] = True
        if len(search.crowd_rows()[0]) == 0:
            # Otherwise a cell may be suppressed just to keep singletons company.
            needs[self.cells[self.weight > 0]] = True
        lonely = 2 * counted - total[row]
        violated = np.flatnonzero(needs[A.indices] & useful[A.indices] & (lonely > 1e-6))
        violated = violated[np.argsort(-lonely[violated], kind="stable")[:most]]
        columns: list[Integers] = []
        data: list[Floats] = []
        right: list[float] = []
        for entry in violated.tolist():
            cell, relation = int(A.indices[entry]), int(row[entry])
            others = A.indices[A.indptr[relation] : A.indptr[relation + 1]]
            others = others[useful[others] & (others != cell)]
            if search.sensitive[others].any():
                continue
            here, ones = self._column[others], np.ones(len(others))
            if not search.sensitive[cell]:
                here, ones = np.append(here, self._column[cell]), np.append(ones, -1.0)
            columns.append(here)
            data.append(ones)
            right.append(1.0 if search.sensitive[cell] else 0.0)
        return self._add_company(columns, data, right)

    def _add_company(self, columns: list[Integers], data: list[Floats], right: list[float]) -> int:
        if not right:
            return 0
        pointer = np.concatenate([[0], np.cumsum([len(each) for each in columns])])
        entries = (np.concatenate(data), np.concatenate(columns), pointer)
        rows = sparse.csr_array(entries, shape=(len(right), len(self.cells)))
        rows.sort_indices()
        return self.add_rows(rows, np.array(right))

    def solve(self) -> bool:
        """Solve the relaxation; False if it has no solution."""
        if self.infeasible:
            return False
        solution = None
        for cold in (False, True):
            try:
                solution = self._model.solve(cold=cold, strategy="dual")
            except SolverError:
                continue
            if solution.status in ("optimal", "infeasible"):
                break
        if solution is None or solution.status not in ("optimal", "infeasible"):
            raise SolverError("the relaxation of the suppression problem could not be solved")
        if solution.status == "infeasible":
            self.infeasible = True
            return False
        self.y = np.clip(solution.x, 0.0, 1.0)
        self._prices = solution.row_dual
        self.objective = min(self._search.base + self._proven(solution.row_dual), self.ceiling)
        self._watch()
        return True

    def _proven(self, prices: Floats) -> float:
        """The bound that the row prices prove, and reduced costs, recomputed outside the solver."""
        side = len(self.side_lower)
        rows = sparse.csr_array(sparse.vstack([self.side, self.pool.rows[self.active]]))
        lower = np.concatenate([self.side_lower, self.pool.right[self.active]])
        upper = np.concatenate([self.side_upper, np.full(len(self.active), np.inf)])
        # A price on an infinite side proves nothing: leave it out.
        usable = np.where(prices > 0, np.isfinite(lower), np.isfinite(upper))
        prices = np.where(usable, prices, 0.0)
        right = np.where(prices > 0, lower, upper)
        reduced = self.reduced = np.asarray(self.weight - rows.T @ prices)
        low, high = self.fixed_in.astype(float), 1.0 - self.fixed_out
        assert len(prices) == side + len(self.active)
        earned = float(prices[prices != 0] @ right[prices != 0])
        return earned + float(np.minimum(reduced * low, reduced * high).sum())

    def _watch(self) -> None:
        """Let cuts go that have not been tight for long."""
        if len(self.active) == 0:
            return
        tight = np.abs(self._prices[len(self.side_lower) :]) > 1e-9
        self._idle = np.where(tight, 0, self._idle + 1)
        tired = np.flatnonzero(self._idle > _PATIENCE)
        if len(tired) > 100:
            self._model.delete_rows(tired + len(self.side_lower))
            keep = np.ones(len(self.active), bool)
            keep[tired] = False
            self.active, self._idle = self.active[keep], self._idle[keep]

    def recall(self, y: Floats, most: int = 200) -> int:
        """Bring cuts back from the pool that y violates; returns how many."""
        missed = self.pool.right - self.pool.rows @ y
        missed[self.active] = 0.0
        places = np.flatnonzero(missed > 1e-6)
        places = places[np.argsort(-missed[places], kind="stable")[:most]]
        self._activate(places)
        return len(places)

    def fix(self) -> int:
        """Fix columns by their reduced costs, given the best pattern; returns how many."""
        slack = self._search.cutoff - self.objective
        if not np.isfinite(slack):
            return 0
        # What sums lose by rounding is a share of what is added up.
        margin = max(slack, 0.0) + 1e-9 * abs(self.objective)
        out = (self.reduced > margin) & (self.y < 1e-6) & ~self.fixed_out
        into = (self.reduced < -margin) & (self.y > 1 - 1e-6) & ~self.fixed_in
        changed = np.flatnonzero(out | into)
        self.fixed_out |= out
        self.fixed_in |= into
        if len(changed):
            self.ceiling = min(self.ceiling, self._search.cutoff)
            lower = self.fixed_in[changed].astype(np.float64)
            upper = 1.0 - self.fixed_out[changed]
            self._model.set_bounds(changed, lower, upper)
        return len(changed)

    @property
    def active_rows(self) -> tuple[sparse.csr_array[Any, Any], Floats]:
        """The cuts at work in the relaxation, and their right-hand sides."""
        return sparse.csr_array(self.pool.rows[self.active]), self.pool.right[self.active]
