"""The intervals problem as one vector, and who attacks it.

A point is a vector of slacks: place 2 i is how far the published interval of cell i reaches
above the true value, place 2 i + 1 how far below (z+ and z- of [KarlssonOlsson2015]). Behind them
stand reaches: for a sensitive cell with a sliding level, how far each side is to reach for a given
attacker, so that both together make up the level. Other levels are numbers, not places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit.attack.insider_knowledge import InsiderKnowledge
from tacit.attack.insider_search import InsiderFindings, face_insiders
from tacit.attack.knowledge import Attacker, Knowledge, with_reader
from tacit.attack.reach import TOLERANCE, Limits, Reaches, Requests
from tacit.attack.shrink import Structure
from tacit.attack.sweep import Attack
from tacit.errors import SolverError
from tacit.methods.engine.cut_pool import Rows
from tacit.methods.engine.insider_pairs import WatchedPairs
from tacit.methods.intervals.attackers import AttackerState, InsiderState, interleaved
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.tolerances import LAST_DIGITS, SAME_AMOUNT, TINY

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False)
class Judgement:
    """How much of each level there is against an attacker.

    Attributes:
        cells: Sensitive cells.
        shares: For each the share of its upper, lower and sliding level that is there, inf
            where there is no level.
        is_known: Whether its levels were looked at.
        requests: What was asked.
        answer: The answers.
    """

    cells: Integers
    shares: Floats
    is_known: Booleans
    requests: Requests
    answer: Reaches


class IntervalsModel:
    """What all algorithms for intervals share.

    Attributes:
        problem: The table.
        attackers: Who attacks; readers are there wherever contributors are.
        structure: Its examined relations.
        may_open: Cells that may become intervals if they are published.
        states: The attackers, each with what is asked against them; contributors are the last.
        outsiders: The attackers without contributors.
        insiders: Contributors as attackers, if the table has any.
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
        pairs: WatchedPairs | None = None,
        structure: Structure | None = None,
    ):
        """Prepare.

        Args:
            problem: The table.
            weight: What a unit of each end costs.
            allowed: Cells that may become intervals if they are published.
            withheld: Cells that are not published at all.
            attackers: Who attacks; by default a reader.
            pairs: Requests against contributors that are known to matter, shared with other
                models of the same table.
            structure: The examined relations, where they are at hand.
        """
        self.problem = problem
        self.attackers = with_reader(problem, attackers)
        self.may_open = allowed
        self._given = weight, withheld
        self.structure = structure or Structure.of(problem)
        self._above = problem.upper - problem.value
        self._below = problem.value - problem.lower
        known = interleaved(np.maximum(self._above, 0.0), np.maximum(self._below, 0.0))
        self.is_withheld = np.repeat(withheld, 2)
        self.is_free = np.repeat(allowed & ~withheld & ~problem.must_publish, 2) & (known > 0)
        self._most = np.where(self.is_free | self.is_withheld, known, 0.0)
        self.states: list[AttackerState] = []
        self.weight = np.where(self.is_free, weight, 0.0)
        self.lower = np.zeros(len(known))
        self.upper = np.where(self.is_free, known, 0.0)
        self._pair = np.zeros((2, 0), np.int64)
        self._sliding = np.zeros(0)
        self._own_end = self._own_reach = np.zeros(0, np.int64)
        self.rows: Rows = sparse.csr_array((0, self.size))
        self.right = np.zeros(0)
        self.parts: dict[int, Any] = {}
        for attacker in self.attackers:
            self.states.append(self._state(attacker))
        self.outsiders = list(self.states)
        self.insiders = self._insider_state(pairs)
        self.catch_up()

    def _insider_state(self, pairs: WatchedPairs | None) -> InsiderState | None:
        """Contributors as attackers, who join the others."""
        if self.problem.insiders is None or not len(self.problem.insiders):
            return None
        pairs = pairs or WatchedPairs(InsiderKnowledge(self.problem))
        state = InsiderState.of(self._reader, pairs)
        self.states.append(state)
        return state

    @property
    def _reader(self) -> AttackerState:
        return next(state for state in self.outsiders if state.attacker.is_reader)

    @property
    def pairs(self) -> WatchedPairs | None:
        """Requests against contributors that are known to matter."""
        return None if self.insiders is None else self.insiders.pairs

    @property
    def is_behind(self) -> bool:
        """Have more requests against contributors turned out to matter than are asked here?"""
        return self.insiders is not None and self.insiders.is_behind

    def catch_up(self) -> None:
        """Ask what has turned out to matter against contributors; points may become longer."""
        state = self.insiders
        if state is None or not state.is_behind:
            return
        plain, wide = state.new
        place = np.zeros((2, 0), np.int64)
        if len(wide):
            levels = np.zeros((2, len(wide)))
            place = self._add_reaches(state.attacker, wide.cells, levels, wide.targets, wide.limits)
        state.ask(plain, wide, place)

    def lengthened(self, point: Floats) -> Floats:
        """A point of the time before `catch_up` with reaches for what has been added since."""
        if len(point) == self.size:
            return point
        longer = self.least_point()
        longer[: len(point)] = point
        return self.with_own_reaches(longer)

    @property
    def has_no_networks(self) -> bool:
        """Does every request take linear programs, as in tables of three and more dimensions?"""
        return not self.structure.strips_cover and not self.structure.in_network.any()

    @property
    def is_free_cell(self) -> Booleans:
        """Cells with an end that may be opened."""
        return self.is_free[0::2] | self.is_free[1::2]

    @property
    def cell_ends(self) -> int:
        """How many places are slacks; the rest are reaches."""
        return len(self.is_free)

    @property
    def size(self) -> int:
        """Length of a point."""
        return len(self.lower)

    def knowledge(self, ends: Floats) -> Knowledge:
        """What everyone knows when these slacks are published."""
        hidden = np.where(self.is_withheld, self._most, 0.0)
        shown = np.where(self.is_free, ends[: self.cell_ends], hidden)
        return Knowledge(shown[0::2], shown[1::2])

    def capacity(self, state: AttackerState, point: Floats) -> Floats:
        """How far an attacker thinks each end may lie, given what is published."""
        published = np.where(self.is_free, point[: self.cell_ends], np.inf)
        shown = np.where(self.is_free | self.is_withheld, published, 0.0)
        return np.minimum(shown, state.capacity)

    def _answer(self, attacker: Attacker, ends: Floats, requests: Requests, **how: Any) -> Reaches:
        """What the attacker can deduce when these slacks are published."""
        public = self.knowledge(ends)
        told = attacker.learn(self.problem, public)
        keep = attacker.reopened(self.problem)
        attack = Attack(self.problem, told, structure=self.structure, keep=keep)
        return attack.reach(attacker.ask(self.problem, public, requests), **how)

    def missed(self, state: AttackerState, point: Floats, among: Integers) -> Integers:
        """Those of some requests that a point misses, or that could not be judged.

        One table shows many requests to be met where that is possible.
        """
        asked = Requests(
            state.cells[among],
            state.sides[among],
            state.targets(point)[among],
            limits=None if state.limits is None else state.limits.take(among),
        )
        try:
            answer = self._answer(state.attacker, point, asked, proofs=False)
        except SolverError:
            return among
        return among[answer.amount < asked.targets * (1 - SAME_AMOUNT)]

    def _levels_against(self, attacker: Attacker) -> tuple[Integers, Floats, Floats]:
        """Sensitive cells to protect, their upper and lower levels, their sliding levels."""
        problem = self.problem
        asked = ~attacker.spares(problem)[problem.sensitive]
        levels = np.stack([problem.upper_level[asked], problem.lower_level[asked]])
        return problem.sensitive[asked], levels, problem.sliding_level[asked]

    def judged(self, state: AttackerState, ends: Floats, opened: Floats, **how: Any) -> Judgement:
        """How much of each level there is against an attacker when these slacks are published.

        Args:
            state: The attacker, who is not a contributor.
            ends: The slacks.
            opened: Slacks that are opened, in place, for tables that show how much there is.
            **how: Passed on to `Attack.reach`.
        """
        cells, levels, sliding = self._levels_against(state.attacker)
        wanted = np.maximum(levels, sliding)
        both = Requests.both_sides(cells, *wanted)
        answer = self._answer(state.attacker, ends, both, **how)
        self._open_for(opened, answer, both, np.minimum(wanted.ravel(), answer.amount))
        amount = answer.amount.reshape(2, -1)
        reached = np.concatenate([amount, amount.sum(0, keepdims=True)])
        asked = np.concatenate([levels, sliding[None]])
        shares: Floats = np.full(asked.shape, np.inf)
        np.divide(reached, asked, out=shares, where=asked > 0)
        is_known = np.asarray(answer.answered.reshape(2, -1).all(0))
        return Judgement(cells, shares, is_known, both, answer)

    def faced(
        self, readers: Judgement, ends: Floats, opened: Floats, **how: Any
    ) -> InsiderFindings:
        """What contributors can deduce when these slacks are published.

        Args:
            readers: How much there is against readers. Cells that are exposed to these, or were
                not looked at, are left out.
            ends: The slacks.
            opened: Slacks that are opened, in place, for tables that show how much there is.
            **how: Passed on to `Attack.reach`.
        """
        state = self.insiders
        assert state is not None
        is_safe = readers.is_known & (readers.shares >= 1 - TOLERANCE).all(0)
        chosen = np.flatnonzero(np.tile(is_safe, 2) & (readers.requests.targets > 0))
        found = face_insiders(
            self.problem,
            readers.requests.take(chosen),
            readers.answer.take(chosen),
            lambda pairs: self._answer(state.attacker, ends, pairs.requests, **how),
            known=state.known,
        )
        asked, reaches = found.pairs.requests, found.reaches
        self._open_for(opened, reaches, asked, np.minimum(asked.targets, reaches.amount))
        return found

    def _open_for(self, slacks: Floats, answer: Reaches, asked: Requests, wanted: Floats) -> None:
        """Open slacks for the tables of an answer, as far as they are wanted, in place."""
        tables = sparse.coo_array(answer.deviations)
        moved = np.bincount(
            tables.row,
            np.where(tables.col == asked.cells[tables.row], np.abs(tables.data), 0.0),
            minlength=len(asked),
        )
        shrink = np.where(moved > 0, np.minimum(1.0, wanted / np.maximum(moved, TINY)), 0.0)
        data = tables.data * shrink[tables.row]
        ends = 2 * tables.col + (data < 0)
        free = self.is_free[ends]
        np.maximum.at(slacks, ends[free], np.abs(data)[free])

    def completed(self, ends: Floats) -> Floats:
        """Slacks, opened to what intervals must have besides protection."""
        return ends

    def objective(self, point: Floats) -> float:
        """What the intervals of a point cost."""
        # Reaches cost nothing; ends that cost nothing may be infinite.
        used = np.flatnonzero(self.weight > 0)
        return float(self.weight[used] @ point[used])

    def _state(self, attacker: Attacker) -> AttackerState:
        public = Knowledge(self._most[0::2], self._most[1::2])
        told = attacker.learn(self.problem, public)
        cells, levels, sliding = self._levels_against(attacker)
        slides = np.flatnonzero(sliding > levels.sum(0) * (1 + LAST_DIGITS))
        place = np.full(levels.shape, -1, np.int64)
        if len(slides):
            place[:, slides] = self._add_reaches(
                attacker, cells[slides], levels[:, slides], sliding[slides]
            )
        for side in (0, 1):
            ends = 2 * cells + side
            free = self.is_free[ends]
            least = np.maximum(self.lower[ends], levels[side])
            self.lower[ends[free]] = np.minimum(least, self.upper[ends])[free]
        wanted = (levels.ravel() > 0) | (place.ravel() >= 0)
        return AttackerState(
            attacker,
            interleaved(told.up, told.down),
            np.tile(cells, 2)[wanted],
            np.repeat(np.array([1, -1]), len(cells))[wanted],
            levels.ravel()[wanted],
            place.ravel()[wanted],
            np.where(place >= 0, sliding, 0.0).ravel()[wanted],
        )

    def _add_reaches(
        self,
        attacker: Attacker,
        cells: Integers,
        levels: Floats,
        sliding: Floats,
        limits: Limits | None = None,
    ) -> Integers:
        """Places for both reaches of cells with sliding levels, and the rows they need."""
        both = Requests.both_sides(cells, sliding, sliding, limits)
        # No reach is of use beyond what even the widest intervals allow.
        most = self._answer(attacker, self._most, both).amount.reshape(2, -1)
        place = self.size + np.arange(2 * len(cells)).reshape(2, -1)
        self.lower = np.concatenate([self.lower, levels.ravel()])
        self.upper = np.concatenate([self.upper, np.maximum(most, levels).ravel()])
        self.weight = np.concatenate([self.weight, np.zeros(2 * len(cells))])
        ends = 2 * cells + np.array([[0], [1]])
        held = self.is_free[ends]
        self._add_rows(place, sliding, ends[held], place[held])
        self._pair = np.concatenate([self._pair, place], axis=1)
        self._sliding = np.concatenate([self._sliding, sliding])
        self._own_end = np.concatenate([self._own_end, ends[held]])
        self._own_reach = np.concatenate([self._own_reach, place[held]])
        return place

    def _add_rows(self, pair: Integers, sliding: Floats, end: Integers, reach: Integers) -> None:
        """Both reaches of a cell make up its sliding level; its interval holds them."""
        ones = np.ones(len(sliding) + len(end))
        row = np.arange(len(ones))
        entries = (
            np.concatenate([ones, np.where(row < len(sliding), 1.0, -1.0)]),
            (np.tile(row, 2), np.concatenate([pair[0], end, pair[1], reach])),
        )
        before = sparse.csr_array(
            (self.rows.data, self.rows.indices, self.rows.indptr),
            shape=(len(self.right), self.size),
        )
        rows = sparse.csr_array(entries, shape=(len(ones), self.size))
        self.rows = sparse.csr_array(sparse.vstack([before, rows]))
        self.right = np.concatenate([self.right, sliding, np.zeros(len(end))])

    def widest(self) -> Floats:
        """Slacks with every interval as wide as it may be; may be infinite."""
        return self._most

    def least_point(self) -> Floats:
        """The least slacks, with sliding levels shared out as the widest intervals suggest."""
        point = self.lower.copy()
        low = self.lower[self._pair]
        spare = self.upper[self._pair] - low
        missing = np.maximum(self._sliding - low.sum(0), 0.0)
        point[self._pair] = low + spare * missing / np.maximum(spare.sum(0), missing + TINY)
        return self.with_own_reaches(point)

    def with_own_reaches(self, point: Floats) -> Floats:
        """The point with every interval at least as wide as its cell's own reaches."""
        point = point.copy()
        np.maximum.at(point, self._own_end, point[self._own_reach])
        return point

    def with_reaches(self, ends: Floats) -> Floats:
        """A point with these slacks, in which cells reach as far as their own intervals."""
        point = self.upper.copy()
        point[: self.cell_ends] = ends
        for state in self.states:
            asked = np.flatnonzero(state.place >= 0)
            own = ends[2 * state.cells[asked] + (state.sides[asked] < 0)]
            place = state.place[asked]
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
        return IntervalsModel(
            self.problem, weight, chosen, withheld, self.attackers, self.pairs, self.structure
        )

    @property
    def partner(self) -> Integers:
        """For each place the other reach of the same cell; -1 for slacks."""
        other = np.full(self.size, -1, np.int64)
        other[self._pair[0]], other[self._pair[1]] = self._pair[1], self._pair[0]
        return other

    @property
    def asks_nothing(self) -> bool:
        """Is there no level to be met?"""
        return not any(len(state.cells) for state in self.states)

    @property
    def usual_level(self) -> float:
        """The size of levels: solvers work with absolute tolerances, so this is their unit."""
        levels = np.concatenate([*(state.level for state in self.states), self.right])
        return float(np.median(levels[levels > 0])) if (levels > 0).any() else 1.0
