"""Finest cells, and annealing over them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tacit.generators import SensitiveShare, generate_table
from tacit.methods.adjust.heuristics.annealing import _Finest, _Run
from tacit.methods.adjust.heuristics.annealing_kernels import total_cost
from tacit.methods.adjust.model import build
from tacit.methods.adjust.run import adjust
from tacit.methods.adjust.totals import finest_cells
from tests.methods.adjust.tables import KINDS, assert_sound, published, random_problem


@pytest.mark.parametrize("kind", KINDS)
def test_all_cells_are_sums_of_finest_ones(kind: str) -> None:
    """Whatever the finest cells are, all relations hold, and they stay what they are."""
    A = random_problem(1, kind).relations
    found = finest_cells(A, most_entries=10_000)
    assert found is not None
    leaves, of_finest = found
    own = np.random.default_rng(1).integers(-9, 9, len(leaves)).astype(float)
    every = of_finest @ own
    assert (every[leaves] == own).all()
    assert np.abs(A @ every).max() < 1e-9


def test_relations_that_remain_among_finest_cells() -> None:
    """A total of two groups makes one of their cells follow the others."""
    A = sparse.csr_array(np.array([[1.0, 1, 0, 0, -1], [0, 0, 1, 1, -1]]))
    found = finest_cells(A, most_entries=1000)
    assert found is not None
    leaves, of_finest = found
    assert len(leaves) == 3
    assert not (A @ of_finest).toarray().any()
    rank = np.linalg.matrix_rank(of_finest.toarray())
    assert rank == 3


def test_cells_that_do_not_decide_all_others() -> None:
    """Relations that only halves could meet, and sums of too many entries, are given up."""
    A = sparse.csr_array(np.array([[1.0, 1, 0, 0, -1], [3, 3, 2, 2, -1]]))
    assert finest_cells(A, most_entries=1000) is None
    assert finest_cells(random_problem(1, "2d").relations, most_entries=5) is None


@pytest.mark.parametrize("kind", KINDS)
def test_costs_are_kept_up_to_date(kind: str) -> None:
    """After many trials the cost of every cell is what its deviation costs, and all add up."""
    problem = random_problem(2, kind)
    span = np.full(problem.cell_count, 50.0)
    model = build(problem, problem.weight, span, span, norm="l1", integer=False)
    table = _Finest.of(model)
    assert table is not None
    run = _Run(table, None, 10.0, 5000, np.random.default_rng(3))
    run.go_on(2000)
    cost = np.zeros(problem.cell_count)
    assert run._total == pytest.approx(total_cost(run._z, *table.limits, cost))
    np.testing.assert_allclose(run._cost, cost, atol=1e-9)
    assert np.abs(np.asarray(problem.relations @ run._z)).max() < 1e-8
    least = total_cost(run.best, *table.limits, cost)
    assert run._least == pytest.approx(least)
    assert least <= run._total * (1 + 1e-12)


def test_a_first_table_of_a_large_cube() -> None:
    """A cube with thousands of cells and many sensitive ones gets a safe table of integers."""
    share = SensitiveShare(percent=14)
    problem = generate_table({"a": 12, "b": 12, "c": 13}, 5, sensitivity=share).problem()
    outcome = adjust(problem, time_limit=4)
    assert_sound(outcome, problem)
    values = published(outcome)
    assert (values == np.rint(values)).all()
