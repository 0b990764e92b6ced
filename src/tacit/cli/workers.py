"""Processes that share the work of one command."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager


@contextmanager
def workers(jobs: int) -> Iterator[Executor | None]:
    """Processes to hand tasks to; None for a single job, which needs no other process.

    At the end, tasks that still run are given up: nobody waits for their results any more.
    """
    if jobs == 1:
        yield None
        return
    # A fresh process each: forking one that has threads may hang.
    fresh = multiprocessing.get_context("spawn")
    before = multiprocessing.active_children()
    pool = ProcessPoolExecutor(jobs, mp_context=fresh, initializer=_leave_interrupts_alone)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            if child not in before:
                child.terminate()


def _leave_interrupts_alone() -> None:
    """A terminal sends Ctrl-C to all processes; what it means is for the first one to say."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
