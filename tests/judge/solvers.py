"""Linear and mixed-integer programs, solved by scipy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize, sparse

Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]
Matrix = Any

TOLERANCE = 1e-10
"""The smallest that the solver accepts."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a program: low <= matrix x <= high."""

    matrix: Matrix
    low: Any
    high: Any


def linear(
    cost: Floats, equal: Matrix, low: Floats, high: Floats, *, less: Rows | None = None
) -> tuple[Floats, Floats] | None:
    """The cheapest x with `equal x = 0` and `less`, and the duals of `equal`; None if not found.

    Args:
        cost: What a unit of each column costs.
        equal: Rows that come to nothing.
        low: The lower bounds of the columns.
        high: The upper bounds of the columns.
        less: Further rows; only their upper ends count.
    """
    # The types of scipy's own signatures do not let sparse arrays through.
    solve: Any = optimize.linprog
    has_rows = equal.shape[0] > 0
    found = solve(
        scaled(cost),
        A_eq=sparse.csr_array(equal) if has_rows else None,
        b_eq=np.zeros(equal.shape[0]) if has_rows else None,
        A_ub=None if less is None else sparse.csr_array(less.matrix),
        b_ub=None if less is None else less.high,
        bounds=np.column_stack([low, high]),
        method="highs",
        options={
            "primal_feasibility_tolerance": TOLERANCE,
            "dual_feasibility_tolerance": TOLERANCE,
            "time_limit": 20.0,
        },
    )
    if found.status != 0:
        return None
    duals = np.asarray(found.eqlin.marginals, float) if has_rows else np.zeros(0)
    return np.asarray(found.x, float), duals


def integer_program(
    cost: Floats, rows: list[Rows], low: Floats, high: Floats, is_integer: Booleans, seconds: float
) -> Floats | None:
    """The cheapest x with integers where required, or a good one; None if none was found."""
    solve: Any = optimize.milp
    found = solve(
        scaled(cost),
        constraints=[
            optimize.LinearConstraint(sparse.csr_array(each.matrix), each.low, each.high)
            for each in rows
            if each.matrix.shape[0]
        ],
        bounds=optimize.Bounds(low, high),
        integrality=is_integer.astype(int),
        options={"time_limit": seconds, "mip_rel_gap": 1e-9},
    )
    return None if found.x is None else np.asarray(found.x, float)


def squares(weight: Floats, equal: Floats, low: Floats, high: Floats) -> Floats:
    """Small sum of weight * x² with `equal x = 0`, by sequential quadratic programming."""
    solve: Any = optimize.minimize
    constraint = {"type": "eq", "fun": lambda x: equal @ x, "jac": lambda _: equal}
    found = solve(
        lambda x: float(weight @ x**2),
        np.clip(np.zeros(len(weight)), low, high),
        jac=lambda x: 2 * weight * x,
        bounds=optimize.Bounds(low, high),
        constraints=constraint if len(equal) else (),
        method="SLSQP",
        options={"maxiter": 200, "ftol": 1e-12},
    )
    return np.asarray(found.x, float)


def scaled(cost: Floats) -> Floats:
    """Costs of which the largest is 1, so that absolute tolerances mean something."""
    return cost / (float(np.abs(cost).max(initial=0.0)) or 1.0)
