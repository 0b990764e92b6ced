"""How fast sensitivity rules judge a big table, against numpy sorting its values.

Run with `python -m benchmarks.rules`. The table has three hierarchical dimensions and 1,000,000
cells with counts and the three largest contributions of each, for contributors and for holdings,
sampling weights and requests. Both take turns in one process; the ratio of their medians is what
to compare between machines.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from benchmarks.relations import two_levels
from tacit.rules import (
    Dominance,
    GroupDisclosure,
    MinFrequency,
    PPercent,
    PriorPosterior,
    Request,
    SmallCounts,
    ZeroCells,
)
from tacit.table import Bounds, Grid, Rule, Table

REPETITIONS = 3
MOST_SECONDS = 1.0
"""Any of the lines may take this much processor time at most."""

RULES: dict[str, tuple[Rule, ...]] = {
    "no rule": (),
    "minimum frequency": (MinFrequency(3),),
    "dominance": (Dominance(2, 85),),
    "p%": (PPercent(10),),
    "prior-posterior, coalition": (PriorPosterior(10, 60, coalition=2),),
    "p% of holdings": (PPercent(10, holding=True),),
    "request": (Request(share=10),),
    "minimum frequency and p%": (MinFrequency(3), PPercent(10)),
}


def big_table(weighted: bool, seed: int = 1) -> Table:
    """A table of 1,000,000 cells with everything that rules look at."""
    hierarchy = two_levels(9, 10)
    grid = Grid({"x": hierarchy, "y": hierarchy, "z": hierarchy})
    random = np.random.default_rng(seed)
    n = grid.cell_count
    count = random.integers(0, 30, n).astype(float)
    top = -np.sort(-random.integers(1, 1000, (n, 3)).astype(float), axis=1)
    top[np.arange(3) >= count[:, None]] = np.nan
    weight = np.where(np.isnan(top), np.nan, random.integers(1, 5, (n, 3)))
    known = np.nansum(top * weight if weighted else top, axis=1)
    others = np.where(count > 3, random.integers(0, 2000, n), 0)
    return Table(
        grids=(grid,),
        value=known + others,
        count=count,
        top=top,
        top_weight=weight if weighted else None,
        holding_count=count,
        holding_top=None if weighted else top,
        requested=np.where(count > 0, random.integers(0, 2, n), 0.0),
        top_requested=np.where(np.isnan(top), np.nan, random.integers(0, 2, (n, 3))),
    )


def counting_table(seed: int = 1) -> Table:
    """A table of 1,000,000 counts, most of them zero."""
    hierarchy = two_levels(9, 10)
    random = np.random.default_rng(seed)
    leaves = (len(hierarchy.leaves),) * 3
    counts = np.where(random.random(leaves) < 0.9, 0, random.integers(1, 6, leaves))
    return Table.from_cube(counts, {"x": hierarchy, "y": hierarchy, "z": hierarchy})


def seconds(action: Callable[[], object]) -> float:
    """How much processor time an action takes."""
    start = time.process_time()
    action()
    return time.process_time() - start


def run() -> list[dict[str, object]]:
    """One row of figures for each rule."""
    table, weighted = big_table(weighted=False), big_table(weighted=True)
    counting = counting_table()
    bounds = Bounds(total_factor=11.0)
    cases: list[tuple[str, Callable[[], Table]]] = [
        (name, lambda rules=rules: table.apply(*rules))  # type: ignore[misc] # bound now
        for name, rules in RULES.items()
    ]
    cases += [
        ("zero cells", lambda: counting.apply(ZeroCells())),
        ("small counts", lambda: counting.apply(SmallCounts(3))),
        ("group disclosure", lambda: counting.apply(GroupDisclosure())),
    ]
    cases.append(("p%, sampling weights", lambda: weighted.apply(PPercent(10))))
    cases.append(
        (
            "two rules, bounds, weights",
            lambda: table.apply(MinFrequency(3), PPercent(10), bounds=bounds, weight="value"),
        )
    )
    rows: list[dict[str, object]] = []
    for name, action in cases:
        judged = action()
        sorting, judging = [], []
        for _ in range(REPETITIONS):
            sorting.append(seconds(lambda: np.sort(table.value)))
            judging.append(seconds(action))
        rows.append(
            {
                "rules": name,
                "cells": table.cell_count,
                "sensitive": int(judged.is_sensitive.sum()),
                "judged_s": median(judging),
                "ratio": median(judging) / median(sorting),
            }
        )
    return rows


def main() -> int:
    """Print the figures; 1 if any takes too long."""
    print(f"{'rules':28}{'cells':>10}{'sensitive':>11}{'judged_s':>10}{'ratio':>8}")
    slow = False
    for row in run():
        took = float(str(row["judged_s"]))
        slow |= took > MOST_SECONDS
        print(
            f"{row['rules']:28}{row['cells']:>10}{row['sensitive']:>11}"
            f"{took:10.2f}{row['ratio']:8.1f}"
        )
    print(f"allowed: {MOST_SECONDS:.0f} s of processor time")
    return int(slow)


if __name__ == "__main__":
    raise SystemExit(main())
