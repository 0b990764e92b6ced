"""Levels to leave out: counts are those of the recoded table, judged again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.hierarchy import Hierarchy
from tacit.table import Table
from tacit.table.judging import Rule

INDUSTRY = Hierarchy.from_nested({"A": {"A1": ["A11", "A12"], "A2": None}, "B": ["B1", "B2"]})
REGION = Hierarchy.from_nested({"N": ["N1", "N2"], "S": None})
RULES: tuple[tuple[Rule, ...], ...] = (
    (tacit.MinFrequency(2),),
    (tacit.MinFrequency(3), tacit.PPercent(20)),
    (tacit.Dominance(1, 60),),
)


@st.composite
def _records(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Records of a few firms, in any industries and regions."""
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from(INDUSTRY.leaves),
                st.sampled_from(REGION.leaves),
                st.sampled_from("abcdefg"),
                st.integers(1, 50),
            ),
            min_size=1,
            max_size=25,
        )
    )
    names = ("industry", "region", "firm", "turnover")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def _table(records: dict[str, list[Any]], by: dict[str, Hierarchy | None]) -> Table:
    return tacit.tabulate(records, by, "turnover", contributor="firm", top=2)


def _cut(hierarchy: Hierarchy, level: int) -> Hierarchy:
    """The hierarchy without what lies deeper, written independently of recoding."""
    kept = [code for code in hierarchy.codes if len(hierarchy.ancestors(code)) <= level]
    above = {code: hierarchy.parent_of(code) for code in kept[1:]}
    return Hierarchy.from_parents(above) if above else Hierarchy((hierarchy.total,), (-1,))


@settings(max_examples=8)
@given(_records(), st.sampled_from(RULES))
def test_counts_are_those_of_tabulating_without_the_level(
    records: dict[str, list[Any]], rules: tuple[Rule, ...]
) -> None:
    """Cells and sensitive cells are as many as in a table tabulated without the levels."""
    by: dict[str, Hierarchy] = {"industry": INDUSTRY, "region": REGION}
    table = _table(records, dict(by)).apply(*rules)
    found = tacit.suggest_levels(table)
    before = int(table.is_sensitive.sum())
    seen = set()
    for choice in found:
        seen.add((choice.dimension, choice.level))
        coarse = _cut(by[choice.dimension], choice.level)
        codes = {
            code: next(up for up in (code, *by[choice.dimension].ancestors(code)) if up in coarse)
            for code in by[choice.dimension]
        }
        cut = dict(records)
        cut[choice.dimension] = [codes[code] for code in records[choice.dimension]]
        if choice.level == 0:
            others: dict[str, Hierarchy | None] = {
                name: hierarchy for name, hierarchy in by.items() if name != choice.dimension
            }
            again = _table(cut, others).apply(*rules)
        else:
            again = _table(cut, {**by, choice.dimension: coarse}).apply(*rules)
        assert choice.cells == again.cell_count == table.cell_count - choice.lost
        assert choice.sensitive == int(again.is_sensitive.sum()) == before - choice.removed
        assert choice.removed > 0
        recoded = tacit.recode(_table(records, dict(by)), choice.recodes).apply(*rules)
        assert int(recoded.is_sensitive.sum()) == choice.sensitive
    every = {("industry", k) for k in (0, 1, 2)} | {("region", k) for k in (0, 1)}
    for dimension, level in every - seen:
        recoded = tacit.recode(_table(records, dict(by)), {dimension: level}).apply(*rules)
        assert int(recoded.is_sensitive.sum()) == before


def test_the_least_loss_for_what_it_does_comes_first() -> None:
    """Ways are ordered by sensitive cells removed for each cell lost, whole dimensions last."""
    records = {
        "industry": ["A11", "A12", "A2", "B1", "B2"] * 2,
        "region": ["N1"] * 5 + ["S"] * 5,
        "firm": [*"abcdefghij"],
        "turnover": [5, 6, 7, 8, 9, 10, 11, 12, 13, 14],
    }
    found = tacit.suggest_levels(
        _table(records, {"industry": INDUSTRY, "region": REGION}), tacit.MinFrequency(2)
    )
    rewards = [each.removed / each.lost for each in found if each.level]
    assert rewards == sorted(rewards, reverse=True)
    zero = [each.level == 0 for each in found]
    assert zero == sorted(zero)
    named = {(each.dimension, each.level): each.named for each in found}
    assert named["industry", 2] == "level 3 of industry (such as A11)"
    assert named["industry", 1] == "levels 2 to 3 of industry (such as A1)"
    assert named["industry", 0] == "industry"
    frame = found.to_frame("dict")
    assert frame["removed"].tolist() == [each.removed for each in found]
    assert len(str(found).splitlines()) == len(found) + 2


def test_nothing_to_remove_suggests_nothing() -> None:
    """A table without sensitive cells has no level to leave out."""
    table = Table.from_frame({"region": ["N", "S"], "value": [1, 2]}, {"region": None})
    assert len(tacit.suggest_levels(table)) == 0


def test_linked_tables() -> None:
    """A cell of two tables remains as long as one of them keeps it."""
    fine = Table.from_frame(
        {"industry": ["A1", "A2"], "value": [1.0, 2.0], "count": [1, 1]},
        {"industry": Hierarchy.from_nested({"A": ["A1", "A2"]})},
        count="count",
    )
    flat = Table.from_frame(
        {"industry": ["A1", "A2"], "value": [1.0, 2.0], "count": [1, 1]},
        {"industry": Hierarchy.flat(["A1", "A2"])},
        count="count",
    )
    linked = fine.link(flat).apply(tacit.MinFrequency(2))
    assert [(each.level, each.sensitive) for each in tacit.suggest_levels(linked)] == [(0, 0)]


def test_without_a_release_levels_are_named() -> None:
    """The error of a table without a safe publication names levels, and tells no figures."""
    table = Table.from_frame(
        {
            "industry": ["A11", "A12", "A2", "B1"],
            "value": [10.0, 20.0, 30.0, 40.0],
            "count": [1, 5, 5, 5],
            "state": ["safe", "publish", "safe", "safe"],
        },
        {"industry": INDUSTRY},
        count="count",
        status="state",
        cells="finest",
    ).apply(tacit.MinFrequency(2))
    with pytest.raises(tacit.NoReleaseError) as raised:
        tacit.protect(table, "suppress", time_limit=5, max_suppressed=0)
    assert raised.value.recodes is not None
    assert raised.value.recodes.choices[0].recodes == {"industry": 2}
    told = str(raised.value).splitlines()[-1]
    assert told == (
        "  fewer cells are sensitive without level 3 of industry (such as A11) by [recode] "
        "industry = 2, levels 2 to 3 of industry (such as A1) by [recode] industry = 1, industry "
        "by [recode] industry = 0"
    )
