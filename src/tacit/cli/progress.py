"""Progress on standard error, and Ctrl-C: once to stop with what is known, twice at once."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from tacit.cli.interrupts import Interrupts
from tacit.observer import Observer

if TYPE_CHECKING:
    from tacit.outcome import Outcome

SECONDS_BETWEEN_LINES = 5.0
_SECONDS_BETWEEN_LOOKS = 0.2
_STOPPING = "stopping with what is known so far; press Ctrl-C again to stop at once"


class Display(Protocol):
    """Shows how far a task is."""

    def start(self, task: str) -> None:
        """A task begins."""

    def show(self, text: str, share: float | None) -> None:
        """How far it is in words, and as a share of the whole where that is known."""

    def note(self, text: str) -> None:
        """Say something in between; called from another thread."""

    def close(self) -> None:
        """Nothing more will come."""


class Progress(Observer):
    """Shows the progress of a command, and stops it on Ctrl-C.

    A context manager: Ctrl-C has its usual meaning again at the end.

    Args:
        display: Where to show it.
        time_limit: Seconds that each task may take, where that is known.
        clock: Tells the time in seconds.
        stops_gracefully: Whether the tasks end with what they know at the first Ctrl-C; without,
            Ctrl-C keeps its usual meaning.
    """

    def __init__(
        self,
        display: Display,
        time_limit: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        stops_gracefully: bool = True,
    ):
        self._display = display
        self._time_limit = time_limit
        self._clock = clock
        self._stops_gracefully = stops_gracefully
        self._interrupts = Interrupts(lambda: display.note(_STOPPING), display.close)
        self._search: _Search | None = None
        self._looked = clock()

    @classmethod
    def on_stderr(
        cls,
        *,
        quiet: bool = False,
        time_limit: float | None = None,
        stops_gracefully: bool = True,
    ) -> Progress:
        """A live line on a terminal, a plain line now and then elsewhere, nothing if quiet."""
        display: Display = Silence()
        if not quiet:
            display = LiveLine() if sys.stderr.isatty() else PlainLines()
        return cls(display, time_limit, stops_gracefully=stops_gracefully)

    def __enter__(self) -> Self:
        if self._stops_gracefully:
            self._interrupts.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._stops_gracefully:
            self._interrupts.__exit__(kind, error, traceback)
        self._display.close()

    def on_start(self, task: str, *, total: int | None = None) -> None:
        """Show that a task begins; one that stops gracefully and has no known steps is a search."""
        self._display.start(task)
        self._search = None
        if total is None and self._stops_gracefully:
            self._search = _Search(self._clock(), self._time_limit)
            self._look()
        elif total is not None:
            self._show_steps(0, total)

    def on_progress(self, done: int, total: int) -> None:
        """Show how far it is."""
        self._show_steps(done, total)

    def _show_steps(self, done: int, total: int) -> None:
        share = done / total if total else None
        percent = "" if share is None else f" ({share:.0%})"
        self._display.show(f"{done} of {total}{percent}", share)

    def on_bound(self, _seconds: float, bound: float) -> None:
        """Show a better bound."""
        if self._search is not None:
            self._search.bound = bound
            self._look()

    def on_solution(self, _seconds: float, objective: float) -> None:
        """Show a better pattern."""
        if self._search is not None:
            self._search.objective = objective
            self._look()

    def on_cuts(self, _seconds: float, count: int) -> None:
        """Count the cuts."""
        if self._search is not None:
            self._search.cuts += count

    def on_end(self, _outcome: Outcome | None = None) -> None:
        """Nothing is searched any more."""
        self._search = None

    def should_stop(self) -> bool:
        """Whether Ctrl-C was pressed. A search asks often: it also keeps the time shown right."""
        if self._clock() - self._looked >= _SECONDS_BETWEEN_LOOKS:
            self._look()
        return self._interrupts.is_stopping

    def _look(self) -> None:
        if self._search is None:
            return
        self._looked = self._clock()
        self._display.show(self._search.text(self._looked), self._search.share(self._looked))


class _Search:
    """What is known of a search for the best pattern."""

    def __init__(self, began: float, time_limit: float | None):
        self.objective: float | None = None
        self.bound: float | None = None
        self.cuts = 0
        self._began = began
        self._time_limit = time_limit

    def share(self, now: float) -> float | None:
        """How much of the time has gone."""
        if self._time_limit is None:
            return None
        return min(1.0, (now - self._began) / self._time_limit)

    def text(self, now: float) -> str:
        """Best safe pattern, bound, gap, cuts and the time left, as far as they are known."""
        parts = ["no safe pattern yet"]
        if self.objective is not None:
            parts = [f"best {number(self.objective)}"]
        if self.bound is not None:
            parts.append(f"bound {number(self.bound)}")
            if self.objective is not None:
                gap = (self.objective - self.bound) / max(abs(self.objective), 1e-10)
                parts.append(f"gap {gap:.2%}")
        if self.cuts:
            parts.append(f"{self.cuts} cuts")
        if self._time_limit is not None:
            parts.append(f"{max(0.0, self._began + self._time_limit - now):.0f} s left")
        return ", ".join(parts)


def number(amount: float) -> str:
    """A number as people read it: no digits that mean nothing, no exponent where avoidable.

    >>> number(2440.0), number(0.0256), number(26256789.5)
    ('2440', '0.0256', '26256789.5')
    """
    return f"{amount:.12g}"


class Silence:
    """Shows nothing."""

    def start(self, task: str) -> None:
        """Nothing."""

    def show(self, text: str, share: float | None) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class PlainLines:
    """A line every few seconds, for logs; short tasks leave none.

    Args:
        seconds: Between lines at least.
        clock: Tells the time in seconds.
    """

    def __init__(
        self,
        seconds: float = SECONDS_BETWEEN_LINES,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._seconds = seconds
        self._clock = clock
        self._task = ""
        self._began = self._latest = clock()

    def start(self, task: str) -> None:
        """Remember when the task began."""
        self._task = task
        self._began = self._latest = self._clock()

    def show(self, text: str, share: float | None) -> None:  # noqa: ARG002 Protocol
        """Print a line if the last one is old enough."""
        now = self._clock()
        if now - self._latest < self._seconds:
            return
        self._latest = now
        print(f"{self._task}: {text}, {now - self._began:.0f} s", file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """Print it at once."""
        print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Lines stay as they are."""


class LiveLine:
    """One line that is drawn again and again, for terminals."""

    def __init__(self) -> None:
        # Slow to import, and not needed where there is no terminal.
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}", markup=False),
            # Short, so that the text fits into 80 columns.
            BarColumn(bar_width=10),
            console=Console(stderr=True),
            transient=True,
        )
        self._line = self._bar.add_task("", start=False, visible=False)
        self._task = ""

    def start(self, task: str) -> None:
        """Draw the line."""
        self._task = task
        self._bar.reset(self._line, description=task, total=None, visible=True)
        self._bar.start()

    def show(self, text: str, share: float | None) -> None:
        """Draw how far the task is."""
        description = f"{self._task}: {text}"
        if share is None:
            self._bar.update(self._line, description=description)
        else:
            self._bar.update(self._line, description=description, completed=share, total=1.0)

    def note(self, text: str) -> None:
        """Print above the line."""
        self._bar.console.print(text, highlight=False)

    def close(self) -> None:
        """Wipe the line out."""
        self._bar.stop()
