"""Contributions of contributors and holdings to every cell, added up part by part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os import cpu_count
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tacit.microdata.cells import Cells, SmallIntegers
from tacit.problem import Booleans, Floats, Integers
from tacit.table import Grid, Table
from tacit.table.contributors import LISTED, UNKNOWN, Largest

RECORDS_A_THREAD = 250_000
"""Fewer records are not worth another thread."""

MOST_SHARED_CELLS = 8_000_000
"""At most this many cells are kept by all threads together."""

FEW_CELLS = 100_000
"""Up to this many cells, or an eighth of the records, keeping more of them costs little."""

UNITS_AT_ONCE = 50_000
"""Contributors that are identified at once."""

Identify: TypeAlias = Callable[[Integers, bool], Integers]
"""Internal numbers of contributors (or holdings, if true), from their numbers in this source."""


def listed_count(top: int, cells: int, records: int) -> int:
    """How many of the largest contributors to keep where this many are asked for."""
    return max(top, LISTED) if cells <= max(FEW_CELLS, records // 8) else top


@dataclass(frozen=True, eq=False)
class Records:
    """Some of the records, as arrays. All records of a contributor and a holding are together.

    Attributes:
        leaf_key: The finest cell of each record, -1 where a code (or anything else that every
            record needs) is at fault.
        values: The value columns, NaN where at fault; a column of ones to count records.
        shadow: The column that the rules judge in place of the value, if any.
        weight: The sampling weights, if any.
        contributor: A number for each record's contributor; None where each record is one.
        holding: A number for each record's holding, if there are any.
        asked: For each number of a contributor (or else each record) whether it asked for
            protection, if any could.
        first: The number of the first record, where each record is a contributor.
    """

    leaf_key: npt.NDArray[np.signedinteger]
    values: Mapping[str, Floats]
    shadow: Floats | None = None
    weight: Floats | None = None
    contributor: npt.NDArray[np.signedinteger] | None = None
    holding: npt.NDArray[np.signedinteger] | None = None
    asked: Booleans | None = None
    first: int = 0


def _thread_count(records: int, cells: int) -> int:
    """How many threads to use: each needs its own numbers for all cells."""
    return max(1, min(cpu_count() or 1, records // RECORDS_A_THREAD, MOST_SHARED_CELLS // cells))


class UnitTally:
    """Counts and largest contributions of one kind of unit: contributors or holdings.

    Attributes:
        counts: Number of units, weighted number, and number that asked for protection.
        top: The largest contributions of each cell, NaN where there are fewer.
        top_weight: Their sampling weights; no rows where there are none.
        top_asked: 1 for those who asked for protection; no rows where nobody could.
        top_who: Who they are: the numbers of units, until `identify` exchanges them for internal
            numbers, which mean the same in all sources.
    """

    def __init__(self, cells: Cells, top: int, *, weighted: bool, asked: bool):
        count = cells.grid.cell_count
        self._cells = cells
        self.counts = np.zeros((count, 3))
        self.top = np.full((count, top), np.nan)
        self.top_weight = np.full((count if weighted else 0, top), np.nan)
        self.top_asked = np.full((count if asked else 0, top), np.nan)
        self.top_who = np.full((count, top), np.nan)

    def add(
        self,
        cell: SmallIntegers,
        amount: Floats,
        weight: Floats | None,
        order: Order | None,
        asked: Booleans | None,
        share: tuple[int, int],
        first: int,
    ) -> None:
        """Add the records of units that were not added before.

        Args:
            cell: The finest cell of each record, -1 where at fault.
            amount: What each record contributes, NaN where at fault.
            weight: The sampling weights, if any.
            order: The records ordered by unit; None where each record is one.
            asked: For each unit whether it asked for protection, if any could.
            share: Which of how many equal parts of the units to add.
            first: The number of the first record, where each record is a unit.
        """
        from tacit.microdata import kernels

        count = len(cell) if order is None else len(order.start) - 1
        part, parts = share
        kernels.add_contributions(
            count * part // parts,
            count * (part + 1) // parts,
            np.zeros(0, np.int32) if order is None else order.records,
            np.zeros(0, np.int64) if order is None else order.start,
            cell,
            amount,
            np.zeros(0) if weight is None else weight,
            np.zeros(0, bool) if asked is None else asked,
            self._cells.parent,
            self.counts,
            self.top,
            self.top_weight,
            self.top_asked,
            self.top_who,
            first if order is None else 0,
        )

    def identify(self, identify: Callable[[Integers], Integers]) -> None:
        """Exchange the numbers of units for internal numbers."""
        # Column by column and part by part: nothing here is as large as the columns together.
        units = np.zeros(0)
        for column in self.top_who.T:
            units = np.union1d(units, column[~np.isnan(column)])
        parts = np.array_split(units.astype(np.int64), len(units) // UNITS_AT_ONCE + 1)
        numbers = np.concatenate([identify(part) for part in parts])
        for column in self.top_who.T:
            there = ~np.isnan(column)
            column[there] = numbers[np.searchsorted(units, column[there])]

    def largest(self, kept: Booleans) -> Largest:
        """The largest contributors of some cells, with what they add to the totals."""
        amount = self.top[kept]
        if len(self.top_weight):
            amount = amount * self.top_weight[kept]
        return Largest(np.nan_to_num(self.top_who[kept], nan=UNKNOWN).astype(np.int64), amount)


class Tally:
    """All that is tabulated of one value column.

    Attributes:
        value: The weighted sum of the values, in the finest cells only.
        shadow: The weighted sum of the shadow column, in the finest cells only, if there is one.
        contributors: What is known of contributors.
        holdings: What is known of holdings, if there are any.
    """

    def __init__(
        self, cells: Cells, *, top: int, shadow: bool, weight: bool, holding: bool, request: bool
    ):
        self._cells = cells
        self._has_weight = weight
        self._has_request = request
        self.value = np.zeros(cells.grid.cell_count)
        self.shadow = np.zeros(cells.grid.cell_count) if shadow else None
        self.contributors = UnitTally(cells, top, weighted=weight, asked=request)
        self.holdings = UnitTally(cells, top, weighted=False, asked=False) if holding else None

    def add(self, records: Records, name: str, orders: Orders) -> int:
        """Add records of contributors and holdings that were not added before.

        Returns:
            How many records were added: all but those at fault.
        """
        value, weight = records.values[name], records.weight
        cell, judged = orders.cell, value
        if records.shadow is not None:
            judged = np.where(np.isnan(value), np.nan, records.shadow)
        good = (cell >= 0) & ~np.isnan(judged)
        everything = bool(good.all())
        where = cell if everything else cell[good]
        for sums, column in ((self.value, value), (self.shadow, records.shadow)):
            if sums is not None and column is not None:
                weighted = column if weight is None else column * weight
                sums += np.bincount(where, weighted if everything else weighted[good], len(sums))
        # A holding mixes firms of different weights: it counts for what it adds to the total.
        added = judged if weight is None or self.holdings is None else judged * weight
        helpers = [
            self,
            *(self._empty() for _ in range(_thread_count(len(where), len(self.value)) - 1)),
        ]

        def add_share(part: int) -> None:
            share, tally = (part, len(helpers)), helpers[part]
            asked, first = records.asked, records.first
            tally.contributors.add(cell, judged, weight, orders.by_contributor, asked, share, first)
            if tally.holdings is not None:
                tally.holdings.add(cell, added, None, orders.by_holding, None, share, first)

        if len(helpers) == 1:
            add_share(0)
            return len(where)
        with ThreadPoolExecutor(len(helpers)) as threads:
            list(threads.map(add_share, range(len(helpers))))
        parts = [tally.rows() for tally in helpers]
        cells, rows = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        self.put_rows(*self.layout.merge(cells, rows))
        return len(where)

    def _empty(self) -> Tally:
        return Tally(
            self._cells,
            top=self.contributors.top.shape[1],
            shadow=self.shadow is not None,
            weight=self._has_weight,
            holding=self.holdings is not None,
            request=self._has_request,
        )

    @property
    def _blocks(self) -> list[Floats]:
        """Everything known of the cells: first what is added up, then the largest."""
        columns = [self.value] if self.shadow is None else [self.value, self.shadow]
        units = self.contributors
        blocks = [np.stack(columns, axis=1), units.counts]
        if self.holdings is not None:
            blocks.append(self.holdings.counts)
        blocks += [units.top]
        blocks += [block for block in (units.top_weight, units.top_asked) if len(block)]
        blocks += [units.top_who]
        if self.holdings is not None:
            blocks += [self.holdings.top, self.holdings.top_who]
        return blocks

    @property
    def layout(self) -> Layout:
        """How `rows` are to be read."""
        extra = int(self._has_weight) + int(self._has_request)
        tops = (2 + extra,) if self.holdings is None else (2 + extra, 2)
        kept = self.contributors.top.shape[1]
        width = sum(block.shape[1] for block in self._blocks)
        return Layout(added=width - kept * sum(tops), top=kept, tops=tops)

    def rows(self) -> tuple[Integers, Floats]:
        """The cells that are not empty, and all that is known of each in one row."""
        blocks = self._blocks
        added = blocks[: 2 if self.holdings is None else 3]
        filled = np.flatnonzero(np.any([block.any(axis=1) for block in added], axis=0))
        return filled, np.hstack([block[filled] for block in blocks])

    def put_rows(self, cell: Integers, rows: Floats) -> None:
        """Put all that is known of some cells in place of what was known."""
        if self.shadow is not None:
            self.shadow[cell] = rows[:, 1]
        self.value[cell] = rows[:, 0]
        begin = 1 if self.shadow is None else 2
        for block in self._blocks[1:]:
            block[cell] = rows[:, begin : begin + block.shape[1]]
            begin += block.shape[1]

    def identify(self, identify: Identify) -> None:
        """Exchange the numbers of contributors and holdings for internal numbers."""
        self.contributors.identify(lambda units: identify(units, False))
        if self.holdings is not None:
            self.holdings.identify(lambda units: identify(units, True))

    def table(self, backend: str | None, *, top: int, with_empty: bool) -> Table:
        """The table, with this many of the largest contributions.

        Args:
            backend: The data frame library of the table.
            top: How many of the largest contributions it shows.
            with_empty: Whether cells without contributors are cells of the table.
        """
        counts = self.contributors.counts
        kept: Booleans = (counts[:, 0] > 0) | with_empty
        columns: dict[str, Any] = {
            "value": self._cells.add_up(self.value),
            "count": counts[:, 0],
        }
        if self.shadow is not None:
            columns["shadow"] = self._cells.add_up(self.shadow)
        if self._has_weight:
            columns["weighted_count"] = counts[:, 1]
        if self._has_request:
            columns["requested"] = counts[:, 2]
        if self.holdings is not None:
            columns["holding_count"] = self.holdings.counts[:, 0]
        if top:
            columns["top"] = self.contributors.top[:, :top]
            if self._has_weight:
                columns["top_weight"] = self.contributors.top_weight[:, :top]
            if self._has_request:
                columns["top_requested"] = self.contributors.top_asked[:, :top]
            if self.holdings is not None:
                columns["holding_top"] = self.holdings.top[:, :top]
        grid: Grid = self._cells.restricted(kept)
        lists = self.contributors.top.shape[1] > 0
        return Table(
            grids=(grid,),
            backend=backend,
            contributors=self.contributors.largest(kept) if lists else None,
            holdings=self.holdings.largest(kept) if lists and self.holdings is not None else None,
            **{field: column[kept] for field, column in columns.items()},
        )


@dataclass(frozen=True)
class Layout:
    """How to read a row with all that is known of a cell.

    Attributes:
        added: How many columns are added up.
        top: How many of the largest contributions are kept.
        tops: For contributors and holdings how many columns each of the largest has: the
            contribution, what orders those of the same size, and last who contributes it.
    """

    added: int
    top: int
    tops: tuple[int, ...]

    def merge(self, cell: Integers, rows: Floats) -> tuple[Integers, Floats]:
        """One row for each cell, of rows about different contributors."""
        cells, group = np.unique(cell, return_inverse=True)
        merged = np.full((len(cells), rows.shape[1]), np.nan)
        for column in range(self.added):
            merged[:, column] = np.bincount(group, rows[:, column], len(cells))
        begin = self.added
        for depth in self.tops if self.top else ():
            end = begin + depth * self.top
            block = rows[:, begin:end].reshape(len(rows), depth, self.top)
            entries = block.transpose(0, 2, 1).reshape(-1, depth)
            owner = np.repeat(group, self.top)
            there = ~np.isnan(entries[:, 0])
            entries, owner = entries[there], owner[there]
            amount = entries[:, 0]
            # The same order as in the kernel.
            *others, who = entries.T
            order = np.lexsort((who, *(-column for column in others[::-1]), -np.abs(amount), owner))
            entries, owner = entries[order], owner[order]
            rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
            kept = rank < self.top
            for part in range(depth):
                place = begin + part * self.top + rank[kept]
                merged[owner[kept], place] = entries[kept, part]
            begin = end
        return cells, merged


@dataclass(frozen=True, eq=False)
class Order:
    """Records ordered by unit.

    Attributes:
        records: The records.
        start: Where the records of each unit begin, and the end of the last.
    """

    records: npt.NDArray[np.int32]
    start: Integers

    @staticmethod
    def by(unit: npt.NDArray[np.signedinteger] | None) -> Order | None:
        """Order by the numbers of units; None stays None."""
        from tacit.microdata import kernels

        if unit is None:
            return None
        count = int(unit.max()) + 1 if len(unit) else 0
        return Order(*kernels.order_by(unit, count))


@dataclass(frozen=True, eq=False)
class Orders:
    """The cells of some records, and orders in which those of one unit lie together."""

    cell: SmallIntegers
    by_contributor: Order | None
    by_holding: Order | None

    @staticmethod
    def of(records: Records, cells: Cells) -> Orders:
        """Find the cells of records and order them, once for all value columns."""
        return Orders(
            cells.find(records.leaf_key), Order.by(records.contributor), Order.by(records.holding)
        )
