"""Cells that a person marks by hand."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import HierarchyError, InputError, TableError, about, first_few, nearest, not_utf8
from tacit.hierarchy import code_text
from tacit.problem import Booleans, Floats, Integers
from tacit.rules.rule import PercentRule, check_flag
from tacit.rules.wishes import (
    LENIENT,
    NUMBERS,
    STATUSES,
    SUPPRESS,
    read_wish,
    status_word,
    wish_of_variable,
)
from tacit.table import CellStatus, Grid, Table
from tacit.table.frames import FrameReader
from tacit.table.judging import Verdict
from tacit.table.labels import name_cells
from tacit.table.selection import is_pattern, select
from tacit.table.status import STATUS_DTYPE
from tacit.table.table import VARIABLE
from tacit.table.wishes import Wishes

_LEVELS = ("lower_level", "upper_level", "sliding_level")


@dataclass(frozen=True, eq=False)
class Manual(PercentRule):
    """Marks of a person: wishes in words, or a data frame or a CSV file with one row for each.

    A wish is a text such as `industry=C10, region=*: publish`: cells, a colon, and what is wished.
    Its cells have a code in each dimension, `*` for all codes, `C1*` for those that begin so,
    `level 2` for those of one level (the total is level 0) or `leaves` for the finest ones; a
    dimension that is not named is at its total. What can be wished:

    - `publish`: the cell must be published. So it is for `must stay`, and for `already known`: what
      was published elsewhere cannot protect others. `publish unless sensitive` takes sensitive
      cells out.
    - `suppress` (or `never publish`): it is not published, and nobody may compute it.
    - `sensitive`: it is, with levels of `percent` of its value. `safe`: it is not, and may be
      suppressed to protect others.
    - `weight 10`, `factor 0.5`: what suppressing it costs, or by how much that changes.
    - `at least 0`, `at most 100`, `within 20%`: what attackers know of it.

    Rows of a frame or file have the dimensions as columns (the total where a column is missing),
    with codes or any of the patterns; `status`, which is `sensitive` where nothing else is
    wished; `lower_level`, `upper_level` and `sliding_level`, in place of the percentage; and
    `weight`, `factor`, `lower`, `upper` and `within`. Of several wishes for a cell the one that
    names it by its codes counts, otherwise the last one. Of several variables
    `variable=exports`, or a column `variable`, names one; otherwise a wish is about all of them.

    Where a rule finds a cell sensitive that is marked as `safe` or `publish`, the mark is
    refused unless `override` says that it is decided; the guarantee then tells that there are
    such cells.

    Attributes:
        marks: A list of wishes, a data frame of pandas, polars or pyarrow, a dict of columns, or
            the path of a CSV file.
        override: Whether cells marked as `safe` or `publish` are not sensitive whatever
            rules say that are applied before or together with the marks.

    >>> import tacit
    >>> table = tacit.examples.get("002-figure-2.1").table
    >>> judged = table.apply(Manual({"business": ["A"], "location": ["1"]}))
    >>> [judged.labels[cell] for cell in judged.problem().sensitive]
    ['business=A, location=1']
    >>> judged = table.apply(Manual(["business=A, location level 1: publish"]))
    >>> [judged.labels[cell] for cell in np.flatnonzero(judged.problem().must_publish)]
    ['business=A, location=1', 'business=A, location=2']
    """

    key: ClassVar[str] = "manual"
    title: ClassVar[str] = "manual"

    marks: Any
    override: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.marks is None:
            raise InputError(
                "marks must be a list of wishes, a data frame or the path of a CSV file",
                key=("marks",),
            )
        if _are_wishes(self.marks):
            for place, text in enumerate(self.marks):
                if not isinstance(text, str) or not text.strip():
                    raise InputError(
                        "marks as a list are texts, such as 'region=*: publish'",
                        key=("marks", place),
                    )
        check_flag(self.override, "override")

    @property
    def in_words(self) -> str:
        """What the rule finds, for confidential explanations."""
        return "marked by hand"

    def refuse_variables(self, known: Sequence[str]) -> None:
        """Refuse marks for variables that a table of several does not have."""
        if _are_wishes(self.marks):
            for place, text in enumerate(self.marks):
                with about("marks", place):
                    wish_of_variable(text, "", known)
            return
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
        marked = _Marked(table, _Rows.of(self.marks, table))
        return marked.verdict(self)


def _are_wishes(marks: Any) -> bool:
    return isinstance(marks, Sequence) and not isinstance(marks, str)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Wishes as columns.

    Attributes:
        where: What to call them in messages.
        codes: For each dimension a code or pattern.
        status: What is wished; nothing where it is about numbers.
        numbers: Levels, weights and bounds, NaN where they are not given.
    """

    where: str
    codes: Mapping[str, Sequence[str]]
    status: npt.NDArray[np.object_]
    numbers: Mapping[str, Floats]

    @classmethod
    def of(cls, marks: Any, table: Table) -> _Rows:
        """Rows of a frame, of a file, or of wishes in words."""
        if _are_wishes(marks):
            rows = []
            for place, text in enumerate(marks):
                with about("marks", place):
                    own = wish_of_variable(text, *table.variables[:1])
                    rows += [read_wish(own, table)] if own else []
            names = {name for row in rows for name in row}
            frame: Any = {
                name: [row.get(name, np.nan if name in NUMBERS else None) for row in rows]
                for name in (*table.totals, "status", *NUMBERS)
                if name in names
            }
            for name, total in table.totals.items():
                if name in frame:
                    frame[name] = [total if code is None else code for code in frame[name]]
            if not rows:
                frame = {name: [] for name in table.totals}
            return cls._of_frame(frame, table, "wishes")
        if isinstance(marks, str | Path):
            return cls._of_frame(_read_csv(Path(marks)), table, str(marks))
        return cls._of_frame(marks, table, "marks")

    @classmethod
    def _of_frame(cls, frame: Any, table: Table, where: str) -> _Rows:
        frame = _of_variable(frame, table)
        reader = FrameReader(frame)
        names = _columns(frame)
        wishes = [n for n in ("status", *_LEVELS, *NUMBERS) if n not in table.totals]
        unknown = [name for name in names if name not in (*table.totals, *wishes)]
        if unknown or not any(name in table.totals for name in names):
            raise TableError(
                f"{where}: columns {first_few(unknown or names)} are not understood; use the "
                f"dimensions {first_few([*table.totals])}, and {', '.join(wishes)}"
            )
        there = [name for name in wishes if name in names]
        numbers = {name: reader.numbers(name) for name in there if name != "status"}
        given = reader.entries("status") if "status" in there else [None] * reader.row_count
        status = _statuses(given, where)
        # A row that wishes nothing else marks its cell as sensitive.
        says = np.zeros(reader.row_count, bool)
        for name in NUMBERS:
            if name in numbers:
                says |= ~np.isnan(numbers[name])
        status[(status == "") & ~says] = CellStatus.SENSITIVE.value
        return cls(where, _codes(table, reader, names, where), status, numbers)


class _Marked:
    """What is wished of each cell."""

    def __init__(self, table: Table, rows: _Rows):
        self._table = table
        self._rows = rows
        cells, row, self._single = _matched(table, rows)
        self._cells = cells
        self._row = row

    def _column(self, name: str) -> Floats | None:
        """A column of numbers for all cells, NaN where nothing is wished."""
        given = self._rows.numbers.get(name)
        if given is None:
            return None
        wished = given[self._row]
        there = ~np.isnan(wished)
        self._refuse_number(name, self._cells[there], wished[there])
        column = np.full(self._table.cell_count, np.nan)
        # Of several entries for a cell the last one stays.
        column[self._cells[there]] = wished[there]
        return column

    def _refuse_number(self, name: str, cells: Integers, given: Floats) -> None:
        bad = np.isinf(given)
        if name not in ("lower", "upper"):
            bad |= given < 0
        if bad.any():
            what = "a level" if name in _LEVELS else name
            names = [self._table.labels[cell] for cell in np.unique(cells[bad]).tolist()]
            raise TableError(
                f"{self._rows.where}: {what} is negative or infinite: {name_cells(names)}; "
                "correct it",
                names,
            )

    def verdict(self, rule: Manual) -> Verdict:
        """All of it as a verdict."""
        table = self._table
        status = np.full(table.cell_count, "", object)
        named = np.zeros(table.cell_count, bool)
        wished = self._rows.status[self._row]
        there = np.flatnonzero(wished != "")
        # Everybody knows cells without contributors: a pattern is not meant to hide them.
        hides = np.isin(wished[there], (CellStatus.SENSITIVE.value, SUPPRESS))
        empty = table.status[self._cells[there]] == CellStatus.EMPTY.value
        there = there[~(hides & empty & ~self._single[there])]
        status[self._cells[there]] = wished[there]
        named[self._cells[there]] = True
        levels = {name: column for name in _LEVELS if (column := self._column(name)) is not None}
        is_sensitive = np.isin(status, (CellStatus.SENSITIVE.value, SUPPRESS))
        cells = np.flatnonzero(is_sensitive)
        share = rule.percent * np.abs(table.value[cells]) / 100
        # What is never published needs no more than that nobody computes it: the least level.
        share[status[cells] == SUPPRESS] = 0.0
        # A row that gives any level gives all of them.
        says = np.zeros(len(cells), bool)
        for column in levels.values():
            says |= ~np.isnan(column[cells])
        nothing = np.full(table.cell_count, np.nan)
        lower, upper, sliding = (
            np.where(says, np.nan_to_num(levels.get(name, nothing)[cells]), default)
            for name, default in zip(_LEVELS, (share, share, 0.0 * share), strict=True)
        )
        decided = np.flatnonzero(named & ~is_sensitive)
        return Verdict(
            reason=rule.reason,
            cells=cells,
            lower=lower,
            upper=upper,
            sliding=sliding if "sliding_level" in levels else None,
            levels=rule.levels,
            decided=decided,
            decided_status=_decided_status(status[decided]),
            lenient=np.asarray(status[decided] == LENIENT),
            override=rule.override,
            wishes=self._wishes(),
        )

    def _wishes(self) -> Wishes | None:
        """Weights and bounds; None where there are none."""
        value = self._table.value
        weight, factor, lower, upper, within = (self._column(name) for name in NUMBERS)
        if within is not None:
            spread = within / 100 * np.abs(value)
            lower, upper = (
                _both(np.fmax, lower, value - spread),
                _both(np.fmin, upper, value + spread),
            )
        for bound, wrong in ((lower, np.less), (upper, np.greater)):
            if bound is not None:
                beyond = np.flatnonzero(wrong(value, bound))
                if len(beyond):
                    names = [self._table.labels[cell] for cell in beyond.tolist()]
                    raise TableError(
                        f"{self._rows.where}: attackers cannot know a bound that the value does "
                        f"not meet: {name_cells(names)}; correct it",
                        names,
                    )
        if all(column is None for column in (weight, factor, lower, upper)):
            return None
        return Wishes(weight, factor, lower, upper)


def _both(tightest: np.ufunc, first: Floats | None, second: Floats) -> Floats:
    return second if first is None else np.asarray(tightest(first, second), np.float64)


def _decided_status(status: npt.NDArray[np.object_]) -> npt.NDArray[np.str_]:
    found = np.full(len(status), CellStatus.PUBLISH.value, STATUS_DTYPE)
    found[status == CellStatus.SAFE.value] = CellStatus.SAFE.value
    return found


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
    for name in (*_LEVELS, *NUMBERS):
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
        return {name: [] for name in (*table.totals, "status", *_LEVELS, *NUMBERS) if name in names}
    return {name: [column[row] for row in own] for name, column in columns.items()}


def _columns(frame: Any) -> list[str]:
    if isinstance(frame, Mapping):
        return [str(name) for name in frame]
    names = getattr(frame, "column_names", None)
    return [str(name) for name in (frame.columns if names is None else names)]


def _statuses(given: Sequence[Any], where: str) -> npt.NDArray[np.object_]:
    """What is wished in words, nothing where no word is given."""
    found: dict[Any, str] = {}
    wrong = []
    for entry in dict.fromkeys(given):
        text = entry.strip() if isinstance(entry, str) else ""
        word = status_word(text) if text else ""
        if word is None:
            wrong.append(text.lower())
        else:
            found[entry] = word
    if wrong:
        raise TableError(
            f"{where}: status {first_few(wrong)} cannot be given by hand; use {', '.join(STATUSES)}"
        )
    return np.array([found[entry] for entry in given], object)


def _codes(
    table: Table, reader: FrameReader, names: Sequence[str], where: str
) -> dict[str, list[str]]:
    """For each dimension what the rows say, the total where a column is missing."""
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
    return codes


def _matched(table: Table, rows: _Rows) -> tuple[Integers, Integers, Booleans]:
    """Pairs of a cell and a row that is about it, and whether the row names the cell.

    In the order in which they count: rows with patterns first, each in its turn.
    """
    codes, where = rows.codes, rows.where
    pattern = np.zeros(len(rows.status), bool)
    for name, column in codes.items():
        several = {entry: is_pattern(entry, table, name) for entry in dict.fromkeys(column)}
        pattern |= np.array([several[entry] for entry in column], bool)
    cells, row = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for place in np.flatnonzero(pattern).tolist():
        wanted = {name: column[place] for name, column in codes.items()}
        try:
            found = select(table, wanted)
        except TableError as error:
            raise TableError(f"{where}: {error}") from None
        _refuse_rows(
            codes,
            np.arange(len(pattern)) == (place if not len(found) else -1),
            f"{where}: there is no such cell: {{}}; correct the codes",
        )
        cells.append(found)
        row.append(np.full(len(found), place))
    single = np.flatnonzero(~pattern)
    exact = {name: [column[place] for place in single.tolist()] for name, column in codes.items()}
    cells.append(_find_cells(table, exact, where))
    row.append(single)
    _refuse_twice(exact, cells[-1], rows, single)
    names_cell = np.repeat([False, True], [sum(map(len, row[:-1])), len(single)])
    return np.concatenate(cells), np.concatenate(row), names_cell


def _refuse_twice(
    codes: Mapping[str, Sequence[str]], cells: Integers, rows: _Rows, row: Integers
) -> None:
    """Refuse two rows that wish something of the same kind of the same cell."""
    columns = [rows.status != "", *(~np.isnan(column) for column in rows.numbers.values())]
    for says in columns:
        there = np.flatnonzero(says[row])
        _, first = np.unique(cells[there], return_index=True)
        twice = np.zeros(len(cells), bool)
        twice[np.delete(there, first)] = True
        _refuse_rows(
            codes, twice, f"{rows.where}: marked more than once: {{}}; keep one row of each"
        )


def _find_cells(table: Table, codes: Mapping[str, list[str]], where: str) -> Integers:
    """The number of the cell that each row names."""
    cells = np.full(len(next(iter(codes.values()))), -1, np.int64)
    for grid in reversed(table.grids):
        place = _places(grid, codes, table)
        there = place >= 0
        cells[there] = grid.numbers[place[there]]
    _refuse_rows(codes, cells < 0, f"{where}: there is no such cell: {{}}; correct the codes")
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


def _refuse_rows(codes: Mapping[str, Sequence[str]], bad: Any, text: str) -> None:
    rows = np.flatnonzero(bad).tolist()
    if rows:
        labels = [", ".join(f"{name}={codes[name][row]}" for name in codes) for row in rows]
        raise TableError(text.format(name_cells(labels)), labels)
