"""`Units`: the table counted in units of its last decimal, so that what is published keeps to them.

Values with more decimals than the data have would show readers which cells were changed. The
search therefore runs on integer numbers of units: 12.35 is 1235 units of 0.01. Published numbers
are integers divided by a power of ten: the floating-point numbers nearest to decimals.

Data without a unit of their own are searched as they are, for the closest table of the problem as
it was stated; what is found is then written with common decimals, see `decimals`.

`Asked` is one call of `adjust`: it decides in which units to search. `UnitSearch` is one such
search; where there is no table in units of the data, one in finer units follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from tacit.clock import Clock, TimeUpError
from tacit.errors import TacitError
from tacit.methods.adjust.decimals import Written, decimal, ranges
from tacit.methods.adjust.explain import obstacles, reasons_together, sums_in_the_way
from tacit.methods.adjust.model import Adjustment, Search, build
from tacit.methods.adjust.options import AdjustOptions
from tacit.methods.adjust.quality import Bounded, Limit, reduced
from tacit.methods.engine import driver
from tacit.methods.engine.driver import Case, Result, refuted
from tacit.methods.engine.turns import ADJUST_AT_LEAST, ADJUST_AUDIT, ADJUST_LAST
from tacit.methods.registry import find_algorithm
from tacit.observer import Observer
from tacit.outcome import Outcome, Status, StopReason, Values
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.reductions.equal_cells import EqualCells
from tacit.tolerances import MET, ROUNDING_NOISE

_MOST_DECIMALS = 12
"""Data with more decimals than this count as having no unit."""
_FINEST = 22
"""Powers of ten up to this one are exact as floating-point numbers."""
_LARGEST = 2.0**50
"""Integers up to this one can be added up without rounding."""
_FINE = 1e-9
"""Where no unit is given by the data, it is at most this share of the smallest level or value."""
_COARSEST = 1e-2
"""A unit that is a larger share of the smallest level is of no use."""
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


@dataclass(frozen=True, eq=False)
class Units:
    """How a table is searched and published.

    Attributes:
        problem: The table that is searched: counted in units, with its bounds and its levels, or
            as it is.
        decimals: Decimals of what is published; None where values have no common unit.
        is_counted: Whether the table is counted in units. What is found otherwise is written with
            these decimals at the end.
    """

    problem: Problem
    decimals: int | None
    is_counted: bool

    @property
    def step(self) -> float:
        """What 1 in the searched table is worth."""
        return 1.0 / 10.0**self.decimals if self.is_counted and self.decimals is not None else 1.0


def decimals_of(problem: Problem) -> int | None:
    """The fewest decimals with which the table can be written; None if there are too many."""
    if not _has_integer_coefficients(problem):
        return None
    given = np.concatenate([problem.value, problem.rhs])
    largest = float(np.abs(given).max(initial=0.0))
    for decimals in range(_MOST_DECIMALS + 1):
        counts = given * 10.0**decimals
        if largest * 10.0**decimals > _LARGEST:
            return None
        # Totals are sums of rounded numbers: their last digits may be off.
        blur = 64 * np.finfo(float).eps * np.maximum(np.abs(counts), 1.0)
        if (np.abs(counts - np.rint(counts)) <= np.minimum(blur, 0.01)).all():
            return decimals
    return None


def in_units(problem: Problem, decimals: int) -> Units:
    """The table counted in units of its own last decimal."""
    factor = 10.0**decimals
    counted = problem.replace(
        value=np.rint(problem.value * factor),
        lower=problem.lower * factor,
        upper=problem.upper * factor,
        rhs=np.rint(problem.rhs * factor),
        lower_level=problem.lower_level * factor,
        upper_level=problem.upper_level * factor,
        sliding_level=problem.sliding_level * factor,
    )
    return Units(counted, decimals, is_counted=True)


def in_fine_units(problem: Problem, decimals: int | None) -> Units:
    """The table as it is, to be published with decimals that are small beside all levels.

    Args:
        problem: The table.
        decimals: Decimals of its values; None where they have no unit.
    """
    return Units(problem, _fine_decimals(problem, decimals), is_counted=False)


def _fine_decimals(problem: Problem, decimals: int | None) -> int | None:
    """Decimals that make a unit small beside all levels; None where that is impossible."""
    levels = np.concatenate([problem.lower_level, problem.upper_level, problem.sliding_level])
    least = float(np.min(levels[levels > 0], initial=np.inf))
    size = np.abs(np.append(problem.value, problem.rhs))
    largest = float(size.max(initial=0.0))
    if not np.isfinite(least) or not _has_integer_coefficients(problem):
        return decimals
    smallest = min(least, float(np.min(size[size > 0], initial=np.inf)))
    wanted = int(np.ceil(-np.log10(_FINE * smallest) - ROUNDING_NOISE))
    possible = _FINEST if largest == 0 else int(np.floor(np.log10(_LARGEST / largest)))
    fine = max(min(wanted, possible, _FINEST), decimals or 0, 0)
    if fine > possible or (decimals is None and 10.0**-fine > _COARSEST * least):
        return decimals
    return fine


def _has_integer_coefficients(problem: Problem) -> bool:
    coefficients = problem.relations.data
    return bool((coefficients == np.rint(coefficients)).all())


@dataclass(frozen=True, eq=False)
class Asked:
    """One call of `adjust`: what was asked for, and the searches that it takes.

    Attributes:
        case: The table as it was given, and the smaller one that is searched.
        options: What the user chose.
        observer: Who listens.
        clock: The time for all of it.
        given_weight: What a unit of deviation costs for each cell of the given table.
        given_most: The largest deviation of each.
        given_kept: Those that keep their value.
        given_sense: For each 1 if it must rise, -1 if it must fall, 0 if either.
        given_sums: Limits on sums of their deviations.
        decimals: Decimals of the data; None where they have no unit.
        tolerance: How exactly the relations must hold.
    """

    case: Case
    options: AdjustOptions
    observer: Observer
    clock: Clock
    given_weight: Floats
    given_most: Floats
    given_kept: Booleans
    given_sense: Integers
    given_sums: tuple[Limit, ...]
    decimals: int | None
    tolerance: float

    @property
    def reduction(self) -> EqualCells:
        """How equal cells were merged."""
        return self.case.reduction

    @cached_property
    def bounded(self) -> Bounded:
        """The table without equal cells, with limits on sums as bounds of further cells."""
        fixed = np.asarray(self.reduction.largest(self.given_kept))
        return Bounded.of(self.case.problem, reduced(self.given_sums, self.reduction), fixed)

    @property
    def problem(self) -> Problem:
        """The table that is searched."""
        return self.bounded.problem if self.given_sums else self.case.problem

    def _longer(self, entries: Any, entry: float) -> Any:
        """Entries of all cells that are searched."""
        return self.bounded.longer(entries, entry) if self.given_sums else entries

    @cached_property
    def weight(self) -> Floats:
        """What a unit of deviation costs: of equal cells all together, for `linf` the largest."""
        together = self.reduction.largest if self.options.norm == "linf" else self.reduction.sum
        return np.asarray(self._longer(together(self.given_weight), 0.0))

    @cached_property
    def kept(self) -> Booleans:
        """Which cells keep their value."""
        return np.asarray(self._longer(self.reduction.largest(self.given_kept), False))

    @cached_property
    def senses(self) -> Integers:
        """For each cell 1 if it must rise, -1 if it must fall; such cells are not merged."""
        summed = self.reduction.sum(self.given_sense.astype(float))
        return np.asarray(self._longer(summed, 0.0), np.int64)

    @cached_property
    def most(self) -> Floats:
        """The largest deviation of each cell."""
        return np.asarray(self._longer(self.reduction.smallest(self.given_most), np.inf))

    def first_search(self) -> UnitSearch:
        """A search in units of the data, or for any table where they have none."""
        if self.options.integer is not False and self.decimals is not None:
            return self.search(in_units(self.problem, self.decimals))
        return self.search(in_fine_units(self.problem, self.decimals))

    def search(self, units: Units) -> UnitSearch:
        """A search for a table counted in units, or for any."""
        options = self.options
        model = self._model(units)
        if options.norm == "l2":
            # The least squares are not integers; they are rounded at the end.
            model = replace(model, integer=False)
        self.clock.reserve = 0.0
        search = UnitSearch(
            model,
            options,
            self.observer,
            units=units,
            kept=self.kept,
            most=self.most / units.step,
            tolerance=self.tolerance,
            clock=self.clock,
        )
        search.asked, search.case = self, self.case
        # Checking and auditing what is found takes about as long as reading it did.
        search.clock.reserve += min(self.clock.seconds, ADJUST_AUDIT * options.time_limit)
        return search

    def _model(self, units: Units) -> Adjustment:
        """The adjustment problem of a table counted in units, or as it is."""
        table, options = units.problem, self.options
        slack = np.where(self.kept, 0.0, self.most / units.step)
        # A value outside its bounds by rounding noise cannot move to that side.
        up = np.minimum(np.maximum(table.upper - table.value, 0.0), slack)
        down = np.minimum(np.maximum(table.value - table.lower, 0.0), slack)
        step = units.step**2 if options.norm == "l2" else units.step
        return build(
            table,
            self.weight * step,
            up,
            down,
            norm=options.norm,
            integer=units.is_counted,
            senses=self.senses[table.sensitive],
        )

    def without_sums(self, units: Units) -> tuple[Adjustment, Integers, Floats]:
        """The problem without limits on sums; the cell of each, and its limit in units."""
        if not self.given_sums:
            return self._model(units), np.zeros(0, np.int64), np.zeros(0)
        free = self.bounded.without_limits()
        if units.is_counted and units.decimals is not None:
            free = in_units(free, units.decimals).problem
        model = self._model(replace(units, problem=free))
        most = np.array([limit.most for limit in self.given_sums]) / units.step
        return model, np.searchsorted(model.cells, self.bounded.cells), most

    def cost(self, values: Floats) -> float:
        """What a table costs, expanded, against the true one."""
        size = np.abs(values[self.reduction.group] - self.case.given.value)
        if self.options.norm == "linf":
            return float(np.max(self.given_weight * size, initial=0.0))
        return float(self.given_weight @ (size if self.options.norm == "l1" else size * size))


class UnitSearch(Search, driver.Search):
    """A search for a table counted in units, or for any.

    Attributes:
        asked: What was asked for, and the table as it was given.
        start: Deviations to begin with, if there are any.
        remark: What to say about a table, whatever it is like.
    """

    method = "adjust"
    case: Case
    asked: Asked
    start: Floats | None = None
    remark: str = ""

    def obstacles(self) -> list[str]:
        """Why there is no such table."""
        if self.start is not None:
            self.offer(self.start)
        return self._with_sums(obstacles(self))

    def _with_sums(self, reasons: list[str]) -> list[str]:
        """Reasons why there is no table: limits on sums, where it is they that are in the way."""
        sums = self.asked.given_sums
        if not reasons or not sums:
            return reasons
        names = [f"{limit.name} ({limit.kind} deviation)" for limit in sums]
        return sums_in_the_way(self, *self.asked.without_sums(self.units), names) or reasons

    def run(self) -> None:
        """Run the algorithm that the user chose."""
        self.raise_bound(_certain(self))
        if len(self.model.sensitive) == 0:
            # Nothing need be changed.
            self.offer(np.zeros(self.model.size))
            if self.should_stop():
                return
        find_algorithm(self.method, self.options.algorithm)(self)

    def conclude(self) -> Result | None:
        """The closest table, of integer units if these are asked for, audited."""
        if self.stop_reason is not StopReason.INFEASIBLE or self.unfinished is not None:
            self.finish()
        if self.stop_reason is StopReason.INFEASIBLE:
            if self.best is None:
                self.reasons = self._with_sums(reasons_together(self))
                return None
            self.stop(StopReason.EXHAUSTED)
        if self.values is None:
            return None
        values, message = self._published(self.values)
        values = values[: self.asked.case.problem.cell_count]
        solution = Values(values)
        self._refuse_broken_sums(values)
        checked = self.case.audited(solution, tolerance=self.asked.tolerance)
        if not checked.safe:
            raise refuted(self.case.given, "a table", checked)
        was_closest = self.gap <= self.options.gap
        self.objective = self.above_bound(self.asked.cost(values))
        # Within rounding of the bound it is the bound.
        self.raise_bound(self.bound, self.bound_source)
        if was_closest and self.gap > self.options.gap:
            message = message or DEAR
        return Result(solution, self.objective, checked, self.remark or message)

    def _refuse_broken_sums(self, values: Floats) -> None:
        """Limits on sums are looked at once more, in the table as it was given."""
        given = self.asked.case.given
        every = values[self.asked.reduction.group]
        broken = [each.name for each in self.asked.given_sums if each.is_broken(given, every)]
        if broken:
            raise TacitError(
                "the search found a table that exceeds a limit on its quality: this is a fault of "
                f"tacit, please report it ({', '.join(broken)})"
            )

    def successor(self, outcome: Outcome) -> Callable[[], UnitSearch] | None:
        """A search in finer units, where there may be a table although none is in these."""
        if not self.units.is_counted or self.options.integer or outcome.solution is not None:
            return None
        if outcome.status is not Status.INFEASIBLE and self.unfinished is None:
            return None
        fine = in_fine_units(self.asked.problem, self.units.decimals)
        return None if fine.decimals == self.units.decimals else partial(self._in_finer_units, fine)

    def _in_finer_units(self, units: Units) -> UnitSearch:
        """A search that starts from the closest table met so far, if there is any."""
        search = self.asked.search(units)
        search.remark = DECIMALS
        if self.unfinished is not None:
            start = np.zeros(self.asked.problem.cell_count)
            start[self.model.cells] = self.unfinished * self.units.step
            search.start = start[search.model.cells]
        return search

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

    def _is_as_close(self, cost: float) -> bool:
        """Whether decimals at this cost leave the status of the table found as it is."""
        if cost <= self.objective * (1 + MET):
            return True
        if self.gap <= self.options.gap:
            return self.gap_of(cost) <= self.options.gap
        return cost <= self.objective * (1 + self.options.gap)

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
        size = asked.case.problem.cell_count
        if best is not None and self._is_as_close(asked.cost(best[:size])):
            return best
        seconds = max(self.options.time_limit - self.seconds, ADJUST_AT_LEAST * self.clock.reserve)
        if best is not None:
            # Little is at stake.
            seconds = min(seconds, ADJUST_LAST * self.options.time_limit)
        other = None
        try:
            with Clock(seconds):
                other = sketch.by_mip(seconds=seconds, seed=self.options.seed)
        except TimeUpError:
            pass
        found = [each for each in (best, other) if each is not None]
        if not found:
            return sketch.nearest()
        return min(found, key=lambda each: asked.cost(each[:size]))


def _certain(search: Search) -> float:
    """What every safe table costs: that each sensitive cell moves by its level."""
    least = np.zeros(search.model.size)
    least[search.model.sensitive] = search.model.level
    return search.model.cost(least)
