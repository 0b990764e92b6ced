"""Deviations that show requests to be met, remembered from one pattern to the next.

A deviation that stays within the suppressed cells of one pattern also shows the request met in
every other pattern that suppresses the same cells. Asking again is then not needed, and in tables
that are not networks asking is what takes the time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.attack.cuts import Separator
from tacit.attack.reach import NOTHING_LIMITED, TOLERANCE, Limited, Requests
from tacit.attack.shrink import Structure
from tacit.problem import Booleans, Floats, Integers


class Witness(NamedTuple):
    """A deviation: how far the asked cell moves, which cells move with it, and how far."""

    moved: float
    cells: Integers
    x: Floats


class Witnesses:
    """For each request the last deviation that was seen to reach far enough.

    Requests are told apart by cell, side and the list of limits that they have. Each deviation is
    checked when it comes in: relations, bounds, limits and how far the cell moves. From then on it
    matters only which cells move.
    """

    def __init__(self, structure: Structure, separator: Separator):
        columns = structure.columns
        self._pointer, self._row, self._data = columns.indptr, columns.indices, columns.data
        # The kernel leaves zeros behind.
        self._sums, self._sizes = np.zeros(columns.shape[0]), np.zeros(columns.shape[0])
        self._up, self._down = separator.up, separator.down
        self._moving: dict[tuple[int, int, int], Witness] = {}
        self._table: _Table | None = None

    def remember(self, requests: Requests, number: int, cells: Integers, x: Floats) -> bool:
        """Take note of a deviation, unless it misses the target or does not hold.

        Args:
            requests: Cells, sides and targets.
            number: Which of the requests it is about.
            cells: The cells that move.
            x: How far each of them moves.
        """
        return self.remember_all(requests, np.array([number]), cells, x) > 0

    def remember_all(
        self, requests: Requests, numbers: Integers, cells: Integers, x: Floats
    ) -> int:
        """Take note of a deviation for several requests; returns for how many it holds."""
        if not self.holds(cells, x):
            return 0
        count = 0
        for number in numbers.tolist():
            own = cells == requests.cells[number]
            moved = float(requests.sides[number]) * float(x[own].sum())
            count += self._note(requests, number, Witness(moved, cells, x))
        return count

    def _note(self, requests: Requests, number: int, witness: Witness) -> bool:
        """Take note of a deviation that holds, unless it misses the target or the limits."""
        target = float(requests.targets[number])
        if not (target * (1 - TOLERANCE) <= witness.moved < np.inf and witness.moved > 0):
            return False
        if not _is_within(requests.limited(number), witness.cells, witness.x):
            return False
        cell, side = int(requests.cells[number]), int(requests.sides[number])
        self._moving[cell, side, list_of(requests, number)] = witness
        self._table = None
        return True

    def holds(self, cells: Integers, x: Floats) -> bool:
        """Does a deviation meet all relations and bounds?"""
        from tacit.attack.kernels import is_balanced

        return self._fits(cells, x) and is_balanced(
            self._pointer, self._row, self._data, cells, x, self._sums, self._sizes, TOLERANCE
        )

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
            stretched = stretch * turned
            full[cells] = stretched
            moved = requests.sides * full[requests.cells]
            reached = np.flatnonzero(still_open & (moved >= requests.targets) & ~met)
            if not len(reached) or not self.holds(cells, stretched):
                continue
            for number in reached.tolist():
                # No further than asked: limits are met more easily.
                short = 1.0
                if list_of(requests, number) >= 0:
                    short = float(requests.targets[number] / moved[number])
                x_short = stretched if short == 1.0 else short * stretched
                found = Witness(short * float(moved[number]), cells, x_short)
                met[number] = self._note(requests, number, found)
        return met

    def find(self, requests: Requests, number: int, hidden: Booleans) -> Witness | None:
        """A deviation of suppressed cells that reaches the target of a request, if one is known."""
        key = (
            int(requests.cells[number]),
            int(requests.sides[number]),
            list_of(requests, number),
        )
        found = self._moving.get(key)
        if found is None or found.moved < requests.targets[number] * (1 - TOLERANCE):
            return None
        return found if hidden[found.cells].all() else None

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

    def __init__(self, moving: dict[tuple[int, int, int], Witness], cell_count: int):
        self._cell_count = cell_count
        cells, sides, lists = np.array(list(moving), np.int64).T
        code = self._codes(cells, sides, lists)
        order = np.argsort(code)
        self._code = code[order]
        given = list(moving.values())
        found = [given[number] for number in order.tolist()]
        self._moved = np.array([each.moved for each in found])
        # One deviation may serve many requests.
        distinct = {id(each.cells): each.cells for each in found}
        number_of = {key: number for number, key in enumerate(distinct)}
        self._row = np.array([number_of[id(each.cells)] for each in found])
        self._cells = np.concatenate(list(distinct.values()))
        # No witness is empty: the asked cell moves.
        lengths = [len(cells) for cells in distinct.values()]
        self._starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])

    def _codes(self, cells: Integers, sides: Integers, lists: Integers) -> Integers:
        """A number for each combination of cell, side and list of limits."""
        return ((lists + 1) * 2 + (sides < 0)) * self._cell_count + cells

    def show(self, requests: Requests, hidden: Booleans) -> Booleans:
        """Which requests are met by a deviation in which only suppressed cells move."""
        lists = np.full(len(requests), -1, np.int64)
        if requests.limits is not None:
            lists = requests.limits.chosen
        within = np.logical_and.reduceat(hidden[self._cells], self._starts)[self._row]
        code = self._codes(requests.cells, requests.sides, lists)
        number = np.minimum(np.searchsorted(self._code, code), len(self._code) - 1)
        far = self._moved[number] >= requests.targets * (1 - TOLERANCE)
        return np.asarray((self._code[number] == code) & within[number] & far)


def list_of(requests: Requests, number: int) -> int:
    """The list of limits that a request has, -1 for none."""
    return -1 if requests.limits is None else int(requests.limits.chosen[number])


def _is_within(limited: Limited, cells: Integers, x: Floats) -> bool:
    """Does a deviation move limited cells no further than they may?"""
    if limited is NOTHING_LIMITED:
        return True
    inside, place = np.isin(cells, limited[0]), np.searchsorted(limited[0], cells)
    moved, place = x[inside], place[inside]
    capacity = np.where(moved > 0, limited[1][place], limited[2][place])
    return bool((np.abs(moved) <= capacity * (1 + TOLERANCE)).all())
