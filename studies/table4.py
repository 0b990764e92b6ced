"""[BaenaCastroFrangioni2020, Table 4]: where stabilized Benders spends its time, by subproblem.

tacit's attacker asks for both protection levels of all cells in one sweep, so that there is one
time for the subproblems; the paper has one for lower and one for upper levels. How many cuts
came from either is told instead. Three minutes in full.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from studies.common import (
    GAP_NOTE,
    GENERATED_NOTE,
    RUN_COLUMNS,
    Results,
    add_jobs,
    arguments,
    generated_instance,
    jobs_note,
    published,
    run_tacit,
    warm_up,
)
from studies.table3 import CLOSE, GAP
from tacit.attack.cuts import Cuts
from tacit.methods.suppress.algorithms.benders import Answer, TrustRegionMaster
from tacit.methods.suppress.subproblems import Subproblems
from tacit.methods.suppress.trust_regions import Region
from tacit.problem import Booleans

INSTANCES = ("50-70-10", "40-50-15", "70-80-10", "70-80-15")
FORMS = ("meth1", "meth3", "meth4", "meth5")
PAPER = "[BaenaCastroFrangioni2020, Table 4]"
COLUMNS = (
    *("instance", "cells", "sensitive", "method", "seed", *RUN_COLUMNS),
    *("masters", "patterns_cut_off", "seconds_to_close"),
    *("master_s_per_iteration", "subproblem_s_per_iteration"),
    *("lower_cuts_per_iteration", "upper_cuts_per_iteration"),
    *("paper_iterations", "paper_total_s", "paper_gap_pct", "paper_master_s_per_iteration"),
    *("paper_lower_s_per_iteration", "paper_upper_s_per_iteration"),
)


@dataclass
class Spent:
    """What a run spent, in seconds, and the cuts it got for it.

    Rounds of the relaxation are iterations, too, but have no master problem in integers.
    """

    masters: int = 0
    patterns: int = 0
    master: float = 0.0
    subproblems: float = 0.0
    lower_cuts: int = 0
    upper_cuts: int = 0


@contextmanager
def watched() -> Iterator[Spent]:
    """Time the master problem and the subproblems of the runs within."""
    spent = Spent()
    solve, cuts = TrustRegionMaster.solve, Subproblems.cuts

    def timed_solve(self: TrustRegionMaster, region: Region | None = None, **limits: Any) -> Answer:
        began = time.perf_counter()
        spent.masters += 1
        try:
            return solve(self, region, **limits)
        finally:
            spent.master += time.perf_counter() - began

    def timed_cuts(self: Subproblems, hidden: Booleans) -> Iterator[Cuts]:
        # The subproblems are solved while the caller asks for one attacker after the other.
        spent.patterns += 1
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
    parser = arguments(PAPER, instances=INSTANCES, time_limit=10.0)
    add_jobs(parser)
    asked = parser.parse_args()
    notes = [
        f"{PAPER}; time limit {asked.time_limit:g} s per run (the paper's: 3600 s)",
        f"stabilized, own_cuts=False; tables generated with seed {asked.seed}; gap asked for "
        f"{GAP:g}",
        "seconds and cuts are per master problem in integers, and per pattern that was cut off",
        jobs_note(asked.jobs),
        GENERATED_NOTE,
        GAP_NOTE,
    ]
    printed = {(row["instance"], f"meth{row['method']}"): row for row in published(4)}
    warm_up()
    path, key = asked.out / "table4.csv", ("instance", "method")
    with Results(path, COLUMNS, notes, key=key, again=asked.again) as results:
        for name in asked.instances:
            problem = generated_instance(name, asked.seed)
            about = {"cells": problem.cell_count, "sensitive": len(problem.sensitive)}
            for form in FORMS:
                if results.has(name, form):
                    continue
                with watched() as spent:
                    run = run_tacit(
                        problem,
                        time_limit=asked.time_limit,
                        seed=asked.seed,
                        algorithm="stabilized",
                        subproblem=form,
                        own_cuts=False,
                        gap=GAP,
                        jobs=asked.jobs,
                    )
                masters, patterns = spent.masters or None, spent.patterns or None
                paper = printed.get((name, form), {})
                results.add(
                    {
                        "instance": name,
                        **about,
                        "method": form,
                        "seed": asked.seed,
                        **run.entries(),
                        "masters": spent.masters,
                        "patterns_cut_off": spent.patterns,
                        "seconds_to_close": run.seconds_to(CLOSE),
                        "master_s_per_iteration": masters and spent.master / masters,
                        "subproblem_s_per_iteration": patterns and spent.subproblems / patterns,
                        "lower_cuts_per_iteration": patterns and spent.lower_cuts / patterns,
                        "upper_cuts_per_iteration": patterns and spent.upper_cuts / patterns,
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
