"""Who attacks intervals, and what a safe publication owes to the sensitive cells against them.

Contributors are many, and each knows a few cells of its own. They share one state: requests
against them carry what the contributor knows as limits, and only those are there that a point has
made worth asking.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from tacit.attack.insider_knowledge import InsiderKnowledge
from tacit.attack.insider_search import InsiderFindings
from tacit.attack.knowledge import Attacker
from tacit.attack.reach import TOLERANCE, Limits, Requests
from tacit.methods.engine.insider_pairs import WatchedPairs
from tacit.problem import Floats, Integers
from tacit.tolerances import UNDECIDED


def interleaved(up: Floats, down: Floats) -> Floats:
    """Slacks above and below as one vector."""
    ends = np.empty(2 * len(up))
    ends[0::2], ends[1::2] = up, down
    return ends


@dataclass(eq=False)
class AttackerState:
    """One attacker, and what a safe publication owes to the sensitive cells against them.

    Attributes:
        attacker: Who.
        capacity: The most that this attacker thinks possible for each end.
        cells: The cell of each request.
        sides: 1 where it is to rise, -1 where it is to fall.
        level: How far at least, whatever the other side does.
        place: The request's reach in the vector; -1 where the level is all that is asked.
        sliding: What both reaches of the cell have to make up; 0 without a place.
        limits: What is known of cells in some requests besides; None if nothing is.
    """

    attacker: Attacker
    capacity: Floats
    cells: Integers
    sides: Integers
    level: Floats
    place: Integers
    sliding: Floats
    limits: Limits | None = None

    def targets(self, point: Floats) -> Floats:
        """How far each request is to get at a point."""
        return np.where(self.place >= 0, point[np.maximum(self.place, 0)], self.level)

    def most(self, requests: Integers, ends: Integers) -> Floats:
        """The most that the attacker thinks possible for an end in a request, pair by pair."""
        most = self.capacity[ends]
        if self.limits is None:
            return most
        return np.minimum(most, self.limits.at(requests, ends // 2, ends % 2 == 0))

    def limited(self, number: int, capacity: Floats) -> Floats:
        """Capacities of all ends, cut off at what is known in one request."""
        if self.limits is None:
            return capacity
        cells, up, down = self.limits.of(number)
        if not len(cells):
            return capacity
        capacity = capacity.copy()
        capacity[2 * cells] = np.minimum(capacity[2 * cells], up)
        capacity[2 * cells + 1] = np.minimum(capacity[2 * cells + 1], down)
        return capacity

    def limits_of(self, requests: Integers, arcs: Integers) -> Limits:
        """What is known in some requests, with cells numbered as arcs of a network."""
        if self.limits is None:
            return Limits.none(len(requests))
        return self.limits.take(requests).numbered_by(arcs)


@dataclass(eq=False)
class InsiderState(AttackerState):
    """Contributors as attackers, with the requests that points so far have made worth asking.

    Attributes:
        known: What contributors know.
        pairs: The pairs that are watched; models of the same table share them.
        plain: How many of those with a level on one side are asked here.
        wide: How many of those with a sliding level are asked here.
    """

    known: InsiderKnowledge = field(kw_only=True)
    pairs: WatchedPairs = field(kw_only=True)
    plain: int = 0
    wide: int = 0

    @classmethod
    def of(cls, reader: AttackerState, pairs: WatchedPairs) -> InsiderState:
        """Contributors, given the state of a reader."""
        nothing = np.zeros(0, np.int64)
        return cls(
            replace(reader.attacker, name="contributors"),
            reader.capacity,
            nothing,
            nothing,
            np.zeros(0),
            nothing,
            np.zeros(0),
            Limits.none(0),
            known=pairs.known,
            pairs=pairs,
        )

    @property
    def is_behind(self) -> bool:
        """Are pairs watched that are not asked here yet?"""
        return self.plain < len(self.pairs.requests) or self.wide < len(self.pairs.sliding)

    @property
    def new(self) -> tuple[Requests, Requests]:
        """The pairs that are not asked here yet: with a level on one side, with a sliding one."""
        return (
            self.pairs.requests.take(slice(self.plain, None)),
            self.pairs.sliding.take(slice(self.wide, None)),
        )

    def ask(self, plain: Requests, wide: Requests, place: Integers) -> None:
        """Ask what was new from now on.

        Args:
            plain: Requests with a level on one side.
            wide: Cells with a sliding level.
            place: The reaches of these, those above first.
        """
        assert self.limits is not None
        assert plain.limits is not None
        assert wide.limits is not None
        sides = np.array([1, -1])
        count, levels = len(plain), len(wide)
        self.plain += count
        self.wide += levels
        self.cells = np.concatenate([self.cells, plain.cells, np.tile(wide.cells, 2)])
        self.sides = np.concatenate([self.sides, plain.sides, np.repeat(sides, levels)])
        self.level = np.concatenate([self.level, plain.targets, np.zeros(2 * levels)])
        self.place = np.concatenate([self.place, np.full(count, -1, np.int64), place.ravel()])
        self.sliding = np.concatenate([self.sliding, np.zeros(count), np.tile(wide.targets, 2)])
        chosen = [self.limits.chosen, plain.limits.chosen, np.tile(wide.limits.chosen, 2)]
        self.limits = replace(plain.limits, chosen=np.concatenate(chosen))

    def share(self, found: InsiderFindings) -> float:
        """The smallest share of a level that is there against contributors, at most 1."""
        pairs, amount = found.pairs, found.reaches.amount
        asked = pairs.level > 0
        least = float((amount[asked] / pairs.level[asked]).min(initial=1.0))
        least = min(least, float(found.exposed_share.min(initial=1.0)))
        if len(found.undecided) and least >= 1 - TOLERANCE:
            return 1 - UNDECIDED
        return least

    def watch(self, found: InsiderFindings) -> None:
        """Watch what a point was found to miss."""
        self.pairs.watch(found.missed, found.missed_sliding(self.known))
