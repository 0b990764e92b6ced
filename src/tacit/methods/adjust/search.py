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
from tacit.methods.course import Course
from tacit.observer import Observer
from tacit.problem import ADDITIVITY_TOLERANCE, Booleans, Floats

_SNAP = 1e-6
"""Deviations this close to a multiple of one half, as a share of the usual level, become one."""


class Search(Course):
    """The state of one run.

    Attributes:
        model: The adjustment problem.
        options: What the user chose.
        kept: Cells of the table that keep their value.
        most: The largest deviation allowed for each cell of the table.
        best: The best deviations so far, over the cells that can move.
        values: The table that they make.
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
        self.rng = np.random.default_rng(options.seed)
        self._tolerance = max(tolerance, TOLERANCE)
        self._low, self._high = -model.down, model.up

    def offer(self, z: Floats) -> bool:
        """Propose deviations; True if they make a safe table that is closer than the best."""
        model = self.model
        if model.cost(z) >= self.objective * (1 - 1e-12):
            return False
        for candidate in self._neater(z):
            values = self._table(candidate)
            if self._wrong(values):
                continue
            objective = model.cost(candidate)
            if objective < self.objective * (1 - 1e-12):
                self.best, self.values = candidate, values
                self.better(objective)
                return True
            return False
        return False

    def quiet_observer(self) -> Observer:
        """An observer for a part of the search: it may stop, but hears nothing."""
        return _Quiet(self.observer)

    def out_of_time(self) -> bool:
        """Is it time to stop, whatever has been reached?"""
        return self.seconds_left <= 0 or self.observer.should_stop()

    def fits(self, z: Floats) -> bool:
        """Would these deviations make a safe table?"""
        return not self._wrong(self._table(z))

    def _wrong(self, values: Floats) -> list[str]:
        return faults(
            self.model.problem,
            values,
            kept=self.kept,
            most=self.most,
            integer=self.model.integer,
            tolerance=self._tolerance,
        )

    def _table(self, z: Floats) -> Floats:
        values = self.model.problem.value.copy()
        values[self.model.cells] += z
        return np.rint(values) if self.model.integer else values

    def _neater(self, z: Floats) -> list[Floats]:
        """The same deviations without the noise of solvers, the neatest first."""
        model = self.model
        z = self._clipped(z)
        steps = np.rint(2 * z) / 2
        near = np.abs(z - steps) <= _SNAP * np.maximum(model.unit, np.abs(z))
        snapped = self._clipped(np.where(near, steps, z))
        if model.integer:
            return [
                np.rint(model.problem.value[model.cells] + z) - model.problem.value[model.cells]
            ]
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
