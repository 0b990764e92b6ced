"""`Search`: what all algorithms for adjustment share while they run.

It keeps the closest safe table and the proven bound. An algorithm offers deviations and raises
the bound; whether deviations make a safe table is decided here, in numpy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsmr

from tacit.methods.adjust.check import TOLERANCE, faults
from tacit.methods.adjust.model import Adjustment
from tacit.methods.adjust.options import AdjustOptions
from tacit.methods.adjust.whole import made_whole
from tacit.methods.course import Course
from tacit.observer import Observer
from tacit.problem import ADDITIVITY_TOLERANCE, Booleans, Floats

_SNAP = 1e-6
"""Deviations this close to a multiple of one half, as a share of the usual level, become one."""

_REPAIR = 0.1
"""Share of the time for making tables whole."""
_LAST = 1.0
"""Seconds for a last attempt at that."""
DECIMALS = (
    "no table of whole numbers was found: published values have decimals, which show readers where "
    "values were changed"
)


class Search(Course):
    """The state of one run.

    Attributes:
        model: The adjustment problem.
        options: What the user chose.
        kept: Cells of the table that keep their value.
        most: The largest deviation allowed for each cell of the table.
        best: The best deviations so far, over the cells that can move.
        values: The table that they make.
        with_decimals: Where whole numbers are asked for, the closest table met so far that has
            decimals and was not made whole; None without one.
        rng: Random numbers by the user's seed.
    """

    def __init__(
        self,
        model: Adjustment,
        options: AdjustOptions,
        observer: Observer,
        *,
        kept: Booleans,
        most: Floats,
        tolerance: float = ADDITIVITY_TOLERANCE,
    ):
        super().__init__(options, observer)
        self.model = model
        self.options = options
        self.kept = kept
        self.most = most
        self.best: Floats | None = None
        self.values: Floats | None = None
        self.with_decimals: Floats | None = None
        self.rng = np.random.default_rng(options.seed)
        self._tolerance = max(tolerance, TOLERANCE)
        self._low, self._high = -model.down, model.up
        self._repairing = 0.0

    def offer(self, z: Floats) -> bool:
        """Propose deviations; True if they make a safe table that is closer than the best."""
        model = self.model
        if model.cost(z) >= self.objective * (1 - 1e-12):
            return False
        if model.integer:
            return self._offer_whole(z)
        for candidate in self._neater(z):
            if self.fits(candidate):
                return self._take(candidate)
        return False

    def _take(self, z: Floats) -> bool:
        """Keep deviations that make a safe table, if it is closer than the best."""
        objective = self.model.cost(z)
        if objective >= self.objective * (1 - 1e-12):
            return False
        self.best, self.values = z, self._table(z)
        self.better(objective)
        return True

    def _offer_whole(self, z: Floats) -> bool:
        """`offer` where whole numbers are asked for."""
        z = self._clipped(z)
        whole = np.rint(z)
        if self.fits(whole):
            return self._take(whole)
        began = self.seconds
        is_first = self.best is None and self.with_decimals is None
        if self.with_decimals is None or self.model.cost(z) < self.model.cost(self.with_decimals):
            self.with_decimals = z
        # Whoever searches has better to do with most of the time.
        budget = max(_REPAIR * self.seconds_left if is_first else 0.0, _REPAIR * self.seconds)
        if not is_first and self._repairing > budget:
            return False
        found = made_whole(self.model, z, seconds=min(max(budget, 0.2), self.seconds_left))
        self._repairing += self.seconds - began
        if found is None or not self.fits(found):
            return False
        return self._take(found)

    def settle_for_decimals(self) -> str:
        """At the end, without a table of whole numbers: make the best one whole, or publish it.

        Returns:
            What to tell the user; nothing if all went well.
        """
        model = self.model
        z = self.with_decimals
        if self.best is not None or z is None:
            return ""
        found = made_whole(model, z, seconds=max(_LAST, self.seconds_left))
        if found is not None and self.fits(found):
            self._take(found)
            return ""
        for candidate in self._neater(z):
            if self.fits(candidate, integer=False):
                self.best, self.values = candidate, self._table(candidate)
                self.bound = min(self.bound, model.cost(candidate))
                self.better(model.cost(candidate))
                return DECIMALS
        return ""

    def round_off(self) -> str:
        """At the end of a search among tables with decimals: make the best one whole.

        Returns:
            What to tell the user; nothing if all went well.
        """
        model = self.model
        if self.best is None:
            return ""
        found = made_whole(model, self.best, seconds=max(_LAST, self.seconds_left))
        if found is None or not self.fits(found, integer=True):
            return DECIMALS
        self.best, self.values = found, self._table(found)
        self.stopped_by = "exhausted" if self.stopped_by == "gap" else self.stopped_by
        self.better(model.cost(found))
        return ""

    def quiet_observer(self) -> Observer:
        """An observer for a part of the search: it may stop, but hears nothing."""
        return _Quiet(self.observer)

    def out_of_time(self) -> bool:
        """Is it time to stop, whatever has been reached?"""
        return self.seconds_left <= 0 or self.observer.should_stop()

    def fits(self, z: Floats, *, integer: bool | None = None) -> bool:
        """Would these deviations make a safe table, of whole numbers if asked for?"""
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
        """Within rooms, and sensitive cells at their levels where they miss them by a hair."""
        model = self.model
        z = np.clip(z, self._low, self._high)
        own = model.sensitive
        up = z[own] > 0
        near = np.where(up, model.rise, model.fall)
        short = np.isfinite(near) & (np.abs(z[own]) < near)
        z[own[short]] = np.where(up, near, -near)[short]
        return z

    def _balanced(self, z: Floats) -> Floats:
        """Deviations that add up exactly, by small changes of cells with room to spare."""
        model = self.model
        z = z.copy()
        for _ in range(3):
            residual = model.A @ z
            if not residual.any():
                break
            low, high = model.limits(model.senses(z))
            room = np.minimum(z - low, high - z)
            free = np.flatnonzero((room > 1e-3 * model.unit) & (z != 0))
            part: Any = sparse.csc_array(model.columns[:, free])
            change = lsmr(part, residual, atol=1e-15, btol=1e-15, maxiter=2000)[0]
            z[free] -= np.clip(change, -room[free], room[free])
        return z


class _Quiet(Observer):
    """Asks another observer whether to stop, and keeps everything else to itself."""

    def __init__(self, observer: Observer):
        self._observer = observer

    def should_stop(self) -> bool:
        """Whether the other one wants to stop."""
        return self._observer.should_stop()
