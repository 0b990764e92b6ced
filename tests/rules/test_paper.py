"""What [KarlssonOlsson2015] prints about rules and the levels that they imply."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import examples
from tacit.examples import Example
from tacit.rules import Dominance, MinFrequency, PPercent, PriorPosterior
from tacit.table import Bounds, Rule, Table
from tests.rules.slow import table_of

RULES: dict[str, Rule] = {
    "minimum frequency 3": MinFrequency(3),
    "(1, 90)-dominance": Dominance(1, 90),
    "(2, 90)-dominance": Dominance(2, 90),
    "(20, 50)-prior-posterior": PriorPosterior(20, 50),
}


def unmarked(example: Example) -> Table:
    """The table of an example before any rule was applied."""
    assert example.table is not None
    return example.table.replace(status=None, lower_level=None, upper_level=None)


def cells_of(table: Table) -> dict[str, int]:
    """The number of each cell by its row and column code, as printed."""
    rows, columns = (table.codes(name).tolist() for name in table.totals)
    return {row + column: cell for cell, (row, column) in enumerate(zip(rows, columns))}  # noqa: B905


@pytest.mark.parametrize("name", RULES)
def test_table_2_1(name: str) -> None:
    """Each rule finds the cells of Figure 2.4 that Table 2.1 calls sensitive, and no other."""
    example = examples.get("002-figure-2.4")
    judged = unmarked(example).apply(RULES[name])
    found = {label for label, cell in cells_of(judged).items() if judged.is_sensitive[cell]}
    assert found == set(example.sensitive_by[name])


def test_example_2_4() -> None:
    """Dominance calls the safer of two cells sensitive; prior-posterior finds both."""
    table = table_of([[46, 45, 9], [80, 9, 4, 4, 3]])
    dominance = table.apply(Dominance(2, 90)).is_sensitive
    assert dominance.tolist() == [False, True, False]
    both = table.apply(PriorPosterior(20, 50)).is_sensitive
    assert both.tolist() == [False, True, True]


@pytest.mark.parametrize(("cell", "percentage"), [(1, 100 * 9 / 46), (2, 100 * 11 / 80)])
def test_percentages_of_example_2_4(cell: int, percentage: float) -> None:
    """The p% rule turns at 19.6% for the first cell and at 13.8% for the second."""
    table = table_of([[46, 45, 9], [80, 9, 4, 4, 3]])
    assert round(percentage, 1) == {1: 19.6, 2: 13.8}[cell]
    assert not table.apply(PPercent(percentage - 0.001)).is_sensitive[cell]
    assert table.apply(PPercent(percentage + 0.001)).is_sensitive[cell]


@pytest.mark.parametrize(
    ("figure", "levels"),
    [
        ("3.3", {"A1": 3.0, "B1": 1.5}),
        ("3.4", {"A1": 5.0, "B1": 8.0}),
        ("3.5", {"A1": 4.8, "B1": 5.0}),
    ],
)
def test_levels_of_examples_3_1_to_3_3(figure: str, levels: dict[str, float]) -> None:
    """With p = 10 exactly A1 and B1 are sensitive, and reach as far as the examples ask."""
    example = examples.get(f"002-figure-{figure}")
    judged = unmarked(example).apply(PPercent(10))
    cells = cells_of(judged)
    problem = judged.problem()
    assert problem.sensitive.tolist() == sorted(cells[label] for label in levels)
    assert problem.lower_level.tolist() == problem.upper_level.tolist()
    for label, level in levels.items():
        assert judged.upper_level is not None
        assert judged.upper_level[cells[label]] == pytest.approx(level, abs=1e-12)
    for deduction in example.deductions:
        label = (example.problem.labels or [])[deduction.cell]
        required = judged.value[cells[label]] + levels[label]
        assert required == pytest.approx(deduction.required)


def test_the_models_of_chapter_5() -> None:
    """Sliding levels are twice (3.3), and the bounds lie at zero and eleven times the value."""
    judged = unmarked(examples.get("002-figure-3.3")).apply(
        PPercent(10), levels="sliding", bounds=Bounds(lower_factor=0, upper_factor=11)
    )
    problem = judged.problem()
    assert problem.sliding_level.tolist() == [6.0, 3.0]
    assert not problem.lower_level.any()
    assert not problem.upper_level.any()
    assert np.array_equal(problem.upper, 11 * problem.value)
    assert not problem.lower.any()
    assert not problem.violations()
