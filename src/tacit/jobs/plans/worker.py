"""One job of a plan, in this process or in another one."""

from __future__ import annotations

import dataclasses
import signal
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from tacit.errors import SolverError, StoppedError, TacitError
from tacit.io.files import refuse_unwritable
from tacit.jobs.plans.plan import Entry, Plan
from tacit.jobs.plans.results import Ending, JobResult, ending_of, facts_of, working_facts
from tacit.jobs.plans.state import Record, fingerprint, recorded
from tacit.jobs.run import JobListener, run_job, write_outputs, write_without_release
from tacit.methods.registry import find_method
from tacit.observer import Observer, Relay
from tacit.outcome import StopReason
from tacit.release import NoReleaseError

if TYPE_CHECKING:
    from tacit.jobs.job import Job
    from tacit.microdata import TabulationReport
    from tacit.problem import Problem
    from tacit.table import Table

_SECONDS_BETWEEN_NEWS = 0.2
_CORES = "jobs"
"""The option of methods that can use several cores for one table."""


@dataclass(frozen=True)
class Task:
    """What to do.

    Attributes:
        entry: Which job.
        plan: What holds for all jobs.
        before: What is remembered of its last run; None runs it in any case.
        tolerance: How exactly the table must add up.
        beside_others: Whether other jobs run at the same time, so that it has one core.
    """

    entry: Entry
    plan: Plan
    before: Record | None
    tolerance: float
    beside_others: bool


@dataclass(frozen=True)
class Done:
    """How it ended, and what to remember of it; nothing, where it is to run again."""

    result: JobResult
    record: Record | None = None


class _Listener(JobListener):
    """Listens to one job for its plan."""

    def __init__(self, observer: Observer, note: Callable[[str], object]):
        self._observer = observer
        self._note = note

    def reading(self) -> AbstractContextManager[Observer]:
        """The observer of the job."""
        return nullcontext(_Reading(self._observer))

    def searching(self) -> AbstractContextManager[Observer]:
        """The same."""
        return nullcontext(self._observer)

    def on_records(self, report: TabulationReport) -> None:
        """Tell what was dropped."""
        for finding in report.findings:
            self._note(f"{finding}; dropped")

    def on_source(self, source: Table | Problem) -> None:
        """Tell if there is nothing to protect."""
        sensitive = source.is_sensitive
        if not sensitive.any():
            self._note("no cell is sensitive, everything will be published")


class _Reading(Relay):
    """Tells what is read from what is searched for: the time limit is for the latter."""

    def on_start(self, task: str, *, total: int | None = None) -> None:
        """A task of which no number of steps is known would be taken for a search."""
        super().on_start(task, total=total or 0)


def carried_out(task: Task, observer: Observer, note: Callable[[str], object]) -> Done:
    """Run one job and write its files; whatever goes wrong is in the result."""
    entry = task.entry
    try:
        return _carried_out(task, observer, note)
    except NoReleaseError as error:
        facts = working_facts(error.outcome, error.problem)
        ending, message = ending_of(error), f"{entry.path}: {error}"
        cut_short = error.outcome.stopped_by is StopReason.USER
        return Done(_failed(entry, ending, message, working=facts, cut_short=cut_short))
    except (SolverError, StoppedError) as error:
        return Done(_failed(entry, Ending.STOPPED, f"{entry.path}: {error}"))
    except TacitError as error:
        text = str(error)
        named = text if str(entry.path) in text else f"{entry.path}: {text}"
        return Done(_failed(entry, Ending.WRONG_INPUT, named))
    except MemoryError:
        message = f"{entry.path}: there is not enough memory; run fewer jobs side by side"
        return Done(_failed(entry, Ending.STOPPED, message))
    except Exception as error:
        # Others must go on; alone it shows where this comes from.
        message = f"{entry.path}: an error in tacit itself ({type(error).__name__}: {error})"
        return Done(_failed(entry, Ending.STOPPED, f"{message}; please report it"))


def _failed(entry: Entry, ending: Ending, message: str, **facts: Any) -> JobResult:
    return JobResult(name=entry.name, path=entry.path, ending=ending, message=message, **facts)


def _carried_out(task: Task, observer: Observer, note: Callable[[str], object]) -> Done:
    entry = task.entry
    job = task.plan.job(entry)
    if task.plan.out_dir is not None:
        for file in job.outputs.files:
            file.parent.mkdir(parents=True, exist_ok=True)
    refuse_unwritable(*job.outputs.files, inputs=job.inputs)
    known = fingerprint(job, task.tolerance)
    if task.before is not None and known and task.before.holds(known, job.outputs.files):
        before = dataclasses.replace(task.before.result, name=entry.name, unchanged=True)
        return Done(before, task.before)
    if task.beside_others:
        job = _on_one_core(job)
    try:
        release = run_job(job, listener=_Listener(observer, note), tolerance=task.tolerance)
    except NoReleaseError as error:
        write_without_release(job, error)
        raise
    write_outputs(job, release)
    published, working = facts_of(release)
    cut_short = release.papers.outcome.stopped_by is StopReason.USER
    result = JobResult(
        name=entry.name,
        path=entry.path,
        ending=Ending.DONE,
        published=published,
        working=working,
        files=tuple(job.outputs.files),
        cut_short=cut_short,
    )
    # One that was stopped has not had its time: it runs again.
    remembered = known is not None and not cut_short
    return Done(result, recorded(known, result) if remembered and known else None)


def _on_one_core(job: Job) -> Job:
    """The job with one core for its search, unless it asks for more itself."""
    options = dataclasses.fields(find_method(job.method).options())
    if _CORES in job.options or all(option.name != _CORES for option in options):
        return job
    return job.replace(options={**job.options, _CORES: 1})


class _Wire(Observer):
    """Tells another process what happens; of many pieces of the same news the latest is enough."""

    def __init__(self, connection: Connection, stop: Any):
        self._connection = connection
        self._stop = stop
        self._pending: dict[str, Any] = {}
        self._sent = self._asked = 0.0
        self._stopping = False

    def on_start(self, task: str, *, total: int | None = None) -> None:
        """Tell it at once, as all that marks a new part."""
        self._at_once("on_start", (task,), {"total": total})

    def on_phase(self, name: str) -> None:
        """Tell it at once."""
        self._at_once("on_phase", (name,))

    def on_end(self, _outcome: Any = None) -> None:
        """Tell it at once; the outcome itself stays here."""
        self._at_once("on_end", ())

    def on_progress(self, done: int, total: int) -> None:
        """Tell it soon."""
        self._soon("on_progress", (done, total))

    def on_bound(self, seconds: float, bound: float) -> None:
        """Tell it soon."""
        self._soon("on_bound", (seconds, bound))

    def on_solution(self, seconds: float, objective: float) -> None:
        """Tell it soon."""
        self._soon("on_solution", (seconds, objective))

    def should_stop(self) -> bool:
        """Whether the plan stops."""
        now = time.monotonic()
        if now - self._asked >= _SECONDS_BETWEEN_NEWS / 4:
            self._asked = now
            self._stopping = self._stop.is_set()
            self._flush(now)
        return self._stopping

    def note(self, text: str) -> None:
        """Tell a note."""
        self._connection.send(("note", text))

    def _at_once(self, kind: str, arguments: tuple[Any, ...], named: Any = None) -> None:
        self._flush(float("inf"))
        self._connection.send((kind, (arguments, named or {})))

    def _soon(self, kind: str, arguments: tuple[Any, ...]) -> None:
        self._pending[kind] = arguments
        self._flush(time.monotonic())

    def _flush(self, now: float) -> None:
        if now - self._sent < _SECONDS_BETWEEN_NEWS:
            return
        self._sent = min(now, time.monotonic())
        for kind, arguments in self._pending.items():
            self._connection.send((kind, (arguments, {})))
        self._pending.clear()


def serve(connection: Connection, stop: Any) -> None:
    """Carry out tasks until there are no more; what a process of its own does.

    Args:
        connection: Where tasks come from and news go to.
        stop: An event that is set when running jobs shall end with what they have.
    """
    # A terminal sends Ctrl-C to all processes; what it means is for the first one to say.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Leaving through an exception removes files that are half-written.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    while (task := connection.recv()) is not None:
        wire = _Wire(connection, stop)
        connection.send(("done", carried_out(task, wire, wire.note)))
