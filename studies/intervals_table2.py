"""[CastroVia2016, Table 2]: the monolithic model, and how many times faster cuts are."""

from __future__ import annotations

from studies.common import GENERATED_NOTE, Results, arguments
from studies.intervals_common import PAPER_TABLES, RUN_COLUMNS, printed, run, table

PAPER = "[CastroVia2016, Table 2]"
COLUMNS = (
    *("instance", "cells", "sensitive", "variables", "seed", *RUN_COLUMNS),
    *("auto_seconds", "auto_objective", "benders_seconds", "times_faster"),
    *("paper_cpu_s", "paper_simplex_iterations", "paper_variables", "paper_status"),
)


def main() -> None:
    """Run the study."""
    parser = arguments(PAPER, instances=PAPER_TABLES, time_limit=300.0)
    asked = parser.parse_args()
    paper = printed(2)
    notes = [
        f"{PAPER}; the monolithic model on HiGHS, time limit {asked.time_limit:g} s; seed "
        f"{asked.seed}",
        "times_faster: seconds of the monolithic model over those of auto, at least that where "
        "the time limit cut in",
        GENERATED_NOTE,
    ]
    run(table("table1"), time_limit=5.0)
    path = asked.out / "intervals_table2.csv"
    with Results(path, COLUMNS, notes, key=("instance",), again=asked.again) as results:
        for name in asked.instances:
            if results.has(name):
                continue
            problem = table(name, asked.seed)
            cuts = run(problem, time_limit=asked.time_limit, seed=asked.seed)
            plain = run(problem, algorithm="benders", time_limit=asked.time_limit, seed=asked.seed)
            whole = run(
                problem, algorithm="monolithic", time_limit=asked.time_limit, seed=asked.seed
            )
            quick, slow = cuts["seconds"], whole["seconds"]
            faster = None
            if isinstance(quick, float) and isinstance(slow, float):
                faster = round(slow / max(quick, 0.01), 1)
            row = paper.get(name, {})
            requests = int((problem.lower_level > 0).sum() + (problem.upper_level > 0).sum())
            results.add(
                {
                    "instance": name,
                    "cells": problem.cell_count,
                    "sensitive": len(problem.sensitive),
                    "variables": problem.cell_count * (requests + 2),
                    "seed": asked.seed,
                    **whole,
                    "auto_seconds": quick,
                    "auto_objective": cuts["objective"],
                    "benders_seconds": plain["seconds"],
                    "times_faster": faster,
                    "paper_cpu_s": row.get("cplex_monolithic_cpu_s"),
                    "paper_simplex_iterations": row.get("simplex_iterations"),
                    "paper_variables": row.get("n_var"),
                    "paper_status": row.get("status"),
                }
            )


if __name__ == "__main__":
    main()
