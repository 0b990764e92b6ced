"""Which cells are totals, as far as the relations tell."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tacit.problem import Booleans, Integers, totals_of
from tacit.tolerances import LAST_DIGITS

_ELIMINATED = 10
"""Entries that are looked at one by one cost this many times as much as others."""


def totals_of_several(A: sparse.csr_array[Any, Any]) -> Integers:
    """For each relation its total; -1 where there is none, and where the total has one part only.

    >>> totals_of_several(sparse.csr_array([[1, 1, -1, 0], [0, 1, 0, -1]])).tolist()
    [2, -1]
    """
    return np.where(np.diff(A.indptr) > 2, totals_of(A), -1)


def heights(A: sparse.csr_array[Any, Any]) -> Integers:
    """For each cell the number of steps from the finest cells up to it.

    Where relations form cycles, counting stops at their number.

    >>> heights(sparse.csr_array([[1, 1, -1, 0, 0], [0, 0, 1, 1, -1]])).tolist()
    [0, 0, 1, 0, 2]
    """
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    total = totals_of_several(A)
    is_part = (total[row] >= 0) & (A.indices != total[row])
    part, above = A.indices[is_part], total[row[is_part]]
    height = np.zeros(A.shape[1], np.int64)
    for _ in range(A.shape[0]):
        raised = height.copy()
        np.maximum.at(raised, above, height[part] + 1)
        if (raised == height).all():
            break
        height = raised
    return height


def computed_cells(A: sparse.csr_array[Any, Any]) -> Booleans:
    """One cell of each relation that is computed from the others, the total if there is one."""
    computed = np.zeros(A.shape[1], bool)
    total = totals_of_several(A)
    computed[total[total >= 0]] = True
    for pair in np.flatnonzero(np.diff(A.indptr) <= 2).tolist():
        cells = A.indices[A.indptr[pair] : A.indptr[pair + 1]]
        if not computed[cells].any():
            computed[cells[-1:]] = True
    return computed


def finest_cells(
    A: sparse.csr_array[Any, Any], *, most_entries: int
) -> tuple[Integers, sparse.csr_array[Any, Any]] | None:
    """The finest cells, and all cells as sums of them; None where they do not decide all others.

    Args:
        A: The relations.
        most_entries: Give up where the sums have more entries in all.

    Returns:
        The numbers of the finest cells, and a matrix with a row for each cell and a column for
        each of them, with which A times the matrix is zero.

    >>> leaves, of_finest = finest_cells(sparse.csr_array([[1, 1, -1, 0, 0], [0, 0, 1, 1, -1]]),
    ...                                  most_entries=100)
    >>> leaves.tolist(), of_finest.toarray()[4].tolist()
    ([0, 1, 3], [1.0, 1.0, 1.0])
    """
    m, n = A.shape
    row = np.repeat(np.arange(m), np.diff(A.indptr))
    is_open = computed_cells(A)
    leaves = np.flatnonzero(~is_open)
    place = (leaves, np.arange(len(leaves)))
    known: Any = sparse.csr_array((np.ones(len(leaves)), place), shape=(n, len(leaves)))
    while is_open.any():
        unknown = np.bincount(row, is_open[A.indices], minlength=m)
        ready = (unknown[row] == 1) & is_open[A.indices]
        if not ready.any() or known.nnz > most_entries:
            return None
        cells, first = np.unique(A.indices[ready], return_index=True)
        rows, coefficients = row[ready][first], A.data[ready][first]
        # Cells that are still open have empty rows.
        sums = sparse.diags_array(-1.0 / coefficients) @ (A[rows] @ known)
        into = sparse.csr_array(
            (np.ones(len(cells)), (cells, np.arange(len(cells)))), shape=(n, len(cells))
        )
        known = known + into @ sums
        is_open[cells] = False
    known = sparse.csr_array(known)
    # Where combinations of codes are missing, relations remain among the finest cells.
    free, of_free = _independent(sparse.csr_array(A @ known), most_entries)
    if of_free is None:
        return None
    known = sparse.csr_array(known @ of_free)
    known.data[np.abs(known.data) <= LAST_DIGITS] = 0.0
    known.eliminate_zeros()
    missed = sparse.csr_array(A @ known)
    if known.nnz > most_entries or np.abs(missed.data).max(initial=0.0) > LAST_DIGITS * m:
        return None
    return leaves[free], known


def _independent(
    E: sparse.csr_array[Any, Any], most_entries: int
) -> tuple[Integers, sparse.csr_array[Any, Any] | None]:
    """Columns that are free where E x = 0, and all columns in terms of them; None if not found.

    Only entries of 1 and -1 are divided by: integers stay integers.
    """
    count = E.shape[1]
    rows: dict[int, dict[int, float]] = {}
    users: dict[int, set[int]] = {}
    for row in np.flatnonzero(np.diff(E.indptr)).tolist():
        span = slice(E.indptr[row], E.indptr[row + 1])
        entries = zip(E.indices[span].tolist(), E.data[span].tolist(), strict=True)
        rows[row] = {column: entry for column, entry in entries if abs(entry) > LAST_DIGITS}
        for column in rows[row]:
            users.setdefault(column, set()).add(row)
    pivot_of: dict[int, int] = {}
    entries_seen = 0
    for row in sorted(rows, key=lambda number: len(rows[number])):
        own = rows[row]
        # A column that few others use spreads least.
        units = [column for column, entry in own.items() if abs(entry) == 1.0]
        if not units:
            if own:
                return np.zeros(0, np.int64), None
            continue
        pivot = min(units, key=lambda column: (len(users[column]), column))
        pivot_of[pivot] = row
        for other in sorted(users[pivot] - {row}):
            factor = rows[other][pivot] / own[pivot]
            entries_seen += len(own)
            for column, entry in own.items():
                left = rows[other].get(column, 0.0) - factor * entry
                if left == 0:
                    rows[other].pop(column, None)
                    users[column].discard(other)
                else:
                    rows[other][column] = left
                    users[column].add(other)
        if entries_seen > most_entries // _ELIMINATED:
            return np.zeros(0, np.int64), None
    free = np.array([column for column in range(count) if column not in pivot_of], np.int64)
    place = np.full(count, -1)
    place[free] = np.arange(len(free))
    into, of, data = free.tolist(), place[free].tolist(), [1.0] * len(free)
    for pivot, row in pivot_of.items():
        for column, entry in rows[row].items():
            if column != pivot:
                into.append(pivot)
                of.append(int(place[column]))
                data.append(-entry / rows[row][pivot])
    return free, sparse.csr_array((data, (into, of)), shape=(count, len(free)))
