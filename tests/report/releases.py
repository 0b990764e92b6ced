"""Releases to report on: made by methods where they are small, put together where they are not."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import tacit
from tacit.attack.audit import audit
from tacit.outcome import Solution, StopReason, Suppression, TracePoint
from tacit.release import Published, WorkingPapers


@cache
def small_release(method: str = "suppress") -> tacit.Release:
    """Nine cells, of which four are not published as they are."""
    example = tacit.examples.get("002-figure-2.4").table
    assert example is not None
    table = example.apply(tacit.PPercent(10), weight="value")
    options: dict[str, Any] = {"base": 50} if method == "round" else {}
    return tacit.protect(table, method, time_limit=10, **options)


def put_together(source: tacit.Table | tacit.Problem, solution: Solution) -> tacit.Release:
    """A release of whatever solution, safe or not."""
    problem = source if isinstance(source, tacit.Problem) else source.problem()
    trace = (TracePoint(0.5, None, 10.0), TracePoint(1.0, 50.0, 20.0), TracePoint(2.0, 40.0, 30.0))
    outcome = tacit.Outcome(
        status=tacit.Status.FEASIBLE,
        stopped_by=StopReason.TIME,
        solution=solution,
        report=tacit.Report(objective=40.0, bound=30.0, seconds=2.5, trace=trace),
        method={"Suppression": "suppress", "Intervals": "intervals"}.get(
            type(solution).__name__, "adjust"
        ),
    )
    found = audit(problem, outcome, cells="sensitive", exact=False)
    table = source if isinstance(source, tacit.Table) else None
    return tacit.Release(
        Published.of(source, outcome), WorkingPapers(table, problem, outcome, found)
    )


def made_table(
    industries: int, regions: int, sensitive: int, *, groups: int = 4, seed: int = 1
) -> tacit.Table:
    """A table with two hierarchies and a number of sensitive cells."""
    chance = np.random.default_rng(seed)

    def hierarchy(letter: str, count: int) -> tacit.Hierarchy:
        nested: dict[str, list[str]] = {f"{letter}{group}": [] for group in range(groups)}
        for code in range(count):
            nested[f"{letter}{code % groups}"].append(f"{letter}{code % groups}{code:03d}")
        return tacit.Hierarchy.from_nested(nested)

    dimensions = {"industry": hierarchy("I", industries), "region": hierarchy("R", regions)}
    values = np.floor(chance.lognormal(6, 2, (industries, regions))) + 1
    table = tacit.Table.from_cube(values, dimensions)
    chosen = chance.choice(table.cell_count, sensitive, replace=False)
    status = table.status.copy()
    status[chosen] = "sensitive"
    level = np.zeros(table.cell_count)
    level[chosen] = np.ceil(table.value[chosen] / 10)
    return table.replace(status=status, lower_level=level, upper_level=level)


def pattern(table: tacit.Table, share: float, seed: int = 2) -> Suppression:
    """The sensitive cells and a number of others, suppressed."""
    chance = np.random.default_rng(seed)
    return Suppression((chance.random(table.cell_count) < share) | table.is_sensitive)


@cache
def large_release() -> tacit.Release:
    """More than twenty thousand cells."""
    table = made_table(140, 136, 40, groups=10)
    return put_together(table, pattern(table, 0.15))


@cache
def wide_release() -> tacit.Release:
    """Few rows and many columns."""
    table = made_table(8, 220, 20)
    return put_together(table, pattern(table, 0.1))


def changed_release(**changes: Any) -> tacit.Release:
    """A release with other values than the true ones."""
    table = made_table(6, 5, 3).replace(**changes)
    chance = np.random.default_rng(3)
    values = table.value * chance.uniform(0.9, 1.1, table.cell_count)
    return put_together(table, tacit.Values(values))
