"""Adjusted tables: tacit against HiGHS and SCIP on [Castro2012, (18)], in the same run.

    python -m studies.adjust --set table3     # [Castro2012, Table 3]; at most 40 minutes
    python -m studies.adjust --set table4     # [Castro2012, Table 4]; at most 50 minutes
    python -m studies.adjust --set public     # 13 public instances; at most 90 minutes
    python -m studies.adjust --set first      # first tables, generated 3-D ones too; 8 minutes

Tables of the sizes of the paper's Table 3 are generated like business statistics, those of Table 4
are random two-dimensional ones; each with unit weights and weights 1 / value. Objective and gap
after 10 seconds and at the end come from the same runs. Least squares for the senses that tacit
found are timed as well.

All are given the same task: tables with decimals (`integer=False`), because model (18) has no
whole numbers. `audit` is the verdict on the table that was handed over: tacit's own audit, and
for HiGHS and SCIP a check in rational numbers. An objective of a table that is not safe is no
objective at all. `bound_source` tells bounds that were recomputed from those of solvers.
`benders` is the decomposition (19), (20), which the paper times in its Table 4.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from studies.adjust_peers import Plain, run_highs, run_scip, verdict
from studies.common import (
    GENERATED_NOTE,
    Entry,
    Results,
    arguments,
    published,
    published_by_instance,
    shared_instance,
)
from studies.workers import add_at_once, at_once_note, measured
from tacit.generators import SensitiveShare, generate_2d, generate_table
from tacit.hierarchy import Hierarchy
from tacit.methods.adjust.run import adjust
from tacit.methods.inputs import chosen_weights
from tacit.outcome import TracePoint, Values
from tacit.problem import Floats, Problem

PUBLIC = (
    *("targus", "table7", "table8", "table1", "hier13x7x7d", "hier13", "hier13x13x13a"),
    *("hier16x16x16a", "toy3dsarah", "ninenew", "osorio", "dale", "enterprise5k"),
)
TABLE_4 = {
    "random16": (150, 150, 10_000),
    "random17": (150, 150, 18_500),
    "random18": (100, 150, 13_000),
    "random19": (100, 150, 11_000),
    "random20": (150, 150, 18_500),
}
"""Rows and columns below the totals, and sensitive cells."""
TABLE_3: Mapping[str, tuple[tuple[int | tuple[int, int], ...], int]] = {
    "sbs-E": (((3, 9), 10, 9), 382),
    "sbs-C": (((5, 21), 11, 12), 1135),
    "sbs-Da": (((6, 25), (5, 20), 33), 7142),
    "sbs-Db": (((6, 25), (5, 20), 33), 7131),
}
"""Dimensions (flat, or groups and finest codes), and sensitive cells."""
CUBES: Mapping[str, tuple[tuple[int | tuple[int, int], ...], int]] = {
    "3d-a": ((20, 20, 21), 1200),
    "3d-b": ((9, 30, 31), 1200),
    "3d-c": (((4, 16), (4, 16), 20), 1200),
}
"""Tables of about 10,000 cells in three dimensions, as in `TABLE_3`, 1,200 of them sensitive."""
GENERATED = {**TABLE_3, **CUBES}
SETS: Mapping[str, tuple[str, ...]] = {
    "public": PUBLIC,
    "table3": tuple(TABLE_3),
    "table4": tuple(TABLE_4),
    "first": (*PUBLIC, *CUBES),
}
WEIGHTS = ("unit", "inverse", "value")
SOLVERS = ("tacit", "benders", "highs", "scip")
DEFAULT_SOLVERS: Mapping[str, Sequence[str]] = {
    "public": ("tacit", "highs", "scip"),
    "table3": SOLVERS,
    "table4": SOLVERS,
    "first": ("tacit",),
}
EARLY = 10.0
PAPER = ("paper_objective", "paper_gap_pct", "paper_cpu_s", "paper_iterations")
TIMES_NOTE = "cpu: seconds of this process; first_seconds and seconds are those of the clock"
COLUMNS = (
    *("instance", "cells", "sensitive", "relations", "weights", "solver", "ended", "first_seconds"),
    *("objective_early", "bound_early", "gap_pct_early"),
    *("objective", "bound", "bound_source", "gap_pct", "seconds", "cpu", "iterations", "audit"),
    *("squares_seconds", "paper_objective", "paper_gap_pct", "paper_cpu_s", "paper_iterations"),
)


def instance(name: str, seed: int) -> Problem:
    """A public or generated table by its name."""
    if name in TABLE_4:
        rows, columns, wanted = TABLE_4[name]
        share = SensitiveShare(percent=100 * (wanted + 0.5) / (rows * columns))
        # Two tables of one size shall not be one table.
        return generate_2d(rows, columns, seed + int(name[-2:]), sensitivity=share).problem()
    if name in GENERATED:
        sizes, wanted = GENERATED[name]
        dimensions = {f"d{place}": _dimension(size) for place, size in enumerate(sizes)}
        finest = int(
            np.prod([d if isinstance(d, int) else len(d.leaves) for d in dimensions.values()])
        )
        share = SensitiveShare(percent=100 * (wanted + 0.5) / finest)
        own_seed = seed + sum(map(ord, name))
        return generate_table(dimensions, own_seed, sensitivity=share).problem()
    return shared_instance(name)


def _dimension(size: int | tuple[int, int]) -> int | Hierarchy:
    if isinstance(size, int):
        return size
    groups, finest = size
    parts = np.array_split(np.arange(finest), groups)
    return Hierarchy.from_nested(
        {f"g{group}": [f"c{code}" for code in part] for group, part in enumerate(parts)}
    )


def known_at(trace: Sequence[TracePoint], seconds: float) -> tuple[float | None, float | None]:
    """Objective and bound that were known at a time."""
    before = [point for point in trace if point.seconds <= seconds]
    if not before:
        return None, None
    objectives = [point.objective for point in before if point.objective is not None]
    # The last one: what SCIP tells in the midst of a node need not be a bound.
    bounds = [point.bound for point in before if np.isfinite(point.bound)]
    return (min(objectives) if objectives else None, bounds[-1] if bounds else None)


def gap_percent(objective: float | None, bound: float | None) -> float | None:
    """How far an objective is from a bound, in per cent of the objective."""
    if objective is None or bound is None:
        return None
    return 100 * (objective - bound) / max(abs(objective), 1e-10)


@dataclass(frozen=True)
class Task:
    """One run: a solver on a table with a choice of weights; with least squares or without."""

    name: str
    weights: str
    solver: str
    time_limit: float
    seed: int
    squares: bool


def run_task(task: Task) -> dict[str, Entry]:
    """The row of one run."""
    name, kind, solver = task.name, task.weights, task.solver
    problem = instance(name, task.seed)
    weight = chosen_weights(problem, "unit" if kind == "unit" else "value")
    if kind == "inverse":
        weight = 1.0 / weight
    audited, squares, source, iterations = "", None, "solver", None
    before = time.process_time()
    if solver in ("tacit", "benders"):
        outcome = adjust(
            problem,
            algorithm="auto" if solver == "tacit" else "benders",
            weights=weight,
            integer=False,
            time_limit=task.time_limit,
            seed=task.seed,
        )
        source = outcome.report.bound_source
        trace, ended = list(outcome.report.trace), outcome.status.value
        trace.append(
            TracePoint(outcome.report.seconds, outcome.report.objective, outcome.report.bound)
        )
        seconds, iterations = outcome.report.seconds, outcome.report.iterations
        cpu = time.process_time() - before
        if isinstance(outcome.solution, Values):
            assert outcome.audit is not None
            audited = "safe" if outcome.audit.safe else "EXPOSED"
            if solver == "tacit" and task.squares:
                squares = _squares(problem, weight, outcome.solution, task.time_limit)
    else:
        plain = Plain.of(problem, weight)
        run = run_highs if solver == "highs" else run_scip
        began = time.monotonic()
        trace, ended, deviations = run(plain, task.time_limit, task.seed)
        seconds, cpu = time.monotonic() - began, time.process_time() - before
        audited = verdict(problem, deviations)
    early, last = known_at(trace, EARLY), known_at(trace, np.inf)
    first = [point.seconds for point in trace if point.objective is not None]
    return {
        "instance": name,
        "cells": problem.cell_count,
        "sensitive": len(problem.sensitive),
        "relations": problem.relation_count,
        "weights": kind,
        "solver": solver,
        "ended": ended,
        "first_seconds": min(first) if first else None,
        "objective_early": early[0],
        "bound_early": early[1],
        "gap_pct_early": gap_percent(*early),
        "objective": last[0],
        "bound": last[1],
        "bound_source": source,
        "gap_pct": gap_percent(*last),
        "seconds": round(seconds, 2),
        "cpu": round(cpu, 2),
        "iterations": iterations,
        "audit": audited,
        "squares_seconds": squares,
        **printed(name, solver),
    }


def printed(name: str, solver: str) -> dict[str, Entry]:
    """What the paper has for a table of this size; Xpress and CPLEX are what solvers stand for."""
    if name in TABLE_3:
        paper = {row["instance"].replace(" _", ""): row for row in published(3, "003")}[name]
        figures: tuple[Entry, ...] = (paper["objective"], paper["gap_pct"], paper["cpu_s"], None)
        return dict(zip(PAPER, figures, strict=True)) if solver != "benders" else {}
    if name in TABLE_4:
        paper = published_by_instance(4, "003")[name]
        if solver == "benders":
            figures = (None, None, paper["benders_cpu_s"], paper["benders_iterations"])
        else:
            figures = (None, None, paper["cplex_cpu_s"], None)
        return dict(zip(PAPER, figures, strict=True))
    return {}


def _squares(problem: Problem, weight: Floats, solution: Values, time_limit: float) -> float | None:
    """Seconds for the least squares with the senses of a solution."""
    senses = np.sign(solution.value - problem.value)[problem.sensitive].astype(np.int64)
    outcome = adjust(problem, norm="l2", weights=weight, senses=senses, time_limit=time_limit)
    return round(outcome.report.seconds, 2) if outcome.status.value == "optimal" else None


def main() -> None:
    """Run the study."""
    parser = arguments(__doc__ or "", instances=(), time_limit=60.0)
    parser.add_argument("--set", choices=list(SETS), default="table3", help="which tables")
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS)
    parser.add_argument("--weights", nargs="+", choices=WEIGHTS)
    add_at_once(parser)
    chosen = parser.parse_args()
    is_first = chosen.set == "first"
    # First tables are wanted within five seconds; twice that shows those that come later.
    limit = min(chosen.time_limit, 10.0) if is_first else chosen.time_limit
    chosen.time_limit = limit
    weights = chosen.weights or (WEIGHTS if is_first else WEIGHTS[:2])
    solvers = chosen.solvers or DEFAULT_SOLVERS[chosen.set]
    notes = (
        GENERATED_NOTE,
        f"early: after {EARLY:g} seconds; time limit {limit:g}",
        TIMES_NOTE,
        at_once_note(chosen.at_once),
    )
    path = chosen.out / f"adjust_{chosen.set}.csv"
    key = ("instance", "weights", "solver")
    with Results(path, COLUMNS, notes, key=key, again=chosen.again) as results:
        tasks = [
            Task(name, kind, solver, limit, chosen.seed, not is_first)
            for name in chosen.instances or SETS[chosen.set]
            for kind in weights
            for solver in solvers
            if not results.has(name, kind, solver)
        ]
        for row in measured(run_task, tasks, at_once=chosen.at_once):
            results.add(row)


if __name__ == "__main__":
    main()
