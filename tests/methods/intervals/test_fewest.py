"""The fewest intervals at the same cost."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import examples
from tacit.generators import generate_1h2d
from tacit.methods.combined.run import combined
from tacit.methods.intervals.run import intervals
from tacit.outcome import Status
from tests.methods.intervals.tables import ALGORITHMS, assert_sound, published


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("weights", ["unit", "value"])
def test_figure_3_7_needs_four_intervals(algorithm: str, weights: str) -> None:
    """Cells that share a cost by halves are not all opened [KarlssonOlsson2015, Figure 3.7]."""
    problem = examples.get("002-figure-3.7").problem
    outcome = intervals(problem, algorithm=algorithm, weights=weights)  # type: ignore[arg-type]
    found = published(outcome)
    assert int((found.upper > found.lower).sum()) == 4
    assert outcome.status is Status.OPTIMAL
    if weights == "unit":
        assert outcome.report.objective == pytest.approx(136.0)


def test_nothing_is_opened_by_next_to_nothing() -> None:
    """Points between others have almost every cell open; what is published has few."""
    problem = generate_1h2d("table6", weight="value")
    outcome = intervals(problem, gap=1e-3)
    assert_sound(outcome, problem)
    found = published(outcome)
    width = found.upper - found.lower
    opened = width > 0
    assert outcome.status is Status.OPTIMAL
    # 746 and 120 without that step.
    assert opened.sum() < 600
    assert not (opened & (width < 1e-4 * np.abs(problem.value))).any()


def test_it_costs_no_more() -> None:
    """Fewer intervals are within the gap that was asked for, as all were."""
    problem = generate_1h2d("table6", weight="value")
    outcome = intervals(problem, gap=1e-4)
    assert outcome.report.gap is not None
    assert outcome.report.gap <= 1e-4
    objectives = [point.objective for point in outcome.report.trace if point.objective is not None]
    assert objectives == sorted(objectives, reverse=True)
    assert outcome.report.objective == pytest.approx(objectives[-1], rel=1e-6)


def test_combined_closes_what_is_paid_for_by_width_only() -> None:
    """Where suppressing costs nothing, combined suppression has as few intervals."""
    problem = generate_1h2d("table6", weight="value")
    nothing = np.zeros(problem.cell_count)
    outcome = combined(problem, weights=nothing, gap=1e-3)
    found = published(outcome)
    assert outcome.status is Status.OPTIMAL
    assert (found.upper > found.lower).sum() < 600
    assert outcome.audit is not None
    assert outcome.audit.safe


def test_the_same_seed_closes_the_same_cells() -> None:
    """Prices are drawn at random, but not twice."""
    problem = examples.get("002-figure-3.7").problem
    one, two = (published(intervals(problem, seed=5)) for _ in range(2))
    assert np.array_equal(one.lower, two.lower)
    assert np.array_equal(one.upper, two.upper)
