"""Deviations in which many cells move at once, each as far as its level asks.

A table that is not a network needs a linear program for each level. But one program may ask for
many levels together: its solution is one deviation of the table, and where only some relations
connect what moves, it falls apart into several deviations. Turned round it serves the other side of
the same cells, because no cell moves further than it may either way. A few programs show what
thousands would, and the cheapest of such deviations are a good pattern to suppress.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from tacit.attack.engines import FURTHEST
from tacit.attack.reach import Requests, SparseRows
from tacit.attack.shrink import Component
from tacit.attack.tied_cells import TiedCells
from tacit.clock import check_time
from tacit.errors import SolverError
from tacit.problem import Booleans, Floats, Integers
from tacit.tolerances import EVIDENCE, FAR_NEARBY, MET, NEGLIGIBLE_MOVE, ROUNDING_NOISE

Moves = Literal["few", "some", "any"]
"""How many cells a deviation may move: few, so that it also serves attackers who know some cells;
some, as levels are asked for by the dozen; or any number, which is the quickest."""

_REWARD = 1e5
"""What a level that is met is worth, in usual costs of a cell that moves by its level."""
_LARGEST_COST = 1e4
"""Costs are cut off here, in the same unit: solvers suffer from large ones."""
_ROUNDS = 6
_WORTHWHILE = 0.05
"""A deviation that meets less than this share of what is asked is the last one."""
_MANY = 48
"""For fewer levels it does not pay to look for deviations in common."""
_TOGETHER = 64
"""Levels that are asked for in one program whose deviations are kept: more of them move more
cells, fewer take more programs."""
_FEWER = 8
"""The same for the levels that are left."""
_EXACT = EVIDENCE / 200
"""What a deviation may miss relations by in all, as a share of what it shows, to be evidence."""
_ROUNDING = np.finfo(float).eps / 2


class JointMoves:
    """Deviations of some cells of a table.

    Cells whose deviations are multiples of each other share a column, which is counted in units
    of its level.

    Attributes:
        cells: The cells that can move, increasing.
        can_rise: Whether each cell of the table may rise as far as its level, given
            the capacities of it and of the cells tied to it.
        can_fall: The same for falling.
        sign: Of each column, whether asked cells rise or fall; what was found best so far.
    """

    def __init__(
        self,
        A: sparse.csr_array[Any, Any],
        up: Floats,
        down: Floats,
        level: Floats,
        solver: Callable[..., Any],
        *,
        either_way: bool = True,
        seed: int = 1,
    ):
        """Prepare the model.

        Args:
            A: The relations.
            up: How far each cell can rise.
            down: How far each cell can fall.
            level: How far each cell is to move; 0 for cells that are never asked.
            solver: Makes linear solvers.
            either_way: Move no cell further than it may in the other direction, so that what is
                found can be turned round.
            seed: For the first signs.
        """
        count = A.shape[1]
        if either_way:
            up = down = np.minimum(up, down)
        inside = np.flatnonzero((up > 0) | (down > 0))
        A = sparse.csr_array(A[:, inside])
        A = sparse.csr_array(A[np.diff(A.indptr) > 0])
        tied = TiedCells.of(A, inside, count)
        self._tied, self.cells = tied, tied.cells
        self._count, self._columns = count, tied.size
        self._column, self._ratio = tied.column, tied.ratio
        self._A = A
        self._in_A = np.full(count, -1, np.int64)
        self._in_A[inside] = np.arange(len(inside))
        column, ratio = self._column[self.cells], self._ratio[self.cells]
        rise, fall = tied.capacities(up, down)
        need = np.zeros(tied.size)
        np.maximum.at(need, column, level[self.cells] / np.abs(ratio))
        self._unit = self._units(np.maximum(rise, fall), need)
        self._rise = np.minimum(rise / self._unit, FAR_NEARBY)
        self._fall = np.minimum(fall / self._unit, FAR_NEARBY)
        self._need = need / self._unit
        enough = self._need * (1 - MET)
        self.can_rise, self.can_fall = np.zeros(count, bool), np.zeros(count, bool)
        rises, falls = (self._rise >= enough)[column], (self._fall >= enough)[column]
        self.can_rise[self.cells] = np.where(ratio < 0, falls, rises)
        self.can_fall[self.cells] = np.where(ratio < 0, rises, falls)
        self._rows = self._scaled(tied.combined(A, self._unit))
        self._solver = solver
        self._rng = np.random.default_rng(seed)
        self.sign = self._rng.choice([-1.0, 1.0], tied.size)

    @staticmethod
    def _units(most: Floats, need: Floats) -> Floats:
        """What each column is counted in: its level, or something of the usual size."""
        asked = need > 0
        usual = float(np.median(need[asked])) if asked.any() else 1.0
        unit = np.where(asked, need, np.minimum(most, usual))
        return np.where((unit > 0) & np.isfinite(unit), unit, 1.0)

    @staticmethod
    def _scaled(rows: sparse.csr_array[Any, Any]) -> sparse.csr_array[Any, Any]:
        """Relations without rounding noise and empty rows, scaled to a largest coefficient of 1."""
        rows.data[np.abs(rows.data) < ROUNDING_NOISE * np.abs(rows.data).max(initial=0.0)] = 0.0
        rows.eliminate_zeros()
        rows = sparse.csr_array(rows[np.diff(rows.indptr) > 0])
        if not rows.nnz:
            return rows
        largest = np.maximum.reduceat(np.abs(rows.data), rows.indptr[:-1])
        return sparse.csr_array(sparse.diags_array(1.0 / largest) @ rows)

    def columns(self, cells: Integers) -> Integers:
        """The columns of some cells that can move."""
        return self._tied.columns(cells)

    def columns_of(self, cells: Integers) -> Integers:
        """The column of each of some cells, -1 where it cannot move."""
        return self._column[cells]

    def price(self, cost: Floats) -> Floats:
        """What columns cost that move by their unit, either way, from what each cell costs."""
        column = self._column[self.cells]
        total = np.bincount(column, cost[self.cells], minlength=self._columns)
        return np.tile(total.astype(np.float64), 2)

    def towards(self, cells: Integers, side: int) -> Integers:
        """Set signs such that cells move to a side; returns those of their columns that can.

        If cells in one column would have it move both ways, the first decides.
        """
        can = self.can_rise if side > 0 else self.can_fall
        cells = cells[can[cells]]
        columns, first = np.unique(self._column[cells], return_index=True)
        self.sign[columns] = side * np.sign(self._ratio[cells[first]])
        return columns

    def solve(self, asked: Integers, price: Floats | None = None) -> Floats | None:
        """How far columns move, in their units, so that as many asked ones as possible move by 1.

        None if the solver gives up.

        Args:
            asked: Columns, which move as their signs say.
            price: What each column costs per unit that it rises, then that it falls; by default
                nothing.
        """
        count, k = self._columns, len(asked)
        # t <= sign * z, and t is worth something as long as it is no more than the level.
        toward = sparse.csr_array((-self.sign[asked], (np.arange(k), asked)), shape=(k, count))
        moves, towards = self._rows, toward
        lower, upper, cost = -self._fall, self._rise, np.zeros(count)
        if price is not None:
            # Up and down are columns of their own, which cost the same.
            moves = sparse.hstack([moves, -moves])
            towards = sparse.hstack([toward, -toward])
            lower, upper = np.zeros(2 * count), np.concatenate([self._rise, self._fall])
            cost = np.minimum(price, _LARGEST_COST)
        height = moves.shape[0]
        nothing = sparse.csr_array((height, k))
        model = self._solver(
            sparse.csr_array(
                sparse.vstack(
                    [
                        sparse.hstack([moves, nothing]),
                        sparse.hstack([towards, sparse.eye_array(k)]),
                    ]
                )
            ),
            row_lower=np.concatenate([np.zeros(height), np.full(k, -np.inf)]),
            row_upper=np.zeros(height + k),
            lower=np.concatenate([lower, np.full(k, -FAR_NEARBY)]),
            upper=np.concatenate([upper, self._need[asked]]),
            cost=np.concatenate([cost, np.full(k, -1.0 if price is None else -_REWARD)]),
        )
        if price is None:
            model.set_option("presolve", "on")
        try:
            solution = model.solve(cold=True, strategy="dual")
        except SolverError:
            return None
        if solution.status != "optimal" or not np.isfinite(solution.x).all():
            return None
        z = np.asarray(solution.x[:count], np.float64)
        if price is not None:
            z = z - solution.x[count : 2 * count]
        return np.where(np.abs(z) < NEGLIGIBLE_MOVE, 0.0, z)

    def possible(
        self,
        asked: Integers,
        *,
        either_way: bool = True,
        keep: Callable[[Floats], None] | None = None,
    ) -> Integers:
        """Those of some columns that are seen to reach their level.

        Args:
            asked: The columns.
            either_way: Whether it does not matter which way they move: signs are set so that as
                many as possible reach their level together.
            keep: Told how far columns move in each solution that shows it.
        """
        left = asked
        for _ in range(_ROUNDS):
            if not len(left):
                break
            z = self.solve(left)
            if z is None:
                break
            if keep is not None:
                keep(z)
            met = self.met_either_way(left, z) if either_way else self.met(left, z)
            if either_way:
                self.turn(z, left)
            count = len(left)
            left = left[~met]
            if met.sum() < _WORTHWHILE * count:
                break
        return np.setdiff1d(asked, left)

    @property
    def least(self) -> Floats:
        """Costs at which little moves: cells with little capacity are left alone."""
        return np.asarray(1.0 / np.clip(np.concatenate([self._rise, self._fall]), 1e-3, 1.0))

    def met(self, asked: Integers, z: Floats) -> Booleans:
        """Which of the asked columns move as far as they are to."""
        return np.asarray(self.sign[asked] * z[asked] >= self._need[asked] * (1 - MET))

    def met_either_way(self, asked: Integers, z: Floats) -> Booleans:
        """Which of the asked columns move as far as they are to, whichever way."""
        return np.asarray(np.abs(z[asked]) >= self._need[asked] * (1 - MET))

    def turn(self, z: Floats, asked: Integers) -> None:
        """Take over the signs of a deviation, and random ones for columns that miss their level."""
        missed = asked[~self.met_either_way(asked, z)]
        self.sign = np.where(z != 0, np.sign(z), self.sign)
        self.sign[missed] = self._rng.choice([-1.0, 1.0], len(missed))

    def deviation(self, z: Floats) -> Floats:
        """How far each cell of the table moves."""
        x = np.zeros(self._count)
        column = self._column[self.cells]
        x[self.cells] = (z * self._unit)[column] * self._ratio[self.cells]
        return x

    def apart(self, z: Floats) -> sparse.csr_array[Any, Any]:
        """The deviations of the table into which one falls, one per row."""
        x = self.deviation(z)
        cells = np.flatnonzero(x)
        if not len(cells):
            return sparse.csr_array((0, self._count))
        touched = sparse.csc_array(self._A[:, self._in_A[cells]])
        rows = touched.shape[0]
        # Cells and relations as nodes of one graph.
        cell = np.repeat(np.arange(len(cells)), np.diff(touched.indptr))
        size = rows + len(cells)
        graph = sparse.csr_array(
            (np.ones(len(cell), np.int8), (touched.indices, rows + cell)), shape=(size, size)
        )
        _, label = csgraph.connected_components(graph, directed=False)
        _, part = np.unique(label[rows:], return_inverse=True)
        return sparse.csr_array((x[cells], (part, cells)), shape=(int(part.max()) + 1, self._count))


@dataclass(frozen=True, eq=False)
class JointAnswers:
    """Requests that are answered by deviations in common.

    Attributes:
        requests: The answered requests.
        row: The deviation that answers each.
        amount: How far its cell moves there.
        deviations: The deviations: cells of the table, and how far each moves.
    """

    requests: Integers
    row: Integers
    amount: Floats
    deviations: list[tuple[Integers, Floats]]

    @classmethod
    def none(cls) -> JointAnswers:
        """No request is answered."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), [])

    @classmethod
    def joined(cls, parts: Sequence[JointAnswers]) -> JointAnswers:
        """Several answers as one."""
        before = np.cumsum([0, *(len(part.deviations) for part in parts)])[:-1].tolist()
        return cls(
            np.concatenate([part.requests for part in parts]),
            np.concatenate([part.row + first for part, first in zip(parts, before, strict=True)]),
            np.concatenate([part.amount for part in parts]),
            [each for part in parts for each in part.deviations],
        )

    def tables(self, cell_count: int) -> sparse.csr_array[Any, Any]:
        """The deviations, one per row."""
        rows = SparseRows(len(self.deviations), cell_count)
        for number, (cells, x) in enumerate(self.deviations):
            rows.put(number, cells, x)
        return rows.matrix()


def reach_jointly(
    component: Component,
    requests: Requests,
    asked: Integers,
    solver: Callable[..., Any],
    *,
    moves: Moves = "some",
) -> JointAnswers:
    """Answer those requests about one component that deviations in common can answer.

    Args:
        component: The cells, their relations and how far they can move.
        requests: What is asked of all components.
        asked: Which of the requests are about this one.
        solver: Makes linear solvers.
        moves: How many cells may move in one deviation.
    """
    if requests.own is not None:
        return JointAnswers.none()
    asked = asked[np.isfinite(requests.targets[asked])]
    if requests.limits is not None:
        asked = asked[requests.limits.chosen[asked] < 0]
    place = np.searchsorted(component.cells, requests.cells[asked])
    level = np.zeros(len(component.cells))
    np.maximum.at(level, place, requests.targets[asked])
    if np.count_nonzero(level) < _MANY:
        return JointAnswers.none()
    finder = Finder(component, level, solver, keeps_any=moves == "any")
    finder.either_way(1 if moves == "few" else _TOGETHER)
    for side in (1, -1):
        finder.one_way(side, np.unique(place[requests.sides[asked] == side]))
    row = np.where(requests.sides[asked] > 0, finder.rises[place], finder.falls[place])
    answered = row >= 0
    return JointAnswers(
        asked[answered],
        row[answered],
        finder.moved(place[answered], requests.sides[asked[answered]]),
        [(component.cells[inside], x) for inside, x in finder.rows],
    )


class Finder:
    """Looks for deviations in common, and keeps those that hold.

    Attributes:
        rows: The deviations: cells of the component, and how far each moves.
        rises: For each cell a row in which it rises as far as its level; -1 if none is known.
        falls: The same for falling.
    """

    def __init__(
        self,
        component: Component,
        level: Floats,
        solver: Callable[..., Any],
        *,
        keeps_any: bool = False,
    ):
        """Prepare to look.

        Args:
            component: The cells, their relations and how far they can move.
            level: How far each cell is to move; 0 for cells that are never asked.
            solver: Makes linear solvers.
            keeps_any: Keep the deviations that show what is possible, in which most cells move.
        """
        self._component, self._level, self._solver = component, level, solver
        self._keeps_any = keeps_any
        self.rows: list[tuple[Integers, Floats]] = []
        self.rises = np.full(len(level), -1, np.int64)
        self.falls = np.full(len(level), -1, np.int64)
        self._up, self._down = np.zeros(len(level)), np.zeros(len(level))
        A = component.A
        self._terms = np.asarray(abs(A).sign().T @ np.diff(A.indptr).astype(np.float64))

    def moved(self, cells: Integers, sides: Integers) -> Floats:
        """How far cells move in their rows."""
        return np.where(sides > 0, self._up[cells], self._down[cells])

    def either_way(self, together: int) -> None:
        """Deviations that can be turned round: one does for both sides of a cell.

        Args:
            together: How many cells are asked for at a time.
        """
        component = self._component
        moves = JointMoves(component.A, component.up, component.down, self._level, self._solver)
        cells = np.flatnonzero((self._level > 0) & moves.can_rise)
        columns = self._possible(moves, moves.columns(cells), turned=True)
        left = moves.columns(cells[(self.rises[cells] < 0) | (self.falls[cells] < 0)])
        self._in_turn(moves, np.intersect1d(columns, left), together, turned=True)

    def one_way(self, side: int, cells: Integers) -> None:
        """Deviations for what is left of one side: first together, then one by one."""
        known = self.rises if side > 0 else self.falls
        cells = cells[(known[cells] < 0) & (self._level[cells] > 0)]
        if not len(cells):
            return
        moves = self._moves()
        columns = self._possible(moves, moves.towards(cells, side), turned=False)
        left = moves.towards(cells[known[cells] < 0], side)
        self._in_turn(moves, np.intersect1d(columns, left), _TOGETHER, turned=False)
        for size in (_FEWER, 1):
            left = moves.towards(cells[known[cells] < 0], side)
            self._in_turn(moves, left, size, turned=False)

    def together(self, side: int, cells: Integers) -> None:
        """Deviations for one side of some cells, all of them asked for at once."""
        moves = self._moves()
        columns = moves.towards(cells, side)
        if len(columns) > _FEWER:
            columns = self._possible(moves, columns, turned=False)
        self._in_turn(moves, columns, max(len(columns), 1), turned=False)

    def _moves(self) -> JointMoves:
        """A model of deviations that need not be turned round."""
        component = self._component
        up, down = component.up, component.down
        return JointMoves(component.A, up, down, self._level, self._solver, either_way=False)

    def _possible(self, moves: JointMoves, columns: Integers, *, turned: bool) -> Integers:
        """Columns that are seen to reach their level; what shows it is kept if wanted."""

        def keep(z: Floats) -> None:
            self._keep_parts(moves, z, turned=turned)

        return moves.possible(columns, either_way=turned, keep=keep if self._keeps_any else None)

    def _in_turn(
        self, moves: JointMoves, columns: Integers, together: int, *, turned: bool
    ) -> None:
        """Ask for some columns at a time, and keep what moves."""
        for start in range(0, len(columns), together):
            check_time()
            z = moves.solve(columns[start : start + together], moves.least)
            if z is not None:
                self._keep_parts(moves, z, turned=turned)

    def _keep_parts(self, moves: JointMoves, z: Floats, *, turned: bool) -> None:
        """Keep what shows something new of the deviations into which one falls."""
        parts = moves.apart(z)
        for number in range(parts.shape[0]):
            entries = slice(parts.indptr[number], parts.indptr[number + 1])
            cells, x = parts.indices[entries].astype(np.int64), parts.data[entries]
            for factor in (1.0, -1.0) if turned else (1.0,):
                self._keep(cells, factor * x)

    def _keep(self, cells: Integers, x: Floats) -> None:
        """Keep a deviation if it shows something new."""
        level, size = self._level[cells], np.abs(x)
        known = np.where(x > 0, self.rises[cells], self.falls[cells])
        met = (known < 0) & (size >= level) & (level > 0)
        if not met.any() or not _holds(self._component, cells, x):
            return
        # Where others move very much further, rounding leaves little to rely on.
        part = sparse.csr_array(self._component.A[:, cells])
        missed = np.abs(part @ x).sum() + _ROUNDING * float(self._terms[cells] @ size)
        met &= (size * FURTHEST >= size.max()) & (size * _EXACT >= missed)
        if not met.any():
            return
        up, down = met & (x > 0), met & (x < 0)
        self.rises[cells[up]], self.falls[cells[down]] = len(self.rows), len(self.rows)
        self._up[cells[up]], self._down[cells[down]] = size[up], size[down]
        self.rows.append((cells, x))


def _holds(component: Component, cells: Integers, x: Floats) -> bool:
    """Does a deviation meet all relations and bounds?"""
    capacity = np.where(x > 0, component.up[cells], component.down[cells])
    if (np.abs(x) > capacity * (1 + MET)).any():
        return False
    part = sparse.csr_array(component.A[:, cells])
    return bool((np.abs(part @ x) <= MET * (abs(part) @ np.abs(x))).all())
