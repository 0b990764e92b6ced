"""Remembered deviations: they answer what the attacker would, and nothing false is remembered."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.attack.reach import Requests
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.options import SuppressOptions
from tests.methods.suppress.larger_tables import cube, started


@pytest.mark.parametrize("seed", range(4))
def test_what_is_remembered_agrees_with_the_attacker(seed: int) -> None:
    """A search that has seen many patterns judges new ones as a search that has seen none."""
    problem = cube(seed)
    search, _ = started(problem)
    random = np.random.default_rng(seed)
    assert search.best is not None
    for share in random.uniform(0.6, 1.0, 12):
        hidden = search.sensitive | (search.secondary & (random.random(len(search.best)) < share))
        fresh = Search(problem, SuppressOptions(time_limit=60))
        told = [missed.cells.tolist() for _, missed in search.exposed(hidden)]
        assert told == [missed.cells.tolist() for _, missed in fresh.exposed(hidden)]


def test_a_remembered_deviation_needs_all_its_cells() -> None:
    """Once one of the moving cells is published, the deviation shows nothing any more."""
    search, _ = started(cube(1))
    (state,) = search.states
    assert search.best is not None
    search.exposed(search.best)
    request = state.separator.requests().take(np.array([0]))
    found = state.witnesses.find(request, 0, search.best)
    assert found is not None
    assert state.witnesses.show(request, search.best).all()
    fewer = search.best.copy()
    fewer[found.cells[-1]] = False
    assert not state.witnesses.show(request, fewer).any()


def test_what_does_not_hold_is_not_remembered() -> None:
    """Deviations that break a relation or a bound, or fall short, are refused."""
    search, _ = started(cube(2))
    (state,) = search.states
    witnesses, cell = state.witnesses, int(search.problem.sensitive[0])
    A = search.problem.relations
    alone = np.array([cell])
    both = Requests.both_sides(alone, 1.0, 1.0)
    assert not witnesses.remember(both, 0, alone, np.array([1.0]))
    cycle = np.flatnonzero(np.abs(A.toarray()).sum(0) > 0)
    kernel = np.linalg.svd(A.toarray()[:, cycle])[2][-1]
    assert np.allclose(A.toarray()[:, cycle] @ kernel, 0)
    far = kernel * 1e9
    place = int(np.flatnonzero(cycle == cell)[0])
    number = 0 if far[place] > 0 else 1
    assert not witnesses.remember(both, number, cycle, far)
    assert not witnesses.remember(Requests.both_sides(alone, 1e12, 1e12), number, cycle, kernel)


def test_a_stretched_deviation_serves_others() -> None:
    """A small move along a line is stretched to the bounds and meets the targets on it."""
    search, _ = started(cube(3))
    (state,) = search.states
    problem = search.problem
    everything = search.sensitive | search.secondary
    request = state.separator.requests().take(np.array([0]))
    attack = search.attack(state, everything)
    table = attack.reach(search.ask(state, request, everything)).deviations
    cells, x = table.indices.astype(np.int64), table.data * 0.01
    both = Requests.both_sides(problem.sensitive, 1e-3, 1e-3)
    met = state.witnesses.spread(both, np.ones(len(both), bool), cells, x)
    assert met[: len(problem.sensitive)][problem.sensitive == request.cells[0]].all()
    assert state.witnesses.show(both, everything)[met].all()
    assert not state.witnesses.spread(both, np.zeros(len(both), bool), cells, x).any()


def test_a_deviation_that_breaks_a_relation_serves_nobody() -> None:
    """However far it could be stretched: it is checked before anything is remembered of it."""
    search, _ = started(cube(3))
    (state,) = search.states
    cell = int(search.problem.sensitive[0])
    both = Requests.both_sides(np.array([cell]), 1e-3, 1e-3)
    before = state.witnesses.show(both, np.ones(search.problem.cell_count, bool))
    met = state.witnesses.spread(both, np.ones(2, bool), np.array([cell]), np.array([1e-6]))
    assert not met.any()
    after = state.witnesses.show(both, np.ones(search.problem.cell_count, bool))
    assert after.tolist() == before.tolist()
