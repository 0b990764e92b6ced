"""Several requests at once, in tables of three dimensions: what is missed, and what meets it."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.generators import SensitiveShare, generate_3d
from tacit.methods.intervals import cuts
from tacit.methods.intervals.heuristics import repair
from tacit.methods.intervals.linear_part import DeviationLp, LinearPart
from tacit.methods.intervals.run import intervals
from tacit.problem import Floats, Problem
from tests.attack.tables import small_problem
from tests.methods.intervals.tables import assert_sound, model_of, obvious_optimum

SEEDS = range(6)


@pytest.fixture
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even few requests are met together."""
    monkeypatch.setattr(cuts, "_MANY", 2)
    monkeypatch.setattr(repair, "_MANY", 2)
    monkeypatch.setattr(repair, "_TOGETHER", 3)


def cube(seed: int) -> Problem:
    """A table with three dimensions and levels of all kinds."""
    problem = small_problem(seed, cube=True)
    weight = np.random.default_rng(seed).integers(1, 20, problem.cell_count).astype(float)
    return problem.replace(must_publish=np.zeros(problem.cell_count, bool), weight=weight)


def many_sensitive(seed: int) -> Problem:
    """A table with three dimensions, two fifths of whose finest cells are sensitive."""
    return generate_3d(4, 4, 3, seed, sensitivity=SensitiveShare(percent=40)).problem()


@pytest.mark.usefixtures("_few_are_many")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_optimum_is_that_of_the_obvious_program(seed: int) -> None:
    """Whatever is met at once, the least cost is that of one large linear program."""
    problem = cube(seed)
    outcome = intervals(problem, gap=1e-9)
    expected = obvious_optimum(problem)
    assert_sound(outcome, problem)
    assert (outcome.solution is None) == (expected is None)
    if expected is not None:
        assert outcome.report.objective == pytest.approx(expected, rel=1e-6, abs=1e-6)


def random_point(problem: Problem, seed: int) -> Floats:
    """Slacks that meet some levels and miss others."""
    model = model_of(problem)
    rng = np.random.default_rng(seed)
    point = model.least_point()
    wide = 0.4 * rng.random(model.cell_ends) * (rng.random(model.cell_ends) < 0.5)
    point[: model.cell_ends] = np.maximum(
        point[: model.cell_ends], wide * model.upper[: model.cell_ends]
    )
    return point


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_missed_is_missed_by_linear_programs(seed: int) -> None:
    """Requests judged together get the answer of one linear program each."""
    problem = many_sensitive(seed)
    model, point = model_of(problem), random_point(problem, seed)
    assert model.has_no_networks
    state = model.states[0]
    everything = np.arange(len(state.cells))
    found = model.missed(state, point, everything)
    program = DeviationLp(state, LinearPart.of(model, state))
    capacity, targets = model.capacity(state, point), state.targets(point)
    expected = []
    for number in everything.tolist():
        answer = program.limit(number, capacity, float(targets[number]))
        if answer is not None and answer[0] < 1 - 1e-6:
            expected.append(number)
    assert found.tolist() == expected
    assert 0 < len(expected) < len(everything)


@pytest.mark.usefixtures("_few_are_many")
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_met_at_once_is_met(seed: int) -> None:
    """A point opened for several requests at once misses none of them."""
    problem = many_sensitive(seed)
    model, point = model_of(problem), random_point(problem, seed)
    state = model.states[0]
    everything = np.arange(len(state.cells))
    mender = repair.Repair(model, state)
    opened = mender.repair(point, model.missed(state, point, everything))
    assert opened is not None
    assert (opened >= point - 1e-9).all()
    assert not len(model.missed(state, opened * (1 + 1e-7), everything))
