"""Intervals of tables that know their contributors: no contributor comes too close."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.methods.intervals.run import intervals
from tests.attack.contributors import Contributed, contributed
from tests.methods.insiders import CASES, assert_least_cost
from tests.methods.intervals.tables import ALGORITHMS, assert_sound, obvious_optimum

GAP = 1e-9


def assert_optimal(case: Contributed, algorithm: str = "auto") -> None:
    """Safe by brute force, at the cost of a model that asks against everybody at once."""
    outcome = intervals(case.problem, algorithm=algorithm, gap=GAP)  # type: ignore[arg-type]
    assert_sound(outcome, case.problem)
    expected = obvious_optimum(case.problem, demands=case.demands())
    assert_least_cost(outcome, case, expected)
    if expected is None:
        return
    readers = intervals(case.problem.with_insiders(None), gap=GAP)
    assert readers.report.objective is not None
    assert expected >= readers.report.objective - 1e-6 * (1 + abs(expected))


@settings(max_examples=40)
@given(**CASES, algorithm=st.sampled_from(ALGORITHMS))
def test_the_optimum_against_everybody(
    seed: int, kind: str, rule: str, everyone: bool, algorithm: str
) -> None:
    """Pairs found point by point lead to the optimum of the model with all of them."""
    assert_optimal(contributed(seed, kind, rule, everyone=everyone), algorithm)


@settings(max_examples=15)
@given(**CASES)
def test_coalitions(seed: int, kind: str, rule: str, everyone: bool) -> None:
    """Two contributors who put together what they know do not come too close either."""
    assert_optimal(contributed(seed, kind, rule, coalition=2, everyone=everyone))
