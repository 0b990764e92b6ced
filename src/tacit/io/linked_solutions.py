"""Published files of linked tables, one for each table, as one solution of the linked problem."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tacit.errors import InputError, first_few
from tacit.io.cells import read_columns
from tacit.io.published_cells import SUFFIXES, read_published_cells
from tacit.outcome import Intervals, Solution, Suppression, Values
from tacit.problem import ADDITIVITY_TOLERANCE, Problem
from tacit.table import Grid, Table


def read_linked_solution(
    paths: Sequence[Path],
    table: Table,
    *,
    written: Mapping[str, Sequence[Path]] | None = None,
    value: str = "value",
) -> Solution:
    """Read what is published of linked tables from a file for each of them.

    A file belongs to the table that it was written for, or else to the one whose dimensions are
    among its columns. A cell of several tables is known as soon as one of them publishes it.

    Args:
        paths: The files, in any order.
        table: The linked tables, with names.
        written: Files that are known to belong to a table, by its name.
        value: The name of the column of values, where there is one variable.

    Raises:
        InputError: A file cannot be read, fits no table or several, or a table has none.
    """
    chosen = _assigned(paths, table, written or {})
    missing = [grid.title for number, grid in enumerate(table.grids) if number not in chosen]
    if missing:
        raise InputError(
            f"there is no file for {'table' if len(missing) == 1 else 'tables'} "
            f"{first_few(missing)}; name one for each of the linked tables, or the JSON"
        )
    problem = table.problem("none")
    parts = {
        number: _of_table(path, table, table.grids[number], problem, value)
        for number, path in chosen.items()
    }
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


def _of_table(path: Path, table: Table, grid: Grid, problem: Problem, value: str) -> Solution:
    cells = grid.numbers
    part = Problem(
        value=problem.value[cells],
        lower=problem.lower[cells],
        upper=problem.upper[cells],
        labels=[table.labels[cell] for cell in cells.tolist()],
    )
    codes = {name: table.codes(name)[cells] for name in grid.dimensions}
    return read_published_cells(
        path, part, codes, grid.variable or value, hierarchies=grid.dimensions
    )


def _values(
    parts: Mapping[int, Solution], chosen: Mapping[int, Path], table: Table, problem: Problem
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
                path=chosen[number],
            )
        size = ADDITIVITY_TOLERANCE * np.maximum(np.abs(own), 1.0)
        off = cells[np.abs(found[cells] - own) > size]
        if len(off):
            raise InputError(
                f"another table publishes other values of the same cells: "
                f"{problem.name_cells(off)}; the files do not belong together",
                path=chosen[number],
            )
        found[cells] = own
    return Values(found)


def _assigned(
    paths: Sequence[Path], table: Table, written: Mapping[str, Sequence[Path]]
) -> dict[int, Path]:
    names = [grid.name for grid in table.grids]
    known = {
        os.path.realpath(path): names.index(name)
        for name, files in written.items()
        for path in files
        if name in names
    }
    chosen: dict[int, Path] = {}
    for path in paths:
        if not path.name.lower().endswith(SUFFIXES):
            raise InputError(
                f"several files are those of linked tables, as {', '.join(SUFFIXES)}; leave out "
                "all others",
                path=path,
            )
        number = known.get(os.path.realpath(path))
        if number is None:
            number = _by_columns(path, table)
        if number in chosen:
            raise InputError(
                f"table {table.grids[number].title} has a file already: {chosen[number]}",
                path=path,
            )
        chosen[number] = path
    return chosen


def _by_columns(path: Path, table: Table) -> int:
    """The table whose dimensions, and whose variable, a file has columns for."""
    columns = read_columns(path)
    found = [
        number
        for number, grid in enumerate(table.grids)
        if all(name in columns for name in grid.dimensions)
        and (not grid.variable or grid.variable in columns)
    ]
    most = max((len(table.grids[number].dimensions) for number in found), default=0)
    found = [number for number in found if len(table.grids[number].dimensions) == most]
    if len(found) != 1:
        titles = first_few([table.grids[number].title for number in found])
        wrong = f"its columns fit several tables: {titles}" if found else "it fits no table"
        raise InputError(
            f"{wrong}; name the files as the job does, or give them the columns of their tables",
            path=path,
        )
    return found[0]
