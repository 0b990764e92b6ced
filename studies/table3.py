"""[BaenaCastroFrangioni2020, Table 3, Figures 5 to 7]: subproblems, with and without stabilization.

All 28 combinations of form, linear programming method and master problem, with the paper's cuts
(`own_cuts=False`). `table3_runs.csv` has every run, `table3.csv` the means as the paper has them,
the figures' profiles are `figure5_*`, `figure6_*` and `figure7_*`. Means and profiles are made from
the rows in the file, so that a study that was stopped and went on has them, too. Half an hour in
full, with two runs at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from studies.common import (
    GAP_NOTE,
    GENERATED_NOTE,
    RUN_COLUMNS,
    Entry,
    Results,
    arguments,
    generated_instance,
    mean_of,
    published,
    run_tacit,
)
from studies.performance_profile import write_profile
from studies.workers import add_at_once, at_once_note, measured

INSTANCES = (
    *("10-10-10", "15-15-10", "20-25-15", "25-35-15", "30-30-15"),
    *("40-50-15", "40-80-15", "50-70-10", "50-50-15", "60-60-15", "70-50-10", "70-80-15"),
)
"""Twelve tables spread over the sizes, 451 to 24,786 cells; the last seven are the paper's."""
FORMS = ("meth1", "meth2", "meth3", "meth4", "meth5")
SOLVERS = ("primal", "dual", "interior-point")
VARIANTS = {"classic": "benders", "stabilized": "stabilized"}
COMBINATIONS = [
    (form, solver, variant)
    for form, solver, variant in product(FORMS, SOLVERS, VARIANTS)
    if (form, solver) != ("meth2", "interior-point")
]
"""The paper's 28: an interior point method finds no ray."""
CLOSE = 0.1
"""The gap of the secondary cells in per cent that a run is timed to."""
GAP = 1e-6
"""Where a run ends, sensitive cells included."""
BEST = 6
"""How many combinations Figure 7 shows."""
KEY = ("instance", "method", "solver", "variant")
ALL_COLUMNS = (
    *("instance", "cells", "sensitive", "method", "solver", "variant", "seed", *RUN_COLUMNS),
    *("seconds_to_close", "secondary_weight"),
)
PAPER = "[BaenaCastroFrangioni2020, Table 3, Figures 5 to 7]"
COLUMNS = (
    *("method", "variant", "runs", "safe_patterns", "close", "mean_gap_pct"),
    *("mean_secondary_gap_pct", "mean_iterations", "mean_seconds_to_close"),
    *("paper_mean_gap_pct", "paper_mean_iterations", "paper_mean_cpu_s"),
)
Rows = Iterable[Mapping[str, str]]


def main() -> None:
    """Run the study."""
    parser = arguments(PAPER, instances=INSTANCES, time_limit=10.0)
    add_at_once(parser)
    asked = parser.parse_args()
    notes = [
        f"{PAPER}; time limit {asked.time_limit:g} s per run (the paper's: 3600 s)",
        f"own_cuts=False; tables: {', '.join(asked.instances)}, generated with seed {asked.seed}",
        f"twelve tables spread over the sizes in place of the paper's 48; a run ends at a gap of "
        f"{GAP:g}; seconds_to_close: until the gap of the secondary cells is {CLOSE:g} %",
        "every stabilized run begins with the relaxed master problem, with cuts of meth1",
        at_once_note(asked.at_once),
        GENERATED_NOTE,
        GAP_NOTE,
    ]
    path = asked.out / "table3_runs.csv"
    with Results(path, ALL_COLUMNS, notes, key=KEY, again=asked.again) as results:
        tasks = [
            Task(name, form, solver, variant, asked.time_limit, asked.seed)
            for name, (form, solver, variant) in product(asked.instances, COMBINATIONS)
            if not results.has(name, form, solver, variant)
        ]
        for row in measured(run_task, tasks, at_once=asked.at_once):
            results.add(row)
        rows = results.rows
    write_means(rows, asked.out / "table3.csv", notes, asked.time_limit)
    write_figures(rows, asked.out, asked.time_limit)
    compare(rows, asked.time_limit)


@dataclass(frozen=True)
class Task:
    """One run: a combination on a table."""

    name: str
    form: str
    solver: str
    variant: str
    time_limit: float
    seed: int


def run_task(task: Task) -> dict[str, Entry]:
    """The row of one run."""
    problem = generated_instance(task.name, task.seed)
    run = run_tacit(
        problem,
        time_limit=task.time_limit,
        seed=task.seed,
        gap=GAP,
        jobs=1,
        algorithm=VARIANTS[task.variant],
        subproblem=task.form,
        subproblem_solver=task.solver,
        own_cuts=False,
    )
    weight = None if run.objective is None else run.objective - run.sensitive_weight
    return {
        "instance": task.name,
        "cells": problem.cell_count,
        "sensitive": len(problem.sensitive),
        "method": task.form,
        "solver": task.solver,
        "variant": task.variant,
        "seed": task.seed,
        **run.entries(),
        "seconds_to_close": run.seconds_to(CLOSE),
        "secondary_weight": weight,
    }


def until_close(row: Mapping[str, str], limit: float) -> float:
    """Seconds until the gap was small; the time limit where it never was, as in the paper."""
    return min(float(row["seconds_to_close"]), limit) if row["seconds_to_close"] else limit


def write_means(rows: Rows, path: Path, notes: Iterable[str], limit: float) -> None:
    """Write the paper's Table 3: means over tables and methods of linear programming."""
    found = list(rows)
    printed = {(row["method"], row["variant"]): row for row in published(3)}
    with Results(path, COLUMNS, notes) as results:
        for form, variant in product(FORMS, VARIANTS):
            some = [row for row in found if (row["method"], row["variant"]) == (form, variant)]
            if not some:
                continue
            paper = printed[form, variant]
            results.add(
                {
                    "method": form,
                    "variant": variant,
                    "runs": len(some),
                    "safe_patterns": sum(row["safe"] == "yes" for row in some),
                    "close": sum(bool(row["seconds_to_close"]) for row in some),
                    "mean_gap_pct": mean_of(some, "gap_pct"),
                    "mean_secondary_gap_pct": mean_of(some, "secondary_gap_pct"),
                    "mean_iterations": mean_of(some, "iterations"),
                    "mean_seconds_to_close": sum(until_close(row, limit) for row in some)
                    / len(some),
                    "paper_mean_gap_pct": paper["avg_gap_pct"],
                    "paper_mean_iterations": paper["avg_benders_iterations"],
                    "paper_mean_cpu_s": paper["avg_cpu_s"],
                }
            )


def write_figures(rows: Rows, out: Path, limit: float) -> None:
    """Write the profiles of Figures 5 to 7: weight of the secondary cells, and seconds."""
    found = list(rows)
    for solver in SOLVERS:
        some = [row for row in found if row["solver"] == solver]
        if some:
            _profiles(some, out, solver, f"subproblems by {solver}", limit, ("figure5", "figure6"))
    if not found:
        return
    chosen = best_combinations(found)
    some = [row for row in found if _name(row) in chosen]
    _profiles(some, out, "best", "best combinations", limit, ("figure7_weight", "figure7_seconds"))


def best_combinations(rows: Rows) -> list[str]:
    """The combinations with the smallest mean gap of the secondary cells."""
    by_name: dict[str, list[Mapping[str, str]]] = {}
    for row in rows:
        by_name.setdefault(_name(row), []).append(row)
    means = {name: mean_of(some, "secondary_gap_pct") for name, some in by_name.items()}
    known = {name: gap for name, gap in means.items() if gap is not None}
    return sorted(known, key=lambda name: (known[name], name))[:BEST]


def compare(rows: Rows, limit: float) -> None:
    """Print on how many tables stabilized is sooner close than classic, pair by pair."""
    by_pair: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in rows:
        pair = (row["instance"], row["method"], row["solver"])
        by_pair.setdefault(pair, {})[row["variant"]] = until_close(row, limit)
    both = [times for times in by_pair.values() if len(times) == len(VARIANTS)]
    sooner = sum(times["stabilized"] < times["classic"] for times in both)
    later = sum(times["stabilized"] > times["classic"] for times in both)
    print(f"of {len(both)} pairs stabilized is sooner close in {sooner}, classic in {later}")


def _name(row: Mapping[str, str]) -> str:
    return f"{row['method']} {row['variant']} {row['solver']}"


def _profiles(
    rows: Rows, out: Path, name: str, title: str, limit: float, figures: tuple[str, str]
) -> None:
    weight: dict[str, dict[str, float | None]] = {}
    seconds: dict[str, dict[str, float | None]] = {}
    for row in rows:
        paid = float(row["secondary_weight"]) if row["secondary_weight"] else None
        weight.setdefault(_name(row), {})[row["instance"]] = paid
        seconds.setdefault(_name(row), {})[row["instance"]] = until_close(row, limit)
    told = f"{title}, time limit {limit:g} s"
    write_profile(
        weight, out / f"{figures[0]}_{name}_profile.csv", f"Weight of secondary cells: {told}"
    )
    write_profile(
        seconds,
        out / f"{figures[1]}_{name}_profile.csv",
        f"Seconds to a gap of {CLOSE:g} % of the secondary cells: {told}",
    )


if __name__ == "__main__":
    main()
