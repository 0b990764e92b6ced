"""[BaenaCastroFrangioni2020, Table 7]: small 1H2D tables; `stabilized` and its peers.

The paper compares stabilized Benders with the decomposition that CPLEX 12.7 has built in, which
is not run here: its figures stand beside. What comes closest is `branch-and-cut`, with Benders'
cuts in one tree; classic `benders` and `auto` are the others. Eight minutes in full.
"""

from __future__ import annotations

from typing import Any

from studies.common import (
    GAP_NOTE,
    GENERATED_NOTE,
    RUN_COLUMNS,
    Results,
    add_jobs,
    arguments,
    generated_instance,
    jobs_note,
    published_by_instance,
    run_tacit,
    warm_up,
)
from studies.performance_profile import write_profile
from studies.table3 import CLOSE, GAP, until_close

_PAPERS = {"subproblem": "meth1", "subproblem_solver": "interior-point", "own_cuts": False}
METHODS: dict[str, dict[str, Any]] = {
    "stabilized meth1 interior-point": {"algorithm": "stabilized", **_PAPERS},
    "classic meth1 interior-point": {"algorithm": "benders", **_PAPERS},
    "stabilized": {"algorithm": "stabilized"},
    "branch-and-cut": {"algorithm": "branch-and-cut"},
    "auto": {"algorithm": "auto"},
}
PAPER = "[BaenaCastroFrangioni2020, Table 7]"
COLUMNS = (
    *("instance", "cells", "sensitive", "method", "seed", *RUN_COLUMNS),
    *("seconds_to_close", "secondary_weight"),
    *("paper_stabilized_cpu_s", "paper_stabilized_gap_pct"),
    *("paper_cplex_strategy1_gap_pct", "paper_cplex_strategy0_gap_pct"),
)


def main() -> None:
    """Run the study."""
    printed = published_by_instance(7)
    parser = arguments(PAPER, instances=list(printed), time_limit=10.0)
    add_jobs(parser)
    asked = parser.parse_args()
    notes = [
        f"{PAPER}; time limit {asked.time_limit:g} s per run (the paper's: 3600 s)",
        "the first two with own_cuts=False; tables generated with seed "
        f"{asked.seed}; a run ends at a gap of {GAP:g}",
        f"seconds_to_close: until the gap of the secondary cells is {CLOSE:g} %",
        jobs_note(asked.jobs),
        GENERATED_NOTE,
        GAP_NOTE,
    ]
    warm_up()
    path, key = asked.out / "table7.csv", ("instance", "method")
    with Results(path, COLUMNS, notes, key=key, again=asked.again) as results:
        for name in asked.instances:
            problem = generated_instance(name, asked.seed)
            paper = printed.get(name, {})
            for method, options in METHODS.items():
                if results.has(name, method):
                    continue
                run = run_tacit(
                    problem,
                    time_limit=asked.time_limit,
                    seed=asked.seed,
                    gap=GAP,
                    jobs=asked.jobs,
                    **options,
                )
                weight = None if run.objective is None else run.objective - run.sensitive_weight
                results.add(
                    {
                        "instance": name,
                        "cells": problem.cell_count,
                        "sensitive": len(problem.sensitive),
                        "method": method,
                        "seed": asked.seed,
                        **run.entries(),
                        "seconds_to_close": run.seconds_to(CLOSE),
                        "secondary_weight": weight,
                        "paper_stabilized_cpu_s": paper.get("stab_cpu_s"),
                        "paper_stabilized_gap_pct": paper.get("stab_gap_pct"),
                        "paper_cplex_strategy1_gap_pct": paper.get("cplexB1_gap_pct"),
                        "paper_cplex_strategy0_gap_pct": paper.get("cplexB0_gap_pct"),
                    }
                )
        rows = results.rows
    weight_of: dict[str, dict[str, float | None]] = {}
    seconds_of: dict[str, dict[str, float | None]] = {}
    for row in rows:
        paid = float(row["secondary_weight"]) if row["secondary_weight"] else None
        weight_of.setdefault(row["method"], {})[row["instance"]] = paid
        took = until_close(row, asked.time_limit)
        seconds_of.setdefault(row["method"], {})[row["instance"]] = took
    limit = f"small 1H2D tables, time limit {asked.time_limit:g} s"
    write_profile(
        weight_of,
        asked.out / "table7_objective_profile.csv",
        f"Weight of secondary cells: {limit}",
    )
    write_profile(
        seconds_of,
        asked.out / "table7_seconds_profile.csv",
        f"Seconds to a gap of {CLOSE:g} % of the secondary cells: {limit}",
    )


if __name__ == "__main__":
    main()
