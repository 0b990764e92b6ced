"""Combined suppression of tables that know their contributors: no contributor comes too close."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.methods.combined.run import combined
from tests.attack.contributors import Contributed, contributed
from tests.methods.combined.tables import ALGORITHMS, assert_sound, obvious_optimum
from tests.methods.insiders import CASES, assert_least_cost

GAP = 1e-9


def assert_optimal(case: Contributed, algorithm: str = "auto") -> None:
    """Safe by brute force, at the cost of a model that asks against everybody at once."""
    problem = case.problem
    random = np.random.default_rng(problem.cell_count)
    weight = random.choice([0.0, 1.0, 5.0, 20.0], problem.cell_count)
    width = random.choice([0.0, 0.5, 1.0, 2.0], problem.cell_count)
    outcome = combined(
        problem,
        algorithm=algorithm,  # type: ignore[arg-type]
        weights=weight,
        width_weights=width,
        gap=GAP,
    )
    assert_sound(outcome, problem)
    expected = obvious_optimum(problem, weight=weight, width_weight=width, demands=case.demands())
    assert_least_cost(outcome, case, expected)
    if expected is None:
        return
    readers = obvious_optimum(problem, weight=weight, width_weight=width)
    assert readers is not None
    assert expected >= readers - 1e-6 * (1 + abs(expected))


@settings(max_examples=25)
@given(**CASES, algorithm=st.sampled_from(ALGORITHMS))
# No cell may be chosen: the model has no integer column.
@example(seed=3830299107, kind="linked", rule="p%", everyone=False, algorithm="monolithic")
def test_the_optimum_against_everybody(
    seed: int, kind: str, rule: str, everyone: bool, algorithm: str
) -> None:
    """Pairs found solution by solution lead to the optimum of the model with all of them."""
    assert_optimal(contributed(seed, kind, rule, everyone=everyone), algorithm)


@settings(max_examples=8)
@given(**CASES)
def test_coalitions(seed: int, kind: str, rule: str, everyone: bool) -> None:
    """Two contributors who put together what they know do not come too close either."""
    assert_optimal(contributed(seed, kind, rule, coalition=2, everyone=everyone))


def test_the_compact_model_closes_the_gap_it_leaves() -> None:
    """Where its pattern's intervals were only roughly the narrowest, its own are taken."""
    case = contributed(3, "3-D", "percentage", everyone=False)
    readers = replace(case, problem=case.problem.with_insiders(None), listed=[])
    assert_optimal(readers, "monolithic")
