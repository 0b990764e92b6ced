"""[CastroVia2016, Table 1]: intervals by cuts, plain Benders beside `auto`.

After the paper's tables come larger generated ones and real ones, `auto` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
from studies.workers import add_at_once, at_once_note, measured

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
    add_at_once(parser)
    asked = parser.parse_args()
    paper = printed(1)
    notes = [
        f"{PAPER}; time limit {asked.time_limit:g} s, benders {asked.plain:g} s",
        f"weights of generated tables are values; seed {asked.seed}; gap asked for 1e-4",
        "solver_iterations: of all linear programs; tables with one hierarchy are networks, whose "
        "subproblems are flows and take none",
        at_once_note(asked.at_once),
        GENERATED_NOTE,
    ]
    path, key = asked.out / "intervals_table1.csv", ("instance", "algorithm")
    with Results(path, COLUMNS, notes, key=key, again=asked.again) as results:
        tasks = [Task(name, "auto", asked.time_limit, asked.seed) for name in asked.instances]
        if asked.plain:
            tasks += [
                Task(name, "benders", asked.plain, asked.seed)
                for name in asked.instances
                if name in PAPER_TABLES
            ]
        tasks = [task for task in tasks if not results.has(task.name, task.algorithm)]
        for found in measured(run_task, tasks, at_once=asked.at_once):
            row = paper.get(str(found["instance"]), {})
            results.add(
                {
                    **found,
                    "paper_cpu_s": row.get("benders_cpu_s"),
                    "paper_iterations": row.get("benders_iterations"),
                    "times_paper_iterations": _times(found, row),
                    "paper_simplex_iterations": row.get("simplex_iterations"),
                    "paper_objective": row.get("objective"),
                }
            )


@dataclass(frozen=True)
class Task:
    """One run: an algorithm on a table."""

    name: str
    algorithm: str
    time_limit: float
    seed: int


def run_task(task: Task) -> dict[str, Entry]:
    """The row of one run, without the paper's figures."""
    problem = table(task.name, task.seed)
    found = run(problem, algorithm=task.algorithm, time_limit=task.time_limit, seed=task.seed)
    return {
        "instance": task.name,
        "cells": problem.cell_count,
        "sensitive": len(problem.sensitive),
        "algorithm": task.algorithm,
        "seed": task.seed,
        **found,
    }


def _times(found: Mapping[str, Entry], row: Mapping[str, str]) -> float | None:
    """How many times the iterations of the paper."""
    rounds, theirs = found.get("iterations"), row.get("benders_iterations")
    return float(rounds) / float(theirs) if rounds and theirs else None


if __name__ == "__main__":
    main()
