"""The master problem in whole numbers: the lightest pattern that meets all cuts so far.

On demand it is restricted to the neighbourhood of a pattern (a trust region, paper 004, (6)), and
neighbourhoods that need not be looked at again are left out for good ((7)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.methods.suppress.master import Master
from tacit.methods.suppress.search import Search
from tacit.problem import Booleans, Floats
from tacit.solver.highs_mip import HighsMip, WholeSolution


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
        count = len(self.relaxation.cells)
        self._model = HighsMip(
            self.relaxation.side,
            row_lower=self.relaxation.side_lower,
            row_upper=self.relaxation.side_upper,
            lower=np.zeros(count),
            upper=np.ones(count),
            cost=self.relaxation.weight,
            whole=np.ones(count, bool),
            offset=search.base,
            seed=search.options.seed,
        )
        self._fed = 0

    def solve(self, region: Region | None = None) -> Answer:
        """Find the lightest pattern, in a region if one is given.

        Without a region the search's bound rises along the way.
        """
        search = self._search
        search.iterations += 1
        self._feed()
        if region is not None:
            row, constant = self._distance(region.centre)
            limit = np.array([region.radius - constant])
            self._model.add_rows(row, np.full(1, -np.inf), limit)
        try:
            found = self._model.minimise(
                seconds=search.seconds_left,
                gap=0.5 * search.options.gap,
                start=self._start(),
                watch=lambda so_far: self._watch(so_far, region),
            )
        finally:
            if region is not None:
                self._model.delete_rows(np.array([self._model.row_count - 1]))
        bound = found.settled_bound
        if region is None and found.status != "infeasible":
            search.raise_bound(min(bound, self.explored), "solver")
        hidden = None if found.x is None else self.relaxation.full(found.x) > 0.5
        return Answer(found.status, hidden, bound)

    def leave_out(self, region: Region, bound: float) -> None:
        """Never look at a region again, as nothing in it weighs less than the bound."""
        self.explored = min(self.explored, bound)
        row, constant = self._distance(region.centre)
        self._model.add_rows(row, np.array([region.radius + 1 - constant]), np.full(1, np.inf))

    def _watch(self, so_far: WholeSolution, region: Region | None) -> bool:
        if region is None:
            self._search.raise_bound(min(so_far.bound, self.explored), "solver")
        return self._search.should_stop()

    def _feed(self) -> None:
        """Hand new cuts over."""
        pool = self.relaxation.pool
        rows, right = pool.rows[self._fed :], pool.right[self._fed :]
        self._model.add_rows(sparse.csr_array(rows), right, np.full(len(right), np.inf))
        self._fed = len(pool.right)

    def _start(self) -> Floats | None:
        best = self._search.best
        return None if best is None else best[self.relaxation.cells].astype(np.float64)

    def _distance(self, centre: Booleans) -> tuple[sparse.csr_array[Any, Any], float]:
        """Hamming distance from a pattern, (5), as a row and a constant."""
        inside = centre[self.relaxation.cells]
        return sparse.csr_array(np.where(inside, -1.0, 1.0)[None, :]), float(inside.sum())
