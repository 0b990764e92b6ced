"""Strips of a table with several hierarchies: networks that lie in it side by side.

The columns below one parent, with the parent itself, in all rows are a table with one hierarchy:
a network. So are the rows below one parent, in all columns. Such a strip serves twice.

- Its relations are some of the table's, so cuts of its flows hold for the table.
- Cells that sit in no other relation may move within it while everything else stands still, so
  its flows are deviations of the table.

A table that knows its dimensions tells their cells. Otherwise they are found from the relations:
those that run through one subtable side by side, and through the next one from there on, are the
same sum in other rows, and the cells of all of them are a strip. Where combinations of codes are
missing, that finds few. Every relation among the cells of a strip belongs to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from tacit.attack.network import Network, recognise
from tacit.attack.network_parts import NetworkPart
from tacit.attack.reach import repeated_ranges
from tacit.attack.subtables import Subtables
from tacit.problem import Booleans, Integers


@dataclass(frozen=True, eq=False)
class Strips:
    """The strips of a table that are networks.

    Attributes:
        parts: Each with all of its cells: networks whose cuts hold for the table.
        moving: Each with the cells that sit in no other relation: networks whose flows are
            deviations of the table. Strips without such cells are left out.
        cover: Which relations of the table are in some strip.
        cell_count: Number of cells of the table.
    """

    parts: list[NetworkPart]
    moving: list[NetworkPart]
    cover: Booleans
    cell_count: int

    @cached_property
    def arrays(self) -> StripArrays:
        """The networks in which cells may move, as kernels take them; there must be one."""
        return StripArrays.of(self.moving, self.cell_count)

    def with_cells(self, cells: Integers) -> Iterator[tuple[NetworkPart, Integers]]:
        """The strips that some of these cells are in, each with the places of these cells."""
        if self.parts:
            for strip, places in self._part_arrays.visits(cells):
                yield self.parts[strip], places

    def moving_with(self, cells: Integers) -> Iterator[tuple[NetworkPart, Integers]]:
        """The same for strips in which these cells may move while the others stand still."""
        if self.moving:
            for strip, places in self.arrays.visits(cells):
                yield self.moving[strip], places

    @cached_property
    def _part_arrays(self) -> StripArrays:
        return StripArrays.of(self.parts, self.cell_count)

    @classmethod
    def of(cls, A: sparse.csr_array[Any, Any], known: Sequence[Integers] | None = None) -> Strips:
        """Find the strips of a table.

        Args:
            A: The relations.
            known: The cells of each strip; by default they are found from the relations.
        """
        finder = _Finder(A)
        parts: list[NetworkPart] = []
        moving: list[NetworkPart] = []
        cover = np.zeros(A.shape[0], bool)
        if known is None:
            known = [np.unique(A[relations].indices) for relations in _alike(A)]
        for cells in known:
            strip = finder.strip(cells)
            if strip is None:
                continue
            part, free, rows = strip
            parts.append(part)
            cover[rows] = True
            if free.any():
                arcs = np.flatnonzero(free)
                moving.append(NetworkPart(part.network.restricted(arcs), part.cells[arcs]))
        return cls(parts, moving, cover, A.shape[1])


class StripArrays(NamedTuple):
    """Several networks one after the other, as kernels take them.

    Nodes and arcs of each network have numbers of their own.

    Attributes:
        node_start: The number of nodes before each network, and of all.
        link_start: The same for links.
        arc_start: The same for arcs.
        first: As in `Network`: for each network one entry more than it has nodes.
        link: As in `Network`.
        tail: As in `Network`.
        head: As in `Network`.
        cell: The cell behind each arc.
        place_start: For each cell of the table where its networks begin in the next two.
        place_strip: The network.
        place_arc: The arc there.
    """

    node_start: Integers
    link_start: Integers
    arc_start: Integers
    first: Integers
    link: Integers
    tail: Integers
    head: Integers
    cell: Integers
    place_start: Integers
    place_strip: Integers
    place_arc: Integers

    @classmethod
    def of(cls, parts: list[NetworkPart], cell_count: int) -> StripArrays:
        """Line up some networks of a table with a given number of cells."""
        networks = [part.network for part in parts]
        cell = np.concatenate([part.cells for part in parts])
        arcs = np.array([len(part.cells) for part in parts])
        order = np.argsort(cell, kind="stable")
        return cls(
            _starts([len(network.first) - 1 for network in networks]),
            _starts([len(network.link) for network in networks]),
            _starts(arcs),
            np.concatenate([network.first for network in networks]),
            np.concatenate([network.link for network in networks]),
            np.concatenate([network.tail for network in networks]),
            np.concatenate([network.head for network in networks]),
            cell,
            _starts(np.bincount(cell, minlength=cell_count)),
            np.repeat(np.arange(len(parts)), arcs)[order],
            np.concatenate([np.arange(count) for count in arcs])[order],
        )

    def visits(self, cells: Integers) -> Iterator[tuple[int, Integers]]:
        """The networks that some of these cells are in, each with the places of these cells."""
        start = self.place_start[cells]
        length = self.place_start[cells + 1] - start
        strip = self.place_strip[repeated_ranges(start, length)]
        order = np.argsort(strip, kind="stable")
        place, strip = np.repeat(np.arange(len(cells)), length)[order], strip[order]
        if not len(strip):
            return
        begin = np.flatnonzero(np.diff(strip, prepend=-1))
        for some in np.split(np.arange(len(strip)), begin[1:]):
            yield int(strip[some[0]]), place[some]


def _starts(counts: Sequence[int] | Integers) -> Integers:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _alike(A: sparse.csr_array[Any, Any]) -> list[Integers]:
    """Sets of two or more relations that are the same sum in different rows."""
    subtables = Subtables.of(A)
    m, (places, dimensions) = A.shape[0], subtables.line.shape
    if not places:
        return []
    owner = np.repeat(np.arange(len(subtables)), np.diff(subtables.start))
    direction = owner[:, None] * dimensions + np.arange(dimensions)
    is_line = subtables.line >= 0
    # Relations, and directions in subtables, as nodes of one graph.
    size = m + len(subtables) * dimensions
    graph = sparse.csr_array(
        (np.ones(int(is_line.sum()), np.int8), (subtables.line[is_line], m + direction[is_line])),
        shape=(size, size),
    )
    _, label = csgraph.connected_components(graph, directed=False)
    order = np.argsort(label[:m], kind="stable")
    sets = np.split(order, np.flatnonzero(np.diff(label[:m][order])) + 1)
    return [relations for relations in sets if len(relations) > 1]


class _Finder:
    """Relations in the forms in which strips look them up."""

    def __init__(self, A: sparse.csr_array[Any, Any]):
        self._A, self._columns = A, sparse.csc_array(A)
        self._length = np.diff(A.indptr)
        self._degree = np.diff(self._columns.indptr)

    def strip(self, cells: Integers) -> tuple[NetworkPart, Booleans, Integers] | None:
        """The strip of some cells: its network, which cells may move, and its relations.

        Only those that are connected in networks are there; None if there are none.
        """
        touching, count = np.unique(self._columns[:, cells].indices, return_counts=True)
        rows = touching[count == self._length[touching]]
        inside = sparse.csr_array(self._A[rows][:, cells])
        network, chosen = recognise(inside)
        if network is None:
            return None
        free = np.bincount(inside.indices, minlength=len(cells)) == self._degree[cells]
        part = NetworkPart(_numbered(network, rows), cells[chosen].astype(np.int64))
        return part, free[chosen], rows[chosen[inside.indices[inside.indptr[:-1]]]]


def _numbered(network: Network, rows: Integers) -> Network:
    """The same network with its relations numbered as in the table."""
    return Network(
        network.tail, network.head, rows[network.rows], network.sign, network.first, network.link
    )
