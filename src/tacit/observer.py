"""`Observer`: who listens while a method or an audit runs. Nothing in tacit prints by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.outcome import Outcome


class Observer:
    """Listens and does nothing; override what you care about.

    Progress bars, traces, the application and tests are observers. A method calls these from
    its own thread and expects them to return quickly.
    """

    def on_start(self, task: str, *, total: int | None = None) -> None:
        """A task begins; `total` is the number of its steps where that is known."""

    def on_progress(self, done: int, total: int) -> None:
        """So many of the steps are done."""

    def on_bound(self, seconds: float, bound: float) -> None:
        """A better proven bound on the objective."""

    def on_solution(self, seconds: float, objective: float) -> None:
        """A better safe solution."""

    def on_cuts(self, seconds: float, count: int) -> None:
        """So many cuts were added."""

    def on_end(self, outcome: Outcome | None = None) -> None:
        """The task is over."""

    def should_stop(self) -> bool:
        """Asked often; True ends the task at the next safe point."""
        return False
