"""A slow, obvious tabulation in pure Python, and random microdata to compare with."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tacit.hierarchy import Hierarchy
from tacit.table import Table

REGION = Hierarchy.from_nested({"North": {"N1": ["N1a", "N1b"], "N2": None}, "South": None})
INDUSTRY = Hierarchy.from_prefixes(["01", "02", "11"], lengths=(1, 2), total="All")
BY = {"region": REGION, "industry": INDUSTRY}
COLUMNS = ("value", "shadow", "count", "weighted_count", "holding_count", "requested")
TOPS = ("top", "top_weight", "top_requested", "holding_top")
Row = dict[str, Any]
Cell = dict[str, Any]


def records(
    *, min_size: int = 1, max_size: int = 25, negative: bool = True
) -> st.SearchStrategy[list[Row]]:
    """Random records: few firms with many records, each firm in one holding or none."""
    low = -5 if negative else 0
    row = st.fixed_dictionaries(
        {
            "region": st.sampled_from(REGION.leaves),
            "industry": st.sampled_from(INDUSTRY.leaves),
            "firm": st.sampled_from(["a", "b", "c", "d", "e"]),
            "turnover": st.integers(low, 9),
            "staff": st.integers(0, 4),
            "weight": st.sampled_from([0.5, 1.0, 1.0, 2.0, 4.0]),
            "asks": st.booleans(),
        }
    )
    holding = st.fixed_dictionaries(
        {firm: st.sampled_from([None, "h", "g"]) for firm in ("a", "b", "c", "d", "e")}
    )

    def join(rows: list[Row], holdings: dict[str, str | None]) -> list[Row]:
        return [{**row, "holding": holdings[row["firm"]]} for row in rows]

    return st.builds(join, st.lists(row, min_size=min_size, max_size=max_size), holding)


def columns(rows: list[Row]) -> dict[str, list[Any]]:
    """Records as columns."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def obvious(
    rows: list[Row],
    by: dict[str, Hierarchy],
    value: str | None = None,
    *,
    contributor: str | None = None,
    holding: str | None = None,
    weight: str | None = None,
    shadow: str | None = None,
    request: str | None = None,
    top: int = 2,
) -> dict[tuple[str, ...], Cell]:
    """Every cell that is not empty, by walking through the records again for each."""
    members: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        above = [(row[name], *hierarchy.ancestors(row[name])) for name, hierarchy in by.items()]
        for codes in product(*above):
            members[codes].append(number)
    who = [(row[contributor] if contributor else number) for number, row in enumerate(rows)]
    askers = {one for one, row in zip(who, rows, strict=True) if request and row[request]}
    result = {}
    for codes, numbers in members.items():
        response = {n: rows[n][value] if value else 1 for n in numbers}
        judged = {n: rows[n][shadow] if shadow else response[n] for n in numbers}
        weights = {n: rows[n][weight] if weight else 1.0 for n in numbers}
        firms: dict[Any, list[int]] = defaultdict(list)
        groups: dict[Any, list[int]] = defaultdict(list)
        for n in numbers:
            firms[who[n]].append(n)
            if holding:
                group = rows[n][holding]
                groups[("alone", who[n]) if group is None else ("group", group)].append(n)
        largest = []
        for firm, own in firms.items():
            size = sum(abs(judged[n]) for n in own)
            mean = sum(weights[n] for n in own) / len(own)
            weighted_size = sum(weights[n] * abs(judged[n]) for n in own)
            w = weighted_size / size if size else mean
            x = sum(judged[n] for n in own)
            if abs(x) < size and weighted_size:
                # Gains and losses of different weights: what is added to the total counts.
                x = sum(weights[n] * judged[n] for n in own) * size / weighted_size
            largest.append((abs(x), x, w, float(firm in askers)))
        largest.sort(reverse=True)
        held = sorted(
            (
                (abs(x), x)
                for x in (sum(weights[n] * judged[n] for n in g) for g in groups.values())
            ),
            reverse=True,
        )
        result[codes] = {
            "value": sum(weights[n] * response[n] for n in numbers),
            "shadow": sum(weights[n] * judged[n] for n in numbers),
            "count": len(firms),
            "weighted_count": sum(w for _, _, w, _ in largest),
            "requested": sum(r for *_, r in largest),
            "holding_count": len(groups),
            "top": [x for _, x, _, _ in largest[:top]],
            "top_weight": [w for _, _, w, _ in largest[:top]],
            "top_requested": [r for *_, r in largest[:top]],
            "holding_top": [x for _, x in held[:top]],
        }
    return result


def assert_tabulated(table: Table, expected: dict[tuple[str, ...], Cell]) -> None:
    """A table has exactly the expected cells, and what it says of them is right."""
    codes = list(zip(*(table.codes(name).tolist() for name in table.dimensions), strict=True))
    assert sorted(codes) == sorted(expected)
    for name in COLUMNS:
        column = getattr(table, name)
        if column is not None:
            wanted = [expected[cell][name] for cell in codes]
            np.testing.assert_allclose(column, wanted, rtol=1e-12, atol=1e-12, err_msg=name)
    for name in TOPS:
        column = getattr(table, name)
        if column is not None:
            largest = np.full(column.shape, np.nan)
            for number, cell in enumerate(codes):
                found = expected[cell][name]
                largest[number, : len(found)] = found
            np.testing.assert_allclose(column, largest, rtol=1e-12, atol=1e-12, err_msg=name)


def assert_same_tables(table: Table, other: Table) -> None:
    """Two tables say the same of the same cells."""
    assert list(table.labels) == list(other.labels)
    for name in (*COLUMNS, *TOPS):
        mine, theirs = getattr(table, name), getattr(other, name)
        assert (mine is None) == (theirs is None), name
        if mine is not None:
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12, err_msg=name)
