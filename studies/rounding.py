"""Controlled rounding: time and proven gap on generated tables, with the integer program.

Two-dimensional tables with one hierarchy are networks; the others are not, and there the plain
integer program (`milp`, HiGHS alone) is what rounding part after part is compared with.
"""

from __future__ import annotations

import time

import numpy as np

from studies.common import Results, arguments
from tacit.hierarchy import Hierarchy
from tacit.methods.rounding.options import Algorithm
from tacit.methods.rounding.run import round as controlled_rounding
from tacit.problem import Problem
from tacit.table import Table

TABLES: dict[str, tuple[tuple[int, ...], ...]] = {
    "1h2d-10k": ((10, 10), (90,)),
    "1h2d-100k": ((10, 8, 10), (111,)),
    "3d-1k": ((9,), (9,), (10,)),
    "3d-10k": ((20,), (20,), (22,)),
    "2h2d-9k": ((4, 5, 4), (4, 5, 4)),
}
"""For each dimension the number of branches at each level of its hierarchy."""
SHORT = ("1h2d-10k", "1h2d-100k", "3d-1k")
COLUMNS = (
    *("instance", "cells", "relations", "algorithm", "seed", "base", "zero_restricted"),
    *("status", "stopped_by", "objective", "bound", "gap_pct", "seconds", "cpu_seconds"),
)


def hierarchy(branches: tuple[int, ...]) -> Hierarchy:
    """A hierarchy in which every code of a level has as many children."""
    parents: dict[str, str] = {}
    codes = ["Total"]
    for count in branches:
        children = {f"{code}.{number}": code for code in codes for number in range(count)}
        parents |= children
        codes = [*children]
    return Hierarchy.from_parents(parents)


def table(name: str, seed: int = 1) -> Problem:
    """A table of counts, three in ten of them zero."""
    dimensions = {f"d{i}": hierarchy(branches) for i, branches in enumerate(TABLES[name])}
    shape = tuple(int(codes.is_leaf.sum()) for codes in dimensions.values())
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.lognormal(1.0, 1.5, shape)) * (rng.random(shape) < 0.7)
    return Table.from_cube(counts, dimensions).problem()


def main() -> None:
    """Run the study."""
    parser = arguments("Controlled rounding", instances=SHORT, time_limit=60.0)
    parser.add_argument("--base", type=float, default=5.0, help="the base")
    parser.add_argument(
        "--plain", action="store_true", help="the plain integer program as well, for non-networks"
    )
    asked = parser.parse_args()
    notes = [
        f"generated counts; time limit {asked.time_limit:g} s, gap asked for 1e-4, unit weights",
        f"all instances: {' '.join(TABLES)}",
    ]
    with Results(asked.out / "rounding.csv", COLUMNS, notes) as results:
        for name in asked.instances:
            problem = table(name, asked.seed)
            algorithms: list[Algorithm] = ["auto"]
            if asked.plain and not name.startswith("1h2d"):
                algorithms.append("milp")
            for algorithm in algorithms:
                for zero_restricted in (False, True):
                    began = time.process_time()
                    outcome = controlled_rounding(
                        problem,
                        asked.base,
                        algorithm=algorithm,
                        zero_restricted=zero_restricted,
                        time_limit=asked.time_limit,
                        seed=asked.seed,
                    )
                    gap = outcome.report.gap
                    results.add(
                        {
                            "instance": name,
                            "cells": problem.cell_count,
                            "relations": problem.relation_count,
                            "algorithm": algorithm,
                            "seed": asked.seed,
                            "base": asked.base,
                            "zero_restricted": str(zero_restricted),
                            "status": outcome.status.value,
                            "stopped_by": outcome.stopped_by,
                            "objective": outcome.report.objective,
                            "bound": outcome.report.bound,
                            "gap_pct": None if gap is None else 100 * gap,
                            "seconds": outcome.report.seconds,
                            "cpu_seconds": time.process_time() - began,
                        }
                    )


if __name__ == "__main__":
    main()
