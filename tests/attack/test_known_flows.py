"""Flows that met requests before: they are used again only where they still meet them."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.attack.cuts import Separator
from tacit.attack.known_flows import KnownFlows, Room
from tacit.attack.reach import Limits, Requests
from tacit.problem import Floats
from tests.attack.tables import random_limits, small_problem


def points(rng: np.random.Generator, count: int) -> list[Floats]:
    """Points that move a little from one to the next, as those of a relaxation do."""
    y = rng.random(count)
    found = []
    for _ in range(12):
        y = np.where(rng.random(count) < 0.3, np.round(4 * rng.random(count)) / 4, y)
        found.append(y.copy())
    return found


@pytest.mark.parametrize("with_limits", [False, True])
def test_what_is_known_changes_no_answer(with_limits: bool) -> None:
    """A separator that has seen other points finds the same levels missed as a fresh one."""
    missed, met = 0, 0
    for seed in range(8):
        problem = small_problem(seed)
        rng = np.random.default_rng(seed)
        used = Separator(problem)
        requests = used.requests()
        if with_limits:
            limits = random_limits(rng, problem.cell_count, len(requests), 1.0)
            requests = Requests(requests.cells, requests.sides, requests.targets, limits=limits)
        for number, y in enumerate(points(rng, problem.cell_count)):
            y[problem.must_publish] = 0.0
            ceiling = (1.0, 0.5, 1.0, 0.2)[number % 4]
            mine = _missed(used, y, requests, ceiling)
            fresh = _missed(Separator(problem), y, requests, ceiling)
            assert mine == fresh
            missed += len(fresh)
            met += len(requests) - len(fresh)
    assert missed > 50
    assert met > 50


def _missed(
    separator: Separator, y: Floats, requests: Requests, ceiling: float
) -> set[tuple[int, int]]:
    """Cells and sides of the cuts that are found."""
    cuts = separator.cuts(y.copy(), requests, ceiling=ceiling)
    return {*zip(cuts.cells.tolist(), cuts.sides.tolist(), strict=True)}


def test_a_flow_serves_as_long_as_its_cells_have_room() -> None:
    """Less room, a ceiling, a limit or a further target, and it no longer does."""
    known = KnownFlows()
    asked = Requests(np.array([0]), np.array([1]), np.array([4.0]))
    target, no_cap = np.array([4.0]), np.array([np.inf])
    room = Room(np.full(3, 5.0), np.full(3, 5.0), np.ones(3), np.zeros(3, bool))
    assert not known.meet(asked, target, no_cap, room).any()
    moves = (np.array([0, 2]), np.array([1, 2]), np.array([4.0, -4.0]))
    known.keep(asked, np.array([True]), np.array([4.0]), *moves)
    assert known.meet(asked, target, no_cap, room).all()
    tighter = Room(np.array([5.0, 3.0, 5.0]), room.down, room.share, room.is_full)
    assert not known.meet(asked, target, no_cap, tighter).any()
    lower = Room(room.up, np.array([5.0, 5.0, 3.0]), room.share, room.is_full)
    assert not known.meet(asked, target, no_cap, lower).any()
    half = Room(room.up, room.down, np.array([1.0, 0.5, 1.0]), room.is_full)
    assert not known.meet(asked, target, no_cap, half).any()
    assert not known.meet(asked, target, np.array([3.0]), room).any()
    exempt = Room(room.up, room.down, room.share, np.ones(3, bool))
    assert known.meet(asked, target, np.array([3.0]), exempt).all()
    assert not known.meet(asked, np.array([4.5]), no_cap, room).any()
    assert not known.meet(Requests(asked.cells, -asked.sides, target), target, no_cap, room).any()


def test_limits_of_an_insider_are_heeded() -> None:
    """A flow that is known for a list of limits is checked against what the list says now."""
    known = KnownFlows()
    room = Room(np.full(2, 5.0), np.full(2, 5.0), np.ones(2), np.zeros(2, bool))
    target, no_cap = np.array([2.0]), np.array([np.inf])
    for most, meets in ((3.0, True), (1.0, False)):
        start, cells = np.array([0, 1]), np.array([1])
        limits = Limits(np.array([0]), start, cells, np.array([most]), np.array([most]))
        asked = Requests(np.array([0]), np.array([1]), target, limits=limits)
        if meets:
            flow = (np.array([0, 1]), np.array([1]), np.array([2.0]))
            known.keep(asked, np.array([True]), target, *flow)
        assert known.meet(asked, target, no_cap, room).all() == meets
