"""Processes that share the work of one command."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from tacit.errors import SolverError


@contextmanager
def workers(jobs: int) -> Iterator[Executor | None]:
    """Processes to hand tasks to; None for a single job, which needs no other process.

    At the end, tasks that still run are given up: nobody waits for their results any more.

    Raises:
        SolverError: A process ended before its task was done.
    """
    if jobs == 1:
        yield None
        return
    before = multiprocessing.active_children()
    # A fresh process each: forking one that has threads may hang.
    fresh = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=fresh, initializer=_leave_interrupts_alone)
    tasks = _Tasks(pool)
    try:
        yield tasks
    except BrokenProcessPool:
        raise SolverError(
            "a process that shared the work has ended, perhaps for lack of memory; try again with "
            "fewer --jobs"
        ) from None
    finally:
        if tasks.are_open():
            for child in multiprocessing.active_children():
                if child not in before:
                    child.terminate()
        pool.shutdown()


class _Tasks(Executor):
    """Hands tasks on; to cancel one here leaves it in the pool.

    A pool whose processes are ended early must not find cancelled tasks: it would fail on them
    and never come to an end.
    """

    def __init__(self, pool: Executor):
        self._pool = pool
        self._inner: list[Future[Any]] = []

    def submit(self, task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand one task to the pool."""
        inner = self._pool.submit(task, *args, **kwargs)
        self._inner.append(inner)
        outer: Future[Any] = Future()

        def pass_on(done: Future[Any]) -> None:
            if not outer.set_running_or_notify_cancel():
                return
            error = done.exception()
            if error is None:
                outer.set_result(done.result())
            else:
                outer.set_exception(error)

        inner.add_done_callback(pass_on)
        return outer

    def are_open(self) -> bool:
        """Whether some task is not done."""
        return not all(task.done() for task in self._inner)


def _leave_interrupts_alone() -> None:
    """A terminal sends Ctrl-C to all processes; what it means is for the first one to say."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
