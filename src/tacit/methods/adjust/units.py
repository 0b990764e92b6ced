"""`Units`: the table counted in units of its last decimal, so that what is published keeps to them.

Values with more decimals than the data have would show readers which cells were changed. The
search therefore runs on integer numbers of units: 12.35 is 1235 units of 0.01. Published numbers
are integers divided by a power of ten: the floating-point numbers nearest to decimals.

Data without a unit of their own are searched as they are, for the closest table of the problem as
it was stated; what is found is then written with common decimals, see `decimals`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.problem import Floats, Problem

_MOST_DECIMALS = 12
"""Data with more decimals than this count as having no unit."""
_FINEST = 22
"""Powers of ten up to this one are exact as floating-point numbers."""
_LARGEST = 2.0**50
"""Integers up to this one can be added up without rounding."""
_FINE = 1e-9
"""Where no unit is given by the data, it is at most this share of the smallest level or value."""
_COARSEST = 1e-2
"""A unit that is a larger share of the smallest level is of no use."""


@dataclass(frozen=True, eq=False)
class Units:
    """How a table is searched and published.

    Attributes:
        problem: The table that is searched: counted in units, with its bounds and its levels, or
            as it is.
        decimals: Decimals of what is published; None where values have no common unit.
        is_counted: Whether the table is counted in units. What is found otherwise is written with
            these decimals at the end.
    """

    problem: Problem
    decimals: int | None
    is_counted: bool

    @property
    def step(self) -> float:
        """What 1 in the searched table is worth."""
        return 1.0 / 10.0**self.decimals if self.is_counted and self.decimals is not None else 1.0


def decimal(counts: Floats, decimals: int) -> Floats:
    """The numbers nearest to decimals, for integer numbers of units."""
    # Adding nothing makes a zero of a negative zero.
    return np.asarray(np.rint(counts) / 10.0**decimals + 0.0)


def decimals_of(problem: Problem) -> int | None:
    """The fewest decimals with which the table can be written; None if there are too many."""
    if not _has_integer_coefficients(problem):
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


def in_units(problem: Problem, decimals: int) -> Units:
    """The table counted in units of its own last decimal."""
    factor = 10.0**decimals
    counted = problem.replace(
        value=np.rint(problem.value * factor),
        lower=problem.lower * factor,
        upper=problem.upper * factor,
        rhs=np.rint(problem.rhs * factor),
        lower_level=problem.lower_level * factor,
        upper_level=problem.upper_level * factor,
        sliding_level=problem.sliding_level * factor,
    )
    return Units(counted, decimals, is_counted=True)


def in_fine_units(problem: Problem, decimals: int | None) -> Units:
    """The table as it is, to be published with decimals that are small beside all levels.

    Args:
        problem: The table.
        decimals: Decimals of its values; None where they have no unit.
    """
    return Units(problem, _fine_decimals(problem, decimals), is_counted=False)


def _fine_decimals(problem: Problem, decimals: int | None) -> int | None:
    """Decimals that make a unit small beside all levels; None where that is impossible."""
    levels = np.concatenate([problem.lower_level, problem.upper_level, problem.sliding_level])
    least = float(np.min(levels[levels > 0], initial=np.inf))
    size = np.abs(np.append(problem.value, problem.rhs))
    largest = float(size.max(initial=0.0))
    if not np.isfinite(least) or not _has_integer_coefficients(problem):
        return decimals
    smallest = min(least, float(np.min(size[size > 0], initial=np.inf)))
    wanted = int(np.ceil(-np.log10(_FINE * smallest) - 1e-9))
    possible = _FINEST if largest == 0 else int(np.floor(np.log10(_LARGEST / largest)))
    fine = max(min(wanted, possible, _FINEST), decimals or 0, 0)
    if fine > possible or (decimals is None and 10.0**-fine > _COARSEST * least):
        return decimals
    return fine


def _has_integer_coefficients(problem: Problem) -> bool:
    coefficients = problem.relations.data
    return bool((coefficients == np.rint(coefficients)).all())
