"""The way from a point to a point inside, as one attacker sees it, and the cuts found on it.

A request walks until it is met. In a network flows tell how far that is, and their minimum cuts
are the cuts. In other tables strips narrow it down (`tacit.attack.strips`): an open strip knows
fewer relations than the table does, so that a request gets no further in the table than there,
and its cuts hold; in a closed strip everything else stands still, so that what is met there is
met in the table. Linear programs answer what both leave open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tacit.attack.network_parts import NetworkPart
from tacit.attack.reach import TOLERANCE
from tacit.clock import check_time
from tacit.methods.engine.cut_pool import Rows
from tacit.methods.intervals.attackers import AttackerState
from tacit.methods.intervals.linear_part import LinearPart, limit_lp
from tacit.methods.intervals.model import IntervalsModel
from tacit.problem import Booleans, Floats, Integers
from tacit.tolerances import ONWARD, ROUNDING_NOISE, SAME_AMOUNT

_STEPS = 25
"""Steps on the way inside, at most."""
_FLOWS = 1000
"""Requests that are answered by flows between two looks at the clock."""


@dataclass(frozen=True, eq=False)
class Way:
    """The way from a point to a point inside, as one attacker sees it."""

    state: AttackerState
    outer: Floats
    inner: Floats
    targets: Floats
    inner_targets: Floats
    is_open: bool

    @property
    def most(self) -> float:
        """More than a flow ever sends through an arc, which is no more than its target."""
        return 2 * float(max(self.targets.max(initial=0.0), self.inner_targets.max(initial=0.0)))

    def target_at(self, requests: Integers, share: Floats) -> Floats:
        """How far requests are to get after a share of the way."""
        low, high = self.targets[requests], self.inner_targets[requests]
        return low + share * (high - low)


class Cuts:
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


class LinearWalk:
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

    def walk(self, way: Way, number: int, cuts: Cuts, point: Floats, begin: float = 0.0) -> float:
        """How far one request has to walk; cuts found on the way are collected."""
        state = self._state
        target = float(way.targets[number])
        gain = float(way.inner_targets[number]) - target
        if target <= 0 and gain <= 0:
            return 0.0
        outer, inner = state.limited(number, way.outer), state.limited(number, way.inner)
        share = begin
        for step in range(_STEPS):
            wanted = max(target + share * gain, TOLERANCE * max(target, target + gain))
            capacity = outer if share == 0 else outer + share * (inner - outer)
            lp = self._standing if share == 0 else self._walking
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


@dataclass(frozen=True, eq=False)
class Walked:
    """How far some requests have to walk in a network.

    Attributes:
        share: How far each of them walked.
        is_met: Whether it was met there.
        sent: For each end of the network's cells, in turn, the most that a request needs that
            had to walk.
    """

    share: Floats
    is_met: Booleans
    sent: Floats


class FlowWalk:
    """Walks for requests about cells of one network."""

    def __init__(self, model: IntervalsModel, part: NetworkPart):
        self._model = model
        self._part = part
        self.ends = np.stack([2 * part.cells, 2 * part.cells + 1], axis=1).ravel()

    def walk(
        self,
        way: Way,
        requests: Integers,
        begin: Floats,
        point: Floats,
        cuts: Cuts | None = None,
        *,
        steps: int = _STEPS,
    ) -> Walked:
        """Walk for each of these requests, a few at a time so that the clock is asked.

        Args:
            way: The way.
            requests: Numbers of the requests, whose cells are in the network.
            begin: Where each of them begins.
            point: The point to cut off.
            cuts: Collects the cuts; None where the network does not have all cells that its
                relations have, so that its cuts are none of the table.
            steps: Steps for each request, at most.
        """
        share, is_met = np.zeros(len(requests)), np.zeros(len(requests), bool)
        sent = np.zeros(len(self.ends))
        for start in range(0, len(requests), _FLOWS):
            check_time()
            chunk = slice(start, start + _FLOWS)
            some = self._walk(way, requests[chunk], begin[chunk], point, cuts, steps)
            share[chunk], is_met[chunk] = some.share, some.is_met
            np.maximum(sent, some.sent, out=sent)
        return Walked(share, is_met, sent)

    def _walk(
        self,
        way: Way,
        requests: Integers,
        begin: Floats,
        point: Floats,
        cuts: Cuts | None,
        steps: int,
    ) -> Walked:
        from tacit.methods.intervals.kernels import approach

        state, cells, ends = way.state, self._part.cells, self.ends
        arcs = np.full(self._model.problem.cell_count, -1, np.int64)
        arcs[cells] = np.arange(len(cells))
        share, is_met, pointer, ways, owner, sent = approach(
            self._part.network.arrays,
            np.minimum(way.outer[ends], way.most),
            np.minimum(way.inner[ends], way.most),
            arcs[state.cells[requests]],
            state.sides[requests],
            way.targets[requests],
            way.inner_targets[requests],
            begin,
            state.limits_of(requests, arcs).arrays,
            SAME_AMOUNT,
            steps if way.is_open else 1,
        )
        if cuts is not None:
            row = np.repeat(np.arange(len(owner)), np.diff(pointer))
            charged = ends[ways]
            ones = np.ones(len(charged))
            cuts.put(self._model, state, requests[owner], row, charged, ones, point)
        return Walked(np.asarray(share), np.asarray(is_met), np.asarray(sent))


class StripWalks:
    """Walks in strips for requests about cells outside networks.

    Attributes:
        opened: How far each request walks in the table at least: as far as in open strips.
        closed: How far it walks at most: as far as in a closed strip; inf where none meets it.
    """

    def __init__(self, model: IntervalsModel, way: Way, requests: Integers):
        self._model = model
        self._way = way
        self._requests = requests
        self._cells = way.state.cells[requests]
        self.opened = np.zeros(len(requests))
        self.closed = np.full(len(requests), np.inf)
        self._strip = np.full(len(requests), -1, np.int64)
        self._walks: list[FlowWalk] = []

    @property
    def is_settled(self) -> Booleans:
        """Requests that are met where they are, or cut off and met further on."""
        is_cut_off = (self.opened > 0) & np.isfinite(self.closed)
        return np.asarray((self.closed <= self.opened) | is_cut_off)

    @property
    def share(self) -> Floats:
        """How far requests walk, of those that are settled; where to begin with the others."""
        return np.where(np.isfinite(self.closed) & self.is_settled, self.closed, self.opened)

    def in_open(self, cuts: Cuts, point: Floats) -> None:
        """Walk in all strips; each goes on from where the last one ended."""
        for part, at in self._model.structure.strips.with_cells(self._cells):
            network = FlowWalk(self._model, part)
            walked = network.walk(self._way, self._requests[at], self.opened[at], point, cuts)
            self.opened[at] = np.maximum(self.opened[at], walked.share)

    def in_closed(self, point: Floats) -> None:
        """Walk in those strips in which cells may move while everything else stands still."""
        for part, at in self._model.structure.strips.moving_with(self._cells):
            at = at[self.closed[at] > self.opened[at]]
            if not len(at):
                continue
            network = FlowWalk(self._model, part)
            walked = network.walk(self._way, self._requests[at], self.opened[at], point)
            better = walked.is_met & (walked.share < self.closed[at])
            self.closed[at[better]] = walked.share[better]
            self._strip[at[better]] = len(self._walks)
            self._walks.append(network)

    def chosen(self, asked: Booleans) -> Iterator[tuple[FlowWalk, Integers]]:
        """The closed strips in which asked requests walk least, each with their places."""
        for number in np.unique(self._strip[asked & (self._strip >= 0)]).tolist():
            yield self._walks[number], np.flatnonzero(asked & (self._strip == number))
