"""The mixed-integer programme (18) for the whole table, with a start and rows of polygons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import SolverError
from tacit.methods.adjust.cuts import Relaxation, relax
from tacit.methods.adjust.heuristics.senses import SenseProgram, first_tables
from tacit.methods.adjust.mip import Program
from tacit.methods.adjust.model import Search
from tacit.outcome import StopReason
from tacit.problem import Booleans, Floats
from tacit.solver.highs_mip import HighsMip, WholeSolution

if TYPE_CHECKING:
    from tacit.solver.scip import ScipMip


def run(search: Search) -> None:
    """A first table, the relaxation's bound, then branch and bound."""
    if search.model.norm == "l2":
        from tacit.methods.adjust.quadratic import quadratic

        quadratic(search, descend=False)
        return
    first_tables(search, SenseProgram(search))
    if search.should_stop():
        return
    branch_and_bound(search, relax(search))


def branch_and_bound(
    search: Search, relaxation: Relaxation | None, seconds: float = np.inf
) -> None:
    """Solve the whole programme; its bound and its tables are taken note of along the way.

    Only those rows of polygons are written that carry a price in the relaxation: the others
    would slow the solver down for nothing. Whole numbers are mostly found without asking for
    them; where they are not, they are asked for once all else is settled.
    """
    until = search.seconds + seconds
    polygons: Booleans | bool = True if relaxation is None else relaxation.tight
    asks_scip = search.options.solver == "scip"
    if not (search.model.integer and asks_scip):
        is_settled = _solve(search, _program(search, polygons, whole=False), until)
        if not (search.model.integer and is_settled) or search.should_stop():
            return
    program = _program(search, polygons, whole=True)
    if asks_scip or program.asks_for_whole:
        _solve(search, program, until)


def _program(search: Search, polygons: Booleans | bool, *, whole: bool) -> Program:
    return Program(
        search.model, polygons=polygons, held=search.best, cutoff=search.objective, whole=whole
    )


def _solve(search: Search, program: Program, until: float) -> bool:
    """Solve the whole programme; True if nothing is left to find."""

    def watch(so_far: WholeSolution) -> bool:
        take_note(search, program, so_far.x, so_far.bound)
        return search.should_stop()

    search.iterations += 1
    try:
        # A programme with numbers that a solver refuses proves nothing; what was found stays.
        found = _mip(search, program).minimise(
            seconds=min(max(until - search.seconds, 0.1), search.seconds_left),
            gap=0.5 * search.options.gap,
            start=None if search.best is None else program.vector(search.best),
            watch=watch,
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
    take_note(search, program, found.x, found.settled_bound)
    return found.status == "optimal"


def _mip(search: Search, program: Program) -> HighsMip | ScipMip:
    """The programme for the solver that the user chose."""
    kind: type[HighsMip] | type[ScipMip] = HighsMip
    if search.options.solver == "scip":
        from tacit.solver.scip import ScipMip

        kind = ScipMip
    return kind(
        program.rows,
        row_lower=program.row_lower,
        row_upper=program.row_upper,
        lower=program.lower,
        upper=program.upper,
        cost=program.cost,
        whole=program.whole,
        seed=search.options.seed,
    )


def take_note(search: Search, program: Program, x: Floats | None, bound: float) -> None:
    """Offer the solver's table and raise the bound by what it claims."""
    if x is not None:
        search.offer(program.deviations(x))
    if np.isfinite(bound):
        # Solvers cut off what is no better than the start.
        search.raise_bound(min(program.worth(bound), search.objective), "solver")
