"""`Grid`: the cells of one table as combinations of codes, and the relations among them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.errors import TableError, unwritable
from tacit.hierarchy import Hierarchy
from tacit.problem import Booleans, Integers

Relations: TypeAlias = sparse.csr_array[np.float64, tuple[int, int]]

COMPILED_FROM = 50_000
"""Grids with fewer cells are done before compiled code is loaded."""

SPARSEST_COMPILED = 8
"""The compiled code visits every combination of codes: at most this many for each cell."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells at combinations of codes, one code of each dimension.

    A combination is numbered row-major over the codes of all dimensions, its key. Cells are in
    the order of their keys; combinations that do not occur are known to be empty.

    Attributes:
        dimensions: The hierarchy of each dimension.
        keys: The keys of the cells that occur, increasing; None where all combinations occur.
        cells: The number that each cell has in the table; None where it is the same as here.
        name: What to call it among linked tables; nothing where nobody named it.
        variable: What its values are, where linked tables have several response variables:
            cells of different variables are different cells.
    """

    dimensions: Mapping[str, Hierarchy]
    keys: Integers | None = None
    cells: Integers | None = None
    name: str = ""
    variable: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimensions", dict(self.dimensions))
        if not self.dimensions:
            raise TableError("a table needs at least one dimension")
        for name in self.dimensions:
            odd = unwritable(str(name))
            if odd is not None:
                raise TableError(f"dimension {odd}; rename it")
        if self.size > np.iinfo(np.int64).max:
            raise TableError(
                f"{' x '.join(str(size) for size in self.shape)} codes make more combinations "
                "than can be numbered; tabulate over fewer dimensions and link the tables"
            )
        if self.keys is not None and len(self.keys) == self.size:
            object.__setattr__(self, "keys", None)

    @property
    def title(self) -> str:
        """Its name, or its dimensions where it has none."""
        return self.name or self.dimension_names

    @property
    def dimension_names(self) -> str:
        """Its dimensions in words, with the variable where there are several."""
        names = " x ".join(self.dimensions)
        return f"{self.variable} by {names}" if self.variable else names

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """The hierarchies in the order of the dimensions."""
        return tuple(self.dimensions.values())

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of codes of each dimension."""
        return tuple(len(hierarchy) for hierarchy in self.hierarchies)

    @property
    def size(self) -> int:
        """The number of combinations of codes, whether they occur or not."""
        return math.prod(self.shape)

    @property
    def strides(self) -> tuple[int, ...]:
        """How far apart the keys of neighbouring codes are, for each dimension."""
        return tuple(math.prod(self.shape[d + 1 :]) for d in range(len(self.shape)))

    @property
    def cell_count(self) -> int:
        """The number of cells."""
        return self.size if self.keys is None else len(self.keys)

    @property
    def numbers(self) -> Integers:
        """The number in the table of each cell."""
        return np.arange(self.cell_count) if self.cells is None else self.cells

    @property
    def all_keys(self) -> Integers:
        """The key of each cell."""
        return np.arange(self.size) if self.keys is None else self.keys

    @cached_property
    def positions(self) -> Integers:
        """The position of each cell's code in its hierarchy, one column per dimension."""
        columns = [
            self.all_keys // stride % size
            for stride, size in zip(self.strides, self.shape, strict=True)
        ]
        return np.stack(columns, axis=1)

    def find(self, keys: Integers) -> Integers:
        """Which cell (counted in this grid) each key belongs to; -1 where it does not occur."""
        if self.keys is None:
            return keys
        place = np.searchsorted(self.keys, keys)
        place[place == len(self.keys)] = 0
        return np.where(self.keys[place] == keys, place, -1) if len(self.keys) else place - 1

    def label(self, key: int) -> str:
        """The combination of codes with this key, as `industry=A, region=North`.

        Where there are several variables it begins with the name of this one.
        """
        told = ", ".join(f"{name}={code}" for name, code in self.codes_at(key).items())
        return f"{self.variable}: {told}" if self.variable else told

    def codes_at(self, key: int) -> dict[str, str]:
        """The codes of the combination with this key."""
        codes = np.unravel_index(key, self.shape)
        items = zip(self.dimensions.items(), codes, strict=True)
        return {name: hierarchy.codes[code] for (name, hierarchy), code in items}

    def total_keys(self, dimension: int) -> tuple[Integers, Integers]:
        """The cells that have a total in one dimension, and the keys of their totals."""
        position = self.positions[:, dimension]
        below = np.flatnonzero(position)
        position = position[below]
        up = self.hierarchies[dimension].parent[position] - position
        return below, self.all_keys[below] + up * self.strides[dimension]

    def says_empty(self, keys: Integers) -> Booleans:
        """Which combinations that do not occur are known to be empty.

        A total of which no child occurs is not broken down: nothing is said of what lies below it.
        Below any other total, and below combinations that are empty, what does not occur is empty.
        """
        empty = np.zeros(len(keys), bool)
        if self.keys is None or not len(keys):
            return empty
        for dimension, (hierarchy, stride) in enumerate(
            zip(self.hierarchies, self.strides, strict=True)
        ):
            position = keys // stride % len(hierarchy)
            below = np.flatnonzero(position)
            up = hierarchy.parent[position[below]] - position[below]
            total = keys[below] + up * stride
            occurs = self.find(total) >= 0
            divided = np.isin(total, self.total_keys(dimension)[1])
            absent, place = np.unique(total[~occurs], return_inverse=True)
            divided[~occurs] = self.says_empty(absent)[place]
            empty[below] |= divided
        return empty & (self.find(keys) < 0)

    def strips(self) -> list[Integers]:
        """Cells in two dimensions by the columns below one parent, and by the rows below one.

        Each set holds the numbers in the table of all cells at a code with two children or more,
        and at these. There are none in other tables than those with two dimensions.
        """
        sets: list[Integers] = []
        if len(self.shape) != 2:
            return sets
        for dimension, hierarchy in enumerate(self.hierarchies):
            position = self.positions[:, dimension]
            below = np.flatnonzero(position)
            children = np.bincount(hierarchy.parent[1:], minlength=len(hierarchy))
            strip = np.concatenate([hierarchy.parent[position[below]], position])
            cell = np.concatenate([self.numbers[below], self.numbers])
            wide = children[strip] > 1
            strip, cell = strip[wide], cell[wide]
            order = np.argsort(strip, kind="stable")
            sets += np.split(cell[order], np.flatnonzero(np.diff(strip[order])) + 1)
        return [np.sort(cells) for cells in sets if len(cells)]

    @property
    def has_two_hierarchies(self) -> bool:
        """Whether codes have grandchildren in two dimensions or more."""
        return sum(bool((hierarchy.parent[1:] > 0).any()) for hierarchy in self.hierarchies) > 1

    def missing_totals(self, filled: Booleans) -> Integers:
        """Keys of totals that do not occur though one of the given cells lies below them."""
        if self.keys is None:
            return np.zeros(0, np.int64)
        missing = []
        for dimension in range(len(self.shape)):
            below, keys = self.total_keys(dimension)
            missing.append(keys[(self.find(keys) < 0) & filled[below]])
        return np.unique(np.concatenate(missing))

    def relations(self) -> Relations:
        """All relations, total = sum of its children, over the cells counted in this grid.

        Each relation has coefficient -1 at its total and 1 at the children that occur. They are
        ordered by dimension, then by the total's cell. A total of which no child occurs is not
        broken down and has no relation.
        """
        big = self.cell_count >= COMPILED_FROM
        if big and self.size <= SPARSEST_COMPILED * self.cell_count:
            return self._compiled_relations()
        return self._sorted_relations()

    def _compiled_relations(self) -> Relations:
        from tacit.table import kernels

        rows = entries = 0
        for hierarchy in self.hierarchies:
            lines = self.size // len(hierarchy)
            inside = int(np.count_nonzero(~hierarchy.is_leaf))
            rows += lines * inside
            entries += lines * (inside + len(hierarchy) - 1)
        dtype = _index_type(max(entries, self.size))
        cell: npt.NDArray[np.signedinteger] = np.arange(self.size, dtype=dtype)
        if self.keys is not None:
            cell = np.full(self.size, -1, dtype)
            cell[self.keys] = np.arange(len(self.keys), dtype=dtype)
        indptr = np.zeros(rows + 1, dtype)
        indices, data = np.empty(entries, dtype), np.empty(entries)
        row = entry = 0
        for hierarchy, stride in zip(self.hierarchies, self.strides, strict=True):
            size = len(hierarchy)
            outer = self.size // (size * stride)
            child = np.argsort(hierarchy.parent, kind="stable")[1:]
            first_child = np.searchsorted(hierarchy.parent[child], np.arange(size + 1))
            row, entry = kernels.write_relations(
                outer, size, stride, child, first_child, cell, indptr, indices, data, row, entry
            )
        if row < rows or entry < entries:
            # Copies free the memory kept for combinations that do not occur.
            indptr, indices, data = (
                indptr[: row + 1].copy(),
                indices[:entry].copy(),
                data[:entry].copy(),
            )
        return _csr(data, indices, indptr, self.cell_count)

    def _sorted_relations(self) -> Relations:
        indices: list[Integers] = []
        lengths: list[Integers] = []
        for dimension in range(len(self.shape)):
            child, keys = self.total_keys(dimension)
            total = self.find(keys)
            child, total = child[total >= 0], total[total >= 0]
            order = np.argsort(total, kind="stable")
            child, total = child[order], total[order]
            starts = np.flatnonzero(np.diff(total, prepend=-1))
            indices.append(np.insert(child, starts, total[starts]))
            lengths.append(np.diff(starts, append=len(total)) + 1)
        length = np.concatenate(lengths)
        entries = int(length.sum())
        dtype = _index_type(max(entries, self.cell_count))
        indptr = np.zeros(len(length) + 1, dtype)
        np.cumsum(length, out=indptr[1:])
        data = np.ones(entries)
        data[indptr[:-1]] = -1.0
        return _csr(data, np.concatenate(indices).astype(dtype), indptr, self.cell_count)


def linked_relations(grids: Sequence[Grid], cell_count: int) -> Relations:
    """The relations of several grids over the cells of their table, each relation once."""
    if len(grids) == 1 and grids[0].cells is None:
        return grids[0].relations()
    parts = []
    for grid in grids:
        part = grid.relations()
        indices = grid.numbers[part.indices]
        parts.append(
            sparse.csr_array((part.data, indices, part.indptr), (part.shape[0], cell_count))
        )
    A = sparse.csr_array(sparse.vstack(parts, format="csr"))
    A.sort_indices()
    return sparse.csr_array(A[_first_occurrences(A)])


def _first_occurrences(A: Relations) -> Integers:
    """The rows of a matrix with sorted indices, without those that repeat an earlier row."""
    length = np.diff(A.indptr)
    kept = []
    for size in np.unique(length):
        rows = np.flatnonzero(length == size)
        entries = A.indptr[rows][:, None] + np.arange(size)
        # A row and its negative say the same; cells counted from 1 can carry the sign.
        sign = A.data[entries] * A.data[entries[:, :1]]
        _, first = np.unique((A.indices[entries] + 1) * sign, axis=0, return_index=True)
        kept.append(rows[first])
    return np.sort(np.concatenate(kept)) if kept else np.zeros(0, np.int64)


def _index_type(largest: int) -> type[np.signedinteger]:
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64


def _csr(
    data: npt.NDArray[np.float64],
    indices: npt.NDArray[np.signedinteger],
    indptr: npt.NDArray[np.signedinteger],
    cell_count: int,
) -> Relations:
    A = sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, cell_count))
    # A total comes before its children in key order, so the cells of a relation increase.
    A.has_sorted_indices = True
    A.has_canonical_format = True
    return A
