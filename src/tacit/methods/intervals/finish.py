"""From safe rooms to what is published: tightened, rounded outwards if asked for."""

from __future__ import annotations

import numpy as np

from tacit.attack.reach import Requests
from tacit.attack.sweep import Attack
from tacit.errors import SolverError
from tacit.methods.intervals.search import Search
from tacit.outcome import Intervals
from tacit.problem import Floats, Problem

_NEXT = 1e-9
"""An end this close to a shorter number, as a share of its size, may be moved there."""


def tightened(search: Search, ends: Floats) -> Floats:
    """Rooms cut back to what a reader can deduce from all of them together.

    Nobody learns anything by that: whatever a reader cannot rule out stays possible. Ends stay
    as they are where the user stopped before their turn, and all of them if the solver breaks
    down: wider intervals are safe, too.
    """
    model = search.model
    ends = ends[: model.cell_ends].copy()
    opened = np.flatnonzero((ends[0::2] > 0) | (ends[1::2] > 0))
    cells = opened[model.is_free_cell[opened]]
    attack = Attack(model.problem, model.knowledge(ends), structure=model.structure)
    try:
        answer = attack.reach(
            Requests.both_sides(cells), progress=lambda _: search.observer.should_stop()
        )
    except SolverError:
        return ends
    # The proven limit, not the amount reached: nothing that is possible may be lost.
    limit = np.where(answer.answered, np.maximum(answer.limit, answer.amount), np.inf)
    places = np.concatenate([2 * cells, 2 * cells + 1])
    ends[places] = np.minimum(ends[places], limit)
    # An end that differs from the value in the last digits only tells the value.
    dust = 8 * np.spacing(np.abs(np.repeat(model.problem.value, 2)))
    ends[ends <= dust] = 0.0
    return ends


def published(search: Search, ends: Floats) -> Intervals:
    """The intervals with these rooms around the true values."""
    model, problem = search.model, search.problem
    known = model.knowledge(ends)
    upper, lower = problem.value + known.up, problem.value - known.down
    # Rounding must not take anything away.
    upper = np.where(upper - problem.value < known.up, np.nextafter(upper, np.inf), upper)
    lower = np.where(problem.value - lower < known.down, np.nextafter(lower, -np.inf), lower)
    step = search.options.round_to
    if step is not None:
        free = model.is_free_cell & ((known.up > 0) | (known.down > 0))
        upper = np.where(free & np.isfinite(upper), _multiple(upper, step, np.ceil), upper)
        lower = np.where(free & np.isfinite(lower), _multiple(lower, step, np.floor), lower)
    return Intervals(np.maximum(lower, problem.lower), np.minimum(upper, problem.upper))


def _multiple(end: Floats, step: float, outwards: np.ufunc) -> Floats:
    """The next multiple outwards; an end that is one but for rounding stays."""
    steps = np.where(np.isfinite(end), end, 0.0) / step
    near = np.rint(steps)
    is_one = np.abs(steps - near) <= _NEXT * np.maximum(np.abs(near), 1.0)
    rounded = np.where(is_one, near, outwards(steps)) * step
    # Where the multiple falls short by rounding, the end itself is kept.
    return np.maximum(rounded, end) if outwards is np.ceil else np.minimum(rounded, end)


def left_out(problem: Problem, solution: Intervals | None) -> tuple[int, ...]:
    """Sensitive cells whose interval is a point, since they ask for no room: not published."""
    if solution is None:
        return ()
    own = problem.sensitive
    return tuple(own[solution.lower[own] >= solution.upper[own]].tolist())


def cost(search: Search, solution: Intervals) -> float:
    """What published intervals cost."""
    model, problem = search.model, search.problem
    weight = model.weight[: model.cell_ends]
    rooms = np.empty(model.cell_ends)
    rooms[0::2], rooms[1::2] = solution.upper - problem.value, problem.value - solution.lower
    counted = weight > 0
    return float(weight[counted] @ rooms[counted])
