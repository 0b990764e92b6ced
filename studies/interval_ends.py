"""What it costs to move the ends of intervals to round numbers, and what it hides."""

from __future__ import annotations

import numpy as np

from studies.common import GENERATED_NOTE, Results, arguments
from studies.intervals_common import PAPER_TABLES, table
from tacit.methods.intervals.ends import outward
from tacit.methods.intervals.run import intervals
from tacit.outcome import Intervals
from tacit.problem import Problem

TABLES = (*PAPER_TABLES, "20-30-10", "real:table7")
STEPS = (4, 8, 16)
COLUMNS = (
    *("instance", "cells", "sensitive", "intervals", "most_steps"),
    *("width_ratio", "cost_ratio", "exact_middle_off", "middle_off", "truth_in_the_middle"),
)


def main() -> None:
    """Run the study."""
    parser = arguments("Round ends of intervals", instances=TABLES, time_limit=120.0)
    asked = parser.parse_args()
    notes = [
        "intervals of least cost, their ends moved outwards to a base for each cell that leaves it "
        "at most most_steps steps wide; tacit uses 8",
        "width_ratio, cost_ratio: sum of widths, and of weights times widths, published over exact",
        "middle_off: how far the true value of a sensitive cell lies from the middle of its "
        "interval, as a share of half the width; median. exact_middle_off: the same before",
        "truth_in_the_middle: share of sensitive cells with their true value within 1 % of half "
        "the width from the middle",
        GENERATED_NOTE,
    ]
    path, key = asked.out / "interval_ends.csv", ("instance", "most_steps")
    with Results(path, COLUMNS, notes, key=key, again=asked.again) as results:
        for name in asked.instances:
            if all(results.has(name, steps) for steps in STEPS):
                continue
            problem = table(name, asked.seed)
            outcome = intervals(problem, time_limit=asked.time_limit, seed=asked.seed)
            exact = outcome.solution
            if not isinstance(exact, Intervals):
                continue
            hidden = np.zeros(problem.cell_count, bool)
            hidden[list(outcome.left_out)] = True
            opened = exact.upper > exact.lower
            for steps in STEPS:
                if results.has(name, steps):
                    continue
                moved = outward(exact, "auto", hidden, most_steps=steps)
                off = _off(problem, moved)
                results.add(
                    {
                        "instance": name,
                        "cells": problem.cell_count,
                        "sensitive": len(problem.sensitive),
                        "intervals": int(opened.sum()),
                        "most_steps": steps,
                        "width_ratio": round(_ratio(moved, exact, opened & ~hidden), 4),
                        "cost_ratio": round(
                            _ratio(moved, exact, opened & ~hidden, problem.weight), 4
                        ),
                        "exact_middle_off": round(float(np.median(_off(problem, exact))), 4),
                        "middle_off": round(float(np.median(off)), 4),
                        "truth_in_the_middle": round(float(np.mean(off <= 0.01)), 3),
                    }
                )


def _ratio(
    moved: Intervals,
    exact: Intervals,
    cells: np.ndarray[tuple[int], np.dtype[np.bool_]],
    weight: object = 1.0,
) -> float:
    by = np.broadcast_to(np.asarray(weight, float), cells.shape)[cells]
    return float(
        (by @ (moved.upper - moved.lower)[cells]) / (by @ (exact.upper - exact.lower)[cells])
    )


def _off(problem: Problem, found: Intervals) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """How far sensitive values lie from the middle of their intervals, in half widths."""
    own = problem.sensitive
    lower, upper = found.lower[own], found.upper[own]
    wide = np.isfinite(upper - lower) & (upper > lower)
    lower, upper, value = lower[wide], upper[wide], problem.value[own][wide]
    off: np.ndarray[tuple[int], np.dtype[np.float64]] = np.abs(2 * value - lower - upper)
    return off / (upper - lower)


if __name__ == "__main__":
    main()
