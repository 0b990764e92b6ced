"""The closest table in the sense of least squares, for given limits: an interior point method.

min sum w z² subject to A z = 0, low <= z <= high. Each step solves one sparse system with as many
unknowns as there are relations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from tacit.problem import Floats
from tacit.tolerances import (
    CONVERGED,
    CONVERGED_DUAL,
    CURVATURE,
    LAST_DIGITS,
    RIDGE_INTERIOR,
    ROUNDING_NOISE,
    STALLED,
    TINY,
)

_STEPS = 60


def least_squares(
    A: sparse.csr_array[Any, Any],
    w: Floats,
    low: Floats,
    high: Floats,
    *,
    is_over: Callable[[], bool] = lambda: False,
) -> tuple[Floats, Floats] | None:
    """Deviations with the least weighted squares within limits, and dual values of the relations.

    Args:
        A: The relations.
        w: What the square of a deviation costs.
        low: The least deviation of each cell, -inf where there is no limit.
        high: The largest deviation of each cell.
        is_over: Asked in each step; True gives up.

    Returns:
        Deviations within their limits that add up to numerical accuracy, and dual values; None if
        the method did not converge, as when there is no such table.
    """
    scale = np.maximum(1.0, np.where(np.isfinite(low), np.abs(low), 0.0))
    free = high - low > LAST_DIGITS * scale
    z = np.where(free, 0.0, low)
    z[np.isinf(z)] = 0.0
    F: Any = sparse.csr_array(sparse.csc_array(A)[:, np.flatnonzero(free)])
    target = -np.asarray(A @ np.where(free, 0.0, z))
    if not free.any():
        adds_up = np.abs(target).max(initial=0.0) < ROUNDING_NOISE
        return (z, np.zeros(A.shape[0])) if adds_up else None
    # Where there is no such table, the iterates overflow or become NaN.
    with np.errstate(all="ignore"):
        found = _Point(F, target, w[free], low[free], high[free]).solve(is_over)
    if found is None:
        return None
    z[free] = found[0]
    return z, found[1]


class _Point:
    """A point strictly within its limits, on the way to the optimum."""

    def __init__(self, A: Any, b: Floats, w: Floats, low: Floats, high: Floats):
        self.A, self.b = A, b
        self.H = 2 * np.maximum(w, CURVATURE * max(float(w.max(initial=0.0)), TINY))
        self.low, self.high = low, high
        self.has_low, self.has_high = np.isfinite(low), np.isfinite(high)
        closest = np.clip(0.0, low, high)
        span = np.where(self.has_low & self.has_high, high - low, np.inf)
        size = max(
            float(np.median(np.abs(closest[closest != 0]))) if closest.any() else 1.0, LAST_DIGITS
        )
        inwards = np.minimum(0.45 * span, size)
        self.z = np.clip(
            closest,
            np.where(self.has_low, low + inwards, -np.inf),
            np.where(self.has_high, high - inwards, np.inf),
        )
        force = float(np.mean(self.H) * size)
        self.y = np.zeros(A.shape[0])
        self.p = np.where(self.has_low, force, 0.0)
        self.q = np.where(self.has_high, force, 0.0)

    def _slacks(self) -> tuple[Floats, Floats]:
        return (
            np.where(self.has_low, self.z - self.low, 1.0),
            np.where(self.has_high, self.high - self.z, 1.0),
        )

    def solve(self, is_over: Callable[[], bool]) -> tuple[Floats, Floats] | None:
        """Walk to the optimum."""
        count = max(1, int(self.has_low.sum() + self.has_high.sum()))
        scale = max(1.0, float(np.abs(self.b).max(initial=0.0)))
        for _ in range(_STEPS):
            if is_over():
                return None
            below, above = self._slacks()
            dual = self.H * self.z - self.A.T @ self.y - self.p + self.q
            primal = self.b - self.A @ self.z
            complement = float(self.p @ (below * self.has_low) + self.q @ (above * self.has_high))
            objective = float(self.H @ (self.z * self.z)) / 2
            reach = max(scale, float(np.abs(self.z).max()))
            if (
                complement <= CONVERGED * max(objective, TINY)
                and np.abs(primal).max(initial=0.0) <= CONVERGED * reach
                and np.abs(dual).max()
                <= CONVERGED_DUAL * max(TINY, float((self.H * np.abs(self.z)).max()))
            ):
                return self.z, self.y
            diagonal = self.H + self.p / below + self.q / above
            solve = self._system(diagonal) if np.isfinite(diagonal).all() else None
            if solve is None:
                return None
            mu = complement / count
            # A step towards the optimum shows how far one may aim, and what curvature spoils.
            first = self._direction(solve, diagonal, dual, primal, below, above, 0.0, None)
            step = self._longest(*first[0:1], *first[2:4], below, above)
            z, p, q = first[0], first[2], first[3]
            ahead = float(
                ((self.p + step * p) * (below + step * z) * self.has_low).sum()
                + ((self.q + step * q) * (above - step * z) * self.has_high).sum()
            )
            aim = mu * (max(ahead, 0.0) / max(complement, TINY)) ** 3
            z, y, p, q = self._direction(
                solve, diagonal, dual, primal, below, above, aim, (z, p, q)
            )
            step = min(1.0, 0.995 * self._longest(z, p, q, below, above, cap=1.0 / 0.995))
            if not step > STALLED:
                return None
            self.z, self.y = self.z + step * z, self.y + step * y
            self.p, self.q = self.p + step * p, self.q + step * q
        return None

    def _system(self, diagonal: Floats) -> Callable[[Floats], Floats] | None:
        """The reduced system, factorised."""
        scaled = self.A @ sparse.diags_array(1.0 / diagonal)
        matrix: Any = sparse.csc_array(scaled @ self.A.T)
        # Relations that others imply leave the matrix singular.
        size = matrix.diagonal()
        tiny = RIDGE_INTERIOR * np.maximum(size, 1e-3 * float(size.max(initial=1.0)))
        matrix = sparse.csc_array(matrix + sparse.diags_array(tiny))
        try:
            factor = splu(
                matrix,
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
        except RuntimeError:
            return None

        def solve(right: Floats) -> Floats:
            answer = factor.solve(right)
            for _ in range(2):
                answer = answer + factor.solve(right - matrix @ answer)
            return np.asarray(answer)

        return solve

    def _direction(
        self,
        solve: Callable[[Floats], Floats],
        diagonal: Floats,
        dual: Floats,
        primal: Floats,
        below: Floats,
        above: Floats,
        aim: float,
        bend: tuple[Floats, Floats, Floats] | None,
    ) -> tuple[Floats, Floats, Floats, Floats]:
        low = np.where(self.has_low, aim - self.p * below, 0.0)
        high = np.where(self.has_high, aim - self.q * above, 0.0)
        if bend is not None:
            z, p, q = bend
            low = low - np.where(self.has_low, z * p, 0.0)
            high = high + np.where(self.has_high, z * q, 0.0)
        right = -dual + low / below - high / above
        y = solve(primal - self.A @ (right / diagonal))
        z = (right + self.A.T @ y) / diagonal
        p = np.where(self.has_low, (low - self.p * z) / below, 0.0)
        q = np.where(self.has_high, (high + self.q * z) / above, 0.0)
        return z, y, p, q

    def _longest(
        self, z: Floats, p: Floats, q: Floats, below: Floats, above: Floats, cap: float = 1.0
    ) -> float:
        """The longest step that stays within all limits."""
        step = cap
        for now, change in (
            (below[self.has_low], z[self.has_low]),
            (above[self.has_high], -z[self.has_high]),
            (self.p[self.has_low], p[self.has_low]),
            (self.q[self.has_high], q[self.has_high]),
        ):
            falling = change < 0
            step = min(step, float(np.min(-now[falling] / change[falling], initial=step)))
        return step
