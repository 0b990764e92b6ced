"""What a suppressed cell costs: the choice behind `--weights`."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from tacit.errors import InputError
from tacit.methods.inputs import chosen_weights
from tacit.problem import Problem

Weights: TypeAlias = Literal["file", "unit", "value"]


def with_weights(problem: Problem, kind: object) -> Problem:
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
    if kind == "unit" or kind == "value":
        return problem.replace(weight=chosen_weights(problem, kind))
    raise InputError(f"unknown weights {kind!r}; known are {', '.join(get_args(Weights))}")
