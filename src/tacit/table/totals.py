"""Totals computed from the finest cells."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tacit.hierarchy import Hierarchy
from tacit.problem import Floats, Integers
from tacit.table.grid import Grid

TOPS = {"top": ("top_weight", "top_requested"), "holding_top": ()}
"""Columns with the largest contributions, and the columns that say more about each of them."""


def sparse_totals(
    grid: Grid, columns: Mapping[str, Floats]
) -> tuple[Grid, Integers, dict[str, Floats]]:
    """Add to the finest cells of a grid all totals that are not empty.

    Columns are added up. Of the top contributions the largest of all children are kept,
    which is right as long as nobody contributes to two of the cells.

    Returns:
        The grid with totals; for each of its cells the finest cell that it was, or -1; its
        columns.
    """
    columns = dict(columns)
    followers = [name for names in TOPS.values() for name in names]
    keys, source = grid.all_keys, np.arange(grid.cell_count)
    for hierarchy, size, stride in zip(grid.hierarchies, grid.shape, grid.strides, strict=True):
        position = keys // stride % size
        for level in range(hierarchy.depth, 0, -1):
            at_level = np.flatnonzero(hierarchy.level[position] == level)
            up = hierarchy.parent[position[at_level]] - position[at_level]
            total, group = np.unique(keys[at_level] + up * stride, return_inverse=True)
            added = len(total)
            for name in [name for name in columns if name not in followers]:
                column = columns[name]
                if name not in TOPS:
                    sums = np.bincount(group, column[at_level], added)
                    columns[name] = np.append(column, sums)
                    continue
                place, chosen = _largest(column[at_level], group)
                for tied in (name, *TOPS[name]):
                    if tied in columns:
                        merged = np.full((added, columns[tied].shape[1]), np.nan)
                        merged[place] = columns[tied][at_level].ravel()[chosen]
                        columns[tied] = np.concatenate([columns[tied], merged])
            keys = np.append(keys, total)
            position = np.append(position, total // stride % size)
            source = np.append(source, np.full(added, -1))
    order = np.argsort(keys)
    sorted_columns = {name: column[order] for name, column in columns.items()}
    return Grid(grid.dimensions, keys[order]), source[order], sorted_columns


def _largest(top: Floats, group: Integers) -> tuple[tuple[Integers, Integers], Integers]:
    """Of each group of rows as many of the largest entries as a row has.

    Returns:
        The group and rank of each entry that is kept, and its number in `top.ravel()`.
    """
    width = top.shape[1]
    entry_group = np.repeat(group, width)
    amount = top.ravel()
    entry = np.flatnonzero(~np.isnan(amount))
    entry = entry[np.lexsort((-np.abs(amount[entry]), entry_group[entry]))]
    entry_group = entry_group[entry]
    rank = np.arange(len(entry)) - np.searchsorted(entry_group, entry_group)
    kept = rank < width
    return (entry_group[kept], rank[kept]), entry[kept]


def dense_totals(leaves: Floats, dimensions: Mapping[str, Hierarchy]) -> Floats:
    """An array over the leaves of each dimension, extended to all codes by adding up."""
    full = _room_for_totals(leaves, dimensions, 0.0)
    for axis, hierarchy in enumerate(dimensions.values()):
        along = np.moveaxis(full, axis, 0)
        for position in range(len(hierarchy) - 1, 0, -1):
            along[hierarchy.parents[position]] += along[position]
    return full


def dense_tops(leaves: Floats, dimensions: Mapping[str, Hierarchy]) -> Floats:
    """Top contributions (last axis) over the leaves, extended to all codes."""
    full = _room_for_totals(leaves, dimensions, np.nan)
    for axis, hierarchy in enumerate(dimensions.values()):
        along = np.moveaxis(full, axis, 0)
        for position in range(len(hierarchy) - 1, 0, -1):
            total = along[hierarchy.parents[position]]
            both = np.concatenate([total, along[position]], axis=-1)
            order = largest_first(both)[..., : full.shape[-1]]
            total[...] = np.take_along_axis(both, order, axis=-1)
    return full


def largest_first(top: Floats) -> Integers:
    """The order of contributions by size along the last axis, missing ones last."""
    return np.argsort(-np.abs(top), axis=-1, kind="stable")


def _room_for_totals(leaves: Floats, dimensions: Mapping[str, Hierarchy], nothing: float) -> Floats:
    hierarchies = tuple(dimensions.values())
    shape = tuple(len(hierarchy) for hierarchy in hierarchies)
    full = np.full(shape + leaves.shape[len(shape) :], nothing)
    full[np.ix_(*[np.flatnonzero(hierarchy.is_leaf) for hierarchy in hierarchies])] = leaves
    return full
