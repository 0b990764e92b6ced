"""Compiled loops over the cells of a grid, writing relations straight into CSR arrays.

Imported only where a grid is big: loading compiled code takes longer than a small table does.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.compiling import njit


@njit(cache=True)
def write_relations(
    outer: int,
    size: int,
    inner: int,
    child: npt.NDArray[np.int64],
    first_child: npt.NDArray[np.int64],
    cell: npt.NDArray[np.signedinteger],
    indptr: npt.NDArray[np.signedinteger],
    indices: npt.NDArray[np.signedinteger],
    data: npt.NDArray[np.float64],
    row: int,
    entry: int,
) -> tuple[int, int]:
    """Write the relations of one dimension, ordered by the cell of their total.

    A total without any child is not broken down and has no relation.

    Args:
        outer: Number of code combinations of the dimensions before this one.
        size: Number of codes of this dimension.
        inner: Number of code combinations of the dimensions after this one.
        child: Children of every code, one code after the other.
        first_child: Where the children of each code begin, and the end of the last.
        cell: Number of the cell at each combination of codes, -1 where it does not occur.
        indptr: Start of each relation, written from `row + 1` on.
        indices: Cells of the relations, written from `entry` on.
        data: Coefficients of the relations, written from `entry` on.
        row: Number of relations written so far.
        entry: Number of coefficients written so far.

    Returns:
        The new `row` and `entry`.
    """
    for before in range(outer):
        for code in range(size):
            begin, end = first_child[code], first_child[code + 1]
            if begin == end:
                continue
            for after in range(inner):
                total = cell[(before * size + code) * inner + after]
                if total < 0:
                    continue
                indices[entry] = total
                data[entry] = -1.0
                last = entry + 1
                for number in range(begin, end):
                    part = cell[(before * size + child[number]) * inner + after]
                    if part >= 0:
                        indices[last] = part
                        data[last] = 1.0
                        last += 1
                if last > entry + 1:
                    entry = last
                    row += 1
                    indptr[row] = entry
    return row, entry
