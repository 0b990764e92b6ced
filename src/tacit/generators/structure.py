"""The structures of the 1H2D tables in the literature, by the names of their instances.

A 1H2D table crosses one hierarchical with one flat dimension. Its rows form subtables: the
first splits the row of the grand total, each other one splits a row of an earlier subtable.
With R rows (the grand total included), c columns (the total column not included) and T
subtables there are

    n = R (c + 1)                cells,
    m = R + T (c + 1)            relations: one per row, and one per column of each subtable,
    nz = (c + 1) (2 R - 1 + T)   coefficients in them,
    s = floor(percent (R - 1) c / 100)   sensitive cells.

Forty-eight instances are published as r-c-percent, where r is a parameter of their generator:
the rows of a subtable, which it varied at random. R follows from the published n, and T is 4
in all of them. Six smaller ones are known as Table 1 to Table 6; R, c and T follow from n, m
and s. Two structures fit Table 3 (`table3a`, `table3b`) and none fits Table 2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tacit.errors import InputError
from tacit.problem import Integers

SUBTABLES = 4
"""The number of subtables of every published r-c-percent instance."""

PUBLISHED_ROWS = {
    (40, 50): 142,
    (40, 60): 168,
    (40, 70): 196,
    (40, 80): 143,
    (50, 50): 189,
    (50, 60): 225,
    (50, 70): 134,
    (50, 80): 218,
    (60, 50): 273,
    (60, 60): 254,
    (60, 70): 235,
    (60, 80): 246,
    (70, 50): 265,
    (70, 60): 245,
    (70, 70): 257,
    (70, 80): 306,
}
"""The rows R of the published instances, by r and c."""


@dataclass(frozen=True)
class Structure1H2D:
    """The sizes of a 1H2D table.

    Attributes:
        rows: The number of rows R, the grand total included.
        columns: The number of columns c, the total column not included.
        subtables: The number of subtables T.
        percent: How many of the (R - 1) c cells outside the row of the grand total and the
            total column are sensitive.
        splits: Subtables are handed out in their order, each splitting up to this many rows
            of the earliest subtable that has fewer split rows: with 3, four subtables are one
            above three; with 2, fifteen are a complete binary tree.

    >>> Structure1H2D.from_name("40-50-10")
    Structure1H2D(rows=142, columns=50, subtables=4, percent=10, splits=3)
    """

    rows: int
    columns: int
    subtables: int = SUBTABLES
    percent: float = 10
    splits: int = 3

    def __post_init__(self) -> None:
        if self.columns < 2:
            raise InputError(f"a 1H2D table needs at least 2 columns; it is given {self.columns}")
        if self.subtables < 1 or self.splits < 1:
            raise InputError(
                "a 1H2D table needs at least one subtable and one split row per subtable"
            )
        if not 0 <= self.percent <= 100:
            raise InputError("percent must lie between 0 and 100: the share of sensitive cells")
        needed = 1 + int(self._least_rows().sum())
        if self.rows < needed:
            raise InputError(
                f"{self.rows} rows are too few for {self.subtables} subtables with up to "
                f"{self.splits} split rows each; at least {needed} are needed"
            )

    @property
    def cell_count(self) -> int:
        """Number of cells, n."""
        return self.rows * (self.columns + 1)

    @property
    def sensitive_count(self) -> int:
        """Number of sensitive cells, s."""
        return int(self.percent * (self.rows - 1) * self.columns // 100)

    @property
    def relation_count(self) -> int:
        """Number of relations, m."""
        return self.rows + self.subtables * (self.columns + 1)

    @property
    def coefficient_count(self) -> int:
        """Number of coefficients in the relations, nz."""
        return (self.columns + 1) * (2 * self.rows - 1 + self.subtables)

    @classmethod
    def from_name(cls, name: str) -> Structure1H2D:
        """The structure of a published instance, or one like it.

        Args:
            name: `r-c-percent`, such as `40-50-10`. For the published pairs of r and c the
                number of rows is as published; for any other pair there are 4 subtables of r
                rows on average. Or `table1`, `table3a`, `table3b`, `table4`, `table5` or
                `table6`; capitals and spaces do not matter.

        Raises:
            InputError: The name has another form, or names no possible table.
        """
        plain = "".join(name.split()).casefold()
        if plain in _SMALL:
            return _SMALL[plain]
        if plain in ("table2", "table3"):
            why = (
                "no structure fits its published size"
                if plain == "table2"
                else "two structures fit its published size; they are 'table3a' and 'table3b'"
            )
            raise InputError(f"the structure of {name!r} is not known: {why}")
        parts = re.fullmatch(r"(\d{1,6})-(\d{1,6})-(\d{1,3})", plain, re.ASCII)
        if parts is None:
            raise InputError(
                f"{name!r} is not the name of a 1H2D structure; expected rows of a subtable, "
                "columns and percentage of sensitive cells as in '40-50-10', or one of "
                f"{', '.join(repr(small) for small in _SMALL)}"
            )
        r, c, percent = (int(part) for part in parts.groups())
        try:
            return cls(PUBLISHED_ROWS.get((r, c), 1 + SUBTABLES * r), c, SUBTABLES, percent)
        except InputError as error:
            raise InputError(f"{name!r} is not the name of a 1H2D structure: {error}") from None

    def draw_rows(self, random: np.random.Generator) -> Integers:
        """Draw which row each row is part of.

        Every subtable gets 2 rows, or as many as are split further where that is more. The
        others go to subtables at random, with chances that differ by a factor of up to 3, and
        which rows of a subtable are split is drawn as well.

        Returns:
            For each row the number of the row it is part of, -1 for the grand total. Each row
            comes before its parts, and all its parts before the next row of its own subtable.
        """
        least = self._least_rows()
        chance = random.uniform(0.5, 1.5, self.subtables)
        spare = self.rows - 1 - int(least.sum())
        size = least + random.multinomial(spare, chance / chance.sum())
        split = [
            np.sort(random.permutation(rows)[:parts]).tolist()
            for rows, parts in zip(size.tolist(), self._split_rows().tolist(), strict=True)
        ]
        parent = np.empty(self.rows, np.int64)
        parent[0] = -1
        row = 1
        # One entry for each subtable under way: its number, the row it splits, its next row.
        under_way = [(0, 0, 0)]
        while under_way:
            subtable, split_row, position = under_way.pop()
            if position == size[subtable]:
                continue
            under_way.append((subtable, split_row, position + 1))
            parent[row] = split_row
            if position in split[subtable]:
                below = 1 + subtable * self.splits + split[subtable].index(position)
                under_way.append((below, row, 0))
            row += 1
        return parent

    def _split_rows(self) -> Integers:
        """For each subtable how many of its rows are split further."""
        number = np.arange(self.subtables)
        return np.clip(self.subtables - 1 - number * self.splits, 0, self.splits)

    def _least_rows(self) -> Integers:
        return np.maximum(self._split_rows(), 2)


_SMALL = {
    "table1": Structure1H2D(11, 10, 4, 10),
    "table3a": Structure1H2D(60, 9, 11, 10),
    "table3b": Structure1H2D(50, 11, 10, 10),
    # 15 and 31 subtables are complete binary trees.
    "table4": Structure1H2D(63, 11, 15, 10, splits=2),
    "table5": Structure1H2D(14, 11, 4, 10),
    "table6": Structure1H2D(144, 10, 31, 10, splits=2),
}
