"""What is released of microdata withstands every contributor, by linear models of plain figures.

Contributions and levels are computed from the records with plain loops, as docs/insiders.md says
for the p% rule. Each contributor, and each pair of them, is one linear model of the whole table.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import tacit
from tacit.release import NoReleaseError

ABOVE = {"a1": "A", "a2": "A", "b1": "B", "c1": "C", "c2": "C"}
SHARE = 0.2
"""p of the p% rule, as a share."""


class Figures:
    """What each contributor contributes to each cell of a table, counted by hand."""

    def __init__(self, records: dict[str, Any], unit: str, table: tacit.Table):
        self.units = sorted(set(records[unit]))
        shape = (len(self.units), table.cell_count)
        self.amount, self.there = np.zeros(shape), np.zeros(shape, bool)
        columns = {name: table.codes(name).tolist() for name in table.totals}
        # Of several variables each cell is about one.
        variable = ["v"] * table.cell_count
        for grid in table.grids:
            for cell in grid.numbers.tolist() if grid.variable else ():
                variable[cell] = grid.variable
        for cell in range(table.cell_count):
            for row, value in enumerate(records[variable[cell]]):
                own = {name: records[name][row] for name in columns}
                if all(
                    columns[name][cell] in (table.totals[name], own[name], ABOVE.get(own[name]))
                    for name in columns
                ):
                    who = self.units.index(records[unit][row])
                    self.amount[who, cell] += value
                    self.there[who, cell] = True

    def knows(self, members: tuple[int, ...], cell: int) -> bool:
        """Whether nobody else contributes to a cell to which some of the members do."""
        inside = self.there[:, cell].sum()
        return bool(0 < inside == self.there[list(members), cell].sum())

    def upper_level(self, members: tuple[int, ...], cell: int, most: float) -> float:
        """How far above its value a cell must be possible, at most as far as for readers."""
        if not members:
            return most
        if self.knows(members, cell):
            return 0.0
        total = self.amount[:, cell].sum()
        inside = [k for k in members if self.there[k, cell]]
        largest = max(inside, key=lambda k: self.amount[k, cell], default=None)
        own = 0.0 if largest is None else self.amount[largest, cell]
        others = sum(self.amount[k, cell] for k in inside) - own
        rival = max(
            (self.amount[k, cell] for k in range(len(self.units)) if k != largest), default=0.0
        )
        return float(min(max(own + (1 + SHARE) * rival - total, 0.0) + others, most))


def drawn(seed: int) -> tuple[dict[str, Any], tacit.Table, str]:
    """Records of few firms in many cells, and their table: plain, in a chain, or linked."""
    generator = np.random.default_rng(seed)
    count = int(generator.integers(8, 24))
    firm = generator.integers(0, 8, count)
    records: dict[str, Any] = {
        "r": generator.choice(list(ABOVE), count).tolist(),
        "s": generator.choice(["x", "y"], count).tolist(),
        "u": generator.choice(["p", "q"], count).tolist(),
        "firm": [f"firm {number}" for number in firm],
        "group": [f"group {number // 2}" for number in firm],
        "v": generator.integers(1, 400, count).astype(float).tolist(),
    }
    hierarchy = tacit.Hierarchy.from_nested({"A": ("a1", "a2"), "B": ("b1",), "C": ("c1", "c2")})
    unit = "group" if seed % 3 == 0 else "firm"
    holding = "group" if unit == "group" else None
    others = [["s"], ["s", "u"]][seed % 2]
    parts = [
        tacit.tabulate(
            records, {"r": hierarchy, other: None}, "v", contributor="firm", holding=holding, top=9
        )
        for other in others
    ]
    table = parts[0].link(*parts[1:]) if len(parts) > 1 else parts[0]
    return records, table.apply(tacit.PPercent(100 * SHARE, holding=unit == "group")), unit


def withstands(table: tacit.Table, figures: Figures, release: tacit.Release, coalition: int) -> int:
    """Assert that no coalition gets too close, and return how often somebody was asked."""
    problem = table.problem()
    solution = release.papers.outcome.solution
    if isinstance(solution, tacit.Suppression):
        low = np.where(solution.suppressed, 0.0, problem.value)
        high = np.where(solution.suppressed, np.inf, problem.value)
    else:
        assert isinstance(solution, tacit.Intervals)
        low, high = np.maximum(solution.lower, 0.0), solution.upper
    relations = problem.relations.toarray()
    everybody = range(len(figures.units))
    asked = 0
    for size in range(coalition + 1):
        for members in itertools.combinations(everybody, size):
            least = np.maximum(low, figures.amount[list(members)].sum(axis=0))
            known = [cell for cell in range(len(low)) if figures.knows(members, cell)]
            most = high.copy()
            least[known] = most[known] = problem.value[known]
            least = np.minimum(least, problem.value)
            for cell, readers in zip(problem.sensitive.tolist(), problem.upper_level, strict=True):
                level = figures.upper_level(members, cell, float(readers))
                if level <= 1e-9:
                    continue
                asked += 1
                cost = np.zeros(len(low))
                cost[cell] = -1.0
                found = linprog(
                    cost,
                    A_eq=relations,
                    b_eq=problem.rhs,
                    bounds=list(zip(least.tolist(), most.tolist(), strict=True)),
                )
                reached = np.inf if found.fun is None else -found.fun - problem.value[cell]
                assert reached >= level * (1 - 1e-6), (table.labels[cell], members)
    return asked


@pytest.mark.parametrize("method", ["suppress", "intervals", "combined"])
@pytest.mark.parametrize("seed", range(6))
def test_nobody_gets_below_the_level_against_it(method: str, seed: int) -> None:
    """No contributor, and no two together, bounds what others contribute too closely."""
    records, table, unit = drawn(seed)
    figures = Figures(records, unit, table)
    problem = table.problem()
    assert len(problem.sensitive)
    assert figures.amount.sum(axis=0) == pytest.approx(problem.value)
    release = tacit.protect(table, method, insiders="contributors", coalition=2, time_limit=30)
    assert withstands(table, figures, release, 2)


FIRMS = st.lists(
    st.fixed_dictionaries(
        {
            "r": st.sampled_from(["a1", "a2", "b1"]),
            "s": st.sampled_from(["x", "y"]),
            "firm": st.sampled_from("abcd"),
            "home": st.sampled_from([1.0, 3.0, 20.0, 150.0, 900.0]),
            "abroad": st.sampled_from([1.0, 5.0, 40.0, 300.0]),
        }
    ),
    min_size=4,
    max_size=8,
)


@settings(max_examples=8)
@given(FIRMS, st.sampled_from(["suppress", "intervals"]), st.booleans())
def test_nobody_does_in_several_variables(
    rows: list[dict[str, Any]], method: str, are_linked: bool
) -> None:
    """A contributor knows its figures in all variables and tables; equations tie these together."""
    records: dict[str, Any] = {name: [row[name] for row in rows] for name in rows[0]}
    records["sold"] = [row["home"] + row["abroad"] for row in rows]
    hierarchy = tacit.Hierarchy.from_nested({"A": ("a1", "a2"), "B": ("b1",)})
    names = ("sold", "home", "abroad")
    apart: list[dict[str, tacit.Hierarchy | None]] = [{"r": hierarchy}, {"s": None}]
    made = [
        tacit.tabulate(records, by, list(names), contributor="firm", top=9)
        for by in (apart if are_linked else [apart[0] | apart[1]])
    ]
    tables = {
        name: made[0][name].link(made[1][name]) if are_linked else made[0][name] for name in names
    }
    table = tacit.Table.of_variables(tables, ["sold = home + abroad"])
    table = table.apply(tacit.PPercent(100 * SHARE))
    figures = Figures(records, "firm", table)
    assert figures.amount.sum(axis=0) == pytest.approx(table.problem().value)
    try:
        release = tacit.protect(table, method, insiders="contributors", time_limit=20)
    except NoReleaseError:
        # Some tables cannot be protected, such as one of a single firm.
        reject()
    withstands(table, figures, release, 1)
