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

from tacit.attack.reach import TOLERANCE
from tacit.clock import check_time
from tacit.errors import SolverError
from tacit.methods.engine.cut_pool import Rows
from tacit.methods.engine.relaxation import Relaxation
from tacit.methods.intervals.attackers import AttackerState
from tacit.methods.intervals.linear_part import LinearPart, limit_lp
from tacit.methods.intervals.model import IntervalsModel
from tacit.methods.intervals.search import Search
from tacit.problem import Floats, Integers
from tacit.solver.highs import LinearSolution
from tacit.tolerances import FAR_IN_FLOWS, ONWARD, ROUNDING_NOISE, SAME_AMOUNT

_LARGEST_COST = 1e6
"""No cost is larger than this for the solver, which calls costs below 1e-7 zero."""
_PATIENCE, _NO_END = 20, 2**31
"""Rounds after which a cut that was never tight leaves the relaxation."""
_STEPS = 25
"""Steps on the way inside, at most."""
_FLOWS = 1000
"""Requests that are answered by flows between two looks at the clock."""


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
class Found:
    """What came up on the way inside.

    Attributes:
        rows: Cuts `rows point >= right`.
        right: Their right-hand sides.
        walked: The share of the way after which every request is met.
        repaired: The point, opened where requests had to walk to be met; None if not asked.
        missed: For each attacker the requests that the point misses and that `repaired` does not
            care for.
    """

    rows: Rows
    right: Floats
    walked: float
    repaired: Floats
    missed: list[Integers]


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
        self._linear = [_LinearWalk(model, state) for state in model.states]

    def approach(self, point: Floats, inside: Floats | None = None) -> Found:
        """Cuts between a point and a point inside, or at the point if there is none."""
        model = self._model
        cuts = _Cuts(model.size)
        walked = 0.0
        repaired = point.copy()
        missed = []
        for state, walk in zip(model.states, self._linear, strict=True):
            targets = state.targets(point)
            inner_targets = targets if inside is None else state.targets(inside)
            far = FAR_IN_FLOWS * max(targets.max(initial=0.0), inner_targets.max(initial=0.0))
            outer = np.minimum(model.capacity(state, point), far)
            inner = outer
            if inside is not None:
                inner = np.minimum(model.capacity(state, inside), far)
            in_network = model.structure.in_network[state.cells]
            way = _Way(state, outer, inner, targets, inner_targets, inside is not None)
            share = np.zeros(len(targets))
            flows = np.flatnonzero(in_network)
            if len(flows):
                share[flows] = self._by_flows(way, flows, cuts, repaired, point)
            others = np.flatnonzero(~in_network)
            for number in others.tolist():
                share[number] = 1.0 if self._stop() else walk.walk(way, number, cuts, point)
            missed.append(others[share[others] > 0])
            walked = max(walked, float(share.max(initial=0.0)))
        rows, right = cuts.matrix()
        return Found(rows, right, walked, model.with_own_reaches(repaired), missed)

    def _by_flows(
        self, way: _Way, flows: Integers, cuts: _Cuts, repaired: Floats, point: Floats
    ) -> Floats:
        """Walk for requests in networks; both sides of a sliding level walk equally far."""
        share = self._flow_round(way, flows, np.zeros(len(flows)), cuts, repaired, point)
        place = way.state.place[flows]
        sliding = np.flatnonzero(place >= 0)
        if len(sliding) and way.is_open:
            by_place = np.zeros(self._model.size)
            by_place[place[sliding]] = share[sliding]
            both = np.maximum(share[sliding], by_place[self._model.partner[place[sliding]]])
            self._flow_round(way, flows[sliding], both, cuts, repaired, point)
            share[sliding] = both
            low, high = way.targets[flows[sliding]], way.inner_targets[flows[sliding]]
            repaired[place[sliding]] = low + both * (high - low)
        return share

    def _flow_round(
        self,
        way: _Way,
        flows: Integers,
        begin: Floats,
        cuts: _Cuts,
        repaired: Floats,
        point: Floats,
    ) -> Floats:
        """One walk for each of these requests, a few at a time so that the clock is asked."""
        share = np.zeros(len(flows))
        for start in range(0, len(flows), _FLOWS):
            check_time()
            chunk = slice(start, start + _FLOWS)
            share[chunk] = self._some_flows(way, flows[chunk], begin[chunk], cuts, repaired, point)
        return share

    def _some_flows(
        self,
        way: _Way,
        flows: Integers,
        begin: Floats,
        cuts: _Cuts,
        repaired: Floats,
        point: Floats,
    ) -> Floats:
        from tacit.methods.intervals.kernels import approach

        model, state = self._model, way.state
        network = model.structure.network
        assert network is not None
        cells = np.flatnonzero(model.structure.in_network)
        ends = np.stack([2 * cells, 2 * cells + 1], axis=1).ravel()
        arcs = np.where(
            model.structure.in_network, np.cumsum(model.structure.in_network) - 1, -1
        ).astype(np.int64)
        limits = state.limits_of(flows, arcs)
        largest = max(
            float(way.targets[flows].max(initial=0.0)),
            float(way.inner_targets[flows].max(initial=0.0)),
        )
        share, pointer, ways, owner, sent = approach(
            network.arrays,
            # A flow never sends more than its target through an arc.
            np.minimum(way.outer[ends], 2 * largest),
            np.minimum(way.inner[ends], 2 * largest),
            arcs[state.cells[flows]],
            state.sides[flows],
            way.targets[flows],
            way.inner_targets[flows],
            begin,
            limits.arrays,
            SAME_AMOUNT,
            _STEPS if way.is_open else 1,
        )
        row = np.repeat(np.arange(len(owner)), np.diff(pointer))
        charged = ends[ways]
        cuts.put(model, state, flows[owner], row, charged, np.ones(len(charged)), point)
        free = model.is_free[ends]
        repaired[ends[free]] = np.maximum(repaired[ends[free]], sent[free])
        return np.asarray(share)


@dataclass(frozen=True, eq=False)
class _Way:
    """The way from a point to a point inside, as one attacker sees it."""

    state: AttackerState
    outer: Floats
    inner: Floats
    targets: Floats
    inner_targets: Floats
    is_open: bool


class _Cuts:
    """Collects cuts."""

    def __init__(self, columns: int):
        self._columns = columns
        self._rows: list[Rows] = []
        self._right: list[Floats] = []

    def put(
        self,
        model: IntervalsModel,
        state: AttackerState,
        requests: Integers,
        row: Integers,
        ends: Integers,
        charge: Floats,
        point: Floats,
    ) -> None:
        """Add cuts, given as entries: row, end and charge.

        Args:
            model: The intervals problem.
            state: Whom the cuts are against.
            requests: The request of each row.
            row: Row of each entry.
            ends: End of each entry.
            charge: What it charges.
            point: The point to cut off.
        """
        count = len(requests)
        most = state.most(requests[row], ends)
        # What the attacker knows anyway, or better than from the interval, is a number.
        known = ~model.is_free[ends] | (most < point[ends])
        tiny = charge < TOLERANCE
        number = np.where(known | tiny, charge * np.where(tiny & np.isinf(most), 0.0, most), 0.0)
        place = state.place[requests]
        sliding = np.flatnonzero(place >= 0)
        level = np.where(place >= 0, 0.0, state.level[requests])
        right = level - np.bincount(row, number, minlength=count).astype(np.float64)
        charged = ~(known | tiny)
        entries = (
            np.concatenate([charge[charged], np.full(len(sliding), -1.0)]),
            (
                np.concatenate([row[charged], sliding]),
                np.concatenate([ends[charged], place[sliding]]),
            ),
        )
        self._rows.append(sparse.csr_array(entries, shape=(count, self._columns)))
        self._right.append(right)

    def matrix(self) -> tuple[Rows, Floats]:
        """All cuts."""
        if not self._rows:
            return sparse.csr_array((0, self._columns)), np.zeros(0)
        return sparse.csr_array(sparse.vstack(self._rows)), np.concatenate(self._right)


class _LinearWalk:
    """Walks for requests about cells outside networks, by linear programs.

    There are two of them: one stays at the point, so that all requests meet the same slacks
    there, the other walks.
    """

    def __init__(self, model: IntervalsModel, state: AttackerState):
        self._model = model
        self._state = state
        part = LinearPart.of(model, state)
        self._standing = limit_lp(model, state, part, moves=False)
        self._walking = limit_lp(model, state, part, moves=True)

    def walk(self, way: _Way, number: int, cuts: _Cuts, point: Floats) -> float:
        """How far one request has to walk; cuts found on the way are collected."""
        state = self._state
        target = float(way.targets[number])
        gain = float(way.inner_targets[number]) - target
        if target <= 0 and gain <= 0:
            return 0.0
        outer, inner = state.limited(number, way.outer), state.limited(number, way.inner)
        share = 0.0
        for step in range(_STEPS):
            wanted = max(target + share * gain, TOLERANCE * max(target, target + gain))
            capacity = outer if share == 0 else outer + share * (inner - outer)
            lp = self._standing if step == 0 else self._walking
            answer = lp.limit(number, capacity, wanted)
            if answer is None or answer[0] >= 1 - SAME_AMOUNT:
                return share
            _, ends, charge = answer
            row = np.zeros(len(ends), np.int64)
            cuts.put(self._model, state, np.array([number]), row, ends, charge, point)
            if not way.is_open or share >= 1.0:
                return 1.0
            at_outer = float(charge @ outer[ends])
            at_inner = float(charge @ inner[ends])
            gained, missing = (at_inner - at_outer) - gain, target - at_outer
            # The next point lies further on, if only by rounding.
            share = share * (1 + ONWARD) + ROUNDING_NOISE
            share = 1.0 if not gained > missing else min(1.0, max(share, missing / gained))
            if step + 2 >= _STEPS:
                share = 1.0
        return share
