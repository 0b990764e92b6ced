"""All algorithms against every choice of senses, on small tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tacit.methods.adjust.run import adjust
from tacit.outcome import Status
from tests.methods.adjust.tables import (
    KINDS,
    assert_sound,
    obvious_optimum,
    published,
    random_problem,
)

ALGORITHMS = ("auto", "milp", "benders")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_absolute_deviations(kind: str, seed: int) -> None:
    """Every algorithm finds the optimum, or that there is none; descent comes close."""
    problem = random_problem(seed, kind)
    expected = obvious_optimum(problem)
    for algorithm in (*ALGORITHMS, "descent"):
        outcome = adjust(problem, algorithm=algorithm, gap=1e-7, time_limit=20)  # type: ignore[arg-type]
        if expected is None:
            assert outcome.status is Status.INFEASIBLE
            assert outcome.message
            continue
        assert_sound(outcome, problem)
        moved = np.abs(published(outcome) - problem.value)
        assert outcome.report.objective is not None
        assert outcome.report.objective == pytest.approx(problem.weight @ moved, rel=1e-7)
        if algorithm == "descent":
            assert outcome.report.objective >= expected * (1 - 1e-7)
            continue
        assert outcome.status is Status.OPTIMAL
        assert outcome.report.objective == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("kind", ["2d", "3d", "negative"])
@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_other_norms(kind: str, norm: Any) -> None:
    """Squares and largest deviations have the same optimum whoever looks for it."""
    problem = random_problem(7, kind, sensitive=4)
    expected = obvious_optimum(problem, norm)
    assert expected is not None
    for algorithm in ALGORITHMS:
        outcome = adjust(
            problem,
            algorithm=algorithm,  # type: ignore[arg-type]
            norm=norm,
            integer=False,
            gap=1e-5,
            time_limit=20,
        )
        assert_sound(outcome, problem)
        assert outcome.report.objective == pytest.approx(expected, rel=2e-4)
        assert outcome.report.bound == pytest.approx(expected, rel=2e-4)


@pytest.mark.parametrize("kind", ["2d", "3d"])
def test_scip_agrees(kind: str) -> None:
    """The mixed-integer program has the same optimum with either solver."""
    problem = random_problem(3, kind)
    ours = adjust(problem, algorithm="milp", gap=1e-6)
    scip = adjust(problem, algorithm="milp", solver="scip", gap=1e-6)
    assert_sound(scip, problem)
    assert scip.report.objective == pytest.approx(ours.report.objective, rel=1e-6)


@pytest.mark.parametrize("kind", ["2d", "3d", "hierarchy"])
def test_whole_numbers(kind: str) -> None:
    """An integer table is the closest of all integer tables."""
    problem = random_problem(5, kind, sensitive=4)
    problem = problem.replace(
        lower_level=problem.lower_level - 0.4, upper_level=problem.upper_level - 0.3
    )
    expected = obvious_optimum(problem, integer=True)
    assert expected is not None
    for integer in (True, None):
        for algorithm in ("auto", "milp", "benders", "descent"):
            outcome = adjust(
                problem,
                integer=integer,
                algorithm=algorithm,
                gap=1e-6,
                time_limit=20,
            )
            assert_sound(outcome, problem)
            x = published(outcome)
            assert (x == np.rint(x)).all()
            if algorithm != "descent":
                assert outcome.status is Status.OPTIMAL
                assert outcome.report.objective == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("kind", ["2d", "3d"])
def test_the_largest_deviation_in_whole_numbers(kind: str) -> None:
    """Where the closest table would have decimals, the closest whole one is found and proven."""
    problem = random_problem(7, kind, sensitive=4)
    expected = obvious_optimum(problem, "linf", integer=True)
    outcome = adjust(problem, norm="linf", gap=1e-6, time_limit=20)
    assert_sound(outcome, problem)
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_levels_on_one_side(seed: int) -> None:
    """Cells with a level on one side only go there, at the least cost."""
    problem = random_problem(seed, "2d", sensitive=4)
    zero = np.random.default_rng(seed).integers(0, 3, 4)
    problem = problem.replace(
        lower_level=np.where(zero == 0, 0.0, problem.lower_level),
        upper_level=np.where(zero == 1, 0.0, problem.upper_level),
    )
    expected = obvious_optimum(problem)
    for algorithm in ALGORITHMS:
        outcome = adjust(problem, algorithm=algorithm, gap=1e-7, time_limit=20)  # type: ignore[arg-type]
        if expected is None:
            assert outcome.status is Status.INFEASIBLE
            continue
        assert_sound(outcome, problem)
        assert outcome.report.objective == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_kept_cells_and_limits(seed: int) -> None:
    """Cells that keep their value and limits are respected, at the least cost."""
    problem = random_problem(seed, "2d", sensitive=3)
    rng = np.random.default_rng(seed)
    others = np.flatnonzero(~problem.is_sensitive)
    kept = np.zeros(problem.cell_count, bool)
    kept[rng.choice(others, 2, replace=False)] = True
    share = np.full(problem.cell_count, np.inf)
    share[rng.choice(others, 4, replace=False)] = 0.2
    most = np.where(np.isinf(share), np.inf, 0.2 * np.abs(problem.value))
    expected = obvious_optimum(problem, kept=kept, most=most)
    limits = {int(cell): 0.2 for cell in np.flatnonzero(np.isfinite(share))}
    for given in (share, limits):
        outcome = adjust(problem, keep=np.flatnonzero(kept), limits=given, gap=1e-7)
        if expected is None:
            assert outcome.status is Status.INFEASIBLE
            continue
        assert_sound(outcome, problem, kept=kept, most=most)
        assert outcome.report.objective == pytest.approx(expected, rel=1e-6)


def test_sliding_levels_count_on_either_side() -> None:
    """A sliding level is the least deviation, whichever way the cell goes."""
    problem = random_problem(2, "2d", sensitive=3)
    problem = problem.replace(
        sliding_level=[6.0, 0.0, 9.0], lower_level=[0.0, 2.0, 1.0], upper_level=[3.0, 2.0, 0.0]
    )
    outcome = adjust(problem, gap=1e-7)
    assert_sound(outcome, problem)
    expected = obvious_optimum(problem)
    assert outcome.report.objective == pytest.approx(expected, rel=1e-6)
