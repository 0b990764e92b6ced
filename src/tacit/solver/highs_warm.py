"""A linear program that returns to an earlier basis and gives up once it no longer helps."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np

from tacit.clock import check_time, time_left
from tacit.errors import SolverError
from tacit.problem import Floats
from tacit.solver.highs import HighsModel


class WarmModel(HighsModel):
    """`HighsModel` for many small changes around one point, solved by the dual simplex method."""

    _kept: Any = None

    def keep_basis(self) -> None:
        """Remember the present basis for `return_to_basis`."""
        self._kept = self._highs.getBasis()

    def return_to_basis(self) -> None:
        """Start the next solve from the basis that was kept."""
        if self._kept is not None:
            self._check(self._highs.setBasis(self._kept), "an earlier basis")

    def solve_below(self, limit: float, seconds: float) -> str:
        """Minimise, but stop once the minimum is known to exceed the limit.

        Returns:
            `optimal`, or why there is no optimum: `above` the limit or out of reach.
        """
        self.set_option("simplex_strategy", 1)
        self.set_option("presolve", "off")
        self.set_option("objective_bound", limit)
        self._allow(max(seconds, 0.05))
        try:
            self._check(self._highs.run(), "to solve the model")
        except SolverError:
            # From a basis that was kept, the simplex method rarely loses its way.
            self._check(self._highs.clearSolver(), "a cold start")
            return "above"
        finally:
            self.set_option("objective_bound", np.inf)
        status = self._highs.getModelStatus()
        return "optimal" if status == highspy.HighsModelStatus.kOptimal else "above"

    def start(self, seconds: float, *, inside: bool = False) -> str:
        """Minimise from scratch, if wanted by an interior point method.

        Returns:
            `optimal`, `infeasible`, or `stopped`.
        """
        self._check(self._highs.clearSolver(), "a cold start")
        self.set_option("presolve", "on")
        self.set_option("solver", "ipm" if inside else "simplex")
        self.set_option("simplex_strategy", 1)
        self._allow(max(seconds, 0.1))
        try:
            self._check(self._highs.run(), "to solve the model")
        finally:
            self.set_option("solver", "simplex")
        status = self._highs.getModelStatus()
        kinds = highspy.HighsModelStatus
        if status == kinds.kOptimal:
            return "optimal"
        impossible = (kinds.kInfeasible, kinds.kUnboundedOrInfeasible)
        return "infeasible" if status in impossible else "stopped"

    def _allow(self, seconds: float) -> None:
        check_time()
        limit = float(self._highs.getRunTime()) + min(seconds, time_left())
        self.set_option("time_limit", limit)

    @property
    def columns(self) -> Floats:
        """The columns of the last solution."""
        return np.array(self._highs.getSolution().col_value)

    @property
    def duals(self) -> Floats:
        """The dual values of the rows in the last solution."""
        return np.array(self._highs.getSolution().row_dual)
