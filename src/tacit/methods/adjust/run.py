"""`adjust`: the closest safe table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.clock import Clock
from tacit.errors import InputError
from tacit.methods.adjust.options import AdjustOptions, Algorithm, Norm, Solver, Weights
from tacit.methods.adjust.quality import QualityBound, limits_of
from tacit.methods.adjust.totals import heights
from tacit.methods.adjust.units import Asked, UnitSearch, decimals_of
from tacit.methods.engine.driver import Case, protected
from tacit.methods.inputs import (
    cell_mask,
    chosen_weights,
    expect_problem,
    refuse_negative_weights,
)
from tacit.observer import Observer
from tacit.outcome import Outcome
from tacit.problem import ADDITIVITY_TOLERANCE, Booleans, Floats, Integers, Problem


def adjust(
    problem: Problem,
    *,
    algorithm: Algorithm = AdjustOptions.algorithm,
    norm: Norm = AdjustOptions.norm,
    time_limit: float = AdjustOptions.time_limit,
    gap: float = AdjustOptions.gap,
    seed: int = AdjustOptions.seed,
    weights: Weights | npt.ArrayLike = AdjustOptions.weights,
    keep: npt.ArrayLike = AdjustOptions.keep,
    limits: float | Mapping[Any, float] | npt.ArrayLike | None = AdjustOptions.limits,
    integer: bool | None = AdjustOptions.integer,
    prefer_totals: float = AdjustOptions.prefer_totals,
    quality: Sequence[QualityBound | Mapping[str, Any]] = AdjustOptions.quality,
    senses: npt.ArrayLike | None = None,
    solver: Solver = AdjustOptions.solver,
    observer: Observer | None = None,
    tolerance: float = ADDITIVITY_TOLERANCE,
    **options: Any,
) -> Outcome:
    """Change values as little as possible, so that no sensitive cell is near its true one.

    The adjusted table adds up, stays within the bounds that everybody knows, and each sensitive
    cell lies at least its lower level below or its upper level above its true value [Castro2012,
    (16)]. A sliding level is asked for on either side; a cell with a level on one side only must
    move there.

    Args:
        problem: The table. Cells that must be published keep their value.
        algorithm: How to search; see `AdjustOptions`.
        norm: What is minimised: the sum of weight * |deviation| (`l1`), of
            weight * deviation² (`l2`), or the largest weight * |deviation| (`linf`).
        time_limit: Seconds after which the closest safe table so far is returned.
        gap: Stop when (objective - bound) / objective is at most this.
        seed: The same seed gives the same table, unless the time limit cuts in.
        weights: What a unit of deviation costs: as `given` by the problem, `unit`, the cell's
            `value`, its `inverse` (1 / value; 1 where the value is 0), or an array.
        keep: Further cells that keep their value, as numbers or a mask.
        limits: The largest deviation as a share of the cell's value: a number for all cells
            that are not sensitive, a mapping from cell numbers to shares, or an array with one
            share for each cell (inf where there is no limit).
        integer: Publish integers only (True), or more decimals than the data have where that
            is closer (False). By default published values have the decimals of the true ones,
            so that decimals do not show which were changed. Levels are then rounded up to the
            last decimal, bounds and limits inwards.
        prefer_totals: By which factor a deviation costs more with each step from the finest
            cells towards the grand total; totals are found by the signs of the relations.
        quality: Bounds on sums of deviations over chosen cells, such as
            `[QualityBound(cells=[0, 7], net=5)]`; mappings of the same keys do as well.
        senses: For each sensitive cell 1 if it must rise, -1 if it must fall, 0 if either.
        solver: Who solves the mixed-integer model of `milp`: `highs` or `scip`.
        observer: Listens to bounds and solutions; may stop the search.
        tolerance: How exactly the relations must hold (see `Problem.validate`).
        **options: Further options, see `AdjustOptions`.

    Returns:
        The outcome; its solution is of type `Values`. It has been checked in numpy and audited.

    Raises:
        ProblemError: The table contradicts itself.
        InputError: An option is wrong.

    >>> from tacit import examples
    >>> outcome = adjust(examples.get("003-figure-16").problem)
    >>> outcome.status.value, outcome.report.objective
    ('optimal', 20.0)
    """
    clock = Clock(time_limit)
    expect_problem(problem)
    kept = cell_mask(problem, np.asarray(keep, np.int64) if np.size(keep) == 0 else keep, "keep")
    named = isinstance(weights, str)
    chosen = AdjustOptions.from_mapping(
        {
            "algorithm": algorithm,
            "norm": norm,
            "time_limit": time_limit,
            "gap": gap,
            "seed": seed,
            "weights": weights if named else AdjustOptions.weights,
            "integer": integer,
            "prefer_totals": prefer_totals,
            "quality": tuple(quality) if isinstance(quality, Sequence) else quality,
            "solver": solver,
            **options,
        }
    )
    kept |= problem.must_publish
    sense = _senses(problem, senses)
    weight = _weights(problem, weights, chosen.prefer_totals)
    most = _limits(problem, limits)
    sums = limits_of(problem, chosen.quality)
    decimals = decimals_of(problem)
    if chosen.integer and decimals != 0:
        _refuse_fractions(problem)

    def prepare(case: Case) -> UnitSearch:
        return Asked(
            case,
            chosen,
            observer or Observer(),
            clock,
            given_weight=weight,
            given_most=most,
            given_kept=kept,
            given_sense=sense,
            given_sums=sums,
            decimals=decimals,
            tolerance=tolerance,
        ).first_search()

    return protected(
        problem,
        "adjust",
        chosen,
        prepare,
        clock=clock,
        apart=_apart(problem, kept, sense),
        agreeing=[problem.value],
        either_side=True,
        observer=observer,
        tolerance=tolerance,
    )


def _weights(problem: Problem, weights: Any, prefer_totals: float) -> Floats:
    if isinstance(weights, str) and weights == "inverse":
        weight = 1.0 / chosen_weights(problem, "value")
    else:
        weight = chosen_weights(problem, weights)
    refuse_negative_weights(problem, weight)
    if prefer_totals != 1.0:
        weight = weight * prefer_totals ** heights(problem.relations)
    return weight


def _limits(problem: Problem, limits: Any) -> Floats:
    """The largest deviation of each cell; inf where there is no limit."""
    share = np.full(problem.cell_count, np.inf)
    if isinstance(limits, Mapping):
        try:
            cells = np.array([int(cell) for cell in limits], np.int64)
        except (TypeError, ValueError):
            raise InputError("limits must name cells by their numbers") from None
        cell_mask(problem, cells, "limits")
        share[cells] = [float(each) for each in limits.values()]
    elif limits is not None:
        given = np.asarray(limits, float)
        if given.ndim == 0:
            share[~problem.is_sensitive] = float(given)
        elif given.shape == share.shape:
            share = given
        else:
            raise InputError(f"limits needs {problem.cell_count} entries, one per cell")
    if not (share >= 0).all():
        raise InputError("limits must be shares of the cells' values, at least 0")
    size = np.abs(problem.value)
    return np.where(np.isinf(share), np.inf, np.where(np.isinf(share), 0.0, share) * size)


def _senses(problem: Problem, senses: npt.ArrayLike | None) -> Integers:
    """For each cell 1 if it must rise, -1 if it must fall, 0 if either."""
    sense = np.zeros(problem.cell_count, np.int64)
    if senses is None:
        return sense
    given = np.asarray(senses)
    if given.shape != problem.sensitive.shape:
        raise InputError(f"senses needs {len(problem.sensitive)} entries, one per sensitive cell")
    if not np.isin(given, (-1, 0, 1)).all():
        raise InputError("senses must be 1 (rises), -1 (falls) or 0 (either)")
    up, down = _sides(problem)
    astray = ((given > 0) & down & ~up) | ((given < 0) & up & ~down)
    if astray.any():
        raise InputError(
            "senses send cells to a side where they have no protection level; they are protected "
            f"on the other side only: {problem.name_cells(problem.sensitive[astray])}"
        )
    sense[problem.sensitive] = given
    return sense


def _sides(problem: Problem) -> tuple[Booleans, Booleans]:
    """Which sensitive cells have a level above, and which below."""
    up = np.maximum(problem.upper_level, problem.sliding_level) > 0
    return up, np.maximum(problem.lower_level, problem.sliding_level) > 0


def _apart(problem: Problem, kept: Booleans, sense: Integers) -> Booleans:
    """Cells that are not merged with equal ones: what they ask for is no level or limit to share.

    Cells that keep their value, and those that can go one way only.
    """
    apart = kept | (sense != 0)
    up, down = _sides(problem)
    apart[problem.sensitive[up != down]] = True
    return np.asarray(apart)


def _refuse_fractions(problem: Problem) -> None:
    broken = np.flatnonzero(problem.value != np.rint(problem.value))
    raise InputError(
        "integer is for tables of integers; round the table first, or leave the option out "
        + (
            f"(there are decimals: {problem.name_cells(broken)})"
            if len(broken)
            else "(relations have coefficients that are not integers)"
        )
    )
