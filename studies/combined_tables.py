"""Seven generated tables with the sizes of those in [KarlssonOlsson2015, Table 5.1].

All dimensions are hierarchical; the linked tables are three two-dimensional ones that share a
dimension, and so the totals over the other one; cells that they have in common count once. No
complete table has exactly the printed number of cells of 2C, 3ALT, 2LINKED and 2ALT, which have
other prime factors: these are within 2 cells and 6 relations of it. Sensitive are cells by the p%
rule with p = 10; hardly any cell is empty; attackers know that cells lie between 0 and 11 times
their values (section 5.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.generators import Contributions, SensitiveRule, generate_table
from tacit.hierarchy import Hierarchy
from tacit.problem import Problem
from tacit.table import Table

UPPER_FACTOR = 11.0


@dataclass(frozen=True)
class Plan:
    """How a table is made.

    Attributes:
        rows: The levels of the first dimension, as numbers of codes below the total.
        columns: The levels of the others; more than one make a linked table.
        mean_count: The mean number of contributors of a finest cell, which decides how many
            cells are sensitive.
        empty: The share of empty cells among the finest cells of all dimensions together.
    """

    rows: tuple[int, ...]
    columns: tuple[tuple[int, ...], ...]
    mean_count: float
    empty: float = 0.0


PLANS: Mapping[str, Plan] = {
    "1LINKED": Plan((2, 4, 8, 4), ((12,), (2, 28), (19,)), 1.5, 0.98),
    "1B": Plan((8, 28), ((4, 14),), 16.0),
    "2C": Plan((5, 25), ((3, 9),), 6.0),
    "3ALT": Plan((4, 36), ((4, 14),), 13.0),
    "2LINKED": Plan((5, 20), ((3, 12), (5, 19), (2, 12)), 1.5, 0.9765),
    "1ALT": Plan((12, 38), ((3, 7, 17),), 10.5),
    "2ALT": Plan((4, 14, 38), ((8, 26),), 5.7),
}
"""The tables by the names of those whose sizes they have, in the order of the paper."""


def table(name: str, seed: int = 1) -> Problem:
    """A table with lower and upper levels, for complete suppression."""
    plan = PLANS[name]
    dimensions = {"r": _hierarchy("r", plan.rows)}
    for letter, levels in zip("abc", plan.columns, strict=False):
        dimensions[letter] = _hierarchy(letter, levels)
    whole = generate_table(
        dimensions,
        seed,
        sensitivity=SensitiveRule(p=10),
        contributions=Contributions(mean_count=plan.mean_count, empty=plan.empty),
    )
    if len(plan.columns) > 1:
        whole = _linked(whole)
    problem = whole.problem()
    return problem.replace(upper=UPPER_FACTOR * problem.value)


def with_sliding_levels(problem: Problem) -> Problem:
    """The same levels as the least width of the interval, wherever it lies (section 5.1)."""
    zeros = np.zeros(len(problem.sensitive))
    return problem.replace(
        lower_level=zeros,
        upper_level=zeros,
        sliding_level=problem.lower_level + problem.upper_level,
    )


def _hierarchy(letter: str, levels: Sequence[int]) -> Hierarchy:
    """Codes shared out evenly among those above them, among fewer where each gets two at least."""
    above: dict[str, str] = {}
    parents = ["Total"]
    for number, count in enumerate(levels, 1):
        codes = [f"{letter}{number}.{code}" for code in range(count)]
        parents = parents[: count // 2]
        above |= {code: parents[at * len(parents) // count] for at, code in enumerate(codes)}
        parents = codes
    return Hierarchy.from_parents(above)


def _linked(whole: Table) -> Table:
    """The tables of the first dimension by each of the others."""
    frame = whole.to_frame()
    first, *others = whole.dimensions
    tables = []
    for other in others:
        kept = np.ones(whole.cell_count, bool)
        for left_out in set(others) - {other}:
            kept &= np.asarray(frame[left_out]) == whole.dimensions[left_out].total
        part = {name: np.asarray(column)[kept] for name, column in frame.items()}
        tables.append(
            Table.from_frame(
                part,
                {name: whole.dimensions[name] for name in (first, other)},
                count="count",
                top=("top_1", "top_2"),
                status="status",
                weight="weight",
                lower="lower",
                upper="upper",
                lower_level="lower_level",
                upper_level="upper_level",
                cells="all",
            )
        )
    return tables[0].link(*tables[1:])
