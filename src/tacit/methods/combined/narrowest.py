"""The beginning of `auto`: intervals as narrow as possible, whatever cells they take.

Their cost and that of the sensitive cells is a first bound, their cuts hold in the combined
problem, and in its relaxation the rooms begin where they end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tacit.methods.combined.search import Search
from tacit.methods.intervals.heuristics.surroundings import Surroundings
from tacit.methods.intervals.master import Master
from tacit.problem import Floats

_PULL = 0.5
"""The share of the way that the inner point follows the best point of a round."""
_TIGHT = 1e-6
"""Cuts that the last optimum meets by at most this share are handed on."""


class Narrowest:
    """The intervals problem.

    Attributes:
        inside: A point inside.
        best: The point with the narrowest intervals so far.
        vertex: The last optimum of the relaxation.
        rows: Cuts that are tight at the optimum.
        right: Their right-hand sides.
    """

    def __init__(self, search: Search, surroundings: Surroundings, inside: Floats):
        self._search = search
        self._surroundings = surroundings
        self.inside = inside
        self.best = inside
        self.vertex = inside
        self.rows: sparse.csr_array[Any, Any] = sparse.csr_array((0, search.model.size))
        self.right = np.zeros(0)

    def run(self, *, seconds: float) -> None:
        """Go on until the intervals are narrowest within the gap asked for, or time is up."""
        search, model = self._search, self._search.model
        end = search.seconds + seconds
        master = Master(search)
        rows, right = [self.rows], [self.right]
        while not search.should_stop() and search.seconds < end:
            search.iterations += 1
            bound = master.solve()
            self.vertex = master.point
            search.raise_bound(model.base + bound)
            found = self._surroundings.separation.approach(master.point, self.inside)
            rows.append(found.rows)
            right.append(found.right)
            added = master.add(found.rows, found.right)
            points = self._surroundings.safe_points(master.point, self.inside, found)
            best = min(points, key=model.width_cost)
            self.inside = self.inside + _PULL * (best - self.inside)
            for point in (best, self.inside):
                if model.width_cost(point) < model.width_cost(self.best):
                    self.best = point
                    search.offer(point)
            missing = model.width_cost(self.best) - bound
            close = 0.5 * search.options.gap * abs(search.objective)
            if added == 0 or found.walked == 0 or missing <= close:
                break
        self.rows = sparse.csr_array(sparse.vstack(rows))
        self.right = np.concatenate(right)
        slack = self.rows @ master.point - self.right
        tight = np.flatnonzero(slack <= _TIGHT * np.maximum(np.abs(self.right), 1e-300))
        self.rows, self.right = sparse.csr_array(self.rows[tight]), self.right[tight]
