"""Cuts for intervals, found on the way from the relaxation's optimum to a point inside.

Every request is a convex set of points: those whose rooms let a cell get far enough. From a
point outside, the way to a point inside crosses its boundary; the cuts found on that way, the
last of which supports the set, are what the relaxation needs (in-out separation, with Newton's
method for the crossing, one crossing for each request).

A cut charges d for rooms: the sum over cells of (d+ up + d- down) is at least the target, with
d = e_s - A'g for multipliers g (paper 002, (3.24); paper 000, (8) and (9)). Where an attacker
knows more of a cell than its interval tells, the cell counts with what the attacker knows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.reach import TOLERANCE
from tacit.errors import SolverError
from tacit.methods.intervals.elimination import LinearPart
from tacit.methods.intervals.model import IntervalsModel, Rival
from tacit.problem import Floats, Integers
from tacit.solver.highs import HighsModel

VIOLATION = 1e-7
"""A request is met when it misses its target by at most this share."""

_STEPS = 25
_LONG_STEPS = 5
_FAR = 1e4
"""Rooms beyond so many times the target make no difference."""
_DENOMINATOR = 2520.0
"""Multipliers of tables are fractions with small denominators; this is divisible by 1 to 10."""


@dataclass(frozen=True, eq=False)
class Found:
    """What came up on the way inside.

    Attributes:
        rows: Cuts `rows point >= right`.
        right: Their right-hand sides.
        walked: The share of the way after which every request is met.
        repaired: The point, opened where requests had to walk to be met; None if not asked.
        missed: For each rival the requests that the point misses and that `repaired` does not
            care for.
    """

    rows: sparse.csr_array[Any, Any]
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
        self._partner = model.partner
        self._linear = [_LinearWalk(model, rival) for rival in model.rivals]

    def approach(self, point: Floats, inside: Floats | None = None) -> Found:
        """Cuts between a point and a point inside, or at the point if there is none."""
        model = self._model
        cuts = _Cuts(model.size)
        walked = 0.0
        repaired = point.copy()
        missed = []
        for rival, walk in zip(model.rivals, self._linear, strict=True):
            outer = model.capacity(rival, point)
            inner = outer if inside is None else model.capacity(rival, inside)
            targets = rival.targets(point)
            inner_targets = targets if inside is None else rival.targets(inside)
            in_network = model.structure.in_network[rival.cells]
            way = _Way(rival, outer, inner, targets, inner_targets, inside is not None)
            share = np.zeros(len(targets))
            flows = np.flatnonzero(in_network)
            if len(flows):
                share[flows] = self._by_flows(way, flows, cuts, repaired, point)
            others = np.flatnonzero(~in_network)
            if len(others):
                share[others] = walk.walk(way, others, cuts, point, self._stop)
            missed.append(others[share[others] > 0])
            walked = max(walked, float(share.max(initial=0.0)))
        rows, right = cuts.matrix()
        return Found(rows, right, walked, model.with_own_reaches(repaired), missed)

    def _by_flows(
        self, way: _Way, flows: Integers, cuts: _Cuts, repaired: Floats, point: Floats
    ) -> Floats:
        """Walk for requests in networks; both sides of a sliding level walk equally far."""
        share = self._flow_round(way, flows, np.zeros(len(flows)), cuts, repaired, point)
        place = way.rival.place[flows]
        sliding = np.flatnonzero(place >= 0)
        if len(sliding) and way.is_open:
            by_place = np.zeros(self._model.size)
            by_place[place[sliding]] = share[sliding]
            both = np.maximum(share[sliding], by_place[self._partner[place[sliding]]])
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
        from tacit.methods.intervals.kernels import approach

        model, rival = self._model, way.rival
        network = model.structure.network
        assert network is not None
        cells = np.flatnonzero(model.structure.in_network)
        ends = np.stack([2 * cells, 2 * cells + 1], axis=1).ravel()
        arc = np.cumsum(model.structure.in_network)[rival.cells[flows]] - 1
        largest = max(
            float(way.targets[flows].max(initial=0.0)),
            float(way.inner_targets[flows].max(initial=0.0)),
        )
        share, pointer, ways, owner, sent = approach(
            network.first,
            network.link,
            network.tail,
            network.head,
            # A flow never sends more than its target through an arc.
            np.minimum(way.outer[ends], 2 * largest),
            np.minimum(way.inner[ends], 2 * largest),
            arc,
            rival.sides[flows],
            way.targets[flows],
            way.inner_targets[flows],
            begin,
            VIOLATION,
            _STEPS if way.is_open else 1,
        )
        row = np.repeat(np.arange(len(owner)), np.diff(pointer))
        charged = ends[ways]
        cuts.put(model, rival, flows[owner], row, charged, np.ones(len(charged)), point)
        free = model.is_free[ends]
        repaired[ends[free]] = np.maximum(repaired[ends[free]], sent[free])
        return np.asarray(share)


@dataclass(frozen=True, eq=False)
class _Way:
    """The way from a point to a point inside, as one attacker sees it."""

    rival: Rival
    outer: Floats
    inner: Floats
    targets: Floats
    inner_targets: Floats
    is_open: bool


class _Cuts:
    """Collects cuts."""

    def __init__(self, columns: int):
        self._columns = columns
        self._rows: list[sparse.csr_array[Any, Any]] = []
        self._right: list[Floats] = []

    def put(
        self,
        model: IntervalsModel,
        rival: Rival,
        requests: Integers,
        row: Integers,
        ends: Integers,
        charge: Floats,
        point: Floats,
    ) -> None:
        """Add cuts, given as entries: row, end and charge.

        Args:
            model: The intervals problem.
            rival: Whom the cuts are against.
            requests: The request of each row.
            row: Row of each entry.
            ends: End of each entry.
            charge: What it charges.
            point: The point to cut off.
        """
        count = len(requests)
        room = rival.room[ends]
        # What the attacker knows anyway, or better than from the interval, is a number.
        known = ~model.is_free[ends] | (room < point[ends])
        tiny = charge < TOLERANCE
        number = np.where(known | tiny, charge * np.where(tiny & np.isinf(room), 0.0, room), 0.0)
        place = rival.place[requests]
        sliding = np.flatnonzero(place >= 0)
        level = np.where(place >= 0, 0.0, rival.level[requests])
        right = level - np.bincount(row, number, minlength=count)
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

    def matrix(self) -> tuple[sparse.csr_array[Any, Any], Floats]:
        """All cuts."""
        if not self._rows:
            return sparse.csr_array((0, self._columns)), np.zeros(0)
        return sparse.csr_array(sparse.vstack(self._rows)), np.concatenate(self._right)


class _LinearWalk:
    """Walks for requests about cells outside networks, by linear programmes.

    The programme is the dual of the attacker's: the cheapest charges d that bound the cell,
    with costs that are the rooms in units of the target at hand. Its rows are only as many as
    cells are left after totals have been eliminated, and d is the cut. From request to request
    and step to step the simplex method goes on from the last basis.
    """

    def __init__(self, model: IntervalsModel, rival: Rival):
        self._model = model
        self._rival = rival
        self._part = LinearPart(model, rival)
        self._lp: HighsModel | None = None
        self._own: Integers | None = None

    def walk(
        self,
        way: _Way,
        requests: Integers,
        cuts: _Cuts,
        point: Floats,
        stop: Callable[[], bool],
    ) -> Floats:
        """How far requests have to walk; cuts found on the way are collected.

        They walk together, in few long steps: as long as the rooms are the same, going from
        one request to the next costs little.
        """
        walked = np.zeros(len(requests))
        # Both sides of a cell one after the other.
        remaining = np.lexsort((way.rival.sides[requests], way.rival.cells[requests]))
        share = 0.0
        for step in range(_LONG_STEPS):
            capacity = way.outer if share == 0 else way.outer + share * (way.inner - way.outer)
            further = np.zeros(len(requests))
            for at in remaining.tolist():
                if stop():
                    walked[remaining] = 1.0
                    return walked
                further[at] = self._look(way, int(requests[at]), share, capacity, cuts, point)
            walked[remaining] = share
            remaining = remaining[further[remaining] > 0]
            if len(remaining) == 0:
                return walked
            if not way.is_open or share >= 1.0:
                break
            crossings = further[remaining]
            share = float(np.median(crossings) if step == 0 else crossings.max())
            if step + 2 >= _LONG_STEPS:
                share = 1.0
        walked[remaining] = 1.0
        return walked

    def _look(
        self,
        way: _Way,
        number: int,
        share: float,
        capacity: Floats,
        cuts: _Cuts,
        point: Floats,
    ) -> float:
        """0 if a request is met; else where on the way the cut that it misses is met."""
        target = float(way.targets[number])
        gain = float(way.inner_targets[number]) - target
        wanted = target + share * gain
        if wanted <= TOLERANCE * max(target, target + gain):
            return 0.0
        answer = self._furthest(number, capacity, wanted)
        if answer is None or answer[0] >= 1 - VIOLATION:
            return 0.0
        _, ends, charge = answer
        row = np.zeros(len(ends), np.int64)
        cuts.put(self._model, self._rival, np.array([number]), row, ends, charge, point)
        at_outer = float(charge @ way.outer[ends])
        gained = float(charge @ way.inner[ends]) - at_outer - gain
        missing = target - at_outer
        later = share * (1 + 1e-6) + 1e-9
        return 1.0 if not gained > missing else min(1.0, max(later, missing / gained))

    def _furthest(
        self, number: int, capacity: Floats, unit: float
    ) -> tuple[float, Integers, Floats] | None:
        """How far the cell gets, in units, and the charges; None if nothing restrains it."""
        part = self._part
        lp = self._lp = self._lp or self._start()
        self._turn(number)
        cost = np.minimum(capacity[part.ends] / unit, _FAR)
        assert self._own is not None
        cost[self._own] = 0.0
        lp.set_cost(np.arange(len(cost)), cost)
        solution = None
        for cold in (False, True):
            try:
                solution = lp.solve(cold=cold, strategy="dual")
            except SolverError:
                continue
            if solution.status == "optimal":
                break
        if solution is None or solution.status != "optimal":
            # Without an answer there is no cut; whether a point is safe is not decided here.
            return None
        d = solution.x[: len(part.ends)].copy()
        d[self._own] = 0.0
        near = np.rint(d * _DENOMINATOR) / _DENOMINATOR
        d = np.where(np.abs(near - d) < 1e-7, near, d)
        charged = np.flatnonzero(d > 0)
        return float(cost @ d), part.ends[charged], d[charged]

    def _turn(self, number: int) -> None:
        """Turn the programme to another request: its cell is charged one unit to be moved."""
        part, lp = self._part, self._lp
        assert lp is not None
        count = len(part.cells)
        if self._own is not None:
            lp.set_bounds(self._own, np.zeros(2), self._most[self._own])
        column = int(part.column[self._rival.cells[number]])
        self._own = np.array([column, count + column])
        fixed = np.array([0.0, 1.0]) if self._rival.sides[number] > 0 else np.array([1.0, 0.0])
        lp.set_bounds(self._own, fixed, fixed)

    def _start(self) -> HighsModel:
        part = self._part
        # No charge on what may move without end.
        self._most = np.where(np.isinf(self._rival.room[part.ends]), 0.0, np.inf)
        self._most[self._model.is_free[part.ends]] = np.inf
        rest = part.rest.shape[0]
        zeros = np.zeros(part.sums.shape[1])
        return HighsModel(
            sparse.csr_array(sparse.hstack([part.sums.T, -part.sums.T, part.rest.T])),
            row_lower=zeros,
            row_upper=zeros,
            lower=np.concatenate([np.zeros(len(part.ends)), np.full(rest, -np.inf)]),
            upper=np.concatenate([self._most, np.full(rest, np.inf)]),
            tolerance=VIOLATION,
        )
