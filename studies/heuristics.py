"""[Castro2012, Tables 1 and 2]: Benders, shortest paths, HiTaS and hypercube on 1H2D tables.

    python -m studies.heuristics --table 1       # seven generated tables; at most 40 minutes
    python -m studies.heuristics --table 2       # two public ones; at most 10 minutes

The tables of Table 1 are private: generated ones have their numbers of cells and sensitive cells.
Those of Table 2 are public: tau_testW, IndustryCode x Size, Var1 and Var2. The paper counts all
combinations of codes, here those that occur. It does not say by which rule cells are sensitive;
here it is p% with p = 15, which marks others.
`benders` is the classic decomposition, `paths` the shortest paths, `modular` is what HiTaS does, a
subtable after the other, and `hypercube` its namesake; `auto` is what tacit does unless asked.
Every pattern is audited, whoever made it: HiTaS and hypercube promise nothing for the whole table.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import numpy as np

from studies.common import (
    GENERATED_NOTE,
    Entry,
    Results,
    add_jobs,
    arguments,
    jobs_note,
    published_by_instance,
    run_tacit,
    warm_up,
)
from studies.office_tables import industry_size
from tacit.generators import SensitiveShare, generate_2d
from tacit.hierarchy import Hierarchy
from tacit.problem import Problem

METHODS: Mapping[str, str] = {
    "benders": "benders",
    "paths": "shortestpaths",
    "modular": "hitas",
    "hypercube": "hypercube",
    "auto": "",
}
"""Algorithms, and the columns of the printed tables that belong to them."""
SIZES: Mapping[str, tuple[int, int]] = {
    "CBS1": (711, 9),
    "CBS2": (11531, 15),
    "DES1": (46, 10),
    "DES2": (105, 10),
    "DES3": (823, 10),
    "DES4": (1653, 10),
    "DES4a": (1653, 18),
}
"""Codes of the hierarchical and of the flat dimension, totals included; the paper has products."""
PUBLIC = {"Var1": "var1", "Var2": "var2"}
COLUMNS = (
    *("instance", "cells", "sensitive", "method", "status", "stopped_by", "objective", "bound"),
    *("seconds", "suppressed", "exposed", "safe"),
    *("paper_cells", "paper_sensitive", "paper_objective", "paper_cpu_s"),
)


def instance(name: str, seed: int) -> Problem:
    """A table by the name it has in the paper."""
    if name in PUBLIC:
        return industry_size(PUBLIC[name]).problem()
    codes, columns = SIZES[name]
    wanted = int(published_by_instance(1, "003")[name]["s"])
    rows = three_levels(codes)
    finest = len(rows.leaves) * (columns - 1)
    share = SensitiveShare(percent=100 * (wanted + 0.5) / finest)
    return generate_2d(rows, columns - 1, seed, sensitivity=share).problem()


def three_levels(codes: int) -> Hierarchy:
    """A hierarchy with so many codes on three levels below its total, which is one of them.

    >>> three_levels(46)
    Hierarchy('Total', 46 codes, 4 levels)
    """
    middle = max(codes // 6, 2)
    upper = max(middle // 6, 1)
    finest = codes - 1 - upper - middle
    above: dict[str, str] = {}
    for parents, children, letter in ((upper, middle, "b"), (middle, finest, "c")):
        over = "a" if letter == "b" else "b"
        for parent, part in enumerate(np.array_split(np.arange(children), parents)):
            above |= {f"{letter}{child}": f"{over}{parent}" for child in part.tolist()}
    above |= {f"a{code}": "Total" for code in range(upper)}
    return Hierarchy.from_parents(above)


def main() -> None:
    """Run the study."""
    parser = arguments("[Castro2012, Tables 1 and 2]", instances=(), time_limit=60.0)
    add_jobs(parser)
    parser.add_argument("--table", type=int, choices=(1, 2), default=1)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    asked = parser.parse_args()
    printed = published_by_instance(asked.table, "003")
    notes = [
        f"[Castro2012, Table {asked.table}]; time limit {asked.time_limit:g} s per run (the "
        "paper's: 3600 s in Table 1, 600 s in Table 2, machines of 2003)",
        "weights are values; objective: the sum over all suppressed cells, sensitive ones "
        "included; what the printed objectives count is not said",
        jobs_note(asked.jobs),
        GENERATED_NOTE if asked.table == 1 else "sensitive by p% with p = 15, not as in the paper",
    ]
    warm_up()
    path = asked.out / f"heuristics_table{asked.table}.csv"
    with Results(path, COLUMNS, notes, key=("instance", "method"), again=asked.again) as results:
        for name in asked.instances or printed:
            missing = [each for each in asked.methods if not results.has(name, each)]
            problem = instance(name, asked.seed) if missing else None
            for method in missing:
                assert problem is not None
                results.add(_row(name, problem, method, printed[name], asked))
    print(f"{sum(row['safe'] == 'no' for row in results.rows)} patterns are not safe")


def _row(
    name: str, problem: Problem, method: str, paper: Mapping[str, str], asked: argparse.Namespace
) -> dict[str, Entry]:
    run = run_tacit(
        problem,
        algorithm=method,
        time_limit=asked.time_limit,
        seed=asked.seed,
        jobs=asked.jobs,
    )
    column = METHODS[method]
    return {
        "instance": name,
        "cells": problem.cell_count,
        "sensitive": len(problem.sensitive),
        "method": method,
        **{key: entry for key, entry in run.entries().items() if key in COLUMNS},
        "paper_cells": paper["n"],
        "paper_sensitive": paper["s"],
        "paper_objective": paper.get(f"{column}_f"),
        "paper_cpu_s": paper.get(f"{column}_cpu_s"),
    }


if __name__ == "__main__":
    main()
