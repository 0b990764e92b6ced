"""Values, counts and largest contributions of finest cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InputError
from tacit.generators import Contributions
from tacit.generators.contributions import draw_finest_cells, streams


@given(
    shape=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    empty=st.floats(0, 0.99),
    whole=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_cells_are_consistent(shape: list[int], empty: float, whole: bool, seed: int) -> None:
    """Counts, values and largest contributions of every cell fit together."""
    contributions = Contributions(empty=empty, whole=whole, largest_count=9)
    cells = draw_finest_cells(shape, contributions, streams(seed, 1)[0])
    value, count, largest, second = cells.value, cells.count, cells.top[..., 0], cells.top[..., 1]
    assert value.shape == count.shape == tuple(shape)
    assert np.count_nonzero(count == 0) == round(empty * count.size)
    assert np.array_equal(value > 0, count > 0)
    assert count.max() <= 9
    assert np.all(largest >= second)
    assert np.array_equal(second > 0, count > 1)
    rest = value - largest - second
    assert np.all(np.abs(rest[count <= 2]) <= 1e-12 * value[count <= 2])
    assert np.all(rest[count > 2] > 0)
    assert np.all(rest <= np.maximum(count - 2, 0) * second * (1 + 1e-12) + 1e-12 * value)
    if whole:
        assert np.array_equal(value, np.round(value))
        assert np.array_equal(cells.top, np.round(cells.top))


def test_moments_are_as_asked_for() -> None:
    """The mean count and the median contribution come out as they were put in."""
    contributions = Contributions(mean_count=5, median=50, code_spread=0.3, whole=False)
    cells = draw_finest_cells((300, 300), contributions, streams(7, 1)[0])
    assert abs(cells.count.mean() - 5) < 0.5
    alone = cells.value[cells.count == 1]
    assert abs(np.median(alone) - 50) < 3
    assert abs(np.log(alone).std() - contributions.spread) < 0.05


def test_codes_differ_in_size() -> None:
    """Row totals spread far more with a spread of codes than without one."""
    spread, alike = (
        draw_finest_cells((50, 200), Contributions(code_spread=sigma), streams(1, 1)[0])
        for sigma in (1.0, 0.0)
    )
    rows = [cells.count.sum(axis=1).astype(float) for cells in (spread, alike)]
    assert rows[0].std() / rows[0].mean() > 5 * rows[1].std() / rows[1].mean()


def test_ties_keep_both_largest() -> None:
    """Two equally large contributions are the largest and the second largest."""
    cells = draw_finest_cells((20,), Contributions(spread=0.0), streams(1, 1)[0])
    several = cells.count > 1
    assert several.any()
    assert np.array_equal(cells.top[several], np.full((several.sum(), 2), 100.0))


def test_streams_repeat_and_differ() -> None:
    """A seed gives the same streams again, and streams that differ from each other."""
    first, again = (
        [stream.integers(1 << 60) for stream in streams(5, 3)],
        [stream.integers(1 << 60) for stream in streams(5, 3)],
    )
    assert first == again
    assert len(set(first)) == 3


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("mean_count", 0.5),
        ("mean_count", float("nan")),
        ("largest_count", 0),
        ("spread", -1.0),
        ("code_spread", 9.0),
        ("median", 0.0),
        ("empty", 1.0),
    ],
)
def test_impossible_choices_are_refused(name: str, given: float) -> None:
    """A parameter out of range is refused by its name."""
    with pytest.raises(InputError, match=name):
        Contributions(**{name: given})  # type: ignore[arg-type]  # one name at a time


def test_negative_seed_is_refused() -> None:
    """A negative seed is refused with a clear message."""
    with pytest.raises(InputError, match="seed must not be negative"):
        streams(-1, 2)
