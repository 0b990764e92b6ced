"""Threads that share work whose result does not depend on who does it.

Kernels and solvers let other threads go on while they run; everything else takes turns.
"""

from __future__ import annotations

import contextvars
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")


def available_cores() -> int:
    """The cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Threads:
    """A number of threads, started when they are needed for the first time.

    They end when nobody holds this object any more.

    Attributes:
        count: How many.
    """

    def __init__(self, count: int):
        self.count = count

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.count, thread_name_prefix="tacit")

    def each(self, task: Callable[[Item], Found], items: Sequence[Item]) -> Iterator[Found]:
        """What a task gives for each item, in order.

        A task must not itself hand tasks to the same threads. The clocks around the caller are
        around the tasks, too.
        """
        futures = [self._pool.submit(contextvars.copy_context().run, task, item) for item in items]
        try:
            for future in futures:
                yield future.result()
        finally:
            for future in futures:
                future.cancel()
