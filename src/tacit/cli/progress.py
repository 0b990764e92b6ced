"""Progress on standard error, and Ctrl-C: once to stop with what is known, twice at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any, Protocol, Self

from tacit.observer import Observer

SECONDS_BETWEEN_LINES = 5.0
_STOPPING = "stopping with what is known so far; press Ctrl-C again to stop at once"


class Display(Protocol):
    """Shows how far a task is."""

    def start(self, task: str) -> None:
        """A task begins."""

    def show(self, done: int, total: int) -> None:
        """So many of the steps are done."""

    def note(self, text: str) -> None:
        """Say something in between; called from a signal handler."""

    def close(self) -> None:
        """Nothing more will come."""


class Progress(Observer):
    """Shows the progress of a command, and stops it on Ctrl-C.

    A context manager: Ctrl-C has its usual meaning again at the end.
    """

    def __init__(self, display: Display):
        self._display = display
        self._is_stopping = False
        self._previous: Any = None

    @classmethod
    def on_stderr(cls, *, quiet: bool = False) -> Progress:
        """A live line on a terminal, a plain line now and then elsewhere, nothing if quiet."""
        if quiet:
            return cls(Silence())
        return cls(LiveLine() if sys.stderr.isatty() else PlainLines())

    def __enter__(self) -> Self:
        # Python lets only the main thread handle signals.
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._on_interrupt)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
        self._display.close()

    def _on_interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if self._is_stopping:
            raise KeyboardInterrupt
        self._is_stopping = True
        self._display.note(_STOPPING)

    def on_start(self, task: str, *, total: int | None = None) -> None:
        """Show that a task begins."""
        self._display.start(task)
        if total is not None:
            self._display.show(0, total)

    def on_progress(self, done: int, total: int) -> None:
        """Show how far it is."""
        self._display.show(done, total)

    def should_stop(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._is_stopping


class Silence:
    """Shows nothing."""

    def start(self, task: str) -> None:
        """Nothing."""

    def show(self, done: int, total: int) -> None:
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

    def show(self, done: int, total: int) -> None:
        """Print a line if the last one is old enough."""
        now = self._clock()
        if now - self._latest < self._seconds:
            return
        self._latest = now
        share = f" ({done / total:.0%})" if total else ""
        print(
            f"{self._task}: {done} of {total}{share}, {now - self._began:.0f} s",
            file=sys.stderr,
            flush=True,
        )

    def note(self, text: str) -> None:
        """Write past the stream, which the signal may have interrupted while it was written to."""
        with suppress(OSError):
            os.write(2, f"\n{text}\n".encode())

    def close(self) -> None:
        """Lines stay as they are."""


class LiveLine:
    """One line that is drawn again and again, for terminals."""

    def __init__(self) -> None:
        # Slow to import, and not needed where there is no terminal.
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._line = self._bar.add_task("", start=False, visible=False)

    def start(self, task: str) -> None:
        """Draw the line."""
        self._bar.reset(self._line, description=task, total=None, visible=True)
        self._bar.start()

    def show(self, done: int, total: int) -> None:
        """Draw how far the task is."""
        self._bar.update(self._line, completed=done, total=total)

    def note(self, text: str) -> None:
        """Print above the line."""
        self._bar.console.print(text, highlight=False)

    def close(self) -> None:
        """Wipe the line out."""
        self._bar.stop()
