"""The relaxed problem: the cheapest rooms and suppressions, fractional, subject to the cuts so far.

Its columns are the places of a point and, behind them, x for each cell that may be suppressed or
not. Rooms are linked to x, (3.28b) to (3.28e), with the most that any solution needs in place of
the bounds; those rows join when they are violated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tacit.errors import SolverError
from tacit.methods.combined.search import Search
from tacit.methods.intervals.master import usual_price
from tacit.problem import Booleans, Floats, Integers
from tacit.solver.highs import HighsModel

Rows = sparse.csr_array[Any, Any]

_PATIENCE = 3
"""Rounds after which a cut that was never tight leaves the relaxation, for the first time."""
_TURNS = 3
"""How often the relaxation is solved at once, with more links each time."""
_MOST_COMPANY = 1000
"""So many rows for company are added at once."""
_LINKED = 1e-6
"""A room that goes beyond its x by more than this share is linked to it."""


class Master:
    """The linear relaxation.

    Attributes:
        choices: The cells with an x, in the order of their columns.
        columns: For each cell the column of its x; -1 where there is none.
        lower: The least of each column.
        upper: The most of each column that a better solution can need.
        cost: What a unit of each column costs.
        vector: The last optimum.
        reduced: Its reduced costs, as far as they are proven.
        infeasible: No vector is left: nothing is better than the best solution.
    """

    def __init__(self, search: Search, most: Floats):
        """Prepare.

        Args:
            search: The run it belongs to.
            most: The most that each place of a point needs to be.
        """
        self._search = search
        model = self._model = search.model
        self.choices = np.flatnonzero(model.is_choice)
        count = len(self.choices)
        self.size = model.size + count
        self.lower = np.concatenate([model.lower, np.zeros(count)])
        self.upper = np.concatenate([np.maximum(most, model.lower), np.ones(count)])
        self.cost = np.concatenate([model.weight, model.suppress_weight[self.choices]])
        self.vector = self.lower.copy()
        self.reduced = np.zeros(self.size)
        self.infeasible = False
        self.columns = np.full(model.problem.cell_count, -1, np.int64)
        self.columns[self.choices] = model.size + np.arange(count)
        self._scales()
        self._is_linked = np.zeros(self.size, bool)
        self._rows: Rows = sparse.csr_array((0, self.size))
        self._right, self._scale = np.zeros(0), np.zeros(0)
        self._keys, self._idle = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._stays = np.zeros(0, bool)
        self._seen: set[int] = set()
        self._gone: set[int] = set()
        self._patience = _PATIENCE
        self._lp = HighsModel(
            sparse.csr_array((0, self.size)),
            row_lower=np.zeros(0),
            row_upper=np.zeros(0),
            lower=self.lower / self.unit,
            upper=self.upper / self.unit,
            cost=self.cost * self.unit / self.price,
            tolerance=1e-7,
        )
        self._lp.set_option("random_seed", search.options.seed)
        self._append(*self.side_rows(), stays=True)

    def _scales(self) -> None:
        """Solvers work with absolute tolerances: bring rooms and costs to the size of 1."""
        model = self._model
        problem = model.problem
        levels = np.concatenate([problem.lower_level, problem.upper_level, problem.sliding_level])
        positive = levels[levels > 0]
        self.unit = np.ones(self.size)
        self.unit[: model.size] = float(np.median(positive)) if len(positive) else 1.0
        self.price = usual_price(self.cost * self.unit)

    def side_rows(self) -> tuple[Rows, Floats]:
        """Rows besides cuts and links: reaches, least widths, the number of cells."""
        model = self._model
        count = len(self.choices)
        blocks = [_wider(model.rows, self.size)]
        right = [model.right]
        always, width = model.wide_rows(model.is_always)
        blocks.append(_wider(always, self.size))
        right.append(width)
        chosen = np.flatnonzero(model.is_choice & (model.least_width > 0))
        rows, width = model.wide_rows(model.is_choice)
        mine = sparse.csr_array(
            (-width, (np.arange(len(chosen)), self.columns[chosen])), shape=(len(chosen), self.size)
        )
        blocks.append(sparse.csr_array(_wider(rows, self.size) + mine))
        right.append(np.zeros(len(chosen)))
        if np.isfinite(model.most_suppressed):
            number = np.zeros((1, self.size))
            number[0, model.size :] = -1.0
            blocks.append(sparse.csr_array(number))
            right.append(np.array([float(model.is_always.sum() - model.most_suppressed)]))
        assert count == self.size - model.size
        return sparse.csr_array(sparse.vstack(blocks)), np.concatenate(right)

    def links(self, ends: Integers) -> Rows:
        """Rows `most x - room >= 0`, in units of the most, for some ends."""
        cells = ends // 2
        row = np.arange(len(ends))
        most = np.maximum(self.upper[ends], 1e-300)
        entries = (
            np.concatenate([np.ones(len(ends)), -1.0 / most]),
            (np.concatenate([row, row]), np.concatenate([self.columns[cells], ends])),
        )
        return sparse.csr_array(entries, shape=(len(ends), self.size))

    def linkable(self) -> Integers:
        """Ends that an x decides on, and that may still be opened."""
        ends = np.arange(self._model.cell_ends)
        owned = self.columns[ends // 2] >= 0
        return ends[owned & (self.upper[ends] > 0)]

    @property
    def x(self) -> Floats:
        """How far each cell is suppressed in the last optimum."""
        whole = self._model.is_always.astype(np.float64)
        whole[self.choices] = np.clip(self.vector[self._model.size :], 0.0, 1.0)
        return whole

    @property
    def point(self) -> Floats:
        """The rooms and reaches in the last optimum."""
        return self.vector[: self._model.size]

    @property
    def is_open(self) -> Booleans:
        """Columns of x that are not settled."""
        return np.asarray(self.upper[self._model.size :] > self.lower[self._model.size :])

    @property
    def rows(self) -> tuple[Rows, Floats]:
        """The rows at work other than links, and their right-hand sides."""
        kept = np.flatnonzero(~self._is_link)
        return sparse.csr_array(self._rows[kept]), self._right[kept]

    @property
    def _is_link(self) -> Booleans:
        return np.asarray(self._keys == _LINK)

    def add_for_rooms(self, rows: Rows, right: Floats) -> int:
        """Add cuts over the places of a point; returns how many are new."""
        return self.add(_wider(rows, self.size), right)

    def add_for_cells(self, rows: Rows, right: Floats) -> int:
        """Add cuts over the cells, sensitive ones taken care of; returns how many are new."""
        count = rows.shape[0]
        empty = sparse.csr_array((count, self._model.size))
        part = sparse.csr_array(rows[:, self.choices])
        return self.add(sparse.csr_array(sparse.hstack([empty, part])), right)

    def _keep_company(self) -> int:
        """Add rows for suppressed cells that lack company in a relation; returns how many.

        Some best solution has no cell alone in a relation, as others would tell its value.
        """
        model = self._model
        A = model.problem.relations
        row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        x = np.where(model.is_free_cell, self.x, 0.0)[A.indices]
        lonely = 2 * x - np.bincount(row, x, minlength=A.shape[0])[row]
        # Next to a cell that is always suppressed nobody is alone.
        crowd = np.bincount(row, model.is_always[A.indices], minlength=A.shape[0])[row]
        entries = np.flatnonzero((lonely > 1e-4) & (self.columns[A.indices] >= 0) & (crowd == 0))
        entries = entries[np.argsort(-lonely[entries], kind="stable")[:_MOST_COMPANY]]
        touches = sparse.csr_array(abs(A).sign()[row[entries]][:, self.choices])
        own = sparse.csr_array(
            (
                np.full(len(entries), -2.0),
                (np.arange(len(entries)), self.columns[A.indices[entries]] - model.size),
            ),
            shape=touches.shape,
        )
        empty = sparse.csr_array((len(entries), model.size))
        rows = sparse.csr_array(sparse.hstack([empty, touches + own]))
        return self.add(rows, np.zeros(len(entries)))

    def add(self, rows: Rows, right: Floats) -> int:
        """Add cuts `rows vector >= right`; returns how many are new."""
        rows.sort_indices()
        low = np.where(np.isfinite(self.upper), self.upper, 1e300)
        falling = rows.multiply(rows < 0)
        least = np.asarray((rows - falling) @ self.lower + falling @ low)
        needed = np.isfinite(right) & (least < right - 1e-12 * np.abs(right))
        fresh, keys = [], []
        for row in np.flatnonzero(needed).tolist():
            entries = slice(rows.indptr[row], rows.indptr[row + 1])
            data = np.round(rows.data[entries], 7).tobytes()
            key = hash((rows.indices[entries].tobytes(), data, float(right[row])))
            if key in self._seen:
                continue
            self._seen.add(key)
            fresh.append(row)
            keys.append(key)
        back = self._gone.intersection(keys)
        if back:
            # What comes back must stay longer, or it would come and go for ever.
            self._gone -= back
            self._patience += 1
        if fresh:
            chosen = sparse.csr_array(rows[fresh])
            self._append(chosen, right[fresh], keys=np.array(keys, np.int64))
            self._search.cut_count += len(fresh)
            self._search.observer.on_cuts(self._search.seconds, len(fresh))
        return len(fresh)

    def _append(
        self, rows: Rows, right: Floats, *, stays: bool = False, keys: Integers | None = None
    ) -> None:
        largest = np.asarray(abs(rows * self.unit[None, :]).max(axis=1).todense()).ravel()
        scale = np.where(right > 0, right, np.maximum(largest, 1e-300))
        part = sparse.csr_array(rows.multiply(self.unit[None, :]).multiply(1 / scale[:, None]))
        self._lp.add_rows(part, right / scale, np.full(len(right), np.inf))
        keys = np.full(len(right), _SIDE) if keys is None else keys
        self._rows = sparse.csr_array(sparse.vstack([self._rows, rows]))
        self._right = np.concatenate([self._right, right])
        self._scale = np.concatenate([self._scale, scale])
        self._keys = np.concatenate([self._keys, keys])
        self._idle = np.concatenate([self._idle, np.zeros(len(right), np.int64)])
        self._stays = np.concatenate([self._stays, np.full(len(right), stays)])

    def solve(self) -> float:
        """Solve the relaxation, with links and company where they lack; returns a proven bound.

        Links that still lack after a few turns are left to the next call.
        """
        bound = self._search.bound
        for turn in range(_TURNS):
            bound = self._solve()
            if self.infeasible:
                self._search.nothing_better()
                return self._search.bound
            if turn + 1 == _TURNS or not self._link() + self._keep_company():
                break
        self._watch()
        return bound

    def _link(self) -> int:
        """Add links that the optimum violates; returns how many."""
        ends = self.linkable()
        ends = ends[~self._is_linked[ends]]
        beyond = self.vector[ends] / self.upper[ends] - self.vector[self.columns[ends // 2]]
        ends = ends[beyond > _LINKED]
        if len(ends):
            self._is_linked[ends] = True
            keys = np.full(len(ends), _LINK)
            self._append(self.links(ends), np.zeros(len(ends)), stays=True, keys=keys)
        return len(ends)

    def _solve(self) -> float:
        solution = None
        for cold in (False, True):
            try:
                solution = self._lp.solve(cold=cold, strategy="dual")
            except SolverError:
                continue
            if solution.status in ("optimal", "infeasible"):
                break
        if solution is None or solution.status not in ("optimal", "infeasible"):
            raise SolverError("the relaxation of the combined problem could not be solved")
        if solution.status == "infeasible":
            self.infeasible = True
            return self._search.bound
        self.vector = np.clip(solution.x * self.unit, self.lower, self.upper)
        self._prices = np.maximum(solution.row_dual, 0.0) * self.price / self._scale
        return self._proven()

    def _proven(self) -> float:
        """The bound that row prices prove, recomputed outside the solver."""
        model = self._model
        self.reduced = self.cost - self._rows.T @ self._prices
        most = self.upper.copy()
        # No better point has an end that alone costs more than the best point.
        costly = self.cost > 0
        most[costly] = np.minimum(most[costly], self._search.objective / self.cost[costly])
        most = np.maximum(most, self.lower)
        room = np.where(self.reduced > 0, self.lower, most)
        # On an end without bound and cost, a negative price is rounding.
        counted = np.flatnonzero((self.reduced != 0) & np.isfinite(room))
        least = self.reduced[counted] * room[counted]
        return model.base + float(self._prices @ self._right + least.sum())

    def fix(self, bound: float) -> int:
        """Settle and tighten columns by their reduced costs; returns how many x were settled."""
        slack = self._search.objective - bound
        if not np.isfinite(slack) or self.infeasible:
            return 0
        slack = max(slack, 0.0) + 1e-7 * (1.0 + abs(bound))
        rooms = self._model.cell_ends
        before = self.upper.copy(), self.lower.copy()
        rising = np.flatnonzero(self.reduced > 0)
        allowed = self.lower[rising] + slack / self.reduced[rising]
        self.upper[rising] = np.minimum(self.upper[rising], allowed)
        x = np.arange(self._model.size, self.size)
        self.upper[x] = np.where(self.upper[x] < 1 - 1e-9, self.lower[x], 1.0)
        into = (self.reduced[x] < -slack) & (self.upper[x] > 0)
        self.lower[x] = np.where(into, 1.0, self.lower[x])
        shut = np.zeros(self._model.problem.cell_count, bool)
        shut[self.choices] = self.upper[x] == 0
        self.upper[:rooms][np.repeat(shut, 2)] = 0.0
        self.upper = np.maximum(self.upper, self.lower)
        # Bounds that hardly move are not worth a change of the model.
        changed = (self.upper < 0.9 * before[0]) | (self.lower > before[1])
        self.upper = np.where(changed, self.upper, before[0])
        columns = np.flatnonzero(changed)
        self._lp.set_bounds(
            columns,
            self.lower[columns] / self.unit[columns],
            self.upper[columns] / self.unit[columns],
        )
        return int(changed[x].sum())

    def _watch(self) -> None:
        """Let cuts go that have not been tight for long."""
        self._idle = np.where(self._stays | (self._prices > 0), 0, self._idle + 1)
        tired = np.flatnonzero(self._idle > self._patience)
        if len(tired) <= 100:
            return
        self._lp.delete_rows(tired)
        gone = set(self._keys[tired].tolist())
        self._seen -= gone
        self._gone |= gone
        keep = self._idle <= self._patience
        self._rows = sparse.csr_array(self._rows[keep])
        self._right, self._scale = self._right[keep], self._scale[keep]
        self._keys, self._idle = self._keys[keep], self._idle[keep]
        self._stays, self._prices = self._stays[keep], self._prices[keep]


_SIDE, _LINK = -1, -2
"""Keys of rows that are no cuts."""


def _wider(rows: Rows, columns: int) -> Rows:
    """The same rows with more columns, which are empty."""
    return sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], columns))
