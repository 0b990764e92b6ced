"""Weights are chosen by name."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from tacit.errors import InputError
from tacit.io.weights import Weights, with_weights
from tacit.problem import Problem


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("file", [5, 6, 7, 8]), ("unit", [1, 1, 1, 1]), ("value", [20, 3, 1, 0.5])],
)
def test_weights_by_name(kind: Weights, expected: list[float]) -> None:
    """Value means magnitude, and 1 only where the value is 0."""
    problem = Problem(value=np.array([20, -3, 0, 0.5]), weight=np.array([5.0, 6, 7, 8]))
    np.testing.assert_array_equal(with_weights(problem, kind).weight, expected)


def test_unknown_weights_are_refused() -> None:
    """The message names the choices."""
    with pytest.raises(InputError, match="known are file, unit, value"):
        with_weights(Problem(value=np.ones(1)), cast(Weights, "cost"))
