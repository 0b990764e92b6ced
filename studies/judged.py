"""Does every method keep its word? Random tables through every algorithm, judged independently.

    python -m studies.judged --tables 5000            # goes on where it stopped
    python -m studies.judged --again                  # only what had faults before, once more
    python -m studies.judged --seed 66                # one table again, and what is wrong with it
    python -m studies.judged --seed 66 --only adjust/benders

Tables are tiny to moderate, of all kinds and magnitudes (`tests/judge/tables.py`). What comes back
is judged by code that shares nothing with tacit's attackers and methods (`tests/judge/`): whether
it is safe and as asked for, whether a solution found by other means, itself judged safe, disproves
its bound or optimum, and whether what is called infeasible is. Each run has a process to itself
that is ended when it takes far too long.

Every run is a row of `judged_runs.csv`, with what was wrong; `judged.csv` counts them.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.judge.cases import ROADS, Case, Result, attempt, case, judged
from tests.judge.verdict import Fault

from studies.common import RESULTS, Results

RUN_COLUMNS = (
    *("seed", "method", "algorithm", "magnitude", "kind", "numbers", "cells", "sensitive"),
    *("status", "seconds", "faults", "text"),
)
STATUSES = ("optimal", "feasible", "infeasible", "interrupted", "refused")
FAULTS = (
    *("unsafe", "not as asked", "objective", "false bound", "false optimum"),
    *("false infeasibility", "crash", "hang"),
)
COUNT_COLUMNS = ("method", "algorithm", "magnitude", "tables", *STATUSES, *FAULTS)
NOTES = (
    "random tables through every algorithm, judged by tests/judge; a row counts the runs of one "
    "algorithm on tables of one magnitude",
    "refused: a documented refusal, such as flow for a table that is no network; hang: no answer "
    "after the time limit and a minute",
)
_GRACE = 60.0
_WARM_UP = 23 * 8
"""Seeds below this are run once without being counted, so that compiling takes nobody's time."""

Key = tuple[str, str, str]


def main() -> None:
    """Run what has not been run, and write what came out."""
    given = _arguments()
    only = tuple(given.only.split("/", 1)) if given.only else None
    if only is not None and only not in ROADS:
        raise SystemExit(f"--only {given.only}: known are {', '.join(map('/'.join, ROADS))}")
    if given.seed is not None:
        _once(case(given.seed, only, time_limit=given.time_limit, largest=given.largest))
        return
    path = given.out / "judged_runs.csv"
    rows = read_runs(path)
    todo: list[tuple[int, tuple[str, str] | None]]
    if given.again:
        todo = [
            (int(row["seed"]), (row["method"], row["algorithm"])) for row in rows if row["faults"]
        ]
        rows = [row for row in rows if not row["faults"]]
    else:
        todo = [(seed, only) for seed in range(given.first, given.first + given.tables)]
    done = {(row["seed"], row["method"], row["algorithm"]) for row in rows}
    began = time.monotonic()
    with Results(path, RUN_COLUMNS, NOTES, aloud=False) as results, Bench() as bench:
        for row in rows:
            results.add(row)
        for seed, road in todo:
            one = case(seed, road, time_limit=given.time_limit, largest=given.largest)
            if (str(seed), one.method, one.algorithm) in done:
                continue
            if given.magnitude and one.drawn.magnitude != given.magnitude:
                continue
            if given.minutes and time.monotonic() - began > 60 * given.minutes:
                break
            row = as_row(one, *bench.run(seed, road, given.time_limit, given.largest))
            rows.append(row)
            results.add(row)
            if row["faults"]:
                print(" ".join(str(row[name]) for name in RUN_COLUMNS), flush=True)
    write_counts(rows, given.out / "judged.csv")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tables", type=int, default=5000, help="how many tables in all")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first table")
    parser.add_argument("--time-limit", type=float, default=2.0, help="seconds for each run")
    parser.add_argument("--minutes", type=float, help="stop after so many; go on by calling again")
    parser.add_argument("--only", metavar="METHOD/ALGORITHM", help="instead of each in turn")
    parser.add_argument("--largest", type=int, help="cells of the largest tables, roughly")
    parser.add_argument("--again", action="store_true", help="run again what had faults")
    parser.add_argument("--magnitude", type=float, help="only tables of this one, such as 1e12")
    parser.add_argument("--seed", type=int, help="run this table alone and show what is wrong")
    parser.add_argument("--out", type=Path, default=RESULTS, help="directory for the results")
    return parser.parse_args()


def _once(one: Case) -> None:
    """Run one case here and tell everything about it."""
    print(f"{one.method}/{one.algorithm} {one.drawn.problem} {one.drawn.kind} {one.drawn.numbers}")
    print(f"magnitude {one.drawn.magnitude:g}, options {one.options}")
    outcome = attempt(one)
    if not isinstance(outcome, Result):
        report = outcome.report
        print(f"{outcome.status}: objective {report.objective!r}, bound {report.bound!r}")
        print(outcome.message)
    for fault in judged(one, outcome).faults:
        print(f"{fault.kind}: {fault.text}")


class Bench:
    """A process that runs cases one after the other, and is replaced when it hangs or dies."""

    def __init__(self) -> None:
        self._process: BaseProcess | None = None
        self._line: Connection | None = None

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def run(
        self,
        seed: int,
        only: tuple[str, str] | None,
        time_limit: float,
        largest: int | None = None,
    ) -> tuple[Result, float]:
        """How a case ends, and the seconds that the method took."""
        line = self._connected()
        line.send((seed, only, time_limit, largest))
        began = time.monotonic()
        try:
            if not line.poll(time_limit + _GRACE):
                self._end()
                return Result("interrupted", (Fault("hang", "no answer"),)), float("nan")
            line.recv()
            seconds = time.monotonic() - began
            # The judge takes its time with larger tables.
            if not line.poll(5 * _GRACE):
                self._end()
                return Result("not judged"), seconds
            result: Result = line.recv()
        except (EOFError, ConnectionResetError):
            process = self._process
            self._end()
            code = None if process is None else process.exitcode
            return Result("crash", (Fault("crash", f"the process ended with {code}"),)), 0.0
        return result, seconds

    def _connected(self) -> Connection:
        if self._line is None:
            context = multiprocessing.get_context("spawn")
            self._line, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
            if not self._line.poll(20 * _GRACE):
                raise SystemExit("the process that runs cases does not start")
            self._line.recv()
        return self._line

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._line is not None:
            self._line.close()
        self._process = self._line = None


def _serve(line: Connection) -> None:
    """Run and judge cases by their seeds until nobody asks any more."""
    for seed in range(_WARM_UP, _WARM_UP + len(ROADS)):
        attempt(case(seed, time_limit=0.5, largest=12, magnitude=1e3))
    line.send("ready")
    while True:
        try:
            seed, only, time_limit, largest = line.recv()
        except EOFError:
            return
        one = case(seed, only, time_limit=time_limit, largest=largest)
        outcome = attempt(one)
        line.send("ran")
        line.send(judged(one, outcome))


def as_row(one: Case, result: Result, seconds: float) -> dict[str, Any]:
    """A run as a row."""
    problem = one.drawn.problem
    return {
        "seed": str(one.seed),
        "method": one.method,
        "algorithm": one.algorithm,
        "magnitude": f"{one.drawn.magnitude:g}",
        "kind": one.drawn.kind,
        "numbers": one.drawn.numbers,
        "cells": str(problem.cell_count),
        "sensitive": str(len(problem.sensitive)),
        "status": result.status,
        "seconds": f"{seconds:.1f}",
        "faults": "; ".join(dict.fromkeys(fault.kind for fault in result.faults)),
        "text": " | ".join(" ".join(fault.text.split())[:300] for fault in result.faults),
    }


def read_runs(path: Path) -> list[dict[str, Any]]:
    """The runs that were made before; none without a file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def counts(rows: Iterable[Mapping[str, Any]]) -> dict[Key, Counter[str]]:
    """For each algorithm and magnitude how many runs ended how, and with which faults."""
    counted: dict[Key, Counter[str]] = {}
    for row in rows:
        key = (row["method"], row["algorithm"], row["magnitude"])
        each = counted.setdefault(key, Counter())
        each["tables"] += 1
        each[row["status"]] += row["status"] in STATUSES
        each.update(name for name in row["faults"].split("; ") if name)
    return counted


def write_counts(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write how many runs ended how."""
    counted = counts(rows)
    places = {road: at for at, road in enumerate(ROADS)}
    with Results(path, COUNT_COLUMNS, NOTES, aloud=False) as results:
        for key in sorted(counted, key=lambda key: (places[key[0], key[1]], float(key[2]))):
            found = {name: str(counted[key][name]) for name in COUNT_COLUMNS[3:]}
            results.add(dict(zip(COUNT_COLUMNS[:3], key, strict=True)) | found)


if __name__ == "__main__":
    main()
