"""Rules about numbers of contributors and of respondents."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import Hierarchy, InputError, TableError
from tacit.rules import GroupDisclosure, MinFrequency, SmallCounts
from tacit.table import Table
from tests.rules.slow import contribution_lists, table_of, with_total
from tests.table.strategies import dimension_sets


@given(contribution_lists, st.integers(1, 8), st.integers(0, 40))
def test_minimum_frequency_by_its_definition(
    cells: list[list[int]], minimum: int, percent: int
) -> None:
    """Cells with at least one contributor, but too few, get a percentage of their value."""
    judged = table_of(cells).apply(MinFrequency(minimum, percent=percent))
    assert judged.lower_level is not None
    for cell, parts in enumerate(with_total(cells)):
        assert judged.is_sensitive[cell] == (0 < len(parts) < minimum)
        if judged.is_sensitive[cell] and percent * sum(parts) > 0:
            assert judged.lower_level[cell] == percent * sum(parts) / 100


@given(contribution_lists, st.integers(1, 8), st.integers(1, 8))
def test_a_larger_minimum_finds_more(cells: list[list[int]], one: int, two: int) -> None:
    """Cells with fewer than a small number have fewer than a larger one."""
    small, large = sorted((one, two))
    table = table_of(cells)
    few = table.apply(MinFrequency(small)).is_sensitive
    assert not (few & ~table.apply(MinFrequency(large)).is_sensitive).any()


def test_weighted_and_holding_counts() -> None:
    """The rule counts those in the sample, those they represent, or holdings."""
    table = table_of([[5, 4], [3, 2, 1, 1]]).replace(
        weighted_count=[14.5, 8, 6.5], holding_count=[2, 1, 2]
    )
    assert table.apply(MinFrequency(3)).is_sensitive.tolist() == [False, True, False]
    weighted = table.apply(MinFrequency(7, weighted=True))
    assert weighted.is_sensitive.tolist() == [False, False, True]
    holding = table.apply(MinFrequency(2, holding=True))
    assert holding.is_sensitive.tolist() == [False, True, False]


def test_counts_that_are_not_known() -> None:
    """Without counts, or with a gap among them, the rule says what it needs."""
    table = table_of([[5, 4], [3]])
    with pytest.raises(TableError, match="needs the count of each cell; tabulate"):
        table.replace(count=None).apply(MinFrequency(3))
    with pytest.raises(TableError, match=r"which is not given: \(code=c1\)"):
        table.replace(count=[3, 2, np.nan]).apply(MinFrequency(3))
    with pytest.raises(TableError, match="needs the weighted_count"):
        table.apply(MinFrequency(3, weighted=True))


def test_minimum_frequency_parameters() -> None:
    """Parameters that make no sense are refused."""
    with pytest.raises(InputError, match="minimum must be a number above 0"):
        MinFrequency(0)
    with pytest.raises(InputError, match="percent must be a number of at least 0"):
        MinFrequency(3, percent=-1)
    with pytest.raises(InputError, match="exclude each other"):
        MinFrequency(3, weighted=True, holding=True)
    with pytest.raises(InputError, match="levels must be one of both"):
        MinFrequency(3, levels="upwards")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="name must be a text"):
        MinFrequency(3, name="a; b")


@given(st.lists(st.integers(0, 9), min_size=1, max_size=5), st.integers(1, 6))
def test_small_counts_reach_to_safe_counts(counts: list[int], minimum: int) -> None:
    """Small counts are sensitive; both ends of the protection interval would not be."""
    table = Table.from_frame(
        {"code": [f"c{number}" for number in range(len(counts))], "value": counts}, {"code": None}
    )
    judged = table.apply(SmallCounts(minimum))
    assert judged.lower_level is not None
    assert judged.upper_level is not None
    for cell, count in enumerate([sum(counts), *counts]):
        assert judged.is_sensitive[cell] == (0 < count < minimum)
        if judged.is_sensitive[cell]:
            assert count - judged.lower_level[cell] == 0
            assert count + judged.upper_level[cell] == minimum


def test_small_counts_in_percent() -> None:
    """The levels of small counts can be a percentage instead."""
    table = Table.from_frame({"sex": ["f", "m"], "value": [1, 6]}, {"sex": None})
    judged = table.apply(SmallCounts(3, percent=50))
    assert judged.problem().lower_level.tolist() == [0.5]


def test_counts_are_not_negative() -> None:
    """Rules for counts refuse tables of magnitudes with losses."""
    table = Table.from_frame({"sex": ["f", "m"], "value": [-1, 6]}, {"sex": None})
    for rule in (SmallCounts(3), GroupDisclosure()):
        with pytest.raises(TableError, match=r"count respondents.*sex=f.*magnitudes"):
            table.apply(rule)


@st.composite
def counting_tables(draw: st.DrawFn) -> Table:
    """A full table of counts, many of them zero."""
    dimensions = draw(dimension_sets(max_dimensions=2))
    leaves = [hierarchy.leaves for hierarchy in dimensions.values()]
    combinations = list(itertools.product(*leaves))
    counts = draw(
        st.lists(
            st.sampled_from([0, 0, 0, 1, 4]),
            min_size=len(combinations),
            max_size=len(combinations),
        )
    )
    columns = {
        name: [codes[place] for codes in combinations] for place, name in enumerate(dimensions)
    }
    return Table.from_frame({**columns, "value": counts}, dimensions)


def slow_groups(
    counts: Mapping[tuple[str, ...], float], dimensions: Mapping[str, Hierarchy], by: set[str]
) -> set[tuple[str, ...]]:
    """The cells of all rows in which exactly one cell is filled."""
    found = set()
    for codes in counts:
        for place, (name, hierarchy) in enumerate(dimensions.items()):
            children = hierarchy.children(codes[place])
            if name not in by or len(children) < 2:
                continue
            row = [(*codes[:place], child, *codes[place + 1 :]) for child in children]
            if sum(counts[cell] > 0 for cell in row) == 1:
                found |= set(row)
    return found


@given(counting_tables(), st.data())
def test_group_disclosure_by_its_definition(table: Table, data: st.DataObject) -> None:
    """Cells of rows with one filled cell are sensitive: zeros upwards, the full one downwards."""
    by = data.draw(st.sets(st.sampled_from([*table.dimensions]), min_size=1))
    cells = list(zip(*[table.codes(name).tolist() for name in table.dimensions], strict=True))
    counts = dict(zip(cells, table.value.tolist(), strict=True))
    judged = table.apply(GroupDisclosure(by=sorted(by)))
    found = {codes for codes, hit in zip(cells, judged.is_sensitive, strict=True) if hit}
    assert found == slow_groups(counts, table.dimensions, by)
    problem = judged.problem()
    is_zero = problem.value[problem.sensitive] == 0
    assert (problem.upper_level == is_zero).all()
    assert (problem.lower_level == ~is_zero).all()


def test_group_disclosure_marks_empty_cells() -> None:
    """Zeros that nobody is known to fill are sensitive, though counted as empty before."""
    table = Table.from_frame(
        {"ill": ["yes", "no"], "value": [5, 0], "count": [5, 0]}, {"ill": None}, count="count"
    )
    assert table.status[2] == "empty"
    judged = table.apply(GroupDisclosure())
    assert judged.is_sensitive.tolist() == [False, True, True]
    assert not judged.problem().violations()


def test_group_disclosure_without_zeros() -> None:
    """Rows whose zeros are not cells cannot be protected: they are refused, unless known."""
    table = Table.from_frame(
        {"region": ["N", "S", "S"], "ill": ["yes", "yes", "no"], "value": [5, 2, 4]},
        {"region": None, "ill": None},
    )
    with pytest.raises(TableError, match=r"zeros beside it are not in the table: \(region=N"):
        table.apply(GroupDisclosure(by="ill"))
    judged = table.apply(GroupDisclosure(by="ill", absent="known"))
    assert not judged.is_sensitive.any()


def test_group_disclosure_parameters() -> None:
    """Unknown dimensions and choices are refused."""
    table = Table.from_frame({"ill": ["yes", "no"], "value": [5, 0]}, {"ill": None})
    with pytest.raises(TableError, match="names the dimensions il; the table has ill"):
        table.apply(GroupDisclosure(by=["il"]))
    with pytest.raises(InputError, match="absent must be refuse or known"):
        GroupDisclosure(absent="maybe")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="by must name one dimension"):
        GroupDisclosure(by=[])
