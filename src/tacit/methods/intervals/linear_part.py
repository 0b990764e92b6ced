"""How far a cell can get, and what proves it: linear programmes for cells outside networks.

The attacker's problem can be written with a row for each relation, or its dual with a row for
each cell that is left when totals are eliminated. Flat tables have few relations, tables with
many dimensions or levels have few cells left: whichever form is smaller is used.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy import sparse

from tacit.attack.reach import TOLERANCE
from tacit.errors import SolverError
from tacit.methods.intervals.elimination import LinearPart
from tacit.methods.intervals.model import IntervalsModel, Rival
from tacit.problem import Floats, Integers
from tacit.solver.highs import HighsModel, LinearSolution, Strategy
from tacit.tolerances import FAR

VIOLATION = 1e-7
"""A request is met when it misses its target by at most this share."""

_DENOMINATOR = 2520.0
"""Multipliers of tables are fractions with small denominators; this is divisible by 1 to 10."""

Limit = tuple[float, Integers, Floats]
"""How far the cell gets, in units of the target; the ends that are charged, and how much."""


class LimitProgramme(Protocol):
    """Answers one request after the other, each from where the last one ended."""

    def limit(self, number: int, capacity: Floats, unit: float) -> Limit | None:
        """How far a request gets within the capacities; None if nothing restrains it."""


def takes_dual_form(part: LinearPart) -> bool:
    """Are fewer cells left when totals are eliminated than there are relations?"""
    return bool(part.sums.shape[1] < part.relations.shape[0])


def limit_programme(
    model: IntervalsModel, rival: Rival, part: LinearPart, *, moves: bool
) -> LimitProgramme:
    """The smaller of the two forms.

    Args:
        model: The intervals problem.
        rival: The attacker.
        part: The cells outside networks.
        moves: Do the capacities change from request to request?
    """
    if takes_dual_form(part):
        return ChargeProgramme(model, rival, part, "primal" if moves else "dual")
    return DeviationProgramme(rival, part)


def _solved(lp: HighsModel, strategy: Strategy) -> LinearSolution | None:
    """The optimum, or None: without it there is no cut, and nothing is decided by that."""
    for cold in (False, True):
        try:
            solution = lp.solve(cold=cold, strategy=strategy)
        except SolverError:
            continue
        if solution.status == "optimal":
            return solution
        if solution.status == "unbounded":
            # Nothing restrains the cell.
            return None
    return None


def _snapped(numbers: Floats) -> Floats:
    """Numbers moved to the fractions they stand for."""
    near = np.rint(numbers * _DENOMINATOR) / _DENOMINATOR
    return np.where(np.abs(near - numbers) < 1e-7, near, numbers)


class DeviationProgramme:
    """The attacker's problem: the furthest deviation, in units of the target at hand.

    The multipliers of the relations give the charges d = e_s - A'g.
    """

    def __init__(self, rival: Rival, part: LinearPart):
        self._rival = rival
        self._part = part
        self._transposed = sparse.csr_array(part.relations.T)
        self._lp: HighsModel | None = None

    def limit(self, number: int, capacity: Floats, unit: float) -> Limit | None:
        """How far a request gets, in units, and the ends and charges that prove it."""
        part = self._part
        lp = self._lp = self._lp or self._start()
        column, side = int(part.column[self._rival.cells[number]]), int(self._rival.sides[number])
        room = np.minimum(capacity[part.ends] / unit, FAR)
        upper, lower = room[: len(part.cells)], -room[len(part.cells) :]
        lower[column], upper[column] = -np.inf, np.inf
        lp.set_bounds(np.arange(len(part.cells)), lower, upper)
        here = np.array([column])
        lp.set_cost(here, np.array([-float(side)]))
        solution = _solved(lp, "primal")
        lp.set_cost(here, np.zeros(1))
        if solution is None:
            return None
        v = self._transposed @ _snapped(-solution.row_dual)
        if abs(v[column]) > TOLERANCE:
            v *= side / v[column]
        d = -v
        d[column] += side
        d[np.abs(d) < 1e-12] = 0.0
        moved = np.flatnonzero(d)
        ends = 2 * part.cells[moved] + (d[moved] < 0)
        return side * float(solution.x[column]), ends, np.abs(d[moved])

    def _start(self) -> HighsModel:
        relations, nothing = self._part.relations, np.zeros(len(self._part.cells))
        zeros = np.zeros(relations.shape[0])
        return HighsModel(
            relations,
            row_lower=zeros,
            row_upper=zeros,
            lower=nothing,
            upper=nothing,
            tolerance=VIOLATION,
        )


class ChargeProgramme:
    """The dual of the attacker's problem: the cheapest charges d that bound a cell.

    Costs are the rooms in units of the target at hand. The rows are only as many as cells are
    left after totals have been eliminated, and d is the cut. From request to request and step
    to step the simplex method goes on from the last basis.
    """

    def __init__(self, model: IntervalsModel, rival: Rival, part: LinearPart, strategy: Strategy):
        self._rival = rival
        self._part = part
        self._strategy = strategy
        # No charge on what may move without end.
        endless = np.isinf(rival.room[part.ends]) & ~model.is_free[part.ends]
        self._most = np.where(endless, 0.0, np.inf)
        self._lp: HighsModel | None = None
        self._own: Integers | None = None

    def limit(self, number: int, capacity: Floats, unit: float) -> Limit | None:
        """How far a request gets, in units, and the ends and charges that prove it."""
        part = self._part
        lp = self._lp = self._lp or self._start()
        own = self._turn(lp, number)
        cost = np.minimum(capacity[part.ends] / unit, FAR)
        cost[own] = 0.0
        lp.set_cost(np.arange(len(cost)), cost)
        solution = _solved(lp, self._strategy)
        if solution is None:
            return None
        d = solution.x[: len(part.ends)].copy()
        d[own] = 0.0
        d = _snapped(d)
        charged = np.flatnonzero(d > 0)
        return float(cost @ d), part.ends[charged], d[charged]

    def _turn(self, lp: HighsModel, number: int) -> Integers:
        """Turn the programme to a request: its cell is charged one unit to be moved."""
        part = self._part
        if self._own is not None:
            lp.set_bounds(self._own, np.zeros(2), self._most[self._own])
        column = int(part.column[self._rival.cells[number]])
        self._own = np.array([column, len(part.cells) + column])
        fixed = np.array([0.0, 1.0]) if self._rival.sides[number] > 0 else np.array([1.0, 0.0])
        lp.set_bounds(self._own, fixed, fixed)
        return self._own

    def _start(self) -> HighsModel:
        part = self._part
        rest = part.rest.shape[0]
        zeros = np.zeros(part.sums.shape[1])
        return HighsModel(
            sparse.csr_array(sparse.hstack([part.sums.T, -part.sums.T, part.rest.T])),
            row_lower=zeros,
            row_upper=zeros,
            lower=np.concatenate([np.zeros(len(part.ends)), np.full(rest, -np.inf)]),
            upper=np.concatenate([self._most, np.full(rest, np.inf)]),
            tolerance=VIOLATION,
        )
