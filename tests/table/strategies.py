"""Random hierarchies and the cells below them, and slow obvious sums over them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, TypeAlias

from hypothesis import strategies as st

from tacit.hierarchy import Hierarchy
from tacit.table import Table

Combination: TypeAlias = tuple[str, ...]
Finest: TypeAlias = dict[Combination, int]


@st.composite
def hierarchies(draw: st.DrawFn, total: str = "Total", max_codes: int = 6) -> Hierarchy:
    """A random tree with at least one code below its total."""
    size = draw(st.integers(1, max_codes))
    parents = {"c1": total}
    for number in range(2, size + 1):
        above = draw(st.integers(0, number - 1))
        parents[f"c{number}"] = f"c{above}" if above else total
    return Hierarchy.from_parents(parents)


@st.composite
def dimension_sets(draw: st.DrawFn, max_dimensions: int = 3) -> dict[str, Hierarchy]:
    """One to three dimensions with random hierarchies."""
    names = ["x", "y", "z"][: draw(st.integers(1, max_dimensions))]
    return {name: draw(hierarchies()) for name in names}


@st.composite
def finest_cells(draw: st.DrawFn, dimensions: Mapping[str, Hierarchy]) -> Finest:
    """Whole numbers, also negative ones, at some combinations of leaves."""
    combinations = list(itertools.product(*[h.leaves for h in dimensions.values()]))
    chosen = draw(st.lists(st.sampled_from(combinations), unique=True, min_size=1))
    return {combination: draw(st.integers(-50, 50)) for combination in chosen}


def frame_of(cells: Mapping[Combination, Any], dimensions: Mapping[str, Hierarchy]) -> Any:
    """Cells as a dict of columns."""
    columns = {name: [codes[k] for codes in cells] for k, name in enumerate(dimensions)}
    return {**columns, "value": list(cells.values())}


def slow_totals(cells: Finest, dimensions: Mapping[str, Hierarchy]) -> dict[Combination, int]:
    """All cells with something below them, each summed from the finest ones."""
    found: dict[Combination, int] = {}
    for codes, value in cells.items():
        lines = [
            (code, *hierarchy.ancestors(code))
            for code, hierarchy in zip(codes, dimensions.values(), strict=True)
        ]
        for above in itertools.product(*lines):
            found[above] = found.get(above, 0) + value
    return found


def slow_relations(
    cells: Mapping[Combination, Any], dimensions: Mapping[str, Hierarchy]
) -> list[dict[Combination, float]]:
    """Relations of all cells: for each dimension and total its children that occur."""
    relations = []
    for place, hierarchy in enumerate(dimensions.values()):
        for combination in itertools.product(*[h.codes for h in dimensions.values()]):
            if combination in cells:
                below = [
                    (*combination[:place], child, *combination[place + 1 :])
                    for child in hierarchy.children(combination[place])
                ]
                present: dict[Combination, float] = {c: 1.0 for c in below if c in cells}
                if present:
                    relations.append({combination: -1.0, **present})
    return relations


def combinations_of(table: Table) -> list[Combination]:
    """The codes of each cell."""
    columns = [table.codes(name).tolist() for name in table.totals]
    return list(zip(*columns, strict=True))


def relations_of(table: Table) -> list[dict[Combination, float]]:
    """The relations of a table by the codes of their cells."""
    names = combinations_of(table)
    A = table.relations
    return [
        {
            names[cell]: float(coefficient)
            for cell, coefficient in zip(A.indices[begin:end], A.data[begin:end], strict=True)
        }
        for begin, end in itertools.pairwise(A.indptr)
    ]
