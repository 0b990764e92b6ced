"""Generated tables of any number of dimensions."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InputError
from tacit.generators import (
    Contributions,
    SensitiveRule,
    SensitiveShare,
    generate_2d,
    generate_3d,
    generate_table,
    random_hierarchy,
)
from tacit.hierarchy import Hierarchy
from tacit.problem import Booleans
from tacit.table import Table
from tests.generators.attacker import assert_safe_suppression_exists


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """Small random hierarchies, some of them ragged."""
    if draw(st.booleans()):
        return Hierarchy.from_nested({"A": ["A1", "A2"], "B": None, "C": {"C1": ["x", "y"]}})
    depth = draw(st.integers(1, 3))
    leaves = draw(st.integers(2**depth, 2**depth + 3))
    return random_hierarchy(leaves, depth=depth, seed=draw(st.integers(0, 99)))


def finest(table: Table) -> Booleans:
    """A mask of the cells without any total among their codes."""
    mask = np.ones(table.cell_count, bool)
    for name, hierarchy in table.dimensions.items():
        mask &= np.isin(table.codes(name), hierarchy.leaves)
    return mask


@settings(max_examples=60)
@given(
    dimensions=st.lists(hierarchies(), min_size=1, max_size=3),
    by_rule=st.booleans(),
    empty=st.floats(0, 0.6),
    whole=st.booleans(),
    seed=st.integers(0, 10_000),
)
def test_random_tables_are_sound(
    dimensions: list[Hierarchy], by_rule: bool, empty: float, whole: bool, seed: int
) -> None:
    """Tables over any hierarchies add up, lie within bounds and have levels within them."""
    table = generate_table(
        {f"d{number}": hierarchy for number, hierarchy in enumerate(dimensions)},
        seed,
        sensitivity=SensitiveRule(minimum_count=3) if by_rule else SensitiveShare(percent=30),
        contributions=Contributions(mean_count=3, empty=empty, whole=whole),
    )
    problem = table.problem().validate()
    assert table.count is not None
    is_finest = finest(table)
    assert np.count_nonzero(table.count[is_finest] == 0) == round(empty * is_finest.sum())
    assert np.array_equal(problem.must_publish, table.value == 0)
    assert np.all(problem.lower_level > 0)
    assert np.all(problem.value[problem.sensitive] > 0)
    if whole:
        assert not problem.residual().any()
    if not by_rule:
        assert len(problem.sensitive) == 30 * is_finest.sum() // 100
        assert is_finest[problem.sensitive].all()


@given(
    dimensions=st.lists(hierarchies(), min_size=1, max_size=2),
    p=st.integers(1, 50),
    minimum_count=st.integers(0, 4),
    seed=st.integers(0, 1000),
)
@settings(max_examples=40)
def test_rule_holds_in_totals_too(
    dimensions: list[Hierarchy], p: int, minimum_count: int, seed: int
) -> None:
    """Cell by cell, totals included, the rule gives the same cells and levels."""
    table = generate_table(
        {f"d{number}": hierarchy for number, hierarchy in enumerate(dimensions)},
        seed,
        sensitivity=SensitiveRule(p=p, minimum_count=minimum_count),
        contributions=Contributions(mean_count=2, empty=0.3, spread=2.0),
    )
    assert table.count is not None
    assert table.top is not None
    expected = {}
    for cell in range(table.cell_count):
        x, (x1, x2) = table.value[cell], table.top[cell]
        level = max(p * x1 / 100 - (x - x1 - x2), 0.0)
        if 0 < table.count[cell] < minimum_count:
            level = max(level, 10 * x / 100)
        if level > 0:
            expected[cell] = level
    problem = table.problem()
    assert problem.sensitive.tolist() == list(expected)
    assert problem.upper_level == pytest.approx(list(expected.values()))


@given(dimensions=st.lists(hierarchies(), min_size=2, max_size=2), seed=st.integers(0, 1000))
@settings(max_examples=6)
def test_a_safe_suppression_exists(dimensions: list[Hierarchy], seed: int) -> None:
    """With everything but empty cells suppressed every sensitive cell is protected."""
    problem = generate_table(
        dict(zip("ab", dimensions, strict=True)),
        seed,
        contributions=Contributions(mean_count=1.5, empty=0.5, spread=3.0),
        upper_factor=1.0,
    ).problem()
    assert_safe_suppression_exists(problem, checked=6)


def test_same_seed_same_table() -> None:
    """A seed gives the same table again, another seed another one."""
    frames = [generate_3d(4, 5, 6, seed=seed).to_frame("dict") for seed in (3, 3, 4)]
    for name, column in frames[0].items():
        numeric = np.asarray(column).dtype.kind == "f"
        assert np.array_equal(column, frames[1][name], equal_nan=numeric), name
    assert not np.array_equal(frames[0]["value"], frames[2]["value"])


def test_values_do_not_depend_on_sensitivity() -> None:
    """Another choice of sensitive cells leaves the values as they are."""
    by_rule = generate_2d(8, 9, seed=2)
    by_share = generate_2d(8, 9, seed=2, sensitivity=SensitiveShare(percent=5))
    assert np.array_equal(by_rule.value, by_share.value)
    assert not np.array_equal(by_rule.is_sensitive, by_share.is_sensitive)


def test_dimensions_by_number_or_hierarchy() -> None:
    """A number of codes makes a flat dimension, and names say which dimension is which."""
    table = generate_3d(random_hierarchy(6, depth=2), 3, 12)
    assert [*table.dimensions] == ["row", "column", "layer"]
    assert table.dimensions["layer"].codes[:2] == ("Total", "l01")
    assert [len(hierarchy.leaves) for hierarchy in table.dimensions.values()] == [6, 3, 12]
    assert table.problem().relation_count == 3 * 4 * 13 + 9 * 13 + 9 * 4


def test_choices_are_followed() -> None:
    """Weights and bounds follow the arguments."""
    table = generate_2d(5, 5, weight="unit", upper_factor=4, contributions=Contributions())
    problem = table.problem()
    assert set(problem.weight.tolist()) == {1.0}
    assert set(problem.upper.tolist()) == {4 * problem.value[0]}


def test_default_tables_look_like_business_statistics() -> None:
    """By default a tenth is empty, some cells are sensitive, and values are skewed."""
    table = generate_2d(60, 60)
    value = table.value[finest(table)]
    assert np.mean(value == 0) == 0.1
    assert 0.03 < table.is_sensitive.mean() < 0.3
    filled = value[value > 0]
    assert filled.mean() > 1.2 * np.median(filled)


def test_dimension_without_codes_is_refused() -> None:
    """A dimension of no codes is refused by its name."""
    with pytest.raises(InputError, match="dimension column"):
        generate_2d(3, 0)


def test_a_million_cells_take_seconds() -> None:
    """A hierarchical table of three dimensions and a million cells is generated in seconds."""
    dimensions = {
        name: random_hierarchy(leaves, depth=depth)
        for name, leaves, depth in (("a", 85, 3), ("b", 88, 2), ("c", 90, 2))
    }
    begin = time.perf_counter()
    table = generate_table(dimensions)
    assert time.perf_counter() - begin < 20
    assert table.cell_count > 1_000_000
