"""`Observer`: who listens while a method or an audit runs. Only the command line prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tacit.outcome import Outcome


class Observer:
    """Listens and does nothing; override what you care about.

    Progress bars, traces, the application and tests are observers. A method calls these from
    its own thread and expects them to return quickly.
    """

    def on_start(self, task: str, *, total: int | None = None) -> None:
        """A task begins; `total` is the number of its steps where that is known."""

    def on_phase(self, name: str) -> None:
        """A part of the task begins, such as `clean-up`."""

    def on_progress(self, done: int, total: int) -> None:
        """Steps that are done so far, of the phase where there are phases."""

    def on_note(self, text: str) -> None:
        """Something that a user should know, such as what was guessed about a file."""

    def on_bound(self, seconds: float, bound: float) -> None:
        """A better proven bound on the objective."""

    def on_solution(self, seconds: float, objective: float) -> None:
        """A better safe solution."""

    def on_cuts(self, seconds: float, count: int) -> None:
        """Cuts were added."""

    def on_end(self, outcome: Outcome | None = None) -> None:
        """The task is over."""

    def should_stop(self) -> bool:
        """Asked often; True ends the task at the next safe point."""
        return False


class Relay(Observer):
    """Passes everything on to another observer; override what is to be reported differently.

    Args:
        listener: Who is told.
    """

    def __init__(self, listener: Observer):
        self.listener = listener

    def on_start(self, task: str, *, total: int | None = None) -> None:
        """Pass it on."""
        self.listener.on_start(task, total=total)

    def on_phase(self, name: str) -> None:
        """Pass it on."""
        self.listener.on_phase(name)

    def on_progress(self, done: int, total: int) -> None:
        """Pass it on."""
        self.listener.on_progress(done, total)

    def on_note(self, text: str) -> None:
        """Pass it on."""
        self.listener.on_note(text)

    def on_bound(self, seconds: float, bound: float) -> None:
        """Pass it on."""
        self.listener.on_bound(seconds, bound)

    def on_solution(self, seconds: float, objective: float) -> None:
        """Pass it on."""
        self.listener.on_solution(seconds, objective)

    def on_cuts(self, seconds: float, count: int) -> None:
        """Pass it on."""
        self.listener.on_cuts(seconds, count)

    def on_end(self, outcome: Outcome | None = None) -> None:
        """Pass it on."""
        self.listener.on_end(outcome)

    def should_stop(self) -> bool:
        """Ask the other one."""
        return self.listener.should_stop()


class Unstoppable(Relay):
    """Lets the other one listen, but not stop: for work without which a result is worth nothing."""

    def should_stop(self) -> bool:
        """Ask, because asking also tells that time goes by; then go on."""
        super().should_stop()
        return False


class Stoppable(Protocol):
    """What may be told to stop: an observer, or a search."""

    def should_stop(self) -> bool:
        """Whether to stop."""


class Quiet(Observer):
    """Passes on nothing but the wish to stop: for searches within a search.

    Args:
        listener: Who is asked.
    """

    def __init__(self, listener: Stoppable):
        self._listener = listener

    def should_stop(self) -> bool:
        """Ask the other one."""
        return self._listener.should_stop()
