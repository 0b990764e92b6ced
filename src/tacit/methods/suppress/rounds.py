"""Rounds of whole master problems: the lightest pattern that meets the cuts, judged and cut off.

Where the cuts describe a table well, a mixed-integer programme over them is solved in a moment,
and its optimum is a bound for all patterns. Each pattern on the way is judged by the attackers,
who answer with cuts, and made safe, which gives better patterns than the relaxation alone.
"""

from __future__ import annotations

import numpy as np

from tacit.methods.engine.integer_master import IntegerMaster
from tacit.methods.suppress.cuts import Master
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.heuristics.neighbourhoods import Neighbourhoods
from tacit.methods.suppress.heuristics.repair import Repair
from tacit.methods.suppress.model import Search
from tacit.problem import Floats
from tacit.solver.highs_mip import WholeSolution

_CEILINGS = (1.0, 0.3)
"""How capacities are cut off while cuts are sought; each finds others."""
_MOST_ROWS = 3000
"""Up to so many cuts are all given to the first master problem, otherwise those at work."""
_TRIES = 1
"""Changes of the best pattern that are tried after each round."""
_ROUGHLY = 0.1
"""The share of the open gap to which a master problem is solved."""
_REPAIRS = 2
"""Patterns that are made safe in one round: the last ones, which are the lightest."""


class Rounds:
    """Solves whole master problems until one is safe, or they become too hard."""

    def __init__(
        self,
        search: Search,
        master: Master,
        constructor: Constructor,
        neighbourhoods: Neighbourhoods,
    ):
        self._search = search
        self._master = master
        self._neighbourhoods = neighbourhoods
        self._repair = Repair(search, constructor)
        self._integer_master = IntegerMaster(
            master, np.ones(master.size, bool), search.base, search.options.seed
        )
        self._places = np.arange(len(master.pool))
        if len(self._places) > _MOST_ROWS:
            self._places = master.active

    def run(self, *, seconds: float) -> bool:
        """Go on until nothing is left to do; False if the master problems became too hard.

        Args:
            seconds: The longest time for one master problem.
        """
        search, master = self._search, self._master
        too_hard = 0
        while not search.should_stop():
            search.iterations += 1
            if not self._tighten():
                return True
            met: list[Floats] = []
            before = search.bound, search.objective
            # As long as much is open elsewhere, the last digits are not worth it.
            gap = max(0.5 * search.options.gap, _ROUGHLY * min(search.gap, 1.0))
            is_rough = gap > 0.5 * search.options.gap
            found = self._solve(min(seconds, search.seconds_left), gap, met)
            if found.status == "infeasible":
                search.nothing_better()
                return True
            search.raise_bound(min(found.settled_bound, master.ceiling), "solver")
            if search.should_stop():
                return True
            if not self._object(met) and found.status == "optimal" and not is_rough:
                # No pattern is lighter than the one found, and nobody objects to it.
                return True
            moved = (search.bound, search.objective) != before
            too_hard = too_hard + 1 if found.status != "optimal" and not moved else 0
            if too_hard > 1:
                return False
            self._neighbourhoods.improve(master.full(master.y), tries=_TRIES)
        return True

    def _tighten(self) -> bool:
        """Solve the relaxation with what is known; False if nothing better is left."""
        search, master = self._search, self._master
        while True:
            if not master.solve():
                search.nothing_better()
                return False
            search.raise_bound(master.objective)
            if search.should_stop():
                return False
            master.fix()
            if not master.recall(master.y) + master.bridgeless(master.y):
                return True

    def _solve(self, seconds: float, gap: float, met: list[Floats]) -> WholeSolution:
        """The master problem over the cuts at work; patterns on the way are collected."""
        search, master = self._search, self._master
        # A row that was needed once is needed again as soon as it is gone.
        self._places = np.union1d(self._places, master.active)

        def collect(x: Floats) -> None:
            y = np.round(x)
            if search.weigh(master.full(y) > 0.5) < search.cutoff:
                met.append(y)

        def watch(so_far: WholeSolution) -> bool:
            if so_far.x is not None:
                collect(so_far.x)
            search.raise_bound(min(so_far.bound, search.cutoff), "solver")
            return search.should_stop()

        found = self._integer_master.solve(
            seconds=seconds,
            gap=gap,
            cuts=self._places,
            start=None if search.best is None else search.best[master.cells].astype(np.float64),
            watch=watch,
        )
        if found.x is not None:
            collect(found.x)
        return found

    def _object(self, met: list[Floats]) -> int:
        """Cut patterns off that are not safe; returns how many cuts that took."""
        search, master = self._search, self._master
        added = 0
        for number, y in enumerate(reversed(met)):
            if (master.missed(y) > 1e-6).any():
                added += master.recall(y)
                continue
            hidden = master.full(y) > 0.5
            exposed = search.exposed(hidden)
            if not exposed:
                search.offer(hidden)
                continue
            for rival, requests in exposed:
                asked = None if len(rival.separator.sliding()[0]) else requests
                for ceiling in _CEILINGS:
                    cuts = rival.separator.cuts(hidden.astype(float), asked, ceiling=ceiling)
                    added += master.add_cuts(cuts)
            if number < _REPAIRS:
                self._repair.offer(hidden, master.full(master.y))
            if search.should_stop():
                break
        return added
