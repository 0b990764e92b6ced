"""What somebody who reads a publication can deduce, found again from the definitions.

Nothing here is shared with `tacit.attack`: each question is a linear program of its own, solved
by scipy in units of the level that is asked for. That a cell is exposed is confirmed by multipliers
of the relations, made simple fractions, whose limit no deviation within the capacities can exceed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import sparse

from tacit import Attacker
from tacit.outcome import Intervals, Solution, Suppression, Values
from tacit.problem import Problem
from tests.judge.solvers import Floats, linear

SHARE = 1e-6
"""A level counts as met when all but this share of it is."""
_CAPS = (1e4, 1e7)
"""Capacity beyond so many levels is tried without first: large numbers make programs worse."""


@dataclass(frozen=True)
class Exposed:
    """A level that is not met: which cell, against whom, and how much of it there is."""

    cell: int
    attacker: str
    level: str
    share: float


@dataclass(frozen=True, eq=False)
class Reach:
    """How far a cell can move, in shares of what was wanted, at most 1.

    Attributes:
        share: How far.
        moved: The deviation of every cell that shows it.
        limits: Where less than 1: for each cell `rise` and `fall`, such that no deviation moves
            the cell by more than the sum of rise * capacity above + fall * capacity below.
    """

    share: float
    moved: Floats
    limits: tuple[Floats, Floats] | None = None


def capacities(problem: Problem, solution: Solution) -> tuple[Floats, Floats]:
    """How far above and below its true value each cell may lie, as far as it tells itself."""
    up, down = problem.upper - problem.value, problem.value - problem.lower
    if isinstance(solution, Suppression):
        up = np.where(solution.suppressed, up, 0.0)
        down = np.where(solution.suppressed, down, 0.0)
    elif isinstance(solution, Intervals):
        up = np.minimum(up, solution.upper - problem.value)
        down = np.minimum(down, problem.value - solution.lower)
    elif isinstance(solution, Values) and solution.radius is not None:
        up = np.minimum(up, solution.value + solution.radius - problem.value)
        down = np.minimum(down, problem.value - (solution.value - solution.radius))
    # What is left of two numbers that are equal but for their last digits is no capacity.
    noise = 8 * np.finfo(float).eps * np.abs(problem.value)
    return np.where(up > noise, up, 0.0), np.where(down > noise, down, 0.0)


def capacities_for(
    problem: Problem, attacker: Attacker, up: Floats, down: Floats, cell: int
) -> tuple[Floats, Floats]:
    """The capacities that are left to somebody who knows more, when asking about a cell."""
    told_up, told_down = up.copy(), down.copy()
    for known in (*attacker.known, *attacker.colluding):
        told_up[known] = told_down[known] = 0.0
    for at, amount in attacker.at_least.items():
        told_down[at] = min(told_down[at], max(0.0, problem.value[at] - amount))
    for at, amount in attacker.at_most.items():
        told_up[at] = min(told_up[at], max(0.0, amount - problem.value[at]))
    if cell in attacker.colluding or cell in attacker.own:
        told_up[cell], told_down[cell] = up[cell], down[cell]
    return told_up, told_down


def reach(problem: Problem, up: Floats, down: Floats, cell: int, side: int, wanted: float) -> Reach:
    """How far a cell can move to a side within the capacities, in shares of what is wanted."""
    count = problem.cell_count
    best = Reach(0.0, np.zeros(count))
    for cap in _CAPS:
        high, low = np.minimum(up / wanted, cap), np.minimum(down / wanted, cap)
        if side > 0:
            high[cell] = min(high[cell], 1.0)
        else:
            low[cell] = min(low[cell], 1.0)
        free = np.flatnonzero((high > 0) | (low > 0))
        if cell not in free:
            limits = _limits(problem, np.zeros(problem.relation_count), cell, side, up, down)
            return Reach(0.0, np.zeros(count), limits)
        cost = np.where(free == cell, -float(side), 0.0)
        found = linear(cost, problem.relations[:, free], -low[free], high[free])
        if found is None:
            continue
        x, duals = found
        moved = np.zeros(count)
        moved[free] = x * wanted
        share = min(1.0, side * float(moved[cell]) / wanted)
        if share > best.share:
            best = Reach(share, moved)
        if share >= 1 - SHARE:
            return best
        limits = _limits(problem, -side * duals, cell, side, up, down)
        if limits is not None and _certified(limits, up, down, wanted):
            return Reach(best.share, best.moved, limits)
    return best


def _limits(
    problem: Problem, duals: Floats, cell: int, side: int, up: Floats, down: Floats
) -> tuple[Floats, Floats] | None:
    """Factors of the capacities that limit how far the cell moves, of duals made simple fractions.

    With any multipliers g of the relations and d = e - A'g the cell moves by d'x at most. None
    where this charges for an unlimited capacity.
    """
    relations = sparse.csc_array(problem.relations)
    for denominator in (60, 5040, 10**7):
        g = [Fraction(dual).limit_denominator(denominator) for dual in duals.tolist()]
        d = [Fraction(0)] * problem.cell_count
        d[cell] = Fraction(1)
        for at in range(problem.cell_count):
            start, end = relations.indptr[at], relations.indptr[at + 1]
            for row, factor in zip(
                relations.indices[start:end].tolist(),
                relations.data[start:end].tolist(),
                strict=True,
            ):
                d[at] -= g[row] * Fraction(factor)
        signed = np.array([float(side * each) for each in d])
        rise, fall = np.maximum(signed, 0.0), np.maximum(-signed, 0.0)
        if not (np.isinf(up) & (rise > 0)).any() and not (np.isinf(down) & (fall > 0)).any():
            return rise, fall
    return None


def limit_of(limits: tuple[Floats, Floats], up: Floats, down: Floats) -> float:
    """How far the cell can move at most within other capacities, by the same multipliers."""
    rise, fall = limits
    return float(rise @ np.where(rise > 0, up, 0.0) + fall @ np.where(fall > 0, down, 0.0))


def _certified(limits: tuple[Floats, Floats], up: Floats, down: Floats, wanted: float) -> bool:
    return limit_of(limits, up, down) < wanted * (1 - SHARE / 10)


def requests(problem: Problem, position: int) -> list[tuple[str, float]]:
    """What the sensitive cell at a position asks for: names and amounts of positive levels."""
    asked = [
        ("lower", float(problem.lower_level[position])),
        ("upper", float(problem.upper_level[position])),
        ("sliding", float(problem.sliding_level[position])),
    ]
    return [(name, amount) for name, amount in asked if amount > 0]


def exposed(
    problem: Problem, solution: Solution, attackers: Sequence[Attacker] = ()
) -> list[Exposed]:
    """The levels that somebody can get around, each confirmed where that was possible."""
    if isinstance(solution, Values) and solution.radius is None:
        return exposed_values(problem, solution.value)
    up, down = capacities(problem, solution)
    told = []
    for attacker in attackers or (Attacker(),):
        for position, cell in enumerate(problem.sensitive.tolist()):
            if cell in attacker.known and cell in attacker.own:
                continue
            above, below = capacities_for(problem, attacker, up, down, cell)
            for level, amount in requests(problem, position):
                share = 0.0
                if level in ("upper", "sliding"):
                    share += reach(problem, above, below, cell, 1, amount).share
                if level in ("lower", "sliding") and share < 1:
                    share += reach(problem, above, below, cell, -1, amount).share
                if share < 1 - SHARE:
                    told.append(Exposed(cell, attacker.name, level, share))
    return told


def exposed_values(problem: Problem, value: Floats) -> list[Exposed]:
    """The levels that a table of other values misses: [Castro2012, (16)], and docs/adjustment.md.

    Either the lower level below or the upper level above the true value, and the sliding level
    on either side; a side without a level is no way out for a cell with one level only.
    """
    told = []
    for position, cell in enumerate(problem.sensitive.tolist()):
        asked = dict(requests(problem, position))
        if not asked:
            continue
        moved = float(value[cell] - problem.value[cell])
        blur = 1e-14 * max(abs(float(value[cell])), abs(float(problem.value[cell])))

        def share(reached: float, level: float, blur: float = blur) -> float:
            return 1.0 if level == 0 else min(1.0, (reached + blur) / level)

        sides = [name for name in ("lower", "upper") if name in asked]
        if not sides or "sliding" in asked:
            sides = ["lower", "upper"]
        shares = [
            share(-moved if name == "lower" else moved, asked.get(name, 0.0))
            if moved != 0 or name in asked
            else 0.0
            for name in sides
        ]
        # With a level of 0 on a side it is enough to be on it.
        on_side = [
            part
            for name, part in zip(sides, shares, strict=True)
            if (moved < 0) == (name == "lower")
        ]
        best = max(on_side, default=0.0)
        if best < 1 - SHARE:
            told.append(Exposed(cell, "reader", "lower or upper", best))
        slid = share(abs(moved), asked.get("sliding", 0.0))
        if slid < 1 - SHARE:
            told.append(Exposed(cell, "reader", "sliding", slid))
    return told
