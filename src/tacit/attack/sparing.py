"""Deviations that leave alone what contributors know.

A deviation that moves nothing that any contributor knows shows a level met against all of them at
once. In a large table that is no network, where each pair of a level and a contributor would take
a linear program of its own, such deviations are looked for first, for many levels together: cells
that a contributor knows stand still, and others fall no further than the largest contribution
leaves. Only the cell that is asked may be known, to the one contributor who has nothing to find
out about it. Where there is no such deviation, contributors that the best one known fails for are
taken together.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from scipy import sparse

from tacit.attack.insider_knowledge import Deviations, InsiderKnowledge
from tacit.attack.insider_search import InsiderPairs, match, open_pairs
from tacit.attack.joint_moves import Finder
from tacit.attack.knowledge import Knowledge
from tacit.attack.reach import TOLERANCE, Reaches, Requests, SparseRows
from tacit.attack.shrink import Component
from tacit.attack.suggestions import Suggestions
from tacit.attack.sweep import LARGE, Attack
from tacit.clock import TimeUpError, check_time
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.solver.highs import HighsModel

_GROUPS = (32, 4, 1)
"""Contributors whose own cells may move in one deviation: it fails for the others of its group, so
that groups become smaller."""
_TOGETHER = (16, 1)
"""Levels for which contributors are taken together, one attempt after the other."""
_SINGLY = 64
"""Up to so many levels that are left are asked for one by one."""


class Sparing:
    """Looks for deviations that many contributors leave possible.

    What is found is put into a store of deviations, from which it is taken whenever it fits.
    """

    def __init__(self, problem: Problem, known: InsiderKnowledge, store: Suggestions):
        """Prepare the search.

        Args:
            problem: The true table.
            known: What contributors know.
            store: Where deviations are kept.
        """
        self._problem, self._known, self._store = problem, known, store
        self._highest = known.highest()

    def targets(self, requests: Requests) -> Requests:
        """The same requests, as far as any contributor must not come closer."""
        lower, upper = self._highest
        level = np.where(requests.sides > 0, upper[requests.cells], lower[requests.cells])
        return Requests(requests.cells, requests.sides, level)

    def spared(
        self,
        attack: Callable[[], Attack],
        told: Knowledge,
        requests: Requests,
        reaches: Reaches,
    ) -> tuple[Reaches, Booleans]:
        """Answers with deviations that fail for fewer contributors, and which ones are new.

        Amounts may be lower than those given, but never lower than what contributors must not
        come closer than, where these have been reached.

        Args:
            attack: Makes the attack of a reader.
            told: How far each cell may move, as far as readers know.
            requests: What readers ask.
            reaches: The answers that readers get.
        """
        short = self.targets(requests)
        chosen = _Chosen(self._problem, self._known, short, reaches)
        if chosen.is_open.any():
            self._choose(chosen, told)
        if chosen.is_open.any() and self.serves(attack()):
            # What was found before time ran out is worth a look, too.
            with contextlib.suppress(TimeUpError):
                for deviations in self._found(attack(), chosen):
                    self._store.add(deviations)
                    self._choose(chosen, told)
            self._choose(chosen, told)
        return chosen.reaches(reaches)

    @staticmethod
    def serves(attack: Attack) -> bool:
        """Are there parts of a table so large, and not networks, that this pays?"""
        return any(_is_slow(component) for component in attack.shrunk.components)

    @staticmethod
    def covers(attack: Attack, cells: Integers) -> Booleans:
        """Which cells are in such parts."""
        slow = np.array([_is_slow(component) for component in attack.shrunk.components], bool)
        place = attack.shrunk.place[cells]
        return (place >= 0) & np.append(slow, False)[place]

    def _choose(self, chosen: _Chosen, told: Knowledge) -> None:
        """Take what the store has, first deviations that fail for few."""
        spoilt = self._known.touched(self._store.known)
        found = self._store.shown(told, chosen.requests, chosen.is_open, ranking=spoilt)
        there = np.flatnonzero(found >= 0)
        chosen.offer(there, sparse.csr_array(self._store.known[found[there]]))

    def _found(self, attack: Attack, chosen: _Chosen) -> Iterator[Deviations]:
        """Deviations for requests that are open; fewer become so while this goes on."""
        known = self._known
        for component in attack.shrunk.components:
            if not _is_slow(component):
                continue
            is_here = np.isin(chosen.requests.cells, component.cells)
            everybody = np.ones(len(known.insiders), bool)
            alone = known.alone_in()
            is_alone = alone[chosen.requests.cells] >= 0
            part = chosen.requests.take(is_here & ~is_alone & chosen.is_open)
            yield self._moves(component, part, everybody)
            for size in _GROUPS:
                left = np.flatnonzero(is_here & is_alone & chosen.is_open)
                who = alone[chosen.requests.cells[left]]
                members = np.unique(who)
                for start in range(0, len(members), size):
                    group = members[start : start + size]
                    others = everybody.copy()
                    others[group] = False
                    part = chosen.requests.take(left[np.isin(who, group)])
                    yield self._moves(component, part, others)

    def join(self, attack: Attack, pairs: InsiderPairs) -> None:
        """Look for deviations that answer several pairs with the same request at once.

        Args:
            attack: The attack of a reader.
            pairs: Requests against single contributors or coalitions.
        """
        asked = pairs.requests
        keys = np.column_stack([asked.cells, asked.sides])
        _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        group = group.reshape(-1)
        target = np.zeros(len(first))
        np.maximum.at(target, group, asked.targets)
        with contextlib.suppress(TimeUpError):
            for component in attack.shrunk.components:
                if not _is_slow(component):
                    continue
                left = np.flatnonzero(np.isin(asked.cells[first], component.cells))
                for size in _TOGETHER:
                    met = np.zeros(len(first), bool)
                    for start in range(0, len(left), size):
                        some = left[start : start + size]
                        members = pairs.members[np.isin(group, some)]
                        against = np.zeros(len(self._known.insiders), bool)
                        against[members[members >= 0]] = True
                        part = Requests(
                            asked.cells[first[some]], asked.sides[first[some]], target[some]
                        )
                        found = self._moves(component, part, against)
                        self._store.add(found)
                        met[some] = _reached(part, found)
                    left = left[~met[left]]

    def _moves(self, component: Component, part: Requests, against: Booleans) -> Deviations:
        """Deviations of a component that leave alone what some contributors know.

        Args:
            component: Cells that can move.
            part: What is asked of it.
            against: The contributors.
        """
        cells = component.cells
        up, down = self._known.capped(cells, component.up, component.down, against)
        place = np.searchsorted(cells, part.cells)
        found: list[tuple[Integers, Floats]] = []
        for side in (1, -1):
            mine = part.sides == side
            if not mine.any():
                continue
            check_time()
            level = np.zeros(len(cells))
            np.maximum.at(level, place[mine], part.targets[mine])
            finder = Finder(replace(component, up=up, down=down), level, HighsModel)
            finder.one_way(side, np.unique(place[mine]), singly=int(mine.sum()) <= _SINGLY)
            found += [(cells[inside], x) for inside, x in finder.rows]
        rows = SparseRows(len(found), self._problem.cell_count)
        for number, (inside, x) in enumerate(found):
            rows.put(number, inside, x)
        return rows.matrix()


class _Chosen:
    """For each request the deviation that fails for the fewest contributors so far.

    Attributes:
        requests: What contributors must not come closer than.
    """

    def __init__(
        self, problem: Problem, known: InsiderKnowledge, requests: Requests, reaches: Reaches
    ):
        self._problem, self._known = problem, known
        self.requests = requests
        count = len(requests)
        self._spoilt = np.zeros(count, np.int64)
        asked = np.flatnonzero(requests.targets > 0)
        self._spoilt[asked] = self._fails(
            asked, sparse.csr_array(reaches.tables[reaches.row[asked]])
        )
        self._parts: list[Deviations] = [reaches.tables]
        self._rows = reaches.tables.shape[0]
        self._row = np.full(count, -1, np.int64)
        self._amount = np.zeros(count)

    @property
    def is_open(self) -> Booleans:
        """Requests whose deviation fails for somebody."""
        return self._spoilt > 0

    def offer(self, asked: Integers, deviations: Deviations) -> None:
        """Take deviations, one for each of some requests, where they fail for fewer."""
        if not len(asked):
            return
        spoilt = self._fails(asked, deviations)
        better = np.flatnonzero(spoilt < self._spoilt[asked])
        chosen, rows = asked[better], sparse.csr_array(deviations[better])
        self._spoilt[chosen] = spoilt[better]
        own = np.asarray(rows[np.arange(len(chosen)), self.requests.cells[chosen]]).ravel()
        self._amount[chosen] = own * self.requests.sides[chosen]
        self._row[chosen] = self._rows + np.arange(len(chosen))
        self._parts.append(rows)
        self._rows += len(chosen)

    def reaches(self, before: Reaches) -> tuple[Reaches, Booleans]:
        """The answers with these deviations, and which ones are new."""
        is_new = self._row >= 0
        return Reaches(
            np.where(is_new, self._amount, before.amount),
            before.limit,
            sparse.csr_array(sparse.vstack(self._parts)),
            before.multipliers,
            before.answered,
            np.where(is_new, self._row, before.row),
        ), is_new

    def _fails(self, asked: Integers, deviations: Deviations) -> Integers:
        """For how many contributors each request's deviation fails."""
        requests = self.requests.take(asked)
        pairs = open_pairs(self._problem, requests, deviations, self._known).requests
        keys = np.column_stack([requests.cells, requests.sides])
        place = match(keys, np.column_stack([pairs.cells, pairs.sides]))
        return np.bincount(place, minlength=len(asked))


def _is_slow(component: Component) -> bool:
    """Does each answer about a component take a linear program of some size?"""
    return component.network is None and len(component.cells) > LARGE


def _reached(requests: Requests, deviations: Deviations) -> Booleans:
    """Which requests any of some deviations meets."""
    part = sparse.csr_array(deviations[:, requests.cells]).toarray() * requests.sides
    most = part.max(axis=0, initial=0.0)
    return np.asarray(most >= requests.targets * (1 - TOLERANCE))
