"""The judge finds what is wrong: right outcomes pass, falsified ones do not."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from tacit import Problem
from tacit.methods.registry import find_method
from tacit.outcome import Intervals, Outcome, Report, Status, Suppression, Values
from tests.judge.alternatives import suppression
from tests.judge.reader import exposed
from tests.judge.tables import KINDS, MAGNITUDES, draw
from tests.judge.verdict import Asked, judge


def table() -> Problem:
    """Three by three cells with totals, one of them sensitive, all of them whole numbers."""
    inner = np.array([[21, 33, 18], [42, 11, 27], [36, 24, 55.0]])
    value = np.block([[inner, inner.sum(1, keepdims=True)], [inner.sum(0), inner.sum()]])
    relations = np.zeros((8, 16))
    for line in range(4):
        relations[line, 4 * line : 4 * line + 4] = 1, 1, 1, -1
        relations[4 + line, line::4] = 1, 1, 1, -1
    return Problem(
        value=value.ravel(),
        relations=relations,
        sensitive=[0],
        lower_level=[5],
        upper_level=[5],
        weight=np.abs(value).ravel(),
    )


def asked(method: str, problem: Problem | None = None, **options: Any) -> tuple[Asked, Outcome]:
    """A question about the table and a true answer."""
    if method == "round":
        options["base"] = 10.0
    problem = problem or table()
    outcome = find_method(method).run()(problem, **options)
    return Asked(problem, method, options), outcome


def kinds(question: Asked, outcome: Outcome) -> set[str]:
    """The kinds of faults that the judge finds."""
    return {fault.kind for fault in judge(question, outcome)}


METHODS = ("suppress", "intervals", "combined", "adjust", "round")


@pytest.mark.parametrize("method", METHODS)
def test_claims_that_are_not_so_are_found(method: str) -> None:
    """A raised bound, a false objective and an infeasibility that is none, in every method."""
    question, outcome = asked(method)
    report = outcome.report
    assert outcome.status is Status.OPTIMAL
    assert report.objective is not None
    assert judge(question, outcome) == []
    raised = replace(outcome, report=replace(report, bound=1.1 * report.objective))
    assert "false bound" in kinds(question, raised)
    said = 1.1 * report.objective
    # Of intervals, what is published costs what `published_objective` says.
    in_print = None if report.published_objective is None else said
    changed = replace(report, objective=said, published_objective=in_print)
    dearer = replace(outcome, report=changed)
    assert kinds(question, dearer) == {"objective", "false optimum"}
    nothing = Outcome(status=Status.INFEASIBLE, method=method, report=Report())
    assert kinds(question, nothing) == {"false infeasibility"}
    stopped = Outcome(status=Status.INTERRUPTED, method=method, report=Report())
    assert judge(question, stopped) == []


def test_patterns_that_are_unsafe_or_not_as_asked_are_found() -> None:
    """A suppressed cell less exposes the sensitive one; cells to be published are published."""
    question, outcome = asked("suppress")
    assert isinstance(outcome.solution, Suppression)
    for cell in np.flatnonzero(outcome.solution.suppressed).tolist():
        hidden = outcome.solution.suppressed.copy()
        hidden[cell] = False
        wrong = "unsafe" if cell else "not as asked"
        assert wrong in kinds(question, replace(outcome, solution=Suppression(hidden)))
    strict = replace(question, problem=question.problem.replace(must_publish=~table().is_sensitive))
    assert "not as asked" in kinds(strict, outcome)


@pytest.mark.parametrize("method", ["intervals", "combined"])
def test_intervals_that_are_too_narrow_are_found(method: str) -> None:
    """Intervals of the optimum are as narrow as can be: narrower ones are unsafe."""
    question, outcome = asked(method)
    assert isinstance(outcome.solution, Intervals)
    value = question.problem.value
    narrower = Intervals(
        value - 0.999 * (value - outcome.solution.lower),
        value + 0.999 * (outcome.solution.upper - value),
    )
    assert "unsafe" in kinds(question, replace(outcome, solution=narrower))
    astray = Intervals(outcome.solution.lower + 1000, outcome.solution.upper + 1000)
    assert "not as asked" in kinds(question, replace(outcome, solution=astray))


def test_changed_tables_that_are_none_are_found() -> None:
    """Values that do not add up, decimals, kept cells that move, levels that are not kept."""
    question, outcome = asked("adjust")
    assert isinstance(outcome.solution, Values)
    value = outcome.solution.value

    def found(changed: Any, question: Asked = question) -> set[str]:
        return kinds(question, replace(outcome, solution=Values(changed)))

    single = np.zeros(16)
    single[5] = 1.0
    assert "not as asked" in found(value + single)
    assert "unsafe" in found(question.problem.value)
    half = question.problem.value + 1.1 * (value - question.problem.value)
    assert "not as asked" in found(half)
    moved = int(np.flatnonzero(value != question.problem.value)[-1])
    assert "not as asked" in found(value, replace(question, options={"keep": (moved,)}))


def test_roundings_that_are_none_are_found() -> None:
    """Values that are no multiples, too far away, or closer to the true ones than readers know."""
    question, outcome = asked("round")
    assert isinstance(outcome.solution, Values)
    assert outcome.solution.radius is not None
    value, radius = outcome.solution.value, outcome.solution.radius
    for changed in (
        Values(value + 1, radius),
        Values(value * 10, radius),
        Values(value, 2 * radius),
        Values(value, radius / 100),
    ):
        assert kinds(question, replace(outcome, solution=changed)) & {"not as asked", "unsafe"}


@pytest.mark.parametrize("seed", range(12))
def test_the_cheapest_pattern_is_the_cheapest_of_all(seed: int) -> None:
    """The search for a alternative agrees with every pattern attacked one by one."""
    problem = draw(seed, magnitude=MAGNITUDES[seed % 8], largest=9).problem
    maybe = np.flatnonzero(~problem.is_sensitive & ~problem.must_publish)[:5]
    kept = np.ones(problem.cell_count, bool)
    kept[[*maybe, *problem.sensitive]] = False
    problem = problem.replace(must_publish=kept)
    best = np.inf
    for chosen in product((False, True), repeat=len(maybe)):
        hidden = problem.is_sensitive.copy()
        hidden[maybe] = chosen
        cost = float(problem.weight[hidden].sum())
        if cost < best and not exposed(problem, Suppression(hidden)):
            best = cost
    alternative = suppression(problem)
    assert (alternative is None) == (best == np.inf)
    if alternative is not None:
        assert alternative.best
        assert alternative.cost == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_random_tables_are_tables(seed: int) -> None:
    """They add up, lie within their bounds, and the same seed gives the same one."""
    drawn = draw(seed, magnitude=MAGNITUDES[seed % 8])
    again = draw(seed, magnitude=MAGNITUDES[seed % 8])
    assert {each.condition for each in drawn.problem.violations()} <= {"levels"}
    assert drawn.kind in KINDS
    assert (drawn.problem.value == again.problem.value).all()
    assert (drawn.problem.weight == again.problem.weight).all()
