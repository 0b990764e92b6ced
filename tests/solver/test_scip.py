"""SCIP: against scipy, and with a condition that is asked for when needed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from tacit import clock as clocks
from tacit.clock import Clock, TimeUpError
from tacit.problem import Floats
from tacit.solver.mip import MipSolution
from tacit.solver.scip import Cut, Node, ScipMip, ScipTree
from tests.solver.programs import Cover, values


def model(cover: Cover, **options: float) -> ScipMip:
    """A covering problem for SCIP."""
    rows, columns = cover.A.shape
    return ScipMip(
        sparse.csr_array(cover.A.astype(float)),
        row_lower=cover.right,
        row_upper=np.full(rows, np.inf),
        lower=np.zeros(columns),
        upper=np.ones(columns),
        cost=cover.cost,
        integer=cover.integer,
        **options,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("seed", range(10))
def test_optimum_of_scipy(seed: int) -> None:
    """The optimum is that of scipy, with the offset added."""
    cover = Cover(seed)
    found = model(cover, offset=100.0).minimise(seconds=10)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(cover.optimum() + 100)
    assert found.bound == pytest.approx(found.objective)
    assert cover.cost @ values(found) == pytest.approx(found.objective - 100)


def test_no_solution() -> None:
    """Contradictory rows have no solution."""
    cover = Cover(1)
    cover.right = cover.A.sum(axis=1) + 1.0
    assert model(cover).minimise(seconds=10).status == "infeasible"


def test_a_watcher_hears_and_stops() -> None:
    """Who watches is told of solutions, and may end the run."""
    heard: list[MipSolution] = []

    def watch(so_far: MipSolution) -> bool:
        heard.append(so_far)
        return True

    found = model(Cover(3, rows=40, columns=80)).minimise(seconds=20, watch=watch)
    assert heard
    assert found.status in ("stopped", "optimal")


def test_errors_of_watchers_reach_the_caller() -> None:
    """An exception in a callback comes out of `minimise`."""

    def watch(_: MipSolution) -> bool:
        raise KeyError("heard")

    with pytest.raises(KeyError, match="heard"):
        model(Cover(3, rows=20, columns=40)).minimise(seconds=20, watch=watch)


def test_an_ended_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is solved when time is up."""
    at = [0.0]
    monkeypatch.setattr(clocks, "now", lambda: at[0])
    scip = model(Cover(1))
    clock = Clock(1.0)
    at[0] = 2.0
    reached = False
    with clock:
        with pytest.raises(TimeUpError):
            scip.minimise(seconds=5)
        reached = True
    assert reached


class AtLeast:
    """The condition that some weighted sum of a binary vector is at least 1, cut by cut."""

    def __init__(self, rows: Floats):
        self.rows = rows
        self.known: Floats | None = None
        self.nodes: list[Node] = []

    def accepts(self, x: Floats) -> bool:
        """Are all rows met?"""
        return bool((self.rows @ np.round(x) >= 1 - 1e-6).all())

    def forbid(self, x: Floats) -> Sequence[Cut]:
        """All rows that are not."""
        return self._violated(np.round(x))

    def separate(self, x: Floats, node: Node) -> Sequence[Cut] | None:
        """The same for fractional vectors, at the root only."""
        self.nodes.append(node)
        return self._violated(x) if node.depth == 0 else None

    def suggestion(self) -> Floats | None:
        """What was found elsewhere."""
        return self.known

    def _violated(self, x: Floats) -> list[Cut]:
        missed = np.flatnonzero(self.rows @ x < 1 - 1e-6)
        return [
            (np.flatnonzero(self.rows[row]), self.rows[row][self.rows[row] > 0]) for row in missed
        ]


@pytest.mark.parametrize("seed", range(12))
def test_a_lazy_condition(seed: int) -> None:
    """Rows that SCIP only learns of when it asks give the optimum over all of them."""
    rng = np.random.default_rng(seed)
    n = 9
    rows = (rng.random((7, n)) < 0.4) * rng.random((7, n))
    rows[rows.sum(axis=1) < 1, 0] = 1.0
    cost = rng.integers(1, 20, n).astype(float)
    condition = AtLeast(rows)
    everything = np.ones(n)
    if seed % 2:
        condition.known = everything
    tree = ScipTree(
        sparse.csr_array((0, n)),
        condition,
        row_lower=np.zeros(0),
        row_upper=np.zeros(0),
        lower=np.zeros(n),
        upper=np.ones(n),
        cost=cost,
        integer=np.ones(n, bool),
        offset=3.0,
    )
    found = tree.minimise(seconds=20)
    patterns = (np.array(x, float) for x in product((0, 1), repeat=n))
    expected = min(cost @ x for x in patterns if condition.accepts(x))
    assert found.objective == pytest.approx(expected + 3)
    assert condition.accepts(values(found))


def test_nothing_below_the_limit() -> None:
    """Where nothing costs less than the limit, there is no solution."""
    condition = AtLeast(np.ones((1, 3)))
    tree = ScipTree(
        sparse.csr_array((0, 3)),
        condition,
        row_lower=np.zeros(0),
        row_upper=np.zeros(0),
        lower=np.zeros(3),
        upper=np.ones(3),
        cost=np.ones(3),
        integer=np.ones(3, bool),
    )
    tree.limit_objective(0.5)
    assert tree.minimise(seconds=5).status == "infeasible"
