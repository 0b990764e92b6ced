"""Totals computed from the finest cells."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tacit.hierarchy import Hierarchy
from tacit.problem import Floats, Integers
from tacit.table.grid import Grid


def sparse_totals(
    grid: Grid, value: Floats, count: Floats | None, top: Floats | None
) -> tuple[Grid, Integers, Floats, Floats | None, Floats | None]:
    """Add to the finest cells of a grid all totals that are not empty.

    Values and counts are added. Of the top contributions the largest of all children are kept,
    which is right as long as nobody contributes to two of the cells.

    Returns:
        The grid with totals; for each of its cells the finest cell that it was, or -1; its
        values; its counts; its top contributions.
    """
    keys, source = grid.all_keys, np.arange(grid.cell_count)
    for hierarchy, size, stride in zip(grid.hierarchies, grid.shape, grid.strides, strict=True):
        position = keys // stride % size
        for level in range(hierarchy.depth, 0, -1):
            at_level = np.flatnonzero(hierarchy.level[position] == level)
            up = hierarchy.parent[position[at_level]] - position[at_level]
            total, group = np.unique(keys[at_level] + up * stride, return_inverse=True)
            added = len(total)
            value = np.append(value, np.bincount(group, value[at_level], added))
            if count is not None:
                count = np.append(count, np.bincount(group, count[at_level], added))
            if top is not None:
                top = np.concatenate([top, _largest(top[at_level], group, added)])
            keys = np.append(keys, total)
            position = np.append(position, total // stride % size)
            source = np.append(source, np.full(added, -1))
    order = np.argsort(keys)
    return (
        Grid(grid.dimensions, keys[order]),
        source[order],
        value[order],
        None if count is None else count[order],
        None if top is None else top[order],
    )


def _largest(top: Floats, group: Integers, groups: int) -> Floats:
    """The largest contributions of each group of rows, as many as a row has."""
    width = top.shape[1]
    merged = np.full((groups, width), np.nan)
    entry_group = np.repeat(group, width)
    amount = top.ravel()
    there = ~np.isnan(amount)
    entry_group, amount = entry_group[there], amount[there]
    order = np.lexsort((-np.abs(amount), entry_group))
    entry_group, amount = entry_group[order], amount[order]
    first = np.searchsorted(entry_group, entry_group)
    rank = np.arange(len(amount)) - first
    kept = rank < width
    merged[entry_group[kept], rank[kept]] = amount[kept]
    return merged


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
            total[...] = largest_first(both)[..., : full.shape[-1]]
    return full


def largest_first(top: Floats) -> Floats:
    """Contributions sorted by size along the last axis, missing ones last."""
    order = np.argsort(-np.abs(top), axis=-1, kind="stable")
    return np.take_along_axis(top, order, axis=-1)


def _room_for_totals(leaves: Floats, dimensions: Mapping[str, Hierarchy], nothing: float) -> Floats:
    hierarchies = tuple(dimensions.values())
    shape = tuple(len(hierarchy) for hierarchy in hierarchies)
    full = np.full(shape + leaves.shape[len(shape) :], nothing)
    full[np.ix_(*[np.flatnonzero(hierarchy.is_leaf) for hierarchy in hierarchies])] = leaves
    return full
