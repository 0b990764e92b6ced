"""Cells whose deviations are multiples of each other, as one column of a linear program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.problem import Floats, Integers


@dataclass(frozen=True, eq=False)
class TiedCells:
    """The columns that some cells of a table share.

    Attributes:
        cells: The cells that can move, increasing.
        column: For each cell of the table its column, -1 where it cannot move.
        ratio: How far each cell of the table moves when its column moves by 1.
        size: The number of columns.
    """

    cells: Integers
    column: Integers
    ratio: Floats
    size: int
    _place: Integers
    _width: int

    @classmethod
    def of(
        cls, A: sparse.csr_array[Any, Any], cells: Integers, cell_count: int, *, tie: bool = True
    ) -> TiedCells:
        """Find the columns.

        Args:
            A: The relations of the cells that may move.
            cells: Which cells of the table the columns of `A` stand for, increasing.
            cell_count: How many cells the table has.
            tie: Whether to tie cells together at all; if not, each has a column.
        """
        from tacit.attack.kernels import tie_together

        lead, ratio = np.arange(len(cells)), np.ones(len(cells))
        if tie:
            lead, ratio = tie_together(A.indptr, A.indices, A.data, len(cells))
        moving = np.flatnonzero(lead >= 0)
        leads, own = np.unique(lead[moving], return_inverse=True)
        column, ratios = np.full(cell_count, -1, np.int64), np.zeros(cell_count)
        column[cells[moving]], ratios[cells[moving]] = own, ratio[moving]
        return cls(cells[moving], column, ratios, len(leads), moving, len(cells))

    def columns(self, cells: Integers) -> Integers:
        """The columns of some cells, increasing, without those that cannot move."""
        columns = np.unique(self.column[cells])
        return columns[columns >= 0]

    def per_column(self, cells: Integers, up: Floats, down: Floats) -> tuple[Floats, Floats]:
        """How far the column of each of some cells may rise and fall for this cell's sake.

        Args:
            cells: Cells that can move.
            up: How far each of them may rise.
            down: How far each of them may fall.
        """
        ratio = self.ratio[cells]
        size, turned = np.abs(ratio), ratio < 0
        return np.where(turned, down, up) / size, np.where(turned, up, down) / size

    def capacities(self, up: Floats, down: Floats) -> tuple[Floats, Floats]:
        """How far each column may rise and fall: the least that its cells allow.

        Args:
            up: How far each cell of the table can rise.
            down: How far each cell of the table can fall.
        """
        rise, fall = np.full((2, self.size), np.inf)
        column = self.column[self.cells]
        rises, falls = self.per_column(self.cells, up[self.cells], down[self.cells])
        np.minimum.at(rise, column, rises)
        np.minimum.at(fall, column, falls)
        return rise, fall

    def combined(
        self, A: sparse.csr_array[Any, Any], unit: Floats | None = None
    ) -> sparse.csr_array[Any, Any]:
        """The relations in terms of the columns.

        Args:
            A: The relations that the columns were found from.
            unit: What each column is counted in, by default 1.
        """
        column, ratio = self.column[self.cells], self.ratio[self.cells]
        if unit is not None:
            ratio = ratio * unit[column]
        tied = sparse.csr_array((ratio, (self._place, column)), shape=(self._width, self.size))
        return sparse.csr_array(A @ tied)
