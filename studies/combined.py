"""[KarlssonOlsson2015, chapter 5]: three kinds of suppression on tables of its sizes.

    python -m studies.combined                         # up to an hour and a half
    python -m studies.combined --instances 2C --variants Partial-Unity

`combined.csv` has one row per run; `combined_tables.csv` has the figures in the form of the paper's
Tables B.1 to B.5, next to those of the paper. Complete suppression has lower and upper levels, the
others have sliding levels of the same sum, as in the paper.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies.combined_plots import QUANTITIES, draw
from studies.combined_tables import PLANS, table, with_sliding_levels
from studies.common import GENERATED_NOTE, Entry, Results, arguments, shared
from studies.pictures import draw_if_possible, read_rows
from studies.workers import add_at_once, at_once_note, measured
from tacit.attack.audit import audit
from tacit.errors import TacitError
from tacit.methods.combined.run import combined
from tacit.methods.intervals.run import intervals
from tacit.methods.suppress.run import suppress
from tacit.outcome import Outcome
from tacit.problem import Problem

PAPER = "[KarlssonOlsson2015, Tables B.1 to B.5]"
COLUMNS = (
    *("instance", "cells", "relations", "sensitive", "variant", "seed", "status", "stopped_by"),
    *("objective", "bound", "gap_pct", "suppressions", "width", "cpu_seconds", "seconds", "cuts"),
    *("iterations", "safe"),
    *(f"paper_{quantity}" for quantity in QUANTITIES),
)


@dataclass(frozen=True)
class Variant:
    """One of the models of the paper.

    Attributes:
        method: The method.
        choices: Its weights.
        slides: Are the levels sliding ones?
    """

    method: Callable[..., Outcome]
    choices: Mapping[str, str]
    slides: bool


VARIANTS: Mapping[str, Variant] = {
    "Complete-Unity": Variant(suppress, {"weights": "unit"}, slides=False),
    "Complete-Value": Variant(suppress, {"weights": "value"}, slides=False),
    "Partial-Unity": Variant(intervals, {"weights": "unit"}, slides=True),
    "Partial-Value": Variant(intervals, {"weights": "value"}, slides=True),
    "Combined-Unity-Unity": Variant(
        combined, {"width_weights": "unit", "weights": "unit"}, slides=True
    ),
    "Combined-Unity-Value": Variant(
        combined, {"width_weights": "unit", "weights": "value"}, slides=True
    ),
}
"""The models by the names of the paper: of two weights the first is that of the widths."""


def run(problem: Problem, variant: Variant, **options: Any) -> dict[str, Entry]:
    """Protect a table. A breakdown is a result too, and the study goes on."""
    began, used = time.monotonic(), time.process_time()
    try:
        outcome = variant.method(problem, **variant.choices, **options)
    except TacitError as error:
        seconds = round(time.monotonic() - began, 2)
        return {"status": "failed", "stopped_by": type(error).__name__, "seconds": seconds}
    used = time.process_time() - used
    report = outcome.report
    entries: dict[str, Entry] = {
        "status": outcome.status.value,
        "stopped_by": outcome.stopped_by,
        "objective": report.objective,
        "bound": report.bound,
        "gap_pct": None if report.gap is None else 100 * report.gap,
        "cpu_seconds": round(used, 2),
        "seconds": round(report.seconds, 2),
        "cuts": report.cuts,
        "iterations": report.iterations,
    }
    if outcome.solution is not None:
        # Widths are those that a reader can deduce, whatever is published.
        found = audit(problem, outcome, tolerance=None)
        width = sum(float((each.upper - each.lower).sum()) for each in found.findings)
        entries["suppressions"] = int((found.hidden | problem.is_sensitive).sum())
        entries["width"] = width
        entries["safe"] = "yes" if found.safe else "no"
    return entries


def printed() -> dict[tuple[str, str, str], float]:
    """The figures of the paper's Tables B.1 to B.5, by quantity, variant and instance."""
    rows = read_rows(shared() / "published" / "seed002_tablesB.csv")
    names = {table: quantity for quantity, (table, _) in QUANTITIES.items()}
    found = {}
    for row in rows:
        if row["value"] not in ("", "n/a"):
            key = names[row["table"]], row["model_variant"], row["instance"]
            found[key] = float(row["value"])
    return found


def main() -> None:
    """Run the study."""
    parser = arguments(PAPER, instances=[*PLANS], time_limit=300.0)
    parser.add_argument(
        "--variants", nargs="+", default=[*VARIANTS], metavar="NAME", help="which models"
    )
    parser.add_argument("--gap", type=float, default=1e-4, help="stop at this gap")
    add_at_once(parser)
    asked = parser.parse_args()
    paper = printed()
    notes = [
        f"{PAPER}; time limit {asked.time_limit:g} s, gap {asked.gap:g}",
        "paper_width is in units of 1e7, as printed; no entry: the paper has no solution",
        at_once_note(asked.at_once),
        GENERATED_NOTE,
    ]
    path = asked.out / "combined.csv"
    with Results(
        path, COLUMNS, notes, key=("instance", "variant", "seed"), again=asked.again
    ) as results:
        tasks = [
            Task(name, label, asked.time_limit, asked.gap, asked.seed)
            for name in asked.instances
            for label in asked.variants
            if not results.has(name, label, asked.seed)
        ]
        for row in measured(run_task, tasks, at_once=asked.at_once):
            key = str(row["variant"]), str(row["instance"])
            theirs = {f"paper_{each}": paper.get((each, *key)) for each in QUANTITIES}
            results.add({**row, **theirs})
    write_tables(path, notes)
    draw_if_possible(draw, path)


@dataclass(frozen=True)
class Task:
    """One run: a model on a table."""

    name: str
    variant: str
    time_limit: float
    gap: float
    seed: int


def run_task(task: Task) -> dict[str, Entry]:
    """The row of one run, without the paper's figures."""
    variant = VARIANTS[task.variant]
    problem = table(task.name, task.seed)
    if variant.slides:
        problem = with_sliding_levels(problem)
    options = {"time_limit": task.time_limit, "gap": task.gap, "seed": task.seed}
    return {
        "instance": task.name,
        "cells": problem.cell_count,
        "relations": problem.relation_count,
        "sensitive": len(problem.sensitive),
        "variant": task.variant,
        "seed": task.seed,
        **run(problem, variant, **options),
    }


def write_tables(path: Path, notes: list[str]) -> None:
    """The figures in the shape of the paper's tables: a row per model, a column per instance."""
    rows = read_rows(path)
    instances = list(dict.fromkeys(row["instance"] for row in rows))
    columns = ("table", "quantity", "variant", *instances)
    shaped = path.with_name("combined_tables.csv")
    with Results(shaped, columns, notes, aloud=False) as results:
        for quantity, (number, title) in QUANTITIES.items():
            for source, column in (("", quantity), ("paper: ", f"paper_{quantity}")):
                for label in dict.fromkeys(row["variant"] for row in rows):
                    mine = {r["instance"]: r[column] for r in rows if r["variant"] == label}
                    results.add(
                        {"table": number, "quantity": title, "variant": f"{source}{label}", **mine}
                    )


if __name__ == "__main__":
    main()
