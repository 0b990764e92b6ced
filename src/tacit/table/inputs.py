"""Data frames and arrays as the arguments of a `Table`: cells in order, with their totals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Integers
from tacit.errors import TableError, about
from tacit.hierarchy import Hierarchy
from tacit.table.contributors import CONTRIBUTOR, HOLDING, read_largest
from tacit.table.frames import FrameReader
from tacit.table.grid import Grid
from tacit.table.labels import name_cells
from tacit.table.status import CellStatus, status_array
from tacit.table.totals import TOPS, dense_tops, dense_totals, sparse_totals


@dataclass(frozen=True, kw_only=True)
class FrameColumns:
    """The columns of a frame from which those of a table are read, by the table's names.

    Attributes:
        added: Columns that are added up where totals are computed; None for those not given.
        tops: Columns with the largest contributions, and with what is known about each.
        contributors: For each column of `top`, the one with the contributor's code.
        holdings: The same for `holding_top`.
        given: Columns that totals have only if they are given.
        status: The column with the status, if there is one.
    """

    added: Mapping[str, str | None]
    tops: Mapping[str, Sequence[str]]
    contributors: Sequence[str]
    holdings: Sequence[str]
    given: Mapping[str, str | None]
    status: str | None


def read_frame(
    frame: Any, dimensions: Mapping[str, Hierarchy | None], names: FrameColumns, cells: str
) -> dict[str, Any]:
    """The arguments of a table from a data frame; see `Table.from_frame`."""
    reader = FrameReader(frame)

    def codes(name: str, hierarchy: Hierarchy | None) -> tuple[Hierarchy, Integers]:
        with about("dimensions", name):
            return reader.codes(name, hierarchy)

    def numbers(column: str, *key: str | int) -> Floats:
        with about(*key):
            return reader.numbers(column)[order]

    read = {name: codes(name, given) for name, given in dimensions.items()}
    grid = Grid({name: hierarchy for name, (hierarchy, _) in read.items()})
    keys = np.zeros(reader.row_count, np.int64)
    is_finest = np.ones(reader.row_count, bool)
    for stride, (hierarchy, position) in zip(grid.strides, read.values(), strict=True):
        keys += position * stride
        is_finest &= hierarchy.is_leaf[position]
    order = np.argsort(keys, kind="stable")
    keys, is_finest = keys[order], is_finest[order]
    _refuse_keys(
        grid, keys[1:][np.diff(keys) == 0], "cells occur more than once: {}; keep one of each"
    )
    grid = Grid(grid.dimensions, keys)
    finest_only = bool(is_finest.all()) if cells == "auto" else cells == "finest"
    if cells not in ("auto", "all", "finest"):
        raise TableError(f"cells is {cells!r}; it can be auto, all or finest", key=("cells",))

    found: dict[str, Any] = {
        field: numbers(column, field) for field, column in names.added.items() if column is not None
    }
    for field, places in names.tops.items():
        if places:
            parts = [numbers(name, field, place) for place, name in enumerate(places)]
            found[field] = np.stack(parts, axis=1)
    source = np.arange(len(order))
    largest: dict[str, Any] = {
        "contributors": read_largest(
            reader, CONTRIBUTOR, names.tops["top"], names.contributors, order
        ),
        "holdings": read_largest(reader, HOLDING, names.tops["holding_top"], names.holdings, order),
    }
    if finest_only:
        _refuse_keys(
            grid,
            keys[~is_finest],
            "cells are totals: {}; give the finest cells only, or read with cells='all'",
        )
        finest, largest = (
            largest,
            {
                field: None if each is None else each.with_totals(grid)
                for field, each in largest.items()
            },
        )
        finest_grid = grid
        grid, source, found = sparse_totals(grid, found)
        for field, leader, counted in (
            ("contributors", "top", "count"),
            ("holdings", "holding_top", "holding_count"),
        ):
            # What follows the order of contributions cannot be put together.
            if largest[field] is None or counted not in found or found.keys() & set(TOPS[leader]):
                continue
            missing = np.maximum(found[counted][source >= 0] - finest[field].listed, 0.0)
            _, _, below = sparse_totals(finest_grid, {"missing": missing})
            found[counted], found[leader] = largest[field].counted_once(
                found[counted], found[leader], (source < 0) & (below["missing"] == 0)
            )
    else:
        filled = found["count"] != 0 if "count" in found else np.ones(len(keys), bool)
        _refuse_keys(
            grid,
            grid.missing_totals(filled),
            "totals are missing: {}; add them, or give the finest cells only and have all "
            "totals computed",
        )
    found |= {
        field: np.where(source < 0, np.nan, numbers(column, field)[source])
        for field, column in names.given.items()
        if column is not None
    }
    statuses: Any = None
    if names.status is not None:
        with about("status"):
            given = status_array(reader.entries(names.status), len(order))[order]
        statuses = np.where(source < 0, CellStatus.SAFE.value, given[source])
    return {
        "grids": (grid,),
        "status": statuses,
        "backend": reader.backend,
        **largest,
        **found,
    }


def read_cube(
    values: npt.ArrayLike,
    dimensions: Mapping[str, Hierarchy],
    counts: npt.ArrayLike | None,
    top: npt.ArrayLike | None,
) -> dict[str, Any]:
    """The arguments of a table from an array; see `Table.from_cube`."""
    grid = Grid(dimensions)
    cube = np.array(values, np.float64)
    leaves = tuple(int(hierarchy.is_leaf.sum()) for hierarchy in grid.hierarchies)
    if cube.shape not in (leaves, grid.shape):
        raise TableError(
            f"the values have shape {cube.shape}; it needs {leaves} for the leaves of each "
            f"dimension or {grid.shape} for all codes"
        )
    extra = {
        "counts": None if counts is None else np.array(counts, np.float64),
        "top": None if top is None else np.array(top, np.float64),
    }
    for name, array in extra.items():
        if array is not None and array.shape[: cube.ndim] != cube.shape:
            raise TableError(f"{name} has shape {array.shape}; the values have {cube.shape}")
    count, tops = extra["counts"], extra["top"]
    if cube.shape != grid.shape:
        cube = dense_totals(cube, grid.dimensions)
        count = None if count is None else dense_totals(count, grid.dimensions)
        tops = None if tops is None else dense_tops(tops, grid.dimensions)
    return {
        "grids": (grid,),
        "value": cube.ravel(),
        "count": None if count is None else count.ravel(),
        "top": None if tops is None else tops.reshape(cube.size, -1),
    }


def _refuse_keys(grid: Grid, keys: Iterable[int], text: str) -> None:
    names = [grid.label(key) for key in dict.fromkeys(int(key) for key in keys)]
    if names:
        raise TableError(text.format(name_cells(names)), names)
