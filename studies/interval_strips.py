"""Intervals and combined suppression with and without strips, in turns in one process.

    python -m studies.interval_strips                  # a quarter of an hour
    python -m studies.interval_strips --methods intervals --tables "generated 5000"

Without strips, cells outside networks are separated by linear programs alone, as they were before
strips were used. Time limits are processor time, so that other work on the machine matters little.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from itertools import product
from typing import Any
from unittest import mock

from studies.combined_tables import PLANS, table, with_sliding_levels
from studies.common import Entry, Results, add_results
from studies.office_tables import enterprise, french, generated, industry_region
from tacit import clock
from tacit.methods.combined.algorithms import auto
from tacit.methods.combined.run import combined
from tacit.methods.combined.sides import Sides
from tacit.methods.intervals.linear_part import LinearPart, takes_dual_form
from tacit.methods.intervals.run import intervals
from tacit.methods.intervals.walks import StripWalks
from tacit.outcome import Outcome
from tacit.problem import Problem
from tacit.solver.highs import HighsModel

COLUMNS = (
    *("table", "cells", "sensitive", "method", "strips", "run", "status", "objective", "bound"),
    *("gap_pct", "iterations", "cuts", "cpu"),
)
OFFICE: Mapping[str, Callable[[], Problem]] = {
    "generated 5000": lambda: generated(5_000, mean_count=30.0).problem(),
    "industry x region": lambda: industry_region().problem(),
    "french": lambda: french().problem(),
    "enterprise": lambda: enterprise().problem(),
}
METHODS: Mapping[str, Callable[[Problem, float], Outcome]] = {
    "intervals": lambda problem, limit: intervals(problem, weights="value", time_limit=limit),
    "intervals, sliding": lambda problem, limit: intervals(
        with_sliding_levels(problem), weights="value", time_limit=limit
    ),
    "combined": lambda problem, limit: combined(
        with_sliding_levels(problem), weights="value", width_weights="unit", time_limit=limit
    ),
}


def problem_of(name: str) -> Problem:
    """A table by its name."""
    return OFFICE[name]() if name in OFFICE else table(name)


@contextmanager
def without_strips() -> Iterator[None]:
    """Linear programs alone for cells outside networks."""

    def nothing(*_: Any) -> None:
        """No walk."""

    def no_strips(*_: Any) -> list[Any]:
        return []

    def cheap(model: Any) -> bool:
        return not any(takes_dual_form(LinearPart.of(model, state)) for state in model.states)

    with (
        mock.patch.object(StripWalks, "in_open", nothing),
        mock.patch.object(StripWalks, "in_closed", nothing),
        mock.patch.object(Sides, "_strips", no_strips),
        mock.patch.object(auto, "_walks_are_cheap", cheap),
    ):
        yield


def run(problem: Problem, method: str, limit: float) -> dict[str, Entry]:
    """One run."""
    began = time.process_time()
    outcome = METHODS[method](problem, limit)
    report = outcome.report
    return {
        "cells": problem.cell_count,
        "sensitive": len(problem.sensitive),
        "method": method,
        "status": outcome.status.value,
        "objective": report.objective,
        "bound": report.bound,
        "gap_pct": None if report.gap is None else 100 * report.gap,
        "iterations": report.iterations,
        "cuts": report.cuts,
        "cpu": round(time.process_time() - began, 2),
    }


def main() -> None:
    """Run all tables in both ways, in turns."""
    names = [*PLANS, *OFFICE]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tables", nargs="+", choices=names, default=names)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--limit", type=float, default=30.0, help="processor seconds of each run")
    parser.add_argument("--runs", type=int, default=2)
    add_results(parser)
    chosen = parser.parse_args()
    notes = [f"limit {chosen.limit:g} processor seconds; weights are values, those of widths 1"]
    path, key = chosen.out / "interval_strips.csv", ("table", "method", "strips", "run")
    with (
        Results(path, COLUMNS, notes, key=key, again=chosen.again) as results,
        mock.patch.object(clock, "now", time.process_time),
        # Solvers know of no processor time.
        mock.patch.object(HighsModel, "_limit_time", return_value=None),
    ):
        for method in METHODS:
            run(table("2C"), method, 5.0)
        for method in chosen.methods:
            for name in chosen.tables:
                problem = problem_of(name)
                for number, strips in product(range(1, chosen.runs + 1), ("no", "yes")):
                    if results.has(name, method, strips, number):
                        continue
                    with without_strips() if strips == "no" else nullcontext():
                        found = run(problem, method, chosen.limit)
                    results.add({"table": name, "strips": strips, "run": number, **found})


if __name__ == "__main__":
    main()
