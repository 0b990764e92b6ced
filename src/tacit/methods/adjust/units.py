"""`Units`: the table counted in units of its last decimal, so that what is published keeps to them.

Values with more decimals than the data have would show readers which cells were changed. The
search therefore runs on whole numbers of units: 12.35 is 1235 units of 0.01. Published numbers are
whole numbers of units divided by a power of ten: the floating-point numbers nearest to decimals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.problem import Booleans, Floats, Problem

_MOST_DECIMALS = 12
"""Data with more decimals than this count as having no unit."""
_FINEST = 22
"""Powers of ten up to this one are exact as floating-point numbers."""
_LARGEST = 2.0**50
"""Whole numbers up to this one can be added up without rounding."""
_FINE = 1e-9
"""Where no unit is given by the data, it is at most this share of the smallest level."""
_COARSEST = 1e-2
"""A unit that is a larger share of the smallest level is of no use."""


@dataclass(frozen=True, eq=False)
class Units:
    """A table in whole units, and the way back.

    Attributes:
        problem: The table, its bounds and its levels in units; as it is where there are none.
        decimals: Decimals of what is published; None where values have no common unit.
    """

    problem: Problem
    decimals: int | None

    @property
    def step(self) -> float:
        """What a unit is worth."""
        return 1.0 if self.decimals is None else 1.0 / 10.0**self.decimals

    def published(self, values: Floats) -> Floats:
        """What is published for a table in units: the numbers nearest to decimals."""
        if self.decimals is not None:
            values = np.rint(values) / 10.0**self.decimals
        # Adding nothing makes a zero of a negative zero.
        return np.asarray(values + 0.0)


def decimals_of(problem: Problem) -> int | None:
    """The fewest decimals with which the table can be written; None if there are too many."""
    if not _has_whole_coefficients(problem):
        return None
    given = np.concatenate([problem.value, problem.rhs])
    largest = float(np.abs(given).max(initial=0.0))
    for decimals in range(_MOST_DECIMALS + 1):
        counts = given * 10.0**decimals
        if largest * 10.0**decimals > _LARGEST:
            return None
        # Totals are sums of rounded numbers: their last digits may be off.
        blur = 64 * np.finfo(float).eps * np.maximum(np.abs(counts), 1.0)
        if (np.abs(counts - np.rint(counts)) <= np.minimum(blur, 0.01)).all():
            return decimals
    return None


def in_units(problem: Problem, decimals: int | None) -> Units:
    """The table in units of its own last decimal."""
    if decimals is None:
        return Units(problem, None)
    factor = 10.0**decimals
    return _scaled(problem, decimals, np.rint(problem.value * factor))


def in_fine_units(problem: Problem, decimals: int | None) -> Units:
    """The table in units that are small beside all levels.

    A table without a unit of its own is rounded to one: finest cells to the nearest, totals to
    their sums. Where that is impossible there are no units.

    Args:
        problem: The table.
        decimals: Decimals of its values; None where they have no unit.
    """
    levels = np.concatenate([problem.lower_level, problem.upper_level, problem.sliding_level])
    least = float(np.min(levels[levels > 0], initial=np.inf))
    largest = float(np.abs(np.append(problem.value, problem.rhs)).max(initial=0.0))
    if not np.isfinite(least):
        return in_units(problem, decimals)
    if not _has_whole_coefficients(problem):
        return Units(problem, None)
    wanted = int(np.ceil(-np.log10(_FINE * least) - 1e-9))
    possible = _FINEST if largest == 0 else int(np.floor(np.log10(_LARGEST / largest)))
    fine = max(min(wanted, possible, _FINEST), decimals or 0, 0)
    if fine > possible or (decimals is None and 10.0**-fine > _COARSEST * least):
        return in_units(problem, decimals)
    factor = 10.0**fine
    if decimals is not None:
        exact = np.rint(problem.value * 10.0**decimals)
        return _scaled(problem, fine, exact * 10.0 ** (fine - decimals))
    counts = _rounded(problem.relations, problem.value * factor, np.rint(problem.rhs * factor))
    return Units(problem, None) if counts is None else _scaled(problem, fine, counts)


def _has_whole_coefficients(problem: Problem) -> bool:
    coefficients = problem.relations.data
    return bool((coefficients == np.rint(coefficients)).all())


def _scaled(problem: Problem, decimals: int, counts: Floats) -> Units:
    factor = 10.0**decimals
    exact = problem.value * factor
    blur = 64 * np.finfo(float).eps * np.abs(exact)
    # Levels count from the true value, wherever it was rounded to.
    off = np.abs(counts - exact)
    off = np.where(off <= blur, 0.0, off)[problem.sensitive]

    def level(given: Floats) -> Floats:
        return np.where(given > 0, given * factor + off, 0.0)

    scaled = problem.replace(
        value=counts,
        lower=problem.lower * factor,
        upper=problem.upper * factor,
        rhs=np.rint(problem.rhs * factor),
        lower_level=level(problem.lower_level),
        upper_level=level(problem.upper_level),
        sliding_level=level(problem.sliding_level),
    )
    return Units(scaled, decimals)


def _rounded(A: sparse.csr_array[Any, Any], value: Floats, rhs: Floats) -> Floats | None:
    """Whole numbers near to a table that add up; None if they cannot be found cell by cell."""
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    open_cells = _computed(A, row)
    counts = np.where(open_cells, 0.0, np.rint(value))
    while open_cells.any():
        unknown = np.bincount(row, open_cells[A.indices], minlength=A.shape[0])
        ready = (unknown[row] == 1) & open_cells[A.indices]
        if not ready.any():
            return None
        cells, first = np.unique(A.indices[ready], return_index=True)
        rows, coefficients = row[ready][first], A.data[ready][first]
        counts[cells] = (rhs - A @ counts)[rows] / coefficients
        open_cells[cells] = False
    is_table = (counts == np.rint(counts)).all() and (A @ counts == rhs).all()
    return counts if is_table else None


def _computed(A: sparse.csr_array[Any, Any], row: Any) -> Booleans:
    """One cell of each relation that is computed from the others, the total if there is one."""
    positive = np.bincount(row, A.data > 0, minlength=A.shape[0])
    negative = np.bincount(row, A.data < 0, minlength=A.shape[0])
    sign = np.where(positive == 1, 1.0, -1.0)
    is_pair = positive + negative <= 2
    has_total = (np.minimum(positive, negative) == 1) & ~is_pair
    computed = np.zeros(A.shape[1], bool)
    computed[A.indices[has_total[row] & (np.sign(A.data) == sign[row])]] = True
    for pair in np.flatnonzero(is_pair).tolist():
        cells = A.indices[A.indptr[pair] : A.indptr[pair + 1]]
        if not computed[cells].any():
            computed[cells[-1:]] = True
    return computed
