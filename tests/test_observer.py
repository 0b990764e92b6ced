"""Observers, and what they are told."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import tacit
from tacit.observer import Observer, Quiet, Relay, Unstoppable


class Remembering(Observer):
    """Remembers all it is told, and wants to stop."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []
        self.wants_to_stop = True

    def on_start(self, task: str, *, total: int | None = None) -> None:
        """Remember."""
        self.told.append(("start", task, total))

    def on_phase(self, name: str) -> None:
        """Remember."""
        self.told.append(("phase", name))

    def on_progress(self, done: int, total: int) -> None:
        """Remember."""
        self.told.append(("progress", done, total))

    def on_bound(self, seconds: float, bound: float) -> None:
        """Remember."""
        self.told.append(("bound", seconds, bound))

    def on_solution(self, seconds: float, objective: float) -> None:
        """Remember."""
        self.told.append(("solution", seconds, objective))

    def on_cuts(self, seconds: float, count: int) -> None:
        """Remember."""
        self.told.append(("cuts", seconds, count))

    def on_end(self, outcome: tacit.Outcome | None = None) -> None:
        """Remember."""
        self.told.append(("end", outcome))

    def should_stop(self) -> bool:
        """As it wants."""
        self.told.append(("asked",))
        return self.wants_to_stop


def test_a_relay_passes_everything_on() -> None:
    """Whatever an observer can be told arrives, and its wish comes back."""
    listener = Remembering()
    relay = Relay(listener)
    relay.on_start("audit", total=3)
    relay.on_phase("repair")
    relay.on_progress(1, 3)
    relay.on_bound(0.5, 2.0)
    relay.on_solution(0.6, 3.0)
    relay.on_cuts(0.7, 4)
    relay.on_end()
    assert relay.should_stop()
    assert listener.told == [
        ("start", "audit", 3),
        ("phase", "repair"),
        ("progress", 1, 3),
        ("bound", 0.5, 2.0),
        ("solution", 0.6, 3.0),
        ("cuts", 0.7, 4),
        ("end", None),
        ("asked",),
    ]
    methods = {name for name, _ in inspect.getmembers(Observer, inspect.isfunction)}
    assert {name for name in methods if not name.startswith("_")} <= vars(Relay).keys()


def test_some_work_is_not_stopped() -> None:
    """Who listens to such work is asked, but not obeyed."""
    listener = Remembering()
    assert not Unstoppable(listener).should_stop()
    assert listener.told == [("asked",)]


def test_a_search_within_a_search_is_quiet() -> None:
    """Its observer passes on the wish to stop, and tells nothing."""
    listener = Remembering()
    quiet = Quiet(listener)
    quiet.on_start("suppress")
    quiet.on_solution(0.1, 5.0)
    quiet.on_end()
    assert quiet.should_stop()
    assert listener.told == [("asked",)]


@pytest.mark.parametrize(
    ("algorithm", "phases"),
    [
        ("hypercube", ["hypercubes", "repair", "clean-up", "audit"]),
        ("modular", ["modules", "repair", "clean-up", "audit"]),
        ("paths", ["paths", "relaxation", "audit"]),
        ("branch-and-cut", ["first pattern", "relaxation", "branching", "audit"]),
    ],
)
def test_suppression_tells_its_phases(algorithm: Any, phases: list[str]) -> None:
    """Phases come in order; those that go step by step tell the steps."""
    problem = tacit.generators.generate_2d(9, 9, seed=2).problem()
    listener = Remembering()
    listener.wants_to_stop = False
    tacit.suppress(problem, algorithm=algorithm, time_limit=30, observer=listener)
    told = [entry[1] for entry in listener.told if entry[0] == "phase"]
    places = [phases.index(name) for name in told if name in phases]
    assert places == sorted(places)
    assert told[0] == phases[0]
    assert told[-1] == "audit"
    if algorithm in ("hypercube", "modular"):
        assert any(entry[0] == "progress" for entry in listener.told)


def test_the_audit_of_a_release_is_told_and_not_stopped() -> None:
    """A search that was stopped still ends in a release: its audit runs to the end."""
    table = tacit.examples.get("002-figure-2.4").table
    assert table is not None

    class Impatient(Remembering):
        def on_solution(self, seconds: float, objective: float) -> None:
            super().on_solution(seconds, objective)
            self.wants_to_stop = True

    listener = Impatient()
    listener.wants_to_stop = False
    release = tacit.protect(table.apply(tacit.PPercent(10)), "suppress", observer=listener)
    assert release.papers.audit.safe
    assert release.papers.outcome.stopped_by is tacit.StopReason.USER
    phases = [entry[1] for entry in listener.told if entry[0] == "phase"]
    assert phases[-1] == "audit"
