"""Patterns from groups of sensitive cells, each with a deviation of its own.

One deviation for all sensitive cells (`joint`) asks for more than is needed: cells that move for
one of them are then not free to move for another. Groups of some dozen share nothing but the
cells: what moves for one group costs the next one nothing. Cells that were chosen at random get
in each other's way least, and each new division into groups finds something else to publish.
A linear program for a group takes little longer than one for a single cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.attack.joint_moves import JointMoves
from tacit.attack.reach import TOLERANCE
from tacit.clock import check_time
from tacit.methods.suppress.heuristics.joint import (
    ALMOST_FREE,
    JointPatterns,
    light_deviation,
)
from tacit.methods.suppress.model import Search
from tacit.problem import Booleans, Floats, Integers

_ROUNDS = 3
"""So many times the prices of a group follow from what has moved."""
_DIVISIONS = 4
"""So many divisions into groups are tried in a row at most,"""
_WORTHWHILE = 0.003
"""as long as each makes the pattern lighter by this share."""
_NUMBER = 40
"""So many groups there are about, of no fewer cells than"""
_SMALLEST = 4
_MANY = 1500
"""From this number of cells outside networks on, groups are quicker than one cell at a time."""
_ONE_WAY = 8
"""Cells for which one deviation does not serve both sides are asked so many at a time."""


@dataclass(frozen=True, eq=False)
class _Part:
    """A deviation that no relation ties to the others of its group.

    Attributes:
        asked: The sensitive cells that it protects.
        moving: The cells that move, increasing.
        x: How far each of them moves.
        side: To which side it protects: 1 up, -1 down, 0 both ways, turned round.
    """

    asked: Integers
    moving: Integers
    x: Floats
    side: int


def serves(search: Search) -> bool:
    """Is a table so large, and so far from a network, that cells are published in groups first?"""
    is_plain = len(search.states) == 1 and search.states[0].is_plain
    return (
        is_plain
        and not search.states[0].slides
        and not search.structure.strips_cover
        and search.outside_networks > _MANY
    )


def usual_size(search: Search) -> int:
    """Sensitive cells in a group."""
    return max(_SMALLEST, int((search.sensitive & ~search.structure.in_network).sum()) // _NUMBER)


def lighter(search: Search, hidden: Booleans, guide: Floats | None, end: float) -> Booleans:
    """A safe pattern within a safe one, from a few divisions into groups.

    Args:
        search: The run.
        hidden: A safe pattern.
        guide: How much a relaxation likes each cell, from 0 to 1.
        end: Stop at this time of the search.
    """
    groups = Groups(search, JointPatterns(search))
    took = 0.0
    for number in range(_DIVISIONS):
        began = search.seconds
        if search.should_stop() or began + took > end:
            break
        liked = None if number % 2 else guide
        fewer = groups.pattern(hidden, liked, size=usual_size(search))
        took = search.seconds - began
        gain = search.weigh(hidden) - search.weigh(fewer)
        if gain <= 0 or len(groups.unseen(fewer)):
            break
        hidden = fewer
        if gain < _WORTHWHILE * search.weigh(hidden):
            break
    return hidden


class Groups:
    """Makes a safe pattern lighter; what it finds protects readers' cells from being deduced.

    Deviations become witnesses of the search, so that a pattern of them is quickly seen to be safe.
    """

    def __init__(self, search: Search, joint: JointPatterns):
        self._search, self._joint = search, joint
        self._random = np.random.default_rng(search.options.seed)
        reader = search.outsiders[0]
        self._witnesses, self._requests = reader.witnesses, reader.requests()
        count = search.problem.cell_count
        self._number = {side: np.full(count, -1, np.int64) for side in (1, -1)}
        for side, number in self._number.items():
            mine = np.flatnonzero(self._requests.sides == side)
            number[self._requests.cells[mine]] = mine
        self._asked = np.unique(
            self._requests.cells[~search.structure.in_network[self._requests.cells]]
        )
        self._parts: list[_Part] = []
        self._uses = np.zeros(count, np.int64)

    def pattern(self, hidden: Booleans, guide: Floats | None = None, *, size: int) -> Booleans:
        """A lighter pattern within one, which protects as much but for a few cells.

        Args:
            hidden: A pattern.
            guide: How much a relaxation likes each cell, from 0 to 1.
            size: Sensitive cells in a group.
        """
        moves, columns = self._prepared(hidden)
        order = self._random.permutation(
            self._asked[np.isin(moves.columns_of(self._asked), columns)]
        )
        cost = self._joint.cost(guide)
        self._parts, self._uses = [], np.zeros(len(hidden), np.int64)
        for start in range(0, len(order), size):
            check_time()
            self._add(self._of_group(moves, order[start : start + size], cost))
        self._one_way(hidden, cost)
        return self._hidden

    def unseen(self, hidden: Booleans) -> Integers:
        """Requests of readers that no witness shows to be met."""
        asked = np.flatnonzero(~self._search.structure.in_network[self._requests.cells])
        return asked[~self._witnesses.show(self._requests.take(asked), hidden)]

    @property
    def _hidden(self) -> Booleans:
        return (self._uses > 0) | self._search.sensitive

    def _add(self, parts: list[_Part]) -> None:
        """Take parts into use."""
        for part in parts:
            self._uses[part.moving] += 1
            place = np.searchsorted(part.moving, part.asked)
            for x in (part.x, -part.x) if part.side == 0 else (part.x,):
                number = np.where(
                    x[place] > 0, self._number[1][part.asked], self._number[-1][part.asked]
                )
                self._witnesses.remember_all(self._requests, number[number >= 0], part.moving, x)
        self._parts += parts

    def _prepared(self, cells: Booleans) -> tuple[JointMoves, Integers]:
        """A model of cells that may move, and the columns that can be protected both ways."""
        moves = self._joint.moves(cells)
        asked = self._asked[moves.can_rise[self._asked] & moves.can_fall[self._asked]]
        return moves, moves.possible(moves.columns(asked))

    def _of_group(
        self, moves: JointMoves, asked: Integers, cost: Floats, *, side: int = 0
    ) -> list[_Part]:
        """Cheap deviations that protect a group, given what moves for others."""
        columns = moves.towards(asked, side) if side else moves.columns(asked)
        free = (self._uses > 0) | self._search.sensitive
        price = moves.price(np.where(free, 0.0, cost)) + ALMOST_FREE
        found = light_deviation(moves, columns, price, rounds=_ROUNDS, either_way=not side)
        return [] if found is None else self._kept(moves, found, asked, side)

    def _kept(self, moves: JointMoves, found: Floats, asked: Integers, side: int) -> list[_Part]:
        """The parts into which a deviation falls, as far as they protect cells of a group."""
        parts: list[_Part] = []
        rows = moves.apart(found)
        level = np.full(rows.shape[1], np.inf)
        level[asked] = self._joint.level[asked] * (1 - TOLERANCE)
        for number in range(rows.shape[0]):
            entries = slice(rows.indptr[number], rows.indptr[number + 1])
            order = np.argsort(rows.indices[entries])
            cells, x = rows.indices[entries][order].astype(np.int64), rows.data[entries][order]
            far = side * x if side else np.abs(x)
            met = cells[far >= level[cells]]
            turned = (x,) if side else (x, -x)
            if len(met) and all(self._witnesses.holds(cells, each) for each in turned):
                parts.append(_Part(met, cells, x, side))
        return parts

    def _one_way(self, hidden: Booleans, cost: Floats) -> None:
        """Deviations for one side of cells that none protects both ways."""
        done = np.zeros(len(hidden), bool)
        for part in self._parts:
            done[part.asked] = True
        for side in (1, -1):
            left = self._asked[~done[self._asked] & (self._number[side][self._asked] >= 0)]
            if not len(left):
                continue
            moves = self._joint.moves(hidden, either_way=False)
            for start in range(0, len(left), _ONE_WAY):
                check_time()
                group = left[start : start + _ONE_WAY]
                self._add(self._of_group(moves, group, cost, side=side))
