"""Time limits hold for the whole call, from the model to the audit, by a clock of these tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tacit import clock as clocks
from tacit.errors import InputError
from tacit.generators import generate_by_name
from tacit.methods.combined.run import combined
from tacit.methods.intervals.publication import Publication
from tacit.methods.intervals.run import intervals
from tacit.methods.intervals.search import Search
from tacit.outcome import Outcome, Status
from tests.clocks import slow, with_hand
from tests.methods.intervals.tables import published

PROBLEM = generate_by_name("3d", "4-4-3-10", seed=3)
"""No network, so that linear programs do the work."""
Method = Callable[..., Outcome]
METHODS: list[Method] = [intervals, combined]
LIMIT = 10.0
LATEST = LIMIT + 1.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("step", [0.1, 0.05, 0.01, 0.003])
def test_whenever_time_is_up_the_call_ends(
    monkeypatch: pytest.MonkeyPatch, method: Method, step: float
) -> None:
    """After the limit nobody goes on looking at the clock; what is returned is safe."""
    hand = with_hand(monkeypatch, step)
    began = hand.at
    outcome = method(PROBLEM, time_limit=LIMIT, gap=0.0)
    assert hand.at - began <= LATEST
    assert outcome.report.seconds <= LATEST
    if outcome.solution is None:
        assert outcome.status is Status.INTERRUPTED
        assert outcome.stopped_by == "time"
    else:
        assert outcome.audit is not None
        assert outcome.audit.safe


@pytest.mark.parametrize("method", METHODS)
def test_time_is_kept_for_the_audit(monkeypatch: pytest.MonkeyPatch, method: Method) -> None:
    """Where looking at a point takes long, the search ends early enough for an audit."""
    hand = with_hand(monkeypatch, 1e-4)
    slow(monkeypatch, hand, Search, "look", 1.0)
    slow(monkeypatch, hand, Publication, "_audit", 1.0)
    began = hand.at
    outcome = method(PROBLEM, time_limit=LIMIT, gap=0.0)
    assert outcome.solution is not None
    assert outcome.audit is not None
    assert outcome.audit.safe
    assert hand.at - began <= LATEST


def test_an_audit_that_takes_too_long_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be audited in time is not handed out, and that is said."""
    hand = with_hand(monkeypatch)
    slow(monkeypatch, hand, Publication, "_audit", 100.0)
    outcome = intervals(PROBLEM, time_limit=LIMIT)
    assert outcome.status is Status.INTERRUPTED
    assert outcome.stopped_by == "time"
    assert outcome.solution is None
    assert outcome.report.objective is None


def test_no_time_for_a_model_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that passes before the search begins interrupts it."""
    hand = with_hand(monkeypatch)

    def late(*_: Any) -> Any:
        hand.at += 100.0
        clocks.check_time()

    monkeypatch.setattr("tacit.methods.intervals.run.IntervalsModel", late)
    outcome = intervals(PROBLEM, time_limit=LIMIT)
    assert (outcome.status, outcome.stopped_by) == (Status.INTERRUPTED, "time")


def test_widest_intervals_do_where_there_was_no_time_for_better(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The tables that show a level to be within reach are a solution, if a wide one."""
    hand = with_hand(monkeypatch)

    def nothing(search: Search) -> None:
        # Nothing is left but what is kept for the audit.
        hand.at += LIMIT - 0.5
        search.clock.reserve = 1.0
        clocks.check_time()

    monkeypatch.setattr("tacit.methods.intervals.search.Search.run", nothing)
    outcome = intervals(PROBLEM, time_limit=LIMIT)
    assert outcome.status is Status.FEASIBLE
    assert outcome.stopped_by == "time"
    assert outcome.audit is not None
    assert outcome.audit.safe


def test_what_shows_levels_within_reach_is_taken_where_it_costs_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A search that ended at its first, dear solution does not hide the tables found before it."""
    with_hand(monkeypatch)
    monkeypatch.setattr("tacit.methods.intervals.publication.fewest", lambda _: None)
    costs: list[float] = []

    def dear(search: Search) -> None:
        assert search.fallback is not None
        costs.append(search.model.objective(search.fallback))
        search.take(np.minimum(1.5 * search.fallback, search.model.upper))

    monkeypatch.setattr(Search, "run", dear)
    outcome = intervals(PROBLEM, time_limit=LIMIT)
    assert outcome.report.objective is not None
    assert outcome.report.objective <= costs[0]
    assert outcome.audit is not None
    assert outcome.audit.safe


def test_tightening_is_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without time, intervals stay as wide as the search left them: that is safe."""
    hand = with_hand(monkeypatch)
    calm = published(intervals(PROBLEM, time_limit=LIMIT))

    def spent(self: Search, **_: bool) -> None:
        self.clock.reserve = 2 * LIMIT

    monkeypatch.setattr(Search, "keep_time", spent)
    monkeypatch.setattr("tacit.methods.intervals.search.Search.run", lambda _: None)
    hurried = published(intervals(PROBLEM, time_limit=LIMIT))
    assert hand.at == 100.0
    assert (hurried.upper - hurried.lower).sum() >= (calm.upper - calm.lower).sum()
    assert np.isfinite(hurried.upper).all() == np.isfinite(calm.upper).all()


def test_a_compact_model_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a model that does not fit into memory."""
    monkeypatch.setattr("tacit.methods.intervals.algorithms.monolithic._MOST_ENTRIES", 10)
    with pytest.raises(InputError, match="compact model of this table would have about"):
        intervals(PROBLEM, algorithm="monolithic")
