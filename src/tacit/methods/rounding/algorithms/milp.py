"""Rounding by one mixed-integer model; for networks its linear relaxation is integral already."""

from __future__ import annotations

import numpy as np

from tacit.methods.rounding.model import Search
from tacit.solver.highs_mip import MipSolution


def run(search: Search, *, first: bool = False) -> None:
    """Solve the model, from the candidate on if there is one.

    Args:
        search: The state of the run.
        first: Stop at the first rounding.
    """

    def watch(now: MipSolution) -> bool:
        take(search, now)
        return search.should_stop()

    if search.mip.is_network and search.candidate is None and _by_vertices(search):
        return
    answer = search.mip.minimise(
        seconds=search.seconds_left,
        gap=search.options.gap,
        seed=search.options.seed,
        start=search.candidate,
        watch=watch,
        first=first,
    )
    search.iterations += 1
    take(search, answer)
    if answer.status == "infeasible":
        search.impossible = search.candidate is None
    elif answer.status == "optimal" and search.candidate is not None:
        search.raise_bound(answer.settled_bound, "solver")


def _by_vertices(search: Search) -> bool:
    """Solve the relaxation of a network, whose vertices are integral; True if that was all."""
    answer = search.mip.linear(search.seconds_left).solve(cold=True, strategy="dual")
    if answer.status == "infeasible":
        search.impossible = True
        return True
    if answer.status != "optimal":
        return False
    search.iterations += 1
    search.raise_bound(search.mip.bound_of(answer.row_dual))
    search.offer(np.round(search.lattice.counts_of(np.round(answer.x))).astype(np.int64))
    return search.should_stop()


def take(search: Search, answer: MipSolution) -> None:
    """Take note of what the solver found so far."""
    if answer.x is not None:
        counts = search.lattice.counts_of(np.round(answer.x))
        search.offer(np.round(counts).astype(np.int64))
    if np.isfinite(answer.bound):
        search.raise_bound(min(answer.bound, search.objective), "solver")
