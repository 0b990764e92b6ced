"""`Search`: what all algorithms for adjustment share while they run.

It keeps the closest safe table and the bound. An algorithm offers deviations and raises the
bound; whether deviations make a safe table is decided here, in numpy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsmr

from tacit.clock import Clock, TimeUpError
from tacit.methods.adjust.check import TOLERANCE, faults
from tacit.methods.adjust.heuristics.integral import made_whole
from tacit.methods.adjust.model import Adjustment
from tacit.methods.adjust.options import AdjustOptions
from tacit.methods.adjust.units import Units
from tacit.methods.engine import driver
from tacit.observer import Observer
from tacit.problem import ADDITIVITY_TOLERANCE, Booleans, Floats

_SNAP = 1e-6
"""Deviations this close to a multiple of one half, as a share of the usual level, become one."""

_NOTICED = 0.01
"""Relations missed by this many units keep a table from being made whole cell by cell."""
_REPAIR = 0.1
"""Share of the time for making tables whole."""
_LAST = 0.05
"""Share of the time for a last attempt at that, or for writing a table with decimals."""


class Search(driver.Search):
    """The state of one run.

    Attributes:
        model: The adjustment problem, in units.
        units: What a unit is.
        options: What the user chose.
        kept: Cells of the table that keep their value.
        most: The largest deviation allowed for each cell of the table, in units.
        best: The best deviations so far, over the cells that can move.
        values: The table that they make, in units.
        unfinished: Where whole units are asked for, the closest table met so far that is not of
            whole units, as deviations; None without one.
        backstop: A safe table of whole units, as deviations, for want of a better at the end.
        rng: Random numbers by the user's seed.
    """

    method = "adjust"

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
        self._tolerance = max(tolerance, TOLERANCE)
        self._low, self._high = -model.down, model.up
        self._repairing = 0.0
        if units.decimals is not None:
            self.clock.reserve = _LAST * options.time_limit

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
        """`offer` where whole units are asked for."""
        whole = np.rint(self._clipped(z))
        if self.fits(whole):
            return self._take(whole)
        z = self._refined(z)
        if self.fits(np.rint(z)):
            return self._take(np.rint(z))
        began = self.seconds
        is_first = self.best is None and self.unfinished is None
        if self.unfinished is None or self.model.cost(z) < self.model.cost(self.unfinished):
            self.unfinished = z
        # Whoever searches has better to do with most of the time.
        budget = max(_REPAIR * self.seconds_left if is_first else 0.0, _REPAIR * self.seconds)
        if not is_first and self._repairing > budget:
            return False
        found = made_whole(self.model, z, seconds=min(max(budget, 0.2), self.seconds_left))
        self._repairing += self.seconds - began
        if found is None or not self.fits(found):
            return False
        return self._take(found)

    def finish(self) -> None:
        """At the end: make the best table whole that is not, if whole units are asked for.

        Where that fails there is no best table, and `unfinished` is what might have been one.
        """
        if not self.units.is_counted:
            return
        if not self.model.integer:
            # Least squares are whole by accident only.
            self.unfinished, self.best, self.values = self.best, None, None
        if self.best is not None or self.unfinished is None:
            return
        self.unfinished = self._refined(self.unfinished)
        found = self._made_whole_at_last(self.unfinished)
        if found is None or not self.fits(found, integer=True):
            found = self.backstop
        if found is None:
            self.objective = np.inf
            return
        self.best, self.values = found, self._table(found)
        self.better(self.model.cost(found))

    def _made_whole_at_last(self, z: Floats) -> Floats | None:
        """Whole deviations near to others, within the time that was kept for them."""
        if self.fits(np.rint(z), integer=True):
            return np.rint(z)
        seconds = max(self.options.time_limit - self.seconds, 0.5 * self.clock.reserve)
        try:
            with Clock(seconds):
                return made_whole(self.model, z, seconds=seconds)
        except TimeUpError:
            pass
        return None

    def quiet_observer(self) -> Observer:
        """An observer for a part of the search: it may stop, but hears nothing."""
        return _Quiet(self.observer)

    def out_of_time(self) -> bool:
        """Is it time to stop, whatever has been reached?"""
        return self.seconds_left <= 0 or self.observer.should_stop()

    def fits(self, z: Floats, *, integer: bool | None = None) -> bool:
        """Would these deviations make a safe table, of whole units if asked for?"""
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
        """Within limits, and sensitive cells at their levels where they miss them by a hair."""
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
        hair = _SNAP * self.model.unit
        z = np.where(np.abs(z) <= hair, np.clip(0.0, low, high), z)
        z = np.where(np.abs(z - low) <= hair, low, z)
        return np.where(np.abs(z - high) <= hair, high, z)

    def _balanced(self, z: Floats) -> Floats:
        """Deviations that add up, by small changes of cells with room to spare."""
        model = self.model
        z = z.copy()
        for _ in range(3):
            residual = model.A @ z
            if not residual.any():
                break
            low, high = model.limits(model.senses(z))
            room = np.minimum(z - low, high - z)
            free = np.flatnonzero((room > 1e-3 * min(model.unit, 1.0)) & (z != 0))
            # Cells with more room take more of what is missing.
            share = np.minimum(room[free] / model.unit, 1.0)
            part: Any = model.columns[:, free] @ sparse.diags_array(share)
            change = share * lsmr(part, residual, atol=1e-15, btol=1e-15, maxiter=2000)[0]
            z[free] -= np.clip(change, -room[free], room[free])
        return z


class _Quiet(Observer):
    """Asks another observer whether to stop, and keeps everything else to itself."""

    def __init__(self, observer: Observer):
        self._observer = observer

    def should_stop(self) -> bool:
        """Whether the other one wants to stop."""
        return self._observer.should_stop()
