"""Who contributes most to each cell, by internal numbers that stand for codes.

A contributor that occurs in several cells, or in several tables, has the same number everywhere.
The numbers serve to find out what one contributor knows. They are never shown: nothing that is
written, printed or published is made of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from tacit.arrays import Booleans, Floats, Integers
from tacit.errors import HierarchyError, TableError
from tacit.hierarchy import code_text
from tacit.table.totals import largest_first, sparse_totals

if TYPE_CHECKING:
    from tacit.table.frames import FrameReader
    from tacit.table.grid import Grid

UNKNOWN = -1
"""Stands for a contributor that is not known."""

LISTED = 5
"""The least number of largest contributors that are kept, where it costs little: they know more."""

CONTRIBUTOR, HOLDING, ALONE = "contributor", "holding", "alone"
"""Kinds of codes; the last are contributors that belong to no holding, taken for one each."""

_UNUSED_BITS = 11
"""Of 64: numbers pass exactly through columns of floating-point numbers, which hold 53 bits."""


def numbers_of(kind: str, codes: Sequence[str]) -> Integers:
    """Internal numbers of contributors or holdings, the same for the same code at any time.

    Args:
        kind: What the codes are codes of; the same code of another kind has another number.
        codes: The codes.
    """
    start = f"{kind} "
    digests = (blake2b((start + code).encode(), digest_size=8).digest() for code in codes)
    found = (int.from_bytes(digest, "little") >> _UNUSED_BITS for digest in digests)
    return np.fromiter(found, np.int64, len(codes))


def numbers_without_codes(source: int, places: Integers) -> Integers:
    """Internal numbers of contributors that have no code, such as records of their own.

    Args:
        source: A number that no other source of records has.
        places: What tells the contributors of this source apart.
    """
    # The finaliser of splitmix64, which takes different numbers to different ones.
    mixed = places.astype(np.uint64) + np.uint64(source)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(_UNUSED_BITS)).astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Largest:
    """The largest contributors of each cell, one row per cell, largest first.

    Attributes:
        who: Their internal numbers; `UNKNOWN` where there are no more, or where it is not known.
        amount: What each adds to the total that rules judge, NaN where there are no more.
    """

    who: Integers
    amount: Floats

    def __post_init__(self) -> None:
        if self.who.shape != self.amount.shape or self.who.ndim != 2:
            raise TableError(
                f"contributors have shape {self.who.shape} and contributions "
                f"{self.amount.shape}; give one for each of the largest contributions"
            )
        for array in (self.who, self.amount):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.who)

    @property
    def is_known(self) -> Booleans:
        """Where it is known who contributes."""
        return np.asarray((self.who != UNKNOWN) & ~np.isnan(self.amount))

    def take(self, cells: Integers | Booleans) -> Largest:
        """Those of some cells."""
        return Largest(self.who[cells], self.amount[cells])

    def with_totals(self, grid: Grid) -> Largest:
        """Those of the finest cells of a grid and of all their totals.

        A contributor to several of the cells below a total counts once, with what it adds to all
        of those in which it is listed. Totals list as many as cells do, or `LISTED`.
        """
        # Numbers travel with the contributions as sampling weights would.
        more = ((0, 0), (0, max(LISTED - self.who.shape[1], 0)))
        columns = {
            "top": np.pad(self.amount, more, constant_values=np.nan),
            "top_weight": np.pad(self.who.astype(np.float64), more, constant_values=UNKNOWN),
        }
        _, _, found = sparse_totals(grid, columns)
        who = np.nan_to_num(found["top_weight"], nan=UNKNOWN).astype(np.int64)
        return Largest(who, found["top"]).merged()

    @property
    def listed(self) -> Integers:
        """How many contributors of each cell are known."""
        return np.asarray(self.is_known.sum(axis=1), np.int64)

    def counted_once(self, count: Floats, top: Floats, whole: Booleans) -> tuple[Floats, Floats]:
        """Numbers of contributors and largest contributions with each contributor once.

        Args:
            count: The number of contributors, as if nobody contributed to two cells.
            top: The largest contributions, likewise.
            whole: Totals of cells that list all their contributors.
        """
        # None was lost before those who occur several times were put together.
        whole = whole & (count <= self.amount.shape[1])
        width = min(top.shape[1], self.amount.shape[1])
        count, top = count.copy(), top.copy()
        count[whole] = self.listed[whole]
        top[whole] = np.nan
        top[whole, :width] = self.amount[whole, :width]
        return count, top

    def grouped(self, cells: Integers, group: Integers, count: int) -> Largest:
        """Those of cells that are unions of cells, contributors to several of them once.

        Args:
            cells: The cells that are united.
            group: The union that each belongs to.
            count: How many unions there are.
        """
        width = self.who.shape[1]
        who, amount = self.who[cells].ravel(), self.amount[cells].ravel()
        there = np.flatnonzero(~np.isnan(amount))
        union = np.repeat(group, width)[there]
        who, amount = who[there], amount[there]
        # Each unknown one may be anybody, and stays apart.
        apart = np.where(who == UNKNOWN, np.arange(len(who)), UNKNOWN)
        order = np.lexsort((apart, who, union))
        keys = np.stack([union, who, apart])[:, order]
        first = np.flatnonzero(np.append(True, np.diff(keys).any(axis=0))[: len(order)])
        total = np.add.reduceat(amount[order], first) if len(first) else amount[order]
        union, who = union[order][first], who[order][first]
        order = np.lexsort((who, -np.abs(total), union))
        union, who, total = union[order], who[order], total[order]
        rank = np.arange(len(union)) - np.searchsorted(union, union)
        kept = rank < width
        units = np.full((count, width), UNKNOWN, np.int64)
        amounts = np.full((count, width), np.nan)
        units[union[kept], rank[kept]] = who[kept]
        amounts[union[kept], rank[kept]] = total[kept]
        return Largest(units, amounts)

    def merged(self) -> Largest:
        """The same with each contributor of a cell once, and in order."""
        who, amount = self.who.copy(), self.amount.copy()
        for rank in range(1, who.shape[1]):
            for first in range(rank):
                same = (who[:, rank] == who[:, first]) & (who[:, rank] != UNKNOWN)
                amount[same, first] += amount[same, rank]
                who[same, rank], amount[same, rank] = UNKNOWN, np.nan
        order = largest_first(amount)
        return Largest(
            np.take_along_axis(who, order, axis=1), np.take_along_axis(amount, order, axis=1)
        )


def linked(parts: Sequence[tuple[Largest | None, Integers]], cell_count: int) -> Largest | None:
    """The largest contributors of linked tables; the first table that knows any gives them.

    Args:
        parts: Those of each table, with the number of each of its cells.
        cell_count: How many cells there are.
    """
    given = [(largest, number) for largest, number in parts if largest is not None]
    if not given:
        return None
    width = max(largest.who.shape[1] for largest, _ in given)
    who = np.full((cell_count, width), UNKNOWN, np.int64)
    amount = np.full((cell_count, width), np.nan)
    for largest, number in reversed(given):
        there = (~np.isnan(largest.amount)).any(axis=1)
        who[number[there]], amount[number[there]] = UNKNOWN, np.nan
        who[number[there], : largest.who.shape[1]] = largest.who[there]
        amount[number[there], : largest.who.shape[1]] = largest.amount[there]
    return Largest(who, amount)


def read_largest(
    reader: FrameReader, kind: str, amounts: Sequence[str], codes: Sequence[str], order: Integers
) -> Largest | None:
    """The largest contributors of each row of a frame, if columns say who they are."""
    if not codes:
        return None
    named = ("top", "top_contributor") if kind == CONTRIBUTOR else ("holding_top", "top_holding")
    if len(codes) != len(amounts or ()):
        raise TableError(
            f"{named[1]} names {len(codes)} columns and {named[0]} {len(amounts or ())}; name one "
            "for each of the largest contributions"
        )
    who = np.full((len(order), len(codes)), UNKNOWN, np.int64)
    for rank, name in enumerate(codes):
        given = [entry if entry == entry else None for entry in reader.entries(name)]
        there = [row for row, entry in enumerate(given) if entry is not None and entry != ""]
        try:
            texts = [code_text(given[row]) for row in there]
        except HierarchyError as error:
            raise TableError(f"column {name}: {error}") from None
        who[there, rank] = numbers_of(kind, texts)
    amount = np.stack([reader.numbers(name) for name in amounts], axis=1)
    who[np.isnan(amount)] = UNKNOWN
    return Largest(who[order], amount[order]).merged()
