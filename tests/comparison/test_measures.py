"""What readers are left with, against a slow and obvious computation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import tacit
from tacit.comparison import measure
from tacit.observer import Observer
from tacit.outcome import Intervals, Outcome, Solution, Status, Suppression, Values
from tacit.problem import Floats, Problem


def _outcome(solution: Solution) -> Outcome:
    return Outcome(status=Status.FEASIBLE, solution=solution)


def _square(inner: list[int]) -> Problem:
    """Two by two cells with their totals; the first is sensitive."""
    a, b, c, d = inner
    return Problem(
        value=[a, b, a + b, c, d, c + d, a + c, b + d, a + b + c + d],
        upper=100,
        relations=[
            [1, 1, -1, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, 1, 1, -1, 0, 0, 0],
            [0, 0, 0, 0, 0, 0, 1, 1, -1],
            [1, 0, 0, 1, 0, 0, -1, 0, 0],
            [0, 1, 0, 0, 1, 0, 0, -1, 0],
            [0, 0, 1, 0, 0, 1, 0, 0, -1],
        ],
        sensitive=[0],
        lower_level=[1],
        upper_level=[1],
    )


def _interval(problem: Problem, lower: Floats, upper: Floats, cell: int) -> tuple[float, float]:
    """Smallest and largest value of a cell, from scratch."""
    goal = np.zeros(problem.cell_count)
    goal[cell] = 1.0
    bounds = list(zip(lower, upper, strict=True))
    A, b = problem.relations.toarray(), problem.rhs
    low, high = (
        float(sign * (linprog(sign * goal, A_eq=A, b_eq=b, bounds=bounds).fun or 0.0))
        for sign in (1, -1)
    )
    return low, high


def _slowly(problem: Problem, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Width and error of the guess of each cell, as shares."""
    widths, errors = [], []
    for cell, value in enumerate(problem.value.tolist()):
        low, high = _interval(problem, lower, upper, cell)
        size = abs(value)
        width, error = high - low, abs((high + low) / 2 - value)
        widths.append(0.0 if width < 1e-6 else min(2.0, width / size) if size else 2.0)
        errors.append(0.0 if error < 1e-6 else min(1.0, error / size) if size else 1.0)
    return np.array(widths), np.array(errors)


@settings(max_examples=25)
@given(st.lists(st.integers(0, 20), min_size=4, max_size=4), st.sets(st.integers(0, 8)))
def test_suppressed_cells_are_as_wide_as_can_be_deduced(inner: list[int], hidden: set[int]) -> None:
    """Loss, width and guesses are those of the intervals that linear programs find."""
    problem = _square(inner)
    mask = np.isin(np.arange(9), [0, *hidden])
    found = measure(problem, _outcome(Suppression(mask)))
    lower = np.where(mask, problem.lower, problem.value)
    upper = np.where(mask, problem.upper, problem.value)
    width, error = _slowly(problem, lower, upper)
    assert found.loss == pytest.approx(width.mean() / 2, abs=1e-6)
    assert found.width == pytest.approx(width[mask].mean(), abs=1e-6)
    assert found.deviation == pytest.approx(error.mean(), abs=1e-6)
    assert found.max_deviation == pytest.approx(error.max(), abs=1e-6)
    assert found.sensitive_width == found.min_sensitive_width
    assert found.sensitive_width == pytest.approx(width[0], abs=1e-6)
    assert found.exact == pytest.approx(1 - mask.mean())
    assert (found.suppressed, found.intervals, found.changed) == (mask.sum(), 0, 0)
    assert found.measured == found.to_measure == mask.sum()


@settings(max_examples=25)
@given(
    st.lists(st.integers(1, 20), min_size=4, max_size=4),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=9, max_size=9),
)
def test_intervals_are_as_wide_as_all_of_them_together_allow(
    inner: list[int], ends: list[tuple[int, int]]
) -> None:
    """What counts is not the published interval but what can be deduced from all of them."""
    problem = _square(inner)
    down, up = np.array(ends, float).T
    lower, upper = np.maximum(problem.value - down, 0), problem.value + up
    found = measure(problem, _outcome(Intervals(lower, upper)))
    width, error = _slowly(problem, lower, upper)
    assert found.loss == pytest.approx(width.mean() / 2, abs=1e-6)
    assert found.deviation == pytest.approx(error.mean(), abs=1e-6)
    assert found.intervals == (lower < upper).sum()


@settings(max_examples=25)
@given(
    st.lists(st.integers(0, 20), min_size=4, max_size=4),
    st.lists(st.integers(0, 20), min_size=4, max_size=4),
)
def test_changed_values_are_off_by_what_they_are_off_by(inner: list[int], other: list[int]) -> None:
    """If readers are not told the radius, a changed value hides as much as it was changed by."""
    problem, published = _square(inner), _square(other)
    found = measure(problem, _outcome(Values(published.value)))
    away = np.abs(published.value - problem.value)
    share = [
        min(1.0, off / size) if size else float(off > 0)
        for off, size in zip(away.tolist(), problem.value.tolist(), strict=True)
    ]
    assert found.loss == found.deviation == pytest.approx(np.mean(share))
    assert found.max_deviation == max(share)
    assert found.sensitive_width == pytest.approx(2 * share[0])
    assert found.changed == np.count_nonzero(away)
    assert found.exposed == (away[0] < 1)


def test_rounded_values_hide_what_the_base_hides() -> None:
    """Of a value that happens to be right a reader is as unsure as of any other."""
    problem = _square([10, 13, 7, 20])
    rounded = np.array([10, 15, 25, 5, 20, 25, 15, 35, 50.0])
    found = measure(problem, _outcome(Values(rounded, np.full(9, 5.0))))
    width, _ = _slowly(problem, np.maximum(rounded - 5, 0), rounded + 5)
    assert found.loss == pytest.approx(width.mean() / 2, abs=1e-6)
    assert found.to_measure == 9
    assert found.exact == pytest.approx(np.mean(rounded == problem.value))
    assert found.deviation == pytest.approx(np.mean(np.abs(rounded / problem.value - 1)))


def test_a_sample_stands_for_all() -> None:
    """Of many hidden cells some are measured, the sensitive ones all; the same seed, the same."""
    problem = tacit.generators.generate_2d(12, 12, seed=3).problem()
    hidden = np.ones(problem.cell_count, bool)
    hidden[-1] = False
    outcome = _outcome(Suppression(hidden))
    whole = measure(problem, outcome)
    part = measure(problem, outcome, sample=40, seed=2)
    assert whole.measured == whole.to_measure == part.to_measure
    assert part.measured == 40 + len(problem.sensitive)
    assert part.sensitive_width == whole.sensitive_width
    assert whole.loss is not None
    assert part.loss == pytest.approx(whole.loss, rel=0.2)
    assert part == measure(problem, outcome, sample=40, seed=2)


def test_cells_without_end_are_lost() -> None:
    """A cell that can be as large as it likes is as good as lost, and so is a guess at it."""
    problem = Problem(value=[5, 6], sensitive=[0], upper_level=[1])
    found = measure(problem, _outcome(Suppression(np.array([True, False]))))
    assert (found.loss, found.width, found.deviation) == (0.5, 2.0, 0.5)


def test_a_zero_that_is_rounded_to_zero_is_not_known() -> None:
    """A reader of 0 who knows the base is as unsure of it as of any other cell, unless told."""
    problem = Problem(value=[0, 20])
    found = measure(problem, _outcome(Values(problem.value, np.array([5.0, 5.0]))))
    assert found.deviation == 0.0
    assert found.loss == pytest.approx((2 + 10 / 20) / 4)
    sure = measure(problem, _outcome(Values(problem.value, np.array([0.0, 5.0]))))
    assert sure.loss == pytest.approx((0 + 10 / 20) / 4)


def test_nothing_measured_is_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the time does not suffice there are no figures, and nothing is called safe for it."""
    monkeypatch.setattr("tacit.attack.sweep.FLOW_CHUNK", 1)

    class Impatient(Observer):
        def should_stop(self) -> bool:
            return True

    monkeypatch.setattr("tacit.comparison.measures._AFTER_STOP", -1.0)
    problem = _square([10, 13, 7, 20])
    mask = np.isin(np.arange(9), [0, 1, 3, 4])
    found = measure(problem, _outcome(Suppression(mask)), observer=Impatient())
    assert found.loss is None
    assert found.measured < found.to_measure == 4
    assert found.exposed == 1.0


def test_an_empty_table_has_nothing_to_lose() -> None:
    """No cell, no figure, no fault."""
    found = measure(Problem(value=[]), _outcome(Suppression(np.zeros(0, bool))))
    assert (found.exact, found.loss, found.exposed, found.to_measure) == (1.0, None, 0.0, 0)
