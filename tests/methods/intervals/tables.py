"""The intervals problem done the obvious way: one linear program in absolute values.

This is [CastroVia2016, (3)] with attackers and sliding levels: for every attacker, sensitive cell
and side a table of its own, between published ends that are variables. Nothing here knows of
deviations, cuts or networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from tacit.attack.audit import audit
from tacit.attack.knowledge import Attacker
from tacit.methods.intervals.model import IntervalsModel
from tacit.outcome import Intervals, Outcome, Status
from tacit.problem import Booleans, Floats, Problem
from tests.attack.contributors import Demand
from tests.attack.tables import extreme, magnitude
from tests.methods.suppress.tables import seeded_instance
from tests.reductions.chains import with_chains

ALGORITHMS = ["auto", "benders", "monolithic"]

minimise: Any = linprog
"""Its stubs know no bounds as an array."""


class Rows:
    """Rows of a program, of which few entries are not 0."""

    def __init__(self, columns: int):
        self._columns = columns
        self._count = 0
        self._entries: list[tuple[int, int, float]] = []

    def add(self, *entries: tuple[int, float]) -> None:
        """One more row, by its columns and coefficients."""
        self._entries += [(self._count, column, each) for column, each in entries]
        self._count += 1

    def add_block(self, block: sparse.csr_array[Any, Any], start: int) -> None:
        """Some more rows, whose columns begin at a given one."""
        found = sparse.coo_array(block)
        places = zip(found.row.tolist(), found.col.tolist(), found.data.tolist(), strict=True)
        self._entries += [(self._count + row, start + col, each) for row, col, each in places]
        self._count += block.shape[0]

    def matrix(self) -> sparse.csr_array[Any, Any]:
        """All of them; entries for the same place are added up."""
        row, column, data = zip(*self._entries, strict=True) if self._entries else ((), (), ())
        shape = self._count, self._columns
        places = np.array(row, np.int64), np.array(column, np.int64)
        return sparse.csr_array((np.array(data, float), places), shape=shape)


def obvious_optimum(
    problem: Problem,
    *,
    attackers: tuple[Attacker, ...] = (),
    lower_weight: Floats | None = None,
    upper_weight: Floats | None = None,
    allowed: Booleans | None = None,
    withheld: Booleans | None = None,
    demands: Sequence[Demand] | None = None,
) -> float | None:
    """The least cost of safe intervals; None if there are none.

    Against attackers, or, where they are given, so that all demands are met.
    """
    p, n = problem, problem.cell_count
    below = p.weight if lower_weight is None else lower_weight
    above = p.weight if upper_weight is None else upper_weight
    free = ~p.must_publish if allowed is None else allowed & ~p.must_publish
    gone = np.zeros(n, bool) if withheld is None else withheld
    free = free & ~gone
    # Published ends: columns 0 to n - 1 are lower, n to 2 n - 1 upper ones.
    low = [*np.where(free, p.lower, p.value), *p.value]
    high = [*p.value, *np.where(free, p.upper, p.value)]
    smallest = np.where(free | gone, p.lower, p.value)
    largest = np.where(free | gone, p.upper, p.value)
    if demands is None:
        demands = demands_of(p, attackers, smallest, largest)
    tables = [(demand, side) for demand in demands for side in (1, -1)]
    total = n * (2 + len(tables))
    rows, equal = Rows(total), Rows(total)
    right: list[float] = []
    equal_right: list[float] = []
    for number, (demand, side) in enumerate(tables):
        cell = demand.cell
        start = n * (2 + number)
        equal.add_block(p.relations, start)
        equal_right.extend(p.rhs)
        bottom, top = np.maximum(smallest, demand.least), np.minimum(largest, demand.most)
        if side > 0:
            bottom[cell] = max(bottom[cell], p.value[cell] + demand.levels[1])
        else:
            top[cell] = min(top[cell], p.value[cell] - demand.levels[0])
        low += [*bottom]
        high += [*top]
        for other in np.flatnonzero(free).tolist():
            rows.add((start + other, -1.0), (other, 1.0))
            rows.add((start + other, 1.0), (n + other, -1.0))
            right += [0.0, 0.0]
        if side < 0:
            rows.add((start + cell, 1.0), (start - n + cell, -1.0))
            right.append(-demand.levels[2])
    bounds = np.column_stack([np.array(low, float), np.array(high, float)])
    if (bounds[:, 0] > bounds[:, 1] + 1e-9).any():
        return None
    bounds[:, 1] = np.maximum(bounds[:, 0], bounds[:, 1])
    cost = np.zeros(total)
    cost[:n] = np.where(free, -below, 0.0)
    cost[n : 2 * n] = np.where(free, above, 0.0)
    unit = 2.0 ** np.floor(np.log2(magnitude(p)))
    answer = minimise(
        cost,
        A_ub=rows.matrix(),
        b_ub=np.array(right) / unit,
        A_eq=equal.matrix(),
        b_eq=np.array(equal_right) / unit,
        bounds=bounds / unit,
        method="highs",
    )
    if answer.status == 2:
        return None
    assert answer.status == 0, answer.message
    offset = float((np.where(free, above - below, 0.0) * p.value).sum())
    return float(answer.fun * unit) - offset


def demands_of(
    problem: Problem, attackers: Sequence[Attacker], smallest: Floats, largest: Floats
) -> list[Demand]:
    """What attackers must not get closer to.

    Args:
        problem: The table.
        attackers: Who attacks; by default a reader.
        smallest: The smallest value of each cell that could be published.
        largest: The largest.
    """
    p = problem
    found = []
    for attacker in attackers or (Attacker(),):
        for at, cell in enumerate(p.sensitive.tolist()):
            if cell in attacker.known and cell in attacker.own:
                continue
            least, most = smallest.copy(), largest.copy()
            for known in (*attacker.known, *attacker.colluding):
                least[known] = most[known] = p.value[known]
            for known, amount in attacker.at_least.items():
                least[known] = max(least[known], amount)
            for known, amount in attacker.at_most.items():
                most[known] = min(most[known], amount)
            if cell in attacker.colluding or cell in attacker.own:
                least[cell], most[cell] = smallest[cell], largest[cell]
            levels = (
                float(p.lower_level[at]),
                float(p.upper_level[at]),
                float(p.sliding_level[at]),
            )
            found.append(Demand(cell, levels, least, most))
    return found


def example(**changes: Any) -> Problem:
    """The table of [CastroVia2016, section 4.1]: two rows with their totals."""
    given: dict[str, Any] = {
        "value": [10, 15, 25, 20, 17, 37],
        "relations": [[1, 1, -1, 0, 0, 0], [0, 0, 0, 1, 1, -1]],
        "sensitive": [0, 4],
        "lower_level": [5, 7],
        "upper_level": [5, 4],
    }
    return Problem(**{**given, **changes})


def chained(kind: str, seed: int, count: int = 4) -> Problem:
    """A small random table in which some cells are equal to others."""
    rng = np.random.default_rng(seed)
    return with_chains(seeded_instance(kind, seed % 50).problem, rng, count)


def parent_with_one_child(**changes: Any) -> Problem:
    """A total of two cells, of which the first is equal to a third one below it."""
    given: dict[str, Any] = {
        "value": [10.0, 15.0, 25.0, 10.0],
        "relations": [[1, 1, -1, 0], [1, 0, 0, -1]],
        "weight": [1.0, 1.0, 5.0, 2.0],
        "sensitive": [3],
        "lower_level": [4.0],
        "upper_level": [4.0],
    }
    return Problem(**{**given, **changes})


def published(outcome: Outcome) -> Intervals:
    """The intervals of an outcome that must have them."""
    assert isinstance(outcome.solution, Intervals)
    return outcome.solution


def assert_sound(outcome: Outcome, problem: Problem, attackers: tuple[Attacker, ...] = ()) -> None:
    """What must hold of every outcome, however it came about."""
    report = outcome.report
    assert outcome.method == "intervals"
    assert outcome.stopped_by
    if outcome.solution is None:
        assert outcome.status in (Status.INFEASIBLE, Status.INTERRUPTED)
        assert report.objective is None
        assert bool(outcome.message) == (outcome.status is Status.INFEASIBLE)
        return
    found = published(outcome)
    assert (found.lower <= problem.value).all()
    assert (found.upper >= problem.value).all()
    assert (found.lower >= problem.lower).all()
    assert (found.upper <= problem.upper).all()
    exact = problem.must_publish
    assert np.array_equal(found.lower[exact], problem.value[exact])
    assert np.array_equal(found.upper[exact], problem.value[exact])
    s, slack = problem.sensitive, 1e-7 * magnitude(problem)
    if not attackers:
        assert (found.upper[s] - problem.value[s] >= problem.upper_level - slack).all()
        assert (problem.value[s] - found.lower[s] >= problem.lower_level - slack).all()
        assert (found.upper[s] - found.lower[s] >= problem.sliding_level - slack).all()
    assert report.objective is not None
    assert report.bound <= report.objective * (1 + 1e-12)
    assert outcome.audit is not None
    assert outcome.audit.safe
    outcome.audit.check()
    assert audit(problem, found, attackers=attackers, cells="sensitive", tolerance=None).safe
    objectives = [point.objective for point in report.trace if point.objective is not None]
    assert objectives == sorted(objectives, reverse=True)
    bounds = [point.bound for point in report.trace]
    assert bounds == sorted(bounds)


def assert_told_apart(outcome: Outcome, problem: Problem) -> None:
    """Every published interval is what a reader can deduce from all of them (brute force)."""
    found = published(outcome)
    slack = 1e-6 * magnitude(problem)
    for cell in np.flatnonzero(found.upper > found.lower).tolist():
        for side, end in ((-1, found.lower[cell]), (1, found.upper[cell])):
            deduced = extreme(problem, found.lower, found.upper, cell, side)
            assert deduced == end or abs(deduced - end) <= slack


def model_of(problem: Problem) -> IntervalsModel:
    """The intervals problem with the weights of the table."""
    count = problem.cell_count
    everything, nothing = np.ones(count, bool), np.zeros(count, bool)
    return IntervalsModel(problem, np.repeat(problem.weight, 2), everything, nothing)
