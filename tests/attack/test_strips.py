"""Strips of tables with two hierarchies: networks side by side."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tacit.attack import cuts
from tacit.attack.network_parts import NetworkPart
from tacit.attack.shrink import Structure
from tacit.attack.strips import StripArrays, Strips
from tacit.generators import random_hierarchy
from tacit.microdata import tabulate
from tacit.problem import Floats, Problem
from tacit.reductions.equal_cells import EqualCells
from tests.attack.tables import (
    Codes,
    assert_flow_cuts_hold,
    assert_separation_is_exact,
    crossed,
    flat,
    hierarchies,
    small_problem,
)

ROWS = Codes((-1, 0, 0, 1, 1, 2, 2, 2))
COLUMNS = Codes((-1, 0, 0, 1, 1, 1, 2, 2, 6, 6))


def circulation(part: NetworkPart, rng: np.random.Generator) -> Floats:
    """Random amounts on the arcs of a network that balance at every node."""
    network, count = part.network, len(part.cells)
    nodes = np.zeros((len(network.rows) + 1, count))
    nodes[network.head, np.arange(count)] += 1.0
    nodes[network.tail, np.arange(count)] -= 1.0
    _, size, basis = np.linalg.svd(nodes)
    free = basis[int((size > 1e-9).sum()) :]
    return np.asarray(rng.normal(size=len(free)) @ free)


def test_every_parent_has_a_strip() -> None:
    """Two hierarchies with 3 and 4 parents make 7 strips, which cover all relations."""
    A, _ = crossed([ROWS, COLUMNS])
    strips = Strips.of(sparse.csr_array(A))
    size = {len(part.cells) for part in strips.parts}
    assert len(strips.parts) == 7
    assert strips.cover.all()
    rows, columns = len(ROWS.parents), len(COLUMNS.parents)
    assert size == {3 * columns, 4 * columns, 3 * rows, 4 * rows}


def test_leaves_below_the_parent_may_move() -> None:
    """In the strip of a parent whose children have none, all move but the parent's own column."""
    A, _ = crossed([ROWS, COLUMNS])
    moving = {tuple(part.cells) for part in Strips.of(sparse.csr_array(A)).moving}
    rows, columns = len(ROWS.parents), len(COLUMNS.parents)
    cells = np.arange(rows * columns).reshape(rows, columns)
    assert tuple(cells[:, 3:6].ravel()) in moving
    assert tuple(cells[5:8].ravel()) in moving
    # Of the columns 6 and 7 only the latter has no parts.
    assert tuple(cells[:, 7].ravel()) in moving


@settings(max_examples=60)
@given(hierarchies(), hierarchies(), st.integers(0, 2**32 - 1))
def test_flows_of_moving_cells_are_deviations_of_the_table(
    rows: Codes, columns: Codes, seed: int
) -> None:
    """Whatever balances at the nodes of a strip meets all relations of the table."""
    A, _ = crossed([rows, columns])
    rng = np.random.default_rng(seed)
    for part in Strips.of(sparse.csr_array(A)).moving:
        x = np.zeros(A.shape[1])
        x[part.cells] = circulation(part, rng)
        assert np.abs(A @ x).max() < 1e-9


def sparse_table(seed: int) -> Problem:
    """Two hierarchies of which many combinations do not occur, with equal cells merged."""
    rng = np.random.default_rng(seed)
    rows = random_hierarchy(12, depth=3, seed=seed)
    columns = random_hierarchy(8, depth=2, seed=seed + 1)
    count = 40
    data = {
        "row": rng.choice(rows.leaves, count),
        "column": rng.choice(columns.leaves, count),
        "value": rng.integers(1, 50, count).astype(float),
    }
    table = tabulate(data, {"row": rows, "column": columns}, "value")
    return EqualCells.of(table.problem()).problem


@pytest.mark.parametrize("seed", range(10))
def test_sparse_tables_tell_their_strips(seed: int) -> None:
    """Strips of tables with gaps are networks, and their flows deviations of the whole table."""
    problem = sparse_table(seed)
    A = problem.relations
    found = Structure.of(problem)
    assert found.strips_cover
    assert not Strips.of(A).cover.all()
    rng = np.random.default_rng(seed)
    for part in found.strips.moving:
        x = np.zeros(A.shape[1])
        x[part.cells] = circulation(part, rng)
        assert np.abs(np.asarray(A @ x)).max() < 1e-9


@settings(max_examples=60)
@given(hierarchies(), hierarchies())
def test_strips_are_networks_of_relations_of_the_table(rows: Codes, columns: Codes) -> None:
    """The arcs of a strip are its relations' cells, turned round where the signs say so."""
    A, _ = crossed([rows, columns])
    for part in Strips.of(sparse.csr_array(A)).parts:
        network = part.network
        turned = A[network.rows] * network.sign[:, None]
        nodes = np.zeros((len(network.rows) + 1, A.shape[1]))
        nodes[network.head, part.cells] += 1.0
        nodes[network.tail, part.cells] -= 1.0
        assert (nodes[:-1] == turned).all()


def test_relations_in_any_order_make_the_same_strips() -> None:
    """Nothing but the relations themselves is needed to find the strips."""
    A, _ = crossed([ROWS, COLUMNS])
    rng = np.random.default_rng(1)
    shuffled = sparse.csr_array(A[rng.permutation(len(A))])
    one, two = (
        {tuple(part.cells) for part in Strips.of(table).parts}
        for table in (sparse.csr_array(A), shuffled)
    )
    assert one == two


def test_cubes_and_plain_tables() -> None:
    """A cube's strips are no networks; of a table without hierarchies each is the whole table."""
    cube, _ = crossed([flat(3), flat(3), flat(3)])
    assert Strips.of(sparse.csr_array(cube)).parts == []
    plain, _ = crossed([flat(3), flat(4)])
    assert [len(part.cells) for part in Strips.of(sparse.csr_array(plain)).parts] == [20, 20]
    assert Strips.of(sparse.csr_array((0, 3))).parts == []


def test_arrays_tell_where_cells_are() -> None:
    """Each place of a cell leads to an arc that stands for it."""
    A, _ = crossed([ROWS, COLUMNS])
    strips = Strips.of(sparse.csr_array(A))
    arrays = StripArrays.of(strips.parts, A.shape[1])
    for cell in range(A.shape[1]):
        places = range(arrays.place_start[cell], arrays.place_start[cell + 1])
        assert len(places) == sum(cell in part.cells for part in strips.parts)
        for place in places:
            strip, arc = arrays.place_strip[place], arrays.place_arc[place]
            assert arrays.cell[arrays.arc_start[strip] + arc] == cell
            assert strips.parts[strip].cells[arc] == cell


@pytest.mark.parametrize("seed", range(12))
def test_cuts_of_strips_hold_for_every_safe_pattern(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Relations that are left out only make an attacker weaker: no safe pattern is cut off."""
    monkeypatch.setattr(cuts, "_SMALL", 0)
    problem = small_problem(seed, hierarchies=True)
    assert Structure.of(problem).strips_cover
    assert_flow_cuts_hold(problem, seed)


@pytest.mark.parametrize("seed", range(6))
def test_separation_with_strips_is_exact(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where strips find nothing, programs decide: no cut if and only if all are safe."""
    monkeypatch.setattr(cuts, "_SMALL", 0)
    assert_separation_is_exact(small_problem(seed + 50, hierarchies=True), seed)
