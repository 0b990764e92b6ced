"""Deviations in which little moves, over a whole table.

Standing still costs nothing, so that the dual simplex method starts from there and takes a few
steps for every cell that has to move. Where the asked cell can reach its target at all, that is
several times faster than pushing it as far as it goes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.reach import NOTHING_LIMITED, TOLERANCE, Limited, within
from tacit.errors import SolverError
from tacit.problem import Floats
from tacit.tolerances import FAR_LEAST_MOVES, LAST_DIGITS


class LeastMoves:
    """Looks for deviations that reach a target while other cells move as little as possible."""

    def __init__(
        self,
        A: sparse.csr_array[Any, Any],
        up: Floats,
        down: Floats,
        solver: Callable[..., Any],
    ):
        """Prepare the model.

        Args:
            A: The relations of the cells.
            up: How far each cell can rise.
            down: How far each cell can fall.
            solver: Makes linear solvers.
        """
        self._A, self._magnitude = A, abs(A)
        self._up, self._down = up, down
        self._lower, self._upper, self._cost = (np.zeros(2 * len(up)) for _ in range(3))
        zeros = np.zeros(A.shape[0])
        self._model = solver(
            sparse.csr_array(sparse.hstack([A, -A])),
            row_lower=zeros,
            row_upper=zeros,
            lower=self._lower,
            upper=self._upper,
        )

    def deviation(
        self, cell: int, side: int, target: float, limited: Limited = NOTHING_LIMITED
    ) -> Floats | None:
        """How far each cell moves so that the asked one moves by the target.

        None if nothing was found, which proves nothing.

        Args:
            cell: The cell to move.
            side: 1 to rise, -1 to fall.
            target: How far.
            limited: Cells that may move less far than otherwise, for this once.
        """
        count = len(self._up)
        up, down = within(self._up, self._down, limited)
        capacity = np.concatenate([up, down]) / target
        moving, still = (cell, cell + count) if side > 0 else (cell + count, cell)
        if capacity[moving] < 1 - TOLERANCE:
            return None
        lower, upper = np.zeros(2 * count), np.minimum(capacity, FAR_LEAST_MOVES)
        lower[moving], upper[moving], upper[still] = 1.0, 1.0, 0.0
        # Cells with little capacity are left alone where others can do.
        cost = 1.0 / np.clip(capacity, 1e-3, 1.0)
        cost[[moving, still]] = 0.0
        try:
            self._change(lower, upper, cost)
            solution = self._model.solve(cold=True, strategy="dual")
        except SolverError:
            return None
        if solution.status != "optimal" or len(solution.x) != 2 * count:
            return None
        if not np.isfinite(solution.x).all():
            return None
        x = solution.x[:count] - solution.x[count:]
        x = np.where(np.abs(x) < LAST_DIGITS, 0.0, x) * target
        x = np.clip(x, -down, up)
        off = np.abs(self._A @ x) > TOLERANCE * (self._magnitude @ np.abs(x))
        if off.any() or side * x[cell] < target * (1 - TOLERANCE):
            return None
        return np.asarray(x)

    def _change(self, lower: Floats, upper: Floats, cost: Floats) -> None:
        changed = np.flatnonzero((lower != self._lower) | (upper != self._upper))
        if len(changed):
            self._model.set_bounds(changed, lower[changed], upper[changed])
        changed = np.flatnonzero(cost != self._cost)
        if len(changed):
            self._model.set_cost(changed, cost[changed])
        self._lower, self._upper, self._cost = lower, upper, cost
