"""The fewest intervals at the same cost.

Safe points are found between others, so that almost every cell is open in them, most by next to
nothing. The optimum of the last relaxation opens few cells: the problem is solved again with no
others. Where several sets of cells cost the same, one with fewer cells is looked for by costs
that are the higher the narrower a cell was (reweighting), among the points that cost no more.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.errors import SolverError
from tacit.methods.intervals.algorithms import auto
from tacit.methods.intervals.cuts import Master, Separation
from tacit.methods.intervals.search import Search
from tacit.problem import Booleans
from tacit.tolerances import ROUNDING_NOISE

_CLOSER = 0.2
"""The share of the open gap to which the problem is solved again."""
_NARROW = 1e-3
"""Slacks below this share of the smallest level are the first to be closed."""
_TRIES = 4
"""How often fewer cells are looked for, and how often without success."""
_IN_VAIN = 2
_WORTH_IT = 0.01
"""Where no more than this share of the cells would close, the problem is not solved again."""
_ROUNDS = 20
"""Rounds of cuts for each try."""
_UNEVEN = 0.2
"""By this share at most costs differ at random, so that cells are not kept open by halves."""


def fewest(search: Search) -> None:
    """Close intervals of the best solution that are not needed, while there is time."""
    if search.best is None or not np.isfinite(search.best).all():
        return
    model = search.model
    if search.vertex is not None:
        lean = model.open_cells(np.where(search.vertex > search.negligible, search.vertex, 0.0))
        wide = model.open_cells(np.where(search.best > _NARROW * search.smallest, search.best, 0.0))
        for cells in (lean, lean | wide):
            if search.out_of_time() or _solve_again(search, cells):
                break
    vain = 0
    for number in range(_TRIES):
        if search.out_of_time() or vain == _IN_VAIN or not search.closable(search.best).any():
            return
        lighter = _lighter(search, number)
        vain += lighter is None or not _solve_again(search, lighter)


def _solve_again(search: Search, cells: Booleans) -> bool:
    """Solve the problem with these cells only; True if that opens fewer at no more cost."""
    best = search.best
    assert best is not None
    before = search.closable(best)
    if not (before & ~cells).any():
        return False
    model = search.model.restricted(cells)
    gap = _CLOSER * max(search.gap, 5 * ROUNDING_NOISE)
    options = search.options.replace(time_limit=max(search.seconds_left, 1e-3), gap=gap)
    part = search.within(model, options)
    try:
        auto.run(part)
        part.confirm()
    except SolverError:
        return False
    if part.best is None:
        return False
    objective = search.model.objective(part.best)
    fewer = search.closable(part.best).sum() < before.sum()
    if not fewer or objective > search.objective + ROUNDING_NOISE * abs(search.objective):
        return False
    search.best = part.best
    if objective < search.objective:
        search.better(objective)
    return True


def _lighter(search: Search, number: int) -> Booleans | None:
    """A smaller set of cells that may suffice at the same cost; None if none was found."""
    best = search.best
    assert best is not None
    opened = search.closable(best)
    model = search.model.restricted(search.model.open_cells(best))
    ends = model.cell_ends
    paid = model.weight.copy()
    width = np.maximum(best[0::2] + best[1::2], search.negligible)
    chance = np.random.default_rng([search.options.seed, number])
    cost = (1 + _UNEVEN * chance.random(len(width))) * (search.smallest / width)
    cost[~opened] = ROUNDING_NOISE * float(cost[opened].min(initial=1.0))
    model.weight[:ends] = np.where(model.is_free, np.repeat(cost, 2), 0.0)
    most = float(paid[:ends] @ np.where(paid[:ends] > 0, best, 0.0))
    model.rows = sparse.csr_array(sparse.vstack([model.rows, sparse.csr_array(-paid[None, :])]))
    model.right = np.append(model.right, -most * (1 + ROUNDING_NOISE))
    part = search.within(model, search.options.replace(time_limit=max(search.seconds_left, 1e-3)))
    inside = model.with_reaches(best)
    try:
        master = Master(part)
        separation = Separation(model, search.out_of_time)
        for _ in range(_ROUNDS):
            master.minimise()
            found = separation.approach(master.x, inside)
            if search.out_of_time():
                return None
            if master.add(found.rows, found.right) == 0 or found.walked == 0:
                break
    except SolverError:
        return None
    cells = model.open_cells(np.where(master.x > search.negligible, master.x, 0.0))
    closed = int((opened & ~cells).sum())
    return cells if closed > _WORTH_IT * opened.sum() else None
