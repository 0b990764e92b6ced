"""`combined`: complete and partial suppression in one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.attack.knowledge import Attacker
from tacit.clock import Clock
from tacit.errors import InputError
from tacit.methods.combined.model import CombinedModel, Search
from tacit.methods.combined.options import WRONG_WIDTH, CombinedOptions, width_share
from tacit.methods.engine.driver import Case, protected
from tacit.methods.inputs import (
    WeightKind,
    chosen_weights,
    expect_problem,
    refuse_negative_weights,
)
from tacit.methods.intervals.options import Algorithm
from tacit.methods.intervals.publication import Publication, merged_ends
from tacit.methods.intervals.run import end_weights, refuse_small_steps
from tacit.observer import Observer
from tacit.outcome import Outcome
from tacit.problem import ADDITIVITY_TOLERANCE, Floats, Problem
from tacit.reductions.equal_cells import EqualCells


def combined(
    problem: Problem,
    *,
    algorithm: Algorithm = CombinedOptions.algorithm,
    time_limit: float = CombinedOptions.time_limit,
    gap: float = CombinedOptions.gap,
    seed: int = CombinedOptions.seed,
    weights: WeightKind | npt.ArrayLike = "given",
    width_weights: Any = CombinedOptions.width_weights,
    max_suppressed: int | None = CombinedOptions.max_suppressed,
    min_width: float | str | npt.ArrayLike = CombinedOptions.min_width,
    attackers: Sequence[Attacker] = (),
    observer: Observer | None = None,
    tolerance: float = ADDITIVITY_TOLERANCE,
    round_to: float | str | None = CombinedOptions.round_to,
    **options: Any,
) -> Outcome:
    """Publish few cells as intervals, and those as narrow as possible.

    A cell that is not published exactly costs its weight, and its interval costs by its width
    [KarlssonOlsson2015, (3.28)].

    Args:
        problem: The table.
        algorithm: How to search; see `CombinedOptions`.
        time_limit: Seconds after which the best safe solution so far is returned.
        gap: Stop when (objective - bound) / objective is at most this.
        seed: Passed on to the solvers; the same seed gives the same solution, unless the time
            limit cuts in.
        weights: What it costs not to publish a cell exactly: as `given` by the problem, `unit`,
            the cell's `value` (its size, at least 1), or an array.
        width_weights: What a unit of width costs, in the same way. A pair of these is for the
            lower and the upper ends.
        max_suppressed: Publish all but this many cells exactly; sensitive ones count.
        min_width: No interval is narrower than this, or than its cell's bounds if these are
            narrower: a number, a share of the cell's value such as `"5%"`, or an array.
        attackers: Who attacks; by default a reader who knows nothing more than the
            publication, the relations and the bounds.
        observer: Listens to bounds and solutions; may stop the search.
        tolerance: How exactly the relations must hold (see `Problem.validate`).
        round_to: Move both ends of every interval outwards to multiples of this number, or of a
            base that follows from the interval (`auto`), as for `tacit.intervals`.
        **options: Further options, see `CombinedOptions`.

    Returns:
        The outcome; its solution is of type `Intervals`, and `outcome.suppressed` names the
        cells that are not published exactly. It is safe, as an audit that shares nothing with
        the search has found, and no interval is wider than what a reader can deduce from all
        of them, unless it has to have a least width or ends were moved. Status, objective and
        bound speak of the ends as found, `report.published_objective` of those published.

    Raises:
        ProblemError: The table contradicts itself.

    >>> problem = Problem(value=[10, 15, 25, 20, 17, 37], sensitive=[0, 4],
    ...                   relations=[[1, 1, -1, 0, 0, 0], [0, 0, 0, 1, 1, -1]],
    ...                   lower_level=[5, 7], upper_level=[5, 4])
    >>> outcome = combined(problem)
    >>> outcome.status.value, outcome.report.objective, len(outcome.suppressed)
    ('optimal', 46.0, 4)
    """
    expect_problem(problem)
    chosen = CombinedOptions.from_mapping(
        {
            "algorithm": algorithm,
            "time_limit": time_limit,
            "gap": gap,
            "seed": seed,
            "round_to": round_to,
            "width_weights": width_weights,
            "max_suppressed": max_suppressed,
            "min_width": min_width,
            **options,
        }
    )
    weight = chosen_weights(problem, weights)
    refuse_negative_weights(problem, weight)
    try:
        ends = end_weights(problem, width_weights)
    except InputError as error:
        raise InputError(f"width_{error}") from None
    widths = least_widths(problem, min_width)
    refuse_small_steps(problem, chosen)
    clock = Clock(chosen.time_limit)

    def model_of(cells: EqualCells) -> CombinedModel:
        return CombinedModel(
            cells.problem,
            cells.sum(weight),
            merged_ends(cells, ends),
            cells.largest(widths),
            cells.attackers(attackers),
            max_suppressed,
        )

    def prepare(case: Case) -> Search:
        publication = Publication(case, model_of, ends, weight)
        return Search(model_of(case.reduction), chosen, observer, clock, publication)

    return protected(
        problem,
        "combined",
        chosen,
        prepare,
        clock=clock,
        attackers=attackers,
        # It counts cells, and merged ones would count once.
        merges=max_suppressed is None,
        agreeing=[problem.value, *_agreeing(problem, widths, ends)],
        observer=observer,
        tolerance=tolerance,
    )


def _agreeing(problem: Problem, widths: Floats, ends: Floats) -> list[Floats]:
    """Columns besides the values that must be the same for equal cells to be merged."""
    if not widths.any():
        return []
    # What a least width takes beyond protection may differ between equal cells: how much it is,
    # where it ends, and at which end it is cheaper.
    return [widths, problem.lower, problem.upper, np.sign(ends[0::2] - ends[1::2])]


def least_widths(problem: Problem, min_width: float | str | npt.ArrayLike) -> Floats:
    """The least width of the interval of each cell that is not published exactly.

    >>> least_widths(Problem(value=[20, -40]), "5%").tolist()
    [1.0, 2.0]
    """
    if isinstance(min_width, str):
        return np.asarray(width_share(min_width) * np.abs(problem.value))
    try:
        given = np.asarray(min_width, float)
    except (TypeError, ValueError):
        raise InputError(WRONG_WIDTH) from None
    if given.shape not in ((), (problem.cell_count,)):
        raise InputError(f"min_width as an array needs {problem.cell_count} entries, one per cell")
    # `not >=` also refuses NaN.
    if not (given >= 0).all() or not np.isfinite(given).all():
        raise InputError(WRONG_WIDTH)
    return np.array(np.broadcast_to(given, problem.cell_count))
