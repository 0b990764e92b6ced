"""Subtables found from relations alone, against those that the hierarchies imply."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.attack.subtables import Subtables
from tacit.hierarchy import Hierarchy
from tacit.io.jj import read_jj
from tacit.problem import Integers, Problem
from tacit.table import Table
from tests.attack.tables import crossed, flat, linked
from tests.methods.suppress.tables import seeded_instance
from tests.table.strategies import dimension_sets, finest_cells, frame_of


def groups(hierarchy: Hierarchy) -> list[list[int]]:
    """Every code that has children, with them."""
    return [
        [hierarchy.index(code), *map(hierarchy.index, hierarchy.children(code))]
        for code in hierarchy.codes
        if hierarchy.children(code)
    ]


def crossings(dimensions: Mapping[str, Hierarchy]) -> list[Integers]:
    """The obvious way: cells at all combinations of one group a dimension."""
    hierarchies = list(dimensions.values())
    number = np.arange(np.prod([len(each) for each in hierarchies]))
    number = number.reshape([len(each) for each in hierarchies])
    return [number[np.ix_(*chosen)] for chosen in itertools.product(*map(groups, hierarchies))]


def as_sets(grids: list[Integers]) -> list[Any]:
    """Grids in a form that can be compared, in any order."""
    return sorted((grid.shape, grid.ravel().tolist()) for grid in grids)


def found_in(problem: Problem) -> list[Integers]:
    """The grids of all subtables."""
    subtables = Subtables.of(problem.relations)
    return [subtables.grid(number) for number in range(len(subtables))]


def assert_sound(problem: Problem) -> Subtables:
    """Every line is a relation, and every relation is a line."""
    subtables = Subtables.of(problem.relations)
    A = problem.relations
    as_found: set[int] = set()
    for number in range(len(subtables)):
        shape = subtables.shape[number]
        here = slice(subtables.start[number], subtables.start[number + 1])
        cells = subtables.cells[here].reshape(shape)
        for d in np.flatnonzero(shape > 1).tolist():
            lines = np.moveaxis(cells, d, -1).reshape(-1, shape[d])
            of_place = np.moveaxis(subtables.line[here, d].reshape(shape), d, -1)
            for line, rows in zip(lines, of_place.reshape(-1, shape[d]), strict=True):
                inside = line[line >= 0]
                row = set(rows[line >= 0].tolist())
                assert len(row) <= 1
                if row == {-1}:
                    assert len(inside) == 1, "a total whose parts are all missing"
                    continue
                for each in row:
                    expected = A.indices[A.indptr[each] : A.indptr[each + 1]]
                    assert sorted(inside.tolist()) == sorted(expected.tolist())
                as_found |= row
    distinct = {tuple(A.indices[A.indptr[r] : A.indptr[r + 1]]) for r in range(A.shape[0])}
    covered = {tuple(A.indices[A.indptr[r] : A.indptr[r + 1]]) for r in as_found}
    assert covered == distinct - {()}
    return subtables


@settings(max_examples=60)
@given(dimension_sets())
def test_crossings_of_random_hierarchies(dimensions: dict[str, Hierarchy]) -> None:
    """The subtables are exactly the crossings of one total with its children a dimension."""
    leaves = [len(hierarchy.leaves) for hierarchy in dimensions.values()]
    problem = Table.from_cube(np.ones(leaves), dimensions).problem()
    assert as_sets(found_in(problem)) == as_sets(crossings(dimensions))
    assert_sound(problem)


@settings(max_examples=30)
@given(dimension_sets(), st.randoms(use_true_random=False))
def test_order_and_signs_do_not_matter(dimensions: dict[str, Hierarchy], random: Any) -> None:
    """Cells and relations in another order, relations turned round: the same subtables."""
    leaves = [len(hierarchy.leaves) for hierarchy in dimensions.values()]
    problem = Table.from_cube(np.ones(leaves), dimensions).problem()
    order = list(range(problem.cell_count))
    random.shuffle(order)
    rows = list(range(problem.relation_count))
    random.shuffle(rows)
    turned = Problem(
        value=problem.value[order], relations=-problem.relations[rows][:, order], rhs=None
    )
    cells = np.array(order)
    expected = [frozenset(grid.ravel().tolist()) for grid in crossings(dimensions)]
    found = [frozenset(cells[grid].ravel().tolist()) for grid in found_in(turned)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))


@settings(max_examples=40)
@given(st.data())
def test_tables_with_missing_cells(data: st.DataObject) -> None:
    """Where combinations do not occur, lines are still relations and all relations are there."""
    dimensions = data.draw(dimension_sets())
    finest = data.draw(finest_cells(dimensions))
    table = Table.from_frame(frame_of(finest, dimensions), dimensions)
    assert_sound(table.problem())


def test_missing_cells_keep_their_places() -> None:
    """A table of two dimensions with a hole is one grid with a hole."""
    A, _ = crossed([flat(2), flat(3)])
    kept = np.delete(np.arange(12), 6)
    grids = found_in(Problem(value=np.zeros(11), relations=A[:, kept]))
    assert len(grids) == 1
    assert grids[0].tolist() == [[0, 1, 2, 3], [4, 5, -1, 6], [7, 8, 9, 10]]


def test_linked_tables() -> None:
    """Two tables with a margin in common are two subtables, not one and not three."""
    A, sums = linked([flat(3), flat(2)], [flat(3), flat(4)])
    problem = Problem(value=np.zeros(sums.shape[0]), relations=A)
    assert sorted(grid.shape for grid in found_in(problem)) == [(4, 3), (4, 5)]
    assert_sound(problem)


def test_a_total_broken_down_in_two_ways() -> None:
    """Alternative groups in one dimension: each crosses with the other dimension alone."""
    # Total = a + b = c + d, with rows r = s + t.
    codes = np.array([[-1, 1, 1, 0, 0], [-1, 0, 0, 1, 1]], float)
    rows = np.array([[-1, 1, 1]], float)
    A = np.vstack([np.kron(rows, np.eye(5)), np.kron(np.eye(3), codes)])
    grids = found_in(Problem(value=np.zeros(15), relations=A))
    assert as_sets([grid if grid.shape == (3, 3) else grid.T for grid in grids]) == as_sets(
        [np.arange(15).reshape(3, 5)[:, [0, 1, 2]], np.arange(15).reshape(3, 5)[:, [0, 3, 4]]]
    )


@pytest.mark.parametrize("seed", range(10))
def test_odd_relations_stand_alone(seed: int) -> None:
    """Whatever the coefficients are, each relation is in some subtable."""
    problem = seeded_instance("coefficients", seed).problem
    subtables = assert_sound(problem)
    odd = ~subtables.has_total
    assert (subtables.dimension_count[odd] == 1).all()


def test_repeated_and_empty_relations() -> None:
    """A relation given twice, or without cells, adds no subtable."""
    A, _ = crossed([flat(2), flat(2)])
    once = found_in(Problem(value=np.zeros(9), relations=A))
    again = found_in(Problem(value=np.zeros(9), relations=np.vstack([A, -A[:1], 0 * A[:1]])))
    assert as_sets(again) == as_sets(once)
    assert found_in(Problem(value=[1.0])) == []


def test_levels_and_order() -> None:
    """Subtables come from the top down; a cell is one level below its total in each dimension."""
    tree = Hierarchy.from_nested({"A": ["A1", "A2"], "B": ["B1", "B2"]})
    flat_codes = Hierarchy.flat(["x", "y"])
    subtables = Subtables.of(
        Table.from_cube(np.ones((4, 2)), {"tree": tree, "flat": flat_codes}).problem().relations
    )
    corner = subtables.cells[subtables.start[:-1]]
    assert subtables.level[corner].tolist() == [0, 1, 1]
    assert subtables.level.max() == 3


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("cube8", (8, 8, 8)),
        ("table7", (6, 8, 13)),
        ("table1", (6, 8, 33)),
        ("dale", (46, 359)),
        ("osorio", (101, 101)),
    ],
)
def test_simple_public_instances(shared: Path, name: str, shape: tuple[int, ...]) -> None:
    """Files without a word about dimensions: the one table that they were made from."""
    problem = read_jj(shared / "instances" / f"{name}.jj")
    (grid,) = found_in(problem)
    assert tuple(sorted(grid.shape)) == shape
    assert sorted(grid.ravel().tolist()) == list(range(problem.cell_count))


@pytest.mark.parametrize(
    ("name", "count", "dimensions"),
    [("targus", 5, 2), ("enterprise5k", 31, 2), ("hier13x7x7d", 7, 3), ("toy3dsarah", 7, 3)],
)
def test_hierarchical_public_instances(
    shared: Path, name: str, count: int, dimensions: int
) -> None:
    """Hierarchical tables fall into as many subtables as their hierarchies have crossings."""
    subtables = assert_sound(read_jj(shared / "instances" / f"{name}.jj"))
    assert len(subtables) == count
    assert (subtables.dimension_count == dimensions).all()


@pytest.mark.parametrize("name", ["small", "hier13", "ninenew", "hier16x16x16a"])
def test_irregular_public_instances(shared: Path, name: str) -> None:
    """Missing grand totals, missing cells and overlapping groups: nothing is lost."""
    assert_sound(read_jj(shared / "instances" / f"{name}.jj"))
