"""Runs that are measured at the same time: in order, and each on a core of its own."""

from __future__ import annotations

import os

import pytest
from studies.workers import at_once_note, measured

from tacit.threads import available_cores


def settled(task: int) -> tuple[int, int, tuple[int, ...]]:
    """The task, the process that has it, and the cores that this may use."""
    cores = tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ()
    return task, os.getpid(), cores


def nothing() -> None:
    """Nothing to prepare."""


def test_runs_come_in_the_order_of_their_tasks() -> None:
    """One at a time needs no other process; more have processes of their own."""
    alone = list(measured(settled, [3, 1, 2], at_once=1, prepare=nothing))
    assert [(task, process) for task, process, _ in alone] == [
        (each, os.getpid()) for each in (3, 1, 2)
    ]
    both = list(measured(settled, [*range(6)], at_once=2, prepare=nothing))
    assert [task for task, _, _ in both] == [*range(6)]
    assert os.getpid() not in {process for _, process, _ in both}


@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or available_cores() < 2, reason="needs two cores"
)
def test_each_process_stays_on_one_core() -> None:
    """Runs beside each other do not share a core."""
    found = list(measured(settled, [*range(8)], at_once=2, prepare=nothing))
    core_of = {process: cores for _, process, cores in found}
    assert all(len(cores) == 1 for cores in core_of.values())
    assert len(set(core_of.values())) == len(core_of)


def test_the_head_of_a_file_tells_how_many_ran_at_once() -> None:
    """Whoever reads the figures knows what ran beside."""
    assert at_once_note(1).startswith("one run")
    assert at_once_note(2).startswith("2 runs at a time")
