"""`run_plan`: many jobs, one after the other or side by side in processes.

A job that fails does not stop the others. What is finished stays, whatever happens afterwards:
each job writes its files as soon as it is done, each file complete or not at all.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from tacit.clock import Clock
from tacit.errors import InputError
from tacit.io.files import refuse_unwritable
from tacit.jobs.plans.plan import Entry, Plan, make_plan, refuse_summaries
from tacit.jobs.plans.results import Ending, JobResult, PlanResult
from tacit.jobs.plans.state import State
from tacit.jobs.plans.worker import Done, Task, carried_out, serve
from tacit.observer import Observer, Relay
from tacit.problem import ADDITIVITY_TOLERANCE

_SECONDS_BETWEEN_LOOKS = 0.1
_SECONDS_TO_END = 0.5
"""How long processes may take to clean up, all together; Ctrl-C twice leaves a second."""


class PlanListener:
    """Listens to a plan as it runs and does nothing; overridden to show progress.

    All is called in the thread that called `run_plan`.
    """

    def on_plan(self, entries: Sequence[Entry]) -> None:
        """All jobs have been looked at, and work begins."""

    def on_begin(self, entry: Entry) -> None:
        """A job begins."""

    def observer(self, entry: Entry) -> Observer:  # noqa: ARG002 overridden
        """Who listens to the search of a job; asked once for each."""
        return Observer()

    def on_note(self, entry: Entry, text: str) -> None:
        """Something about the input that its owner should know."""

    def on_end(self, entry: Entry, result: JobResult) -> None:
        """A job has ended, its files are written."""

    def should_stop(self) -> bool:
        """Asked often; True ends running jobs with what they have, and begins no other."""
        return False


def run_plan(
    inputs: Plan | Iterable[str | Path] | str | Path,
    *,
    jobs: int | None = None,
    again: bool = False,
    listener: PlanListener | None = None,
    tolerance: float = ADDITIVITY_TOLERANCE,
    **options: Any,
) -> PlanResult:
    """Run many jobs, each on its own, and write what they and the plan ask for.

    A job runs again only if something has changed since it was last run with the same state file:
    its file, a file that it reads, an option, the version of tacit, or a file that it wrote.

    Args:
        inputs: A plan, the file of one, or jobs and JJ files as paths or patterns.
        jobs: How many jobs run side by side, each in a process with one core; by default as the
            plan says, or one after the other in this process.
        again: Run all jobs, whatever has changed.
        listener: Listens to all jobs; may stop them.
        tolerance: How exactly tables must add up (see `Problem.validate`).
        **options: Options of the method for all jobs, such as `time_limit=60`.

    Returns:
        How each job ended, in the order of the plan.

    Raises:
        InputError: The plan itself is wrong: there are no such files, or two jobs write the same
            one. What is wrong with a job is in its result.
    """
    plan = inputs if isinstance(inputs, Plan) else make_plan(inputs)
    if options:
        plan = plan.replace(options={**plan.options, **options})
    count = jobs or plan.parallel or 1
    if count < 1:
        raise InputError("jobs is how many run side by side, at least 1", key=("jobs",))
    listener = listener or PlanListener()
    refuse_summaries(plan.summary)
    _refuse_conflicts(plan)
    state = State(plan.state)
    tasks = [
        Task(entry, plan, None if again else state.record(entry.path), tolerance, count > 1)
        for entry in plan.entries
    ]
    results: dict[str, JobResult] = {}

    def ended(task: Task, done: Done) -> None:
        results[task.entry.name] = done.result
        if not done.result.unchanged:
            state.remember(task.entry.path, done.record)
        listener.on_end(task.entry, done.result)

    listener.on_plan(plan.entries)
    run = _one_after_the_other if count == 1 else _side_by_side
    run(tasks, min(count, len(tasks)), listener, ended)
    found = PlanResult(
        tuple(results.get(entry.name) or _never_begun(entry) for entry in plan.entries)
    )
    for path in plan.summary:
        found.write(path)
    return found


def _never_begun(entry: Entry) -> JobResult:
    return JobResult(
        name=entry.name,
        path=entry.path,
        ending=Ending.STOPPED,
        message="not begun: the plan was stopped before",
        cut_short=True,
    )


def _refuse_conflicts(plan: Plan) -> None:
    """Refuse, before any work, what jobs would do to each other's files.

    A job that cannot be read is left to its turn: it fails by itself.
    """
    if plan.out_dir is not None and plan.out_dir.exists() and not plan.out_dir.is_dir():
        raise InputError("this is a file; name a folder for outputs", path=plan.out_dir)
    plan_file = () if plan.path is None else (plan.path,)
    reading: dict[str, Entry] = {}
    writing: dict[str, Entry] = {}
    for entry in plan.entries:
        try:
            job = plan.job(entry)
        except Exception:
            continue
        reading |= {str(Path(file).resolve()): entry for file in job.inputs}
        for file in job.outputs.files:
            other = writing.setdefault(str(file.resolve()), entry)
            if other is not entry:
                raise InputError(
                    f"{other.name} and {entry.name} would both write this file; give one of them "
                    "another name, or each a folder with out_dir",
                    path=file,
                )
    for written, entry in writing.items():
        reader = reading.get(written)
        if reader is not None and reader is not entry:
            raise InputError(
                f"{reader.name} reads what {entry.name} writes; run one after the other, each by "
                "itself",
                path=written,
            )
    own = [*plan.summary, *([] if plan.state is None else [plan.state])]
    for path in own:
        if str(path.resolve()) in writing:
            raise InputError("this file is named for two outputs; name another", path=path)
    refuse_unwritable(*own, inputs=(*plan_file, *map(Path, reading)))


def _one_after_the_other(
    tasks: Sequence[Task], _count: int, listener: PlanListener, ended: Callable[[Task, Done], None]
) -> None:
    for task in tasks:
        if listener.should_stop():
            return
        entry = task.entry
        listener.on_begin(entry)
        observer = _Stopped(listener.observer(entry), listener)
        ended(task, carried_out(task, observer, partial(listener.on_note, entry)))


class _Stopped(Relay):
    """Passes everything on to the observer of a job, and asks the listener whether to stop."""

    def __init__(self, observer: Observer, plan_listener: PlanListener):
        super().__init__(observer)
        self._plan_listener = plan_listener

    def should_stop(self) -> bool:
        """Ask both: asking an observer also tells that time goes by."""
        wished = super().should_stop()
        return self._plan_listener.should_stop() or wished


@dataclass
class _Worker:
    """A process that carries out tasks."""

    process: Any
    connection: Connection
    task: Task | None = None
    observer: Observer | None = None


def _side_by_side(
    tasks: Sequence[Task], count: int, listener: PlanListener, ended: Callable[[Task, Done], None]
) -> None:
    # A fresh process each: forking one that has threads may hang.
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    waiting = deque(tasks)
    with _processes(context, stop) as (start, workers):
        while waiting or any(worker.task is not None for worker in workers):
            if listener.should_stop():
                stop.set()
                waiting.clear()
            while waiting and sum(worker.task is not None for worker in workers) < count:
                idle = next((worker for worker in workers if worker.task is None), None)
                _hand_over(waiting.popleft(), idle or start(), listener)
            busy = {worker.connection: worker for worker in workers if worker.task is not None}
            for ready in wait([*busy], _SECONDS_BETWEEN_LOOKS):
                assert isinstance(ready, Connection)
                worker = busy[ready]
                done = _received(worker, listener)
                if done is not None:
                    task, worker.task = worker.task, None
                    assert task is not None
                    ended(task, done)
            for worker in workers:
                if worker.observer is not None and worker.task is not None:
                    # Asking also tells the observer that time goes by.
                    worker.observer.should_stop()
            workers[:] = [worker for worker in workers if not worker.connection.closed]


def _hand_over(task: Task, worker: _Worker, listener: PlanListener) -> None:
    listener.on_begin(task.entry)
    worker.task, worker.observer = task, listener.observer(task.entry)
    worker.connection.send(task)


def _received(worker: _Worker, listener: PlanListener) -> Done | None:
    """Pass on what a worker tells; what it has done, once it is done."""
    assert worker.task is not None
    entry = worker.task.entry
    try:
        kind, given = worker.connection.recv()
    except (EOFError, OSError):
        worker.connection.close()
        worker.process.join(_SECONDS_TO_END)
        return Done(
            JobResult(
                name=entry.name,
                path=entry.path,
                ending=Ending.STOPPED,
                message=f"{entry.path}: its process has ended, perhaps for lack of memory; run "
                "fewer jobs side by side",
            )
        )
    if kind == "done":
        assert isinstance(given, Done)
        return given
    if kind == "note":
        listener.on_note(entry, given)
    else:
        arguments, named = given
        getattr(worker.observer, kind)(*arguments, **named)
    return None


@contextmanager
def _processes(context: Any, stop: Any) -> Iterator[tuple[Callable[[], _Worker], list[_Worker]]]:
    """Processes that are started as needed; none outlives the plan."""
    workers: list[_Worker] = []

    def start() -> _Worker:
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, stop), daemon=True)
        process.start()
        # The other end is open in the process alone, so that its end shows here.
        theirs.close()
        worker = _Worker(process, ours)
        workers.append(worker)
        return worker

    try:
        yield start, workers
    finally:
        for worker in workers:
            if worker.task is None and not worker.connection.closed:
                worker.connection.send(None)
            else:
                worker.process.terminate()
        patience = Clock(_SECONDS_TO_END)
        for worker in workers:
            worker.process.join(patience.left)
            if worker.process.is_alive():
                # Deep in a solver a process does not hear that it shall end.
                worker.process.kill()
                worker.process.join()
