"""A persistent mixed-integer program on HiGHS that can be watched and stopped.

The solver runs in a thread of its own; whoever asked is told from time to time how far it got,
in the thread that asked, and may end it. In presolve and propagation HiGHS listens to nothing, not
even to its time limit: if it does not end soon it is left behind, to end when it can. Its thread
is a daemon, and `solvers_left_behind` tells a command line that it must not wait for it.
"""

from __future__ import annotations

import threading
from typing import Any, Unpack

import highspy
import numpy as np
from scipy import sparse

from tacit import clock
from tacit.clock import check_time, time_left
from tacit.errors import SolverError
from tacit.problem import Floats
from tacit.solver.highs import HighsModel
from tacit.solver.mip import MipParts, MipSolution, Watcher, remember_run
from tacit.tolerances import SOLVER

__all__ = ["HighsMip", "MipSolution", "Watcher"]

_PAUSE = 0.05
"""Seconds between two reports."""
_GRACE = 2.0
"""Seconds that the solver has to end when it is told to."""
_LEAST_GRACE = 0.3
"""Seconds that it has where the time of the caller is up."""


class HighsMip(HighsModel):
    """A model as in `MipParts`, on HiGHS.

    A model whose solver was left behind cannot be used again.
    """

    _left_behind = False

    def __init__(
        self,
        A: sparse.csr_array[Any, Any],
        *,
        seed: int = 1,
        tolerance: float = SOLVER,
        **parts: Unpack[MipParts],
    ):
        super().__init__(
            A,
            row_lower=parts["row_lower"],
            row_upper=parts["row_upper"],
            lower=parts["lower"],
            upper=parts["upper"],
            cost=parts["cost"],
            tolerance=tolerance,
        )
        columns = np.flatnonzero(parts["integer"]).astype(np.int32)
        self._is_linear = len(columns) == 0
        kinds = np.full(len(columns), int(highspy.HighsVarType.kInteger), np.uint8)
        self._check(
            self._highs.changeColsIntegrality(len(columns), columns, kinds), "integer columns"
        )
        self._check(self._highs.changeObjectiveOffset(parts.get("offset", 0.0)), "the offset")
        settings: dict[str, Any] = {
            "presolve": "choose",
            "solver": "choose",
            "random_seed": seed,
            "mip_feasibility_tolerance": tolerance,
            "mip_abs_gap": 0.0,
        }
        for name, setting in settings.items():
            self.set_option(name, setting)

    def minimise(
        self,
        *,
        seconds: float,
        gap: float = 0.0,
        target: float = -np.inf,
        start: Floats | None = None,
        watch: Watcher | None = None,
    ) -> MipSolution:
        """Minimise, or come as far as time allows.

        Args:
            seconds: Time limit.
            gap: Stop when (objective - bound) / objective is at most this.
            target: Stop at the first vector whose objective is at most this.
            start: A vector to begin with; where it is NaN, the solver completes it. One that
                does not fit the model is passed over.
            watch: Listens in the calling thread while the solver runs.

        Raises:
            SolverError: The solver broke down.
            TimeUpError: The clocks around the caller ran out before it began.
        """
        if self._left_behind:
            raise SolverError("the solver has not come back from its last run")
        if self._highs.getNumCol() == 0:
            return self._nothing()
        check_time()
        self._check(self._highs.clearSolver(), "a fresh start")
        limit = float(np.clip(min(seconds, time_left()), 0.01, 1e8))
        self.set_option("time_limit", limit)
        self.set_option("mip_rel_gap", gap)
        self.set_option("objective_target", target)
        if start is not None:
            given = np.flatnonzero(~np.isnan(start)).astype(np.int32)
            self._check(
                self._highs.setSolution(len(given), given, start[given].astype(float)),
                "a vector to begin with",
            )
        run = _Run(self._highs)
        try:
            run.wait(watch, limit)
        finally:
            self._left_behind = not run.has_ended
        return run.so_far("stopped") if self._left_behind else self._answer()

    def _nothing(self) -> MipSolution:
        """The answer without any column, which HiGHS does not give."""
        lp = self._highs.getLp()
        if (np.array(lp.row_lower_) > 0).any() or (np.array(lp.row_upper_) < 0).any():
            return MipSolution("infeasible", None, np.inf, np.inf)
        return MipSolution("optimal", np.zeros(0), lp.offset_, lp.offset_)

    def _answer(self) -> MipSolution:
        status = self._highs.getModelStatus()
        name = _STATUS.get(status)
        if name is None:
            text = self._highs.modelStatusToString(status)
            raise SolverError(f"the solver gave up on a mixed-integer program: {text}")
        info = self._highs.getInfo()
        objective, bound = float(info.objective_function_value), float(info.mip_dual_bound)
        if self._is_linear:
            # HiGHS leaves a bound of 0 behind, whatever it found.
            bound = objective if name == "optimal" else -np.inf
        if name == "infeasible":
            return MipSolution(name, None, np.inf, np.inf)
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return MipSolution(name, None, np.inf, bound)
        x = np.array(self._highs.getSolution().col_value)
        return MipSolution(name, x, objective, bound)


class _Run:
    """One run of the solver in a thread of its own."""

    def __init__(self, highs: Any):
        self._highs = highs
        self._stop = threading.Event()
        # Waiting for the thread itself does not work: an interrupted `join` takes it for ended.
        self._end = threading.Event()
        self._news = threading.Lock()
        self._x: Floats | None = None
        self._reported: Floats | None = None
        self._objective = np.inf
        self._bound = -np.inf
        self._status: Any = None

    @property
    def has_ended(self) -> bool:
        """Has the solver come back?"""
        return self._end.is_set()

    def _run(self) -> None:
        cb = highspy.cb
        try:
            self._highs.setCallback(self._hear, None)
            self._highs.startCallback(cb.kCallbackMipImprovingSolution)
            self._highs.startCallback(cb.kCallbackMipInterrupt)
            self._status = self._highs.run()
            self._highs.setCallback(None, None)
        finally:
            self._end.set()

    def _hear(self, kind: Any, _text: str, told: Any, reply: Any, _data: Any) -> None:
        bound = float(told.mip_dual_bound)
        with self._news:
            # An infinite bound is for the end: that there is no solution.
            if np.isfinite(bound):
                self._bound = max(self._bound, bound)
            if kind == highspy.cb.kCallbackMipImprovingSolution:
                self._x = np.array(told.mip_solution)
                self._objective = float(told.objective_function_value)
        if reply is not None and self._stop.is_set():
            reply.user_interrupt = True

    def wait(self, watch: Watcher | None, seconds: float) -> None:
        """Run to the end or so long; what interrupts the waiting ends the run."""
        threading.Thread(target=self._run, name="HiGHS", daemon=True).start()
        remember_run(self)
        end = clock.now() + seconds
        try:
            while not self._end.wait(_PAUSE):
                if clock.now() >= end or (watch is not None and watch(self._report())):
                    break
        finally:
            self._stop.set()
            self._end.wait(max(_LEAST_GRACE, min(_GRACE, time_left())))
        if self.has_ended and self._status in (None, highspy.HighsStatus.kError):
            raise SolverError("HiGHS refused to solve a mixed-integer program")

    def so_far(self, status: str) -> MipSolution:
        """The best vector and the bound at present."""
        with self._news:
            return MipSolution(status, self._x, self._objective, self._bound)

    def _report(self) -> MipSolution:
        now = self.so_far("running")
        is_new, self._reported = now.x is not self._reported, now.x
        return now if is_new else MipSolution("running", None, now.objective, now.bound)


_STATUS = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kInfeasible: "infeasible",
    highspy.HighsModelStatus.kTimeLimit: "stopped",
    highspy.HighsModelStatus.kInterrupt: "stopped",
    highspy.HighsModelStatus.kSolutionLimit: "stopped",
    highspy.HighsModelStatus.kObjectiveTarget: "stopped",
}
