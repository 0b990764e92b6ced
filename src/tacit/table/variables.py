"""Tables of several response variables: each by itself, and judged by itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError, about, nearest
from tacit.problem import Integers
from tacit.table.bounds import Bounds
from tacit.table.equations import Equation, read_equations
from tacit.table.former import Former
from tacit.table.judging import Rule, Verdict
from tacit.table.weighting import Weighting

if TYPE_CHECKING:
    from tacit.table.table import Table

AnyTable = TypeVar("AnyTable", bound="Table")

_NOT_COLUMNS = (
    "grids",
    "totals",
    "backend",
    "contributors",
    "holdings",
    "verdicts",
    "of_counts",
    "equations",
    "former",
)
_JUDGED = (
    "status",
    "reason",
    "weight",
    "lower",
    "upper",
    "lower_level",
    "upper_level",
    "sliding_level",
)


def joined(tables: Mapping[str, Table], equations: Sequence[str | Equation]) -> Table:
    """One table of several variables; see `Table.of_variables`."""
    if not tables:
        raise InputError("there are no variables; give a table for each")
    chosen = read_equations(equations, [*tables])
    first, *others = (
        table.replace(
            grids=tuple(dataclasses.replace(grid, variable=name) for grid in table.grids),
            equations=(),
        )
        for name, table in tables.items()
    )
    return first.link(*others).replace(equations=chosen)


def of_variable(table: AnyTable, variable: str) -> AnyTable:
    """The tables of one of several variables; see `Table.of_variable`."""
    if variable not in table.variables:
        raise InputError(f"there is no variable {variable!r}; {nearest(variable, table.variables)}")
    cells = np.flatnonzero(table.variable == table.variables.index(variable))
    number = np.full(table.cell_count, -1, np.int64)
    number[cells] = np.arange(len(cells))
    grids = [grid for grid in table.grids if grid.variable == variable]
    names = [item.name for item in dataclasses.fields(table) if item.name not in _NOT_COLUMNS]
    columns = {name: getattr(table, name) for name in names}
    return table.replace(
        grids=tuple(dataclasses.replace(grid, cells=number[grid.numbers]) for grid in grids),
        totals={
            name: code
            for name, code in table.totals.items()
            if any(name in grid.dimensions for grid in grids)
        },
        contributors=None if table.contributors is None else table.contributors.take(cells),
        holdings=None if table.holdings is None else table.holdings.take(cells),
        verdicts=tuple(each.among(number) for each in table.verdicts),
        equations=(),
        former=None if table.former is None else table.former.among(cells),
        **{name: column[cells] for name, column in columns.items() if column is not None},
    )


def applied_to_each(
    table: AnyTable,
    rules: Sequence[Rule],
    bounds: Bounds | None,
    weight: Any,
    how: Mapping[str, Any],
) -> AnyTable:
    """Each variable judged as a table of its own; arguments as of `Table.apply`."""
    columns: dict[str, npt.NDArray[Any]] = {}
    verdicts: list[Verdict] = []
    former: list[tuple[Former, Integers]] = []
    weighting = weight if weight is None or isinstance(weight, Weighting) else Weighting(weight)
    for place, rule in enumerate(rules):
        check = getattr(rule, "refuse_variables", None)
        if check is not None and not isinstance(rule, type):
            with about("rules", place):
                check(table.variables)
    for number, variable in enumerate(table.variables):
        cells = np.flatnonzero(table.variable == number)
        alone = of_variable(table, variable).apply(
            *rules,
            bounds=None if bounds is None else _of_cells(bounds, table.cell_count, cells),
            weight=None if weighting is None else _of_cells(weighting, table.cell_count, cells),
            **how,
        )
        for name in _JUDGED:
            column = getattr(alone, name)
            if column is not None:
                if name not in columns:
                    columns[name] = _nothing(name, table.cell_count)
                columns[name][cells] = column
        verdicts += [each.moved(cells) for each in alone.verdicts]
        if alone.former is not None:
            former.append((alone.former, cells))
    found = Former.joined(former, table.cell_count) if former else table.former
    return table.replace(verdicts=tuple(verdicts), former=found, **columns)


def _nothing(name: str, count: int) -> npt.NDArray[Any]:
    if name in ("status", "reason"):
        return np.full(count, "", object)
    return np.full(count, np.nan)


_Choice = TypeVar("_Choice", Bounds, Weighting)


def _of_cells(given: _Choice, count: int, cells: npt.NDArray[np.int64]) -> _Choice:
    """Bounds or weights for some of the cells, where they are given cell by cell."""
    found = {item.name: getattr(given, item.name) for item in dataclasses.fields(given)}
    chosen: dict[str, Any] = {
        name: np.asarray(column)[cells]
        for name, column in found.items()
        if column is not None and not isinstance(column, str) and np.shape(column) == (count,)
    }
    return dataclasses.replace(given, **chosen)
