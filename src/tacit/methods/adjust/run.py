"""`adjust`: the closest safe table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.clock import Clock
from tacit.errors import InputError, ProblemError
from tacit.methods.adjust.explain import obstacles, reasons_together
from tacit.methods.adjust.model import build
from tacit.methods.adjust.options import AdjustOptions, Algorithm, Norm, Solver, Weights
from tacit.methods.adjust.search import Search
from tacit.methods.adjust.totals import heights
from tacit.methods.adjust.units import Units, decimals_of, in_fine_units, in_units
from tacit.methods.engine.driver import Result, audited, driven, refuted
from tacit.methods.inputs import cell_mask, chosen_weights, expect_problem, refuse_contradictions
from tacit.observer import Observer
from tacit.outcome import Outcome, Status, StopReason, Values
from tacit.problem import ADDITIVITY_TOLERANCE, Booleans, Floats, Integers, Problem

_ALGORITHMS = {
    "auto": ("tacit.methods.adjust.auto", "auto"),
    "milp": ("tacit.methods.adjust.milp", "milp"),
    "benders": ("tacit.methods.adjust.benders", "benders"),
    "descent": ("tacit.methods.adjust.descent", "descent"),
}
DECIMALS = (
    "no table was found with as many decimals as the data have: published values have more, which "
    "shows readers where values were changed"
)
NO_UNIT = (
    "values have no common number of decimals: they are published with all their digits, which may "
    "show readers where values were changed"
)


def adjust(
    problem: Problem,
    *,
    algorithm: Algorithm = "auto",
    norm: Norm = "l1",
    time_limit: float = 60.0,
    gap: float = 1e-4,
    seed: int = 1,
    weights: Weights | npt.ArrayLike = "given",
    keep: npt.ArrayLike = (),
    limits: float | Mapping[Any, float] | npt.ArrayLike | None = None,
    integer: bool | None = None,
    prefer_totals: float = 1.0,
    senses: npt.ArrayLike | None = None,
    solver: Solver = "highs",
    observer: Observer | None = None,
    tolerance: float = ADDITIVITY_TOLERANCE,
    **options: Any,
) -> Outcome:
    """Change values as little as possible, so that no sensitive cell is near its true one.

    The adjusted table adds up, stays within the bounds that everybody knows, and each sensitive
    cell lies at least its lower level below or its upper level above its true value (paper 003,
    (16)). A sliding level is asked for on either side; a cell with a level on one side only must
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
        integer: Publish whole numbers only (True), or more decimals than the data have where that
            is closer (False). By default published values have the decimals of the true ones,
            so that decimals do not show which were changed. Levels are then rounded up to the
            last decimal, bounds and limits inwards.
        prefer_totals: How many times dearer a deviation becomes with each step from the finest
            cells towards the grand total; totals are found by the signs of the relations.
        senses: For each sensitive cell 1 if it must rise, -1 if it must fall, 0 if either.
        solver: Who solves the mixed-integer programme of `milp`: `highs` or `scip`.
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
            "weights": weights if named else "given",
            "integer": integer,
            "prefer_totals": prefer_totals,
            "solver": solver,
            **options,
        }
    )
    refuse_contradictions(problem, tolerance)
    run = _Run(
        problem,
        chosen,
        observer or Observer(),
        clock,
        weight=_weights(problem, weights, chosen.prefer_totals),
        most=_limits(problem, limits),
        kept=kept | problem.must_publish,
        senses=_senses(problem, senses),
        tolerance=tolerance,
    )
    decimals = decimals_of(problem)
    if chosen.integer and decimals != 0:
        _refuse_fractions(problem)
    run.observer.on_start("adjust")
    outcome = run.outcome(decimals)
    run.observer.on_end(outcome)
    return outcome


@dataclass(frozen=True, eq=False)
class _Run:
    """One call of `adjust`: what was asked for, and the searches that it takes."""

    problem: Problem
    options: AdjustOptions
    observer: Observer
    clock: Clock
    weight: Floats
    most: Floats
    kept: Booleans
    senses: Integers | None
    tolerance: float

    def outcome(self, decimals: int | None) -> Outcome:
        """The outcome in units of the data, or in finer ones where there is none in those."""
        options = self.options
        first: _UnitSearch | None = None
        if options.integer is not False and decimals is not None:
            first = self.search(in_units(self.problem, decimals))
            outcome = self.searched(first)
            has_ended = outcome.solution is not None or options.integer
            if has_ended or (outcome.status is not Status.INFEASIBLE and first.unfinished is None):
                return outcome
        fine = in_fine_units(self.problem, decimals)
        if first is not None and fine.decimals == decimals:
            return outcome
        search = self.search(fine, is_fine=True)
        start = None
        if first is not None and first.unfinished is not None:
            start = np.zeros(self.problem.cell_count)
            start[first.model.cells] = first.unfinished * (first.units.step / fine.step)
            start = start[search.model.cells]
        outcome = self.searched(search, start)
        if isinstance(outcome.solution, Values):
            message = DECIMALS if first is not None else ""
            if fine.decimals is None and (outcome.solution.value != self.problem.value).any():
                message = NO_UNIT
            outcome = replace(outcome, message=message)
        return outcome

    def search(self, units: Units, *, is_fine: bool = False) -> _UnitSearch:
        """A search for a table of whole units, if there are any."""
        table, options = units.problem, self.options
        room = np.where(self.kept, 0.0, self.most / units.step)
        # A value a hair outside its bounds cannot move to that side.
        up = np.minimum(np.maximum(table.upper - table.value, 0.0), room)
        down = np.minimum(np.maximum(table.value - table.lower, 0.0), room)
        is_whole = units.decimals is not None
        step = units.step**2 if options.norm == "l2" else units.step
        model = build(
            table,
            self.weight * step,
            up,
            down,
            norm=options.norm,
            integer=is_whole,
            senses=self.senses,
        )
        if options.norm == "l2":
            # The least squares are not whole; they are rounded at the end.
            model = replace(model, integer=False)
        self.clock.reserve = 0.0
        search = _UnitSearch(
            model,
            options,
            self.observer,
            units=units,
            kept=self.kept,
            most=self.most / units.step,
            tolerance=self.tolerance,
            is_fine=is_fine,
            clock=self.clock,
        )
        search.given, search.tolerance = self.problem, self.tolerance
        # Checking and auditing what is found takes about as long as reading it did.
        search.clock.reserve += min(self.clock.seconds, 0.2 * options.time_limit)
        return search

    def searched(self, search: _UnitSearch, start: Floats | None = None) -> Outcome:
        """Search, from a start if there is one, and hand over what was found."""
        search.start = start
        return driven(lambda: search, "adjust", self.options, self.clock)


class _UnitSearch(Search):
    """A search for a table of whole units, or for any.

    Attributes:
        given: The table as it was given, not in units.
        start: Deviations to begin with, if there are any.
        tolerance: How exactly the relations must hold.
    """

    given: Problem
    start: Floats | None = None
    tolerance: float = ADDITIVITY_TOLERANCE

    def obstacles(self) -> list[str]:
        """Why there is no such table."""
        if self.start is not None:
            self.offer(self.start)
        return obstacles(self)

    def run(self) -> None:
        """Run the algorithm that the user chose."""
        self.raise_bound(_certain(self))
        if len(self.model.sensitive) == 0:
            # Nothing need be changed.
            self.offer(np.zeros(self.model.size))
            if self.should_stop():
                return
        module, name = _ALGORITHMS[self.options.algorithm]
        getattr(import_module(module), name)(self)

    def conclude(self) -> Result | None:
        """The closest table, of whole units if these are asked for, audited."""
        if self.stop_reason is not StopReason.INFEASIBLE or self.unfinished is not None:
            self.finish()
        if self.stop_reason is StopReason.INFEASIBLE:
            if self.best is None:
                self.reasons = reasons_together(self)
                return None
            self.stop(StopReason.EXHAUSTED)
        if self.values is None:
            return None
        solution = Values(self.units.published(self.values))
        checked = audited(self.given, solution, (), tolerance=self.tolerance)
        if not checked.safe:
            raise refuted(self.given, "a table", checked)
        return Result(solution, self.objective, checked)


def _certain(search: Search) -> float:
    """What every safe table costs: that each sensitive cell moves by its level."""
    least = np.zeros(search.model.size)
    least[search.model.sensitive] = search.model.level
    return search.model.cost(least)


def _weights(problem: Problem, weights: Any, prefer_totals: float) -> Floats:
    if isinstance(weights, str) and weights == "inverse":
        weight = 1.0 / chosen_weights(problem, "value")
    else:
        weight = chosen_weights(problem, weights)
    negative = np.flatnonzero(weight < 0)
    if len(negative):
        raise ProblemError(
            f"the weight is negative: {problem.name_cells(negative)}", cells=negative
        )
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
            raise InputError(f"limits needs {problem.cell_count} entries, one a cell")
    if not (share >= 0).all():
        raise InputError("limits must be shares of the cells' values, at least 0")
    size = np.abs(problem.value)
    return np.where(np.isinf(share), np.inf, np.where(np.isinf(share), 0.0, share) * size)


def _senses(problem: Problem, senses: npt.ArrayLike | None) -> Integers | None:
    if senses is None:
        return None
    given = np.asarray(senses)
    if given.shape != problem.sensitive.shape:
        raise InputError(f"senses needs {len(problem.sensitive)} entries, one a sensitive cell")
    if not np.isin(given, (-1, 0, 1)).all():
        raise InputError("senses must be 1 (rises), -1 (falls) or 0 (either)")
    down = np.maximum(problem.lower_level, problem.sliding_level) > 0
    up = np.maximum(problem.upper_level, problem.sliding_level) > 0
    astray = ((given > 0) & down & ~up) | ((given < 0) & up & ~down)
    if astray.any():
        raise InputError(
            "senses send cells to a side where they have no protection level; they are protected "
            f"on the other side only: {problem.name_cells(problem.sensitive[astray])}"
        )
    return given.astype(np.int64)


def _refuse_fractions(problem: Problem) -> None:
    broken = np.flatnonzero(problem.value != np.rint(problem.value))
    raise InputError(
        "integer is for tables of whole numbers; round the table first, or leave the option out "
        + (
            f"(there are decimals: {problem.name_cells(broken)})"
            if len(broken)
            else "(relations have coefficients that are not whole numbers)"
        )
    )
