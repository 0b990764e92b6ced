"""Why a table cannot be adjusted: which cells, and what stands in their way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from tacit.clock import Clock, TimeUpError, check_time
from tacit.errors import SolverError
from tacit.methods.adjust.heuristics.domains import Domains
from tacit.methods.adjust.mip import Mip
from tacit.methods.adjust.model import Adjustment, Search
from tacit.problem import Floats, Integers
from tacit.solver.highs_mip import HighsMip

_SECONDS = 10.0
"""Time to find out which cells stand in each other's way."""


def obstacles(search: Search) -> list[str]:
    """Sensitive cells that cannot be protected whatever happens to all others."""
    model = search.model
    if len(model.sensitive) == 0:
        return []
    alone = np.flatnonzero(~model.may_rise & ~model.may_fall)
    if len(alone):
        return [_reason_alone(model, int(model.sensitive[cell])) for cell in alone.tolist()]
    domains = Domains(model)
    if not domains.start():
        return reasons_together(search)
    state = domains.copy()
    stuck = []
    for cell in range(len(model.sensitive)):
        check_time()
        possible = False
        for rises in (True, False):
            if not (model.may_rise if rises else model.may_fall)[cell]:
                continue
            domains.restore(state)
            if domains.decide(np.array([cell]), np.array([rises])):
                possible = True
                break
        if not possible:
            stuck.append(int(model.sensitive[cell]))
    domains.restore(state)
    return [
        f"{model.problem.name_cell(int(model.cells[cell]))} cannot be protected: in the relations "
        "that it is part of, the cells that may change leave too little slack, whichever way it "
        "goes"
        for cell in stuck
    ]


def _reason_alone(model: Adjustment, cell: int) -> str:
    problem = model.problem
    name = problem.name_cell(int(model.cells[cell]))
    columns = model.columns
    rows = columns.indices[columns.indptr[cell] : columns.indptr[cell + 1]]
    count = np.diff(model.A.indptr)[rows]
    if model.up[cell] <= 0 and model.down[cell] <= 0:
        if len(rows) and (count < 2).any():
            return (
                f"{name} cannot be protected: every other cell of one of its relations keeps its "
                "value"
            )
        return f"{name} cannot be protected: it must keep its value, or its bounds leave no slack"
    return (
        f"{name} cannot be protected: its bounds, limits and relations leave no slack for its "
        "levels, neither above nor below"
    )


def reasons_together(search: Search) -> list[str]:
    """Which sensitive cells stand in each other's way.

    The fewest cells are sought without whose levels there is a safe table.
    """
    model = search.model
    fewest = _fewest(search)
    if fewest is None:
        return ["no choice of senses meets all protection levels within bounds and limits"]
    if len(fewest) == 0:
        return ["no table of integers meets all protection levels within bounds and limits"]
    names = model.problem.name_cells(model.cells[model.sensitive[fewest]])
    return [
        "no choice of senses protects all sensitive cells together within bounds and limits; it "
        f"would without protecting {names}"
    ]


def sums_in_the_way(
    search: Search, model: Adjustment, cells: Integers, most: Floats, names: Sequence[str]
) -> list[str]:
    """Which limits on sums of deviations to leave out so that there is a table; empty if none.

    Args:
        search: The run.
        model: The problem without these limits.
        cells: The place of the cell that stands for each sum.
        most: The limit of each.
        names: What to call them.
    """
    seconds = min(_SECONDS, search.options.time_limit - search.seconds)
    if seconds <= 0 or not (model.may_rise | model.may_fall).all():
        return []
    base = Mip(replace(model, norm="l1"), polygons=False, integer=model.integer)
    unit = 1.0 if model.integer else model.unit
    count, width, n = len(cells), base.rows.shape[1], model.size
    columns = np.concatenate([cells, n + cells])
    number, row = np.tile(np.arange(count), 2), np.arange(2 * count)
    limit = np.tile(most, 2) / unit
    # With its last column at 1, a limit lets go.
    loose = np.maximum(base.upper[columns] - limit, 0.0)
    rows = sparse.csr_array(
        (
            np.concatenate([np.ones(2 * count), -loose]),
            (np.tile(row, 2), np.concatenate([columns, width + number])),
        ),
        shape=(2 * count, width + count),
    )
    wider = sparse.hstack([base.rows, sparse.csr_array((base.rows.shape[0], count))])
    mip = HighsMip(
        sparse.csr_array(sparse.vstack([wider, rows])),
        row_lower=np.append(base.row_lower, np.full(2 * count, -np.inf)),
        row_upper=np.append(base.row_upper, limit),
        lower=np.append(base.lower, np.zeros(count)),
        upper=np.append(base.upper, np.ones(count)),
        cost=np.append(np.zeros(width), np.ones(count)),
        integer=np.append(base.integer, np.ones(count, bool)),
        seed=search.options.seed,
    )
    x = _solution(mip, seconds)
    left_out = [] if x is None else np.flatnonzero(x[width:] > 0.5).tolist()
    if not left_out:
        return []
    listed = ", ".join(names[each] for each in left_out)
    return [
        "no table protects all sensitive cells within the bounds on quality; one does without "
        f"{listed}: raise the limit, or choose other cells"
    ]


def _solution(mip: HighsMip, seconds: float) -> Floats | None:
    """What a model finds in time, if anything."""
    x = None
    try:
        with Clock(seconds):
            x = mip.minimise(seconds=seconds).x
    except (SolverError, TimeUpError):
        pass
    return x


def _fewest(search: Search) -> Integers | None:
    """The fewest sensitive cells to leave out so that a table exists; None if not found."""
    model = search.model
    seconds = min(_SECONDS, search.options.time_limit - search.seconds)
    if seconds <= 0:
        return None
    # What is closest does not matter, and the rows of senses are then the last ones.
    base = Mip(replace(model, norm="l1"), polygons=False, integer=model.integer)
    unit = 1.0 if model.integer else model.unit
    k = len(model.sensitive)
    width = base.rows.shape[1]
    # With its last column at 1, each of the four rows that bind a cell to its sense lets go.
    last = base.rows.shape[0] - 4 * k
    own = np.tile(np.arange(k), 4)
    far = 100 * float(model.level[np.isfinite(model.level)].sum()) + model.unit
    up, down = np.minimum(model.up, far), np.minimum(model.down, far)
    up, down = up[model.sensitive], down[model.sensitive]
    n = model.size
    upper = base.upper.copy()
    upper[model.sensitive], upper[n + model.sensitive] = up / unit, down / unit
    rise = np.where(model.may_rise, model.rise, 0.0)
    fall = np.where(model.may_fall, model.fall, 0.0)
    give = np.concatenate([rise, -up, fall, -down]) / unit
    slack = sparse.csr_array((give, (last + np.arange(4 * k), own)), shape=(base.rows.shape[0], k))
    mip = HighsMip(
        sparse.csr_array(sparse.hstack([base.rows, slack])),
        row_lower=base.row_lower,
        row_upper=base.row_upper,
        lower=np.append(base.lower, np.zeros(k)),
        upper=np.append(upper, np.ones(k)),
        cost=np.append(np.zeros(width), np.ones(k)),
        integer=np.append(base.integer, np.ones(k, bool)),
        seed=search.options.seed,
    )
    x = _solution(mip, seconds)
    return None if x is None else np.flatnonzero(x[width:] > 0.5)
