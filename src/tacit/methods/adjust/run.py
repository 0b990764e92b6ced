"""`adjust`: the closest safe table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.clock import Clock, TimeUpError
from tacit.errors import InputError, ProblemError
from tacit.methods.adjust.algorithms import algorithm
from tacit.methods.adjust.decimals import Written, ranges
from tacit.methods.adjust.explain import obstacles, reasons_together
from tacit.methods.adjust.model import Search, build
from tacit.methods.adjust.options import AdjustOptions, Algorithm, Norm, Solver, Weights
from tacit.methods.adjust.totals import heights
from tacit.methods.adjust.units import Units, decimal, decimals_of, in_fine_units, in_units
from tacit.methods.engine import driver
from tacit.methods.engine.driver import Result, audited, driven, refuted
from tacit.methods.engine.turns import ADJUST_AUDIT
from tacit.methods.inputs import cell_mask, chosen_weights, expect_problem, refuse
from tacit.methods.merging import merged_where_equal
from tacit.observer import Observer
from tacit.outcome import Outcome, Status, StopReason, Values
from tacit.problem import ADDITIVITY_TOLERANCE, Booleans, Floats, Integers, Problem
from tacit.reductions.equal_cells import EqualCells

DECIMALS = (
    "no table was found with as many decimals as the data have: published values have more, which "
    "shows readers where values were changed"
)
NO_UNIT = (
    "values have no common number of decimals: they are published with all their digits, which may "
    "show readers where values were changed"
)
DEAR = (
    "values are published with common decimals, so that these do not show which were changed; "
    "rounding to them is what keeps the objective above the bound"
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
        prefer_totals: How many times dearer a deviation becomes with each step from the finest
            cells towards the grand total; totals are found by the signs of the relations.
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
            "weights": weights if named else "given",
            "integer": integer,
            "prefer_totals": prefer_totals,
            "solver": solver,
            **options,
        }
    )
    refuse(problem, tolerance)
    kept |= problem.must_publish
    sense = _senses(problem, senses)
    run = _Run(
        merged_where_equal(problem, apart=_apart(problem, kept, sense)),
        chosen,
        observer or Observer(),
        clock,
        given_weight=_weights(problem, weights, chosen.prefer_totals),
        given_most=_limits(problem, limits),
        given_kept=kept,
        given_sense=sense,
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
    """One call of `adjust`: what was asked for, and the searches that it takes.

    Attributes:
        reduction: The table as it was given, and the smaller one in which equal cells are merged.
        options: What the user chose.
        observer: Who listens.
        clock: The time for all of it.
        given_weight: What a unit of deviation costs for each cell of the given table.
        given_most: The largest deviation of each.
        given_kept: Those that keep their value.
        given_sense: For each 1 if it must rise, -1 if it must fall, 0 if either.
        tolerance: How exactly the relations must hold.
    """

    reduction: EqualCells
    options: AdjustOptions
    observer: Observer
    clock: Clock
    given_weight: Floats
    given_most: Floats
    given_kept: Booleans
    given_sense: Integers
    tolerance: float

    @property
    def given(self) -> Problem:
        """The table as it was given."""
        return self.reduction.whole

    @property
    def problem(self) -> Problem:
        """The table that is searched."""
        return self.reduction.problem

    @cached_property
    def weight(self) -> Floats:
        """What a unit of deviation costs: equal cells move together, and the dearest is largest."""
        reduced = self.reduction.largest if self.options.norm == "linf" else self.reduction.sum
        return np.asarray(reduced(self.given_weight))

    @cached_property
    def kept(self) -> Booleans:
        """Which cells keep their value."""
        return self.reduction.largest(self.given_kept)

    @cached_property
    def senses(self) -> Integers:
        """For each cell 1 if it must rise, -1 if it must fall; such cells are not merged."""
        summed = self.reduction.sum(self.given_sense.astype(float))
        return np.asarray(summed, np.int64)

    @cached_property
    def most(self) -> Floats:
        """The largest deviation of each cell."""
        return self.reduction.smallest(self.given_most)

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
        search = self.search(fine)
        start = None
        if first is not None and first.unfinished is not None:
            start = np.zeros(self.problem.cell_count)
            start[first.model.cells] = first.unfinished * first.units.step
            start = start[search.model.cells]
        outcome = self.searched(search, start)
        if first is not None and outcome.solution is not None:
            outcome = replace(outcome, message=DECIMALS)
        return outcome

    def search(self, units: Units) -> _UnitSearch:
        """A search for a table counted in units, or for any."""
        table, options = units.problem, self.options
        slack = np.where(self.kept, 0.0, self.most / units.step)
        # A value outside its bounds by rounding noise cannot move to that side.
        up = np.minimum(np.maximum(table.upper - table.value, 0.0), slack)
        down = np.minimum(np.maximum(table.value - table.lower, 0.0), slack)
        step = units.step**2 if options.norm == "l2" else units.step
        model = build(
            table,
            self.weight * step,
            up,
            down,
            norm=options.norm,
            integer=units.is_counted,
            senses=self.senses[table.sensitive],
        )
        if options.norm == "l2":
            # The least squares are not integers; they are rounded at the end.
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
            clock=self.clock,
        )
        search.asked = self
        # Checking and auditing what is found takes about as long as reading it did.
        search.clock.reserve += min(self.clock.seconds, ADJUST_AUDIT * options.time_limit)
        return search

    def cost(self, values: Floats) -> float:
        """What a table costs, expanded, against the true one."""
        size = np.abs(values[self.reduction.group] - self.given.value)
        if self.options.norm == "linf":
            return float(np.max(self.given_weight * size, initial=0.0))
        return float(self.given_weight @ (size if self.options.norm == "l1" else size * size))

    def searched(self, search: _UnitSearch, start: Floats | None = None) -> Outcome:
        """Search, from a start if there is one, and hand over what was found."""
        search.start = start
        return driven(lambda: search, "adjust", self.options, self.clock)


class _UnitSearch(Search, driver.Search):
    """A search for a table counted in units, or for any.

    Attributes:
        asked: What was asked for, and the table as it was given.
        start: Deviations to begin with, if there are any.
    """

    method = "adjust"
    asked: _Run
    start: Floats | None = None

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
        algorithm(self.options.algorithm)(self)

    def conclude(self) -> Result | None:
        """The closest table, of integer units if these are asked for, audited."""
        if self.stop_reason is not StopReason.INFEASIBLE or self.unfinished is not None:
            self.finish()
        if self.stop_reason is StopReason.INFEASIBLE:
            if self.best is None:
                self.reasons = reasons_together(self)
                return None
            self.stop(StopReason.EXHAUSTED)
        if self.values is None:
            return None
        values, message = self._published(self.values)
        given, solution = self.asked.given, self.asked.reduction.expand(Values(values))
        checked = audited(given, solution, (), tolerance=self.asked.tolerance)
        if not checked.safe:
            raise refuted(given, "a table", checked)
        was_closest = self.gap <= self.options.gap
        self.objective = self.above_bound(self.asked.cost(values))
        # Within rounding of the bound it is the bound.
        self.raise_bound(self.bound, self.bound_source)
        if was_closest and self.gap > self.options.gap:
            message = message or DEAR
        return Result(solution, self.objective, checked, message)

    def _published(self, table: Floats) -> tuple[Floats, str]:
        """What is published for a table that was found, and what is to be said about it."""
        true = self.asked.problem.value
        if len(self.model.sensitive) == 0:
            # Nothing had to move, and nothing shows.
            return true + 0.0, ""
        if self.units.decimals is None:
            return table + 0.0, NO_UNIT if (table != true).any() else ""
        if self.units.is_counted:
            return decimal(table, self.units.decimals), ""
        written = self._written(table, self.units.decimals)
        return (table + 0.0, NO_UNIT) if written is None else (written, "")

    def _written(self, table: Floats, decimals: int) -> Floats | None:
        """A table that was found, with common decimals; None where they cannot be had."""
        asked = self.asked
        low, high = ranges(asked.problem, table, self.most)
        can_move = np.zeros(len(table), bool)
        can_move[self.model.cells] = True
        sketch = Written(
            asked.problem,
            table,
            low,
            high,
            can_move,
            asked.weight,
            asked.options.norm,
            decimals,
        )
        best = sketch.cell_by_cell()
        if best is not None and self.gap_of(asked.cost(best)) <= self.options.gap:
            return best
        seconds = max(self.options.time_limit - self.seconds, 0.5 * self.clock.reserve)
        other = None
        try:
            with Clock(seconds):
                other = sketch.by_mip(seconds=seconds, seed=self.options.seed)
        except TimeUpError:
            pass
        found = [each for each in (best, other) if each is not None]
        return min(found, key=asked.cost) if found else sketch.nearest()


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
