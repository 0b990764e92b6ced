"""Tables of firms, and what each firm contributes to each cell by plain addition."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import Any

from hypothesis import strategies as st

from tacit.hierarchy import Hierarchy
from tacit.table import Table

REGION = Hierarchy.from_nested({"N": ["N1", "N2"], "S": None})
BY: dict[str, Hierarchy] = {"region": REGION, "kind": Hierarchy.flat(["x", "y"], total="All")}
Raw = dict[tuple[str, ...], dict[str, float]]
"""For each cell what each firm contributes."""


def raw(rows: list[dict[str, Any]], unit: str = "firm") -> Raw:
    """What each firm adds to each cell, totals included."""
    found: Raw = defaultdict(lambda: defaultdict(float))
    for row in rows:
        above = [(row[name], *hierarchy.ancestors(row[name])) for name, hierarchy in BY.items()]
        for codes in product(*above):
            found[codes][row[unit]] += row["v"]
    return found


def columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Records as columns."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def keys(table: Table) -> list[tuple[str, ...]]:
    """The codes of each cell."""
    return list(zip(*(table.codes(name).tolist() for name in table.dimensions), strict=True))


def rows_of_firms(firms: str = "abcde") -> st.SearchStrategy[list[dict[str, Any]]]:
    """Random records of few firms, so few that every cell lists all of them."""
    row = st.fixed_dictionaries(
        {
            "region": st.sampled_from(REGION.leaves),
            "kind": st.sampled_from(["x", "y"]),
            "firm": st.sampled_from(list(firms)),
            "v": st.sampled_from([1.0, 2.0, 5.0, 20.0, 100.0, 1000.0]),
        }
    )
    return st.lists(row, min_size=1, max_size=14)


def two_children(**codes: Any) -> Table:
    """A parent of two cells, 200 and 3 from one firm each, beside a large third one."""
    frame = {"r": ["n1", "n2", "m"], "v": [200.0, 3.0, 500.0], "n": [1, 1, 9], **codes}
    nested = Hierarchy.from_nested({"n": ["n1", "n2"], "m": None})
    options: dict[str, Any] = {"top": ["v"], "top_contributor": ["firm"]} if codes else {}
    return Table.from_frame(frame, {"r": nested}, value="v", count="n", **options)
