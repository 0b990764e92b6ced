"""Which cells are totals, as far as the relations tell."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tacit.problem import Integers, totals_of


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
