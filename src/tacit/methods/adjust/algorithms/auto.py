"""The automatic choice: a table at once, a bound, better senses, then branch and bound."""

from __future__ import annotations

from tacit.methods.adjust.algorithms.milp import branch_and_bound
from tacit.methods.adjust.cuts import relax
from tacit.methods.adjust.heuristics.blocks import improve
from tacit.methods.adjust.heuristics.senses import SenseLp, first_table, second_table
from tacit.methods.adjust.model import Search
from tacit.methods.engine.turns import (
    ADJUST_FIRST_SENSES,
    ADJUST_FIRST_TREE,
    ADJUST_SENSES,
)

_TRIALS = 200
"""Senses tried before branch and bound gets its first turn."""
_GAINED = 0.05
"""Branch and bound that closes less of the gap in its first turn gets no other."""
_LARGE = 60_000
"""Relations with more entries are beyond branch and bound within minutes."""


def run(search: Search) -> None:
    """Search as long as time allows."""
    if search.model.norm == "l2":
        from tacit.methods.adjust.quadratic import quadratic

        quadratic(search, descend=True)
        return
    lp = SenseLp(search)
    annealing = first_table(search, lp)
    if search.should_stop():
        return
    relaxation = relax(search)
    second_table(search, lp)
    if search.should_stop():
        return
    is_large = search.model.A.nnz > _LARGE
    left = search.seconds_left
    if search.best is not None:
        # Counted in trials, not in seconds, so that small tables come out the same every time.
        improve(search, lp, ADJUST_FIRST_SENSES * left, annealing=annealing, trials=_TRIALS)
    if not is_large and not search.should_stop():
        bound, objective = search.bound, search.objective
        branch_and_bound(search, relaxation, ADJUST_FIRST_TREE * left)
        # A tree that proves and finds next to nothing is one for hours.
        gained = (search.bound - bound) + (objective - search.objective)
        is_large = gained < _GAINED * (objective - bound) and search.best is not None
    if search.best is not None and not search.should_stop():
        share = 1.0 if is_large else ADJUST_SENSES
        improve(search, lp, share * search.seconds_left, annealing=annealing)
    if not search.should_stop():
        branch_and_bound(search, relaxation)
