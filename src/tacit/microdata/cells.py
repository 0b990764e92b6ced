"""`Cells`: the cells that records fall into, every total above them included."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt

from tacit.hierarchy import Hierarchy
from tacit.problem import Booleans, Floats, Integers
from tacit.table.grid import Grid
from tacit.table.totals import sparse_totals

SmallIntegers: TypeAlias = npt.NDArray[np.int32]

LOOKUP_FROM = 1 << 20
"""Leaf combinations up to this many are looked up in an array, however few records there are."""


def leaf_shape(dimensions: Mapping[str, Hierarchy]) -> tuple[int, ...]:
    """The number of finest codes of each dimension."""
    return tuple(int(hierarchy.is_leaf.sum()) for hierarchy in dimensions.values())


def leaf_strides(dimensions: Mapping[str, Hierarchy]) -> tuple[int, ...]:
    """How far apart the leaf keys of neighbouring finest codes are, for each dimension."""
    shape = leaf_shape(dimensions)
    return tuple(math.prod(shape[d + 1 :]) for d in range(len(shape)))


@dataclass(frozen=True, eq=False)
class Cells:
    """The finest cells that occur, and all their totals.

    A finest cell is known by its leaf key: its number row-major over the finest codes of all
    dimensions.

    Attributes:
        grid: All cells.
        parent: For each dimension and cell the next total, -1 where there is none.
        leaf_keys: The leaf keys that occur, increasing.
        leaf_cells: The cell of each leaf key.
    """

    grid: Grid
    parent: SmallIntegers
    leaf_keys: Integers
    leaf_cells: SmallIntegers

    @classmethod
    def above(cls, dimensions: Mapping[str, Hierarchy], leaf_keys: Integers) -> Self:
        """The cells with these leaf keys (increasing), and every total above them."""
        space = Grid(dimensions)
        leaves = np.unravel_index(leaf_keys, leaf_shape(dimensions))
        finest = np.zeros(len(leaf_keys), np.int64)
        for hierarchy, stride, leaf in zip(space.hierarchies, space.strides, leaves, strict=True):
            finest += np.flatnonzero(hierarchy.is_leaf)[leaf] * stride
        grid, _, _ = sparse_totals(Grid(dimensions, finest), {})
        parent = np.full((len(space.shape), grid.cell_count), -1, np.int32)
        for dimension in range(len(space.shape)):
            below, keys = grid.total_keys(dimension)
            parent[dimension, below] = grid.find(keys)
        return cls(grid, parent, leaf_keys, grid.find(finest).astype(np.int32))

    def find(self, leaf_keys: npt.NDArray[np.signedinteger]) -> SmallIntegers:
        """The cell of each leaf key, -1 for -1."""
        size = math.prod(leaf_shape(self.grid.dimensions))
        if size <= max(LOOKUP_FROM, 4 * len(leaf_keys)):
            # One more entry: that is where -1 looks.
            cells = np.full(size + 1, -1, np.int32)
            cells[self.leaf_keys] = self.leaf_cells
            found: SmallIntegers = cells[leaf_keys]
        else:
            place = np.searchsorted(self.leaf_keys, leaf_keys)
            found = np.where(leaf_keys < 0, np.int32(-1), self.leaf_cells[place])
        return found

    def add_up(self, finest: Floats) -> Floats:
        """Sums of the finest cells (zero elsewhere), added up to all totals."""
        sums = finest.copy()
        for dimension, hierarchy in enumerate(self.grid.hierarchies):
            level = hierarchy.level[self.grid.positions[:, dimension]]
            for depth in range(hierarchy.depth, 0, -1):
                part = np.flatnonzero(level == depth)
                sums += np.bincount(self.parent[dimension, part], sums[part], len(sums))
        return sums

    def restricted(self, kept: Booleans) -> Grid:
        """A grid of some of the cells."""
        return self.grid if kept.all() else Grid(self.grid.dimensions, self.grid.all_keys[kept])


def occurring(leaf_keys: npt.NDArray[np.signedinteger], size: int) -> Integers:
    """The distinct leaf keys, increasing, without -1."""
    if size <= max(LOOKUP_FROM, 4 * len(leaf_keys)):
        seen = np.zeros(size + 1, bool)
        seen[leaf_keys] = True
        return np.flatnonzero(seen[:size])
    distinct = np.unique(leaf_keys).astype(np.int64)
    return distinct[distinct >= 0]
