"""The zero rule and the request rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import InputError, TableError
from tacit.rules import Request, ZeroCells
from tacit.table import Table
from tests.rules.slow import contribution_lists, table_of, with_total

asking_lists = st.lists(
    st.lists(st.tuples(st.integers(0, 50), st.booleans()), max_size=5), min_size=1, max_size=3
)


@given(contribution_lists, st.booleans())
def test_zero_cells_by_their_definition(cells: list[list[int]], empty: bool) -> None:
    """Cells of value zero are sensitive; without contributors only on request."""
    judged = table_of(cells).apply(ZeroCells(level=2.5, empty=empty))
    for cell, parts in enumerate(with_total(cells)):
        assert judged.is_sensitive[cell] == (sum(parts) == 0 and (empty or bool(parts)))
    problem = judged.problem()
    assert (problem.upper_level == 2.5).all()
    assert not problem.lower_level.any()


def test_zeros_without_counts() -> None:
    """Without counts a zero is taken for one that somebody contributed to."""
    table = Table.from_frame({"sex": ["f", "m"], "value": [0, 6]}, {"sex": None})
    assert table.apply(ZeroCells()).problem().upper_level.tolist() == [1.0]


def asking_table(cells: list[list[tuple[int, bool]]], width: int) -> Table:
    """A table of contributions and who asked for protection, in as many columns as it has."""
    merged = with_total(cells)
    table = table_of([[amount for amount, _ in parts] for parts in cells], width)
    asked = np.full((len(merged), width), np.nan)
    top = np.full((len(merged), width), np.nan)
    for cell, parts in enumerate(merged):
        for rank, (amount, asks) in enumerate(sorted(parts, reverse=True)[:width]):
            top[cell, rank], asked[cell, rank] = amount, asks
    requested = [sum(asks for _, asks in parts) for parts in merged]
    return table.replace(top=top, top_requested=asked, requested=requested)


@given(asking_lists, st.integers(0, 90), st.integers(0, 4))
def test_requests_by_their_definition(
    cells: list[list[tuple[int, bool]]], share: int, minimum: int
) -> None:
    """Somebody asked who has more than the share, or is one of few."""
    judged = asking_table(cells, 15).apply(Request(share=share, minimum=minimum))
    for cell, parts in enumerate(with_total(cells)):
        total = sum(amount for amount, _ in parts)
        expected = any(
            asks and (share == 0 or 100 * amount > share * total or len(parts) < minimum)
            for amount, asks in parts
        )
        assert judged.is_sensitive[cell] == expected


@given(asking_lists, st.integers(1, 90), st.integers(1, 3))
def test_requests_of_small_contributors(
    cells: list[list[tuple[int, bool]]], share: int, width: int
) -> None:
    """Who asked without being among the largest that are known is not forgotten."""
    judged = asking_table(cells, width).apply(Request(share=share))
    for cell, parts in enumerate(with_total(cells)):
        total = sum(amount for amount, _ in parts)
        if any(asks and 100 * amount > share * total for amount, asks in parts):
            assert judged.is_sensitive[cell]


def test_tables_without_requests() -> None:
    """A table that does not know who asked says what is missing."""
    table = table_of([[5, 4]])
    with pytest.raises(TableError, match="'request' needs the requested of each cell"):
        table.apply(Request())
    with pytest.raises(TableError, match="which of the largest contributors asked"):
        table.replace(requested=[1, 1]).apply(Request(share=10))


def test_parameters_that_make_no_sense() -> None:
    """Parameters out of range are refused."""
    with pytest.raises(InputError, match="share must be a number of at least 0 and below 100"):
        Request(share=100)
    with pytest.raises(InputError, match="minimum must be a whole number of at least 0"):
        Request(minimum=-1)
    with pytest.raises(InputError, match="level must be a number above 0"):
        ZeroCells(level=0)
    with pytest.raises(InputError, match="empty must be true or false"):
        ZeroCells(empty="no")  # type: ignore[arg-type]
