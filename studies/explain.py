"""How long an explanation takes: `release.explain` on releases of about 10,000 cells.

    python -m studies.explain
    python -m studies.explain --instances generated --count 50

Each table is protected once. Then random cells of each kind are explained, all with the release in
memory, as after `tacit.protect` or in the application; what its cells have in common is worked out
with the first of them, which is counted apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np

import tacit
from studies import office_tables
from studies.common import Results, Row, add_jobs, arguments
from tacit.explanation import Explanation
from tacit.precompile import precompile
from tacit.table import Table

TABLES: Mapping[str, Callable[[], Table]] = {
    "generated": lambda: office_tables.generated(10_000, mean_count=40.0),
    "industry x region": office_tables.industry_region,
}
COLUMNS = (
    *("instance", "cells", "sensitive", "suppressed", "kind", "explained", "first_seconds"),
    *("median_seconds", "worst_seconds", "worst_cpu_seconds", "within_2_s", "protecting"),
    *("possible", "exact"),
)
NOTES = (
    "generated: two hierarchies of three levels, p% 15; industry x region: tau_testW, Var2, p% 15; "
    "single contributors attack, too",
    "first_seconds: the first explanation of a release, which examines the relations; the others "
    "do not include it",
    "within_2_s: share of the explanations that take at most 2 s; worst_cpu_seconds: processor "
    "time of the slowest, which others on the machine do not add to",
    "protecting: explained cells that protect another one; possible and exact: secondary cells "
    "that something else could take the place of, and with a proof in 1 s that nothing cheaper "
    "does",
)


def main() -> None:
    """Protect, explain, and write what it took."""
    parser = arguments(str(__doc__), instances=tuple(TABLES), time_limit=60.0)
    add_jobs(parser)
    parser.add_argument("--count", type=int, default=40, help="cells of each kind")
    given = parser.parse_args()
    results = Results(given.out / "explain.csv", COLUMNS, notes=NOTES)
    precompile()
    with results:
        for name in given.instances:
            table = TABLES[name]()
            release = tacit.protect(
                table, "suppress", time_limit=given.time_limit, seed=given.seed, jobs=given.jobs
            )
            for row in measured(name, release, given.count, given.seed):
                results.add(row)


def measured(name: str, release: tacit.Release, count: int, seed: int) -> list[Row]:
    """Explain some cells of each kind of one release.

    Args:
        name: The name of the table.
        release: The release.
        count: How many cells of each kind.
        seed: Of the choice of cells.
    """
    problem, hidden = release.papers.problem, release.published.is_hidden
    began = time.monotonic()
    release.explain(int(np.flatnonzero(hidden)[0]))
    first = time.monotonic() - began
    rng = np.random.default_rng(seed)
    kinds = {
        "secondary": hidden & ~problem.is_sensitive,
        "primary": problem.is_sensitive,
        "published": ~hidden,
    }
    rows: list[Row] = []
    for kind, mask in kinds.items():
        cells = np.flatnonzero(mask)
        chosen = rng.choice(cells, min(count, len(cells)), replace=False).tolist()
        seconds, processor, told = np.zeros(len(chosen)), np.zeros(len(chosen)), []
        for place, cell in enumerate(chosen):
            began, worked = time.monotonic(), time.process_time()
            told.append(release.explain(cell))
            seconds[place] = time.monotonic() - began
            processor[place] = time.process_time() - worked
        rows.append(
            {
                "instance": name,
                "cells": problem.cell_count,
                "sensitive": len(problem.sensitive),
                "suppressed": int(hidden.sum()),
                "kind": kind,
                "explained": len(chosen),
                "first_seconds": round(first, 3),
                "median_seconds": round(float(np.median(seconds)), 3),
                "worst_seconds": round(float(seconds.max()), 3),
                "worst_cpu_seconds": round(float(processor.max()), 3),
                "within_2_s": round(float((seconds <= 2).mean()), 3),
                "protecting": sum(bool(each.protects) for each in told),
                **_publishing(kind, told),
            }
        )
    return rows


def _publishing(kind: str, told: list[Explanation]) -> Row:
    if kind != "secondary":
        return {"possible": None, "exact": None}
    found = [each.publishing for each in told if each.publishing is not None]
    possible = [each for each in found if each.possible]
    return {"possible": len(possible), "exact": sum(each.exact for each in possible)}


if __name__ == "__main__":
    main()
