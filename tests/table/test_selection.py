"""Cells chosen by codes, wildcards and levels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import Hierarchy, TableError
from tacit.table import Table
from tacit.table.selection import read_selection, select

INDUSTRY = Hierarchy.from_nested({"C": ["C10", "C11"], "F": ["F41"]})
REGION = Hierarchy.from_nested(["N", "S", "Bern, canton"])
TABLE = Table.from_cube(
    np.arange(1.0, 10.0).reshape(3, 3), {"industry": INDUSTRY, "region": REGION}
)
LEVEL = {"Total": 0, "C": 1, "F": 1, "C10": 2, "C11": 2, "F41": 2}

industries = {
    "C10": {"C10"},
    "C*": {"C", "C10", "C11"},
    "*": set(LEVEL),
    "*1*": {"C10", "C11", "F41"},
    "level 1": {"C", "F"},
    "level 2": {"C10", "C11", "F41"},
    "leaves": {"C10", "C11", "F41"},
    "Total": {"Total"},
}
regions = {
    "N": {"N"},
    "*": {"Total", "N", "S", "Bern, canton"},
    "Bern, canton": {"Bern, canton"},
    "LEVEL 0": {"Total"},
    "leaves": {"N", "S", "Bern, canton"},
}


def chosen(text: str, table: Table = TABLE) -> set[tuple[str, ...]]:
    """The codes of the cells that a text stands for."""
    cells = select(table, read_selection(text, table))
    assert np.all(np.diff(cells) > 0)
    columns = [table.codes(name)[cells].tolist() for name in table.totals]
    return set(zip(*columns, strict=True))


@given(st.sampled_from([None, *industries]), st.sampled_from([None, *regions]), st.booleans())
def test_selections_by_their_definition(
    industry: str | None, region: str | None, in_words: bool
) -> None:
    """Cells with a matching code in each dimension; what is not named is at its total."""
    parts = []
    for name, entry in (("industry", industry), ("region", region)):
        words = entry is not None and in_words and entry.lower().startswith(("level", "leaves"))
        if entry is not None:
            parts.append(f"{name} {entry}" if words else f"{name} = {entry}")
    if not parts:
        parts = ["industry=Total"]
    expected = {
        (i, r)
        for i in (industries[industry] if industry else {"Total"})
        for r in (regions[region] if region else {"Total"})
    }
    assert chosen(", ".join(parts)) == expected


def test_everything_and_linked_tables() -> None:
    """A star alone is all cells; in a linked table a dimension that is absent is at its total."""
    assert len(chosen("*")) == TABLE.cell_count
    by_region = Table.from_cube(np.array([12.0, 15.0, 18.0]), {"region": REGION})
    by_industry = Table.from_cube(np.array([6.0, 15.0, 24.0]), {"industry": INDUSTRY})
    linked = by_region.link(by_industry)
    assert chosen("region=*", linked) == {(r, "Total") for r in regions["*"]}
    assert chosen("industry leaves", linked) == {("Total", i) for i in industries["leaves"]}
    assert len(chosen("*", linked)) == linked.cell_count


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("North", "'North' does not say which cells; write a dimension"),
        ("regoin=N", "'regoin=N' does not say which cells"),
        ("industry=C10, regoin=N", "'regoin=N' does not say which cells"),
        ("industry=C12", "dimension industry has no code 'C12'; did you mean"),
        ("industry level 3", r"industry has no level 3; its levels are 0 \(the total\) to 2"),
        ("industry=X*", r"no code of dimension industry is like X\*"),
        ("region=N, region=S", "dimension region is named twice"),
    ],
)
def test_what_is_not_there_is_refused(text: str, message: str) -> None:
    """Unknown dimensions, codes and levels are named, with what there is."""
    with pytest.raises(TableError, match=message):
        chosen(text)


def test_a_code_that_looks_like_a_pattern_is_a_code() -> None:
    """Codes are taken as they are before anything is taken for a pattern."""
    odd = Hierarchy.flat(["*", "level 1", "a[1]", "a1"])
    table = Table.from_cube(np.arange(1.0, 5.0), {"x": odd})
    assert chosen("x=*", table) == {("*",)}
    assert chosen("x=level 1", table) == {("level 1",)}
    assert chosen("x=a[*", table) == {("a[1]",)}
