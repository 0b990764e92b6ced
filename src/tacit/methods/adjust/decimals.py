"""A table of any decimals written with common ones, so that they do not show which cells moved.

Every cell that can move is published with the same number of decimals, changed or not. Cells that
cannot move, because they must keep their value or because all others of a relation do, keep all
their digits: they show nothing but that. So do the cells whose bounds leave no slack for any number
with these decimals. Relations without such cells hold exactly, the others to the tolerance that
the data are held to.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from tacit.methods.adjust.heuristics.integral import cheapest_steps
from tacit.methods.adjust.options import Norm
from tacit.methods.adjust.totals import computed_cells
from tacit.problem import Booleans, Floats, Problem
from tacit.tolerances import ADDITIVITY, MET

_SHARE = 0.5
"""Share of the tolerance of relations and levels that writing cells with decimals may take."""
_MOST_REACH = 1e6
"""Tables that miss their relations by more units than this are not repaired."""


@dataclass(frozen=True, eq=False)
class Written:
    """A table that was found, and what its decimals must respect.

    Attributes:
        problem: The true table.
        found: The table found, with any decimals.
        low: The least value that may be published for each cell, given its sense.
        high: The largest.
        can_move: Cells that were free to move.
        weight: What a unit of deviation costs.
        norm: How deviations are measured.
        decimals: Decimals to publish.
    """

    problem: Problem
    found: Floats
    low: Floats
    high: Floats
    can_move: Booleans
    weight: Floats
    norm: Norm
    decimals: int

    def cell_by_cell(self) -> Floats | None:
        """Finest cells to the nearest decimal, totals to their sums; None where that fails."""
        A, row = self.problem.relations, self._row
        wanted, least, most = self._wanted, self._least, self._most
        is_open = computed_cells(A) & self._is_free
        # Sensitive cells are rounded away from their true values, to reach their levels in full.
        away = np.where(self.found > self.problem.value, np.ceil(wanted), np.floor(wanted))
        nearest = np.where(self.problem.is_sensitive, away, np.rint(wanted))
        counts = np.where(self._is_free, np.clip(nearest, least, most), wanted)
        counts[is_open] = 0.0
        while is_open.any():
            unknown = np.bincount(row, is_open[A.indices], minlength=A.shape[0])
            ready = (unknown[row] == 1) & is_open[A.indices]
            if not ready.any():
                return None
            cells, first = np.unique(A.indices[ready], return_index=True)
            rows, coefficients = row[ready][first], A.data[ready][first]
            counts[cells] = np.rint((self._rhs - A @ counts)[rows] / coefficients)
            is_open[cells] = False
        return self._published(counts)

    def by_mip(self, *, seconds: float, seed: int) -> Floats | None:
        """The cheapest of the decimals around each cell, by a mixed-integer model; None without."""
        missed = np.abs(self.problem.residual(self.found)).max(initial=0.0) * self._factor
        if not missed <= _MOST_REACH:
            return None
        # A true table that misses its relations needs more than the nearest decimals to add up.
        for reach in (0.0, np.ceil(missed) + 1.0):
            counts = self._cheapest(reach, seconds / 2, seed)
            values = None if counts is None else self._published(counts)
            if values is not None:
                return values
        return None

    def nearest(self) -> Floats | None:
        """Every cell to its nearest decimal, where all sums hold to the tolerance of the data."""
        counts = np.clip(np.rint(self._wanted), self._least, self._most)
        return self._published(np.where(self._is_free, counts, self._wanted), self._tolerable)

    @property
    def _factor(self) -> float:
        return float(10.0**self.decimals)

    @cached_property
    def _row(self) -> Any:
        A = self.problem.relations
        return np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))

    @cached_property
    def _wanted(self) -> Floats:
        """The table found, in units; integers where it misses them by rounding only."""
        return _settled(self.found * self._factor)

    @cached_property
    def _rhs(self) -> Floats:
        return _settled(self.problem.rhs * self._factor)

    @cached_property
    def _least(self) -> Floats:
        """The least count of each cell that is published within its range."""
        counts = np.ceil(self.low * self._factor)
        counts -= decimal(counts - 1, self.decimals) >= self.low
        counts += decimal(counts, self.decimals) < self.low
        return np.asarray(counts)

    @cached_property
    def _most(self) -> Floats:
        """The largest such count."""
        counts = np.floor(self.high * self._factor)
        counts += decimal(counts + 1, self.decimals) <= self.high
        counts -= decimal(counts, self.decimals) > self.high
        return np.asarray(counts)

    @cached_property
    def _is_free(self) -> Booleans:
        """Cells that are published with these decimals."""
        return self.can_move & (self._least <= self._most)

    @cached_property
    def _tolerable(self) -> Floats:
        """By how many units each relation may be missed by the tolerance of the data."""
        p = self.problem
        terms = np.asarray(abs(p.relations) @ np.abs(self._wanted)) + np.abs(self._rhs)
        return _SHARE * ADDITIVITY * terms

    @cached_property
    def _allowed(self) -> Floats:
        """By how many units each relation may be missed: those with odd digits, and by few."""
        off = ~self._is_free & (self._wanted != np.rint(self._wanted))
        cells = self.problem.relations.indices
        odd = np.bincount(self._row, off[cells], minlength=len(self._rhs))
        odd += self._rhs != np.rint(self._rhs)
        return np.where(odd > 0, np.minimum(self._tolerable, 1.0 + 0.5 * odd), 0.0)

    def _published(self, counts: Floats, allowed: Floats | None = None) -> Floats | None:
        """The values for such counts; None if they are out of range or do not add up."""
        free = self._is_free
        missed = np.abs(np.asarray(self.problem.relations @ counts) - self._rhs)
        is_out = (counts < self._least) | (counts > self._most)
        if (missed > (self._allowed if allowed is None else allowed)).any() or is_out[free].any():
            return None
        return np.where(free, decimal(counts, self.decimals), self.found + 0.0)

    def _cost(self, counts: Floats) -> Floats:
        """What each cell costs, whose size in `linf` stands for the largest."""
        size = np.abs(counts - self.problem.value * self._factor)
        return np.asarray(self.weight * (size * size if self.norm == "l2" else size))

    def _cheapest(self, reach: float, seconds: float, seed: int) -> Floats | None:
        """Counts of all cells; those that may vary do so from the next decimals by the reach."""
        free = np.flatnonzero(self._is_free)
        wanted, least, most = self._wanted[free], self._least[free], self._most[free]
        start = np.clip(np.rint(wanted), least, most)
        counts = self._wanted.copy()
        counts[free] = start
        part = sparse.csr_array(sparse.csc_array(self.problem.relations)[:, free])
        rows = np.flatnonzero(np.diff(part.indptr) > 0)
        if len(rows) == 0:
            return counts
        part = sparse.csr_array(part[rows])
        rest = (self._rhs - self.problem.relations @ counts)[rows]
        allowed = self._allowed[rows]
        up, down = counts.copy(), counts.copy()
        up[free] += 1
        down[free] -= 1
        now = self._cost(counts)
        cost = np.concatenate([(self._cost(up) - now)[free], (self._cost(down) - now)[free]])
        usual = float(np.median(np.abs(cost)[cost != 0])) if cost.any() else 1.0
        up_most = np.clip(np.ceil(wanted) + reach - start, 0.0, most - start)
        down_most = np.clip(start - np.floor(wanted) + reach, 0.0, start - least)
        steps = cheapest_steps(
            part,
            (rest - allowed, rest + allowed),
            np.concatenate([up_most, down_most]),
            # Decimals cost little: extreme ratios of costs would only mislead the solver.
            np.clip(cost / usual, -1e4, 1e4),
            seconds=seconds,
            seed=seed,
        )
        if steps is None:
            return None
        counts[free] += steps
        return counts


def decimal(counts: Floats, decimals: int) -> Floats:
    """The numbers nearest to decimals, for integer numbers of units."""
    # Adding zero turns a negative zero into a plain one.
    return np.asarray(np.rint(counts) / 10.0**decimals + 0.0)


def ranges(problem: Problem, found: Floats, most: Floats) -> tuple[Floats, Floats]:
    """The least and the largest value that each cell may have, with the senses of a table found.

    Levels are met to the tolerance that they are checked with: sums of decimals need it.

    Args:
        problem: The true table.
        found: An adjusted table.
        most: The largest deviation of each cell.
    """
    a = problem.value
    # A true value that lies outside its bounds by rounding may stay there.
    low = np.minimum(np.maximum(problem.lower, a - most), a)
    high = np.maximum(np.minimum(problem.upper, a + most), a)
    own = problem.sensitive
    up = np.maximum(problem.upper_level, problem.sliding_level) * (1.0 - _SHARE * MET)
    down = np.maximum(problem.lower_level, problem.sliding_level) * (1.0 - _SHARE * MET)
    moved = found[own] - a[own]
    rises, falls = (moved > 0) & (up > 0), (moved < 0) & (down > 0)
    low[own] = np.where(rises, np.maximum(low[own], a[own] + up), low[own])
    high[own] = np.where(falls, np.minimum(high[own], a[own] - down), high[own])
    return low, high


def _settled(counts: Floats) -> Floats:
    """Integers where numbers differ from them by the rounding of sums only."""
    near = np.rint(counts)
    noise = np.minimum(64 * np.finfo(float).eps * np.abs(counts), 0.01)
    return np.where(np.abs(counts - near) <= noise, near, counts)
