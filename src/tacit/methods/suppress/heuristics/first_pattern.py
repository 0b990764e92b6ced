"""The beginning of every algorithm: a first safe pattern, or why there is none."""

from __future__ import annotations

import numpy as np

from tacit.attack.reach import Requests
from tacit.clock import Clock
from tacit.methods.engine import turns
from tacit.methods.suppress.heuristics.cleanup import clean_up
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.model import Search
from tacit.outcome import StopReason
from tacit.problem import Booleans, Integers, Problem

_BY_MODULES = 8000
"""From this number of cells on, tables that are not networks are first protected by modules."""


_CANNOT_MOVE = "must be published or cannot vary"
_WAYS_OUT = (
    "; put its code together with another one (recode), let more cells be suppressed, or leave "
    'contributors out with insiders = "none"'
)


def obstacles(search: Search) -> list[str]:
    """Why the table cannot be protected even with everything suppressed; empty if it can."""
    everything = search.sensitive | search.secondary
    told: list[str] = []
    exposed = search.exposed(everything)
    if search.should_stop():
        # Not everything could be looked at: nothing can be said.
        return []
    for state, missed in exposed:
        cells, first = np.unique(missed.cells, return_index=True)
        told.extend(
            f"{search.problem.name_cell(cell)} cannot be protected against "
            f"{state.name(missed, number)}: {_reason(search, missed, number)}"
            for cell, number in zip(cells.tolist(), first.tolist(), strict=True)
        )
    rows, needed = search.singleton_rows()
    have = np.asarray(abs(search.problem.relations[rows]).sign() @ everything.astype(np.float64))
    for row, count, most in zip(rows.tolist(), needed.tolist(), have.tolist(), strict=True):
        if most < count:
            # Users know cells; numbers of relations tell them nothing.
            named = search.problem.name_cells(_cells_of(search.problem, row))
            told.append(
                f"a relation needs {count} suppressed cells because of its singletons, but only "
                f"{int(most)} of its cells may be suppressed: {named}"
            )
    limit = search.options.max_suppressed
    if limit is not None and limit < int(search.sensitive.sum()):
        told.append(
            f"at most {limit} cells may be suppressed, but {int(search.sensitive.sum())} are "
            "sensitive"
        )
    return told


def _reason(search: Search, missed: Requests, number: int) -> str:
    problem, columns = search.problem, search.structure.columns
    cell = int(missed.cells[number])
    useful = (search.sensitive | search.secondary).astype(np.int64)
    known, rise, fall = missed.limited(number)
    useful[known[(rise <= 0) & (fall <= 0)]] = 0
    count = np.asarray(abs(problem.relations).sign() @ useful)
    rows = columns.indices[columns.indptr[cell] : columns.indptr[cell + 1]]
    lonely = rows[count[rows] < 2].tolist()
    sides = sorted(
        {"upper" if side > 0 else "lower" for side in missed.sides[missed.cells == cell]}
    )
    levels = " and ".join(sides)
    ways_out = _WAYS_OUT if len(known) else ""
    if lonely:
        others = _cells_of(problem, lonely[0])
        why = "must be published, cannot vary or is known to it" if len(known) else _CANNOT_MOVE
        return (
            f"every other cell of one of its relations {why} "
            f"({problem.name_cells(others[others != cell])}), so that its {levels} level is out of "
            f"reach{ways_out}"
        )
    known_bounds = " and what it knows" if len(known) else ""
    return (
        f"the bounds of the cells that may be suppressed{known_bounds} leave too little slack for "
        f"its {levels} level{ways_out}"
    )


def _cells_of(problem: Problem, relation: int) -> Integers:
    A = problem.relations
    return A.indices[A.indptr[relation] : A.indptr[relation + 1]].astype(np.int64)


def is_large(search: Search) -> bool:
    """Is a table not a network, and too large for other ways than by modules?"""
    return search.outside_networks > _BY_MODULES


def in_half_the_time(search: Search) -> Clock:
    """A clock for the first pattern of a large table: later on anything safe is good enough."""
    left = search.seconds_left - turns.SUPPRESS_CONSTRUCTION * search.options.time_limit
    # Without a limit there is no half of it.
    return Clock(max(left, 0.0) if np.isfinite(left) else np.inf)


def first_pattern(
    search: Search, constructor: Constructor, *, clean_up_seconds: float = np.inf
) -> None:
    """Find a safe pattern quickly and offer it.

    A safe pattern shows that nothing stands in the way. Only where none is found it is asked
    whether there can be one: with all cells suppressed the attacker's work is hardest.
    """
    hidden: Booleans | None = None
    with in_half_the_time(search) if is_large(search) else Clock() as turn:
        hidden = constructor.construct()
    if hidden is not None and search.offer(hidden):
        search.offer(clean_up(search, hidden, seconds=clean_up_seconds))
    if turn.ran_out:
        anything_safe(search, constructor)
    if search.best is None and not search.should_stop():
        search.reasons = obstacles(search)
        if search.reasons:
            search.stop(StopReason.INFEASIBLE)
            return
        everything: Booleans = search.sensitive | search.secondary
        if search.offer(everything):
            search.offer(clean_up(search, everything))
    if search.best is None and not search.should_stop():
        # Only a limit on the number of cells can stand in the way: look for fewer cells.
        fewer = constructor.construct(cost=np.ones(search.problem.cell_count))
        if fewer is not None:
            search.offer(clean_up(search, fewer))
    search.settle_unit()


def anything_safe(search: Search, constructor: Constructor) -> None:
    """Offer something safe in the time that is left, where the usual way took too long.

    Hypercubes around what is not protected yet take a moment, and leave little to repair. With all
    cells suppressed the most is lost, but no table that can be protected stays exposed.
    """
    from tacit.attack.subtables import Subtables
    from tacit.methods.suppress.heuristics.hypercubes import hypercube_pattern

    begun = constructor.unfinished
    hidden: Booleans | None = None
    with Clock(turns.SUPPRESS_HYPERCUBES * search.seconds_left):
        cubes = hypercube_pattern(search, Subtables.of(search.problem.relations))
        hidden = constructor.construct(cubes | begun)
    everything: Booleans = search.sensitive | search.secondary
    for pattern in (hidden, None if search.proof.audit is not None else everything):
        if search.best is None and pattern is not None and search.offer(pattern):
            search.offer(clean_up(search, pattern))
