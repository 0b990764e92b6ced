"""Do methods keep their time limit? Every algorithm on large tables, with limits of 3 to 60 s.

    python -m studies.limits                          # goes on where it stopped
    python -m studies.limits --limits 3,10 --only suppress/auto --instances dale

A run is the call of the method, and then what a release adds to it: the audit and the check of its
evidence. Each has a separate process, which is ended half as much again and half a minute after
the limit. The clock starts when the table is there and everything is compiled.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np

from studies.alone import TableName, gap_percent
from studies.common import RESULTS, Entry, Results
from tacit.attack.audit import audit
from tacit.errors import TacitError
from tacit.methods.registry import METHODS
from tacit.outcome import Outcome
from tacit.problem import Problem

TABLES = {
    "hier16x16x16a": TableName(kind="file", name="hier16x16x16a"),
    "ninenew": TableName(kind="file", name="ninenew"),
    "dale": TableName(kind="file", name="dale"),
    "2d-20000": TableName(kind="2d", name="20000"),
}
"""The last one is generated, with hierarchies of three levels in both dimensions."""
LIMITS = (3.0, 10.0, 60.0)
COLUMNS = (
    *("instance", "method", "algorithm", "limit", "cells", "sensitive", "ended", "status"),
    *("stopped_by", "seconds", "overrun", "check_seconds", "objective", "bound", "gap_pct"),
    *("safe", "note"),
)
NOTES = (
    "seconds: the call of the method; overrun: by how much it is longer than the limit; "
    "check_seconds: audit and check of the evidence, as every release has them",
    "ended: killed where neither had ended by 1.5 times the limit and 30 s; what is empty then "
    "was not there yet",
)
_MOST_PREPARATION = 900.0


@dataclass(frozen=True)
class Ask:
    """A run.

    Attributes:
        instance: The name of the table.
        method: The name of the method.
        algorithm: The name of the algorithm.
        limit: Its time limit in seconds.
        table: What it takes to make the table.
    """

    instance: str
    method: str
    algorithm: str
    limit: float
    table: TableName

    @property
    def key(self) -> tuple[str, ...]:
        """What tells it from other runs."""
        return self.instance, self.method, self.algorithm, f"{self.limit:g}"

    @property
    def patience(self) -> float:
        """Seconds after which the process is ended."""
        return 1.5 * self.limit + 30


def main() -> None:
    """Run what has not been run."""
    given = _arguments()
    path = given.out / "limits.csv"
    rows = read_rows(path)
    done = {tuple(str(row[name]) for name in COLUMNS[:4]) for row in rows}
    with Results(path, COLUMNS, NOTES, aloud=False) as results:
        for row in rows:
            results.add(row)
        for ask in asks(given.limits, given.instances, given.only):
            if ask.key not in done:
                row = run(ask)
                results.add(row)
                print("  ".join(f"{name}={row[name]}" for name in COLUMNS if row[name] is not None))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--limits", type=_limits, default=LIMITS, help="seconds, such as 3,10")
    parser.add_argument(
        "--instances", nargs="+", default=list(TABLES), choices=list(TABLES), help="which tables"
    )
    parser.add_argument("--only", metavar="METHOD[/ALGORITHM]", default="", help="one alone")
    parser.add_argument("--out", type=Path, default=RESULTS, help="directory for the results")
    return parser.parse_args()


def _limits(text: str) -> tuple[float, ...]:
    return tuple(float(each) for each in text.split(","))


def algorithms(method: str) -> tuple[str, ...]:
    """The algorithms of a method, from the class of its options."""
    return get_args(get_type_hints(METHODS[method].options())["algorithm"])


def asks(limits: tuple[float, ...], instances: list[str], only: str = "") -> list[Ask]:
    """The runs to make, short ones first."""
    return [
        Ask(instance, method, algorithm, limit, TABLES[instance])
        for limit in limits
        for instance in instances
        for method in METHODS
        for algorithm in algorithms(method)
        if only in ("", method, f"{method}/{algorithm}")
    ]


def run(ask: Ask, patience: float | None = None) -> dict[str, Entry]:
    """Make a run in a separate process; a row of results.

    Args:
        ask: What to run.
        patience: Seconds after which the process is ended, if not those of the run.
    """
    patience = ask.patience if patience is None else patience
    row: dict[str, Entry] = dict.fromkeys(COLUMNS)
    row |= dict(zip(COLUMNS[:4], ask.key, strict=True))
    with _process(ask) as line:
        try:
            if not line.poll(_MOST_PREPARATION):
                return row | {"ended": "killed", "note": "while the table was made"}
            row |= line.recv()
            began = time.monotonic()
            row["ended"] = "killed"
            # First what the method found, then what the check said.
            while row["ended"] != "done":
                left = patience - (time.monotonic() - began)
                if not line.poll(max(left, 0.0)):
                    row["note"] = f"{row['note'] or ''} ended after {patience:g} s".strip()
                    return row
                row |= line.recv()
        except EOFError:
            row["ended"] = "failed"
    return row


@contextmanager
def _process(ask: Ask) -> Iterator[Connection]:
    """A process that answers, and is gone afterwards with all that it started."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, ask))
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        if process.is_alive() and process.pid is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
        process.join()
        ours.close()


def _serve(line: Connection, ask: Ask) -> None:
    """The process: prepare, protect, check, and tell after each."""
    os.setsid()
    function = METHODS[ask.method].run()
    # Compiles what is compiled on first use, so that no run is charged for it.
    for kind in ("2d", "3d"):
        small = TableName(kind=kind, name="300").problem()
        with suppress(TacitError):
            function(small, algorithm=ask.algorithm, **choices(ask.method, small), time_limit=3.0)
    problem = ask.table.problem()
    line.send({"cells": problem.cell_count, "sensitive": len(problem.sensitive)})
    began = time.perf_counter()
    try:
        outcome = function(
            problem,
            algorithm=ask.algorithm,
            time_limit=ask.limit,
            **choices(ask.method, problem),
        )
    except TacitError as error:
        took = time.perf_counter() - began
        text = f"{type(error).__name__}: {error}"
        told = {"ended": "done", "status": "failed", "note": " ".join(text.split())[:200]}
        line.send(told | _seconds(took, ask.limit))
        return
    line.send(_found(outcome) | _seconds(time.perf_counter() - began, ask.limit))
    line.send({"ended": "done"} | _checked(problem, outcome))


def choices(method: str, problem: Problem) -> dict[str, Any]:
    """What a method needs besides: for rounding a base that no level rules out."""
    if method != "round":
        return {}
    asked = np.maximum(problem.lower_level + problem.upper_level, problem.sliding_level)
    needed = max(2 * float(asked.max(initial=0.0)), 1.0)
    power = 10.0 ** np.floor(np.log10(needed))
    return {"base": next(float(power * step) for step in (1, 2, 5, 10) if power * step >= needed)}


def _seconds(took: float, limit: float) -> dict[str, Entry]:
    return {"seconds": round(took, 2), "overrun": round(max(took - limit, 0.0), 2)}


def _found(outcome: Outcome) -> dict[str, Entry]:
    report = outcome.report
    return {
        "status": outcome.status.value,
        "stopped_by": outcome.stopped_by,
        "objective": report.objective,
        "bound": report.bound,
        "gap_pct": gap_percent(report.objective, report.bound),
    }


def _checked(problem: Problem, outcome: Outcome) -> dict[str, Entry]:
    """What a release adds: an audit, and its evidence checked."""
    if outcome.solution is None:
        return {}
    began = time.perf_counter()
    try:
        found = audit(problem, outcome, cells="sensitive", exact=False)
        found.check()
    except TacitError as error:
        return {"safe": "no", "note": f"{type(error).__name__} in the check"}
    took = round(time.perf_counter() - began, 2)
    return {"safe": "yes" if found.safe else "no", "check_seconds": took}


def read_rows(path: Path) -> list[dict[str, Entry]]:
    """The rows that were written before; none without a file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        lines = (line for line in file if not line.startswith("#"))
        return [dict(row) for row in csv.DictReader(lines)]


if __name__ == "__main__":
    main()
