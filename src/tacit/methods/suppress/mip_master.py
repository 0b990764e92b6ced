"""The master problem in whole numbers: the lightest pattern that meets all cuts so far.

On demand it is restricted to the neighbourhood of a pattern (a trust region, paper 004, (6)), and
neighbourhoods that need not be looked at again are left out for good ((7)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tacit.methods.engine.cut_pool import Rows
from tacit.methods.engine.integer_master import IntegerMaster
from tacit.methods.suppress.cuts import Master
from tacit.methods.suppress.model import Search
from tacit.problem import Booleans
from tacit.solver.highs_mip import WholeSolution


@dataclass(frozen=True, eq=False)
class Region:
    """Patterns that differ from a centre in at most so many cells."""

    centre: Booleans
    radius: int


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


class WholeMaster:
    """The master problem; keeps its rows between calls.

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

    def solve(self, region: Region | None = None) -> Answer:
        """Find the lightest pattern, in a region if one is given.

        Without a region the search's bound rises along the way.
        """
        search = self._search
        search.iterations += 1
        rows, lower = self._left_out, self._least
        upper = np.full(len(lower), np.inf)
        if region is not None:
            row, constant = self._distance(region.centre)
            rows = sparse.csr_array(sparse.vstack([rows, row]))
            lower, upper = np.append(lower, -np.inf), np.append(upper, region.radius - constant)
        best = search.best
        found = self._integer_master.solve(
            seconds=search.seconds_left,
            gap=0.5 * search.options.gap,
            cuts=np.arange(len(self.relaxation.pool)),
            rows=rows,
            lower=lower,
            upper=upper,
            start=None if best is None else best[self.relaxation.cells].astype(np.float64),
            watch=lambda so_far: self._watch(so_far, region),
        )
        bound = found.settled_bound
        if region is None and found.status != "infeasible":
            search.raise_bound(min(bound, self.explored), "solver")
        hidden = None if found.x is None else self.relaxation.full(found.x) > 0.5
        return Answer(found.status, hidden, bound)

    def leave_out(self, region: Region, bound: float) -> None:
        """Never look at a region again, as nothing in it weighs less than the bound."""
        self.explored = min(self.explored, bound)
        row, constant = self._distance(region.centre)
        self._left_out = sparse.csr_array(sparse.vstack([self._left_out, row]))
        self._least = np.append(self._least, region.radius + 1 - constant)

    def _watch(self, so_far: WholeSolution, region: Region | None) -> bool:
        if region is None:
            self._search.raise_bound(min(so_far.bound, self.explored), "solver")
        return self._search.should_stop()

    def _distance(self, centre: Booleans) -> tuple[Rows, float]:
        """Hamming distance from a pattern, (5), as a row and a constant."""
        inside = centre[self.relaxation.cells]
        return sparse.csr_array(np.where(inside, -1.0, 1.0)[None, :]), float(inside.sum())
