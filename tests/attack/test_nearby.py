"""Deviations among cells nearby hold in the whole table."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tacit.attack import engines
from tacit.attack.audit import audit
from tacit.attack.kernels import cells_near
from tacit.attack.least_moves import LeastMoves
from tacit.attack.nearby import Nearby
from tacit.problem import Problem
from tacit.solver.highs import HighsModel
from tests.attack.tables import crossed, flat


def cube(seed: int, size: int = 5) -> Problem:
    """A three-dimensional table in which a third of the cells is sensitive."""
    rng = np.random.default_rng(seed)
    A, sums = crossed([flat(size), flat(size), flat(size)])
    value = sums @ np.floor(rng.lognormal(3.0, 1.0, sums.shape[1]))
    sensitive = np.sort(rng.choice(len(value), len(value) // 3, replace=False))
    level = np.ceil(0.1 * value[sensitive])
    return Problem(
        value=value,
        upper=np.full(len(value), 2 * value.max()),
        relations=A,
        rhs=A @ value,
        sensitive=sensitive,
        upper_level=level,
        lower_level=level,
    )


def nearby(problem: Problem) -> Nearby:
    """All cells may move within their bounds."""
    up, down = problem.upper - problem.value, problem.value - problem.lower
    return Nearby(problem.relations, up, down, HighsModel)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("side", [1, -1])
def test_deviations_hold_in_the_whole_table(seed: int, side: int) -> None:
    """Relations stay met, bounds are kept, and the asked cell reaches the target."""
    problem = cube(seed)
    search = nearby(problem)
    found = 0
    for cell, level in zip(problem.sensitive.tolist(), problem.upper_level.tolist(), strict=True):
        answer = search.deviation(cell, side, level, sizes=(150,))
        if answer is None:
            continue
        found += 1
        x = np.zeros(problem.cell_count)
        x[answer[0]] = answer[1]
        assert side * x[cell] >= level * (1 - 1e-8)
        assert np.abs(np.asarray(problem.relations @ x)).max() <= 1e-6 * level
        assert (problem.value + x >= problem.lower - 1e-9).all()
        assert (problem.value + x <= problem.upper + 1e-9).all()
    assert found > len(problem.sensitive) // 2


def test_cells_that_are_not_usable_stand_still() -> None:
    """With nothing usable around it a cell cannot move."""
    problem = cube(1)
    search = nearby(problem)
    cell = int(problem.sensitive[0])
    assert search.deviation(cell, 1, 1.0) is not None
    search.usable[:] = False
    search.usable[cell] = True
    assert search.deviation(cell, 1, 1.0) is None


def test_layers_are_whole() -> None:
    """The cells near a cell are those that share a relation with it, then theirs."""
    problem = cube(2, size=3)
    A = sparse.csr_array(problem.relations)
    columns = sparse.csc_array(A)
    pattern = abs(A).sign()
    for cell in range(0, problem.cell_count, 7):
        expected = np.zeros(problem.cell_count)
        expected[cell] = 1.0
        expected = np.asarray(pattern.T @ (pattern @ expected))
        near, is_all = cells_near(
            A.indptr.astype(np.int64),
            A.indices.astype(np.int64),
            columns.indptr.astype(np.int64),
            columns.indices.astype(np.int64),
            np.ones(problem.cell_count, bool),
            cell,
            2,
            1,
            np.zeros(problem.cell_count, np.int64),
            np.zeros(A.shape[0], np.int64),
        )
        assert near[0] == cell
        assert sorted(near.tolist()) == np.flatnonzero(expected).tolist()
        assert not is_all


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("vast", [10, 10_000])
def test_looking_for_small_deviations_first_changes_no_verdict(
    seed: int, vast: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large components are answered alike by cells nearby, least moves and furthest moves."""
    problem = cube(seed)
    rng = np.random.default_rng(seed)
    hidden = problem.is_sensitive | (rng.random(problem.cell_count) < 0.3)
    whole = audit(problem, hidden, cells="sensitive", exact=False)
    monkeypatch.setattr(engines, "_LARGE", 10)
    monkeypatch.setattr(engines, "_VAST", vast)
    small = audit(problem, hidden, cells="sensitive", exact=False)
    small.check()
    assert small.safe == whole.safe
    assert list(small.exposed_cells) == list(whole.exposed_cells)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("side", [1, -1])
def test_least_moves_hold_and_reach_the_target(seed: int, side: int) -> None:
    """Relations and bounds are kept, the cell is at its target, and far targets are refused."""
    problem = cube(seed)
    up, down = problem.upper - problem.value, problem.value - problem.lower
    least = LeastMoves(problem.relations, up, down, HighsModel)
    capacity = up if side > 0 else down
    found = 0
    for cell in problem.sensitive.tolist():
        target = 0.05 * float(problem.value[cell])
        x = least.deviation(cell, side, target)
        assert least.deviation(cell, side, 1.001 * float(capacity[cell]) + 1.0) is None
        if x is None:
            continue
        found += 1
        assert np.abs(np.asarray(problem.relations @ x)).max() <= 1e-9 * np.abs(x).sum()
        assert (x <= up).all()
        assert (-x <= down).all()
        assert side * x[cell] >= target * (1 - 1e-9)
    assert found > 0
