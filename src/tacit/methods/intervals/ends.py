"""Which ends are published: moved outwards to round numbers, so that none is made of true values.

The ends that the search finds lie a protection level away from a true value, or at a bound that
may have been made of one: whoever knows that can compute the value. Moved outwards to multiples
of a base they tell no more than in which step of the base they lay. The base of a cell follows
from what is published of it: moving ends that were moved before changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.outcome import Intervals
from tacit.problem import Booleans, Floats

AUTO, EXACT = "auto", "exact"
"""What `round_to` may be besides a number."""
MOST_STEPS = 8
"""An interval with a base of its own is at most so many times as wide as the base."""
MOST_MULTIPLES = 1e13
"""Beyond so many steps from zero multiples of a base cannot be told from what lies between."""
_LEADING = 9
"""Of an interval with one end only, the end keeps one digit: so many steps from zero at most."""
_NEAR = 2e-10
"""An end this close to a multiple, as a share of its interval, is one but for rounding."""


def outward(
    solution: Intervals, base: float | str, untold: Booleans, *, strictly: bool = False
) -> Intervals:
    """Intervals as they are published.

    Args:
        solution: What the search found.
        base: Move ends to multiples of this number, or of a base for each cell (`auto`).
        untold: Cells that are not published at all: their ends are infinite.
        strictly: Also move ends that are multiples but for rounding.

    >>> found = Intervals(np.array([35.3, 7.0]), np.array([44.9, 7.0]))
    >>> moved = outward(found, "auto", np.zeros(2, bool))
    >>> moved.lower.tolist(), moved.upper.tolist()
    ([34.0, 7.0], [46.0, 7.0])
    """
    lower, upper = solution.lower.copy(), solution.upper.copy()
    cells = np.flatnonzero((lower < upper) & ~untold)
    near = 0.0 if strictly else _NEAR
    low, high = lower[cells], upper[cells]
    bases = _fitting(low, high, near) if base == AUTO else _Bases.of(float(base), len(cells))
    first, last = bases.steps(low, high, near)
    lower[cells], upper[cells] = bases.multiples(first), bases.multiples(last)
    lower[untold], upper[untold] = -np.inf, np.inf
    return Intervals(lower, upper)


@dataclass(frozen=True, eq=False)
class _Bases:
    """A base for each of some cells: a factor divided by a power of ten.

    Both are whole numbers for bases of 1, 2, 5, 10, ..., so that the multiples are the decimal
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
        first = np.where(_is_whole(below, slack), np.rint(below), np.floor(below))
        last = np.where(_is_whole(above, slack), np.rint(above), np.ceil(above))
        return first, last

    def multiples(self, steps: Floats) -> Floats:
        """So many times the base; zero has no sign."""
        return steps * self.factor / self.divisor + 0.0

    def _in_steps(self, end: Floats) -> Floats:
        return end * self.divisor / self.factor


def _is_whole(steps: Floats, slack: Floats) -> Booleans:
    finite = np.where(np.isfinite(steps), steps, 0.5)
    off = np.abs(finite - np.rint(finite))
    return np.asarray(off <= np.minimum(slack + 4 * np.spacing(np.abs(finite)), 0.25))


def _fitting(lower: Floats, upper: Floats, near: float) -> _Bases:
    """For each interval the smallest base of 1, 2, 5, 10, ... that leaves it few steps wide."""
    open_ended = np.isinf(lower) | np.isinf(upper)
    size = np.zeros(len(lower))
    for end in (lower, upper):
        size = np.maximum(size, np.where(np.isfinite(end), np.abs(end), 0.0))
    width = np.where(open_ended, size, upper - lower)
    least = np.maximum(width / MOST_STEPS, size / MOST_MULTIPLES)
    # From one place below on, where no base is large enough.
    start = np.floor(np.log10(np.maximum(least, 1e-290))) - 1
    chosen = _Bases.of(1.0, len(lower))
    waiting = np.ones(len(lower), bool)
    for turn in range(12):
        digit, place = (1.0, 2.0, 5.0)[turn % 3], start + turn // 3
        power = 10.0 ** np.abs(place)
        bases = _Bases(np.where(place >= 0, digit * power, digit), np.where(place >= 0, 1.0, power))
        first, last = bases.steps(lower, upper, near)
        # A multiple of a power of ten is one of all smaller powers: so one digit stays one digit.
        fits = np.where(open_ended, digit == 1.0, True) & _few(first, last, open_ended) & waiting
        chosen.factor[fits], chosen.divisor[fits] = bases.factor[fits], bases.divisor[fits]
        waiting &= ~fits
    assert not waiting.any()
    return chosen


def _few(first: Floats, last: Floats, open_ended: Booleans) -> Booleans:
    """Are there few enough steps between the ends, or from zero to the only end?"""
    first, last = (np.where(np.isfinite(end), end, 0.0) for end in (first, last))
    furthest = np.maximum(np.abs(first), np.abs(last))
    few = (last - first <= MOST_STEPS) & (furthest <= MOST_MULTIPLES)
    return np.asarray(np.where(open_ended, furthest <= _LEADING, few))
