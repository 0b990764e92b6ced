"""The hypercube method for tables of any dimension, hierarchical and linked ones included.

For each sensitive cell and each subtable that it is in, the cheapest hypercube is suppressed whose
corners give the cell the capacity that its levels ask for [Castro2012, section 4.3]. Corners in
other subtables are protected there to the same level. What this leaves exposed in the whole table
is repaired, and what is not needed is published again.
"""

from __future__ import annotations

import numpy as np

from tacit.attack.subtables import Subtables
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.weights import steering
from tacit.problem import Booleans, Floats, Integers

_AT_ONCE = 1000


def hypercube_pattern(search: Search, subtables: Subtables) -> Booleans:
    """Suppress hypercubes around all sensitive cells; not yet safe in the whole table."""
    from tacit.methods.suppress.heuristics.hypercube_kernels import protect_by_hypercubes

    hidden = search.sensitive.copy()
    rise, fall = levels(search)
    sensitive = search.problem.sensitive
    asked = np.flatnonzero((rise > 0) | (fall > 0))
    # Large levels leave the least choice; what protects them protects many others.
    asked = asked[np.lexsort((asked, -np.maximum(rise, fall)[asked]))]
    up, down = capacities(search)
    owner, first_place, places = incidence(subtables, search.problem.cell_count)
    # A suppressed cell has to be protected in each of its subtables.
    cost = steering(search.problem.weight) * np.maximum(np.diff(first_place), 1)
    served = np.zeros((len(subtables.cells), 2))
    search.observer.on_phase("hypercubes")
    for begin in range(0, len(asked), _AT_ONCE):
        if search.should_stop():
            break
        search.observer.on_progress(begin, len(asked))
        some = asked[begin : begin + _AT_ONCE]
        protect_by_hypercubes(
            subtables.shape,
            subtables.start,
            subtables.cells,
            owner,
            first_place,
            places,
            cost,
            hidden,
            search.secondary | search.sensitive,
            up,
            down,
            served,
            sensitive[some],
            rise[some],
            fall[some],
        )
    return hidden


def levels(search: Search) -> tuple[Floats, Floats]:
    """How far each sensitive cell is to rise and to fall so that all its levels are met."""
    problem = search.problem
    rise, fall = problem.upper_level, problem.lower_level
    slack = (problem.upper - problem.value)[problem.sensitive]
    missing = np.maximum(problem.sliding_level - rise - fall, 0.0)
    more = np.minimum(slack - rise, missing)
    return rise + more, fall + (missing - more)


def capacities(search: Search) -> tuple[Floats, Floats]:
    """How far each cell may rise and fall while it protects others, whoever attacks.

    Cells that some attacker knows do not protect: [Castro2012] forbids singletons this way.
    """
    up = np.minimum.reduce([state.separator.up for state in search.states])
    down = np.minimum.reduce([state.separator.down for state in search.states])
    return up, down


def incidence(subtables: Subtables, cell_count: int) -> tuple[Integers, Integers, Integers]:
    """The subtable of each place; for each cell the start of its places; and its places.

    Relations without a total have no part to play here: the repair looks after them.
    """
    owner = np.repeat(np.arange(len(subtables)), np.diff(subtables.start))
    usable = (subtables.cells >= 0) & subtables.has_total[owner]
    place = np.flatnonzero(usable)
    cell = subtables.cells[place]
    order = np.argsort(cell, kind="stable")
    first = np.searchsorted(cell[order], np.arange(cell_count + 1))
    return owner, first, place[order]
