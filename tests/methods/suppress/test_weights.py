"""Weights of any size: the optimum and its bound are those of brute force, in the user's units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.methods.suppress.cuts import Master, Root
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.heuristics.first_pattern import first_pattern
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.options import SuppressOptions
from tacit.methods.suppress.run import suppress
from tacit.methods.suppress.weights import power_of_two, steering, step_of
from tacit.observer import Observer
from tacit.outcome import Status
from tacit.problem import Floats, Problem
from tests.methods.suppress.larger_tables import cube
from tests.methods.suppress.tables import EXACT, KINDS, Instance, hidden_by, seeded_instance

PROVING = [*EXACT, "benders", "stabilized", "monolithic"]


def weighed(instance: Instance, factor: float | Floats) -> Instance:
    """The same table with other weights."""
    problem = instance.problem.replace(weight=instance.problem.weight * factor)
    return Instance(problem, instance.attackers, instance.singletons)


def assert_proven(instance: Instance, algorithm: str, optimum: float) -> None:
    """The optimum is found and proven, and no bound lies above it."""
    outcome = instance.suppress(algorithm, gap=1e-7)
    report = outcome.report
    assert report.objective is not None
    assert optimum * (1 - 1e-9) <= report.objective <= optimum * (1 + 2e-7)
    assert report.bound <= optimum * (1 + 1e-9)
    assert outcome.status is Status.OPTIMAL
    assert all(point.bound <= optimum * (1 + 1e-9) for point in report.trace)


@pytest.mark.parametrize("factor", [1e-12, 1e-9, 1e12])
@pytest.mark.parametrize("algorithm", PROVING)
@pytest.mark.parametrize("seed", [0, 1])
def test_tiny_and_huge_weights(algorithm: str, factor: float, seed: int) -> None:
    """All weights times a factor: the optimum times the factor."""
    for kind in ("3-D", "linked", "sliding", "2-D"):
        instance = seeded_instance(kind, seed)
        optimum = instance.brute_force().optimum()
        if optimum is not None:
            assert_proven(weighed(instance, factor), algorithm, optimum * factor)


@settings(max_examples=40)
@given(
    st.sampled_from(KINDS),
    st.integers(0, 40),
    st.sampled_from(PROVING),
    st.integers(0, 1_000_000),
)
def test_mixed_weights(kind: str, seed: int, algorithm: str, draw: int) -> None:
    """Weights between 1e-12 and 1e12 in one table."""
    instance = seeded_instance(kind, seed)
    exponent = np.random.default_rng(draw).integers(-12, 13, instance.problem.cell_count)
    mixed = weighed(instance, np.power(10.0, exponent, dtype=np.float64))
    optimum = mixed.brute_force().optimum()
    if optimum is not None and optimum > 0:
        assert_proven(mixed, algorithm, optimum)


@pytest.mark.parametrize("gap", [0.1, 0.4])
@pytest.mark.parametrize("seed", range(12))
def test_a_loose_gap_does_not_raise_the_bound(seed: int, gap: float) -> None:
    """Cells fixed since better patterns are not worth the gap leave the bound below the optimum."""
    instance = seeded_instance(["2-D", "3-D", "linked", "1H2D"][seed % 4], 300 + seed)
    optimum = instance.brute_force().optimum()
    if optimum is None:
        return
    for algorithm in PROVING:
        assert instance.suppress(algorithm, gap=gap).report.bound <= optimum * (1 + 1e-9)


def test_fixed_columns_limit_what_the_relaxation_proves() -> None:
    """Once columns are fixed for a cutoff, the relaxation proves nothing beyond the cutoff."""
    problem = cube(1)
    easy = suppress(problem, algorithm="paths")
    dear = np.where(hidden_by(easy), problem.weight, 3.0 * problem.weight.sum())
    search = Search(problem.replace(weight=dear), SuppressOptions(gap=0.4))
    first_pattern(search, Constructor(search))
    master = Master(search)
    root = Root(search, master, None)
    for _ in range(5):
        assert master.solve()
        master.fix()
        root.cut_off(master.y)
    assert master.fixed_out.any()
    assert master.ceiling == search.cutoff < search.objective
    # Whatever is asked of the columns that are left, no more than that is proven.
    master.cost = 1e6 * master.cost
    assert master.solve()
    assert master.objective <= master.ceiling


def test_listeners_hear_weights_as_given() -> None:
    """Bounds and objectives are told in the user's units, all the way."""
    heard: list[float] = []

    class Listener(Observer):
        def on_bound(self, _seconds: float, bound: float) -> None:
            heard.append(bound)

        def on_solution(self, _seconds: float, objective: float) -> None:
            heard.append(objective)

    problem = cube(1)
    plain = suppress(problem, time_limit=60).report
    told = suppress(problem.replace(weight=problem.weight * 2.0**-40), observer=Listener()).report
    assert told.objective == plain.objective * 2.0**-40  # type: ignore[operator]
    assert min(heard) >= problem.weight[problem.sensitive].sum() * 2.0**-40 * (1 - 1e-9)
    assert max(heard) <= problem.weight.sum() * 2.0**-40
    assert told.trace[-1].objective == told.objective
    assert told.trace[-1].bound == told.bound


def test_ordinary_weights_stay_as_they_are() -> None:
    """Nothing is rescaled or cut off without need."""
    search = Search(cube(1), SuppressOptions())
    assert search.unit == 1.0
    assert search.problem.weight.tolist() == cube(1).weight.tolist()


def test_steps() -> None:
    """The step is the largest power of two that divides all weights, if it is worth anything."""
    assert step_of(np.array([6.0, 4.0, 0.0])) == 2.0
    assert step_of(np.array([3.0, 0.25])) == 0.25
    assert step_of(np.array([0.1, 0.2])) == 0.0
    assert step_of(np.zeros(3)) == 0.0
    assert step_of(np.array([2.0**60, 1.0])) == 0.0
    assert power_of_two(5.0) == 4.0
    assert power_of_two(4.0) == 4.0


def test_steering_costs_are_positive_and_comparable() -> None:
    """Cells without weight cost least, and nothing is out of all proportion."""
    cost = steering(np.array([0.0, 1.0, 2.0, 3.0, 1e30, 1e-30]))
    assert (cost > 0).all()
    assert cost.argmin() == 0
    assert cost[1:4].tolist() == [1.0, 2.0, 3.0]
    assert cost.max() / cost[1:].min() < 1e20


def test_a_table_without_weights_is_optimal() -> None:
    """Where nothing costs anything the optimum is zero, and proven."""
    problem: Problem = cube(1)
    outcome = suppress(problem.replace(weight=np.zeros(problem.cell_count)))
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective == 0.0
