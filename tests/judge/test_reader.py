"""What the judge takes a reader to deduce, on tables where that can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import Attacker, Problem
from tacit.outcome import Intervals, Suppression, Values
from tests.judge.reader import capacities, exposed, exposed_values, limit_of, reach
from tests.judge.tables import MAGNITUDES

ROOM = st.floats(0.05, 20.0)


def square(size: float = 1.0) -> Problem:
    """Two by two cells with totals; the first cell needs 4 below and 5 above."""
    value = np.array([20, 30, 50, 40, 10, 50, 60, 40, 100.0]) * size
    relations = np.zeros((6, 9))
    for line in range(3):
        relations[line, [3 * line, 3 * line + 1, 3 * line + 2]] = 1, 1, -1
        relations[3 + line, [line, 3 + line, 6 + line]] = 1, 1, -1
    return Problem(
        value=value,
        relations=relations,
        sensitive=[0],
        lower_level=[4 * size],
        upper_level=[5 * size],
    )


@given(st.lists(ROOM, min_size=8, max_size=8), st.sampled_from(MAGNITUDES))
def test_a_square_moves_as_far_as_its_tightest_cell(capacity: list[float], size: float) -> None:
    """In a square of four cells the least capacity along the signs decides, at any magnitude."""
    problem = square(size)
    up, down = np.zeros(9), np.zeros(9)
    inner = [0, 1, 3, 4]
    up[inner], down[inner] = np.array(capacity[:4]) * size, np.array(capacity[4:]) * size
    most = min(up[0], down[1], down[3], up[4])
    wanted = 3.0 * size
    found = reach(problem, up, down, 0, 1, wanted)
    assert found.share == pytest.approx(min(1.0, most / wanted), rel=1e-6)
    if found.share < 0.99:
        assert found.limits is not None
        assert limit_of(found.limits, up, down) == pytest.approx(most, rel=1e-6)


@pytest.mark.parametrize("size", MAGNITUDES)
def test_suppression_is_judged_alike_at_every_magnitude(size: float) -> None:
    """A square of suppressed cells is safe, and with one of them published it is not."""
    problem = square(size)
    hidden = np.zeros(9, bool)
    hidden[[0, 1, 3, 4]] = True
    assert exposed(problem, Suppression(hidden)) == []
    hidden[4] = False
    assert {each.level for each in exposed(problem, Suppression(hidden))} == {"lower", "upper"}


def test_intervals_and_radii_are_rooms_within_the_bounds() -> None:
    """The published interval, the radius and the bounds each limit how far a cell may lie."""
    problem = square().replace(lower=np.full(9, 18.0), value=np.full(9, 20.0))
    up, down = capacities(problem, Intervals(np.full(9, 10.0), np.full(9, 23.0)))
    assert (up == 3).all()
    assert (down == 2).all()
    up, down = capacities(problem, Values(np.full(9, 21.0), np.full(9, 2.5)))
    assert up == pytest.approx(3.5)
    assert down == pytest.approx(1.5)


def test_a_sliding_level_needs_both_sides_together() -> None:
    """A range of 10 meets a sliding level of 10, and misses one of 11."""
    problem = square().replace(upper=np.full(9, 1000.0))
    narrow = Intervals(problem.value - 4, problem.value + 6)
    for level, count in ((10.0, 0), (11.0, 1)):
        asked = problem.replace(sensitive=[0], sliding_level=[level])
        assert len(exposed(asked, narrow)) == count


def test_somebody_who_knows_a_cell_undoes_a_square() -> None:
    """An attacker who knows one of four suppressed cells knows them all."""
    problem = square()
    hidden = np.zeros(9, bool)
    hidden[[0, 1, 3, 4]] = True
    insider = Attacker("insider", known=(4,))
    found = exposed(problem, Suppression(hidden), (Attacker(), insider))
    assert {each.attacker for each in found} == {"insider"}
    assert (
        exposed(problem, Suppression(hidden), (Attacker("own", known=(0,), own=frozenset([0])),))
        == []
    )


@pytest.mark.parametrize(
    ("levels", "moved", "safe"),
    [
        ((4.0, 5.0, 0.0), -4.0, True),
        ((4.0, 5.0, 0.0), 4.0, False),
        ((4.0, 5.0, 0.0), 5.0, True),
        ((4.0, 0.0, 0.0), 100.0, False),
        ((4.0, 0.0, 0.0), -4.0, True),
        ((0.0, 5.0, 0.0), -100.0, False),
        ((0.0, 0.0, 3.0), -3.0, True),
        ((0.0, 0.0, 3.0), 2.0, False),
        ((4.0, 5.0, 9.0), 5.0, False),
        ((4.0, 5.0, 9.0), -9.0, True),
        ((4.0, 0.0, 3.0), 3.0, True),
        ((0.0, 0.0, 0.0), 0.0, True),
    ],
)
def test_adjusted_values_keep_off_the_true_one(
    levels: tuple[float, float, float], moved: float, safe: bool
) -> None:
    """A changed value is judged by the levels of its side, and by the sliding level on either."""
    low, high, slide = ([level] for level in levels)
    problem = square().replace(
        sensitive=[0], lower_level=low, upper_level=high, sliding_level=slide
    )
    value = problem.value.copy()
    value[0] += moved
    assert (exposed_values(problem, value) == []) == safe
