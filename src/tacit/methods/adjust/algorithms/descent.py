"""Descent: a first table, the relaxation's bound, then better senses until time is over."""

from __future__ import annotations

from tacit.methods.adjust.algorithms.milp import branch_and_bound
from tacit.methods.adjust.cuts import relax
from tacit.methods.adjust.heuristics.blocks import improve
from tacit.methods.adjust.heuristics.senses import SenseLp, first_tables
from tacit.methods.adjust.model import Search


def run(search: Search) -> None:
    """Search as long as time allows [GonzalezCastro2011]."""
    if search.model.norm == "l2":
        from tacit.methods.adjust.quadratic import quadratic

        quadratic(search, descend=True)
        return
    lp = SenseLp(search)
    annealing = first_tables(search, lp)
    if search.should_stop():
        return
    relax(search)
    if search.best is not None and not search.should_stop():
        improve(search, lp, search.seconds_left, annealing=annealing)
    if search.best is None and not search.should_stop():
        # Descent may miss tables: where it finds none, the exact model decides.
        branch_and_bound(search, None)
