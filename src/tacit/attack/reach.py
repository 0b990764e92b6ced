"""Questions to the attacker and answers: how far can a cell move?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from scipy import sparse

from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.tolerances import MET, SAME_AMOUNT

TOLERANCE = MET
"""Relations, bounds and levels are met when they are missed by at most this share of their size."""

GAP_TOLERANCE = SAME_AMOUNT
"""An amount and its limit are the same when they differ by at most this share."""

_DENOMINATOR = 2520.0
"""Multipliers of tables are fractions with small denominators; this is divisible by 1 to 10."""


def repeated_ranges(first: Integers, length: Integers) -> Integers:
    """Ranges of consecutive numbers, each with its start and length, one after the other."""
    before = np.cumsum(length) - length
    numbers: Integers = np.repeat(first - before, length) + np.arange(int(length.sum()))
    return numbers


Limited = tuple[Integers, Floats, Floats]
"""Cells that are limited in one request, and how far they may rise and fall."""
NOTHING_LIMITED: Limited = (np.zeros(0, np.int64), np.zeros(0), np.zeros(0))


@dataclass(frozen=True, eq=False)
class Limits:
    """Cells that may move less far in some requests than in others.

    An insider knows its own figures: a cell that it alone contributes to stands still, one to
    which it contributes falls no further than to that contribution. Requests against the same
    insider share one list.

    Attributes:
        chosen: The list of each request, -1 where nothing is limited.
        start: Where each list begins, and the end of the last.
        cells: The cells of the lists, increasing within each.
        up: How far each of them may rise at most; inf where that is not limited.
        down: How far each of them may fall at most.
    """

    chosen: Integers
    start: Integers
    cells: Integers
    up: Floats
    down: Floats

    @classmethod
    def none(cls, count: int) -> Limits:
        """The limits of a number of requests in which nothing is limited."""
        nothing = np.zeros(0)
        chosen = np.full(count, -1, np.int64)
        return cls(chosen, np.zeros(1, np.int64), np.zeros(0, np.int64), nothing, nothing)

    @property
    def lists(self) -> Integers:
        """The list of each entry."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    @property
    def arrays(self) -> tuple[Integers, Integers, Integers, Floats, Floats]:
        """All attributes in their order, as kernels take them."""
        return self.chosen, self.start, self.cells, self.up, self.down

    def take(self, index: Any) -> Limits:
        """Those of some of the requests."""
        return Limits(self.chosen[index], self.start, self.cells, self.up, self.down)

    def of(self, request: int) -> Limited:
        """The limited cells of one request, and how far they may rise and fall."""
        number = int(self.chosen[request])
        part = slice(0, 0) if number < 0 else slice(self.start[number], self.start[number + 1])
        return self.cells[part], self.up[part], self.down[part]

    def unbounded(self) -> Limits:
        """The same in units of 1: what is limited does not move, what is not may move by 1."""
        up, down = (np.where(np.isinf(amount), 1.0, 0.0) for amount in (self.up, self.down))
        return Limits(self.chosen, self.start, self.cells, up, down)

    def entries(self) -> tuple[Integers, Integers]:
        """Every request with each of its entries: the request's number and the entry's."""
        limited = np.flatnonzero(self.chosen >= 0)
        first = self.start[self.chosen[limited]]
        length = self.start[self.chosen[limited] + 1] - first
        return np.repeat(limited, length), repeated_ranges(first, length)

    def at(self, request: Integers, cell: Integers, rises: Booleans) -> Floats:
        """How far cells may move in requests, upwards where they rise; inf without a limit."""
        if not len(self.cells):
            return np.full(len(request), np.inf)
        width, keys = self._keys
        wanted = self.chosen[request] * width + cell
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        is_limited = (self.chosen[request] >= 0) & (cell < width) & (keys[place] == wanted)
        amount = np.where(rises, self.up[place], self.down[place])
        return np.where(is_limited, amount, np.inf)

    @cached_property
    def _keys(self) -> tuple[int, Integers]:
        """A number for each entry, increasing, from its list and its cell."""
        width = int(self.cells.max(initial=0)) + 1
        return width, self.lists * width + self.cells

    def kept(
        self,
        deviations: sparse.csr_array[Any, Any],
        rows: Integers,
        factor: Floats | None = None,
    ) -> Booleans:
        """Whether each request's limits hold in its row of some deviations.

        Args:
            deviations: Deviations, one per row.
            rows: The row of each request.
            factor: What each row is multiplied by; 1 by default.
        """
        holds = np.ones(len(self.chosen), bool)
        limited = np.flatnonzero(self.chosen >= 0)
        listed = np.diff(self.start)[self.chosen[limited]]
        first = deviations.indptr[rows[limited]].astype(np.int64)
        length = deviations.indptr[rows[limited] + 1] - first
        if not length.sum() or not listed.sum():
            return holds
        # From the shorter side: rows with few cells, or short lists.
        if length.sum() < listed.sum():
            request = np.repeat(limited, length)
            entry = repeated_ranges(first, length)
            x = deviations.data[entry]
            amount = self.at(request, deviations.indices[entry].astype(np.int64), x > 0)
        else:
            request, entry = self.entries()
            x = np.asarray(deviations[rows[request], self.cells[entry]]).ravel()
            amount = np.where(x > 0, self.up[entry], self.down[entry])
        size = np.abs(x) if factor is None else np.abs(x) * factor[request]
        holds[request[size > amount * (1 + TOLERANCE)]] = False
        return holds

    def numbered_by(self, number: Integers) -> Limits:
        """The same limits with other numbers for the cells, without cells that are not there.

        Lists that no request has are left out.

        Args:
            number: For each cell its other number, -1 for those that are not there.
        """
        used = np.unique(self.chosen[self.chosen >= 0])
        length = self.start[used + 1] - self.start[used]
        entry = repeated_ranges(self.start[used], length)
        lists = np.repeat(np.arange(len(used)), length)
        cells = number[self.cells[entry]]
        order = np.lexsort((cells, lists))
        order = order[cells[order] >= 0]
        start = np.searchsorted(lists[order], np.arange(len(used) + 1)).astype(np.int64)
        chosen = np.where(self.chosen >= 0, np.searchsorted(used, self.chosen), -1)
        entry = entry[order]
        return Limits(chosen, start, cells[order], self.up[entry], self.down[entry])

    @classmethod
    def joined(cls, parts: Sequence[Limits]) -> Limits:
        """The limits of several requests as those of all of them, one after the other."""
        lists = np.cumsum([0, *(len(part.start) - 1 for part in parts)])
        entries = np.cumsum([0, *(len(part.cells) for part in parts)])
        return cls(
            np.concatenate(
                [
                    np.where(part.chosen >= 0, part.chosen + before, -1)
                    for part, before in zip(parts, lists[:-1].tolist(), strict=True)
                ]
            ),
            np.concatenate(
                [
                    np.zeros(1, np.int64),
                    *(
                        part.start[1:] + before
                        for part, before in zip(parts, entries[:-1].tolist(), strict=True)
                    ),
                ]
            ),
            np.concatenate([part.cells for part in parts]),
            np.concatenate([part.up for part in parts]),
            np.concatenate([part.down for part in parts]),
        )


@dataclass(frozen=True, eq=False)
class Requests:
    """How far can these cells move?

    Attributes:
        cells: Which cells.
        sides: 1 to rise, -1 to fall.
        targets: Stop when the cell has moved so far; inf asks for the exact limit.
        own: How far the asked cell itself may move at most, where that differs from what it
            may do while others are asked ([Castro2012, (9)]); None if it never does.
        limits: Cells, the asked one included, that may move less far in some requests than the
            knowledge of the attacker says; None if there are none.
    """

    cells: Integers
    sides: Integers
    targets: Floats
    own: Floats | None = None
    limits: Limits | None = None

    def __len__(self) -> int:
        return len(self.cells)

    def take(self, index: Any) -> Requests:
        """Some of the requests."""
        own = None if self.own is None else self.own[index]
        limits = None if self.limits is None else self.limits.take(index)
        return Requests(self.cells[index], self.sides[index], self.targets[index], own, limits)

    def positive(self) -> Requests:
        """Without those that ask for nothing."""
        return self.take(self.targets > 0)

    def numbered_by(self, number: Integers) -> Requests:
        """The same requests with other numbers for the cells.

        Args:
            number: For each cell its other number. Limits of cells with -1 are left out.
        """
        limits = None if self.limits is None else self.limits.numbered_by(number)
        return Requests(number[self.cells], self.sides, self.targets, self.own, limits)

    def capacity(self, up: Floats, down: Floats) -> Floats:
        """How far each asked cell itself may move in the asked direction."""
        own = self.own
        if own is None:
            own = np.where(self.sides > 0, up[self.cells], down[self.cells])
        if self.limits is None:
            return own
        asked = np.arange(len(self))
        return np.minimum(own, self.limits.at(asked, self.cells, self.sides > 0))

    def limited(self, request: int) -> Limited:
        """The limited cells of one request, and how far they may rise and fall."""
        if self.limits is None:
            return NOTHING_LIMITED
        return self.limits.of(request)

    @classmethod
    def both_sides(
        cls,
        cells: Integers,
        up: Any = np.inf,
        down: Any = np.inf,
        limits: Limits | None = None,
    ) -> Requests:
        """Ask for both sides of each cell: first all upwards, then all downwards.

        Args:
            cells: Which cells.
            up: How far each is to rise.
            down: How far each is to fall.
            limits: What is limited for each cell, on either side.
        """
        count = len(cells)
        return cls(
            np.tile(np.asarray(cells, np.int64), 2),
            np.repeat(np.array([1, -1]), count),
            np.concatenate([np.broadcast_to(up, count), np.broadcast_to(down, count)]).astype(
                np.float64
            ),
            limits=None if limits is None else limits.take(np.tile(np.arange(count), 2)),
        )

    @classmethod
    def joined(cls, parts: Sequence[Requests]) -> Requests:
        """Several lists of requests as one.

        Either all of them or none say how far asked cells themselves may move (`own`).
        """
        own, limits = None, None
        if any(part.own is not None for part in parts):
            own = np.concatenate([cast("Floats", part.own) for part in parts])
        if any(part.limits is not None for part in parts):
            limits = Limits.joined([part.limits or Limits.none(len(part)) for part in parts])
        return cls(
            np.concatenate([part.cells for part in parts]),
            np.concatenate([part.sides for part in parts]),
            np.concatenate([part.targets for part in parts]),
            own,
            limits,
        )


@dataclass(frozen=True, eq=False)
class Reaches:
    """Answers, in the order of the requests.

    Attributes:
        amount: How far the cell moves in a consistent table; inf if without limit.
        limit: No consistent table moves it further; inf where the target was reached first.
        tables: Consistent tables that reach the amounts, as deviations from the true table, one
            per row; for an infinite amount a direction that can be followed for ever. Several
            requests may have a table in common.
        multipliers: Row multipliers that prove the limit; empty rows where there is none.
        answered: False where the sweep was stopped before the request's turn.
        row: The table of each request; by default each has its own.
    """

    amount: Floats
    limit: Floats
    tables: sparse.csr_array[Any, Any]
    multipliers: sparse.csr_array[Any, Any]
    answered: Booleans = None  # type: ignore[assignment]
    row: Integers = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.answered is None:
            object.__setattr__(self, "answered", np.ones(len(self.amount), bool))
        if self.row is None:
            object.__setattr__(self, "row", np.arange(len(self.amount)))

    @property
    def deviations(self) -> sparse.csr_array[Any, Any]:
        """The table of each request, one row per request."""
        return sparse.csr_array(self.tables[self.row])

    @property
    def shown(self) -> Reaches:
        """What tables show alone: how far cells move, not that they move no further."""
        count = len(self.amount)
        return Reaches(
            self.amount,
            np.full(count, np.inf),
            self.tables,
            sparse.csr_array(self.multipliers.shape),
            self.answered,
            self.row,
        )

    def take(self, index: Any) -> Reaches:
        """Some of the answers."""
        return Reaches(
            self.amount[index],
            self.limit[index],
            self.tables,
            sparse.csr_array(self.multipliers[index]),
            self.answered[index],
            self.row[index],
        )

    @classmethod
    def joined(cls, parts: Sequence[Reaches]) -> Reaches:
        """Several lists of answers as one."""
        before = np.cumsum([0, *(part.tables.shape[0] for part in parts)])[:-1].tolist()
        return cls(
            np.concatenate([part.amount for part in parts]),
            np.concatenate([part.limit for part in parts]),
            sparse.csr_array(sparse.vstack([part.tables for part in parts])),
            sparse.csr_array(sparse.vstack([part.multipliers for part in parts])),
            np.concatenate([part.answered for part in parts]),
            np.concatenate([part.row + first for part, first in zip(parts, before, strict=True)]),
        )

    @classmethod
    def unanswered(cls, count: int, problem: Problem) -> Reaches:
        """No answers, for a number of requests."""
        return cls(
            np.zeros(count),
            np.full(count, np.inf),
            sparse.csr_array((count, problem.cell_count)),
            sparse.csr_array((count, problem.relation_count)),
            np.zeros(count, bool),
        )

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


def within(up: Floats, down: Floats, limited: Limited) -> tuple[Floats, Floats]:
    """How far each cell may rise and fall within the limits of one request; always copies."""
    cells, rise, fall = limited
    up, down = up.copy(), down.copy()
    up[cells] = np.minimum(up[cells], rise)
    down[cells] = np.minimum(down[cells], fall)
    return up, down


def snapped(numbers: Floats, tolerance: float) -> Floats:
    """Multipliers moved to the fractions they stand for; any multipliers prove something valid.

    Args:
        numbers: Multipliers or charges.
        tolerance: How close a number must be to a fraction.

    >>> bool(snapped(np.array([0.33333333]), 1e-6)[0] == 1 / 3)
    True
    """
    near = np.rint(numbers * _DENOMINATOR) / _DENOMINATOR
    return np.where(np.abs(near - numbers) < tolerance, near, numbers)


def charges(d: Floats, capacity: Floats) -> Floats:
    """What reduced costs d charge for the capacity they meet.

    Where the capacity is infinite, a reduced cost that is mere rounding counts as zero: reduced
    costs are measured in units of the cell that is asked.
    """
    free = (d == 0) | (np.isinf(capacity) & (np.abs(d) <= TOLERANCE))
    return np.abs(d) * np.where(free, 0.0, capacity)
