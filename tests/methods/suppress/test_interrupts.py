"""Runs that are cut short are safe all the same, and observers hear what happens."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit.io.jj import read_jj
from tacit.methods.suppress.run import suppress
from tacit.observer import Observer
from tacit.outcome import Outcome, Status
from tacit.problem import Problem
from tests.methods.suppress.larger_tables import TABLES, table
from tests.methods.suppress.tables import ALGORITHMS, EXACT, BruteForce, assert_consistent


class Listener(Observer):
    """Writes down all that it hears, and does something at a chosen moment.

    Attributes:
        heard: What was heard, in order.
        moments: How many calls of any kind there were.
    """

    def __init__(self, act: Callable[[Listener, str], None] | None = None):
        self.heard: list[tuple[str, Any]] = []
        self.moments = 0
        self._act = act

    def _hear(self, what: str, told: Any) -> None:
        self.moments += 1
        if what != "should_stop":
            self.heard.append((what, told))
        if self._act is not None and what not in ("start", "end"):
            self._act(self, what)

    def on_start(self, task: str, *, total: int | None = None) -> None:
        """The beginning."""
        self._hear("start", (task, total))

    def on_bound(self, seconds: float, bound: float) -> None:
        """A bound."""
        self._hear("bound", (seconds, bound))

    def on_solution(self, seconds: float, objective: float) -> None:
        """A solution."""
        self._hear("solution", (seconds, objective))

    def on_cuts(self, seconds: float, count: int) -> None:
        """Some cuts."""
        self._hear("cuts", (seconds, count))

    def on_end(self, outcome: Outcome | None = None) -> None:
        """The end."""
        self._hear("end", outcome)

    def should_stop(self) -> bool:
        """The question."""
        self._hear("should_stop", None)
        return False

    def told(self, what: str) -> list[Any]:
        """All that was heard of one kind."""
        return [told for kind, told in self.heard if kind == what]


class StopAfter(Listener):
    """Asks to stop once so many solutions are known."""

    def __init__(self, solutions: int):
        super().__init__()
        self._solutions = solutions

    def should_stop(self) -> bool:
        """Are there enough solutions?"""
        return len(self.told("solution")) >= self._solutions


def run(problem: Problem, algorithm: str, *, is_small: bool = True, **options: Any) -> Outcome:
    """Protect a table, and see that the outcome is safe and in order."""
    try:
        outcome = suppress(problem, algorithm=algorithm, **options)  # type: ignore[arg-type]
    except KeyboardInterrupt:
        # Left alone it would end the whole test run.
        pytest.fail("an interrupt ended the run without an outcome")
    assert_consistent(outcome, problem, BruteForce(problem) if is_small else None)
    return outcome


@pytest.mark.parametrize("limit", [1e-6, 0.01, 0.1])
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_tiny_time_limits(algorithm: str, kind: str, limit: float) -> None:
    """However short the time, what comes back is safe or nothing, and it comes back soon."""
    start = time.monotonic()
    outcome = run(table(kind, 1), algorithm, time_limit=limit)
    assert time.monotonic() - start < 5.0
    if outcome.solution is None:
        assert outcome.status is Status.INTERRUPTED
        assert outcome.stopped_by == "time"


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_stop_after_the_first_solution(algorithm: str, kind: str) -> None:
    """A user who has seen enough gets the best pattern known at that moment."""
    observer = StopAfter(1)
    outcome = run(table(kind, 2), algorithm, observer=observer, time_limit=30)
    assert outcome.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert outcome.report.objective == observer.told("solution")[-1][1]
    if algorithm in EXACT and outcome.status is Status.FEASIBLE:
        assert outcome.stopped_by == "user"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_stop_at_once(algorithm: str) -> None:
    """Somebody who never wanted to begin gets something safe or nothing."""
    outcome = run(table("2-D", 3), algorithm, observer=StopAfter(0))
    if outcome.solution is None:
        assert outcome.status is Status.INTERRUPTED
        assert outcome.stopped_by == "user"


def interrupt_at(moment: int) -> Callable[[Listener, str], None]:
    """Press Ctrl-C when the observer is called for the n-th time."""

    def act(listener: Listener, _what: str) -> None:
        if listener.moments == moment:
            raise KeyboardInterrupt

    return act


@pytest.mark.parametrize("moment", [2, 3, 5, 10, 30, 80, 200])
@pytest.mark.parametrize("kind", ["1H2D", "3-D"])
@pytest.mark.parametrize("algorithm", EXACT)
def test_interrupt_from_any_callback(algorithm: str, kind: str, moment: int) -> None:
    """Ctrl-C at any moment hands back the best pattern so far."""
    observer = Listener(interrupt_at(moment))
    outcome = run(table(kind, 4), algorithm, observer=observer, time_limit=30)
    known = [objective for _, objective in observer.told("solution")]
    if observer.moments >= moment and outcome.status is not Status.OPTIMAL:
        assert outcome.stopped_by == "user"
    if len(known) > 1 or (known and observer.heard[-2][0] != "solution"):
        assert outcome.report.objective == min(known)


@pytest.mark.parametrize("what", ["solution", "bound", "cuts", "should_stop"])
@pytest.mark.parametrize("algorithm", EXACT)
def test_interrupt_from_each_kind_of_callback(algorithm: str, what: str) -> None:
    """The first time after a solution is known that each callback is interrupted."""

    def act(listener: Listener, now: str) -> None:
        if now == what and listener.told("solution"):
            raise KeyboardInterrupt

    observer = Listener(act)
    outcome = run(table("3-D", 5), algorithm, observer=observer, time_limit=30)
    assert outcome.status is Status.FEASIBLE
    assert outcome.stopped_by == "user"
    assert outcome.report.objective == observer.told("solution")[-1][1]
    assert observer.heard[-1] == ("end", outcome)


@pytest.mark.parametrize("moment", [2, 5, 40, 120])
@pytest.mark.parametrize("algorithm", EXACT)
def test_faults_of_an_observer_are_not_hushed_up(algorithm: str, moment: int) -> None:
    """An error in a callback reaches the caller, wherever it happened."""

    class OwnError(Exception):
        """Something that only the observer knows."""

    def act(listener: Listener, _what: str) -> None:
        if listener.moments == moment:
            raise OwnError

    with pytest.raises(OwnError):
        suppress(
            table("3-D", 6),
            algorithm=algorithm,  # type: ignore[arg-type]
            observer=Listener(act),
            time_limit=30,
            gap=0.0,
        )


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_an_observer_hears(algorithm: str, kind: str) -> None:
    """A start, better and better bounds and solutions that end where the report does, an end."""
    observer = Listener()
    outcome = run(table(kind, 7), algorithm, observer=observer, time_limit=1.5)
    names = [name for name, _ in observer.heard]
    assert names[0] == "start"
    assert names.count("start") == names.count("end") == 1
    assert observer.heard[-1] == ("end", outcome)
    assert observer.told("start")[0][0] == "suppress"
    objectives = [objective for _, objective in observer.told("solution")]
    bounds = [bound for _, bound in observer.told("bound")]
    assert objectives == sorted(set(objectives), reverse=True)
    assert bounds == sorted(set(bounds))
    assert objectives[-1] == outcome.report.objective
    if bounds:
        assert bounds[-1] == outcome.report.bound
    seconds = [told[0] for name, told in observer.heard if name in ("solution", "bound", "cuts")]
    assert seconds == sorted(seconds)
    assert sum(count for _, count in observer.told("cuts")) == outcome.report.cuts
    trace = outcome.report.trace
    assert {point.objective for point in trace} - {None} == set(objectives)
    assert {point.bound for point in trace} >= set(bounds)


def test_an_end_is_heard_when_there_is_no_solution() -> None:
    """A table that cannot be protected ends like any other run."""
    problem = table("2-D", 8)
    fixed = problem.replace(must_publish=~problem.is_sensitive)
    observer = Listener()
    outcome = suppress(fixed, observer=observer)
    assert outcome.status is Status.INFEASIBLE
    assert [name for name, _ in observer.heard] == ["start", "end"]
    assert observer.told("end") == [outcome]


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="the system knows no alarm signal")
@pytest.mark.parametrize(
    ("algorithm", "limit", "alarm"), [("auto", 60, 2), ("branch-and-cut", 8, 4)]
)
def test_ctrl_c_while_a_solver_is_at_work(
    shared: Path, algorithm: str, limit: float, alarm: float
) -> None:
    """A signal brings the best pattern back, at the root and in the tree."""
    problem = read_jj(shared / "instances" / "hier13x7x7d.jj")

    def press(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    observer = Listener()
    before = signal.signal(signal.SIGALRM, press)
    start = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, alarm)
    try:
        outcome = run(problem, algorithm, is_small=False, time_limit=limit, observer=observer)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - start < 20.0
    assert outcome.stopped_by == "user"
    known = [objective for _, objective in observer.told("solution")]
    assert outcome.status is (Status.FEASIBLE if known else Status.INTERRUPTED)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_run_without_a_safe_pattern_tells_what_is_exposed(algorithm: str) -> None:
    """Stopped at once, a run names the sensitive cells that nothing protects yet."""
    problem = table("3-D", 1)

    class Impatient(Observer):
        def should_stop(self) -> bool:
            return True

    outcome = suppress(problem, algorithm=algorithm, observer=Impatient())  # type: ignore[arg-type]  # names of a list
    assert outcome.status is Status.INTERRUPTED
    assert outcome.solution is None
    assert set(outcome.exposed) <= set(problem.sensitive.tolist())
    assert len(outcome.exposed) > 0
    assert f"{len(outcome.exposed)} of {len(problem.sensitive)} sensitive cells" in outcome.message


def test_an_interrupt_between_the_solver_and_a_callback_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ctrl-C in the one moment when no guard is in place still returns the best pattern."""
    from tacit.solver import scip

    def stray(*_arguments: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(scip._Handler, "conssepalp", stray)
    monkeypatch.setattr(scip._Handler, "consenfolp", stray)
    outcome = suppress(table("3-D", 1), algorithm="branch-and-cut", time_limit=20, gap=0.0)
    if outcome.status is not Status.OPTIMAL:
        assert outcome.stopped_by == "user"
    assert outcome.audit is not None
    assert outcome.audit.safe
