"""Which tables are recognised as networks, and that what is recognised is one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from tacit.attack.network import Network, recognise
from tacit.problem import Problem
from tests.attack.tables import (
    Codes,
    Matrix,
    Published,
    assert_agreement,
    crossed,
    flat,
    hierarchies,
    linked,
    magnitude,
    published_tables,
)


def rank(A: Any) -> int:
    """The rank of a matrix, 0 if it is empty."""
    return int(np.linalg.matrix_rank(A)) if A.size else 0


def _even(depth: int, children: int) -> Codes:
    """A hierarchy in which every code above the lowest level has the same number of children."""
    parents, level = [-1], [0]
    for _ in range(depth):
        first = len(parents)
        parents += [code for code in level for _ in range(children)]
        level = list(range(first, len(parents)))
    return Codes(tuple(parents))


def assert_network(A: Matrix, network: Network | None, chosen: Any) -> None:
    """The chosen cells are arcs between the network's relations, which imply all others."""
    if network is None:
        assert not chosen.any()
        return
    cells = np.flatnonzero(chosen)
    nodes = network.sign[:, None] * A[network.rows][:, cells]
    incidence = np.zeros((len(network.rows) + 1, len(cells)))
    incidence[network.tail, np.arange(len(cells))] += 1.0
    incidence[network.head, np.arange(len(cells))] -= 1.0
    assert np.array_equal(nodes, incidence[:-1]) or np.array_equal(nodes, -incidence[:-1])
    assert len(np.unique(network.rows)) == len(network.rows)
    assert rank(A[:, cells]) == rank(A[network.rows][:, cells])
    touching = np.flatnonzero(np.abs(A[:, cells]).sum(axis=1))
    assert not A[touching][:, ~chosen].any()


@pytest.mark.parametrize("rows", [1, 2, 3, 6])
@pytest.mark.parametrize("columns", [1, 2, 5])
def test_two_dimensional_tables_are_networks(rows: int, columns: int) -> None:
    """Every cell of a two-dimensional table becomes an arc."""
    A, _ = crossed([flat(rows), flat(columns)])
    network, chosen = recognise(sparse.csr_array(A))
    assert chosen.all()
    assert_network(A, network, chosen)


@settings(max_examples=50)
@given(rows=hierarchies())
def test_tables_with_one_hierarchy_are_networks(rows: Codes) -> None:
    """Every cell of a two-dimensional table with hierarchical rows becomes an arc."""
    for dimensions in ([rows, flat(3)], [flat(2), rows]):
        A, _ = crossed(dimensions)
        network, chosen = recognise(sparse.csr_array(A))
        assert chosen.all()
        assert_network(A, network, chosen)


@pytest.mark.parametrize("columns", [2, 3, 5])
@pytest.mark.parametrize("depth", [3, 4])
@pytest.mark.parametrize("children", [2, 4])
def test_columns_are_fewer_than_children_or_more(columns: int, depth: int, children: int) -> None:
    """A table with one hierarchy of even depth is a network, however its relations compare."""
    A, _ = crossed([_even(depth, children), flat(columns)])
    network, chosen = recognise(sparse.csr_array(A))
    assert chosen.all()
    assert_network(A, network, chosen)


def test_deep_hierarchies_are_networks() -> None:
    """Also with four levels, uneven branches and its relations in random order."""
    rows = Codes((-1, 0, 0, 1, 1, 1, 3, 3, 6, 6, 6, 2, 2))
    A, _ = crossed([rows, flat(4)])
    rng = np.random.default_rng(3)
    for _ in range(10):
        shuffled = A[rng.permutation(len(A))][:, rng.permutation(A.shape[1])]
        shuffled = shuffled * rng.choice([-1.0, 1.0], (len(A), 1))
        network, chosen = recognise(sparse.csr_array(shuffled))
        assert chosen.all()
        assert_network(shuffled, network, chosen)


@settings(max_examples=150)
@given(published=published_tables())
def test_whatever_is_recognised_is_a_network(published: Published) -> None:
    """In tables of every kind, recognised cells form a network and dropped rows are implied."""
    A = published.problem.relations
    network, chosen = recognise(A)
    assert_network(A.toarray(), network, chosen)


def test_coefficients_other_than_one_are_no_network() -> None:
    """A relation that counts one cell twice cannot be a node."""
    _, chosen = recognise(sparse.csr_array([[1.0, 2.0, -1.0]]))
    assert not chosen.any()


def test_parts_are_judged_apart() -> None:
    """A network beside something else is recognised, and the rest is left alone."""
    plain, _ = crossed([flat(2), flat(2)])
    other = np.array([[1.0, 2.0, -3.0], [2.0, -1.0, 1.0]])
    A = sparse.csr_array(sparse.block_diag([other, plain]))
    A.eliminate_zeros()
    network, chosen = recognise(A)
    assert chosen.tolist() == [False] * 3 + [True] * 9
    assert_network(A.toarray(), network, chosen)


@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 2, 3), (3, 3, 2)])
def test_cubes_get_the_same_answers(shape: tuple[int, int, int]) -> None:
    """A three-dimensional table, whether or not parts look like networks, is solved right."""
    A, sums = crossed([flat(size) for size in shape])
    rng = np.random.default_rng(sum(shape))
    network, chosen = recognise(sparse.csr_array(A))
    assert_network(A, network, chosen)
    for share in (1.0, 0.6):
        value = sums @ rng.integers(0, 20, sums.shape[1]).astype(float)
        problem = Problem(value=value, upper=2 * value + 5, relations=A)
        hidden = rng.random(len(value)) < share
        table = Published(problem, hidden, magnitude(problem))
        assert_agreement(table, rng.choice(table.cells, 6, replace=False))


def test_linked_tables_get_the_same_answers() -> None:
    """Two tables that share a margin, each a network for itself, are solved right."""
    A, sums = linked([flat(3), flat(2)], [flat(3), flat(3)])
    rng = np.random.default_rng(5)
    network, chosen = recognise(sparse.csr_array(A))
    assert_network(A, network, chosen)
    value = sums @ rng.integers(0, 20, sums.shape[1]).astype(float)
    problem = Problem(value=value, upper=2 * value + 5, relations=A)
    hidden = rng.random(len(value)) < 0.9
    table = Published(problem, hidden, magnitude(problem))
    assert_agreement(table, rng.choice(table.cells, 8, replace=False))
