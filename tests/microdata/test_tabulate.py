"""Tabulation gives what a slow, obvious one gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InputError, TableError
from tacit.hierarchy import Hierarchy
from tacit.microdata import contributions, duck, tabulate
from tacit.microdata.cells import Cells, occurring
from tacit.observer import Observer
from tests.microdata.obvious import (
    BY,
    INDUSTRY,
    REGION,
    Row,
    assert_same_tables,
    assert_tabulated,
    columns,
    obvious,
    records,
)

OPTIONS = st.fixed_dictionaries(
    {
        "contributor": st.sampled_from([None, "firm"]),
        "holding": st.sampled_from([None, "holding"]),
        "weight": st.sampled_from([None, "weight"]),
        "shadow": st.sampled_from([None, "staff"]),
        "request": st.sampled_from([None, "asks"]),
        "top": st.integers(1, 3),
    }
)


@settings(max_examples=60)
@given(rows=records(), value=st.sampled_from([None, "turnover"]), options=OPTIONS)
def test_tables_are_those_of_the_obvious_way(
    rows: list[Row], value: str | None, options: dict[str, Any]
) -> None:
    """Any mix of contributors, holdings, weights, shadow and requests gives every total right."""
    table = tabulate(columns(rows), BY, value, **options)
    assert_tabulated(table, obvious(rows, BY, value, **options))
    for name in ("weight", "request", "holding", "shadow"):
        field = {"weight": "weighted_count", "request": "requested"}.get(name, name)
        field = "holding_count" if name == "holding" else field
        assert (getattr(table, field) is not None) == (options[name] is not None)


@settings(max_examples=25)
@given(rows=records(min_size=8), options=OPTIONS)
def test_parts_and_threads_change_nothing(rows: list[Row], options: dict[str, Any]) -> None:
    """Records that do not fit into memory at once, and several threads, give the same table."""
    expected = tabulate(columns(rows), BY, "turnover", **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contributions, "RECORDS_A_THREAD", 2)
        patch.setattr(contributions, "cpu_count", lambda: 3)
        assert_same_tables(tabulate(columns(rows), BY, "turnover", **options), expected)
        patch.setattr(duck, "MOST_RECORDS", 3)
        assert_same_tables(tabulate(columns(rows), BY, "turnover", **options), expected)


@settings(max_examples=15)
@given(rows=records())
def test_several_values_are_tabulated_as_each_alone(rows: list[Row]) -> None:
    """Several value columns at once give one table each, the same as one at a time."""
    data = columns(rows)
    tables = tabulate(data, BY, ["staff", "turnover"], contributor="firm")
    assert list(tables) == ["staff", "turnover"]
    for name, table in tables.items():
        assert_same_tables(table, tabulate(data, BY, name, contributor="firm"))


@settings(max_examples=15)
@given(rows=records(negative=False))
def test_tables_add_up(rows: list[Row]) -> None:
    """Values fulfil every relation of the table, and nobody is counted twice."""
    table = tabulate(columns(rows), BY, "turnover", contributor="firm", weight="weight")
    assert np.abs(table.problem().residual()).max(initial=0.0) <= 1e-9
    assert table.count is not None
    assert table.count[0] == len({row["firm"] for row in rows})


def test_a_firm_with_several_records_counts_once() -> None:
    """Records of one firm are added up in each total, not compared one by one."""
    data = {
        "region": ["N1a", "N1b", "N1a", "South"],
        "firm": ["f", "f", "g", "h"],
        "turnover": [4, 3, 6, 5],
    }
    table = tabulate(data, {"region": REGION}, "turnover", contributor="firm")
    assert table.count is not None
    assert table.top is not None
    cells = dict(zip(table.codes("region").tolist(), range(table.cell_count), strict=True))
    assert table.top[cells["N1"]].tolist() == [7, 6]
    assert table.count[cells["N1"]] == 2
    assert table.top[cells["Total"]].tolist() == [7, 6]
    assert table.count[cells["Total"]] == 3


def test_negative_contributions_are_netted_and_ranked_by_size() -> None:
    """A firm contributes its sum; a large negative one is among the largest, with its sign."""
    data = {"r": ["x"] * 4, "firm": ["f", "f", "g", "h"], "v": [9, -8, -5, 2]}
    table = tabulate(data, {"r": None}, "v", contributor="firm", top=3)
    assert table.value.tolist() == [-2, -2]
    assert table.top is not None
    assert table.top[0].tolist() == [-5, 2, 1]


def test_a_weighted_contribution_stands_for_several() -> None:
    """Values and numbers of contributors are weighted, the largest come with their weights."""
    data = {"r": ["x"] * 3, "firm": ["f", "g", "h"], "v": [10, 4, 1], "w": [1, 2, 3.5]}
    table = tabulate(data, {"r": None}, "v", contributor="firm", weight="w")
    assert table.value.tolist() == [21.5, 21.5]
    assert table.count is not None
    assert table.count.tolist() == [3, 3]
    assert table.weighted_count is not None
    assert table.weighted_count.tolist() == [6.5, 6.5]
    assert table.top is not None
    assert table.top[0].tolist() == [10, 4]
    assert table.top_weight is not None
    assert table.top_weight[0].tolist() == [1, 2]


def test_frequency_tables_count_records() -> None:
    """Without a value records are counted, weighted where they represent others."""
    data = {"r": ["x", "y", "x"], "w": [2.0, 3.0, 4.0]}
    table = tabulate(data, {"r": None})
    assert table.value.tolist() == [3, 2, 1]
    assert table.top is None
    weighted = tabulate(data, {"r": None}, weight="w")
    assert weighted.value.tolist() == [9, 6, 3]
    assert weighted.count is not None
    assert weighted.count.tolist() == [3, 2, 1]


def test_no_top_is_kept_where_none_is_wanted() -> None:
    """With top=0 a table has counts but no contributions."""
    table = tabulate({"r": ["x"], "v": [1]}, {"r": None}, "v", top=0)
    assert table.top is None
    assert table.count is not None


def test_codes_that_occur_are_ordered() -> None:
    """Without a hierarchy codes come in order, whole numbers by size."""
    numbers = tabulate({"r": [10, 9, 9], "v": [1, 2, 3]}, {"r": None}, "v")
    assert numbers.codes("r").tolist() == ["Total", "9", "10"]
    text = tabulate({"r": ["b", "B", "a"], "v": [1, 2, 3]}, {"r": None}, "v")
    assert text.codes("r").tolist() == ["Total", "B", "a", "b"]


def test_sparse_grids_need_no_room_for_empty_cells() -> None:
    """Few records over a huge grid make a small table."""
    codes = [f"c{number}" for number in range(3000)]
    huge = {name: Hierarchy.flat(codes) for name in "abcd"}
    data = {name: ["c7", "c2999", "c7"] for name in "abcd"} | {"v": [1, 2, 3]}
    table = tabulate(data, huge, "v")
    assert table.cell_count == 31
    assert table.value[0] == 6
    assert np.unique(table.value).tolist() == [2, 4, 6]


@given(st.lists(st.integers(-1, 11), min_size=1, max_size=30).filter(lambda keys: max(keys) >= 0))
def test_leaf_keys_find_their_cells(keys: list[int]) -> None:
    """Looking cells up in an array and by searching give the same."""
    leaf_keys = np.array(keys)
    distinct = occurring(leaf_keys, 12)
    assert distinct.tolist() == sorted(set(keys) - {-1})
    cells = Cells.above(BY, distinct)
    found = cells.find(leaf_keys)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tacit.microdata.cells.LOOKUP_FROM", 0)
        short = leaf_keys[:2]
        assert occurring(short, 12).tolist() == sorted(set(keys[:2]) - {-1})
        np.testing.assert_array_equal(cells.find(short), found[:2])
    labels = {
        key: cells.grid.label(int(cells.grid.all_keys[c]))
        for key, c in zip(keys, found, strict=True)
        if key >= 0
    }
    for key, label in labels.items():
        region, industry = REGION.leaves[key // 3], INDUSTRY.leaves[key % 3]
        assert label == f"region={region}, industry={industry}"


def test_an_observer_hears_of_progress() -> None:
    """Observers are told when tabulation starts, goes on and ends."""
    heard: list[Any] = []

    class Listener(Observer):
        def on_start(self, task: str, *, total: int | None = None) -> None:
            heard.append((task, total))

        def on_progress(self, done: int, total: int) -> None:
            heard.append((done, total))

        def on_end(self, outcome: Any = None) -> None:
            heard.append(outcome)

    tabulate({"r": ["x"], "v": [1]}, {"r": None}, "v", observer=Listener())
    assert heard == [("tabulate", None), (1, 1), None]


@pytest.mark.parametrize(
    ("by", "value", "options", "message"),
    [
        ({}, "v", {}, "names no dimension"),
        ({"r": ["x"]}, "v", {}, "Hierarchy or None"),
        ({"colour": None}, "v", {}, "no column colour"),
        ({"r": None}, "worth", {}, "no column worth"),
        ({"r": None}, ["v", "v"], {}, "twice"),
        ({"r": None}, [], {}, "names no column"),
        ({"r": None}, "v", {"contributor": "firm"}, "no column firm"),
        ({"r": None}, "v", {"top": -1}, "top must be"),
        ({"r": None}, "v", {"missing": "ignore"}, "missing must be one of"),
        ({"r": None}, "v", {"engine": "excel"}, "auto, duckdb or spark"),
        ({"r": None}, "v", {"engine": "spark"}, "use engine='duckdb'"),
        ({"r": None}, "v", {"memory_limit": "much"}, "such as 4GB"),
        ({"r": None}, "v", {"temp_directory": "/no/such/place"}, "not a directory"),
        ({"r": None}, "v", {"holding": "h", "contributor": "f"}, "several holdings"),
    ],
)
def test_wrong_arguments_are_refused(
    by: Any, value: Any, options: dict[str, Any], message: str
) -> None:
    """Each wrong argument is named."""
    data: dict[str, list[Any]] = {"r": ["x", "y"], "v": [1, 2]}
    if "holding" in options:
        data |= {"f": ["a", "a"], "h": ["g", "h"]}
    with pytest.raises(InputError, match=message):
        tabulate(data, by, value, **options)


def test_grids_that_cannot_be_numbered_are_refused() -> None:
    """More combinations than can be numbered are refused before anything is read."""
    big = Hierarchy.flat([f"c{number}" for number in range(9000)])
    with pytest.raises(TableError, match="more combinations"):
        tabulate({name: ["c1"] for name in "abcdef"}, dict.fromkeys("abcdef", big))
