"""`Search`: what all suppression algorithms share while they run.

It knows the attackers, keeps the best safe pattern and the proven bound, watches the clock and
tells the observer. An algorithm offers patterns and raises the bound; it never decides alone
that a pattern is safe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy import sparse

from tacit.attack.cuts import Separator
from tacit.attack.joint_moves import Moves
from tacit.attack.knowledge import Attacker, Knowledge
from tacit.attack.reach import TOLERANCE, Reaches, Requests, SparseRows
from tacit.attack.shrink import Structure
from tacit.attack.suggestions import Deviations
from tacit.attack.sweep import Attack
from tacit.clock import Clock, check_time
from tacit.methods.engine import driver
from tacit.methods.registry import find_algorithm
from tacit.methods.suppress.attackers import AttackerState, InsiderState
from tacit.methods.suppress.options import SuppressOptions
from tacit.methods.suppress.proof import Proof
from tacit.methods.suppress.weights import beyond, is_outgrown, step_of, unit_for_loss, unit_of
from tacit.methods.suppress.witnesses import Witness, Witnesses
from tacit.observer import Observer
from tacit.outcome import BoundSource, StopReason, Suppression
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.threads import Threads
from tacit.tolerances import INTEGRAL, LAST_DIGITS


class OutgrownError(Exception):
    """The best pattern is so light that weights must be counted in another unit."""


class Search(driver.Search):
    """The state of one run.

    Weights and objectives are counted in a unit that suits solvers; see `weights`.

    Attributes:
        problem: The table, its weights in the search's unit.
        options: What the user chose.
        structure: The examined relations.
        states: The attackers; contributors together are the last.
        outsiders: The attackers without contributors.
        insiders: The state of contributors as attackers, if the table has any.
        secondary: Cells that may be suppressed besides the sensitive ones, and could help.
        base: Weight of the sensitive cells, which every solution pays.
        best: The best safe pattern so far.
        known: Deviations that were known to show it safe when it was found.
        spared: The same for many contributors at once, one per row; None where none attack.
        proof: Has patterns audited.
        may_start_again: Whether `OutgrownError` is raised where it is due, for `start_again`.
        unprotected: Sensitive cells that the last pattern looked at leaves exposed, or that were
            not looked at; at first all.
        news: Called by `hear`, to bring what was found elsewhere.
    """

    method = "suppress"

    def __init__(
        self,
        problem: Problem,
        options: SuppressOptions,
        attackers: Sequence[Attacker] = (),
        observer: Observer | None = None,
        clock: Clock | None = None,
        structure: Structure | None = None,
    ):
        super().__init__(options, observer, clock=clock)
        self._given_weight = problem.weight
        self.problem = problem
        self.options = options
        self.structure = structure or Structure.of(problem)
        self._threads = Threads(options.cores) if options.cores > 1 else None
        self.states: list[AttackerState] = []
        for attacker in attackers or [Attacker.external()]:
            self.states.append(self._state_of(attacker))
        self.outsiders = list(self.states)
        self.insiders = self._insider_state()
        movable = (problem.upper > problem.value) | (problem.value > problem.lower)
        self.sensitive = problem.is_sensitive
        self.secondary: Booleans = movable & ~problem.must_publish & ~self.sensitive
        self._count_in(unit_of(problem.weight[self.secondary]))
        self.best: Booleans | None = None
        self.bound = self.base
        self.known: list[Witness] = []
        self.spared: Deviations | None = None
        self.may_start_again = False
        self._last_attack: tuple[AttackerState, Booleans, Attack] | None = None
        self._is_settled = False
        self.proof = Proof(self)
        self.unprotected: Integers = problem.sensitive
        self._found_safe: Booleans | None = None
        self.news: list[Callable[[], None]] = []

    def twin(self, observer: Observer) -> Search:
        """A search of the same table for another thread, which begins with the best pattern.

        Nothing that changes is shared, apart from the clock.
        """
        attackers = [state.attacker for state in self.outsiders]
        options = self.options.replace(jobs=1)
        given = self.problem.replace(weight=self._given_weight)
        twin = Search(given, options, attackers, observer, self.clock)
        twin.problem, twin.unit, twin.base = self.problem, self.unit, self.base
        twin._step, twin.bound = self._step, self.base
        if self.best is not None:
            twin.adopt(self.best)
        return twin

    def adopt(self, hidden: Booleans) -> None:
        """Take a better pattern that another search of the same table has found safe."""
        if self.weigh(hidden) < self.objective:
            self._take(hidden)
            self.better(self.weigh(hidden))

    def hear(self) -> None:
        """Take note of what was found elsewhere in the meantime; to be asked between two steps."""
        for each in self.news:
            each()

    def run(self) -> None:
        """Run the algorithm that the user chose, then publish what is suppressed without need."""
        if len(self.problem.sensitive) == 0:
            self.offer(np.zeros(self.problem.cell_count, bool))
            self.raise_bound(0.0)
            return
        run = find_algorithm(self.method, self.options.algorithm)
        self.may_start_again = True
        while True:
            try:
                run(self)
            except OutgrownError:
                self.start_again()
            else:
                break
        if self.why_stopped() not in (StopReason.TIME, StopReason.USER):
            self._publish_idle()

    def _publish_idle(self) -> None:
        """Publish what the best pattern suppresses without need: cells that cost nothing."""
        if self.best is None:
            return
        idle = np.flatnonzero(self.best & self.secondary & (self.problem.weight == 0))
        for cell in idle.tolist():
            check_time()
            fewer = self.best.copy()
            fewer[cell] = False
            self.tidy(fewer)

    def conclude(self) -> driver.Result | None:
        """The best pattern that was audited in time."""
        self.proof.last()
        if self.best is None:
            return None
        return driver.Result(Suppression(self.best), self.objective, self.proof.audit)

    def excuse(self) -> tuple[str, Sequence[int]]:
        """What to say without a pattern."""
        if self.stop_reason is StopReason.INFEASIBLE:
            return "no pattern meets all conditions at once, the number of cells included", ()
        assert self.case is not None
        given, exposed = self.case.given, self.case.sensitive(self.unprotected)
        return (
            f"{len(exposed)} of {len(given.sensitive)} sensitive cells were still exposed or not "
            f"looked at: {given.name_cells(exposed)}"
        ), self.unprotected.tolist()

    def _count_in(self, unit: float, most: float = np.inf) -> None:
        """Count weights in a unit; those above what is of interest are cut off."""
        weight = np.where(self.sensitive, self._given_weight, np.minimum(self._given_weight, most))
        self.unit = unit
        if unit != 1.0 or most < np.inf:
            self.problem = self.problem.replace(weight=weight / unit)
        self.base = float(self.problem.weight[self.sensitive].sum())
        self._step = step_of(self.problem.weight[self.sensitive | self.secondary])

    def settle_unit(self) -> None:
        """Count weights in a unit that suits what the best pattern loses, if there is one.

        To be called before anybody takes the weights for more than a heuristic.
        """
        if self.best is None:
            return
        self._is_settled = True
        loss = float(self._given_weight[self.best & ~self.sensitive].sum())
        heaviest = float(self._given_weight[self.secondary].max(initial=0.0))
        most = beyond(loss)
        counted = np.minimum(self._given_weight, most)[self.secondary]
        unit = unit_for_loss(loss, step_of(np.append(counted, self._given_weight[self.sensitive])))
        if loss <= 0 or (unit == self.unit and heaviest <= most):
            return
        before = self.unit
        self._count_in(unit, most)
        self.objective = self.weigh(self.best)
        self.bound = min(self.bound * (before / unit), self.objective)

    def start_again(self) -> None:
        """Count weights anew, as the best pattern is so much lighter than the first one was."""
        assert self.best is not None
        self.settle_unit()
        self.forget_bounds(self.base)
        self.better(self.weigh(self.best))

    def _state_of(self, attacker: Attacker) -> AttackerState:
        separator = Separator(
            self.problem, structure=self.structure, attacker=attacker, threads=self._threads
        )
        is_plain = not attacker.reopened(self.problem).any()
        first = self.states[0].separator if self.states else separator
        closed = (separator.up < first.up) | (separator.down < first.down)
        return AttackerState(
            attacker, separator, Witnesses(self.structure, separator), is_plain, closed
        )

    def _insider_state(self) -> InsiderState | None:
        """Contributors as attackers, who join the others."""
        if self.problem.insiders is None or not len(self.problem.insiders):
            return None
        first = next((each for each in self.states if each.attacker.is_reader), None)
        state = InsiderState.of(self.problem, first or self._state_of(Attacker.external()))
        self.states.append(state)
        return state

    @property
    def outside_networks(self) -> int:
        """The number of secondary cells that no network contains."""
        return int((self.secondary & ~self.structure.in_network).sum())

    @property
    def cutoff(self) -> float:
        """Only patterns that weigh less than this are of interest."""
        if not np.isfinite(self.objective):
            return np.inf
        # The next better pattern is lighter by a step at least.
        return self.objective - max(0.5 * self._step, self.options.gap * abs(self.objective) * 0.5)

    def gap_of(self, objective: float) -> float:
        """The gap that a pattern with this objective would have, however light patterns are."""
        if not objective > self.bound:
            return 0.0
        return (objective - self.bound) / objective if np.isfinite(objective) else np.inf

    def _out_of_time(self, _answered: int) -> bool:
        return self.should_stop()

    def weigh(self, hidden: Booleans) -> float:
        """The objective of a pattern."""
        return float(self.problem.weight[hidden].sum())

    def raise_bound(self, bound: float, source: BoundSource = "recomputed") -> None:
        """Take note of a bound on the objective of all safe patterns, and of its source."""
        if self._step > 0 and np.isfinite(bound):
            bound = float(np.ceil(bound / self._step * (1 - LAST_DIGITS) - INTEGRAL)) * self._step
        super().raise_bound(bound, source)

    def nothing_better(self) -> None:
        """Take note that no pattern lies below the cutoff: there is none better, or none.

        Only solvers say so: what they refute is not recomputed.
        """
        if np.isfinite(self.objective):
            self.raise_bound(self.cutoff, "solver")
        else:
            self.stop(StopReason.INFEASIBLE)

    def leave_gap(self) -> None:
        """Take note that nothing more is tried, although the bound leaves something open."""
        if self.best is not None and not self.should_stop():
            self.stop(StopReason.HEURISTIC)

    def offer(self, hidden: Booleans) -> bool:
        """Propose a pattern; True if it is safe, allowed and better than the best so far."""
        objective = self.weigh(hidden)
        if objective >= self.objective or not self.allows(hidden):
            return False
        if not self._was_found_safe(hidden) and self.first_exposed(hidden):
            return False
        is_first = self.best is None
        self._take(hidden)
        loss = float(self.problem.weight[hidden & ~self.sensitive].sum())
        if self.may_start_again and self._is_settled and is_outgrown(loss, self._step):
            raise OutgrownError
        self.better(objective)
        if is_first and self.case is not None:
            self.proof.first()
        return True

    def keep_ready(self, hidden: Booleans) -> None:
        """Have a safe pattern audited that is handed over if no better one is found in time.

        The search goes on as if it were not there: it is too poor to guide anything.
        """
        if self.best is not None or self.case is None or not self.allows(hidden):
            return
        if not self.exposed(hidden):
            self._take(hidden)
            self.proof.keep()
            self.best = None

    def _take(self, hidden: Booleans) -> None:
        self.best = hidden.copy()
        self.known = [each for state in self.states for each in state.witnesses.deviations()]
        self.spared = None if self.insiders is None else self.insiders.store.known

    def fall_back(self, hidden: Booleans | None) -> None:
        """Return to an earlier pattern, or to none."""
        self.best = hidden
        self.objective = np.inf if hidden is None else self.weigh(hidden)
        self.forget_below(self.objective)

    def _was_found_safe(self, hidden: Booleans) -> bool:
        """Were the attackers asked about this very pattern just now?"""
        return self._found_safe is not None and bool(np.array_equal(self._found_safe, hidden))

    def tidy(self, hidden: Booleans) -> None:
        """Take a pattern within the best one that is as good and safe, too."""
        if self.allows(hidden) and not self.exposed(hidden):
            self._take(hidden)

    def allows(self, hidden: Booleans) -> bool:
        """Are all conditions met that have nothing to do with attackers?"""
        limit = self.options.max_suppressed
        if limit is not None and hidden.sum() > limit:
            return False
        if not hidden[self.sensitive].all() or (hidden & self.problem.must_publish).any():
            return False
        rows, needed = self.singleton_rows()
        return bool((abs(self.problem.relations[rows]).sign() @ hidden >= needed).all())

    def singleton_rows(self) -> tuple[Integers, Integers]:
        """Relations with singletons, and how many suppressed cells each needs ((8))."""
        problem = self.problem
        if self.options.singletons != "local":
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        lonely = (problem.singleton >= 0) & self.sensitive
        count = np.asarray(abs(problem.relations).sign() @ lonely).astype(np.int64)
        rows = np.flatnonzero(count > 0)
        return rows, count[rows] + 1

    def exposed(self, hidden: Booleans) -> list[tuple[AttackerState, Requests]]:
        """Who can still come too close to what; empty for a safe pattern.

        A sliding level is expressed by the sides that are to move further.
        """
        found: list[tuple[AttackerState, Requests]] = []
        for state in self._one_after_the_other():
            if state is self.insiders and found:
                # What protects against others protects against contributors, too.
                break
            missed = self.missed(state, hidden)
            if len(missed):
                found.append((state, missed))
        if not found:
            self._found_safe = hidden.copy()
        self.unprotected = np.unique(
            np.concatenate([np.zeros(0, np.int64), *(missed.cells for _, missed in found)])
        )
        return found

    def _one_after_the_other(self) -> Iterator[AttackerState]:
        """The attackers, as long as there is time: there may be hundreds.

        Raises:
            TimeUpError: Time ran out before the last.
        """
        for number, state in enumerate(self.states):
            if number > 0:
                check_time()
            yield state

    def missed(self, state: AttackerState, hidden: Booleans) -> Requests:
        """Requests of one attacker that a pattern misses."""
        if state is self.insiders:
            return self.insiders.missed(self, hidden)
        requests = state.requests()
        missed = requests.take(~self.reached(state, requests, hidden))
        cells, levels = state.separator.sliding()
        if len(cells) == 0:
            return missed
        both = Requests.both_sides(cells)
        answers = self.attack(state, hidden).reach(
            self.ask(state, both, hidden), proofs=False, progress=self._out_of_time
        )
        amount = answers.amount
        rise, fall = amount[: len(cells)], amount[len(cells) :]
        narrow = np.flatnonzero(rise + fall < levels * (1 - TOLERANCE))
        extra = [slide(state.separator, int(cells[i]), levels[i], fall[i]) for i in narrow]
        return Requests.joined([missed, *extra])

    def reached(self, state: AttackerState, requests: Requests, hidden: Booleans) -> Booleans:
        """Which requests a pattern meets, as far as that could be found out in time."""
        reached = np.zeros(len(requests), bool)
        outside = ~self.structure.in_network[requests.cells]
        # Flows are as fast as remembering, unless many attackers ask for almost the same.
        several = len(self.states) > 1
        kept = (outside | several) & state.is_plain
        reached[kept] = self._shown(state, requests.take(kept), hidden)
        left = np.flatnonzero(~reached)
        if len(left) == 0:
            return reached
        rest = requests.take(left)
        # Flows take a moment: what was found just before time ran out is still worth a look.
        is_quick = not outside[left].any() and not several
        answers = self.attack(state, hidden).reach(
            self.ask(state, rest, hidden),
            proofs=False,
            progress=None if is_quick else self._out_of_time,
        )
        # What was not answered in time counts as missed: nobody may call it safe.
        reached[left] = answers.reached(rest)
        self._remember(state, rest, answers, kept[left] & reached[left])
        return reached

    def _shown(self, state: AttackerState, requests: Requests, hidden: Booleans) -> Booleans:
        """Which requests remembered deviations show to be met."""
        shown = state.witnesses.show(requests, hidden)
        first = self.states[0]
        if first.is_plain and state.witnesses is not first.witnesses:
            # What moves only cells of which this attacker knows no more than the first.
            shown |= first.witnesses.show(requests, hidden & ~state.closed)
        return shown

    def _remember(
        self, state: AttackerState, requests: Requests, answers: Reaches, worth: Booleans
    ) -> None:
        """Take note of deviations that may answer later questions."""
        tables = answers.tables
        useful = np.flatnonzero(worth & np.isfinite(answers.amount))
        order = useful[np.argsort(answers.row[useful], kind="stable")]
        for same in np.split(order, np.flatnonzero(np.diff(answers.row[order])) + 1):
            if len(same):
                row = int(answers.row[same[0]])
                entries = slice(tables.indptr[row], tables.indptr[row + 1])
                cells = tables.indices[entries].astype(np.int64)
                state.witnesses.remember_all(requests, same, cells, tables.data[entries])

    def answers(
        self,
        state: AttackerState,
        requests: Requests,
        hidden: Booleans,
        *,
        moves: Moves = "few",
    ) -> Reaches:
        """Deviations that show which requests a pattern meets, remembered or new.

        Unlike `reached` this tells how. What was not answered in time is marked.

        Args:
            state: The attacker.
            requests: What to find out.
            hidden: The pattern.
            moves: How many cells deviations may move.
        """
        known = [state.witnesses.find(requests, number, hidden) for number in range(len(requests))]
        left = np.array([number for number, each in enumerate(known) if each is None], np.int64)
        rest = requests.take(left)
        fresh = self.attack(state, hidden).reach(
            self.ask(state, rest, hidden), moves=moves, progress=self._out_of_time
        )
        self._remember(state, rest, fresh, fresh.reached(rest))
        rows = SparseRows(len(requests), self.problem.cell_count)
        amount = np.zeros(len(requests))
        for number, each in enumerate(known):
            if each is not None:
                amount[number] = each.moved
                rows.put(number, each.cells, each.x)
        row = np.arange(len(requests))
        row[left] = len(requests) + fresh.row
        amount[left] = fresh.amount
        limit = np.full(len(requests), np.inf)
        limit[left] = fresh.limit
        answered = np.ones(len(requests), bool)
        answered[left] = fresh.answered
        proofs = SparseRows(len(requests), self.problem.relation_count)
        proven = sparse.coo_array(fresh.multipliers)
        proofs.put_many(left[proven.row], proven.col.astype(np.int64), proven.data)
        tables = sparse.csr_array(sparse.vstack([rows.matrix(), fresh.tables]))
        return Reaches(amount, limit, tables, proofs.matrix(), answered, row)

    def first_exposed(self, hidden: Booleans) -> tuple[AttackerState, Requests] | None:
        """Some requests that a pattern misses, or None if it is safe.

        Faster than `exposed` for patterns that are not: who was exposed lately is asked first,
        and the first few that miss end the search.
        """
        for state in self._one_after_the_other():
            requests = state.requests()
            if state.slides or state is self.insiders:
                missed = self.missed(state, hidden)
                if len(missed):
                    return state, missed
                continue
            order = state.order(len(requests))
            start, size = 0, 32
            while start < len(order):
                index = order[start : start + size]
                part = requests.take(index)
                missed_ones = ~self.reached(state, part, hidden)
                if missed_ones.any():
                    state.remember(index[missed_ones])
                    return state, part.take(missed_ones)
                start, size = start + size, 4 * size
        return None

    def targets(self, state: AttackerState, hidden: Booleans) -> Requests:
        """Requests that a safe pattern meets and that together make it safe.

        A sliding level is split between the two sides as they are now.
        """
        if state is self.insiders:
            return self.insiders.targets(self, hidden)
        plain = state.requests()
        cells, levels = state.separator.sliding()
        if len(cells) == 0:
            return plain
        both = Requests.both_sides(cells)
        amount = self.attack(state, hidden).reach(self.ask(state, both, hidden)).amount
        rise, fall = amount[: len(cells)], amount[len(cells) :]
        up = np.minimum(rise, levels)
        down = np.minimum(fall, levels - up)
        return Requests.joined([plain, Requests.both_sides(cells, up, down)]).positive()

    def attack(self, state: AttackerState, hidden: Booleans) -> Attack:
        """What the attacker can do with a pattern."""
        # The same pattern is attacked again and again, with some requests at a time.
        if self._last_attack is not None:
            whose, pattern, attack = self._last_attack
            if whose is state and np.array_equal(pattern, hidden):
                return attack
        told = state.attacker.learn(self.problem, Knowledge.of(self.problem, hidden))
        keep = state.attacker.reopened(self.problem)
        attack = Attack(self.problem, told, structure=self.structure, keep=keep)
        self._last_attack = state, hidden.copy(), attack
        return attack

    def own_capacity(self, state: AttackerState) -> tuple[Floats, Floats]:
        """How far cells may rise and fall while they themselves are asked."""
        problem, separator = self.problem, state.separator
        free = state.attacker.reopened(problem)
        return (
            np.where(free, problem.upper - problem.value, separator.up),
            np.where(free, problem.value - problem.lower, separator.down),
        )

    def ask(self, state: AttackerState, requests: Requests, hidden: Booleans) -> Requests:
        """Requests with the capacity that each asked cell itself has."""
        return state.attacker.ask(self.problem, Knowledge.of(self.problem, hidden), requests)


def slide(separator: Separator, cell: int, level: float, fall: float) -> Requests:
    """What to ask of both sides so that a sliding level is met, given how far the cell falls."""
    up = min(separator.own_capacity(cell)[0], max(level - fall, 0.0))
    return Requests.both_sides(np.array([cell]), up, level - up).positive()
