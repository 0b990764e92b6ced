"""The relaxed intervals problem, and cuts on the way from its optimum to a point inside.

Every request is a convex set of points: those whose slacks let a cell get far enough. From a
point outside, the way to a point inside crosses its boundary; the cuts found on that way, the
last of which supports the set, are what the relaxation needs (in-out separation
[BenAmeurNeto2007], with Newton's method for the crossing, one crossing for each request).

A cut charges d for slacks: the sum over cells of (d+ up + d- down) is at least the target, with
d = e_s - A'g for multipliers g ([KarlssonOlsson2015, (3.24)], [CastroVia2016, (8) and (9)]). Where
an attacker knows more of a cell than its interval tells, the cell counts with what the attacker
knows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tacit.attack.network_parts import NetworkPart
from tacit.errors import SolverError
from tacit.methods.engine.cut_pool import Rows
from tacit.methods.engine.relaxation import Relaxation
from tacit.methods.intervals.attackers import AttackerState
from tacit.methods.intervals.model import IntervalsModel
from tacit.methods.intervals.search import Search
from tacit.methods.intervals.walks import Cuts, FlowWalk, LinearWalk, StripWalks, Walked, Way
from tacit.problem import Booleans, Floats, Integers
from tacit.solver.highs import LinearSolution
from tacit.tolerances import FAR_IN_FLOWS

_LARGEST_COST = 1e6
"""No cost is larger than this for the solver, which calls costs below 1e-7 zero."""
_MANY = 48
"""From so many requests on that take linear programs, those are told first that are met."""
_PATIENCE, _NO_END = 20, 2**31
"""Rounds after which a cut that was never tight leaves the relaxation."""


def usual_cost(costs: Floats) -> float:
    """What to measure costs in, so that most are of the size of 1 and none is out of reach."""
    positive = costs[costs > 0]
    if not len(positive):
        return 1.0
    return max(float(np.median(positive)), float(positive.max()) / _LARGEST_COST)


class Master(Relaxation):
    """The cheapest point subject to the cuts so far; its steady rows are those of the model."""

    def __init__(self, search: Search, *, purges: bool = True):
        """Prepare.

        Args:
            search: The run it belongs to.
            purges: Drop cuts that have not been tight for long.
        """
        self._search = search
        self._purges = purges
        model, unit = search.model, search.model.usual_level
        super().__init__(
            model.weight,
            model.lower,
            model.upper,
            unit=unit,
            cost_unit=usual_cost(model.weight * unit),
            patience=_PATIENCE if purges else _NO_END,
            seed=search.options.seed,
            on_cuts=search.note_cuts,
        )
        self.add_steady(model.rows, model.right)

    def add(self, rows: Rows, right: Floats) -> int:
        """Add cuts; returns how many were not at work before."""
        # A cut that charges nothing but what attackers know says nothing about slacks.
        charging = np.flatnonzero(np.diff(rows.indptr))
        return super().add(sparse.csr_array(rows[charging]), right[charging])

    def renewed(self) -> Master:
        """The same with reaches that the model has got since; itself if there are none."""
        model = self._search.model
        if model.size == self.size:
            return self
        longer = Master(self._search, purges=self._purges)
        rows = self.pool.matrix
        shape = (rows.shape[0], model.size)
        longer.add(
            sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=shape), self.pool.right
        )
        return longer

    def minimise(self) -> float:
        """Solve; returns a bound on what the intervals of safe points cost."""
        if not self.solve(self._search.cutoff):
            raise SolverError("the relaxation of the intervals problem could not be solved")
        return self.bound

    def _solution(self) -> LinearSolution | None:
        """The solver's answer; as there is a point, one that is not found is sought once more."""
        found = super()._solution() or self._lp.solve(cold=True, strategy="dual")
        return found if found.status == "optimal" else None


@dataclass(frozen=True, eq=False)
class Opened:
    """A point that was opened for requests.

    Attributes:
        point: The point.
        missed: For each attacker the requests that it still misses.
    """

    point: Floats
    missed: list[Integers]

    @property
    def count(self) -> int:
        """How many requests are missed."""
        return sum(len(each) for each in self.missed)


@dataclass(frozen=True, eq=False)
class Found:
    """What came up on the way inside.

    Attributes:
        rows: Cuts `rows point >= right`.
        right: Their right-hand sides.
        walked: The share of the way after which every request is met.
        plain: The point, opened for what requests in networks send.
        quick: The same, opened also for what other requests send within closed strips.
    """

    rows: Rows
    right: Floats
    walked: float
    plain: Opened
    quick: Opened


class Separation:
    """Finds cuts against all attackers."""

    def __init__(self, model: IntervalsModel, stop: Callable[[], bool] = lambda: False):
        """Prepare.

        Args:
            model: The intervals problem.
            stop: Asked often; True ends a round early, which is then of less use but valid.
        """
        self._model = model
        self._stop = stop
        self._linear = [LinearWalk(model, state) for state in model.states]

    def approach(self, point: Floats, inside: Floats | None = None) -> Found:
        """Cuts between a point and a point inside, or at the point if there is none."""
        model = self._model
        cuts = Cuts(model.size)
        ways = [self._way(state, point, inside) for state in model.states]
        walked = 0.0
        plain = Opened(point.copy(), [])
        for way in ways:
            flows = np.flatnonzero(model.structure.in_network[way.state.cells])
            if len(flows):
                share = self._in_network(way, flows, cuts, plain.point, point)
                walked = max(walked, float(share.max()))
        quick = Opened(plain.point.copy(), [])
        for way, linear in zip(ways, self._linear, strict=True):
            others = np.flatnonzero(~model.structure.in_network[way.state.cells])
            share, is_missed = self._outside(way, others, linear, cuts, quick.point, point)
            plain.missed.append(others[share > 0])
            quick.missed.append(others[is_missed])
            walked = max(walked, float(share.max(initial=0.0)))
        rows, right = cuts.matrix()
        for opened in (plain, quick):
            opened.point[:] = model.with_own_reaches(opened.point)
        return Found(rows, right, walked, plain, quick)

    def _way(self, state: AttackerState, point: Floats, inside: Floats | None) -> Way:
        model = self._model
        targets = state.targets(point)
        inner_targets = targets if inside is None else state.targets(inside)
        far = FAR_IN_FLOWS * max(targets.max(initial=0.0), inner_targets.max(initial=0.0))
        outer = inner = np.minimum(model.capacity(state, point), far)
        if inside is not None:
            inner = np.minimum(model.capacity(state, inside), far)
        return Way(state, outer, inner, targets, inner_targets, inside is not None)

    def _in_network(
        self, way: Way, flows: Integers, cuts: Cuts, opened: Floats, point: Floats
    ) -> Floats:
        """Walk for requests in networks; both sides of a sliding level walk equally far."""
        structure = self._model.structure
        assert structure.network is not None
        cells = np.flatnonzero(structure.in_network)
        network = FlowWalk(self._model, NetworkPart(structure.network, cells))
        walked = network.walk(way, flows, np.zeros(len(flows)), point, cuts)
        self._open(opened, network, walked)
        share = walked.share
        place = way.state.place[flows]
        sliding = np.flatnonzero(place >= 0)
        if len(sliding) and way.is_open:
            both = self._both_sides(place[sliding], share[sliding])
            walked = network.walk(way, flows[sliding], both, point, cuts)
            self._open(opened, network, walked)
            share[sliding] = both
            opened[place[sliding]] = way.target_at(flows[sliding], both)
        return share

    def _both_sides(self, place: Integers, share: Floats) -> Floats:
        """How far both sides of sliding levels walk together."""
        by_place = np.zeros(self._model.size)
        by_place[place] = share
        return np.maximum(share, by_place[self._model.partner[place]])

    def _open(self, opened: Floats, network: FlowWalk, walked: Walked) -> None:
        """Open slacks for what requests send that had to walk, in place."""
        ends = network.ends
        free = self._model.is_free[ends]
        opened[ends[free]] = np.maximum(opened[ends[free]], walked.sent[free])

    def _outside(
        self,
        way: Way,
        others: Integers,
        linear: LinearWalk,
        cuts: Cuts,
        opened: Floats,
        point: Floats,
    ) -> tuple[Floats, Booleans]:
        """Walk for requests outside networks.

        Returns:
            How far each of them walks, and which of those that walk the opened point misses.
        """
        walks = StripWalks(self._model, way, others)
        walks.in_open(cuts, point)
        walks.in_closed(point)
        share = walks.share.copy()
        left = np.flatnonzero(~walks.is_settled)
        if self._model.has_no_networks and len(left) >= _MANY:
            left = np.flatnonzero(
                np.isin(others, self._model.missed(way.state, point, others[left]))
            )
        for at in left.tolist():
            number = int(others[at])
            share[at] = 1.0 if self._stop() else linear.walk(way, number, cuts, point, share[at])
        return share, self._open_in_strips(way, others, walks, share, opened, point)

    def _open_in_strips(
        self,
        way: Way,
        others: Integers,
        walks: StripWalks,
        share: Floats,
        opened: Floats,
        point: Floats,
    ) -> Booleans:
        """Open slacks for requests that walk and are met in a closed strip, in place.

        Both sides of a sliding level walk equally far, or neither is cared for.

        Returns:
            Which of the requests that walk are not cared for.
        """
        goal = share.copy()
        place = way.state.place[others]
        sliding = np.flatnonzero(place >= 0)
        if not way.is_open:
            return share > 0
        if len(sliding):
            goal[sliding] = self._both_sides(place[sliding], share[sliding])
        is_met = np.zeros(len(others), bool)
        for network, some in walks.chosen(goal > 0):
            walked = network.walk(way, others[some], goal[some], point, steps=1)
            is_met[some] = walked.is_met
            self._open(opened, network, walked)
        if len(sliding):
            by_place = np.ones(self._model.size, bool)
            by_place[place[sliding]] = is_met[sliding]
            is_met[sliding] &= by_place[self._model.partner[place[sliding]]]
            moved = sliding[is_met[sliding]]
            opened[place[moved]] = way.target_at(others[moved], goal[moved])
        return (share > 0) & ~is_met
