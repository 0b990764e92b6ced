"""The columns of a table: checked when it is made, filled where nothing is given, as a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Booleans, Floats
from tacit.errors import TableError, first_few
from tacit.table.labels import name_cells
from tacit.table.status import CellStatus, status_array
from tacit.table.totals import TOPS, largest_first

if TYPE_CHECKING:
    from tacit.table.table import Table

COUNTS = ("count", "weighted_count", "holding_count", "requested")
OPTIONAL = (
    *COUNTS,
    "shadow",
    "weight",
    "lower",
    "upper",
    "lower_level",
    "upper_level",
    "sliding_level",
)


def checked(table: Table) -> dict[str, npt.NDArray[Any]]:
    """The columns of a table that is being made, as arrays of their types.

    Raises:
        TableError: A column has another shape, or a cell contradicts itself.
    """
    value = np.array(table.value, np.float64)
    n = len(value)
    found: dict[str, npt.NDArray[Any]] = {"value": _shaped("value", value, (n,))}
    refuse_cells(table, ~np.isfinite(value), "the value is missing or infinite")
    for name in OPTIONAL:
        if getattr(table, name) is not None:
            found[name] = _shaped(name, np.array(getattr(table, name), np.float64), (n,))
    for leader, followers in TOPS.items():
        found |= _checked_tops(table, n, leader, followers)
    status = status_array(table.status, n)
    if table.count is not None:
        count = found["count"]
        nobody = count == 0
        refuse_cells(table, count < 0, "the count is negative")
        refuse_cells(table, nobody & (value != 0), "there is a value but the count is zero")
        status[nobody & (status == CellStatus.SAFE)] = CellStatus.EMPTY
    found["status"] = _shaped("status", status, (n,))
    if table.reason is not None:
        found["reason"] = _shaped("reason", np.array(table.reason, dtype=object), (n,))
    for largest in (table.contributors, table.holdings):
        if largest is not None and len(largest) != n:
            raise TableError(f"contributors are given for {len(largest)} cells, not for {n}")
    return found


def _shaped(name: str, array: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    if array.shape != shape:
        raise TableError(
            f"{name} has shape {array.shape}; it needs one entry for each of {shape[0]} cells"
            + (f" and {shape[1]} contributions" if len(shape) > 1 else "")
        )
    return array


def _checked_tops(
    table: Table, n: int, leader: str, followers: Sequence[str]
) -> dict[str, npt.NDArray[Any]]:
    """Largest contributions in order, and what is known about each in the same order."""
    given = {
        name: np.array(getattr(table, name), np.float64)
        for name in (leader, *followers)
        if getattr(table, name) is not None
    }
    if not given:
        return {}
    if leader not in given:
        raise TableError(f"{first_few([*given])} is given without {leader}; give both")
    shape = (n, *given[leader].shape[1:2])
    order = largest_first(given[leader])
    return {
        name: _shaped(
            name,
            np.take_along_axis(array, order, axis=1) if array.shape == shape else array,
            shape,
        )
        for name, array in given.items()
    }


def refuse_cells(table: Table, bad: Booleans, text: str) -> None:
    """Refuse cells, and name them.

    Raises:
        TableError: There are such cells.
    """
    cells = np.flatnonzero(bad)
    if len(cells):
        names = [table.labels[cell] for cell in cells.tolist()]
        raise TableError(f"{text}: {name_cells(names)}; correct the cells", names)


def filled(table: Table, name: str, default: float | Floats) -> Floats:
    """A column, with something else where nothing is given."""
    column: Floats | None = getattr(table, name)
    if column is None:
        return np.array(np.broadcast_to(default, table.cell_count), np.float64)
    return np.where(np.isnan(column), default, column)


def as_frame(table: Table) -> dict[str, npt.NDArray[Any]]:
    """All columns by name, those that tell cells apart first; see `Table.to_frame`."""
    cells: dict[str, npt.NDArray[Any]] = {"value": table.value}
    for name in COUNTS:
        column = getattr(table, name)
        if column is not None:
            whole = bool(np.all(column == np.floor(column)))
            cells[name] = column.astype(np.int64) if whole else column
    for leader, followers in TOPS.items():
        for name in (leader, *followers):
            if getattr(table, name) is not None:
                ranked = enumerate(getattr(table, name).T, start=1)
                cells |= {f"{name}_{rank}": column for rank, column in ranked}
    cells["status"] = table.status
    if table.reason is not None:
        cells["reason"] = table.reason
    for name in OPTIONAL:
        if name not in COUNTS and getattr(table, name) is not None:
            cells[name] = getattr(table, name)
    found: dict[str, npt.NDArray[Any]] = dict(table.cell_keys())
    for name, column in cells.items():
        found[f"cell_{name}" if name in found else name] = column.copy()
    return found
