"""`benders` and `stabilized`: Benders' decomposition as in paper 004, Figures 1 and 2.

A master problem proposes patterns, subproblems object. Every pattern that is not safe is also
made safe and offered, so that there is always something to return.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.heuristics.first_pattern import first_pattern
from tacit.methods.suppress.heuristics.repair import Repair
from tacit.methods.suppress.mip_master import Region, WholeMaster
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.subproblems import Subproblems
from tacit.outcome import StopReason
from tacit.problem import Booleans


def classic(search: Search) -> None:
    """Solve the master problem and add cuts until the pattern it proposes is safe (Figure 1)."""
    loop = _Decomposition(search)
    while not search.should_stop():
        answer = loop.master.solve()
        if answer.status == "infeasible":
            loop.exhausted()
            return
        if answer.hidden is None or answer.status == "stopped":
            continue
        if not loop.cut_off(answer.hidden):
            return


def stabilized(search: Search) -> None:
    """The same, but close to a good pattern as long as that helps (Figure 2)."""
    loop = _Decomposition(search)
    centre = search.sensitive if search.best is None else search.best
    radii = _radii(search)
    radius = next(radii)
    while not search.should_stop():
        region = None if radius is None else Region(centre, radius)
        answer = loop.master.solve(region)
        if answer.status == "infeasible":
            if region is None:
                loop.exhausted()
                return
            loop.master.leave_out(region, np.inf)
            radius = next(radii)
        elif answer.hidden is None or answer.status == "stopped":
            continue
        elif loop.cut_off(answer.hidden):
            loop.relax()
        else:
            if region is None:
                return
            # Nothing better here: see what the whole table promises, then move on.
            everywhere = loop.master.solve()
            if everywhere.hidden is not None and not search.should_stop():
                loop.cut_off(everywhere.hidden)
            loop.master.leave_out(region, answer.bound)
            centre = answer.hidden


def _radii(search: Search) -> Iterator[int | None]:
    """Growing radii, then none: shares of the number of sensitive cells (section 5)."""
    last, most = 0, int(search.secondary.sum())
    for share in search.options.radius:
        radius = max(last + 1, round(share * len(search.problem.sensitive)))
        if radius >= most:
            break
        yield radius
        last = radius
    yield None


class _Decomposition:
    """What both algorithms share: a first pattern, the master problem, the subproblems."""

    def __init__(self, search: Search):
        self._search = search
        constructor = Constructor(search)
        self._repair = Repair(search, constructor)
        first_pattern(search, constructor)
        self.master = WholeMaster(search)
        self._subproblems = Subproblems(search)
        # A cell that stands alone in a relation may still be needed to make up a number.
        self._asks_for_company = search.options.own_cuts and len(search.crowd_rows()[0]) == 0

    def cut_off(self, hidden: Booleans) -> bool:
        """Add cuts that a pattern violates; False if it is safe. It is offered, made safe."""
        search, relaxation = self._search, self.master.relaxation
        added = 0
        if self._asks_for_company:
            added += relaxation.bridgeless(hidden[relaxation.cells].astype(np.float64))
        for cuts in self._subproblems.cuts(hidden):
            added += relaxation.add_cuts(cuts)
        if added == 0:
            if not search.exposed(hidden):
                search.offer(hidden)
                return False
            self._ask_for_more(hidden)
        self._repair.offer(hidden)
        return True

    def _ask_for_more(self, hidden: Booleans) -> None:
        """Less suppression is never safer: some cell outside an unsafe pattern is needed."""
        relaxation = self.master.relaxation
        outside = (~hidden[relaxation.cells]).astype(np.float64)
        relaxation.add(sparse.csr_array(outside[None, :]), np.ones(1))

    def relax(self) -> None:
        """Raise the bound by the relaxed master problem, which no region restricts."""
        if self.master.relaxation.solve():
            self._search.raise_bound(self.master.relaxation.objective)

    def exhausted(self) -> None:
        """No pattern is left that meets the cuts, but for regions that were left out."""
        search = self._search
        if search.best is None:
            search.stop(StopReason.INFEASIBLE)
        elif np.isfinite(self.master.explored):
            # Otherwise the solver contradicts itself, and nothing is proven.
            search.raise_bound(self.master.explored, "solver")
