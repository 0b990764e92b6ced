"""What protection against contributors costs, and how long it takes, on tables of offices.

    python -m studies.insiders                  # about eight minutes, with nothing else running
    python -m studies.insiders --tables "size x region" enterprise

Each table is suppressed twice, against readers alone and against each contributor who is alone in
a cell besides. For two of them the pattern that tau-ARGUS published is audited in the same way.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np

from studies.common import RESULTS, Entry, Results, shared, warm_up
from studies.office_tables import TABLES
from tacit.attack.audit import audit
from tacit.methods.suppress.run import suppress
from tacit.observer import Observer
from tacit.problem import Booleans, Problem
from tacit.table import Table
from tacit.table.insiders import Choice

LIMITS = {"size x region": 5.0, "large": 300.0}
"""Seconds for a table; 60 for all others."""
COLUMNS = (
    *("table", "cells", "sensitive", "insiders", "against", "limit", "status", "first_cpu"),
    *("first_wall", "first_weight", "cpu", "wall", "weight", "secondary_weight", "bound"),
    *("gap_pct", "suppressed", "pairs", "exposed", "safe"),
)
NOTES = (
    "against: readers alone, or readers and each contributor who is alone in a cell (singletons); "
    "first: the first safe pattern; cpu: seconds of this process; weight: sum of the suppressed "
    "values, sensitive cells included; pairs: pairs of a level and a contributor that the audit "
    "looked at apart from readers; exposed: sensitive cells that the audit finds open",
    "rows 'tau-ARGUS' are audits of the patterns that it published, against singletons",
)


class _First(Observer):
    """Notes when the first safe pattern came, and what it weighs."""

    def __init__(self) -> None:
        self._began = time.process_time(), time.perf_counter()
        self.cpu: float | None = None
        self.wall: float | None = None
        self.weight: float | None = None

    def on_solution(self, seconds: float, objective: float) -> None:  # noqa: ARG002
        """Take note of the first one."""
        if self.weight is None:
            self.cpu = time.process_time() - self._began[0]
            self.wall = time.perf_counter() - self._began[1]
            self.weight = objective


def run(name: str, table: Table, against: Choice, limit: float) -> dict[str, Entry]:
    """One run, and what the audit of a table with all its singletons says of it."""
    problem = table.problem(against)
    first = _First()
    began = time.process_time(), time.perf_counter()
    outcome = suppress(problem, time_limit=limit, observer=first)
    cpu, wall = time.process_time() - began[0], time.perf_counter() - began[1]
    row = _head(name, table, against)
    row |= {
        "limit": limit,
        "status": outcome.status.value,
        "first_cpu": None if first.cpu is None else round(first.cpu, 2),
        "first_wall": None if first.wall is None else round(first.wall, 2),
        "first_weight": first.weight,
        "cpu": round(cpu, 2),
        "wall": round(wall, 2),
        "bound": outcome.report.bound,
    }
    if outcome.solution is None:
        return row
    hidden = np.zeros(problem.cell_count, bool)
    hidden[outcome.suppressed] = True
    weight = float(problem.weight[hidden].sum())
    gap = (weight - outcome.report.bound) / weight
    return row | {"gap_pct": 100 * gap} | _judged(table, hidden)


def _head(name: str, table: Table, against: str) -> dict[str, Entry]:
    problem = table.problem("singletons")
    insiders = 0 if problem.insiders is None else len(problem.insiders)
    return {
        "table": name,
        "cells": problem.cell_count,
        "sensitive": len(problem.sensitive),
        "insiders": insiders,
        "against": "readers" if against == "none" else against,
    }


def _judged(table: Table, hidden: Booleans) -> dict[str, Entry]:
    """What a pattern weighs, and what an audit against singletons finds."""
    problem: Problem = table.problem("singletons")
    found = audit(problem, hidden, cells="sensitive", exact=False, tolerance=None)
    weight = problem.weight
    return {
        "weight": float(weight[hidden].sum()),
        "secondary_weight": float(weight[hidden & ~problem.is_sensitive].sum()),
        "suppressed": int(hidden.sum()),
        "pairs": 0 if found.insiders is None else found.insiders.pairs,
        "exposed": len(found.exposed_cells),
        "safe": "yes" if found.safe else "no",
    }


def published_by_argus(name: str, table: Table) -> dict[str, Entry] | None:
    """The audit of what tau-ARGUS published of the same table, if that is at hand."""
    folder = shared() / "tables" / "argus"
    files: dict[str, list[tuple[Path, tuple[str, str]]]] = {
        "size x region": [(folder / "tau_testW" / "Simple2D_expected.txt", ("size", "region"))],
        "enterprise": [
            (folder / "enterprise" / "expected" / "test_2a.txt", ("act", "product")),
            (folder / "enterprise" / "expected" / "test_2b.txt", ("act", "region")),
        ],
    }
    if name not in files:
        return None
    hidden_codes: set[tuple[str, ...]] = set()
    for path, names in files[name]:
        with path.open(newline="") as file:
            for first, second, _, status in csv.reader(file):
                if status in ("3", "11"):
                    codes = dict(zip(names, (first.strip(), second.strip()), strict=True))
                    hidden_codes.add(
                        tuple(codes.get(dimension, "Total") for dimension in table.totals)
                    )
    columns = [table.codes(dimension).tolist() for dimension in table.totals]
    hidden: Booleans = np.zeros(table.cell_count, bool)
    for cell, key in enumerate(zip(*columns, strict=True)):
        hidden[cell] = key in hidden_codes
    return _head(name, table, "tau-ARGUS") | _judged(table, hidden)


def main() -> None:
    """Run the study and write its results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    warm_up()
    suppress(TABLES["size x region"]().problem("singletons"), time_limit=5.0)
    with Results(given.out / "insiders.csv", COLUMNS, NOTES) as results:
        for name in given.tables:
            table = TABLES[name]()
            choices: tuple[Choice, ...] = ("none", "singletons")
            for against in choices:
                results.add(run(name, table, against, LIMITS.get(name, 60.0)))
            theirs = published_by_argus(name, table)
            if theirs is not None:
                results.add(theirs)


if __name__ == "__main__":
    main()
