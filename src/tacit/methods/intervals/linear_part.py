"""Cells outside networks: how they add up, how far one can get, and what proves it.

Tables are written in terms of few cells: totals are eliminated by their definitions. Every
consistent deviation is x = N y with B y = 0: y are the deviations of the cells that are left, N
adds them up to all cells, and B holds the relations that were needed for no definition and do not
follow from those. In tables of three and more dimensions far fewer cells are left than there are
relations, and linear programs written in their terms are much smaller.

The attacker's problem can be written with a row for each relation, or its dual with a row for
each cell that is left when totals are eliminated. Flat tables have few relations, tables with
many dimensions or levels have few cells left: whichever form is smaller is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from tacit.attack.reach import TOLERANCE, snapped
from tacit.methods.engine.cut_pool import Rows
from tacit.methods.intervals.attackers import AttackerState
from tacit.methods.intervals.model import IntervalsModel
from tacit.problem import Floats, Integers
from tacit.solver.highs import HighsModel, Strategy, optimum
from tacit.tolerances import FAR, LAST_DIGITS, ROUNDING_NOISE, SOLVER

_MOST_ENTRIES = 40
"""Eliminated totals may take this many times the entries of the relations."""


@dataclass(frozen=True, eq=False)
class Elimination:
    """Consistent deviations of some cells.

    Attributes:
        sums: N, by cell: how each cell adds up from the cells that are left.
        rest: B, over the cells that are left.
    """

    sums: Rows
    rest: Rows

    @classmethod
    def of(cls, A: Rows) -> Elimination:
        """Eliminate totals from relations."""
        sums, used = _substituted(A)
        rest = sparse.csr_array(A[~used] @ sums)
        rest.data[np.abs(rest.data) < ROUNDING_NOISE] = 0.0
        rest.eliminate_zeros()
        left = np.flatnonzero(np.diff(sparse.csc_array(sums).indptr) > 0)
        rest = sparse.csr_array(rest[np.diff(rest.indptr) > 0])
        return cls(sparse.csr_array(sums[:, left]), sparse.csr_array(rest[:, left]))


def _substituted(A: Rows) -> tuple[Rows, Any]:
    """Every cell as a sum of cells that no definition is used for; the relations used."""
    m, n = A.shape
    total, defining = _definitions(A)
    used = np.zeros(m, bool)
    is_left = defining < 0
    settled = is_left.copy()
    entries = np.arange(n)
    sums = sparse.csr_array((is_left.astype(np.float64), (entries, entries)), shape=(n, n))
    rows = defining[~is_left]
    budget = _MOST_ENTRIES * (A.nnz + n)
    while len(rows):
        part = sparse.csr_array(A[rows])
        waiting = np.asarray(abs(part).sign() @ (~settled).astype(np.int64))
        # The total itself is the one cell that is still open.
        ready = waiting == 1
        if not ready.any() or sums.nnz > budget:
            break
        now = rows[ready]
        cells = total[now]
        own = sparse.csr_array(
            (np.ones(len(now)), (np.arange(len(now)), cells)), shape=(len(now), n)
        )
        coefficient = np.asarray((part[ready] * own).sum(axis=1)).ravel()
        parts = (part[ready] @ sums).multiply(-1.0 / coefficient[:, None])
        place = sparse.csr_array(
            (np.ones(len(now)), (cells, np.arange(len(now)))), shape=(n, len(now))
        )
        sums = sparse.csr_array(sums + place @ sparse.csr_array(parts))
        used[now] = True
        settled[cells] = True
        rows = rows[~ready]
    # Totals whose definition could not be used are left, too.
    stuck = np.flatnonzero(~settled)
    if len(stuck):
        keep = sparse.csr_array((np.ones(len(stuck)), (stuck, stuck)), shape=(n, n))
        sums = sparse.csr_array(sums + keep)
    return sums, used


def _definitions(A: Rows) -> tuple[Integers, Integers]:
    """For each relation its total, and for each cell its shortest definition; -1 for none."""
    m, n = A.shape
    row = np.repeat(np.arange(m), np.diff(A.indptr))
    negative = A.data < 0
    minus = np.bincount(row[negative], minlength=m)
    plus = np.bincount(row[~negative], minlength=m)
    total = np.full(m, -1, np.int64)
    only_plus = ~negative & (plus[row] == 1) & (minus[row] > 1)
    total[row[only_plus]] = A.indices[only_plus]
    only_minus = negative & (minus[row] == 1)
    total[row[only_minus]] = A.indices[only_minus]
    rows = np.flatnonzero(total >= 0)
    longest_first = rows[np.argsort(-np.diff(A.indptr)[rows], kind="stable")]
    defining = np.full(n, -1, np.int64)
    defining[total[longest_first]] = longest_first
    return total, defining


class LinearPart:
    """The cells outside networks that can move for an attacker.

    Attributes:
        cells: Their numbers.
        column: For each cell of the table its place among them; -1 for others.
        ends: All their upper ends, then all their lower ends.
        relations: The relations among them.
        sums: How each of them adds up from the cells that are left.
        rest: Relations among the cells that are left.
    """

    @classmethod
    def of(cls, model: IntervalsModel, state: AttackerState) -> LinearPart:
        """The part that an attacker works with; those who know the same of all cells share it."""
        # Requests against contributors are about cells that are asked against readers, too.
        known: dict[int, LinearPart] = model.parts
        key = id(state.capacity)
        if key not in known:
            known[key] = cls(model, state)
        return known[key]

    def __init__(self, model: IntervalsModel, state: AttackerState):
        structure = model.structure
        movable = (state.capacity[0::2] > 0) | (state.capacity[1::2] > 0)
        movable[state.cells] = True
        self.cells = np.flatnonzero(movable & ~structure.in_network)
        self.column = np.full(model.problem.cell_count, -1, np.int64)
        self.column[self.cells] = np.arange(len(self.cells))
        self.ends = np.concatenate([2 * self.cells, 2 * self.cells + 1])
        part = sparse.csr_array(structure.A[:, self.cells])
        rows = (np.diff(part.indptr) > 0) & structure.essential
        self.relations = sparse.csr_array(part[np.flatnonzero(rows)])
        found = Elimination.of(self.relations)
        self.sums, self.rest = found.sums, found.rest


Limit = tuple[float, Integers, Floats]
"""How far the cell gets, in units of the target; the ends that are charged, and how much."""


class LimitLp(Protocol):
    """Answers one request after the other, each from where the last one ended."""

    def limit(self, number: int, capacity: Floats, unit: float) -> Limit | None:
        """How far a request gets within the capacities; None if nothing restrains it."""


def takes_dual_form(part: LinearPart) -> bool:
    """Are fewer cells left when totals are eliminated than there are relations?"""
    return bool(part.sums.shape[1] < part.relations.shape[0])


def limit_lp(
    model: IntervalsModel, state: AttackerState, part: LinearPart, *, moves: bool
) -> LimitLp:
    """The smaller of the two forms.

    Args:
        model: The intervals problem.
        state: The attacker.
        part: The cells outside networks.
        moves: Do the capacities change from request to request?
    """
    if takes_dual_form(part):
        return ChargeLp(model, state, part, "primal" if moves else "dual")
    return DeviationLp(state, part)


class DeviationLp:
    """The attacker's problem: the furthest deviation, in units of the target at hand.

    The multipliers of the relations give the charges d = e_s - A'g.
    """

    def __init__(self, state: AttackerState, part: LinearPart):
        self._state = state
        self._part = part
        self._transposed = sparse.csr_array(part.relations.T)
        self._lp: HighsModel | None = None

    def limit(self, number: int, capacity: Floats, unit: float) -> Limit | None:
        """How far a request gets, in units, and the ends and charges that prove it."""
        part = self._part
        lp = self._lp = self._lp or self._start()
        column, side = int(part.column[self._state.cells[number]]), int(self._state.sides[number])
        slack = np.minimum(capacity[part.ends] / unit, FAR)
        upper, lower = slack[: len(part.cells)], -slack[len(part.cells) :]
        lower[column], upper[column] = -np.inf, np.inf
        lp.set_bounds(np.arange(len(part.cells)), lower, upper)
        here = np.array([column])
        lp.set_cost(here, np.array([-float(side)]))
        solution = optimum(lp)
        lp.set_cost(here, np.zeros(1))
        if solution is None:
            return None
        v = self._transposed @ snapped(-solution.row_dual, SOLVER)
        if abs(v[column]) > TOLERANCE:
            v *= side / v[column]
        d = -v
        d[column] += side
        d[np.abs(d) < LAST_DIGITS] = 0.0
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
            tolerance=SOLVER,
        )


class ChargeLp:
    """The dual of the attacker's problem: the cheapest charges d that bound a cell.

    Costs are the slacks in units of the target at hand. The rows are only as many as cells are
    left after totals have been eliminated, and d is the cut. From request to request and step
    to step the simplex method goes on from the last basis.
    """

    def __init__(
        self, model: IntervalsModel, state: AttackerState, part: LinearPart, strategy: Strategy
    ):
        self._state = state
        self._part = part
        self._strategy = strategy
        # No charge on what may move without limit.
        endless = np.isinf(state.capacity[part.ends]) & ~model.is_free[part.ends]
        self._most = np.where(endless, 0.0, np.inf)
        self._lp: HighsModel | None = None
        self._turned: Integers | None = None

    def limit(self, number: int, capacity: Floats, unit: float) -> Limit | None:
        """How far a request gets, in units, and the ends and charges that prove it."""
        part = self._part
        lp = self._lp = self._lp or self._start()
        own = self._turn(lp, number)
        cost = np.minimum(capacity[part.ends] / unit, FAR)
        cost[own] = 0.0
        lp.set_cost(np.arange(len(cost)), cost)
        solution = optimum(lp, strategy=self._strategy)
        if solution is None:
            return None
        d = solution.x[: len(part.ends)].copy()
        d[own] = 0.0
        d = snapped(d, SOLVER)
        charged = np.flatnonzero(d > 0)
        return float(cost @ d), part.ends[charged], d[charged]

    def _turn(self, lp: HighsModel, number: int) -> Integers:
        """Turn the model to a request: its cell is charged one unit to be moved."""
        part = self._part
        if self._turned is not None:
            before = self._turned
            lp.set_bounds(before, np.zeros(len(before)), self._most[before])
        column = int(part.column[self._state.cells[number]])
        own = np.array([column, len(part.cells) + column])
        known = self._known_here(number)
        if len(known):
            lp.set_bounds(known, np.zeros(len(known)), np.full(len(known), np.inf))
        fixed = np.array([0.0, 1.0]) if self._state.sides[number] > 0 else np.array([1.0, 0.0])
        lp.set_bounds(own, fixed, fixed)
        self._turned = np.union1d(own, known)
        return own

    def _known_here(self, number: int) -> Integers:
        """Ends that may move without limit, but not in this request."""
        if self._state.limits is None:
            return np.zeros(0, np.int64)
        cells, up, down = self._state.limits.of(number)
        column = self._part.column[cells]
        above = column[(column >= 0) & np.isfinite(up)]
        below = column[(column >= 0) & np.isfinite(down)] + len(self._part.cells)
        ends = np.concatenate([above, below])
        return np.asarray(ends[self._most[ends] == 0], np.int64)

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
            tolerance=SOLVER,
        )
