"""Patterns that are safe from readers, made safe from contributors.

Cells are added in which deviations move that leave alone what contributors know: each serves
against all of them but those whose own cells it is about. Linear programs ask for many levels
together and charge for what is not suppressed yet. That serves large tables that are no networks,
where each pair of a level and a contributor would take a program of its own.
"""

from __future__ import annotations

import numpy as np

from tacit.attack.insider_search import readers_requests
from tacit.attack.joint_moves import JointMoves
from tacit.attack.knowledge import Knowledge
from tacit.attack.reach import Requests
from tacit.clock import check_time
from tacit.methods.suppress.heuristics.joint import (
    ALMOST_FREE,
    JointPatterns,
    light_deviation,
)
from tacit.methods.suppress.model import Search
from tacit.problem import Booleans, Floats
from tacit.solver.highs import HighsModel

_SIZES = (16, 4, 1)
"""Levels that are asked for together, one attempt after the other."""
_ROUNDS = 2
"""So many times prices follow from what has moved."""


class InsiderPatterns:
    """Adds to patterns what contributors make necessary."""

    def __init__(self, search: Search):
        assert search.insiders is not None
        self._search, self._insiders = search, search.insiders
        self._joint = JointPatterns(search)
        self._random = np.random.default_rng(search.options.seed)

    def protecting(self, hidden: Booleans, guide: Floats | None = None) -> Booleans:
        """A pattern that contains a given one and protects all but a few cells.

        Args:
            hidden: A pattern that is safe from readers, or nearly so.
            guide: How much a relaxation likes each cell, from 0 to 1.
        """
        search, insiders = self._search, self._insiders
        hidden = hidden.copy()
        requests = insiders.sparing.targets(readers_requests(search.problem)).positive()
        cost = self._joint.cost(guide)
        for size in _SIZES:
            check_time()
            told = insiders.attacker.learn(search.problem, Knowledge.of(search.problem, hidden))
            attack = search.attack(insiders, hidden)
            requests = insiders.sparing.unspared(attack, told, requests)
            if not len(requests):
                break
            near = self._joint.near(np.unique(requests.cells), hidden)
            for part, against in self._groups(requests, size):
                check_time()
                self._add(part, against, hidden, near, cost)
        return hidden

    def _groups(self, requests: Requests, size: int) -> list[tuple[Requests, Booleans]]:
        """Requests that are asked together, and the contributors that are left no more to find out.

        Those who are alone in a cell that is asked have nothing to find out about it.
        """
        alone = self._insiders.known.alone_in()
        count = len(self._insiders.known.insiders)
        who = alone[requests.cells]
        groups = []
        for chosen in (np.flatnonzero(who < 0), np.flatnonzero(who >= 0)):
            order = self._random.permutation(chosen)
            for start in range(0, len(order), size):
                group = order[start : start + size]
                against = np.ones(count, bool)
                against[who[group][who[group] >= 0]] = False
                groups.append((requests.take(group), against))
        return groups

    def _add(
        self,
        part: Requests,
        against: Booleans,
        hidden: Booleans,
        near: Booleans,
        cost: Floats,
    ) -> None:
        """Suppress what moves, in place, in cheap deviations that meet some requests."""
        separator = self._insiders.separator
        everything = np.arange(len(hidden))
        up, down = self._insiders.known.capped(
            everything,
            np.where(near, separator.up, 0.0),
            np.where(near, separator.down, 0.0),
            against,
        )
        for side in (1, -1):
            mine = part.take(part.sides == side)
            if not len(mine):
                continue
            level = np.zeros(len(hidden))
            level[mine.cells] = mine.targets
            moves = JointMoves(self._joint.relations, up, down, level, HighsModel, either_way=False)
            columns = moves.towards(mine.cells, side)
            if not len(columns):
                continue
            price = moves.price(np.where(hidden, 0.0, cost)) + ALMOST_FREE
            found = light_deviation(moves, columns, price, rounds=_ROUNDS, either_way=False)
            if found is None:
                continue
            rows = moves.apart(found)
            self._insiders.store.add(rows)
            hidden[rows.indices] = True
