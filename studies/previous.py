"""How close the pattern of the next quarter stays to the last one, and what that costs.

    python -m studies.previous                  # about half an hour, with nothing else running
    python -m studies.previous --tables "size x region" "generated 1"

Each table is protected, then every contribution is changed by up to 5 %, and the new table is
protected twice: by itself, and with the last publication (`tacit.Previous`).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from studies.common import RESULTS, Entry, Results, warm_up
from studies.office_tables import testw_dimensions, testw_records
from tacit.generators import generate_enterprises
from tacit.hierarchy import Hierarchy
from tacit.release import Release
from tacit.table import Table

CHANGE = 0.05
"""By how much contributions change at most, drawn evenly."""
SEEDS = (1, 2, 3)
KEEP = (0.01, 0.5)
COLUMNS = (
    *("table", "cells", "seed", "keep", "limit", "sensitive_then", "sensitive", "secondary_then"),
    *("kept_by_itself_pct", "kept_pct", "dearer_pct", "secondary_dearer_pct", "secondary"),
    *("secondary_by_itself", "status_then", "status_by_itself", "status", "gap_by_itself_pct"),
    *("seconds_by_itself", "seconds", "safe"),
)
NOTES = (
    "contributions times 1 plus up to 5 %, drawn evenly and rounded as they are given; kept: of "
    "the cells that were suppressed last time without being sensitive, those with no value again, "
    "whether or not they are still needed; one that is sensitive now counts as kept",
    "dearer: values of all suppressed cells, against those of the pattern found by itself; "
    "secondary_dearer without sensitive cells; what time limits cut short makes both noisy",
)


def _testw(*names: str) -> Callable[[int | None], Table]:
    def tabulated(seed: int | None) -> Table:
        by = {name: hierarchy for name, hierarchy in testw_dimensions().items() if name in names}
        data = testw_records()
        data["var2"] = _changed(data["var2"], seed, digits=3)
        return tacit.tabulate(data, by, "var2", top=3).apply(tacit.PPercent(15))

    return tabulated


def _generated(number: int, units: int, *, districts: bool) -> Callable[[int | None], Table]:
    def tabulated(seed: int | None) -> Table:
        made = generate_enterprises(units, seed=number)
        data: dict[str, Any] = dict(made.records)
        data["turnover"] = _changed(data["turnover"], seed, digits=0)
        by: dict[str, Hierarchy | None] = dict(made.dimensions)
        if not districts:
            data["region"] = data["region"].astype("U3")
            by["region"] = None
        table = tacit.tabulate(data, by, "turnover", contributor="firm")
        return table.apply(tacit.MinFrequency(3), tacit.PPercent(10))

    return tabulated


TABLES: Mapping[str, tuple[Callable[[int | None], Table], float]] = {
    "size x region": (_testw("size", "region"), 20.0),
    "industry x size": (_testw("industry", "size"), 120.0),
    "generated 1": (_generated(1, 1500, districts=False), 60.0),
    "generated 2": (_generated(2, 4000, districts=False), 60.0),
    "generated 3": (_generated(3, 20_000, districts=True), 120.0),
}
"""Tables by what changes their contributions, and the time limit of each run."""


def _changed(values: Any, seed: int | None, digits: int) -> Any:
    if seed is None:
        return values
    drawn = np.random.default_rng(seed).uniform(1 - CHANGE, 1 + CHANGE, len(values))
    return np.round(np.asarray(values, np.float64) * drawn, digits)


def _timed(table: Table, limit: float) -> tuple[Release, float]:
    began = time.perf_counter()
    return tacit.protect(table, time_limit=limit), time.perf_counter() - began


def run(name: str, last: Release, table: Table, seed: int, limit: float) -> list[dict[str, Entry]]:
    """One table after its contributions have changed, by itself and after the last one."""
    itself, seconds = _timed(table, limit)
    then, sensitive_then = last.published.is_hidden, last.papers.problem.is_sensitive
    secondary_then = then & ~sensitive_then
    weight, sensitive = table.problem().weight, table.is_sensitive
    apart = itself.published.is_hidden
    rows: list[dict[str, Entry]] = []
    for keep in KEEP:
        close, taken = _timed(table.apply(tacit.Previous(last, keep=keep)), limit)
        hidden = close.published.is_hidden
        report = itself.papers.outcome.report
        rows.append(
            {
                "table": name,
                "cells": table.cell_count,
                "seed": seed,
                "keep": keep,
                "limit": limit,
                "sensitive_then": int(sensitive_then.sum()),
                "sensitive": int(sensitive.sum()),
                "secondary_then": int(secondary_then.sum()),
                "kept_by_itself_pct": 100 * float(apart[secondary_then].mean()),
                "kept_pct": 100 * float(hidden[secondary_then].mean()),
                "dearer_pct": _dearer(weight[hidden], weight[apart]),
                "secondary_dearer_pct": _dearer(
                    weight[hidden & ~sensitive], weight[apart & ~sensitive]
                ),
                "secondary": int((hidden & ~sensitive).sum()),
                "secondary_by_itself": int((apart & ~sensitive).sum()),
                "status_then": str(last.papers.outcome.status),
                "status_by_itself": str(itself.papers.outcome.status),
                "status": str(close.papers.outcome.status),
                "gap_by_itself_pct": None if report.gap is None else 100 * report.gap,
                "seconds_by_itself": seconds,
                "seconds": taken,
                "safe": str(close.papers.audit.safe),
            }
        )
    return rows


def _dearer(first: Any, second: Any) -> float:
    return 100 * float(first.sum() / second.sum() - 1)


def main() -> None:
    """Run the study and write its results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    warm_up()
    with Results(given.out / "previous.csv", COLUMNS, NOTES) as results:
        for name in given.tables:
            make, limit = TABLES[name]
            last, _ = _timed(make(None), limit)
            for seed in SEEDS:
                for row in run(name, last, make(seed), seed, limit):
                    results.add(row)


if __name__ == "__main__":
    main()
