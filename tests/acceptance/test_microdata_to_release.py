"""From records to a publication: every step against plain Python, the whole against an attacker."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import tacit
from tests.acceptance import slow
from tests.acceptance.slow import Cell, Codes, Record

PARENTS = {
    "industry": {"A1": "A", "A2": "A", "B1": "B", "A": "Total", "B": "Total", "C": "Total"},
    "region": {"N": "Total", "S": "Total"},
}
BY = {name: tacit.Hierarchy.from_parents(parents) for name, parents in PARENTS.items()}
FIRMS = [f"f{number}" for number in range(8)]


@st.composite
def microdata(
    draw: st.DrawFn, *, negative: bool = False, weights: tuple[Fraction, ...] = (Fraction(1),)
) -> list[Record]:
    """Records of a few firms; each firm has one holding, one weight, and asks or does not."""
    of_firm = {
        firm: {
            "holding": draw(st.sampled_from([None, None, "f1", "h"])),
            "weight": draw(st.sampled_from(weights)),
            "asks": draw(st.booleans()),
        }
        for firm in FIRMS
    }
    record = st.fixed_dictionaries(
        {
            "industry": st.sampled_from(["A1", "A2", "B1", "C"]),
            "region": st.sampled_from(["N", "S"]),
            "firm": st.sampled_from(FIRMS),
            "value": st.integers(-30 if negative else 0, 60),
            "staff": st.integers(0, 9),
        }
    )
    rows = draw(st.lists(record, min_size=1, max_size=20))
    return [{**row, **of_firm[str(row["firm"])]} for row in rows]


def tabulated(records: list[Record], **options: Any) -> tacit.Table:
    """The table that tacit makes of records."""
    columns = {name: [record[name] for record in records] for name in records[0]}
    columns["weight"] = [float(weight) for weight in columns["weight"]]
    table: tacit.Table = tacit.tabulate(columns, BY, "value", contributor="firm", **options)
    return table


def keys_of(table: tacit.Table) -> list[Codes]:
    """The codes of every cell."""
    return list(zip(*(table.codes(name).tolist() for name in BY), strict=True))


def sizes(amounts: Any) -> list[float | None]:
    """Magnitudes: contributions of the same size may come in any order."""
    return [None if one is None or np.isnan(one) else abs(one) for one in amounts]


HALVES = (Fraction(1, 2), Fraction(1), Fraction(5, 2), Fraction(4))


@settings(max_examples=25)
@given(records=microdata(negative=True, weights=HALVES), shadow=st.sampled_from([None, "staff"]))
def test_tabulation_is_the_obvious_one(records: list[Record], shadow: str | None) -> None:
    """Totals, contributors, holdings, weights, shadow and requests are those of plain Python."""
    table = tabulated(
        records, holding="holding", weight="weight", shadow=shadow, request="asks", top=3
    )
    cells = slow.cells_of(records, PARENTS, shadow or "value")
    assert set(keys_of(table)) == set(cells)
    frame = table.to_frame("dict")
    for number, key in enumerate(keys_of(table)):
        cell = cells[key]
        everybody = cell.contributors.values()
        assert frame["value"][number] == pytest.approx(float(cell.value))
        assert frame["count"][number] == len(everybody)
        assert frame["weighted_count"][number] == float(sum(one.weight for one in everybody))
        assert frame["requested"][number] == sum(one.asks for one in everybody)
        assert frame["holding_count"][number] == len(cell.holdings)
        top = [frame[f"top_{rank}"][number] for rank in (1, 2, 3)]
        assert sizes(top) == sizes(slow.largest((one.shadow for one in everybody), 3))
        held = [frame[f"holding_top_{rank}"][number] for rank in (1, 2, 3)]
        if shadow is None:
            added = slow.largest((one.weighted for one in cell.holdings.values()), 3)
            assert sizes(held) == sizes(added)
        else:
            total = sum(one.weight * one.shadow for one in everybody)
            assert frame["shadow"][number] == float(total)


@settings(max_examples=40)
@given(
    records=st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(-9, 9), st.sampled_from([1, 2, 3])),
        min_size=1,
    )
)
def test_weights_that_differ_within_a_firm(records: list[tuple[str, int, int]]) -> None:
    """Weight times contribution is what a firm adds to the total, also with gains and losses."""
    firm, value, weight = (list(column) for column in zip(*records, strict=True))
    columns = {"region": ["N"] * len(firm), "firm": firm, "value": value, "weight": weight}
    table = tacit.tabulate(columns, {"region": None}, "value", contributor="firm", weight="weight")
    assert table.top is not None
    assert table.top_weight is not None
    added = [sum(v * w for f, v, w in records if f == one) for one in set(firm)]
    found = np.nan_to_num(table.top[0] * table.top_weight[0])[: len(added)]
    assert sorted(found) == pytest.approx(sorted(added))


@settings(max_examples=20)
@given(records=microdata(), also=st.booleans())
def test_empty_cells_are_kept_on_demand(records: list[Record], also: bool) -> None:
    """With `keep_empty` every combination of codes is a cell; those that are filled stay as is."""
    options: dict[str, Any] = {"holding": "holding"} if also else {}
    table, full = tabulated(records, **options), tabulated(records, keep_empty=True, **options)
    assert full.cell_count == 7 * 3
    assert full.count is not None
    filled = full.count > 0
    kept = [key for key, there in zip(keys_of(full), filled, strict=True) if there]
    assert kept == keys_of(table)
    for name in ("value", "count", "top", "holding_count", "holding_top"):
        column = getattr(full, name)
        if column is not None:
            np.testing.assert_array_equal(column[filled], getattr(table, name))
    assert not full.value[~filled].any()
    assert set(full.status[~filled]) <= {"empty"}


def levels_of(table: tacit.Table) -> dict[Codes, tuple[float, float]]:
    """The sensitive cells with their levels."""
    problem, keys = table.problem(), keys_of(table)
    found = zip(problem.sensitive, problem.lower_level, problem.upper_level, strict=True)
    return {keys[cell]: (float(lower), float(upper)) for cell, lower, upper in found}


def assert_judged(
    table: tacit.Table, rule: Any, expected: dict[Codes, Fraction | None], cells: dict[Codes, Cell]
) -> None:
    """A rule finds the expected cells; levels are as expected, none below zero, never nothing."""
    found = levels_of(table.apply(rule))
    assert set(found) == {key for key, level in expected.items() if level is not None}
    for key, (lower, upper) in found.items():
        level = float(expected[key] or 0)
        if level > 0:
            assert upper == pytest.approx(level)
            assert lower == pytest.approx(min(level, float(cells[key].value)))
        else:
            assert lower + upper > 0


SMALL = st.sampled_from([Fraction(5), Fraction(12), Fraction(40)])
WHOLE = (Fraction(1), Fraction(2), Fraction(3))


@settings(max_examples=40)
@given(
    records=microdata(weights=WHOLE),
    sampled=st.booleans(),
    n=st.integers(1, 3),
    p=SMALL,
    q=st.sampled_from([Fraction(60), Fraction(100), Fraction(150)]),
    k=st.sampled_from([Fraction(30), Fraction(70), Fraction(95)]),
)
def test_concentration_rules_are_their_definitions(
    records: list[Record], sampled: bool, n: int, p: Fraction, q: Fraction, k: Fraction
) -> None:
    """Dominance, p% and prior-posterior with coalitions; a weight of 3 stands for three firms."""
    if not sampled:
        records = [{**record, "weight": Fraction(1)} for record in records]
    table = tabulated(records, weight="weight" if sampled else None, top=4)
    cells = slow.cells_of(records, PARENTS)
    written_out = {}
    for key, cell in cells.items():
        firms = cell.contributors.values()
        written_out[key] = slow.copies([f.value for f in firms], [f.weight for f in firms])
    rules: list[tuple[Any, Callable[[list[Fraction]], Fraction | None]]] = [
        (tacit.Dominance(n, float(k)), lambda c: slow.dominance_level(c, n, k)),
        (tacit.PPercent(float(p), n), lambda c: slow.prior_posterior_level(c, p, Fraction(100), n)),
        (
            tacit.PriorPosterior(float(p), float(q), n),
            lambda c: slow.prior_posterior_level(c, p, q, n),
        ),
    ]
    for rule, judge in rules:
        assert_judged(table, rule, {key: judge(c) for key, c in written_out.items()}, cells)


@settings(max_examples=40)
@given(records=microdata(), minimum=st.integers(1, 5), share=st.sampled_from([0, 15, 50]))
def test_other_rules_are_their_definitions(records: list[Record], minimum: int, share: int) -> None:
    """Minimum frequency (firms and holdings), holdings' p%, requests, zeros, small counts."""
    table = tabulated(records, holding="holding", request="asks", top=8)
    cells = slow.cells_of(records, PARENTS)

    def when(holds: Any) -> dict[Codes, Fraction | None]:
        return {key: cell.value / 10 if holds(cell) else None for key, cell in cells.items()}

    rule: Any = tacit.MinFrequency(minimum)
    assert_judged(table, rule, when(lambda cell: len(cell.contributors) < minimum), cells)
    rule = tacit.MinFrequency(minimum, holding=True)
    assert_judged(table, rule, when(lambda cell: len(cell.holdings) < minimum), cells)

    def is_asked_for(cell: Cell) -> bool:
        askers = [one.value for one in cell.contributors.values() if one.asks]
        return any(share == 0 or 100 * value > share * cell.value for value in askers)

    assert_judged(table, tacit.Request(share), when(is_asked_for), cells)
    assert_judged(table, tacit.ZeroCells(), when(lambda cell: cell.value == 0), cells)
    held = {
        key: slow.prior_posterior_level(
            [one.value for one in cell.holdings.values()], Fraction(20), Fraction(100)
        )
        for key, cell in cells.items()
    }
    assert_judged(table, tacit.PPercent(20, holding=True), held, cells)
    small = levels_of(table.apply(tacit.SmallCounts(20)))
    assert small == {
        key: (float(cell.value), float(20 - cell.value))
        for key, cell in cells.items()
        if 0 < cell.value < 20
    }


@settings(max_examples=25)
@given(records=microdata(negative=True), p=SMALL)
def test_losses_hide_as_gains_do(records: list[Record], p: Fraction) -> None:
    """With all contributions known, negative ones are judged by magnitude, exactly."""
    table = tabulated(records, top=len(FIRMS))
    cells = slow.cells_of(records, PARENTS)
    expected = {
        key: slow.prior_posterior_level(
            [abs(one.value) for one in cell.contributors.values()], p, Fraction(100)
        )
        for key, cell in cells.items()
    }
    found = levels_of(table.apply(tacit.PPercent(float(p))))
    assert set(found) == {key for key, level in expected.items() if level is not None}
    for key, (_, upper) in found.items():
        assert upper == pytest.approx(float(expected[key] or 0))


@settings(max_examples=25)
@given(records=microdata(negative=True), p=SMALL, known=st.integers(2, 3))
def test_what_is_not_known_makes_no_cell_safe(
    records: list[Record], p: Fraction, known: int
) -> None:
    """With fewer of the largest contributions a rule finds the same cells or more."""
    rule = tacit.PPercent(float(p))
    everything = levels_of(tabulated(records, top=len(FIRMS)).apply(rule))
    some = levels_of(tabulated(records, top=known).apply(rule))
    assert set(everything) <= set(some)
    assert all(some[key][1] >= upper - 1e-9 for key, (_, upper) in everything.items())


@settings(max_examples=30)
@given(records=microdata())
def test_levels_on_one_side_or_sliding(records: list[Record]) -> None:
    """Lower, upper and sliding levels are those of both sides, one of them or their sum."""
    table, rules = tabulated(records), (tacit.PPercent(25), tacit.MinFrequency(3, percent=20))
    both = table.apply(*rules, least_level=0.5).problem()
    upper = table.apply(*rules, least_level=0.5, levels="upper").problem()
    sliding = table.apply(*rules, least_level=0.5, levels="sliding").problem()
    np.testing.assert_array_equal(both.sensitive, upper.sensitive)
    np.testing.assert_array_equal(both.sensitive, sliding.sensitive)
    np.testing.assert_allclose(upper.upper_level, both.upper_level)
    filled = both.value[both.sensitive] > 0
    assert not upper.lower_level[filled].any()
    widths = (both.lower_level + both.upper_level)[filled]
    np.testing.assert_allclose(sliding.sliding_level[filled], widths)


def interval(table: tacit.Table, published: Any, cell: int) -> tuple[float, float]:
    """What a reader deduces of a cell from the published frame, by linear programs."""
    relations = table.problem().relations.toarray()
    bounds = [(0, None) if np.isnan(value) else (value, value) for value in published]
    found = []
    for sign in (1, -1):
        cost = np.zeros(len(bounds))
        cost[cell] = sign
        solved = linprog(cost, A_eq=relations, b_eq=np.zeros(len(relations)), bounds=bounds)
        assert solved.status in (0, 3)
        best = -np.inf if solved.fun is None else float(solved.fun)
        found.append(sign * best)
    return found[0], found[1]


@settings(max_examples=12)
@given(records=microdata(), p=SMALL, weight=st.sampled_from(["unit", "value", "count"]))
def test_releases_withstand_a_reader(records: list[Record], p: Fraction, weight: str) -> None:
    """From records to release: no sensitive cell is published or deduced within its levels."""
    judged = tabulated(records, holding="holding", keep_empty=True).apply(
        tacit.MinFrequency(2), tacit.PPercent(float(p), holding=True), weight=weight
    )
    outcome = tacit.suppress(judged.problem(), time_limit=20)
    if outcome.solution is None:
        # A firm that is alone in the whole table cannot be hidden.
        with pytest.raises(tacit.NoReleaseError, match="no safe outcome exists"):
            tacit.protect(judged, "suppress", time_limit=20)
        return
    release = tacit.protect(judged, "suppress", time_limit=20)
    frame = release.published.to_frame("dict")
    assert set(frame) == {"industry", "region", "value", "status"}
    assert set(frame["status"]) <= {"published", "suppressed"}
    hidden = np.isnan(frame["value"])
    np.testing.assert_array_equal(hidden, frame["status"] == "suppressed")
    np.testing.assert_array_equal(frame["value"][~hidden], judged.value[~hidden])
    problem = judged.problem()
    for cell, lower, upper in zip(
        problem.sensitive, problem.lower_level, problem.upper_level, strict=True
    ):
        assert hidden[cell]
        low, high = interval(judged, frame["value"], int(cell))
        assert low <= judged.value[cell] - lower + 1e-6
        assert high >= judged.value[cell] + upper - 1e-6


def test_group_disclosure_from_records() -> None:
    """All patients of the north are ill: the zero beside them is a cell, hidden with them."""
    records = {
        "region": ["N"] * 4 + ["S"] * 5 + ["W"] * 6,
        "ill": ["yes"] * 4 + ["yes"] * 2 + ["no"] * 3 + ["yes"] * 3 + ["no"] * 3,
    }
    by: dict[str, tacit.Hierarchy | None] = {"region": None, "ill": None}
    rule = tacit.GroupDisclosure(by="ill")
    with pytest.raises(tacit.TableError, match=r"not in the table: \(region=N, ill=yes\)"):
        tacit.tabulate(records, by).apply(rule)
    table = tacit.tabulate(records, by, keep_empty=True).apply(rule)
    sensitive = [table.labels[cell] for cell in table.problem().sensitive]
    assert sensitive == ["region=N, ill=no", "region=N, ill=yes"]
    frame = tacit.protect(table, "suppress", time_limit=10).published.to_frame("dict")
    hidden = {
        (r, i)
        for r, i, s in zip(frame["region"], frame["ill"], frame["status"], strict=True)
        if s == "suppressed"
    }
    assert {("N", "yes"), ("N", "no")} < hidden


def test_shadow_carries_levels_over() -> None:
    """Rules judge staff, and the level is the same share of turnover as it is of staff."""
    records = {
        "r": ["N"] * 3 + ["S"] * 4,
        "f": list("abcdefg"),
        "v": [10, 10, 10, 5, 5, 5, 5],
        "s": [90, 5, 5, 3, 3, 3, 3],
    }
    table = tacit.tabulate(records, {"r": None}, "v", contributor="f", shadow="s")
    judged = table.apply(tacit.PPercent(20)).problem()
    assert judged.labels is not None
    level = {
        judged.labels[cell]: up
        for cell, up in zip(judged.sensitive, judged.upper_level, strict=True)
    }
    assert level == pytest.approx({"r=N": (18 - 5) * 30 / 100, "r=Total": (18 - 17) * 50 / 112})


def test_a_stopped_tabulation_gives_no_table() -> None:
    """An observer that wants to stop is heard."""

    class Impatient(tacit.Observer):
        def should_stop(self) -> bool:
            return True

    with pytest.raises(tacit.StoppedError, match="was stopped"):
        tacit.tabulate({"r": ["x"]}, {"r": None}, observer=Impatient())
