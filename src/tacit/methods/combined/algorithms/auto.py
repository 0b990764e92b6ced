"""Rounds of whole master problems: the cheapest solution that meets the cuts, judged and cut off.

Before a master problem over all cells, which raises the bound, comes one over the cells that the
relaxation or the best solution likes: it is solved in a moment, and better solutions come from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tacit.methods.combined.heuristics.patterns import Patterns
from tacit.methods.combined.limits import most_rooms
from tacit.methods.combined.master import Master
from tacit.methods.combined.model import CombinedModel
from tacit.methods.combined.narrowest import Narrowest
from tacit.methods.combined.root import Root
from tacit.methods.combined.search import Search
from tacit.methods.intervals.elimination import LinearPart
from tacit.methods.intervals.heuristics.surroundings import Surroundings
from tacit.methods.intervals.linear_part import takes_dual_form
from tacit.problem import Booleans, Floats, Integers
from tacit.solver.highs_mip import HighsMip, WholeSolution

_ROUGHLY = 0.1
"""The share of the open gap to which a master problem is solved."""
_LIKED = 1e-3
"""Cells with an x above this are liked by the relaxation."""
_NEARBY = 0.6
"""A master problem over fewer cells is worth it below this share of them."""


def run(search: Search) -> None:
    """Solutions from both parts, the root, then rounds of whole master problems."""
    limit = search.options.time_limit
    if not search.model.has_choice:
        _widths_alone(search)
        return
    patterns = Patterns(search)
    patterns.first(seconds=0.15 * limit)
    if search.should_stop():
        return
    surroundings, narrowest = None, None
    if walks_are_cheap(search.model):
        surroundings = Surroundings(search)
        inside = surroundings.first()
        if search.should_stop() or inside is None:
            return
        narrowest = Narrowest(search, surroundings, inside)
        narrowest.run(seconds=0.15 * limit)
        patterns.polish(search.model.suppressed(narrowest.best))
        if search.should_stop():
            return
    master = Master(search, most_rooms(search))
    if narrowest is not None:
        master.add_for_rooms(narrowest.rows, narrowest.right)
    inside = None if narrowest is None else narrowest.inside
    root = Root(search, master, patterns, surroundings, inside)
    root.run(seconds=0.3 * limit)
    if not search.should_stop() and not master.infeasible:
        Rounds(search, master, root, patterns).run(seconds=max(2.0, 0.15 * limit))


def _widths_alone(search: Search) -> None:
    """It does not matter which cells are suppressed: an intervals problem is left."""
    surroundings = Surroundings(search)
    inside = surroundings.first()
    if inside is not None and not search.should_stop():
        narrowest = Narrowest(search, surroundings, inside)
        narrowest.run(seconds=search.options.time_limit)
        search.vertex = narrowest.vertex


def walks_are_cheap(model: CombinedModel) -> bool:
    """Are walks to a point inside short programmes, with a row for each relation?

    Their dual form is slow between points with many rooms open.
    """
    return not any(takes_dual_form(LinearPart(model, rival)) for rival in model.rivals)


class Rounds:
    """Solves master problems in whole x until one is safe."""

    def __init__(self, search: Search, master: Master, root: Root, patterns: Patterns):
        self._search = search
        self._master = master
        self._root = root
        self._patterns = patterns
        self._is_rough = False

    def run(self, *, seconds: float) -> None:
        """Go on until nothing is left to do.

        Args:
            seconds: The longest time for one master problem; more where nothing else helps.
        """
        search = self._search
        while not search.should_stop():
            search.iterations += 1
            if not self._root.tighten():
                return
            before = search.objective, search.bound
            liked = self._liked()
            if liked.sum() < _NEARBY * self._master.is_open.sum():
                near = self._solve(min(0.3 * seconds, search.seconds_left), liked)
                if near.x is not None and self._judge(near.x) and search.objective < before[0]:
                    continue
            if search.should_stop() or not self._root.tighten():
                return
            found = self._solve(min(seconds, search.seconds_left))
            if found.status == "infeasible":
                search.nothing_better()
                return
            search.raise_bound(found.settled_bound, "solver")
            added = 0
            if found.x is not None and not search.should_stop():
                added = self._judge(found.x)
            if added == 0 and found.status == "optimal" and not self._is_rough:
                return
            if added == 0 and (search.objective, search.bound) == before:
                seconds *= 2

    def plain(self) -> None:
        """Master problems over all cells, cut off by intervals only (paper 002, 4.3)."""
        search, master = self._search, self._master
        while not search.should_stop():
            search.iterations += 1
            master.solve()
            if master.infeasible:
                return
            found = self._solve(search.seconds_left, roughly=False)
            if found.status == "infeasible":
                search.nothing_better()
                return
            search.raise_bound(found.settled_bound, "solver")
            if found.x is None or search.should_stop():
                return
            master.vector = found.x
            if not self._root.cut_rooms():
                pattern = np.round(master.x) > 0
                self._patterns.mend(pattern, pattern.astype(np.float64))
                return

    def _liked(self) -> Booleans:
        """Columns of x that the relaxation or the best solution uses."""
        search, master = self._search, self._master
        liked = np.asarray(master.vector[search.model.size :] > _LIKED)
        if search.best is not None:
            liked |= search.model.suppressed(search.best)[master.choices]
        return liked

    def _solve(
        self, seconds: float, among: Booleans | None = None, *, roughly: bool = True
    ) -> WholeSolution:
        """The master problem over the cuts at work, all other x than those given being 0."""
        search, master = self._search, self._master
        model, unit = search.model, master.unit
        upper = master.upper.copy()
        if among is not None:
            out = np.flatnonzero(~among & (master.lower[model.size :] == 0))
            upper[model.size + out] = 0.0
            shut = master.choices[out]
            upper[2 * shut] = upper[2 * shut + 1] = 0.0
        ends = master.linkable()
        ends = ends[upper[ends] > 0]
        rows, right = master.rows
        both = sparse.csr_array(sparse.vstack([rows, master.links(ends)]))
        right = np.concatenate([right, np.zeros(len(ends))])
        largest = np.asarray(abs(both * unit[None, :]).max(axis=1).todense()).ravel()
        scale = np.maximum(largest, 1e-300)
        kept = np.flatnonzero((upper > master.lower) | (master.lower > 0))
        part: Any = sparse.csr_array(both.multiply(unit[None, :]).multiply(1 / scale[:, None]))
        mip = HighsMip(
            sparse.csr_array(part[:, kept]),
            row_lower=right / scale,
            row_upper=np.full(len(right), np.inf),
            lower=(master.lower / unit)[kept],
            upper=(upper / unit)[kept],
            cost=(master.cost * unit / master.price)[kept],
            whole=kept >= model.size,
            offset=model.base / master.price,
            seed=search.options.seed,
        )

        def watch(so_far: WholeSolution) -> bool:
            if among is None:
                search.raise_bound(min(so_far.bound * master.price, search.objective), "solver")
            return search.should_stop()

        gap = 0.5 * search.options.gap
        if roughly:
            # As long as much is open, the last digits of a master problem are not worth it.
            gap = max(gap, _ROUGHLY * min(search.gap, 1.0))
        self._is_rough = gap > 0.5 * search.options.gap
        found = mip.minimise(seconds=seconds, gap=gap, start=self._start(kept), watch=watch)
        vector = None
        if found.x is not None:
            vector = master.lower.copy()
            vector[kept] = np.clip(found.x * unit[kept], master.lower[kept], upper[kept])
        return WholeSolution(
            found.status, vector, found.objective * master.price, found.bound * master.price
        )

    def _start(self, kept: Integers) -> Floats | None:
        """The best solution, unless what is better must look different."""
        search, master = self._search, self._master
        if search.best is None:
            return None
        size = search.model.size
        x = search.model.suppressed(search.best)[master.choices].astype(np.float64)
        if (x > master.upper[size:]).any() or (x < master.lower[size:]).any():
            return None
        rooms = search.model.with_reaches(search.best)
        return np.asarray(np.concatenate([rooms, x])[kept] / master.unit[kept])

    def _judge(self, vector: Floats) -> int:
        """Cut a solution of the master problem off, and make a safe one of it; returns the cuts."""
        master = self._master
        master.vector = vector
        guide = np.round(master.x)
        added = self._root.cut()
        self._patterns.mend(guide > 0, guide)
        return added
