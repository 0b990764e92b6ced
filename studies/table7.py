"""[BaenaCastroFrangioni2020, Table 7]: small 1H2D tables; `stabilized` and `auto`.

The paper compares stabilized Benders with the decomposition that CPLEX 12.7 has built in, which
is not run here: its figures stand beside.
"""

from __future__ import annotations

from typing import Any

from studies.common import (
    GAP_NOTE,
    GENERATED_NOTE,
    RUN_COLUMNS,
    Results,
    Run,
    arguments,
    generated_instance,
    published_by_instance,
    run_tacit,
    warm_up,
)
from studies.performance_profile import write_profile

METHODS: dict[str, dict[str, Any]] = {
    "stabilized meth1": {"algorithm": "stabilized", "subproblem": "meth1", "own_cuts": False},
    "auto": {"algorithm": "auto"},
}
PAPER = "[BaenaCastroFrangioni2020, Table 7]"
COLUMNS = (
    *("instance", "cells", "sensitive", "method", "seed", *RUN_COLUMNS),
    *("paper_stabilized_cpu_s", "paper_stabilized_gap_pct"),
    *("paper_cplex_strategy1_gap_pct", "paper_cplex_strategy0_gap_pct"),
)


def main() -> None:
    """Run the study."""
    printed = published_by_instance(7)
    parser = arguments(PAPER, instances=list(printed), time_limit=60.0)
    asked = parser.parse_args()
    notes = [
        f"{PAPER}; time limit {asked.time_limit:g} s per run (the paper's: 3600 s)",
        f"stabilized with own_cuts=False; tables generated with seed {asked.seed}",
        GENERATED_NOTE,
        GAP_NOTE,
    ]
    warm_up()
    runs: dict[str, dict[str, Run]] = {method: {} for method in METHODS}
    with Results(asked.out / "table7.csv", COLUMNS, notes) as results:
        for name in asked.instances:
            problem = generated_instance(name, asked.seed)
            paper = printed.get(name, {})
            for method, options in METHODS.items():
                run = run_tacit(problem, time_limit=asked.time_limit, seed=asked.seed, **options)
                runs[method][name] = run
                results.add(
                    {
                        "instance": name,
                        "cells": problem.cell_count,
                        "sensitive": len(problem.sensitive),
                        "method": method,
                        "seed": asked.seed,
                        **run.entries(),
                        "paper_stabilized_cpu_s": paper.get("stab_cpu_s"),
                        "paper_stabilized_gap_pct": paper.get("stab_gap_pct"),
                        "paper_cplex_strategy1_gap_pct": paper.get("cplexB1_gap_pct"),
                        "paper_cplex_strategy0_gap_pct": paper.get("cplexB0_gap_pct"),
                    }
                )
    write_profile(
        {
            method: {name: run.objective for name, run in by_instance.items()}
            for method, by_instance in runs.items()
        },
        asked.out / "table7_objective_profile.csv",
        f"Objective on small 1H2D tables, time limit {asked.time_limit:g} s",
    )
    write_profile(
        {
            method: {name: run.seconds_if_optimal for name, run in by_instance.items()}
            for method, by_instance in runs.items()
        },
        asked.out / "table7_seconds_profile.csv",
        f"Seconds on small 1H2D tables, time limit {asked.time_limit:g} s",
    )


if __name__ == "__main__":
    main()
