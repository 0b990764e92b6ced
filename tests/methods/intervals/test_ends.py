"""Which ends are published: round numbers that follow from what is published alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.attack.audit import audit
from tacit.errors import InputError
from tacit.generators import generate_1h2d
from tacit.methods.combined.run import combined
from tacit.methods.intervals.ends import MOST_STEPS, outward
from tacit.methods.intervals.run import intervals
from tacit.outcome import Intervals, Status
from tacit.problem import Problem
from tests.methods.intervals.tables import published

BASES = sorted(digit * 10.0**place for digit in (1, 2, 5) for place in range(-30, 30))
NONE = np.zeros(1, bool)
numbers = st.floats(-1e12, 1e12, allow_nan=False, allow_subnormal=False)


def moved(lower: float, upper: float, base: float | str = "auto") -> tuple[float, float]:
    """One interval, moved outwards."""
    found = outward(Intervals(np.array([lower]), np.array([upper])), base, NONE)
    return float(found.lower[0]), float(found.upper[0])


@given(numbers, st.floats(1e-9, 1e12))
def test_moving_twice_is_moving_once(lower: float, width: float) -> None:
    """The base of an interval follows from what is published of it."""
    once = moved(lower, lower + width)
    assert moved(*once) == once


@given(numbers, st.floats(1e-6, 1e12))
def test_ends_are_the_next_multiples_of_the_smallest_base(lower: float, width: float) -> None:
    """The base is the smallest of 1, 2, 5, 10, ... that leaves few steps, tried one by one."""
    upper = lower + width
    low, high = moved(lower, upper)
    slack = 1e-9 * width + 1e-15 * max(abs(lower), abs(upper))
    size = max(abs(lower), abs(upper))
    for base in BASES:
        first = math.floor((lower + slack) / base)
        last = math.ceil((upper - slack) / base)
        if last - first <= MOST_STEPS and size / base <= 1e13:
            break
    # What rounding may decide either way is not what is tested here.
    if first == math.floor((lower - slack) / base) and last == math.ceil((upper + slack) / base):
        assert low == pytest.approx(first * base, rel=1e-12, abs=1e-12 * base)
        assert high == pytest.approx(last * base, rel=1e-12, abs=1e-12 * base)


def test_ends_are_decimal_numbers() -> None:
    """Multiples of 0.1 are written as such, not as sums of powers of two."""
    assert moved(0.31, 0.88) == (0.3, 0.9)
    assert moved(-0.31, 0.29) == (-0.4, 0.3)


def test_tables_that_are_not_negative_stay_so() -> None:
    """Zero is a multiple of every base."""
    assert moved(0.0, 7.3) == (0.0, 8.0)
    assert moved(0.4, 3.3)[0] == 0.0


def test_infinite_ends_stay_infinite() -> None:
    """The other end of such an interval keeps one digit."""
    assert moved(-np.inf, np.inf) == (-np.inf, np.inf)
    assert moved(137.0, np.inf) == (100.0, np.inf)
    assert moved(-np.inf, 137.0) == (-np.inf, 200.0)
    assert moved(*moved(-np.inf, 137.0)) == (-np.inf, 200.0)


def test_points_stay_points_and_untold_cells_tell_nothing() -> None:
    """Published values are not touched; of withheld cells there are no ends."""
    found = outward(
        Intervals(np.array([7.3, 20.5]), np.array([7.3, 61.5])), "auto", np.array([False, True])
    )
    assert (found.lower[0], found.upper[0]) == (7.3, 7.3)
    assert (found.lower[1], found.upper[1]) == (-np.inf, np.inf)


def bounded(first: float = 41.0) -> Problem:
    """Two cells and their total, each known within 0.5 to 1.5 times its value."""
    value = np.array([first, 100.0 - first, 100.0])
    return Problem(
        value=value,
        lower=0.5 * value,
        upper=1.5 * value,
        relations=[[1, 1, -1]],
        sensitive=[0],
        lower_level=[15],
        upper_level=[15],
        must_publish=[False, False, True],
    )


@pytest.mark.parametrize("method", [intervals, combined])
@pytest.mark.parametrize("step", [20.0, 0.1, 7.0])
def test_no_end_stops_at_a_bound(method: object, step: float) -> None:
    """Bounds may be shares of the truth: an end at one of them would tell it."""
    outcome = method(bounded(), round_to=step)  # type: ignore[operator]
    found = published(outcome)
    ends = np.concatenate([found.lower[:2], found.upper[:2]]) / step
    assert np.abs(ends - np.rint(ends)).max() < 1e-9
    assert audit(bounded(), outcome).safe


@pytest.mark.parametrize("method", [intervals, combined])
def test_the_optimum_and_what_is_published(method: object) -> None:
    """Objective and bound speak of the optimum, however ends are published."""
    problem = generate_1h2d("table1")
    exact = method(problem, gap=1e-6)  # type: ignore[operator]
    rounded = method(problem, gap=1e-6, round_to="auto")  # type: ignore[operator]
    assert exact.status is rounded.status is Status.OPTIMAL
    assert rounded.report.objective == pytest.approx(exact.report.objective, rel=1e-6)
    assert exact.report.published_objective == exact.report.objective
    found = published(rounded)
    width = np.minimum(found.upper, problem.upper) - np.maximum(found.lower, problem.lower)
    cost = float(problem.weight @ width)
    if method is combined:
        cost += float(problem.weight[rounded.suppressed].sum())
    assert rounded.report.published_objective == pytest.approx(cost)
    assert cost > rounded.report.objective
    assert rounded.audit.safe


def test_what_is_audited_is_what_is_published() -> None:
    """The evidence of an outcome is about its round ends."""
    problem = generate_1h2d("table1")
    outcome = intervals(problem, round_to="auto")
    assert outcome.audit is not None
    outcome.audit.check()
    found = published(outcome)
    up = np.minimum(found.upper, problem.upper) - problem.value
    assert np.allclose(outcome.audit.knowledge.up, up, rtol=1e-9, atol=1e-9)


def test_levels_are_met_where_ends_are_multiples_but_for_rounding() -> None:
    """An interval that is round already is not widened by a step on each side."""
    problem = Problem(
        value=[10, 15, 25],
        relations=[[1, 1, -1]],
        sensitive=[0],
        lower_level=[5],
        upper_level=[5],
    )
    found = published(intervals(problem, round_to=5))
    assert (found.lower[0], found.upper[0]) == (5.0, 15.0)


@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan, math.inf, "none", "20"])
def test_wrong_bases_are_refused(wrong: object) -> None:
    """What `round_to` may be is said."""
    with pytest.raises(InputError, match=r"positive number, 'auto' or 'exact'"):
        intervals(bounded(), round_to=wrong)  # type: ignore[arg-type]


def test_a_base_below_the_digits_of_the_table_is_refused() -> None:
    """Where a step makes no difference to a value, ends would tell it."""
    with pytest.raises(InputError, match="round_to is too small"):
        intervals(bounded(), round_to=1e-14)
    assert intervals(bounded(), round_to="exact").report.objective is not None
