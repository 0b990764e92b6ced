"""Is this table a network? Recognised by structure, never by a flag.

A table is a network when some of its relations imply all the others and every cell sits in at
most two of those, with opposite signs after turning some relations round: then a relation is a
node and a cell an arc. Two-dimensional tables are, and so are two-dimensional tables with one
hierarchical variable once the sums of their aggregate rows, which the others imply, are left
out ([Castro2012, section 2.2]). Parts of larger tables often are, too, so each connected component
is judged on its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from tacit.problem import Booleans, Floats, Integers, component_labels, totals_of

_FEW_CELLS = 32
"""If more cells sit in too many relations, no few relations are to blame."""
PRIME = 2_147_483_629
"""Redundancy of relations is tested in arithmetic modulo this."""


@dataclass(frozen=True, eq=False)
class Network:
    """Cells as arcs between relations.

    Attributes:
        tail: Tail node of each cell; nodes 0 to len(rows) - 1 are relations, the last is the
            root, which stands for no relation.
        head: Head node of each cell.
        rows: The relation behind each node.
        sign: 1 or -1 for each node: -1 where the relation was turned round.
        first: For each node the start of its links.
        link: 2 * arc forwards, 2 * arc + 1 backwards.
    """

    tail: Integers
    head: Integers
    rows: Integers
    sign: Floats
    first: Integers
    link: Integers

    @property
    def arrays(self) -> tuple[Integers, Integers, Integers, Integers]:
        """Links and ends, `first`, `link`, `tail` and `head`, as kernels take them."""
        return self.first, self.link, self.tail, self.head

    def restricted(self, arcs: Integers) -> Network:
        """The network of some of the arcs, over the same nodes."""
        return link_up(self.tail[arcs], self.head[arcs], self.rows, self.sign)

    def renumbered(self) -> Network:
        """The same network with its relations numbered from 0 in their order here."""
        rows = np.arange(len(self.rows))
        return Network(self.tail, self.head, rows, self.sign, self.first, self.link)

    def multipliers(self, source_side: Booleans, relation_count: int) -> Floats:
        """Row multipliers of minimum cuts, one row per cut.

        Args:
            source_side: For each cut and node whether the node is on the source side.
            relation_count: Number of relations of the table the network was made from.
        """
        potential = source_side.astype(np.float64)
        potential -= potential[:, -1:]
        g = np.zeros((len(source_side), relation_count))
        g[:, self.rows] = potential[:, :-1] * self.sign
        return g


def recognise(A: sparse.csr_array[Any, Any]) -> tuple[Network | None, Booleans]:
    """Find the connected components that are networks.

    Returns:
        One network for all of them together, whose arcs are the chosen cells in increasing
        order (None if there is none), and the mask of the chosen cells.
    """
    label = component_labels(A)
    row_label = _row_labels(A, label)
    row_of_entry = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    possible = np.ones(int(label.max(initial=-1)) + 1, bool)
    possible[row_label[row_of_entry[np.abs(A.data) != 1.0]]] = False
    keep = np.ones(A.shape[0], bool)
    good = np.zeros(len(possible), bool)
    for candidates in (_longest_first, _defined_twice):
        # What is left out of a component that is known to be a network stays out.
        is_open = possible & ~good
        if not is_open.any():
            break
        rows = np.flatnonzero(is_open[row_label])
        keep[rows] = _leave_out(sparse.csr_array(A[rows]), candidates)
        good |= is_open & _are_networks(A, label, row_label, keep, is_open)
    chosen = good[label]
    if not chosen.any():
        return None, chosen
    rows = np.flatnonzero(keep & good[row_label] & (np.diff(A.indptr) > 0))
    columns = sparse.csc_array(A[rows][:, np.flatnonzero(chosen)])
    sign, _ = _orient(columns)
    tail, head = _ends(columns, sign)
    return link_up(tail, head, rows, sign), chosen


def _are_networks(
    A: sparse.csr_array[Any, Any],
    label: Integers,
    row_label: Integers,
    keep: Booleans,
    asked: Booleans,
) -> Booleans:
    """Whether the kept relations of each asked component are a network and imply the others."""
    good = asked.copy()
    row_of_entry = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    degree = np.bincount(A.indices[keep[row_of_entry]], minlength=A.shape[1])
    good[label[degree > 2]] = False
    if not good.any():
        return good
    rows = np.flatnonzero(keep & good[row_label] & (np.diff(A.indptr) > 0))
    cells = np.flatnonzero(good[label])
    columns = sparse.csc_array(A[rows][:, cells])
    sign, torn = _orient(columns)
    good[row_label[rows[torn]]] = False
    dropped = np.flatnonzero(~keep & good[row_label])
    if len(dropped):
        tail, head = _ends(columns, sign)
        x = np.zeros(A.shape[1], np.int64)
        x[cells] = _random_circulation(len(rows) + 1, tail, head)
        good[row_label[dropped[~vanishes(A[dropped], x)]]] = False
    return good


def _row_labels(A: sparse.csr_array[Any, Any], label: Integers) -> Integers:
    """The component of each relation; 0 for a relation without cells."""
    if A.nnz == 0:
        return np.zeros(A.shape[0], np.int64)
    return np.where(
        np.diff(A.indptr) > 0, label[A.indices[np.minimum(A.indptr[:-1], A.nnz - 1)]], 0
    )


def _leave_out(
    A: sparse.csr_array[Any, Any],
    candidates: Callable[[sparse.csr_array[Any, Any], Booleans], Integers],
) -> Booleans:
    """Choose relations to leave out so that, where possible, every cell sits in at most two.

    Only relations all of whose cells sit in three or more are candidates: sums of aggregate rows
    are. Whether the rest implies them is tested afterwards.

    Args:
        A: The relations.
        candidates: Of the relations, and those of which all cells sit in three or more, the
            candidates in the order in which they are left out.

    Returns:
        Which relations stay.
    """
    m, n = A.shape
    keep = np.ones(m, bool)
    degree = np.bincount(A.indices, minlength=n)
    if degree.max(initial=0) <= 2:
        return keep
    length = np.diff(A.indptr)
    full = _count(degree > 2, A) == length
    for row in candidates(A, full & (length > 0)).tolist():
        cells = A.indices[A.indptr[row] : A.indptr[row + 1]]
        if (degree[cells] > 2).all():
            keep[row] = False
            degree[cells] -= 1
    _leave_out_last(A, keep, degree)
    return keep


def _leave_out_last(A: sparse.csr_array[Any, Any], keep: Booleans, degree: Integers) -> None:
    """Leave relations out that hold what few cells still sit in three or more, most first.

    Where equal cells were merged, other cells of an aggregate row sit in fewer.
    """
    if not 0 < int((degree > 2).sum()) <= _FEW_CELLS:
        return
    times = np.zeros(A.shape[1], np.int64)
    total = totals_of(A)
    np.add.at(times, total[total >= 0], 1)
    twice = (total >= 0) & (times[total] > 1)
    while (degree > 2).any():
        holds = np.where(keep, 2 * _count(degree > 2, A) + twice, 0)
        row = int(np.argmax(holds))
        keep[row] = False
        degree[A.indices[A.indptr[row] : A.indptr[row + 1]]] -= 1


def _count(cells: npt.NDArray[Any], A: sparse.csr_array[Any, Any]) -> Integers:
    """The sum of a property of the cells over each relation."""
    partial = np.concatenate([[0], np.cumsum(cells[A.indices])])
    return np.asarray(partial[A.indptr[1:]] - partial[A.indptr[:-1]])


def _longest_first(A: sparse.csr_array[Any, Any], full: Booleans) -> Integers:
    """Long relations first: serves most tables, and parts of tables that have lost their totals."""
    rows = np.flatnonzero(full)
    return rows[np.argsort(-np.diff(A.indptr)[rows], kind="stable")]


def _defined_twice(A: sparse.csr_array[Any, Any], full: Booleans) -> Integers:
    """Relations whose total is the total of another one, too, whatever their length.

    In a table with one hierarchy these are the sums of aggregate rows and the sums over all of the
    rows in the column of totals. The former go: their cells are totals less often.
    """
    total = totals_of(A)
    times = np.bincount(total[total >= 0], minlength=A.shape[1])
    rows = np.flatnonzero(full & (total >= 0) & (times[total] > 1))
    often = _count(times, A)[rows] / np.diff(A.indptr)[rows]
    return rows[np.argsort(often, kind="stable")]


def _orient(columns: sparse.csc_array[Any]) -> tuple[Floats, Booleans]:
    """Signs for the relations such that cells in two of them get opposite signs.

    Returns:
        The signs, and the relations for which no choice of signs works.
    """
    m = columns.shape[0]
    start = columns.indptr[:-1][np.diff(columns.indptr) == 2]
    p, q = columns.indices[start], columns.indices[start + 1]
    same = columns.data[start] == columns.data[start + 1]
    # Two copies of every relation, as it is and turned round. A cell joins the copies that may
    # hold together; if a relation meets its own reverse, no choice of signs exists.
    one = np.concatenate([p, p + m])
    two = np.concatenate([np.where(same, q + m, q), np.where(same, q, q + m)])
    graph = sparse.csr_array((np.ones(len(one), np.int8), (one, two)), shape=(2 * m, 2 * m))
    _, label = csgraph.connected_components(graph, directed=False)
    return np.where(label[:m] < label[m:], 1.0, -1.0), label[:m] == label[m:]


def _ends(columns: sparse.csc_array[Any], sign: Floats) -> tuple[Integers, Integers]:
    """Tail and head of every cell; the root takes the free ends."""
    m, n = columns.shape
    tail = np.full(n, m, np.int64)
    head = np.full(n, m, np.int64)
    cell = np.repeat(np.arange(n), np.diff(columns.indptr))
    into = columns.data * sign[columns.indices] > 0
    head[cell[into]] = columns.indices[into]
    tail[cell[~into]] = columns.indices[~into]
    return tail, head


def link_up(tail: Integers, head: Integers, rows: Integers, sign: Floats) -> Network:
    """The network with these arcs; the last node is the root."""
    arcs = np.arange(len(tail), dtype=np.int64)
    # A loop needs no links: nothing flows through it.
    proper = tail != head
    ends = np.concatenate([tail[proper], head[proper]])
    ways = np.concatenate([2 * arcs[proper], 2 * arcs[proper] + 1])
    order = np.lexsort((ways, ends))
    first = np.searchsorted(ends[order], np.arange(len(rows) + 2)).astype(np.int64)
    return Network(tail, head, rows, sign, first, ways[order])


def vanishes(A: sparse.csr_array[Any, Any], x: Integers) -> Booleans:
    """For each relation with integer coefficients: is its sum over x zero modulo the prime?

    For random x among those that meet some other relations, zero means that those imply this
    one; a wrong answer has a chance of about 1 in 2e9. Should it ever happen, the check of the
    evidence, made with all relations, would refuse the result.
    """
    terms = A.data.astype(np.int64) % PRIME * x[A.indices] % PRIME
    partial = np.concatenate([[0], np.cumsum(terms)])
    return np.asarray((partial[A.indptr[1:]] - partial[A.indptr[:-1]]) % PRIME == 0)


def _random_circulation(nodes: int, tail: Integers, head: Integers) -> Integers:
    """Random amounts on the arcs, modulo a prime, that balance at every node."""
    from tacit.attack.flow import balance

    rng = np.random.default_rng(20_040_607)
    x = rng.integers(1, PRIME, len(tail))
    low, high = np.minimum(tail, head), np.maximum(tail, head)
    proper = np.flatnonzero(low != high)
    # Of parallel arcs only one may enter the spanning forest.
    _, unique = np.unique(low[proper] * nodes + high[proper], return_index=True)
    arcs = proper[unique]
    numbers = (arcs + 1).astype(np.float64)
    graph = sparse.csr_array((numbers, (low[arcs], high[arcs])), shape=(nodes, nodes))
    forest = sparse.coo_array(csgraph.minimum_spanning_tree(graph))
    tree_arcs = forest.data.astype(np.int64) - 1
    balance(nodes, tail, head, tree_arcs, x, PRIME)
    return x
