"""The two engines behind the attacker: maximum flows for networks, linear programs for the rest.

Both answer `Requests` about one `Component`, numbered within the component. An answer is only
given when it has been checked here, outside the solver: the deviation by its relations and
bounds, the limit by the multipliers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.least_moves import LeastMoves
from tacit.attack.nearby import Nearby
from tacit.attack.network import Network
from tacit.attack.reach import (
    GAP_TOLERANCE,
    TOLERANCE,
    Limited,
    Reaches,
    Requests,
    SparseRows,
    charges,
    within,
)
from tacit.attack.shrink import Component
from tacit.errors import SolverError
from tacit.problem import Booleans, Floats, Integers
from tacit.solver.highs import HighsModel, LinearSolution, LinearSolver, Strategy
from tacit.tolerances import NEGLIGIBLE, SOLVER

SolverFactory = Callable[..., LinearSolver]

_LARGE = 1000
"""From this number of cells on, deviations in which few cells move are looked for first."""
FURTHEST = 1000.0
"""A deviation shows nothing of a cell that moves less than other cells do, divided by this."""
_VAST = 10_000
"""From this number of cells on, these are looked for among the cells nearby."""


def flow_reaches(component: Component, network: Network, requests: Requests) -> Reaches:
    """Answer by maximum flows."""
    from tacit.attack.flow import maximum_flows

    up, down = component.up, component.down
    own = requests.capacity(up, down)
    wanted = np.minimum(requests.targets, own)
    # A flow above the sum of all finite capacities can only be infinite.
    capacities = np.concatenate([up, down])
    if requests.limits is not None:
        capacities = np.concatenate([capacities, requests.limits.up, requests.limits.down])
    ceiling = 1.0 + 2.0 * float(capacities[np.isfinite(capacities)].sum())
    amount, pointer, arcs, moves, cut = maximum_flows(
        network.first,
        network.link,
        network.tail,
        network.head,
        up,
        down,
        requests.cells,
        requests.sides,
        np.minimum(wanted, ceiling),
        np.full(len(requests), np.inf),
        np.ones(len(up)),
        np.zeros(len(up), bool),
        requests.limits,
    )
    endless = (amount >= ceiling) & (wanted > ceiling)
    deviations = SparseRows(len(requests), len(up))
    asked = np.arange(len(requests))
    row = np.repeat(asked, np.diff(pointer))
    finite = ~endless[row]
    deviations.put_many(row[finite], arcs[finite], moves[finite])
    moved = np.flatnonzero(~endless & (amount > 0))
    deviations.put_many(
        moved, requests.cells[moved], amount[moved] * requests.sides[moved].astype(np.float64)
    )
    if endless.any():
        _put_rays(deviations, component, network, requests, np.flatnonzero(endless), wanted)
        amount = np.where(endless, wanted, amount)
    limit = np.full(len(requests), np.inf)
    at_own_bound = (amount >= own) & (own < requests.targets)
    limit[at_own_bound] = own[at_own_bound]
    cut_off = np.flatnonzero((amount < wanted) & ~endless)
    limit[cut_off] = amount[cut_off]
    multipliers = SparseRows(len(requests), component.A.shape[0])
    source_side = cut[cut_off].astype(bool)
    for position, g in zip(
        cut_off.tolist(), network.multipliers(source_side, component.A.shape[0]), strict=True
    ):
        multipliers.put(position, np.arange(len(g)), g)
    return Reaches(amount, limit, deviations.matrix(), multipliers.matrix())


def _put_rays(
    deviations: SparseRows,
    component: Component,
    network: Network,
    requests: Requests,
    endless: Integers,
    wanted: Floats,
) -> None:
    """For cells that can move without limit, a direction along which they do.

    Where only a finite amount is wanted, the direction is followed that far.
    """
    unbounded = Component(
        component.cells,
        component.rows,
        component.A,
        np.where(np.isinf(component.up), 1.0, 0.0),
        np.where(np.isinf(component.down), 1.0, 0.0),
    )
    ones = np.ones(len(endless))
    limits = None if requests.limits is None else requests.limits.take(endless).unbounded()
    asked = Requests(requests.cells[endless], requests.sides[endless], ones, ones, limits)
    rays = sparse.coo_array(flow_reaches(unbounded, network, asked).deviations)
    far = np.where(np.isinf(wanted), 1.0, wanted)[endless]
    deviations.put_many(endless[rays.row], rays.col.astype(np.int64), rays.data * far[rays.row])


class LinearEngine:
    """Answers by linear programs on one persistent model.

    From cell to cell only the cost changes, so that the primal simplex method goes on from
    the last basis. Every optimum also serves as a witness for the other open requests.
    """

    def __init__(self, component: Component, solver: SolverFactory = HighsModel):
        self._component = component
        self._solver = solver
        finite = np.concatenate([component.up, component.down])
        finite = finite[np.isfinite(finite) & (finite > 0)]
        # Solvers work with absolute tolerances: bring the cells to the size of 1.
        self._scale = float(np.exp(np.log(finite).mean())) if len(finite) else 1.0
        self._smallest = float(finite.min()) if len(finite) else 1.0
        self._columns = sparse.csc_array(component.A)
        self._magnitude = abs(component.A)
        self._model = self._build()
        self._asked: int | None = None
        self._changed = np.zeros(0, np.int64)
        self._nearby: Nearby | None = None
        self._least_moves: LeastMoves | None = None

    def _build(self) -> LinearSolver:
        component = self._component
        zeros = np.zeros(component.A.shape[0])
        return self._solver(
            component.A,
            row_lower=zeros,
            row_upper=zeros,
            lower=-component.down / self._scale,
            upper=component.up / self._scale,
        )

    def reaches(self, requests: Requests, *, few_moves: bool = False) -> Reaches:
        """Answer all requests, starting from a cold model so that the answers do not depend on
        what was asked before.

        Args:
            requests: What to find out.
            few_moves: Look for deviations in which few cells move, however small the table is.

        Raises:
            TimeUpError: The clocks around the caller ran out.
        """
        count, n = len(requests), len(self._component.up)
        amount = np.full(count, -1.0)
        limit = np.full(count, np.inf)
        deviations = SparseRows(count, n)
        multipliers = SparseRows(count, self._component.A.shape[0])
        capacity = requests.capacity(self._component.up, self._component.down)
        everyone = np.arange(n)
        relations = np.arange(self._component.A.shape[0])
        # An optimum moves nearly all cells, so it fails for anybody who knows one of them.
        few_moves |= n > _LARGE or requests.limits is not None
        few_moves &= requests.own is None
        successes, failures = 0, 0
        cold = True
        for number in range(count):
            if amount[number] >= 0:
                continue
            cell, side = int(requests.cells[number]), int(requests.sides[number])
            target = float(requests.targets[number])
            # Nothing beyond the target matters: fewer steps for the solver.
            own = min(float(capacity[number]), target)
            limited = requests.limited(number)
            small: Floats | None = None
            proven: float | None
            if few_moves and target <= own < np.inf and failures <= 5 + successes:
                small = self._small(cell, side, target, limited)
                successes, failures = successes + (small is not None), failures + (small is None)
            if small is not None:
                x, g, proven = small, relations[:0].astype(np.float64), np.inf
            else:
                x, g, proven = self._solve(cell, side, target, own, limited, cold)
                cold = False
            # By rounding, a cell that stays where it is may seem to move the wrong way.
            amount[number] = np.inf if proven is None else max(side * float(x[cell]), 0.0)
            deviations.put(number, everyone, x)
            if proven is None:
                continue
            if not amount[number] >= requests.targets[number] * (1 - TOLERANCE):
                limit[number] = max(proven, amount[number])
                multipliers.put(number, relations, g)
            if requests.own is not None:
                continue
            for other, witness in self._witnesses(x, requests, amount < 0):
                amount[other] = requests.sides[other] * witness[requests.cells[other]]
                deviations.put(int(other), everyone, witness)
        return Reaches(amount, limit, deviations.matrix(), multipliers.matrix())

    def _small(self, cell: int, side: int, target: float, limited: Limited) -> Floats | None:
        """A deviation in which little moves and that reaches the target, if one is found."""
        component = self._component
        if len(component.up) < _VAST:
            return self._least().deviation(cell, side, target, limited)
        if self._nearby is None:
            self._nearby = Nearby(component.A, component.up, component.down, self._solver)
        found = self._nearby.deviation(cell, side, target, limited=limited)
        if found is None:
            return None
        x = np.zeros(len(component.up))
        x[found[0]] = found[1]
        return x

    def _least(self) -> LeastMoves:
        if self._least_moves is None:
            component = self._component
            self._least_moves = LeastMoves(component.A, component.up, component.down, self._solver)
        return self._least_moves

    def _witnesses(
        self, x: Floats, requests: Requests, open_requests: Booleans
    ) -> list[tuple[int, Floats]]:
        """Open requests whose target x reaches, stretched as far as the bounds allow."""
        found: list[tuple[int, Floats]] = []
        for direction in (1.0, -1.0):
            y = direction * x
            stretch = self._longest(y)
            if not np.isfinite(stretch) or stretch <= 0:
                continue
            y = y * stretch
            moved = requests.sides * y[requests.cells]
            # Where others move very much further, rounding leaves little to rely on.
            fair = moved * FURTHEST >= np.abs(y).max(initial=0.0)
            shown = np.flatnonzero(open_requests & fair & (moved >= requests.targets))
            if requests.limits is not None and len(shown):
                only = sparse.csr_array(y[None, :])
                limits = requests.limits.take(shown)
                shown = shown[limits.kept(only, np.zeros(len(shown), np.int64))]
            for other in shown:
                open_requests[other] = False
                found.append((int(other), y))
        return found

    def _longest(self, x: Floats) -> float:
        """The largest factor by which x may be multiplied within the bounds."""
        up, down = self._component.up, self._component.down
        capacity = np.where(x > 0, up, down)[x != 0]
        return float(np.min(capacity / np.abs(x[x != 0]), initial=np.inf))

    def _solve(
        self, cell: int, side: int, target: float, own: float, limited: Limited, cold: bool
    ) -> tuple[Floats, Floats, float | None]:
        """Move one cell as far as possible; a limit of None means that there is none."""
        attempts: list[tuple[bool, bool, Strategy]] = [
            (False, cold, "primal"),
            (False, True, "primal"),
            (True, True, "dual"),
        ]
        up, down = self._bounds(cell, side, own, limited)
        changed = np.append(limited[0], cell)
        for rebuild, from_cold, strategy in attempts:
            if rebuild:
                self._scale = self._smallest
                self._model = self._build()
                self._asked, self._changed = None, self._changed[:0]
            try:
                self._ask(cell, side, changed, up, down)
                solution = self._model.solve(cold=from_cold, strategy=strategy)
            except SolverError:
                continue
            if solution.status == "unbounded" and np.isinf(own):
                ray = self._ray(cell, side, up, down)
                if ray is not None:
                    return ray, np.zeros(0), None
                continue
            answer = self._checked(solution, cell, side, target, up, down)
            if answer is not None:
                return answer
        if 0 < target <= own < np.inf:
            # In units of the target, and with no cell moving further than it must.
            least = self._least().deviation(cell, side, target, limited)
            if least is not None:
                return least, np.zeros(0), np.inf
        raise SolverError(
            f"no reliable answer for cell {self._component.cells[cell]}: the solver's results "
            "do not pass the check, also from a cold start. Look for extreme magnitudes among "
            "the bounds"
        )

    def _ask(self, cell: int, side: int, changed: Integers, up: Floats, down: Floats) -> None:
        """Turn the model from the cell asked before to this one.

        Args:
            cell: The cell to move.
            side: Where to.
            changed: Cells whose bounds are not those of the component.
            up: How far each cell may rise.
            down: How far each cell may fall.
        """
        if self._asked is not None and self._asked != cell:
            self._model.set_cost(np.array([self._asked]), np.zeros(1))
        self._model.set_cost(np.array([cell]), np.array([-float(side)]))
        self._asked = cell
        columns = np.union1d(self._changed, changed)
        self._model.set_bounds(columns, -down[columns] / self._scale, up[columns] / self._scale)
        self._changed = changed

    def _bounds(self, cell: int, side: int, own: float, limited: Limited) -> tuple[Floats, Floats]:
        """How far each cell may rise and fall while one of them is asked."""
        up, down = within(self._component.up, self._component.down, limited)
        (up if side > 0 else down)[cell] = own
        return up, down

    def _checked(
        self,
        solution: LinearSolution,
        cell: int,
        side: int,
        target: float,
        up: Floats,
        down: Floats,
    ) -> tuple[Floats, Floats, float] | None:
        """The answer if it withstands recomputation, else None."""
        component = self._component
        m, n = component.A.shape
        x = solution.x * self._scale
        if solution.status != "optimal" or len(x) != n or not np.isfinite(x).all():
            return None
        x = np.clip(x, -down, up)
        terms = self._magnitude @ np.abs(x)
        off = np.abs(component.A @ x)
        # Below this share of the smallest capacity everything is rounding.
        noise = TOLERANCE * self._smallest
        if not (off <= TOLERANCE * terms + noise).all():
            return None
        amount = side * x[cell]
        if amount >= target * (1 - TOLERANCE):
            # A consistent table that reaches the target is proof enough.
            return x, np.zeros(m), np.inf
        g = -solution.row_dual
        if len(g) != m or not np.isfinite(g).all():
            return None
        proven = dual_limit(self._columns, g, cell, side, up, down)
        if not np.isfinite(proven):
            return None
        allowed = max(GAP_TOLERANCE * max(abs(amount), abs(proven)), noise)
        if not proven - amount <= max(allowed, TOLERANCE * float(terms.max(initial=0.0))):
            return None
        return x, g, proven

    def _ray(self, cell: int, side: int, up: Floats, down: Floats) -> Floats | None:
        """An unbounded direction for the cell: only cells without bounds move along it."""
        component = self._component
        zeros = np.zeros(component.A.shape[0])
        lower = np.where(np.isinf(down), -1.0, 0.0)
        upper = np.where(np.isinf(up), 1.0, 0.0)
        model = self._solver(
            component.A, row_lower=zeros, row_upper=zeros, lower=lower, upper=upper
        )
        model.set_cost(np.array([cell]), np.array([-float(side)]))
        solution = model.solve(cold=True)
        x = solution.x
        if solution.status != "optimal" or not np.isfinite(x).all() or side * x[cell] <= NEGLIGIBLE:
            return None
        x = np.where(np.abs(x) < TOLERANCE, 0.0, x)
        if (np.abs(component.A @ x) > SOLVER).any():
            return None
        return x


def dual_limit(
    columns: sparse.csc_array[Any],
    g: Floats,
    cell: int,
    side: int,
    up: Floats,
    down: Floats,
) -> float:
    """The bound that row multipliers prove: sum of d+ up + d- down with d = e_s - A'g."""
    d = -(columns.T @ g)
    d[cell] += side
    return float(charges(d, np.where(d > 0, up, down)).sum())
