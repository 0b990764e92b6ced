"""`recode`: the table with some categories merged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np

from tacit.errors import InputError, TableError, about
from tacit.methods.recoding.plan import Plan, Recode, known_dimension, plan_recode
from tacit.problem import Booleans, Floats, Integers
from tacit.table import Table
from tacit.table.contributors import Largest
from tacit.table.grid import Grid
from tacit.table.labels import name_cells
from tacit.table.status import CellStatus, Statuses

Overlap: TypeAlias = Literal["refuse", "worst"]
"""What to do where contributors may contribute to several of the cells that are merged."""

_ADDED = ("value", "shadow", "weight", "lower", "upper")
_COUNTED = {"count": "count", "weighted_count": "count", "holding_count": "holding_count"}
"""Columns that count somebody, and the column that tells whether anybody counts twice."""
_RANKED = {
    "top": ("count", ("top_weight", "top_requested")),
    "holding_top": ("holding_count", ()),
}


def recode(table: Table, recodes: Mapping[str, Recode], *, overlap: Overlap = "refuse") -> Table:
    """Merge categories of a table.

    Values of merged cells are added up. Who contributes to a merged cell is known from the table
    where nobody contributes to two of the cells merged, which shows when the contributors of all
    cells below a total add up to those of the total. Where it does not show, the table cannot
    tell: tabulate again with `grouped` hierarchies, or take the worst case.

    Cells that are sensitive, reasons and levels are not taken over: apply the rules again.

    Args:
        table: The table; recode before linking.
        recodes: For each dimension to recode what to merge: `{"region": {"north": ["N1", "N2"]}}`
            by name, `{"region": {"north": "N1..N4"}}` for neighbours, `{"industry": 2}` to keep the
            levels down to that one, `{"age": [0, 18, 65]}` for ranges of codes that are numbers.
            What lies below merged codes is left out. Where a new code is that of a total of which
            all parts are named, the parts are left out.
        overlap: `refuse` where the table cannot tell who contributes to a merged cell; `worst`
            takes as few contributors and as large contributions as there can be, so that rules
            find no fewer cells sensitive than there are.

    Raises:
        TableError: The table cannot tell who contributes to merged cells, or is linked.
        HierarchyError: Codes that cannot be merged.

    >>> table = Table.from_frame(
    ...     {"region": ["N1", "N2", "S"], "value": [1, 2, 3], "count": [1, 1, 2]},
    ...     {"region": None}, count="count",
    ... )
    >>> merged = recode(table, {"region": {"north": ["N1", "N2"]}})
    >>> merged.dimensions["region"].codes, merged.value.tolist(), merged.count.tolist()
    (('Total', 'north', 'S'), [6.0, 3.0, 3.0], [4.0, 2.0, 2.0])
    """
    if len(table.grids) > 1:
        raise TableError("linked tables cannot be recoded; recode each before linking them")
    if overlap not in ("refuse", "worst"):
        raise InputError(f"overlap is {overlap!r}; it can be refuse or worst", key=("overlap",))
    plans = {}
    for name, given in recodes.items():
        with about("recodes", name):
            plans[name] = plan_recode(known_dimension(name, table.dimensions), given, name)
    # One dimension after the other, so that merged cells lie in one line each.
    for name, plan in plans.items():
        table = _Merging(table, name, plan, overlap).table()
    return table


class _Merging:
    """One dimension of a table recoded."""

    def __init__(self, table: Table, dimension: str, plan: Plan, overlap: Overlap):
        self._table = table
        self._overlap = overlap
        grid = table.grids[0]
        self._axis = [*grid.dimensions].index(dimension)
        positions = grid.positions.copy()
        positions[:, self._axis] = plan.target[positions[:, self._axis]]
        dimensions = {**grid.dimensions, dimension: plan.hierarchy}
        strides = np.array(Grid(dimensions).strides, np.int64)
        self._kept = np.flatnonzero(positions[:, self._axis] >= 0)
        keys, self._group, self._parts = np.unique(
            positions[self._kept] @ strides, return_inverse=True, return_counts=True
        )
        self._count = len(keys)
        self._grid = Grid(dimensions, keys)

    def table(self) -> Table:
        """The recoded table."""
        table = self._table
        columns: dict[str, Any] = {
            name: self._sums(getattr(table, name))
            for name in (*_ADDED, "requested")
            if getattr(table, name) is not None
        }
        for name, counted in _COUNTED.items():
            if getattr(table, name) is not None:
                columns[name] = self._counts(name, counted)
        for leader, (counted, followers) in _RANKED.items():
            if getattr(table, leader) is not None:
                columns |= self._tops(leader, counted, followers)
        return Table(
            grids=(self._grid,),
            status=self._statuses(),
            totals=table.totals,
            backend=table.backend,
            contributors=self._largest(table.contributors),
            holdings=self._largest(table.holdings),
            of_counts=table.of_counts,
            **columns,
        )

    def _largest(self, largest: Largest | None) -> Largest | None:
        """Who the largest contributors are; whoever is in several parts counts once."""
        if largest is None:
            return None
        return largest.grouped(self._kept, self._group, self._count)

    def _sums(self, column: Floats) -> Floats:
        return np.bincount(self._group, column[self._kept], self._count).astype(float)

    def _unclear(self, counted: str) -> Booleans:
        """Merged cells of which somebody may contribute to several parts."""
        several = self._parts > 1
        counts: Floats | None = getattr(self._table, counted)
        if counts is None:
            filled = (self._table.value[self._kept] != 0).astype(float)
            return np.asarray(several & (np.bincount(self._group, filled, self._count) > 1))
        filled = (counts[self._kept] != 0).astype(float)
        several &= np.bincount(self._group, filled, self._count) > 1
        together, total, _ = self._lines(counts)
        split: Booleans = np.asarray(together == total)
        apart = np.bincount(self._group, (~split[self._kept]).astype(float), self._count)
        return np.asarray(several & (apart > 0))

    def _lines(self, counts: Floats) -> tuple[Floats, Floats, Integers]:
        """For each cell the contributors of its whole line added up, and those of its total."""
        grid = self._table.grids[0]
        below, keys = grid.total_keys(self._axis)
        total = np.full(grid.cell_count, -1, np.int64)
        total[below] = grid.find(keys)
        has_total = total >= 0
        sums = np.bincount(total[has_total], counts[has_total], grid.cell_count)
        together = np.where(has_total, sums[total], np.nan)
        return together, np.where(has_total, counts[total], np.nan), total

    def _refuse_unclear(self, unclear: Booleans, *, hopeless: bool) -> None:
        if not unclear.any() or (self._overlap == "worst" and not hopeless):
            return
        names = [self._grid.label(int(self._grid.all_keys[c])) for c in np.flatnonzero(unclear)[:6]]
        names += [""] * (int(unclear.sum()) - len(names))
        advice = (
            "tabulate the microdata again with tacit.grouped hierarchies"
            if hopeless
            else "tabulate the microdata again with tacit.grouped hierarchies, or take the worst "
            "case with overlap='worst'"
        )
        raise TableError(
            "the table cannot tell who contributes to merged cells, because contributors may "
            f"occur in several of their parts: {name_cells(names)}; {advice}",
            names,
        )

    def _counts(self, name: str, counted: str) -> Floats:
        """Contributors of each cell; as few as there can be where somebody may count twice."""
        column: Floats = getattr(self._table, name)
        unclear = self._unclear(counted)
        self._refuse_unclear(unclear, hopeless=False)
        sums = self._sums(column)
        if not unclear.any():
            return sums
        least = np.full(self._count, -np.inf)
        np.maximum.at(least, self._group, column[self._kept])
        together, total, _ = self._lines(column)
        # Whoever is in the total but in no other part is in one of those merged.
        rest = np.full(self._count, -np.inf)
        np.maximum.at(rest, self._group, np.nan_to_num(total - together)[self._kept])
        return np.where(unclear, np.maximum(least, sums + rest), sums)

    def _tops(self, leader: str, counted: str, followers: tuple[str, ...]) -> dict[str, Floats]:
        """The largest contributions to each cell; as large as they can be where that is open."""
        table = self._table
        unclear = self._unclear(counted)
        weighted = leader == "top" and table.top_weight is not None
        self._refuse_unclear(unclear, hopeless=weighted)
        tied = [name for name in (leader, *followers) if getattr(table, name) is not None]
        top: Floats = getattr(table, leader)[self._kept]
        width = top.shape[1]
        amount, group = top.ravel(), np.repeat(self._group, width)
        entry = np.flatnonzero(~np.isnan(amount))
        entry = entry[np.lexsort((-np.abs(amount[entry]), group[entry]))]
        rank = np.arange(len(entry)) - np.searchsorted(group[entry], group[entry])
        entry, rank = entry[rank < width], rank[rank < width]
        found = {}
        for name in tied:
            columns = np.full((self._count, width), np.nan)
            columns[group[entry], rank] = getattr(table, name)[self._kept].ravel()[entry]
            found[name] = columns
        if unclear.any():
            self._worst(found, leader, unclear)
        return found

    def _worst(self, found: dict[str, Floats], leader: str, unclear: Booleans) -> None:
        """Let the largest contributors of all parts be the same ones."""
        for name, columns in found.items():
            given = np.abs(np.nan_to_num(getattr(self._table, name)[self._kept]))
            for rank in range(columns.shape[1]):
                joined = np.zeros(self._count)
                if name == leader:
                    joined += np.bincount(self._group, given[:, rank], self._count)
                else:
                    np.maximum.at(joined, self._group, given.max(axis=1))
                columns[unclear, rank] = joined[unclear]

    def _statuses(self) -> Statuses:
        """Statuses that hold for all parts; verdicts of rules are to be found again."""
        given = self._table.status[self._kept]
        statuses = np.full(self._count, CellStatus.SAFE.value, given.dtype)
        for status in (CellStatus.PUBLISH.value, CellStatus.EMPTY.value):
            same = np.bincount(self._group, given == status, self._count) == self._parts
            statuses[same] = status
        return statuses
