"""`View`: two dimensions of a table as a grid, of which only a window is ever looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacit.errors import InputError
from tacit.hierarchy import Hierarchy
from tacit.outcome import Intervals, Suppression, Values
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.release import Release
from tacit.table import CellStatus, Table
from tacit.table.grid import Grid
from tacit.table.table import VARIABLE

KINDS = ("published", "sensitive", "secondary", "interval", "changed", "empty", "absent")
"""What may be seen of a cell, each with its sign and its word, never by colour alone."""
HIDDEN = "hidden"
"""All kinds of cells that are not published exactly."""
MAX_WINDOW = 200
"""Rows or columns of a window at most."""
ROWS_AT_ONCE = 2000
"""Whoever looks at all rows looks at this many at a time."""
INDEXES_KEPT = 16
MAP_ROWS, MAP_COLUMNS = 24, 48
"""Fields of the map at most."""
FOUND_AT_MOST = 50


@dataclass(frozen=True)
class Cell:
    """A cell as the grid shows it.

    Attributes:
        number: Its number in the table, -1 where there is none.
        kind: One of `KINDS`.
        value: Its true value.
        shown: What is published in its place, where that is something else.
    """

    number: int
    kind: str
    value: float
    shown: float | None = None


@dataclass(frozen=True)
class Head:
    """The head of a row or column.

    Attributes:
        place: Its place in the grid, counted from 0.
        code: The code.
        text: The code with its label.
        level: How deep it lies in its hierarchy.
        has_parts: Whether other codes lie below it.
    """

    place: int
    code: str
    text: str
    level: int
    has_parts: bool


@dataclass(frozen=True)
class Window:
    """A part of a grid.

    Attributes:
        columns: The heads of its columns.
        rows: The head of each row with its cells.
    """

    columns: list[Head]
    rows: list[tuple[Head, list[Cell]]]


@dataclass(frozen=True)
class Found:
    """A code that was searched for: on which axis, at which place, with its label."""

    axis: str
    place: int
    text: str


@dataclass(frozen=True)
class Field:
    """A field of the map.

    Attributes:
        row: Its row in the map.
        column: Its column in the map.
        top: The first row of the grid that it stands for.
        left: The first column.
        cells: How many cells it stands for.
        hidden: How many of them are not published exactly.
    """

    row: int
    column: int
    top: int
    left: int
    cells: int
    hidden: int


class Shown:
    """What the grid shows of every cell: kinds and values as arrays.

    Args:
        source: The table with its sensitive cells, or a problem.
        release: What was found, if it is about this table.
    """

    def __init__(self, source: Table | Problem, release: Release | None):
        self.source = source
        self.release = release
        self._indexed: dict[str, Any] = {}
        self.value: Floats = source.value
        sensitive = source.is_sensitive
        kind = np.zeros(source.cell_count, np.int8)
        if isinstance(source, Table):
            kind[np.asarray(source.status == CellStatus.EMPTY.value)] = KINDS.index("empty")
        self.published: Floats | None = None
        if release is not None:
            hidden = release.published.is_hidden
            solution = release.papers.outcome.solution
            if isinstance(solution, Suppression):
                kind[hidden] = KINDS.index("secondary")
            elif isinstance(solution, Intervals):
                kind[hidden] = KINDS.index("interval")
            elif isinstance(solution, Values):
                self.published = release.published.value
                kind[self.published != self.value] = KINDS.index("changed")
        kind[sensitive] = KINDS.index("sensitive")
        self.kind = kind

    def index(self, key: str, make: Callable[[], Any]) -> Any:
        """Something that takes long to find out about a view, kept with what is shown."""
        if key not in self._indexed:
            if len(self._indexed) >= INDEXES_KEPT:
                self._indexed.pop(next(iter(self._indexed)))
            self._indexed[key] = make()
        return self._indexed[key]

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many cells there are of each kind."""
        found = np.bincount(self.kind, minlength=len(KINDS)).tolist()
        return {name: count for name, count in zip(KINDS, found, strict=True) if count}


class View:
    """Two dimensions of a table, with a code chosen in all others.

    Args:
        shown: What there is to show.
        rows: The dimension of the rows; by default the longest one.
        columns: The dimension of the columns.
        fixed: The code of every other dimension; by default its total.
        table: Which of linked tables.
        only: Show rows alone that have a cell of this kind; `hidden` for all kinds but exact ones.

    Raises:
        InputError: There is no such dimension, code or table.
    """

    def __init__(
        self,
        shown: Shown,
        rows: str | None = None,
        columns: str | None = None,
        fixed: Mapping[str, str] | None = None,
        table: int = 0,
        only: str = "",
    ):
        self.shown = shown
        if only and only not in (*KINDS, HIDDEN):
            raise InputError(f"there are no cells of the kind {only}; choose another filter")
        self.only = only
        self.table = table
        source = shown.source
        grids = source.grids if isinstance(source, Table) else (_listed(source),)
        if not 0 <= table < len(grids):
            raise InputError(f"there is no table {table + 1}; there are {len(grids)}")
        self.grid = grids[table]
        names = [*self.grid.dimensions]
        self.rows = rows or max(names, key=lambda name: len(self.grid.dimensions[name]))
        others = [name for name in names if name != self.rows]
        self.columns = columns or (others[-1] if others else None)
        for name in (self.rows, self.columns):
            if name is not None and name not in names:
                raise InputError(f"there is no dimension {name}; there are {', '.join(names)}")
        if self.rows == self.columns:
            raise InputError("rows and columns cannot be the same dimension; choose another one")
        self.fixed: dict[str, str] = {}
        for name in others:
            if name != self.columns:
                code = (fixed or {}).get(name) or self.grid.dimensions[name].total
                if code not in self.grid.dimensions[name]:
                    raise InputError(f"there is no code {code} in {name}; choose another one")
                self.fixed[name] = code

    @property
    def row_hierarchy(self) -> Hierarchy:
        """The hierarchy of the rows."""
        return self.grid.dimensions[self.rows]

    @property
    def column_hierarchy(self) -> Hierarchy | None:
        """The hierarchy of the columns; None where there is one column only."""
        return None if self.columns is None else self.grid.dimensions[self.columns]

    @property
    def kept(self) -> Integers | None:
        """The places of the rows that are shown; None for all."""
        if not self.only:
            return None
        found: Integers = self.shown.index(f"kept {self._key}", self._kept)
        return found

    @property
    def _key(self) -> str:
        return repr((self.table, self.rows, self.columns, self.fixed, self.only))

    def _kept(self) -> Integers:
        wanted = self.mask(self.only)
        columns = np.arange(self.column_count)
        found = []
        for first in range(0, len(self.row_hierarchy), ROWS_AT_ONCE):
            rows = np.arange(first, min(first + ROWS_AT_ONCE, len(self.row_hierarchy)))
            numbers = self.numbers(rows, columns)
            found.append(rows[(wanted[np.maximum(numbers, 0)] & (numbers >= 0)).any(axis=1)])
        return np.concatenate(found)

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        kept = self.kept
        return len(self.row_hierarchy) if kept is None else len(kept)

    @property
    def column_count(self) -> int:
        """How many columns there are."""
        return 1 if self.column_hierarchy is None else len(self.column_hierarchy)

    def numbers(self, rows: Integers, columns: Integers) -> Integers:
        """The number of the cell at each row and column, -1 where there is none."""
        stride = dict(zip(self.grid.dimensions, self.grid.strides, strict=True))
        key = sum(
            self.grid.dimensions[name].index(code) * stride[name]
            for name, code in self.fixed.items()
        )
        keys = key + rows[:, None] * stride[self.rows]
        if self.columns is not None:
            keys = keys + columns[None, :] * stride[self.columns]
        keys = np.asarray(keys, np.int64)
        place = self.grid.find(keys.ravel())
        numbers = place
        if self.grid.cells is not None:
            numbers = np.where(place >= 0, self.grid.cells[np.maximum(place, 0)], -1)
        return numbers.reshape(keys.shape)

    def window(self, top: int, left: int, height: int, width: int) -> Window:
        """A part of the grid.

        Args:
            top: The first row.
            left: The first column.
            height: How many rows at most.
            width: How many columns at most.
        """
        places = _range(top, height, self.row_count)
        rows = places if self.kept is None else self.kept[places]
        columns = _range(left, width, self.column_count)
        numbers = self.numbers(rows, columns)
        heads = _heads(self.column_hierarchy, columns)
        return Window(
            heads,
            [
                (head, [self.cell(number) for number in line])
                for head, line in zip(
                    _heads(self.row_hierarchy, rows, places), numbers.tolist(), strict=True
                )
            ],
        )

    def cell(self, number: int) -> Cell:
        """A cell by its number."""
        if number < 0:
            return Cell(-1, "absent", 0.0)
        shown = self.shown.published
        return Cell(
            number,
            KINDS[self.shown.kind[number]],
            float(self.shown.value[number]),
            None if shown is None else float(shown[number]),
        )

    def mask(self, kind: str) -> Booleans:
        """Which cells are of a kind; `hidden` for all that are not published exactly."""
        if kind == HIDDEN:
            return np.asarray((self.shown.kind > 0) & (self.shown.kind < KINDS.index("empty")))
        return np.asarray(self.shown.kind == KINDS.index(kind))

    def find(self, words: str) -> list[Found]:
        """Codes of rows and columns that contain some text, or whose labels do."""
        words = words.strip().casefold()
        found: list[Found] = []
        if not words:
            return found
        kept = self.kept
        at = None if kept is None else {place: row for row, place in enumerate(kept.tolist())}
        for axis, hierarchy in (("row", self.row_hierarchy), ("column", self.column_hierarchy)):
            for place, code in enumerate(hierarchy.codes if hierarchy is not None else ()):
                assert hierarchy is not None
                if words in hierarchy.text(code).casefold():
                    where = at.get(place, -1) if axis == "row" and at is not None else place
                    if where >= 0:
                        found.append(Found(axis, where, hierarchy.text(code)))
                if len(found) >= FOUND_AT_MOST:
                    return found
        return found

    def map(self) -> list[Field]:
        """The whole view as a map: for each field, which share of its cells is hidden."""
        found: list[Field] = self.shown.index(f"map {self._key}", self._map)
        return found

    def _map(self) -> list[Field]:
        hidden = self.mask(HIDDEN)
        height = -(-self.row_count // MAP_ROWS)
        width = -(-self.column_count // MAP_COLUMNS)
        columns = np.arange(self.column_count)
        starts = np.arange(0, self.column_count, width)
        fields = []
        for row, first in enumerate(range(0, self.row_count, height)):
            places = np.arange(first, min(first + height, self.row_count))
            counts, hits = (np.zeros(len(starts)) for _ in range(2))
            for part in np.array_split(places, -(-len(places) // ROWS_AT_ONCE)):
                numbers = self.numbers(part if self.kept is None else self.kept[part], columns)
                there = numbers >= 0
                counts += np.add.reduceat(there.sum(axis=0), starts)
                hit = hidden[np.maximum(numbers, 0)] & there
                hits += np.add.reduceat(hit.sum(axis=0), starts)
            fields += [
                Field(row, column, first, int(starts[column]), int(count), int(hit))
                for column, (count, hit) in enumerate(zip(counts, hits, strict=True))
            ]
        return fields


def codes_of(source: Table | Problem, number: int) -> dict[str, str]:
    """The codes of a cell by its number; before them its variable, where there are several."""
    if isinstance(source, Problem):
        return {"cell": str(number)}
    for grid in source.grids:
        place = np.flatnonzero(grid.numbers == number)
        if len(place):
            positions = grid.positions[place[0]]
            own = {
                name: hierarchy.codes[position]
                for (name, hierarchy), position in zip(
                    grid.dimensions.items(), positions.tolist(), strict=True
                )
            }
            codes = {name: own.get(name, total) for name, total in source.totals.items()}
            several = len(source.variables) > 1
            return {VARIABLE: grid.variable, **codes} if several else codes
    raise InputError(f"there is no cell {number}")


def labelled(source: Table | Problem, codes: Mapping[str, str]) -> dict[str, str]:
    """Codes of a cell, each with its label where it has one."""
    if isinstance(source, Problem):
        return dict(codes)
    return {
        name: source.dimensions[name].text(code) if name in source.dimensions else code
        for name, code in codes.items()
    }


def _listed(problem: Problem) -> Grid:
    """The cells of a problem as one dimension, in the order of their numbers."""
    codes = [str(number) for number in range(1, problem.cell_count)]
    return Grid({"cell": Hierarchy.flat(codes, "0")})


def _range(first: int, count: int, most: int) -> Integers:
    first = max(0, min(first, most - 1))
    return np.arange(first, min(most, first + max(1, min(count, MAX_WINDOW))))


def _heads(
    hierarchy: Hierarchy | None, codes: Integers, places: Integers | None = None
) -> list[Head]:
    if hierarchy is None:
        return [Head(0, "", "", 0, False)]
    return [
        Head(place, hierarchy.codes[code], hierarchy.text(hierarchy.codes[code]), level, not leaf)
        for place, code, level, leaf in zip(
            (codes if places is None else places).tolist(),
            codes.tolist(),
            hierarchy.level[codes].tolist(),
            hierarchy.is_leaf[codes].tolist(),
            strict=True,
        )
    ]


def described(source: Table | Problem, number: int) -> dict[str, Any]:
    """What is known of a cell, confidential as it is."""
    found: dict[str, Any] = {"value": float(source.value[number])}
    if isinstance(source, Table):
        for name in ("count", "holding_count", "weighted_count", "shadow", "weight"):
            column = getattr(source, name)
            if column is not None:
                found[name] = float(column[number])
        for name in ("top", "holding_top"):
            column = getattr(source, name)
            if column is not None:
                found[name] = [float(each) for each in column[number] if each == each and each]
        if source.reason is not None and source.reason[number]:
            found["reason"] = str(source.reason[number])
        for name in ("lower_level", "upper_level", "sliding_level"):
            column = getattr(source, name)
            if column is not None and column[number] == column[number] and column[number]:
                found[name] = float(column[number])
    return found
