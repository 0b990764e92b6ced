"""Equal cells are merged before the search, and nobody sees that in what comes out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.attack.knowledge import Attacker
from tacit.errors import InputError
from tacit.methods.intervals.run import intervals
from tacit.outcome import Outcome, Status
from tacit.problem import Floats, Problem
from tacit.reductions.equal_cells import EqualCells
from tests.methods.intervals.tables import (
    assert_sound,
    chained,
    obvious_optimum,
    parent_with_one_child,
    published,
)
from tests.methods.merging import without_merging
from tests.methods.suppress.tables import KINDS

GAP = 1e-9
SEEDS = st.integers(0, 10_000)


def nothing_apart(problem: Problem) -> EqualCells:
    """The table with all cells merged that may be."""
    return EqualCells.of(problem, agreeing=[problem.value])


def assert_optimal(expected: float | None, outcome: Outcome) -> None:
    """The outcome costs what is expected, or says that there is none."""
    if expected is None:
        assert outcome.status is Status.INFEASIBLE
        return
    assert outcome.report.objective == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert outcome.report.bound == pytest.approx(expected, rel=1e-6, abs=1e-6)


def assert_left_out(outcome: Outcome, problem: Problem) -> None:
    """Of sensitive points and of what tells no more than the bounds nothing is published."""
    if outcome.solution is None:
        assert outcome.left_out == ()
        return
    found = published(outcome)
    points = found.lower >= found.upper
    near = 1e-12 * np.abs(problem.value).max()
    tells_nothing = (found.lower <= problem.lower + near) & (found.upper >= problem.upper - near)
    expected = (tells_nothing & ~points) | (problem.is_sensitive & points)
    assert outcome.left_out == tuple(np.flatnonzero(expected).tolist())


@settings(max_examples=40)
@given(SEEDS, st.sampled_from(KINDS))
def test_the_optimum_is_that_of_the_whole(seed: int, kind: str) -> None:
    """A linear program over the cells as they were given finds the same, and all is safe."""
    problem = chained(kind, seed)
    outcome = intervals(problem, gap=GAP)
    assert_sound(outcome, problem)
    assert_optimal(obvious_optimum(problem), outcome)


@settings(max_examples=20)
@given(SEEDS, st.sampled_from(KINDS), st.sampled_from(["auto", "benders", "monolithic"]))
# An interval ends at the bounds of its cell but for rounding.
@example(343, "2-D", "monolithic")
def test_with_and_without_merging(seed: int, kind: str, algorithm: str) -> None:
    """Whatever the algorithm, merging changes neither status nor cost nor messages."""
    problem = chained(kind, seed)
    merged = intervals(problem, algorithm=algorithm, gap=GAP)  # type: ignore[arg-type]
    plain = without_merging(intervals, problem, algorithm=algorithm, gap=GAP)
    assert_sound(merged, problem)
    assert (merged.status, merged.message) == (plain.status, plain.message)
    for outcome in (merged, plain):
        assert_left_out(outcome, problem)
    if plain.report.objective is not None:
        assert merged.report.objective == pytest.approx(plain.report.objective, rel=1e-6, abs=1e-6)


@settings(max_examples=40)
@given(SEEDS, st.sampled_from(KINDS))
def test_choices_of_cells_and_of_ends(seed: int, kind: str) -> None:
    """Cells that may not become intervals or are withheld, and ends with weights of their own."""
    problem = chained(kind, seed)
    rng = np.random.default_rng(seed)
    n = problem.cell_count
    allowed = rng.random(n) < 0.85
    withheld = (rng.random(n) < 0.15) & ~problem.must_publish
    weights: list[Floats] = list(rng.choice([0.0, 0.5, 1.0, 3.0], (2, n)))
    below, above = weights
    expected = obvious_optimum(
        problem, lower_weight=below, upper_weight=above, allowed=allowed, withheld=withheld
    )
    outcome = intervals(
        problem, weights=(below, above), allowed=allowed, withheld=withheld, gap=GAP
    )
    assert_sound(outcome, problem)
    assert_optimal(expected, outcome)


@settings(max_examples=40)
@given(SEEDS, st.sampled_from(KINDS))
def test_attackers_who_know_one_of_several_equal_cells(seed: int, kind: str) -> None:
    """What is known of a cell is known of its equals; an attacker's own cells stay apart."""
    problem = chained(kind, seed)
    rng = np.random.default_rng(seed)
    first, second, third = rng.choice(problem.cell_count, 3, replace=False).tolist()
    amount = float(problem.value[second]) - 1.0
    attacker = Attacker(
        "somebody",
        known=(first,),
        at_least={second: amount},
        at_most={third: float(problem.value[third]) + 2.0},
        own=frozenset(rng.choice([first, second, third], 1).tolist()),
    )
    attackers = (Attacker.external(), attacker)
    outcome = intervals(problem, attackers=attackers, gap=GAP)
    assert_sound(outcome, problem, attackers)
    assert_optimal(obvious_optimum(problem, attackers=attackers), outcome)


@settings(max_examples=20)
@given(SEEDS, st.sampled_from(KINDS))
def test_ends_moved_outwards(seed: int, kind: str) -> None:
    """Of equal cells the same is published where their bounds are the same, moved or not."""
    problem = chained(kind, seed)
    outcome = intervals(problem, gap=GAP, round_to=2.0)
    if outcome.solution is None:
        return
    found, cells = published(outcome), nothing_apart(problem)
    assert outcome.audit is not None
    assert outcome.audit.safe
    finite = np.isfinite(found.upper) & np.isfinite(found.lower)
    for merged in np.flatnonzero(np.bincount(cells.group) > 1).tolist():
        equal = np.flatnonzero(cells.group == merged)
        equal = equal[finite[equal] & (found.upper > found.lower)[equal]]
        assert len(np.unique(found.lower[equal])) <= 1
        assert len(np.unique(found.upper[equal])) <= 1


def test_equal_cells_get_the_same_interval() -> None:
    """The child is sensitive, its parent is as wide, and both are paid for."""
    problem = parent_with_one_child(labels=["parent", "other", "total", "child"])
    assert nothing_apart(problem).problem.cell_count == 3
    outcome = intervals(problem, gap=GAP)
    found = published(outcome)
    assert (found.lower[0], found.upper[0]) == (found.lower[3], found.upper[3]) == (6.0, 14.0)
    # Widths of 8: parent 1, child 2, other 1.
    assert outcome.report.objective == pytest.approx(8 * (1 + 2 + 1))
    assert outcome.audit is not None
    assert outcome.audit.problem is problem
    outcome.audit.check()


def test_reasons_name_the_cells_that_were_given() -> None:
    """The sensitive child is named, and not its parent; relations have the numbers given."""
    problem = parent_with_one_child(
        labels=["parent", "other", "total", "child"], must_publish=[False, True, True, False]
    )
    outcome = intervals(problem)
    assert outcome.status is Status.INFEASIBLE
    assert "cell child cannot be protected" in outcome.message
    assert outcome.message == without_merging(intervals, problem).message


def test_wrong_attackers_are_told_their_own_cell() -> None:
    """What an attacker cannot know is said of the cell that was given."""
    problem = parent_with_one_child(labels=["parent", "other", "total", "child"])
    wrong = Attacker("somebody", at_least={3: 11.0})
    with pytest.raises(InputError, match="cell child"):
        intervals(problem, attackers=[wrong])


def test_rounded_cells_that_differ_are_not_merged() -> None:
    """Where relations hold roughly, every cell is published with its own value."""
    problem = parent_with_one_child(value=[10.0, 15.0, 25.0, 10.25], sensitive=[1])
    outcome = intervals(problem, tolerance=0.1)
    assert nothing_apart(problem).is_identity
    found = published(outcome)
    assert (found.lower <= problem.value).all()
    assert (found.upper >= problem.value).all()


def test_a_sensitive_cell_without_a_level_is_left_out_alone() -> None:
    """Its equal is published."""
    problem = parent_with_one_child(
        sensitive=[1, 3], lower_level=[0.0, 0.0], upper_level=[0.0, 0.0]
    )
    assert intervals(problem).left_out == (1, 3)
