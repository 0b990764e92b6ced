"""Patterns from deviations that many sensitive cells have in common.

One linear program finds a deviation in which nearly all sensitive cells move by their levels at
once. What moves in it protects them all, and prices on the other cells make it a light pattern;
where a cell moves little, the next program makes it dearer, so that it stands still in the end.
That serves tables that are no networks and have so many sensitive cells that building a pattern
cell by cell takes minutes.
"""

from __future__ import annotations

import numpy as np

from tacit.attack.joint_moves import JointMoves
from tacit.clock import check_time
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.weights import steering, typical
from tacit.problem import Booleans, Floats, Integers
from tacit.solver.highs import HighsModel

_MANY = 1500
"""From this number of cells outside networks on, cells are protected together,"""
_MANY_SENSITIVE = 400
"""if so many of them are sensitive."""
_MOST_CELLS = 15_000
"""A program that adds cells looks at so many of them at most, those nearest to what is exposed."""
_LITTLE = 0.05
"""What is added to a cell's move, in levels, before its weight is divided by it."""
_ROUNDS = 4
"""So many times prices follow from what has moved."""
_PASSES = 4
"""So many deviations protect what the first one does not."""
ALMOST_FREE = 1e-3
"""The price of what is suppressed anyway, in usual weights."""


def serves(search: Search) -> bool:
    """Is a table so far from a network, and so large, that cells are best protected together?"""
    sensitive = int((search.sensitive & ~search.structure.in_network).sum())
    return search.outside_networks > _MANY and sensitive > _MANY_SENSITIVE


def light_deviation(
    moves: JointMoves, columns: Integers, price: Floats, *, rounds: int, either_way: bool
) -> Floats | None:
    """A deviation that protects some cells, in which little moves; None if there is none.

    Args:
        moves: The model of what may move.
        columns: Those of the cells that are to be protected.
        price: What it costs to move each column.
        rounds: So many times prices follow from what has moved: what moves little becomes dearer.
        either_way: Each cell may move up or down, whichever is cheaper.
    """
    found: Floats | None = None
    for _ in range(rounds):
        scaled = (
            price * moves.least if found is None else price / (np.tile(np.abs(found), 2) + _LITTLE)
        )
        better = moves.solve(columns, scaled)
        if better is None:
            break
        found = better
        if either_way:
            moves.turn(found, columns)
    return found


class JointPatterns:
    """Makes patterns for readers; what other attackers need is left to others.

    Attributes:
        level: How far each cell is to move, up and down.
        relations: The relations that matter.
    """

    def __init__(self, search: Search):
        self._search = search
        problem = search.problem
        self.level = np.zeros(problem.cell_count)
        self.level[problem.sensitive] = np.maximum(problem.upper_level, problem.lower_level)
        self._usable: Booleans = search.secondary | search.sensitive
        structure = search.structure
        self.relations = structure.A[structure.essential]
        self._seed = search.options.seed

    def pattern(self, start: Booleans, guide: Floats | None = None) -> Booleans:
        """A light pattern near a given one that protects all but a few cells.

        Args:
            start: The pattern to begin with.
            guide: How much a relaxation likes each cell, from 0 to 1.
        """
        return self.reduced(self.protecting(start, guide), guide)

    def protecting(self, start: Booleans, guide: Floats | None = None) -> Booleans:
        """A pattern that contains a given one and protects all but a few cells."""
        hidden = (start & self._search.secondary) | self._search.sensitive
        missed = self.exposed(hidden)
        if len(missed):
            near = self.near(missed, hidden)
            hidden |= self._moving(near, missed, hidden, self.cost(guide), rounds=2)
        return hidden

    def reduced(self, hidden: Booleans, guide: Floats | None = None) -> Booleans:
        """A pattern within a given one that is lighter and protects as much."""
        asked = np.flatnonzero(self.level > 0)
        nothing = np.zeros(len(hidden), bool)
        within = self._moving(hidden, asked, nothing, self.cost(guide), rounds=_ROUNDS)
        return within | self._search.sensitive

    def cost(self, guide: Floats | None) -> Floats:
        """What cells cost that move, in usual weights, given how much a relaxation likes them."""
        search = self._search
        weight = steering(search.problem.weight) / typical(search.problem.weight[search.secondary])
        if guide is not None:
            weight = weight * (1.01 - np.clip(guide, 0.0, 1.0))
        return np.where(search.sensitive, 0.0, weight)

    def exposed(self, hidden: Booleans) -> Integers:
        """Sensitive cells that no deviation in common is seen to protect."""
        moves = self.moves(hidden)
        asked = np.flatnonzero((self.level > 0) & moves.can_rise & moves.can_fall)
        met = moves.possible(moves.columns(asked))
        protected = np.isin(moves.columns_of(asked), met)
        return np.setdiff1d(np.flatnonzero(self.level > 0), asked[protected])

    def moves(self, cells: Booleans, *, either_way: bool = True) -> JointMoves:
        """A model of deviations in which only some cells move; see `JointMoves`."""
        separator = self._search.outsiders[0].separator
        self._seed += 1
        return JointMoves(
            self.relations,
            np.where(cells, separator.up, 0.0),
            np.where(cells, separator.down, 0.0),
            self.level,
            HighsModel,
            either_way=either_way,
            seed=self._seed,
        )

    def near(self, missed: Integers, hidden: Booleans) -> Booleans:
        """Cells that may help to protect those that are exposed."""
        near = hidden.copy()
        fringe = np.zeros(len(hidden), bool)
        fringe[missed] = True
        touching = abs(self.relations).sign()
        while True:
            check_time()
            grown = np.asarray(touching.T @ (touching @ fringe.astype(np.float64))) > 0
            grown &= self._usable
            if not (grown & ~fringe).any():
                return near | grown
            if int((near | grown).sum()) > _MOST_CELLS:
                return near | (grown if int(near.sum()) < _MOST_CELLS // 2 else fringe)
            fringe = grown
            near |= grown

    def _moving(
        self, cells: Booleans, asked: Integers, free: Booleans, cost: Floats, *, rounds: int
    ) -> Booleans:
        """What moves in cheap deviations of some cells in which all asked ones move.

        Args:
            cells: The cells that may move.
            asked: Sensitive cells.
            free: Cells that cost next to nothing.
            cost: What other cells cost that move.
            rounds: So many times prices follow from what has moved.
        """
        moves = self.moves(cells)
        left = moves.columns(asked[moves.can_rise[asked] & moves.can_fall[asked]])
        moving = np.zeros(len(cells), bool)
        first = moves.solve(left)
        if first is not None:
            moves.turn(first, left)
        for _ in range(_PASSES):
            if not len(left):
                break
            price = moves.price(np.where(free | moving, 0.0, cost)) + ALMOST_FREE
            found: Floats | None = None
            for number in range(rounds):
                check_time()
                scaled = (
                    price * moves.least
                    if number == 0 or found is None
                    else (price / (np.tile(np.abs(found), 2) + _LITTLE))
                )
                found = moves.solve(left, scaled)
                if found is None:
                    break
                moves.turn(found, left)
            if found is None:
                break
            moving |= moves.deviation(found) != 0
            left = left[~moves.met_either_way(left, found)]
        return moving
