"""`Search`: what all algorithms for intervals share while they run.

It keeps the best safe intervals and the proven bound, watches the clock and tells the observer.
An algorithm offers points and raises the bound; it never decides alone that a point is safe.
"""

from __future__ import annotations

import numpy as np

from tacit.attack.reach import TOLERANCE, Requests
from tacit.clock import Clock, TimeUpError, time_left
from tacit.errors import SolverError
from tacit.methods.engine import driver
from tacit.methods.intervals.model import IntervalsModel, Rival
from tacit.methods.intervals.options import EndsOptions
from tacit.observer import Observer
from tacit.outcome import BoundSource
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.tolerances import NEGLIGIBLE

_NEAR = 1e-3
"""A point that misses a level by at most this share is opened a little further."""
_PAUSE = 0.1
"""Share of the time after which offered points are looked at before the end."""
_AIR = 1.2
"""So many times what steps after the search are expected to take is kept for them."""
_TIGHTENING = 0.1
"""At most this share of the time is kept for cutting intervals back to what can be deduced."""


class Search(driver.Search):
    """The state of one run.

    Attributes:
        model: The intervals problem.
        options: What the user chose.
        best: The best safe rooms so far.
        fallback: A point that is safe but wide, for when there was no time for more.
        is_confirmed: Whether the best rooms were looked at, and are not a fallback.
        vertex: The last optimum of a relaxation: it opens few cells, but may not be safe.
        smallest: The smallest level; inf where there is none.
        look_seconds: How long it took to find out whether a point is safe.
    """

    method = "intervals"

    def __init__(
        self,
        model: IntervalsModel,
        options: EndsOptions,
        observer: Observer,
        clock: Clock | None = None,
    ):
        """Prepare.

        Args:
            model: The intervals problem.
            options: What the user chose.
            observer: Listens; may stop the search.
            clock: The time for the whole call. Whoever gives it has steps to do after the
                search, and time is kept for them.
        """
        super().__init__(options, observer, bound=model.objective(model.lower), clock=clock)
        self.model = model
        self.options = options
        self.best: Floats | None = None
        self.fallback: Floats | None = None
        self.vertex: Floats | None = None
        self.look_seconds = 0.0
        self.is_confirmed = False
        self._keeps_time = clock is not None
        self._offered: Floats | None = None
        self._offered_objective = np.inf
        self._looked = 0.0
        problem = model.problem
        levels = np.concatenate([problem.lower_level, problem.upper_level, problem.sliding_level])
        self.smallest = float(np.min(levels[levels > 0], initial=np.inf))

    @property
    def problem(self) -> Problem:
        """The table."""
        return self.model.problem

    @property
    def crumb(self) -> float:
        """Rooms below this are rounding, and no reason to open a cell."""
        return NEGLIGIBLE * self.smallest if np.isfinite(self.smallest) else 0.0

    @property
    def cutoff(self) -> float:
        """What the best point costs, looked at or not."""
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

    @property
    def audit_seconds(self) -> float:
        """What an audit will take, as far as that is known."""
        return _AIR * self.look_seconds

    def keep_time(self, *, for_audit_only: bool = False) -> None:
        """Keep time for what comes after the search: a last look, tightening and the audit.

        A search whose time is up gets none back, or nobody would know why it was ended.
        """
        if not self._keeps_time or (self.clock.is_up and not for_audit_only):
            return
        kept = self.audit_seconds
        if not for_audit_only:
            limit = self.options.time_limit
            asked = max(sum(len(rival.cells) for rival in self.model.rivals), 1)
            opened = 2 * len(self.problem.sensitive) if self.best is None else (self.best > 0).sum()
            tightening = _AIR * self.look_seconds * float(opened) / asked
            kept += self.look_seconds + min(tightening, _TIGHTENING * limit)
        self.clock.reserve = kept

    def offer(self, point: Floats) -> None:
        """Propose a point; it counts once `confirm` has found it safe."""
        objective = self.model.objective(point)
        if objective < min(self.objective, self._offered_objective):
            self._offered, self._offered_objective = point.copy(), objective
            # Looking is not free: the first is looked at, then one now and then.
            is_due = self.best is None or self.seconds > (1 + _PAUSE) * self._looked + 0.5
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

    @property
    def hint(self) -> str:
        """What to say where nothing safe was found."""
        return ""

    def within(self, model: IntervalsModel, options: EndsOptions) -> Search:
        """A search over a part of the cells, as part of this one."""
        return Search(model, options, Quiet(self.observer))

    def take(self, point: Floats) -> None:
        """Keep a point without a look: the audit will say whether it is safe."""
        ends = self.model.cell_ends
        self.best = np.clip(point[:ends], self.model.lower[:ends], None)
        self.is_confirmed = False
        self.better(self.model.objective(self.best))

    def _made_safe(self, point: Floats) -> Floats | None:
        """What is needed of a point, opened by what rounding took; None if it is not safe."""
        model = self.model
        ends = np.clip(point[: model.cell_ends], model.lower[: model.cell_ends], None)
        # Solvers leave crumbs that are of no use and make trouble for those who look closely.
        ends[ends < self.crumb] = 0.0
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
            ends = ends * ((1 + 1e-10) / share)
        return None

    def look(self, ends: Floats) -> tuple[float, Floats]:
        """How safe rooms are, and what of them that takes.

        Returns:
            The smallest share of a level that is there against an attacker; the rooms that the
            tables need which show it. What goes beyond these protects nobody.
        """
        model = self.model
        needed = model.lower[: model.cell_ends].copy()
        least = 1.0
        for rival in model.rivals:
            cells, levels, sliding = levels_against(model, rival)
            wanted = np.maximum(levels, sliding)
            both = Requests.both_sides(cells, *wanted)
            try:
                reaches = model.answer(rival, ends, both)
            except SolverError:
                # What nobody can judge is not called safe.
                return 0.0, ends
            model.open_for(needed, reaches, both, np.minimum(wanted.ravel(), reaches.amount))
            amount = reaches.amount.reshape(2, -1)
            shares = np.concatenate([amount, amount.sum(0, keepdims=True)])
            asked = np.concatenate([levels, sliding[None]])
            some: Booleans = asked > 0
            least = min(least, float(np.min(shares[some] / asked[some], initial=1.0)))
        return least, np.minimum(needed, ends)


class Quiet(Observer):
    """Passes on nothing but the wish to stop: for searches within the search."""

    def __init__(self, observer: Observer):
        self._observer = observer

    def should_stop(self) -> bool:
        """Does whoever listens to the whole search want it to stop?"""
        return self._observer.should_stop()


def levels_against(model: IntervalsModel, rival: Rival) -> tuple[Integers, Floats, Floats]:
    """Sensitive cells to protect against an attacker, upper and lower levels, sliding levels."""
    problem = model.problem
    asked = ~rival.attacker.spares(problem)[problem.sensitive]
    levels = np.stack([problem.upper_level[asked], problem.lower_level[asked]])
    return problem.sensitive[asked], levels, problem.sliding_level[asked]
