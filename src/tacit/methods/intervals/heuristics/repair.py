"""Make a point safe at the least cost, one request after the other.

For each request that a point misses, the cheapest deviation that meets it is found: within the
slacks that are there it is free, beyond them it costs their weights. The slacks are opened
accordingly, and the next request finds them open.
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
        model, state, ends = self._model, self._state, self._part.ends
        point = point.copy()
        targets = state.targets(point)
        free = model.is_free[ends]
        widest = np.where(model.is_free, model.upper[: model.cell_ends], 0.0)
        for number in requests.tolist():
            if stop():
                return None
            unit = float(targets[number])
            if unit <= 0:
                continue
            most = state.limited(number, np.minimum(widest, state.capacity))[ends]
            capacity = state.limited(number, model.capacity(state, point))[ends]
            beyond = np.clip((most - np.minimum(capacity, most)) / unit, 0.0, FAR)
            x = self._cheapest(number, np.minimum(capacity / unit, FAR), beyond)
            if x is None:
                return None
            # What the solver calls zero is not worth opening a cell.
            x[np.abs(x) < NEGLIGIBLE_MOVE] = 0.0
            moved = np.concatenate([x, -x]) * unit
            point[ends[free]] = np.maximum(point[ends[free]], moved[free])
        np.minimum(point, np.maximum(model.upper, model.lower), out=point)
        return model.with_own_reaches(point)

    def _cheapest(self, number: int, capacity: Floats, beyond: Floats) -> Floats | None:
        """The cheapest deviation that moves the asked cell by one unit."""
        lp = self._lp = self._lp or self._start()
        count = len(self._part.cells)
        lower = np.concatenate([-capacity[count:], np.zeros(2 * count)])
        upper = np.concatenate([capacity[:count], beyond])
        column = int(self._part.column[self._state.cells[number]])
        lower[column] = upper[column] = self._state.sides[number]
        upper[[count + column, 2 * count + column]] = 0.0
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
