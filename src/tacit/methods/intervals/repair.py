"""Make a point safe at the least cost, one request after the other.

For each request that a point misses, the cheapest deviation that meets it is found: within the
rooms that are there it is free, beyond them it costs their weights. The rooms are opened
accordingly, and the next request finds them open.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from tacit.errors import SolverError
from tacit.methods.intervals.elimination import LinearPart
from tacit.methods.intervals.model import IntervalsModel, Rival
from tacit.problem import Floats, Integers
from tacit.solver.highs import HighsModel

_FAR = 1e4
"""Rooms beyond so many times the target make no difference."""
_CRUMB = 1e-7
"""A deviation below this share of the target is rounding."""


class Repair:
    """Cheapest deviations for the requests of one attacker outside networks.

    The programme solved is the dual: every end is charged at most its weight for being opened,
    and as much as it takes for going beyond the bound. Its rows are the cells left after the
    totals have been eliminated; their prices are the deviation.
    """

    def __init__(self, model: IntervalsModel, rival: Rival):
        self._model = model
        self._rival = rival
        self._part = LinearPart(model, rival)
        self._lp: HighsModel | None = None
        self._own: Integers | None = None

    def repair(
        self, point: Floats, requests: Integers, stop: Callable[[], bool] = lambda: False
    ) -> Floats | None:
        """The point with these requests met; None if that failed or was stopped."""
        model, rival = self._model, self._rival
        point = point.copy()
        targets = rival.targets(point)
        ends = self._part.ends
        free = model.is_free[ends]
        known = model.capacity(rival, np.full(model.size, np.inf))[ends]
        most = np.where(free, np.minimum(model.upper[ends], known), known)
        for number in requests.tolist():
            if stop():
                return None
            unit = float(targets[number])
            if unit <= 0:
                continue
            capacity = np.minimum(model.capacity(rival, point)[ends] / unit, _FAR)
            bound = np.maximum(np.minimum(most / unit, _FAR), capacity)
            x = self._cheapest(int(number), capacity, bound)
            if x is None:
                return None
            # What the solver calls zero is not worth a room.
            x[np.abs(x) < _CRUMB] = 0.0
            moved = np.concatenate([x, -x]) * unit
            point[ends[free]] = np.maximum(point[ends[free]], moved[free])
        np.minimum(point, np.maximum(model.upper, model.lower), out=point)
        return model.with_own_reaches(point)

    def _cheapest(self, number: int, capacity: Floats, bound: Floats) -> Floats | None:
        """The cheapest deviation that moves the asked cell by one unit."""
        lp = self._lp = self._lp or self._start()
        count = len(self._part.cells)
        self._turn(number)
        cost = np.concatenate([capacity, bound])
        column = int(self._part.column[self._rival.cells[number]])
        here, back = (column, count + column)
        if self._rival.sides[number] < 0:
            here, back = back, here
        # The asked cell moves one unit, no more and no less.
        cost[[here, back]] = 1.0, -1.0
        lp.set_cost(np.arange(len(cost)), cost)
        for cold in (False, True):
            try:
                solution = lp.solve(cold=cold)
            except SolverError:
                continue
            if solution.status == "optimal":
                return np.asarray(self._part.sums @ solution.row_dual)
        return None

    def _turn(self, number: int) -> None:
        """Let the asked cell's own charges run free, and no other's."""
        lp, count = self._lp, len(self._part.cells)
        assert lp is not None
        if self._own is not None:
            lp.set_bounds(self._own, np.zeros(4), self._most[self._own])
        column = int(self._part.column[self._rival.cells[number]])
        self._own = column + count * np.arange(4)
        lp.set_bounds(self._own, np.zeros(4), np.array([np.inf, np.inf, 0.0, 0.0]))

    def _start(self) -> HighsModel:
        part, model = self._part, self._model
        weight = model.weight[part.ends]
        positive = weight[weight > 0]
        middle = float(np.median(positive)) if len(positive) else 1.0
        # What costs nothing is not opened for nothing, either.
        price = np.maximum(weight / middle, 1e-6)
        price[~model.is_free[part.ends]] = np.inf
        self._most = np.concatenate([price, np.full(len(part.ends), np.inf)])
        rest = part.rest.shape[0]
        zeros = np.zeros(part.sums.shape[1])
        both = [part.sums.T, -part.sums.T]
        return HighsModel(
            sparse.csr_array(sparse.hstack([*both, *both, part.rest.T])),
            row_lower=zeros,
            row_upper=zeros,
            lower=np.concatenate([np.zeros(len(self._most)), np.full(rest, -np.inf)]),
            upper=np.concatenate([self._most, np.full(rest, np.inf)]),
            tolerance=1e-7,
        )
