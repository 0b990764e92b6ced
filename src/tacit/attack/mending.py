"""Answers of solvers, brought to the exactness that evidence needs.

A solver meets relations up to an absolute tolerance and may move huge cells far for the sake of a
tiny one. Such a table is put right by the smallest change of the cells that move (least squares),
or another one is looked for in which no cell moves further than it has to. Multipliers are
rounded to the simple numbers that they nearly always are. What cannot be put right is not
claimed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsmr, splu

from tacit.attack.evidence import (
    EVIDENCE_TOLERANCE,
    Capacities,
    entries_at,
    entries_of,
    limits_shown,
    tables_hold,
)
from tacit.attack.least_moves import LeastMoves
from tacit.attack.reach import GAP_TOLERANCE, TOLERANCE, Limits, Reaches, SparseRows
from tacit.clock import check_time
from tacit.problem import Floats, Integers, Problem, component_labels
from tacit.solver.highs import HighsModel
from tacit.tolerances import LEAST_SQUARES, RIDGE

_GOAL = EVIDENCE_TOLERANCE / 10
"""Tables miss no more than this share of their amount once they are mended."""
_PASSES = 3
_REFINEMENTS = 3
_GRID = 2.0**16
"""Multipliers are rounded to multiples of 1 / grid."""


def mended(problem: Problem, capacities: Capacities, reaches: Reaches) -> Reaches:
    """The same answers with tables and multipliers that withstand the check of evidence.

    Args:
        problem: The true table.
        capacities: How far cells may move in each request.
        reaches: The answers to the requests.
    """
    amount, tables, row = _mend_tables(problem, capacities, reaches)
    limit, multipliers = _mend_proofs(problem, capacities, reaches, amount)
    return Reaches(amount, limit, tables, multipliers, reaches.answered, row)


def _mend_tables(
    problem: Problem, capacities: Capacities, reaches: Reaches
) -> tuple[Floats, sparse.csr_array[Any, Any], Integers]:
    """Amounts, tables and the table of each claim; what does not hold gets a table of its own."""
    tables, row = _clipped(capacities, reaches)
    amount = _reached(capacities, reaches.amount, tables, row)
    holds = tables_hold(problem, capacities, amount, tables, row, tolerance=_GOAL)
    wrong = np.flatnonzero(~holds)
    if not len(wrong):
        return amount, tables, row
    mender = _Mender(problem, capacities)
    added = SparseRows(len(wrong), tables.shape[1])
    for number, claim in enumerate(wrong.tolist()):
        check_time()
        part = slice(tables.indptr[row[claim]], tables.indptr[row[claim] + 1])
        found = mender.mend(
            claim, float(amount[claim]), tables.indices[part].astype(np.int64), tables.data[part]
        )
        amount[claim] = 0.0
        row[claim] = tables.shape[0] + number
        if found is not None:
            amount[claim], cells, moves = found
            added.put(number, cells, moves)
    return amount, sparse.csr_array(sparse.vstack([tables, added.matrix()])), row


def _clipped(
    capacities: Capacities, reaches: Reaches
) -> tuple[sparse.csr_array[Any, Any], Integers]:
    """Tables without what flows that cancel and rounding leave at a bound or without capacity.

    Where cells have capacities of their own in each claim, or a direction is unbounded,
    each claim gets a table of its own.
    """
    is_shared = np.bincount(reaches.row, minlength=reaches.tables.shape[0])[reaches.row] > 1
    is_alike = capacities.are_alike
    if capacities.limits is not None:
        cells = capacities.cells
        usual = np.where(capacities.sides > 0, capacities.up[cells], capacities.down[cells])
        # Nothing is to be cut off where limits hold already: claims by the thousand share a table.
        is_kept = capacities.limits.kept(reaches.tables, reaches.row)
        is_alike |= (capacities.own == usual) & is_kept
    is_shared &= is_alike & ~np.isinf(reaches.amount)
    together, alone = np.flatnonzero(is_shared), np.flatnonzero(~is_shared)
    single, claim, _ = entries_of(sparse.csr_array(reaches.tables[reaches.row[alone]]))
    endless = np.isinf(reaches.amount[alone])[claim]
    capacity = capacities.at(alone[claim], single.indices, single.data > 0)
    single.data = np.where(
        endless & np.isfinite(capacity), 0.0, np.clip(single.data, -capacity, capacity)
    )
    single.eliminate_zeros()
    used, place = np.unique(reaches.row[together], return_inverse=True)
    common, _, _ = entries_of(sparse.csr_array(reaches.tables[used]))
    capacity = np.where(
        common.data > 0, capacities.up[common.indices], capacities.down[common.indices]
    )
    common.data = np.clip(common.data, -capacity, capacity)
    common.eliminate_zeros()
    row = np.zeros(len(reaches.row), np.int64)
    row[alone], row[together] = np.arange(len(alone)), len(alone) + place
    return sparse.csr_array(sparse.vstack([single, common])), row


def _reached(
    capacities: Capacities, amount: Floats, x: sparse.csr_array[Any, Any], row: Integers
) -> Floats:
    """What the tables reach, but no more than was claimed; directions are unbounded."""
    moved = entries_at(x, row, capacities.cells) * capacities.sides
    return np.where(np.isinf(amount), amount, np.clip(moved, 0.0, np.maximum(amount, 0.0)))


class _Mender:
    """Puts tables right, one after the other."""

    def __init__(self, problem: Problem, capacities: Capacities):
        self._problem = problem
        self._capacities = capacities
        self._columns = sparse.csc_array(problem.relations)
        self._models: dict[int, tuple[Integers, LeastMoves]] = {}
        self._label: Integers | None = None

    def mend(
        self, claim: int, amount: float, cells: Integers, moves: Floats
    ) -> tuple[float, Integers, Floats] | None:
        """Another amount, which may be negligibly smaller, and the cells that move, with how far.

        None where no table was found that shows what was claimed.
        """
        found = self._straightened(claim, amount, cells, moves)
        if found is not None or np.isinf(amount):
            return found
        # What lies in the last digits may be out of reach.
        for target in (amount, amount * (1 - TOLERANCE), amount * (1 - GAP_TOLERANCE / 2)):
            least = self._least(claim, target)
            if least is not None:
                found = self._straightened(claim, target, *least)
            if found is not None:
                return found
        return None

    def _straightened(
        self, claim: int, amount: float, cells: Integers, moves: Floats
    ) -> tuple[float, Integers, Floats] | None:
        """The smallest change of cells that move which makes the table add up."""
        capacities = self._capacities.take(np.array([claim]))
        own = cells == capacities.cells[0]
        # In an unbounded direction the cell itself sets the scale.
        pace = float(np.abs(moves[own]).sum()) if np.isinf(amount) else amount
        A = sparse.csr_array(self._columns[:, cells])
        A = sparse.csr_array(A[np.diff(A.indptr) > 0])
        none = np.zeros(len(cells), np.int64)
        x = moves.copy()
        for attempt in range(_PASSES + 1):
            check_time()
            size = capacities.at(none, cells, x > 0)
            x = np.where(np.isinf(amount), x, np.clip(x, -size, size))
            moved = float(x[own].sum()) * float(capacities.sides[0])
            reached = amount if np.isinf(amount) else min(amount, max(moved, 0.0))
            table = sparse.csr_array((x, (none, cells)), shape=(1, self._problem.cell_count))
            near = reached >= amount * (1 - GAP_TOLERANCE) or np.isinf(amount)
            if (
                near
                and reached > 0
                and tables_hold(
                    self._problem, capacities, np.array([reached]), table, tolerance=_GOAL
                ).all()
            ):
                return reached, cells[x != 0], x[x != 0]
            if attempt == _PASSES or pace <= 0:
                return None
            # Cells at a bound stay there, and so does the cell that is to move.
            free = np.flatnonzero(~own & (np.abs(x) < size))
            if not len(free):
                return None
            off = np.asarray(A @ x) / pace
            x[free] -= pace * _smallest_change(sparse.csr_array(A[:, free]), off)
        return None

    def _least(self, claim: int, target: float) -> tuple[Integers, Floats] | None:
        """Cells and how far they move so that the asked one moves by the target, and no further."""
        capacities = self._capacities
        cell, side = int(capacities.cells[claim]), int(capacities.sides[claim])
        if target <= 0:
            return None
        if self._label is None:
            movable = (capacities.up > 0) | (capacities.down > 0)
            movable[capacities.cells[capacities.own > 0]] = True
            label = np.full(len(movable), -1)
            inside = np.flatnonzero(movable)
            label[inside] = component_labels(sparse.csr_array(self._columns[:, inside]))
            self._label = label
        number = int(self._label[cell])
        if number < 0:
            return None
        up, down = capacities.up[cell], capacities.down[cell]
        limited = (capacities.limits or Limits.none(len(capacities.cells))).of(claim)
        is_usual = capacities.own[claim] == (up if side > 0 else down)
        if is_usual and number in self._models:
            cells, model = self._models[number]
        else:
            cells = np.flatnonzero(self._label == number)
            part = sparse.csr_array(self._columns[:, cells])
            part = sparse.csr_array(part[np.diff(part.indptr) > 0])
            place = int(np.searchsorted(cells, cell))
            ups, downs = capacities.up[cells], capacities.down[cells]
            (ups if side > 0 else downs)[place] = capacities.own[claim]
            model = LeastMoves(part, ups, downs, HighsModel)
            if is_usual:
                self._models[number] = cells, model
        _, here, there = np.intersect1d(cells, limited[0], return_indices=True)
        nearby = (here, limited[1][there], limited[2][there])
        x = model.deviation(int(np.searchsorted(cells, cell)), side, target, nearby)
        if x is None:
            return None
        moving = np.flatnonzero(x)
        return cells[moving], x[moving]


def _smallest_change(A: sparse.csr_array[Any, Any], off: Floats) -> Floats:
    """The smallest change of cells, by least squares, that makes relations add up.

    Relations may depend on each other: a little is added to the diagonal of the normal equations,
    and refinement takes away what that changes.
    """
    gram = sparse.csc_array(A @ A.T)
    size = float(gram.diagonal().max(initial=1.0))
    solver = splu(gram + RIDGE * size * sparse.eye_array(gram.shape[0], format="csc"))
    change = np.zeros(A.shape[1])
    for _ in range(_REFINEMENTS):
        change += A.T @ solver.solve(off - A @ change)
    return change


def _mend_proofs(
    problem: Problem, capacities: Capacities, reaches: Reaches, amount: Floats
) -> tuple[Floats, sparse.csr_array[Any, Any]]:
    """Limits that the multipliers show, whatever rounding does; inf where they show none."""
    limit = reaches.limit.copy()
    bounded = np.flatnonzero(np.isfinite(limit))
    if not len(bounded):
        return limit, reaches.multipliers
    g = entries_of(reaches.multipliers)[0]
    simple = g.copy()
    nearest = np.rint(g.data * _GRID) / _GRID
    simple.data = np.where(np.abs(nearest - g.data) <= TOLERANCE, nearest, g.data)
    as_told = limits_shown(problem, capacities.take(bounded), g[bounded])
    rounded = limits_shown(problem, capacities.take(bounded), simple[bounded])
    shown = np.minimum(as_told, rounded)
    is_simple = np.ones(len(limit), bool)
    is_simple[bounded[as_told < rounded]] = False
    row = np.repeat(np.arange(len(limit)), np.diff(g.indptr))
    data = np.where(is_simple[row], simple.data, g.data)
    rows = SparseRows(*g.shape)
    refined = np.zeros(len(limit), bool)
    for position in np.flatnonzero(np.isinf(shown)).tolist():
        check_time()
        claim = int(bounded[position])
        part = slice(g.indptr[claim], g.indptr[claim + 1])
        asked = capacities.take(np.array([claim]))
        found = _refined(problem, asked, g.indices[part].astype(np.int64), data[part])
        if found is not None:
            shown[position], multipliers = found
            rows.put(claim, np.arange(g.shape[1]), multipliers)
            refined[claim] = True
    kept = ~refined[row]
    rows.put_many(row[kept], g.indices[kept].astype(np.int64), data[kept])
    limit[bounded] = np.maximum(shown, amount[bounded])
    return limit, rows.matrix()


def _refined(
    problem: Problem, capacities: Capacities, relations: Integers, multipliers: Floats
) -> tuple[float, Floats] | None:
    """What multipliers show that are changed a little so that cells without bound cost nothing.

    None where they cannot be.
    """
    A = problem.relations
    g = np.zeros(problem.relation_count)
    g[relations] = multipliers
    none, everyone = np.zeros(problem.cell_count, np.int64), np.arange(problem.cell_count)
    for _ in range(_PASSES):
        d = -np.asarray(A.T @ g)
        d[capacities.cells[0]] += capacities.sides[0]
        endless = np.isinf(capacities.at(none, everyone, d > 0))
        # All cells without bound that are meant to cost nothing are kept at that together.
        held = np.flatnonzero(endless & (np.abs(d) <= GAP_TOLERANCE))
        if not d[held].any():
            break
        columns = sparse.csr_array(A[:, held].T)
        g = g + lsmr(columns, d[held], atol=LEAST_SQUARES, btol=LEAST_SQUARES)[0]
    shown = float(limits_shown(problem, capacities, sparse.csr_array(g[None, :]))[0])
    return (shown, g) if np.isfinite(shown) else None
