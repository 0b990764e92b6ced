"""From safe rooms to what is published: fewest intervals, tightened, audited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.attack.reach import Requests
from tacit.attack.sweep import Attack
from tacit.clock import Clock
from tacit.errors import SolverError
from tacit.methods.engine.driver import Result, audited, refuted
from tacit.methods.intervals.ends import outward
from tacit.methods.intervals.heuristics.fewest import fewest
from tacit.methods.intervals.search import Search
from tacit.outcome import Intervals, StopReason
from tacit.problem import Booleans, Floats, Problem

if TYPE_CHECKING:
    from tacit.attack.audit import Audit

_GRACE = 0.05, 0.5
"""An audit that takes longer than expected may go beyond the time limit by this share of it, or
by so many seconds if that is more."""
_WIDER = 1e-7
"""Ends that an audit finds too close by rounding are moved by this share of their rooms."""


def tightened(search: Search, ends: Floats) -> Floats:
    """Rooms cut back to what a reader can deduce from all of them together.

    Nobody learns anything by that: whatever a reader cannot rule out stays possible. Ends stay
    as they are where time ran out or the user stopped before their turn, and all of them if the
    solver breaks down: wider intervals are safe, too.
    """
    model = search.model
    ends = ends[: model.cell_ends].copy()
    cells = np.flatnonzero(model.open_cells(ends) & model.is_free_cell)
    attack = Attack(model.problem, model.knowledge(ends), structure=model.structure)
    try:
        answer = attack.reach(
            Requests.both_sides(cells), progress=lambda _: search.observer.should_stop()
        )
    except SolverError:
        return ends
    # The proven limit, not the amount reached: nothing that is possible may be lost.
    limit = np.where(answer.answered, np.maximum(answer.limit, answer.amount), np.inf)
    places = np.concatenate([2 * cells, 2 * cells + 1])
    ends[places] = np.minimum(ends[places], limit)
    # An end that differs from the value in the last digits only tells the value.
    dust = 8 * np.spacing(np.abs(np.repeat(model.problem.value, 2)))
    ends[ends <= dust] = 0.0
    return ends


def found_intervals(search: Search, ends: Floats) -> Intervals:
    """The intervals with these rooms around the true values."""
    model, problem = search.model, search.problem
    known = model.knowledge(ends)
    upper, lower = problem.value + known.up, problem.value - known.down
    # Rounding must not take anything away.
    upper = np.where(upper - problem.value < known.up, np.nextafter(upper, np.inf), upper)
    lower = np.where(problem.value - lower < known.down, np.nextafter(lower, -np.inf), lower)
    return Intervals(np.maximum(lower, problem.lower), np.minimum(upper, problem.upper))


def untold(search: Search, found: Intervals) -> Booleans:
    """Cells that are not published: withheld, or no closer than everybody knew before."""
    problem = search.problem
    spread = found.lower < found.upper
    known = (found.lower <= problem.lower) & (found.upper >= problem.upper)
    return np.asarray((spread & known) | search.model.is_withheld[0::2])


def cost(search: Search, solution: Intervals) -> float:
    """What published intervals cost; nobody pays for room beyond the bounds."""
    model, problem = search.model, search.problem
    weight = model.weight[: model.cell_ends]
    rooms = np.empty(model.cell_ends)
    rooms[0::2] = np.minimum(solution.upper, problem.upper) - problem.value
    rooms[1::2] = problem.value - np.maximum(solution.lower, problem.lower)
    counted = weight > 0
    return float(weight[counted] @ rooms[counted])


@dataclass(frozen=True)
class Finish:
    """What follows the search, for the method at hand.

    Attributes:
        tightened: Cuts rooms back to what can be deduced.
        cost: What intervals cost.
    """

    tightened: Callable[[Search, Floats], Floats] = tightened
    cost: Callable[[Search, Intervals], float] = cost

    def result(self, search: Search) -> Result | None:
        """What a search that is over hands over, within the time that was kept for it."""
        self._last_look(search)
        if search.best is None:
            return None
        self._close(search)
        search.observer.on_phase("tightening and audit")
        search.keep_time(for_audit_only=True)
        ends = search.best[: search.model.cell_ends]
        with search.clock:
            ends = self.tightened(search, ends)
        objective = max(self.cost(search, found_intervals(search, ends)), search.bound)
        solution, checked, left_out = self._published(search, ends)
        if solution is None:
            return None
        return Result(
            solution,
            objective,
            checked,
            published_objective=max(self.cost(search, solution), objective),
            left_out=left_out,
        )

    def _last_look(self, search: Search) -> None:
        """Look at what was offered last, while there is time; else take what is safe but wide."""
        search.keep_time(for_audit_only=True)
        with search.clock:
            search.confirm()
        if search.best is None and search.fallback is not None:
            search.take(search.fallback)

    def _close(self, search: Search) -> None:
        """Close intervals that are not needed, while there is time."""
        search.keep_time()
        try:
            with search.clock:
                fewest(search)
        except KeyboardInterrupt:
            search.stop(StopReason.USER)

    def _published(
        self, search: Search, ends: Floats
    ) -> tuple[Intervals | None, Audit | None, tuple[int, ...]]:
        """What is published, audited; nothing where time did not suffice for the audit."""
        model, base = search.model, search.options.base
        checked: Audit | None = None
        for turn in range(3):
            found = found_intervals(search, ends)
            kept = untold(search, found) | _points(search.problem, found)
            # Rounding may have taken what a level needs: further attempts give it back.
            solution = outward(found, base, kept, strictly=turn > 0) if base else found
            with Clock(_time_for_audit(search)):
                checked = self._audit(search, solution)
            if checked is None or checked.unchecked:
                search.stop(StopReason.TIME)
                return None, None, ()
            if not checked.safe and not search.is_confirmed:
                return None, None, ()
            if checked.safe:
                return solution, checked, tuple(np.flatnonzero(kept).tolist())
            ends = np.minimum(ends * (1 + _WIDER), model.upper[: model.cell_ends])
        assert checked is not None
        raise refuted(search.problem, "intervals", checked)

    def _audit(self, search: Search, solution: Intervals) -> Audit:
        return audited(search.problem, solution, [rival.attacker for rival in search.model.rivals])


def _time_for_audit(search: Search) -> float:
    share, seconds = _GRACE
    limit = search.options.time_limit
    return max(0.0, limit + max(share * limit, seconds) - search.seconds)


def _points(problem: Problem, solution: Intervals) -> Booleans:
    """Sensitive cells whose interval is a point, since they ask for no room: not published."""
    return np.asarray(problem.is_sensitive & (solution.lower >= solution.upper))
