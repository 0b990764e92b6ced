"""[CastroVia2016, Table 2]: the monolithic model, and how many times faster cuts are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from studies.common import GENERATED_NOTE, Entry, Results, arguments
from studies.intervals_common import PAPER_TABLES, RUN_COLUMNS, printed, run, table
from studies.workers import add_at_once, at_once_note, measured

PAPER = "[CastroVia2016, Table 2]"
COLUMNS = (
    *("instance", "cells", "sensitive", "variables", "seed", *RUN_COLUMNS),
    *("auto_seconds", "auto_objective", "benders_seconds", "times_faster"),
    *("paper_cpu_s", "paper_simplex_iterations", "paper_variables", "paper_status"),
)


def main() -> None:
    """Run the study."""
    parser = arguments(PAPER, instances=PAPER_TABLES, time_limit=300.0)
    add_at_once(parser)
    asked = parser.parse_args()
    paper = printed(2)
    notes = [
        f"{PAPER}; the monolithic model on HiGHS, time limit {asked.time_limit:g} s; seed "
        f"{asked.seed}",
        "times_faster: seconds of the monolithic model over those of auto, at least that where "
        "the time limit cut in",
        at_once_note(asked.at_once),
        GENERATED_NOTE,
    ]
    path = asked.out / "intervals_table2.csv"
    with Results(path, COLUMNS, notes, key=("instance",), again=asked.again) as results:
        tasks = [
            Task(name, asked.time_limit, asked.seed)
            for name in asked.instances
            if not results.has(name)
        ]
        for found in measured(run_task, tasks, at_once=asked.at_once):
            row = paper.get(str(found["instance"]), {})
            results.add(
                {
                    **found,
                    "paper_cpu_s": row.get("cplex_monolithic_cpu_s"),
                    "paper_simplex_iterations": row.get("simplex_iterations"),
                    "paper_variables": row.get("n_var"),
                    "paper_status": row.get("status"),
                }
            )


@dataclass(frozen=True)
class Task:
    """The runs of one row."""

    name: str
    time_limit: float
    seed: int


def run_task(task: Task) -> dict[str, Entry]:
    """One row: the monolithic model, with `auto` and plain Benders beside it."""
    problem = table(task.name, task.seed)
    options: dict[str, Any] = {"time_limit": task.time_limit, "seed": task.seed}
    cuts = run(problem, **options)
    plain = run(problem, algorithm="benders", **options)
    whole = run(problem, algorithm="monolithic", **options)
    quick, slow = cuts["seconds"], whole["seconds"]
    faster = None
    if isinstance(quick, float) and isinstance(slow, float):
        faster = round(slow / max(quick, 0.01), 1)
    requests = int((problem.lower_level > 0).sum() + (problem.upper_level > 0).sum())
    return {
        "instance": task.name,
        "cells": problem.cell_count,
        "sensitive": len(problem.sensitive),
        "variables": problem.cell_count * (requests + 2),
        "seed": task.seed,
        **whole,
        "auto_seconds": quick,
        "auto_objective": cuts["objective"],
        "benders_seconds": plain["seconds"],
        "times_faster": faster,
    }


if __name__ == "__main__":
    main()
