"""Time limits hold for the whole call, and nothing is handed over that was not audited."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tacit import clock as clocks
from tacit.attack.audit import Audit, audit
from tacit.attack.knowledge import attackers_of, singleton_respondents
from tacit.methods.engine import driver
from tacit.methods.suppress.heuristics import cleanup, construct, first_pattern
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.options import SuppressOptions
from tacit.methods.suppress.run import suppress
from tacit.outcome import Outcome, Status, Suppression
from tacit.problem import Booleans, Problem
from tests.clocks import Hand
from tests.methods.suppress.larger_tables import cube
from tests.methods.suppress.tables import (
    ALGORITHMS,
    assert_consistent,
    hidden_by,
    seeded_instance,
)

EVERY = [*ALGORITHMS, "benders", "stabilized", "monolithic"]


@pytest.fixture
def hand(monkeypatch: pytest.MonkeyPatch) -> Hand:
    """Time that passes only when told to."""
    hand = Hand()
    monkeypatch.setattr(clocks, "now", hand)
    return hand


class SlowAudit:
    """Audits that take some time each; from some call on more than there is."""

    def __init__(self, hand: Hand, seconds: float, too_long_from: int = 100):
        self.hand, self.seconds, self.too_long_from = hand, seconds, too_long_from
        self.patterns: list[Booleans] = []

    def __call__(self, problem: Problem, solution: Suppression, **options: Any) -> Audit:
        """Audit, later."""
        self.patterns.append(solution.suppressed)
        late = len(self.patterns) >= self.too_long_from
        self.hand.at += 1000.0 if late else self.seconds
        return audit(problem, solution, **options)


def seconds_of(outcome: Outcome) -> float:
    """What the whole call took."""
    return outcome.report.seconds


@pytest.mark.parametrize("algorithm", EVERY)
def test_the_audit_has_its_time_in_reserve(
    algorithm: str, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often somebody looks at the clock, the call ends within its limit, audited."""
    slow = SlowAudit(hand, seconds=20.0)
    monkeypatch.setattr(driver, "audit", slow)
    hand.step = 0.25
    outcome = suppress(cube(3), algorithm=algorithm, time_limit=200.0, gap=0.0)  # type: ignore[arg-type]
    assert outcome.audit is not None
    assert outcome.audit.safe
    assert np.array_equal(slow.patterns[-1], hidden_by(outcome))
    assert seconds_of(outcome) <= 1.1 * 200.0
    assert_consistent(outcome, cube(3), None)


def test_without_time_for_the_last_audit_the_first_pattern_is_handed_over(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be audited is forgotten, in the trace as well."""
    slow = SlowAudit(hand, seconds=1.0, too_long_from=2)
    monkeypatch.setattr(driver, "audit", slow)
    problem = cube(1)
    outcome = suppress(problem, time_limit=500.0)
    assert len(slow.patterns) == 2
    assert not np.array_equal(slow.patterns[0], slow.patterns[1])
    assert np.array_equal(hidden_by(outcome), slow.patterns[0])
    assert outcome.stopped_by == "time"
    assert outcome.status is Status.FEASIBLE
    assert_consistent(outcome, problem, None)


def test_without_any_audit_nothing_is_handed_over(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pattern that nobody audited is none; the cells that were not looked at are named."""
    slow = SlowAudit(hand, seconds=0.0, too_long_from=1)
    monkeypatch.setattr(driver, "audit", slow)
    problem = cube(1)
    outcome = suppress(problem, time_limit=10.0)
    assert slow.patterns
    assert outcome.status is Status.INTERRUPTED
    assert outcome.audit is None
    assert list(outcome.exposed) == problem.sensitive.tolist()
    assert_consistent(outcome, problem, None)


def test_the_audit_is_given_what_the_search_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside networks every request of the first pattern comes with a deviation."""
    given: list[Any] = []

    def listening(problem: Problem, solution: Suppression, **options: Any) -> Audit:
        given.append(options["suggested"])
        return audit(problem, solution, **options)

    monkeypatch.setattr(driver, "audit", listening)
    problem = cube(1)
    suppress(problem, algorithm="paths")
    moved = given[0].toarray()[:, problem.sensitive]
    assert (moved.max(axis=0) >= problem.upper_level).all()
    assert (-moved.min(axis=0) >= problem.lower_level).all()


def test_large_tables_take_anything_safe_from_half_of_the_time_on(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where protecting cell by cell takes too long, hypercubes step in."""
    cheapest = construct.CheapestDeviation.cheapest
    calls: list[int] = []

    def slowly(model: Any, *given: Any) -> Any:
        calls.append(len(calls))
        # The first ones take the half of the time, the others next to nothing.
        hand.at += 30.0 if len(calls) <= 2 else 0.001
        return cheapest(model, *given)

    monkeypatch.setattr(construct.CheapestDeviation, "cheapest", slowly)
    monkeypatch.setattr(first_pattern, "_BY_MODULES", 3)
    asked: list[Search] = []
    anything_safe = first_pattern.anything_safe

    def listening(search: Search, constructor: construct.Constructor) -> None:
        asked.append(search)
        anything_safe(search, constructor)

    monkeypatch.setattr(first_pattern, "anything_safe", listening)
    outcome = suppress(cube(1), algorithm="paths", time_limit=100.0)
    assert len(asked) == 1
    assert outcome.audit is not None
    assert outcome.audit.safe
    assert seconds_of(outcome) <= 110.0


@pytest.mark.parametrize("algorithm", ["auto", "paths", "benders"])
@pytest.mark.parametrize("seed", range(4))
def test_many_attackers_are_asked_one_after_the_other(
    algorithm: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is remembered of the first attacker never hides what another one can deduce."""
    monkeypatch.setattr(cleanup, "_MANY", 1)
    instance = seeded_instance("respondents", 40 + seed)
    brute = instance.brute_force()
    outcome = instance.suppress(algorithm)
    assert_consistent(outcome, instance.problem, brute)
    optimum = brute.optimum()
    assert (outcome.solution is None) == (optimum is None)
    if optimum is not None and algorithm == "auto":
        assert outcome.report.objective == pytest.approx(optimum)


def test_respondents_are_judged_like_readers_who_know_their_cells() -> None:
    """A respondent who knows its cells exactly knows the same whichever cell is attacked."""
    problem = cube(1)
    singleton = np.full(problem.cell_count, -1)
    singleton[problem.sensitive] = np.arange(len(problem.sensitive))
    problem = problem.replace(singleton=singleton)
    search = Search(problem, SuppressOptions(), attackers_of(problem, "respondents"))
    assert len(search.states) == 1 + len(singleton_respondents(problem))
    assert all(state.is_plain for state in search.states)
    assert [np.flatnonzero(state.closed).tolist() for state in search.states[1:]] == [
        [cell] for cell in problem.sensitive.tolist()
    ]


@pytest.mark.parametrize(
    ("algorithm", "source"),
    [("monolithic", "solver"), ("benders", "solver"), ("paths", "recomputed")],
)
def test_who_vouches_for_the_bound(algorithm: str, source: str) -> None:
    """Bounds that only a branch-and-bound solver knows say so; those of relaxations do not."""
    outcome = suppress(cube(1), algorithm=algorithm)  # type: ignore[arg-type]
    assert outcome.report.bound > cube(1).weight[cube(1).sensitive].sum()
    assert outcome.report.bound_source == source
