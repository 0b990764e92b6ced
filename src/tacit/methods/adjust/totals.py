"""Which cells are totals, as far as the relations tell."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tacit.problem import Booleans, Integers


def total_entries(A: sparse.csr_array[Any, Any]) -> Booleans:
    """Which entries of the relations are totals.

    The total of a relation is the one cell whose coefficient has another sign than all others;
    a relation of two cells, or with several on both sides, has none.

    >>> total_entries(sparse.csr_array([[1, 1, -1, 0], [0, 1, 0, -1]])).tolist()
    [False, False, True, False, False]
    """
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    positive = np.bincount(row, A.data > 0, minlength=A.shape[0])
    negative = np.bincount(row, A.data < 0, minlength=A.shape[0])
    sign = np.where(positive == 1, 1.0, -1.0)
    has_total = (np.minimum(positive, negative) == 1) & (positive + negative > 2)
    return np.asarray(has_total[row] & (np.sign(A.data) == sign[row]))


def heights(A: sparse.csr_array[Any, Any]) -> Integers:
    """For each cell the number of steps from the finest cells up to it.

    Where relations go round in circles, counting stops at their number.

    >>> heights(sparse.csr_array([[1, 1, -1, 0, 0], [0, 0, 1, 1, -1]])).tolist()
    [0, 0, 1, 0, 2]
    """
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    is_total = total_entries(A)
    total = np.full(A.shape[0], -1)
    total[row[is_total]] = A.indices[is_total]
    is_part = (total[row] >= 0) & ~is_total
    part, above = A.indices[is_part], total[row[is_part]]
    height = np.zeros(A.shape[1], np.int64)
    for _ in range(A.shape[0]):
        raised = height.copy()
        np.maximum.at(raised, above, height[part] + 1)
        if (raised == height).all():
            break
        height = raised
    return height
