"""The intervals problem as one vector, and who attacks it.

A point is a vector of rooms: place 2 i is how far the published interval of cell i reaches
above the true value, place 2 i + 1 how far below (z+ and z- of paper 002). Behind them stand
reaches: for a sensitive cell with a sliding level, how far each side is to reach for a given
attacker, so that both together make up the level. Other levels are numbers, not places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.knowledge import Attacker, Knowledge
from tacit.attack.reach import Reaches, Requests
from tacit.attack.shrink import Structure
from tacit.attack.sweep import Attack
from tacit.problem import Booleans, Floats, Integers, Problem


def interleaved(up: Floats, down: Floats) -> Floats:
    """Rooms above and below as one vector."""
    ends = np.empty(2 * len(up))
    ends[0::2], ends[1::2] = up, down
    return ends


@dataclass(frozen=True, eq=False)
class Rival:
    """One attacker, and what a safe publication owes to the sensitive cells against them.

    Attributes:
        attacker: Who.
        room: The most that this attacker thinks possible for each end.
        cells: The cell of each request.
        sides: 1 where it is to rise, -1 where it is to fall.
        level: How far at least, whatever the other side does.
        place: The request's reach in the vector; -1 where the level is all that is asked.
    """

    attacker: Attacker
    room: Floats
    cells: Integers
    sides: Integers
    level: Floats
    place: Integers

    def targets(self, point: Floats) -> Floats:
        """How far each request is to get at a point."""
        return np.where(self.place >= 0, point[np.maximum(self.place, 0)], self.level)


class IntervalsModel:
    """What all algorithms for intervals share.

    Attributes:
        problem: The table.
        attackers: Who attacks, as given.
        structure: Its examined relations.
        may_open: Cells that may become intervals if they are published.
        rivals: The attackers.
        is_free: The ends that may be opened.
        is_withheld: Ends of cells that are not published at all.
        weight: The cost of each place.
        lower: The least of each place.
        upper: The most of each place.
        rows: Rows `rows point >= right` that hold besides the cuts: the interval of a cell
            holds its reaches, and both reaches of a cell make up its sliding level.
        right: Their right-hand sides.
    """

    def __init__(
        self,
        problem: Problem,
        weight: Floats,
        allowed: Booleans,
        withheld: Booleans,
        attackers: Sequence[Attacker] = (),
    ):
        self.problem = problem
        self.attackers = tuple(attackers)
        self.may_open = allowed
        self._given = weight, withheld
        self.structure = Structure.of(problem)
        self._above = problem.upper - problem.value
        self._below = problem.value - problem.lower
        known = interleaved(np.maximum(self._above, 0.0), np.maximum(self._below, 0.0))
        self.is_withheld = np.repeat(withheld, 2)
        self.is_free = np.repeat(allowed & ~withheld & ~problem.must_publish, 2) & (known > 0)
        self._most = np.where(self.is_free | self.is_withheld, known, 0.0)
        self.rivals: list[Rival] = []
        self.weight = np.where(self.is_free, weight, 0.0)
        self.lower = np.zeros(len(known))
        self.upper = np.where(self.is_free, known, 0.0)
        self._pairs: list[tuple[Integers, Floats]] = []
        self._owned: list[tuple[Integers, Integers]] = []
        for attacker in attackers or (Attacker.external(),):
            self.rivals.append(self._rival(attacker))
        none = np.zeros((2, 0), np.int64)
        self._pair = np.concatenate([none, *(pair for pair, _ in self._pairs)], axis=1)
        self._sliding = np.concatenate([np.zeros(0), *(level for _, level in self._pairs)])
        self._own_end = np.concatenate([none[0], *(end for end, _ in self._owned)])
        self._own_reach = np.concatenate([none[0], *(reach for _, reach in self._owned)])
        self.rows, self.right = self._rows()

    @property
    def is_free_cell(self) -> Booleans:
        """Cells with an end that may be opened."""
        return self.is_free[0::2] | self.is_free[1::2]

    @property
    def cell_ends(self) -> int:
        """How many places are rooms; the rest are reaches."""
        return len(self.is_free)

    @property
    def size(self) -> int:
        """Length of a point."""
        return len(self.lower)

    def knowledge(self, ends: Floats) -> Knowledge:
        """What everyone knows when these rooms are published."""
        hidden = np.where(self.is_withheld, self._most, 0.0)
        shown = np.where(self.is_free, ends[: self.cell_ends], hidden)
        return Knowledge(shown[0::2], shown[1::2])

    def capacity(self, rival: Rival, point: Floats) -> Floats:
        """How far an attacker thinks each end may lie, given what is published."""
        published = np.where(self.is_free, point[: self.cell_ends], np.inf)
        shown = np.where(self.is_free | self.is_withheld, published, 0.0)
        return np.minimum(shown, rival.room)

    def answer(self, rival: Rival, ends: Floats, requests: Requests, **how: Any) -> Any:
        """What the attacker can deduce when these rooms are published."""
        public = self.knowledge(ends)
        told = rival.attacker.learn(self.problem, public)
        keep = rival.attacker.reopened(self.problem)
        attack = Attack(self.problem, told, structure=self.structure, keep=keep)
        return attack.reach(rival.attacker.ask(self.problem, public, requests), **how)

    def open_for(self, rooms: Floats, answer: Reaches, asked: Requests, wanted: Floats) -> None:
        """Open rooms for the tables of an answer, as far as they are wanted, in place."""
        tables = sparse.coo_array(answer.deviations)
        moved = np.bincount(
            tables.row,
            np.where(tables.col == asked.cells[tables.row], np.abs(tables.data), 0.0),
            minlength=len(asked),
        )
        shrink = np.where(moved > 0, np.minimum(1.0, wanted / np.maximum(moved, 1e-300)), 0.0)
        data = tables.data * shrink[tables.row]
        ends = 2 * tables.col + (data < 0)
        free = self.is_free[ends]
        np.maximum.at(rooms, ends[free], np.abs(data)[free])

    def completed(self, ends: Floats) -> Floats:
        """Rooms, opened to what intervals must have besides protection."""
        return ends

    def objective(self, point: Floats) -> float:
        """What the intervals of a point cost."""
        # Reaches cost nothing; ends that cost nothing may be infinite.
        used = np.flatnonzero(self.weight > 0)
        return float(self.weight[used] @ point[used])

    def _rival(self, attacker: Attacker) -> Rival:
        problem = self.problem
        public = Knowledge(self._most[0::2], self._most[1::2])
        told = attacker.learn(problem, public)
        asked = ~attacker.spares(problem)[problem.sensitive]
        cells = problem.sensitive[asked]
        levels = np.stack([problem.upper_level[asked], problem.lower_level[asked]])
        sliding = problem.sliding_level[asked]
        slides = sliding > levels.sum(0) * (1 + 1e-12)
        room = interleaved(told.up, told.down)
        count = len(cells)
        place = np.full((2, count), -1, np.int64)
        rival = Rival(
            attacker,
            room,
            np.tile(cells, 2),
            np.repeat(np.array([1, -1]), count),
            levels.ravel(),
            place.ravel(),
        )
        if slides.any():
            place = self._add_reaches(rival, np.flatnonzero(slides), levels, sliding)
        for side in (0, 1):
            ends = 2 * cells + side
            free = self.is_free[ends]
            least = np.maximum(self.lower[ends], levels[side])
            self.lower[ends[free]] = np.minimum(least, self.upper[ends])[free]
        wanted = (levels.ravel() > 0) | (place.ravel() >= 0)
        return Rival(
            attacker,
            room,
            rival.cells[wanted],
            rival.sides[wanted],
            rival.level[wanted],
            place.ravel()[wanted],
        )

    def _add_reaches(
        self, rival: Rival, index: Integers, levels: Floats, sliding: Floats
    ) -> Integers:
        """Places for both reaches of cells with sliding levels, and the rows they need."""
        count = levels.shape[1]
        place = np.full((2, count), -1, np.int64)
        cells = rival.cells[index]
        both = Requests.both_sides(cells, sliding[index], sliding[index])
        # No reach is of use beyond what even the widest intervals allow.
        most = self.answer(rival, self._most, both).amount.reshape(2, -1)
        start = self.size
        place[:, index] = start + np.arange(2 * len(index)).reshape(2, -1)
        self.lower = np.concatenate([self.lower, levels[:, index].ravel()])
        self.upper = np.concatenate([self.upper, np.maximum(most, levels[:, index]).ravel()])
        self.weight = np.concatenate([self.weight, np.zeros(2 * len(index))])
        ends = 2 * cells + np.array([[0], [1]])
        held = self.is_free[ends]
        self._pairs.append((place[:, index], sliding[index]))
        self._owned.append((ends[held], place[:, index][held]))
        return place

    def _rows(self) -> tuple[sparse.csr_array[Any, Any], Floats]:
        """Both reaches of a cell make up its sliding level; its interval holds them."""
        ones = np.ones(self._pair.shape[1] + len(self._own_end))
        first = np.concatenate([self._pair[0], self._own_end])
        second = np.concatenate([self._pair[1], self._own_reach])
        sign = np.where(np.arange(len(ones)) < self._pair.shape[1], 1.0, -1.0)
        row = np.arange(len(ones))
        entries = (
            np.concatenate([ones, sign]),
            (np.concatenate([row, row]), np.concatenate([first, second])),
        )
        rows = sparse.csr_array(entries, shape=(len(ones), self.size))
        return rows, np.concatenate([self._sliding, np.zeros(len(self._own_end))])

    def widest(self) -> Floats:
        """Rooms with every interval as wide as it may be; may be infinite."""
        return self._most

    def least_point(self) -> Floats:
        """The least rooms, with sliding levels shared out as the widest intervals suggest."""
        point = self.lower.copy()
        low = self.lower[self._pair]
        spare = self.upper[self._pair] - low
        missing = np.maximum(self._sliding - low.sum(0), 0.0)
        point[self._pair] = low + spare * missing / np.maximum(spare.sum(0), missing + 1e-300)
        return self.with_own_reaches(point)

    def with_own_reaches(self, point: Floats) -> Floats:
        """The point with every interval at least as wide as its cell's own reaches."""
        point = point.copy()
        np.maximum.at(point, self._own_end, point[self._own_reach])
        return point

    def with_reaches(self, ends: Floats) -> Floats:
        """A point with these rooms, in which cells reach as far as their own intervals."""
        point = self.upper.copy()
        point[: self.cell_ends] = ends
        for rival in self.rivals:
            asked = np.flatnonzero(rival.place >= 0)
            own = ends[2 * rival.cells[asked] + (rival.sides[asked] < 0)]
            place = rival.place[asked]
            point[place] = np.clip(own, self.lower[place], self.upper[place])
        return point

    def open_cells(self, point: Floats) -> Booleans:
        """Cells whose interval has a width."""
        ends = point[: self.cell_ends]
        return np.asarray((ends[0::2] > 0) | (ends[1::2] > 0))

    def restricted(self, cells: Booleans) -> IntervalsModel:
        """The same problem where only these cells, and the sensitive ones, may become intervals."""
        weight, withheld = self._given
        chosen = self.may_open & (cells | self.problem.is_sensitive)
        return IntervalsModel(self.problem, weight, chosen, withheld, self.attackers)

    @property
    def partner(self) -> Integers:
        """For each place the other reach of the same cell; -1 for rooms."""
        other = np.full(self.size, -1, np.int64)
        other[self._pair[0]], other[self._pair[1]] = self._pair[1], self._pair[0]
        return other
