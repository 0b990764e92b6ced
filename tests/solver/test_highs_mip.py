"""Mixed-integer programs: against scipy, with starts, watchers and interrupts."""

from __future__ import annotations

import _thread
import subprocess
import sys
import threading
import time
from typing import Any

import highspy
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import LinearConstraint

from tacit.errors import SolverError
from tacit.solver.highs_mip import HighsMip
from tacit.solver.mip import MipSolution, solvers_left_behind
from tests.solver.programs import Cover, values


@pytest.mark.parametrize("seed", range(8))
def test_optimum_is_that_of_scipy(seed: int) -> None:
    """Objective, bound and vector are those of the optimum, offset included."""
    cover = Cover(seed)
    found = cover.model(offset=5.0).minimise(seconds=20)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(cover.optimum() + 5.0, rel=1e-7)
    assert found.bound == pytest.approx(found.objective, rel=1e-6)
    x = values(found)
    assert cover.cost @ x + 5.0 == pytest.approx(found.objective)
    assert (cover.A @ x >= cover.right - 1e-6).all()
    assert np.allclose(x[cover.integer], np.rint(x[cover.integer]), atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_rows_come_and_go(seed: int) -> None:
    """A row more changes the optimum, and taking it out brings the old one back."""
    cover = Cover(seed)
    model = cover.model()
    before = model.minimise(seconds=20)
    count = float(np.ceil(values(before).sum() + 1))
    row = np.ones((1, len(cover.cost)))
    model.add_rows(sparse.csr_array(row), np.array([count]), np.full(1, np.inf))
    more = model.minimise(seconds=20, start=before.x)
    assert more.objective == pytest.approx(cover.optimum(LinearConstraint(row, count, np.inf)))
    assert more.objective > before.objective
    model.delete_rows(np.array([model.row_count - 1]))
    assert model.minimise(seconds=20).objective == pytest.approx(before.objective)


@pytest.mark.parametrize("seed", range(4))
def test_start_does_not_change_the_optimum(seed: int) -> None:
    """Starts that are complete, partial, poor or impossible all lead to the same optimum."""
    cover = Cover(seed)
    model = cover.model()
    best = model.minimise(seconds=20)
    partial = values(best).copy()
    partial[::2] = np.nan
    ones, zeros = np.ones(len(cover.cost)), np.zeros(len(cover.cost))
    for start in (best.x, partial, ones, zeros):
        found = model.minimise(seconds=20, start=start)
        assert found.objective == pytest.approx(best.objective)


def test_infeasible_is_told() -> None:
    """A model without solution says so and bounds everything."""
    cover = Cover(1)
    model = cover.model()
    row = sparse.csr_array(np.ones((1, len(cover.cost))))
    model.add_rows(row, np.array([len(cover.cost) + 1.0]), np.full(1, np.inf))
    found = model.minimise(seconds=20)
    assert (found.status, found.x, found.objective) == ("infeasible", None, np.inf)
    assert found.bound == np.inf


def test_nothing_to_decide() -> None:
    """Without columns the answer is the offset, or that there is none."""
    nothing = np.zeros(0)
    model = HighsMip(
        sparse.csr_array((0, 0)),
        row_lower=nothing,
        row_upper=nothing,
        lower=nothing,
        upper=nothing,
        cost=nothing,
        integer=np.zeros(0, bool),
        offset=3.0,
    )
    found = model.minimise(seconds=1)
    assert (found.status, found.objective, found.bound) == ("optimal", 3.0, 3.0)
    model.add_rows(sparse.csr_array((1, 0)), np.ones(1), np.full(1, np.inf))
    assert model.minimise(seconds=1).status == "infeasible"


def hard(**options: Any) -> HighsMip:
    """A model that takes far longer than any test."""
    return Cover(0, rows=70, columns=160, density=0.1).model(**options)


def test_time_limit_holds_for_every_run() -> None:
    """Each run has its own time, and returns what it has when that is over."""
    model = hard()
    for _ in range(2):
        start = time.monotonic()
        found = model.minimise(seconds=0.5)
        assert found.status == "stopped"
        assert 0.3 < time.monotonic() - start < 5
        assert found.bound < found.objective < np.inf


def test_watcher_is_told_and_may_stop() -> None:
    """Reports come in the asking thread, bounds never fall, and True ends the run."""
    reports: list[MipSolution] = []

    def watch(so_far: MipSolution) -> bool:
        assert threading.current_thread() is threading.main_thread()
        reports.append(so_far)
        return len(reports) >= 6

    start = time.monotonic()
    found = hard(offset=1e5).minimise(seconds=60, watch=watch)
    assert found.status == "stopped"
    assert time.monotonic() - start < 20
    bounds = [report.bound for report in reports]
    assert bounds == sorted(bounds)
    assert 1e5 < bounds[-1] <= found.bound < found.objective
    assert any(report.x is not None for report in reports)
    assert found.objective <= min(report.objective for report in reports)


def test_error_of_a_watcher_ends_the_run() -> None:
    """What a watcher raises arrives, and the model can be used again."""
    model = hard()

    def watch(_: MipSolution) -> bool:
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        model.minimise(seconds=60, watch=watch)
    assert model.minimise(seconds=0.3).status == "stopped"


def test_keyboard_ends_the_run() -> None:
    """Ctrl-C stops the solver and arrives as such."""
    timer = threading.Timer(0.4, _thread.interrupt_main)
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        hard().minimise(seconds=60)
    assert time.monotonic() - start < 20
    timer.join()


def test_same_seed_same_vector() -> None:
    """Two runs with the same seed return the same vector."""
    first, second = (Cover(3).model(seed=7).minimise(seconds=20) for _ in range(2))
    assert np.array_equal(values(first), values(second))


class _Deaf:
    """HiGHS as it is in propagation without end: it hears of no limit."""

    def __init__(self, highs: Any):
        self._highs = highs
        self.release = threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._highs, name)

    def run(self) -> Any:
        """Come back when released."""
        self.release.wait()
        return highspy.HighsStatus.kOk


def test_python_waits_a_little_for_solvers_that_were_told_to_stop() -> None:
    """A thread that is inside of a C++ library when Python ends would abort the process."""
    code = (
        "import threading, time\n"
        "from tacit.solver.mip import remember_run\n"
        "class Run:\n"
        "    has_ended = False\n"
        "    def end(self):\n"
        "        time.sleep(0.5)\n"
        "        print('ended', flush=True)\n"
        "        self.has_ended = True\n"
        "run = Run()\n"
        "remember_run(run)\n"
        "threading.Thread(target=run.end, daemon=True).start()\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert (found.returncode, found.stdout.strip()) == (0, "ended"), found.stderr


def test_a_solver_that_does_not_end_is_left_behind() -> None:
    """Nobody waits for it, the process need not either, and the model is not used again."""
    model = Cover(2).model()
    before = solvers_left_behind()
    model._highs = deaf = _Deaf(model._highs)
    try:
        found = model.minimise(seconds=0.01)
        assert (found.status, found.x) == ("stopped", None)
        assert solvers_left_behind() == before + 1
        assert all(thread.daemon for thread in threading.enumerate() if thread.name == "HiGHS")
        with pytest.raises(SolverError, match="not come back"):
            model.minimise(seconds=1)
    finally:
        deaf.release.set()
    for thread in threading.enumerate():
        if thread.name == "HiGHS":
            thread.join()
    assert solvers_left_behind() == 0
