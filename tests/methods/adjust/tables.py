"""Adjustment done the obvious way: every choice of senses, each by a dense program in values.

Nothing here knows of deviations, polygons or blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import highspy
import numpy as np
from scipy.optimize import linprog

from tacit.outcome import Outcome, Status, Values
from tacit.problem import Booleans, Floats, Problem
from tests.attack.tables import Codes, crossed, flat, linked

minimise: Any = linprog
"""Its stubs know no bounds as an array."""

KINDS = ("2d", "3d", "hierarchy", "linked", "negative", "tight")


def random_problem(seed: int, kind: str, *, sensitive: int = 5) -> Problem:
    """A small random table of a kind."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    if kind == "3d":
        relations, definitions = crossed([flat(2), flat(2), flat(2)])
    elif kind == "hierarchy":
        relations, definitions = crossed([Codes((-1, 0, 0, 1, 1)), flat(2)])
    elif kind == "linked":
        relations, definitions = linked([flat(2), flat(3)], [flat(2), flat(2)])
    else:
        relations, definitions = crossed([flat(3), flat(3)])
    inner = rng.integers(1, 40, definitions.shape[1]).astype(float)
    if kind == "negative":
        inner = inner * rng.choice([-1.0, 1.0], len(inner))
    value = np.asarray(definitions @ inner, float)
    n = len(value)
    own = np.sort(rng.permutation(n)[:sensitive])
    level = rng.integers(1, 8, (2, len(own))).astype(float)
    lower = np.full(n, -np.inf) if kind == "negative" else np.zeros(n)
    upper = np.full(n, np.inf)
    if kind == "tight":
        lower, upper = value - rng.integers(2, 9, n), value + rng.integers(2, 9, n)
    published = (rng.random(n) < 0.1) & ~np.isin(np.arange(n), own)
    return Problem(
        value=value,
        lower=lower,
        upper=upper,
        weight=rng.integers(1, 6, n),
        relations=relations,
        rhs=relations @ value,
        sensitive=own,
        lower_level=level[0],
        upper_level=level[1],
        must_publish=published,
    )


def obvious_optimum(
    problem: Problem,
    norm: str = "l1",
    *,
    kept: Booleans | None = None,
    most: Floats | None = None,
    integer: bool = False,
    sums: Sequence[tuple[str, Booleans, float]] = (),
) -> float | None:
    """The cost of the closest safe table; None if there is none.

    Sums of deviations, `net` or `absolute`, over some cells with a limit are for `l1` only.
    """
    costs = [
        cost
        for senses in product((1, -1), repeat=len(problem.sensitive))
        if (cost := _given(problem, senses, norm, kept, most, integer, sums)) is not None
    ]
    return min(costs, default=None)


def _given(
    problem: Problem,
    senses: tuple[int, ...],
    norm: str,
    kept: Booleans | None,
    most: Floats | None,
    integer: bool,
    sums: Sequence[tuple[str, Booleans, float]],
) -> float | None:
    p, a, n = problem, problem.value, problem.cell_count
    low, high = p.lower.copy(), p.upper.copy()
    if most is not None:
        low, high = np.maximum(low, a - most), np.minimum(high, a + most)
    held = p.must_publish if kept is None else kept | p.must_publish
    low, high = np.where(held, a, low), np.where(held, a, high)
    for at, (cell, sense) in enumerate(zip(p.sensitive.tolist(), senses, strict=True)):
        up = max(p.upper_level[at], p.sliding_level[at])
        down = max(p.lower_level[at], p.sliding_level[at])
        if up == down == 0:
            continue
        if (up if sense > 0 else down) == 0:
            return None
        if sense > 0:
            low[cell] = max(low[cell], a[cell] + up)
        else:
            high[cell] = min(high[cell], a[cell] - down)
    if (low > high).any():
        return None
    A, one = p.relations.toarray(), np.eye(n)
    size = 1 if norm == "linf" else n
    over = -np.ones((n, 1)) if norm == "linf" else -one
    rate = p.weight[:, None] if norm == "linf" else np.ones((n, 1))
    cost = np.append(np.zeros(n), [1.0] if norm == "linf" else p.weight)
    rows = [np.block([[rate * one, over], [-rate * one, over]])]
    ends = [np.concatenate([rate[:, 0] * a, -rate[:, 0] * a])]
    for kind, cells, limit in sums:
        if kind == "net":
            rows.append(np.array([np.append(side * cells, np.zeros(n)) for side in (1.0, -1.0)]))
            ends.append(np.array([limit + cells @ a, limit - cells @ a]))
        else:
            rows.append(np.append(np.zeros(n), cells)[None, :])
            ends.append(np.array([limit]))
    found = minimise(
        cost,
        A_ub=np.vstack(rows),
        b_ub=np.concatenate(ends),
        A_eq=np.hstack([A, np.zeros((len(A), size))]),
        b_eq=p.rhs,
        bounds=[*zip(low, high, strict=True), *[(0, None)] * size],
        integrality=np.append(np.full(n, int(integer)), np.zeros(size)),
    )
    if found.status != 0:
        return None
    if norm != "l2":
        return float(found.fun)
    return _least_squares(problem, low, high)


def _least_squares(problem: Problem, low: Floats, high: Floats) -> float | None:
    """The least squares within limits, by the active set method of HiGHS."""
    p, a, n = problem, problem.value, problem.cell_count
    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]  # highspy has no types
    highs.setOptionValue("output_flag", False)
    A = p.relations.tocsr()
    model = highspy.HighsModel()
    lp = model.lp_
    lp.num_col_, lp.num_row_ = n, A.shape[0]
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = np.zeros(n), low - a, high - a
    lp.row_lower_ = lp.row_upper_ = np.zeros(A.shape[0])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = A.indptr, A.indices
    lp.a_matrix_.value_ = A.data
    hessian = model.hessian_
    hessian.dim_, hessian.format_ = n, highspy.HessianFormat.kTriangular
    hessian.start_, hessian.index_ = np.arange(n + 1), np.arange(n)
    hessian.value_ = 2 * p.weight
    highs.passModel(model)
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return float(highs.getInfo().objective_function_value)


def published(outcome: Outcome) -> Floats:
    """The values that an outcome publishes."""
    assert isinstance(outcome.solution, Values)
    return outcome.solution.value


def assert_sound(
    outcome: Outcome,
    problem: Problem,
    *,
    kept: Booleans | None = None,
    most: Floats | None = None,
) -> None:
    """The table adds up, stays within bounds and limits, and no sensitive cell is near."""
    assert outcome.status in (Status.OPTIMAL, Status.FEASIBLE)
    x, a = published(outcome), problem.value
    scale = max(1.0, float(np.abs(a).max()))
    assert np.abs(problem.relations @ x - problem.rhs).max(initial=0.0) <= 1e-8 * scale
    assert (x >= problem.lower - 1e-8 * scale).all()
    assert (x <= problem.upper + 1e-8 * scale).all()
    held = problem.must_publish if kept is None else kept | problem.must_publish
    assert (x[held] == a[held]).all()
    if most is not None:
        assert (np.abs(x - a) <= most + 1e-8 * scale).all()
    moved = x[problem.sensitive] - a[problem.sensitive]
    up = np.maximum(problem.upper_level, problem.sliding_level)
    down = np.maximum(problem.lower_level, problem.sliding_level)
    above = (up > 0) & (moved >= up - 1e-8 * scale)
    below = (down > 0) & (-moved >= down - 1e-8 * scale)
    assert (above | below | ((up == 0) & (down == 0))).all()
    report = outcome.report
    assert report.objective is not None
    assert report.bound <= report.objective
    assert outcome.audit is not None
    assert outcome.audit.safe
