"""Processes that share work."""

from __future__ import annotations

import os
import time

import pytest

from tacit.cli.workers import workers
from tacit.errors import SolverError


def test_one_job_needs_no_process() -> None:
    """A single job runs where it is."""
    with workers(1) as pool:
        assert pool is None


def test_tasks_run_elsewhere_and_running_ones_are_given_up() -> None:
    """Results and errors come back from other processes; what still runs at the end is ended."""
    with workers(2) as pool:
        assert pool is not None
        assert pool.submit(os.getpid).result() != os.getpid()
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()
        tasks = [pool.submit(time.sleep, 60) for _ in range(8)]
        tasks[-1].cancel()
        began = time.monotonic()
    assert time.monotonic() - began < 30
    assert not tasks[0].cancelled()
    assert tasks[0].exception() is not None


def test_a_process_that_dies_is_an_error() -> None:
    """Work that was lost is noticed, and the message says what to try."""

    def lose_a_process() -> None:
        with workers(2) as pool:
            assert pool is not None
            pool.submit(os._exit, 1).result()

    with pytest.raises(SolverError, match="fewer --jobs"):
        lose_a_process()
