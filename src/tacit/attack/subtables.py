"""Find the subtables of a table from its relations alone.

A subtable is a simple table without hierarchies: the product of one relation, a total with its
parts, in each of its dimensions. A hierarchical table is many of them, joined at their margins:
a part here is a total there. Nothing but the relations is needed to tell them apart.

Relations that share their total cross when every part of the one and every part of the other
have a cell in common below them, and the lines of the grid that these cells form are relations
again. Relations with a common total of which each crosses each span a subtable; where a total is
broken down in several ways, or tables are linked, there are several such sets. Slices of larger
subtables are no subtables of their own, and relations that cross with no other stand alone, as
subtables with one dimension.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.problem import Booleans, Integers, totals_of

Hashes = npt.NDArray[np.uint64]

_DEEPEST = 100
"""Tables have fewer levels; where relations form cycles, levels have no limit."""


@dataclass(frozen=True, eq=False)
class Subtables:
    """Subtables as grids of cells, those nearer to the grand total first.

    A grid is stored row-major. Coordinate 0 of a dimension is the total, the others are its
    parts. Relations that have no total, or coefficients other than 1 and -1, come last: they
    have one dimension and no cell at coordinate 0 (-1 stands there).

    Attributes:
        shape: The number of coordinates of each subtable in each dimension; 1 in dimensions
            that it does not have.
        start: Where the grid of each subtable begins in `cells`, and the end of the last.
        cells: The cell at each place of the grids, -1 where there is none.
        line: For each place and dimension the relation that runs through it; -1 where there
            is none.
        level: How far below a grand total each cell is.
    """

    shape: Integers
    start: Integers
    cells: Integers
    line: Integers
    level: Integers

    def __len__(self) -> int:
        return len(self.shape)

    @property
    def dimension_count(self) -> Integers:
        """The number of dimensions of each subtable."""
        return np.asarray((self.shape > 1).sum(axis=1))

    @property
    def has_total(self) -> Booleans:
        """Whether each subtable has a total: all but odd relations do."""
        return self.cells[self.start[:-1]] >= 0

    def grid(self, number: int) -> Integers:
        """The cells of one subtable, one axis for each of its dimensions."""
        shape = self.shape[number]
        flat = self.cells[self.start[number] : self.start[number + 1]]
        return flat.reshape(shape[shape > 1])

    @classmethod
    def of(cls, relations: sparse.csr_array[Any, Any]) -> Subtables:
        """Find the subtables of a table."""
        return _Finder(relations).subtables()


@dataclass(frozen=True, eq=False)
class _Products:
    """Some products with the same number of dimensions.

    Attributes:
        axes: Their axes: the relations through the common total, one column per dimension.
        shape: The number of coordinates in each dimension.
        start: Where each grid begins, and the end of the last.
        owner: For each place its product.
        coordinate: For each place and dimension its coordinate.
        cells: For each place its cell, -1 where there is none.
        line: For each place and dimension the relation through it, -1 where there is none.
    """

    axes: Integers
    shape: Integers
    start: Integers
    owner: Integers
    coordinate: Integers
    cells: Integers
    line: Integers

    def take(self, chosen: Booleans) -> _Products:
        """Some of the products."""
        here = chosen[self.owner]
        number = np.cumsum(chosen) - 1
        size = np.diff(self.start)[chosen]
        return _Products(
            self.axes[chosen],
            self.shape[chosen],
            np.concatenate([[0], np.cumsum(size)]),
            number[self.owner[here]],
            self.coordinate[here],
            self.cells[here],
            self.line[here],
        )


class _Finder:
    """Relations in the forms in which they are looked up."""

    def __init__(self, A: sparse.csr_array[Any, Any]):
        m, n = A.shape
        rng = np.random.default_rng(20_021_107)
        self._n = n
        as_part = rng.integers(0, 2**63, n, np.uint64)
        as_total = rng.integers(0, 2**63, n, np.uint64)
        self._as_part, self._as_total = as_part, as_total
        row = np.repeat(np.arange(m), np.diff(A.indptr))
        total = totals_of(A)
        total[row[np.abs(A.data) != 1]] = -1
        usual = total >= 0
        is_part = usual[row] & (A.indices != total[row])
        part_row, part = row[is_part], A.indices[is_part].astype(np.int64)
        # A relation is known by the cells in it: lines of a grid are found by what they hold.
        signature = np.zeros(m, np.uint64)
        np.add.at(signature, part_row, as_part[part])
        signature[usual] += as_total[total[usual]]
        rows = np.flatnonzero(usual)
        self._signature, first = np.unique(signature[rows], return_index=True)
        self._signed = rows[first]
        distinct = np.zeros(m, bool)
        distinct[self._signed] = True
        keep = distinct[part_row]
        part_row, part = part_row[keep], part[keep]
        self._total = np.where(distinct, total, -1)
        self._parts = part
        self._first = np.searchsorted(part_row, np.arange(m + 1))
        self._odd = np.flatnonzero(~usual & (np.diff(A.indptr) > 0))
        self._A = A
        self._below, self._cell_below = _common_parts(self._total[part_row], part, n)
        self.level = _levels(self._total[part_row], part, n)

    def subtables(self) -> Subtables:
        """All subtables."""
        found: list[_Products] = []
        slices: Hashes = np.zeros(0, np.uint64)
        covered = np.zeros(self._A.shape[0], bool)
        cliques = self._cliques()
        broken: list[Integers] = []
        for k in sorted(cliques, reverse=True):
            axes = cliques[k]
            if k == 2 and broken:
                axes = np.unique(np.concatenate([axes, *broken]), axis=0)
            axes = axes[~np.isin(_key(axes), slices)]
            products, sound = self._products(axes)
            if not sound.all():
                broken += [
                    axes[~sound][:, list(pair)] for pair in itertools.combinations(range(k), 2)
                ]
                products = products.take(sound)
            if k > 2:
                slices = np.concatenate([slices, *_slices(products)])
            covered[products.line[products.line >= 0]] = True
            found.append(products)
        alone = np.flatnonzero((self._total >= 0) & ~covered)
        found.append(self._products(alone[:, None])[0])
        return self._together(found)

    def _cliques(self) -> dict[int, Integers]:
        """Sets of relations of which each crosses each, by how many they are."""
        pairs = self._crossing_pairs()
        found: dict[int, list[Integers]] = {2: []}
        total = self._total[pairs[:, 0]]
        order = np.argsort(total, kind="stable")
        pairs, total = pairs[order], total[order]
        head, begin, count = np.unique(total, return_index=True, return_counts=True)
        # Relations of a total are numbered from 0 within it; totals whose relations cross in
        # the same way are then treated together.
        members, first_member, place = self._members(pairs, head, count)
        size = np.diff(first_member)
        patterns: dict[tuple[int, bytes], list[int]] = {}
        complete = count == size * (size - 1) // 2
        for number in np.flatnonzero(~complete).tolist():
            here = slice(begin[number], begin[number] + count[number])
            patterns.setdefault((int(size[number]), place[here].tobytes()), []).append(number)
        for k in np.unique(size[complete]).tolist():
            chosen = first_member[:-1][complete & (size == k)]
            found.setdefault(k, []).append(members[chosen[:, None] + np.arange(k)])
        for (k, pattern), numbers in patterns.items():
            edges = np.frombuffer(pattern, place.dtype).reshape(-1, 2)
            for clique in _maximal_cliques(k, edges):
                axes = members[first_member[numbers][:, None] + np.array(clique)]
                found.setdefault(len(clique), []).append(axes)
        return {k: np.concatenate([np.zeros((0, k), np.int64), *axes]) for k, axes in found.items()}

    def _members(
        self, pairs: Integers, head: Integers, count: Integers
    ) -> tuple[Integers, Integers, Integers]:
        """The relations of each total, where they begin, and the pairs numbered within."""
        number = np.repeat(np.arange(len(head)), count)
        m = self._A.shape[0]
        keys = np.unique(np.concatenate([number * m + pairs[:, 0], number * m + pairs[:, 1]]))
        first = np.searchsorted(keys, np.arange(len(head) + 1) * m)
        place = np.searchsorted(keys, number[:, None] * m + pairs) - first[number][:, None]
        return keys % m, first, place

    def _crossing_pairs(self) -> Integers:
        """Pairs of relations with the same total that cross, the smaller number first."""
        rows = np.flatnonzero(self._total >= 0)
        order = rows[np.argsort(self._total[rows], kind="stable")]
        total = self._total[order]
        pairs = []
        for apart in range(1, len(order)):
            same = np.flatnonzero(total[apart:] == total[:-apart])
            if len(same) == 0:
                break
            pairs.append(np.stack([order[same], order[same + apart]], axis=1))
        if not pairs:
            return np.zeros((0, 2), np.int64)
        candidates = np.concatenate(pairs)
        candidates = candidates[self._may_cross(candidates)]
        _, sound = self._products(candidates)
        return candidates[sound]

    def _may_cross(self, pairs: Integers) -> Booleans:
        """Whether any two parts have a cell in common below them: a cheap first test."""
        found = np.zeros(len(pairs), bool)
        length = np.diff(self._first)
        size = length[pairs[:, 0]] * length[pairs[:, 1]]
        owner = np.repeat(np.arange(len(pairs)), size)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size)
        width = length[pairs[:, 1]][owner]
        p = self._parts[self._first[pairs[owner, 0]] + place // width]
        q = self._parts[self._first[pairs[owner, 1]] + place % width]
        found[owner[self._lookup(p, q) >= 0]] = True
        return found

    def _lookup(self, p: Integers, q: Integers) -> Integers:
        """The one cell that is part of relations with totals p and q; -1 if none or several."""
        key = np.minimum(p, q) * self._n + np.maximum(p, q)
        place = np.searchsorted(self._below, key)
        place[place == len(self._below)] = 0
        if len(self._below) == 0:
            return np.full(len(p), -1, np.int64)
        hit = (self._below[place] == key) & (p >= 0) & (q >= 0)
        return np.where(hit, self._cell_below[place], -1)

    def _products(self, axes: Integers) -> tuple[_Products, Booleans]:
        """Fill the grids that relations with common totals span; and are they sound?"""
        count, k = axes.shape
        shape = np.diff(self._first)[axes] + 1
        size = shape.prod(axis=1)
        start = np.concatenate([[0], np.cumsum(size)])
        owner = np.repeat(np.arange(count), size)
        place = np.arange(len(owner)) - start[owner]
        stride = np.ones_like(shape)
        for d in range(k - 2, -1, -1):
            stride[:, d] = stride[:, d + 1] * shape[:, d + 1]
        coordinate = place[:, None] // stride[owner] % shape[owner]
        inside = coordinate > 0
        free = inside.sum(axis=1)
        cells = np.full(len(owner), -1, np.int64)
        if count:
            cells[start[:-1]] = self._total[axes[:, 0]]
        for d in range(k):
            on_axis = np.flatnonzero((free == 1) & inside[:, d])
            first = self._first[axes[owner[on_axis], d]]
            cells[on_axis] = self._parts[first + coordinate[on_axis, d] - 1]
        for level in range(2, k + 1):
            here = np.flatnonzero(free == level)
            d = np.argmax(inside[here], axis=1)
            e = k - 1 - np.argmax(inside[here][:, ::-1], axis=1)
            above_d = here - coordinate[here, d] * stride[owner[here], d]
            above_e = here - coordinate[here, e] * stride[owner[here], e]
            cells[here] = self._lookup(cells[above_d], cells[above_e])
        line = np.full((len(owner), k), -1, np.int64)
        sound = np.ones(count, bool)
        for d in range(k):
            head = np.arange(len(owner)) - coordinate[:, d] * stride[owner, d]
            line[:, d], fits = self._lines(cells, head, inside[:, d])
            sound[owner[~fits]] = False
        if k > 1:
            # Two relations whose parts have nothing in common below them do not cross.
            filled = np.bincount(owner[(free == k) & (cells >= 0)], minlength=count)
            sound &= filled > 0
        return _Products(axes, shape, start, owner, coordinate, cells, line), sound

    def _lines(
        self, cells: Integers, head: Integers, inside: Booleans
    ) -> tuple[Integers, Booleans]:
        """The relation through each place in one dimension, and whether it is one.

        A line that holds no part, because they are all missing, need not be a relation.
        """
        part = np.flatnonzero(inside & (cells >= 0))
        signature = np.zeros(len(cells), np.uint64)
        np.add.at(signature, head[part], self._as_part[cells[part]])
        heads = np.unique(head[part])
        number = np.full(len(cells), -1, np.int64)
        fits = np.ones(len(cells), bool)
        wanted = signature[heads] + self._as_total[cells[heads]]
        place = np.searchsorted(self._signature, wanted)
        place[place == len(self._signature)] = 0
        hit = self._signature[place] == wanted if len(heads) else np.zeros(0, bool)
        number[heads] = np.where(hit, self._signed[place], -1) if len(heads) else -1
        fits[heads] = hit
        line = np.where(cells >= 0, number[head], -1)
        return line, fits

    def _together(self, found: list[_Products]) -> Subtables:
        """All products, and relations without a total, ordered from the top down."""
        widest = max(products.shape.shape[1] for products in found)
        odd = self._odd
        length = np.diff(self._A.indptr)[odd]
        # A place for the total that is not there, then the cells.
        odd_owner = np.repeat(np.arange(len(odd)), length)
        odd_place = np.arange(len(odd_owner)) + odd_owner + 1
        odd_cells = np.full(int((length + 1).sum()), -1, np.int64)
        odd_line = odd_cells.copy()
        entry = np.arange(len(odd_owner)) - (np.cumsum(length) - length)[odd_owner]
        odd_cells[odd_place] = self._A.indices[self._A.indptr[odd][odd_owner] + entry]
        odd_line[odd_place] = odd[odd_owner]
        shape = np.concatenate(
            [_widened(products.shape, widest, 1) for products in found]
            + [_widened((length + 1)[:, None], widest, 1)]
        )
        cells = np.concatenate([*(products.cells for products in found), odd_cells])
        line = np.concatenate(
            [_widened(products.line, widest, -1) for products in found]
            + [_widened(odd_line[:, None], widest, -1)]
        )
        start = np.concatenate([[0], np.cumsum(shape.prod(axis=1))])
        corner = cells[start[:-1]]
        depth = np.where(corner >= 0, self.level[corner], _DEEPEST + 1)
        order = np.lexsort((np.arange(len(corner)), corner, depth))
        size = np.diff(start)[order]
        new_start = np.concatenate([[0], np.cumsum(size)])
        places = np.arange(len(cells)) + np.repeat(start[:-1][order] - new_start[:-1], size)
        return Subtables(shape[order], new_start, cells[places], line[places], self.level)


def _common_parts(total: Integers, part: Integers, n: int) -> tuple[Integers, Integers]:
    """Pairs of totals that have exactly one cell in common as a part, as keys, and the cell."""
    order = np.lexsort((total, part))
    total, part = total[order], part[order]
    keys, cells = [], []
    for apart in range(1, len(part)):
        same = np.flatnonzero(part[apart:] == part[:-apart])
        if len(same) == 0:
            break
        same = same[total[same] != total[same + apart]]
        keys.append(total[same] * n + total[same + apart])
        cells.append(part[same])
    if not keys:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    key, cell = np.concatenate(keys), np.concatenate(cells)
    order = np.lexsort((cell, key))
    key, cell = key[order], cell[order]
    fresh = np.ones(len(key), bool)
    fresh[1:] = (np.diff(key) != 0) | (np.diff(cell) != 0)
    key, cell = key[fresh], cell[fresh]
    unique, first, count = np.unique(key, return_index=True, return_counts=True)
    return unique[count == 1], cell[first[count == 1]]


def _levels(total: Integers, part: Integers, n: int) -> Integers:
    """How far below a grand total each cell is, along the longest way."""
    level = np.zeros(n, np.int64)
    for _ in range(_DEEPEST):
        below = level.copy()
        np.maximum.at(below, part, level[total] + 1)
        if (below == level).all():
            break
        level = below
    return level


def _maximal_cliques(size: int, edges: Integers) -> Iterator[list[int]]:
    """Sets of nodes of which each is joined to each, and that are in no larger such set."""
    joined: list[set[int]] = [set() for _ in range(size)]
    for p, q in edges.tolist():
        joined[p].add(q)
        joined[q].add(p)

    def grow(chosen: list[int], open_nodes: set[int], done: set[int]) -> Iterator[list[int]]:
        if not open_nodes and not done:
            yield sorted(chosen)
            return
        pivot = max(sorted(open_nodes | done), key=lambda node: len(joined[node] & open_nodes))
        for node in sorted(open_nodes - joined[pivot]):
            yield from grow([*chosen, node], open_nodes & joined[node], done & joined[node])
            open_nodes = open_nodes - {node}
            done = done | {node}

    yield from grow([], set(range(size)), set())


def _key(axes: Integers) -> Hashes:
    """A number for each set of relations, whatever their order."""
    x = axes.astype(np.uint64)
    # Finalizer of splitmix64: neighbouring numbers get unrelated hashes.
    x = x * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x632BE59BD9B4E019)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((x ^ (x >> np.uint64(31))).sum(axis=1, dtype=np.uint64))


def _slices(products: _Products) -> Iterator[Hashes]:
    """Keys of the axes of all smaller products inside the given ones."""
    k = products.axes.shape[1]
    at_total = (products.coordinate == 0) & (products.line >= 0)
    for size in range(2, k):
        for dimensions in itertools.combinations(range(k), size):
            chosen = list(dimensions)
            here = at_total[:, chosen].all(axis=1)
            yield np.unique(_key(products.line[here][:, chosen]))


def _widened(array: Integers, width: int, fill: int) -> Integers:
    """The array with more columns."""
    return np.pad(array, ((0, 0), (0, width - array.shape[1])), constant_values=fill)
