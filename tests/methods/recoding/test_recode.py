"""Recoding against tabulating recoded microdata, and suggestions of merges."""

from __future__ import annotations

import contextlib
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import tacit
from tacit.errors import HierarchyError, InputError, TableError
from tacit.methods.recoding.plan import grouped, plan_recode
from tacit.methods.recoding.run import recode
from tacit.methods.recoding.suggest import suggest_recodes
from tacit.observer import Observer
from tacit.table import CellStatus, Table

REGIONS = tacit.Hierarchy.from_nested({"North": ["N1", "N2", "N3"], "South": ["S1", "S2"]})
AGES = tacit.Hierarchy.flat(["0", "5", "17", "18", "64", "65", "90"])


def columns(table: Table) -> dict[str, Any]:
    """All cells by their codes."""
    return dict(table.to_frame("dict"))


def assert_same(found: Table, expected: Table) -> None:
    """Two tables have the same cells with the same columns."""
    one, other = columns(found), columns(expected)
    assert one.keys() == other.keys()
    order = [np.lexsort([table["age"], table["region"]]) for table in (one, other)]
    for name, column in one.items():
        np.testing.assert_array_equal(column[order[0]], other[name][order[1]], err_msg=name)


@st.composite
def microdata(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Records of a few firms, each in one cell or in several."""
    count = draw(st.integers(1, 14))
    return {
        "region": draw(st.lists(st.sampled_from(REGIONS.leaves), min_size=count, max_size=count)),
        "age": draw(st.lists(st.sampled_from(AGES.leaves), min_size=count, max_size=count)),
        "firm": draw(st.lists(st.integers(1, 6).map(str), min_size=count, max_size=count)),
        "value": draw(st.lists(st.integers(0, 9), min_size=count, max_size=count)),
    }


MERGES = st.sampled_from(
    [
        ({"coast": ["N1", "N3"]}, {"N1": "coast", "N3": "coast"}),
        ({"coast": ["N1", "N2"], "inland": "S1..S2"}, None),
        ({"North": ["N1", "N2", "N3"]}, {"N1": "North", "N2": "North", "N3": "North"}),
    ]
)
RANGES = {"0": "0-17", "5": "0-17", "17": "0-17", "18": "18-64", "64": "18-64"}
RANGES |= {"65": "65-90", "90": "65-90"}


def tabulated(records: dict[str, list[Any]], by: dict[str, tacit.Hierarchy]) -> Table:
    """The table of some records."""
    return tacit.tabulate(records, by, "value", contributor="firm", top=3)


def expected_table(
    records: dict[str, list[Any]], groups: dict[str, Any], renamed: dict[str, str] | None
) -> Table:
    """The records recoded one by one, and then tabulated."""
    names = renamed or {"N1": "coast", "N2": "coast", "S1": "inland", "S2": "inland"}
    recoded = {
        **records,
        "region": [names.get(code, code) for code in records["region"]],
        "age": [RANGES[code] for code in records["age"]],
    }
    regions = plan_recode(REGIONS, groups, "region").hierarchy
    return tabulated(
        recoded, {"region": regions, "age": tacit.Hierarchy.flat(dict.fromkeys(RANGES.values()))}
    )


@settings(max_examples=30, deadline=None)
@given(microdata(), MERGES)
def test_recoding_a_grouped_table_equals_tabulating_recoded_microdata(
    records: dict[str, list[Any]], merge: tuple[dict[str, Any], dict[str, str] | None]
) -> None:
    """Values, counts and largest contributions are exact, whoever contributes where."""
    groups, renamed = merge
    ages = [0, 18, 65]
    by = {"region": grouped(REGIONS, groups), "age": grouped(AGES, ages)}
    table = tabulated(records, by)
    found = recode(table, {"region": groups, "age": ages})
    assert_same(found, expected_table(records, groups, renamed))


@settings(max_examples=30, deadline=None)
@given(microdata(), MERGES)
def test_recoding_without_microdata_is_exact_or_refused(
    records: dict[str, list[Any]], merge: tuple[dict[str, Any], dict[str, str] | None]
) -> None:
    """Where the table can tell, it tells the truth; the worst case is never better than it."""
    groups, renamed = merge
    table = tabulated(records, {"region": REGIONS, "age": AGES})
    recodes: dict[str, Any] = {"region": groups, "age": [0, 18, 65]}
    expected = expected_table(records, groups, renamed)
    with contextlib.suppress(TableError):
        assert_same(recode(table, recodes), expected)
    worst = recode(table, recodes, overlap="worst")
    np.testing.assert_array_equal(worst.value, expected.value)
    assert worst.count is not None
    assert expected.count is not None
    assert (worst.count <= expected.count).all()
    for rule in (tacit.MinFrequency(3), tacit.PPercent(20), tacit.Dominance(2, 80)):
        feared = worst.apply(rule).is_sensitive
        assert (feared | ~expected.apply(rule).is_sensitive).all()


@settings(max_examples=30, deadline=None)
@given(microdata())
def test_nobody_in_two_cells_needs_no_microdata(records: dict[str, list[Any]]) -> None:
    """Where every record is a contributor of its own, recoding the table alone is exact."""
    records["firm"] = [str(number) for number in range(len(records["firm"]))]
    table = tabulated(records, {"region": REGIONS, "age": AGES})
    groups = {"coast": ["N1", "N3"]}
    found = recode(table, {"region": groups, "age": [0, 18, 65]})
    assert_same(found, expected_table(records, groups, {"N1": "coast", "N3": "coast"}))


def test_the_table_of_paper_003() -> None:
    """Figure 9: professions P2 and P3 as one, and no count of a single person is left."""
    table = tacit.examples.get("003-figure-1").table
    after = tacit.examples.get("003-figure-9").table
    assert table is not None
    assert after is not None
    dimension = [*table.dimensions][1]
    (merged,) = set(after.dimensions[dimension].codes) - set(table.dimensions[dimension].codes)
    found = recode(table, {dimension: {merged: ["P2", "P3"]}})
    assert sorted(found.value.tolist()) == sorted(after.value.tolist())
    assert found.cell_count == after.cell_count


def test_a_level_leaves_out_what_lies_below() -> None:
    """Cutting at level 1 keeps the coarse regions and their values."""
    table = Table.from_cube(np.arange(1.0, 6), {"region": REGIONS})
    found = recode(table, {"region": 1})
    assert found.dimensions["region"].codes == ("Total", "North", "South")
    assert found.value.tolist() == [15, 6, 9]
    assert recode(table, {"region": 0}).value.tolist() == [15]


def test_verdicts_are_not_taken_over_but_other_statuses_are() -> None:
    """Sensitive cells are to be found anew; cells to publish stay that where all parts are."""
    status = np.array(["safe"] * 8, dtype="<U9")
    status[[2, 3]] = CellStatus.PUBLISH.value
    status[4] = CellStatus.SENSITIVE.value
    table = Table.from_cube(np.arange(1.0, 6), {"region": REGIONS}).replace(
        status=status, upper_level=np.ones(8), lower=np.zeros(8), weight=np.full(8, 2.0)
    )
    found = recode(table, {"region": {"coast": ["N1", "N2"]}})
    assert not found.is_sensitive.any()
    assert found.upper_level is None
    place = found.dimensions["region"].index("coast")
    assert found.status[place] == CellStatus.PUBLISH.value
    assert found.weight is not None
    assert found.weight[place] == 4
    assert recode(table, {"region": {"c": ["N2", "N3"]}}).status[3] == CellStatus.SAFE.value


@pytest.mark.parametrize(
    ("recodes", "message"),
    [
        ({"region": {"x": ["N1", "S1"]}}, "do not lie below the same code"),
        ({"region": {"x": ["N1", "N9"]}}, "region: there is no code N9"),
        ({"region": {"x": ["N1", "N2"], "y": ["N2", "N3"]}}, "N2 is in x and in y"),
        ({"region": {"South": ["N1", "N2"]}}, "there is a code South already"),
        ({"region": {"x": "N1"}}, "'N1' is one code"),
        ({"region": {"x": "N3..N1"}}, "N1 does not come after N3"),
        ({"region": {"x": "N1..S2"}}, "S2 does not come after N1"),
        ({"region": [0, 10]}, "N1 is not a number"),
    ],
)
def test_codes_that_cannot_be_merged_are_named(recodes: Any, message: str) -> None:
    """Each with what is wrong with it."""
    table = Table.from_cube(np.ones(5), {"region": REGIONS})
    with pytest.raises(HierarchyError, match=message):
        recode(table, recodes)


@pytest.mark.parametrize(
    ("recodes", "options"),
    [
        ({"region": -1}, {}),
        ({"region": "N1..N2"}, {}),
        ({"region": {"x": []}}, {}),
        ({"region": [3, 2]}, {}),
        ({"region": [True]}, {}),
        ({"land": 1}, {}),
        ({"region": 1}, {"overlap": "best"}),
    ],
)
def test_what_is_no_recode_is_refused(recodes: Any, options: Any) -> None:
    """Wrong kinds of things are input errors."""
    table = Table.from_cube(np.ones(5), {"region": REGIONS})
    with pytest.raises(InputError):
        recode(table, recodes, **options)


def test_linked_tables_are_refused() -> None:
    """A common cell cannot be merged in one of them only."""
    one = Table.from_cube(np.ones(5), {"region": REGIONS})
    other = Table.from_cube(np.ones(5), {"region": REGIONS}).link(
        Table.from_cube(np.full(1, 5.0), {"sex": tacit.Hierarchy.flat(["f"])})
    )
    assert recode(one, {"region": 1}).cell_count == 3
    with pytest.raises(TableError, match="recode each before linking"):
        recode(other, {"region": 1})


def sparse_table(seed: int = 1) -> Table:
    """A table with small counts in some regions."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.choice([1.0, 8.0], (5, 7)), (5, 7))
    return Table.from_cube(counts * 10.0, {"region": REGIONS, "age": AGES}, counts=counts)


def test_the_first_suggestion_is_the_best_of_all_pairs() -> None:
    """No other merge removes more sensitive cells for each cell that is lost."""
    table, rule = sparse_table(), tacit.MinFrequency(3)
    start = table.apply(rule)
    found = suggest_recodes(table, rule, most=1, tries=1000)
    best = 0.0
    for dimension, hierarchy in table.dimensions.items():
        for one in hierarchy.leaves:
            for other in hierarchy.leaves:
                if one < other and hierarchy.parent_of(one) == hierarchy.parent_of(other):
                    merged = recode(table, {dimension: {"x": [one, other]}}).apply(rule)
                    removed = start.is_sensitive.sum() - merged.is_sensitive.sum()
                    best = max(best, removed / (start.cell_count - merged.cell_count))
    (step,) = found
    assert step.removed / step.lost >= best
    assert step.sensitive == found.table.is_sensitive.sum()


def test_suggestions_lead_where_they_say() -> None:
    """All merges at once give the table that the last step describes; text and frame agree."""
    table, rule = sparse_table(), tacit.MinFrequency(3)
    found = suggest_recodes(table, rule, most=6)
    assert len(found) > 1
    again = recode(table, found.recodes).apply(rule)
    assert int(again.is_sensitive.sum()) == found.steps[-1].sensitive
    assert again.cell_count == found.steps[-1].cells
    assert sorted(again.value.tolist()) == sorted(found.table.value.tolist())
    frame = found.to_frame("dict")
    assert frame["sensitive"].tolist() == [step.sensitive for step in found]
    lines = str(found).splitlines()
    assert len(lines) == len(found) + 2
    assert lines[1].startswith("as it is")
    left = [step.sensitive for step in found]
    assert left == sorted(left, reverse=True)


def test_suggestions_need_rules_and_can_be_stopped() -> None:
    """Without rules there is nothing to judge by; who stops the search gets what there is."""

    class Stopping(Observer):
        def should_stop(self) -> bool:
            return True

    with pytest.raises(InputError, match="name the rules"):
        suggest_recodes(sparse_table())
    assert len(suggest_recodes(sparse_table(), tacit.MinFrequency(3), observer=Stopping())) == 0


def test_what_the_table_cannot_tell_is_refused_with_advice() -> None:
    """A firm in both merged cells counts once, which the table alone does not know."""
    records: dict[str, list[Any]] = {
        "region": ["N1", "N2", "N3"],
        "age": ["0", "0", "0"],
        "firm": ["f", "f", "g"],
        "value": [4, 5, 6],
    }
    table = tabulated(records, {"region": REGIONS, "age": AGES})
    with pytest.raises(TableError, match=r"region=x.*tacit.grouped.*overlap='worst'"):
        recode(table, {"region": {"x": ["N1", "N3"]}})
    worst = recode(table, {"region": {"x": ["N1", "N3"]}}, overlap="worst")
    assert worst.count is not None
    assert worst.top is not None
    place = worst.labels.index("region=x, age=0")
    assert (worst.count[place], worst.top[place, 0]) == (1, 10)
