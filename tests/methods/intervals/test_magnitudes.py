"""Tables of all magnitudes: what is asked for is scaled, and so is what comes back."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.generators import generate_by_name
from tacit.methods.combined.run import combined
from tacit.methods.intervals.run import intervals
from tacit.outcome import Status
from tacit.problem import Problem
from tests.methods.intervals.tables import ALGORITHMS


def scaled(problem: Problem, factor: float, weight: float = 1.0) -> Problem:
    """The same table in other units."""
    return problem.replace(
        value=problem.value * factor,
        lower=problem.lower * factor,
        upper=problem.upper * factor,
        rhs=problem.rhs * factor,
        lower_level=problem.lower_level * factor,
        upper_level=problem.upper_level * factor,
        sliding_level=problem.sliding_level * factor,
        weight=problem.weight * weight,
    )


def sliding() -> Problem:
    """A row of cells with sliding levels only."""
    value = np.array([100.0, 40.0, 7.0, 7.0, 3.0, 2.0, 19.0, 11.0, 11.0])
    return Problem(
        value=value,
        lower=0.5 * value,
        upper=2 * value,
        relations=[[-1, *[1] * 8]],
        sensitive=[4, 8],
        lower_level=[0, 0],
        upper_level=[0, 0],
        sliding_level=[0.09, 0.17],
        weight=value,
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("factor", [2.0**-33, 2.0**37])
def test_sliding_levels_of_any_size(algorithm: str, factor: float) -> None:
    """Rows without a right-hand side keep their entries, however small the levels are."""
    plain = intervals(sliding(), algorithm=algorithm, gap=1e-7)  # type: ignore[arg-type]
    outcome = intervals(
        scaled(sliding(), factor, factor),
        algorithm=algorithm,  # type: ignore[arg-type]
        gap=1e-7,
    )
    assert outcome.status is Status.OPTIMAL
    assert plain.report.objective is not None
    assert outcome.report.objective == pytest.approx(
        plain.report.objective * factor**2, rel=1e-6, abs=0.0
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("factor", "weight"), [(2.0**-33, 1.0), (2.0**37, 2.0**-20)])
def test_combined_with_costs_far_apart(algorithm: str, factor: float, weight: float) -> None:
    """What a width costs may be nothing next to what a cell costs, or the other way round."""
    problem = scaled(generate_by_name("2d", "4-4-15", seed=2), factor, weight)
    outcome = combined(
        problem,
        algorithm=algorithm,  # type: ignore[arg-type]
        weights="unit",
        width_weights="value",
        time_limit=30,
    )
    assert outcome.status is Status.OPTIMAL
    assert outcome.audit is not None
    assert outcome.audit.safe


def test_optimal_is_not_said_of_tiny_costs_without_proof() -> None:
    """The gap is a share of the objective, also where that is next to nothing."""
    tiny = scaled(sliding(), 2.0**-33, 2.0**-33)
    outcome = intervals(tiny, time_limit=60, gap=1e-7)
    objective, bound = outcome.report.objective, outcome.report.bound
    assert objective is not None
    assert objective < 1e-14
    assert bound == pytest.approx(objective, rel=1e-6, abs=0.0)
