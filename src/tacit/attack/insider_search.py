"""Which insiders need to be looked at, and what they can deduce.

A deviation that shows a request met for readers shows it for an insider, too, unless it moves a
cell beyond what the insider knows: the levels against insiders are never above those against
readers. Only the pairs of a request and an insider whose deviation is spoilt that way are asked
again, with the insider's cells limited. Coalitions are found by branching: whoever knows something
about a cell that moves may join those against whom the deviation was found.

Separate levels for each attacker follow [SalazarGonzalez2004], protecting contributions instead of
cell totals follows [DaalmansDeWaal2010]; see also [KarlssonOlsson2015, section 3.1.1].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.attack.insider_knowledge import LEVELS, Deviations, InsiderKnowledge
from tacit.attack.reach import TOLERANCE, Reaches, Requests, repeated_ranges
from tacit.problem import Booleans, Floats, Integers, Problem


@dataclass(frozen=True, eq=False)
class InsiderPairs:
    """Requests against insiders or coalitions of them.

    They do not depend on what is published, and may be asked again of any publication.

    Attributes:
        requests: What is asked, with what the insiders know as limits.
        members: For each request a row of insiders, increasing; -1 for nobody.
        level: What the cell must reach on this side against them; the target of the request may
            be further, where the cell has a sliding level or others may join.
    """

    requests: Requests
    members: Integers
    level: Floats

    def __len__(self) -> int:
        return len(self.members)

    def take(self, index: Any) -> InsiderPairs:
        """Some of the pairs."""
        return InsiderPairs(self.requests.take(index), self.members[index], self.level[index])

    def met(self, reaches: Reaches) -> Booleans:
        """Which pairs reach their level, given answers to the requests."""
        return reaches.answered & (reaches.amount >= self.level * (1 - TOLERANCE))

    @classmethod
    def joined(cls, parts: list[InsiderPairs]) -> InsiderPairs:
        """Several lists of pairs as one."""
        return cls(
            Requests.joined([part.requests for part in parts]),
            np.concatenate([part.members for part in parts]),
            np.concatenate([part.level for part in parts]),
        )


@dataclass(frozen=True, eq=False)
class InsiderFindings:
    """What insiders can deduce.

    Attributes:
        pairs: Requests that had to be asked again for insiders.
        reaches: The answers.
        exposed_cells: Sensitive cells that are exposed to an insider; one entry for each level
            that is missed and each coalition that misses it.
        exposed_level: The number of the level in `LEVELS`.
        exposed_members: The coalition.
        exposed_share: How much of the level is there, from 0 to 1.
        undecided: Sensitive cells without a verdict, increasing.
    """

    pairs: InsiderPairs
    reaches: Reaches
    exposed_cells: Integers
    exposed_level: Integers
    exposed_members: Integers
    exposed_share: Floats
    undecided: Integers

    @property
    def safe(self) -> bool:
        """All levels are met against all insiders that were looked at."""
        return not len(self.exposed_cells) and not len(self.undecided)

    @property
    def missed(self) -> InsiderPairs:
        """Pairs with a level on one side that is missed, with these levels as targets."""
        pairs = self.pairs.take(~self.pairs.met(self.reaches) & (self.pairs.level > 0))
        asked = pairs.requests
        requests = Requests(asked.cells, asked.sides, pairs.level, asked.own, asked.limits)
        return InsiderPairs(requests, pairs.members, pairs.level)

    def missed_sliding(self, known: InsiderKnowledge) -> InsiderPairs:
        """Cells with a sliding level that is missed, for `Separator.sliding_cuts`."""
        chosen = self.exposed_level == LEVELS.index("sliding")
        cells, members = self.exposed_cells[chosen], self.exposed_members[chosen]
        level = known.levels(cells, members)[LEVELS.index("sliding")]
        sides = np.ones(len(cells), np.int64)
        requests = Requests(cells, sides, level, limits=known.limits(members))
        return InsiderPairs(requests, members, level)


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Requests with those against whom they are known to be met, and the deviation that shows it.

    `request` is the number of the readers' request, `row` that of the deviation.
    """

    request: Integers
    members: Integers
    amount: Floats
    limit: Floats
    row: Integers
    deviations: Deviations


Answer = Callable[[InsiderPairs], Reaches]
"""Answers requests against insiders."""


def open_pairs(
    problem: Problem,
    requests: Requests,
    witnesses: Deviations,
    known: InsiderKnowledge | None = None,
    *,
    row: Integers | None = None,
) -> InsiderPairs:
    """Pairs of a request and a single insider for whom the readers' deviation fails.

    Args:
        problem: The true table.
        requests: What readers ask.
        witnesses: Deviations that show requests met.
        known: What insiders know, if at hand.
        row: The deviation of each request; by default each has its own.
    """
    row = np.arange(len(requests)) if row is None else row
    moved = _moved(requests, witnesses, row)
    reaches = Reaches(
        np.where(moved > 0, moved, 0.0),
        np.full(len(requests), np.inf),
        sparse.csr_array(witnesses),
        sparse.csr_array((len(requests), problem.relation_count)),
        row=row,
    )
    found = face_insiders(
        problem,
        requests,
        reaches,
        lambda pairs: Reaches.unanswered(len(pairs), problem),
        known=known,
        coalition=1,
    )
    return found.pairs


def readers_requests(problem: Problem, cells: Integers | None = None) -> Requests:
    """The levels of sensitive cells, as `face_insiders` expects them.

    Args:
        problem: The true table.
        cells: Which sensitive cells; by default all of them.
    """
    chosen = np.ones(len(problem.sensitive), bool)
    if cells is not None:
        chosen = np.isin(problem.sensitive, cells)
    sliding = problem.sliding_level[chosen]
    both = Requests.both_sides(
        problem.sensitive[chosen],
        np.maximum(problem.upper_level[chosen], sliding),
        np.maximum(problem.lower_level[chosen], sliding),
    )
    return both.positive()


def face_insiders(
    problem: Problem,
    requests: Requests,
    reaches: Reaches,
    answer: Answer,
    *,
    known: InsiderKnowledge | None = None,
    coalition: int | None = None,
) -> InsiderFindings:
    """Look at every insider, and every coalition, for whom a reader's deviation fails.

    Args:
        problem: The true table.
        requests: What readers ask: sensitive cells and sides. A cell that misses its levels
            against readers should not be among them: it is exposed whatever insiders know. A
            cell with a sliding level is there with both sides.
        reaches: The answers: deviations that show the levels met.
        answer: Answers requests against insiders.
        known: What insiders know, if at hand.
        coalition: How many insiders join at most; by default as the problem says.
    """
    known = known or InsiderKnowledge(problem)
    return _Facing(problem, requests, known, answer, coalition).run(reaches)


class _Facing:
    """Branches on insiders, one more member in each round."""

    def __init__(
        self,
        problem: Problem,
        requests: Requests,
        known: InsiderKnowledge,
        answer: Answer,
        coalition: int | None,
    ):
        self._problem = problem
        self._requests = requests
        self._known = known
        self._answer = answer
        self._width = known.insiders.coalition if coalition is None else coalition
        place = np.searchsorted(problem.sensitive, requests.cells)
        upwards = requests.sides > 0
        level = np.where(upwards, problem.upper_level[place], problem.lower_level[place])
        self._readers = np.maximum(level, problem.sliding_level[place])
        lower, upper = known.highest()
        highest = np.where(upwards, upper[requests.cells], lower[requests.cells])
        # The other side of a cell with a sliding level joins wherever one of them is asked.
        self._is_asked = (highest > 0) | (self._width > 1)
        self._pairs: list[InsiderPairs] = []
        self._reaches: list[Reaches] = []
        self._exposed: list[tuple[Integers, Integers, Integers, Floats]] = []
        self._undecided: list[Integers] = []

    def run(self, reaches: Reaches) -> InsiderFindings:
        """Start from readers; members join one by one."""
        count = len(self._requests)
        nodes = _Nodes(
            np.arange(count),
            np.full((count, self._width), -1, np.int64),
            reaches.amount,
            reaches.limit,
            reaches.row,
            reaches.tables,
        )
        for size in range(1, self._width + 1):
            if not len(nodes.request):
                break
            nodes = self._joined_by_one(nodes, is_last=size == self._width)
        return self._findings()

    def _joined_by_one(self, nodes: _Nodes, *, is_last: bool) -> _Nodes:
        """Look at all coalitions of one member more."""
        parent, members = self._candidates(nodes)
        request = nodes.request[parent]
        cells, sides = self._requests.cells[request], self._requests.sides[request]
        levels = self._known.levels(cells, members)
        level = np.where(sides > 0, levels[1], levels[0])
        sliding = levels[2]
        wanted = np.maximum(level, sliding)
        if is_last:
            asked = wanted > 0
            parent, request, members = parent[asked], request[asked], members[asked]
            cells, sides, level = cells[asked], sides[asked], level[asked]
            sliding, wanted = sliding[asked], wanted[asked]
        else:
            # Against those who may join the level may be higher, up to the one against readers.
            wanted = self._readers[request]
        limits = self._known.limits(members)
        moved = self._moved_at(nodes, parent)
        factor = wanted / np.where(moved > 0, moved, 1.0)
        factor = np.where(np.isinf(nodes.amount[parent]), factor, np.minimum(factor, 1.0))
        row = nodes.row[parent]
        enough = nodes.amount[parent] >= level * (1 - TOLERANCE)
        serves = enough & limits.kept(nodes.deviations, row, factor)

        amount = np.minimum(nodes.amount[parent], np.where(serves, wanted, np.inf))
        limit = nodes.limit[parent].copy()
        open_ones = np.flatnonzero(~serves)
        asked_again = Requests(cells, sides, wanted, limits=limits).take(open_ones)
        pairs = InsiderPairs(asked_again, members[open_ones], level[open_ones])
        reaches = self._answer(pairs)
        self._pairs.append(pairs)
        self._reaches.append(reaches)
        amount[open_ones], limit[open_ones] = reaches.amount, reaches.limit
        answered = np.ones(len(parent), bool)
        answered[open_ones] = reaches.answered
        failed = self._judge(cells, members, sides, level, sliding, amount, limit, answered)
        if is_last:
            return _Nodes(
                request[:0], members[:0], amount[:0], limit[:0], row[:0], nodes.deviations
            )
        where = row.copy()
        where[open_ones] = nodes.deviations.shape[0] + reaches.row
        going = np.flatnonzero(~failed)
        return _Nodes(
            request[going],
            members[going],
            amount[going],
            limit[going],
            where[going],
            sparse.csr_array(sparse.vstack([nodes.deviations, reaches.tables])),
        )

    def _candidates(self, nodes: _Nodes) -> tuple[Integers, Integers]:
        """Nodes with one more member each; every coalition once for each request."""
        parent, who = self._touching(nodes)
        # Whoever contributes to the asked cell raises its level.
        cells = self._requests.cells[nodes.request]
        short = np.flatnonzero(nodes.amount < self._readers[nodes.request] * (1 - TOLERANCE))
        if (nodes.members[short] >= 0).any():
            position, contributor = self._known.contributing(cells[short])
            parent = np.concatenate([parent, short[position]])
            who = np.concatenate([who, contributor])
        is_new = (nodes.members[parent] != who[:, None]).all(axis=1)
        parent, who = parent[is_new], who[is_new]
        # The first place is free: nobody comes before the first member.
        members = nodes.members[parent].copy()
        members[:, 0] = who
        members.sort(axis=1)
        parent, members = self._with_other_sides(nodes, parent, members)
        request = nodes.request[parent]
        keys = np.column_stack([request, members])
        _, first = np.unique(keys, axis=0, return_index=True)
        return parent[first], members[first]

    def _touching(self, nodes: _Nodes) -> tuple[Integers, Integers]:
        """Nodes with the insiders for whom the deviation may move a cell too far.

        Many requests may have a deviation in common, which is looked at once.
        """
        asked = np.flatnonzero(self._is_asked[nodes.request])
        used, place = np.unique(nodes.row[asked], return_inverse=True)
        row, who = self._known.touching(sparse.csr_array(nodes.deviations[used]))
        first = np.searchsorted(row, np.arange(len(used) + 1))
        length = np.diff(first)[place]
        return np.repeat(asked, length), who[repeated_ranges(first[place], length)]

    def _with_other_sides(
        self, nodes: _Nodes, parent: Integers, members: Integers
    ) -> tuple[Integers, Integers]:
        """A sliding level is about both sides of a cell together: the other one joins, too."""
        problem, requests = self._problem, self._requests
        place = np.searchsorted(problem.sensitive, requests.cells)
        slides = problem.sliding_level[place] > 0
        if not slides.any():
            return parent, members
        keys = np.column_stack(
            [requests.cells[nodes.request], requests.sides[nodes.request], nodes.members]
        )
        chosen = np.flatnonzero(slides[nodes.request[parent]])
        wanted = keys[parent[chosen]]
        wanted[:, 1] *= -1
        other = match(keys, wanted)
        chosen, other = chosen[other >= 0], other[other >= 0]
        return (
            np.concatenate([parent, other]),
            np.concatenate([members, members[chosen]]),
        )

    def _moved_at(self, nodes: _Nodes, parent: Integers) -> Floats:
        """How far the asked cell itself moves in the deviation of each node."""
        return _moved(
            self._requests.take(nodes.request[parent]), nodes.deviations, nodes.row[parent]
        )

    def _judge(
        self,
        cells: Integers,
        members: Integers,
        sides: Integers,
        level: Floats,
        sliding: Floats,
        amount: Floats,
        limit: Floats,
        answered: Booleans,
    ) -> Booleans:
        """Note what is exposed and what stays open; returns the pairs that are one or the other."""
        enough = level * (1 - TOLERANCE)
        missed = (level > 0) & (amount < enough)
        shown = missed & answered & (limit < enough)
        unclear = (missed & ~shown) | ~answered
        share = np.clip(amount / np.where(level > 0, level, 1.0), 0.0, 1.0)
        self._expose(cells, np.where(sides > 0, 1, 0), members, share, shown)

        pair = np.flatnonzero((sliding > 0) & (sides > 0))
        keys = np.column_stack([cells, sides, members])
        turned = keys[pair]
        turned[:, 1] = -1
        other = match(keys, turned)
        pair, other = pair[other >= 0], other[other >= 0]
        asked = sliding[pair] * (1 - TOLERANCE)
        width, most = amount[pair] + amount[other], limit[pair] + limit[other]
        narrow = (width < asked) & answered[pair] & answered[other]
        proven = narrow & (most < asked)
        self._expose(
            cells[pair], np.full(len(pair), 2), members[pair], width / sliding[pair], proven
        )
        unclear[pair[narrow & ~proven]] = True
        self._undecided.append(cells[unclear])
        failed = shown | unclear
        failed[pair[narrow]] = True
        failed[other[narrow]] = True
        return failed

    def _expose(
        self,
        cells: Integers,
        level: npt.NDArray[Any],
        members: Integers,
        share: Floats,
        chosen: Booleans,
    ) -> None:
        self._exposed.append((cells[chosen], level[chosen], members[chosen], share[chosen]))

    def _findings(self) -> InsiderFindings:
        nobody = np.zeros((0, self._width), np.int64)
        none = np.zeros(0, np.int64)
        empty = InsiderPairs(Requests(none, none, np.zeros(0)), nobody, np.zeros(0))
        reaches = [Reaches.unanswered(0, self._problem), *self._reaches]
        exposed = [(none, none, nobody, np.zeros(0)), *self._exposed]
        return InsiderFindings(
            InsiderPairs.joined([empty, *self._pairs]),
            Reaches.joined(reaches),
            np.concatenate([cells for cells, _, _, _ in exposed]),
            np.concatenate([level for _, level, _, _ in exposed]),
            np.concatenate([members for _, _, members, _ in exposed]),
            np.concatenate([share for _, _, _, share in exposed]),
            np.unique(np.concatenate([none, *self._undecided])),
        )


def match(rows: Integers, wanted: Integers) -> Integers:
    """For each wanted row of numbers its place among some rows, -1 where it is not there."""
    if not len(rows) or not len(wanted):
        return np.full(len(wanted), -1, np.int64)
    _, number = np.unique(np.concatenate([rows, wanted]), axis=0, return_inverse=True)
    number = number.reshape(-1)
    place = np.full(int(number.max()) + 1, -1, np.int64)
    place[number[: len(rows)]] = np.arange(len(rows))
    return place[number[len(rows) :]]


def _moved(requests: Requests, deviations: Deviations, row: Integers) -> Floats:
    """How far each asked cell moves to its side in its row of some deviations."""
    if not len(requests):
        return np.zeros(0)
    own = np.asarray(deviations[row, requests.cells], np.float64).ravel()
    return own * requests.sides
