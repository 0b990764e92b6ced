"""Requests with limits: one attack answers for many insiders as if each had one of its own."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from tacit.attack import engines
from tacit.attack.audit import audit
from tacit.attack.cuts import Separator
from tacit.attack.evidence import Evidence, EvidenceError
from tacit.attack.knowledge import Attacker, Knowledge
from tacit.attack.least_moves import LeastMoves
from tacit.attack.nearby import Nearby
from tacit.attack.reach import Limits, Requests
from tacit.attack.suggestions import Suggestions
from tacit.attack.sweep import Attack
from tacit.problem import Floats, Problem
from tacit.solver.highs import HighsModel
from tests.attack.tables import (
    SIZES,
    Published,
    agree,
    assert_identical,
    extreme,
    published_tables,
    random_limits,
    small_problem,
    table_for_tasks,
)


def dense(limits: Limits, request: int, n: int) -> tuple[Floats, Floats]:
    """How far every cell may rise and fall in one request."""
    up, down = np.full((2, n), np.inf)
    cells, rise, fall = limits.of(request)
    up[cells], down[cells] = rise, fall
    return up, down


@pytest.mark.parametrize("kind", ["2-D", "1H2D", "3-D", "linked", "coefficients"])
@settings(max_examples=60)
@given(data=st.data())
def test_answers_are_those_of_a_table_with_these_bounds(kind: str, data: st.DataObject) -> None:
    """Flows and linear models reach what brute force reaches within the limits, with evidence."""
    published: Published = data.draw(published_tables(kinds=(kind,), units=(1.0,)))
    problem, n = published.problem, published.problem.cell_count
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    asked = rng.integers(0, n, 4)
    limits = random_limits(rng, n, 2 * len(asked), 1.0)
    both = Requests.both_sides(asked)
    requests = Requests(both.cells, both.sides, both.targets, limits=limits)
    lower, upper = published.bounds()
    expected = []
    for number in range(len(requests)):
        cell, side = int(requests.cells[number]), int(requests.sides[number])
        up, down = dense(limits, number, n)
        low, high = np.maximum(lower, problem.value - down), np.minimum(upper, problem.value + up)
        end = extreme(problem, low, high, cell, side)
        expected.append(side * (end - problem.value[cell]))
    for networks in (True, False):
        attack = Attack(problem, published.knowledge, networks=networks)
        reaches = attack.reach(requests)
        assert agree(reaches.amount, np.array(expected), max(published.tolerance, 1e-6))
        evidence = Evidence.of(requests, reaches)
        refused = evidence.refused(
            problem, published.knowledge, Attacker.external(), limits=limits, tolerance=1e-6
        )
        assert not refused.any()


@pytest.mark.parametrize(("large", "vast"), [(0, 10**9), (0, 0), (10**9, 10**9)])
@pytest.mark.parametrize("seed", range(3))
def test_targets_are_reached_the_same_way_in_large_tables(
    monkeypatch: pytest.MonkeyPatch, seed: int, large: int, vast: int
) -> None:
    """Least moves and cells nearby keep the limits, and miss nothing the others reach."""
    monkeypatch.setattr(engines, "_LARGE", large)
    monkeypatch.setattr(engines, "_VAST", vast)
    problem, hidden = table_for_tasks("cube")
    rng = np.random.default_rng(seed)
    knowledge = Knowledge.of(problem, hidden)
    both = Requests.both_sides(problem.sensitive, problem.upper_level, problem.lower_level)
    limits = random_limits(rng, problem.cell_count, len(both), 2.0)
    requests = Requests(both.cells, both.sides, both.targets, limits=limits)
    reaches = Attack(problem, knowledge, networks=False).reach(requests)
    assert limits.kept(reaches.deviations, np.arange(len(requests))).all()
    Evidence.of(requests, reaches).check(problem, knowledge, limits=limits, tolerance=1e-6)
    for number in range(0, len(requests), 7):
        up, down = dense(limits, number, problem.cell_count)
        told = Knowledge(np.minimum(knowledge.up, up), np.minimum(knowledge.down, down))
        alone = both.take([number])
        expected = Attack(problem, told, networks=False).reach(alone)
        assert reaches.reached(requests)[number] == expected.reached(alone)[0]


@pytest.mark.parametrize("kind", sorted(SIZES))
def test_threads_give_identical_answers_with_limits(kind: str) -> None:
    """Limits travel with the chunks."""
    problem, hidden = table_for_tasks(kind)
    attack = Attack(problem, Knowledge.of(problem, hidden))
    both = Requests.both_sides(np.arange(problem.cell_count), 5.0, 5.0)
    limits = random_limits(np.random.default_rng(5), problem.cell_count, len(both), 2.0)
    requests = Requests(both.cells, both.sides, both.targets, limits=limits)
    alone = attack.reach(requests)
    assert (attack.reach(both).amount > alone.amount).any()
    with ThreadPoolExecutor(2) as pool:
        assert_identical(alone, attack.reach(requests, executor=pool))


def test_limits_of_one_request_do_not_reach_the_next() -> None:
    """After a request with closed cells the model is what it was before."""
    problem, hidden = table_for_tasks("cube")
    free = Requests.both_sides(problem.sensitive[:6])
    closed = np.flatnonzero(hidden)
    nothing = np.zeros(len(closed))
    limits = Limits(np.array([-1, 0] * 6), np.array([0, len(closed)]), closed, nothing, nothing)
    mixed = Requests(free.cells, free.sides, free.targets, limits=limits)
    attack = Attack(problem, Knowledge.of(problem, hidden), networks=False)
    reaches, expected = attack.reach(mixed), attack.reach(free)
    assert np.allclose(reaches.amount[::2], expected.amount[::2], rtol=1e-7)
    assert (expected.amount[1::2] > 0).any()
    assert (reaches.amount[1::2] == 0).all()


def test_requests_carry_their_limits() -> None:
    """Choosing, joining, renumbering and both sides keep each request's own list."""
    limits = Limits(
        np.array([1, -1, 0]),
        np.array([0, 2, 3]),
        np.array([0, 4, 2]),
        np.array([np.inf, 1.0, 0.0]),
        np.array([5.0, 2.0, 0.0]),
    )
    requests = Requests(np.array([1, 2, 3]), np.ones(3, int), np.full(3, 9.0), limits=limits)
    turned = requests.take(np.array([2, 0]))
    assert turned.limited(0)[0].tolist() == [0, 4]
    assert turned.limited(1)[0].tolist() == [2]
    plain = Requests(np.array([7]), np.array([-1]), np.array([1.0]))
    joined = Requests.joined([plain, turned, requests])
    assert [joined.limited(number)[0].tolist() for number in range(6)] == [
        [],
        [0, 4],
        [2],
        [2],
        [],
        [0, 4],
    ]
    assert Requests.joined([plain, plain]).limits is None
    number = np.array([3, 1, -1, 0, 2, -1, -1, 5])
    other = joined.numbered_by(number)
    assert other.cells.tolist() == [5, 0, 1, 1, -1, 0]
    assert [cells.tolist() for cells in other.limited(1)] == [[2, 3], [1.0, np.inf], [2.0, 5.0]]
    assert other.limited(2)[0].tolist() == []
    sides = Requests.both_sides(np.array([1, 2, 3]), limits=limits)
    assert sides.limited(3)[0].tolist() == [2]
    assert sides.limited(5)[0].tolist() == [0, 4]
    own = Requests(np.array([4]), np.array([1]), np.array([9.0]), limits=limits.take([2]))
    assert own.capacity(np.full(5, 8.0), np.full(5, 8.0)).tolist() == [1.0]
    assert own.positive().limits is not None


def test_evidence_beyond_a_limit_is_refused() -> None:
    """A table in which a cell moves that the insider knows shows nothing."""
    problem = Problem(value=[3, 4, 7], upper=[9, 9, 9], relations=[[1, 1, -1]])
    knowledge = Knowledge.of(problem, [0, 1])
    evidence = Evidence(
        np.array([0]),
        np.array([1]),
        np.array([2.0]),
        sparse.csr_array([[2.0, -2.0, 0.0]]),
        np.array([np.inf]),
        sparse.csr_array((1, 1)),
    )
    evidence.check(problem, knowledge)
    for fall, holds in ((0.0, False), (1.9, False), (2.0, True)):
        limits = Limits(
            np.array([0]), np.array([0, 1]), np.array([1]), np.array([np.inf]), np.array([fall])
        )
        if holds:
            evidence.check(problem, knowledge, limits=limits)
        else:
            with pytest.raises(EvidenceError):
                evidence.check(problem, knowledge, limits=limits)


def test_small_searches_keep_their_limits_to_one_call() -> None:
    """What is closed for one request is open again for the next."""
    problem = Problem(value=[3, 4, 5, 12], upper=[9, 9, 9, 30], relations=[[1, 1, 1, -1]], rhs=[0])
    up, down = problem.upper - problem.value, problem.value - problem.lower
    up[3] = down[3] = 0.0
    closed = (np.array([1]), np.zeros(1), np.zeros(1))
    least = LeastMoves(problem.relations, up, down, HighsModel)
    near = Nearby(problem.relations, up, down, HighsModel)
    for _ in range(2):
        x = least.deviation(0, 1, 4.0, closed)
        assert x is not None
        assert x.tolist() == [4, 0, -4, 0]
        found = near.deviation(0, 1, 4.0, limited=closed)
        assert found is not None
        assert 1 not in found[0]
        assert near.usable.all()
        assert least.deviation(0, 1, 6.0, closed) is None
        assert near.deviation(0, 1, 6.0, limited=closed) is None
        assert least.deviation(0, 1, 6.0) is not None
        assert near.deviation(0, 1, 6.0) is not None


def test_suggestions_beyond_a_limit_are_not_used() -> None:
    """What shows one request met does not show it for an insider who knows a cell that moves."""
    problem = Problem(value=[3, 4, 7], upper=[9, 9, 9], relations=[[1, 1, -1]])
    knowledge = Knowledge.of(problem, [0, 1])
    limits = Limits(np.array([-1, 0]), np.array([0, 1]), np.array([1]), np.zeros(1), np.zeros(1))
    requests = Requests(np.zeros(2, int), np.ones(2, int), np.full(2, 2.0), limits=limits)
    suggestions = Suggestions(problem, sparse.csr_array([[2.0, -2.0, 0.0]]))
    shown = suggestions.shown(knowledge, requests, np.ones(2, bool))
    assert shown.tolist() == [0, -1]


@pytest.mark.parametrize("cube", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_cuts_against_insiders_are_valid_and_enough(seed: int, cube: bool) -> None:
    """Every pattern safe for the insider meets the cuts; any other violates one that is found."""
    problem = small_problem(seed + 20, cube=cube).replace(sliding_level=None)
    n = problem.cell_count
    rng = np.random.default_rng(seed)
    separator = Separator(problem)
    free = np.flatnonzero(~problem.must_publish & ~problem.is_sensitive)
    known, partly = int(free[0]), int(free[1])
    own = float(problem.value[partly]) / 2
    insider = Attacker(name="insider", known=(known,), at_least={partly: own})
    cells = np.array([known, partly])
    order = np.argsort(cells)
    limits = Limits(
        np.zeros(2 * len(problem.sensitive), np.int64),
        np.array([0, 2]),
        cells[order],
        np.array([0.0, np.inf])[order],
        np.array([0.0, problem.value[partly] - own])[order],
    )
    both = Requests.both_sides(problem.sensitive, problem.upper_level, problem.lower_level)
    requests = Requests(both.cells, both.sides, both.targets, limits=limits).positive()
    patterns: list[tuple[Floats, bool]] = []
    for chosen in itertools.product((False, True), repeat=len(free)):
        hidden = problem.is_sensitive
        hidden[free] = chosen
        safe = audit(problem, hidden, cells="sensitive", exact=False, attackers=[insider]).safe
        patterns.append((hidden.astype(np.float64), safe))
    points = [hidden for hidden, _ in patterns[:: len(patterns) // 40]]
    points += [np.where(problem.must_publish, 0.0, rng.random(n)) for _ in range(6)]
    all_safe = np.array([hidden for hidden, safe in patterns if safe]).reshape(-1, n)
    for y in points:
        cuts = separator.cuts(y, requests)
        assert (all_safe @ cuts.coefficients.T >= 1 - 1e-9).all()
        assert cuts.coefficients[:, [known]].nnz == 0
    for pattern, safe in patterns[:: len(patterns) // 40]:
        assert (len(separator.cuts(pattern, requests)) == 0) == safe


@pytest.mark.parametrize("seed", range(6))
def test_sliding_cuts_with_limits_are_valid_and_enough(seed: int) -> None:
    """Cuts for a sliding level against an insider hold for exactly the patterns safe for it."""
    problem = small_problem(seed + 70).replace(lower_level=None, upper_level=None)
    width = np.floor(problem.value[problem.sensitive] / 2) + 1
    problem = problem.replace(sliding_level=width)
    free = np.flatnonzero(~problem.must_publish & ~problem.is_sensitive)
    known = int(free[0])
    insider = Attacker(name="insider", known=(known,))
    zero = np.zeros(1)
    limits = Limits(np.zeros(3, np.int64), np.array([0, 1]), np.array([known]), zero, zero)
    requests = Requests(problem.sensitive, np.ones(3, np.int64), width, limits=limits)
    separator = Separator(problem)
    plain = Requests(problem.sensitive, np.ones(3, np.int64), width)
    rng = np.random.default_rng(seed)
    for _ in range(25):
        hidden = problem.is_sensitive
        hidden[free] = rng.random(len(free)) < 0.8
        for asked, attacker in ((requests, insider), (plain, Attacker.external())):
            safe = audit(problem, hidden, cells="sensitive", attackers=[attacker]).safe
            assert (len(separator.sliding_cuts(hidden.astype(float), asked)) == 0) == safe
