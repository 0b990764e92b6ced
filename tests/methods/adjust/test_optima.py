"""Every algorithm and norm against scipy's mixed-integer solver, on small tables of all kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from tacit.methods.adjust.run import adjust
from tacit.outcome import Status
from tacit.problem import Floats, Problem
from tests.attack.tables import Codes, crossed, flat
from tests.methods.adjust.tables import assert_sound, published

solve: Any = milp
"""Its stubs know no constraints as arrays."""


def levelled_table(seed: int) -> Problem:
    """A small table of whole numbers with levels on both sides, on one, or sliding."""
    rng = np.random.default_rng(seed)
    relations, definitions = (
        crossed([flat(3), flat(3)]),
        crossed([flat(2), flat(2), flat(2)]),
        crossed([Codes((-1, 0, 0, 1, 1)), flat(2)]),
        crossed([Codes((-1, 0, 0, 1, 1, 2, 2)), flat(2)]),
        crossed([flat(4), flat(3)]),
    )[seed % 5]
    largest = (10, 1000, 100_000)[rng.integers(3)]
    inner = rng.integers(0, largest, definitions.shape[1]).astype(float)
    value = np.rint(np.asarray(definitions @ inner, float))
    n, count = len(value), int(rng.integers(2, 8))
    own = np.sort(rng.permutation(n)[:count])

    def levels() -> Floats:
        size = np.maximum(value[own], 1.0)
        wanted = np.ceil(size * rng.uniform(0.02, 0.4, count))
        return np.where(rng.random(count) < 0.6, wanted, 0.0)

    upper = np.full(n, np.inf) if rng.random() < 0.6 else 2 * value + 5
    return Problem(
        value=value,
        lower=np.zeros(n),
        upper=upper,
        weight=(np.ones(n), rng.integers(1, 100, n), np.maximum(value, 1.0))[rng.integers(3)],
        relations=relations,
        sensitive=own,
        lower_level=levels(),
        upper_level=levels(),
        sliding_level=levels(),
    )


def optimum(problem: Problem, norm: str, *, whole: bool) -> float | None:
    """The cost of the closest safe table by (18) with ranges that are wide enough."""
    p, n, k = problem, problem.cell_count, len(problem.sensitive)
    rise = np.maximum(p.upper_level, p.sliding_level)
    fall = np.maximum(p.lower_level, p.sliding_level)
    wide = 10 * float(p.value.max() + rise.sum() + fall.sum()) + 10
    up, down = np.minimum(p.upper - p.value, wide), np.minimum(p.value - p.lower, wide)
    largest = int(norm == "linf")
    width = 2 * n + k + largest
    rows, low, high = [], [], []

    def add(entries: dict[int, float], least: float, most: float) -> None:
        row = np.zeros(width)
        row[list(entries)] = list(entries.values())
        rows.append(row)
        low.append(least)
        high.append(most)

    for relation in p.relations.toarray():
        signed = np.concatenate([relation, -relation])
        add(dict(enumerate(signed.tolist())), 0.0, 0.0)
    y_low, y_high = np.zeros(k), np.ones(k)
    for at, cell in enumerate(p.sensitive.tolist()):
        sense = 2 * n + at
        if rise[at] == fall[at] == 0:
            continue
        y_high[at], y_low[at] = float(rise[at] > 0), float(fall[at] == 0)
        add({cell: 1.0, sense: -rise[at]}, 0.0, np.inf)
        add({cell: 1.0, sense: -up[cell]}, -np.inf, 0.0)
        add({n + cell: 1.0, sense: fall[at]}, fall[at], np.inf)
        add({n + cell: 1.0, sense: down[cell]}, -np.inf, down[cell])
    cost = np.concatenate([p.weight, p.weight, np.zeros(k)])
    if largest:
        for cell in range(n):
            weight = p.weight[cell]
            add({cell: weight, n + cell: weight, width - 1: -1.0}, -np.inf, 0.0)
        cost = np.append(np.zeros(2 * n + k), 1.0)
    found = solve(
        cost,
        constraints=LinearConstraint(np.array(rows), low, high),
        bounds=Bounds(
            np.concatenate([np.zeros(2 * n), y_low, np.zeros(largest)]),
            np.concatenate([up, down, y_high, np.full(largest, np.inf)]),
        ),
        integrality=np.concatenate([np.full(2 * n, int(whole)), np.ones(k), np.zeros(largest)]),
        options={"mip_rel_gap": 1e-9},
    )
    return None if found.x is None else float(found.fun)


@pytest.mark.parametrize("norm", ["l1", "linf"])
@pytest.mark.parametrize("seed", range(15))
def test_all_algorithms_agree_with_scipy(seed: int, norm: Any) -> None:
    """No bound exceeds the optimum, and whoever calls a table optimal has found it."""
    problem = levelled_table(seed)
    for whole in (True, False):
        expected = optimum(problem, norm, whole=whole)
        for algorithm in ("auto", "milp", "benders", "descent"):
            outcome = adjust(
                problem, algorithm=algorithm, norm=norm, integer=whole, gap=1e-7, time_limit=20
            )
            if expected is None:
                assert outcome.status is Status.INFEASIBLE
                continue
            assert_sound(outcome, problem)
            assert outcome.report.objective is not None
            assert outcome.report.bound <= expected * (1 + 1e-6)
            assert outcome.report.objective >= expected * (1 - 1e-6)
            if algorithm != "descent":
                assert outcome.status is Status.OPTIMAL
                assert outcome.report.objective == pytest.approx(expected, rel=2e-6)
            if whole:
                assert (published(outcome) == np.rint(published(outcome))).all()


def test_cuts_of_benders_hold_for_cells_without_a_limit() -> None:
    """A cell that may rise without limit bounds nothing once its sense is turned around."""
    problem = Problem(
        value=[32, 20, 12, 19, 15, 4, 13, 5, 8, 11, 9, 2, 8, 6, 2],
        relations=crossed([Codes((-1, 0, 0, 1, 1)), flat(2)])[0],
        lower=0,
        upper=np.inf,
        sensitive=[0, 4, 6, 10, 11, 13, 14],
        lower_level=[13, 0, 3, 1, 1, 1, 1],
        upper_level=[0, 2, 3, 4, 0, 2, 0],
        sliding_level=[15, 0, 0, 1.5, 0, 0, 1.5],
    )
    expected = optimum(problem, "l1", whole=False)
    outcome = adjust(problem, algorithm="benders", integer=False, gap=1e-7)
    assert outcome.report.objective == pytest.approx(expected, rel=1e-6)
