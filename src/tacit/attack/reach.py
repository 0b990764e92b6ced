"""Questions to the attacker and answers: how far can a cell move?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.problem import Booleans, Floats, Integers
from tacit.tolerances import MET, SAME_AMOUNT

TOLERANCE = MET
"""Relations, bounds and levels are met when they are missed by at most this share of their size."""

GAP_TOLERANCE = SAME_AMOUNT
"""An amount and its limit are the same when they differ by at most this share."""


@dataclass(frozen=True, eq=False)
class Requests:
    """How far can these cells move?

    Attributes:
        cells: Which cells.
        sides: 1 to rise, -1 to fall.
        targets: Stop when the cell has moved so far; inf asks for the exact limit.
        own: How far the asked cell itself may move at most, where that differs from what it
            may do while others are asked (paper 003, (9)); None if it never does.
    """

    cells: Integers
    sides: Integers
    targets: Floats
    own: Floats | None = None

    def __len__(self) -> int:
        return len(self.cells)

    def take(self, index: Any) -> Requests:
        """Some of the requests."""
        own = None if self.own is None else self.own[index]
        return Requests(self.cells[index], self.sides[index], self.targets[index], own)

    def positive(self) -> Requests:
        """Without those that ask for nothing."""
        return self.take(self.targets > 0)

    def renumbered(self, cells: Integers) -> Requests:
        """The same requests with other numbers for the cells."""
        return Requests(cells, self.sides, self.targets, self.own)

    def capacity(self, up: Floats, down: Floats) -> Floats:
        """How far each asked cell itself may move in the asked direction."""
        if self.own is not None:
            return self.own
        return np.where(self.sides > 0, up[self.cells], down[self.cells])

    @classmethod
    def both_sides(cls, cells: Integers, up: Any = np.inf, down: Any = np.inf) -> Requests:
        """Ask for both sides of each cell: first all upwards, then all downwards."""
        count = len(cells)
        return cls(
            np.tile(np.asarray(cells, np.int64), 2),
            np.repeat(np.array([1, -1]), count),
            np.concatenate([np.broadcast_to(up, count), np.broadcast_to(down, count)]).astype(
                np.float64
            ),
        )


@dataclass(frozen=True, eq=False)
class Reaches:
    """Answers, in the order of the requests.

    Attributes:
        amount: How far the cell moves in a consistent table; inf if without end.
        limit: No consistent table moves it further; inf where the target was reached first.
        deviations: A consistent table that reaches the amount, as deviations from the true
            table; for an infinite amount a direction that can be followed for ever.
        multipliers: Row multipliers that prove the limit; empty rows where there is none.
        answered: False where the sweep was stopped before the request's turn.
    """

    amount: Floats
    limit: Floats
    deviations: sparse.csr_array[Any, Any]
    multipliers: sparse.csr_array[Any, Any]
    answered: Booleans = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.answered is None:
            object.__setattr__(self, "answered", np.ones(len(self.amount), bool))

    def reached(self, requests: Requests) -> Booleans:
        """Which requests reached their target, within the tolerance."""
        return self.answered & (self.amount >= requests.targets * (1 - TOLERANCE))


class SparseRows:
    """Collects sparse rows by number and hands them over as one matrix."""

    def __init__(self, rows: int, columns: int):
        self._shape = (rows, columns)
        self._row: list[Integers] = []
        self._column: list[Integers] = []
        self._data: list[Floats] = []

    def put(self, row: int, columns: Integers, data: Floats) -> None:
        """Fill one row; zeros are left out."""
        used = data != 0
        self._row.append(np.full(int(used.sum()), row, np.int64))
        self._column.append(columns[used])
        self._data.append(data[used])

    def put_many(self, rows: Integers, columns: Integers, data: Floats) -> None:
        """Fill entries of several rows."""
        self._row.append(rows)
        self._column.append(columns)
        self._data.append(data)

    def matrix(self) -> sparse.csr_array[Any, Any]:
        """All rows as one matrix."""
        if not self._row:
            return sparse.csr_array(self._shape)
        entries = (
            np.concatenate(self._data),
            (np.concatenate(self._row), np.concatenate(self._column)),
        )
        return sparse.csr_array(entries, shape=self._shape)


def charges(d: Floats, room: Floats) -> Floats:
    """What reduced costs d charge for the room they meet.

    Where the room is infinite, a reduced cost that is mere rounding counts as zero: reduced
    costs are measured in units of the cell that is asked.
    """
    free = (d == 0) | (np.isinf(room) & (np.abs(d) <= TOLERANCE))
    return np.abs(d) * np.where(free, 0.0, room)
