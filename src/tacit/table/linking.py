"""Several tables made one: common cells become one cell, all relations stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import TableError, first_few, percentage
from tacit.problem import Booleans, Floats, Integers
from tacit.table.contributors import linked
from tacit.table.grid import Grid
from tacit.table.judging import Reasons, join_reasons
from tacit.table.labels import CellLabels, name_cells
from tacit.table.status import CellStatus, Statuses, status_array
from tacit.table.totals import TOPS
from tacit.tolerances import AGREEMENT

if TYPE_CHECKING:
    from tacit.table.table import Table

AGREEMENT_TOLERANCE = AGREEMENT
"""Values of a common cell agree when they differ by at most this share of the larger one.

Tables computed apart from each other add up in different orders and are rounded cell by cell.
"""


_VARIABLE = " variable"
"""Stands among dimensions for what tells cells of different variables apart; no column is so named.
"""


MOST_NAMED = 5
"""So many cells are named in a message."""


def link(tables: Sequence[Table], totals: Mapping[str, str], tolerance: float) -> dict[str, Any]:
    """The fields of the table that several tables make together; see `Table.link`."""
    everything = _everything(tables, totals)
    codes = _code_numbers(tables, everything)
    coordinates = [_coordinates(table, codes) for table in tables]
    numbers, cell_count = _cell_numbers(coordinates, codes)
    grids = tuple(
        replace(grid, cells=number[grid.numbers])
        for table, number in zip(tables, numbers, strict=True)
        for grid in table.grids
    )
    merge = _Merge(tables, numbers, CellLabels(grids, cell_count), cell_count, tolerance)
    value = merge.agreed("value")
    where = np.zeros((cell_count, len(codes)), np.int64)
    for number, coordinate in zip(numbers, coordinates, strict=True):
        where[number] = coordinate
    _refuse_left_out(grids, codes, where, value, merge.labels)
    return {
        "grids": grids,
        "value": value,
        "count": merge.agreed("count"),
        "shadow": merge.shadows(),
        "weighted_count": merge.first("weighted_count"),
        "holding_count": merge.first("holding_count"),
        "requested": merge.first("requested"),
        **merge.tops(),
        "status": merge.statuses(),
        "reason": merge.reasons(),
        "weight": merge.first("weight"),
        "lower": merge.combined("lower", np.fmax),
        "upper": merge.combined("upper", np.fmin),
        "lower_level": merge.combined("lower_level", np.fmax),
        "upper_level": merge.combined("upper_level", np.fmax),
        "sliding_level": merge.combined("sliding_level", np.fmax),
        "totals": everything,
        "backend": tables[0].backend,
        "contributors": linked([(t.contributors, n) for t, n in merge.parts], cell_count),
        "holdings": linked([(t.holdings, n) for t, n in merge.parts], cell_count),
        "of_counts": all(table.of_counts for table in tables),
        "verdicts": tuple(v.moved(n) for t, n in merge.parts for v in t.verdicts),
        "equations": tuple(dict.fromkeys(each for t in tables for each in t.equations)),
    }


def _everything(tables: Sequence[Table], totals: Mapping[str, str]) -> dict[str, str]:
    """For each dimension the code that stands for everything."""
    everything: dict[str, str] = {}
    for table in tables:
        for name, code in table.totals.items():
            everything.setdefault(name, str(totals.get(name, code)))
    unknown = [name for name in totals if name not in everything]
    if unknown:
        raise TableError(
            f"totals names {first_few(unknown)}; the dimensions are {first_few([*everything])}"
        )
    for name, code in everything.items():
        if not any(code in grid.dimensions.get(name, ()) for t in tables for grid in t.grids):
            raise TableError(f"no table has the code {code} in dimension {name}; correct totals")
    for table in tables:
        changed = [name for name, code in table.totals.items() if everything[name] != code]
        if changed and len(table.grids) > 1:
            raise TableError(
                f"a table that is linked already has another total in {first_few(changed)}; link "
                "all tables at once, with totals"
            )
    return everything


def _code_numbers(
    tables: Sequence[Table], everything: Mapping[str, str]
) -> dict[str, dict[str, int]]:
    """For each dimension a number for every code of any table; 0 stands for everything."""
    found = {name: dict.fromkeys([code]) for name, code in everything.items()}
    for table in tables:
        for grid in table.grids:
            for name, hierarchy in grid.dimensions.items():
                found[name] |= dict.fromkeys(hierarchy.codes)
    found[_VARIABLE] = dict.fromkeys(grid.variable for t in tables for grid in t.grids)
    return {
        name: {code: number for number, code in enumerate(codes)} for name, codes in found.items()
    }


def _coordinates(table: Table, codes: Mapping[str, Mapping[str, int]]) -> Integers:
    """The code number of each cell in every dimension."""
    coordinates = np.zeros((table.cell_count, len(codes)), np.int64)
    for grid in reversed(table.grids):
        for place, (name, hierarchy) in enumerate(grid.dimensions.items()):
            number = np.array([codes[name][code] for code in hierarchy.codes])
            coordinates[grid.numbers, [*codes].index(name)] = number[grid.positions[:, place]]
        coordinates[grid.numbers, [*codes].index(_VARIABLE)] = codes[_VARIABLE][grid.variable]
    return coordinates


def _cell_numbers(
    coordinates: Sequence[Integers], codes: Mapping[str, Mapping[str, int]]
) -> tuple[list[Integers], int]:
    """Number cells with the same codes alike, in the order in which they first occur."""
    every = np.concatenate(coordinates)
    key = np.zeros(len(every), np.int64)
    distinct = 1
    for column, numbers in enumerate(codes.values()):
        if distinct * len(numbers) > np.iinfo(np.int64).max:
            _, key = np.unique(key, return_inverse=True)
            distinct = len(every)
        key = key * len(numbers) + every[:, column]
        distinct *= len(numbers)
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    ends = np.cumsum([len(part) for part in coordinates])[:-1]
    return np.split(rank[inverse], ends), len(first)


def _refuse_left_out(
    grids: Sequence[Grid],
    codes: Mapping[str, Mapping[str, int]],
    where: Integers,
    value: Floats,
    labels: CellLabels,
) -> None:
    """A cell that a table leaves out, though it breaks its total down, has to be empty."""
    for grid in grids:
        inside = np.ones(len(value), bool)
        keys = np.zeros(len(value), np.int64)
        for column, (name, numbers) in enumerate(codes.items()):
            if name not in grid.dimensions:
                own = numbers[grid.variable] if name == _VARIABLE else 0
                inside &= where[:, column] == own
                continue
            hierarchy = grid.dimensions[name]
            position = np.array([hierarchy.positions.get(code, -1) for code in numbers])
            place = position[where[:, column]]
            inside &= place >= 0
            keys += place * grid.strides[[*grid.dimensions].index(name)]
        inside[grid.numbers] = False
        left_out = np.flatnonzero(inside & (value != 0))
        cells = left_out[grid.says_empty(keys[left_out])]
        if len(cells):
            names = [labels[cell] for cell in cells.tolist()]
            raise TableError(
                f"cells are left out of the table {grid.title}, which says they are empty, but are "
                f"not empty in another: {name_cells(names)}; add them",
                names,
            )


class _Merge:
    """Columns of several tables, brought together cell by cell."""

    def __init__(
        self,
        tables: Sequence[Table],
        numbers: Sequence[Integers],
        labels: CellLabels,
        cell_count: int,
        tolerance: float,
    ):
        self.parts = list(zip(tables, numbers, strict=True))
        self.labels = labels
        self._cell_count = cell_count
        self._tolerance = tolerance

    def _refuse(self, bad: Booleans, text: str) -> None:
        cells = np.flatnonzero(bad)
        if len(cells):
            names = [self.labels[cell] for cell in cells.tolist()]
            raise TableError(f"{text}: {name_cells(names)}", names)

    def _given(self, name: str) -> list[tuple[Floats, Integers]]:
        given = [(getattr(table, name), number) for table, number in self.parts]
        return [(column, number) for column, number in given if column is not None]

    def combined(self, name: str, choose: np.ufunc) -> Floats | None:
        """A column of which all tables say something, NaN where none does."""
        given = self._given(name)
        if not given:
            return None
        result = np.full(self._cell_count, np.nan)
        for column, number in given:
            result[number] = choose(result[number], column)
        return result

    def first(self, name: str) -> Floats | None:
        """A column from the first table that has it."""
        given = self._given(name)
        if not given:
            return None
        result = np.full(self._cell_count, np.nan)
        for column, number in reversed(given):
            there = ~np.isnan(column)
            result[number[there]] = column[there]
        return result

    def agreed(self, name: str) -> Any:
        """A column on which all tables have to agree; the first gives it."""
        result = self.first(name)
        if result is None:
            return None
        size = np.full(self._cell_count, 0.0)
        other = np.full(self._cell_count, -1)
        for place, (table, number) in enumerate(self.parts):
            column = getattr(table, name)
            if column is None:
                continue
            mine = result[number]
            larger = np.maximum(np.abs(mine), np.abs(column))
            with np.errstate(invalid="ignore", divide="ignore"):
                off = np.where(larger > 0, np.abs(mine - column) / larger, 0.0)
            differs = (off > self._tolerance) & (off > size[number])
            size[number[differs]] = off[differs]
            other[number[differs]] = place
        self._refuse_different(name, size, other)
        return result

    def _refuse_different(self, name: str, size: Floats, other: Integers) -> None:
        """Refuse common cells that differ, named with the tables that have them."""
        cells = np.flatnonzero(other >= 0)
        if not len(cells):
            return
        names = [self.labels[cell] for cell in cells.tolist()]
        told = []
        for cell, label in zip(cells[:MOST_NAMED].tolist(), names, strict=False):
            first = next(t for t, n in self.parts if getattr(t, name) is not None and cell in n)
            titles = (self._title(first), self._title(self.parts[other[cell]][0]))
            between = " and ".join(titles) if titles[0] != titles[1] else f"two tables {titles[0]}"
            told.append(f"({label}) by {percentage(size[cell])} between {between}")
        more = f" and {len(cells) - len(told)} more" if len(cells) > len(told) else ""
        one = len(cells) == 1
        raise TableError(
            f"the {name} of {len(cells)} common cell{'s' * (not one)} differs between the tables: "
            f"{'; '.join(told)}{more}; correct the tables, leave one of them out, or allow for "
            "rounding with a larger tolerance",
            names,
        )

    def _title(self, table: Table) -> str:
        return " with ".join(grid.title for grid in table.grids)

    def shadows(self) -> Floats | None:
        """The total that rules judge, from the first table of a cell: its value where no other."""
        if not self._given("shadow"):
            return None
        result = np.full(self._cell_count, np.nan)
        for table, number in reversed(self.parts):
            result[number] = table.value
            if table.shadow is not None:
                there = ~np.isnan(table.shadow)
                result[number[there]] = table.shadow[there]
        return result

    def tops(self) -> dict[str, Floats]:
        """The largest contributions and all about them, from the first table that has them."""
        result: dict[str, Floats] = {}
        for leader, followers in TOPS.items():
            given = [part for part in self.parts if getattr(part[0], leader) is not None]
            for name in (leader, *followers):
                if not any(getattr(table, name) is not None for table, _ in given):
                    continue
                width = max(getattr(table, leader).shape[1] for table, _ in given)
                result[name] = np.full((self._cell_count, width), np.nan)
                for table, number in reversed(given):
                    there = ~np.isnan(getattr(table, leader)).all(axis=1)
                    result[name][number[there]] = np.nan
                    column = getattr(table, name)
                    if column is not None:
                        result[name][number[there], : column.shape[1]] = column[there]
        return result

    def reasons(self) -> Reasons | None:
        """Why a cell is sensitive, as all tables say."""
        given = [(table.reason, number) for table, number in self.parts]
        if all(reason is None for reason, _ in given):
            return None
        result = np.full(self._cell_count, "", dtype=object)
        for reason, number in given:
            if reason is not None:
                says = np.flatnonzero(reason != "")
                result[number[says]] = join_reasons(result[number[says]], reason[says])
        return result

    def statuses(self) -> Statuses:
        """The strictest status; what must be published cannot be suppressed elsewhere."""
        result = status_array(None, self._cell_count)
        clash = np.zeros(self._cell_count, bool)
        hidden = (CellStatus.SENSITIVE.value, CellStatus.SECONDARY.value)
        for table, number in self.parts:
            mine, theirs = result[number], table.status
            both = (mine != CellStatus.SAFE.value) & (theirs != CellStatus.SAFE.value)
            both &= mine != theirs
            suppressed = np.isin(mine, hidden) & np.isin(theirs, hidden)
            clash[number] |= both & ~suppressed
            chosen = np.where(mine == CellStatus.SAFE.value, theirs, mine)
            chosen[both & suppressed] = CellStatus.SENSITIVE.value
            result[number] = chosen
        self._refuse(
            clash,
            "common cells must be published in one table and are suppressed in another; choose one",
        )
        return result
