"""Deviations among the cells near the asked one.

In large tables almost every cell is protected by cells close by. A linear program over these
alone is small, and what it finds holds in the whole table: all other cells stand still. Only
where nothing is found nearby is the whole table needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.reach import NOTHING_LIMITED, TOLERANCE, Limited, within
from tacit.errors import SolverError
from tacit.problem import Booleans, Floats, Integers
from tacit.tolerances import FAR_NEARBY, LAST_DIGITS

SIZES = (40, 150)
"""Numbers of cells that count as near: first few, then more."""


class Nearby:
    """Looks for deviations that reach a target, close to the asked cell.

    Attributes:
        usable: Cells that may take part; the owner may change it between calls.
    """

    def __init__(
        self,
        A: sparse.csr_array[Any, Any],
        up: Floats,
        down: Floats,
        solver: Callable[..., Any],
    ):
        """Prepare the search.

        Args:
            A: The relations of the cells.
            up: How far each cell can rise.
            down: How far each cell can fall.
            solver: Makes linear solvers.
        """
        columns = sparse.csc_array(A)
        self._row_start = A.indptr.astype(np.int64)
        self._row_cells = A.indices.astype(np.int64)
        self._cell_start = columns.indptr.astype(np.int64)
        self._cell_rows = columns.indices.astype(np.int64)
        self._data = columns.data
        self._up, self._down = up, down
        self._solver = solver
        self.usable: Booleans = np.ones(A.shape[1], bool)
        self._stamp = 0
        self._seen_cell = np.zeros(A.shape[1], np.int64)
        self._seen_row = np.zeros(A.shape[0], np.int64)

    def deviation(
        self,
        cell: int,
        side: int,
        target: float,
        sizes: tuple[int, ...] = SIZES,
        *,
        limited: Limited = NOTHING_LIMITED,
        cost: Floats | None = None,
    ) -> tuple[Integers, Floats] | None:
        """Cells and how far they move so that the asked cell moves by the target.

        None if there is no such deviation among the cells nearby, which proves nothing.

        Args:
            cell: The cell to move.
            side: 1 to rise, -1 to fall.
            target: How far.
            sizes: How many cells count as near, one attempt after the other.
            limited: Cells that may move less far than otherwise, for this once.
            cost: What it costs to move each cell; the cheapest deviation is found. By default any
                will do.
        """
        closed = limited[0][(limited[1] <= 0) & (limited[2] <= 0)]
        before = self.usable[closed]
        self.usable[closed] = False
        try:
            return self._search(cell, side, target, sizes, limited, cost)
        finally:
            self.usable[closed] = before

    def _search(
        self,
        cell: int,
        side: int,
        target: float,
        sizes: tuple[int, ...],
        limited: Limited,
        cost: Floats | None,
    ) -> tuple[Integers, Floats] | None:
        from tacit.attack.kernels import cells_near

        for size in sizes:
            self._stamp += 1
            cells, is_all = cells_near(
                self._row_start,
                self._row_cells,
                self._cell_start,
                self._cell_rows,
                self.usable,
                cell,
                size,
                self._stamp,
                self._seen_cell,
                self._seen_row,
            )
            x = self._solve(cells, side, target, limited, None if cost is None else cost[cells])
            if x is not None:
                moving = x != 0
                return cells[moving], x[moving]
            if is_all:
                break
        return None

    def _solve(
        self,
        cells: Integers,
        side: int,
        target: float,
        limited: Limited,
        cost: Floats | None,
    ) -> Floats | None:
        """Move the first of the cells to the target, the others within their capacity."""
        A = self._part(cells)
        _, here, there = np.intersect1d(cells, limited[0], return_indices=True)
        nearby = (here, limited[1][there], limited[2][there])
        up, down = within(self._up[cells], self._down[cells], nearby)
        upper = np.minimum(up / target, FAR_NEARBY)
        lower = -np.minimum(down / target, FAR_NEARBY)
        capacity = upper[0] if side > 0 else -lower[0]
        if capacity < 1 - TOLERANCE:
            return None
        if side > 0:
            upper[0] = 1.0
        else:
            lower[0] = -1.0
        x = (
            self._any(A, lower, upper, side)
            if cost is None
            else self._least(A, lower, upper, side, cost)
        )
        if x is None:
            return None
        x = np.clip(x, lower, upper)
        x[np.abs(x) < LAST_DIGITS] = 0.0
        if (np.abs(A @ x) > TOLERANCE * (abs(A) @ np.abs(x)) + LAST_DIGITS).any():
            return None
        return np.asarray(x * target)

    def _any(
        self, A: sparse.csr_array[Any, Any], lower: Floats, upper: Floats, side: int
    ) -> Floats | None:
        """How far cells move so that the first moves as far as it may."""
        zeros = np.zeros(A.shape[0])
        cost = np.zeros(A.shape[1])
        cost[0] = -float(side)
        try:
            model = self._solver(
                A, row_lower=zeros, row_upper=zeros, lower=lower, upper=upper, cost=cost
            )
            solution = model.solve(cold=True)
        except SolverError:
            return None
        if solution.status != "optimal" or side * solution.x[0] < 1 - TOLERANCE:
            return None
        return np.asarray(solution.x)

    def _least(
        self,
        A: sparse.csr_array[Any, Any],
        lower: Floats,
        upper: Floats,
        side: int,
        cost: Floats,
    ) -> Floats | None:
        """How far cells move so that the first moves by 1 at the least cost."""
        count = A.shape[1]
        zeros = np.zeros(A.shape[0])
        # A cell with little capacity is likely to need others beside it.
        most = np.concatenate([upper, -lower])
        unit_cost = np.tile(cost, 2) / np.clip(most, 1e-3, 1.0)
        least = np.zeros(2 * count)
        moving, still = (0, count) if side > 0 else (count, 0)
        unit_cost[[moving, still]] = 0.0
        least[moving], most[moving], most[still] = 1.0, 1.0, 0.0
        try:
            model = self._solver(
                sparse.csr_array(sparse.hstack([A, -A])),
                row_lower=zeros,
                row_upper=zeros,
                lower=least,
                upper=most,
                cost=unit_cost,
            )
            solution = model.solve(cold=True, strategy="dual")
        except SolverError:
            return None
        if solution.status != "optimal":
            return None
        return np.asarray(solution.x[:count] - solution.x[count:])

    def _part(self, cells: Integers) -> sparse.csr_array[Any, Any]:
        """The relations that the cells touch, over the cells alone."""
        start, length = self._cell_start[cells], np.diff(self._cell_start)[cells]
        pointer = np.concatenate([[0], np.cumsum(length)])
        entry = np.repeat(start - pointer[:-1], length) + np.arange(pointer[-1])
        rows, row = np.unique(self._cell_rows[entry], return_inverse=True)
        part = (self._data[entry], row, pointer)
        return sparse.csr_array(sparse.csc_array(part, shape=(len(rows), len(cells))))
