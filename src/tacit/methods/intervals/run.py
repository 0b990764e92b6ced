"""`intervals`: partial suppression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.attack.knowledge import Attacker
from tacit.clock import Clock
from tacit.errors import InputError
from tacit.methods.engine.driver import Case, protected
from tacit.methods.inputs import (
    cell_mask,
    chosen_weights,
    expect_problem,
    refuse_negative_weights,
)
from tacit.methods.intervals.attackers import interleaved
from tacit.methods.intervals.ends import MOST_MULTIPLES
from tacit.methods.intervals.model import IntervalsModel
from tacit.methods.intervals.options import AUTO, Algorithm, EndsOptions, IntervalsOptions
from tacit.methods.intervals.publication import Publication, merged_ends
from tacit.methods.intervals.search import Search
from tacit.observer import Observer
from tacit.outcome import Outcome
from tacit.problem import ADDITIVITY_TOLERANCE, Booleans, Floats, Problem
from tacit.reductions.equal_cells import EqualCells


def intervals(
    problem: Problem,
    *,
    algorithm: Algorithm = IntervalsOptions.algorithm,
    time_limit: float = IntervalsOptions.time_limit,
    gap: float = IntervalsOptions.gap,
    seed: int = IntervalsOptions.seed,
    weights: Any = "given",
    published: npt.ArrayLike | None = IntervalsOptions.published,
    withheld: npt.ArrayLike | None = IntervalsOptions.withheld,
    allowed: npt.ArrayLike | None = IntervalsOptions.allowed,
    attackers: Sequence[Attacker] = (),
    observer: Observer | None = None,
    tolerance: float = ADDITIVITY_TOLERANCE,
    round_to: float | str | None = IntervalsOptions.round_to,
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
        published: The cells that are published (H of [CastroVia2016]), as numbers or a mask; by
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
    may_open, withdrawn = _allowed(problem, chosen), _withheld(problem, chosen)
    refuse_small_steps(problem, chosen)
    clock = Clock(chosen.time_limit)
    unpaid = np.zeros(problem.cell_count)

    def model_of(cells: EqualCells) -> IntervalsModel:
        return IntervalsModel(
            cells.problem,
            merged_ends(cells, weight),
            cells.smallest(may_open),
            cells.largest(withdrawn),
            cells.attackers(attackers),
        )

    def prepare(case: Case) -> Search:
        publication = Publication(case, model_of, weight, unpaid)
        return Search(model_of(case.reduction), chosen, observer, clock, publication)

    return protected(
        problem,
        "intervals",
        chosen,
        prepare,
        clock=clock,
        attackers=attackers,
        # For these cells something else is published than for the cells equal to them.
        apart=~may_open | withdrawn,
        agreeing=[problem.value],
        observer=observer,
        tolerance=tolerance,
    )


def _allowed(problem: Problem, options: IntervalsOptions) -> Booleans:
    """Cells that may become intervals if they are published."""
    if options.allowed is None:
        return np.ones(problem.cell_count, bool)
    return cell_mask(problem, options.allowed, "allowed")


def _withheld(problem: Problem, options: IntervalsOptions) -> Booleans:
    """Cells that are not published: those outside H of [CastroVia2016]."""
    if options.published is not None:
        inside = cell_mask(problem, options.published, "published")
        # What must be published is known to everyone: F of [CastroVia2016].
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
        refuse_negative_weights(problem, each)
    return interleaved(above, below)
