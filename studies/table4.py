"""[BaenaCastroFrangioni2020, Table 4]: where stabilized Benders spends its time, by subproblem.

tacit's attacker asks for both protection levels of all cells in one sweep, so that there is one
time for the subproblems; the paper has one for lower and one for upper levels. How many cuts
came from either is told instead.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest import mock

from studies.common import (
    GAP_NOTE,
    GENERATED_NOTE,
    RUN_COLUMNS,
    Results,
    arguments,
    generated_instance,
    published,
    run_tacit,
    warm_up,
)
from tacit.attack.cuts import Cuts
from tacit.methods.suppress.algorithms.benders import Answer, Region, TrustRegionMaster
from tacit.methods.suppress.subproblems import Subproblems
from tacit.problem import Booleans

INSTANCES = ("50-70-10", "40-50-15", "70-80-10", "70-80-15")
FORMS = ("meth1", "meth3", "meth4", "meth5")
PAPER = "[BaenaCastroFrangioni2020, Table 4]"
COLUMNS = (
    *("instance", "cells", "sensitive", "method", "seed", *RUN_COLUMNS),
    *("master_s_per_iteration", "subproblem_s_per_iteration"),
    *("lower_cuts_per_iteration", "upper_cuts_per_iteration"),
    *("paper_iterations", "paper_total_s", "paper_gap_pct", "paper_master_s_per_iteration"),
    *("paper_lower_s_per_iteration", "paper_upper_s_per_iteration"),
)


@dataclass
class Spent:
    """What a run spent, in seconds, and the cuts it got for it."""

    master: float = 0.0
    subproblems: float = 0.0
    lower_cuts: int = 0
    upper_cuts: int = 0


@contextmanager
def watched() -> Iterator[Spent]:
    """Time the master problem and the subproblems of the runs within."""
    spent = Spent()
    solve, cuts = TrustRegionMaster.solve, Subproblems.cuts

    def timed_solve(self: TrustRegionMaster, region: Region | None = None) -> Answer:
        began = time.perf_counter()
        try:
            return solve(self, region)
        finally:
            spent.master += time.perf_counter() - began

    def timed_cuts(self: Subproblems, hidden: Booleans) -> Iterator[Cuts]:
        # The subproblems are solved while the caller asks for one attacker after the other.
        began = time.perf_counter()
        for found in cuts(self, hidden):
            spent.subproblems += time.perf_counter() - began
            spent.lower_cuts += int((found.sides < 0).sum())
            spent.upper_cuts += int((found.sides > 0).sum())
            yield found
            began = time.perf_counter()
        spent.subproblems += time.perf_counter() - began

    with (
        mock.patch.object(TrustRegionMaster, "solve", timed_solve),
        mock.patch.object(Subproblems, "cuts", timed_cuts),
    ):
        yield spent


def main() -> None:
    """Run the study."""
    asked = arguments(PAPER, instances=INSTANCES, time_limit=600.0).parse_args()
    notes = [
        f"{PAPER}; time limit {asked.time_limit:g} s per run (the paper's: 3600 s)",
        f"stabilized, own_cuts=False; tables generated with seed {asked.seed}",
        GENERATED_NOTE,
        GAP_NOTE,
    ]
    printed = {(row["instance"], f"meth{row['method']}"): row for row in published(4)}
    warm_up()
    with Results(asked.out / "table4.csv", COLUMNS, notes) as results:
        for name in asked.instances:
            problem = generated_instance(name, asked.seed)
            about = {"cells": problem.cell_count, "sensitive": len(problem.sensitive)}
            for form in FORMS:
                with watched() as spent:
                    run = run_tacit(
                        problem,
                        time_limit=asked.time_limit,
                        seed=asked.seed,
                        algorithm="stabilized",
                        subproblem=form,
                        own_cuts=False,
                    )
                rounds = run.iterations or None
                paper = printed.get((name, form), {})
                results.add(
                    {
                        "instance": name,
                        **about,
                        "method": form,
                        "seed": asked.seed,
                        **run.entries(),
                        "master_s_per_iteration": rounds and spent.master / rounds,
                        "subproblem_s_per_iteration": rounds and spent.subproblems / rounds,
                        "lower_cuts_per_iteration": rounds and spent.lower_cuts / rounds,
                        "upper_cuts_per_iteration": rounds and spent.upper_cuts / rounds,
                        "paper_iterations": paper.get("benders_iterations"),
                        "paper_total_s": paper.get("total_time_s"),
                        "paper_gap_pct": paper.get("gap_pct"),
                        "paper_master_s_per_iteration": paper.get("master_s_per_it"),
                        "paper_lower_s_per_iteration": paper.get("lower_sub_s_per_it"),
                        "paper_upper_s_per_iteration": paper.get("upper_sub_s_per_it"),
                    }
                )


if __name__ == "__main__":
    main()
