"""Which ends are published: moved outwards to round numbers, so that none is made of true values.

The ends that the search finds lie a protection level away from a true value, or at a bound that
may have been made of one: whoever knows that can compute the value. Moved outwards to multiples
of a base they tell no more than in which step of the base they lay. The base of a cell follows
from what is published of it, and from the digits of the published values: moving ends that were
moved before changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.methods.intervals.options import AUTO
from tacit.outcome import Intervals
from tacit.problem import Booleans, Floats
from tacit.tolerances import NEAR_MULTIPLE, ROUNDING_NOISE, TINY_BASE

MOST_STEPS = 8
"""An interval with a base of its own is at most this many times as wide as the base."""
LEAST_UNITS = 5
"""A base is at least this many units of the table. Among integers a base of 1 hides nothing."""
MOST_MULTIPLES = 1e13
"""Beyond this many steps from zero multiples of a base cannot be told from what lies between."""
_MANY = 5
"""This many different values are not multiples of a power of ten by chance."""
_MOST = 0.9
"""A share of the values that is most of them."""
_LEADING = 9
"""An interval with only one end keeps one digit of it: at most this many steps from zero."""


def outward(
    solution: Intervals,
    base: float | str,
    untold: Booleans,
    *,
    strictly: bool = False,
    most_steps: int = MOST_STEPS,
) -> Intervals:
    """Intervals as they are published.

    Args:
        solution: What the search found.
        base: Move ends to multiples of this number, or of a base for each cell (`auto`).
        untold: Cells that are not published at all: their ends are infinite. Points among them
            stay points, which are not published either.
        strictly: Also move ends that are multiples up to rounding.
        most_steps: A base of its own leaves each interval at most this many steps wide.

    >>> found = Intervals(np.array([35.3, 7.0]), np.array([44.9, 7.0]))
    >>> moved = outward(found, "auto", np.zeros(2, bool))
    >>> moved.lower.tolist(), moved.upper.tolist()
    ([35.0, 7.0], [45.0, 7.0])
    """
    lower, upper = solution.lower.copy(), solution.upper.copy()
    spread = lower < upper
    cells = np.flatnonzero(spread & ~untold)
    near = 0.0 if strictly else NEAR_MULTIPLE
    low, high = lower[cells], upper[cells]
    if base == AUTO:
        unit = unit_of(lower[~spread & ~untold])
        bases = _fitting(low, high, near, most_steps, LEAST_UNITS * unit)
    else:
        bases = _Bases.of(float(base), len(cells))
    first, last = bases.steps(low, high, near)
    lower[cells], upper[cells] = bases.multiples(first), bases.multiples(last)
    lower[untold & spread], upper[untold & spread] = -np.inf, np.inf
    return Intervals(lower, upper)


def unit_of(values: Floats) -> float:
    """The largest power of ten that most values are multiples of; 0 where there is no value.

    Few values may be multiples of a large one by chance: integers then have the unit 1.

    >>> unit_of(np.array([1200.0, 30.0, 0.0])), unit_of(np.array([1.25, 3.0]))
    (1.0, 0.01)
    >>> unit_of(np.array([1200.0, 30.0, 90.0, 110.0, 70.0, 2000.0]))
    10.0
    """
    sizes = np.unique(np.abs(values[values != 0]))
    if not len(sizes):
        return 0.0
    highest = int(np.floor(np.log10(np.median(sizes))))
    if len(sizes) < _MANY:
        highest = min(highest, 0)
    for place in range(highest, highest - 25, -1):
        power = 10.0 ** abs(place)
        steps = sizes / power if place >= 0 else sizes * power
        off = np.abs(steps - np.rint(steps))
        if (off <= np.maximum(ROUNDING_NOISE, 16 * np.spacing(steps))).mean() >= _MOST:
            return power if place >= 0 else 1.0 / power
    return 0.0


@dataclass(frozen=True, eq=False)
class _Bases:
    """A base for each of some cells: a factor divided by a power of ten.

    Both are integers for bases of 1, 2, 5, 10, ..., so that the multiples are the decimal
    numbers that they stand for.
    """

    factor: Floats
    divisor: Floats

    @classmethod
    def of(cls, base: float, count: int) -> _Bases:
        """One base for all cells."""
        return cls(np.full(count, base), np.ones(count))

    def steps(self, lower: Floats, upper: Floats, near: float) -> tuple[Floats, Floats]:
        """How many steps of the base from zero both ends lie, moved outwards."""
        width = upper - lower
        slack = self._in_steps(near * np.where(np.isfinite(width), width, 0.0))
        below, above = self._in_steps(lower), self._in_steps(upper)
        first = np.where(_is_integer(below, slack), np.rint(below), np.floor(below))
        last = np.where(_is_integer(above, slack), np.rint(above), np.ceil(above))
        return first, last

    def multiples(self, steps: Floats) -> Floats:
        """Multiples of the base; zero has no sign."""
        return steps * self.factor / self.divisor + 0.0

    def _in_steps(self, end: Floats) -> Floats:
        return end * self.divisor / self.factor


def _is_integer(steps: Floats, slack: Floats) -> Booleans:
    finite = np.where(np.isfinite(steps), steps, 0.5)
    off = np.abs(finite - np.rint(finite))
    return np.asarray(off <= np.minimum(slack + 4 * np.spacing(np.abs(finite)), 0.25))


def _fitting(lower: Floats, upper: Floats, near: float, most_steps: int, smallest: float) -> _Bases:
    """For each interval the smallest base of 1, 2, 5, 10, ... that leaves it few steps wide."""
    open_ended = np.isinf(lower) | np.isinf(upper)
    size = np.zeros(len(lower))
    for end in (lower, upper):
        size = np.maximum(size, np.where(np.isfinite(end), np.abs(end), 0.0))
    width = np.where(open_ended, size, upper - lower)
    least = np.maximum(np.maximum(width / most_steps, size / MOST_MULTIPLES), smallest)
    # From one place below on, where no base is large enough.
    start = np.floor(np.log10(np.maximum(least, TINY_BASE))) - 1
    chosen = _Bases.of(1.0, len(lower))
    waiting = np.ones(len(lower), bool)
    for turn in range(12):
        digit, place = (1.0, 2.0, 5.0)[turn % 3], start + turn // 3
        power = 10.0 ** np.abs(place)
        bases = _Bases(np.where(place >= 0, digit * power, digit), np.where(place >= 0, 1.0, power))
        first, last = bases.steps(lower, upper, near)
        large = bases.factor >= smallest * bases.divisor * (1 - ROUNDING_NOISE)
        fits = _few(first, last, open_ended, most_steps) & large & waiting
        if digit != 1.0:
            # Multiples of a power of ten are multiples of all smaller ones: one digit stays one.
            fits &= ~open_ended
        chosen.factor[fits], chosen.divisor[fits] = bases.factor[fits], bases.divisor[fits]
        waiting &= ~fits
    assert not waiting.any()
    return chosen


def _few(first: Floats, last: Floats, open_ended: Booleans, most_steps: int) -> Booleans:
    """Are there few enough steps between the ends, or from zero to the only end?"""
    first, last = (np.where(np.isfinite(end), end, 0.0) for end in (first, last))
    furthest = np.maximum(np.abs(first), np.abs(last))
    few = (last - first <= most_steps) & (furthest <= MOST_MULTIPLES)
    return np.asarray(np.where(open_ended, furthest <= _LEADING, few))
