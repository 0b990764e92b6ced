"""Tables written in terms of few cells: totals are eliminated by their definitions.

Every consistent deviation is x = N y with B y = 0: y are the deviations of the cells that are
left, N adds them up to all cells, and B holds the relations that were needed for no definition
and do not follow from those. In tables of three and more dimensions far fewer cells are left
than there are relations, and linear programmes written in their terms are much smaller.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.methods.intervals.model import IntervalsModel, Rival
from tacit.problem import Integers

_MOST_ENTRIES = 40
"""Eliminated totals may take so many times the entries of the relations."""


@dataclass(frozen=True, eq=False)
class Elimination:
    """Consistent deviations of some cells.

    Attributes:
        sums: N, by cell: how each cell adds up from the cells that are left.
        rest: B, over the cells that are left.
    """

    sums: sparse.csr_array[Any, Any]
    rest: sparse.csr_array[Any, Any]

    @classmethod
    def of(cls, A: sparse.csr_array[Any, Any]) -> Elimination:
        """Eliminate totals from relations."""
        sums, used = _substituted(A)
        rest = sparse.csr_array(A[~used] @ sums)
        rest.data[np.abs(rest.data) < 1e-9] = 0.0
        rest.eliminate_zeros()
        left = np.flatnonzero(np.diff(sparse.csc_array(sums).indptr) > 0)
        rest = sparse.csr_array(rest[np.diff(rest.indptr) > 0])
        return cls(sparse.csr_array(sums[:, left]), sparse.csr_array(rest[:, left]))


def _substituted(A: sparse.csr_array[Any, Any]) -> tuple[sparse.csr_array[Any, Any], Any]:
    """Every cell as a sum of cells that no definition is used for; the relations used."""
    m, n = A.shape
    total, defining = _definitions(A)
    used = np.zeros(m, bool)
    is_left = defining < 0
    settled = is_left.copy()
    entries = np.arange(n)
    sums = sparse.csr_array((is_left.astype(np.float64), (entries, entries)), shape=(n, n))
    rows = defining[~is_left]
    budget = _MOST_ENTRIES * (A.nnz + n)
    while len(rows):
        part = sparse.csr_array(A[rows])
        waiting = np.asarray(abs(part).sign() @ (~settled).astype(np.int64))
        # The total itself is the one cell that is still open.
        ready = waiting == 1
        if not ready.any() or sums.nnz > budget:
            break
        now = rows[ready]
        cells = total[now]
        own = sparse.csr_array(
            (np.ones(len(now)), (np.arange(len(now)), cells)), shape=(len(now), n)
        )
        coefficient = np.asarray((part[ready] * own).sum(axis=1)).ravel()
        parts = (part[ready] @ sums).multiply(-1.0 / coefficient[:, None])
        place = sparse.csr_array(
            (np.ones(len(now)), (cells, np.arange(len(now)))), shape=(n, len(now))
        )
        sums = sparse.csr_array(sums + place @ sparse.csr_array(parts))
        used[now] = True
        settled[cells] = True
        rows = rows[~ready]
    # Totals whose definition could not be used are left, too.
    stuck = np.flatnonzero(~settled)
    if len(stuck):
        keep = sparse.csr_array((np.ones(len(stuck)), (stuck, stuck)), shape=(n, n))
        sums = sparse.csr_array(sums + keep)
    return sums, used


def _definitions(A: sparse.csr_array[Any, Any]) -> tuple[Integers, Integers]:
    """For each relation its total, and for each cell its shortest definition; -1 for none."""
    m, n = A.shape
    row = np.repeat(np.arange(m), np.diff(A.indptr))
    negative = A.data < 0
    minus = np.bincount(row[negative], minlength=m)
    plus = np.bincount(row[~negative], minlength=m)
    total = np.full(m, -1, np.int64)
    only_plus = ~negative & (plus[row] == 1) & (minus[row] > 1)
    total[row[only_plus]] = A.indices[only_plus]
    only_minus = negative & (minus[row] == 1)
    total[row[only_minus]] = A.indices[only_minus]
    rows = np.flatnonzero(total >= 0)
    longest_first = rows[np.argsort(-np.diff(A.indptr)[rows], kind="stable")]
    defining = np.full(n, -1, np.int64)
    defining[total[longest_first]] = longest_first
    return total, defining


class LinearPart:
    """The cells outside networks that can move for an attacker.

    Attributes:
        cells: Their numbers.
        column: For each cell of the table its place among them; -1 for others.
        ends: All their upper ends, then all their lower ends.
        relations: The relations among them.
        sums: How each of them adds up from the cells that are left.
        rest: Relations among the cells that are left.
    """

    def __init__(self, model: IntervalsModel, rival: Rival):
        structure = model.structure
        movable = (rival.room[0::2] > 0) | (rival.room[1::2] > 0)
        movable[rival.cells] = True
        self.cells = np.flatnonzero(movable & ~structure.in_network)
        self.column = np.full(model.problem.cell_count, -1, np.int64)
        self.column[self.cells] = np.arange(len(self.cells))
        self.ends = np.concatenate([2 * self.cells, 2 * self.cells + 1])
        part = sparse.csr_array(structure.A[:, self.cells])
        rows = (np.diff(part.indptr) > 0) & structure.essential
        self.relations = sparse.csr_array(part[np.flatnonzero(rows)])
        found = Elimination.of(self.relations)
        self.sums, self.rest = found.sums, found.rest
