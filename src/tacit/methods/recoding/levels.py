"""`suggest_levels`: how many sensitive cells go when whole levels of a hierarchy are left out.

The cells that remain are cells of the same table, and rules judge each by itself: so the counts
are exact, and there is nothing to tabulate or judge again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.hierarchy import Hierarchy
from tacit.problem import Booleans
from tacit.table import Table
from tacit.table.frames import to_frame
from tacit.table.judging import Rule


@dataclass(frozen=True)
class LevelSuggestion:
    """The levels of one hierarchy from some depth on left out.

    Attributes:
        dimension: The dimension.
        level: The deepest level that is kept; 0 keeps the total alone.
        named: Which levels are left out, in words.
        removed: How many sensitive cells fewer there are.
        sensitive: How many are left.
        lost: How many cells fewer there are.
        cells: How many are left.
    """

    dimension: str
    level: int
    named: str
    removed: int
    sensitive: int
    lost: int
    cells: int

    @property
    def recodes(self) -> dict[str, int]:
        """The same as `recode` and `[recode]` of a job take it."""
        return {self.dimension: self.level}

    def __str__(self) -> str:
        return (
            f"{self.named}: {self.removed:,} fewer sensitive cells of "
            f"{self.removed + self.sensitive:,}, {self.lost:,} fewer cells of "
            f"{self.lost + self.cells:,}"
        )


@dataclass(frozen=True, eq=False)
class LevelSuggestions:
    """Levels to leave out, each by itself; those that cost fewest cells for what they do first.

    Attributes:
        choices: What can be left out.
        table: The table as it is, with its sensitive cells.
    """

    choices: tuple[LevelSuggestion, ...]
    table: Table

    def __len__(self) -> int:
        return len(self.choices)

    def __iter__(self) -> Iterator[LevelSuggestion]:
        return iter(self.choices)

    def to_frame(self, backend: str | None = None) -> Any:
        """One row for each; `level` is the deepest one that is kept.

        Args:
            backend: `pandas`, `polars`, `pyarrow`, or `dict` for a dict of arrays; by default
                the library that the table came from.
        """
        columns: dict[str, Any] = {
            name: np.array([getattr(choice, name) for choice in self.choices], object).astype(str)
            for name in ("dimension", "named")
        }
        for name in ("level", "removed", "sensitive", "lost", "cells"):
            columns[name] = np.array([getattr(choice, name) for choice in self.choices], np.int64)
        return to_frame(columns, backend or self.table.backend)

    def __str__(self) -> str:
        start = int(self.table.is_sensitive.sum())
        rows = [
            ("leave out", "recode", "sensitive", "cells"),
            ("as it is", "", f"{start:,}", f"{self.table.cell_count:,}"),
        ]
        rows += [
            (
                choice.named,
                f"{choice.dimension} = {choice.level}",
                f"{choice.sensitive:,} (-{choice.removed:,})",
                f"{choice.cells:,} (-{choice.lost:,})",
            )
            for choice in self.choices
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        return "\n".join(
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )


def suggest_levels(table: Table, *rules: Rule) -> LevelSuggestions:
    """Suggest levels to leave out, such as the one with five digits.

    Args:
        table: A table. In linked tables a level is left out of all that have the dimension.
        *rules: Rules that are applied before; without any, the cells count that are sensitive.

    Returns:
        Every way to leave out the finest levels of one dimension that removes sensitive cells.

    >>> nace = Hierarchy.from_prefixes(["011", "012", "02"], lengths=(2, 3))
    >>> table = Table.from_frame(
    ...     {"industry": ["011", "012", "02"], "value": [1, 2, 30], "count": [1, 2, 9]},
    ...     {"industry": nace}, count="count",
    ... )
    >>> import tacit
    >>> print(suggest_levels(table, tacit.MinFrequency(3)))
    leave out                          recode        sensitive  cells
    as it is                                         2          5
    level 2 of industry (such as 011)  industry = 1  0 (-2)     3 (-2)
    industry                           industry = 0  0 (-2)     1 (-4)
    """
    judged = table.apply(*rules) if rules else table
    sensitive = judged.is_sensitive
    before, cells = int(sensitive.sum()), judged.cell_count
    found = []
    for dimension in judged.dimensions:
        deepest = max(
            (grid.dimensions[dimension] for grid in judged.grids if dimension in grid.dimensions),
            key=lambda hierarchy: hierarchy.depth,
        )
        for level in range(deepest.depth - 1, -1, -1):
            kept = _kept(judged, dimension, level)
            left, remaining = int((sensitive & kept).sum()), int(kept.sum())
            if left < before:
                named = _named(deepest, dimension, level)
                found.append(
                    LevelSuggestion(
                        dimension, level, named, before - left, left, cells - remaining, remaining
                    )
                )
    # Leaving a dimension out altogether is the last resort, whatever it removes.
    found.sort(key=lambda each: (each.level == 0, -each.removed / max(each.lost, 1)))
    return LevelSuggestions(tuple(found), judged)


def _kept(table: Table, dimension: str, level: int) -> Booleans:
    """The cells that remain when a dimension keeps its levels down to one.

    A cell of several linked tables remains as long as one of them keeps it.
    """
    kept = np.zeros(table.cell_count, bool)
    for grid in table.grids:
        if dimension not in grid.dimensions:
            kept[grid.numbers] = True
            continue
        axis = [*grid.dimensions].index(dimension)
        depth = grid.dimensions[dimension].level[grid.positions[:, axis]]
        kept[grid.numbers] |= depth <= level
    return kept


def _named(hierarchy: Hierarchy, dimension: str, level: int) -> str:
    """Which levels go, with one of their codes: numbers of levels say little."""
    if level == 0:
        return dimension
    first, last = level + 1, hierarchy.depth
    levels = f"level {first}" if first == last else f"levels {first} to {last}"
    return f"{levels} of {dimension} (such as {hierarchy.codes_at(first)[0]})"
