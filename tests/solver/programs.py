"""Small mixed-integer programs with known optima."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from tacit.problem import Floats
from tacit.solver.highs_mip import HighsMip
from tacit.solver.mip import MipSolution


class Cover:
    """A random covering problem: some columns integer, some not."""

    def __init__(self, seed: int, rows: int = 8, columns: int = 14, density: float = 0.3):
        rng = np.random.default_rng(seed)
        self.A = (rng.random((rows, columns)) < density) * rng.integers(1, 9, (rows, columns))
        self.right = self.A.sum(axis=1) * 0.45
        self.cost = rng.integers(1, 30, columns).astype(float)
        self.integer = rng.random(columns) < 0.8

    def model(self, **options: Any) -> HighsMip:
        """The problem for the solver under test."""
        rows, columns = self.A.shape
        return HighsMip(
            sparse.csr_array(self.A.astype(float)),
            row_lower=self.right,
            row_upper=np.full(rows, np.inf),
            lower=np.zeros(columns),
            upper=np.ones(columns),
            cost=self.cost,
            integer=self.integer,
            **options,
        )

    def optimum(self, *more: LinearConstraint) -> float:
        """What scipy finds."""
        answer = milp(
            self.cost,
            integrality=self.integer.astype(int),
            bounds=Bounds(0, 1),
            constraints=[LinearConstraint(self.A, self.right, np.inf), *more],
            options={"mip_rel_gap": 0.0},
        )
        assert answer.status == 0
        return float(answer.fun)


def values(solution: MipSolution) -> Floats:
    """The vector of an answer that must have one."""
    assert solution.x is not None
    return solution.x
