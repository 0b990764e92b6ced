"""How many levels of a 3-D pattern two slices show to be met: would flows in them pay?

    python -m studies.slice_pairs                  # about two minutes

In a table with three dimensions, what moves in one slice may be taken back in another one, cell by
cell, so that no margin across the slices moves: a deviation of a two-dimensional table, a network
where its dimensions are flat. The study counts the levels of good patterns that are met that way,
by any two slices in any direction, totals included. The others need more slices at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from scipy.optimize import linprog

from studies.common import Results, add_results, warm_up
from tacit.generators import SensitiveShare, generate_3d
from tacit.methods.suppress.run import suppress
from tacit.problem import Booleans, Floats, Integers, Problem

TABLES = ((8, 5.0, "value"), (8, 5.0, "unit"), (8, 15.0, "value"), (11, 3.0, "unit"))
"""Codes of each dimension, percentage of sensitive cells, weights."""
SEEDS = (1, 2)
COLUMNS = (
    *("codes", "sensitive_pct", "weights", "seed", "cells", "sensitive", "suppressed", "gap_pct"),
    *("levels", "met_by_two_slices", "share_pct"),
)


class Slices:
    """The pairs of slices of a pattern and what can move in them."""

    def __init__(self, problem: Problem, hidden: Booleans, codes: int):
        # Generated tables are in order of their codes, totals first.
        self._number: Integers = np.arange(problem.cell_count).reshape((codes + 1,) * 3)
        self._up = np.where(hidden, np.minimum(problem.upper - problem.value, 1e9), 0.0)
        self._down = np.where(hidden, problem.value - problem.lower, 0.0)
        self._relations = _relations(codes + 1)

    def meet(self, cell: int, side: int, level: float) -> bool:
        """Whether two slices let a cell move as far as asked."""
        for up, down, at in self._pairs(cell):
            if (up if side > 0 else down)[at] < level:
                continue
            cost = np.zeros(len(up))
            cost[at] = -side
            found = linprog(
                cost,
                A_eq=self._relations,
                b_eq=np.zeros(len(self._relations)),
                bounds=list(zip((-down).tolist(), up.tolist(), strict=True)),
            )
            if found.status == 0 and -float(found.fun or 0.0) >= level * (1 - 1e-9):
                return True
        return False

    def _pairs(self, cell: int) -> Iterator[tuple[Floats, Floats, int]]:
        """How far the cells of one slice can rise and fall with another, and the cell's place."""
        place = np.argwhere(self._number == cell)[0]
        for axis in range(3):
            mine = np.take(self._number, place[axis], axis).ravel()
            for other in range(self._number.shape[axis]):
                if other == place[axis]:
                    continue
                theirs = np.take(self._number, other, axis).ravel()
                # A total moves with the slice, another code against it.
                rise, fall = self._down, self._up
                if (other == 0) != (place[axis] == 0):
                    rise, fall = fall, rise
                up = np.minimum(self._up[mine], rise[theirs])
                down = np.minimum(self._down[mine], fall[theirs])
                yield up, down, int(np.flatnonzero(mine == cell)[0])


def _relations(size: int) -> Floats:
    """Rows and columns of a square slice, totals first."""
    line = np.ones(size)
    line[0] = -1.0
    return np.vstack([np.kron(np.eye(size), line), np.kron(line, np.eye(size))])


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--time-limit", type=float, default=15.0, help="seconds for each pattern")
    add_results(parser)
    asked = parser.parse_args()
    notes = [f"patterns of auto on one core, {asked.time_limit:g} s; both levels of each cell"]
    warm_up()
    key = ("codes", "sensitive_pct", "weights", "seed")
    path = asked.out / "slice_pairs.csv"
    with Results(path, COLUMNS, notes, key=key, again=asked.again) as results:
        for codes, percent, weights in TABLES:
            for seed in SEEDS:
                if results.has(codes, percent, weights, seed):
                    continue
                chosen = SensitiveShare(percent=percent)
                table = generate_3d(codes, codes, codes, seed=seed, sensitivity=chosen)
                problem = table.problem()
                if weights == "unit":
                    problem = problem.replace(weight=np.ones(problem.cell_count))
                outcome = suppress(problem, time_limit=asked.time_limit, jobs=1)
                hidden = np.zeros(problem.cell_count, bool)
                hidden[outcome.suppressed] = True
                slices = Slices(problem, hidden, codes)
                levels = [
                    (int(cell), side, float(level))
                    for side, given in ((1, problem.upper_level), (-1, problem.lower_level))
                    for cell, level in zip(problem.sensitive, given, strict=True)
                    if level > 0
                ]
                met = sum(slices.meet(*each) for each in levels)
                objective, bound = outcome.report.objective or np.nan, outcome.report.bound or 0.0
                results.add(
                    {
                        "codes": codes,
                        "sensitive_pct": percent,
                        "weights": weights,
                        "seed": seed,
                        "cells": problem.cell_count,
                        "sensitive": len(problem.sensitive),
                        "suppressed": int(hidden.sum()),
                        "gap_pct": 100 * (objective - bound) / objective,
                        "levels": len(levels),
                        "met_by_two_slices": met,
                        "share_pct": 100 * met / len(levels),
                    }
                )


if __name__ == "__main__":
    main()
