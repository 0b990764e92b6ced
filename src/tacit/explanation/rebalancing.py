"""What publishing a cell takes where others are intervals, or have changed values.

Intervals are widened for one level after the other, each at the least cost given what is open
already; values are balanced anew at the least cost, every sensitive cell on the side of its true
value where it is now. Both may cost more than the best that there is, and are audited.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.audit import Audit, audit
from tacit.attack.exposure import Exposure
from tacit.attack.knowledge import Attacker, Knowledge
from tacit.attack.reach import NOTHING_LIMITED, Limited, within
from tacit.attack.shrink import Structure
from tacit.clock import Clock
from tacit.errors import SolverError
from tacit.outcome import Intervals, Values
from tacit.problem import Booleans, Floats, Problem
from tacit.solver.highs import HighsModel, optimum
from tacit.tolerances import BEYOND, FAR, NEGLIGIBLE, NEGLIGIBLE_MOVE

_ROUNDS = 10

Level = Callable[[Problem, Exposure], tuple[float, Any]]
"""The level that an exposure is about, and what the insiders know who come too close."""


def widened(
    problem: Problem,
    told: Intervals,
    cell: int,
    attackers: Sequence[Attacker],
    structure: Structure,
    level: Level,
    *,
    seconds: float,
) -> Intervals | tuple[Exposure, ...] | None:
    """Wider intervals that protect everything without a cell.

    Args:
        problem: The table, with those of its sensitive cells that are exposed without the cell.
        told: The intervals, the cell published as it is.
        cell: The cell.
        attackers: Who attacks, besides the problem's insiders.
        structure: The examined relations.
        level: The level of an exposure.
        seconds: How long to look.

    Returns:
        The intervals; or, where none are wide enough, what stays exposed; or None if time ran out.
    """

    def audited(current: Intervals) -> Audit:
        return audit(
            problem,
            current,
            cells="sensitive",
            exact=False,
            attackers=attackers,
            structure=structure,
            tolerance=None,
        )

    closed = problem.must_publish.copy()
    closed[cell] = True
    widest = Intervals(
        np.where(closed, told.lower, np.minimum(problem.lower, told.lower)),
        np.where(closed, told.upper, np.maximum(problem.upper, told.upper)),
    )
    against = audited(widest).exposures
    if against:
        return against
    low, high = told.lower.copy(), told.upper.copy()
    cheapest = _CheapestOpening(problem, Knowledge.of(problem, widest))
    with Clock(seconds):
        for _ in range(_ROUNDS):
            current = Intervals(low, high)
            found = audited(current)
            if found.safe:
                return current
            for each in found.exposures:
                asked, limits = level(problem, each)
                limited = NOTHING_LIMITED if limits is None else limits.of(0)
                attacker = next(
                    (a for a in attackers if not each.members and a.name == each.attacker),
                    Attacker.external(),
                )
                for side, target in cheapest.sides(each, asked):
                    x = cheapest.deviation(
                        Knowledge.of(problem, Intervals(low, high)),
                        attacker,
                        limited,
                        (each.cell, side, target * (1 + BEYOND)),
                    )
                    if x is not None:
                        low, high = (
                            np.minimum(low, problem.value + x),
                            np.maximum(high, problem.value + x),
                        )
    return None


class _CheapestOpening:
    """The cheapest deviation that reaches a target, where what is open already is free."""

    def __init__(self, problem: Problem, widest: Knowledge):
        self._problem = problem
        self._widest = widest
        self._movable = np.flatnonzero((widest.up > 0) | (widest.down > 0))
        A = sparse.csr_array(problem.relations[:, self._movable])
        A = sparse.csr_array(A[np.diff(A.indptr) > 0])
        weight = problem.weight[self._movable]
        positive = weight[weight > 0]
        cost = np.maximum(weight / (np.median(positive) if len(positive) else 1.0), NEGLIGIBLE)
        count = len(self._movable)
        nothing, still = np.zeros(3 * count), np.zeros(A.shape[0])
        self._model = HighsModel(
            sparse.csr_array(sparse.hstack([A, A, -A])),
            row_lower=still,
            row_upper=still,
            lower=nothing,
            upper=nothing,
            cost=np.concatenate([np.zeros(count), cost, cost]),
        )

    def sides(self, exposure: Exposure, level: float) -> list[tuple[int, float]]:
        """What to ask of which side; a sliding level is met from above as far as that goes."""
        if exposure.level != "sliding":
            return [(1 if exposure.level == "upper" else -1, level)]
        up = min(level, float(self._widest.up[exposure.cell]))
        return [(side, each) for side, each in ((1, up), (-1, level - up)) if each > 0]

    def deviation(
        self,
        now: Knowledge,
        attacker: Attacker,
        limited: Limited,
        request: tuple[int, int, float],
    ) -> Floats | None:
        """How far each cell moves; None if the request cannot be met."""
        cell, side, target = request
        cells = self._movable
        most = attacker.learn(self._problem, self._widest)
        up, down = (each[cells] for each in within(most.up, most.down, limited))
        open_up, open_down = np.minimum(now.up[cells], up), np.minimum(now.down[cells], down)
        count = len(cells)
        lower = np.concatenate([-open_down, np.zeros(2 * count)]) / target
        upper = np.concatenate([open_up, up - open_up, down - open_down]) / target
        lower, upper = np.clip(lower, -FAR, 0.0), np.clip(upper, 0.0, FAR)
        own = int(np.searchsorted(cells, cell))
        # What the cell itself has to be opened for has no alternative.
        lower[own] = upper[own] = side
        upper[[count + own, 2 * count + own]] = 0.0
        self._model.set_bounds(np.arange(3 * count), lower, upper)
        found = optimum(self._model, strategy="dual")
        if found is None:
            return None
        x = found.x[:count] + found.x[count : 2 * count] - found.x[2 * count :]
        moves = np.zeros(self._problem.cell_count)
        moves[cells] = np.where(np.abs(x) > NEGLIGIBLE_MOVE, x, 0.0) * target
        return moves


def balanced_anew(problem: Problem, published: Values, cell: int, weight: Floats) -> Values | None:
    """Values that are as safe and keep a cell at its true value; None if none were found.

    Args:
        problem: The true table.
        published: The published values.
        cell: The cell.
        weight: What it costs to change each cell by 1.
    """
    change = published.value - problem.value
    lower, upper = problem.lower - problem.value, problem.upper - problem.value
    s = problem.sensitive
    is_raised: Booleans = change[s] >= 0
    least = np.maximum(
        np.where(is_raised, problem.upper_level, problem.lower_level), problem.sliding_level
    )
    least = least * (1 + BEYOND)
    lower[s] = np.where(is_raised, least, lower[s])
    upper[s] = np.where(is_raised, upper[s], -least)
    fixed = problem.must_publish.copy()
    fixed[cell] = True
    lower[fixed] = upper[fixed] = 0.0
    if (lower > upper).any():
        return None
    n = problem.cell_count
    A = problem.relations
    unit = max(float(least.max(initial=0.0)), float(np.abs(change).max(initial=0.0)), NEGLIGIBLE)
    still = np.zeros(A.shape[0])
    positive = weight[weight > 0]
    cost = weight / (np.median(positive) if len(positive) else 1.0)
    model = HighsModel(
        sparse.csr_array(sparse.hstack([A, -A])),
        row_lower=still,
        row_upper=still,
        lower=np.concatenate([np.maximum(lower, 0.0), np.maximum(-upper, 0.0)]) / unit,
        upper=np.concatenate([np.maximum(upper, 0.0), np.maximum(-lower, 0.0)]) / unit,
        cost=np.concatenate([cost, cost]),
    )
    try:
        found = optimum(model, cold=True, strategy="dual")
    except SolverError:
        return None
    if found is None:
        return None
    x = (found.x[:n] - found.x[n:]) * unit
    x = np.where(np.abs(x) > NEGLIGIBLE_MOVE * unit, x, 0.0)
    # Cells that did not move much are told as they are published now.
    x = np.where(np.abs(x - change) <= NEGLIGIBLE_MOVE * unit, change, x)
    values = Values(problem.value + x)
    return values if audit(problem, values, tolerance=None).safe else None
