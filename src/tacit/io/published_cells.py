"""A published table as a solution: codes, and for each cell its value, its interval or nothing.

The table may be one that tacit wrote, or one of tau-ARGUS, of R's sdcTable and GaussSuppression, or
of anybody else: cells are found by their codes, in whatever columns they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.entries import (
    PLAIN,
    AmbiguousNumbersError,
    NumberFormat,
    Told,
    format_of,
    shapes_of,
)
from tacit.errors import InputError, first_few, name_columns
from tacit.hierarchy import Hierarchy
from tacit.io.argus.statuses import ArgusStatus
from tacit.io.foreign_tables import name_unknown, read_foreign_table
from tacit.microdata.workbooks import SUFFIXES as WORKBOOKS
from tacit.microdata.workbooks import is_workbook, sheets_of
from tacit.outcome import Intervals, Solution, Suppression, Values
from tacit.problem import ADDITIVITY_TOLERANCE, Booleans, Floats, Integers, Problem

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".parquet", *WORKBOOKS)
PUBLISHED = ("published", "safe", "empty", "s", "z", "f", "a")
WITHHELD = ("suppressed", "interval", "sensitive", "primary", "secondary", "u", "m", "x")
WITHHELD_SDMX = ("n", "c", "d", "q")
STATUS_COLUMNS = ("status", "cell_status", "CONF_STATUS", "OBS_STATUS", "sdcStatus")

_TRUTH = ("suppressed", "primary", "secondary", "sensitive")
"""Columns that are true where a cell is not published, as GaussSuppression has them."""

_FLAGS = ("flag", "flags", "obs_flag", "conf", "confidentiality")
"""Columns of flags, of which some say that a cell is confidential, and others something else."""

_YES, _NO = ("true", "t", "1", "yes"), ("false", "f", "0", "no", "")
_ARGUS = {
    **{str(n): True for n in range(ArgusStatus.UNSAFE, ArgusStatus.PROTECTED)},
    **{str(int(n)): True for n in (ArgusStatus.SECONDARY, ArgusStatus.SECONDARY_BY_HAND)},
    **{str(int(n)): False for n in (ArgusStatus.SAFE, ArgusStatus.SAFE_BY_HAND)},
    str(int(ArgusStatus.PROTECTED)): False,
    "13": False,
    str(int(ArgusStatus.EMPTY)): False,
}
"""What the numbers of tau-ARGUS say: whether a cell is not published."""

_LETTERS = {"s": False, "p": False, "e": False, "u": True, "m": True}
"""What the letters of its table files say."""

_SBS = {"v": False, "-": False, "": False, **dict.fromkeys("abcdf", True)}
"""What the flags of its files for structural business statistics say."""

_MARKS = ("c", "x", "s", "n", "d", "*", "**", "***", ".", "..", "...", ":", "#", "/", "(c)")
_WORDS = ("na", "nan", "n.a.", "n/a", "null", "conf", "confidential", "suppressed", "secret")
"""What stands for a value that is not published."""

_DASHES = ("-", "–", "—", "−")
"""What stands for zero, or where the value is not zero, for one that is not published."""


def read_published_cells(
    path: Path,
    problem: Problem,
    codes: Mapping[str, npt.NDArray[np.str_]],
    value: str = "value",
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    note: Callable[[str], object] | None = None,
    sheet: str | None = None,
) -> Solution:
    """Read what is published from a table.

    Columns with the codes have the names of the dimensions, or hold nothing but their codes; or one
    dimension runs across the columns. A cell is not published where its status says so
    (`suppressed`, `primary`, `secondary`, `u`, `m`, `x`, the codes of SDMX, the numbers of
    tau-ARGUS, true in a column `suppressed`), or without a status where its value is empty or a
    mark such as `c`, `x`, `*` or `..`. Columns `lower` and `upper` hold the ends of intervals.
    Where all cells have a value and some are not the true ones, they are adjusted values.

    Args:
        path: A CSV, text, Excel or Parquet file.
        problem: The true table.
        codes: For each dimension the code of each cell.
        value: The column of the values; `value` does as well, and otherwise the column that has
            the true values.
        hierarchies: The hierarchies of dimensions, whose totals the file may call otherwise, and
            whose labels may stand in place of codes.
        note: Is told what was guessed.
        sheet: The sheet of a workbook; without it the first one that is this table.

    Raises:
        InputError: A column or a cell is missing, or a row does not fit.
    """
    sheets: Sequence[str | None] = [sheet]
    if sheet is None and is_workbook(path):
        sheets = sheets_of(path) or [None]
    read: list[tuple[Solution, list[str]]] = []
    faults: list[tuple[int, InputError]] = []
    for name in sheets:
        stage = 0
        try:
            cells = _PublishedCells(path, problem, codes, value, hierarchies, name)
            stage = 1
            read.append((cells.solution(), cells.notes))
        except InputError as error:
            faults.append((stage, error))
            continue
        if len(sheets) > 1:
            cells.notes.insert(0, f"{path}: sheet {name} is read")
        if not isinstance(read[-1][0], Values):
            break
        # Values that were changed may as well be those of another year: others are looked at.
    if not read:
        # What is wrong with the sheet that fits best.
        raise max(faults, key=lambda fault: fault[0])[1]
    found, notes = read[0] if isinstance(read[-1][0], Values) else read[-1]
    for text in notes if note is not None else ():
        assert note is not None
        note(text)
    return found


class _PublishedCells:
    """The rows of the file, brought into the order of the cells."""

    def __init__(
        self,
        path: Path,
        problem: Problem,
        codes: Mapping[str, npt.NDArray[np.str_]],
        value: str,
        hierarchies: Mapping[str, Hierarchy] | None,
        sheet: str | None,
    ):
        self._path = path
        self._problem = problem
        table = read_foreign_table(path, codes, hierarchies, sheet)
        self._table = table
        self._columns = table.columns
        self._names = [name for name in self._columns if name not in codes]
        self.notes = table.notes
        self._cell = self._cells(codes)
        self._status = self._find_status()
        self._value = self._find_value(value)
        if self._value is None and not self._status:
            raise self._fault(
                f"there is neither a column {value} nor a column status to say which cells are "
                f"published; {name_columns(self._columns)}"
            )
        self._written = PLAIN if self._value is None else self._format(self._value)
        self._row = self._rows(codes)

    def _fault(self, message: str, row: int | None = None) -> InputError:
        lines = self._table.lines
        line = None if row is None or lines is None else lines[row]
        return InputError(message, path=self._path, line=line)

    # --- Which column is what ---------------------------------------------------------------------

    def _cells(self, codes: Mapping[str, npt.NDArray[np.str_]]) -> list[int]:
        """The cell of each row, -1 where the table has none."""
        number = {key: cell for cell, key in enumerate(zip(*codes.values(), strict=True))}
        given = [["" if code is None else str(code) for code in self._columns[n]] for n in codes]
        return [number.get(key, -1) for key in zip(*given, strict=True)]

    def _named(self, *names: str) -> str | None:
        """The column with one of some names, in any case if there is none as it is written."""
        exact = next((name for name in names if name in self._names), None)
        if exact is not None:
            return exact
        folded = {name.casefold(): name for name in reversed(self._names)}
        return next((folded[n.casefold()] for n in names if n.casefold() in folded), None)

    def _find_status(self) -> list[str]:
        """The columns that say which cells are not published."""
        usual = self._named(*STATUS_COLUMNS)
        if usual is not None:
            return [usual]
        truth = [name for name in map(self._named, _TRUTH) if name is not None]
        if "suppressed" in [name.casefold() for name in truth]:
            # What is suppressed includes what is sensitive.
            truth = [name for name in truth if name.casefold() == "suppressed"]
        if truth:
            return truth
        flags = self._named(*_FLAGS)
        if flags is not None or self._table.is_named:
            return [] if flags is None else [flags]
        known = [name for name in self._names if vocabulary(self._columns[name]) is not None]
        return known[-1:]

    def _find_value(self, value: str) -> str | None:
        named = self._named(value, "value", "cell_value", "obs_value")
        if named is not None:
            return named
        others = [name for name in self._names if name not in self._status]
        scores = {name: self._agreement(name, self._format(name)) for name in others}
        best = max(scores, key=scores.__getitem__, default=None)
        if best is None or scores[best] < 0.5:
            return None
        if self._table.is_named:
            self.notes.append(f"{self._path}: column {best} is taken for the values")
        return best

    def _agreement(self, name: str, written: NumberFormat) -> float:
        """The share of numbers in a column that are the true ones of their cells."""
        pairs = zip(self._cell, self._columns[name], strict=True)
        numbers = [(cell, _number(entry, written)) for cell, entry in pairs if cell >= 0]
        known = [(cell, number) for cell, number in numbers if number is not None]
        size, true = self._tolerance(name, written), self._problem.value
        agree = sum(
            abs(number - true[cell]) <= max(size, ADDITIVITY_TOLERANCE * abs(true[cell]))
            for cell, number in known
        )
        return agree / len(known) if known else 0.0

    def _format(self, name: str) -> NumberFormat:
        """How numbers of a column are written; true values tell where they do not themselves."""
        texts = [entry for entry in self._columns[name] if isinstance(entry, str)]
        try:
            return format_of(shapes_of(texts), Told())
        except AmbiguousNumbersError:
            ways = [NumberFormat(".", ""), NumberFormat(",", ".")]
            ways += [NumberFormat(",", ""), NumberFormat(".", ",")]
            return max(ways, key=lambda way: self._agreement(name, way))

    def _tolerance(self, name: str, written: NumberFormat) -> float:
        """By how much values may differ because they are shown with few decimals."""
        texts = [entry.strip() for entry in self._columns[name] if isinstance(entry, str)]
        numbers = [text for text in texts if written.read(text) is not None]
        if not numbers or any(isinstance(entry, float) for entry in self._columns[name]):
            return ADDITIVITY_TOLERANCE
        if any("e" in text.lower() for text in numbers):
            return ADDITIVITY_TOLERANCE
        shown = max(len(text.partition(written.decimal)[2]) for text in numbers)
        # Half of the last digit, and what computers add to it.
        return (0.5 + ADDITIVITY_TOLERANCE) * 10.0**-shown

    # --- Which row is which cell ------------------------------------------------------------------

    def _rows(self, codes: Mapping[str, npt.NDArray[np.str_]]) -> Integers:
        """The row of each cell."""
        row = np.full(self._problem.cell_count, -1)
        unknown: list[int] = []
        for place, cell in enumerate(self._cell):
            if cell < 0:
                if not self._is_empty(place):
                    unknown.append(place)
                continue
            if row[cell] >= 0:
                raise self._fault(f"{self._problem.name_cell(cell)} is there twice", place)
            row[cell] = place
        if unknown:
            keys = [{name: str(self._columns[name][place]) for name in codes} for place in unknown]
            raise self._fault(f"there is no cell {name_unknown(keys)} in the table", unknown[0])
        missing = np.flatnonzero(row < 0)
        if len(missing):
            raise self._fault(
                f"{len(missing)} of {len(row)} cells have no row: "
                f"{self._problem.name_cells(missing)}; every cell needs one"
            )
        return row

    def _is_empty(self, place: int) -> bool:
        """Whether a row is about a cell that nobody contributes to, which the table leaves out."""
        if self._value is None:
            return True
        entry = self._columns[self._value][place]
        text = "" if entry is None else str(entry).strip()
        return text in ("", *_DASHES) or _number(entry, self._written) == 0 or _is_mark(text)

    def _entries(self, name: str) -> list[Any]:
        column = self._columns[name]
        return [column[row] for row in self._row.tolist()]

    # --- What is published ------------------------------------------------------------------------

    def _numbers(self, name: str, hidden: Booleans | None = None) -> Floats:
        """A column as numbers, NaN where it is empty or marked.

        Args:
            name: The column.
            hidden: Cells where anything may stand for a value.
        """
        found = np.full(len(self._row), np.nan)
        wrong: list[int] = []
        for cell, entry in enumerate(self._entries(name)):
            text = "" if entry is None else str(entry).strip()
            if not text or (hidden is not None and hidden[cell]) or _is_mark(text):
                continue
            if text in _DASHES:
                if self._problem.value[cell] == 0:
                    found[cell] = 0.0
                continue
            number = _number(entry, self._written)
            if number is None:
                wrong.append(cell)
            else:
                found[cell] = number
        if wrong:
            more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
            raise self._fault(
                f"column {name}: the entry is neither a number nor empty, and no mark that is "
                f"known ({self._problem.name_cell(wrong[0])}{more}); empty, c, x, * or .. stand "
                "for a cell that is not published",
                int(self._row[wrong[0]]),
            )
        return found

    def _withheld(self, names: Sequence[str]) -> Booleans:
        """Cells that have no exact value, by their status."""
        hidden = np.zeros(len(self._row), bool)
        for name in names:
            entries = [status_word(entry) for entry in self._entries(name)]
            known = self._known_words(name, entries)
            for cell, word in enumerate(entries):
                if word not in known:
                    raise self._fault(
                        f"column {name}: the status is not known; known are "
                        f"{', '.join(word for word in known if word)}",
                        int(self._row[cell]),
                    )
                hidden[cell] |= known[word]
        return hidden

    def _known_words(self, name: str, entries: Sequence[str]) -> Mapping[str, bool]:
        """What the words of a column say: whether a cell is not published."""
        folded = name.casefold()
        if folded in _TRUTH:
            return {**dict.fromkeys(_NO, False), **dict.fromkeys(_YES, True)}
        if folded in _FLAGS:
            # Other flags, such as p for provisional, say nothing about secrets.
            return {word: word in ("c", "n", "q", "x", "conf", "confidential") for word in entries}
        usual = {**dict.fromkeys(PUBLISHED, False), **dict.fromkeys(WITHHELD, True)}
        if folded in ("conf_status", "obs_status"):
            return {**usual, **dict.fromkeys(WITHHELD_SDMX, True)}
        if all(word in usual for word in entries):
            return usual
        return vocabulary(entries) or usual

    def _states(self) -> tuple[Booleans, Floats | None]:
        """Which cells have no exact value, and the values of the others, if there are any."""
        if not self._status:
            assert self._value is not None
            value = self._numbers(self._value)
            return np.isnan(value), value
        hidden = self._withheld(self._status)
        if self._value is None:
            return hidden, None
        value = self._numbers(self._value, hidden)
        empty = np.flatnonzero(np.isnan(value) & ~hidden)
        if len(empty) and self._status[0].casefold() in _FLAGS:
            # Flags may say nothing where a mark stands in place of the value.
            hidden[empty] = True
        elif len(empty):
            raise self._fault(
                f"published, but there is no value: {self._problem.name_cells(empty)}"
            )
        return hidden, value

    def solution(self) -> Solution:
        """What is published."""
        problem = self._problem
        hidden, value = self._states()
        ends = self._ends(hidden)
        if value is not None:
            assert self._value is not None
            shown = self._tolerance(self._value, self._written)
            size = np.maximum(shown, ADDITIVITY_TOLERANCE * np.abs(problem.value))
            off = np.flatnonzero(~hidden & (np.abs(value - problem.value) > size))
            if len(off) and hidden.any():
                raise self._fault(
                    "cells are not published with their true value although others are left out: "
                    f"{problem.name_cells(off)}; this is another table"
                )
            if len(off):
                return Values(value)
        if ends is None:
            return Suppression(hidden)
        lower, upper = ends
        lower = np.where(hidden, np.where(np.isnan(lower), problem.lower, lower), problem.value)
        upper = np.where(hidden, np.where(np.isnan(upper), problem.upper, upper), problem.value)
        return Intervals(lower, upper)

    def _ends(self, hidden: Booleans) -> tuple[Floats, Floats] | None:
        """The ends of intervals, NaN where none is given; None where there are no intervals."""
        names = [
            next((n for n in (name, f"cell_{name}") if n in self._names), None)
            for name in ("lower", "upper")
        ]
        if None in names:
            return None
        lower, upper = (self._numbers(str(name)) for name in names)
        wrong = np.flatnonzero(hidden & (lower > upper))
        if len(wrong):
            raise self._fault(
                "the lower end of an interval lies above the upper one: "
                + first_few([self._problem.name_cell(cell) for cell in wrong.tolist()])
            )
        return lower, upper


def status_word(entry: Any) -> str:
    """An entry as it may say what happened to a cell."""
    if isinstance(entry, float) and entry.is_integer():
        entry = int(entry)
    return "" if entry is None else str(entry).strip().lower()


def vocabulary(entries: Sequence[Any]) -> Mapping[str, bool] | None:
    """The words of tau-ARGUS that a column is written in, if it is."""
    words = {status_word(entry) for entry in entries}
    if not words - {""}:
        return None
    for known in (_ARGUS, _LETTERS):
        if words <= known.keys():
            return known
    # Without a published cell these flags could be anything.
    return _SBS if "v" in words and words <= _SBS.keys() else None


def _is_mark(text: str) -> bool:
    return text.lower() in (*_MARKS, *_WORDS)


def _number(entry: Any, written: NumberFormat) -> float | None:
    if isinstance(entry, bool) or entry is None:
        return None
    return float(entry) if isinstance(entry, int | float) else written.read(str(entry))
