"""What contributors know of a table, and what must stay uncertain to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InputError, TableError
from tacit.hierarchy import Hierarchy
from tacit.insiders import Insiders
from tacit.microdata import tabulate
from tacit.rules import Dominance, Manual, MinFrequency, PPercent, PriorPosterior, SmallCounts
from tacit.table import Table
from tacit.table.contributors import CONTRIBUTOR, HOLDING, numbers_of
from tests.table.firms import BY, columns, keys, raw, rows_of_firms, two_children


def as_dict(table: Table, insiders: Insiders) -> list[dict[tuple[str, ...], tuple[float, ...]]]:
    """For each insider and cell: amount, alone, lower, upper and sliding level."""
    codes = keys(table)
    found = []
    for insider in range(len(insiders)):
        at = insiders.entries(insider)
        own = insiders.own
        parts = (insiders.cells, insiders.amount, insiders.alone, own.lower, own.upper, own.sliding)
        entries = zip(*(column[at].tolist() for column in parts), strict=True)
        found.append({codes[cell]: tuple(map(float, rest)) for cell, *rest in entries})
    return found


def p_percent(cell: dict[str, float], k: str, p: float, coalition: int) -> float:
    """U(i, k) by definition: k and the most telling others bound the largest one left."""
    others = sorted((c for firm, c in cell.items() if firm != k), reverse=True)
    if not others:
        return 0.0
    together = cell.get(k, 0.0) + sum(others[1:coalition])
    return max(together + (1 + p / 100) * others[0] - sum(cell.values()), 0.0)


def prior_posterior(cell: dict[str, float], k: str, p: float, q: float) -> float:
    """What is missing until k cannot estimate the largest other one, others known to within q%."""
    others = sorted((c for firm, c in cell.items() if firm != k), reverse=True)
    if not others:
        return 0.0
    hi = others[0] + cell.get(k, 0.0) + (1 - q / 100) * sum(others[1:])
    return max(hi + p / 100 * others[0] - sum(cell.values()), 0.0)


@settings(max_examples=150)
@given(rows_of_firms(), st.sampled_from([5.0, 15.0, 60.0]), st.integers(1, 2))
def test_p_percent_against_brute_force(
    rows: list[dict[str, Any]], p: float, coalition: int
) -> None:
    """Every firm's levels in every sensitive cell are those of the definition, from outside too."""
    table = tabulate(columns(rows), BY, "v", contributor="firm", top=3)
    table = table.apply(PPercent(p, coalition=coalition), least_level=1e-12)
    problem = table.problem("contributors")
    cells, codes = raw(rows), keys(table)
    if problem.insiders is None:
        return
    assert problem.insiders.are_identified
    firms = {firm for cell in cells.values() for firm in cell}
    assert len(problem.insiders) == len(firms)
    sensitive = {codes[cell] for cell in problem.sensitive}
    for entries in as_dict(table, problem.insiders):
        (firm,) = [
            f
            for f in firms
            if {c: cells[c][f] for c in cells if f in cells[c]}
            == {c: entry[0] for c, entry in entries.items()}
        ][:1]
        for cell, (amount, alone, lower, upper, sliding) in entries.items():
            assert amount == cells[cell][firm]
            assert alone == (len(cells[cell]) == 1)
            assert lower <= 1e-12
            assert sliding == 0
            wanted = p_percent(cells[cell], firm, p, coalition) if cell in sensitive else 0.0
            assert upper == pytest.approx(wanted, abs=1e-9)
    outside = problem.insiders.outside
    for place, cell in enumerate(problem.sensitive):
        wanted = p_percent(cells[codes[cell]], "nobody", p, coalition)
        assert outside.upper[place] == pytest.approx(wanted, abs=1e-9)
    assert (outside.upper <= problem.upper_level).all()
    assert (outside.lower <= 1e-12).all()


@settings(max_examples=100)
@given(rows_of_firms())
def test_prior_posterior_against_brute_force(rows: list[dict[str, Any]]) -> None:
    """With others known to within q%, both sides follow from the definition."""
    p, q = 20.0, 50.0
    table = tabulate(columns(rows), BY, "v", contributor="firm")
    table = table.apply(PriorPosterior(p, q), least_level=1e-12)
    problem = table.problem("contributors")
    if problem.insiders is None:
        return
    cells, codes = raw(rows), keys(table)
    sensitive = {codes[cell] for cell in problem.sensitive}
    for entries in as_dict(table, problem.insiders):
        for cell, (amount, _, lower, upper, _) in entries.items():
            if cell in sensitive:
                likely = [firm for firm, c in cells[cell].items() if c == amount]
                wanted = prior_posterior(cells[cell], likely[0], p, q)
                assert upper == pytest.approx(wanted, abs=1e-9)
                below = min(wanted, sum(cells[cell].values()) - amount)
                assert lower == pytest.approx(below, abs=1e-9)


@settings(max_examples=100)
@given(rows_of_firms(), st.sampled_from(["frequency", "dominance", "manual"]))
def test_percentages_of_what_others_contribute(rows: list[dict[str, Any]], kind: str) -> None:
    """Frequency, dominance and marks ask for the same percentage of what is not a firm's own."""
    table = tabulate(columns(rows), BY, "v", contributor="firm")
    if kind == "manual":
        table = (
            table.apply(Manual({"region": ["N"], "kind": ["All"]}, percent=150))
            if ("N", "All") in keys(table)
            else table.apply(MinFrequency(9, percent=150))
        )
    else:
        table = table.apply(MinFrequency(3) if kind == "frequency" else Dominance(1, 80))
    problem = table.problem("contributors")
    if problem.insiders is None:
        return
    codes = keys(table)
    level = {
        codes[cell]: (problem.value[cell], problem.lower_level[at], problem.upper_level[at])
        for at, cell in enumerate(problem.sensitive)
    }
    for entries in as_dict(table, problem.insiders):
        for cell, (amount, alone, lower, upper, _) in entries.items():
            if cell not in level or alone:
                assert lower == upper == 0
                continue
            value, readers_lower, readers_upper = level[cell]
            share = (value - amount) / value
            assert upper == pytest.approx(readers_upper * share)
            # A level of 150 % was cut to the value already.
            assert lower <= min(value - amount, readers_lower) * (1 + 1e-12)
            assert lower >= readers_lower * share * (1 - 1e-12)


@settings(max_examples=100)
@given(rows_of_firms("abcdefghijkl"))
def test_levels_are_never_below_the_definition(rows: list[dict[str, Any]]) -> None:
    """Where not all firms are listed, levels are at least as high as the definition asks for."""
    table = tabulate(columns(rows), BY, "v", contributor="firm").apply(PPercent(15))
    problem = table.problem("contributors")
    if problem.insiders is None:
        return
    cells, codes = raw(rows), keys(table)
    numbers = {firm: int(numbers_of(CONTRIBUTOR, [firm])[0]) for firm in "abcdefghijkl"}
    assert table.contributors is not None
    for place, cell in enumerate(problem.sensitive):
        listed = set(table.contributors.who[cell].tolist())
        for firm, number in numbers.items():
            if number not in listed:
                wanted = p_percent(cells[codes[cell]], firm, 15, 1)
                assert problem.insiders.outside.upper[place] >= wanted - 1e-9


def paper(a1: str, b1: str) -> Table:
    """The table of [KarlssonOlsson2015, Figure 3.2] with contributions written as in figure 3.3."""
    cells = {
        ("A", "1"): a1,
        ("A", "2"): "40+30+30",
        ("B", "1"): b1,
        ("B", "2"): "40+40+40",
        ("C", "1"): "30+20+20",
        ("C", "2"): "30+30+20",
    }
    rows = [
        {"row": row, "column": column, "v": float(part), "firm": f"{row}{column}.{number}"}
        for (row, column), text in cells.items()
        for number, part in enumerate(text.split("+"))
    ]
    by = {"row": None, "column": None}
    return tabulate(columns(rows), by, "v", contributor="firm").apply(PPercent(10))


def level_of(table: Table, firm: str, row: str, column: str) -> float:
    """The upper level of a cell against one firm."""
    problem = table.problem("contributors")
    insiders, largest = problem.insiders, table.contributors
    assert insiders is not None
    assert largest is not None
    (number,) = numbers_of(CONTRIBUTOR, [firm])
    cell = keys(table).index((row, column))
    home = keys(table).index((firm[0], firm[1]))
    rank = largest.who[home].tolist().index(number)
    amount = largest.amount[home, rank]
    # Insiders have no names: this one is found by its own cell and what it contributes there.
    mine = [
        k
        for k in range(len(insiders))
        if (
            (insiders.cells[insiders.entries(k)] == home)
            & (insiders.amount[insiders.entries(k)] == amount)
        ).any()
    ]
    at = insiders.entries(mine[0])
    there = np.flatnonzero(insiders.cells[at] == cell)
    if len(there):
        return float(insiders.own.upper[at][there[0]])
    return float(insiders.outside.upper[problem.sensitive.tolist().index(cell)])


def test_example_3_1_of_the_paper() -> None:
    """30+20 and 65+10+5: each firm's level is what keeps the largest other one in the dark."""
    table = paper("30+20", "65+10+5")
    problem = table.problem("contributors")
    assert [table.labels[cell] for cell in problem.sensitive] == [
        "row=A, column=1",
        "row=B, column=1",
    ]
    assert problem.upper_level.tolist() == pytest.approx([3, 1.5])
    # Inside: the second largest has the readers' level, 53 - 50 and 81.5 - 80.
    assert level_of(table, "A1.1", "A", "1") == pytest.approx(3)
    assert level_of(table, "B1.1", "B", "1") == pytest.approx(1.5)
    # The largest bounds the second: 30 + 22 - 50, and 65 + 11 - 80 which is below nothing.
    assert level_of(table, "A1.0", "A", "1") == pytest.approx(2)
    assert level_of(table, "B1.0", "B", "1") == 0
    # From elsewhere: 33 - 50 and 71.5 - 80 ask for nothing.
    assert level_of(table, "A1.0", "B", "1") == 0
    assert level_of(table, "B1.0", "A", "1") == 0


def test_example_3_2_of_the_paper() -> None:
    """50 and 80 from one firm each: each must think 10 % more possible for the other."""
    table = paper("50", "80")
    assert level_of(table, "A1.0", "B", "1") == pytest.approx(8)
    assert level_of(table, "B1.0", "A", "1") == pytest.approx(5)
    assert level_of(table, "A1.0", "A", "1") == 0
    insiders = table.problem("singletons").insiders
    assert insiders is not None
    assert len(insiders) == 2
    assert insiders.coalition == 1
    assert insiders.alone.sum() == 2


def test_example_3_3_of_the_paper() -> None:
    """48+2 and 70+8+2: against the firm of 48 no more than 1.1 * 70 has to be possible in B1."""
    table = paper("48+2", "70+8+2")
    # The readers' level asks for 85, the firm of 48 finds 82, and 77 is enough (section 3.1.1).
    assert table.problem("singletons").upper_level.tolist() == pytest.approx([4.8, 5])
    assert level_of(table, "A1.0", "B", "1") == 0
    assert level_of(table, "B1.1", "B", "1") == pytest.approx(5)


@pytest.mark.parametrize("identified", [False, True])
def test_two_firms_alone_in_two_children(identified: bool) -> None:
    """Each firm's level in the parent is the percentage of the other's figure, not of the total."""
    codes = {"firm": ["big", "small", None]} if identified else {}
    table = two_children(**codes).apply(MinFrequency(3))
    problem = table.problem("singletons")
    insiders = problem.insiders
    assert insiders is not None
    assert insiders.are_identified == identified
    first, second = as_dict(table, insiders)
    if ("n1",) not in first:
        first, second = second, first
    assert first["n1",] == (200, 1, 0, 0, 0)
    assert second["n2",] == (3, 1, 0, 0, 0)
    assert first["n",][:4] == pytest.approx((200, 0, 0.3, 0.3))
    assert second["n",][:4] == pytest.approx((3, 0, 20, 20))
    assert insiders.outside.upper.tolist() == pytest.approx([20.3, 20, 0.3])


@pytest.mark.parametrize("identified", [False, True])
def test_a_chain_from_one_firm_is_one_insider(identified: bool) -> None:
    """A parent with one occupied child, both from one firm: one insider, who knows both."""
    nested = Hierarchy.from_nested({"n": ["n1", "n2"], "m": None})
    frame: dict[str, list[Any]] = {"r": ["n1", "m"], "v": [200.0, 500.0], "n": [1, 9]}
    options: dict[str, Any] = {}
    if identified:
        frame["firm"] = ["one", None]
        options = {"top": ["v"], "top_contributor": ["firm"]}
    table = Table.from_frame(frame, {"r": nested}, value="v", count="n", **options)
    insiders = table.apply(MinFrequency(3)).problem("singletons").insiders
    assert insiders is not None
    (only,) = as_dict(table, insiders)
    assert only["n",] == only["n1",] == (200, 1, 0, 0, 0)


def test_a_firm_alone_in_two_cells_is_one_insider() -> None:
    """With identities a firm that is alone in two cells is one attacker, without it is two."""
    codes = {"firm": ["one", "one", None]}
    known = two_children(**codes).apply(MinFrequency(3)).problem("singletons").insiders
    unknown = two_children().apply(MinFrequency(3)).problem("singletons").insiders
    assert known is not None
    assert unknown is not None
    assert (len(known), len(unknown)) == (1, 2)


def test_linked_tables_have_the_same_firms() -> None:
    """A firm that is alone in cells of two linked tables is one attacker, who knows both."""
    rows = {
        "r": ["a", "b", "b", "b"],
        "s": ["x", "y", "y", "y"],
        "v": [5.0, 7.0, 8.0, 9.0],
        "firm": ["one", "two", "three", "four"],
    }
    tables = [tabulate(rows, {name: None}, "v", contributor="firm") for name in "rs"]
    first, second = (table.apply(MinFrequency(2)) for table in tables)
    table = first.link(second)
    insiders = table.problem("singletons").insiders
    assert insiders is not None
    assert len(insiders) == 1
    assert insiders.alone.sum() == 2
    assert insiders.amount.tolist() == [5, 5, 5]
    assert insiders.outside.upper.tolist() == [0.5, 0.5]


def test_a_part_that_is_all_of_its_total_has_the_same_contributors() -> None:
    """Whoever is alone in a cell contributes to its total, so to a part that is the whole total."""
    size = {"a": ["09", "09", "10", "10"], "s": ["1", "2"] * 2, "v": [50.0, 3000.0, 90.0, 800.0]}
    legal = {"a": ["09", "10", "10"], "l": ["LL", "LL", "SP"], "v": [3050.0, 400.0, 490.0]}
    first = Table.from_frame(
        {**size, "n": [1, 1, 9, 9]}, {"a": None, "s": None}, value="v", count="n"
    )
    second = Table.from_frame(
        {**legal, "n": [2, 9, 9]}, {"a": None, "l": None}, value="v", count="n"
    )
    table = first.link(second).apply(MinFrequency(3, percent=10))
    insiders = table.problem("singletons").insiders
    assert insiders is not None
    assert not insiders.are_identified
    entries = next(each for each in as_dict(table, insiders) if ("09", "2", "Total") in each)
    # Its level is the percentage of the other firm's figure, in the total and in the part alike.
    assert entries["09", "Total", "LL"] == entries["09", "Total", "Total"]
    assert entries["09", "Total", "LL"][:4] == pytest.approx((3000, 0, 5, 5))


def test_holdings_attack_where_the_table_has_them() -> None:
    """Two firms of one holding that are alone in a cell are one attacker, who knows it."""
    rows = {
        "r": ["a", "a", "b", "b", "b"],
        "v": [5.0, 6.0, 7.0, 8.0, 9.0],
        "firm": list("uvwxy"),
        "group": ["g", "g", "g", None, None],
    }
    table = tabulate(rows, {"r": None}, "v", contributor="firm", holding="group")
    table = table.apply(PPercent(20, holding=True), PPercent(10))
    insiders = table.problem("singletons").insiders
    assert insiders is not None
    assert insiders.are_holdings
    assert len(insiders) == 1
    assert insiders.cells.tolist() == [0, 1, 2]
    assert insiders.amount.tolist() == [18, 11, 7]
    assert insiders.alone.tolist() == [False, True, False]


def test_holdings_given_by_columns() -> None:
    """Columns with the codes of holdings say who attacks, as those of contributors do."""
    frame = {"r": ["a", "b"], "v": [5.0, 9.0], "h": [1, 1], "t": [5.0, 9.0], "who": ["g", "g"]}
    table = Table.from_frame(
        frame, {"r": None}, value="v", holding_count="h", holding_top=["t"], top_holding=["who"]
    )
    insiders = table.problem("singletons").insiders
    assert insiders is not None
    assert insiders.are_holdings
    assert len(insiders) == 1
    assert insiders.amount.tolist() == [14, 5, 9]
    assert table.holdings is not None
    assert set(table.holdings.who[:, 0].tolist()) == {int(numbers_of(HOLDING, ["g"])[0])}


def test_negative_contributions_are_no_lower_bounds() -> None:
    """Where values may be negative, only cells that a firm is alone in are known to it."""
    rows = {"r": list("aabb"), "v": [9.0, -4.0, 3.0, 5.0], "firm": ["one", "two", "one", "one"]}
    table = tabulate(rows, {"r": None}, "v", contributor="firm").apply(PPercent(10))
    problem = table.problem("singletons")
    assert problem.insiders is not None
    assert problem.insiders.alone.all()
    assert problem.insiders.outside.upper.tolist() == problem.upper_level.tolist()
    assert not problem.insiders.outside.lower.any()


def test_shadows_say_nothing_about_the_value() -> None:
    """Contributions to a shadow are no lower bounds of the value, but count for levels."""
    rows = {"r": list("aab"), "v": [1.0, 2.0, 9.0], "s": [50.0, 10.0, 5.0], "firm": list("xyx")}
    table = tabulate(rows, {"r": None}, "v", contributor="firm", shadow="s").apply(PPercent(10))
    insiders = table.problem("singletons").insiders
    assert insiders is not None
    entries = as_dict(table, insiders)[0]
    assert entries["b",][:2] == (9, 1)
    assert entries["a",][0] == 0
    # The largest of 50 + 10: (50 + 11 - 60) of the shadow is 1/60 of the value, 3.
    assert entries["a",][3] == pytest.approx(3 / 60)


def test_sampling_weights_count_as_readers_do() -> None:
    """With weights nobody knows who stands for whom: the upper level is the readers'."""
    rows = {"r": list("aab"), "v": [10.0, 2.0, 9.0], "w": [1.0, 3.0, 2.0], "firm": list("xyx")}
    table = tabulate(rows, {"r": None}, "v", contributor="firm", weight="w").apply(PPercent(40))
    problem = table.problem("contributors")
    assert problem.insiders is not None
    assert problem.insiders.outside.upper.tolist() == problem.upper_level.tolist()
    assert not problem.insiders.outside.lower.any()


def test_small_counts_leave_the_respondent_out() -> None:
    """A respondent cannot exclude that nobody else is there, nor that there are enough."""
    frame = {"r": ["a", "b"], "v": [2.0, 9.0], "n": [2, 9], "t": [1.0, 1.0], "who": ["u", "w"]}
    table = Table.from_frame(
        frame, {"r": None}, value="v", count="n", top=["t"], top_contributor=["who"]
    ).apply(SmallCounts(3))
    insiders = table.problem("contributors").insiders
    assert insiders is not None
    entries = next(entries for entries in as_dict(table, insiders) if ("a",) in entries)
    assert entries["a",] == (1, 0, 1, 1, 0)


def test_published_cells_tell_nothing_more() -> None:
    """Who is alone only in cells that are published anyhow is no insider."""
    frame = {"r": ["a", "b"], "v": [5.0, 9.0], "n": [1, 3], "s": ["publish", "safe"]}
    table = Table.from_frame(frame, {"r": None}, value="v", count="n", status="s")
    assert table.problem("singletons").insiders is None
    assert table.problem() is table.problem("none")


def test_who_is_asked_for_is_given() -> None:
    """None asked for, none given; contributors without identities are refused; so is nonsense."""
    table = two_children()
    assert table.problem("none").insiders is None
    with pytest.raises(TableError, match="top_contributor"):
        table.problem("contributors")
    with pytest.raises(InputError, match="singletons"):
        table.problem("singleton")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="coalition"):
        table.problem("singletons", coalition=0)
    insiders = table.problem("singletons", coalition=2).insiders
    assert insiders is not None
    assert insiders.coalition == 2


def test_columns_of_codes_must_fit() -> None:
    """Each of the largest contributions has a column that says whose it is."""
    with pytest.raises(TableError, match="top_contributor names 1 columns and top 2"):
        Table.from_frame(
            {"r": ["a"], "value": [5], "t": [3], "u": [2], "who": ["x"]},
            {"r": None},
            top=["t", "u"],
            top_contributor=["who"],
        )


def test_frames_and_texts_never_show_who() -> None:
    """No frame, text or name of a table shows internal numbers or codes of contributors."""
    table = two_children(firm=["big", "small", "other"]).apply(MinFrequency(3))
    assert table.contributors is not None
    shown = f"{table.to_frame('dict')}{table!r}{table.contributors!r}{table.problem()!r}"
    numbers = [str(number) for number in table.contributors.who.ravel() if number >= 0]
    assert not any(number in shown for number in [*numbers, "small"])
    assert not any("contributor" in name for name in table.to_frame("dict"))


def finest(**changes: Any) -> Table:
    """Two cells of one firm below a total, and three with many firms, without totals."""
    cells = {
        "place": ["n1", "n2", "m1", "m2", "m3"],
        "value": [200, 3, 500, 400, 300],
        "firms": [1, 1, 9, 8, 7],
        "first": [200, 3, 90, 80, 70],
        "second": [np.nan, np.nan, 80, 70, 60],
        "who": ["Alpha", "Alpha", "B", "C", "D"],
        "other": ["", "", "C", "D", "E"],
    }
    hierarchy = Hierarchy.from_nested({"n": ("n1", "n2"), "m": ("m1", "m2", "m3")})
    columns: dict[str, Any] = {
        "count": "firms",
        "top": ["first", "second"],
        "top_contributor": ["who", "other"],
    }
    return Table.from_frame({**cells, **changes}, {"place": hierarchy}, **columns)


def test_totals_of_finest_cells_count_a_contributor_once() -> None:
    """A total of two cells of one firm has one contributor, who knows it, and can be protected."""
    table = finest()
    cell = keys(table).index(("n",))
    assert table.count is not None
    assert table.top is not None
    assert table.count[cell] == 1
    assert table.top[cell, 0] == 203
    assert np.isnan(table.top[cell, 1])
    # Not all contributors of these are listed.
    assert table.count[[keys(table).index(("m",)), 0]].tolist() == [24, 26]
    judged = table.apply(PPercent(10))
    insiders = judged.problem("singletons").insiders
    assert insiders is not None
    entry = insiders.cells.tolist().index(cell)
    assert insiders.alone[entry]
    assert insiders.own.upper[entry] == 0
    assert tacit.protect(judged, time_limit=20).papers.audit.safe


def test_more_names_than_contributors_are_refused() -> None:
    """A cell with one contributor cannot have two that are named; the error names neither."""
    with pytest.raises(TableError, match=r"more contributors are named than counted: \(place=n1\)"):
        finest(second=[1, np.nan, 80, 70, 60], other=["Zeta", "", "C", "D", "E"])


@pytest.mark.parametrize("names", ["contributor", "holding"])
def test_whoever_contributes_all_is_alone_where_nobody_counts(names: str) -> None:
    """Without numbers of contributors the largest contribution tells who is alone."""
    cells = {
        "place": ["n1", "n2", "m"],
        "value": [200, 3, 500],
        "first": [200, 3, 90],
        "second": [0, 0, 80],
        "who": ["Alpha", "Beta", "C"],
        "other": ["", "", "D"],
    }
    columns: dict[str, Any] = {"top": ["first", "second"], "top_contributor": ["who", "other"]}
    if names == "holding":
        columns = {"holding_top": ["first", "second"], "top_holding": ["who", "other"]}
    table = Table.from_frame(cells, {"place": None}, **columns)
    judged = table.apply(PPercent(10, holding=names == "holding"))
    insiders = judged.problem("singletons").insiders
    assert insiders is not None
    assert len(insiders) == 2
    alone = [judged.labels[cell] for cell in insiders.cells[insiders.alone].tolist()]
    assert alone == ["place=n1", "place=n2"]
    assert "alone in a cell" in tacit.protect(judged, time_limit=20).guarantee
