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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np
from scipy import sparse

from tacit.attack.insider_knowledge import Deviations, InsiderKnowledge
from tacit.attack.insider_search import InsiderPairs, match, open_pairs
from tacit.attack.joint_moves import Finder
from tacit.attack.knowledge import Knowledge
from tacit.attack.reach import Reaches, Requests, SparseRows
from tacit.attack.shrink import Component
from tacit.attack.suggestions import Suggestions
from tacit.attack.sweep import LARGE, Attack
from tacit.clock import TimeUpError, check_time
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.solver.highs import HighsModel

_MANY = 64
"""Levels that are asked for together."""
_SIZE = 8
"""Contributors whose own cells may move in one deviation: it fails for others of its group;"""
_DIVISIONS = 2
"""so many divisions into groups are made. Two contributors are hardly together twice."""
_TOGETHER = (16, 1)
"""Levels for which contributors are taken together, one attempt after the other."""
_FEW = 32
"""Where a deviation fails for no more than this, others may serve for the rest."""
_NONE = 1 << 40
"""More contributors than there are: there is no deviation at all."""

_Group = tuple[Requests, Booleans]


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
        self._random = np.random.default_rng(1)

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
            self._search(chosen, attack(), told)
        return chosen.reaches()

    def _search(self, chosen: _Chosen, attack: Attack, told: Knowledge) -> None:
        """Take what the store has, and look for more."""
        self._choose(chosen, told)
        for component in attack.shrunk.components:
            if _is_slow(component):
                for groups in self._rounds(component, chosen):
                    is_late = self._look(component, groups)
                    self._choose(chosen, told)
                    if is_late:
                        return

    def _look(self, component: Component, groups: Iterable[_Group]) -> bool:
        """Look for deviations of some groups, which are stored; True if time ran out."""
        found: list[Deviations] = [sparse.csr_array((0, self._problem.cell_count))]
        is_late = True
        # What was found before time ran out is worth a look, too.
        with contextlib.suppress(TimeUpError):
            for part, against in groups:
                found.append(self._moves(component, part, against))
            is_late = False
        self._store.add(sparse.csr_array(sparse.vstack(found)))
        return is_late

    def _rounds(self, component: Component, chosen: _Chosen) -> Iterator[list[_Group]]:
        """Requests that are asked together, with the contributors that are to be spared.

        Those who are alone in a cell that is asked have nothing to find out about it.
        """
        known, requests = self._known, chosen.requests
        alone = known.alone_in()[requests.cells]
        is_here = np.isin(requests.cells, component.cells)
        everybody = np.ones(len(known.insiders), bool)
        left = np.flatnonzero(is_here & (alone < 0) & chosen.is_open)
        yield [
            (requests.take(left[start : start + _MANY]), everybody)
            for start in range(0, len(left), _MANY)
        ]
        for _ in range(_DIVISIONS):
            left = np.flatnonzero(is_here & (alone >= 0) & chosen.is_open)
            members = self._random.permutation(np.unique(alone[left]))
            groups: list[_Group] = []
            for start in range(0, len(members), _SIZE):
                others = everybody.copy()
                others[members[start : start + _SIZE]] = False
                groups.append((requests.take(left[~others[alone[left]]]), others))
            yield groups

    def unspared(self, attack: Attack, told: Knowledge, requests: Requests) -> Requests:
        """Those of some requests that no deviation known or found meets against everybody.

        Where several deviations do so together, each against others, the request is left out, too.

        Args:
            attack: The attack of a reader.
            told: How far each cell may move, as far as readers know.
            requests: What contributors must not come closer than.
        """
        nothing = Reaches.unanswered(len(requests), self._problem)
        chosen = _Chosen(self._problem, self._known, requests, nothing)
        self._search(chosen, attack, told)
        pairs = chosen.pairs(_NONE)
        if len(pairs):
            self.join(attack, told, pairs)
            chosen.close(self._left(told, pairs), _NONE)
        return requests.take(chosen.is_open)

    @staticmethod
    def serves(attack: Attack) -> bool:
        """Are there parts of a table so large, and not networks, that this pays?"""
        return any(_is_slow(component) for component in attack.shrunk.components)

    @staticmethod
    def covers(attack: Attack, cells: Integers) -> Booleans:
        """Which cells are in such parts."""
        slow = np.array([_is_slow(component) for component in attack.shrunk.components], bool)
        place = attack.shrunk.place[cells]
        return np.asarray((place >= 0) & np.append(slow, False)[place])

    def _choose(self, chosen: _Chosen, told: Knowledge) -> None:
        """Take what the store has, first deviations that fail for few."""
        spoilt = self._known.touched(self._store.known)
        found = self._store.shown(told, chosen.requests, chosen.is_open, ranking=spoilt)
        there = np.flatnonzero(found >= 0)
        if len(there):
            chosen.offer(there, self._store.known, found[there])
            # Another deviation may serve where the first one fails.
            chosen.close(self._left(told, chosen.pairs(_FEW)), _FEW)

    def join(self, attack: Attack, told: Knowledge, pairs: InsiderPairs) -> None:
        """Look for deviations that answer several pairs with the same request at once.

        Args:
            attack: The attack of a reader.
            told: How far each cell may move, as far as readers know.
            pairs: Requests against single contributors or coalitions.
        """
        for size in _TOGETHER:
            pairs = self._left(told, pairs)
            for component in attack.shrunk.components:
                if len(pairs) and _is_slow(component):
                    here = pairs.take(np.isin(pairs.requests.cells, component.cells))
                    if self._look(component, self._joined(here, size)):
                        return

    def _left(self, told: Knowledge, pairs: InsiderPairs) -> InsiderPairs:
        """Those of some pairs that no deviation in the store answers."""
        return pairs.take(self._store.shown(told, pairs.requests, np.ones(len(pairs), bool)) < 0)

    def _joined(self, pairs: InsiderPairs, size: int) -> Iterator[_Group]:
        """Requests that several pairs have in common, with all their contributors."""
        asked = pairs.requests
        keys = np.column_stack([asked.cells, asked.sides])
        _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        group = group.reshape(-1)
        target = np.zeros(len(first))
        np.maximum.at(target, group, asked.targets)
        alone = self._known.alone_in()
        for start in range(0, len(first), size):
            some = first[start : start + size]
            members = pairs.members[(group >= start) & (group < start + size)]
            against = np.zeros(len(self._known.insiders), bool)
            against[members[members >= 0]] = True
            own = alone[asked.cells[some]]
            against[own[own >= 0]] = False
            targets = target[start : start + size]
            yield Requests(asked.cells[some], asked.sides[some], targets), against

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
            finder.together(side, np.unique(place[mine]))
            found += [(cells[inside], x) for inside, x in finder.rows]
        rows = SparseRows(len(found), self._problem.cell_count)
        for number, (inside, x) in enumerate(found):
            rows.put(number, inside, x)
        return rows.matrix()


class _Chosen:
    """For each request the deviation that fails for the fewest contributors so far.

    How many they are is counted without regard to levels: a few of them may be none.

    Attributes:
        requests: What contributors must not come closer than.
    """

    def __init__(
        self, problem: Problem, known: InsiderKnowledge, requests: Requests, reaches: Reaches
    ):
        self._problem, self._known = problem, known
        self._alone = known.alone_in()[requests.cells]
        self.requests = requests
        self._row = np.where(reaches.answered, reaches.row, -1)
        self._tables: Deviations = reaches.tables
        self._before = reaches
        self._spoilt = np.zeros(len(requests), np.int64)
        self._spoilt[(requests.targets > 0) & ~reaches.answered] = _NONE
        asked = np.flatnonzero((requests.targets > 0) & reaches.answered)
        self._spoilt[asked] = self._fails(asked, reaches.tables, reaches.row[asked])

    @property
    def is_open(self) -> Booleans:
        """Requests whose deviation fails for somebody."""
        return self._spoilt > 0

    def offer(self, asked: Integers, deviations: Deviations, row: Integers) -> None:
        """Take a deviation for each of some requests where it fails for fewer.

        Args:
            asked: The requests.
            deviations: Deviations, of which several requests may have one in common.
            row: The deviation of each request.
        """
        spoilt = self._fails(asked, deviations, row)
        better = np.flatnonzero(spoilt < self._spoilt[asked])
        if not len(better):
            return
        chosen = asked[better]
        used, place = np.unique(row[better], return_inverse=True)
        self._spoilt[chosen] = spoilt[better]
        self._row[chosen] = self._tables.shape[0] + place
        self._tables = sparse.csr_array(sparse.vstack([self._tables, deviations[used]]))

    def pairs(self, most: int) -> InsiderPairs:
        """Pairs of a request and a contributor for whom its deviation fails.

        Args:
            most: Leave requests out whose deviation fails for more.
        """
        asked = np.flatnonzero((self._spoilt > 0) & (self._spoilt <= most) & (self._row >= 0))
        return open_pairs(
            self._problem,
            self.requests.take(asked),
            self._tables,
            self._known,
            row=self._row[asked],
        )

    def close(self, left: InsiderPairs, most: int) -> None:
        """Take requests with a deviation for met, apart from those of pairs that are left.

        Args:
            left: The pairs.
            most: As for the pairs.
        """
        keys = np.column_stack([self.requests.cells, self.requests.sides])
        wanted = np.column_stack([left.requests.cells, left.requests.sides])
        is_left = np.isin(np.arange(len(keys)), match(keys, wanted))
        self._spoilt[(self._row >= 0) & (self._spoilt <= most) & ~is_left] = 0

    def reaches(self) -> tuple[Reaches, Booleans]:
        """The answers with these deviations, and which ones are new."""
        before, row = self._before, self._row
        is_new = row >= before.tables.shape[0]
        amount = before.amount.copy()
        cells, sides = self.requests.cells[is_new], self.requests.sides[is_new]
        if is_new.any():
            amount[is_new] = np.asarray(self._tables[row[is_new], cells]).ravel() * sides
        return Reaches(
            amount,
            before.limit,
            self._tables,
            before.multipliers,
            before.answered,
            np.where(is_new, row, before.row),
        ), is_new

    def _fails(self, asked: Integers, deviations: Deviations, row: Integers) -> Integers:
        """For how many contributors each request's deviation may fail.

        Whoever is alone in the asked cell does not count.
        """
        used, place = np.unique(row, return_inverse=True)
        number, who = self._known.touching(sparse.csr_array(deviations[used]))
        count = np.bincount(number, minlength=len(used))[place]
        keys = number * len(self._known.insiders) + who
        alone = self._alone[asked]
        is_own = (alone >= 0) & np.isin(place * len(self._known.insiders) + alone, keys)
        return np.asarray(count - is_own, np.int64)


def _is_slow(component: Component) -> bool:
    """Does each answer about a component take a linear program of some size?"""
    return component.network is None and len(component.cells) > LARGE
