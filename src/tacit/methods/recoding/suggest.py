"""`suggest_recodes`: which merges remove most sensitive cells for the least detail."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.errors import InputError
from tacit.hierarchy import Hierarchy
from tacit.methods.recoding.run import Overlap, recode
from tacit.observer import Observer
from tacit.table import Table
from tacit.table.frames import to_frame
from tacit.table.judging import Rule

JOINED = "+"
"""What stands between codes in the name of the code that they are merged into."""


@dataclass(frozen=True)
class Suggestion:
    """One merge, and what it does to the table after those before it.

    Attributes:
        dimension: The dimension.
        codes: The codes to merge.
        into: The code that takes their place; their own total, where all its parts are merged.
        removed: How many sensitive cells fewer there are.
        sensitive: How many are left.
        lost: How many cells fewer there are.
        cells: How many are left.
    """

    dimension: str
    codes: tuple[str, ...]
    into: str
    removed: int
    sensitive: int
    lost: int
    cells: int

    @property
    def recodes(self) -> dict[str, dict[str, list[str]]]:
        """The merge as `recode` takes it, for the table after those before."""
        return {self.dimension: {self.into: [*self.codes]}}


@dataclass(frozen=True, eq=False)
class Suggestions:
    """Merges, one after the other, the most rewarding first.

    Attributes:
        steps: The merges.
        before: The table before, with its sensitive cells.
        table: The table after all of them, with its sensitive cells.
    """

    steps: tuple[Suggestion, ...]
    before: Table
    table: Table

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Suggestion]:
        return iter(self.steps)

    @property
    def recodes(self) -> dict[str, dict[str, list[str]]]:
        """All merges at once as `recode` takes them, for the table as it was."""
        found: dict[str, dict[str, list[str]]] = {}
        for step in self.steps:
            groups = found.setdefault(step.dimension, {})
            codes = [part for code in step.codes for part in groups.pop(code, [code])]
            groups[step.into] = codes
        for dimension, groups in found.items():
            hierarchy = self.before.dimensions[dimension]
            # What lies below a code that is merged away itself needs no merge of its own.
            gone = {code for codes in groups.values() for code in codes}
            for into in [*groups]:
                if into in hierarchy and gone.intersection([into, *hierarchy.ancestors(into)]):
                    del groups[into]
        return found

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per merge.

        Args:
            backend: `pandas`, `polars`, `pyarrow`, or `dict` for a dict of arrays; by default
                the library that the table came from.
        """
        columns: dict[str, Any] = {
            "step": np.arange(1, len(self.steps) + 1),
            "dimension": np.array([step.dimension for step in self.steps], object).astype(str),
            "codes": np.array([" ".join(step.codes) for step in self.steps], object).astype(str),
            "into": np.array([step.into for step in self.steps], object).astype(str),
        }
        for name in ("removed", "sensitive", "lost", "cells"):
            columns[name] = np.array([getattr(step, name) for step in self.steps], np.int64)
        return to_frame(columns, backend or self.before.backend)

    def __str__(self) -> str:
        start = int(self.before.is_sensitive.sum())
        head = ("merge", "in", "sensitive", "cells")
        rows = [("as it is", "", str(start), str(self.before.cell_count))]
        for step in self.steps:
            whole = step.into in self.before.dimensions[step.dimension]
            named = f"all of {step.into}" if whole else ", ".join(step.codes)
            left = f"{step.sensitive} (-{step.removed})"
            rows.append((named, step.dimension, left, f"{step.cells} (-{step.lost})"))
        widths = [max(len(row[column]) for row in (head, *rows)) for column in range(4)]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in (head, *rows)
        ]
        return "\n".join(lines)


def suggest_recodes(
    table: Table,
    *rules: Rule,
    most: int = 10,
    tries: int = 60,
    overlap: Overlap = "worst",
    observer: Observer | None = None,
) -> Suggestions:
    """Suggest merges that remove most sensitive cells for the least detail, greedily.

    Looked at are pairs of finest codes below the same code, and all finest codes below a code at
    once. The merge with the most sensitive cells removed for each cell lost comes first; then
    the search goes on with the table that is left.

    Args:
        table: A table; recode before linking.
        *rules: The rules by which merged cells are judged, such as `tacit.MinFrequency(3)`.
        most: How many merges to suggest at most.
        tries: How many merges to try out at each step; those that touch most sensitive cells
            for the cells they take are tried.
        overlap: What to do where contributors may contribute to several merged cells, see
            `recode`. In the worst case at least as many cells count as sensitive as there are.
        observer: Listens to the progress; may stop the search, which returns what it has.

    >>> table = Table.from_frame(
    ...     {"region": ["N1", "N2", "S"], "value": [1, 2, 30], "count": [1, 2, 9]},
    ...     {"region": None}, count="count",
    ... )
    >>> import tacit
    >>> print(suggest_recodes(table, tacit.MinFrequency(3)))
    merge     in      sensitive  cells
    as it is          2          4
    N1, N2    region  0 (-2)     3 (-1)
    """
    if not rules:
        raise InputError("name the rules by which merged cells are judged")
    if len(table.grids) > 1:
        raise InputError(
            "merges are suggested for one table at a time; look at each of the linked tables by "
            "itself, then recode all of them alike"
        )
    observer = observer or Observer()
    observer.on_start("recodes", total=most)
    before = now = table.apply(*rules)
    steps: list[Suggestion] = []
    while len(steps) < most and now.is_sensitive.any() and not observer.should_stop():
        found = _best(now, rules, tries, overlap, observer)
        if found is None:
            break
        step, now = found
        steps.append(step)
        observer.on_progress(len(steps), most)
    observer.on_end()
    return Suggestions(tuple(steps), before, now)


def _best(
    table: Table,
    rules: tuple[Rule, ...],
    tries: int,
    overlap: Overlap,
    observer: Observer,
) -> tuple[Suggestion, Table] | None:
    """The most rewarding merge, with the table after it; None if no merge helps."""
    sensitive = int(table.is_sensitive.sum())
    best: tuple[Suggestion, Table] | None = None
    for dimension, into, codes in _candidates(table)[:tries]:
        if observer.should_stop():
            break
        merged = recode(table, {dimension: {into: codes}}, overlap=overlap).apply(*rules)
        left = int(merged.is_sensitive.sum())
        step = Suggestion(
            dimension,
            codes,
            into,
            sensitive - left,
            left,
            table.cell_count - merged.cell_count,
            merged.cell_count,
        )
        if step.removed > 0 and (best is None or _reward(step) > _reward(best[0])):
            best = step, merged
    return best


def _reward(step: Suggestion) -> tuple[float, int]:
    return step.removed / max(step.lost, 1), step.removed


def _candidates(table: Table) -> list[tuple[str, str, tuple[str, ...]]]:
    """Merges worth a try: dimension, new code and codes, the most promising first."""
    grid = table.grids[0]
    found: list[tuple[float, str, str, tuple[str, ...]]] = []
    for axis, (dimension, hierarchy) in enumerate(grid.dimensions.items()):
        position = grid.positions[:, axis]
        cells = np.bincount(position, minlength=len(hierarchy))
        sensitive = np.bincount(position, table.is_sensitive, len(hierarchy))
        for into, codes in _merges(hierarchy):
            places = [hierarchy.index(code) for code in codes]
            touched = float(sensitive[places].sum())
            whole = into in hierarchy
            lost = cells[places].sum() if whole else cells[places].sum() - cells[places].max()
            if touched:
                found.append((-touched / max(float(lost), 1.0), dimension, into, codes))
    return [(dimension, into, codes) for _, dimension, into, codes in sorted(found)]


def _merges(hierarchy: Hierarchy) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Pairs of finest codes below the same code, and all below a code at once."""
    finest = hierarchy.is_leaf
    for parent in dict.fromkeys(hierarchy.parents[1:]):
        codes = hierarchy.children(hierarchy.codes[parent])
        leaves = [code for code in codes if finest[hierarchy.index(code)]]
        for one, other in itertools.combinations(leaves, 2):
            name = f"{one}{JOINED}{other}"
            if name not in hierarchy and len(codes) > 2:
                yield name, (one, other)
        if len(leaves) == len(codes) and parent > 0:
            yield hierarchy.codes[parent], codes
