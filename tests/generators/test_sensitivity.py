"""Sensitive cells by share and by rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InputError
from tacit.generators import Contributions, SensitiveRule, SensitiveShare
from tacit.generators.contributions import draw_finest_cells, streams
from tacit.generators.sensitivity import Cells
from tacit.generators.weights_and_bounds import upper_bounds, weights


def some_cells(seed: int, size: int = 400, empty: float = 0.1, mean_count: float = 3.0) -> Cells:
    """Finest cells, all of them candidates."""
    contributions = Contributions(empty=empty, mean_count=mean_count)
    finest = draw_finest_cells((size,), contributions, streams(seed, 1)[0])
    return Cells(finest.value, finest.count, finest.top, np.ones(size, bool))


@given(percent=st.integers(0, 90), asymmetry=st.floats(0, 5), seed=st.integers(0, 50))
def test_share_is_exact(percent: int, asymmetry: float, seed: int) -> None:
    """The share is exact, spares empty cells, and levels are as requested."""
    cells = some_cells(seed)
    share = SensitiveShare(percent=percent, lower_percent=20, asymmetry=asymmetry)
    marked = share.mark(cells, streams(seed, 2)[1])
    assert len(marked.sensitive) == 400 * percent // 100
    assert np.all(np.diff(marked.sensitive) > 0)
    value = cells.value[marked.sensitive]
    assert np.all(value > 0)
    assert np.all((marked.lower_level >= 0.2 * value) & (marked.lower_level <= value))
    assert np.all(marked.lower_level < 0.2 * value + 1)
    assert np.array_equal(marked.upper_level, asymmetry * marked.lower_level)


def test_smaller_share_is_part_of_larger() -> None:
    """With the same seed more sensitive cells include the fewer ones."""
    cells = some_cells(3)
    few, many = (
        SensitiveShare(percent=percent).mark(cells, streams(1, 1)[0]).sensitive
        for percent in (5, 15)
    )
    assert set(few.tolist()) < set(many.tolist())


def test_share_draws_among_candidates() -> None:
    """Only candidates are drawn, and the share counts candidates only."""
    cells = some_cells(3, empty=0.0)
    candidate = np.arange(400) % 4 == 0
    marked = SensitiveShare(percent=50).draw(cells.value, candidate, streams(1, 1)[0])
    assert len(marked.sensitive) == 50
    assert candidate[marked.sensitive].all()


def test_share_beyond_filled_cells_is_refused() -> None:
    """More sensitive cells than cells with a value are refused."""
    with pytest.raises(InputError, match="fewer sensitive or fewer empty"):
        SensitiveShare(percent=60).mark(some_cells(1, empty=0.5), streams(1, 1)[0])


@given(
    p=st.floats(0, 100),
    minimum_count=st.integers(0, 5),
    count_percent=st.floats(1, 100),
    seed=st.integers(0, 50),
)
def test_rule_agrees_with_cell_by_cell(
    p: float, minimum_count: int, count_percent: float, seed: int
) -> None:
    """The rule marks the cells, and asks the levels, that its definition gives cell by cell."""
    cells = some_cells(seed, size=60)
    rule = SensitiveRule(p=p, minimum_count=minimum_count, count_percent=count_percent)
    expected = {}
    for cell in range(60):
        x, (x1, x2) = cells.value[cell], cells.top[cell]
        level = 0.0
        if x - x1 - x2 < p * x1 / 100:
            level = p * x1 / 100 - (x - x1 - x2)
        if 0 < cells.count[cell] < minimum_count:
            level = max(level, count_percent * x / 100)
        if level > 0:
            expected[cell] = level
    marked = rule.mark(cells, streams(1, 1)[0])
    assert marked.sensitive.tolist() == list(expected)
    assert marked.lower_level == pytest.approx(list(expected.values()))
    assert np.array_equal(marked.lower_level, marked.upper_level)
    assert np.all(marked.lower_level <= cells.value[marked.sensitive] * (1 + 1e-12))


@pytest.mark.parametrize(
    ("kind", "choices"),
    [
        (SensitiveShare, {"percent": 101}),
        (SensitiveShare, {"lower_percent": 0}),
        (SensitiveShare, {"asymmetry": -1}),
        (SensitiveRule, {"p": 101}),
        (SensitiveRule, {"minimum_count": -1}),
        (SensitiveRule, {"count_percent": 0}),
    ],
)
def test_impossible_choices_are_refused(kind: type, choices: dict[str, float]) -> None:
    """A parameter out of range is refused by its name."""
    with pytest.raises(InputError, match=next(iter(choices))):
        kind(**choices)


def test_weights_by_value_and_unit() -> None:
    """Weights are the values, 1 for an empty cell, or 1 for all."""
    value = np.array([5.0, 0.0, 0.5])
    assert weights(value, "value").tolist() == [5.0, 1.0, 0.5]
    assert weights(value, "unit").tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(InputError, match="'value' or 'unit'"):
        weights(value, "cost")  # type: ignore[arg-type]  # what a script may pass


def test_upper_bounds_leave_room_for_the_largest_level() -> None:
    """Bounds are a multiple of the grand total, more where a level needs it, 0 where empty."""
    value = np.array([10.0, 0.0, 4.0])
    assert upper_bounds(value, np.array([1.0]), 2.0).tolist() == [20.0, 0.0, 20.0]
    assert upper_bounds(value, np.array([3.0]), 1.0).tolist() == [13.0, 0.0, 13.0]
    assert upper_bounds(np.zeros(2), np.zeros(0), 2.0).tolist() == [0.0, 0.0]
    with pytest.raises(InputError, match="at least 1"):
        upper_bounds(value, np.zeros(0), 0.5)
