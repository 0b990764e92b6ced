"""Least squares: given senses a convex model, and all senses by tangents.

A square lies above its tangents, so that the mixed-integer model with some of them in place
of the squares bounds all safe tables from below. Its senses are then given to the interior point
method, whose table is safe; where it lies, new tangents are drawn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.shrink import essential_rows
from tacit.errors import SolverError
from tacit.methods.adjust.algorithms.milp import branch_and_bound
from tacit.methods.adjust.cuts import sense_bounds
from tacit.methods.adjust.heuristics.senses import SenseLp, first_tables
from tacit.methods.adjust.interior import least_squares
from tacit.methods.adjust.mip import Mip
from tacit.methods.adjust.model import Search
from tacit.methods.engine.turns import ADJUST_LINEAR, ADJUST_SQUARES
from tacit.outcome import StopReason
from tacit.problem import Booleans, Floats
from tacit.solver.highs_mip import HighsMip, MipSolution
from tacit.tolerances import AGREEMENT, ROUNDING_NOISE

_FIRST = (0.25, 1.0, 2.0)
"""Tangents to begin with, in units of the usual level or of the cell's own."""


class Squares:
    """The closest table for given senses.

    Attributes:
        weight: What the square of a deviation costs.
    """

    def __init__(self, search: Search):
        self._search = search
        model = search.model
        self._rows = np.flatnonzero(essential_rows(model.A))
        self._A = sparse.csr_array(model.A[self._rows])
        self.weight = model.weight

    def solve(self, senses: Booleans) -> tuple[Floats, Floats] | None:
        """Deviations and dual values of the relations; None if there are none."""
        model = self._search.model
        unit = model.unit
        low, high = model.limits(senses)
        counted = model.weight[model.weight > 0]
        # The method is at its best where curvatures are about 1.
        cost_unit = float(np.median(counted)) if len(counted) else 1.0
        found = least_squares(
            self._A,
            model.weight / cost_unit,
            low / unit,
            high / unit,
            is_over=self._search.out_of_time,
        )
        if found is None:
            return None
        duals = np.zeros(model.A.shape[0])
        duals[self._rows] = found[1] * unit * cost_unit
        return found[0] * unit, duals


def quadratic(search: Search, *, descend: bool) -> None:
    """Senses as for absolute deviations, then their squares; then better senses.

    Args:
        search: The run.
        descend: Turn senses around one at a time before asking for a proof.
    """
    squares = Squares(search)
    model = search.model
    is_given = not (model.may_rise & model.may_fall).any()
    z = np.zeros(model.size) if is_given else first_senses(search)
    if z is None:
        _tangents(search, squares)
        return
    if not is_given:
        search.offer(z)
    found = squares.solve(model.senses(z))
    if found is not None:
        search.offer(found[0])
        if is_given:
            search.raise_bound(_bound(search, found[1]))
        elif descend and not search.should_stop():
            _descend(search, squares, found)
    if not search.should_stop():
        _tangents(search, squares)


def _bound(search: Search, duals: Floats) -> float:
    """What dual values of the relations prove, whatever the senses."""
    constant, rises, falls = sense_bounds(search.model, duals, search.model.weight)
    return constant + float(np.minimum(rises, falls).sum())


def first_senses(search: Search) -> Floats | None:
    """A safe table that is close in absolute deviations; it is also kept as a fallback."""
    linear = Search(
        replace(search.model, norm="l1", integer=search.units.is_counted),
        search.options.replace(norm="l1", time_limit=max(0.1, ADJUST_LINEAR * search.seconds_left)),
        search.quiet_observer(),
        units=search.units,
        kept=search.kept,
        most=search.most,
    )
    first_tables(linear, SenseLp(linear))
    if linear.best is None and linear.unfinished is not None:
        branch_and_bound(linear, None, linear.seconds_left)
    if linear.best is None:
        return linear.unfinished
    search.backstop = linear.best
    return linear.best


def _descend(search: Search, squares: Squares, found: tuple[Floats, Floats]) -> None:
    """Turn senses around one at a time while that helps."""
    model = search.model
    senses = model.senses(found[0])
    cost = model.cost(found[0])
    until = search.seconds + ADJUST_SQUARES * search.seconds_left
    while True:
        _, rises, falls = sense_bounds(model, found[1], model.weight)
        now, then = np.where(senses, rises, falls), np.where(senses, falls, rises)
        gain = np.where(np.isfinite(then), now - np.where(np.isfinite(then), then, 0.0), -np.inf)
        order = np.argsort(-gain)
        better = None
        for cell in order[gain[order] > ROUNDING_NOISE * cost].tolist():
            if search.should_stop() or search.seconds >= until:
                return
            search.iterations += 1
            trial = senses.copy()
            trial[cell] = ~trial[cell]
            answer = squares.solve(trial)
            if answer is not None and model.cost(answer[0]) < cost * (1 - ROUNDING_NOISE):
                better = trial, answer
                break
        if better is None:
            return
        senses, found = better
        cost = model.cost(found[0])
        search.offer(found[0])


def _tangents(search: Search, squares: Squares) -> None:
    """Solve for senses with tangents in place of squares, again and again."""
    model = search.model
    base = Mip(model, held=search.best, cutoff=search.objective)
    curve = _Curve(search, base)
    while not search.should_stop():
        search.iterations += 1
        try:
            found = curve.solve(search)
        except SolverError:
            return
        if found.status == "infeasible":
            if search.best is None:
                search.stop(StopReason.INFEASIBLE)
            return
        if np.isfinite(found.bound):
            bound = min(curve.worth(found.settled_bound), search.objective)
            search.raise_bound(bound, "solver")
        if found.x is None:
            return
        z = base.deviations(found.x[: base.rows.shape[1]])
        answer = squares.solve(model.senses(z))
        if answer is not None:
            search.offer(answer[0])
            curve.add(np.abs(answer[0]))
        elif not search.out_of_time():
            search.offer(z)
        if found.status != "optimal" or not curve.add(np.abs(z)):
            break


class _Curve:
    """The model with one more column for the cost of each cell, above all its tangents."""

    def __init__(self, search: Search, base: Mip):
        model = search.model
        self._base = base
        n, width = model.size, base.rows.shape[1]
        self._n, self._width = n, width
        self._unit, self._cost_unit = model.unit, base.cost_unit
        self._rate = model.weight / self._cost_unit
        empty = sparse.csr_array((base.rows.shape[0], n))
        self._mip = HighsMip(
            sparse.csr_array(sparse.hstack([base.rows, empty])),
            row_lower=base.row_lower,
            row_upper=base.row_upper,
            lower=np.append(base.lower, np.zeros(n)),
            upper=np.append(base.upper, np.full(n, np.inf)),
            cost=np.append(np.zeros(width), np.ones(n)),
            integer=np.append(base.integer, np.zeros(n, bool)),
            seed=search.options.seed,
        )
        usual = np.full(n, model.unit)
        usual[model.sensitive] = model.level
        self._drawn: list[Floats] = []
        for share in _FIRST:
            self.add(share * usual)
        if search.best is not None:
            self.add(np.abs(search.best))

    def add(self, size: Floats) -> bool:
        """Draw tangents where deviations have this size; False if there were such before."""
        t = size / self._unit
        near = np.zeros(self._n, bool)
        for other in self._drawn:
            near |= np.abs(t - other) <= AGREEMENT * np.maximum(t, 1e-3)
        cells = np.flatnonzero(~near & (self._rate > 0) & (t > 0))
        if len(cells) == 0:
            return False
        self._drawn.append(t)
        count = len(cells)
        row = np.arange(count)
        slope = -2 * t[cells] * self._rate[cells]
        columns = np.concatenate([cells, self._n + cells, self._width + cells])
        rows: Any = sparse.csr_array(
            (np.concatenate([slope, slope, np.ones(count)]), (np.tile(row, 3), columns)),
            shape=(count, self._width + self._n),
        )
        least = -self._rate[cells] * t[cells] ** 2
        self._mip.add_rows(rows, least, np.full(count, np.inf))
        return True

    def worth(self, objective: float) -> float:
        """A value of this model's objective in the true measure."""
        return objective * self._cost_unit * self._unit**2

    def solve(self, search: Search) -> MipSolution:
        """The best senses as far as the tangents tell."""
        start = None
        if search.best is not None:
            base = self._base.vector(search.best)
            t = np.abs(search.best) / self._unit
            start = np.append(base, self._rate * t * t)

        def watch(so_far: MipSolution) -> bool:
            if np.isfinite(so_far.bound):
                search.raise_bound(min(self.worth(so_far.bound), search.objective), "solver")
            return search.should_stop()

        return self._mip.minimise(
            seconds=search.seconds_left, gap=0.3 * search.options.gap, start=start, watch=watch
        )
