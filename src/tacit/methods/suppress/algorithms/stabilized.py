"""`stabilized`: Benders' decomposition in a trust region [BaenaCastroFrangioni2020, Figure 2].

The relaxed master problem comes first, and its cuts are kept: with HiGHS a master problem in
integers takes many times as long as all its subproblems. For the same reason a master problem in a
trust region ends at the first pattern that improves enough, and one over the whole table as soon as
it is solved to a share of what is open.
"""

from __future__ import annotations

import numpy as np

from tacit.methods.engine import turns
from tacit.methods.suppress.algorithms.benders import Answer, Decomposition
from tacit.methods.suppress.cuts import Root, is_too_large
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.subproblems import Subproblems
from tacit.methods.suppress.trust_regions import Region, TrustRegions
from tacit.problem import Booleans, Floats, Integers
from tacit.tolerances import VIOLATED

_ROUGHLY = 0.1
"""The share of the open gap to which a master problem over the whole table is solved."""
_MOST_ROWS = 3000
"""Up to so many cuts are all given to the master problem, otherwise those at work."""
_ROUNDS = 10
"""Rounds of the relaxation after a pattern was cut off."""


def run(search: Search) -> None:
    """Decompose as `benders` does, but close to a good pattern as long as that helps."""
    loop = Decomposition(search)
    if search.should_stop():
        return
    Stabilized(search, loop).run()


class Stabilized:
    """The steps of Figure 2; line numbers are those of the figure."""

    def __init__(self, search: Search, loop: Decomposition):
        self._search = search
        self._loop = loop
        options = search.options
        self._regions = TrustRegions(search, options.radius, goes_back=options.reset_radius)
        self._relaxed: Root | None = None
        if not is_too_large(search):
            self._relaxed = RelaxedMaster(search, loop)
        self._places: Integers | None = None
        # Seconds of master problems in regions, and over the whole table.
        self._near = self._everywhere = 0.0
        self._patience = 1

    def run(self) -> None:
        """Go on until a pattern is proven to be the best, or time is up."""
        search, master = self._search, self._loop.master
        search.observer.on_phase("relaxation")
        # The first iteration of classic Benders: most of its cuts stay at work to the end. Here it
        # is the first point of the relaxation: hundreds of programs of a form would take too long.
        for cuts in self._loop.subproblems.cuts_at(search.sensitive.astype(np.float64)):
            master.relaxation.add_cuts(cuts)
        if not self._relax(turns.SUPPRESS_ROOT * search.options.time_limit):
            return
        search.observer.on_phase("master problems")
        while not search.should_stop():
            # The bound rises over the whole table alone (line 15): half of the time is for that.
            region = self._regions.region() if self._near <= self._everywhere else None
            is_rough = self._is_rough
            answer = self._solve(region)
            if answer.status == "infeasible":
                if region is None or master.contains_best(region):
                    self._loop.exhausted()
                    return
                # Lines 7 and 8.
                master.leave_out(region, search.cutoff)
                self._regions.grow()
            elif search.should_stop():
                return
            elif region is not None and self._is_done(answer):
                # Lines 15 to 21: nothing better here, or not in reasonable time.
                if answer.status == "optimal":
                    master.leave_out(region, answer.bound)
                self._regions.grow()
            elif answer.hidden is None:
                continue
            elif self._cut_off(answer.hidden):
                if not self._relax_again():
                    return
            elif region is None and answer.status == "optimal" and not is_rough:
                return
            elif region is None and answer.status == "stopped":
                # Another run as short as this one would not come any further.
                self._patience *= 2

    def _is_done(self, answer: Answer) -> bool:
        """Whether the master problem of a region has nothing lighter than the best pattern."""
        search = self._search
        return answer.hidden is None or search.weigh(answer.hidden) >= search.cutoff

    @property
    def _gap(self) -> float:
        """To what gap a master problem over the whole table is solved now."""
        search = self._search
        return max(0.5 * search.options.gap, _ROUGHLY * min(search.gap, 1.0))

    @property
    def _is_rough(self) -> bool:
        return self._gap > 0.5 * self._search.options.gap

    def _solve(self, region: Region | None) -> Answer:
        """The master problem over the cuts at work, as far as it is worth it."""
        search, master = self._search, self._loop.master
        relaxation = master.relaxation
        places: Integers = np.arange(len(relaxation.pool))
        if len(places) > _MOST_ROWS:
            # A row that was needed once is needed again as soon as it is gone.
            before = relaxation.active if self._places is None else self._places
            places = np.union1d(before, relaxation.active)
        self._places = places
        began = search.seconds
        if region is None:
            seconds = self._patience * turns.SUPPRESS_INTEGER_MASTER * search.options.time_limit
            answer = master.solve(cuts=places, gap=self._gap, seconds=seconds)
            self._everywhere += search.seconds - began
            return answer
        target = -np.inf
        if np.isfinite(search.objective) and search.options.improvement < 1:
            open_gap = search.objective - search.bound
            target = search.objective - search.options.improvement * open_gap
        seconds = turns.SUPPRESS_TRUST_REGION * search.options.time_limit
        answer = master.solve(region, cuts=places, target=target, seconds=seconds)
        self._near += search.seconds - began
        return answer

    def _cut_off(self, hidden: Booleans) -> bool:
        relaxation = self._loop.master.relaxation
        return self._loop.cut_off(hidden, relaxation.full(relaxation.y))

    def _relax_again(self) -> bool:
        """The same after a pattern was cut off, as far as its cuts matter to the relaxation."""
        relaxation = self._loop.master.relaxation
        if (relaxation.missed(relaxation.y) > VIOLATED).any():
            return self._relax(turns.SUPPRESS_ROOT_AGAIN * self._search.options.time_limit, _ROUNDS)
        # A better pattern still fixes columns.
        return relaxation.tighten()

    def _relax(self, seconds: float, rounds: float = np.inf) -> bool:
        """Tighten the relaxation and raise the bound; False if nothing better is left."""
        return self._relaxed is None or self._relaxed.run(seconds=seconds, rounds=rounds)


class RelaxedMaster(Root):
    """The root loop, with the paper's cuts where those are wanted."""

    def __init__(self, search: Search, loop: Decomposition):
        super().__init__(search, loop.master.relaxation, loop.constructor)
        self._subproblems: Subproblems | None = None
        if not search.options.own_cuts:
            self._subproblems = loop.subproblems

    def cut_off(self, y: Floats, ceiling: float = 1.0, *, thorough: bool = True) -> int:
        """Add cuts that a point violates; returns how many are new."""
        if self._subproblems is None:
            return super().cut_off(y, ceiling, thorough=thorough)
        if ceiling != 1.0 or not thorough:
            # There are no other cuts than those at the point itself.
            return 0
        master = self._master
        found = self._subproblems.cuts_at(master.full(y))
        return sum(master.add_cuts(cuts) for cuts in found)
