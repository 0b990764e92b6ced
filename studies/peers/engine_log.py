"""What tau-ARGUS' exact engine writes about a run, read back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tacit.outcome import TracePoint

_OBJECTIVES = re.compile(r"Objectvalues:\s*(\S+) and\s*(\S+)")
_SOLVER = re.compile(r"LP back-end \((\w+)\)")


@dataclass(frozen=True)
class EngineRun:
    """One run of the exact engine, in its own whole-number costs.

    Attributes:
        objective: The cost of its best pattern.
        bound: Its proven lower bound.
        nodes: Branch-and-bound nodes.
        solver: What it solved linear programs with, in small letters.
        trace: What was known when, in seconds of processor time.
    """

    objective: float | None
    bound: float | None
    nodes: int | None
    solver: str | None
    trace: tuple[TracePoint, ...]


def read_engine_run(folder: Path) -> EngineRun:
    """Read the log and the statistics that a run left in its folder."""
    log = _text(folder / "FullJJ.log")
    values = _OBJECTIVES.search(log)
    bound, objective = (float(text) for text in values.groups()) if values else (None, None)
    solver = _SOLVER.search(log)
    statistics = _statistics(next(iter(folder.glob("*.sta")), None))
    return EngineRun(
        objective=objective,
        bound=bound,
        nodes=int(statistics["nodes"]) if statistics else None,
        solver=solver.group(1).lower() if solver else None,
        trace=_trace(statistics),
    )


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


def _statistics(path: Path | None) -> dict[str, float]:
    """The last line of the statistics by the names in its first; `time` occurs more than once."""
    lines = _text(path).split("\n") if path else []
    rows = [line.split() for line in lines if line.strip()]
    if len(rows) < 2 or len(rows[0]) != len(rows[-1]):
        return {}
    found: dict[str, float] = {}
    for name, text in zip(rows[0], rows[-1], strict=True):
        while name in found:
            name += "'"
        found[name] = float(text) if text[-1:].isdigit() else 0.0
    return found


def _trace(statistics: dict[str, float]) -> tuple[TracePoint, ...]:
    if not statistics:
        return ()
    root, best, end = statistics["time"], statistics["time'"], abs(statistics["Ttime"])
    objectives = [
        (statistics["theur0"], statistics["UB0"]),
        (root, statistics["UB1"]),
        (best, statistics["opt"]),
    ]
    bounds = [(root, statistics["LB1"]), (end, statistics["BestLB"])]
    return tuple(
        TracePoint(
            moment,
            min((value for when, value in objectives if when <= moment), default=None),
            max((value for when, value in bounds if when <= moment), default=0.0),
        )
        for moment in sorted({*(when for when, _ in objectives), *(when for when, _ in bounds)})
    )
