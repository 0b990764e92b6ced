"""What is published of linked tables, a file or a sheet for each, as one solution of them all."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tacit.errors import InputError, first_few
from tacit.io.cells import read_columns
from tacit.io.published_cells import read_published_cells
from tacit.microdata.workbooks import is_workbook, read_sheet, sheet_title, sheets_of
from tacit.outcome import Intervals, Solution, Suppression, Values
from tacit.problem import ADDITIVITY_TOLERANCE, Problem
from tacit.table import Table

_WHOLE = (".json", ".jj", ".jj.gz")
"""Files of all cells by their numbers."""


@dataclass(frozen=True)
class _Page:
    """A file, or a sheet of a workbook.

    Attributes:
        path: The file.
        sheet: The sheet; None for a file, and for a workbook with whatever sheet fits.
    """

    path: Path
    sheet: str | None = None

    def __str__(self) -> str:
        return str(self.path) if self.sheet is None else f"{self.path}, sheet {self.sheet}"

    def columns(self) -> Sequence[str]:
        """The names of its columns, none where it is not a list of cells."""
        try:
            if self.sheet is not None:
                return [*read_sheet(self.path, self.sheet).columns]
            return [*read_columns(self.path)]
        except InputError:
            return []


def read_linked_solution(
    paths: Sequence[Path],
    table: Table,
    *,
    written: Mapping[str, Sequence[Path]] | None = None,
    value: str = "value",
    note: Callable[[str], object] | None = None,
) -> Solution:
    """Read what is published of linked tables from a file or a sheet for each of them.

    A file belongs to the table that it was written for, a sheet to the one whose name it has; or
    else it is the one whose dimensions are among its columns, or whose cells it holds. A
    cell of several tables is known as soon as one of them publishes it.

    Args:
        paths: The files, in any order. Sheets of workbooks that fit no table are left out.
        table: The linked tables, with names.
        written: Files that are known to belong to a table, by its name.
        value: The name of the column of values, where there is one variable.
        note: Is told what was guessed.

    Raises:
        InputError: A file cannot be read, fits no table or several, or a table has none.
    """
    reading = _Reading(table, value)
    chosen = reading.assigned(paths, written or {})
    missing = [grid.title for number, grid in enumerate(table.grids) if number not in chosen]
    if missing:
        others = f" ({first_few(reading.left_out)} fits no table)" if reading.left_out else ""
        raise InputError(
            f"there is no file or sheet for {'table' if len(missing) == 1 else 'tables'} "
            f"{first_few(missing)}{others}; name one for each of the linked tables, or the JSON",
            path=paths[0] if len(paths) == 1 else None,
        )
    problem = table.problem("none")
    parts = {number: reading.part(page, number, note) for number, page in chosen.items()}
    if any(isinstance(part, Values) for part in parts.values()):
        return _values(parts, chosen, table, problem)
    lower, upper = np.array(problem.lower), np.array(problem.upper)
    hidden = np.ones(table.cell_count, bool)
    for number, part in parts.items():
        cells = table.grids[number].numbers
        own = problem.value[cells]
        if isinstance(part, Suppression):
            hidden[cells] &= part.suppressed
            low = np.where(part.suppressed, -np.inf, own)
            high = np.where(part.suppressed, np.inf, own)
        else:
            assert isinstance(part, Intervals)
            low, high = part.lower, part.upper
            hidden[cells] &= low < high
        lower[cells] = np.maximum(lower[cells], low)
        upper[cells] = np.minimum(upper[cells], high)
    if not any(isinstance(part, Intervals) for part in parts.values()):
        return Suppression(hidden)
    lower[~hidden] = upper[~hidden] = problem.value[~hidden]
    return Intervals(lower, upper)


def _values(
    parts: Mapping[int, Solution], chosen: Mapping[int, _Page], table: Table, problem: Problem
) -> Values:
    """Changed values; a cell of several tables has to have the same one in all of them."""
    found = np.full(table.cell_count, np.nan)
    for number, part in parts.items():
        cells = table.grids[number].numbers
        own = problem.value[cells]
        if isinstance(part, Values):
            own = part.value
        elif not isinstance(part, Suppression) or part.suppressed.any():
            raise InputError(
                "cells are left out here although values are changed in another table; the files "
                "do not belong together",
                path=chosen[number].path,
            )
        size = ADDITIVITY_TOLERANCE * np.maximum(np.abs(own), 1.0)
        off = cells[np.abs(found[cells] - own) > size]
        if len(off):
            raise InputError(
                f"another table publishes other values of the same cells: "
                f"{problem.name_cells(off)}; the files do not belong together",
                path=chosen[number].path,
            )
        found[cells] = own
    return Values(found)


class _Reading:
    """Finds out which page is which table, and reads it."""

    def __init__(self, table: Table, value: str):
        self._table = table
        self._problem = table.problem("none")
        self._value = value
        self.left_out: list[str] = []

    def part(
        self, page: _Page, number: int, note: Callable[[str], object] | None = None
    ) -> Solution:
        """What a page publishes, read as one of the tables."""
        table, problem, grid = self._table, self._problem, self._table.grids[number]
        cells = grid.numbers
        own = Problem(
            value=problem.value[cells],
            lower=problem.lower[cells],
            upper=problem.upper[cells],
            labels=[table.labels[cell] for cell in cells.tolist()],
        )
        codes = {name: table.codes(name)[cells] for name in grid.dimensions}
        try:
            return read_published_cells(
                page.path,
                own,
                codes,
                grid.variable or self._value,
                hierarchies=grid.dimensions,
                note=note,
                sheet=page.sheet,
            )
        except InputError as error:
            if page.sheet is None:
                raise
            line = "" if error.line is None else f":{error.line}"
            message = str(error).removeprefix(f"{page.path}{line}: ")
            raise InputError(
                f"sheet {page.sheet}: {message}", path=page.path, line=error.line
            ) from None

    def assigned(
        self, paths: Sequence[Path], written: Mapping[str, Sequence[Path]]
    ) -> dict[int, _Page]:
        """The page of each table."""
        names = [grid.name for grid in self._table.grids]
        owners: dict[str, set[int]] = {}
        for name, files in written.items():
            for path in files if name in names else ():
                owners.setdefault(os.path.realpath(path), set()).add(names.index(name))
        chosen: dict[int, _Page] = {}
        for path in paths:
            if path.name.lower().endswith(_WHOLE):
                raise InputError(
                    "several files are the published ones of linked tables; leave out all others",
                    path=path,
                )
            own = owners.get(os.path.realpath(path), set())
            pages = [(_Page(path), number) for number in own]
            for page, number in pages if len(pages) == 1 else self._found(path):
                if number in chosen:
                    raise InputError(
                        f"table {self._table.grids[number].title} has a file already: "
                        f"{chosen[number]}",
                        path=path,
                    )
                chosen[number] = page
        return chosen

    def _found(self, path: Path) -> list[tuple[_Page, int]]:
        """The pages of a file, with their tables."""
        sheets = sheets_of(path) if is_workbook(path) else ()
        if len(sheets) < 2:
            page = _Page(path)
            return [(page, self._number(page))]
        found = []
        for sheet in sheets:
            page = _Page(path, sheet)
            try:
                found.append((page, self._number(page)))
            except _FitsNoTableError:
                self.left_out.append(sheet)
        return found

    def _number(self, page: _Page) -> int:
        """The table that a page is, by the name of the sheet, its columns, or what is in it."""
        grids = self._table.grids
        found = [
            number
            for number, grid in enumerate(grids)
            if page.sheet is not None
            and page.sheet.casefold() == sheet_title(grid.name or grid.title).casefold()
        ]
        if len(found) == 1:
            return found[0]
        found = self._by_columns(page)
        if len(found) != 1:
            found = [
                number for number in found or range(len(grids)) if self._can_be(page, number)
            ] or found
        if len(found) == 1:
            return found[0]
        titles = first_few([grids[number].title for number in found])
        wrong = f"it fits several tables: {titles}" if found else "it fits no table"
        kind = InputError if found else _FitsNoTableError
        raise kind(
            f"{wrong}; name files or sheets as the job does, or give them the columns of their "
            "tables",
            path=page.path,
        )

    def _by_columns(self, page: _Page) -> list[int]:
        """The tables whose dimensions, and whose variables, a page has columns for."""
        columns = page.columns()
        grids = self._table.grids
        found = [
            number
            for number, grid in enumerate(grids)
            if all(name in columns for name in grid.dimensions)
            and (not grid.variable or grid.variable in columns)
        ]
        most = max((len(grids[number].dimensions) for number in found), default=0)
        return [number for number in found if len(grids[number].dimensions) == most]

    def _can_be(self, page: _Page, number: int) -> bool:
        try:
            self.part(page, number)
        except InputError:
            return False
        return True


class _FitsNoTableError(InputError):
    """A page is none of the tables, as a sheet with notes."""
