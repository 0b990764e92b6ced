"""Branch and cut: SCIP branches, the attacker separates.

The solver sees only the cells that may still matter, the cuts found at the root, and a
constraint handler that asks the attacker whenever it needs to know if a pattern is safe.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from pyscipopt import Conshdlr, Heur, Model, quicksum
from pyscipopt.scip import PY_SCIP_HEURTIMING as SCIP_HEURTIMING
from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT
from scipy import sparse

from tacit.attack.cuts import SparseRow
from tacit.clock import check_time, time_left
from tacit.errors import SolverError
from tacit.methods.suppress.construct import Constructor
from tacit.methods.suppress.master import Master
from tacit.methods.suppress.repair import Repair
from tacit.methods.suppress.search import Search
from tacit.problem import Booleans, Floats, Integers

_SHALLOW = 8
"""Fractional points are separated in the first levels of the tree only."""
_ROUNDS = 15
"""Rounds of separation at one node below the root."""


class Tree:
    """One branch-and-cut run over the columns that are not fixed."""

    def __init__(
        self,
        search: Search,
        master: Master,
        constructor: Constructor,
        *,
        columns: Integers | None = None,
        seconds: float | None = None,
        nodes: int | None = None,
    ):
        """Prepare the run.

        Args:
            search: The run it belongs to.
            master: The relaxation with its cuts and fixed columns.
            constructor: Repairs patterns that are almost safe.
            columns: Restrict the tree to these columns; its bound is then not valid for all.
            seconds: Time limit for this tree.
            nodes: Node limit for this tree.
        """
        self.search = search
        self.master = master
        free = ~master.fixed_out
        if columns is not None:
            chosen = np.zeros(len(free), bool)
            chosen[columns] = True
            free &= chosen | master.fixed_in
        self.columns = np.flatnonzero(free)
        self.is_complete = columns is None
        self.failure: BaseException | None = None
        self._judged: dict[bytes, bool] = {}
        self._known_rows = len(master.pool.right)
        self._repair = Repair(search, constructor)
        self._model = Model("suppress")
        self._model.hideOutput()
        self._end = search.seconds + (np.inf if seconds is None else seconds)
        self._set_parameters(nodes)
        self.variables = [
            self._model.addVar(
                vtype="B", obj=float(master.weight[column]), lb=float(master.fixed_in[column])
            )
            for column in self.columns.tolist()
        ]
        self._add_rows()
        self._handler = _Protection(self)
        self._model.includeConshdlr(
            self._handler,
            "protection",
            "every sensitive cell keeps its distance",
            sepapriority=100,
            enfopriority=-1000,
            chckpriority=-1000,
            sepafreq=1,
            needscons=False,
        )
        self._model.includeHeur(
            _Known(self),
            "known",
            "patterns found outside the tree",
            "K",
            priority=10000,
            freq=1,
            timingmask=SCIP_HEURTIMING.BEFORENODE | SCIP_HEURTIMING.AFTERLPNODE,
        )
        if np.isfinite(search.cutoff):
            self._model.setObjlimit(search.cutoff - search.base)

    def _set_parameters(self, nodes: int | None) -> None:
        settings: dict[str, Any] = {
            "limits/gap": self.search.options.gap * 0.5,
            # Plugins add to the seed: leave them room.
            "randomization/randomseedshift": self.search.options.seed % 1_000_000,
            # Ctrl-C is the search's to handle, not the solver's.
            "misc/catchctrlc": False,
            # Cuts to come are not known to presolve: it must not argue from what it sees.
            "misc/allowstrongdualreds": False,
            "misc/allowweakdualreds": False,
            "presolving/maxrestarts": 0,
            "parallel/maxnthreads": 1,
        }
        if nodes is not None:
            settings["limits/nodes"] = nodes
        self._model.setParams(settings)

    def _add_rows(self) -> None:
        master = self.master
        rows, right = master.active_rows
        both = sparse.csr_array(sparse.vstack([master.side, rows])[:, self.columns])
        lower = np.concatenate([master.side_lower, right])
        upper = np.concatenate([master.side_upper, np.full(len(right), np.inf)])
        for row in range(both.shape[0]):
            check_time()
            entries = slice(both.indptr[row], both.indptr[row + 1])
            total = quicksum(
                coefficient * self.variables[column]
                for column, coefficient in zip(
                    both.indices[entries].tolist(), both.data[entries].tolist(), strict=True
                )
            )
            if entries.start == entries.stop:
                continue
            if np.isfinite(lower[row]):
                self._model.addCons(total >= float(lower[row]))
            if np.isfinite(upper[row]):
                self._model.addCons(total <= float(upper[row]))

    def run(self) -> None:
        """Search the tree; patterns and bounds go to the search."""
        search, model = self.search, self._model
        check_time()
        seconds = min(self._end - search.seconds, time_left(), 1e9)
        model.setParam("limits/time", max(seconds, 0.01))
        try:
            with self._catching_strays():
                model.optimize()
        except Exception as error:
            if self.failure is None:
                raise SolverError(f"SCIP gave up: {error}") from error
        # An error in a callback ends the solver with a message that says nothing.
        if self.failure is not None:
            raise self.failure
        if not self.is_complete:
            return
        if model.getStatus() != "infeasible":
            search.raise_bound(self._bound(), "solver")
        else:
            search.nothing_better()

    @contextmanager
    def _catching_strays(self) -> Iterator[None]:
        """Keep an interrupt that hits between the solver and a callback: it is told nobody."""
        before = sys.unraisablehook

        def keep(stray: Any) -> None:
            if isinstance(stray.exc_value, KeyboardInterrupt):
                self.failure = self.failure or stray.exc_value
            else:
                before(stray)

        sys.unraisablehook = keep
        try:
            yield
        finally:
            sys.unraisablehook = before

    def _bound(self) -> float:
        """The tree's bound; nothing better than the cutoff lies below the cutoff's own value."""
        return min(float(self._model.getDualbound()) + self.search.base, self.search.cutoff)

    def watch(self) -> None:
        """Report the bound, and stop the solver when the search is over."""
        if self.is_complete and self._model.getNNodes() > 0:
            self.search.raise_bound(self._bound(), "solver")
        if self.search.should_stop():
            self._model.interruptSolve()

    def values(self, solution: Any) -> Floats:
        """A solution as a vector over all columns of the relaxation."""
        y = self.master.fixed_in.astype(np.float64)
        model = self._model
        y[self.columns] = [model.getSolVal(solution, variable) for variable in self.variables]
        return np.clip(y, 0.0, 1.0)

    def pattern(self, y: Floats) -> Booleans:
        """A rounded vector as a pattern."""
        return self.master.full(np.round(y)) > 0.5

    def judge(self, y: Floats) -> bool:
        """Is the rounded vector a safe pattern?"""
        hidden = self.pattern(y)
        key = np.packbits(hidden).tobytes()
        if key not in self._judged:
            self._judged[key] = self._is_safe(hidden)
        return self._judged[key]

    def _is_safe(self, hidden: Booleans) -> bool:
        master, search = self.master, self.search
        y = hidden[master.cells].astype(np.float64)
        if (master.pool.rows @ y < master.pool.right - 1e-6).any() or not search.allows(hidden):
            return False
        exposed = search.first_exposed(hidden)
        if exposed is None:
            search.offer(hidden)
            return True
        separator, missed = exposed[0].separator, exposed[1]
        # A sliding level may be shared out in any way: what was missed is only one of them.
        asked = None if len(separator.sliding()[0]) else missed
        # The solver may not learn this now, but it will when it separates next.
        master.add(separator.cuts(hidden.astype(np.float64), asked))
        return False

    def repair(self, y: Floats, guide: Floats) -> None:
        """Make a pattern safe that is not quite, and offer it."""
        self._repair.offer(self.pattern(y), self.master.full(guide))

    def cuts(self, y: Floats, ceilings: tuple[float, ...] = (1.0,)) -> list[SparseRow]:
        """Cuts that a point violates, over the tree's own columns; new ones join the pool."""
        master = self.master
        if self._known_rows < len(master.pool.right):
            # Found while patterns were judged, and not known to the solver yet.
            fresh = np.arange(self._known_rows, len(master.pool.right))
            self._known_rows = len(master.pool.right)
            missed = master.pool.right[fresh] - master.pool.rows[fresh] @ y
            waiting = fresh[(missed > 1e-6) & (master.pool.right[fresh] == 1.0)]
            if len(waiting):
                return self._columns_of(sparse.csr_array(master.pool.rows[waiting]))
        for ceiling in ceilings:
            found: list[SparseRow] = []
            for rival in self.search.rivals:
                check_time()
                cuts = rival.separator.cuts(master.full(y), ceiling=ceiling)
                master.add(cuts)
                found += self._columns_of(sparse.csr_array(cuts.coefficients[:, master.cells]))
            self._known_rows = len(master.pool.right)
            if found:
                return found
        return []

    def _columns_of(self, rows: sparse.csr_array[Any, Any]) -> list[SparseRow]:
        """Rows over all columns, restricted to the tree's own."""
        mine = sparse.csr_array(rows[:, self.columns])
        pieces = [slice(mine.indptr[i], mine.indptr[i + 1]) for i in range(mine.shape[0])]
        return [(mine.indices[piece].astype(np.int64), mine.data[piece]) for piece in pieces]


def _guarded(callback: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Keep an error of a callback for later: the solver must not see it."""

    @functools.wraps(callback)
    def guarded(handler: Any, *arguments: Any, **named: Any) -> dict[str, Any]:
        try:
            return callback(handler, *arguments, **named)
        except BaseException as error:
            handler.tree.failure = error
            handler.model.interruptSolve()
            return {"result": SCIP_RESULT.DIDNOTRUN}

    return guarded


class _Protection(Conshdlr):
    """The constraint that the pattern is safe."""

    def __init__(self, tree: Tree):
        self.tree = tree
        self._node = -1
        self._rounds = 0

    def conslock(self, _constraint: Any, _kind: Any, positive: int, negative: int) -> None:
        """More suppression never harms: only rounding down may."""
        for variable in self.tree.variables:
            self.model.addVarLocks(variable, positive, negative)

    @_guarded
    def conscheck(self, _constraints: Any, solution: Any, *_: Any) -> dict[str, Any]:
        """Is a solution safe?"""
        safe = self.tree.judge(self.tree.values(solution))
        return {"result": SCIP_RESULT.FEASIBLE if safe else SCIP_RESULT.INFEASIBLE}

    @_guarded
    def consenfolp(self, *_: Any) -> dict[str, Any]:
        """Is the whole solution of a node's relaxation safe? If not, cut it off."""
        tree = self.tree
        y = tree.values(None)
        tree.watch()
        if tree.judge(y):
            return {"result": SCIP_RESULT.FEASIBLE}
        tree.repair(y, y)
        if self._cut(np.round(y), (1.0, 0.3)):
            return {"result": SCIP_RESULT.SEPARATED}
        return {"result": SCIP_RESULT.INFEASIBLE}

    @_guarded
    def consenfops(self, *_: Any) -> dict[str, Any]:
        """Is a node's pseudo solution safe?"""
        safe = self.tree.judge(self.tree.values(None))
        return {"result": SCIP_RESULT.FEASIBLE if safe else SCIP_RESULT.INFEASIBLE}

    @_guarded
    def conssepalp(self, *_: Any) -> dict[str, Any]:
        """Cut off a fractional solution."""
        tree = self.tree
        tree.watch()
        node = self.model.getCurrentNode()
        if node.getNumber() != self._node:
            self._node, self._rounds = node.getNumber(), 0
        self._rounds += 1
        if node.getDepth() > _SHALLOW or (node.getDepth() > 0 and self._rounds > _ROUNDS):
            return {"result": SCIP_RESULT.DIDNOTRUN}
        y = tree.values(None)
        if self._rounds == 1 and node.getNumber() % 20 == 1:
            tree.repair((y > 0.7).astype(np.float64), y)
        ceilings = (1.0, 0.3, 0.1) if node.getDepth() <= 2 else (1.0,)
        added = self._cut(y, ceilings)
        return {"result": SCIP_RESULT.SEPARATED if added else SCIP_RESULT.DIDNOTFIND}

    def _cut(self, y: Floats, ceilings: tuple[float, ...]) -> bool:
        model, tree = self.model, self.tree
        added = False
        for columns, data in tree.cuts(y, ceilings):
            row = model.createEmptyRowUnspec(lhs=1.0, rhs=None, local=False)
            model.cacheRowExtensions(row)
            for column, coefficient in zip(columns.tolist(), data.tolist(), strict=True):
                model.addVarToRow(row, tree.variables[column], coefficient)
            model.flushRowExtensions(row)
            model.addCut(row, forcecut=True)
            model.addPoolCut(row)
            model.releaseRow(row)
            added = True
        return added


class _Known(Heur):
    """Hands patterns found outside the tree to the solver."""

    def __init__(self, tree: Tree):
        self.tree = tree
        self._last: Booleans | None = None

    @_guarded
    def heurexec(self, *_: Any) -> dict[str, Any]:
        """Hand over the best pattern if the solver does not have it yet."""
        best = self.tree.search.best
        if best is None or best is self._last:
            return {"result": SCIP_RESULT.DIDNOTRUN}
        self._last = best
        y = best[self.tree.master.cells][self.tree.columns]
        if any(
            not variable.getLbGlobal() - 0.5 < value < variable.getUbGlobal() + 0.5
            for variable, value in zip(self.tree.variables, y.tolist(), strict=True)
        ):
            # The solver has already ruled this corner out.
            return {"result": SCIP_RESULT.DIDNOTFIND}
        solution = self.model.createSol(self)
        for variable, value in zip(self.tree.variables, y.tolist(), strict=True):
            self.model.setSolVal(solution, variable, float(value))
        stored = self.model.trySol(solution)
        return {"result": SCIP_RESULT.FOUNDSOL if stored else SCIP_RESULT.DIDNOTFIND}
