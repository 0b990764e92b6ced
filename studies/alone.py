"""One algorithm on one table in a separate process, with what it took of time and memory.

`run_alone` starts the process; `python -m studies.alone REQUEST.json ANSWER.json` is the process.
A peak of memory belongs to a process for good, so only a process for each run tells them apart.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

from studies.common import PROJECT, count_exposed, shared_instance, weight_of_sensitive
from tacit.errors import TacitError
from tacit.generators import (
    SensitiveRule,
    SensitiveShare,
    generate_1h2d,
    generate_2d,
    generate_3d,
    random_hierarchy,
)
from tacit.generators.sensitivity import Sensitivity
from tacit.hierarchy import Hierarchy
from tacit.methods.suppress.run import suppress
from tacit.problem import Problem
from tacit.table.table import Table

DEPTHS = {"2d": (3, 3), "3d": (3, 2, 2)}
"""Levels below the total in each dimension of a generated table."""
SHARE = 8.0
"""Sensitive cells in per cent of the finest cells."""
GRACE = 300.0
"""A process is ended this many seconds after its time limit."""

Answer: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, kw_only=True)
class TableName:
    """A table, by what it takes to make it again.

    Attributes:
        kind: `2d` and `3d` are generated with hierarchies, `1h2d` by the name of its structure,
            `file` is a public instance.
        name: The size in cells for `2d` and `3d`, else the name.
        seed: Seed of generated tables.
        rule: For `2d` and `3d`: by `share` of the finest cells, or the p% rule, `p`.
    """

    kind: str
    name: str
    seed: int = 1
    rule: str = "share"

    def problem(self) -> Problem:
        """The table as a problem, with the weights it has."""
        if self.kind == "file":
            return shared_instance(self.name)
        if self.kind == "1h2d":
            return generate_1h2d(self.name, self.seed, weight="value")
        return self.table().problem()

    def table(self) -> Table:
        """The generated table with its dimensions."""
        hierarchies = hierarchies_for(int(self.name), DEPTHS[self.kind])
        chosen: Sensitivity = SensitiveRule()
        if self.rule == "share":
            chosen = SensitiveShare(percent=SHARE)
        if self.kind == "2d":
            rows, columns = hierarchies
            return generate_2d(rows, columns, self.seed, sensitivity=chosen)
        rows, columns, layers = hierarchies
        return generate_3d(rows, columns, layers, self.seed, sensitivity=chosen)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One run, and what it took.

    Attributes:
        cells: Cells of the table.
        sensitive: How many of them are sensitive.
        sensitive_weight: Weight of the sensitive cells, which every pattern pays.
        status: How it ended; `failed` if it broke down, `killed` if it had to be ended.
        stopped_by: Why it ended.
        first_safe_seconds: Wall time until the search had a first safe pattern.
        wall_seconds: Wall time of the call, its own audit included.
        cpu_seconds: Processor time of the call, all threads together.
        table_gb: Peak memory of the process before the call: Python, the libraries, the table.
        peak_gb: Peak memory of the process, the table included.
        objective: Weight of the pattern, sensitive cells included.
        bound: What was proven about it.
        suppressed: Number of suppressed cells.
        exposed: Sensitive cells that one more audit, not timed, finds exposed.
    """

    cells: int = 0
    sensitive: int = 0
    sensitive_weight: float = 0.0
    status: str
    stopped_by: str
    first_safe_seconds: float | None = None
    wall_seconds: float
    cpu_seconds: float | None = None
    table_gb: float | None = None
    peak_gb: float | None = None
    objective: float | None = None
    bound: float | None = None
    suppressed: int | None = None
    exposed: int | None = None

    @property
    def safe(self) -> bool | None:
        """Whether no sensitive cell is exposed; None without a pattern."""
        return None if self.exposed is None else self.exposed == 0

    @property
    def gap_percent(self) -> float | None:
        """How far the objective is above the bound, in per cent of the objective."""
        return gap_percent(self.objective, self.bound)


MEASURED = tuple(field.name for field in fields(Measured))


def gap_percent(objective: float | None, bound: float | None) -> float | None:
    """(objective - bound) / objective in per cent; None where either is not known.

    >>> gap_percent(200.0, 199.0)
    0.5
    """
    if objective is None or bound is None:
        return None
    return 100 * (objective - bound) / max(abs(objective), 1e-10)


def hierarchies_for(size: int, depths: tuple[int, ...]) -> list[Hierarchy]:
    """Hierarchies with the same number of leaves whose table has about `size` cells.

    The number of leaves is the smallest with which the table has at least that many.

    >>> [len(hierarchy) for hierarchy in hierarchies_for(10_000, (3, 3))]
    [100, 100]
    """
    least = max(2**depth for depth in depths)
    most = max(least, math.ceil(size ** (1 / len(depths))))
    while least < most:
        middle = (least + most) // 2
        if _cell_count(middle, depths) >= size:
            most = middle
        else:
            least = middle + 1
    return [
        random_hierarchy(least, depth=depth, seed=place)
        for place, depth in enumerate(depths, start=1)
    ]


def run_alone(
    table: TableName,
    algorithm: str,
    *,
    time_limit: float,
    grace: float = GRACE,
    jobs: int | None = None,
) -> Measured:
    """Protect a table in a separate process.

    Args:
        table: What to protect.
        algorithm: Of `tacit.suppress`.
        time_limit: Seconds for the call.
        grace: The process is ended this many seconds after the limit; the clock also runs while
            it generates the table and audits the pattern.
        jobs: Cores; by default all.
    """
    request = {
        "table": asdict(table),
        "algorithm": algorithm,
        "time_limit": time_limit,
        "jobs": jobs,
    }
    with tempfile.TemporaryDirectory(prefix="tacit-alone-") as folder:
        asked, answered = Path(folder, "request.json"), Path(folder, "answer.json")
        asked.write_text(json.dumps(request))
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "studies.alone", str(asked), str(answered)],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        ended = "failed"
        try:
            process.wait(time_limit + grace)
        except subprocess.TimeoutExpired:
            ended = "killed"
        finally:
            # Also when the caller is interrupted: nothing may run on behind its back.
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if answered.exists():
            return Measured(**json.loads(answered.read_text()))
        took = time.perf_counter() - began
        return Measured(
            status=ended, stopped_by=f"exit code {process.returncode}", wall_seconds=took
        )


def answer(request: dict[str, Any]) -> dict[str, Answer]:
    """Do the work of the process; returns the fields of a `Measured`."""
    table = TableName(**request["table"])
    choices = {name: request[name] for name in ("algorithm", "time_limit", "jobs")}
    # Compiles what is compiled on first use, so that no run is charged for it.
    for kind in ("2d", "3d"):
        small = TableName(kind=kind, name="1500").problem()
        suppress(small, **choices | {"time_limit": 5.0})
    problem = table.problem()
    found: dict[str, Answer] = {
        "cells": problem.cell_count,
        "sensitive": len(problem.sensitive),
        "sensitive_weight": weight_of_sensitive(problem),
        "table_gb": peak_memory(),
    }
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        outcome = suppress(problem, **choices)
    except TacitError as error:
        found |= {"status": "failed", "stopped_by": type(error).__name__}
    else:
        found |= {"status": outcome.status.value, "stopped_by": outcome.stopped_by}
        if outcome.solution is not None:
            found["objective"] = outcome.report.objective
            found["suppressed"] = len(outcome.suppressed)
            found["first_safe_seconds"] = next(
                point.seconds for point in outcome.report.trace if point.objective is not None
            )
        found["bound"] = outcome.report.bound
    found["wall_seconds"] = time.perf_counter() - wall
    found["cpu_seconds"] = time.process_time() - cpu
    found["peak_gb"] = peak_memory()
    if "suppressed" in found:
        found["exposed"] = count_exposed(problem, outcome.suppressed)
    return found


def peak_memory() -> float:
    """The most memory this process has held so far, in GB.

    The system's account by process would not do: it also holds what the process that started
    this one had used.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e9
    raise OSError("the system does not say how much memory a process has used")


def _cell_count(leaves: int, depths: tuple[int, ...]) -> int:
    count = 1
    for depth in depths:
        count *= len(random_hierarchy(leaves, depth=depth))
    return count


def main() -> None:
    """Answer one request."""
    asked, answered = map(Path, sys.argv[1:])
    draft = answered.with_suffix(".draft")
    draft.write_text(json.dumps(answer(json.loads(asked.read_text()))))
    draft.replace(answered)


if __name__ == "__main__":
    main()
