"""Mixed-integer programs on SCIP, also with a condition that is only asked for when needed.

SCIP branches; what a condition forbids it learns from a `Condition`, which is asked about vectors
and answers with cuts. Errors in what SCIP calls wait until it has ended: it must not see them.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, Unpack

import numpy as np
from pyscipopt import Conshdlr, Eventhdlr, Heur, Model, quicksum
from pyscipopt.scip import PY_SCIP_EVENTTYPE as EVENT
from pyscipopt.scip import PY_SCIP_HEURTIMING as TIMING
from pyscipopt.scip import PY_SCIP_PARAMSETTING
from pyscipopt.scip import PY_SCIP_RESULT as RESULT
from scipy import sparse

from tacit.clock import check_time, time_left
from tacit.errors import SolverError
from tacit.problem import Floats, Integers
from tacit.solver.mip import MipParts, MipSolution, Watcher

Cut: TypeAlias = tuple[Integers, Floats]
"""Columns and coefficients of a row that is at least 1."""

_INFINITY = 1e19
"""From this size on, SCIP's numbers stand for infinity."""
_LARGEST_SEED = 1_000_000
"""Plugins add to the seed: leave them room below SCIP's own limit."""


@dataclass(frozen=True)
class Node:
    """Where in the tree a vector was met.

    Attributes:
        number: The number of the node.
        depth: Its depth; 0 for the root.
        round: How often this node has been separated, this time included.
    """

    number: int
    depth: int
    round: int


class Condition(Protocol):
    """What a vector must meet besides rows and bounds. More is never worse: x may always grow."""

    def accepts(self, x: Floats) -> bool:
        """Whether a vector meets the condition, its integer columns rounded."""

    def forbid(self, x: Floats) -> Sequence[Cut]:
        """Cuts that a vector violates that was not accepted, its integer columns rounded."""

    def separate(self, x: Floats, node: Node) -> Sequence[Cut] | None:
        """Cuts that a fractional vector violates; None to leave it to the branching."""

    def suggestion(self) -> Floats | None:
        """The best vector known from elsewhere."""


class ScipMip:
    """A model as in `MipParts`, on SCIP."""

    def __init__(
        self,
        A: sparse.csr_array[Any, Any],
        *,
        seed: int = 1,
        **parts: Unpack[MipParts],
    ):
        self._offset = parts.get("offset", 0.0)
        lower, upper, integer = parts["lower"], parts["upper"], parts["integer"]
        self._failure: BaseException | None = None
        self._watch: Watcher | None = None
        self.model: Any = Model("tacit")
        self.model.hideOutput()
        self.model.setParams(
            {
                "randomization/randomseedshift": seed % _LARGEST_SEED,
                "parallel/maxnthreads": 1,
                # Ctrl-C is the caller's to handle.
                "misc/catchctrlc": False,
            }
        )
        self.variables = [
            self.model.addVar(
                vtype="I" if integer[column] else "C",
                lb=None if np.isinf(lower[column]) else float(lower[column]),
                ub=None if np.isinf(upper[column]) else float(upper[column]),
                obj=float(parts["cost"][column]),
            )
            for column in range(len(lower))
        ]
        self._add_rows(A, parts["row_lower"], parts["row_upper"])
        self.model.includeEventhdlr(_Listener(self), "tacit", "tells how far SCIP got")

    def _add_rows(self, A: sparse.csr_array[Any, Any], lower: Floats, upper: Floats) -> None:
        for row in range(A.shape[0]):
            entries = slice(A.indptr[row], A.indptr[row + 1])
            low, high = float(lower[row]), float(upper[row])
            if entries.start == entries.stop:
                if low > 0 or high < 0:
                    self.model.addCons(quicksum([]) >= 1.0)
                continue
            total = quicksum(
                coefficient * self.variables[column]
                for column, coefficient in zip(
                    A.indices[entries].tolist(), A.data[entries].tolist(), strict=True
                )
            )
            if low == high:
                self.model.addCons(total == low)
                continue
            if np.isfinite(low):
                self.model.addCons(total >= low)
            if np.isfinite(high):
                self.model.addCons(total <= high)

    def minimise(
        self,
        *,
        seconds: float,
        gap: float = 0.0,
        start: Floats | None = None,
        watch: Watcher | None = None,
        nodes: int | None = None,
    ) -> MipSolution:
        """Minimise, or come as far as time allows; see `Mip.minimise`.

        Args:
            seconds: Time limit.
            gap: Stop when (objective - bound) / objective is at most this.
            start: A vector to begin with.
            watch: Told of better vectors and of nodes; returns True to stop.
            nodes: The largest number of nodes.

        Raises:
            SolverError: SCIP broke down.
            TimeUpError: The clocks around the caller ran out before it began.
        """
        check_time()
        model = self.model
        limits: dict[str, Any] = {
            "limits/time": max(min(seconds, time_left()), 0.01),
            "limits/gap": gap,
        }
        if nodes is not None:
            limits["limits/nodes"] = nodes
        model.setParams(limits)
        self._watch = watch
        if start is not None:
            solution = model.createSol()
            self._fill(solution, start)
            model.addSol(solution)
        try:
            with self._keeping_strays():
                # Other threads go on meanwhile; callbacks wait for their turn.
                model.optimizeNogil()
        except Exception as error:
            if self._failure is None:
                raise SolverError(f"SCIP gave up: {error}") from error
        # An error in a callback ends SCIP with a message that says nothing.
        if self._failure is not None:
            raise self._failure
        return self._answer()

    def _fill(self, solution: Any, x: Floats) -> None:
        for variable, value in zip(self.variables, x.tolist(), strict=True):
            self.model.setSolVal(solution, variable, value)

    def _answer(self) -> MipSolution:
        name = self.model.getStatus()
        if name == "infeasible":
            return MipSolution("infeasible", None, np.inf, np.inf)
        if name in ("unbounded", "inforunbd"):
            raise SolverError("SCIP calls a program unbounded that has an optimum")
        # What ends at the gap asked for is an optimum within that gap.
        status = "optimal" if name in ("optimal", "gaplimit") else "stopped"
        return self.so_far(status)

    def so_far(self, status: str) -> MipSolution:
        """The best vector and the bound at present."""
        model = self.model
        bound = float(model.getDualbound()) + self._offset
        if abs(bound) >= _INFINITY:
            bound = -np.inf
        best = model.getBestSol() if model.getNSols() > 0 else None
        if best is None:
            return MipSolution(status, None, np.inf, bound)
        objective = float(model.getSolObjVal(best)) + self._offset
        return MipSolution(status, self.values(best), objective, bound)

    def values(self, solution: Any) -> Floats:
        """A solution as a vector; None for that of the present node."""
        model = self.model
        return np.array([model.getSolVal(solution, each) for each in self.variables])

    def listen(self) -> None:
        """Tell whoever watches how far SCIP got, and stop it if they say so."""
        if self._watch is None:
            return
        now = self.so_far("running")
        if self.model.getNNodes() == 0:
            # Before the first node is solved SCIP's bound need not be one.
            now = MipSolution("running", now.x, now.objective, -np.inf)
        if self._watch(now):
            self.model.interruptSolve()

    def interrupt(self) -> None:
        """End SCIP soon, whatever thread it runs in; nothing happens where it does not run."""
        with suppress(Exception):
            self.model.interruptSolve()

    def fail(self, error: BaseException) -> None:
        """Keep an error for when SCIP has ended, and end it."""
        self._failure = self._failure or error
        self.model.interruptSolve()

    @contextmanager
    def _keeping_strays(self) -> Iterator[None]:
        """Keep an interrupt that hits between SCIP and a callback: Python would drop it."""
        if threading.current_thread() is not threading.main_thread():
            # Interrupts hit the main thread only.
            yield
            return
        before = sys.unraisablehook

        def keep(stray: Any) -> None:
            if isinstance(stray.exc_value, KeyboardInterrupt):
                self._failure = self._failure or stray.exc_value
            else:
                before(stray)

        sys.unraisablehook = keep
        try:
            yield
        finally:
            sys.unraisablehook = before


class ScipTree(ScipMip):
    """A program with a further condition, about which SCIP asks when it has to know.

    The condition is lazy: SCIP sees only the cuts that it has been given so far, and presolve must
    not argue from what it does not see.
    """

    def __init__(
        self,
        A: sparse.csr_array[Any, Any],
        condition: Condition,
        *,
        guess: bool = True,
        **program: Any,
    ):
        """Prepare.

        Args:
            A: The rows.
            condition: What vectors must meet besides.
            guess: Whether SCIP looks for vectors by heuristics, each of which has to be judged.
            **program: The rest of the program, see `ScipMip`.
        """
        super().__init__(A, **program)
        self.condition = condition
        if not guess:
            self.model.setHeuristics(PY_SCIP_PARAMSETTING.OFF)
        self.model.setParams(
            {
                "misc/allowstrongdualreds": False,
                "misc/allowweakdualreds": False,
                "presolving/maxrestarts": 0,
            }
        )
        self.model.includeConshdlr(
            _Handler(self),
            "condition",
            "what vectors must meet besides rows",
            sepapriority=100,
            enfopriority=-1000,
            chckpriority=-1000,
            sepafreq=1,
            needscons=False,
        )
        self.model.includeHeur(
            _Suggestions(self),
            "known",
            "vectors found outside the tree",
            "K",
            priority=10000,
            freq=1,
            timingmask=TIMING.BEFORENODE | TIMING.AFTERLPNODE,
        )

    def limit_objective(self, cutoff: float) -> None:
        """Look for vectors only that cost less than this."""
        if np.isfinite(cutoff):
            self.model.setObjlimit(cutoff - self._offset)

    def cut(self, cuts: Sequence[Cut]) -> bool:
        """Hand cuts over; returns whether there were any."""
        model = self.model
        for columns, data in cuts:
            row = model.createEmptyRowUnspec(lhs=1.0, rhs=None, local=False)
            model.cacheRowExtensions(row)
            for column, coefficient in zip(columns.tolist(), data.tolist(), strict=True):
                model.addVarToRow(row, self.variables[column], coefficient)
            model.flushRowExtensions(row)
            model.addCut(row, forcecut=True)
            model.addPoolCut(row)
            model.releaseRow(row)
        return len(cuts) > 0


Callback: TypeAlias = Callable[..., dict[str, Any]]


def _guarded(otherwise: int = RESULT.DIDNOTRUN) -> Callable[[Callback], Callback]:
    """Keep an error of a callback for later: SCIP must not see it.

    Args:
        otherwise: The result that SCIP is told then; one that it takes from this callback, or it
            prints a message of its own.
    """

    def guarded(callback: Callback) -> Callback:
        @functools.wraps(callback)
        def kept(plugin: Any, *arguments: Any, **named: Any) -> dict[str, Any]:
            try:
                return callback(plugin, *arguments, **named)
            except BaseException as error:
                plugin.program.fail(error)
                return {"result": otherwise}

        return kept

    return guarded


class _Listener(Eventhdlr):
    """Hears of better vectors and of nodes."""

    def __init__(self, program: ScipMip):
        self.program = program

    def eventinit(self) -> None:
        """Begin to listen."""
        for kind in (EVENT.BESTSOLFOUND, EVENT.NODESOLVED):
            self.model.catchEvent(kind, self)

    def eventexit(self) -> None:
        """Stop listening."""
        for kind in (EVENT.BESTSOLFOUND, EVENT.NODESOLVED):
            self.model.dropEvent(kind, self)

    @_guarded()
    def eventexec(self, _event: Any) -> dict[str, Any]:
        """Something happened."""
        self.program.listen()
        return {}


class _Handler(Conshdlr):
    """The condition, as SCIP sees it."""

    def __init__(self, program: ScipTree):
        self.program = program
        self._node = -1
        self._round = 0

    def conslock(self, _constraint: Any, _kind: Any, positive: int, negative: int) -> None:
        """A larger x never harms: only rounding down may."""
        for variable in self.program.variables:
            self.model.addVarLocks(variable, positive, negative)

    @_guarded(RESULT.INFEASIBLE)
    def conscheck(self, _constraints: Any, solution: Any, *_: Any) -> dict[str, Any]:
        """Does a solution meet the condition?"""
        tree = self.program
        accepted = tree.condition.accepts(tree.values(solution))
        return {"result": RESULT.FEASIBLE if accepted else RESULT.INFEASIBLE}

    @_guarded(RESULT.INFEASIBLE)
    def consenfolp(self, *_: Any) -> dict[str, Any]:
        """Does the integer solution of a node meet it? If not, cut it off."""
        tree = self.program
        x = tree.values(None)
        tree.listen()
        if tree.condition.accepts(x):
            return {"result": RESULT.FEASIBLE}
        if tree.cut(tree.condition.forbid(x)):
            return {"result": RESULT.SEPARATED}
        return {"result": RESULT.INFEASIBLE}

    @_guarded(RESULT.INFEASIBLE)
    def consenfops(self, *_: Any) -> dict[str, Any]:
        """Does the pseudo solution of a node meet it?"""
        tree = self.program
        accepted = tree.condition.accepts(tree.values(None))
        return {"result": RESULT.FEASIBLE if accepted else RESULT.INFEASIBLE}

    @_guarded()
    def conssepalp(self, *_: Any) -> dict[str, Any]:
        """Cut off a fractional solution."""
        tree = self.program
        tree.listen()
        node = self.model.getCurrentNode()
        if node.getNumber() != self._node:
            self._node, self._round = node.getNumber(), 0
        self._round += 1
        place = Node(node.getNumber(), node.getDepth(), self._round)
        cuts = tree.condition.separate(tree.values(None), place)
        if cuts is None:
            return {"result": RESULT.DIDNOTRUN}
        return {"result": RESULT.SEPARATED if tree.cut(cuts) else RESULT.DIDNOTFIND}


class _Suggestions(Heur):
    """Hands vectors found outside the tree to SCIP."""

    def __init__(self, program: ScipTree):
        self.program = program
        self._last: Floats | None = None

    @_guarded()
    def heurexec(self, *_: Any) -> dict[str, Any]:
        """Hand over the best vector known, unless SCIP has it or has ruled it out."""
        tree = self.program
        x = tree.condition.suggestion()
        if x is None or (self._last is not None and np.array_equal(x, self._last)):
            return {"result": RESULT.DIDNOTRUN}
        self._last = x
        if any(
            not variable.getLbGlobal() - 0.5 < value < variable.getUbGlobal() + 0.5
            for variable, value in zip(tree.variables, x.tolist(), strict=True)
        ):
            return {"result": RESULT.DIDNOTFIND}
        solution = self.model.createSol(self)
        for variable, value in zip(tree.variables, x.tolist(), strict=True):
            self.model.setSolVal(solution, variable, value)
        stored = self.model.trySol(solution)
        return {"result": RESULT.FOUNDSOL if stored else RESULT.DIDNOTFIND}
