"""Make a point safe at the least cost, request after request.

For each request that a point misses, the cheapest deviation that meets it is found: within the
slacks that are there it is free, beyond them it costs their weights. The slacks are opened
accordingly, and the next request finds them open.

Where many requests are missed, one deviation meets several of them at once. In a trial on a 3-D
table with 2,940 cells, a quarter of them sensitive, 460 requests, both sides mixed at random, took
58 programs for 8 at a time (3.1 % above what the levels cost alone), 16 for 30 (3.9 %), 6 for 100
(5.7 %), 2 for all (9.9 %).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from tacit.errors import SolverError
from tacit.methods.intervals.attackers import AttackerState
from tacit.methods.intervals.linear_part import LinearPart
from tacit.methods.intervals.model import IntervalsModel
from tacit.problem import Floats, Integers
from tacit.solver.highs import HighsModel
from tacit.tolerances import FAR, NEGLIGIBLE, NEGLIGIBLE_MOVE, SOLVER

_MANY = 48
"""From so many requests on several are met at once."""
_TOGETHER = 24
"""Requests that are met at once: more of them move more cells, fewer take more programs."""


class Repair:
    """Cheapest deviations for the requests of one attacker outside networks.

    Every cell has three columns: its deviation within its slacks, which is free, and what goes
    beyond them on either side.
    """

    def __init__(self, model: IntervalsModel, state: AttackerState):
        self._model = model
        self._state = state
        self._part = LinearPart.of(model, state)
        self._lp: HighsModel | None = None

    def repair(
        self, point: Floats, requests: Integers, stop: Callable[[], bool] = lambda: False
    ) -> Floats | None:
        """The point with these requests met; None if that failed or was stopped."""
        model, state = self._model, self._state
        point = point.copy()
        targets = state.targets(point)
        waiting = self._groups(requests[targets[requests] > 0], targets)
        while waiting:
            if stop():
                return None
            group = waiting.pop()
            if self._open(point, group, targets[group]):
                continue
            if len(group) == 1:
                return None
            # What cannot be had at once may be had one after the other.
            waiting += [group[len(group) // 2 :], group[: len(group) // 2]]
        np.minimum(point, np.maximum(model.upper, model.lower), out=point)
        return model.with_own_reaches(point)

    def _groups(self, requests: Integers, targets: Floats) -> list[Integers]:
        """Requests that are met at once, those that come first at the end."""
        state = self._state
        alone = np.ones(len(requests), bool)
        if len(requests) >= _MANY and state.limits is None:
            own = 2 * state.cells[requests] + (state.sides[requests] < 0)
            # Whoever knows an asked cell better must be shown a table in which it stands still.
            alone = np.minimum(self._most, state.capacity)[own] < targets[requests]
        groups = [requests[at : at + 1] for at in np.flatnonzero(alone).tolist()]
        together = requests[~alone]
        for side in (1, -1):
            some = together[state.sides[together] == side]
            count = -(-len(some) // _TOGETHER)
            # Neighbours share relations: they are dealt out to different groups.
            groups += [some[at::count] for at in range(count)]
        return groups[::-1]

    @property
    def _most(self) -> Floats:
        """How far each end may be opened."""
        model = self._model
        return np.where(model.is_free, model.upper[: model.cell_ends], 0.0)

    def _open(self, point: Floats, group: Integers, targets: Floats) -> bool:
        """Open slacks, in place, so that some requests are met by one table; False without one."""
        model, state, ends = self._model, self._state, self._part.ends
        number, unit = int(group[0]), float(np.median(targets))
        most = state.limited(number, np.minimum(self._most, state.capacity))[ends]
        capacity = state.limited(number, model.capacity(state, point))[ends]
        beyond = np.clip((most - np.minimum(capacity, most)) / unit, 0.0, FAR)
        x = self._cheapest(group, targets / unit, np.minimum(capacity / unit, FAR), beyond)
        if x is None:
            return False
        # What the solver calls zero is not worth opening a cell.
        x[np.abs(x) < NEGLIGIBLE_MOVE] = 0.0
        moved = np.concatenate([x, -x]) * unit
        free = model.is_free[ends]
        point[ends[free]] = np.maximum(point[ends[free]], moved[free])
        return True

    def _cheapest(
        self, group: Integers, targets: Floats, capacity: Floats, beyond: Floats
    ) -> Floats | None:
        """The cheapest deviation that moves the asked cells as far as they are to get."""
        lp = self._lp = self._lp or self._start()
        count = len(self._part.cells)
        lower = np.concatenate([-capacity[count:], np.zeros(2 * count)])
        upper = np.concatenate([capacity[:count], beyond])
        columns = self._part.column[self._state.cells[group]]
        lower[columns] = upper[columns] = self._state.sides[group] * targets
        upper[np.concatenate([count + columns, 2 * count + columns])] = 0.0
        lp.set_bounds(np.arange(3 * count), lower, upper)
        for cold in (False, True):
            try:
                solution = lp.solve(cold=cold, strategy="dual")
            except SolverError:
                continue
            if solution.status == "optimal":
                x = solution.x
                return np.asarray(x[:count] + x[count : 2 * count] - x[2 * count :])
        return None

    def _start(self) -> HighsModel:
        A = self._part.relations
        zeros, nothing = np.zeros(A.shape[0]), np.zeros(3 * len(self._part.cells))
        weight = self._model.weight[self._part.ends]
        positive = weight[weight > 0]
        middle = float(np.median(positive)) if len(positive) else 1.0
        # Ends that cost nothing are not opened without need, either.
        cost = np.maximum(weight / middle, NEGLIGIBLE)
        return HighsModel(
            sparse.csr_array(sparse.hstack([A, A, -A])),
            row_lower=zeros,
            row_upper=zeros,
            lower=nothing,
            upper=nothing,
            cost=np.concatenate([np.zeros(len(self._part.cells)), cost]),
            tolerance=SOLVER,
        )
