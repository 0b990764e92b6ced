"""Runs of a study that are measured at the same time, each in a process and on a core of its own.

For methods that use one core: beside another such run they take as long as alone. Two runs at a
time, on the two cores of the machine that the results are from, took 6.8, 11.7, 2.8 and 6.8 s of
processor time, and 6.9, 12.3, 2.9 and 6.8 s one after the other (`benders` and `stabilized` on
20-25-15 and 30-30-15).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.queues import Queue
from typing import TypeVar

from tacit.precompile import precompile
from tacit.threads import available_cores

Task = TypeVar("Task")
Found = TypeVar("Found")


def add_at_once(parser: argparse.ArgumentParser) -> None:
    """The option for the number of runs at a time; `at_once_note` records it."""
    parser.add_argument(
        "--at-once",
        type=int,
        default=available_cores(),
        help="runs at a time, each on one core of its own",
    )


def at_once_note(at_once: int) -> str:
    """The number of runs at a time, for the head of a file."""
    if at_once == 1:
        return "one run at a time, on one core (jobs=1)"
    return f"{at_once} runs at a time, each on one core of its own (jobs=1)"


def measured(
    work: Callable[[Task], Found],
    tasks: Sequence[Task],
    *,
    at_once: int,
    prepare: Callable[[], object] = precompile,
) -> Iterator[Found]:
    """What a function gives for each task, in the order of the tasks.

    Args:
        work: A function of a module, so that other processes can find it.
        tasks: What it is given.
        at_once: How many processes share the tasks; with one, it all happens in this process.
        prepare: Runs in each process before its first task: by default what is compiled on first
            use is compiled, so that no run is charged for it.
    """
    if at_once == 1:
        prepare()
        yield from map(work, tasks)
        return
    context = get_context("spawn")
    cores: Queue[int] = context.Queue()
    for core in sorted(_usable())[:at_once]:
        cores.put(core)
    pool = ProcessPoolExecutor(
        at_once, mp_context=context, initializer=_settle, initargs=(cores, at_once, prepare)
    )
    try:
        yield from pool.map(work, tasks)
    finally:
        # Who stops the study does not wait for all tasks that are left.
        pool.shutdown(cancel_futures=True)


def _usable() -> set[int]:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return set(os.sched_getaffinity(0))
    return set(range(available_cores()))


def _settle(cores: Queue[int], at_once: int, prepare: Callable[[], object]) -> None:
    """Stay on one core, and prepare."""
    if hasattr(os, "sched_setaffinity") and len(_usable()) >= at_once:
        os.sched_setaffinity(0, {cores.get()})
    prepare()
