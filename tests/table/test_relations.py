"""Relations and totals against slow obvious ones."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import TableError
from tacit.hierarchy import Hierarchy
from tacit.table import Grid, Table, grid
from tests.table.strategies import (
    combinations_of,
    dimension_sets,
    finest_cells,
    frame_of,
    relations_of,
    slow_relations,
    slow_totals,
)

TWO = {
    "region": Hierarchy.from_nested({"North": ["N1", "N2"], "South": None}),
    "sex": Hierarchy.flat(["f", "m"]),
}


def test_relations_of_a_small_table() -> None:
    """A full table has a relation for each total of each dimension, in row-major order."""
    table = Table.from_cube(np.arange(6).reshape(3, 2), TWO)
    assert table.relations.shape == (2 * 3 + 5, 15)
    assert table.relations[[0]].indices.tolist() == [0, 3, 12]
    assert table.relations[[0]].data.tolist() == [-1, 1, 1]
    assert table.relations[[3]].indices.tolist() == [3, 6, 9]
    assert table.relations[[6]].indices.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(table.relations @ table.value, 0)


@given(st.data())
@settings(max_examples=60)
def test_relations_of_random_tables_hold(data: st.DataObject) -> None:
    """Totals are the sums of the finest cells; every relation is there, and holds."""
    dimensions = data.draw(dimension_sets())
    cells = data.draw(finest_cells(dimensions))
    table = Table.from_frame(frame_of(cells, dimensions), dimensions)
    expected = slow_totals(cells, dimensions)
    assert dict(zip(combinations_of(table), table.value, strict=True)) == expected
    assert len(set(combinations_of(table))) == table.cell_count
    assert relations_of(table) == slow_relations(expected, dimensions)
    np.testing.assert_array_equal(table.relations @ table.value, 0)


@given(st.data())
@settings(max_examples=40)
def test_compiled_relations_are_the_same(data: st.DataObject) -> None:
    """Big tables take a compiled road to the very same arrays, whether cells are absent or not."""
    dimensions = data.draw(dimension_sets())
    cells = data.draw(finest_cells(dimensions))
    keys = Table.from_frame(frame_of(cells, dimensions), dimensions).grids[0].keys
    for some in (Grid(dimensions), Grid(dimensions, keys)):
        plain = some.relations()
        with (
            mock.patch.object(grid, "COMPILED_FROM", 0),
            mock.patch.object(grid, "SPARSEST_COMPILED", 10**9),
        ):
            compiled = some.relations()
        for name in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(plain, name), getattr(compiled, name))
        assert plain.has_canonical_format
        assert compiled.shape == plain.shape


def test_a_big_table_is_compiled_without_being_asked() -> None:
    """From a certain size on relations come from compiled code, and hold."""
    nested = {f"a{i}": [f"a{i}b{j}" for j in range(8)] for i in range(5)}
    wide = Hierarchy.from_nested(nested)
    values = np.random.default_rng(1).integers(0, 100, (40, 40, 40))
    table = Table.from_cube(values, {"x": wide, "y": wide, "z": wide})
    assert table.cell_count == 46**3 >= grid.COMPILED_FROM
    assert table.relations.shape[0] == 3 * 6 * 46**2
    np.testing.assert_array_equal(table.relations @ table.value, 0)


@given(st.data())
@settings(max_examples=40)
def test_cube_and_frame_agree(data: st.DataObject) -> None:
    """A cube over the leaves, one over all codes and a frame of the finest cells are one table."""
    dimensions = data.draw(dimension_sets())
    shape = tuple(len(hierarchy.leaves) for hierarchy in dimensions.values())
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    values = rng.integers(-9, 9, shape)
    counts = rng.integers(1, 5, shape)
    top = rng.integers(1, 99, (*shape, 2))
    cube = Table.from_cube(values, dimensions, counts=counts, top=top)
    leaves = np.meshgrid(*[h.leaves for h in dimensions.values()], indexing="ij")
    columns = {name: codes.ravel() for name, codes in zip(dimensions, leaves, strict=True)}
    columns |= {"value": values.ravel(), "n": counts.ravel()}
    columns |= {"first": top[..., 0].ravel(), "second": top[..., 1].ravel()}
    frame = Table.from_frame(columns, dimensions, count="n", top=("first", "second"))
    full = Table.from_cube(cube.value.reshape(cube.grids[0].shape), dimensions)
    for name in ("value", "count", "top", "status"):
        np.testing.assert_array_equal(getattr(cube, name), getattr(frame, name))
    np.testing.assert_array_equal(full.value, cube.value)
    assert cube.grids[0].keys is None
    assert frame.grids[0].keys is None


@given(st.data())
@settings(max_examples=40)
def test_top_contributions_are_merged(data: st.DataObject) -> None:
    """The top contributions of a total are the largest of all cells below it, missing ones last."""
    dimensions = data.draw(dimension_sets(max_dimensions=2))
    cells = data.draw(finest_cells(dimensions))
    amounts = st.one_of(st.just(float("nan")), st.integers(1, 99).map(float))
    tops = {codes: data.draw(st.lists(amounts, min_size=2, max_size=2)) for codes in cells}
    columns = frame_of(cells, dimensions)
    columns |= {f"top{k}": [top[k] for top in tops.values()] for k in range(2)}
    table = Table.from_frame(columns, dimensions, top=["top0", "top1"])
    assert table.top is not None
    below: dict[tuple[str, ...], list[float]] = {}
    for codes, contributions in tops.items():
        for above in slow_totals({codes: 0}, dimensions):
            below.setdefault(above, []).extend(c for c in contributions if c == c)
    for codes, row in zip(combinations_of(table), table.top, strict=True):
        expected = [*sorted(below[codes], reverse=True), np.nan, np.nan][:2]
        np.testing.assert_array_equal(row, expected)


def test_contributions_are_large_by_size() -> None:
    """A large negative contribution comes before a small positive one."""
    frame = {"a": ["p", "q"], "value": [-5, 2], "top": [-9.0, 4.0]}
    table = Table.from_frame(frame, {"a": None}, top=["top"])
    assert table.top is not None
    assert table.top[0].tolist() == [-9.0]


def test_a_total_that_is_not_broken_down_has_no_relation() -> None:
    """Codes of a hierarchy that no cell uses leave their total alone."""
    frame = {"region": ["Total", "North", "South"], "value": [3, 2, 1]}
    table = Table.from_frame(frame, {"region": TWO["region"]})
    assert relations_of(table) == [{("Total",): -1, ("North",): 1, ("South",): 1}]


def test_more_combinations_than_numbers_are_refused() -> None:
    """A grid too large to number its combinations says so."""
    wide = Hierarchy.flat(range(10_000))
    with pytest.raises(TableError, match="more combinations"):
        Grid({str(k): wide for k in range(5)})


def test_strips_are_the_columns_below_a_parent_in_all_rows() -> None:
    """Each code with children has one: it and its children, whatever the other code is."""
    tree = Hierarchy.from_nested({"A": ["A1", "A2"], "B": ["B1", "B2", "B3"]})
    codes = {"one": tree, "two": tree}
    table = Table.from_cube(np.ones((5, 5)), codes)
    strips = table.problem().strips
    assert strips is not None
    assert len(strips) == 6
    labels = np.array([list(table.codes("one")), list(table.codes("two"))])
    for cells in strips:
        inside = [sorted(set(axis[cells])) for axis in labels]
        assert sorted(len(axis) for axis in inside) in ([3, 8], [4, 8])
        narrow = 0 if len(inside[0]) < len(inside[1]) else 1
        assert set(np.flatnonzero(np.isin(labels[narrow], inside[narrow]))) == set(cells)


def test_tables_that_are_networks_or_cubes_have_no_strips() -> None:
    """One hierarchy makes a network; with three dimensions strips are none."""
    tree = Hierarchy.from_nested({"A": ["A1", "A2"], "B": ["B1", "B2"]})
    flat = Hierarchy.flat(["x", "y"])
    assert Table.from_cube(np.ones((4, 2)), {"a": tree, "b": flat}).problem().strips is None
    cube = Table.from_cube(np.ones((4, 4, 2)), {"a": tree, "b": tree, "c": flat})
    assert cube.problem().strips is None


def test_linked_tables_have_the_strips_of_each() -> None:
    """Common cells have one number in the strips of both tables."""
    tree = Hierarchy.from_nested({"A": ["A1", "A2"], "B": ["B1", "B2"]})
    one = Table.from_cube(np.ones((4, 2)), {"a": tree, "b": Hierarchy.flat(["x", "y"])})
    two = Table.from_cube(np.full((4, 1), 2.0), {"a": tree, "c": Hierarchy.flat(["z"])})
    linked = one.link(two)
    strips = linked.problem().strips
    assert strips is not None
    assert set(np.concatenate(strips)) == set(range(linked.cell_count))
