"""Combined suppression done the obvious way: one mixed-integer program.

This is [KarlssonOlsson2015, (3.28)] with a table of its own for every attacker, sensitive cell and
side, in absolute values. Nothing here knows of deviations, cuts, patterns or networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from tacit.attack.audit import audit
from tacit.attack.knowledge import Attacker
from tacit.outcome import Intervals, Outcome, Status
from tacit.problem import Floats, Problem
from tests.attack.contributors import Demand
from tests.attack.tables import magnitude
from tests.methods.intervals.tables import Rows, demands_of

ALGORITHMS = ["auto", "benders", "monolithic"]

_FAR = 20.0
"""Bounds beyond so many times the largest number are of no use in small tables."""


def obvious_optimum(
    problem: Problem,
    *,
    weight: Floats,
    width_weight: Floats,
    attackers: tuple[Attacker, ...] = (),
    max_suppressed: int | None = None,
    min_width: Floats | None = None,
    demands: Sequence[Demand] | None = None,
) -> float | None:
    """The least cost of a safe solution; None if there is none.

    Against attackers, or, where they are given, so that all demands are met.
    """
    p, n = problem, problem.cell_count
    unit = float(2.0 ** np.floor(np.log2(magnitude(p))))
    value = p.value / unit
    far = _FAR * max(1.0, float(np.abs(value).max(initial=0.0)))
    free = ~p.must_publish
    smallest = np.where(free, np.maximum(p.lower / unit, value - far), value)
    largest = np.where(free, np.minimum(p.upper / unit, value + far), value)
    if demands is None:
        demands = demands_of(p, attackers, smallest * unit, largest * unit)
    tables = [(demand, side) for demand in demands for side in (1, -1)]
    # Columns: lower ends, upper ends, x, and the tables one after the other.
    total = n * (3 + len(tables))
    low = np.concatenate([smallest, value, p.is_sensitive, np.zeros(n * len(tables))])
    high = np.concatenate([value, largest, free, np.zeros(n * len(tables))])
    rows, equal_rows = Rows(total), Rows(total)
    least: list[float] = []
    equal: list[float] = []

    def add(right: float, *entries: tuple[int, float]) -> None:
        rows.add(*entries)
        least.append(right)

    widths = np.zeros(n) if min_width is None else np.minimum(min_width / unit, largest - smallest)
    for cell in range(n):
        # An end moves from the value only if x is 1.
        add(-value[cell], (n + cell, -1.0), (2 * n + cell, largest[cell] - value[cell]))
        add(value[cell], (cell, 1.0), (2 * n + cell, value[cell] - smallest[cell]))
        add(0.0, (n + cell, 1.0), (cell, -1.0), (2 * n + cell, -widths[cell]))
    if max_suppressed is not None:
        add(-float(max_suppressed), *[(2 * n + cell, -1.0) for cell in range(n)])
    for number, (demand, side) in enumerate(tables):
        cell = demand.cell
        start = n * (3 + number)
        equal_rows.add_block(p.relations, start)
        equal.extend(p.rhs / unit)
        bottom = np.maximum(smallest, demand.least / unit)
        top = np.minimum(largest, demand.most / unit)
        low[start : start + n], high[start : start + n] = bottom, top
        for other in np.flatnonzero(free).tolist():
            add(0.0, (start + other, 1.0), (other, -1.0))
            add(0.0, (n + other, 1.0), (start + other, -1.0))
        level = demand.levels[1 if side > 0 else 0] / unit
        add(side * value[cell] + level, (start + cell, float(side)))
        if side < 0:
            add(demand.levels[2] / unit, (start - n + cell, 1.0), (start + cell, -1.0))
    cost = np.concatenate(
        [-width_weight * free * unit, width_weight * free * unit, weight, np.zeros(n * len(tables))]
    )
    scale = max(float(np.abs(cost).max(initial=0.0)), 1e-300)
    constraints = [LinearConstraint(rows.matrix(), np.array(least), np.inf)]
    if equal:
        constraints.append(LinearConstraint(equal_rows.matrix(), np.array(equal), np.array(equal)))
    if (low > high + 1e-9).any():
        return None
    answer: Any = milp(
        cost / scale,
        constraints=constraints,
        bounds=Bounds(low, np.maximum(low, high)),
        integrality=np.concatenate([np.zeros(2 * n), np.ones(n), np.zeros(n * len(tables))]),
        options={"mip_rel_gap": 0.0},
    )
    if answer.status == 2:
        return None
    assert answer.status == 0, answer.message
    x = answer.x[2 * n : 3 * n]
    assert np.abs(x - np.rint(x)).max(initial=0.0) < 1e-5
    return float(answer.fun) * scale


def published(outcome: Outcome) -> Intervals:
    """The intervals of an outcome that must have them."""
    assert isinstance(outcome.solution, Intervals)
    return outcome.solution


def price(outcome: Outcome, problem: Problem, weight: Floats, width_weight: Floats) -> float:
    """What an outcome costs, from what is published."""
    found = published(outcome)
    hidden = (found.upper > found.lower) | problem.is_sensitive
    width = np.where(width_weight > 0, found.upper - found.lower, 0.0)
    return float(weight[hidden].sum() + width_weight @ width)


def assert_sound(outcome: Outcome, problem: Problem, attackers: tuple[Attacker, ...] = ()) -> None:
    """What must hold of every outcome, however it came about."""
    report = outcome.report
    assert outcome.method == "combined"
    assert outcome.stopped_by
    objectives = [point.objective for point in report.trace if point.objective is not None]
    assert objectives == sorted(objectives, reverse=True)
    bounds = [point.bound for point in report.trace]
    assert bounds == sorted(bounds)
    if outcome.solution is None:
        assert outcome.status in (Status.INFEASIBLE, Status.INTERRUPTED)
        assert report.objective is None
        return
    found = published(outcome)
    assert (found.lower <= problem.value).all()
    assert (found.upper >= problem.value).all()
    assert (found.lower >= problem.lower).all()
    assert (found.upper <= problem.upper).all()
    exact = problem.must_publish
    assert np.array_equal(found.lower[exact], found.upper[exact])
    assert report.objective is not None
    assert report.bound <= report.objective * (1 + 1e-12)
    assert outcome.audit is not None
    assert outcome.audit.safe
    outcome.audit.check()
    assert audit(problem, found, attackers=attackers, cells="sensitive", tolerance=None).safe
