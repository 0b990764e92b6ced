"""`Adjustment`: what all algorithms see of the problem: deviations, their limits and their cost.

Deviations z = x - a as in [Castro2012, (17)]: A z = 0, every cell within its bounds and limits, and
every sensitive cell at least its level above or below. A side without a level is no way out: a
cell with a level on one side only must go there. Only cells that can move are here.

`Search` is what all algorithms share while they run: it keeps the closest safe table and the
bound. An algorithm offers deviations and raises the bound; whether deviations make a safe table
is decided by `faults`, in plain numpy, apart from everything that produced them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsmr

from tacit.clock import Clock, TimeUpError
from tacit.methods.adjust.heuristics.integral import made_integral
from tacit.methods.adjust.options import AdjustOptions, Norm
from tacit.methods.adjust.totals import finest_cells
from tacit.methods.engine.progress import Progress
from tacit.methods.engine.turns import ADJUST_AT_LEAST, ADJUST_INTEGRAL, ADJUST_LAST
from tacit.observer import Observer, Quiet
from tacit.problem import (
    ADDITIVITY_TOLERANCE,
    Booleans,
    Floats,
    Integers,
    Problem,
)
from tacit.tolerances import CUTOFF, INTEGRAL, LAST_DIGITS, LEAST_SQUARES, MET, ROUNDING_NOISE

if TYPE_CHECKING:
    from tacit.methods.adjust.units import Units

_SNAP = INTEGRAL
"""Deviations this close to a multiple of one half, as a share of the usual level, become one."""

_NOTICED = 0.01
"""Relations missed by this many units keep a table from being made integral cell by cell."""
_SUMS = 1e-3
"""Sums of integers are known to this much at least, and so are limits that follow from them."""
_MOST_SUMS = 20_000_000
"""Tables whose totals are sums of more cells in all are not searched by their finest cells."""
_ROUNDS = 20
"""How often limits are tightened by single relations."""


@dataclass(frozen=True, eq=False)
class Adjustment:
    """The problem in deviations, over the cells that can move.

    Attributes:
        problem: The table.
        norm: What is minimised.
        integer: Whether deviations must be integers; limits and levels are, then.
        cells: Numbers of the cells that can move, increasing.
        A: The relations among them.
        up: How far each of them may rise.
        down: How far each may fall.
        weight: What a unit of deviation costs.
        sensitive: Places among `cells` of those that must move.
        rise: By how much each of those must rise, if it rises; inf where it cannot.
        fall: By how much each must fall, if it falls.
    """

    problem: Problem
    norm: Norm
    integer: bool
    cells: Integers
    A: sparse.csr_array[Any, Any]
    up: Floats
    down: Floats
    weight: Floats
    sensitive: Integers
    rise: Floats
    fall: Floats

    @property
    def size(self) -> int:
        """Number of cells that can move."""
        return len(self.cells)

    @cached_property
    def columns(self) -> sparse.csc_array[Any]:
        """The relations by column."""
        return sparse.csc_array(self.A)

    @cached_property
    def place(self) -> Integers:
        """For each cell its place among the sensitive ones, -1 for others."""
        place = np.full(self.size, -1)
        place[self.sensitive] = np.arange(len(self.sensitive))
        return place

    @cached_property
    def level(self) -> Floats:
        """The least deviation of each sensitive cell, whatever its sense."""
        return np.minimum(self.rise, self.fall)

    @cached_property
    def unit(self) -> float:
        """The size of a usual deviation, by which models are scaled."""
        return float(np.median(self.level)) if len(self.level) else 1.0

    @cached_property
    def finest(self) -> tuple[Integers, sparse.csr_array[Any, Any]] | None:
        """Finest cells of the table, and all its cells as sums of them; None if there are none."""
        return finest_cells(self.problem.relations, most_entries=_MOST_SUMS)

    @property
    def may_rise(self) -> Booleans:
        """Sensitive cells that can be protected upwards."""
        return np.isfinite(self.rise)

    @property
    def may_fall(self) -> Booleans:
        """Sensitive cells that can be protected downwards."""
        return np.isfinite(self.fall)

    def cost(self, z: Floats) -> float:
        """What deviations cost."""
        size = np.abs(z)
        if self.norm == "linf":
            return float(np.max(self.weight * size, initial=0.0))
        return float(self.weight @ (size if self.norm == "l1" else size * size))

    def farthest(self, cutoff: float) -> Floats:
        """How far each cell moves at most in a table that costs less; inf where nothing tells."""
        if not np.isfinite(cutoff):
            return np.full(self.size, np.inf)
        least = np.zeros(self.size)
        least[self.sensitive] = self.level
        spare = np.full(self.size, cutoff)
        if self.norm == "l1":
            # All other cells cost at least what their levels do.
            spare += self.weight * least - self.weight @ least
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.where(self.weight > 0, spare * (1 + CUTOFF) / self.weight, np.inf)
        return np.maximum(np.sqrt(most) if self.norm == "l2" else most, least)

    def senses(self, z: Floats) -> Booleans:
        """Which sensitive cells rise."""
        own = z[self.sensitive]
        return np.where(self.may_rise & self.may_fall, own > 0, self.may_rise)

    def limits(self, senses: Booleans) -> tuple[Floats, Floats]:
        """The least and the largest deviation of each cell if senses are given."""
        low, high = -self.down, self.up.copy()
        own = self.sensitive
        low[own] = np.where(senses, self.rise, low[own])
        high[own] = np.where(senses, high[own], -self.fall)
        return low, high


def build(
    problem: Problem,
    weight: Floats,
    up: Floats,
    down: Floats,
    *,
    norm: Norm,
    integer: bool,
    senses: Integers | None = None,
) -> Adjustment:
    """The adjustment problem from the slack of all cells.

    Args:
        problem: The table.
        weight: What a unit of deviation costs.
        up: How far each cell may rise, 0 for those that keep their value.
        down: How far each cell may fall.
        norm: What is minimised.
        integer: Whether deviations must be integers.
        senses: For each sensitive cell 1 if it must rise, -1 if it must fall, 0 if either.
    """
    rise = np.maximum(problem.upper_level, problem.sliding_level)
    fall = np.maximum(problem.lower_level, problem.sliding_level)
    # Without any level a cell may stay where it is.
    must = (rise > 0) | (fall > 0)
    own, rise, fall = problem.sensitive[must], rise[must], fall[must]
    rise, fall = np.where(rise > 0, rise, np.inf), np.where(fall > 0, fall, np.inf)
    given = np.zeros(len(own), np.int64) if senses is None else senses[must]
    if integer:
        up, down = np.floor(up + ROUNDING_NOISE), np.floor(down + ROUNDING_NOISE)
        rise, fall = np.ceil(rise - ROUNDING_NOISE), np.ceil(fall - ROUNDING_NOISE)
    up, down, fixed = _tightened(problem.relations, up, down)
    if integer:
        # Sums of integers that were known but to rounding noise.
        up, down = np.floor(up + _SUMS), np.floor(down + _SUMS)
        fixed = (up == 0) & (down == 0)
    rise = np.where((rise <= up[own] * (1 + ROUNDING_NOISE)) & (given >= 0), rise, np.inf)
    fall = np.where((fall <= down[own] * (1 + ROUNDING_NOISE)) & (given <= 0), fall, np.inf)
    # Levels that equal the slack up to rounding.
    up[own] = np.maximum(up[own], np.where(np.isfinite(rise), rise, 0.0))
    down[own] = np.maximum(down[own], np.where(np.isfinite(fall), fall, 0.0))
    movable = ~fixed
    movable[own] = True
    cells = np.flatnonzero(movable)
    A = sparse.csr_array(problem.relations[:, cells])
    A = sparse.csr_array(A[np.diff(A.indptr) > 0])
    return Adjustment(
        problem,
        norm,
        integer,
        cells,
        A,
        up[cells],
        down[cells],
        weight[cells],
        np.searchsorted(cells, own),
        rise,
        fall,
    )


def _tightened(
    A: sparse.csr_array[Any, Any], up: Floats, down: Floats
) -> tuple[Floats, Floats, Booleans]:
    """Slack cut back to what single relations leave, and the cells that cannot move at all."""
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    size, positive = np.abs(A.data), A.data > 0
    up, down = up.copy(), down.copy()
    for _ in range(_ROUNDS):
        rises = size * np.where(positive, up[A.indices], down[A.indices])
        falls = size * np.where(positive, down[A.indices], up[A.indices])
        # What others can give, with infinite slack counted apart.
        new = []
        for others, own in ((falls, rises), (rises, falls)):
            finite = np.isfinite(others)
            total = np.bincount(row, np.where(finite, others, 0.0), minlength=A.shape[0])
            endless = np.bincount(row, ~finite, minlength=A.shape[0])
            left = np.maximum(total[row] - np.where(finite, others, 0.0), 0.0)
            reach = np.where(endless[row] - ~finite > 0, np.inf, left)
            # Sums of large numbers are known no better than this.
            reach = np.where(reach <= LAST_DIGITS * total[row], 0.0, reach * (1 + LAST_DIGITS))
            new.append(np.minimum(own, reach) / size)
        tight_up, tight_down = up.copy(), down.copy()
        np.minimum.at(tight_up, A.indices, np.where(positive, new[0], new[1]))
        np.minimum.at(tight_down, A.indices, np.where(positive, new[1], new[0]))
        change = (tight_up < 0.99 * up) | (tight_down < 0.99 * down)
        up, down = tight_up, tight_down
        if not change.any():
            break
    fixed = (up == 0) & (down == 0)
    return up, down, fixed


def faults(
    problem: Problem,
    values: Floats,
    *,
    kept: Booleans,
    most: Floats,
    integer: bool,
    tolerance: float = MET,
) -> list[str]:
    """What is wrong with an adjusted table; empty if it may be published.

    Levels are held to `tolerances.MET`, whatever the table itself is allowed.

    Args:
        problem: The true table.
        values: The adjusted one.
        kept: Cells that must have their true value.
        most: The largest deviation allowed for each cell; inf where there is no limit.
        integer: Whether values must be integers.
        tolerance: How exactly relations, bounds and limits must hold.
    """
    a, x = problem.value, values
    found = []
    size = np.maximum(np.abs(x), np.abs(a))
    terms = np.asarray(abs(problem.relations) @ np.maximum(np.abs(x), np.abs(a)))
    terms = terms + np.abs(problem.rhs)
    # The true table may itself miss its relations by rounding.
    own = problem.residual()
    missed = np.maximum(tolerance * terms, 1.001 * np.abs(own))
    is_broken = np.abs(problem.residual(x)) > missed
    if integer:
        # Sums of integers hold or do not, however large they are.
        is_broken |= np.abs(problem.residual(x) - own) > 0.25
    broken = np.flatnonzero(is_broken)
    if len(broken):
        found.append(f"values do not add up: {problem.name_relations(broken)}")

    def report(bad: Booleans, text: str) -> None:
        if bad.any():
            found.append(f"{text}: {problem.name_cells(np.flatnonzero(bad))}")

    slack = tolerance * size
    report((x < problem.lower - slack) | (x > problem.upper + slack), "outside its bounds")
    report(kept & (x != a), "changed, though it must keep its value")
    report(np.abs(x - a) > most + slack, "changed by more than its limit")
    if integer:
        report(x != np.rint(x), "not an integer")
    s = problem.sensitive
    moved = x[s] - a[s]
    # A difference of two numbers is known no better than their last digits.
    blur = 4 * np.finfo(float).eps * size[s]
    up = np.maximum(problem.upper_level, problem.sliding_level)
    down = np.maximum(problem.lower_level, problem.sliding_level)
    # A side without a level is no way out, unless there is none on either side.
    reached_above = (up > 0) & (moved >= up * (1 - MET) - blur)
    reached_below = (down > 0) & (-moved >= down * (1 - MET) - blur)
    near = np.zeros(problem.cell_count, bool)
    near[s] = ((up > 0) | (down > 0)) & ~reached_above & ~reached_below
    report(near, "too close to its true value")
    return found


class Search(Progress):
    """The state of one run.

    Attributes:
        model: The adjustment problem, in units.
        units: What a unit is.
        options: What the user chose.
        kept: Cells of the table that keep their value.
        most: The largest deviation allowed for each cell of the table, in units.
        best: The best deviations so far, over the cells that can move.
        values: The table that they make, in units.
        unfinished: Where integer units are asked for, the closest table met so far that is not of
            integer units, as deviations; None without one.
        backstop: A safe table of integer units, as deviations, as a fallback for the end.
        rng: Random numbers by the user's seed.
    """

    def __init__(
        self,
        model: Adjustment,
        options: AdjustOptions,
        observer: Observer,
        *,
        units: Units,
        kept: Booleans,
        most: Floats,
        tolerance: float = ADDITIVITY_TOLERANCE,
        clock: Clock | None = None,
    ):
        super().__init__(options, observer, clock=clock)
        self.model = model
        self.units = units
        self.options = options
        self.kept = kept
        self.most = most
        self.best: Floats | None = None
        self.values: Floats | None = None
        self.unfinished: Floats | None = None
        self.backstop: Floats | None = None
        self.rng = np.random.default_rng(options.seed)
        self._tolerance = max(tolerance, MET)
        self._low, self._high = -model.down, model.up
        self._repairing = 0.0
        if units.decimals is not None:
            self.clock.reserve = ADJUST_LAST * options.time_limit

    def offer(self, z: Floats) -> bool:
        """Propose deviations; True if they make a safe table that is closer than the best."""
        model = self.model
        if model.cost(z) >= self.objective * (1 - LAST_DIGITS):
            return False
        if model.integer:
            return self._offer_integral(z)
        for candidate in self._neater(z):
            if self.fits(candidate):
                return self._take(candidate)
        return False

    def _take(self, z: Floats) -> bool:
        """Keep deviations that make a safe table, if it is closer than the best."""
        objective = self.model.cost(z)
        if objective >= self.objective * (1 - LAST_DIGITS):
            return False
        self.best, self.values = z, self._table(z)
        self.better(objective)
        return True

    def _offer_integral(self, z: Floats) -> bool:
        """`offer` where integer units are asked for."""
        integral = np.rint(self._clipped(z))
        if self.fits(integral):
            return self._take(integral)
        z = self._refined(z)
        if self.fits(np.rint(z)):
            return self._take(np.rint(z))
        began = self.seconds
        is_first = self.best is None and self.unfinished is None
        if self.unfinished is None or self.model.cost(z) < self.model.cost(self.unfinished):
            self.unfinished = z
        # The search itself needs most of the time.
        budget = ADJUST_INTEGRAL * max(self.seconds_left if is_first else 0.0, self.seconds)
        if not is_first and self._repairing > budget:
            return False
        found = made_integral(self.model, z, seconds=min(max(budget, 0.2), self.seconds_left))
        self._repairing += self.seconds - began
        if found is None or not self.fits(found):
            return False
        return self._take(found)

    def finish(self) -> None:
        """At the end: make the best table integral that is not, if integer units are asked for.

        Where that fails there is no best table, and `unfinished` is what might have been one.
        """
        if not self.units.is_counted:
            return
        if not self.model.integer:
            # Least squares are integral by accident only.
            self.unfinished, self.best, self.values = self.best, None, None
        if self.best is not None or self.unfinished is None:
            return
        self.unfinished = self._refined(self.unfinished)
        found = self._made_integral_at_last(self.unfinished)
        if found is None or not self.fits(found, integer=True):
            found = self.backstop
        if found is None:
            self.objective = np.inf
            return
        self.best, self.values = found, self._table(found)
        self.better(self.model.cost(found))

    def _made_integral_at_last(self, z: Floats) -> Floats | None:
        """Whole deviations near to others, within the time that was kept for them."""
        if self.fits(np.rint(z), integer=True):
            return np.rint(z)
        seconds = max(self.options.time_limit - self.seconds, ADJUST_AT_LEAST * self.clock.reserve)
        try:
            with Clock(seconds):
                return made_integral(self.model, z, seconds=seconds)
        except TimeUpError:
            pass
        return None

    def quiet_observer(self) -> Observer:
        """An observer for a part of the search: it may stop, but hears nothing."""
        return Quiet(self.observer)

    def out_of_time(self) -> bool:
        """Is it time to stop, whatever has been reached?"""
        return self.seconds_left <= 0 or self.observer.should_stop()

    def fits(self, z: Floats, *, integer: bool | None = None) -> bool:
        """Would these deviations make a safe table, of integer units if asked for?"""
        return not faults(
            self.model.problem,
            self._table(z),
            kept=self.kept,
            most=self.most,
            integer=self.model.integer if integer is None else integer,
            tolerance=self._tolerance,
        )

    def _table(self, z: Floats) -> Floats:
        values = self.model.problem.value.copy()
        values[self.model.cells] += z
        return values

    def _neater(self, z: Floats) -> list[Floats]:
        """The same deviations without the noise of solvers, the neatest first."""
        model = self.model
        z = self._clipped(z)
        steps = np.rint(2 * z) / 2
        near = np.abs(z - steps) <= _SNAP * np.maximum(model.unit, np.abs(z))
        snapped = self._clipped(np.where(near, steps, z))
        return [snapped, z, self._balanced(z)]

    def _clipped(self, z: Floats) -> Floats:
        """Within limits, and sensitive cells at their levels where rounding misses them."""
        model = self.model
        z = np.clip(z, self._low, self._high)
        own = model.sensitive
        up = z[own] > 0
        near = np.where(up, model.rise, model.fall)
        short = np.isfinite(near) & (np.abs(z[own]) < near)
        z[own[short]] = np.where(up, near, -near)[short]
        return z

    def _refined(self, z: Floats) -> Floats:
        """Deviations that are known better than to the noise of solvers, if that is needed."""
        z = self._clipped(z)
        if np.abs(self.model.A @ z).max(initial=0.0) < _NOTICED:
            return z
        return self._balanced(self._snapped(z))

    def _snapped(self, z: Floats) -> Floats:
        """Cells that hardly move stay, and those next to a limit or a level lie at it."""
        low, high = self.model.limits(self.model.senses(z))
        noise = _SNAP * self.model.unit
        z = np.where(np.abs(z) <= noise, np.clip(0.0, low, high), z)
        z = np.where(np.abs(z - low) <= noise, low, z)
        return np.where(np.abs(z - high) <= noise, high, z)

    def _balanced(self, z: Floats) -> Floats:
        """Deviations that add up, by small changes of cells with slack to spare."""
        model = self.model
        z = z.copy()
        for _ in range(3):
            residual = model.A @ z
            if not residual.any():
                break
            low, high = model.limits(model.senses(z))
            slack = np.minimum(z - low, high - z)
            free = np.flatnonzero((slack > 1e-3 * min(model.unit, 1.0)) & (z != 0))
            # Cells with more slack take more of what is missing.
            share = np.minimum(slack[free] / model.unit, 1.0)
            part: Any = model.columns[:, free] @ sparse.diags_array(share)
            change = (
                share
                * lsmr(part, residual, atol=LEAST_SQUARES, btol=LEAST_SQUARES, maxiter=2000)[0]
            )
            z[free] -= np.clip(change, -slack[free], slack[free])
        return z
