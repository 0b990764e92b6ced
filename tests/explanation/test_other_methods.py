"""Explanations of intervals, of changed and of rounded values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.explanation import Explainer
from tests.attack.tables import small_problem


@settings(max_examples=12)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(0, 10**6))
def test_wider_intervals_are_safe(seed: int, cube: bool, number: int) -> None:
    """Where others are widened in place of a cell, the audit finds everything safe."""
    problem = small_problem(seed, cube=cube)
    problem = problem.replace(weight=np.random.default_rng(seed).integers(1, 9, len(problem.value)))
    outcome = tacit.intervals(problem, time_limit=5)
    if not isinstance(outcome.solution, tacit.Intervals):
        return
    low, high = outcome.solution.lower, outcome.solution.upper
    cells = np.flatnonzero((low < high) & ~problem.is_sensitive)
    if not len(cells):
        return
    cell = int(cells[number % len(cells)])
    told = tacit.explain(problem, outcome, cell, seconds=5)
    found = told.publishing
    assert found is not None
    widest = tacit.Intervals(
        np.where(problem.must_publish, problem.value, problem.lower),
        np.where(problem.must_publish, problem.value, problem.upper),
    )
    ends = (widest.lower.copy(), widest.upper.copy())
    for end in ends:
        end[cell] = problem.value[cell]
    assert found.possible is tacit.audit(problem, tacit.Intervals(*ends)).safe
    if not found.possible:
        assert found.against
        return
    new_low, new_high = low.copy(), high.copy()
    new_low[cell] = new_high[cell] = problem.value[cell]
    cost = 0.0
    for other, lower, upper in found.widens:
        assert lower <= low[other]
        assert upper >= high[other]
        cost += problem.weight[other] * (low[other] - lower + upper - high[other])
        new_low[other], new_high[other] = lower, upper
    assert tacit.audit(problem, tacit.Intervals(new_low, new_high)).safe
    assert found.cost == pytest.approx(cost, abs=1e-6)


@settings(max_examples=12)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(0, 10**6))
def test_changed_values_are_balanced(seed: int, cube: bool, number: int) -> None:
    """Circuits of changed values add up; values balanced anew keep the cell, and are safe."""
    problem = small_problem(seed, cube=cube)
    outcome = tacit.adjust(problem, time_limit=5)
    if not isinstance(outcome.solution, tacit.Values):
        return
    change = outcome.solution.value - problem.value
    cells = np.flatnonzero(change)
    if not len(cells):
        return
    cell = int(cells[number % len(cells)])
    told = tacit.explain(problem, outcome, cell)
    assert told.change == change[cell]
    assert told.interval is None
    for each in told.circuits:
        assert each.circuit is not None
        moves = np.zeros(problem.cell_count)
        moves[list(each.circuit.cells)] = each.circuit.changes
        assert np.abs(np.asarray(problem.relations @ moves)).max() < 1e-6
        # All move as they were changed.
        sign = np.sign(change[each.cell]) * np.sign(moves[each.cell])
        assert (np.sign(moves[moves != 0]) * sign == np.sign(change[moves != 0])).all()
    if problem.is_sensitive[cell]:
        assert told.publishing is not None
        assert told.publishing.possible is False
        return
    assert told.balances
    found = told.publishing
    if found is not None and found.possible:
        value = outcome.solution.value.copy()
        value[cell] = problem.value[cell]
        for other, new in found.values:
            value[other] = new
        assert tacit.audit(problem, tacit.Values(value)).safe


def test_a_rounded_value_may_be_told_where_nothing_is_exposed() -> None:
    """Readers deduce an interval; a cell whose value tells nothing more may be told."""
    problem = tacit.Problem(
        value=[12, 31, 43, 8, 51],
        relations=[[1, 1, -1, 0, 0], [0, 0, 1, 1, -1]],
        rhs=[0, 0],
        sensitive=[0],
        lower_level=[2],
        upper_level=[2],
    )
    value = np.array([10.0, 30.0, 40.0, 10.0, 50.0])
    rounded = tacit.Values(value, radius=np.full(5, 10.0))
    told = Explainer(problem, rounded).explain(3)
    assert told.shown == "published with a rounded value"
    assert told.interval == (0.0, 20.0)
    assert told.publishing is not None
    assert told.publishing.possible
    assert "nothing else is needed" in told.summary()


def test_what_is_marked_stands_against_publishing() -> None:
    """Where publishing a cell is impossible, the relations and the marked cells are named."""
    problem = tacit.Problem(
        value=[5, 7, 12, 20, 32],
        relations=[[1, 1, -1, 0, 0], [0, 0, 1, 1, -1]],
        rhs=[0, 0],
        sensitive=[0],
        lower_level=[2],
        upper_level=[2],
        must_publish=[False, False, True, False, False],
        labels=["a", "b", "ab", "c", "abc"],
    )
    told = tacit.explain(problem, [0, 1], "b")
    assert told.publishing is not None
    assert told.publishing.possible is False
    assert [(each.cell, each.left) for each in told.publishing.against] == [(0, 0.0), (0, 0.0)]
    text = told.summary()
    assert "as (ab) must be published" in text
    assert "by (ab) = (a) + (b)" in text
    assert "(a): 0% of the lower and upper levels against a reader" in text


def test_an_unsafe_publication_is_called_so() -> None:
    """A note names what is exposed anyway, and the share before is told."""
    problem = tacit.Problem(
        value=[5, 7, 12],
        upper=[9, 8, 20],
        relations=[[1, 1, -1]],
        rhs=[0],
        sensitive=[0],
        lower_level=[2],
        upper_level=[2],
    )
    told = tacit.explain(problem, [0, 1], 1)
    (lower,) = [each for each in told.protects if each.side == "lower"]
    assert (lower.left, lower.before) == (0.0, 0.5)
    assert "(now 50%)" in told.summary()
    assert "the publication is not safe as it is: cell 0 is exposed" in told.summary()
    assert told.to_json()["protects"][0]["before"] == 0.5


def test_a_hidden_cell_that_others_tell_is_named_with_the_relation() -> None:
    """A suppressed cell that can be computed is told so, and how."""
    problem = tacit.Problem(value=[5, 7, 12], relations=[[1, 1, -1]], rhs=[0])
    told = tacit.explain(problem, [0], 0)
    assert told.width == 0
    assert "readers can deduce: exactly 5\n  by cell 2 = cell 0 + cell 1" in told.summary()


def test_cells_of_nothing_but_zeros_are_explained() -> None:
    """A relation in which all cells are zero does no harm."""
    cells = {"row": ["a", "a", "b", "b"], "column": ["x", "y"] * 2, "value": [0, 0, 3, 4]}
    table = tacit.Table.from_frame(cells, {"row": None, "column": None})
    release = tacit.protect(table.apply(tacit.ZeroCells(level=1)), "suppress", time_limit=5)
    for cell in range(table.cell_count):
        assert release.explain(cell).summary().startswith("CONFIDENTIAL")
