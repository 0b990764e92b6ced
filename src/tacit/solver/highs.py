"""A persistent linear program on HiGHS.

The model is built once; afterwards costs and bounds change as arrays, rows come and go, and
every solve starts from the last basis. Options are those that measured best for long chains of
similar programs: one thread, no presolve.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import highspy
import numpy as np
from scipy import sparse

from tacit.clock import TimeUpError, check_time, time_left
from tacit.errors import SolverError
from tacit.problem import Floats, Integers
from tacit.tolerances import SOLVER_EXACT

Strategy = Literal["primal", "dual", "interior-point"]
_STRATEGY = {"dual": 1, "primal": 4}


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """A solver's answer. It is a claim: whoever uses it checks it.

    Attributes:
        status: `optimal`, `infeasible`, `unbounded`, or what else the solver said.
        x: Value of each column.
        row_dual: Multiplier of each row.
        column_dual: Reduced cost of each column.
        objective: The minimum.
    """

    status: str
    x: Floats
    row_dual: Floats
    objective: float
    column_dual: Floats = field(default_factory=lambda: np.zeros(0))


class LinearSolver(Protocol):
    """What a linear programming engine has to offer to the attacker."""

    def set_cost(self, columns: Integers, cost: Floats) -> None:
        """Change the cost of some columns."""

    def set_bounds(self, columns: Integers, lower: Floats, upper: Floats) -> None:
        """Change the bounds of some columns."""

    def solve(self, *, cold: bool = False, strategy: Strategy = "primal") -> LinearSolution:
        """Minimise; `cold` forgets the basis first."""


def optimum(
    model: LinearSolver, *, cold: bool = False, strategy: Strategy = "primal"
) -> LinearSolution | None:
    """The optimum, tried again from a cold start; None if there is none or the solver fails."""
    for from_cold in (cold, True):
        try:
            solution = model.solve(cold=from_cold, strategy=strategy)
        except SolverError:
            continue
        if solution.status == "optimal":
            return solution
        if solution.status == "unbounded":
            return None
    return None


class HighsModel:
    """min cost x subject to row_lower <= A x <= row_upper, lower <= x <= upper.

    One object serves one thread. `solve` releases the interpreter lock.
    """

    def __init__(
        self,
        A: sparse.csr_array[Any, Any],
        *,
        row_lower: Floats,
        row_upper: Floats,
        lower: Floats,
        upper: Floats,
        cost: Floats | None = None,
        tolerance: float = SOLVER_EXACT,
    ):
        self._time_limit = np.inf
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]  # highspy has no types
        settings: dict[str, Any] = {
            "output_flag": False,
            "threads": 1,
            "parallel": "off",
            "presolve": "off",
            "solver": "simplex",
            "primal_feasibility_tolerance": tolerance,
            "dual_feasibility_tolerance": tolerance,
            # The primal simplex method has been seen to cycle: give up, and try the other way.
            "simplex_iteration_limit": 20_000 + 10 * sum(A.shape),
        }
        for name, setting in settings.items():
            self.set_option(name, setting)
        rows, columns = A.shape
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = columns, rows
        lp.col_cost_ = np.zeros(columns) if cost is None else cost
        lp.col_lower_, lp.col_upper_ = lower, upper
        lp.row_lower_, lp.row_upper_ = row_lower, row_upper
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = A.indptr.astype(np.int32)
        lp.a_matrix_.index_ = A.indices.astype(np.int32)
        lp.a_matrix_.value_ = A.data
        self._check(self._highs.passModel(lp), "passing the model")

    @staticmethod
    def _check(status: Any, what: str) -> None:
        if status == highspy.HighsStatus.kError:
            raise SolverError(f"HiGHS refused {what}")

    def set_option(self, name: str, setting: Any) -> None:
        """Set one of HiGHS' own options."""
        if name == "time_limit":
            self._time_limit = float(setting)
        self._check(self._highs.setOptionValue(name, setting), f"option {name}")

    def _limit_time(self) -> None:
        """Give the next run no more time than the clocks around the caller have left.

        Raises:
            TimeUpError: Nothing is left.
        """
        check_time()
        # HiGHS counts all seconds since the first run.
        last = float(self._highs.getRunTime()) + time_left()
        limit = min(self._time_limit, last)
        self._check(self._highs.setOptionValue("time_limit", limit), "option time_limit")

    def set_cost(self, columns: Integers, cost: Floats) -> None:
        """Change the cost of some columns."""
        self._check(
            self._highs.changeColsCost(len(columns), columns.astype(np.int32), cost), "new costs"
        )

    def set_bounds(self, columns: Integers, lower: Floats, upper: Floats) -> None:
        """Change the bounds of some columns."""
        self._check(
            self._highs.changeColsBounds(
                len(columns), columns.astype(np.int32), lower.astype(float), upper.astype(float)
            ),
            "new bounds",
        )

    def add_rows(self, A: sparse.csr_array[Any, Any], lower: Floats, upper: Floats) -> None:
        """Append rows."""
        if A.shape[0] == 0:
            return
        self._check(
            self._highs.addRows(
                A.shape[0],
                lower.astype(float),
                upper.astype(float),
                A.nnz,
                A.indptr[:-1].astype(np.int32),
                A.indices.astype(np.int32),
                A.data,
            ),
            "new rows",
        )

    def delete_rows(self, rows: Integers) -> None:
        """Take rows out; the later ones move up."""
        if len(rows):
            self._check(self._highs.deleteRows(len(rows), rows.astype(np.int32)), "fewer rows")

    @property
    def row_count(self) -> int:
        """Number of rows at present."""
        return int(self._highs.getNumRow())

    def solve(self, *, cold: bool = False, strategy: Strategy = "primal") -> LinearSolution:
        """Minimise; `cold` forgets the basis first.

        Raises:
            SolverError: The solver broke down; asking again cold may help.
            TimeUpError: The clocks around the caller ran out; see `tacit.clock`.
        """
        name = self._run(cold, strategy)
        if name not in ("optimal", "infeasible", "unbounded"):
            # The methods rarely give up, and hardly ever two of them.
            name = self._run(True, "dual" if strategy == "primal" else "primal")
        solution = self._highs.getSolution()
        return LinearSolution(
            name,
            np.array(solution.col_value),
            np.array(solution.row_dual),
            float(self._highs.getInfo().objective_function_value),
            np.array(solution.col_dual),
        )

    def ray(self) -> Floats | None:
        """The direction in which the last solve was unbounded, if it was."""
        _, exists, direction = self._highs.getPrimalRay()
        return np.array(direction) if exists else None

    def _run(self, cold: bool, strategy: Strategy) -> str:
        if cold:
            self._check(self._highs.clearSolver(), "a cold start")
        is_inside = strategy == "interior-point"
        if not is_inside:
            self.set_option("simplex_strategy", _STRATEGY[strategy])
        self._limit_time()
        if is_inside:
            self.set_option("solver", "ipm")
        try:
            self._check(self._highs.run(), "to solve the model")
        finally:
            if is_inside:
                self.set_option("solver", "simplex")
        status = self._highs.getModelStatus()
        if status == highspy.HighsModelStatus.kTimeLimit and time_left() <= 0:
            raise TimeUpError
        return str(_STATUS.get(status, self._highs.modelStatusToString(status)))


_STATUS = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kInfeasible: "infeasible",
    highspy.HighsModelStatus.kUnbounded: "unbounded",
    highspy.HighsModelStatus.kUnboundedOrInfeasible: "unbounded",
    highspy.HighsModelStatus.kTimeLimit: "time limit",
    highspy.HighsModelStatus.kIterationLimit: "iteration limit",
}
