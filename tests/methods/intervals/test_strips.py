"""Walks in strips: between which shares requests are met, what they cut off and what they open."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tacit.generators import Contributions, SensitiveRule, generate_2d, random_hierarchy
from tacit.methods.intervals.attackers import AttackerState
from tacit.methods.intervals.cuts import Separation
from tacit.methods.intervals.model import IntervalsModel
from tacit.methods.intervals.run import intervals
from tacit.methods.intervals.walks import Cuts, LinearWalk, StripWalks, Way
from tacit.outcome import Intervals, Status
from tacit.problem import Floats, Integers, Problem
from tests.attack.tables import small_problem
from tests.methods.intervals.tables import (
    ALGORITHMS,
    assert_sound,
    minimise,
    model_of,
    obvious_optimum,
)

SEEDS = range(12)


def two_hierarchies(seed: int) -> Problem:
    """A table with two hierarchies, levels of all kinds and nothing that must be published."""
    problem = small_problem(seed, hierarchies=True)
    weight = np.random.default_rng(seed).integers(1, 20, problem.cell_count).astype(float)
    return problem.replace(must_publish=np.zeros(problem.cell_count, bool), weight=weight)


def random_way(model: IntervalsModel, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """A point that opens few cells, and a wider one."""
    point = model.least_point()
    ends = slice(0, model.cell_ends)
    opened = rng.random(model.cell_ends) < 0.5
    point[ends] = np.maximum(
        point[ends], 0.3 * opened * rng.random(len(opened)) * model.upper[ends]
    )
    inside = point.copy()
    inside[ends] = np.maximum(point[ends], 0.9 * rng.random(len(opened)) * model.upper[ends])
    return point, model.with_own_reaches(inside)


def way_of(model: IntervalsModel, state: AttackerState, point: Floats, inside: Floats) -> Way:
    """The way of an attacker between two points."""
    outer, inner = model.capacity(state, point), model.capacity(state, inside)
    targets, inner_targets = state.targets(point), state.targets(inside)
    # In flows capacities are cut off here.
    most = 2 * max(targets.max(), inner_targets.max())
    outer, inner = np.minimum(outer, most), np.minimum(inner, most)
    return Way(state, outer, inner, targets, inner_targets, True)


def walked_in_the_table(model: IntervalsModel, way: Way, number: int) -> float | None:
    """How far a request walks, by one linear program over deviations and the share; None if not."""
    A = model.problem.relations.toarray()
    m, n = A.shape
    cell, side = int(way.state.cells[number]), int(way.state.sides[number])
    gain = way.inner - way.outer
    others = np.arange(n) != cell
    above = np.hstack([np.eye(n), -gain[0::2, None]])[others]
    below = np.hstack([-np.eye(n), -gain[1::2, None]])[others]
    target = np.zeros(n + 1)
    target[cell] = -side
    target[n] = way.inner_targets[number] - way.targets[number]
    found = minimise(
        np.append(np.zeros(n), 1.0),
        A_eq=np.hstack([A, np.zeros((m, 1))]),
        b_eq=np.zeros(m),
        A_ub=np.vstack([above, below, target]),
        b_ub=np.concatenate(
            [way.outer[0::2][others], way.outer[1::2][others], [-way.targets[number]]]
        ),
        bounds=[(None, None)] * n + [(0.0, 1.0)],
    )
    return float(found.fun) if found.status == 0 else None


@pytest.mark.parametrize("seed", SEEDS)
def test_strips_tell_between_which_shares_requests_are_met(seed: int) -> None:
    """A request walks at least as far as in open strips, at most as far as in closed ones."""
    rng = np.random.default_rng(seed)
    model = model_of(two_hierarchies(seed))
    requests = np.flatnonzero(~model.structure.in_network[model.states[0].cells])
    assert len(requests)
    for _ in range(3):
        point, inside = random_way(model, rng)
        way = way_of(model, model.states[0], point, inside)
        walks = StripWalks(model, way, requests)
        walks.in_open(Cuts(model.size), point)
        walks.in_closed(point)
        for place, number in enumerate(requests.tolist()):
            share = walked_in_the_table(model, way, number)
            if share is None:
                assert np.isinf(walks.closed[place])
                continue
            assert walks.opened[place] <= share + 1e-6
            assert walks.closed[place] >= share - 1e-6


def test_strips_answer_nearly_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a table of the usual kind at most one request in twenty takes a linear program."""
    rows, columns = (random_hierarchy(12, depth=2, seed=seed) for seed in (1, 2))
    rule, drawn = SensitiveRule(p=10), Contributions(mean_count=6.0)
    table = generate_2d(rows, columns, seed=1, sensitivity=rule, contributions=drawn)
    by_programs, asked = [], []
    walk, in_open = LinearWalk.walk, StripWalks.in_open

    def counted(self: LinearWalk, *how: Any) -> float:
        by_programs.append(1)
        return walk(self, *how)

    def noted(self: StripWalks, *how: Any) -> None:
        asked.append(len(self.opened))
        in_open(self, *how)

    monkeypatch.setattr(LinearWalk, "walk", counted)
    monkeypatch.setattr(StripWalks, "in_open", noted)
    assert intervals(table.problem()).status is Status.OPTIMAL
    assert 20 * len(by_programs) <= sum(asked) > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_cuts_hold_and_opened_points_meet_what_they_do_not_miss(seed: int) -> None:
    """No safe point violates a cut; what a quickly opened point is not said to miss is met."""
    rng = np.random.default_rng(seed)
    problem = two_hierarchies(seed)
    model = model_of(problem)
    safe = [model.with_reaches(np.minimum(model.upper[: model.cell_ends], 1e6))]
    outcome = intervals(problem, gap=1e-9)
    assert isinstance(outcome.solution, Intervals)
    best = np.empty(model.cell_ends)
    best[0::2] = outcome.solution.upper - problem.value
    best[1::2] = problem.value - outcome.solution.lower
    safe.append(model.with_reaches(best))
    separation = Separation(model)
    for _ in range(3):
        point, inside = random_way(model, rng)
        inside = np.maximum(inside, safe[1])
        found = separation.approach(point, inside)
        for each in safe:
            short = found.right - sparse.csr_array(found.rows) @ each
            assert (short <= 1e-6 * np.maximum(1.0, np.abs(found.right))).all()
        for opened in (found.quick, found.plain):
            met = np.setdiff1d(np.arange(len(model.states[0].cells)), opened.missed[0])
            assert_met(model, opened.point, met)


def assert_met(model: IntervalsModel, point: Floats, requests: Integers) -> None:
    """These requests are met within the slacks of a point."""
    way = way_of(model, model.states[0], point, 1.0001 * point)
    for number in requests.tolist():
        share = walked_in_the_table(model, way, number)
        assert share is not None


@pytest.mark.parametrize("algorithm", ALGORITHMS[:2])
def test_tables_with_two_hierarchies(algorithm: str) -> None:
    """Their optimum is that of one large linear program."""
    for seed in range(4):
        problem = two_hierarchies(seed)
        expected = obvious_optimum(problem)
        outcome = intervals(problem, algorithm=algorithm, gap=1e-9)  # type: ignore[arg-type]
        assert_sound(outcome, problem, ())
        assert outcome.report.objective == pytest.approx(expected, rel=1e-6)
        assert outcome.report.bound == pytest.approx(expected, rel=1e-6)
