"""All cuts found in one run, each once: rows `coefficients x >= right`."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from tacit.problem import Floats, Integers

Rows: TypeAlias = sparse.csr_array[Any, Any]

_DIGITS = 7
"""Cuts that agree in this many decimals are the same."""


class CutPool:
    """Cuts in the order in which they were found; their numbers are their places."""

    def __init__(self, columns: int):
        self._columns = columns
        self._place: dict[tuple[bytes, bytes, float], int] = {}
        # Arrays grow by doubling: cuts come a few at a time, thousands of times.
        self._indices = np.zeros(0, np.int64)
        self._data = np.zeros(0)
        self._pointer = np.zeros(1, np.int64)
        self._right = np.zeros(0)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def right(self) -> Floats:
        """The right-hand sides."""
        return self._right[: self._count]

    @property
    def matrix(self) -> Rows:
        """The coefficients."""
        pointer = self._pointer[: self._count + 1]
        last = int(pointer[-1])
        entries = (self._data[:last], self._indices[:last], pointer)
        return sparse.csr_array(entries, shape=(self._count, self._columns))

    def rows(self, places: Integers) -> Rows:
        """The coefficients of some cuts."""
        return sparse.csr_array(self.matrix[places])

    def put(self, rows: Rows, right: Floats) -> tuple[Integers, Integers]:
        """Add cuts that are not there yet.

        Returns:
            The places of the new ones, and those of cuts that were there before.
        """
        rows.sort_indices()
        fresh: list[int] = []
        known: list[int] = []
        for row in range(rows.shape[0]):
            entries = slice(rows.indptr[row], rows.indptr[row + 1])
            digits = np.round(rows.data[entries], _DIGITS).tobytes()
            indices = rows.indices[entries].astype(np.int64).tobytes()
            key = (indices, digits, float(right[row]))
            place = self._place.setdefault(key, self._count + len(fresh))
            if place == self._count + len(fresh):
                fresh.append(row)
            elif place < self._count:
                known.append(place)
        self._append(sparse.csr_array(rows[fresh]), right[fresh])
        return np.arange(self._count - len(fresh), self._count), np.array(known, np.int64)

    def _append(self, rows: Rows, right: Floats) -> None:
        count, last = rows.shape[0], int(self._pointer[self._count])
        first = self._count
        self._indices = _grown(self._indices, last + rows.nnz)
        self._data = _grown(self._data, last + rows.nnz)
        self._right = _grown(self._right, first + count)
        self._pointer = _grown(self._pointer, first + count + 1)
        self._indices[last : last + rows.nnz] = rows.indices
        self._data[last : last + rows.nnz] = rows.data
        self._pointer[first + 1 : first + count + 1] = last + rows.indptr[1:]
        self._right[first : first + count] = right
        self._count += count


def _grown(array: Any, size: int) -> Any:
    """The array with space for this many entries."""
    if len(array) >= size:
        return array
    longer = np.zeros(max(size, 2 * len(array), 64), array.dtype)
    longer[: len(array)] = array
    return longer
