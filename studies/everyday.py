"""Tables as offices have them: two hierarchies, sparse ones, three dimensions, linked ones.

    python -m studies.everyday                 # about twelve minutes, with nothing else running
    python -m studies.everyday --tables "industry x region" --limit 60

Each table is suppressed against readers with `auto`; an audit that knows nothing of the search
follows and is timed by itself. The trace has every pattern with the time at which it came.
`everyday_before.csv` has the figures from before strips were used, by the same study.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping

import numpy as np

from studies.common import Entry, Results, add_jobs, add_results, jobs_note, warm_up
from studies.everyday_plots import draw
from studies.office_tables import (
    french,
    generated,
    industry_region,
    industry_size,
    industry_size_region,
)
from studies.pictures import draw_if_possible
from tacit.attack.audit import audit
from tacit.methods.suppress.run import suppress
from tacit.observer import Observer
from tacit.problem import Problem
from tacit.table import Table

LIMITS = {"industry x size x region": 300.0, "generated 100000": 120.0}
"""Seconds for a table; 60 for all others."""
COLUMNS = (
    *("table", "cells", "relations", "sensitive", "limit", "status", "first_cpu", "first_weight"),
    *("cpu", "wall", "weight", "bound", "gap_pct", "suppressed", "audit_cpu", "safe"),
)
TRACE = ("table", "cpu", "weight")
NOTES = (
    "first: the first safe pattern; cpu: seconds of this process; weight: sum of the suppressed "
    "values, sensitive cells included; audit: of the final pattern, without help from the search",
)


def _tenth(cells: int) -> Callable[[], Table]:
    """Generated tables of which about a tenth of the cells is sensitive."""
    return lambda: generated(cells, mean_count=30.0)


TABLES: Mapping[str, Callable[[], Table]] = {
    "industry x size": industry_size,
    "industry x region": industry_region,
    "industry x size x region": industry_size_region,
    "french": french,
    "generated 5000": _tenth(5_000),
    "generated 20000": _tenth(20_000),
    "generated 100000": _tenth(100_000),
    "generated 1000000": _tenth(1_000_000),
}


class _Patterns(Observer):
    """Notes every pattern with the processor time at which it came."""

    def __init__(self) -> None:
        self._began = time.process_time()
        self.found: list[tuple[float, float]] = []

    def on_solution(self, seconds: float, objective: float) -> None:  # noqa: ARG002
        """Take note of one."""
        self.found.append((round(time.process_time() - self._began, 2), objective))


def run(name: str, problem: Problem, limit: float, jobs: int) -> tuple[dict[str, Entry], _Patterns]:
    """One run, what it found, and what the audit says of it."""
    patterns = _Patterns()
    began = time.process_time(), time.perf_counter()
    outcome = suppress(problem, time_limit=limit, observer=patterns, jobs=jobs)
    cpu, wall = time.process_time() - began[0], time.perf_counter() - began[1]
    row: dict[str, Entry] = {
        "table": name,
        "cells": problem.cell_count,
        "relations": problem.relation_count,
        "sensitive": len(problem.sensitive),
        "limit": limit,
        "status": outcome.status.value,
        "cpu": round(cpu, 1),
        "wall": round(wall, 1),
        "bound": outcome.report.bound,
    }
    if outcome.solution is None:
        return row, patterns
    hidden = np.zeros(problem.cell_count, bool)
    hidden[outcome.suppressed] = True
    weight = float(problem.weight[hidden].sum())
    before = time.process_time()
    found = audit(problem, hidden, cells="sensitive", exact=False, tolerance=None)
    row |= {
        "first_cpu": patterns.found[0][0],
        "first_weight": patterns.found[0][1],
        "weight": weight,
        "gap_pct": 100 * (weight - outcome.report.bound) / weight,
        "suppressed": int(hidden.sum()),
        "audit_cpu": round(time.process_time() - before, 1),
        "safe": "yes" if found.safe else "no",
    }
    return row, patterns


def main() -> None:
    """Run all tables and write a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--limit", type=float, help="seconds, instead of those of the study")
    add_results(parser)
    add_jobs(parser)
    chosen = parser.parse_args()
    notes = [*NOTES, jobs_note(chosen.jobs)]
    warm_up()
    path, trace_path = (chosen.out / f"everyday{end}.csv" for end in ("", "_trace"))
    key, again = ("table",), chosen.again
    with (
        Results(path, COLUMNS, notes, key=key, again=again) as results,
        Results(trace_path, TRACE, notes, key=key, again=again, aloud=False) as trace,
    ):
        for name in chosen.tables:
            if results.has(name):
                continue
            problem = TABLES[name]().problem()
            limit = chosen.limit or LIMITS.get(name, 60.0)
            row, patterns = run(name, problem, limit, chosen.jobs)
            results.add(row)
            for cpu, weight in patterns.found:
                trace.add({"table": name, "cpu": cpu, "weight": weight})
    draw_if_possible(draw, path)


if __name__ == "__main__":
    main()
