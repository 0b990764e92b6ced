"""The automatic choice: a table at once, a bound, better senses, then branch and bound."""

from __future__ import annotations

from tacit.methods.adjust.algorithms.milp import branch_and_bound
from tacit.methods.adjust.cuts import relax
from tacit.methods.adjust.heuristics.blocks import improve
from tacit.methods.adjust.heuristics.senses import SenseProgram, first_table, second_table
from tacit.methods.adjust.search import Search

_FIRST = 0.15
"""Share of the time that branch and bound gets before senses are improved at length."""
_SENSES = 0.6
"""Share of the time left after that for better senses."""
_TRIALS = 200
"""Senses tried before branch and bound gets its first turn."""
_LARGE = 60_000
"""Relations with more entries are beyond branch and bound within minutes."""


def run(search: Search) -> None:
    """Search as long as time allows."""
    if search.model.norm == "l2":
        from tacit.methods.adjust.quadratic import quadratic

        quadratic(search, descend=True)
        return
    program = SenseProgram(search)
    first_table(search, program)
    if search.should_stop():
        return
    relaxation = relax(search)
    second_table(search, program)
    if search.should_stop():
        return
    is_large = search.model.A.nnz > _LARGE
    left = search.seconds_left
    if search.best is not None:
        # Counted in trials, not in seconds, so that small tables come out the same every time.
        improve(search, program, 0.2 * left, trials=_TRIALS)
    if not is_large and not search.should_stop():
        branch_and_bound(search, relaxation, _FIRST * left)
    if search.best is not None and not search.should_stop():
        improve(search, program, search.seconds_left * (1.0 if is_large else _SENSES))
    if not search.should_stop():
        branch_and_bound(search, relaxation)
