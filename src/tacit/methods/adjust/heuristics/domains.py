"""`Domains`: which deviations are still possible for each cell, as senses are decided."""

from __future__ import annotations

import numpy as np

from tacit.methods.adjust.kernels import propagate
from tacit.methods.adjust.model import Adjustment
from tacit.problem import Booleans, Floats, Integers
from tacit.tolerances import ROUNDING_NOISE


class Domains:
    """Least and largest deviation of each cell; narrowed by single relations.

    Attributes:
        low: The least deviation of each cell.
        high: The largest deviation of each cell.
    """

    def __init__(self, model: Adjustment):
        self._model = model
        A, columns = model.A, model.columns
        self._arguments = (
            A.indptr.astype(np.int64),
            A.indices.astype(np.int64),
            A.data.astype(float),
            columns.indptr.astype(np.int64),
            columns.indices.astype(np.int64),
            model.place,
            model.rise,
            model.fall,
        )
        self._noise = ROUNDING_NOISE * model.unit
        self._most = 20 * A.shape[0] + 1000
        self.low, self.high = -model.down, model.up.copy()
        only_up, only_down = ~model.may_fall, ~model.may_rise
        own = model.sensitive
        self.low[own[only_up]] = model.rise[only_up]
        self.high[own[only_down]] = -model.fall[only_down]

    def start(self) -> bool:
        """Look at all relations; False if a cell has no deviation left."""
        return self._look(np.arange(self._model.size))

    def copy(self) -> tuple[Floats, Floats]:
        """The present state, for `restore`."""
        return self.low.copy(), self.high.copy()

    def restore(self, state: tuple[Floats, Floats]) -> None:
        """Back to an earlier state."""
        self.low[:], self.high[:] = state

    def decide(self, senses: Integers, rises: Booleans) -> bool:
        """Decide senses of some sensitive cells; False if that is impossible."""
        model = self._model
        own = model.sensitive[senses]
        self.low[own] = np.where(
            rises, np.maximum(self.low[own], model.rise[senses]), self.low[own]
        )
        self.high[own] = np.where(
            rises, self.high[own], np.minimum(self.high[own], -model.fall[senses])
        )
        if (self.low[own] > self.high[own] + self._noise).any():
            return False
        return self._look(own)

    def decided(self) -> tuple[Booleans, Booleans]:
        """Sensitive cells that can only rise, and those that can only fall."""
        own = self._model.sensitive
        return self.low[own] > 0, self.high[own] < 0

    def _look(self, cells: Integers) -> bool:
        if len(self._arguments[0]) <= 1:
            return True
        return bool(
            propagate(
                *self._arguments,
                self.low,
                self.high,
                cells.astype(np.int64),
                self._noise,
                self._most,
            )
        )
