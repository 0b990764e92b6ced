"""`Search`: what all suppression algorithms share while they run.

It knows the attackers, keeps the best safe pattern and the proven bound, watches the clock and
tells the observer. An algorithm offers patterns and raises the bound; it never decides alone
that a pattern is safe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tacit.attack.cuts import Separator
from tacit.attack.knowledge import Attacker, Knowledge, singleton_respondents
from tacit.attack.reach import TOLERANCE, Reaches, Requests
from tacit.attack.shrink import Structure
from tacit.attack.sweep import Attack
from tacit.methods.course import Course
from tacit.methods.suppress.options import SuppressOptions
from tacit.methods.suppress.witnesses import Witnesses
from tacit.observer import Observer
from tacit.outcome import BoundSource
from tacit.problem import Booleans, Floats, Integers, Problem


@dataclass(frozen=True, eq=False)
class Rival:
    """One attacker with the tools to answer and to stop them.

    Attributes:
        attacker: Who.
        separator: Finds cuts against this attacker.
        witnesses: What is known about patterns looked at before.
        lately: Requests that were missed lately, the last ones first.
    """

    attacker: Attacker
    separator: Separator
    witnesses: Witnesses
    lately: list[int] = field(default_factory=list)

    def remember(self, requests: Integers) -> None:
        """These requests were just missed."""
        fresh = requests.tolist()
        self.lately[:] = (fresh + [each for each in self.lately if each not in set(fresh)])[:64]

    def order(self, count: int) -> Integers:
        """All requests, those missed lately first."""
        first = np.array(self.lately, np.int64)
        rest = np.setdiff1d(np.arange(count), first)
        return np.concatenate([first, rest])

    @property
    def is_plain(self) -> bool:
        """Does the attacker know the same of a cell whichever cell is attacked?"""
        return not self.attacker.colluding and not self.attacker.own


class Search(Course):
    """The state of one run.

    Attributes:
        problem: The table.
        options: What the user chose.
        structure: The examined relations.
        rivals: The attackers.
        secondary: Cells that may be suppressed besides the sensitive ones, and could help.
        base: Weight of the sensitive cells, which every solution pays.
        best: The best safe pattern so far.
        reasons: Why no pattern is safe, once that is known.
        unprotected: Sensitive cells that the last pattern looked at leaves exposed, or that were
            not looked at; at first all.
    """

    def __init__(
        self,
        problem: Problem,
        options: SuppressOptions,
        attackers: Sequence[Attacker] = (),
        observer: Observer | None = None,
    ):
        super().__init__(options, observer)
        self.problem = problem
        self.options = options
        self.structure = Structure.of(problem)
        self.rivals = [
            self._rival(attacker) for attacker in _attackers(problem, options, attackers)
        ]
        movable = (problem.upper > problem.value) | (problem.value > problem.lower)
        self.sensitive = problem.is_sensitive
        self.secondary: Booleans = movable & ~problem.must_publish & ~self.sensitive
        self.base = float(problem.weight[self.sensitive].sum())
        weight = problem.weight[self.secondary]
        self._integral = bool((weight == np.rint(weight)).all()) and self.base == np.rint(self.base)
        self.best: Booleans | None = None
        self.bound = self.base
        self.reasons: list[str] = []
        self.unprotected: Integers = problem.sensitive
        self._found_safe: Booleans | None = None

    def _rival(self, attacker: Attacker) -> Rival:
        separator = Separator(self.problem, structure=self.structure, attacker=attacker)
        return Rival(attacker, separator, Witnesses(self.structure, separator))

    @property
    def cutoff(self) -> float:
        """Only patterns that weigh less than this are of interest."""
        if not np.isfinite(self.objective):
            return np.inf
        # With whole weights the next better pattern is lighter by 1 at least.
        step = 0.5 if self._integral else 0.0
        return self.objective - max(step, self.options.gap * abs(self.objective) * 0.5)

    def _out_of_time(self, _answered: int) -> bool:
        return self.finished()

    def weigh(self, hidden: Booleans) -> float:
        """The objective of a pattern."""
        return float(self.problem.weight[hidden].sum())

    def raise_bound(self, bound: float, source: BoundSource = "recomputed") -> None:
        """Take note of a bound on the objective of all safe patterns, and of who vouches for it."""
        if self._integral:
            bound = float(np.ceil(bound - 1e-6))
        super().raise_bound(bound, source)

    def nothing_better(self) -> None:
        """Take note that no pattern lies below the cutoff: there is none better, or none."""
        if np.isfinite(self.objective):
            self.raise_bound(self.cutoff)
        else:
            self.stopped_by = "infeasible"

    def offer(self, hidden: Booleans) -> bool:
        """Propose a pattern; True if it is safe, allowed and better than the best so far."""
        objective = self.weigh(hidden)
        if objective >= self.objective or not self.allows(hidden):
            return False
        if not self._was_found_safe(hidden) and self.first_exposed(hidden):
            return False
        self.best = hidden.copy()
        self.better(objective)
        return True

    def _was_found_safe(self, hidden: Booleans) -> bool:
        """Were the attackers asked about this very pattern just now?"""
        return self._found_safe is not None and bool(np.array_equal(self._found_safe, hidden))

    def tidy(self, hidden: Booleans) -> None:
        """Take a pattern within the best one that is as good and safe, too."""
        if self.allows(hidden) and not self.exposed(hidden):
            self.best = hidden.copy()

    def allows(self, hidden: Booleans) -> bool:
        """Are all conditions met that have nothing to do with attackers?"""
        limit = self.options.max_suppressed
        if limit is not None and hidden.sum() > limit:
            return False
        if not hidden[self.sensitive].all() or (hidden & self.problem.must_publish).any():
            return False
        rows, needed = self.crowd_rows()
        return bool((abs(self.problem.relations[rows]).sign() @ hidden >= needed).all())

    def crowd_rows(self) -> tuple[Integers, Integers]:
        """Relations with singletons, and how many suppressed cells each needs ((8))."""
        problem = self.problem
        if self.options.singletons != "local":
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        lonely = (problem.singleton >= 0) & self.sensitive
        count = np.asarray(abs(problem.relations).sign() @ lonely).astype(np.int64)
        rows = np.flatnonzero(count > 0)
        return rows, count[rows] + 1

    def exposed(self, hidden: Booleans) -> list[tuple[Rival, Requests]]:
        """Who can still come too close to what; empty for a safe pattern.

        A sliding level is expressed by the sides that are to move further.
        """
        found = []
        for rival in self.rivals:
            missed = self._missed(rival, hidden)
            if len(missed):
                found.append((rival, missed))
        if not found:
            self._found_safe = hidden.copy()
        self.unprotected = np.unique(
            np.concatenate([np.zeros(0, np.int64), *(missed.cells for _, missed in found)])
        )
        return found

    def _missed(self, rival: Rival, hidden: Booleans) -> Requests:
        requests = rival.separator.requests()
        missed = requests.take(~self.reached(rival, requests, hidden))
        cells, levels = rival.separator.sliding()
        if len(cells) == 0:
            return missed
        both = Requests.both_sides(cells)
        answers = self.attack(rival, hidden).reach(
            self.ask(rival, both, hidden), progress=self._out_of_time
        )
        amount = answers.amount
        rise, fall = amount[: len(cells)], amount[len(cells) :]
        narrow = np.flatnonzero(rise + fall < levels * (1 - TOLERANCE))
        extra = [slide(rival.separator, int(cells[i]), levels[i], fall[i]) for i in narrow]
        return joined([missed, *extra])

    def reached(self, rival: Rival, requests: Requests, hidden: Booleans) -> Booleans:
        """Which requests a pattern meets, as far as that could be found out in time."""
        reached = np.zeros(len(requests), bool)
        outside = ~self.structure.in_network[requests.cells]
        if rival.is_plain:
            reached[outside] = rival.witnesses.show(requests.take(outside), hidden)
        left = np.flatnonzero(~reached)
        if len(left) == 0:
            return reached
        rest = requests.take(left)
        # Flows take a moment: what was found just before time ran out is still worth a look.
        is_quick = not outside[left].any()
        answers = self.attack(rival, hidden).reach(
            self.ask(rival, rest, hidden), progress=None if is_quick else self._out_of_time
        )
        # What was not answered in time counts as missed: nobody may call it safe.
        reached[left] = answers.reached(rest)
        if rival.is_plain:
            self._remember(rival, rest, answers, outside[left] & reached[left])
        return reached

    def _remember(
        self, rival: Rival, requests: Requests, answers: Reaches, worth: Booleans
    ) -> None:
        """Take note of deviations that may answer later questions."""
        tables = answers.deviations
        for number in np.flatnonzero(worth & np.isfinite(answers.amount)).tolist():
            entries = slice(tables.indptr[number], tables.indptr[number + 1])
            rival.witnesses.remember(
                int(requests.cells[number]),
                int(requests.sides[number]),
                float(requests.targets[number]),
                tables.indices[entries].astype(np.int64),
                tables.data[entries],
            )

    def first_exposed(self, hidden: Booleans) -> tuple[Rival, Requests] | None:
        """Some requests that a pattern misses, or None if it is safe.

        Faster than `exposed` for patterns that are not: who was exposed lately is asked first,
        and the first few that miss end the search.
        """
        for rival in self.rivals:
            requests = rival.separator.requests()
            if len(rival.separator.sliding()[0]):
                missed = self._missed(rival, hidden)
                if len(missed):
                    return rival, missed
                continue
            order = rival.order(len(requests))
            start, size = 0, 32
            while start < len(order):
                index = order[start : start + size]
                part = requests.take(index)
                missed_ones = ~self.reached(rival, part, hidden)
                if missed_ones.any():
                    rival.remember(index[missed_ones])
                    return rival, part.take(missed_ones)
                start, size = start + size, 512
        return None

    def targets(self, rival: Rival, hidden: Booleans) -> Requests:
        """Requests that a safe pattern meets and that together make it safe.

        A sliding level is split between the two sides as they are now.
        """
        plain = rival.separator.requests()
        cells, levels = rival.separator.sliding()
        if len(cells) == 0:
            return plain
        both = Requests.both_sides(cells)
        amount = self.attack(rival, hidden).reach(self.ask(rival, both, hidden)).amount
        rise, fall = amount[: len(cells)], amount[len(cells) :]
        up = np.minimum(rise, levels)
        down = np.minimum(fall, levels - up)
        return joined([plain, Requests.both_sides(cells, up, down)]).positive()

    def attack(self, rival: Rival, hidden: Booleans) -> Attack:
        """What the attacker can do with a pattern."""
        told = rival.attacker.learn(self.problem, Knowledge.of(self.problem, hidden))
        keep = rival.attacker.reopened(self.problem)
        return Attack(self.problem, told, structure=self.structure, keep=keep)

    def ask(self, rival: Rival, requests: Requests, hidden: Booleans) -> Requests:
        """Requests with the room that each asked cell itself has."""
        return rival.attacker.ask(self.problem, Knowledge.of(self.problem, hidden), requests)


def _attackers(
    problem: Problem, options: SuppressOptions, attackers: Sequence[Attacker]
) -> list[Attacker]:
    chosen = list(attackers) or [Attacker.external()]
    if options.singletons == "respondents":
        chosen += singleton_respondents(problem)
    elif options.singletons == "global":
        chosen.append(Attacker.all_singletons(problem))
    return chosen


def slide(separator: Separator, cell: int, level: float, fall: float) -> Requests:
    """What to ask of both sides so that a sliding level is met, given how far the cell falls."""
    up = min(separator.own_room(cell)[0], max(level - fall, 0.0))
    return Requests.both_sides(np.array([cell]), up, level - up).positive()


def joined(parts: Sequence[Requests]) -> Requests:
    """Several requests as one."""
    return Requests(
        np.concatenate([part.cells for part in parts]),
        np.concatenate([part.sides for part in parts]),
        np.concatenate([part.targets for part in parts]),
    )


def emptied(weight: Floats) -> Floats:
    """Weights with zeros replaced by something tiny, so that cells are not hidden for nothing."""
    positive = weight[weight > 0]
    return np.where(weight > 0, weight, 1e-6 * (positive.min() if len(positive) else 1.0))
