"""How far requests get when cells are suppressed by shares, and what proves it.

In a network flows tell. In other tables a flow in a closed strip, while everything else stands
still, is a deviation of the table: what is met there is met (`tacit.attack.strips`). Linear
programs answer the rest. Minimum cuts of open strips would be cuts, too, but weaker ones: with them
the relaxation is solved more often, and its bound rises more slowly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.attack.network_parts import NetworkPart
from tacit.methods.combined.model import CombinedModel
from tacit.methods.intervals.attackers import AttackerState
from tacit.methods.intervals.linear_part import DeviationLp, LinearPart
from tacit.problem import Floats, Integers
from tacit.tolerances import CLEARLY_VIOLATED

Charges = tuple[float, Integers, Floats]
"""How far a request gets, and the ends that prove it with what they are charged."""


@dataclass(frozen=True)
class Request:
    """A level of a sensitive cell: one side's, or the sliding one of both."""

    cell: int
    level: float
    numbers: tuple[int, ...]


class Sides:
    """One attacker's requests, by sensitive cell."""

    def __init__(self, model: CombinedModel, state: AttackerState):
        self.state = state
        self._model = model
        self._lp: DeviationLp | None = None
        self._requests: list[Request] = []
        self._gathered = 0
        self._strips_of: dict[int, list[NetworkPart]] = {}

    @property
    def requests(self) -> list[Request]:
        """Both sides of a sliding level belong together; every other request is on its own."""
        state = self.state
        if self._gathered == len(state.cells):
            return self._requests
        # Against contributors more is asked from time to time.
        self._gathered = len(state.cells)
        partner = self._model.partner
        by_place = {int(place): at for at, place in enumerate(state.place) if place >= 0}
        single, pairs = [], []
        for number in np.lexsort((state.sides, state.cells)).tolist():
            cell, place = int(state.cells[number]), int(state.place[number])
            if state.level[number] > 0:
                single.append(Request(cell, float(state.level[number]), (number,)))
            if place >= 0 and state.sides[number] < 0:
                both = number, by_place[int(partner[place])]
                pairs.append(Request(cell, float(state.sliding[number]), both))
        self._requests = single + pairs
        return self._requests

    def missed(self, request: Request, ends: Floats, x: Floats) -> list[Charges] | None:
        """What proves that a level is out of reach; None if it is not."""
        capacity = {
            number: self._capacity(number, ends, x, request.level) for number in request.numbers
        }
        in_network = self._model.structure.in_network[request.cell]
        if not in_network and self._is_met(request, ends, capacity):
            return None
        return self._beyond(request, ends, capacity)

    def _beyond(
        self, request: Request, ends: Floats, capacity: dict[int, Floats]
    ) -> list[Charges] | None:
        """What proves that a level is out of reach, by the whole table; None if it is not."""
        charges: list[Charges] = []
        reached = 0.0
        for number in request.numbers:
            side = self._reach(number, capacity[number], request.level)
            if len(request.numbers) > 1:
                own, most = self._own(request, number, ends)
                if most < side[0]:
                    side = most, own, np.ones(1)
            reached += side[0]
            charges.append(side)
            if reached >= request.level * (1 - CLEARLY_VIOLATED):
                return None
        return charges

    def _own(self, request: Request, number: int, ends: Floats) -> tuple[Integers, float]:
        """The own end of a side, and the most that the cell itself can move there."""
        own = np.array([2 * request.cell + (1 if self.state.sides[number] < 0 else 0)])
        known = float(self.state.most(np.array([number]), own)[0])
        return own, min(float(ends[own[0]]), known)

    def _is_met(self, request: Request, ends: Floats, capacity: dict[int, Floats]) -> bool:
        """Do flows in closed strips get as far as the level?"""
        reached = 0.0
        for number in request.numbers:
            most = np.inf
            if len(request.numbers) > 1:
                most = self._own(request, number, ends)[1]
            flows = (
                self._flow(part, number, capacity[number], request.level)[0]
                for part in self._strips(request.cell)
            )
            reached += min(max(flows, default=0.0), most)
            if reached >= request.level * (1 - CLEARLY_VIOLATED):
                return True
        return False

    def _capacity(self, number: int, ends: Floats, x: Floats, level: float) -> Floats:
        most = self.state.limited(number, np.minimum(self.state.capacity, level)) * np.repeat(x, 2)
        shown = np.where(self._model.is_free, ends[: len(most)], 0.0)
        return np.asarray(np.minimum(shown, most))

    def _reach(self, number: int, capacity: Floats, level: float) -> Charges:
        structure = self._model.structure
        if structure.in_network[self.state.cells[number]]:
            return self._flow(self._whole, number, capacity, level)
        if self._lp is None:
            # Most slacks and x are 0, where this form is many times faster than its dual.
            self._lp = DeviationLp(self.state, LinearPart.of(self._model, self.state))
        answer = self._lp.limit(number, capacity, level)
        if answer is None:
            return np.inf, np.zeros(0, np.int64), np.zeros(0)
        return answer[0] * level, answer[1], answer[2]

    @cached_property
    def _whole(self) -> NetworkPart:
        structure = self._model.structure
        assert structure.network is not None
        return NetworkPart(structure.network, np.flatnonzero(structure.in_network))

    def _strips(self, cell: int) -> list[NetworkPart]:
        """The strips in which a cell may move while everything else stands still."""
        if cell not in self._strips_of:
            found = self._model.structure.strips.moving_with(np.array([cell]))
            self._strips_of[cell] = [part for part, _ in found]
        return self._strips_of[cell]

    def _flow(self, part: NetworkPart, number: int, capacity: Floats, level: float) -> Charges:
        """How far a request gets in a network, and what proves it; inf from the level on."""
        from tacit.attack.flow import maximum_flows

        network, cells = part.network, part.cells
        arc = int(np.searchsorted(cells, self.state.cells[number]))
        ones = np.ones(len(cells))
        amount, _, _, _, cut = maximum_flows(
            network.first,
            network.link,
            network.tail,
            network.head,
            capacity[2 * cells],
            capacity[2 * cells + 1],
            np.array([arc]),
            self.state.sides[[number]],
            np.array([level]),
            np.array([np.inf]),
            ones,
            ones > 0,
        )
        if amount[0] >= level:
            return np.inf, np.zeros(0, np.int64), np.zeros(0)
        inside = cut[0].astype(np.int8)
        d = inside[network.tail] - inside[network.head]
        d[arc] = 0
        crossing = np.flatnonzero(d)
        return float(amount[0]), 2 * cells[crossing] + (d[crossing] < 0), np.ones(len(crossing))
