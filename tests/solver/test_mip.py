"""What HiGHS, in its own units or others, and SCIP have in common: one suite for all."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tacit.clock import Clock, TimeUpError
from tacit.solver.highs_mip import HighsMip
from tacit.solver.mip import Mip, MipSolution
from tacit.solver.scaled_mip import ScaledMip
from tacit.solver.scip import ScipMip
from tests.solver.programs import Cover, values

SOLVERS: list[type[Mip]] = [HighsMip, ScaledMip, ScipMip]


def model(kind: type[Mip], cover: Cover, offset: float = 0.0) -> Mip:
    """A covering problem for either solver."""
    rows, columns = cover.A.shape
    return kind(
        sparse.csr_array(cover.A.astype(float)),
        row_lower=cover.right,
        row_upper=np.full(rows, np.inf),
        lower=np.zeros(columns),
        upper=np.ones(columns),
        cost=cover.cost,
        integer=cover.integer,
        offset=offset,
        seed=3,
    )


@pytest.mark.parametrize("kind", SOLVERS)
@pytest.mark.parametrize("seed", range(4))
def test_either_finds_the_optimum(kind: type[Mip], seed: int) -> None:
    """Objective and bound are those of scipy, the offset added, and integers are integers."""
    cover = Cover(seed)
    found = model(kind, cover, offset=50.0).minimise(seconds=10)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(cover.optimum() + 50)
    assert found.settled_bound == pytest.approx(found.objective)
    x = values(found)[cover.integer]
    assert x == pytest.approx(np.rint(x), abs=1e-6)


@pytest.mark.parametrize("kind", SOLVERS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_either_bounds_a_model_without_integers(kind: type[Mip], sign: float) -> None:
    """The bound of a linear model is its optimum, be it above or below zero."""
    cover = Cover(2)
    cover.integer[:] = False
    cover.cost = sign * cover.cost
    found = model(kind, cover, offset=3.0).minimise(seconds=10)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(cover.optimum() + 3)
    assert found.bound == pytest.approx(found.objective)


@pytest.mark.parametrize("kind", SOLVERS)
def test_either_says_that_there_is_no_solution(kind: type[Mip]) -> None:
    """Contradictory rows have no vector, and no finite bound."""
    cover = Cover(1)
    cover.right = cover.A.sum(axis=1) + 1.0
    found = model(kind, cover).minimise(seconds=10)
    assert (found.status, found.x, found.bound) == ("infeasible", None, np.inf)


@pytest.mark.parametrize("kind", SOLVERS)
def test_either_begins_with_what_is_known_and_stops_on_demand(kind: type[Mip]) -> None:
    """With a start there is an answer however soon the watcher stops the solver."""
    cover = Cover(5, rows=40, columns=80)
    heard: list[MipSolution] = []

    def watch(so_far: MipSolution) -> bool:
        heard.append(so_far)
        return True

    found = model(kind, cover).minimise(seconds=30, start=np.ones(80), watch=watch)
    assert found.objective <= cover.cost.sum()
    assert found.bound <= found.objective + 1e-6
    assert all(each.status == "running" for each in heard)


@pytest.mark.parametrize("kind", SOLVERS)
def test_either_keeps_to_the_clocks_around_it(kind: type[Mip]) -> None:
    """Where the time is up, nothing begins."""
    made = model(kind, Cover(1))

    def within() -> None:
        with Clock(0.0):
            made.minimise(seconds=10)

    with Clock(0.0), pytest.raises(TimeUpError):
        within()
