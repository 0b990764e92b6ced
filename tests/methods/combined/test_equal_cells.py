"""Equal cells are merged before the search for few and narrow intervals, without any difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.attack.knowledge import Attacker
from tacit.methods.combined.run import combined
from tacit.outcome import Status
from tacit.problem import Problem
from tests.methods.combined.tables import assert_sound, obvious_optimum, price, published
from tests.methods.intervals.tables import chained, parent_with_one_child
from tests.methods.merging import without_merging
from tests.methods.suppress.tables import KINDS

GAP = 1e-9
SEEDS = st.integers(0, 10_000)


def assert_optimal(seed: int, problem: Problem, **choices: Any) -> None:
    """The outcome has the cost of the optimum over the cells as they were given."""
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.0, 1.0, 5.0, 20.0], problem.cell_count)
    width_weight = rng.choice([0.0, 0.5, 1.0, 2.0], problem.cell_count)
    expected = obvious_optimum(problem, weight=weight, width_weight=width_weight, **choices)
    outcome = combined(problem, weights=weight, width_weights=width_weight, gap=GAP, **choices)
    assert_sound(outcome, problem, choices.get("attackers", ()))
    if expected is None:
        assert outcome.status is Status.INFEASIBLE
        return
    assert outcome.report.objective == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert outcome.report.bound == pytest.approx(expected, rel=1e-6, abs=1e-6)
    paid = price(outcome, problem, weight, width_weight)
    assert outcome.report.objective == pytest.approx(paid, rel=1e-9, abs=1e-9)


@settings(max_examples=25)
@given(SEEDS, st.sampled_from(KINDS))
def test_the_optimum_is_that_of_the_whole(seed: int, kind: str) -> None:
    """A mixed-integer program over the cells as they were given finds the same."""
    assert_optimal(seed, chained(kind, seed))


@settings(max_examples=15)
@given(SEEDS, st.sampled_from(KINDS), st.booleans())
def test_least_widths_of_equal_cells(seed: int, kind: str, are_the_same: bool) -> None:
    """Equal cells may have least widths and bounds of their own."""
    problem = chained(kind, seed)
    widths = np.random.default_rng(seed).choice([0.0, 1.0, 3.0, 10.0], problem.cell_count)
    if are_the_same:
        widths[:] = widths[0]
    assert_optimal(seed, problem, min_width=widths)


@settings(max_examples=15)
@given(SEEDS, st.sampled_from(KINDS), st.integers(0, 6))
def test_the_number_of_cells_is_that_of_the_cells_given(seed: int, kind: str, more: int) -> None:
    """Each of several equal cells counts."""
    problem = chained(kind, seed)
    assert_optimal(seed, problem, max_suppressed=len(problem.sensitive) + more)


@settings(max_examples=15)
@given(SEEDS, st.sampled_from(KINDS))
def test_attackers_who_know_one_of_several_equal_cells(seed: int, kind: str) -> None:
    """What is known of a cell is known of its equals."""
    problem = chained(kind, seed)
    first, second = np.random.default_rng(seed).choice(problem.cell_count, 2, False).tolist()
    knows = Attacker("somebody", known=(first,), at_least={second: problem.value[second] - 1.0})
    assert_optimal(seed, problem, attackers=(Attacker.external(), knows))


@settings(max_examples=9)
@given(SEEDS, st.sampled_from(KINDS), st.sampled_from(["auto", "benders", "monolithic"]))
def test_with_and_without_merging(seed: int, kind: str, algorithm: str) -> None:
    """Whatever the algorithm, merging changes neither status nor cost nor messages."""
    problem = chained(kind, seed, 2)
    merged = combined(problem, algorithm=algorithm, gap=GAP)  # type: ignore[arg-type]
    plain = without_merging(combined, problem, algorithm=algorithm, gap=GAP)
    assert_sound(merged, problem)
    assert (merged.status, merged.message) == (plain.status, plain.message)
    if plain.report.objective is not None:
        assert merged.report.objective == pytest.approx(plain.report.objective, rel=1e-6, abs=1e-6)


def test_equal_cells_are_suppressed_together() -> None:
    """A parent and its only child are both paid for, and both named."""
    problem = parent_with_one_child()
    outcome = combined(problem, gap=GAP)
    found = published(outcome)
    assert outcome.suppressed.tolist() == [0, 1, 3]
    assert (found.lower[0], found.upper[0]) == (found.lower[3], found.upper[3]) == (6.0, 14.0)
    assert outcome.report.objective == pytest.approx((1 + 1 + 2) + 8 * (1 + 1 + 2))
    assert combined(problem, max_suppressed=2).status is Status.INFEASIBLE
    assert combined(problem, max_suppressed=3).report.objective == outcome.report.objective
