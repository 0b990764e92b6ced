"""Mixed-integer models that are solved in units other than the caller's.

Tolerances of solvers are absolute: they are given columns and costs of the size of 1, and rows
whose largest coefficient is 1. What comes back is in the units of the caller.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from scipy import sparse

from tacit.problem import Floats
from tacit.solver.highs_mip import HighsMip
from tacit.solver.mip import MipParts, MipSolution, Watcher
from tacit.tolerances import SOLVER


class ScaledMip:
    """A model as in `MipParts`, on HiGHS, with columns and costs of any size.

    A vector that comes back lies within the bounds of its columns.
    """

    def __init__(
        self,
        A: sparse.csr_array[Any, Any],
        *,
        unit: Floats | float = 1.0,
        cost_unit: float = 1.0,
        seed: int = 1,
        tolerance: float = SOLVER,
        **parts: Unpack[MipParts],
    ):
        """Prepare.

        Args:
            A: The rows.
            unit: The usual size of columns; 1 for integer ones.
            cost_unit: What a column of its usual size usually costs.
            seed: For the solver.
            tolerance: For the solver, in the units that it is given.
            **parts: The rest of the model, in the units of the caller.
        """
        self._lower, self._upper = parts["lower"], parts["upper"]
        self._unit = np.broadcast_to(np.asarray(unit, float), len(self._lower))
        self._cost_unit = cost_unit
        part = sparse.csr_array(A.multiply(self._unit[None, :]))
        largest = np.asarray(abs(part).max(axis=1).todense()).ravel()
        scale = np.where(largest > 0, largest, 1.0)
        self._model = HighsMip(
            sparse.csr_array(part.multiply(1.0 / scale[:, None])),
            seed=seed,
            tolerance=tolerance,
            row_lower=parts["row_lower"] / scale,
            row_upper=parts["row_upper"] / scale,
            lower=self._lower / self._unit,
            upper=self._upper / self._unit,
            cost=parts["cost"] * self._unit / cost_unit,
            integer=parts["integer"],
            offset=parts.get("offset", 0.0) / cost_unit,
        )

    def minimise(
        self,
        *,
        seconds: float,
        gap: float = 0.0,
        target: float = -np.inf,
        start: Floats | None = None,
        watch: Watcher | None = None,
    ) -> MipSolution:
        """Minimise, or come as far as time allows; see `HighsMip.minimise`."""
        found = self._model.minimise(
            seconds=seconds,
            gap=gap,
            target=target / self._cost_unit,
            start=None if start is None else start / self._unit,
            watch=None if watch is None else lambda so_far: watch(self._in_own_units(so_far)),
        )
        return self._in_own_units(found)

    def _in_own_units(self, found: MipSolution) -> MipSolution:
        x = found.x
        if x is not None:
            x = np.clip(x * self._unit, self._lower, self._upper)
        return MipSolution(
            found.status, x, found.objective * self._cost_unit, found.bound * self._cost_unit
        )
