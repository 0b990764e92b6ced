"""The most that each place of a point needs to be: tight constants for the links to x."""

from __future__ import annotations

import numpy as np

from tacit.attack.reach import Requests
from tacit.attack.sweep import Attack
from tacit.errors import SolverError
from tacit.methods.combined.search import Search
from tacit.problem import Floats
from tacit.tolerances import FAR

_SHARE = 0.03
"""Share of the time for the reach of cells outside networks."""


def most_rooms(search: Search) -> Floats:
    """The most that each place needs to be in some best solution.

    In a network no deviation that meets a level needs more than the level in any cell. Elsewhere
    a room is of no use beyond what a reader cannot rule out when every cell is suppressed.
    """
    model = search.model
    most = model.upper.copy()
    ends = most[: model.cell_ends]
    targets = [float(rival.targets(model.upper).max(initial=0.0)) for rival in model.rivals]
    largest = max(targets, default=0.0)
    in_network = np.repeat(model.structure.in_network, 2)
    np.minimum(ends, np.where(in_network, largest, FAR * largest), out=ends)
    outside = np.flatnonzero(model.is_free_cell & ~model.structure.in_network)
    if len(outside):
        np.minimum(ends, _reach(search, outside), out=ends)
    wide = np.repeat(model.least_width, 2)
    ends[:] = np.maximum(ends, np.minimum(wide, model.upper[: model.cell_ends]))
    return np.maximum(most, model.lower)


def _reach(search: Search, cells: np.typing.NDArray[np.int64]) -> Floats:
    """How far a reader thinks ends may lie with every cell suppressed; inf where not known."""
    model = search.model
    attack = Attack(model.problem, model.knowledge(model.widest()), structure=model.structure)
    end = search.seconds + _SHARE * search.options.time_limit
    reach = np.full(model.cell_ends, np.inf)
    try:
        answer = attack.reach(
            Requests.both_sides(cells),
            progress=lambda _: search.seconds > end or search.out_of_time(),
        )
    except SolverError:
        return reach
    places = np.concatenate([2 * cells, 2 * cells + 1])
    # The proven limit, not the amount reached.
    limit = np.where(answer.answered, np.maximum(answer.limit, answer.amount), np.inf)
    reach[places] = limit
    return reach
