"""Adjusted and rounded tables found by other means than tacit's, to hold against what it claims."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from tacit.outcome import Values
from tacit.problem import Problem
from tests.judge.alternatives import Alternative
from tests.judge.reader import capacities, exposed, exposed_values, reach, requests
from tests.judge.solvers import Booleans, Floats, Rows, integer_program, squares

_SECONDS = 4.0
_ROUNDS = 25
_COUNTABLE = 1e7
"""Larger levels are not counted in ones: the numbers would be beyond the solver's tolerances."""
_FAR = 30.0
"""Unlimited capacity counts as this many times the largest level."""


@dataclass(frozen=True, eq=False)
class Adjusting:
    """What an adjusted table must be.

    Attributes:
        problem: The true table.
        weight: What a unit of deviation costs.
        up: How far each cell may rise.
        down: How far each cell may fall.
        norm: `l1`, `l2` or `linf`.
        integer: Whether deviations are integers; levels are then rounded up.
    """

    problem: Problem
    weight: Floats
    up: Floats
    down: Floats
    norm: str
    integer: bool

    def cost(self, z: Floats) -> float:
        """What deviations cost."""
        if self.norm == "linf":
            return float((self.weight * np.abs(z)).max(initial=0.0))
        return float(self.weight @ (np.abs(z) if self.norm == "l1" else z**2))

    def sides(self) -> list[tuple[int, float | None, float | None]]:
        """Each sensitive cell that must move, how far down and how far up; None: not that way."""
        p, told = self.problem, []
        for at, cell in enumerate(p.sensitive.tolist()):
            asked = dict(requests(p, at))
            if not asked:
                continue
            slide = asked.get("sliding", 0.0)
            low = max(asked.get("lower", 0.0), slide) or None
            high = max(asked.get("upper", 0.0), slide) or None
            if self.integer:
                low = None if low is None else float(np.ceil(low * (1 - 1e-12)))
                high = None if high is None else float(np.ceil(high * (1 - 1e-12)))
            told.append((cell, low, high))
        return told

    def in_units(self, decimals: int) -> Adjusting:
        """The same counted in units of the last decimal, in integers."""
        p, unit = self.problem, 10.0**decimals
        counted = p.replace(
            value=np.rint(p.value * unit),
            lower=p.lower * unit,
            upper=p.upper * unit,
            rhs=np.rint(p.rhs * unit),
            lower_level=p.lower_level * unit,
            upper_level=p.upper_level * unit,
            sliding_level=p.sliding_level * unit,
        )
        weight = self.weight / (unit**2 if self.norm == "l2" else unit)
        return Adjusting(counted, weight, self.up * unit, self.down * unit, self.norm, integer=True)


def decimals_of(problem: Problem) -> int | None:
    """The fewest decimals of all values, up to 12; None where there are more, or fractions of them.

    Values that are published with more decimals show readers which were changed.
    """
    if (problem.relations.data != np.rint(problem.relations.data)).any():
        return None
    given = np.concatenate([problem.value, problem.rhs])
    for decimals in range(13):
        counts = given * 10.0**decimals
        off = np.abs(counts - np.rint(counts))
        if np.abs(counts).max(initial=0.0) > 1e15:
            return None
        if (off <= np.minimum(2e-14 * np.maximum(np.abs(counts), 1.0), 0.01)).all():
            return decimals
    return None


def adjusted(model: Adjusting) -> Alternative | None:
    """A near safe table by one mixed-integer program of scipy; None where it finds none."""
    p, n = model.problem, model.problem.cell_count
    sides = model.sides()
    levels = [each for _, low, high in sides for each in (low, high) if each is not None]
    unit = max(levels, default=1.0)
    if model.integer and unit < _COUNTABLE:
        unit = 1.0
    far = _FAR * max(levels, default=1.0)
    up, down = np.minimum(model.up, far) / unit, np.minimum(model.down, far) / unit
    if model.integer and unit == 1.0:
        up, down = np.floor(up + 1e-9), np.floor(down + 1e-9)
    k = len(sides)
    size = 2 * n + k + 1
    rows: list[Any] = []
    low_right: list[float] = []
    high_right: list[float] = []

    def row(entries: dict[int, float], low: float, high: float) -> None:
        rows.append(entries)
        low_right.append(low)
        high_right.append(high)

    fixed = np.full((k, 2), [0.0, 1.0])
    for at, (cell, low, high) in enumerate(sides):
        rises = 2 * n + at
        if high is None:
            fixed[at, 1] = 0.0
        if low is None:
            fixed[at, 0] = 1.0
        top, bottom = (high or 0.0) / unit, (low or 0.0) / unit
        # up >= top where it rises, up <= 0 where it falls; the same downwards.
        row({cell: 1.0, rises: -top}, 0.0, np.inf)
        row({cell: 1.0, rises: -float(up[cell])}, -np.inf, 0.0)
        row({n + cell: 1.0, rises: bottom}, bottom, np.inf)
        row({n + cell: 1.0, rises: float(down[cell])}, -np.inf, float(down[cell]))
    cost = np.concatenate([model.weight, model.weight, np.zeros(k + 1)])
    if model.norm == "linf":
        cost[: 2 * n] = 0.0
        cost[-1] = 1.0
        heavy = max(float(model.weight.max()), 1e-300)
        for cell in range(n):
            share = float(model.weight[cell]) / heavy
            row({cell: share, n + cell: share, size - 1: -1.0}, -np.inf, 0.0)
    balance = sparse.hstack([p.relations, -p.relations, sparse.csr_array((len(p.rhs), k + 1))])
    line = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
    entries = [item for each in rows for item in each.items()]
    matrix = sparse.csr_array(
        ([value for _, value in entries], (line, [column for column, _ in entries])),
        shape=(len(rows), size),
    )
    found = integer_program(
        cost,
        [Rows(balance, 0.0, 0.0), Rows(matrix, low_right, high_right)],
        np.concatenate([np.zeros(2 * n), fixed[:, 0], [0.0]]),
        np.concatenate([up, down, fixed[:, 1], [np.inf]]),
        np.concatenate([np.full(2 * n, model.integer and unit == 1.0), np.ones(k), [0.0]]) > 0,
        _SECONDS,
    )
    if found is None:
        return None
    z = (found[:n] - found[n : 2 * n]) * unit
    z = np.rint(z) if model.integer else np.where(np.abs(z) < 1e-11 * unit, 0.0, z)
    alternative = _checked(model, z)
    if model.norm == "l2":
        alternative = _least_squares(model, alternative, sides)
    return alternative


def _checked(model: Adjusting, z: Floats) -> Alternative | None:
    """The table with these deviations, if it is one."""
    p = model.problem
    largest = np.abs(z).max(initial=0.0)
    missed = np.abs(np.asarray(p.relations @ z))
    slack = 0.0 if model.integer else 1e-8
    if (missed > slack * (abs(p.relations) @ np.abs(z))).any():
        return None
    if (z > model.up + slack * largest).any() or (-z > model.down + slack * largest).any():
        return None
    strict = p
    if model.integer:
        strict = p.replace(
            lower_level=np.ceil(p.lower_level * (1 - 1e-12)),
            upper_level=np.ceil(p.upper_level * (1 - 1e-12)),
            sliding_level=np.ceil(p.sliding_level * (1 - 1e-12)),
        )
    if exposed_values(strict, p.value + z):
        return None
    return Alternative(model.cost(z), Values(p.value + z))


def _least_squares(
    model: Adjusting, start: Alternative | None, sides: list[tuple[int, float | None, float | None]]
) -> Alternative | None:
    """The best of all senses, each by sequential quadratic programming, for very small tables."""
    p, n = model.problem, model.problem.cell_count
    if start is None or len(sides) > 4 or n > 20:
        return start
    assert isinstance(start.solution, Values)
    unit = float(np.abs(start.solution.value - p.value).max()) or 1.0
    heavy = max(float(model.weight.max()), 1e-300)
    weight, best = model.weight / heavy, start
    A = p.relations.toarray()
    for rises in product((True, False), repeat=len(sides)):
        low, high = -model.down / unit, model.up / unit
        for up, (cell, least, most) in zip(rises, sides, strict=True):
            if (most if up else least) is None:
                break
            if up:
                low[cell] = (most or 0.0) / unit
            else:
                high[cell] = -(least or 0.0) / unit
        else:
            if (low > high).any():
                continue
            alternative = _checked(model, squares(weight, A, low, high) * unit)
            if alternative is not None and alternative.cost < best.cost:
                best = alternative
    return best


@dataclass(frozen=True, eq=False)
class Rounding:
    """What a rounding must be.

    Attributes:
        problem: The true table.
        weight: What a unit of distance costs.
        base: Every value is a multiple of this.
        steps: Every value lies at most so many bases from the true one.
        zero_restricted: Multiples keep their value.
    """

    problem: Problem
    weight: Floats
    base: float
    steps: int
    zero_restricted: bool

    @property
    def counts(self) -> Floats:
        """The true values in bases, integers where they are multiples."""
        exact = self.problem.value / self.base
        nearest = np.rint(exact)
        close = np.abs(exact - nearest) <= 1e-9 * np.maximum(np.abs(exact), 1.0)
        return np.where(close, nearest, exact)

    @property
    def is_multiple(self) -> Booleans:
        """Whether the true value is a multiple of the base."""
        return np.asarray(self.counts == np.rint(self.counts))

    @property
    def keeps(self) -> Booleans:
        """Cells that keep their value."""
        return np.asarray(self.is_multiple & (self.problem.must_publish | self.zero_restricted))

    @property
    def radius(self) -> Floats:
        """How far from a published value a reader takes the true one to be: docs/rounding.md."""
        p = self.problem
        most = self.base * self.steps
        is_integer = bool((p.value == np.rint(p.value)).all()) and self.base == np.rint(self.base)
        if self.zero_restricted and is_integer:
            most -= 1
        return np.where(self.is_multiple & p.must_publish, 0.0, most)

    def ends(self) -> tuple[Floats, Floats]:
        """The least and the largest number of bases of each cell."""
        p, exact = self.problem, self.counts
        low, high = np.ceil(exact - self.steps), np.floor(exact + self.steps)
        with np.errstate(invalid="ignore"):
            low = np.maximum(low, np.floor(p.lower / self.base + 1e-9))
            high = np.minimum(high, np.ceil(p.upper / self.base - 1e-9))
        return np.where(self.keeps, exact, low), np.where(self.keeps, exact, high)


def rounded(model: Rounding) -> Alternative | None:
    """A near safe rounding: the nearest one, cut off where a reader finds out too much."""
    p, base = model.problem, model.base
    low, high = model.ends()
    if (low > high).any() or not np.isfinite(low).all():
        return None
    right = p.rhs / base - p.relations @ low
    if (np.abs(right - np.rint(right)) > 1e-6).any():
        return None
    choices = [
        (cell, step)
        for cell in range(p.cell_count)
        for step in range(int(high[cell] - low[cell]) + 1)
    ]
    cells = np.array([cell for cell, _ in choices])
    step = np.array([step for _, step in choices], float)
    value = (low[cells] + step) * base
    cost = model.weight[cells] * np.abs(value - p.value[cells])
    each = sparse.csr_array((np.ones(len(cells)), (cells, np.arange(len(cells)))))
    moves = sparse.csr_array((step, (cells, np.arange(len(cells)))), shape=each.shape)
    rows = [Rows(each, 1.0, 1.0), Rows(p.relations @ moves, np.rint(right), np.rint(right))]
    ones = np.ones(len(cells))
    for _ in range(_ROUNDS):
        found = integer_program(cost, rows, 0 * ones, ones, ones > 0, _SECONDS)
        if found is None:
            return None
        chosen = found > 0.5
        counts = low + np.bincount(cells[chosen], step[chosen], minlength=p.cell_count)
        solution = Values(counts * base, model.radius)
        if not exposed(p, solution):
            cost = float(model.weight @ np.abs(counts * base - p.value))
            return Alternative(cost, solution)
        row = _cut(model, solution)
        if row is None:
            return None
        slope, least = row
        per_choice = slope[cells] * (low[cells] + step)
        rows.append(Rows(sparse.csr_array(per_choice[None]), least, np.inf))
    return None


def _cut(model: Rounding, solution: Values) -> tuple[Floats, float] | None:
    """A row in the numbers of bases that all safe roundings meet and this one does not.

    What a reader allows for above the true value is at most k base + radius - a, and at most
    what the bounds allow; below it is the same with the other signs.
    """
    p, base = model.problem, model.base
    up, down = capacities(p, solution)
    wide_up, wide_down = p.upper - p.value, p.value - p.lower
    for position, cell in enumerate(p.sensitive.tolist()):
        for level, amount in requests(p, position):
            sides = {"upper": [1], "lower": [-1], "sliding": [1, -1]}[level]
            found = [reach(p, up, down, cell, side, amount) for side in sides]
            if sum(each.share for each in found) >= 1 - 1e-6:
                continue
            slope, constant = np.zeros(p.cell_count), 0.0
            for each in found:
                if each.limits is None:
                    return None
                rise, fall = each.limits
                radius = model.radius
                bound_is_less = wide_up <= solution.value + radius - p.value
                constant += float(rise[bound_is_less] @ wide_up[bound_is_less])
                use = ~bound_is_less
                slope[use] += rise[use] * base
                constant += float(rise[use] @ (radius - p.value)[use])
                bound_is_less = wide_down <= p.value - solution.value + radius
                constant += float(fall[bound_is_less] @ wide_down[bound_is_less])
                use = ~bound_is_less
                slope[use] -= fall[use] * base
                constant += float(fall[use] @ (radius + p.value)[use])
            return slope / amount, (amount - constant) / amount - 1e-7
    return None
