"""The mixed-integer model [Castro2012, (18)] of all cells, with a start and rows of polygons."""

from __future__ import annotations

import numpy as np

from tacit.errors import SolverError
from tacit.methods.adjust.cuts import Relaxation, relax
from tacit.methods.adjust.heuristics.senses import SenseLp, first_tables
from tacit.methods.adjust.mip import Mip
from tacit.methods.adjust.model import Search
from tacit.outcome import StopReason
from tacit.problem import Booleans, Floats
from tacit.solver.highs_mip import MipSolution


def run(search: Search) -> None:
    """A first table, the relaxation's bound, then branch and bound."""
    if search.model.norm == "l2":
        from tacit.methods.adjust.quadratic import quadratic

        quadratic(search, descend=False)
        return
    first_tables(search, SenseLp(search))
    if search.should_stop():
        return
    branch_and_bound(search, relax(search))


def branch_and_bound(
    search: Search, relaxation: Relaxation | None, seconds: float = np.inf
) -> None:
    """Solve the model of all cells; its bound and its tables are taken note of along the way.

    Only those rows of polygons are written that have a dual value in the relaxation: the others
    would slow the solver down without need. Whole numbers are mostly found without asking for
    them; where they are not, they are asked for once all else is settled.
    """
    until = search.seconds + seconds
    polygons: Booleans | bool = True if relaxation is None else relaxation.tight
    asks_scip = search.options.solver == "scip"
    if not (search.model.integer and asks_scip):
        is_settled = _solve(search, _model_of(search, polygons, integer=False), until)
        if not (search.model.integer and is_settled) or search.should_stop():
            return
    mip = _model_of(search, polygons, integer=True)
    if asks_scip or mip.asks_for_integers:
        _solve(search, mip, until)


def _model_of(search: Search, polygons: Booleans | bool, *, integer: bool) -> Mip:
    return Mip(
        search.model, polygons=polygons, held=search.best, cutoff=search.objective, integer=integer
    )


def _solve(search: Search, mip: Mip, until: float) -> bool:
    """Solve the model; True if nothing is left to find."""

    def watch(so_far: MipSolution) -> bool:
        take_note(search, mip, so_far.x, so_far.bound)
        return search.should_stop()

    search.iterations += 1
    try:
        # A model with numbers that a solver refuses proves nothing; what was found stays.
        found = mip.solve(
            seconds=min(max(until - search.seconds, 0.1), search.seconds_left),
            gap=0.5 * search.options.gap,
            start=None if search.best is None else mip.vector(search.best),
            watch=watch,
            seed=search.options.seed,
            solver=search.options.solver,
        )
    except SolverError:
        return False
    if found.status == "infeasible":
        if search.best is None:
            search.stop(StopReason.INFEASIBLE)
        else:
            # Nothing is closer than the best.
            search.raise_bound(search.objective, "solver")
        return False
    take_note(search, mip, found.x, found.settled_bound)
    return found.status == "optimal"


def take_note(search: Search, mip: Mip, x: Floats | None, bound: float) -> None:
    """Offer the solver's table and raise the bound by what it claims."""
    if x is not None:
        search.offer(mip.deviations(x))
    if np.isfinite(bound):
        # Solvers cut off what is no better than the start.
        search.raise_bound(min(mip.worth(bound), search.objective), "solver")
