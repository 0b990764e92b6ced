"""[CastroVia2016, Table 1]: intervals by cuts, plain Benders beside `auto`.

After the paper's tables come larger generated ones and real ones, `auto` alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from studies.common import GENERATED_NOTE, Entry, Results, arguments
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
    *("paper_cpu_s", "paper_iterations", "times_paper_iterations"),
    *("paper_simplex_iterations", "paper_objective"),
)


def main() -> None:
    """Run the study."""
    names = [*PAPER_TABLES, *LARGER_TABLES, *REAL_TABLES]
    parser = arguments(PAPER, instances=names, time_limit=60.0)
    parser.add_argument(
        "--plain", type=float, default=60.0, help="seconds for plain Benders; 0 for none"
    )
    asked = parser.parse_args()
    paper = printed(1)
    notes = [
        f"{PAPER}; time limit {asked.time_limit:g} s, benders {asked.plain:g} s",
        f"weights of generated tables are values; seed {asked.seed}; gap asked for 1e-4",
        "solver_iterations: of all linear programs; tables with one hierarchy are networks, whose "
        "subproblems are flows and take none",
        GENERATED_NOTE,
    ]
    run(table("table1"), time_limit=5.0)
    path, key = asked.out / "intervals_table1.csv", ("instance", "algorithm")
    with Results(path, COLUMNS, notes, key=key, again=asked.again) as results:
        for name in asked.instances:
            problem = table(name, asked.seed)
            row = paper.get(name, {})
            limits = {"auto": asked.time_limit}
            if asked.plain and name in PAPER_TABLES:
                limits["benders"] = asked.plain
            for algorithm, limit in limits.items():
                if results.has(name, algorithm):
                    continue
                found = run(problem, algorithm=algorithm, time_limit=limit, seed=asked.seed)
                results.add(
                    {
                        "instance": name,
                        "cells": problem.cell_count,
                        "sensitive": len(problem.sensitive),
                        "algorithm": algorithm,
                        "seed": asked.seed,
                        **found,
                        "paper_cpu_s": row.get("benders_cpu_s"),
                        "paper_iterations": row.get("benders_iterations"),
                        "times_paper_iterations": _times(found, row),
                        "paper_simplex_iterations": row.get("simplex_iterations"),
                        "paper_objective": row.get("objective"),
                    }
                )


def _times(found: Mapping[str, Entry], row: Mapping[str, str]) -> float | None:
    """How many times the iterations of the paper."""
    rounds, theirs = found.get("iterations"), row.get("benders_iterations")
    return float(rounds) / float(theirs) if rounds and theirs else None


if __name__ == "__main__":
    main()
