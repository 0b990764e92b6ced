"""Which information loss a cell stands for: the choice behind `--weights`."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from tacit.errors import InputError
from tacit.problem import Problem

Weights: TypeAlias = Literal["file", "unit", "value"]


def with_weights(problem: Problem, kind: Weights) -> Problem:
    """The problem with another choice of weights.

    Args:
        problem: Any problem.
        kind: `file` keeps the weights as they are, `unit` makes them all 1, `value` takes the
            magnitude of each cell's value, and 1 where the value is 0.

    >>> with_weights(Problem(value=[20, -3, 0]), "value").weight.tolist()
    [20.0, 3.0, 1.0]
    """
    if kind == "file":
        return problem
    if kind == "unit":
        return problem.replace(weight=np.ones(problem.cell_count))
    if kind == "value":
        size = np.abs(problem.value)
        return problem.replace(weight=np.where(size == 0, 1.0, size))
    raise InputError(f"unknown weights {kind!r}; known are {', '.join(get_args(Weights))}")
