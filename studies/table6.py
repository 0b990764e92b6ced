"""[BaenaCastroFrangioni2020, Table 6]: real tables, `auto` and `stabilized`; peers on request.

Every public instance that is here, half an hour in full; three of them for ten minutes each:
`python -m studies.table6 --time-limit 600 --name table6_long --instances hier13x7x7d hier13x13x13a
hier16x16x16a`.
`table6_trace.csv` has objective and bound over time. The peer's time limit is in whole minutes of
processor time and it stops at a gap of zero only. To compare on equal terms:
`python -m studies.table6 --peer --gap 0 --time-limit 60 --name table6_peer --instances ...`
"""

from __future__ import annotations

import math

import numpy as np

from studies.common import (
    GAP_NOTE,
    RUN_COLUMNS,
    Results,
    Run,
    add_jobs,
    arguments,
    count_exposed,
    jobs_note,
    published_by_instance,
    run_tacit,
    shared_instance,
    warm_up,
    weight_of_sensitive,
)
from studies.peers.environment import peer_python, peer_versions
from studies.peers.peer import run_peer
from tacit.problem import Problem

INSTANCES = (
    *("small", "example_2D", "targus", "table7", "table1", "hier13x7x7d", "cube8"),
    *("enterprise500", "enterprise5k", "hier13", "hier13x13x13a", "hier16x16x16a"),
    *("toy3dsarah", "ninenew", "osorio", "dale", "table8"),
)
METHODS = ["auto", "stabilized"]
PEER = "pytauargus opt"
WEIGHTS_OF_FILE = ("targus", "example_2D", "cube8", "enterprise500", "enterprise5k")
"""Tables whose files have meaningful weights; all others are solved with weight 1."""
PAPER = "[BaenaCastroFrangioni2020, Table 6]"
COLUMNS = (
    *("instance", "cells", "sensitive", "weights", "method", "seed", "time_limit"),
    *RUN_COLUMNS,
    *("cpu_seconds", "paper_A_gap_pct", "paper_B_gap_pct"),
)
TRACE_COLUMNS = ("instance", "method", "seconds", "objective", "bound")


def main() -> None:
    """Run the study."""
    parser = arguments(PAPER, instances=INSTANCES, time_limit=60.0)
    add_jobs(parser)
    parser.add_argument(
        "--peer", nargs="*", metavar="NAME", help="run pytauargus too: on these tables, or on all"
    )
    parser.add_argument(
        "--peer-time-limit", type=float, default=60.0, help="seconds, rounded up to minutes"
    )
    parser.add_argument(
        "--gap", type=float, default=1e-4, help="where tacit stops; the peer stops at 0"
    )
    parser.add_argument("--name", default="table6", help="name of the results")
    asked = parser.parse_args()
    with_peer = () if asked.peer is None else asked.peer or asked.instances
    notes = [
        f"{PAPER}; time limit {asked.time_limit:g} s per run of tacit (the paper's: 3600 s)",
        "weights and lower levels of most tables are not the paper's: compare in class only",
        jobs_note(asked.jobs),
        GAP_NOTE,
    ]
    if asked.gap != parser.get_default("gap"):
        notes.append(f"tacit stops at a gap of {asked.gap:g}")
    if with_peer:
        versions = peer_versions(peer_python())
        notes.append("peer: " + ", ".join(f"{name} {text}" for name, text in versions.items()))
    printed = published_by_instance(6)
    warm_up()
    path, trace_path = (asked.out / f"{asked.name}{end}.csv" for end in ("", "_trace"))
    trace_key = ("instance", "method", "seconds")
    with (
        Results(path, COLUMNS, notes, key=("instance", "method"), again=asked.again) as results,
        Results(
            trace_path, TRACE_COLUMNS, notes, key=trace_key, again=asked.again, aloud=False
        ) as traces,
    ):
        for name in asked.instances:
            problem, weights = _instance(name)
            paper = printed.get(name, {})
            methods = [*METHODS, PEER] if name in with_peer else METHODS
            for method in methods:
                if results.has(name, method):
                    continue
                cpu_seconds, limit = None, asked.time_limit
                if method == PEER:
                    limit = 60.0 * math.ceil(asked.peer_time_limit / 60)
                    run, cpu_seconds = _peer(problem, asked.peer_time_limit)
                else:
                    run = run_tacit(
                        problem,
                        algorithm=method,
                        time_limit=limit,
                        seed=asked.seed,
                        gap=asked.gap,
                        jobs=asked.jobs,
                    )
                for point in run.trace:
                    traces.add(
                        {
                            "instance": name,
                            "method": method,
                            "seconds": point.seconds,
                            "objective": point.objective,
                            "bound": point.bound,
                        }
                    )
                results.add(
                    {
                        "instance": name,
                        "cells": problem.cell_count,
                        "sensitive": len(problem.sensitive),
                        "weights": weights,
                        "method": method,
                        "seed": None if method == PEER else asked.seed,
                        "time_limit": limit,
                        **run.entries(),
                        "cpu_seconds": cpu_seconds,
                        "paper_A_gap_pct": paper.get("gap_A_pct"),
                        "paper_B_gap_pct": paper.get("gap_B_pct"),
                    }
                )


def _instance(name: str) -> tuple[Problem, str]:
    problem = shared_instance(name)
    if name in WEIGHTS_OF_FILE:
        return problem, "file"
    return problem.replace(weight=np.ones(problem.cell_count)), "unit"


def _peer(problem: Problem, time_limit: float) -> tuple[Run, float]:
    found = run_peer(problem, mode="opt", time_limit=time_limit)
    mask = found.suppressed
    run = Run(
        sensitive_weight=weight_of_sensitive(problem),
        status=found.ended,
        stopped_by="gap" if found.ended == "done" else found.ended,
        objective=found.objective,
        bound=found.bound,
        seconds=found.seconds,
        suppressed=None if mask is None else int(mask.sum()),
        exposed=None if mask is None else count_exposed(problem, np.flatnonzero(mask)),
        trace=found.trace,
    )
    return run, round(found.cpu_seconds, 2)


if __name__ == "__main__":
    main()
