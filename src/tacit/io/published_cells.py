"""A published table as a solution: codes, and for each cell its value, its interval or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError, first_few, name_columns
from tacit.io.cells import read_columns
from tacit.outcome import Intervals, Solution, Suppression, Values
from tacit.problem import ADDITIVITY_TOLERANCE, Booleans, Floats, Integers, Problem

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".parquet")
PUBLISHED = ("published", "safe", "empty", "s", "z", "f", "a")
WITHHELD = ("suppressed", "interval", "sensitive", "primary", "secondary", "u", "m", "x")
WITHHELD_SDMX = ("n", "c", "d", "q")
STATUS_COLUMNS = ("status", "cell_status", "CONF_STATUS", "OBS_STATUS")


def read_published_cells(
    path: Path, problem: Problem, codes: Mapping[str, npt.NDArray[np.str_]], value: str = "value"
) -> Solution:
    """Read what is published from a table with a row for each cell.

    A column named after each dimension holds the codes. A cell is not published where its
    status says so (`suppressed`, `primary`, `secondary`, `u`, `m`, `x`, or the codes of SDMX), or
    without a status where its value is empty. Columns `lower` and `upper` hold the ends of
    intervals. Where all cells have a value and some are not the true ones, they are adjusted
    values.

    Args:
        path: A CSV or Parquet file, as `tacit protect --out` writes it.
        problem: The true table.
        codes: For each dimension the code of each cell.
        value: The column of the values; `value` does as well.

    Raises:
        InputError: A column or a cell is missing, or a row does not fit.
    """
    return _PublishedCells(path, problem, codes, value).solution()


class _PublishedCells:
    """The rows of the file, brought into the order of the cells."""

    def __init__(
        self,
        path: Path,
        problem: Problem,
        codes: Mapping[str, npt.NDArray[np.str_]],
        value: str,
    ):
        self._path = path
        self._problem = problem
        self._columns = read_columns(path)
        absent = [name for name in codes if name not in self._columns]
        if absent:
            raise self._fault(
                f"there is no column {absent[0]}, which tells the cells apart; "
                f"{name_columns(self._columns)}"
            )
        self._row = self._rows(codes)
        self._value = next((n for n in (value, "value", "cell_value") if n in self._columns), None)
        self._status = next((n for n in STATUS_COLUMNS if n in self._columns), None)
        if self._value in codes:
            self._value = None
        if self._status in codes:
            self._status = None
        if self._value is None and self._status is None:
            raise self._fault(
                f"there is neither a column {value} nor a column status to say which cells are "
                f"published; {name_columns(self._columns)}"
            )

    def _fault(self, message: str, row: int | None = None) -> InputError:
        # The first line names the columns.
        line = None if row is None or self._path.suffix.lower() == ".parquet" else row + 2
        return InputError(message, path=self._path, line=line)

    def _rows(self, codes: Mapping[str, npt.NDArray[np.str_]]) -> Integers:
        """The row of each cell."""
        number = {key: cell for cell, key in enumerate(zip(*codes.values(), strict=True))}
        row = np.full(self._problem.cell_count, -1)
        given = [["" if code is None else str(code) for code in self._columns[n]] for n in codes]
        for place, key in enumerate(zip(*given, strict=True)):
            cell = number.get(key)
            if cell is None:
                named = ", ".join(f"{n}={code}" for n, code in zip(codes, key, strict=True))
                raise self._fault(f"there is no cell {named} in the table", place)
            if row[cell] >= 0:
                raise self._fault(f"{self._problem.name_cell(cell)} is there twice", place)
            row[cell] = place
        missing = np.flatnonzero(row < 0)
        if len(missing):
            raise self._fault(
                f"{len(missing)} of {len(row)} cells have no row: "
                f"{self._problem.name_cells(missing)}; every cell needs one"
            )
        return row

    def _entries(self, name: str) -> list[Any]:
        column = self._columns[name]
        return [column[row] for row in self._row.tolist()]

    def _numbers(self, name: str, hidden: Booleans | None = None) -> Floats:
        """A column as numbers, NaN where it is empty.

        Args:
            name: The column.
            hidden: Cells where marks may stand for a value.
        """
        found = np.full(len(self._row), np.nan)
        for cell, entry in enumerate(self._entries(name)):
            if entry is None or (hidden is not None and hidden[cell]):
                continue
            try:
                found[cell] = float(entry)
            except ValueError:
                raise self._fault(
                    f"column {name}: the entry is neither a number nor empty; empty stands for a "
                    "cell that is not published",
                    int(self._row[cell]),
                ) from None
        return found

    def _withheld(self, name: str) -> Booleans:
        """Cells that have no exact value, by their status."""
        hidden = np.zeros(len(self._row), bool)
        sdmx = name in ("CONF_STATUS", "OBS_STATUS")
        known = (*WITHHELD, *(WITHHELD_SDMX if sdmx else ()))
        for cell, entry in enumerate(self._entries(name)):
            word = str(entry or "").strip().lower()
            if word not in known and word not in PUBLISHED:
                raise self._fault(
                    f"column {name}: the status is not known; known are "
                    f"{', '.join((*PUBLISHED, *known))}",
                    int(self._row[cell]),
                )
            hidden[cell] = word in known
        return hidden

    def _cells(self) -> tuple[Booleans, Floats | None]:
        """Which cells have no exact value, and the values of the others, if there are any."""
        if self._status is None:
            assert self._value is not None
            value = self._numbers(self._value)
            return np.isnan(value), value
        hidden = self._withheld(self._status)
        if self._value is None:
            return hidden, None
        value = self._numbers(self._value, hidden)
        empty = np.flatnonzero(np.isnan(value) & ~hidden)
        if len(empty):
            raise self._fault(
                f"published, but there is no value: {self._problem.name_cells(empty)}"
            )
        return hidden, value

    def solution(self) -> Solution:
        """What is published."""
        problem = self._problem
        hidden, value = self._cells()
        ends = self._ends(hidden)
        if value is not None:
            size = ADDITIVITY_TOLERANCE * np.maximum(np.abs(problem.value), 1.0)
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
            next((n for n in (name, f"cell_{name}") if n in self._columns), None)
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
