"""Cells that a person marks by hand."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tacit.errors import HierarchyError, InputError, TableError, first_few, nearest, not_utf8
from tacit.hierarchy import code_text
from tacit.problem import Floats, Integers
from tacit.rules.rule import PercentRule, check_flag
from tacit.table import CellStatus, Grid, Table
from tacit.table.frames import FrameReader
from tacit.table.judging import Verdict
from tacit.table.labels import name_cells
from tacit.table.status import Statuses, status_array
from tacit.table.table import VARIABLE

_LEVELS = ("lower_level", "upper_level", "sliding_level")
_ALLOWED = (CellStatus.SENSITIVE, CellStatus.SAFE, CellStatus.PUBLISH, CellStatus.SECONDARY)


@dataclass(frozen=True, eq=False)
class Manual(PercentRule):
    """Marks of a person, from a data frame or a CSV file with one row per cell.

    Its columns are the dimensions of the table (the total where a column is missing); `status`,
    which is `sensitive` where it is missing; and `lower_level`, `upper_level` and
    `sliding_level`, in place of the percentage. In a table of several variables, `variable` says
    which one a mark is for; without it, a mark is for all.

    A cell marked as `safe` may be published, and one marked as `publish` must be. Where a rule
    finds such a cell sensitive, the mark is refused unless `override` says that it is decided;
    the guarantee then tells that there are such cells. A cell marked as `secondary` is
    suppressed.

    Attributes:
        marks: A data frame of pandas, polars or pyarrow, a dict of columns, or the path of a
            CSV file.
        override: Whether cells marked as `safe` or `publish` are not sensitive whatever rules
            say that are applied before or together with the marks.

    >>> import tacit
    >>> table = tacit.examples.get("002-figure-2.1").table
    >>> judged = table.apply(Manual({"business": ["A"], "location": ["1"]}))
    >>> [judged.labels[cell] for cell in judged.problem().sensitive]
    ['business=A, location=1']
    """

    key: ClassVar[str] = "manual"
    title: ClassVar[str] = "manual"

    marks: Any
    override: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.marks is None:
            raise InputError("marks must be a data frame or the path of a CSV file", key=("marks",))
        check_flag(self.override, "override")

    @property
    def in_words(self) -> str:
        """What the rule finds, for confidential explanations."""
        return "marked by hand"

    def refuse_variables(self, known: Sequence[str]) -> None:
        """Refuse marks for variables that a table of several does not have."""
        frame, where = self.marks, "marks"
        if isinstance(frame, str | Path):
            frame, where = _read_csv(Path(frame)), str(frame)
        if VARIABLE not in _columns(frame):
            return
        given = dict.fromkeys(str(each) for each in FrameReader(frame).entries(VARIABLE))
        for name in given:
            if name not in known:
                raise TableError(f"{where}: there is no variable {name!r}; {nearest(name, known)}")

    def judge(self, table: Table) -> Verdict:
        """What is marked, with levels as given or as a percentage of the value."""
        frame, where = self.marks, "marks"
        if isinstance(frame, str | Path):
            frame, where = _read_csv(Path(frame)), str(frame)
        frame = _of_variable(frame, table)
        reader = FrameReader(frame)
        names = _columns(frame)
        unknown = [name for name in names if name not in (*table.totals, "status", *_LEVELS)]
        if unknown or not any(name in table.totals for name in names):
            raise TableError(
                f"{where}: columns {first_few(unknown or names)} are not understood; use the "
                f"dimensions {first_few([*table.totals])}, and status, {', '.join(_LEVELS)}"
            )
        cells = _find_cells(table, reader, names, where)
        given = reader.entries("status") if "status" in names else None
        if given is None:
            status = np.full(len(cells), CellStatus.SENSITIVE.value, table.status.dtype)
        else:
            status = _marked_status(given, where)
        order = np.argsort(cells, kind="stable")
        cells, status = cells[order], status[order]
        sensitive = status == CellStatus.SENSITIVE.value
        level = self.percent * np.abs(table.value[cells]) / 100
        columns = {
            name: _level(reader.numbers(name)[order], cells, table, where)
            for name in _LEVELS
            if name in names
        }
        # A row that gives any level gives all of them.
        says = np.zeros(len(cells), bool)
        for column in columns.values():
            says |= ~np.isnan(column)
        nothing = np.full(len(cells), np.nan)
        lower, upper, sliding = (
            np.where(says, np.nan_to_num(columns.get(name, nothing)), default)
            for name, default in zip(_LEVELS, (level, level, 0.0 * level), strict=True)
        )
        return Verdict(
            reason=self.reason,
            cells=cells[sensitive],
            lower=lower[sensitive],
            upper=upper[sensitive],
            sliding=sliding[sensitive] if "sliding_level" in names else None,
            levels=self.levels,
            decided=cells[~sensitive],
            decided_status=status[~sensitive],
            override=self.override,
        )


def _read_csv(path: Path) -> dict[str, list[str]]:
    """The columns of a CSV file, with commas or semicolons as its first line has them."""
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from None
    except UnicodeDecodeError as error:
        raise not_utf8(content, error, path) from None
    if not text.strip():
        raise InputError("the file is empty; its first line names the columns", path=path)
    separator = ";" if ";" in text.splitlines()[0] else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise InputError(f"this is not CSV: {error}", path=path, line=reader.line_num) from None
    header = [name.strip() for name in rows[0][1]]
    filled = [(line, row) for line, row in rows[1:] if any(row)]
    for line, row in filled:
        if len(row) != len(header):
            raise InputError(
                f"{len(row)} entries, but the first line names {len(header)} columns",
                path=path,
                line=line,
            )
    columns = {name: [row[place].strip() for _, row in filled] for place, name in enumerate(header)}
    for name in _LEVELS:
        if name in columns:
            columns[name] = [entry or "nan" for entry in columns[name]]
    return columns


def _of_variable(frame: Any, table: Table) -> Any:
    """The marks of one of several variables, where a column says which one each is for."""
    (variable,) = table.variables[:1]
    names = _columns(frame) if variable else []
    if VARIABLE not in names or VARIABLE in table.totals:
        return frame
    reader = FrameReader(frame)
    columns = {name: reader.entries(name) for name in names}
    own = [row for row, each in enumerate(columns.pop(VARIABLE)) if str(each) == variable]
    if not own:
        # Other variables may have dimensions that this one lacks.
        return {name: [] for name in (*table.totals, "status", *_LEVELS) if name in names}
    return {name: [column[row] for row in own] for name, column in columns.items()}


def _columns(frame: Any) -> list[str]:
    if isinstance(frame, Mapping):
        return [str(name) for name in frame]
    names = getattr(frame, "column_names", None)
    return [str(name) for name in (frame.columns if names is None else names)]


def _marked_status(given: list[Any], where: str) -> Statuses:
    words = [
        entry.strip().lower() if isinstance(entry, str) and entry.strip() else "sensitive"
        for entry in given
    ]
    wrong = [word for word in dict.fromkeys(words) if word not in _ALLOWED]
    if wrong:
        raise TableError(
            f"{where}: status {first_few(wrong)} cannot be given by hand; use {', '.join(_ALLOWED)}"
        )
    return status_array(words, len(words))


def _level(column: Floats, cells: Integers, table: Table, where: str) -> Floats:
    wrong = cells[(column < 0) | np.isinf(column)]
    if len(wrong):
        names = [table.labels[cell] for cell in wrong.tolist()]
        raise TableError(
            f"{where}: a level is negative or infinite: {name_cells(names)}; correct it", names
        )
    return column


def _find_cells(table: Table, reader: FrameReader, names: list[str], where: str) -> Integers:
    """The number of the cell that each row is about."""
    codes: dict[str, list[str]] = {}
    for name, total in table.totals.items():
        entries = reader.entries(name) if name in names else [total] * reader.row_count
        text = {}
        for entry in dict.fromkeys(entries):
            try:
                text[entry] = code_text(entry)
            except HierarchyError as error:
                row = next(row for row, other in enumerate(entries) if other is entry)
                raise TableError(f"{where}, column {name}, row {row}: {error}") from None
        codes[name] = [text[entry] for entry in entries]
    cells = np.full(reader.row_count, -1, np.int64)
    for grid in reversed(table.grids):
        place = _places(grid, codes, table)
        there = place >= 0
        cells[there] = grid.numbers[place[there]]
    _refuse_rows(codes, cells < 0, f"{where}: there is no such cell: {{}}; correct the codes")
    twice = np.zeros(len(cells), bool)
    _, first = np.unique(cells, return_index=True)
    twice[np.setdiff1d(np.arange(len(cells)), first)] = True
    _refuse_rows(codes, twice, f"{where}: marked more than once: {{}}; keep one row of each")
    return cells


def _places(grid: Grid, codes: Mapping[str, list[str]], table: Table) -> Integers:
    """Where in a grid the combinations of codes are, -1 where they are not."""
    rows = len(next(iter(codes.values())))
    inside = np.ones(rows, bool)
    keys = np.zeros(rows, np.int64)
    strides = dict(zip(grid.dimensions, grid.strides, strict=True))
    for name, column in codes.items():
        if name not in grid.dimensions:
            inside &= np.array([code == table.totals[name] for code in column], bool)
            continue
        positions = grid.dimensions[name].positions
        position = np.array([positions.get(code, -1) for code in column], np.int64)
        inside &= position >= 0
        keys += position * strides[name]
    return np.where(inside, grid.find(np.where(inside, keys, 0)), -1)


def _refuse_rows(codes: Mapping[str, list[str]], bad: Any, text: str) -> None:
    rows = np.flatnonzero(bad).tolist()
    if rows:
        labels = [", ".join(f"{name}={codes[name][row]}" for name in codes) for row in rows]
        raise TableError(text.format(name_cells(labels)), labels)
