"""Sums of suppressed cells that everybody knows, and those of them that rules find sensitive."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.hierarchy import Hierarchy
from tacit.microdata import tabulate
from tacit.rules import Dominance, MinFrequency, PPercent
from tacit.rules.sums import known_sums, nearly_known_sums, sensitive_sums
from tacit.table import Table
from tests.rules.sums import hidden_cells, two_cells
from tests.table.firms import BY, columns, keys, raw, rows_of_firms


def test_one_firm_in_both_cells_is_reported() -> None:
    """A firm with 1000 of 1005 in two suppressed cells whose sum is public is as good as told."""
    table = two_cells()
    (found,) = sensitive_sums(table, hidden_cells(table, ("a",), ("b",)))
    assert [table.labels[cell] for cell in found.cells] == ["r=a", "r=b"]
    assert found.is_exact
    assert found.reason == "p%"
    # 1.1 * 1000 + 3 - 1005
    assert found.upper == pytest.approx(98)
    assert found.label(table) == "(r=a), (r=b): p%"


def test_two_firms_in_the_cells_hide_each_other() -> None:
    """600 and 400 from two firms: neither can estimate the other within 10 %."""
    table = two_cells("other")
    # 1.1 * 600 + 400 is above 1005: sensitive for the other firm, which knows its 400.
    (found,) = sensitive_sums(table, hidden_cells(table, ("a",), ("b",)))
    assert found.upper == pytest.approx(55)
    assert not sensitive_sums(table, hidden_cells(table, ("a",), ("b",), ("c",)))


def test_sums_without_names_are_the_worst_case() -> None:
    """A finished table does not say who is in both cells: it may be the same firm."""
    frame = {
        "r": ["a", "b", "c"],
        "value": [603.0, 402.0, 900.0],
        "n": [2, 2, 9],
        "t": [600.0, 400.0, 100.0],
        "u": [3.0, 2.0, 100.0],
    }
    table = Table.from_frame(frame, {"r": None}, count="n", top=["t", "u"]).apply(PPercent(10))
    (found,) = sensitive_sums(table, hidden_cells(table, ("a",), ("b",)))
    assert not found.is_exact
    assert found.upper == pytest.approx(100)
    assert found.label(table).endswith("p%, in the worst case")


def test_a_rule_that_finds_no_cell_may_find_a_sum() -> None:
    """Cells that are not sensitive themselves, such as secondary ones, are judged together."""
    rows = [("a", "big", 60.0), ("a", "g", 40.0), ("b", "big", 60.0), ("b", "h", 40.0)]
    rows += [("c", f"c{number}", 500.0) for number in range(9)]
    place, firm, value = zip(*rows, strict=True)
    table = tabulate({"r": place, "firm": firm, "v": value}, {"r": None}, "v", contributor="firm")
    judged = table.apply(MinFrequency(4, percent=5), Dominance(1, 59))
    reasons = [
        found.reason for found in sensitive_sums(judged, hidden_cells(table, ("a",), ("b",)))
    ]
    assert reasons == ["minimum frequency; dominance"]
    assert not sensitive_sums(table, hidden_cells(table, ("a",), ("b",)))


def test_a_hidden_total_makes_one_sum_of_two_relations() -> None:
    """Where a subtotal is hidden, its parts and its neighbours add up to something known."""
    nested = Hierarchy.from_nested({"n": ["n1", "n2"], "s": None, "w": None})
    frame = {"r": ["n1", "n2", "s", "w"], "value": [1.0, 2.0, 4.0, 8.0]}
    table = Table.from_frame(frame, {"r": nested})
    hidden = hidden_cells(table, ("n",), ("n1",), ("s",))
    sums = known_sums(table.relations, hidden, np.ones(table.cell_count, bool))
    found = {tuple(sums.indices[a:b].tolist()) for a, b in pairwise(sums.indptr)}
    place = {code: keys(table).index((code,)) for code in ("n", "n1", "s")}
    assert found == {
        tuple(sorted((place["n"], place["s"]))),
        tuple(sorted((place["n1"], place["s"]))),
    }


def test_all_parts_of_a_published_total_are_that_total() -> None:
    """The sum of all parts is published anyhow, and was judged as a cell."""
    table = two_cells()
    assert not sensitive_sums(table, hidden_cells(table, ("a",), ("b",), ("c",)))


@settings(max_examples=80)
@given(rows_of_firms(), st.integers(0, 2**12 - 1))
def test_sums_are_those_of_brute_force(rows: list[dict[str, Any]], mask: int) -> None:
    """Every sum from one or two relations is judged by the definition over raw contributions."""
    table = tabulate(columns(rows), BY, "v", contributor="firm").apply(PPercent(15))
    hidden = np.array([bool(mask >> (cell % 12) & 1) for cell in range(table.cell_count)])
    A = table.relations.toarray()
    shown = [(row, (row != 0) & ~hidden & (row > 0)) for row in A]
    wanted = set()
    combinations = [A[r] for r in range(len(A))]
    bare = [not parts.any() for _, parts in shown]
    for r, q in product(range(len(A)), repeat=2):
        if r < q and (A[r] * A[q] * hidden).any():
            for sign in (1, -1):
                if sign == 1 and bare[r] and bare[q]:
                    continue
                combinations.append(A[r] + sign * A[q])
    for number, row in enumerate(combinations):
        x = row * hidden
        if number < len(A) and bare[number]:
            continue
        if np.count_nonzero(x) > 1 and set(np.abs(x[x != 0])) == {1} and len(set(x[x != 0])) == 1:
            wanted.add(tuple(np.flatnonzero(x).tolist()))
    sums = known_sums(table.relations, hidden, np.ones(table.cell_count, bool))
    found = {tuple(sums.indices[a:b].tolist()) for a, b in pairwise(sums.indptr)}
    assert found == wanted
    cells, codes = raw(rows), keys(table)
    sensitive = {tuple(each.cells.tolist()): each for each in sensitive_sums(table, hidden)}
    for cell_numbers in found:
        firms: dict[str, float] = {}
        for cell in cell_numbers:
            for firm, amount in cells[codes[cell]].items():
                firms[firm] = firms.get(firm, 0.0) + amount
        first, _, *others = [*sorted(firms.values(), reverse=True), 0.0, 0.0]
        missing = 0.15 * first - sum(others)
        assert (cell_numbers in sensitive) == (missing > 1e-9)
        if missing > 1e-9:
            assert sensitive[cell_numbers].is_exact
            assert sensitive[cell_numbers].upper == pytest.approx(missing)


@settings(max_examples=60)
@given(rows_of_firms("abcdefghijkl"))
def test_sums_are_never_taken_for_safer_than_they_are(rows: list[dict[str, Any]]) -> None:
    """Where not all firms are listed, every sum that is sensitive is reported."""
    table = tabulate(columns(rows), BY, "v", contributor="firm").apply(
        PPercent(15), MinFrequency(3)
    )
    hidden = np.arange(table.cell_count) % 2 == 1
    reported = {tuple(each.cells.tolist()): each.upper for each in sensitive_sums(table, hidden)}
    sums = known_sums(table.relations, hidden, np.ones(table.cell_count, bool))
    cells, codes = raw(rows), keys(table)
    for begin, end in pairwise(sums.indptr):
        numbers = tuple(sums.indices[begin:end].tolist())
        firms: dict[str, float] = {}
        for cell in numbers:
            for firm, amount in cells[codes[cell]].items():
                firms[firm] = firms.get(firm, 0.0) + amount
        first, _, *others = [*sorted(firms.values(), reverse=True), 0.0, 0.0]
        missing = 0.15 * first - sum(others)
        if missing > 1e-9 or len(firms) < 3:
            assert numbers in reported
            assert reported[numbers] >= missing - 1e-9


def test_long_relations_are_looked_at_without_their_narrowest_cells() -> None:
    """The sum of ten cells of one firm is found if two others of the relation are narrow."""
    rows = [(f"p{number:02}", "big", 100.0) for number in range(10)]
    rows += [(f"p{number:02}", f"s{number}", 1.0) for number in range(10)]
    rows += [(place, f"{place}{number}", 500.0) for place in "xyz" for number in range(9)]
    place, firm, value = zip(*rows, strict=True)
    records = {"r": place, "firm": firm, "v": value}
    table = tabulate(records, {"r": None}, "v", contributor="firm").apply(PPercent(10))
    number = {label: cell for cell, label in enumerate(table.codes("r").tolist())}
    width = np.full(table.cell_count, 3000.0)
    width[[number["Total"], number["z"]]] = 0.0
    assert not nearly_known_sums(table, width)
    width[[number["x"], number["y"]]] = 20.0
    (found,) = nearly_known_sums(table, width)
    assert found.cells.tolist() == [number[f"p{place:02}"] for place in range(10)]
    assert found.is_close
    width[number["y"]] = 0.0
    assert len(nearly_known_sums(table, width)) == 1
    width[number["x"]] = 0.0
    assert not nearly_known_sums(table, width)
