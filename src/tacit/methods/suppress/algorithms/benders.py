"""`benders`: Benders' decomposition [BaenaCastroFrangioni2020, Figure 1].

A master problem proposes patterns, subproblems object. Every pattern that is not safe is also
made safe and offered, so that there is always something to return.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tacit.methods.engine.cut_pool import Rows
from tacit.methods.engine.integer_master import IntegerMaster
from tacit.methods.suppress.cuts import Master
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.heuristics.first_pattern import first_pattern
from tacit.methods.suppress.heuristics.repair import Repair
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.subproblems import Subproblems
from tacit.methods.suppress.trust_regions import Region
from tacit.outcome import StopReason
from tacit.problem import Booleans, Floats, Integers
from tacit.solver.mip import MipSolution
from tacit.tolerances import INTEGRAL


def run(search: Search) -> None:
    """Solve the master problem and add cuts until the pattern it proposes is safe."""
    loop = Decomposition(search)
    most = search.options.max_iterations
    while not search.should_stop():
        if most is not None and search.iterations >= most:
            search.stop(StopReason.ITERATIONS)
            return
        answer = loop.master.solve()
        if answer.status == "infeasible":
            loop.exhausted()
            return
        if answer.hidden is None or answer.status == "stopped":
            continue
        if not loop.cut_off(answer.hidden):
            return


class Decomposition:
    """What `benders` and `stabilized` share: a first pattern, master problem and subproblems."""

    def __init__(self, search: Search):
        self._search = search
        self.constructor = Constructor(search)
        self._repair = Repair(search, self.constructor)
        first_pattern(search, self.constructor)
        self.master = TrustRegionMaster(search)
        self.subproblems = Subproblems(search)

    def cut_off(self, hidden: Booleans, guide: Floats | None = None) -> bool:
        """Add cuts that a pattern violates; False if it is safe. It is offered, made safe.

        Args:
            hidden: The pattern.
            guide: How far a relaxation suppresses each cell, where one is at hand.
        """
        search, relaxation = self._search, self.master.relaxation
        # What is known already needs no subproblem.
        added = relaxation.recall(hidden[relaxation.cells].astype(np.float64))
        if added == 0:
            for cuts in self.subproblems.cuts(hidden):
                added += relaxation.add_cuts(cuts)
        if added == 0:
            if search.options.sides != "both":
                # The relaxation of the other side is solved; what is handed over is safe.
                self._repair.offer(hidden)
                return False
            if not search.exposed(hidden):
                search.offer(hidden)
                return False
            self._ask_for_more(hidden)
        self._repair.offer(hidden, guide)
        return True

    def _ask_for_more(self, hidden: Booleans) -> None:
        """Less suppression is never safer: some cell outside an unsafe pattern is needed."""
        relaxation = self.master.relaxation
        outside = (~hidden[relaxation.cells]).astype(np.float64)
        relaxation.add(sparse.csr_array(outside[None, :]), np.ones(1))

    def exhausted(self) -> None:
        """No pattern is left that meets the cuts, except in regions that were left out."""
        search = self._search
        if search.best is None:
            search.stop(StopReason.INFEASIBLE)
        elif np.isfinite(self.master.explored):
            # Otherwise the solver contradicts itself, and nothing is proven.
            search.raise_bound(self.master.explored, "solver")


@dataclass(frozen=True, eq=False)
class Answer:
    """What the master problem has to say.

    Attributes:
        status: `optimal`, `infeasible` or `stopped`.
        hidden: The lightest pattern found; None if there is none.
        bound: No pattern that meets the cuts (and lies in the region) weighs less.
    """

    status: str
    hidden: Booleans | None
    bound: float


class TrustRegionMaster:
    """The master problem in integers: the lightest pattern that meets all cuts so far.

    On demand it is restricted to the neighbourhood of a pattern, a trust region
    [BaenaCastroFrangioni2020, (6)], and neighbourhoods that need not be looked at again are left
    out for good ((7)). Rows are kept between calls.

    Attributes:
        relaxation: Collects the cuts.
        explored: No pattern in a region that was left out weighs less.
    """

    def __init__(self, search: Search):
        self._search = search
        self.relaxation = Master(search)
        self.explored = np.inf
        size = self.relaxation.size
        self._integer_master = IntegerMaster(
            self.relaxation, np.ones(size, bool), search.base, search.options.seed
        )
        # Neighbourhoods that were left out, as rows with their least values.
        self._left_out: Rows = sparse.csr_array((0, size))
        self._least = np.zeros(0)

    def solve(
        self,
        region: Region | None = None,
        *,
        cuts: Integers | None = None,
        gap: float | None = None,
        target: float = -np.inf,
        seconds: float = np.inf,
    ) -> Answer:
        """Find the lightest pattern, in a region if one is given.

        Without a region the search's bound rises along the way.

        Args:
            region: Where to look.
            cuts: Places in the pool of the cuts to heed; by default all.
            gap: How far the pattern may be from the lightest, as a share of its weight; by
                default what the options ask for.
            target: Stop at the first pattern that weighs at most this.
            seconds: The longest time.
        """
        search, relaxation = self._search, self.relaxation
        search.iterations += 1
        rows, lower = self._left_out, self._least
        upper = np.full(len(lower), np.inf)
        if region is not None:
            row, most_of_row = region.row(relaxation.cells)
            rows = sparse.csr_array(sparse.vstack([rows, row]))
            lower, upper = np.append(lower, -np.inf), np.append(upper, most_of_row)
        start, most, least = None, relaxation.upper, relaxation.lower
        if search.best is not None:
            # Columns may be fixed against the best pattern, but a solver does better with one.
            start = search.best[relaxation.cells].astype(np.float64)
            most, least = np.maximum(most, start), np.minimum(least, start)
            if (self._left_out @ start < self._least - INTEGRAL).any():
                # It was left out, so that only what is lighter is worth looking for.
                cost = sparse.csr_array(relaxation.cost[None, :])
                rows = sparse.csr_array(sparse.vstack([rows, cost]))
                lower = np.append(lower, -np.inf)
                upper = np.append(upper, search.cutoff - search.base)
                start = None
        found = self._integer_master.solve(
            seconds=min(seconds, search.seconds_left),
            gap=0.5 * search.options.gap if gap is None else gap,
            target=target,
            cuts=np.arange(len(relaxation.pool)) if cuts is None else cuts,
            rows=rows,
            lower=lower,
            upper=upper,
            most=most,
            least=least,
            start=start,
            watch=lambda so_far: self._watch(so_far, region),
        )
        bound = found.settled_bound
        if region is None and found.status != "infeasible":
            search.raise_bound(min(bound, self.explored, relaxation.ceiling), "solver")
        hidden = None if found.x is None else relaxation.full(found.x) > 0.5
        return Answer(found.status, hidden, bound)

    def contains_best(self, region: Region) -> bool:
        """Whether the best pattern is one of those that the master problem has in a region."""
        best = self._search.best
        if best is None:
            return False
        y = best[self.relaxation.cells].astype(np.float64)
        distance = int((best != region.centre)[self.relaxation.cells].sum())
        kept = (self._left_out @ y >= self._least - INTEGRAL).all()
        return bool(kept) and distance <= region.radius

    def leave_out(self, region: Region, bound: float) -> None:
        """Never look at a region again, as nothing in it weighs less than the bound."""
        self.explored = min(self.explored, bound)
        row, most = region.row(self.relaxation.cells)
        self._left_out = sparse.csr_array(sparse.vstack([self._left_out, row]))
        self._least = np.append(self._least, most + 1)

    def _watch(self, so_far: MipSolution, region: Region | None) -> bool:
        if region is None:
            bound = min(so_far.bound, self.explored, self.relaxation.ceiling)
            self._search.raise_bound(bound, "solver")
        return self._search.should_stop()
