"""A solver that lies is caught: its answers are claims, and claims are checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tacit.attack.evidence import Evidence
from tacit.attack.knowledge import Knowledge
from tacit.attack.reach import Reaches, Requests
from tacit.attack.sweep import Attack
from tacit.errors import SolverError
from tacit.problem import Floats, Integers, Problem
from tacit.solver.highs import HighsModel, LinearSolution, Strategy
from tests.attack.tables import crossed, flat

Lie = Callable[[LinearSolution, int], LinearSolution]


def table() -> tuple[Problem, Knowledge]:
    """A cube that no network can represent, half of it suppressed."""
    A, sums = crossed([flat(2), flat(3), flat(2)])
    rng = np.random.default_rng(11)
    value = sums @ rng.integers(1, 30, sums.shape[1]).astype(float)
    problem = Problem(value=value, upper=2 * value + 3, relations=A)
    return problem, Knowledge.of(problem, rng.random(len(value)) < 0.8)


PROBLEM, KNOWLEDGE = table()
HIDDEN = np.flatnonzero(KNOWLEDGE.up > 0)
EXACT = Requests.both_sides(HIDDEN)
TRUTH = Attack(PROBLEM, KNOWLEDGE, networks=False).reach(EXACT)


class Liar:
    """Passes everything on to HiGHS and lies about some of the answers."""

    def __init__(self, lie: Lie, warm_only: bool, *args: Any, **kwargs: Any):
        self.lie, self.warm_only = lie, warm_only
        self.model = HighsModel(*args, **kwargs)
        self.calls = 0

    def set_cost(self, columns: Integers, cost: Floats) -> None:
        """Pass on."""
        self.model.set_cost(columns, cost)

    def set_bounds(self, columns: Integers, lower: Floats, upper: Floats) -> None:
        """Pass on."""
        self.model.set_bounds(columns, lower, upper)

    def solve(self, *, cold: bool = False, strategy: Strategy = "primal") -> LinearSolution:
        """Solve, and lie."""
        self.calls += 1
        honest = self.model.solve(cold=cold, strategy=strategy)
        return honest if self.warm_only and cold else self.lie(honest, self.calls)


def hire(lie: Lie, *, warm_only: bool = False) -> tuple[Callable[..., Liar], list[Liar]]:
    """A solver factory that makes liars, and the list of those it has made."""
    hired: list[Liar] = []

    def factory(*args: Any, **kwargs: Any) -> Liar:
        hired.append(Liar(lie, warm_only, *args, **kwargs))
        return hired[-1]

    return factory, hired


def noise(like: Floats, seed: int) -> Floats:
    """Reproducible noise."""
    return np.random.default_rng(seed).normal(size=len(like))


def off_the_relations(said: LinearSolution, call: int) -> LinearSolution:
    """Claim a table that does not add up."""
    return dataclasses.replace(said, x=said.x + 0.01 * noise(said.x, call))


def slightly_off_the_relations(said: LinearSolution, call: int) -> LinearSolution:
    """Claim a table that almost adds up."""
    return dataclasses.replace(said, x=said.x * (1 + 1e-4 * noise(said.x, call)))


def too_far(said: LinearSolution, _: int) -> LinearSolution:
    """Claim a consistent table that leaves the bounds."""
    return dataclasses.replace(said, x=said.x * 1.5, objective=said.objective * 1.5)


def too_near(said: LinearSolution, _: int) -> LinearSolution:
    """Claim a consistent table that is not the farthest."""
    return dataclasses.replace(said, x=said.x * 0.9, objective=said.objective * 0.9)


def standing_still(said: LinearSolution, _: int) -> LinearSolution:
    """Claim that nothing can move, with multipliers of zero."""
    return LinearSolution("optimal", 0 * said.x, 0 * said.row_dual, 0.0)


def standing_still_with_right_multipliers(said: LinearSolution, _: int) -> LinearSolution:
    """Claim that nothing can move, with the multipliers of the right answer."""
    return dataclasses.replace(said, x=0 * said.x, objective=0.0)


def no_multipliers(said: LinearSolution, _: int) -> LinearSolution:
    """The right table without proof."""
    return dataclasses.replace(said, row_dual=0 * said.row_dual)


def wrong_multipliers(said: LinearSolution, call: int) -> LinearSolution:
    """The right table with a random proof."""
    return dataclasses.replace(said, row_dual=noise(said.row_dual, call))


def turned_multipliers(said: LinearSolution, _: int) -> LinearSolution:
    """The right table with its proof turned round."""
    return dataclasses.replace(said, row_dual=-said.row_dual)


def not_a_number(said: LinearSolution, _: int) -> LinearSolution:
    """Claim a table of not-a-numbers."""
    return dataclasses.replace(said, x=np.nan * said.x, row_dual=np.nan * said.row_dual)


def too_short(said: LinearSolution, _: int) -> LinearSolution:
    """Claim a table with one cell fewer."""
    return dataclasses.replace(said, x=said.x[:-1], row_dual=said.row_dual[:-1])


def infeasible(said: LinearSolution, _: int) -> LinearSolution:
    """Claim that no table is consistent."""
    return dataclasses.replace(said, status="infeasible")


def unbounded(said: LinearSolution, _: int) -> LinearSolution:
    """Claim that the cell moves without end."""
    return dataclasses.replace(said, status="unbounded")


def out_of_time(said: LinearSolution, _: int) -> LinearSolution:
    """Give up."""
    return dataclasses.replace(said, status="time limit")


def breakdown(_: LinearSolution, __: int) -> LinearSolution:
    """Break down."""
    raise SolverError("the solver broke down")


LIES: list[Lie] = [
    off_the_relations,
    slightly_off_the_relations,
    too_far,
    too_near,
    standing_still,
    standing_still_with_right_multipliers,
    no_multipliers,
    wrong_multipliers,
    turned_multipliers,
    not_a_number,
    too_short,
    infeasible,
    unbounded,
    out_of_time,
    breakdown,
]
lies = pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)


def assert_truth(reaches: Reaches, requests: Requests) -> None:
    """The answers are those of an honest solver, and their evidence holds."""
    assert reaches.answered.all()
    assert reaches.amount == pytest.approx(TRUTH.amount, rel=1e-7)
    assert reaches.limit == pytest.approx(TRUTH.amount, rel=1e-6)
    Evidence.of(requests, reaches).check(PROBLEM, KNOWLEDGE)


@lies
def test_who_always_lies_gets_no_answer_accepted(lie: Lie) -> None:
    """There is no answer at all rather than a wrong one."""
    factory, hired = hire(lie)
    with pytest.raises(SolverError):
        Attack(PROBLEM, KNOWLEDGE, networks=False, solver=factory).reach(EXACT)
    assert sum(liar.calls for liar in hired) >= 2


@lies
def test_who_lies_when_warm_is_asked_again_cold(lie: Lie) -> None:
    """A solver that only tells the truth from a cold start still leads to the right answer."""
    factory, hired = hire(lie, warm_only=True)
    reaches = Attack(PROBLEM, KNOWLEDGE, networks=False, solver=factory).reach(EXACT)
    assert_truth(reaches, EXACT)
    assert sum(liar.calls for liar in hired) > len(EXACT)


@lies
@pytest.mark.parametrize("every", [2, 5])
def test_who_lies_now_and_then_is_caught(lie: Lie, every: int) -> None:
    """Lies that come and go never make it into an answer."""

    def sometimes(said: LinearSolution, call: int) -> LinearSolution:
        return lie(said, call) if call % every == 0 else said

    factory, _ = hire(sometimes)
    reaches = Attack(PROBLEM, KNOWLEDGE, networks=False, solver=factory).reach(EXACT)
    assert_truth(reaches, EXACT)


@lies
def test_targets_are_never_falsely_reached_or_missed(lie: Lie) -> None:
    """With targets an answer may be shorter, but is right, or there is none."""
    # Nobody can lie about a cell that reaches its target: halfway is enough, beyond is not.
    for factor in (0.5, 1.01):
        requests = Requests(EXACT.cells, EXACT.sides, TRUTH.amount * factor + 1e-3)
        for warm_only in (True, False):
            factory, _ = hire(lie, warm_only=warm_only)
            try:
                attack = Attack(PROBLEM, KNOWLEDGE, networks=False, solver=factory)
                reaches = attack.reach(requests)
            except SolverError:
                continue
            Evidence.of(requests, reaches).check(PROBLEM, KNOWLEDGE)
            possible = TRUTH.amount >= requests.targets * (1 - 1e-9)
            assert np.array_equal(reaches.reached(requests), possible)


@lies
def test_one_request_at_a_time_is_no_weaker(lie: Lie) -> None:
    """Each request alone is refused or answered rightly, also where proof is easy."""
    for number in range(0, len(EXACT), 7):
        request = EXACT.take(np.array([number]))
        factory, _ = hire(lie)
        try:
            reaches = Attack(PROBLEM, KNOWLEDGE, networks=False, solver=factory).reach(request)
        except SolverError:
            continue
        Evidence.of(request, reaches).check(PROBLEM, KNOWLEDGE)
        assert reaches.amount[0] == pytest.approx(TRUTH.amount[number], rel=1e-7)


def open_ended() -> tuple[Problem, Knowledge]:
    """A table with cells that rise for ever and no network in it."""
    problem = Problem(
        value=[3, 4, 2, 10, 6], relations=[[1, 2, 1, -1, 0], [1, 0, 2, 0, -1]], rhs=[3, 1]
    )
    return problem, Knowledge.of(problem, np.arange(5))


def bounded_after_all(said: LinearSolution, _: int) -> LinearSolution:
    """Claim an optimum although the cell moves without end."""
    return dataclasses.replace(
        said, status="optimal", x=np.zeros(len(said.x)), row_dual=np.zeros(len(said.row_dual))
    )


@pytest.mark.parametrize("lie", [bounded_after_all, infeasible, out_of_time, not_a_number])
def test_lies_about_infinity_are_caught(lie: Lie) -> None:
    """A cell without end is not given one by a solver that says so."""
    problem, knowledge = open_ended()
    requests = Requests(np.array([0, 3]), np.array([1, 1]), np.array([np.inf, np.inf]))
    honest = Attack(problem, knowledge, networks=False).reach(requests)
    assert honest.amount.tolist() == [np.inf, np.inf]
    factory, _ = hire(lie)
    with pytest.raises(SolverError):
        Attack(problem, knowledge, networks=False, solver=factory).reach(requests)


def crooked(said: LinearSolution, call: int) -> LinearSolution:
    """Give false directions: whatever is claimed to be optimal does not add up."""
    return off_the_relations(said, call) if said.status == "optimal" else said


def test_false_directions_are_caught() -> None:
    """A direction that does not add up is not taken as one without end."""
    problem, knowledge = open_ended()
    requests = Requests(np.array([0]), np.array([1]), np.array([np.inf]))
    factory, _ = hire(crooked)
    with pytest.raises(SolverError):
        Attack(problem, knowledge, networks=False, solver=factory).reach(requests)


def test_the_error_names_the_cell_and_no_value() -> None:
    """Who reads the error learns where, not how much."""
    problem = Problem(
        value=[31415.25, 27182.75, 2000.5, 87781.25],
        upper=99999.5,
        relations=[[1, 2, 1, -1]],
    )
    knowledge = Knowledge.of(problem, np.arange(4))
    factory, _ = hire(standing_still)
    attack = Attack(problem, knowledge, networks=False, solver=factory)
    with pytest.raises(SolverError) as caught:
        attack.reach(Requests.both_sides(np.array([2])))
    text = str(caught.value)
    assert "cell 2" in text
    assert not any(secret in text for secret in ("31415", "27182", "2000", "87781", "99999"))
