"""Deviations that show requests to be met, remembered from one pattern to the next.

A deviation that stays within the suppressed cells of one pattern also shows the request met in
every other pattern that suppresses the same cells. Asking again is then not needed, and in tables
that are no networks asking is what takes the time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.attack.cuts import Separator
from tacit.attack.reach import TOLERANCE, Requests
from tacit.attack.shrink import Structure
from tacit.problem import Booleans, Floats, Integers


class Witness(NamedTuple):
    """A deviation: how far the asked cell moves, which cells move with it, and how far."""

    moved: float
    cells: Integers
    x: Floats


class Witnesses:
    """For each cell and side the last deviation that was seen to reach far enough.

    Each is checked when it comes in: relations, bounds and how far the cell moves. From then on
    it matters only which cells move.
    """

    def __init__(self, structure: Structure, separator: Separator):
        columns = structure.columns
        self._row, self._data = columns.indices, columns.data
        self._start, self._length = columns.indptr[:-1], np.diff(columns.indptr)
        self._up, self._down = separator.up, separator.down
        self._moving: dict[tuple[int, int], Witness] = {}
        self._table: _Table | None = None

    def remember(self, cell: int, side: int, target: float, cells: Integers, x: Floats) -> bool:
        """Take note of a deviation, unless it misses the target or does not hold.

        Args:
            cell: The asked cell.
            side: 1 to rise, -1 to fall.
            target: How far it is to move.
            cells: The cells that move.
            x: How far each of them moves.
        """
        moved = side * float(x[cells == cell].sum())
        if not (target * (1 - TOLERANCE) <= moved < np.inf and moved > 0):
            return False
        if not self._fits(cells, x):
            return False
        if not self._adds_up(cells, x):
            return False
        self._moving[cell, side] = Witness(moved, cells, x)
        self._table = None
        return True

    def _adds_up(self, cells: Integers, x: Floats) -> bool:
        """Are all relations met? Written out: this is asked for thousands of deviations."""
        start, length = self._start[cells], self._length[cells]
        pointer = np.cumsum(length)
        entry = np.repeat(start - pointer + length, length) + np.arange(pointer[-1])
        _, row = np.unique(self._row[entry], return_inverse=True)
        term = self._data[entry] * np.repeat(x, length)
        off = np.abs(np.bincount(row, term))
        return bool((off <= TOLERANCE * np.bincount(row, np.abs(term))).all())

    def _fits(self, cells: Integers, x: Floats) -> bool:
        capacity = np.where(x > 0, self._up[cells], self._down[cells])
        return bool((np.abs(x) <= capacity * (1 + TOLERANCE)).all())

    def spread(
        self, requests: Requests, still_open: Booleans, cells: Integers, x: Floats
    ) -> Booleans:
        """Which open requests a deviation meets, too, once it is stretched to the bounds.

        Args:
            requests: Cells, sides and targets.
            still_open: Those that are asked about.
            cells: The cells that move.
            x: How far each of them moves.
        """
        met = np.zeros(len(requests), bool)
        full = np.zeros(len(self._up))
        for direction in (1.0, -1.0):
            turned = direction * x
            capacity = np.where(turned > 0, self._up[cells], self._down[cells]) / np.abs(turned)
            stretch = float(capacity.min(initial=np.inf))
            if not 0 < stretch < np.inf:
                continue
            full[cells] = stretch * turned
            reaching = requests.sides * full[requests.cells] >= requests.targets
            for number in np.flatnonzero(still_open & reaching & ~met).tolist():
                met[number] = self.remember(
                    int(requests.cells[number]),
                    int(requests.sides[number]),
                    float(requests.targets[number]),
                    cells,
                    full[cells],
                )
        return met

    def moving(self, cell: int, side: int, target: float, hidden: Booleans) -> Integers | None:
        """Suppressed cells that move in a deviation that reaches the target, if one is known."""
        found = self._moving.get((cell, side))
        if found is None or found.moved < target * (1 - TOLERANCE):
            return None
        return found.cells if hidden[found.cells].all() else None

    def show(self, requests: Requests, hidden: Booleans) -> Booleans:
        """Which requests are known to be met by a pattern.

        Args:
            requests: Cells, sides and targets.
            hidden: The cells that may move: those that are suppressed.
        """
        if not self._moving:
            return np.zeros(len(requests), bool)
        if self._table is None:
            self._table = _Table(self._moving, len(self._up))
        return self._table.show(requests, hidden)

    def deviations(self) -> list[Witness]:
        """All that are remembered now."""
        return list(self._moving.values())


class _Table:
    """The witnesses of a moment as arrays, to answer many requests at once."""

    def __init__(self, moving: dict[tuple[int, int], Witness], cell_count: int):
        cells, sides = np.array(list(moving), np.int64).T
        self._number = np.full((2, cell_count), -1, np.int64)
        self._number[(sides < 0).astype(np.int64), cells] = np.arange(len(moving))
        self._moved = np.array([each.moved for each in moving.values()])
        self._cells = np.concatenate([each.cells for each in moving.values()])
        # No witness is empty: the asked cell moves.
        lengths = [len(each.cells) for each in moving.values()]
        self._starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])

    def show(self, requests: Requests, hidden: Booleans) -> Booleans:
        """Which requests are met by a deviation in which only suppressed cells move."""
        within = np.logical_and.reduceat(hidden[self._cells], self._starts)
        number = self._number[(requests.sides < 0).astype(np.int64), requests.cells]
        far = self._moved[number] >= requests.targets * (1 - TOLERANCE)
        return np.asarray((number >= 0) & within[number] & far)
