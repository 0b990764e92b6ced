"""From the table as it was given to a search, and from safe slacks to what is published.

Equal cells are merged before the search. What it finds is told of the cells as they were given,
and so is what stands in its way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.attack.insider_knowledge import LEVELS
from tacit.attack.insider_search import InsiderFindings
from tacit.attack.reach import TOLERANCE
from tacit.clock import Clock
from tacit.methods.engine import turns
from tacit.methods.engine.driver import Case, Result, audited, refuted
from tacit.methods.intervals.attackers import InsiderState, interleaved
from tacit.methods.intervals.ends import outward
from tacit.methods.intervals.heuristics.fewest import fewest
from tacit.methods.intervals.model import IntervalsModel, Judgement
from tacit.methods.intervals.search import Search
from tacit.outcome import Intervals, StopReason
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.reductions.equal_cells import EqualCells
from tacit.tolerances import ROUNDING_NOISE, WIDER

if TYPE_CHECKING:
    from tacit.attack.audit import Audit

_LEAST_GRACE = 0.5
"""Seconds that an audit may go beyond the time limit, however short that is."""
_WAYS_OUT = (
    "; put its code together with another one (recode), let more cells become intervals, or leave "
    'contributors out with insiders = "none"'
)
_SAME_STEP = 0.01
"""Slacks this close to a multiple of a step, as a share of it, are one up to rounding."""


def merged_ends(cells: EqualCells, weight: Floats) -> Floats:
    """What the weights of ends add up to."""
    return interleaved(cells.sum(weight[0::2]), cells.sum(weight[1::2]))


@dataclass(frozen=True, eq=False)
class Publication:
    """The table as it was given, and what a search over merged cells says about it.

    Attributes:
        case: The table as it was given, and the one that is searched.
        model_of: The intervals problem for cells that are merged in some way.
        weight: What a unit of each end costs, of all cells.
        suppress_weight: What it costs besides not to publish a cell exactly.
    """

    case: Case
    model_of: Callable[[EqualCells], IntervalsModel]
    weight: Floats
    suppress_weight: Floats

    @property
    def problem(self) -> Problem:
        """The table as it was given."""
        return self.case.given

    @property
    def cells(self) -> EqualCells:
        """How equal cells were merged."""
        return self.case.reduction

    def obstacles(self, search: Search) -> list[str]:
        """Why the table cannot be protected even with the widest intervals; empty if it can."""
        model = search.model
        began = search.seconds
        slacks = model.least_point()
        told = _out_of_reach(search, model, slacks)
        if not told and np.isfinite(slacks).all():
            search.fallback = slacks
        # Until a point has been looked at: an audit asks as much.
        search.look_seconds = search.seconds - began
        search.keep_time()
        if told and not self.cells.is_identity:
            # Reasons speak of cells and relations as they were given.
            plain = self.model_of(EqualCells.none(self.problem))
            told = _out_of_reach(search, plain, plain.least_point()) or told
        return told

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
            ends = search.tightened(ends)
        objective = max(self._cost(search, self._found(search, ends)), search.bound)
        solution, checked, left_out = self._published(search, ends)
        if solution is None:
            return None
        return Result(
            solution,
            objective,
            checked,
            published_objective=max(self._cost(search, solution), objective),
            left_out=left_out,
        )

    def _last_look(self, search: Search) -> None:
        """Look at what was offered last, while there is time; else take what is safe but wide."""
        search.keep_time(for_audit_only=True)
        with search.clock:
            search.confirm()
            if search.best is not None and search.fallback is not None:
                # A search that ended early may have found nothing better.
                search.offer(search.fallback)
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
            found = self._found(search, ends)
            kept = self._untold(search, found) | self._points(found)
            # Rounding may have taken what a level needs: further attempts give it back.
            solution = outward(found, base, kept, strictly=turn > 0) if base else found
            with Clock(_time_for_audit(search)) as clock:
                checked = self._audit(solution)
            if checked is None or (checked.unchecked and clock.is_up):
                search.stop(StopReason.TIME)
                return None, None, ()
            if not checked.safe and not search.is_confirmed:
                return None, None, ()
            if checked.safe:
                return solution, checked, tuple(np.flatnonzero(kept).tolist())
            ends = np.minimum(
                _wider(ends, WIDER * model.usual_level), model.upper[: model.cell_ends]
            )
        assert checked is not None
        if not checked.exposures:
            # No answer could be shown to be right: nobody may call this safe.
            return None, None, ()
        raise refuted(self.problem, "intervals", checked)

    def _audit(self, solution: Intervals) -> Audit:
        return audited(self.problem, solution, self.case.given_attackers)

    def _found(self, search: Search, ends: Floats) -> Intervals:
        """The intervals with these slacks around the true values."""
        problem, known = self.problem, search.model.knowledge(ends)
        up, down = known.up[self.cells.group], known.down[self.cells.group]
        upper, lower = problem.value + up, problem.value - down
        # Rounding must not take anything away.
        upper = np.where(upper - problem.value < up, np.nextafter(upper, np.inf), upper)
        lower = np.where(problem.value - lower < down, np.nextafter(lower, -np.inf), lower)
        # Nor must an end at its bound differ from the bound by rounding.
        near = ROUNDING_NOISE * search.model.usual_level
        upper = np.where((up > 0) & (upper >= problem.upper - near), problem.upper, upper)
        lower = np.where((down > 0) & (lower <= problem.lower + near), problem.lower, lower)
        return Intervals(np.maximum(lower, problem.lower), np.minimum(upper, problem.upper))

    def _untold(self, search: Search, found: Intervals) -> Booleans:
        """Cells that are not published: withheld, or no closer than everybody knew before."""
        problem = self.problem
        spread = found.lower < found.upper
        known = (found.lower <= problem.lower) & (found.upper >= problem.upper)
        return np.asarray((spread & known) | search.model.is_withheld[0::2][self.cells.group])

    def _points(self, solution: Intervals) -> Booleans:
        """Sensitive cells without a level, whose interval is a point: not published."""
        return np.asarray(self.problem.is_sensitive & (solution.lower >= solution.upper))

    def _cost(self, search: Search, solution: Intervals) -> float:
        """What published intervals cost; nobody pays for slack beyond the bounds."""
        problem = self.problem
        free = search.model.is_free.reshape(-1, 2)[self.cells.group].ravel()
        slacks = interleaved(
            np.minimum(solution.upper, problem.upper) - problem.value,
            problem.value - np.maximum(solution.lower, problem.lower),
        )
        paid = free & (self.weight > 0)
        hidden = (solution.upper > solution.lower) | problem.is_sensitive
        return float(self.weight[paid] @ slacks[paid] + self.suppress_weight[hidden].sum())


def _wider(ends: Floats, step: float) -> Floats:
    """Slacks moved by a small share, and to multiples of a step.

    Slacks that differ by what solvers leave of zero are the same then: such differences make it
    hard to show how far a cell gets.
    """
    steps = ends * (1 + WIDER) / step
    near = np.rint(steps)
    whole = np.where(np.abs(steps - near) <= _SAME_STEP, near, np.ceil(steps))
    return np.where(np.isfinite(whole), whole * step, ends)


def _time_for_audit(search: Search) -> float:
    limit = search.options.time_limit
    grace = max(turns.INTERVALS_AUDIT_GRACE * limit, _LEAST_GRACE)
    return max(0.0, limit + grace - search.seconds)


def _out_of_reach(search: Search, model: IntervalsModel, slacks: Floats) -> list[str]:
    """Cells with levels that even the widest intervals miss, and why.

    The slacks are opened, in place, for tables that show the others to be within reach.
    """
    told: list[str] = []

    def progress(_answered: int) -> bool:
        return search.observer.should_stop()

    readers: Judgement | None = None
    for state in model.outsiders:
        judged = model.judged(state, model.widest(), slacks, progress=progress)
        if state.attacker.is_reader:
            readers = judged
        if not judged.is_known.all():
            slacks[:] = np.inf
        # What could not be looked at in time is not called impossible.
        short = judged.is_known & (judged.shares < 1 - TOLERANCE)
        names = np.array(["upper", "lower", "sliding"])
        for at in np.flatnonzero(short.any(0)).tolist():
            cell, levels = int(judged.cells[at]), " and ".join(names[short[:, at]])
            told.append(
                f"{model.problem.name_cell(cell)} cannot be protected against "
                f"{state.attacker.name} attackers: {_reason(model, cell, levels)}"
            )
    if model.insiders is not None and readers is not None:
        found = model.faced(readers, model.widest(), slacks, progress=progress)
        if len(found.undecided):
            slacks[:] = np.inf
        told += _exposed_to_contributors(model, model.insiders, found)
    return told


def _exposed_to_contributors(
    model: IntervalsModel, state: InsiderState, found: InsiderFindings
) -> list[str]:
    """Cells whose levels even the widest intervals miss against a contributor, and why."""
    told: list[str] = []
    for cell in np.unique(found.exposed_cells).tolist():
        here = np.flatnonzero(found.exposed_cells == cell)
        who = found.exposed_members[here[0]]
        mine = here[(found.exposed_members[here] == who).all(axis=1)]
        levels = " and ".join(LEVELS[level] for level in np.unique(found.exposed_level[mine]))
        known, up, down = state.known.limits(who[None, :]).of(0)
        still = known[(up <= 0) & (down <= 0)]
        told.append(
            f"{model.problem.name_cell(cell)} cannot be protected against the "
            f"{state.known.name(who)}: {_reason(model, cell, levels, still)}{_WAYS_OUT}"
        )
    return told


def _reason(model: IntervalsModel, cell: int, levels: str, known: Integers | None = None) -> str:
    """Why levels are out of reach, of an attacker who knows some cells exactly."""
    columns = model.structure.columns
    useful = model.is_free_cell | model.is_withheld[0::2]
    if known is not None:
        useful[known] = False
        useful[cell] = True
    if not useful[cell]:
        barred = not model.may_open[cell] and not model.problem.must_publish[cell]
        why = "as it is, for 'allowed' leaves it out" if barred else "or cannot vary"
        return f"it must be published {why}, so that its {levels} level is out of reach"
    count = np.asarray(abs(model.problem.relations).sign() @ useful.astype(np.int64))
    rows = columns.indices[columns.indptr[cell] : columns.indptr[cell + 1]]
    alone = rows[count[rows] < 2].tolist()
    if alone and known is not None:
        A = model.problem.relations
        others = A.indices[A.indptr[alone[0]] : A.indptr[alone[0] + 1]]
        return (
            "every other cell of one of its relations is published as it is, cannot vary or is "
            f"known to it ({model.problem.name_cells(others[others != cell])}), so that its "
            f"{levels} level is out of reach"
        )
    if alone:
        return (
            f"every other cell of {model.problem.name_relation(alone[0])} is published as it is or "
            f"cannot vary, so that its {levels} level is out of reach"
        )
    knowing = "" if known is None else " and what it knows"
    return (
        f"the bounds of the cells that may become intervals{knowing} leave too little slack for "
        f"its {levels} level"
    )
