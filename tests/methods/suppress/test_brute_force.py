"""Every algorithm against the optimum that brute force finds on small tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from tacit.methods.suppress.run import suppress
from tacit.outcome import Status
from tacit.problem import Problem
from tests.attack.tables import crossed, flat
from tests.methods.suppress.larger_tables import medium_table
from tests.methods.suppress.tables import (
    ALGORITHMS,
    EXACT,
    KINDS,
    BruteForce,
    Instance,
    assert_consistent,
    assert_matches,
    compact_optimum,
    odd_instances,
    same_weight,
    seeded_instance,
)

SEEDS = 14
"""Tables of each kind."""


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("kind", KINDS)
def test_small_tables(kind: str, seed: int) -> None:
    """Random tables of all kinds: the same optimum, or the same verdict that there is none."""
    instance = seeded_instance(kind, seed)
    brute = instance.brute_force()
    assert_matches(instance, brute, brute.optimum())


@settings(max_examples=50)
@given(odd_instances(is_sliding=False))
def test_odd_tables(instance: Instance) -> None:
    """Repeated relations, free cells, cells that cannot move, infinite bounds, odd units."""
    brute = instance.brute_force()
    assert_matches(instance, brute, brute.optimum())


@settings(max_examples=25)
@given(odd_instances(is_sliding=True))
def test_odd_tables_with_sliding_levels(instance: Instance) -> None:
    """The same with sliding levels, on cells that can move to one side only among others."""
    brute = instance.brute_force()
    assert_matches(instance, brute, brute.optimum())


@pytest.mark.parametrize("seed", range(10))
def test_upper_limit_on_the_number_of_suppressions(seed: int) -> None:
    """Under a limit the optimum is that of the patterns with so few cells, or there is none."""
    free = seeded_instance(["2-D", "linked", "1H2D", "negative"][seed % 4], 1000 + seed)
    brute = free.brute_force()
    fewest = free.brute_force(np.ones(free.problem.cell_count)).optimum()
    sensitive = len(free.problem.sensitive)
    most = sensitive if fewest is None else int(fewest)
    for limit in {sensitive - 1, most - 1, most, most + 1}:
        instance = Instance(free.problem, max_suppressed=limit)
        brute = instance.brute_force()
        expected = brute.optimum()
        assert (expected is None) == (fewest is None or limit < fewest)
        assert_matches(instance, brute, expected)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weights", ["unit", "value", "given", "array"])
def test_weights(weights: str, seed: int) -> None:
    """The optimum under each choice of weights, and the objective is the sum of just those."""
    instance = seeded_instance(["2-D", "linked", "negative", "sliding"][seed % 4], 2000 + seed)
    problem = instance.problem
    drawn = np.random.default_rng(seed).uniform(0.0, 9.0, problem.cell_count)
    drawn[::4] = 0.0
    sizes = np.abs(problem.value)
    chosen = {
        "unit": np.ones(problem.cell_count),
        "value": np.where(sizes > 0, sizes, 1.0),
        "given": problem.weight,
        "array": drawn,
    }[weights]
    brute = instance.brute_force(chosen)
    expected = brute.optimum()
    for algorithm in EXACT:
        given_weights = drawn if weights == "array" else weights
        outcome = instance.suppress(algorithm, weights=given_weights)
        assert_consistent(outcome, brute.problem, brute)
        assert same_weight(outcome.report.objective, expected), algorithm


def test_a_table_whose_weights_are_all_zero() -> None:
    """When nothing costs anything any safe pattern is optimal, and the gap is zero."""
    instance = seeded_instance("2-D", 0)
    problem = instance.problem.replace(weight=np.zeros(instance.problem.cell_count))
    brute = BruteForce(problem)
    for algorithm in ALGORITHMS:
        outcome = Instance(problem).suppress(algorithm)
        assert_consistent(outcome, problem, brute)
        assert outcome.report.objective == 0.0
        assert outcome.report.gap == 0.0
        assert outcome.status is Status.OPTIMAL


@pytest.mark.parametrize("seed", range(10))
def test_medium_tables_against_the_compact_model(seed: int) -> None:
    """On tables of 21 to 36 cells the optimum is that of the compact model, solved by a MIP."""
    problem = medium_table(seed)
    expected = compact_optimum(problem)
    judge = BruteForce(problem)
    for algorithm in ALGORITHMS:
        outcome = Instance(problem).suppress(algorithm)
        assert_consistent(outcome, problem, judge)
        found = outcome.report.objective
        assert found is not None
        assert found >= expected * (1 - 1e-6)
        if algorithm in EXACT:
            assert outcome.status is Status.OPTIMAL
            assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("algorithm", EXACT)
def test_a_sliding_level_of_a_cell_that_moves_to_one_side_only(algorithm: str) -> None:
    """The whole width must come from above when the value is the cell's lower bound."""
    problem = Problem(
        value=[0, 1, 1, 1],
        upper=[1, 1, 1, 1],
        weight=[0, 0, 0, 1],
        relations=[[0, 0, -1, 1], [1, 0, 1, 0], [0, -1, 1, 0]],
        rhs=[0, 1, 0],
        sensitive=[0],
        sliding_level=[1],
    )
    outcome = Instance(problem).suppress(algorithm)
    assert_consistent(outcome, problem, BruteForce(problem))
    assert outcome.suppressed.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("algorithm", EXACT)
def test_a_sliding_level_may_be_shared_out_in_any_way(algorithm: str) -> None:
    """No cut may ask of one side what the other side could give."""
    A, sums = crossed([flat(2), flat(3)])
    value = sums @ np.array([22.0, 14, 21, 15, 17, 6])
    problem = Problem(
        value=value,
        upper=np.full(12, 96.0),
        weight=[3, 2, 0, 2, 0, 1, 2, 3, 2, 1, 3, 1],
        relations=A,
        sensitive=[4],
        sliding_level=[45],
    )
    brute = BruteForce(problem)
    assert brute.optimum() == 8
    for seed in range(4):
        outcome = Instance(problem).suppress(algorithm, seed=seed)
        assert_consistent(outcome, problem, brute)
        assert outcome.report.objective == 8


@pytest.mark.parametrize("algorithm", EXACT)
def test_proof_with_weights_that_do_not_add_up_exactly(algorithm: str) -> None:
    """0.1 + 0.2 is not 0.3: with a gap of zero the optimum is still proven."""
    outcomes = []
    for seed in range(6):
        problem = medium_table(3 * seed + 2)
        outcomes.append(suppress(problem, algorithm=algorithm, gap=0.0))  # type: ignore[arg-type]
    assert [outcome.status for outcome in outcomes] == [Status.OPTIMAL] * len(outcomes)


@pytest.mark.parametrize(
    ("kind", "seed"),
    [("1H2D", 76), ("3-D", 119), ("linked", 202), ("infinite", 37), ("global", 17)],
)
def test_the_bound_is_never_above_the_objective(kind: str, seed: int) -> None:
    """Not even by a rounding error: a negative gap would look like a mistake."""
    for algorithm in EXACT:
        outcome = seeded_instance(kind, seed).suppress(algorithm)
        assert outcome.report.objective is not None
        assert outcome.report.bound <= outcome.report.objective
