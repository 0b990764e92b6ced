"""Progress on standard error, and Ctrl-C: once to stop with what is known, twice at once."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from tacit.cli.interrupts import Interrupts
from tacit.clock import running_time, standstill
from tacit.observer import Observer
from tacit.tolerances import TINY

if TYPE_CHECKING:
    from tacit.outcome import Outcome

SECONDS_BETWEEN_LINES = 5.0
_SECONDS_BETWEEN_LOOKS = 0.1
_SECONDS_BEFORE_FORECAST = 2.0
_COMPILING = "compiling, once after installation"
_STOPPING = "stopping with what is known so far; press Ctrl-C again to stop at once"


class Display(Protocol):
    """Shows how far a task is.

    Attributes:
        shows_figures: Whether it may show objective, bound and numbers of cells. They add up
            hidden values or count sensitive cells, so they are not for logs, which are kept and
            handed on.
    """

    shows_figures: bool

    def start(self, task: str) -> None:
        """A task begins."""

    def show(self, text: str, share: float | None) -> None:
        """How far it is in words, and as a share where that is known."""

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
        clock: Callable[[], float] = running_time,
        *,
        stops_gracefully: bool = True,
    ):
        self._display = display
        self._time_limit = time_limit
        self._clock = clock
        self._stops_gracefully = stops_gracefully
        self._interrupts = Interrupts(lambda: display.note(_STOPPING), display.close)
        self._task: _Search | _Steps | None = None
        self._notes: list[str] = []
        self._looked = clock()

    @classmethod
    def on_stderr(
        cls,
        *,
        quiet: bool = False,
        time_limit: float | None = None,
        stops_gracefully: bool = True,
    ) -> Progress:
        """A live line on a terminal, a plain line now and then elsewhere, nothing if quiet.

        Only the live line tells figures of the search.
        """
        display: Display = Silence()
        if not quiet:
            display = LiveLine() if sys.stderr.isatty() else PlainLines()
        return cls(display, time_limit, stops_gracefully=stops_gracefully)

    def __enter__(self) -> Self:
        if self._stops_gracefully:
            self._interrupts.__enter__()
        standstill.listeners.append(self._stand_still)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        standstill.listeners.remove(self._stand_still)
        if self._stops_gracefully:
            self._interrupts.__exit__(kind, error, traceback)
        self._display.close()
        # Below the live line, and also for those who want no progress.
        for text in dict.fromkeys(self._notes):
            print(f"note: {text}", file=sys.stderr)

    def on_note(self, text: str) -> None:
        """Keep it until the line of progress is gone."""
        self._notes.append(text)

    def on_start(self, task: str, *, total: int | None = None) -> None:
        """Show that a task begins; one that stops gracefully and has no known steps is a search."""
        self._display.start(task)
        if total is None and self._stops_gracefully:
            self._task = _Search(self._clock(), self._time_limit)
        else:
            self._task = _Steps(self._clock(), total)
        self._look()

    def on_phase(self, name: str) -> None:
        """Show which part of the task begins."""
        if self._task is not None:
            self._task.phase, self._task.done, self._task.total = name, 0, None
            self._look()

    def on_progress(self, done: int, total: int) -> None:
        """Show how far it is."""
        if self._task is not None:
            self._task.done, self._task.total = done, total
            self._look_again()

    def _stand_still(self) -> None:
        """Show why nothing happens while kernels are compiled."""
        if self._task is not None:
            self._display.show(_COMPILING, None)

    def on_bound(self, _seconds: float, bound: float) -> None:
        """Show a better bound."""
        if isinstance(self._task, _Search):
            self._task.bound = bound
            self._look()

    def on_solution(self, _seconds: float, objective: float) -> None:
        """Show a better solution."""
        if isinstance(self._task, _Search):
            self._task.objective = objective
            self._look()

    def on_cuts(self, _seconds: float, count: int) -> None:
        """Count the cuts."""
        if isinstance(self._task, _Search):
            self._task.cuts += count

    def on_end(self, _outcome: Outcome | None = None) -> None:
        """The task is over."""
        self._task = None

    def should_stop(self) -> bool:
        """Whether Ctrl-C was pressed. Tasks ask often: it also keeps the time shown right."""
        self._look_again()
        return self._interrupts.is_stopping

    def _look_again(self) -> None:
        """Steps may be many and short: a few updates per second are enough."""
        if self._clock() - self._looked >= _SECONDS_BETWEEN_LOOKS:
            self._look()

    def _look(self) -> None:
        if self._task is None:
            return
        self._looked = self._clock()
        text = self._task.text(self._looked, figures=self._display.shows_figures)
        self._display.show(text, self._task.share(self._looked))


class _Steps:
    """What is known of a task that goes step by step."""

    def __init__(self, began: float, total: int | None):
        self.phase = ""
        self.done = 0
        self.total = total
        self._began = began

    def share(self, _now: float) -> float | None:
        """How much is done."""
        return self.done / self.total if self.total else None

    def text(self, now: float, *, figures: bool) -> str:
        """The phase, the steps, and how long it will take if it goes on like this."""
        parts = [self.phase, self.steps(figures=figures)]
        share, seconds = self.share(now), now - self._began
        if share and seconds >= _SECONDS_BEFORE_FORECAST and not self.phase:
            parts.append(f"about {seconds * (1 - share) / share:.0f} s left")
        return ", ".join(filter(None, parts))

    def steps(self, *, figures: bool) -> str:
        """How many of how many, or the share; nothing where that is not known."""
        if not self.total:
            return ""
        percent = f"{self.done / self.total:.0%}"
        # A total of a hundred counts per cent.
        return (
            f"{self.done} of {self.total} ({percent})" if figures and self.total != 100 else percent
        )


class _Search(_Steps):
    """What is known of a search for the best solution."""

    def __init__(self, began: float, time_limit: float | None):
        super().__init__(began, None)
        self.objective: float | None = None
        self.bound: float | None = None
        self.cuts = 0
        self._time_limit = time_limit

    def share(self, now: float) -> float | None:
        """How much of the time has gone."""
        if self._time_limit is None:
            return None
        return min(1.0, (now - self._began) / self._time_limit)

    def text(self, now: float, *, figures: bool) -> str:
        """Phase, best safe solution, bound, gap, cuts and the time left, as far as known."""
        parts = [" ".join(filter(None, [self.phase, self.steps(figures=figures)]))]
        if figures:
            parts += self._figures()
        elif self.objective is None:
            parts.append("nothing safe yet")
        if self._time_limit is not None:
            parts.append(f"{max(0.0, self._began + self._time_limit - now):.0f} s left")
        return ", ".join(filter(None, parts))

    def _figures(self) -> list[str]:
        if self.objective is None:
            parts = ["nothing safe yet"]
        else:
            parts = [f"best {number(self.objective)}"]
        if self.bound is not None:
            parts.append(f"bound {number(self.bound)}")
            if self.objective is not None:
                gap = (self.objective - self.bound) / max(abs(self.objective), TINY)
                parts.append(f"gap {gap:.2%}")
        if self.cuts:
            parts.append(f"{self.cuts} cuts")
        return parts


def number(amount: float) -> str:
    """A number as people read it: no digits that mean nothing, no exponent where avoidable.

    >>> number(2440.0), number(0.0256), number(26256789.5)
    ('2440', '0.0256', '26256789.5')
    """
    return f"{amount:.12g}"


class Silence:
    """Shows nothing."""

    shows_figures = False

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

    shows_figures = False

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
        told = f": {text}" if text else ""
        _write_line(f"{self._task}, {now - self._began:.0f} s{told}")

    def note(self, text: str) -> None:
        """Print it at once."""
        _write_line(text)

    def close(self) -> None:
        """Lines stay as they are."""


def _write_line(text: str) -> None:
    """In one piece: another thread may write as well, and `print` writes the line end apart."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


class LiveLine:
    """One line that is drawn again and again, for terminals."""

    shows_figures = True

    def __init__(self) -> None:
        # Slow to import, and not needed where there is no terminal.
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}", markup=False),
            # Short, so that the text fits into 80 columns.
            BarColumn(bar_width=8),
            TextColumn("{task.elapsed:.0f} s"),
            console=Console(stderr=True),
            transient=True,
        )
        self._line = self._bar.add_task("", visible=False)
        self._task = ""

    def start(self, task: str) -> None:
        """Draw the line."""
        self._task = task
        self._bar.reset(self._line, description=task, total=None, visible=True)
        self._bar.start()

    def show(self, text: str, share: float | None) -> None:
        """Draw how far the task is."""
        description = f"{self._task}: {text}" if text else self._task
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
