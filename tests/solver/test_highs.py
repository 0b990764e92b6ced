"""Persistent linear programs: changes of costs, bounds and rows against fresh solves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from tacit.arrays import Floats, Integers
from tacit.errors import SolverError
from tacit.solver.highs import HighsModel, LinearSolution, Strategy, optimum

minimise: Any = linprog
"""Its stubs know no bounds as an array."""


@pytest.mark.parametrize("seed", range(6))
def test_changes_lead_to_what_a_fresh_solve_finds(seed: int) -> None:
    """After any change of costs, bounds and rows the minimum and its proof are right."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 4, (5, 9)).astype(float)
    # Zero is always feasible.
    right, lower, upper = rng.uniform(0, 6, 5), -rng.uniform(0, 3, 9), rng.uniform(0, 5, 9)
    cost = rng.normal(size=9)
    model = HighsModel(
        sparse.csr_array(A),
        row_lower=np.full(5, -np.inf),
        row_upper=right,
        lower=lower,
        upper=upper,
        cost=cost,
    )
    for step in range(6):
        match step % 3:
            case 0:
                columns = rng.choice(9, 4, replace=False)
                cost[columns] = rng.normal(size=4)
                model.set_cost(columns, cost[columns])
            case 1:
                columns = rng.choice(9, 4, replace=False)
                upper[columns] = rng.uniform(0, 5, 4)
                model.set_bounds(columns, lower[columns], upper[columns])
            case _:
                row = rng.integers(-3, 4, (1, 9)).astype(float)
                model.add_rows(sparse.csr_array(row), np.full(1, -np.inf), np.ones(1))
                model.delete_rows(np.array([0]))
                A, right = np.vstack([A[1:], row]), np.append(right[1:], 1.0)
        found = model.solve(strategy="dual" if step % 2 else "primal", cold=step == 4)
        if found.status != "optimal":
            # Primal simplex now and then gives up, warm or cold; then the dual one must help.
            found = model.solve(cold=True, strategy="dual")
        bounds = np.column_stack([lower, upper])
        expected = minimise(cost, A_ub=A, b_ub=right, bounds=bounds)
        assert found.status == "optimal"
        assert model.row_count == 5
        assert found.objective == pytest.approx(expected.fun, abs=1e-7)
        assert cost @ found.x == pytest.approx(found.objective, abs=1e-7)
        reduced = cost - A.T @ found.row_dual
        proven = found.row_dual @ right + np.minimum(reduced * lower, reduced * upper).sum()
        assert proven == pytest.approx(found.objective, abs=1e-6)
        assert np.allclose(found.column_dual, reduced, atol=1e-6)


def test_status_is_told() -> None:
    """Programs without end and without solution are told apart from solved ones."""
    model = HighsModel(
        sparse.csr_array([[1.0, 1.0]]),
        row_lower=np.array([1.0]),
        row_upper=np.full(1, np.inf),
        lower=np.zeros(2),
        upper=np.full(2, np.inf),
        cost=np.array([-1.0, 0.0]),
    )
    assert model.solve().status == "unbounded"
    both = np.arange(2)
    model.set_bounds(both, np.zeros(2), np.full(2, 0.25))
    assert model.solve(cold=True).status == "infeasible"
    model.set_bounds(both, np.zeros(2), np.ones(2))
    assert model.solve(cold=True).objective == pytest.approx(-1.0)


def test_refusals_are_errors() -> None:
    """What HiGHS refuses is never passed over in silence."""
    nothing = np.zeros(0)
    model = HighsModel(
        sparse.csr_array((0, 0)), row_lower=nothing, row_upper=nothing, lower=nothing, upper=nothing
    )
    with pytest.raises(SolverError, match="option"):
        model.set_option("no_such_option", 1)


class _Stubborn:
    """A solver that gives one answer after the other, and notes how it was asked."""

    def __init__(self, *answers: str):
        self.answers = [*answers]
        self.asked: list[bool] = []

    def set_cost(self, columns: Integers, cost: Floats) -> None:
        """Not used."""

    def set_bounds(self, columns: Integers, lower: Floats, upper: Floats) -> None:
        """Not used."""

    def solve(self, *, cold: bool = False, strategy: Strategy = "primal") -> LinearSolution:
        """The next answer."""
        del strategy
        self.asked.append(cold)
        status = self.answers.pop(0)
        if status == "broken":
            raise SolverError("broken")
        return LinearSolution(status, np.zeros(0), np.zeros(0), 0.0)


@pytest.mark.parametrize(
    ("answers", "found", "asked"),
    [
        (["optimal"], True, [False]),
        (["broken", "optimal"], True, [False, True]),
        (["iteration limit", "optimal"], True, [False, True]),
        (["unbounded"], False, [False]),
        (["broken", "broken"], False, [False, True]),
    ],
)
def test_an_optimum_is_asked_for_again_from_a_cold_start(
    answers: list[str], found: bool, asked: list[bool]
) -> None:
    """Whatever is neither an optimum nor unbounded is tried once more without the last basis."""
    model = _Stubborn(*answers)
    assert (optimum(model) is not None) == found
    assert model.asked == asked
