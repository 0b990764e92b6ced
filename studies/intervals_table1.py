"""[CastroVia2016, Table 1]: intervals by cuts, compared with the paper's Benders decomposition.

After the paper's tables come larger generated ones and real ones.
"""

from __future__ import annotations

from studies.common import GENERATED_NOTE, Results, arguments
from studies.intervals_common import (
    LARGER_TABLES,
    PAPER_TABLES,
    REAL_TABLES,
    RUN_COLUMNS,
    printed,
    run,
    table,
)

PAPER = "[CastroVia2016, Table 1]"
COLUMNS = (
    *("instance", "cells", "sensitive", "algorithm", "seed", *RUN_COLUMNS),
    *("paper_cpu_s", "paper_iterations", "paper_objective"),
)


def main() -> None:
    """Run the study."""
    names = [*PAPER_TABLES, *LARGER_TABLES, *REAL_TABLES]
    parser = arguments(PAPER, instances=names, time_limit=60.0)
    parser.add_argument(
        "--plain", type=float, default=20.0, help="seconds for plain Benders; 0 for none"
    )
    asked = parser.parse_args()
    paper = printed(1)
    notes = [
        f"{PAPER}; time limit {asked.time_limit:g} s, benders {asked.plain:g} s",
        f"weights of generated tables are values; seed {asked.seed}; gap asked for 1e-4",
        GENERATED_NOTE,
    ]
    run(table("table1"), time_limit=5.0)
    with Results(asked.out / "intervals_table1.csv", COLUMNS, notes) as results:
        for name in asked.instances:
            problem = table(name, asked.seed)
            row = paper.get(name, {})
            limits = {"auto": asked.time_limit}
            if asked.plain and name in PAPER_TABLES:
                limits["benders"] = asked.plain
            for algorithm, limit in limits.items():
                results.add(
                    {
                        "instance": name,
                        "cells": problem.cell_count,
                        "sensitive": len(problem.sensitive),
                        "algorithm": algorithm,
                        "seed": asked.seed,
                        **run(problem, algorithm=algorithm, time_limit=limit, seed=asked.seed),
                        "paper_cpu_s": row.get("benders_cpu_s"),
                        "paper_iterations": row.get("benders_iterations"),
                        "paper_objective": row.get("objective"),
                    }
                )


if __name__ == "__main__":
    main()
