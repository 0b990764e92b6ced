"""The relaxation with its cut pool, and the master problem in integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from tacit.methods.engine.cut_pool import CutPool, Rows
from tacit.methods.engine.integer_master import IntegerMaster
from tacit.methods.engine.relaxation import Relaxation

minimise: Any = linprog
"""Its stubs know no bounds as an array."""


def rows_of(*rows: list[float]) -> Rows:
    """Rows as a sparse matrix."""
    return sparse.csr_array(np.array(rows, float))


class TestPool:
    """Cuts are kept once."""

    def test_what_is_there_is_known(self) -> None:
        """The same cut twice, in one call or in two, has one place."""
        pool = CutPool(3)
        fresh, known = pool.put(rows_of([1, 0, 2], [0, 1, 0], [1, 0, 2]), np.array([1.0, 1, 1]))
        assert (fresh.tolist(), known.tolist()) == ([0, 1], [])
        fresh, known = pool.put(rows_of([0, 1, 0], [1, 1, 1]), np.ones(2))
        assert (fresh.tolist(), known.tolist()) == ([2], [1])
        assert len(pool) == 3
        assert pool.matrix.toarray().tolist() == [[1, 0, 2], [0, 1, 0], [1, 1, 1]]

    def test_another_right_hand_side_is_another_cut(self) -> None:
        """Cuts differ by their right-hand sides, too."""
        pool = CutPool(2)
        pool.put(rows_of([1, 1], [1, 1]), np.array([1.0, 2.0]))
        assert pool.right.tolist() == [1, 2]

    @given(st.lists(st.integers(0, 6), min_size=1, max_size=60))
    def test_grows_without_losing_anything(self, sizes: list[int]) -> None:
        """Many small additions give the matrix that one large one gives."""
        rng = np.random.default_rng(len(sizes))
        blocks = [rng.integers(-9, 9, (size, 5)).astype(float) for size in sizes]
        pool = CutPool(5)
        for block in blocks:
            pool.put(sparse.csr_array(block), np.ones(len(block)))
        expected = np.array(list(dict.fromkeys(map(tuple, np.concatenate(blocks)))))
        assert np.array_equal(pool.matrix.toarray(), expected.reshape(-1, 5))


def random_relaxation(rng: np.random.Generator, unit: float, cost_unit: float) -> Relaxation:
    """A relaxation with steady rows and cuts, feasible at its upper bounds."""
    n = int(rng.integers(2, 9))
    relaxation = Relaxation(
        np.asarray(rng.integers(1, 9, n) * cost_unit / unit, np.float64),
        np.zeros(n),
        np.asarray(rng.integers(0, 4, n) * unit, np.float64),
        unit=unit,
        cost_unit=cost_unit,
        patience=1,
    )
    for steady in (True, False):
        rows = sparse.csr_array(rng.integers(0, 4, (5, n)).astype(float))
        right = rng.random(5) * (rows @ relaxation.upper)
        if steady:
            relaxation.add_steady(rows, right)
        else:
            relaxation.add(rows, right)
    return relaxation


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("seed", range(12))
def test_bound_and_optimum(seed: int, size: float) -> None:
    """The recomputed bound is the optimum that scipy finds, at any magnitude."""
    rng = np.random.default_rng(seed)
    relaxation = random_relaxation(rng, size, 3.0)
    assert relaxation.solve()
    steady, lower, _ = relaxation.steady
    rows = np.vstack([steady.toarray(), relaxation.pool.matrix.toarray()])
    right = np.concatenate([lower, relaxation.pool.right])
    expected = minimise(
        relaxation.cost * size,
        A_ub=-rows,
        b_ub=-right / size,
        bounds=np.stack([relaxation.lower, relaxation.upper], 1) / size,
    )
    assert relaxation.bound == pytest.approx(expected.fun, rel=1e-6, abs=1e-9)
    assert relaxation.cost @ relaxation.x == pytest.approx(expected.fun, rel=1e-6, abs=1e-9)
    assert (rows @ relaxation.x >= right - 1e-6 * size).all()


@pytest.mark.parametrize("seed", range(12))
def test_the_integer_master_has_the_optimum_of_scipy(seed: int) -> None:
    """Integer columns, further rows and tighter bounds are heeded, scales are not felt."""
    rng = np.random.default_rng(seed)
    relaxation = random_relaxation(rng, 1.0, 7.0)
    n = relaxation.size
    integer = rng.random(n) < 0.7
    further = sparse.csr_array(np.ones((1, n)))
    ceiling = np.array([0.8 * relaxation.upper.sum()])
    found = IntegerMaster(relaxation, integer, offset=5.0).solve(
        seconds=10, gap=0.0, rows=further, lower=np.array([-np.inf]), upper=ceiling
    )
    steady, lower, _ = relaxation.steady
    expected = milp(
        relaxation.cost,
        integrality=integer.astype(int),
        bounds=Bounds(relaxation.lower, relaxation.upper),
        constraints=[
            LinearConstraint(steady.toarray(), lower, np.inf),
            LinearConstraint(
                relaxation.pool.matrix.toarray(),
                relaxation.pool.right,
                np.full(len(relaxation.pool), np.inf),
            ),
            LinearConstraint(np.ones((1, n)), -np.inf, ceiling),
        ],
    )
    if expected.x is None:
        assert found.status == "infeasible"
    else:
        assert found.x is not None
        assert found.objective == pytest.approx(expected.fun + 5.0)
        assert relaxation.cost @ found.x == pytest.approx(expected.fun)


def test_cuts_leave_and_come_back() -> None:
    """A cut that is never tight leaves the solver, stays in the pool, and returns on demand."""
    n = 150
    told: list[int] = []
    relaxation = Relaxation(np.ones(n), np.zeros(n), np.ones(n), patience=2, on_cuts=told.append)
    identity = sparse.csr_array(np.eye(n))
    assert relaxation.add(identity, np.full(n, 0.25)) == n
    stronger = sparse.csr_array(np.eye(n) * 2)
    assert relaxation.add(stronger, np.ones(n)) == n
    for _ in range(4):
        relaxation.solve()
    assert len(relaxation.active) < 2 * n
    assert len(relaxation.pool) == 2 * n
    assert relaxation.bound == pytest.approx(0.5 * n)
    assert relaxation.recall(np.zeros(n), most=20) == 20
    gone = np.setdiff1d(np.arange(n), relaxation.active)
    assert relaxation.add(sparse.csr_array(identity[gone]), np.full(len(gone), 0.25)) == len(gone)
    assert sum(told) == 2 * n


def test_a_cut_that_everybody_meets_is_not_added() -> None:
    """Rows that the bounds imply are of no use."""
    relaxation = Relaxation(np.ones(2), np.ones(2), np.full(2, 5.0))
    assert relaxation.add(rows_of([1, 1]), np.array([2.0])) == 0
    assert relaxation.add(rows_of([1, 1]), np.array([3.0])) == 1


def test_no_vector_is_left() -> None:
    """Contradictory cuts are told."""
    relaxation = Relaxation(np.ones(1), np.zeros(1), np.ones(1))
    relaxation.add(rows_of([1.0]), np.array([2.0]))
    assert not relaxation.solve()
    assert relaxation.infeasible


def test_the_cutoff_makes_columns_without_end_count() -> None:
    """A column without upper bound costs no more than the best solution known."""
    relaxation = Relaxation(np.array([1.0, 1.0]), np.zeros(2), np.array([np.inf, 1.0]))
    relaxation.add(rows_of([1, 2]), np.array([4.0]))
    assert relaxation.solve(cutoff=10.0)
    assert relaxation.bound == pytest.approx(3.0)


def test_columns_that_cannot_vary_are_constants() -> None:
    """A fixed column counts in rows and costs."""
    relaxation = Relaxation(np.array([1.0, 10.0]), np.array([0.0, 2.0]), np.array([9.0, 2.0]))
    relaxation.add_steady(rows_of([1, 1]), np.array([5.0]))
    assert relaxation.solve()
    assert relaxation.x == pytest.approx([3, 2])
    assert relaxation.bound == pytest.approx(23.0)
