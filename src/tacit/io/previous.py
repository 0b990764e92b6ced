"""`Previous`: the last publication of a table as a guide for the next one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.entries import Told
from tacit.errors import HierarchyError, InputError, TableError, first_few, name_columns, nearest
from tacit.hierarchy import code_text
from tacit.io.cells import ColumnFile, read_column_file
from tacit.io.files import parsed_json, read_content
from tacit.io.foreign_tables import ForeignTable, read_foreign_table
from tacit.io.published_cells import (
    PUBLISHED,
    STATUS_COLUMNS,
    WITHHELD,
    WITHHELD_SDMX,
    status_word,
    vocabulary,
)
from tacit.io.solutions import read_solution
from tacit.microdata.workbooks import is_workbook, sheet_title, sheets_of
from tacit.outcome import Intervals, Suppression
from tacit.problem import ADDITIVITY_TOLERANCE, Booleans, Floats
from tacit.table import CellStatus, Table
from tacit.table.former import Former
from tacit.table.frames import FrameReader
from tacit.table.judging import Verdict
from tacit.table.labels import name_cells
from tacit.table.selection import read_selection, select
from tacit.table.status import STATUS_DTYPE
from tacit.table.table import VARIABLE
from tacit.table.wishes import Wishes

KEEP = 0.5
"""What a cell that was hidden last time costs, as a share of its weight.

`studies/previous.py`: nearly as many cells stay hidden as with a hundredth, at a much smaller cost.
"""
EQUAL, NONE = "equal", "none"


@dataclass(frozen=True, eq=False)
class Previous:
    """What was published of the table last time; applied to the new table like a rule.

    Cells that had no exact value then cost less now, so that the new pattern stays close to the
    old one. Readers have both publications: what they knew of cells that are unchanged, they know
    now. Unchanged cells that were published then must be published now, so that none of them is
    taken to protect others, and where the former publication tells a sum of unchanged cells that
    had no value, it is known now, too.

    Attributes:
        table: The former publication, with the same dimensions and a row for each cell: the path
            of a CSV, Excel, Parquet or JSON file, a data frame, a `Release` or a `Published`.
            Cells are found by their codes; the JSON of `tacit protect` has numbers, for a table of
            the same cells. A list of them for linked tables that were published apart, in which
            a dimension that is absent is at its total.
        keep: What a cell that was hidden then costs now, as a share of its weight: 1 asks for
            nothing, 0 lets them be hidden at no cost.
        unchanged: Which cells readers know to be the same as then: `equal` takes those that were
            published with the value that they have now; `none`; or cells, such as
            `["industry=C10, region=*"]`, besides those.
        must_stay: Whether all cells that were published then must be published now, unless
            they are sensitive.
        value: The name of the column of values. Of several variables a column `variable` tells
            which one a row is about.

    >>> table = Table.from_frame(
    ...     {"region": ["N", "S", "W"], "value": [3, 4, 5]}, {"region": None}
    ... )
    >>> last = {"region": ["Total", "N", "S", "W"], "value": [11.0, None, None, 5.0]}
    >>> table.apply(Previous(last, keep=0.1)).problem().weight.tolist()
    [12.0, 0.30000000000000004, 0.4, 5.0]
    """

    table: Any
    keep: float = KEEP
    unchanged: str | Sequence[str] = EQUAL
    must_stay: bool = False
    value: str = "value"

    def __post_init__(self) -> None:
        if self.table is None or (isinstance(self.table, list | tuple) and not self.table):
            raise InputError("previous needs the table that was published last", key=("table",))
        is_number = isinstance(self.keep, int | float) and not isinstance(self.keep, bool)
        if not (is_number and 0 <= self.keep <= 1):
            raise InputError("keep must be a number between 0 and 1", key=("keep",))
        if isinstance(self.unchanged, str) and self.unchanged not in (EQUAL, NONE):
            hint = nearest(self.unchanged, (EQUAL, NONE))
            raise InputError(
                f"unchanged cannot be {self.unchanged!r}; {hint} Cells are named in a list",
                key=("unchanged",),
            )
        if not isinstance(self.must_stay, bool):
            raise InputError("must_stay must be true or false", key=("must_stay",))

    def judge(self, table: Table) -> Verdict:
        """What the former publication asks of the cells of a new one; none becomes sensitive."""
        last = _Last.of(self.table, table, self.value, *table.variables[:1])
        then = last.value
        size = ADDITIVITY_TOLERANCE * np.maximum(np.abs(table.value), 1.0)
        equal = np.abs(then - table.value) <= size
        declared = self._declared(table)
        changed = np.flatnonzero(declared & ~equal & ~np.isnan(then))
        if len(changed):
            names = [table.labels[cell] for cell in changed.tolist()]
            raise TableError(
                "cells are said to be unchanged, but were published with another value: "
                f"{name_cells(names)}; correct unchanged",
                names,
                key=("unchanged",),
            )
        same = declared if self.unchanged == NONE else declared | equal
        known = same & last.there & ~last.hidden
        # Nobody is told which of equal values are no coincidence: rules have the last word there.
        lenient = known & ~declared
        if self.must_stay:
            lenient |= last.there & ~last.hidden & ~known
        decided = np.flatnonzero(known | lenient)
        decided = decided[table.status[decided] == CellStatus.SAFE.value]
        factor = np.where(last.hidden, self.keep, np.nan)
        return Verdict(
            reason="previous",
            cells=np.zeros(0, np.int64),
            lower=np.zeros(0),
            upper=np.zeros(0),
            decided=decided,
            decided_status=np.full(len(decided), CellStatus.PUBLISH.value, STATUS_DTYPE),
            lenient=lenient[decided],
            wishes=Wishes(factor=factor),
            former=Former(last.there, last.hidden, same),
        )

    def _declared(self, table: Table) -> Booleans:
        chosen = np.zeros(table.cell_count, bool)
        if isinstance(self.unchanged, str):
            return chosen
        for place, text in enumerate(self.unchanged):
            try:
                chosen[select(table, read_selection(text, table))] = True
            except TableError as error:
                raise TableError(str(error), error.cells, key=("unchanged", place)) from None
        return chosen


@dataclass(frozen=True, eq=False)
class _Last:
    """The former publication, cell by cell.

    Attributes:
        there: Whether it has the cell.
        hidden: Whether the cell had no exact value.
        value: The value, NaN where there was none.
    """

    there: Booleans
    hidden: Booleans
    value: Floats

    @classmethod
    def of(cls, given: Any, table: Table, value: str, variable: str) -> _Last:
        if isinstance(given, list | tuple):
            return cls._joined([cls.of(each, table, value, variable) for each in given])
        if isinstance(given, str | Path):
            path = Path(given)
            if path.suffix.lower() == ".json":
                return cls._of_json(path, table, value, variable)
            parts = [
                _Rows(_chosen(read, variable), table, value).last()
                for read in _read_file(path, table, value, variable)
            ]
            return cls._joined(parts) if len(parts) > 1 else parts[0]
        given = getattr(given, "published", given)
        if hasattr(given, "columns") and hasattr(given, "is_hidden"):
            given = given.to_frame("dict")
        reader = FrameReader(given)
        names = given if isinstance(given, Mapping) else _column_names(given)
        columns = {str(name): [_or_none(e) for e in reader.entries(str(name))] for name in names}
        return _Rows(_chosen(ColumnFile(_FRAME, columns), variable), table, value).last()

    @classmethod
    def _joined(cls, parts: Sequence[_Last]) -> _Last:
        """Linked tables that were published apart; common cells are hidden in all or in none."""
        there = np.logical_or.reduce([part.there for part in parts])
        hidden = np.logical_or.reduce([part.hidden for part in parts])
        value = np.full(len(there), np.nan)
        for part in parts:
            value = np.where(np.isnan(value), part.value, value)
        return cls(there, hidden, np.where(hidden, np.nan, value))

    @classmethod
    def _of_json(cls, path: Path, table: Table, value: str, variable: str) -> _Last:
        """Rows as objects, or the result of `tacit protect` with cells by number."""
        content = parsed_json(read_content(path), path, "a value that is not published")
        if isinstance(content, list) and content and all(isinstance(r, dict) for r in content):
            names = dict.fromkeys(name for row in content for name in row)
            columns = {name: [row.get(name) for row in content] for name in names}
            return _Rows(_chosen(ColumnFile(path, columns), variable), table, value).last()
        solution = read_solution(path, table)
        hidden = np.zeros(table.cell_count, bool)
        if isinstance(solution, Suppression):
            hidden = solution.suppressed
        elif isinstance(solution, Intervals):
            hidden = np.asarray(solution.lower < solution.upper)
        everywhere = np.ones(table.cell_count, bool)
        return cls(everywhere, hidden, np.full(table.cell_count, np.nan))


_FRAME = Path("previous")
"""What a data frame is called in messages."""


def _read_file(path: Path, table: Table, value: str, variable: str) -> list[ColumnFile]:
    """The rows of a file with names of columns, or of one that others made, by the codes in it."""
    fault: InputError | None = None
    try:
        read = read_column_file(path, needed=[*table.totals])
        if any(name in read.columns for name in table.totals):
            return [read]
    except InputError as error:
        fault = error
    if not path.is_file():
        raise fault or InputError("the file cannot be read: no such file", path=path)
    found = _read_foreign(path, table, value, variable)
    if found:
        return found
    if fault is not None:
        raise fault
    # The message about a column that is missing is that of rows.
    return [read]


def _read_foreign(path: Path, table: Table, value: str, variable: str) -> list[ColumnFile]:
    """The rows of tables with other names of columns or none, or with codes across the columns.

    Of linked tables and several variables a workbook has a sheet for each, by its name; another
    file is one of the tables.
    """
    sheets: dict[str, str] = {}
    if is_workbook(path) and (len(table.grids) > 1 or variable):
        sheets = {sheet.casefold(): sheet for sheet in sheets_of(path)}
    elif variable:
        # Nothing would tell which variable the values are of.
        return []
    found: list[tuple[int, ColumnFile]] = []
    for grid in table.grids:
        sheet = sheets.get(sheet_title(grid.name or grid.title).casefold())
        if sheets and sheet is None:
            continue
        codes = {name: table.codes(name)[grid.numbers] for name in grid.dimensions}
        try:
            read = read_foreign_table(path, codes, grid.dimensions, sheet)
        except InputError:
            continue
        cells = set(zip(*(column.tolist() for column in codes.values()), strict=True))
        rows = set(zip(*(read.columns[name] for name in codes), strict=True))
        columns = _usual_names(read, [*codes], value)
        if variable:
            columns[VARIABLE] = [variable] * len(columns[next(iter(codes))])
        lines = None if read.lines is None else list(read.lines)
        found.append((len(cells & rows), ColumnFile(path, columns, lines)))
    if sheets:
        return [read for _, read in found]
    best = max(found, key=lambda pair: pair[0], default=None)
    return [best[1]] if best is not None and best[0] else []


def _usual_names(read: ForeignTable, dimensions: Sequence[str], value: str) -> dict[str, list[Any]]:
    """Columns with values and statuses under the names that they usually have."""
    columns = dict(read.columns)
    others = [name for name in columns if name not in dimensions]
    known = (value, "value", "cell_value", *STATUS_COLUMNS)
    if any(name in known for name in others):
        return columns
    for name in reversed(others):
        words = vocabulary(columns[name])
        if words is not None and len(others) > 1:
            # The numbers and letters of tau-ARGUS, in words.
            columns["status"] = [
                "suppressed" if words[status_word(entry)] else "published"
                for entry in columns.pop(name)
            ]
            others.remove(name)
            break
    if others:
        columns["value"] = columns.pop(others[0])
    return columns


def _chosen(read: ColumnFile, variable: str) -> ColumnFile:
    """The rows of one of several variables."""
    if not variable:
        return read
    if VARIABLE not in read.columns:
        raise InputError(
            f"there is no column {VARIABLE}, which tells the variables apart; "
            f"{name_columns(read.columns)}",
            path=read.path,
            key=("table",),
        )
    rows = [row for row, name in enumerate(read.columns[VARIABLE]) if str(name) == variable]
    columns = {name: [column[row] for row in rows] for name, column in read.columns.items()}
    lines = None if read.lines is None else [read.lines[row] for row in rows]
    return ColumnFile(read.path, columns, lines)


def _column_names(frame: Any) -> list[str]:
    names = getattr(frame, "column_names", None)
    return [str(name) for name in (frame.columns if names is None else names)]


def _or_none(entry: Any) -> Any:
    return None if entry is None or entry != entry else entry


class _Rows:
    """Rows with codes, brought to the cells that have these codes now."""

    def __init__(self, read: ColumnFile, table: Table, value: str):
        self._read = read
        self._columns = columns = read.columns
        self._table = table
        if len(table.grids) > 1 and any(name in columns for name in table.totals):
            # One of several linked tables: what it does not have is at its total.
            count = max(map(len, columns.values()), default=0)
            for name, total in table.totals.items():
                columns.setdefault(name, [total] * count)
        absent = [name for name in table.totals if name not in columns]
        if absent:
            raise self._fault(
                f"there is no column {absent[0]}, which tells the cells apart; "
                f"{name_columns(columns)}"
            )
        self._status = self._named(STATUS_COLUMNS)
        self._value = self._named((value, "value", "cell_value"))
        if self._value is None and self._status is None:
            raise self._fault(
                f"there is neither a column {value} nor a column status to say which cells were "
                f"published; {name_columns(columns)}"
            )

    def _named(self, names: Sequence[str]) -> str | None:
        there = (n for n in names if n in self._columns and n not in self._table.totals)
        return next(there, None)

    def _fault(self, message: str, row: int | None = None) -> InputError:
        line = None if row is None else self._read.line(row)
        return InputError(message, path=self._read.path, line=line, key=("table",))

    def last(self) -> _Last:
        cells = self._cells()
        table = self._table
        there = np.zeros(table.cell_count, bool)
        hidden = np.zeros(table.cell_count, bool)
        value = np.full(table.cell_count, np.nan)
        withheld, numbers = self._published()
        rows = np.flatnonzero(cells >= 0)
        there[cells[rows]] = True
        hidden[cells[rows]] = withheld[rows]
        value[cells[rows]] = np.where(withheld[rows], np.nan, numbers[rows])
        return _Last(there, hidden, value)

    def _cells(self) -> npt.NDArray[np.int64]:
        """The cell of each row, -1 for one that the table has no longer."""
        table = self._table
        names = [*table.totals]
        keys = (table.codes(name).tolist() for name in names)
        number = {key: cell for cell, key in enumerate(zip(*keys, strict=True))}
        codes = []
        for name in names:
            text: dict[Any, str] = {}
            for row, entry in enumerate(self._columns[name]):
                if entry not in text:
                    try:
                        text[entry] = code_text(entry)
                    except HierarchyError as error:
                        raise self._fault(f"column {name}: {error}", row) from None
            codes.append([text[entry] for entry in self._columns[name]])
        found = [number.get(key, -1) for key in zip(*codes, strict=True)]
        cells = np.array(found, np.int64)
        if not (cells >= 0).any():
            raise self._fault(
                "none of its cells is in the table; its codes are others, such as "
                + first_few([", ".join(key) for key in zip(*codes, strict=True)][:1])
            )
        seen: set[int] = set()
        for row, cell in enumerate(cells.tolist()):
            if cell in seen:
                raise self._fault(f"the cell ({self._table.labels[cell]}) is there twice", row)
            if cell >= 0:
                seen.add(cell)
        return cells

    def _published(self) -> tuple[Booleans, Floats]:
        """For each row whether it has no exact value, and the value."""
        count = len(self._columns[next(iter(self._table.totals))])
        withheld = np.zeros(count, bool)
        if self._status is not None:
            sdmx = self._status in ("CONF_STATUS", "OBS_STATUS")
            known = (*WITHHELD, *(WITHHELD_SDMX if sdmx else ()))
            for row, entry in enumerate(self._columns[self._status]):
                word = str(entry or "").strip().lower()
                if word not in known and word not in PUBLISHED:
                    raise self._fault(
                        f"column {self._status}: the status is not known; known are "
                        f"{', '.join((*PUBLISHED, *known))}",
                        row,
                    )
                withheld[row] = word in known
        numbers = np.full(count, np.nan)
        if self._value is not None:
            numbers = self._numbers(self._value, withheld)
            if self._status is None:
                withheld = np.isnan(numbers)
        return withheld, numbers

    def _numbers(self, name: str, withheld: Booleans) -> Floats:
        """Values; NaN for nothing, and for marks that stand for nothing."""
        column = self._columns[name]
        for row, entry in enumerate(column):
            is_mark = isinstance(entry, str) and not any(sign.isdigit() for sign in entry)
            if withheld[row] or is_mark:
                column[row] = None
        self._read.read_numbers([name], Told())
        return np.array([np.nan if entry is None else float(entry) for entry in column], float)
