"""An attacker for tests: one linear program a question."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from tacit.problem import Problem


def deduced_interval(problem: Problem, cell: int) -> tuple[float, float]:
    """The smallest and largest value of a cell when all cells but empty ones are suppressed."""
    bounds = list(zip(problem.lower.tolist(), problem.upper.tolist(), strict=True))
    objective = np.zeros(problem.cell_count)
    ends = []
    for sign in (1.0, -1.0):
        objective[cell] = sign
        attack = linprog(
            objective, A_eq=problem.relations.toarray(), b_eq=problem.rhs, bounds=bounds
        )
        assert attack.fun is not None
        ends.append(sign * attack.fun)
    return ends[0], ends[1]


def assert_safe_suppression_exists(problem: Problem, checked: int = 100) -> None:
    """Suppressing all but empty cells protects the first sensitive cells."""
    slack = 1e-7 * problem.value.max()
    for place, cell in enumerate(problem.sensitive[:checked].tolist()):
        smallest, largest = deduced_interval(problem, cell)
        assert smallest <= problem.value[cell] - problem.lower_level[place] + slack
        assert largest >= problem.value[cell] + problem.upper_level[place] - slack
