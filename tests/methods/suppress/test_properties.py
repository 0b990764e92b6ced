"""What holds of every run: determinism, invariance, honesty, discretion."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np
import pytest

from tacit.attack.audit import audit
from tacit.errors import InputError, ProblemError
from tacit.methods.suppress.run import suppress
from tacit.observer import Observer
from tacit.outcome import Outcome, Status
from tacit.problem import Booleans, Problem
from tests.attack.tables import crossed, flat
from tests.methods.suppress.larger_tables import TABLES, medium_table, table
from tests.methods.suppress.tables import (
    ALGORITHMS,
    EXACT,
    HEURISTIC,
    KINDS,
    BruteForce,
    Instance,
    assert_consistent,
    hidden_by,
    same_weight,
    seeded_instance,
)

SECRETS = [31415.5, 27182.25, 16180.75]


def grid(**changes: Any) -> Problem:
    """A 3 by 3 table with totals, labelled, its values nothing one could guess."""
    A, sums = crossed([flat(3), flat(3)])
    value = sums @ np.array([*SECRETS, 14142.5, 17320.25, 22360.5, 26457.75, 33166.5, 36055.25])
    given: dict[str, Any] = {
        "value": value,
        "upper": np.full(16, 1e6),
        "relations": A,
        "rhs": A @ value,
        "sensitive": [5, 10],
        "upper_level": [1234.5, 2345.25],
        "lower_level": [1234.5, 2345.25],
        "labels": [f"r{row}c{column}" for row in range(4) for column in range(4)],
    }
    return Problem(**{**given, **changes})


def numbers_of(problem: Problem) -> set[str]:
    """Every true value and level, as text that must not turn up anywhere."""
    levels = [problem.lower_level, problem.upper_level, problem.sliding_level]
    numbers = np.concatenate([problem.value, *levels])
    return {f"{number:.10g}" for number in numbers.tolist() if abs(number) > 100}


def assert_discreet(text: str, problem: Problem) -> None:
    """A message says nothing that is to be kept."""
    told = [number for number in numbers_of(problem) if number in text]
    assert not told, f"{told} in {text!r}"


def protect(problem: Problem, algorithm: str = "auto", **options: Any) -> Outcome:
    """Protect a table and see that all is in order."""
    outcome = Instance(problem).suppress(algorithm, **options)
    assert_consistent(outcome, problem, BruteForce(problem))
    return outcome


# Determinism and invariance


class Dawdler(Observer):
    """Makes the run as slow as another machine would be."""

    def on_cuts(self, _seconds: float, _count: int) -> None:
        """Wait after each round of cuts."""
        time.sleep(0.02)

    def on_solution(self, _seconds: float, _objective: float) -> None:
        """Wait after each solution."""
        time.sleep(0.05)


@pytest.mark.parametrize("kind", ["1H2D", "3-D", "linked"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_same_seed_same_pattern(algorithm: str, kind: str) -> None:
    """One seed gives one pattern, on a slow machine too, and with unit weights and their ties."""
    problem = table(kind, 11).replace(weight=1.0)
    # Only a run that ends before the time limit promises the same pattern.
    runs = [
        Instance(problem).suppress(algorithm, seed=3, gap=0.1, time_limit=60, observer=observer)
        for observer in (None, None, Dawdler())
    ]
    assert "time" not in [run.stopped_by for run in runs]
    assert [run.seed for run in runs] == [3] * 3
    patterns = [run.suppressed.tolist() for run in runs]
    assert patterns == [patterns[0]] * 3
    assert [run.report.bound for run in runs] == [runs[0].report.bound] * 3


@pytest.mark.parametrize("seed", range(0, 12, 3))
@pytest.mark.parametrize("algorithm", EXACT)
def test_the_seed_does_not_change_the_optimum(algorithm: str, seed: int) -> None:
    """Other seeds may find other patterns of the same weight only."""
    problem = medium_table(seed)
    found = {
        round(Instance(problem).suppress(algorithm, seed=number).report.objective or -1.0, 6)
        for number in (1, 2, 99)
    }
    assert len(found) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_problem_is_left_as_it_was(algorithm: str, kind: str) -> None:
    """Nothing in the problem changes, and the weights that were chosen do not stay."""
    problem = seeded_instance(kind, 77).problem

    def contents() -> list[bytes]:
        arrays = [getattr(problem, field.name) for field in dataclasses.fields(problem)]
        A = problem.relations
        plain = [array.tobytes() for array in arrays if isinstance(array, np.ndarray)]
        return [*plain, A.data.tobytes(), A.indices.tobytes(), A.indptr.tobytes()]

    before = contents()
    weights = np.random.default_rng(0).uniform(1, 2, problem.cell_count)
    given = weights.copy()
    Instance(problem).suppress(algorithm, weights=weights)
    Instance(problem).suppress(algorithm, weights="unit")
    assert contents() == before
    assert np.array_equal(weights, given)


def shuffled(problem: Problem, seed: int) -> Problem:
    """The same table with cells and relations in another order and signs turned round."""
    rng = np.random.default_rng(seed)
    cells, rows = rng.permutation(problem.cell_count), rng.permutation(problem.relation_count)
    factor = rng.choice([-1.0, 1.0, 2.0], problem.relation_count)
    A = problem.relations.toarray()[rows][:, cells] * factor[:, None]
    place = np.argsort(cells)
    return Problem(
        value=problem.value[cells],
        lower=problem.lower[cells],
        upper=problem.upper[cells],
        weight=problem.weight[cells],
        relations=A,
        rhs=problem.rhs[rows] * factor,
        sensitive=place[problem.sensitive],
        lower_level=problem.lower_level,
        upper_level=problem.upper_level,
        sliding_level=problem.sliding_level,
        must_publish=problem.must_publish[cells],
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("algorithm", EXACT)
def test_the_optimum_depends_on_the_table_only(algorithm: str, kind: str) -> None:
    """Order, signs, repeated relations and units of values and weights change nothing."""
    for seed in (300,):
        problem = seeded_instance(kind, seed).problem
        expected = protect(problem, algorithm).report.objective
        doubled = np.vstack([problem.relations.toarray(), problem.relations.toarray()[:2]])
        scale = {name: getattr(problem, name) * 1e6 for name in ("value", "lower", "upper", "rhs")}
        levels = {
            name: getattr(problem, name) * 1e6
            for name in ("lower_level", "upper_level", "sliding_level")
        }
        same = {
            "shuffled": shuffled(problem, seed),
            "repeated": problem.replace(
                relations=doubled, rhs=np.concatenate([problem.rhs, problem.rhs[:2]])
            ),
            "in other units": problem.replace(**scale, **levels),
        }
        for name, other in same.items():
            found = protect(other, algorithm).report.objective
            assert same_weight(found, expected), name
        dearer = protect(problem.replace(weight=problem.weight * 1000.0), algorithm)
        thousandfold = None if expected is None else expected * 1000.0
        assert same_weight(dearer.report.objective, thousandfold)


@pytest.mark.parametrize("seed", range(4))
def test_more_demands_are_never_cheaper(seed: int) -> None:
    """Higher levels, another sensitive cell, or one more cell to publish cost as much or more."""
    problem = medium_table(40 + seed)
    base = protect(problem).report.objective
    assert base is not None
    hidden = hidden_by(protect(problem))
    secondary = np.flatnonzero(hidden & ~problem.is_sensitive)
    kept = problem.must_publish.copy()
    kept[secondary[0]] = True
    demands = {
        "higher": problem.replace(upper_level=problem.upper_level * 2),
        "sliding": problem.replace(sliding_level=problem.upper_level * 4),
        "published": problem.replace(must_publish=kept),
    }
    for name, harder in demands.items():
        found = protect(harder).report.objective
        assert found is None or found >= base * (1 - 1e-9), name


# Heuristics


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("algorithm", HEURISTIC)
def test_heuristics_lie_between_the_optimum_and_everything(algorithm: str, kind: str) -> None:
    """Never lighter than the optimum, never heavier than all that may be suppressed."""
    for seed in range(100, 104):
        problem = seeded_instance(kind, seed).problem
        best = protect(problem, "auto").report.objective
        found = protect(problem, algorithm).report.objective
        if best is None:
            assert found is None
            continue
        everything = float(problem.weight[~problem.must_publish].sum())
        assert found is not None
        assert best * (1 - 1e-7) <= found <= everything * (1 + 1e-9)


def lazy_cells(problem: Problem, hidden: Booleans) -> list[int]:
    """Secondary cells of positive weight that could be published alone, by the audit."""
    found = []
    for cell in np.flatnonzero(hidden & ~problem.is_sensitive & (problem.weight > 0)).tolist():
        fewer = hidden.copy()
        fewer[cell] = False
        if audit(problem, fewer, cells="sensitive").safe:
            found.append(cell)
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_cell_is_suppressed_for_nothing(algorithm: str, kind: str) -> None:
    """After the clean-up no single secondary cell of positive weight could be published again."""
    for seed in range(200, 203):
        problem = seeded_instance(kind, seed).problem
        problem = problem.replace(sliding_level=None)
        outcome = protect(problem, algorithm)
        if outcome.solution is not None:
            assert lazy_cells(problem, hidden_by(outcome)) == [], f"seed {seed}"


@pytest.mark.parametrize("algorithm", HEURISTIC)
@pytest.mark.parametrize("kind", TABLES)
def test_no_cell_is_suppressed_for_nothing_in_larger_tables(kind: str, algorithm: str) -> None:
    """The same for patterns of dozens of cells."""
    problem = table(kind, 12).replace(sliding_level=None)
    outcome = protect(problem, algorithm)
    assert lazy_cells(problem, hidden_by(outcome)) == []


@pytest.mark.parametrize("seed", [1, 3, 7, 28])
@pytest.mark.parametrize("algorithm", HEURISTIC)
def test_no_cell_is_suppressed_for_nothing_under_sliding_levels(algorithm: str, seed: int) -> None:
    """The same where the two sides share what a sliding level asks for."""
    problem = seeded_instance("sliding", seed).problem
    outcome = protect(problem, algorithm)
    assert lazy_cells(problem, hidden_by(outcome)) == []


# Reports and evidence


@pytest.mark.parametrize("gap", [0.5, 0.1, 0.01, 0.0])
@pytest.mark.parametrize("algorithm", EXACT)
def test_the_gap_is_kept(algorithm: str, gap: float) -> None:
    """Optimal means: within the gap that was asked for, by the report's own figures."""
    problem = medium_table(3).replace(weight=1.0)
    outcome = protect(problem, algorithm, gap=gap)
    best = protect(problem, algorithm, gap=0.0).report.objective
    assert outcome.status is Status.OPTIMAL
    assert outcome.stopped_by == "gap"
    assert outcome.report.gap is not None
    assert outcome.report.objective is not None
    assert best is not None
    assert outcome.report.gap <= gap
    assert best <= outcome.report.objective
    assert outcome.report.bound <= best


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_outcome_carries_its_own_evidence(algorithm: str) -> None:
    """The audit names the suppressed cells, covers the sensitive ones, and can be checked."""
    problem = grid()
    outcome = protect(problem, algorithm)
    assert outcome.method == "suppress"
    assert outcome.algorithm == algorithm
    assert outcome.audit is not None
    assert outcome.audit.safe
    assert outcome.audit.exposed_cells == []
    outcome.audit.check()
    assert set(problem.sensitive.tolist()) <= set(outcome.audit.findings[0].cells.tolist())
    assert np.array_equal(outcome.audit.hidden, hidden_by(outcome))
    exact = audit(problem, outcome, cells="suppressed", exact=True)
    assert exact.safe
    exact.check()
    assert not hidden_by(outcome).flags.writeable


# Special tables


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_nothing_sensitive(algorithm: str) -> None:
    """A table without sensitive cells is published as it is, proven."""
    outcome = protect(grid(sensitive=[], upper_level=None, lower_level=None), algorithm)
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective == 0.0
    assert len(outcome.suppressed) == 0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_sensitive_cells_without_levels(algorithm: str) -> None:
    """Levels of zero ask for no more than the cells themselves."""
    outcome = protect(grid(upper_level=None, lower_level=None), algorithm)
    assert outcome.status is Status.OPTIMAL
    assert outcome.suppressed.tolist() == [5, 10]
    assert outcome.report.objective == 2.0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_table_without_relations(algorithm: str) -> None:
    """Cells that nothing ties together protect themselves."""
    problem = Problem(value=[5, 6, 7], sensitive=[1], upper_level=[3], lower_level=[2])
    assert protect(problem, algorithm).suppressed.tolist() == [1]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_cell(algorithm: str) -> None:
    """The smallest table there is, without and with a relation."""
    alone = Problem(value=[5], sensitive=[0], upper_level=[1])
    assert protect(alone, algorithm).suppressed.tolist() == [0]
    fixed = Problem(value=[5], relations=[[1]], rhs=[5], sensitive=[0], upper_level=[1])
    assert protect(fixed, algorithm).status is Status.INFEASIBLE


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_only_sensitive_cells(algorithm: str) -> None:
    """Where every cell is sensitive there is nothing to choose."""
    problem = Problem(
        value=[3, 4, 7],
        relations=[[1, 1, -1]],
        sensitive=[0, 1, 2],
        upper_level=[1, 1, 1],
        weight=[0.1, 0.2, 0.3],
    )
    outcome = protect(problem, algorithm)
    assert outcome.suppressed.tolist() == [0, 1, 2]
    assert outcome.status is Status.OPTIMAL


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_cells_with_equal_bounds_are_no_help(algorithm: str) -> None:
    """Zeros that everybody knows are not suppressed, even if that costs nothing."""
    problem = Problem(
        value=[5, 0, 4, 9],
        upper=[20, 0, 20, 20],
        relations=[[1, 1, 1, -1]],
        sensitive=[0],
        upper_level=[2],
        weight=[1, 0, 3, 2],
    )
    outcome = protect(problem, algorithm)
    assert hidden_by(outcome)[[0, 3]].all()
    assert outcome.report.objective == 3.0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_infinite_upper_bounds(algorithm: str) -> None:
    """Without upper bounds the same pattern protects as with very wide ones."""
    wide, free = grid(), grid(upper=None)
    assert np.isinf(free.upper).all()
    assert protect(free, algorithm).report.objective == protect(wide, algorithm).report.objective


# Tables that cannot be protected


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_levels_beyond_the_bounds_are_explained(algorithm: str) -> None:
    """The message names the cell and the reason, and no number that is to be kept."""
    problem = grid(upper=np.where(np.arange(16) == 10, 36060.0, 1e6))
    problem = problem.replace(upper=np.where(np.arange(16) == 10, problem.value + 10, 1e6))
    outcome = protect(problem, algorithm)
    assert outcome.status is Status.INFEASIBLE
    assert outcome.stopped_by == "infeasible"
    assert "r2c2" in outcome.message
    assert "r1c1" not in outcome.message
    assert "level" in outcome.message
    assert_discreet(outcome.message, problem)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_everything_else_must_be_published(algorithm: str) -> None:
    """Sensitive cells without any other cell that varies cannot be protected, and are named."""
    problem = grid()
    problem = problem.replace(must_publish=~problem.is_sensitive)
    outcome = protect(problem, algorithm)
    assert outcome.status is Status.INFEASIBLE
    assert "r1c1" in outcome.message
    assert "r2c2" in outcome.message
    assert "publish" in outcome.message
    assert_discreet(outcome.message, problem)


@pytest.mark.parametrize("singletons", ["ignore", "local"])
def test_cells_are_named_as_they_were_given(singletons: Any) -> None:
    """Where equal cells are merged, and where they are not, messages name the user's cells."""
    problem = Problem(
        value=[5, 5, 9, 14, 14],
        upper=[99] * 5,
        relations=[[1, -1, 0, 0, 0], [0, 0, 0, 1, -1], [0, 1, 1, -1, 0]],
        sensitive=[2],
        upper_level=[1],
        singleton=[-1, -1, 1, -1, -1],
        must_publish=[True, True, False, True, True],
        labels=["a", "b", "c", "d", "e"],
    )
    outcome = suppress(problem, singletons=singletons)
    assert outcome.status is Status.INFEASIBLE
    assert "cell c cannot be protected" in outcome.message
    assert "(cell b, cell d)" in outcome.message
    said = "needs 2 suppressed cells because of its singletons, but only 1 of its cells may be "
    assert (f"{said}suppressed: cell b, cell c, cell d" in outcome.message) == (
        singletons == "local"
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_too_little_slack_is_explained(algorithm: str) -> None:
    """Other cells that can hardly vary do not help; only the cell in need is named."""
    problem = grid()
    slack = np.where(problem.is_sensitive, 10000.0, 500.0)
    problem = problem.replace(lower=problem.value - slack, upper=problem.value + slack)
    outcome = protect(problem, algorithm)
    assert outcome.status is Status.INFEASIBLE
    assert "r2c2" in outcome.message
    assert "r1c1" not in outcome.message
    assert "bounds" in outcome.message
    assert_discreet(outcome.message, problem)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_limit_below_the_number_of_sensitive_cells(algorithm: str) -> None:
    """The message says how many may be suppressed and how many are sensitive."""
    outcome = suppress(grid(), algorithm=algorithm, max_suppressed=1)  # type: ignore[arg-type]
    assert outcome.status is Status.INFEASIBLE
    assert "at most 1" in outcome.message
    assert "2" in outcome.message
    assert_discreet(outcome.message, grid())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_limit_that_no_safe_pattern_keeps(algorithm: str) -> None:
    """Four cells are needed: three are refused, by exact algorithms with proof and a reason."""
    problem = grid()
    outcome = suppress(problem, algorithm=algorithm, max_suppressed=3)  # type: ignore[arg-type]
    assert outcome.solution is None
    if algorithm in EXACT:
        assert outcome.status is Status.INFEASIBLE
        assert outcome.message
        assert_discreet(outcome.message, problem)
    enough = suppress(problem, algorithm=algorithm, max_suppressed=4)  # type: ignore[arg-type]
    assert len(enough.suppressed) == 4


def test_contradictions_are_refused_without_giving_values_away() -> None:
    """A table that does not add up, or bounds that exclude the value, raise an error."""
    problem = grid()
    value = problem.value.copy()
    value[0] += 5.0
    wrong = [
        problem.replace(value=value),
        problem.replace(upper=problem.value - 1.0),
        problem.replace(must_publish=problem.is_sensitive),
    ]
    for each in wrong:
        with pytest.raises(ProblemError) as caught:
            suppress(each)
        assert_discreet(str(caught.value), each)


@pytest.mark.parametrize(
    "wrong",
    [
        {"algorithm": "best"},
        {"time_limit": 0},
        {"gap": -0.1},
        {"max_suppressed": -1},
        {"max_suppressed": 2.5},
        {"singletons": "some"},
        {"weights": "cost"},
        {"wieghts": "unit"},
    ],
)
def test_wrong_options_are_refused(wrong: dict[str, Any]) -> None:
    """A misspelt or impossible choice is an error and never ignored."""
    with pytest.raises(InputError):
        suppress(grid(), **wrong)


@pytest.mark.parametrize("weights", [[1.0, 2.0], np.full(16, -1.0), np.full(16, np.nan)])
def test_wrong_weights_are_refused(weights: Any) -> None:
    """Too few weights, negative ones and what is not a number."""
    with pytest.raises(ProblemError, match="weight"):
        suppress(grid(), weights=weights)
