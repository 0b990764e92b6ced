"""`intervals`: partial suppression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.attack.audit import audit
from tacit.attack.knowledge import Attacker
from tacit.attack.reach import TOLERANCE, Reaches, Requests
from tacit.errors import ProblemError, TacitError
from tacit.methods.course import infeasible
from tacit.methods.inputs import cell_mask, chosen_weights, expect_problem, refuse
from tacit.methods.intervals.finish import cost, left_out, published, tightened
from tacit.methods.intervals.model import IntervalsModel, Rival, interleaved
from tacit.methods.intervals.options import Algorithm, IntervalsOptions
from tacit.methods.intervals.search import Search, levels_against
from tacit.observer import Observer
from tacit.outcome import Outcome, Status
from tacit.problem import ADDITIVITY_TOLERANCE, Floats, Problem


def intervals(
    problem: Problem,
    *,
    algorithm: Algorithm = "auto",
    time_limit: float = 60.0,
    gap: float = 1e-4,
    seed: int = 1,
    weights: Any = "given",
    allowed: npt.ArrayLike | None = None,
    withheld: npt.ArrayLike | None = None,
    attackers: Sequence[Attacker] = (),
    observer: Observer | None = None,
    tolerance: float = ADDITIVITY_TOLERANCE,
    round_to: float | None = None,
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
        allowed: The cells that may become intervals (H of paper 000), as numbers or a mask; by
            default all that need not be published.
        withheld: Cells that are not published at all, whatever else happens: a reader knows
            that they lie within their bounds, and they cost nothing.
        attackers: Who attacks; by default a reader who knows nothing more than the
            publication, the relations and the bounds.
        observer: Listens to bounds and solutions; may stop the search.
        tolerance: How exactly the relations must hold (see `Problem.validate`).
        round_to: Move both ends of every interval outwards to multiples of this number.
        **options: Further options, see `IntervalsOptions`.

    Returns:
        The outcome; its solution is of type `Intervals`. It is safe, as an audit that shares
        nothing with the search has found, and no interval is wider than what a reader can
        deduce from all of them, unless they are rounded. `optimal` speaks of the intervals
        before they are rounded, the objective of those that are published.

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
            **options,
        }
    )
    weight = end_weights(problem, weights)
    may = np.ones(problem.cell_count, bool)
    if allowed is not None:
        may = cell_mask(problem, allowed, "allowed")
    never = np.zeros(problem.cell_count, bool)
    if withheld is not None:
        never = cell_mask(problem, withheld, "withheld")
    hopeless = refuse(problem, tolerance)
    if hopeless:
        return infeasible("intervals", chosen.algorithm, seed, hopeless)
    observer = observer or Observer()
    observer.on_start("intervals")
    model = IntervalsModel(problem, weight, may, never, attackers)
    search = Search(model, chosen, observer)
    reasons: list[str] = []
    try:
        with search.clock:
            reasons = obstacles(search)
            if not reasons:
                _run(search)
        if reasons:
            outcome = infeasible("intervals", chosen.algorithm, seed, reasons, search.seconds)
            observer.on_end(outcome)
            return outcome
    except KeyboardInterrupt:
        search.stopped_by = "user"
    search.confirm()
    if search.best is None and search.fallback is not None:
        search.offer(search.fallback)
        search.confirm()
    search.finished()
    outcome = _outcome(search)
    observer.on_end(outcome)
    return outcome


def _run(search: Search) -> None:
    if not any(len(rival.cells) for rival in search.model.rivals):
        search.offer(search.model.lower)
        search.finished()
        return
    if search.options.algorithm == "monolithic":
        from tacit.methods.intervals.monolithic import monolithic

        monolithic(search)
        return
    from tacit.methods.intervals.cutting import auto, benders

    (benders if search.options.algorithm == "benders" else auto)(search)


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
    for rival in search.model.rivals:
        missed, names = _out_of_reach(search, rival, rooms)
        told += [
            f"{search.problem.name_cell(cell)} cannot be protected against "
            f"{rival.attacker.name} attackers: {_reason(search, cell, name)}"
            for cell, name in zip(missed, names, strict=True)
        ]
    if not told and np.isfinite(rooms).all():
        search.fallback = rooms
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
    _open(search.model, rooms, answer, both, np.minimum(wanted, answer.amount))
    if not answer.answered.all():
        rooms[:] = np.inf
    # What could not be looked at in time is not called impossible.
    known = answer.answered.reshape(2, -1).all(0)
    short = known & (reached < levels_asked * (1 - TOLERANCE))
    names = np.array(["upper", "lower", "sliding"])
    missed = np.flatnonzero(short.any(0))
    return cells[missed].tolist(), [" and ".join(names[short[:, at]]) for at in missed.tolist()]


def _open(
    model: IntervalsModel, rooms: Floats, answer: Reaches, asked: Requests, wanted: Floats
) -> None:
    """Open rooms for the tables of an answer, as far as they are wanted, in place."""
    tables = sparse.coo_array(answer.deviations)
    moved = np.bincount(
        tables.row,
        np.where(tables.col == asked.cells[tables.row], np.abs(tables.data), 0.0),
        minlength=len(asked),
    )
    shrink = np.where(moved > 0, np.minimum(1.0, wanted / np.maximum(moved, 1e-300)), 0.0)
    data = tables.data * shrink[tables.row]
    ends = 2 * tables.col + (data < 0)
    free = model.is_free[ends]
    np.maximum.at(rooms, ends[free], np.abs(data)[free])


def _reason(search: Search, cell: int, levels: str) -> str:
    model = search.model
    columns = model.structure.columns
    useful = model.is_free_cell | model.is_withheld[0::2]
    if not useful[cell]:
        return f"it must be published or cannot vary, so that its {levels} level is out of reach"
    company = np.asarray(abs(model.problem.relations).sign() @ useful.astype(np.int64))
    rows = columns.indices[columns.indptr[cell] : columns.indptr[cell + 1]]
    lonely = rows[company[rows] < 2].tolist()
    if lonely:
        return (
            f"every other cell of relation {lonely[0]} must be published or cannot vary, so that "
            f"its {levels} level is out of reach"
        )
    return (
        "the bounds of the cells that may become intervals leave too little room for its "
        f"{levels} level"
    )


def _outcome(search: Search) -> Outcome:
    options, problem = search.options, search.problem
    status, solution, checked, objective = Status.INTERRUPTED, None, None, None
    if search.best is not None:
        search.observer.on_phase("tightening and audit")
        solution = published(search, tightened(search, search.best))
        checked = audit(
            problem,
            solution,
            cells="sensitive",
            exact=False,
            attackers=[rival.attacker for rival in search.model.rivals],
            # The table was judged when the search began.
            tolerance=None,
        )
        if not checked.safe:
            raise TacitError(
                "the search called intervals safe that the audit does not: this is a fault of "
                f"tacit, please report it ({problem.name_cells(checked.exposed_cells)})"
            )
        objective = cost(search, solution)
        before = objective if options.round_to is None else min(search.objective, objective)
        objective = max(objective, search.bound)
        reached = (before - search.bound) / max(abs(before), 1e-10) <= options.gap
        status = Status.OPTIMAL if reached else Status.FEASIBLE
        if reached:
            search.stopped_by = "gap"
    return Outcome(
        status=status,
        stopped_by=search.stopped_by or "exhausted",
        solution=solution,
        report=search.report(objective),
        method="intervals",
        algorithm=options.algorithm,
        seed=options.seed,
        audit=checked,
        left_out=left_out(problem, solution),
    )
