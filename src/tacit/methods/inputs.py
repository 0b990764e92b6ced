"""What methods do with what they are given: weights, choices of cells, tables that are wrong."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError, ProblemError
from tacit.problem import Booleans, Floats, Problem, refuse

WeightKind: TypeAlias = Literal["given", "unit", "value"]


def expect_problem(given: object) -> None:
    """Refuse anything but a `Problem`, and say what to do with a table.

    Args:
        given: What a method was asked to protect.
    """
    if isinstance(given, Problem):
        return
    from tacit.table import Table

    if isinstance(given, Table):
        raise InputError(
            "methods work on problems, not on tables: give table.problem(), or use "
            "tacit.protect(table, ...)"
        )
    raise InputError(f"methods work on a tacit.Problem, not on {type(given).__name__}")


def chosen_weights(problem: Problem, weights: WeightKind | npt.ArrayLike) -> Floats:
    """The weight of every cell.

    Args:
        problem: The table.
        weights: As `given` by the problem, `unit`, the cell's `value` (its size, and 1 where
            that is 0), or an array.

    >>> chosen_weights(Problem(value=[20, -3, 0]), "value").tolist()
    [20.0, 3.0, 1.0]
    """
    if not isinstance(weights, str):
        return problem.replace(weight=weights).weight
    if weights == "unit":
        return np.ones(problem.cell_count)
    if weights == "value":
        return np.where(problem.value == 0, 1.0, np.abs(problem.value))
    if weights == "given":
        return problem.weight
    known = ", ".join(repr(kind) for kind in get_args(WeightKind))
    raise InputError(f"weights must be {known} or an array; not {weights!r}")


def refuse_negative_weights(problem: Problem, weight: Floats) -> None:
    """Refuse weights below zero: nobody is paid for losing information.

    Raises:
        ProblemError: A weight is negative.
    """
    negative = np.flatnonzero(weight < 0)
    if len(negative):
        raise ProblemError(
            f"the weight is negative: {problem.name_cells(negative)}", cells=negative
        )


def cell_mask(problem: Problem, cells: npt.ArrayLike, name: str) -> Booleans:
    """Cells given as numbers or as a mask, as a mask.

    Args:
        problem: The table.
        cells: Cell numbers, or one entry per cell.
        name: What to call them in errors.
    """
    given: npt.NDArray[Any] = np.asarray(cells)
    n = problem.cell_count
    if given.dtype == bool:
        if given.shape != (n,):
            raise InputError(f"{name} as a mask needs {n} entries, one per cell")
        return given.copy()
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise InputError(f"{name} must be cell numbers or a mask")
    outside = given[(given < 0) | (given >= n)]
    if len(outside):
        raise InputError(f"{name}: there is no cell {outside[0]}; cells are 0 to {n - 1}")
    chosen = np.zeros(n, bool)
    chosen[given.astype(np.int64)] = True
    return chosen


def refuse_contradictions(problem: Problem, tolerance: float) -> None:
    """Refuse a table that contradicts itself.

    Args:
        problem: The table.
        tolerance: How exactly the relations must hold (see `Problem.validate`).

    Raises:
        ProblemError: The table contradicts itself.
    """
    found = problem.violations(tolerance)
    refuse([violation for violation in found if violation.condition != "levels"])


def unattainable_levels(problem: Problem, tolerance: float) -> list[str]:
    """One message for each kind of level that no publication can attain.

    Args:
        problem: The table.
        tolerance: Levels may reach beyond bounds by this share (see `Problem.violations`).
    """
    found = problem.violations(tolerance)
    return [violation.message for violation in found if violation.condition == "levels"]
