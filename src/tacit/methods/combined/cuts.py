"""Mixed cuts: each cell is charged for its room or for being suppressed, whichever is less.

No deviation moves a cell beyond its room, nor at all if the cell is published. So with charges
d = e_s - A'g as everywhere, every solution satisfies

    sum over cells of min(d room, d most x)  >=  level of s,

where `most` is what the bounds leave, and the minimum may be decided cell by cell. Charging all
cells for their rooms gives the cuts of intervals, charging all for x those of complete
suppression; what is between is stronger than both. As x is whole, coefficients of x may be cut off
at the level, and cells may be counted in full (knapsack cover). For a sliding level the charges of
both sides are added up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.methods.combined.model import CombinedModel
from tacit.methods.intervals.elimination import LinearPart
from tacit.methods.intervals.linear_part import DeviationProgramme
from tacit.methods.intervals.model import Rival
from tacit.problem import Booleans, Floats, Integers

_VIOLATION = 1e-4
"""A cut is worth adding when it misses its level by more than this share."""
_STEPS = 12
"""Steps on the way inside, at most."""
_FULLY = 0.5
"""From this x on a cell may be counted in full."""

Cut = tuple[Integers, Floats, float]
"""Columns, coefficients and right-hand side."""
Cuts = tuple[sparse.csr_array[Any, Any], Floats]
"""Rows `rows vector >= right`, and their right-hand sides."""
Charges = tuple[float, Integers, Floats]
"""How far a request gets, and the ends that prove it with what they are charged."""


class MixedSeparation:
    """Finds mixed cuts against all attackers; keeps its programmes between calls."""

    def __init__(
        self, model: CombinedModel, columns: Integers, stop: Callable[[], bool] = lambda: False
    ):
        """Prepare.

        Args:
            model: The combined problem.
            columns: For each cell the column of its x in the rows to be made; -1 for none.
            stop: Asked before each request; True ends a round early, with the cuts found so far.
        """
        self._model = model
        self._columns = columns
        self._stop = stop
        self._size = model.size + int((columns >= 0).sum())
        self._sides = [_Sides(model, rival) for rival in model.rivals]

    def cuts(self, ends: Floats, x: Floats) -> Cuts:
        """Violated cuts at some rooms and an x for each cell."""
        found = _Collected(self._size)
        for sides in self._sides:
            for request in sides.requests:
                if self._stop():
                    return found.matrix()
                charges = sides.missed(request, ends, x)
                if charges is not None:
                    found.put(self._best(sides.rival, request.level, charges, ends, x))
        return found.matrix()

    def approach(self, outer: Floats, inner: Floats) -> tuple[Cuts, float]:
        """Cuts on the way from a vector to one that is inside, each request on its own.

        Where a level is out of reach, the cut is a line along the way: the next vector is where
        that line meets its right-hand side (Newton's method), and the last cut found supports
        what the request allows.

        Args:
            outer: Places of a point, and x of each cell that may be suppressed or not.
            inner: The same, and safe, if x may be fractional.

        Returns:
            The cuts, and the share of the way after which all levels are within reach.
        """
        found = _Collected(self._size)
        furthest = 0.0
        first, last = self._split(outer), self._split(inner)
        for sides in self._sides:
            for request in sides.requests:
                if self._stop():
                    return found.matrix(), 1.0
                share = 0.0
                for _ in range(_STEPS):
                    ends, x = (a + share * (b - a) for a, b in zip(first, last, strict=True))
                    charges = sides.missed(request, ends, x)
                    if charges is None:
                        break
                    cut = self._best(sides.rival, request.level, charges, ends, x)
                    if cut is None:
                        break
                    found.put(cut)
                    columns, data, right = cut
                    here, there = float(data @ outer[columns]), float(data @ inner[columns])
                    further = (right - here) / (there - here) if there > right else 1.0
                    # The next vector lies further on, if only by rounding.
                    share = min(1.0, max(share * (1 + 1e-6) + 1e-9, further))
                    if share >= 1.0:
                        break
                furthest = max(furthest, share)
        return found.matrix(), furthest

    def _split(self, vector: Floats) -> tuple[Floats, Floats]:
        x = np.ones(len(self._columns))
        chosen = self._columns >= 0
        x[chosen] = vector[self._columns[chosen]]
        x[~chosen & ~self._model.is_always] = 0.0
        return vector[: self._model.cell_ends], x

    def _best(
        self,
        rival: Rival,
        level: float,
        charges: list[Charges],
        ends: Floats,
        x: Floats,
    ) -> Cut | None:
        """The most violated choice between rooms and x, as columns, coefficients, right side."""
        charged = np.concatenate([each[1] for each in charges])
        charge = np.concatenate([each[2] for each in charges])
        cells, place = np.unique(charged // 2, return_inverse=True)
        most = charge * np.minimum(rival.room[charged], 1e6 * level)
        full = _summed(place, most, len(cells))
        room = _summed(place, charge * ends[charged], len(cells))
        always = self._columns[cells] < 0
        share = np.where(always, 1.0, x[cells])
        best, settled, rest, count = np.inf, -1, level, 0
        # Cells whose room is no less than all they can give may be counted in full.
        order = np.flatnonzero((share > _FULLY) & (room >= full * (1 - 1e-9)))
        order = order[np.lexsort((cells[order], -share[order]))]
        needed = int(always[order].sum())
        order = np.concatenate([order[always[order]], order[~always[order]]])
        left = np.ones(len(cells), bool)
        while True:
            if count >= needed:
                term = np.minimum(room, np.minimum(full, rest) * share)
                met = float(term[left].sum()) / rest
                if met < best - 1e-9:
                    best, settled = met, count
            if count == len(order):
                break
            rest -= full[order[count]]
            left[order[count]] = False
            count += 1
            if rest <= 1e-6 * level:
                break
        if best > 1 - _VIOLATION:
            return None
        return self._row(cells, charged, charge, room, full, share, order[:settled], level)

    def _row(
        self,
        cells: Integers,
        charged: Integers,
        charge: Floats,
        room: Floats,
        full: Floats,
        share: Floats,
        settled: Integers,
        level: float,
    ) -> Cut:
        rest = level - float(full[settled].sum())
        left: Booleans = np.ones(len(cells), bool)
        left[settled] = False
        most = np.minimum(full, rest)
        by_x = left & (self._columns[cells] >= 0) & (most * share < room)
        by_room = left & ~by_x
        kept = by_room[np.searchsorted(cells, charged // 2)]
        columns = np.concatenate([charged[kept], self._columns[cells[by_x]]])
        data = np.concatenate([charge[kept], most[by_x]])
        # An end may be charged by both sides of a sliding level.
        columns, place = np.unique(columns, return_inverse=True)
        return columns.astype(np.int64), _summed(place, data, len(columns)), rest


def _summed(place: Integers, data: Floats, count: int) -> Floats:
    return np.bincount(place, data, minlength=count).astype(np.float64)


class _Collected:
    """Collects cuts."""

    def __init__(self, size: int):
        self._size = size
        self._cuts: list[Cut] = []

    def put(self, cut: Cut | None) -> None:
        """Add a cut, if there is one."""
        if cut is not None:
            self._cuts.append(cut)

    def matrix(self) -> Cuts:
        """All cuts."""
        pointer = np.concatenate([[0], np.cumsum([len(cut[0]) for cut in self._cuts])])
        columns = np.concatenate([np.zeros(0, np.int64), *(cut[0] for cut in self._cuts)])
        data = np.concatenate([np.zeros(0), *(cut[1] for cut in self._cuts)])
        shape = (len(self._cuts), self._size)
        right = np.array([cut[2] for cut in self._cuts], np.float64)
        return sparse.csr_array((data, columns, pointer), shape=shape), right


@dataclass(frozen=True)
class _Request:
    """A level of a sensitive cell: one side's, or the sliding one of both."""

    cell: int
    level: float
    numbers: tuple[int, ...]


class _Sides:
    """One attacker's requests, by sensitive cell."""

    def __init__(self, model: CombinedModel, rival: Rival):
        self.rival = rival
        self._model = model
        self._programme: DeviationProgramme | None = None
        problem = model.problem
        slides = dict(zip(problem.sensitive.tolist(), problem.sliding_level.tolist(), strict=True))
        # Both sides of a sliding level belong together; every other request is on its own.
        self.requests: list[_Request] = []
        pairs: dict[int, list[int]] = {}
        for number in np.lexsort((rival.sides, rival.cells)).tolist():
            cell = int(rival.cells[number])
            if rival.level[number] > 0:
                self.requests.append(_Request(cell, float(rival.level[number]), (number,)))
            if rival.place[number] >= 0:
                pairs.setdefault(cell, []).append(number)
        self.requests += [
            _Request(cell, slides[cell], tuple(numbers)) for cell, numbers in pairs.items()
        ]

    def missed(self, request: _Request, ends: Floats, x: Floats) -> list[Charges] | None:
        """What proves that a level is out of reach; None if it is not."""
        capacity = self._capacity(ends, x, request.level)
        charges: list[Charges] = []
        reached = 0.0
        for number in request.numbers:
            side = self._reach(number, capacity, request.level)
            own = 2 * request.cell + (1 if self.rival.sides[number] < 0 else 0)
            if len(request.numbers) > 1 and ends[own] < side[0]:
                side = float(ends[own]), np.array([own]), np.ones(1)
            reached += side[0]
            charges.append(side)
            if reached >= request.level * (1 - _VIOLATION):
                return None
        return charges

    def _capacity(self, ends: Floats, x: Floats, level: float) -> Floats:
        most = np.minimum(self.rival.room, level) * np.repeat(x, 2)
        shown = np.where(self._model.is_free, ends[: len(most)], 0.0)
        return np.asarray(np.minimum(shown, most))

    def _reach(self, number: int, capacity: Floats, level: float) -> Charges:
        cell = int(self.rival.cells[number])
        if self._model.structure.in_network[cell]:
            return self._by_flow(number, capacity, level)
        if self._programme is None:
            # Most rooms and x are 0, where this form is many times faster than its dual.
            self._programme = DeviationProgramme(self.rival, LinearPart(self._model, self.rival))
        answer = self._programme.limit(number, capacity, level)
        if answer is None:
            return np.inf, np.zeros(0, np.int64), np.zeros(0)
        return answer[0] * level, answer[1], answer[2]

    def _by_flow(self, number: int, capacity: Floats, level: float) -> Charges:
        from tacit.attack.flow import maximum_flows

        structure = self._model.structure
        network = structure.network
        assert network is not None
        cells = np.flatnonzero(structure.in_network)
        arc = int(np.searchsorted(cells, self.rival.cells[number]))
        ones = np.ones(len(cells))
        amount, _, _, _, cut = maximum_flows(
            network.first,
            network.link,
            network.tail,
            network.head,
            capacity[2 * cells],
            capacity[2 * cells + 1],
            np.array([arc]),
            self.rival.sides[[number]],
            np.array([level]),
            np.array([np.inf]),
            ones,
            ones > 0,
        )
        inside = cut[0].astype(np.int8)
        d = inside[network.tail] - inside[network.head]
        d[arc] = 0
        crossing = np.flatnonzero(d)
        if amount[0] >= level:
            return np.inf, np.zeros(0, np.int64), np.zeros(0)
        return float(amount[0]), 2 * cells[crossing] + (d[crossing] < 0), np.ones(len(crossing))
