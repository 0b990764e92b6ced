"""The mixed-integer programme solved by SCIP."""

from __future__ import annotations

from typing import Any

import numpy as np
from pyscipopt import Eventhdlr, Model, quicksum
from pyscipopt.scip import PY_SCIP_EVENTTYPE as SCIP_EVENTTYPE

from tacit.clock import time_left
from tacit.methods.adjust.milp import take_note
from tacit.methods.adjust.program import Program
from tacit.methods.adjust.search import Search
from tacit.outcome import StopReason


class _Listener(Eventhdlr):
    """Hears of better tables and of nodes, and may end the search."""

    def __init__(self, run: _Run):
        self._run = run

    def eventinit(self) -> None:
        """Begin to listen."""
        for kind in (SCIP_EVENTTYPE.BESTSOLFOUND, SCIP_EVENTTYPE.NODESOLVED):
            self.model.catchEvent(kind, self)

    def eventexit(self) -> None:
        """Stop listening."""
        for kind in (SCIP_EVENTTYPE.BESTSOLFOUND, SCIP_EVENTTYPE.NODESOLVED):
            self.model.dropEvent(kind, self)

    def eventexec(self, event: Any) -> dict[str, Any]:
        """Something happened."""
        self._run.take_note(event.getType() == SCIP_EVENTTYPE.BESTSOLFOUND)
        return {}


class _Run:
    """One run of SCIP."""

    def __init__(self, search: Search, program: Program):
        self._search, self._program = search, program
        self.model = Model("adjust")
        self.model.hideOutput()
        self.model.setParams(
            {
                "limits/time": max(0.1, min(search.seconds_left, time_left())),
                "limits/gap": 0.5 * search.options.gap,
                "randomization/randomseedshift": search.options.seed,
                "parallel/maxnthreads": 1,
                "misc/catchctrlc": False,
            }
        )
        whole = program.whole
        self._variables = [
            self.model.addVar(
                vtype="I" if whole[column] else "C",
                lb=float(program.lower[column]),
                ub=None if np.isinf(program.upper[column]) else float(program.upper[column]),
                obj=float(program.cost[column]),
            )
            for column in range(len(whole))
        ]
        rows = program.rows
        for row in range(rows.shape[0]):
            entries = range(rows.indptr[row], rows.indptr[row + 1])
            total = quicksum(
                float(rows.data[entry]) * self._variables[rows.indices[entry]] for entry in entries
            )
            low, high = float(program.row_lower[row]), float(program.row_upper[row])
            if low == high:
                self.model.addCons(total == low)
            elif np.isfinite(low):
                self.model.addCons(total >= low)
            else:
                self.model.addCons(total <= high)
        if search.best is not None:
            solution = self.model.createSol()
            for variable, value in zip(
                self._variables, program.vector(search.best).tolist(), strict=True
            ):
                self.model.setSolVal(solution, variable, value)
            self.model.addSol(solution)
        self._error: BaseException | None = None
        self.model.includeEventhdlr(_Listener(self), "tacit", "tells tacit how far SCIP got")

    def take_note(self, is_better: bool) -> None:
        """Hear what SCIP has found; an exception waits until SCIP has ended."""
        try:
            if is_better:
                # In the midst of a node SCIP's bound need not be one yet.
                take_note(self._search, self._program, self.best(), -np.inf)
            if self._search.should_stop():
                self.model.interruptSolve()
        except BaseException as error:
            self._error = error
            self.model.interruptSolve()

    def best(self) -> Any:
        """SCIP's best vector; None without one."""
        solution = self.model.getBestSol()
        if solution is None:
            return None
        return np.array([self.model.getSolVal(solution, each) for each in self._variables])

    def run(self) -> None:
        """Solve."""
        self.model.optimize()
        if self._error is not None:
            raise self._error
        if self.model.getStatus() == "infeasible":
            if self._search.best is None:
                self._search.stop(StopReason.INFEASIBLE)
            return
        self.take_note(self.model.getNSols() > 0)
        bound = float(self.model.getDualbound())
        if abs(bound) < 1e19:
            take_note(self._search, self._program, None, bound)


def minimise_with_scip(search: Search, program: Program) -> None:
    """Solve the programme with SCIP; tables and bounds are taken note of along the way."""
    _Run(search, program).run()
