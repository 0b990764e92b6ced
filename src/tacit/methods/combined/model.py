"""The combined problem: intervals as in `tacit.intervals`, and a price for each cell that has one.

A point is that of the intervals problem. A cell is suppressed when its interval has a width, and
so is every sensitive cell; x of paper 002, (3.28), follows from the rooms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.knowledge import Attacker
from tacit.methods.intervals.model import IntervalsModel
from tacit.problem import Booleans, Floats, Problem


class WideModel(IntervalsModel):
    """The intervals problem over chosen cells, all of whose intervals have a least width.

    Attributes:
        least_width: For each cell the least width of its interval; 0 where there is none.
    """

    def __init__(
        self,
        problem: Problem,
        width_weight: Floats,
        allowed: Booleans,
        least_width: Floats,
        attackers: Sequence[Attacker] = (),
    ):
        super().__init__(
            problem, width_weight, allowed, np.zeros(problem.cell_count, bool), attackers
        )
        room = np.where(self.is_free, self.widest(), 0.0)
        self.least_width = np.minimum(least_width, room[0::2] + room[1::2])

    def wide_rows(self, cells: Booleans) -> tuple[sparse.csr_array[Any, Any], Floats]:
        """Rows that ask for the least width of the intervals of some cells."""
        chosen = np.flatnonzero(cells & (self.least_width > 0))
        row = np.arange(len(chosen))
        entries = (
            np.ones(2 * len(chosen)),
            (np.concatenate([row, row]), np.concatenate([2 * chosen, 2 * chosen + 1])),
        )
        rows = sparse.csr_array(entries, shape=(len(chosen), self.size))
        return rows, self.least_width[chosen]

    def widened(self, point: Floats, cells: Booleans) -> Floats:
        """The point with the intervals of some cells opened to their least width."""
        ends = point[: self.cell_ends]
        missing = np.where(cells, self.least_width - ends[0::2] - ends[1::2], 0.0)
        if not (missing > 0).any():
            return point
        point = point.copy()
        # The cheaper end first, the other for what is left.
        below_first = (self.weight[1 : self.cell_ends : 2] < self.weight[: self.cell_ends : 2]) * 1
        for turn in (0, 1):
            end = 2 * np.arange(len(missing)) + (below_first ^ turn)
            more = np.clip(missing, 0.0, np.maximum(self.upper[end] - point[end], 0.0))
            point[end] += more
            missing = missing - more
        return point


class RestrictedModel(WideModel):
    """The intervals problem over the cells of a pattern, all of which are suppressed."""

    def __init__(
        self,
        problem: Problem,
        width_weight: Floats,
        pattern: Booleans,
        least_width: Floats,
        attackers: Sequence[Attacker] = (),
    ):
        super().__init__(problem, width_weight, pattern, least_width, attackers)
        rows, right = self.wide_rows(pattern)
        self.rows = sparse.csr_array(sparse.vstack([self.rows, rows]))
        self.right = np.concatenate([self.right, right])

    def completed(self, ends: Floats) -> Floats:
        """Rooms with the intervals of all cells opened to their least width."""
        return self.widened(ends, self.least_width > 0)


class CombinedModel(WideModel):
    """What all algorithms for combined suppression share.

    Attributes:
        suppress_weight: What it costs not to publish a cell exactly.
        width_weight: What a unit of each end costs, whether it may be opened or not.
        is_always: Cells that are suppressed in every solution: the sensitive ones.
        is_choice: Cells that may be suppressed or not.
        most_suppressed: So many cells may be suppressed.
    """

    def __init__(
        self,
        problem: Problem,
        suppress_weight: Floats,
        width_weight: Floats,
        least_width: Floats,
        attackers: Sequence[Attacker] = (),
        max_suppressed: int | None = None,
    ):
        super().__init__(
            problem, width_weight, np.ones(problem.cell_count, bool), least_width, attackers
        )
        self.suppress_weight = suppress_weight
        self.width_weight = width_weight
        self.is_always = problem.is_sensitive
        self.is_choice: Booleans = self.is_free_cell & ~self.is_always
        self.max_suppressed = max_suppressed
        self.most_suppressed = np.inf if max_suppressed is None else max_suppressed

    @property
    def base(self) -> float:
        """What every solution pays for the sensitive cells being suppressed."""
        return float(self.suppress_weight[self.is_always].sum())

    @property
    def has_choice(self) -> bool:
        """Does it matter which cells are suppressed, and not only how wide their intervals are?"""
        matters = (self.suppress_weight > 0) | (self.least_width > 0)
        return bool((matters & self.is_choice).any()) or np.isfinite(self.most_suppressed)

    def suppressed(self, point: Floats) -> Booleans:
        """Cells that count as suppressed at a point."""
        return self.open_cells(point) | self.is_always

    def width_cost(self, point: Floats) -> float:
        """What the widths of the intervals cost."""
        return super().objective(point)

    def objective(self, point: Floats) -> float:
        """What the suppressed cells and the widths of their intervals cost."""
        cells = self.suppressed(point)
        return self.width_cost(point) + float(self.suppress_weight[cells].sum())

    def completed(self, ends: Floats) -> Floats:
        """Rooms with the intervals of all suppressed cells opened to their least width."""
        return self.widened(ends, self.suppressed(ends))

    def allows(self, point: Floats) -> bool:
        """Are there few enough suppressed cells?"""
        return int(self.suppressed(point).sum()) <= self.most_suppressed

    def restricted(self, pattern: Booleans) -> RestrictedModel:
        """The intervals problem with exactly these cells suppressed, and the sensitive ones."""
        return RestrictedModel(
            self.problem,
            self.width_weight,
            pattern | self.is_always,
            self.least_width,
            self.attackers,
        )
