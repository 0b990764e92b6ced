"""Large tables: how time and memory grow, real tables in seconds, and a comparison with tau-ARGUS.

Four parts, each with a file of its own: `scaling`, `first`, `named` and `peer`.

    python -m studies.large_tables --parts scaling

Every run of tacit has a separate process, one after the other. Processor time is the figure
to quote, since others may be at work on the machine; wall time stands beside it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from studies.alone import MEASURED, SHARE, Measured, TableName, gap_percent, run_alone
from studies.common import RESULTS, Entry, Results, add_jobs, count_exposed, jobs_note
from studies.growth import draw
from studies.peers.environment import peer_python, peer_versions
from studies.peers.peer import run_peer
from studies.pictures import draw_if_possible

Series: TypeAlias = Sequence[tuple[str, str, float, tuple[int, ...]]]
UP_TO_20_000 = (5_000, 10_000, 20_000)
UP_TO_100_000 = (10_000, 30_000, 100_000)
SERIES = (
    ("2d", "hypercube", 1800.0, (*UP_TO_100_000, 300_000, 1_000_000)),
    ("2d", "modular", 1800.0, UP_TO_100_000),
    ("3d", "modular", 1800.0, UP_TO_100_000),
    ("2d", "paths", 1800.0, UP_TO_20_000),
    ("3d", "paths", 1800.0, UP_TO_20_000),
    ("2d", "modular", 1800.0, (300_000, 1_000_000)),
    ("3d", "modular", 1800.0, (300_000,)),
    ("3d", "hypercube", 60.0, (*UP_TO_100_000, 300_000)),
)
"""Kind of table, algorithm, time limit and about how many cells; what takes long comes last.

In three dimensions `hypercube` is safe soon, but the clean-up takes long: a short limit shows
what is there by then.
"""

FIRST = (
    ("2d", "auto", 60.0, (*UP_TO_100_000, 300_000, 1_000_000)),
    ("3d", "auto", 60.0, UP_TO_100_000),
)
"""The same for first patterns, less than ten minutes in all."""

NAMED = ("dale", "osorio", "ninenew", "hier16x16x16a")
NAMED_ALGORITHMS = ("hypercube", "modular", "paths", "auto")
NAMED_LIMIT = 30.0
STRUCTURES = ("40-50-10", "70-80-15")
BOUND_LIMIT = 60.0
"""Seconds for `auto` where it is run for its bound."""

PEER_SIZES = (5_000, 20_000)
PEER_LIMIT = 600.0
PEER_BOUND_LIMIT = 30.0
PEER_ALGORITHMS = ("modular", "hypercube", "paths")

CPU_NOTE = (
    "cpu_seconds: processor time of the call with its audit, all threads; others were at work on "
    "the machine, so wall_seconds says less"
)
MEMORY_NOTE = "peak_gb: of the whole process; table_gb of it before the call"


def scaling(out: Path, jobs: int, *notes: str) -> None:
    """Time and memory over the number of cells. Goes on where a run before was cut short."""
    remarks = [
        *notes,
        jobs_note(jobs),
        f"generated tables, seed 1, {SHARE:g}% of the finest cells sensitive, weights are values; "
        "2d: two hierarchies of 3 levels below the total, 3d: of 3, 2 and 2",
        CPU_NOTE,
        MEMORY_NOTE,
    ]
    _grow(out / "large_tables_scaling.csv", SERIES, jobs, remarks)


def first(out: Path, jobs: int, *notes: str) -> None:
    """When `auto` has a first safe pattern, over the number of cells."""
    remarks = [
        *notes,
        jobs_note(jobs),
        f"generated tables as for scaling, {SHARE:g}% of the finest cells sensitive; "
        "first_safe_seconds: wall time until the first safe pattern, to be measured on a machine "
        "with nothing else running",
        CPU_NOTE,
        MEMORY_NOTE,
    ]
    _grow(out / "large_tables_first.csv", FIRST, jobs, remarks)


def _grow(path: Path, series: Series, jobs: int, remarks: Sequence[str]) -> None:
    """Run what is not in the file yet, and draw it."""
    columns = ("kind", "algorithm", "time_limit", "size", *MEASURED, "safe")
    asked = [
        (kind, algorithm, str(size), limit)
        for kind, algorithm, limit, sizes in series
        for size in sizes
    ]
    key = ("kind", "algorithm", "size")
    with Results(path, columns, remarks, key=key) as results:
        for kind, algorithm, size, limit in asked:
            if not results.has(kind, algorithm, size):
                table = TableName(kind=kind, name=size)
                run = run_alone(table, algorithm, time_limit=limit, jobs=jobs)
                row: dict[str, Entry] = {"kind": kind, "algorithm": algorithm}
                results.add(row | {"time_limit": limit, "size": size} | entries(run))
    draw_if_possible(draw, path)


def named(out: Path, jobs: int, *notes: str) -> None:
    """Real tables with a time limit, and 1H2D tables with their gap to the best bound known."""
    remarks = [
        *notes,
        jobs_note(jobs),
        f"real tables: weights of the file, time limit {NAMED_LIMIT:g} s; 1H2D: generated, seed "
        f"1, weights are values, {BOUND_LIMIT:g} s for auto, which gives the bound",
        "best_bound: the largest that any algorithm has proven here; gap_pct: of the objective "
        "to it, in per cent of the objective",
        CPU_NOTE,
        MEMORY_NOTE,
    ]
    columns = ("instance", "algorithm", "time_limit", *MEASURED, "safe", "best_bound", "gap_pct")
    with Results(out / "large_tables_named.csv", columns, remarks) as results:
        for name in NAMED:
            table = TableName(kind="file", name=name)
            runs = [
                (
                    algorithm,
                    NAMED_LIMIT,
                    run_alone(table, algorithm, time_limit=NAMED_LIMIT, jobs=jobs),
                )
                for algorithm in NAMED_ALGORITHMS
            ]
            _add_with_gaps(results, name, runs)
        for name in STRUCTURES:
            table = TableName(kind="1h2d", name=name)
            runs = [
                (algorithm, limit, run_alone(table, algorithm, time_limit=limit, jobs=jobs))
                for algorithm, limit in (("paths", NAMED_LIMIT), ("auto", BOUND_LIMIT))
            ]
            _add_with_gaps(results, name, runs)


def peer(out: Path, jobs: int, *notes: str) -> None:
    """Beside tau-ARGUS' modular method in the same run."""
    versions = peer_versions(peer_python())
    remarks = [
        *notes,
        jobs_note(jobs),
        "peer: " + ", ".join(f"{name} {text}" for name, text in versions.items()),
        "generated tables with two hierarchies of 3 levels below the total, seed 1, weights are "
        f"values; sensitive: {SHARE:g}% of the finest cells (share) or the p% rule, p = 15 (p)",
        "the peer rounds costs to whole numbers up to 20,000 as its file format needs, and "
        "decides itself what attackers know of each cell; all objectives are sums of the true "
        "weights, all exposed cells are counted in the whole table by tacit.audit",
        "seconds of tacit include its own audit, those of the peer include none; best_bound is "
        f"what auto has proven in {PEER_BOUND_LIMIT:g} s",
        CPU_NOTE,
    ]
    columns = (
        *("rule", "cells", "sensitive", "method", "status", "cpu_seconds", "wall_seconds"),
        *("objective", "suppressed", "exposed", "safe", "best_bound", "gap_pct"),
        *("cpu_to_peer", "objective_to_peer_pct"),
    )
    with Results(out / "large_tables_peer.csv", columns, remarks) as results:
        for rule in ("share", "p"):
            for size in PEER_SIZES:
                table = TableName(kind="2d", name=str(size), rule=rule)
                theirs = _run_peer(table)
                runs = [
                    (algorithm, run_alone(table, algorithm, time_limit=PEER_LIMIT, jobs=jobs))
                    for algorithm in PEER_ALGORITHMS
                ]
                same = theirs.wall_seconds or PEER_BOUND_LIMIT
                for method, limit in (("auto in the same time", same), ("auto", PEER_BOUND_LIMIT)):
                    runs.append((method, run_alone(table, "auto", time_limit=limit, jobs=jobs)))
                bound = best_bound([run for _, run in runs])
                for method, run in [("pytauargus modular", theirs), *runs]:
                    row = {"rule": rule, "method": method, **entries(run)}
                    row["best_bound"] = bound
                    row["gap_pct"] = gap_percent(run.objective, bound)
                    row["cpu_to_peer"] = ratio(run.cpu_seconds, theirs.cpu_seconds)
                    row["objective_to_peer_pct"] = excess_percent(run.objective, theirs.objective)
                    results.add({name: row[name] for name in columns})


PARTS: dict[str, Callable[..., None]] = {
    "scaling": scaling,
    "first": first,
    "named": named,
    "peer": peer,
}


def entries(run: Measured) -> dict[str, Entry]:
    """A run as part of a row."""
    row: dict[str, Entry] = {}
    for name in MEASURED:
        value = getattr(run, name)
        row[name] = round(value, 3) if name.endswith(("_seconds", "_gb")) and value else value
    row["safe"] = None if run.safe is None else "yes" if run.safe else "no"
    return row


def best_bound(runs: list[Measured]) -> float | None:
    """The largest bound that any of the runs has proven."""
    return max((run.bound for run in runs if run.bound is not None), default=None)


def ratio(value: float | None, other: float | None) -> float | None:
    """How many times the other; None where either is not known."""
    return value / other if value is not None and other else None


def excess_percent(value: float | None, other: float | None) -> float | None:
    """How far above the other, in per cent of the other; None where either is not known."""
    return 100 * (value - other) / other if value is not None and other else None


def _add_with_gaps(
    results: Results, instance: str, runs: list[tuple[str, float, Measured]]
) -> None:
    bound = best_bound([run for _, _, run in runs])
    for algorithm, limit, run in runs:
        results.add(
            {
                "instance": instance,
                "algorithm": algorithm,
                "time_limit": limit,
                **entries(run),
                "best_bound": bound,
                "gap_pct": gap_percent(run.objective, bound),
            }
        )


def _run_peer(name: TableName) -> Measured:
    table = name.table()
    problem = table.problem()
    found = run_peer(table, mode="modular", time_limit=PEER_LIMIT)
    hidden = found.suppressed
    return Measured(
        cells=problem.cell_count,
        sensitive=len(problem.sensitive),
        status=found.ended,
        stopped_by=found.ended,
        wall_seconds=found.seconds,
        cpu_seconds=found.cpu_seconds,
        objective=found.objective,
        suppressed=None if hidden is None else int(hidden.sum()),
        exposed=None if hidden is None else count_exposed(problem, np.flatnonzero(hidden)),
    )


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(
        description="Large tables", formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="which")
    parser.add_argument("--out", type=Path, default=RESULTS, help="directory for the results")
    parser.add_argument(
        "--note", nargs="*", default=[], help="lines for the head of the results: which source"
    )
    add_jobs(parser)
    asked = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # a text stream here
    for part in asked.parts:
        PARTS[part](asked.out, asked.jobs, *asked.note)


if __name__ == "__main__":
    main()
