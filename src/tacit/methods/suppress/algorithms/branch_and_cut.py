"""`branch-and-cut`: SCIP branches, the attacker separates [FischettiSalazar2001].

The solver sees only the cells that may still matter, the cuts found at the root, and a condition
that asks the attacker whenever it needs to know if a pattern is safe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from tacit.clock import check_time
from tacit.methods.engine import turns
from tacit.methods.suppress.cuts import Master, Root
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.heuristics.first_pattern import first_pattern
from tacit.methods.suppress.heuristics.repair import Repair
from tacit.methods.suppress.model import Search
from tacit.problem import Booleans, Floats, Integers
from tacit.solver.mip import MipSolution
from tacit.solver.scip import Cut, Node, ScipTree
from tacit.tolerances import VIOLATED

_SHALLOW = 8
"""Fractional points are separated in the first levels of the tree only."""
_ROUNDS = 15
"""Rounds of separation at one node below the root."""
_LIKELY = 0.7
"""From this value on, columns of a fractional point are suppressed when it is made a pattern."""
_MENDING = 0.25
"""How many patterns that the solver comes across are made safe, for each fractional point."""
_CEILINGS = (1.0, 0.3, 0.1)
"""How capacities are cut off while cuts are sought; each finds others."""


def run(search: Search) -> None:
    """Tighten the root, then branch."""
    constructor = Constructor(search)
    search.observer.on_phase("first pattern")
    first_pattern(search, constructor)
    search.observer.on_phase("relaxation")
    master = Master(search)
    root = Root(search, master, constructor)
    root.run(seconds=turns.SUPPRESS_ROOT * search.options.time_limit)
    if not search.should_stop():
        search.observer.on_phase("branching")
        Tree(search, master, constructor).run()


class Tree:
    """One branch-and-cut run over the columns that are not fixed.

    It is the condition that SCIP asks: is a pattern safe, and if not, which cuts forbid it?
    """

    def __init__(
        self,
        search: Search,
        master: Master,
        constructor: Constructor,
        *,
        columns: Integers | None = None,
        held: Booleans | None = None,
        seconds: float = np.inf,
        hear: Callable[[], None] | None = None,
    ):
        """Prepare the run.

        Args:
            search: The run it belongs to.
            master: The relaxation with its cuts and fixed columns.
            constructor: Repairs patterns that are almost safe.
            columns: Restrict the tree to these columns; its bound is then not valid for all.
            held: Other columns that are 1 throughout; without it those that are fixed at 1.
            seconds: Time limit for this tree.
            hear: Called between two steps, to bring news; by default those of the search.
        """
        self._search = search
        self._hear = hear or search.hear
        self._scip: ScipTree | None = None
        self._master = master
        self._seconds = seconds
        free = ~master.fixed_out
        self._held = master.fixed_in if held is None else master.fixed_in | held
        if columns is not None:
            chosen = np.zeros(len(free), bool)
            chosen[columns] = True
            free &= chosen | self._held
        self._columns = np.flatnonzero(free)
        self._is_complete = columns is None
        self._guess = held is None
        self._judged: dict[bytes, bool] = {}
        self._known_rows = len(master.pool)
        self._repair = Repair(search, constructor)
        self._guide = master.y
        self._separations, self._mended = 0, 0

    def run(self) -> None:
        """Search the tree; patterns and bounds go to the search."""
        search, master = self._search, self._master
        steady, lower, upper = master.steady
        rows, right = master.active_cuts
        tree = ScipTree(
            sparse.csr_array(sparse.vstack([steady, rows])[:, self._columns]),
            self,
            guess=self._guess,
            row_lower=np.concatenate([lower, right]),
            row_upper=np.concatenate([upper, np.full(len(right), np.inf)]),
            lower=self._held[self._columns].astype(np.float64),
            upper=np.ones(len(self._columns)),
            cost=master.cost[self._columns],
            integer=np.ones(len(self._columns), bool),
            offset=search.base,
            seed=search.options.seed,
        )
        self._scip = tree
        tree.limit_objective(search.cutoff)
        found = tree.minimise(
            seconds=min(self._seconds, search.seconds_left, 1e9),
            gap=0.5 * search.options.gap,
            watch=self._watch,
        )
        if not self._is_complete:
            return
        if found.status == "infeasible":
            search.nothing_better()
        else:
            search.raise_bound(min(found.bound, search.cutoff), "solver")

    def interrupt(self) -> None:
        """End the search of the tree soon; may be called from another thread."""
        if self._scip is not None:
            self._scip.interrupt()

    def _watch(self, so_far: MipSolution) -> bool:
        """Report the bound; True when the search is over."""
        self._hear()
        if self._is_complete and np.isfinite(so_far.bound):
            # Nothing better than the cutoff lies below the cutoff's own value.
            self._search.raise_bound(min(so_far.bound, self._search.cutoff), "solver")
        return self._search.should_stop()

    def accepts(self, x: Floats) -> bool:
        """Is the rounded vector a safe pattern?"""
        hidden = self._pattern(self._vector(x))
        key = np.packbits(hidden).tobytes()
        if key not in self._judged:
            self._judged[key] = self._is_safe(hidden)
            if not self._judged[key]:
                # What the solver's own heuristics find lacks little.
                self._mend(hidden, self._guide)
        return self._judged[key]

    def _mend(self, hidden: Booleans, guide: Floats) -> None:
        """Make a pattern safe and offer it, unless that was done often already."""
        if self._mended <= _MENDING * self._separations:
            self._mended += self._repair.offer(hidden, self._master.full(guide))

    def forbid(self, x: Floats) -> Sequence[Cut]:
        """Cuts against a pattern that is not safe, which is repaired and offered as well."""
        y = self._vector(x)
        self._repair.offer(self._pattern(y), self._master.full(y))
        return self._cuts(np.round(y), _CEILINGS[:2])

    def separate(self, x: Floats, node: Node) -> Sequence[Cut] | None:
        """Cuts against a fractional vector, near the root."""
        self._separations += 1
        if node.depth > _SHALLOW or (node.depth > 0 and node.round > _ROUNDS):
            return None
        y = self._vector(x)
        self._guide = y
        if node.round == 1:
            self._mend(self._pattern(y > _LIKELY), y)
        return self._cuts(y, _CEILINGS if node.depth <= 2 else _CEILINGS[:1])

    def suggestion(self) -> Floats | None:
        """The best pattern known."""
        best = self._search.best
        return None if best is None else best[self._master.cells][self._columns].astype(float)

    def _vector(self, x: Floats) -> Floats:
        """A vector over the tree's columns as one over all columns of the relaxation."""
        y = self._held.astype(np.float64)
        y[self._columns] = x
        return np.clip(y, 0.0, 1.0)

    def _pattern(self, y: Floats | Booleans) -> Booleans:
        """A rounded vector as a pattern."""
        return self._master.full(np.round(y)) > 0.5

    def _is_safe(self, hidden: Booleans) -> bool:
        master, search = self._master, self._search
        y = hidden[master.cells].astype(np.float64)
        if (master.missed(y) > VIOLATED).any() or not search.allows(hidden):
            return False
        exposed = search.first_exposed(hidden)
        if exposed is None:
            search.offer(hidden)
            return True
        state, missed = exposed
        # The solver may not learn this now, but it will when it separates next.
        master.add_cuts(state.cuts(hidden.astype(np.float64), missed))
        return False

    def _cuts(self, y: Floats, ceilings: tuple[float, ...]) -> Sequence[Cut]:
        """Cuts that a point violates, over the tree's own columns; new ones join the pool."""
        master = self._master
        if self._known_rows < len(master.pool):
            # Found while patterns were judged, and not known to the solver yet.
            fresh = np.arange(self._known_rows, len(master.pool))
            self._known_rows = len(master.pool)
            missed = master.missed(y)[fresh]
            waiting = fresh[(missed > VIOLATED) & (master.pool.right[fresh] == 1.0)]
            if len(waiting):
                return self._columns_of(master.pool.rows(waiting))
        for ceiling in ceilings:
            found: list[Cut] = []
            for state in self._search.states:
                check_time()
                cuts = state.cuts(master.full(y), ceiling=ceiling)
                master.add_cuts(cuts)
                found += self._columns_of(sparse.csr_array(cuts.coefficients[:, master.cells]))
            self._known_rows = len(master.pool)
            if found:
                return found
        return []

    def _columns_of(self, rows: sparse.csr_array[Any, Any]) -> list[Cut]:
        """Rows over all columns, restricted to the tree's own."""
        mine = sparse.csr_array(rows[:, self._columns])
        pieces = [slice(mine.indptr[i], mine.indptr[i + 1]) for i in range(mine.shape[0])]
        return [(mine.indices[piece].astype(np.int64), mine.data[piece]) for piece in pieces]
