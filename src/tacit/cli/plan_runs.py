"""Plans of many tables on the command line: progress of each, and a summary at the end."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tacit.cli.exits import ExitCode
from tacit.cli.interrupts import Interrupts
from tacit.cli.progress import PlainLines, Progress, Silence
from tacit.errors import InputError
from tacit.jobs.plans import Entry, JobResult, Plan, PlanListener, is_plan, run_plan
from tacit.observer import Observer
from tacit.options import Options

if TYPE_CHECKING:
    from tacit.cli.progress import Display

_STOPPING = (
    "stopping: running tables end with what they have, and no other begins; press Ctrl-C again to "
    "stop at once"
)


def is_several(inputs: Sequence[Path]) -> bool:
    """Whether inputs are a plan: several files, a pattern, or the file of a plan."""
    if len(inputs) != 1:
        return True
    (path,) = inputs
    if not os.path.lexists(path):
        return glob.has_magic(str(path))
    return path.is_file() and is_plan(path)


def run_shown(
    plan: Plan, *, jobs: int | None, again: bool, quiet: bool, tolerance: float
) -> ExitCode:
    """Run a plan with progress on standard error, and print its summary."""
    board: _Board = _Silent() if quiet else _Live() if sys.stderr.isatty() else _Lines()
    with Interrupts(lambda: board.note(_STOPPING), board.close) as interrupts:
        try:
            listener = _Shown(plan, board, interrupts)
            found = run_plan(plan, jobs=jobs, again=again, listener=listener, tolerance=tolerance)
        finally:
            board.close()
    print(found.summary())
    for path in plan.summary:
        print(f"  wrote       {path}")
    return ExitCode(found.worst.code)


class _Board(Protocol):
    """Where the progress of several tables is shown."""

    def display(self, name: str) -> Display:
        """A place for one table."""

    def ended(self, name: str, told: str, *, of: int) -> None:
        """A table is done with."""

    def note(self, text: str) -> None:
        """Say something in between; perhaps from another thread."""

    def close(self) -> None:
        """Nothing more will come."""


class _Shown(PlanListener):
    """Shows a plan on a board; Ctrl-C stops it."""

    def __init__(self, plan: Plan, board: _Board, interrupts: Interrupts):
        self._plan = plan
        self._board = board
        self._interrupts = interrupts

    def observer(self, entry: Entry) -> Observer:
        """Progress of one table."""
        try:
            limit = self._plan.job(entry).options.get("time_limit", Options.time_limit)
        except InputError:
            # It will say so itself.
            limit = None
        return Progress(self._board.display(entry.name), limit)

    def on_note(self, entry: Entry, text: str) -> None:
        """Say it with the name of the table."""
        self._board.note(f"note: {entry.name}: {text}")

    def on_end(self, entry: Entry, result: JobResult) -> None:
        """Say what was wrong, and that it is done with."""
        from tacit.jobs.plans.summary import told_ending

        self._board.ended(entry.name, told_ending(result), of=len(self._plan.entries))
        if result.message:
            print(f"tacit: {result.message}", file=sys.stderr)

    def should_stop(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._interrupts.is_stopping


class _Silent:
    """Shows nothing."""

    def display(self, _name: str) -> Display:
        """Nothing."""
        return Silence()

    def ended(self, name: str, told: str, *, of: int) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class _Lines:
    """Plain lines for logs, each with the name of its table."""

    def display(self, name: str) -> Display:
        """A line now and then."""
        return _Named(PlainLines(), name)

    def ended(self, name: str, told: str, *, of: int) -> None:  # noqa: ARG002 Protocol
        """A line for each."""
        self.note(f"{name}: {told}")

    def note(self, text: str) -> None:
        """A line."""
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def close(self) -> None:
        """Lines stay as they are."""


class _Named:
    """Plain lines about one of several tables."""

    shows_figures = False

    def __init__(self, lines: Display, name: str):
        self._lines = lines
        self._name = name

    def start(self, task: str) -> None:
        """A part of the work begins."""
        self._lines.start(f"{self._name}: {task}")

    def show(self, text: str, share: float | None) -> None:
        """How far it is."""
        self._lines.show(text, share)

    def note(self, text: str) -> None:
        """A line."""
        self._lines.note(f"{self._name}: {text}")

    def close(self) -> None:
        """Lines stay as they are."""


class _Live:
    """A line for each table that is running, drawn again and again, and one for all."""

    def __init__(self) -> None:
        # Slow to import, and not needed where there is no terminal.
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bars

        self._bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=8),
            TextColumn("{task.elapsed:.0f} s"),
            console=Console(stderr=True),
            transient=True,
        )
        self._all: Any = None
        self._lines: dict[str, Any] = {}
        self._done = 0

    def display(self, name: str) -> Display:
        """A line with a bar."""
        if self._all is None:
            self._all = self._bars.add_task("all tables", total=None)
            self._bars.start()
        self._lines[name] = self._bars.add_task(name, total=None)
        return _Line(self._bars, self._lines[name], name)

    def ended(self, name: str, told: str, *, of: int) -> None:
        """Its line goes, and what is left of it is a line above."""
        if name in self._lines:
            self._bars.remove_task(self._lines.pop(name))
        self._done += 1
        if self._all is not None:
            told_all = f"{self._done} of {of} tables"
            self._bars.update(self._all, description=told_all, completed=self._done, total=of)
        self.note(f"{name}: {told}")

    def note(self, text: str) -> None:
        """Above the lines."""
        self._bars.console.print(text, highlight=False, markup=False)

    def close(self) -> None:
        """Wipe the lines out."""
        self._bars.stop()


class _Line:
    """The line of one table."""

    shows_figures = True

    def __init__(self, bars: Any, line: Any, name: str):
        self._bars = bars
        self._line = line
        self._name = name
        self._task = ""

    def start(self, task: str) -> None:
        """A part of the work begins."""
        self._task = task
        self._bars.reset(self._line, description=f"{self._name}: {task}", total=None)

    def show(self, text: str, share: float | None) -> None:
        """How far it is."""
        told = f"{self._name}: {text or self._task}"
        known = {} if share is None else {"completed": share, "total": 1.0}
        self._bars.update(self._line, description=told, **known)

    def note(self, text: str) -> None:
        """Above the lines."""
        self._bars.console.print(f"{self._name}: {text}", highlight=False, markup=False)

    def close(self) -> None:
        """The board takes the line away."""
