"""The least cost of intervals, against a linear program written down the obvious way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from tacit.methods.intervals.run import intervals
from tacit.outcome import Status
from tests.methods.intervals.tables import (
    ALGORITHMS,
    assert_sound,
    assert_told_apart,
    obvious_optimum,
)
from tests.methods.suppress.tables import (
    ATTACKER_KIND,
    KINDS,
    Instance,
    odd_instances,
    seeded_instance,
)

SEEDS = range(12)
GAP = 1e-9


def assert_optimal(instance: Instance, algorithm: str, **choices: Any) -> None:
    """The outcome has the optimum's cost, or says that there is none."""
    problem, attackers = instance.problem, instance.attackers
    given = {name: choices[name] for name in ("allowed", "withheld") if name in choices}
    expected = obvious_optimum(problem, attackers=attackers, **given)
    outcome = intervals(
        problem,
        algorithm=algorithm,  # type: ignore[arg-type]
        attackers=attackers,
        gap=GAP,
        **choices,
    )
    assert_sound(outcome, problem, attackers)
    if expected is None:
        assert outcome.status is Status.INFEASIBLE
        return
    assert outcome.report.objective == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert outcome.report.bound == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", [*KINDS, ATTACKER_KIND])
def test_all_algorithms_find_the_optimum(kind: str, algorithm: str) -> None:
    """Tables of every kind, and attackers who know more than a reader."""
    for seed in SEEDS:
        assert_optimal(seeded_instance(kind, seed), algorithm)


@pytest.mark.parametrize("kind", KINDS)
def test_only_some_cells_may_become_intervals(kind: str) -> None:
    """The optimum over a chosen set of cells, some others withheld."""
    for seed in SEEDS:
        instance = seeded_instance(kind, seed + 100)
        rng = np.random.default_rng(seed)
        n = instance.problem.cell_count
        allowed = rng.random(n) < 0.85
        allowed[instance.problem.sensitive] = rng.random() < 0.9
        withheld = (rng.random(n) < 0.15) & ~instance.problem.must_publish
        assert_optimal(instance, "auto", allowed=allowed, withheld=withheld)


@pytest.mark.parametrize("kind", KINDS)
def test_each_end_has_its_own_weight(kind: str) -> None:
    """Lower and upper ends may cost differently, or nothing."""
    for seed in SEEDS:
        problem = seeded_instance(kind, seed + 200).problem
        rng = np.random.default_rng(seed)
        below, above = rng.choice([0.0, 0.5, 1.0, 3.0], (2, problem.cell_count))
        expected = obvious_optimum(problem, lower_weight=below, upper_weight=above)
        outcome = intervals(problem, weights=(below, above), gap=GAP)
        assert_sound(outcome, problem)
        if expected is None:
            assert outcome.status is Status.INFEASIBLE
        else:
            assert outcome.report.objective == pytest.approx(expected, rel=1e-6, abs=1e-6)


@settings(max_examples=60)
@given(instance=odd_instances(is_sliding=True))
def test_odd_tables(instance: Instance) -> None:
    """Repeated relations, zeros, infinite bounds, huge and tiny numbers."""
    problem = instance.problem
    outcome = intervals(problem, gap=GAP)
    assert_sound(outcome, problem)
    expected = obvious_optimum(problem)
    if outcome.status is Status.INFEASIBLE:
        assert expected is None or problem.violations()
    elif expected is not None:
        scale = max(1e-6, 1e-6 * float(np.abs(problem.value).max(initial=0.0)))
        assert outcome.report.objective == pytest.approx(expected, rel=1e-5, abs=scale)


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_are_what_a_reader_can_deduce(kind: str) -> None:
    """No published interval is wider than what follows from all of them, in any direction."""
    for seed in range(4):
        instance = seeded_instance(kind, seed + 300)
        outcome = intervals(instance.problem, gap=0.05)
        if outcome.solution is not None:
            assert_told_apart(outcome, instance.problem)
