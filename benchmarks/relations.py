"""How fast the relations of a big table are built, against numpy summing the same array.

Run with `python -m benchmarks.relations`. Both take turns in one process; the ratio of their
medians is what to compare between machines. Tables have three hierarchical dimensions and
1,000,000 cells; `summed` is the array over all combinations of codes, summed along each axis.
"""

from __future__ import annotations

import resource
import time
import tracemalloc
from collections.abc import Callable
from statistics import median

import numpy as np

from tacit.hierarchy import Hierarchy
from tacit.problem import Floats
from tacit.table import Grid, Table

REPETITIONS = 15
MOST_ALLOWED = 20.0
"""Building relations may take this many times as long as summing."""


def two_levels(groups: int, members: int) -> Hierarchy:
    """A total with groups of the same number of codes below it."""
    return Hierarchy.from_nested(
        {f"{group}": [f"{group}.{member}" for member in range(members)] for group in range(groups)}
    )


def binary(codes: int) -> Hierarchy:
    """The deepest usual case: every code with children has two."""
    parents = {str(code): str((code - 1) // 2) for code in range(1, codes)}
    return Hierarchy.from_parents(parents)


def full(hierarchy: Hierarchy) -> Grid:
    """A grid in which every combination of codes occurs."""
    return Grid({"x": hierarchy, "y": hierarchy, "z": hierarchy})


def partly_filled(hierarchy: Hierarchy, cells: int, seed: int = 1) -> Grid:
    """A grid in which about this many combinations occur: some finest ones and all their totals."""
    grid = full(hierarchy)
    leaves = np.flatnonzero(hierarchy.is_leaf)
    random = np.random.default_rng(seed)
    finest = random.choice(leaves, (cells, 3))
    keys = np.unique(finest @ np.array(grid.strides))
    for stride, size in zip(grid.strides, grid.shape, strict=True):
        above = keys
        for _ in range(hierarchy.depth):
            position = above // stride % size
            above, position = above[position > 0], position[position > 0]
            above = np.unique(above + (hierarchy.parent[position] - position) * stride)
            keys = np.union1d(keys, above)
    return Grid(grid.dimensions, keys)


def seconds(action: Callable[[], object]) -> float:
    """How long an action takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def sum_along_axes(array: Floats) -> None:
    """What the relations are measured by."""
    for axis in range(array.ndim):
        array.sum(axis=axis)


def measure(name: str, grid: Grid, repetitions: int = REPETITIONS) -> dict[str, object]:
    """Time both alternately, and the memory that building takes at most."""
    array = np.random.default_rng(1).random(grid.shape)
    relations = grid.relations()
    fresh = [Grid(grid.dimensions, grid.keys) for _ in range(repetitions)]
    summed, built = [], []
    for same in fresh:
        summed.append(seconds(lambda: sum_along_axes(array)))
        built.append(seconds(same.relations))
    tracemalloc.start()
    Grid(grid.dimensions, grid.keys).relations()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "table": name,
        "cells": grid.cell_count,
        "relations": relations.shape[0],
        "coefficients": relations.nnz,
        "summed_ms": 1e3 * median(summed),
        "built_ms": 1e3 * median(built),
        "ratio": median(built) / median(summed),
        "peak_mb": peak / 1e6,
    }


def run() -> list[dict[str, object]]:
    """One row of figures per table, and one for the whole way from an array to a problem."""
    usual = two_levels(9, 10)
    rows = [
        measure("full, 3 levels", full(usual)),
        measure("full, binary", full(binary(100))),
        measure("three quarters filled", partly_filled(two_levels(10, 10), 1_350_000)),
        measure("sparse", partly_filled(two_levels(25, 15), 400_000), repetitions=3),
    ]
    leaves = np.random.default_rng(1).random((len(usual.leaves),) * 3)
    tracemalloc.start()
    table = Table.from_cube(leaves, {"x": usual, "y": usual, "z": usual})
    problem = table.problem()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    rows.append(
        {
            "table": "array to problem",
            "cells": problem.cell_count,
            "relations": problem.relation_count,
            "coefficients": problem.relations.nnz,
            "built_ms": 1e3
            * seconds(lambda: Table(grids=table.grids, value=table.value).problem()),
            "peak_mb": peak / 1e6,
        }
    )
    return rows


def main() -> None:
    """Print the figures."""
    columns = ("cells", "relations", "coefficients", "summed_ms", "built_ms", "ratio", "peak_mb")
    print(f"{'table':22}" + "".join(f"{column:>14}" for column in columns))
    rows = run()
    for row in rows:
        cells = [row.get(column, "") for column in columns]
        shown = [f"{cell:14.2f}" if isinstance(cell, float) else f"{cell:>14}" for cell in cells]
        print(f"{row['table']:22}" + "".join(shown))
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"largest memory of the whole run: {rss:.0f} MB; allowed ratio: {MOST_ALLOWED:.0f}")


if __name__ == "__main__":
    main()
