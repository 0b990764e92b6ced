"""The numbers in generated tables: how many contribute to each finest cell, and how much.

Business statistics are skewed twice over: a few codes of each dimension attract most of the
contributors, and within a cell a few contributors make up most of the value. Both are drawn
from lognormal distributions here, all cells at once. With the default choices the logarithms of
finest cells spread by about 1, and the p% rule with p = 15 finds about a tenth of all cells
sensitive, much as in public benchmark tables.

The same seed gives the same numbers with the same release of numpy, which may change how it draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.errors import InputError
from tacit.problem import Booleans, Floats, Integers


@dataclass(frozen=True, kw_only=True)
class Contributions:
    """How the finest cells of a generated table are filled.

    A cell that is not empty has 1 + Poisson(λ) contributors. λ is `mean_count` - 1 times one
    lognormal factor for each of the cell's codes, so that some codes are large and others
    small. Each contribution is lognormal and belongs to a contributor of its own.

    Attributes:
        mean_count: The expected number of contributors of a cell that is not empty.
        largest_count: No cell has more contributors than this.
        code_spread: Standard deviation of the logarithm of the factor of a code; with 0 all
            codes are alike.
        median: The median contribution.
        spread: Standard deviation of the logarithm of a contribution.
        empty: The share of finest cells without any contributor, exact up to rounding.
        whole: Round contributions up to whole numbers, as most published tables do.

    >>> Contributions(empty=1.5)
    Traceback (most recent call last):
        ...
    tacit.errors.InputError: empty must be at least 0 and below 1: the share of empty cells
    """

    mean_count: float = 15.0
    largest_count: int = 200
    code_spread: float = 0.5
    median: float = 100.0
    spread: float = 1.5
    empty: float = 0.0
    whole: bool = True

    def __post_init__(self) -> None:
        # `not ...` also refuses NaN.
        if not 1 <= self.mean_count < np.inf:
            raise InputError(
                "mean_count must be at least 1: cells without contributors are `empty`"
            )
        if not self.largest_count >= 1:
            raise InputError("largest_count must be at least 1")
        # Beyond 5 contributions differ by more digits than a float has.
        if not (0 <= self.code_spread <= 5 and 0 <= self.spread <= 5):
            raise InputError("code_spread and spread must lie between 0 and 5")
        if not 1e-6 <= self.median <= 1e12:
            raise InputError("median must lie between 1e-6 and 1e12: the median contribution")
        if not 0 <= self.empty < 1:
            raise InputError("empty must be at least 0 and below 1: the share of empty cells")


@dataclass(frozen=True, eq=False)
class FinestCells:
    """The finest cells of a table, as arrays with one axis for each dimension.

    Attributes:
        value: The sum of the contributions.
        count: The number of contributors.
        top: The largest and the second largest contribution, along a last axis of length 2.
    """

    value: Floats
    count: Integers
    top: Floats


def draw_finest_cells(
    shape: Sequence[int], contributions: Contributions, random: np.random.Generator
) -> FinestCells:
    """Draw values, counts and largest contributions of all finest cells.

    Args:
        shape: The number of finest codes of each dimension.
        contributions: How to fill the cells.
        random: Where randomness comes from.
    """
    count = _counts(shape, contributions, random)
    filled = count[count > 0]
    number = np.repeat(np.arange(len(filled)), filled)
    each = contributions.median * random.lognormal(0.0, contributions.spread, len(number))
    if contributions.whole:
        each = np.ceil(each)
    first = np.cumsum(filled) - filled
    value = np.zeros(count.size)
    top = np.zeros((count.size, 2))
    where = np.flatnonzero(count)
    if len(where):
        value[where] = np.add.reduceat(each, first)
        top[where, 0] = np.maximum.reduceat(each, first)
        each[_first_largest(each, top[where, 0][number], number)] = 0.0
        top[where, 1] = np.maximum.reduceat(each, first)
    return FinestCells(value.reshape(count.shape), count, top.reshape(*count.shape, 2))


def streams(seed: int, number: int) -> list[np.random.Generator]:
    """Independent sources of randomness from one seed.

    What is drawn from one of them never depends on how much another one gave: two tables of
    the same seed that differ in their sensitive cells only have the same values.
    """
    if seed < 0:
        raise InputError(f"seed must not be negative; it is {seed}")
    return [
        np.random.Generator(np.random.PCG64(child))
        for child in np.random.SeedSequence(seed).spawn(number)
    ]


def _counts(
    shape: Sequence[int], contributions: Contributions, random: np.random.Generator
) -> Integers:
    rate = np.full((1,) * len(shape), contributions.mean_count - 1.0)
    for axis, length in enumerate(shape):
        # Factors of mean one keep `mean_count` the mean.
        mu = -(contributions.code_spread**2) / 2
        factor = random.lognormal(mu, contributions.code_spread, length)
        rate = rate * factor.reshape([-1 if other == axis else 1 for other in range(len(shape))])
    # Clipping the rate changes no count: far above the cap every draw is capped. It keeps the
    # draw within what the generator of Poisson numbers can represent.
    rate = np.minimum(rate, 4.0 * contributions.largest_count + 1000.0)
    count = np.minimum(1 + random.poisson(rate), contributions.largest_count).astype(np.int64)
    empty = random.permutation(count.size)[: round(contributions.empty * count.size)]
    count.reshape(-1)[empty] = 0
    return np.asarray(count)


def _first_largest(each: Floats, largest: Floats, number: Integers) -> Integers:
    """Where each cell has its largest contribution, the first one where there is a tie."""
    is_largest: Booleans = each == largest
    where = np.flatnonzero(is_largest)
    is_first = np.ones(len(where), bool)
    is_first[1:] = np.diff(number[where]) > 0
    return where[is_first]
