"""`intervals`: partial suppression."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.attack.knowledge import Attacker
from tacit.attack.reach import TOLERANCE, Requests
from tacit.clock import Clock
from tacit.errors import InputError, ProblemError
from tacit.methods.engine.driver import Result, drive, infeasible
from tacit.methods.inputs import (
    cell_mask,
    chosen_weights,
    expect_problem,
    refuse_contradictions,
    unattainable_levels,
)
from tacit.methods.intervals.ends import MOST_MULTIPLES
from tacit.methods.intervals.finish import Finish
from tacit.methods.intervals.model import IntervalsModel, Rival, interleaved
from tacit.methods.intervals.options import AUTO, Algorithm, EndsOptions, IntervalsOptions
from tacit.methods.intervals.search import Search, levels_against
from tacit.observer import Observer
from tacit.outcome import Outcome
from tacit.problem import ADDITIVITY_TOLERANCE, Booleans, Floats, Problem

_ALGORITHMS = {
    "auto": ("tacit.methods.intervals.cutting", "auto"),
    "benders": ("tacit.methods.intervals.cutting", "benders"),
    "monolithic": ("tacit.methods.intervals.monolithic", "monolithic"),
}


def intervals(
    problem: Problem,
    *,
    algorithm: Algorithm = "auto",
    time_limit: float = 60.0,
    gap: float = 1e-4,
    seed: int = 1,
    weights: Any = "given",
    published: npt.ArrayLike | None = None,
    withheld: npt.ArrayLike | None = None,
    allowed: npt.ArrayLike | None = None,
    attackers: Sequence[Attacker] = (),
    observer: Observer | None = None,
    tolerance: float = ADDITIVITY_TOLERANCE,
    round_to: float | str | None = None,
    **options: Any,
) -> Outcome:
    """Publish some cells as intervals, as narrow as possible, so that nobody comes too close.

    Args:
        problem: The table.
        algorithm: How to search; see `IntervalsOptions`.
        time_limit: Seconds after which the best safe intervals so far are returned.
        gap: Stop when (objective - bound) / objective is at most this.
        seed: Passed on to the solver; the same seed gives the same intervals, unless the time
            limit cuts in.
        weights: What a unit of width costs: as `given` by the problem, `unit`, the cell's
            `value` (its size, at least 1), or an array. A pair of these is for the lower and
            the upper ends.
        published: The cells that are published (H of paper 000), as numbers or a mask; by
            default all. Of the others a reader knows that they lie within their bounds, and
            they cost nothing. Cells that must be published are published anyway.
        withheld: The same the other way round: the cells that are not published.
        allowed: The published cells that may become intervals; the others are published as
            they are. By default all that need not be published.
        attackers: Who attacks; by default a reader who knows nothing more than the
            publication, the relations and the bounds.
        observer: Listens to bounds and solutions; may stop the search.
        tolerance: How exactly the relations must hold (see `Problem.validate`).
        round_to: Move both ends of every interval outwards to multiples of this number, or of a
            base that follows from the interval (`auto`); see `IntervalsOptions`. By default
            ends are as found, which tells more than it seems: `tacit.protect` moves them.
        **options: Further options, see `IntervalsOptions`.

    Returns:
        The outcome; its solution is of type `Intervals`. It is safe, as an audit that shares
        nothing with the search has found, and no interval is wider than what a reader can
        deduce from all of them, unless ends were moved. Status, objective and bound speak of
        the ends as found, `report.published_objective` of those that are published.

    Raises:
        ProblemError: The table contradicts itself.

    >>> problem = Problem(value=[10, 15, 25, 20, 17, 37], sensitive=[0, 4],
    ...                   relations=[[1, 1, -1, 0, 0, 0], [0, 0, 0, 1, 1, -1]],
    ...                   lower_level=[5, 7], upper_level=[5, 4])
    >>> outcome = intervals(problem)
    >>> outcome.status.value, outcome.report.objective
    ('optimal', 42.0)
    """
    expect_problem(problem)
    chosen = IntervalsOptions.from_mapping(
        {
            "algorithm": algorithm,
            "time_limit": time_limit,
            "gap": gap,
            "seed": seed,
            "round_to": round_to,
            "published": published,
            "withheld": withheld,
            "allowed": allowed,
            **options,
        }
    )
    weight = end_weights(problem, weights)
    cells = _allowed(problem, chosen), _withheld(problem, chosen)
    refuse_small_steps(problem, chosen)
    clock = Clock(chosen.time_limit)
    refuse_contradictions(problem, tolerance)
    hopeless = unattainable_levels(problem, tolerance)
    if hopeless:
        return infeasible("intervals", chosen, hopeless)
    observer = observer or Observer()

    def prepare() -> Search:
        return _Run(IntervalsModel(problem, weight, *cells, attackers), chosen, observer, clock)

    return drive(prepare, "intervals", chosen, observer, clock)


class _Run(Search):
    """One call of `intervals`."""

    def obstacles(self) -> list[str]:
        """Why the table cannot be protected."""
        return obstacles(self)

    def run(self) -> None:
        """Run the algorithm that the user chose."""
        if not any(len(rival.cells) for rival in self.model.rivals):
            self.offer(self.model.lower)
        else:
            module, name = _ALGORITHMS[self.options.algorithm]
            getattr(import_module(module), name)(self)

    def conclude(self) -> Result | None:
        """Fewest intervals, tightened, rounded, audited."""
        return Finish().result(self)


def _allowed(problem: Problem, options: IntervalsOptions) -> Booleans:
    """Cells that may become intervals if they are published."""
    if options.allowed is None:
        return np.ones(problem.cell_count, bool)
    return cell_mask(problem, options.allowed, "allowed")


def _withheld(problem: Problem, options: IntervalsOptions) -> Booleans:
    """Cells that are not published: those outside H of paper 000."""
    if options.published is not None:
        inside = cell_mask(problem, options.published, "published")
        # What must be published is known to everyone: F of the paper.
        return np.asarray(~inside & ~problem.must_publish)
    if options.withheld is None:
        return np.zeros(problem.cell_count, bool)
    chosen = cell_mask(problem, options.withheld, "withheld")
    both = np.flatnonzero(chosen & problem.must_publish)
    if len(both):
        raise InputError(
            f"withheld names cells that must be published: {problem.name_cells(both)}; leave them "
            "out of one of the two"
        )
    return chosen


def refuse_small_steps(problem: Problem, options: EndsOptions) -> None:
    """Refuse steps that are too small for a difference to be seen."""
    base = options.base
    if not isinstance(base, float):
        return
    if base * MOST_MULTIPLES < float(np.abs(problem.value).max(initial=0.0)):
        raise InputError(
            "round_to is too small for the values of this table, whose last digits are larger; "
            f"choose a larger number, or {AUTO!r}"
        )


def end_weights(problem: Problem, weights: Any) -> Floats:
    """The weights of all ends: upper and lower end of each cell in turn."""
    is_pair = isinstance(weights, tuple) and len(weights) == 2
    if is_pair and not all(np.isscalar(each) and not isinstance(each, str) for each in weights):
        below, above = (chosen_weights(problem, each) for each in weights)
    else:
        below = above = chosen_weights(problem, weights)
    for each in (below, above):
        negative = np.flatnonzero(each < 0)
        if len(negative):
            raise ProblemError(
                f"the weight is negative: {problem.name_cells(negative)}", cells=negative
            )
    return interleaved(above, below)


def obstacles(search: Search) -> list[str]:
    """Why the table cannot be protected even with the widest intervals; empty if it can."""
    told: list[str] = []
    rooms = search.model.least_point()
    began = search.seconds
    for rival in search.model.rivals:
        missed, names = _out_of_reach(search, rival, rooms)
        told += [
            f"{search.problem.name_cell(cell)} cannot be protected against "
            f"{rival.attacker.name} attackers: {_reason(search, cell, name)}"
            for cell, name in zip(missed, names, strict=True)
        ]
    if not told and np.isfinite(rooms).all():
        search.fallback = rooms
    # Until a point has been looked at: an audit asks as much.
    search.look_seconds = search.seconds - began
    search.keep_time()
    return told


def _out_of_reach(search: Search, rival: Rival, rooms: Floats) -> tuple[list[int], list[str]]:
    """Cells with levels that even the widest intervals miss, and which levels.

    The rooms are opened, in place, for tables that show the others to be within reach.
    """
    model = search.model
    cells, levels, sliding = levels_against(model, rival)
    both = Requests.both_sides(cells, *np.maximum(levels, sliding))
    answer = model.answer(
        rival, model.widest(), both, progress=lambda _: search.observer.should_stop()
    )
    amount = answer.amount.reshape(2, -1)
    levels_asked = np.concatenate([levels, sliding[None]])
    reached = np.concatenate([amount, amount.sum(0, keepdims=True)])
    wanted = np.maximum(levels, sliding).ravel()
    model.open_for(rooms, answer, both, np.minimum(wanted, answer.amount))
    if not answer.answered.all():
        rooms[:] = np.inf
    # What could not be looked at in time is not called impossible.
    known = answer.answered.reshape(2, -1).all(0)
    short = known & (reached < levels_asked * (1 - TOLERANCE))
    names = np.array(["upper", "lower", "sliding"])
    missed = np.flatnonzero(short.any(0))
    return cells[missed].tolist(), [" and ".join(names[short[:, at]]) for at in missed.tolist()]


def _reason(search: Search, cell: int, levels: str) -> str:
    model = search.model
    columns = model.structure.columns
    useful = model.is_free_cell | model.is_withheld[0::2]
    if not useful[cell]:
        barred = not model.may_open[cell] and not model.problem.must_publish[cell]
        why = "as it is, for 'allowed' leaves it out" if barred else "or cannot vary"
        return f"it must be published {why}, so that its {levels} level is out of reach"
    company = np.asarray(abs(model.problem.relations).sign() @ useful.astype(np.int64))
    rows = columns.indices[columns.indptr[cell] : columns.indptr[cell + 1]]
    lonely = rows[company[rows] < 2].tolist()
    if lonely:
        return (
            f"every other cell of relation {lonely[0]} is published as it is or cannot vary, so "
            f"that its {levels} level is out of reach"
        )
    return (
        "the bounds of the cells that may become intervals leave too little room for its "
        f"{levels} level"
    )
