"""What a search knows of each attacker: what to ask, how to answer, how to object.

Contributors are many, and each knows a few cells of its own. They share one state: requests
against them carry what the contributor knows as limits, and only those are there that a pattern
has made worth asking.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from tacit.attack.cuts import Cuts, Separator
from tacit.attack.insider_knowledge import InsiderKnowledge
from tacit.attack.insider_search import (
    InsiderFindings,
    InsiderPairs,
    face_insiders,
    readers_requests,
)
from tacit.attack.knowledge import Attacker, Knowledge
from tacit.attack.reach import TOLERANCE, Reaches, Requests
from tacit.attack.sparing import Sparing
from tacit.attack.suggestions import Suggestions
from tacit.attack.sweep import Attack
from tacit.clock import check_time
from tacit.methods.engine.insider_pairs import WatchedPairs
from tacit.methods.suppress.witnesses import Witnesses
from tacit.problem import Booleans, Floats, Integers, Problem

if TYPE_CHECKING:
    from tacit.methods.suppress.model import Search


@dataclass(frozen=True, eq=False)
class AttackerState:
    """One attacker with the tools to answer and to stop them.

    Attributes:
        attacker: Who.
        separator: Finds cuts against this attacker.
        witnesses: What is known about patterns looked at before.
        is_plain: Does the attacker know the same of a cell whichever cell is attacked?
        closed: Cells of which the attacker knows more than the first attacker does.
        lately: Requests that were missed lately, the last ones first.
    """

    attacker: Attacker
    separator: Separator
    witnesses: Witnesses
    is_plain: bool
    closed: Booleans
    lately: list[int] = field(default_factory=list)

    @property
    def slides(self) -> bool:
        """Are there sliding levels against this attacker?"""
        return len(self.separator.sliding()[0]) > 0

    def requests(self) -> Requests:
        """What must be out of reach of this attacker, apart from sliding levels."""
        return self.separator.requests()

    def cuts(
        self,
        y: Floats,
        requests: Requests | None = None,
        *,
        ceiling: float = 1.0,
        thorough: bool = True,
    ) -> Cuts:
        """Violated cuts for a suppression vector; see `Separator.cuts`.

        Args:
            y: How far each cell is suppressed, from 0 to 1.
            requests: What was missed. A sliding level may be shared out in any way, and what was
                missed is only one of them: with sliding levels all are looked at.
            ceiling: As for the separator.
            thorough: As for the separator.
        """
        requests = None if self.slides else requests
        return self.separator.cuts(y, requests, ceiling=ceiling, thorough=thorough)

    def name(self, requests: Requests, number: int) -> str:  # noqa: ARG002 for insiders
        """Whom a request is against; confidential."""
        return f"{self.attacker.name} attackers"

    def remember(self, requests: Integers) -> None:
        """These requests were just missed."""
        fresh = requests.tolist()
        self.lately[:] = (fresh + [each for each in self.lately if each not in set(fresh)])[:64]

    def order(self, count: int) -> Integers:
        """All requests, those missed lately first."""
        first = np.array(self.lately, np.int64)
        rest = np.setdiff1d(np.arange(count), first)
        return np.concatenate([first, rest])


@dataclass(frozen=True, eq=False)
class InsiderState(AttackerState):
    """Contributors as attackers, with the pairs that patterns so far have made worth asking.

    Attributes:
        problem: The table.
        known: What contributors know.
        pairs: The pairs that are watched.
        store: Deviations that leave alone what many contributors know.
        sparing: Looks for them.
    """

    problem: Problem = field(kw_only=True)
    known: InsiderKnowledge = field(kw_only=True)
    pairs: WatchedPairs = field(kw_only=True)
    store: Suggestions = field(kw_only=True)
    sparing: Sparing = field(kw_only=True)

    @classmethod
    def of(cls, problem: Problem, reader: AttackerState) -> InsiderState:
        """The contributors of a table, given the state of a reader."""
        known, store = InsiderKnowledge(problem), Suggestions(problem)
        return cls(
            replace(reader.attacker, name="contributors"),
            reader.separator,
            reader.witnesses,
            is_plain=True,
            closed=np.zeros(problem.cell_count, bool),
            problem=problem,
            known=known,
            pairs=WatchedPairs(known),
            store=store,
            sparing=Sparing(problem, known, store),
        )

    @property
    def slides(self) -> bool:
        """Are there sliding levels against contributors that are watched?"""
        return len(self.pairs.sliding) > 0

    def requests(self) -> Requests:
        """What must be out of reach of contributors, as far as that has turned out."""
        return self.pairs.requests

    def cuts(
        self,
        y: Floats,
        requests: Requests | None = None,
        *,
        ceiling: float = 1.0,
        thorough: bool = True,
    ) -> Cuts:
        """Violated cuts for a suppression vector."""
        if self.slides:
            requests = None
        requests = self.requests() if requests is None else requests
        cuts = self.separator.cuts(y, requests, ceiling=ceiling, thorough=thorough)
        if not self.slides:
            return cuts
        sliding = self.separator.sliding_cuts(y, self.pairs.sliding)
        return Cuts(
            sparse.csr_array(sparse.vstack([cuts.coefficients, sliding.coefficients])),
            np.concatenate([cuts.cells, sliding.cells]),
            np.concatenate([cuts.sides, sliding.sides]),
        )

    def missed(self, search: Search, hidden: Booleans) -> Requests:
        """Requests against contributors that a pattern misses.

        Those that are watched are looked at first. Only if all are met, others are looked for,
        among the cells that are safe from readers.

        Raises:
            TimeUpError: Time ran out before all were looked at.
        """
        watched = self.requests()
        missed = watched.take(~search.reached(self, watched, hidden))
        if len(missed):
            return missed
        attack = search.attack(self, hidden)
        is_slow = self.sparing.serves(attack)
        requests = readers_requests(self.problem)
        readers = search.answers(self, requests, hidden, moves="some" if is_slow else "few")
        fine = self._safe_from_readers(requests, readers)
        requests, readers = requests.take(fine), readers.take(fine)
        told = self.attacker.learn(self.problem, Knowledge.of(self.problem, hidden))

        def answer(pairs: InsiderPairs) -> Reaches:
            if is_slow:
                self._show(search, attack, told, pairs)
            return search.answers(self, self.pairs.numbered(pairs), hidden)

        if is_slow:
            readers, _ = self.sparing.spared(lambda: attack, told, requests, readers)
        found = face_insiders(self.problem, requests, readers, answer, known=self.known)
        self.pairs.watch(found.pairs, found.missed_sliding(self.known))
        if len(found.undecided):
            check_time()
        missed = self.pairs.numbered(found.missed)
        if self.slides or len(found.exposed_cells):
            missed = self.pairs.together(missed, self._slide(found))
        undecided = np.setdiff1d(found.undecided, missed.cells)
        if len(undecided):
            # Nobody may call these safe.
            missed = self.pairs.together(missed, requests.take(np.isin(requests.cells, undecided)))
        return missed

    def _show(self, search: Search, attack: Attack, told: Knowledge, pairs: InsiderPairs) -> None:
        """Look for deviations that answer many pairs; they become witnesses."""
        requests = self.pairs.numbered(pairs)
        left = np.flatnonzero(~self.witnesses.show(requests, told.up + told.down > 0))
        for is_last in (False, True):
            shown = self.store.shown(told, requests.take(left), np.ones(len(left), bool))
            rows = self.store.known
            for number, row in zip(left.tolist(), shown.tolist(), strict=True):
                if row >= 0:
                    entries = slice(rows.indptr[row], rows.indptr[row + 1])
                    cells = rows.indices[entries].astype(np.int64)
                    self.witnesses.remember(requests, number, cells, rows.data[entries])
            left = left[shown < 0]
            if is_last or not len(left) or search.should_stop():
                break
            self.sparing.join(attack, told, pairs.take(left))

    def _safe_from_readers(self, requests: Requests, answers: Reaches) -> Integers:
        """Requests about cells that meet their levels against readers."""
        problem = self.problem
        place = np.searchsorted(problem.sensitive, requests.cells)
        rises = requests.sides > 0
        level = np.where(rises, problem.upper_level[place], problem.lower_level[place])
        missed = ~answers.answered | (answers.amount < level * (1 - TOLERANCE))
        return np.flatnonzero(~np.isin(requests.cells, requests.cells[missed]))

    def _slide(self, found: InsiderFindings) -> Requests:
        """What to ask of both sides so that sliding levels are met that were missed."""
        narrow = found.missed_sliding(self.known)
        sliding = self.pairs.numbered(narrow)
        lists = sliding.limits
        assert lists is not None
        up = np.minimum(self.separator.up[narrow.requests.cells], narrow.level)
        up = np.minimum(up, lists.at(np.arange(len(up)), sliding.cells, np.ones(len(up), bool)))
        return Requests.both_sides(sliding.cells, up, narrow.level - up, lists).positive()

    def targets(self, search: Search, hidden: Booleans) -> Requests:
        """Requests that a safe pattern meets and that together make it safe, as far as is known."""
        plain, sliding = self.requests(), self.pairs.sliding
        if not len(sliding):
            return plain
        both = Requests.both_sides(sliding.cells, np.inf, np.inf, sliding.limits)
        amount = search.attack(self, hidden).reach(both).amount
        rise, fall = amount[: len(sliding)], amount[len(sliding) :]
        up = np.minimum(rise, sliding.targets)
        down = np.minimum(fall, sliding.targets - up)
        sides = Requests.both_sides(sliding.cells, up, down, sliding.limits)
        return self.pairs.together(plain, sides).positive()

    def name(self, requests: Requests, number: int) -> str:
        """Whom a request is against; confidential."""
        if requests.limits is None or requests.limits.chosen[number] < 0:
            return super().name(requests, number)
        return f"the {self.pairs.name(int(requests.limits.chosen[number]))}"
