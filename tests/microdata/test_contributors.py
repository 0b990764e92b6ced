"""Who contributes most to a cell: the same number for the same firm in all cells and tables."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.methods.recoding.run import recode
from tacit.microdata import contributions, duck, tabulate
from tacit.table import Table
from tacit.table.contributors import ALONE, CONTRIBUTOR, HOLDING, Largest, numbers_of
from tests.microdata.obvious import BY, Row, columns, records

Shares = dict[int, float]


def shares(rows: list[Row], unit: Any) -> dict[tuple[str, ...], Shares]:
    """What each unit adds to each cell, by walking through the records."""
    found: dict[tuple[str, ...], Shares] = defaultdict(lambda: defaultdict(float))
    for row in rows:
        above = [(row[name], *BY[name].ancestors(row[name])) for name in BY]
        for codes in product(*above):
            found[codes][unit(row)] += row["turnover"]
    return found


def firm_number(row: Row) -> int:
    """The internal number of the firm of a record."""
    return int(numbers_of(CONTRIBUTOR, [row["firm"]])[0])


def holding_number(row: Row) -> int:
    """The internal number of the holding of a record, or of a firm without one."""
    alone = row["holding"] is None
    kind, code = (ALONE, row["firm"]) if alone else (HOLDING, row["holding"])
    return int(numbers_of(kind, [code])[0])


def assert_listed(table: Table, largest: Largest | None, wanted: Any) -> None:
    """All contributors of a table of few firms are listed, in order of size."""
    assert largest is not None
    codes = zip(*(table.codes(name).tolist() for name in BY), strict=True)
    for cell, key in enumerate(codes):
        there = ~np.isnan(largest.amount[cell])
        who, amount = largest.who[cell][there].tolist(), largest.amount[cell][there].tolist()
        assert dict(zip(who, amount, strict=True)) == wanted[key]
        assert sorted(map(abs, amount), reverse=True) == [abs(x) for x in amount]
        assert (largest.who[cell][~there] == -1).all()


@given(records())
def test_contributors_and_holdings_are_listed(rows: list[Row]) -> None:
    """Every cell lists its firms and holdings with what they add, though `top` shows two."""
    source = columns(rows)
    table = tabulate(source, BY, "turnover", contributor="firm", holding="holding")
    assert_listed(table, table.contributors, shares(rows, firm_number))
    assert_listed(table, table.holdings, shares(rows, holding_number))
    assert table.top is not None
    assert table.top.shape[1] == 2


@given(records(min_size=8))
def test_parts_and_threads_list_the_same(rows: list[Row]) -> None:
    """Records that are read in parts, by several threads, list the same contributors."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contributions, "RECORDS_A_THREAD", 2)
        patch.setattr(contributions, "cpu_count", lambda: 3)
        patch.setattr(duck, "MOST_RECORDS", 6)
        table = tabulate(columns(rows), BY, "turnover", contributor="firm", holding="holding")
    assert_listed(table, table.contributors, shares(rows, firm_number))
    assert_listed(table, table.holdings, shares(rows, holding_number))


@given(records(min_size=8), st.booleans())
def test_records_are_contributors_of_their_own(rows: list[Row], in_parts: bool) -> None:
    """Without a contributor each record has a number that no other record has."""
    with pytest.MonkeyPatch.context() as patch:
        if in_parts:
            patch.setattr(duck, "MOST_RECORDS", 4)
        tables = [tabulate(columns(rows), BY, "turnover", top=len(rows)) for _ in range(2)]
    seen = []
    for table in tables:
        assert table.contributors is not None
        everybody = table.contributors.who[0]
        assert len(set(everybody.tolist())) == len(rows)
        seen.append(set(everybody.tolist()))
        for who in table.contributors.who:
            assert set(who[who >= 0].tolist()) <= seen[-1]
    assert not seen[0] & seen[1]


def test_whole_numbers_and_text_are_the_same_codes() -> None:
    """A firm has the same number whether its code is read as a number or as text."""
    text = {"r": ["a", "b"], "v": [1, 2], "firm": ["17", "4"]}
    numbers = {**text, "firm": [17, 4]}
    first, second = (tabulate(s, {"r": None}, "v", contributor="firm") for s in (text, numbers))
    assert first.contributors is not None
    assert second.contributors is not None
    assert np.array_equal(first.contributors.who, second.contributors.who)


def test_many_cells_keep_no_more_than_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where cells are many against records, only as many are listed as rules need."""
    monkeypatch.setattr(contributions, "FEW_CELLS", 2)
    table = tabulate({"r": ["a", "b"], "v": [1, 2]}, {"r": None}, "v", top=1)
    assert table.contributors is not None
    assert table.contributors.who.shape == (3, 1)


def test_counts_of_records_list_nobody() -> None:
    """A table that counts records knows nobody."""
    assert tabulate({"r": ["a", "b"]}, {"r": None}).contributors is None


@given(records())
def test_recoded_cells_list_a_firm_once(rows: list[Row]) -> None:
    """A firm in several of the cells that are merged counts once, with all that it contributes."""
    table = tabulate(columns(rows), {"region": BY["region"]}, "turnover", contributor="firm")
    merged = recode(table, {"region": 1}, overlap="worst")
    codes = merged.codes("region").tolist()
    assert merged.contributors is not None
    for cell, code in enumerate(codes):
        wanted: Shares = defaultdict(float)
        for row in rows:
            if code in (row["region"], *BY["region"].ancestors(row["region"])):
                wanted[firm_number(row)] += row["turnover"]
        who, amount = merged.contributors.who[cell], merged.contributors.amount[cell]
        found = dict(zip(who[who >= 0].tolist(), amount[who >= 0].tolist(), strict=True))
        assert found == wanted
