"""`Adjustment`: what all algorithms see of the problem: deviations, their limits and their cost.

Deviations z = x - a as in paper 003, (17): A z = 0, every cell within its room up and down, and
every sensitive cell at least its level above or below. A side without a level is no way out: a
cell with a level on one side only must go there. Only cells that can move are here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from tacit.methods.adjust.options import Norm
from tacit.problem import Booleans, Floats, Integers, Problem, component_labels
from tacit.tolerances import ROUNDING_NOISE


@dataclass(frozen=True, eq=False)
class Adjustment:
    """The problem in deviations, over the cells that can move.

    Attributes:
        problem: The table.
        norm: What is minimised.
        integer: Whether deviations must be whole numbers; limits and levels are, then.
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
    def component(self) -> Integers:
        """For each cell the number of its connected component."""
        return component_labels(self.A)

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
        """The size of a usual deviation, by which programmes are scaled."""
        return float(np.median(self.level)) if len(self.level) else 1.0

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
            most = np.where(self.weight > 0, spare * (1 + 1e-6) / self.weight, np.inf)
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
    """The adjustment problem from the rooms of all cells.

    Args:
        problem: The table.
        weight: What a unit of deviation costs.
        up: How far each cell may rise, 0 for those that keep their value.
        down: How far each cell may fall.
        norm: What is minimised.
        integer: Whether deviations must be whole numbers.
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
        # Sums of whole numbers that were known but to a hair.
        up, down = np.floor(up + _ROUNDING), np.floor(down + _ROUNDING)
        fixed = (up == 0) & (down == 0)
    rise = np.where((rise <= up[own] * (1 + ROUNDING_NOISE)) & (given >= 0), rise, np.inf)
    fall = np.where((fall <= down[own] * (1 + ROUNDING_NOISE)) & (given <= 0), fall, np.inf)
    # Levels that touch the room but for rounding.
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


_ROUNDING = 1e-3
_ROUNDS = 20


def _tightened(
    A: sparse.csr_array[Any, Any], up: Floats, down: Floats
) -> tuple[Floats, Floats, Booleans]:
    """Rooms cut back to what single relations leave, and the cells that cannot move at all."""
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    size, positive = np.abs(A.data), A.data > 0
    up, down = up.copy(), down.copy()
    for _ in range(_ROUNDS):
        rises = size * np.where(positive, up[A.indices], down[A.indices])
        falls = size * np.where(positive, down[A.indices], up[A.indices])
        # What others can give, with infinite rooms counted apart.
        new = []
        for others, own in ((falls, rises), (rises, falls)):
            finite = np.isfinite(others)
            total = np.bincount(row, np.where(finite, others, 0.0), minlength=A.shape[0])
            endless = np.bincount(row, ~finite, minlength=A.shape[0])
            left = np.maximum(total[row] - np.where(finite, others, 0.0), 0.0)
            reach = np.where(endless[row] - ~finite > 0, np.inf, left)
            # Sums of large numbers are known no better than this.
            reach = np.where(reach <= 1e-12 * total[row], 0.0, reach * (1 + 1e-12))
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
