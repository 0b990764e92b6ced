"""Benders' reformulation [Castro2012, (19), (20)]: a master in the senses, cuts from dual values.

For given senses the closest table is a linear (or convex) model; the dual values of its relations
bound the cost of any other choice of senses from below, linearly. Where senses cannot be met,
the dual values of the least violation tell why, and such choices are ruled out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tacit.errors import SolverError
from tacit.methods.adjust.algorithms.milp import branch_and_bound
from tacit.methods.adjust.cuts import relax, sense_bounds
from tacit.methods.adjust.heuristics.senses import SenseLp, first_tables
from tacit.methods.adjust.model import Adjustment, Search
from tacit.methods.adjust.quadratic import Squares, first_senses
from tacit.outcome import StopReason
from tacit.problem import Booleans, Floats
from tacit.solver.highs import HighsModel
from tacit.solver.highs_mip import HighsMip, MipSolution
from tacit.tolerances import NEGLIGIBLE_COST, ROUNDING_NOISE, SOLVER, TINY

_LARGEST = 1e12
"""Larger coefficients of a cut are more than solvers can take."""


def run(search: Search) -> None:
    """Master and subproblem in turn until they agree.

    Where integers are asked for and the best senses do not yield them, the mixed-integer
    model has the last word.
    """
    model = search.model
    seen: set[bytes] = set()
    lp = SenseLp(search)
    squares = Squares(search) if model.norm == "l2" else None
    if squares is not None:
        z = first_senses(search)
        if z is not None:
            search.offer(z)
    else:
        first_tables(search, lp)
        if not search.should_stop():
            relax(search)
    master = _Master(search)
    violation = _Violation(model)
    senses: Booleans | None = None if search.best is None else model.senses(search.best)
    while not search.should_stop():
        search.iterations += 1
        if senses is None:
            senses = master.senses()
            if senses is None:
                return
        if model.integer and senses.tobytes() in seen:
            branch_and_bound(search, None)
            return
        seen.add(senses.tobytes())
        found = _closest(lp, squares, senses)
        if found is None:
            duals = violation.duals(senses)
            if duals is None:
                # Out of time, or numerical trouble: nothing is known about these senses.
                if squares is None and not search.should_stop():
                    branch_and_bound(search, None)
                return
            is_cut = master.add(duals, np.zeros(model.size), rules_out=True)
        else:
            search.offer(found[0])
            is_cut = master.add(found[1], found[2], rules_out=False)
        if not is_cut:
            if squares is None and not search.should_stop():
                branch_and_bound(search, None)
            return
        search.cut_count += 1
        search.observer.on_cuts(search.seconds, search.cut_count)
        senses = None


def _closest(
    lp: SenseLp, squares: Squares | None, senses: Booleans
) -> tuple[Floats, Floats, Floats] | None:
    """Deviations, dual values of the relations and weights; None if senses cannot be met."""
    if squares is not None:
        answer = squares.solve(senses)
        return None if answer is None else (*answer, squares.weight)
    if not lp.solve(senses):
        return None
    return (lp.deviations, *lp.duals)


class _Violation:
    """By how much the relations must be violated at least for given senses."""

    def __init__(self, model: Adjustment):
        self._model = model
        A = model.A
        m = A.shape[0]
        one = sparse.identity(m, format="csr")
        self._lp = HighsModel(
            sparse.csr_array(sparse.hstack([A, one, -one])),
            row_lower=np.zeros(m),
            row_upper=np.zeros(m),
            lower=np.concatenate([-model.down / model.unit, np.zeros(2 * m)]),
            upper=np.concatenate([model.up / model.unit, np.full(2 * m, np.inf)]),
            cost=np.concatenate([np.zeros(model.size), np.ones(2 * m)]),
        )

    def duals(self, senses: Booleans) -> Floats | None:
        """Dual values of the relations that show the violation; None if there is none."""
        model = self._model
        low, high = model.limits(senses)
        own = model.sensitive
        self._lp.set_bounds(own, low[own] / model.unit, high[own] / model.unit)
        found = self._lp.solve(strategy="dual")
        return found.row_dual if found.objective > SOLVER else None


class _Master:
    """min theta over senses y, subject to the cuts."""

    def __init__(self, search: Search):
        self._search = search
        model = search.model
        count = len(model.sensitive)
        # What safe tables cost, roughly; where sensitive cells cost nothing, others do.
        usual = float(model.weight[model.sensitive] @ model.level)
        if model.norm != "l1" and search.bound > 0:
            usual = search.bound
        highest = float(model.weight.max(initial=0.0) * model.level.max(initial=0.0))
        self._scale = usual if usual > NEGLIGIBLE_COST * highest else highest or 1.0
        self._mip = HighsMip(
            sparse.csr_array((1, count + 1)),
            row_lower=np.zeros(1),
            row_upper=np.zeros(1),
            lower=np.append((~model.may_fall).astype(float), search.bound / self._scale),
            upper=np.append(model.may_rise.astype(float), np.inf),
            cost=np.append(np.zeros(count), 1.0),
            integer=np.append(np.ones(count, bool), False),
            seed=search.options.seed,
        )

    def add(self, duals: Floats, weight: Floats, *, rules_out: bool) -> bool:
        """A cut from dual values, [Castro2012, (20)]; False if they say nothing."""
        search = self._search
        model = search.model
        constant, rises, falls = sense_bounds(model, duals, weight, search.objective)
        both = model.may_rise & model.may_fall
        constant += float(np.where(both, 0.0, np.where(model.may_rise, rises, falls)).sum())
        if not np.isfinite(constant):
            return False
        rises, falls = np.where(both, rises, 0.0), np.where(both, falls, 0.0)
        # Where a cell has no limit on a side, the cut must ask for nothing if it goes there:
        # no more than the bound that holds anyhow, whatever all other cells add.
        floor = 0.0 if rules_out else search.bound
        most = np.maximum(rises, falls)
        if not np.isfinite(most).all():
            return False
        nothing = floor - constant - (most.sum() - most)
        rises = np.where(np.isfinite(rises), rises, np.minimum(nothing, falls))
        falls = np.where(np.isfinite(falls), falls, np.minimum(nothing, rises))
        constant += float(falls.sum())
        slope = rises - falls
        scale = self._scale
        if rules_out:
            # There are no costs here: the sum over the senses may not be positive.
            scale = max(float(np.abs(slope).max(initial=0.0)), abs(constant), TINY)
        entries = np.append(-slope / scale, 0.0 if rules_out else 1.0)
        if not np.abs(np.append(entries, constant / scale)).max() <= _LARGEST:
            # Solvers refuse such numbers, and a cut that needs them says next to nothing.
            return False
        row: Any = sparse.csr_array(entries[None, :])
        self._mip.add_rows(row, np.array([constant / scale - ROUNDING_NOISE]), np.full(1, np.inf))
        return True

    def senses(self) -> Booleans | None:
        """The most promising senses; None at the end of the search."""
        search = self._search

        def watch(so_far: MipSolution) -> bool:
            self._note(so_far.bound)
            return search.should_stop()

        try:
            found = self._mip.minimise(
                seconds=search.seconds_left, gap=0.3 * search.options.gap, watch=watch
            )
        except SolverError:
            return None
        if found.status == "infeasible":
            if search.best is None:
                search.stop(StopReason.INFEASIBLE)
            else:
                search.raise_bound(search.objective, "solver")
            return None
        self._note(found.settled_bound)
        if found.x is None or search.should_stop():
            return None
        return np.asarray(found.x[:-1] > 0.5)

    def _note(self, bound: float) -> None:
        if np.isfinite(bound):
            bound = min(bound * self._scale, self._search.objective)
            self._search.raise_bound(bound, "solver")
