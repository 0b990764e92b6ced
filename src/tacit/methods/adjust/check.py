"""An adjusted table checked in plain numpy, apart from everything that produced it."""

from __future__ import annotations

import numpy as np

from tacit.problem import Booleans, Floats, Problem

TOLERANCE = 1e-9
"""Relations, bounds and limits hold to this share of the sizes involved."""


def faults(
    problem: Problem,
    values: Floats,
    *,
    kept: Booleans,
    most: Floats,
    integer: bool,
    tolerance: float = TOLERANCE,
) -> list[str]:
    """What is wrong with an adjusted table; empty if it may be published.

    Levels are held to this module's tolerance, whatever the table itself is allowed.

    Args:
        problem: The true table.
        values: The adjusted one.
        kept: Cells that must have their true value.
        most: The largest deviation allowed for each cell; inf where there is no limit.
        integer: Whether values must be whole numbers.
        tolerance: How exactly relations, bounds and limits must hold.
    """
    a, x = problem.value, values
    found = []
    size = np.maximum(np.abs(x), np.abs(a))
    terms = np.asarray(abs(problem.relations) @ np.maximum(np.abs(x), np.abs(a)))
    terms = terms + np.abs(problem.rhs)
    # The true table may itself miss its relations by a hair.
    own = problem.residual()
    missed = np.maximum(tolerance * terms, 1.001 * np.abs(own))
    is_broken = np.abs(problem.residual(x)) > missed
    if integer:
        # Sums of whole numbers hold or do not, however large they are.
        is_broken |= np.abs(problem.residual(x) - own) > 0.25
    broken = np.flatnonzero(is_broken)
    if len(broken):
        found.append(f"relation {broken[0]} does not hold")

    def report(bad: Booleans, text: str) -> None:
        if bad.any():
            found.append(f"{text}: {problem.name_cells(np.flatnonzero(bad))}")

    slack = tolerance * size
    report((x < problem.lower - slack) | (x > problem.upper + slack), "outside its bounds")
    report(kept & (x != a), "changed, though it must keep its value")
    report(np.abs(x - a) > most + slack, "changed by more than its limit")
    if integer:
        report(x != np.rint(x), "not a whole number")
    s = problem.sensitive
    moved = x[s] - a[s]
    # A difference of two numbers is known no better than their last digits.
    blur = 4 * np.finfo(float).eps * size[s]
    up = np.maximum(problem.upper_level, problem.sliding_level)
    down = np.maximum(problem.lower_level, problem.sliding_level)
    # A side without a level is no way out, unless there is none on either side.
    reached_above = (up > 0) & (moved >= up * (1 - TOLERANCE) - blur)
    reached_below = (down > 0) & (-moved >= down * (1 - TOLERANCE) - blur)
    near = np.zeros(problem.cell_count, bool)
    near[s] = ((up > 0) | (down > 0)) & ~reached_above & ~reached_below
    report(near, "too close to its true value")
    return found
