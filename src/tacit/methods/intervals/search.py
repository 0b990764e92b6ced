"""`Search`: what all algorithms for intervals share while they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.attack.reach import TOLERANCE, Requests
from tacit.attack.sweep import Attack
from tacit.clock import Clock, TimeUpError, time_left
from tacit.errors import SolverError
from tacit.methods.engine import driver, turns
from tacit.methods.intervals.model import IntervalsModel, Judgement
from tacit.methods.intervals.options import EndsOptions
from tacit.methods.registry import find_algorithm
from tacit.observer import Observer, Quiet
from tacit.outcome import BoundSource, StopReason
from tacit.problem import Booleans, Floats, Problem
from tacit.tolerances import BEYOND, NEGLIGIBLE

if TYPE_CHECKING:
    from tacit.methods.intervals.publication import Publication

_NEAR = 1e-3
"""A point that misses a level by at most this share is opened a little further."""
_MARGIN = 1.2
"""The time kept for the steps after the search, as a multiple of what they are expected to take."""


class Search(driver.Search):
    """Keeps the best safe intervals and the proven bound while an algorithm runs.

    An algorithm offers points and raises the bound; it never decides alone that a point is safe.

    Attributes:
        model: The intervals problem.
        options: What the user chose.
        best: The best safe slacks so far.
        fallback: A point that is safe but wide, for when there was no time for more.
        is_confirmed: Whether the best slacks were looked at, and are not a fallback.
        vertex: The last optimum of a relaxation: it opens few cells, but may not be safe.
        smallest: The smallest level; inf where there is none.
        look_seconds: How long it took to find out whether a point is safe.
    """

    method = "intervals"

    def __init__(
        self,
        model: IntervalsModel,
        options: EndsOptions,
        observer: Observer | None = None,
        clock: Clock | None = None,
        publication: Publication | None = None,
    ):
        """Prepare.

        Args:
            model: The intervals problem.
            options: What the user chose.
            observer: Listens; may stop the search.
            clock: The time for the whole call.
            publication: What follows the search, for which time is kept; None for a search
                within another.
        """
        super().__init__(options, observer, bound=model.objective(model.lower), clock=clock)
        self.model = model
        self.options = options
        self.best: Floats | None = None
        self.fallback: Floats | None = None
        self.vertex: Floats | None = None
        self.look_seconds = 0.0
        self.is_confirmed = False
        self._publication = publication
        self._offered: Floats | None = None
        self._offered_objective = np.inf
        self._looked = 0.0
        problem = model.problem
        levels = np.concatenate([problem.lower_level, problem.upper_level, problem.sliding_level])
        self.smallest = float(np.min(levels[levels > 0], initial=np.inf))

    def obstacles(self) -> list[str]:
        """Why the table cannot be protected even with the widest intervals."""
        assert self._publication is not None
        return self._publication.obstacles(self)

    def run(self) -> None:
        """Run the algorithm that the user chose."""
        if self.model.asks_nothing:
            self.offer(self.model.lower)
            self.confirm()
            self.raise_bound(self.objective)
        else:
            try:
                self._run_algorithm()
            except SolverError:
                # What was found before the solver broke down is as good as it was.
                self.confirm()
                if self.best is None:
                    raise
                self.stop(StopReason.EXHAUSTED)

    def _run_algorithm(self) -> None:
        find_algorithm(self.method, self.options.algorithm)(self)

    def conclude(self) -> driver.Result | None:
        """Fewest intervals, tightened, rounded, audited."""
        assert self._publication is not None
        return self._publication.result(self)

    def expand(self, result: driver.Result) -> driver.Result:
        """The result as it is: equal cells with bounds of their own have intervals of their own."""
        return result

    @property
    def problem(self) -> Problem:
        """The table."""
        return self.model.problem

    @property
    def negligible(self) -> float:
        """Slacks below this are rounding noise, and no reason to open a cell."""
        return NEGLIGIBLE * self.smallest if np.isfinite(self.smallest) else 0.0

    @property
    def cutoff(self) -> float:
        """What the best point costs, looked at or not.

        Against contributors more may turn out to be asked, and what was not looked at may be
        cheaper than any safe point.
        """
        if self.model.insiders is not None:
            return self.objective
        return min(self.objective, self._offered_objective)

    def gap_of(self, objective: float) -> float:
        """The gap that a solution with this objective would have, however small it is."""
        if not np.isfinite(objective):
            return np.inf
        return (objective - self.bound) / max(abs(objective), np.finfo(float).tiny)

    def raise_bound(self, bound: float, source: BoundSource = "recomputed") -> None:
        """Take note of a bound; a point that it proves good enough is looked at."""
        super().raise_bound(bound, source)
        if self.gap_of(self._offered_objective) <= self.options.gap:
            self.confirm()

    def out_of_time(self) -> bool:
        """Is it time to stop, whatever has been reached?"""
        return time_left() <= 0 or self.clock.is_up or self.observer.should_stop()

    def note_cuts(self, count: int) -> None:
        """Take note of cuts that a relaxation has been given."""
        self.cut_count += count
        self.observer.on_cuts(self.seconds, count)

    def keep_time(self, *, for_audit_only: bool = False) -> None:
        """Keep time for what comes after the search: a last look, tightening and the audit.

        A search whose time is up gets none back: that it ended for lack of time must stay known.
        """
        if self._publication is None or (self.clock.is_up and not for_audit_only):
            return
        kept = _MARGIN * self.look_seconds
        if not for_audit_only:
            limit = self.options.time_limit
            asked = max(sum(len(state.cells) for state in self.model.states), 1)
            opened = 2 * len(self.problem.sensitive) if self.best is None else (self.best > 0).sum()
            tightening = _MARGIN * self.look_seconds * float(opened) / asked
            kept += self.look_seconds + min(tightening, turns.INTERVALS_TIGHTENING * limit)
        self.clock.reserve = kept

    def offer(self, point: Floats) -> None:
        """Propose a point; it counts once `confirm` has found it safe."""
        objective = self.model.objective(point)
        if objective < min(self.objective, self._offered_objective):
            self._offered, self._offered_objective = point.copy(), objective
            # Checking takes time: the first point is checked, later ones now and then.
            is_due = (
                self.best is None
                or self.seconds > (1 + turns.INTERVALS_LOOK_AGAIN) * self._looked + 0.5
            )
            if is_due or self.gap_of(objective) <= self.options.gap:
                self.confirm()

    def confirm(self) -> None:
        """Look at the best offered point, and keep it if it is safe."""
        point, objective = self._offered, self._offered_objective
        self._offered, self._offered_objective = None, np.inf
        if point is None:
            return
        self._looked = self.seconds
        try:
            safe = self._made_safe(point)
        except TimeUpError:
            # There may be time for it when no more is searched.
            self._offered, self._offered_objective = point, objective
            raise
        self._looked = self.seconds
        if safe is None:
            return
        objective = self.model.objective(safe)
        if objective < self.objective:
            self.best = safe
            self.is_confirmed = True
            self.better(objective)

    def closable(self, ends: Floats) -> Booleans:
        """Open cells that might be closed: the sensitive ones stay open."""
        return np.asarray(self.model.open_cells(ends) & ~self.problem.is_sensitive)

    def tightened(self, ends: Floats) -> Floats:
        """Slacks cut back to what a reader can deduce from all of them together.

        Nobody learns anything by that: whatever a reader cannot rule out stays possible. Ends stay
        as they are where time ran out or the user stopped before their turn, and all of them if the
        solver breaks down: wider intervals are safe, too.
        """
        model = self.model
        ends = ends[: model.cell_ends].copy()
        cells = np.flatnonzero(model.open_cells(ends) & model.is_free_cell)
        attack = Attack(model.problem, model.knowledge(ends), structure=model.structure)
        try:
            # What gets as far as its own end is not cut back: no need to know how much further.
            answer = attack.reach(
                Requests.both_sides(cells, ends[2 * cells], ends[2 * cells + 1]),
                progress=lambda _: self.observer.should_stop(),
            )
        except SolverError:
            return ends
        # The proven limit, not the amount reached: nothing that is possible may be lost.
        limit = np.where(answer.answered, np.maximum(answer.limit, answer.amount), np.inf)
        places = np.concatenate([2 * cells, 2 * cells + 1])
        ends[places] = np.minimum(ends[places], limit)
        # An end that differs from the value in the last digits only tells the value.
        noise = 8 * np.spacing(np.abs(np.repeat(model.problem.value, 2)))
        ends[ends <= noise] = 0.0
        return ends

    def within(self, model: IntervalsModel, options: EndsOptions) -> Search:
        """A search over a part of the cells, as part of this one."""
        return Search(model, options, Quiet(self.observer))

    def take(self, point: Floats) -> None:
        """Keep a point without checking it: the audit will say whether it is safe."""
        ends = self.model.cell_ends
        self.best = np.clip(point[:ends], self.model.lower[:ends], None)
        self.is_confirmed = False
        self.better(self.model.objective(self.best))

    def _made_safe(self, point: Floats) -> Floats | None:
        """What is needed of a point, opened by what rounding took; None if it is not safe."""
        model = self.model
        ends = np.clip(point[: model.cell_ends], model.lower[: model.cell_ends], None)
        # Solvers leave tiny numbers in place of zeros: they protect nothing and blur later checks.
        ends[ends < self.negligible] = 0.0
        for _ in range(3):
            np.minimum(ends, model.upper[: model.cell_ends], out=ends)
            began = self.seconds
            share, needed = self.look(ends)
            self.look_seconds = self.seconds - began
            self.keep_time()
            if share >= 1 - TOLERANCE:
                return model.completed(needed)
            if share < 1 - _NEAR:
                return None
            ends = ends * ((1 + BEYOND) / share)
        return None

    def look(self, ends: Floats) -> tuple[float, Floats]:
        """How safe slacks are, and what of them that takes.

        Returns:
            The smallest share of a level that is there against an attacker; the slacks that the
            tables need which show it. What goes beyond these protects nobody.
        """
        model = self.model
        needed = model.lower[: model.cell_ends].copy()
        least = 1.0
        readers: Judgement | None = None
        try:
            for state in model.outsiders:
                judged = model.judged(state, ends, needed)
                least = min(least, float(judged.shares.min(initial=1.0)))
                if state.attacker.is_reader:
                    readers = judged
            if model.insiders is not None and readers is not None and least >= 1 - _NEAR:
                found = model.faced(readers, ends, needed)
                model.insiders.watch(found)
                least = min(least, model.insiders.share(found))
        except SolverError:
            # What could not be judged is not called safe.
            return 0.0, ends
        return least, np.minimum(needed, ends)

    def probe(self, point: Floats) -> bool:
        """Does a point show that more is to be asked against contributors than is asked now?

        A point that is safe is offered.
        """
        model = self.model
        if model.insiders is None:
            return False
        safe = self._made_safe(point)
        if safe is not None:
            self.offer(safe)
            self.confirm()
        return model.is_behind
