"""Each sensitive cell suppressed with all totals above it: a poor pattern, there in a moment.

Where a cell without parts and every total above it rise by the same amount, all relations hold, so
that each of these cells can rise. Contributors know no better, but for the one who is alone in the
cell: for that one another cell rises. So such a pattern is safe from readers and contributors
alike, unless cells must be published or bounds are tight. It is kept in case that a better one is
not found in time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tacit.clock import Clock, check_time
from tacit.methods.engine import turns
from tacit.methods.suppress.model import Search
from tacit.problem import Booleans, Floats, Integers, Problem, totals_of

_MANY = 1500
"""From this number of cells outside networks on, the first pattern takes so long that this is kept
ready."""


def serves(search: Search) -> bool:
    """Does a first pattern take so long that something else should be there before?"""
    return search.outside_networks > _MANY and not search.structure.strips_cover


def keep_totals_ready(search: Search) -> None:
    """Have the pattern audited that suppresses all totals above sensitive cells, if it is safe."""
    with Clock(turns.SUPPRESS_MAKESHIFT * search.options.time_limit):
        hidden = _pattern(search)
        if hidden is not None:
            search.keep_ready(hidden)


def _pattern(search: Search) -> Booleans | None:
    """The pattern, with witnesses for all levels; None where it does not protect all cells.

    Sliding levels, which are about both sides together, are left to others.
    """
    problem, reader, insiders = search.problem, search.outsiders[0], search.insiders
    alone = np.full(problem.cell_count, -1) if insiders is None else insiders.known.alone_in()
    below = _Below(problem, alone)
    requests = reader.requests()
    if reader.slides or not len(requests):
        return None
    used: list[sparse.csr_array[Any, Any]] = []
    for number in range(len(requests)):
        if number % 64 == 0:
            check_time()
        cell, side = int(requests.cells[number]), int(requests.sides[number])
        rows = below.rising(cell) if side > 0 else below.falling(cell, requests.targets[number])
        rows = sparse.csr_array(rows * float(side * requests.targets[number]))
        if not rows.shape[0] or not reader.witnesses.remember(requests, number, *_entries(rows, 0)):
            return None
        used.append(rows)
    deviations = sparse.csr_array(sparse.vstack(used))
    if insiders is not None:
        insiders.store.add(deviations)
    hidden = search.sensitive.copy()
    hidden[deviations.indices] = True
    return None if (hidden & ~search.secondary & ~search.sensitive).any() else hidden


def _entries(rows: sparse.csr_array[Any, Any], row: int) -> tuple[Integers, Floats]:
    entries = slice(rows.indptr[row], rows.indptr[row + 1])
    return rows.indices[entries].astype(np.int64), rows.data[entries]


class _Below:
    """The cells without parts that make up each cell, by which it rises or falls."""

    def __init__(self, problem: Problem, alone: Integers):
        """Prepare.

        Args:
            problem: The table.
            alone: The contributor who is alone in a cell, -1 where there is none.
        """
        leaves = _leaves(problem)
        self._rising = with_totals(problem, leaves)
        self._parts = sparse.csr_array(self._rising.T)
        self._value, self._alone = problem.value[leaves], alone[leaves]

    def rising(self, cell: int) -> sparse.csr_array[Any, Any]:
        """Ways for a cell to rise by 1: if the first is known to somebody, the second is not."""
        parts = self._below(cell)
        order = np.lexsort((-self._value[parts], self._alone[parts] >= 0))
        parts, alone = parts[order], self._alone[parts[order]]
        if len(parts) and alone[0] >= 0:
            others = parts[alone != alone[0]]
            return sparse.csr_array(self._rising[np.append(parts[:1], others[:1])])
        return sparse.csr_array(self._rising[parts[:1]])

    def falling(self, cell: int, amount: float) -> sparse.csr_array[Any, Any]:
        """How a cell may fall by 1: within its largest part, or within all."""
        parts = self._below(cell)
        value = self._value[parts]
        if not len(parts) or not value.sum() > 0:
            return sparse.csr_array((0, self._rising.shape[1]))
        largest = parts[np.argmax(value)]
        if value.max() >= amount:
            return sparse.csr_array(self._rising[[largest]])
        share = sparse.csr_array((value / value.sum())[None, :])
        return sparse.csr_array(share @ self._rising[parts])

    def _below(self, cell: int) -> Integers:
        entries = slice(self._parts.indptr[cell], self._parts.indptr[cell + 1])
        return self._parts.indices[entries].astype(np.int64)


def _leaves(problem: Problem) -> Integers:
    """Cells that are not the total of others."""
    is_total = np.zeros(problem.cell_count + 1, bool)
    is_total[totals_of(problem.relations)] = True
    return np.flatnonzero(~is_total[:-1])


def with_totals(problem: Problem, cells: Integers) -> sparse.csr_array[Any, Any]:
    """Cells, one per row, each with all totals above it."""
    relations = problem.relations
    row = np.repeat(np.arange(relations.shape[0]), np.diff(relations.indptr))
    total = totals_of(relations)[row]
    is_part = (total >= 0) & (total != relations.indices)
    n = problem.cell_count
    above = sparse.csr_array(
        (np.ones(int(is_part.sum())), (relations.indices[is_part], total[is_part])), shape=(n, n)
    )
    found = sparse.csr_array((np.ones(len(cells)), (np.arange(len(cells)), cells)), (len(cells), n))
    front = found
    while front.nnz:
        check_time()
        front = sparse.csr_array((front @ above).sign())
        front = sparse.csr_array(front - front.multiply(found))
        front.eliminate_zeros()
        found = sparse.csr_array(found + front)
    return found
