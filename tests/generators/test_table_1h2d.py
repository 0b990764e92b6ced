"""1H2D tables sized like the published ones."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InputError
from tacit.generators import (
    Contributions,
    Structure1H2D,
    generate_1h2d,
    generate_1h2d_table,
)
from tacit.generators.structure import PUBLISHED_ROWS
from tacit.problem import Problem
from tests.generators.attacker import assert_safe_suppression_exists


def assert_sizes(problem: Problem, structure: Structure1H2D) -> None:
    """The problem has the numbers that its structure promises."""
    assert problem.cell_count == structure.cell_count
    assert len(problem.sensitive) == structure.sensitive_count
    assert problem.relation_count == structure.relation_count
    assert problem.relations.nnz == structure.coefficient_count


def assert_same(one: Problem, other: Problem) -> None:
    """Two problems agree in every number."""
    for name in ("value", "lower", "upper", "weight", "sensitive", "lower_level", "upper_level"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert (one.relations - other.relations).count_nonzero() == 0


def test_all_48_have_the_published_sizes(shared: Path) -> None:
    """Every published instance is generated with the published n, s, m and nz, and is sound."""
    with (shared / "published" / "seed004_table1.csv").open() as file:
        for line in csv.DictReader(file):
            problem = generate_1h2d(line["instance"]).validate()
            counts = (problem.cell_count, len(problem.sensitive), problem.relation_count)
            found = (*counts, problem.relations.nnz)
            assert found == tuple(int(line[key]) for key in ("n", "s", "m", "nz"))


@pytest.mark.parametrize("name", [f"{r}-{c}-5" for r, c in PUBLISHED_ROWS])
def test_sizes_follow_the_structure(name: str) -> None:
    """Generated tables have the sizes that the formulas give."""
    assert_sizes(generate_1h2d(name, seed=2), Structure1H2D.from_name(name))


@given(
    rows=st.integers(25, 60),
    columns=st.integers(2, 8),
    subtables=st.integers(1, 8),
    percent=st.integers(0, 40),
    empty=st.floats(0, 0.3),
    seed=st.integers(0, 10_000),
)
def test_random_structures_are_sound(
    rows: int, columns: int, subtables: int, percent: int, empty: float, seed: int
) -> None:
    """Any structure gives a sound problem of its sizes, with levels and weights as documented."""
    structure = Structure1H2D(rows, columns, subtables, percent)
    contributions = Contributions(empty=empty)
    problem = generate_1h2d(structure, seed, contributions=contributions).validate()
    assert_sizes(problem, structure)
    assert not problem.residual().any()
    row, column = np.divmod(problem.sensitive, columns + 1)
    assert np.all((row > 0) & (column > 0))
    assert np.all(problem.lower_level > 0)
    assert np.array_equal(problem.upper_level, 5 * problem.lower_level)
    assert np.array_equal(problem.must_publish, problem.value == 0)
    assert np.array_equal(problem.weight, np.maximum(problem.value, 1))
    assert not problem.upper[problem.must_publish].any()


def test_relations_against_row_by_row() -> None:
    """The relations are those that a loop over rows, columns and subtables writes down."""
    structure = Structure1H2D(rows=23, columns=3, subtables=6, splits=2)
    problem = generate_1h2d(structure, seed=4)
    # The rows are the first thing that is drawn from a seed.
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(4).spawn(1)[0]))
    parent = structure.draw_rows(random).tolist()
    expected = []
    for row in range(23):
        terms = np.zeros(problem.cell_count)
        terms[4 * row : 4 * row + 4] = [-1, 1, 1, 1]
        expected.append(terms)
    for split in sorted(set(parent) - {-1}):
        for column in range(4):
            terms = np.zeros(problem.cell_count)
            terms[4 * split + column] = -1
            terms[[4 * row + column for row in range(23) if parent[row] == split]] = 1
            expected.append(terms)
    found = {tuple(relation) for relation in problem.relations.toarray().tolist()}
    assert found == {tuple(relation.tolist()) for relation in expected}


@pytest.mark.parametrize("name", ["table1", "table5"])
def test_a_safe_suppression_exists(name: str) -> None:
    """With everything but empty cells suppressed every sensitive cell is protected."""
    problem = generate_1h2d(name, seed=3, contributions=Contributions(empty=0.2), upper_factor=1)
    assert_safe_suppression_exists(problem)


def test_table_and_problem_are_the_same() -> None:
    """The table version has the same numbers, and dimensions whose codes lead to the cells."""
    table = generate_1h2d_table("table6", seed=9, weight="unit")
    assert_same(table.problem(), generate_1h2d("table6", seed=9, weight="unit"))
    assert [len(hierarchy) for hierarchy in table.dimensions.values()] == [144, 11]
    assert table.dimensions["row"].depth == 5
    assert table.count is not None
    assert table.count[0] == table.count.reshape(144, 11)[table.dimensions["row"].is_leaf, 1:].sum()


def test_published_instances_have_no_singletons() -> None:
    """The problem knows nothing about single contributors, though the table does."""
    alone = Contributions(mean_count=1)
    assert (generate_1h2d_table("table5", contributions=alone).problem().singleton >= 0).any()
    assert (generate_1h2d("table5", contributions=alone).singleton == -1).all()


def test_same_seed_same_table() -> None:
    """A seed gives the same table again, another seed another one."""
    problem = generate_1h2d("40-50-5", seed=11)
    assert_same(problem, generate_1h2d("40-50-5", seed=11))
    assert not np.array_equal(problem.value, generate_1h2d("40-50-5", seed=12).value)


def test_percentages_share_one_table() -> None:
    """Names that differ in the percentage give one table with nested sensitive cells."""
    few, many = generate_1h2d("40-60-5", seed=5), generate_1h2d("40-60-15", seed=5)
    assert np.array_equal(few.value, many.value)
    assert (few.relations - many.relations).count_nonzero() == 0
    assert set(few.sensitive.tolist()) < set(many.sensitive.tolist())


def test_choices_are_followed() -> None:
    """Levels, weights and bounds follow the arguments."""
    problem = generate_1h2d(
        "table5", lower_percent=30, asymmetry=1, weight="unit", upper_factor=3
    ).validate()
    value = problem.value[problem.sensitive]
    assert np.array_equal(problem.lower_level, np.ceil(30 * value / 100))
    assert np.array_equal(problem.upper_level, problem.lower_level)
    assert set(problem.weight.tolist()) == {1.0}
    assert set(problem.upper.tolist()) == {3 * problem.value[0]}


def test_malformed_name_is_refused() -> None:
    """A name of another form is refused and told what is expected."""
    with pytest.raises(InputError, match="as in '40-50-10'"):
        generate_1h2d("40/50/10")
