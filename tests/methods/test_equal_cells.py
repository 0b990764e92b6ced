"""Equal cells merged before adjustment and rounding: the same optimum, the user's cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tacit.attack.audit import audit
from tacit.attack.knowledge import Attacker
from tacit.methods.adjust.run import adjust
from tacit.methods.rounding.run import round as rounded
from tacit.outcome import Outcome, Status, Values
from tacit.problem import Floats, Problem
from tacit.reductions.equal_cells import EqualCells
from tests.attack.tables import crossed, flat
from tests.methods.merging import without_merging


def chained(seed: int, scale: float = 1.0) -> Problem:
    """A small table, some of whose cells are the only child of another, chains of them too.

    Levels, bounds and weights of equal cells differ; some have a level on one side only.
    """
    rng = np.random.default_rng(seed)
    relations, definitions = crossed([flat(2 + seed % 2), flat(2)])
    inner = rng.integers(1, 30, definitions.shape[1]).astype(float)
    value = list(np.asarray(definitions @ inner) * scale)
    n, extra = len(value), 5
    A = sparse.lil_array((relations.shape[0] + extra, n + extra))
    A[: relations.shape[0], :n] = relations
    for new in range(extra):
        old = int(rng.integers(n + new))
        factor, sign = float(rng.integers(1, 4)), float(rng.choice([-1, 1]))
        A[relations.shape[0] + new, old] = sign * factor
        A[relations.shape[0] + new, n + new] = -sign * factor
        value.append(value[old])
    size = np.array(value)
    own = np.sort(rng.permutation(n + extra)[:4])
    level = np.ceil(rng.uniform(0.1, 0.4, (3, 4)) * np.maximum(size[own] / scale, 1.0)) * scale
    level[0, rng.random(4) < 0.3] = 0.0
    level[1, rng.random(4) < 0.2] = 0.0
    level[2, rng.random(4) < 0.7] = 0.0
    return Problem(
        value=size,
        lower=0,
        upper=size + np.ceil(rng.uniform(1.0, 3.0, n + extra) * 30) * scale,
        weight=rng.integers(0, 9, n + extra).astype(float),
        relations=A.tocsr(),
        sensitive=own,
        lower_level=np.minimum(level[0], size[own]),
        upper_level=level[1],
        sliding_level=level[2],
    )


def reduced(problem: Problem) -> EqualCells:
    """The table that adjustment and rounding search: cells are merged if their values agree."""
    return EqualCells.of(problem, agreeing=[problem.value])


def both(method: Any, problem: Problem, **options: Any) -> tuple[Outcome, Outcome]:
    """The outcomes with and without merging."""
    return method(problem, **options), without_merging(method, problem, **options)


def assert_same(merged: Outcome, apart: Outcome, problem: Problem) -> None:
    """Both have the same optimum, and what is published of the merged one is a safe table."""
    assert merged.status is apart.status
    assert merged.status in (Status.OPTIMAL, Status.INFEASIBLE)
    if merged.status is Status.INFEASIBLE:
        return
    assert merged.report.objective == pytest.approx(apart.report.objective, rel=2e-4, abs=1e-12)
    assert isinstance(merged.solution, Values)
    assert merged.solution.value.shape == problem.value.shape
    assert audit(problem, merged.solution).safe
    assert merged.audit is not None
    assert apart.audit is not None
    assert merged.audit.checked == apart.audit.checked


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("seed", range(14))
def test_adjustment_has_the_same_optimum(seed: int, norm: Any) -> None:
    """With and without merging, whichever cells have levels on one side, limits or senses."""
    problem = chained(seed)
    assert reduced(problem).problem.cell_count < problem.cell_count
    rng = np.random.default_rng(seed)
    options: dict[str, Any] = {"norm": norm, "integer": False if norm == "l2" else None}
    if seed % 3 == 1:
        options["keep"] = [cell for cell in (3, 10) if not problem.is_sensitive[cell]]
    if seed % 3 == 2:
        up = np.maximum(problem.upper_level, problem.sliding_level) > 0
        down = np.maximum(problem.lower_level, problem.sliding_level) > 0
        options["senses"] = np.where(up & down, rng.integers(-1, 2, 4), 0)
        options["limits"] = 2.0
    merged, apart = both(adjust, problem, **options)
    assert_same(merged, apart, problem)


@pytest.mark.parametrize("scale", [1.0, 0.37])
@pytest.mark.parametrize("algorithm", ["auto", "milp", "benders", "descent"])
def test_every_algorithm_of_adjustment_expands(algorithm: Any, scale: float) -> None:
    """What each algorithm publishes of merged cells is a table of all cells, at what it says."""
    problem = chained(4, scale)
    outcome = adjust(problem, algorithm=algorithm)
    assert isinstance(outcome.solution, Values)
    moved = np.abs(outcome.solution.value - problem.value)
    assert outcome.report.objective == pytest.approx(problem.weight @ moved)
    assert audit(problem, outcome.solution).safe


@pytest.mark.parametrize("algorithm", ["auto", "milp", "partition"])
@pytest.mark.parametrize("seed", range(10))
def test_rounding_has_the_same_optimum(seed: int, algorithm: Any) -> None:
    """With and without merging, for attackers who know a cell as well."""
    problem = chained(seed)
    known = (Attacker("neighbour", known=(1,)),) if seed % 2 else ()
    merged, apart = both(
        rounded,
        problem,
        base=5.0,
        most_steps=4,
        zero_restricted=seed % 3 == 0,
        algorithm=algorithm,
        attackers=known,
    )
    assert_same(merged, apart, problem)
    assert merged.message == apart.message or merged.status is Status.INFEASIBLE


@pytest.mark.parametrize("seed", [21, 37])
def test_cuts_of_rounding_are_about_merged_cells(seed: int) -> None:
    """What the audit of the given table finds exposed is ruled out in the smaller one."""
    problem = chained(seed)
    problem = problem.replace(
        lower_level=np.minimum(5.0, problem.value[problem.sensitive]),
        upper_level=np.full(4, 5.0),
        sliding_level=np.zeros(4),
    )
    known = (Attacker("neighbour", known=(1,)),)
    merged, apart = both(rounded, problem, base=10.0, attackers=known)
    assert merged.report.cuts > 0
    assert_same(merged, apart, problem)
    assert audit(problem, merged, attackers=known).safe


def test_equal_cells_are_rounded_alike_at_random() -> None:
    """Several draws of the same value would tell more of it than one."""
    problem = chained(3).replace(sensitive=[])
    group = reduced(problem).group
    for seed in range(20):
        outcome = rounded(problem, base=7.0, algorithm="random", seed=seed)
        assert isinstance(outcome.solution, Values)
        value: Floats = outcome.solution.value
        first = np.array([value[group == number][0] for number in group])
        assert (value == first).all()


def test_cells_that_are_equal_but_for_a_tolerance_stay_apart() -> None:
    """A value far enough from one of them could be too near to the other."""
    problem = Problem(
        value=[1000, 1001, 500, 1501],
        lower=0,
        relations=[[1, -1, 0, 0], [0, 1, 1, -1]],
        sensitive=[0, 1],
        lower_level=[100, 100],
        upper_level=[100, 100],
    )
    assert reduced(problem).is_identity
    outcome = adjust(problem, tolerance=1e-2)
    assert isinstance(outcome.solution, Values)
    assert (np.abs(outcome.solution.value - problem.value)[:2] >= 100).all()


def test_a_cell_that_must_fall_takes_its_equals_along() -> None:
    """A level on one side only is no level of 0 on the other, where equal cells have one there."""
    problem = Problem(
        value=[10, 10, 5, 15],
        lower=0,
        relations=[[1, -1, 0, 0], [0, 1, 1, -1]],
        sensitive=[0, 1],
        # Rising would be closer.
        lower_level=[8, 8],
        upper_level=[2, 0],
    )
    outcome = adjust(problem)
    assert outcome.status is Status.OPTIMAL
    assert isinstance(outcome.solution, Values)
    assert outcome.solution.value[:2].tolist() == [2, 2]


def test_messages_name_the_sensitive_cell() -> None:
    """Of several equal cells the one that cannot be protected is named, not its parent."""
    problem = Problem(
        value=[10, 10, 5, 15],
        lower=[10, 0, 5, 15],
        upper=[10, 20, 5, 15],
        relations=[[1, -1, 0, 0], [0, 1, 1, -1]],
        sensitive=[1],
        lower_level=[3],
        upper_level=[3],
        labels=["parent", "child", "other", "total"],
    )
    outcome = adjust(problem)
    assert outcome.status is Status.INFEASIBLE
    assert "child" in outcome.message
    assert "parent" not in outcome.message
