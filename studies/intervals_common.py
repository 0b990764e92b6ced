"""What the studies of intervals share: tables by name, runs, and the figures of [CastroVia2016]."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from unittest import mock

import highspy

from studies.common import Entry, generated_instance, shared, shared_instance
from tacit.attack.audit import audit
from tacit.errors import TacitError
from tacit.generators import Structure1H2D, generate_1h2d
from tacit.methods.intervals.run import intervals
from tacit.problem import Problem

PAPER_TABLES = ("targus", "table1", "table2", "table3a", "table3b", "table4", "table5", "table6")
"""Those of [CastroVia2016]; two structures fit its Table 3."""
TABLE_2 = Structure1H2D(80, 20, 10, 10)
"""The numbers of cells and sensitive cells of its Table 2; no structure has its 299 relations."""
LARGER_TABLES = ("40-50-10", "70-80-15", "40-50-5")
REAL_TABLES = ("real:table7", "real:table1", "real:hier13x7x7d", "real:hier13")
RUN_COLUMNS = (
    *("status", "stopped_by", "objective", "bound", "gap_pct", "seconds", "iterations", "cuts"),
    *("solver_iterations", "interval_cells", "safe"),
)


def table(name: str, seed: int = 1) -> Problem:
    """`targus` and names that begin with `real:` are public tables, all others generated."""
    if name == "targus" or name.startswith("real:"):
        return shared_instance(name.removeprefix("real:"))
    if name == "table2":
        return generate_1h2d(TABLE_2, seed, weight="value")
    return generated_instance(name, seed)


@dataclass
class Counted:
    """Iterations of linear programs so far, simplex and interior point together."""

    iterations: int = 0


@contextmanager
def counting() -> Iterator[Counted]:
    """Count what HiGHS iterates within; flows in networks need no such iterations."""
    counted = Counted()
    solve = highspy.Highs.run

    def counted_run(self: Any) -> Any:
        status = solve(self)
        told = self.getInfo()
        counted.iterations += max(told.simplex_iteration_count, 0)
        counted.iterations += max(told.ipm_iteration_count, 0)
        return status

    with mock.patch.object(highspy.Highs, "run", counted_run):
        yield counted


def run(problem: Problem, **options: Any) -> dict[str, Entry]:
    """Protect by intervals. A breakdown is a result too, and the study goes on."""
    began = datetime.now(UTC)
    try:
        with counting() as counted:
            outcome = intervals(problem, **options)
    except TacitError as error:
        seconds = round((datetime.now(UTC) - began).total_seconds(), 2)
        return {"status": "failed", "stopped_by": type(error).__name__, "seconds": seconds}
    report = outcome.report
    entries: dict[str, Entry] = {
        "status": outcome.status.value,
        "stopped_by": outcome.stopped_by,
        "objective": report.objective,
        "bound": report.bound,
        "gap_pct": None if report.gap is None else 100 * report.gap,
        "seconds": round(report.seconds, 2),
        "iterations": report.iterations,
        "cuts": report.cuts,
        "solver_iterations": counted.iterations,
    }
    if outcome.solution is not None:
        found = audit(problem, outcome, cells="sensitive", exact=False, tolerance=None)
        entries["interval_cells"] = int(found.hidden.sum())
        entries["safe"] = "yes" if found.safe else "no"
    return entries


def printed(number: int) -> dict[str, dict[str, str]]:
    """The rows of a table of [CastroVia2016], by the names used here."""
    path = shared() / "published" / f"seed000_table{number}.csv"
    with path.open(newline="") as file:
        rows = {row["instance"].replace(" ", "").lower(): row for row in csv.DictReader(file)}
    rows["table3a"] = rows["table3b"] = rows["table3"]
    return rows
