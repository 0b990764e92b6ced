"""The least cost of combined suppression, against a mixed-integer program of the obvious kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from tacit.methods.combined.run import combined
from tacit.methods.intervals.run import intervals
from tacit.methods.suppress.run import suppress
from tacit.outcome import Outcome, Status
from tacit.problem import Floats
from tests.methods.combined.tables import (
    assert_sound,
    obvious_optimum,
    price,
    published,
)
from tests.methods.intervals.tables import assert_told_apart
from tests.methods.suppress.tables import (
    ATTACKER_KIND,
    KINDS,
    Instance,
    odd_instances,
    seeded_instance,
)

GAP = 1e-9


def weights_for(instance: Instance, seed: int) -> tuple[Floats, Floats]:
    """Weights of cells and widths: values and ones, or anything, zeros included."""
    random = np.random.default_rng(seed)
    count = instance.problem.cell_count
    if seed % 3 == 0:
        return np.abs(instance.problem.value) + 1, np.ones(count)
    cells = random.choice([0.0, 1.0, 5.0, 20.0], count)
    return cells, random.choice([0.0, 0.5, 1.0, 2.0], count)


def assert_optimal(instance: Instance, seed: int, algorithm: str = "auto", **choices: Any) -> None:
    """The outcome has the optimum's cost, or says that there is none."""
    problem, attackers = instance.problem, instance.attackers
    weight, width_weight = weights_for(instance, seed)
    expected = obvious_optimum(
        problem, weight=weight, width_weight=width_weight, attackers=attackers, **choices
    )
    outcome = combined(
        problem,
        algorithm=algorithm,  # type: ignore[arg-type]
        weights=weight,
        width_weights=width_weight,
        attackers=attackers,
        gap=GAP,
        **choices,
    )
    assert_sound(outcome, problem, attackers)
    if expected is None:
        assert outcome.status is Status.INFEASIBLE
        assert outcome.message
        return
    assert outcome.report.objective == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert outcome.report.bound == pytest.approx(expected, rel=1e-6, abs=1e-6)
    paid = price(outcome, problem, weight, width_weight)
    assert outcome.report.objective == pytest.approx(paid, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("algorithm", "seeds"), [("auto", 4), ("benders", 3), ("monolithic", 2)])
@pytest.mark.parametrize("kind", [*KINDS, ATTACKER_KIND])
def test_all_algorithms_find_the_optimum(kind: str, algorithm: str, seeds: int) -> None:
    """Tables of every kind, and attackers who know more than a reader."""
    for seed in range(seeds):
        assert_optimal(seeded_instance(kind, seed), seed, algorithm)


@pytest.mark.parametrize("kind", KINDS)
def test_a_limited_number_of_cells(kind: str) -> None:
    """The optimum with few suppressed cells, or the news that there is none."""
    for seed in range(3):
        instance = seeded_instance(kind, seed + 20)
        most = len(instance.problem.sensitive) + 2 * seed
        assert_optimal(instance, seed, max_suppressed=most)


@pytest.mark.parametrize("kind", KINDS)
def test_a_least_width(kind: str) -> None:
    """The optimum with intervals of a least width, which differs from cell to cell."""
    for seed in range(2):
        instance = seeded_instance(kind, seed + 40)
        random = np.random.default_rng(seed)
        width = random.choice([0.0, 1.0, 3.0, 10.0], instance.problem.cell_count)
        assert_optimal(instance, seed, min_width=width)


@settings(max_examples=15)
@given(instance=odd_instances(is_sliding=True))
def test_odd_tables(instance: Instance) -> None:
    """Repeated relations, zeros, infinite bounds, huge and tiny numbers: safe, and bounded."""
    outcome = combined(instance.problem, weights="unit", gap=1e-6, time_limit=10.0)
    assert_sound(outcome, instance.problem)
    plain = intervals(instance.problem, gap=1e-6)
    assert (outcome.solution is None) == (plain.solution is None)
    if outcome.report.objective is not None and plain.report.objective is not None:
        assert outcome.report.objective >= plain.report.bound * (1 - 1e-6)


def optimum(outcome: Outcome) -> float:
    """The objective of an outcome that must be optimal."""
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective is not None
    return outcome.report.objective


@pytest.mark.parametrize("kind", KINDS)
def test_without_width_weights_it_is_complete_suppression(kind: str) -> None:
    """Where widths cost nothing, the optimum is that of complete suppression."""
    for seed in range(3):
        problem = seeded_instance(kind, seed + 60).problem
        whole = suppress(problem, gap=GAP)
        outcome = combined(problem, width_weights=np.zeros(problem.cell_count), gap=GAP)
        assert_sound(outcome, problem)
        if whole.solution is None:
            assert outcome.solution is None
            continue
        assert optimum(outcome) == pytest.approx(optimum(whole), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_without_cell_weights_it_is_partial_suppression(kind: str) -> None:
    """Where suppressed cells cost nothing, the optimum is that of intervals."""
    for seed in range(3):
        problem = seeded_instance(kind, seed + 80).problem
        partial = intervals(problem, gap=GAP)
        outcome = combined(problem, weights=np.zeros(problem.cell_count), gap=GAP)
        assert_sound(outcome, problem)
        if partial.solution is None:
            assert outcome.solution is None
        else:
            assert optimum(outcome) == pytest.approx(optimum(partial), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_between_its_two_parts(kind: str) -> None:
    """No fewer cells than complete, and no narrower intervals than partial suppression."""
    problem = seeded_instance(kind, 100).problem
    ones = {"weights": "unit", "gap": GAP}
    outcome = combined(problem, width_weights="unit", **ones)  # type: ignore[arg-type]
    fewest = suppress(problem, **ones)  # type: ignore[arg-type]
    narrowest = intervals(problem, **ones)  # type: ignore[arg-type]
    if outcome.solution is None:
        assert fewest.solution is None
        return
    found = published(outcome)
    width = float((found.upper - found.lower).sum())
    assert width >= optimum(narrowest) * (1 - 1e-7)
    assert optimum(outcome) - width >= len(fewest.suppressed) * (1 - 1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_are_what_a_reader_can_deduce(kind: str) -> None:
    """No published interval is wider than what follows from all of them, in any direction."""
    instance = seeded_instance(kind, 300)
    outcome = combined(instance.problem, gap=0.05)
    if outcome.solution is not None:
        assert_told_apart(outcome, instance.problem)
