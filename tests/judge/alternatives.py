"""Solutions found independently of tacit, to check its claims against.

Each is returned only after `reader.exposed` finds it safe. So a bound above its cost is false, a
more expensive "optimum" is not optimal, and a table that has one is not infeasible. Small
tables are searched completely, larger ones as far as scipy gets in moderate time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit import Attacker
from tacit.outcome import Intervals, Solution, Suppression
from tacit.problem import Problem
from tests.judge.reader import capacities, capacities_for, exposed, reach, requests
from tests.judge.solvers import Booleans, Floats, Rows, integer_program, linear

FEW = 14
"""So many cells that may be suppressed or not are searched pattern by pattern."""
_ROUNDS = 60
_SECONDS = 3.0
_MOST_ENTRIES = 60_000


@dataclass(frozen=True, eq=False)
class Alternative:
    """A safe solution.

    Attributes:
        cost: What it costs.
        solution: What would be published.
        best: Whether nothing cheaper was left out.
    """

    cost: float
    solution: Solution
    best: bool = False


class PatternSearch:
    """The cheapest safe pattern: the cheapest one left, attacked, until it withstands.

    What an attack finds rules out many patterns at once: no deviation moves the exposed cell by
    more than the multipliers of its limits allow.
    """

    def __init__(self, problem: Problem, attackers: Sequence[Attacker] = ()):
        self.problem = problem
        self.attackers = tuple(attackers) or (Attacker(),)
        self.always = problem.is_sensitive
        self.maybe = np.flatnonzero(
            ~self.always & ~problem.must_publish & (problem.upper > problem.lower)
        )
        self.rows: list[tuple[Floats, float]] = []
        self._shown: list[tuple[tuple[int, int, int, str], Booleans]] = []

    def everything(self) -> Booleans:
        """The pattern that suppresses all that may be."""
        pattern = self.always.copy()
        pattern[self.maybe] = True
        return pattern

    def withstands(self, pattern: Booleans) -> bool:
        """Whether a pattern is safe; where it is not, a row is added that rules it out."""
        p = self.problem
        up, down = capacities(p, Suppression(pattern))
        full = capacities(p, Suppression(self.everything()))
        for who, attacker in enumerate(self.attackers):
            for position, cell in enumerate(p.sensitive.tolist()):
                if cell in attacker.known and cell in attacker.own:
                    continue
                above, below = capacities_for(p, attacker, up, down, cell)
                widest = capacities_for(p, attacker, *full, cell)
                for level, amount in requests(p, position):
                    name = (who, cell, position, level)
                    if any(
                        key == name and not (used & ~pattern).any() for key, used in self._shown
                    ):
                        continue
                    if not self._met(name, amount, above, below, widest):
                        return False
        return True

    def _met(
        self,
        name: tuple[int, int, int, str],
        amount: float,
        above: Floats,
        below: Floats,
        widest: tuple[Floats, Floats],
    ) -> bool:
        _, cell, _, level = name
        sides = {"upper": [1], "lower": [-1], "sliding": [1, -1]}[level]
        found = [reach(self.problem, above, below, cell, side, amount) for side in sides]
        if sum(each.share for each in found) >= 1 - 1e-7:
            used = np.zeros(self.problem.cell_count, bool)
            for each in found:
                used |= each.moved != 0
            self._shown.append((name, used))
            return True
        coefficients = np.zeros(self.problem.cell_count)
        for each in found:
            if each.limits is None:
                return False
            rise, fall = each.limits
            # Unlimited capacity may stay charged: with such a cell a pattern needs no other.
            coefficients += rise * np.where(rise > 0, widest[0], 0.0)
            coefficients += fall * np.where(fall > 0, widest[1], 0.0)
        self.rows.append((np.minimum(coefficients / amount, 1.0), 1.0))
        return False

    def cheapest(self) -> Alternative | None:
        """The cheapest safe pattern, or a good one; None if there is none or none was found."""
        if not self.withstands(self.everything()):
            return None
        return self._by_enumeration() if len(self.maybe) <= FEW else self._by_program()

    def _alternative(self, pattern: Booleans, best: bool) -> Alternative | None:
        solution = Suppression(pattern)
        if exposed(self.problem, solution, self.attackers):
            return None
        return Alternative(float(self.problem.weight[pattern].sum()), solution, best)

    def _by_enumeration(self) -> Alternative | None:
        k = len(self.maybe)
        patterns = (np.arange(2**k)[:, None] >> np.arange(k)) & 1 == 1
        weight = self.problem.weight[self.maybe]
        # Of two patterns with the same weight the smaller one is looked at first.
        left = np.lexsort((patterns.sum(1), patterns @ weight))
        seen = 0
        while len(left):
            pattern = self.always.copy()
            pattern[self.maybe] = patterns[left[0]]
            if self.withstands(pattern):
                return self._alternative(pattern, best=True)
            left = left[1:]
            for row, right in self.rows[seen:]:
                reached = patterns[left] @ row[self.maybe] + row[self.always].sum()
                left = left[reached >= right * (1 - 1e-6)]
            seen = len(self.rows)
        return None

    def _by_program(self) -> Alternative | None:
        weight = self.problem.weight[self.maybe]
        unit = max(float(weight.max(initial=0.0)), 1e-300)
        for _ in range(_ROUNDS):
            pattern = self.always.copy()
            if self.rows:
                rows = Rows(
                    np.array([row[self.maybe] for row, _ in self.rows]),
                    np.array([r - row[self.always].sum() for row, r in self.rows]) - 1e-6,
                    np.inf,
                )
                ones = np.ones(len(weight))
                found = integer_program(
                    weight / unit + 1e-7, [rows], 0 * ones, ones, ones > 0, _SECONDS
                )
                if found is None:
                    return None
                pattern[self.maybe] = found > 0.5
            before = len(self.rows)
            if self.withstands(pattern):
                return self._alternative(pattern, best=False)
            if len(self.rows) == before:
                return None
        return None


def suppression(problem: Problem, attackers: Sequence[Attacker] = ()) -> Alternative | None:
    """A cheap safe pattern; the cheapest where there are few cells to decide about."""
    return PatternSearch(problem, attackers).cheapest()


class WidthModel:
    """[CastroVia2016, (3)]: a table of deviations for each sensitive cell and side, and capacities.

    Everything is in units of the largest level. Columns: capacity of each cell above and below,
    then the tables.
    """

    def __init__(self, problem: Problem, allowed: Booleans):
        self.problem = problem
        self.count = problem.cell_count
        self.tables = [
            (cell, side, position)
            for position, cell in enumerate(problem.sensitive.tolist())
            if requests(problem, position)
            for side in (1, -1)
        ]
        n, k = self.count, len(self.tables)
        levels = np.concatenate([problem.lower_level, problem.upper_level, problem.sliding_level])
        self.unit = float(levels.max(initial=0.0)) or 1.0
        self.most = (
            np.concatenate([problem.upper - problem.value, problem.value - problem.lower])
            / self.unit
        )
        self.most = np.where(np.tile(allowed, 2), np.maximum(self.most, 0.0), 0.0)
        self.size = 2 * n + k * n
        eye = sparse.identity(n, format="csr")
        none = sparse.csr_array((k * n, n))
        tables = sparse.identity(k * n, format="csr")
        capacities = sparse.vstack([eye] * k, format="csr") if k else none
        # x <= capacity above, -x <= capacity below.
        self.less = sparse.csr_array(
            sparse.vstack(
                [
                    sparse.hstack([-capacities, none, tables]),
                    sparse.hstack([none, -capacities, -tables]),
                    self._levels(),
                ]
            )
        )
        self.right = np.concatenate([np.zeros(2 * k * n), self._amounts()])
        A = problem.relations
        self.equal = sparse.csr_array(
            sparse.hstack(
                [sparse.csr_array((k * A.shape[0], 2 * n)), sparse.block_diag([A] * k)]
                if k
                else [sparse.csr_array((0, 2 * n))]
            )
        )

    @property
    def is_small(self) -> bool:
        """Whether it is worth trying."""
        return len(self.tables) * max(self.problem.relations.nnz, self.count) <= _MOST_ENTRIES

    def _column(self, table: int, cell: int) -> int:
        return 2 * self.count + table * self.count + cell

    def _levels(self) -> sparse.csr_array[Any, Any]:
        rows, columns, data = [], [], []
        row = 0
        for at, (cell, side, _) in enumerate(self.tables):
            rows.append(row)
            columns.append(self._column(at, cell))
            data.append(-float(side))
            row += 1
            if side > 0:
                # Up and down together reach the sliding level; the table downwards comes next.
                rows += [row, row]
                columns += [self._column(at, cell), self._column(at + 1, cell)]
                data += [-1.0, 1.0]
                row += 1
        return sparse.csr_array((data, (rows, columns)), shape=(row, self.size))

    def _amounts(self) -> Floats:
        p, right = self.problem, []
        for _, side, at in self.tables:
            right.append(-(p.upper_level if side > 0 else p.lower_level)[at] / self.unit)
            if side > 0:
                right.append(-p.sliding_level[at] / self.unit)
        return np.array(right)

    def narrowest(self, weight: Floats) -> Intervals | None:
        """The cheapest intervals for weights of a unit of width, as far as scipy finds them."""
        cost = np.concatenate([weight, weight, np.zeros(self.size - 2 * self.count)])
        far = np.full(self.size - 2 * self.count, np.inf)
        found = linear(
            cost,
            self.equal,
            np.concatenate([np.zeros(2 * self.count), -far]),
            np.concatenate([self.most, far]),
            less=Rows(self.less, -np.inf, self.right),
        )
        return None if found is None else self._intervals(found[0])

    def _intervals(self, x: Floats) -> Intervals:
        p, n = self.problem, self.count
        # A little wider, so that what the solver left open does not matter.
        capacity = np.minimum(
            np.where(x[: 2 * n] > 1e-12, x[: 2 * n] * (1 + 1e-7) + 1e-12, 0.0), self.most
        )
        return Intervals(p.value - capacity[n:] * self.unit, p.value + capacity[:n] * self.unit)

    def few(self, fixed: Floats, weight: Floats) -> Booleans | None:
        """Which cells to suppress at a fixed cost each, by a mixed-integer program."""
        n = self.count
        hidden = self.problem.is_sensitive
        cap = np.minimum(self.most, 50.0)
        link = sparse.hstack(
            [
                sparse.identity(2 * n),
                sparse.csr_array((2 * n, self.size - 2 * n)),
                -sparse.vstack([sparse.diags(cap[:n]), sparse.diags(cap[n:])]),
            ]
        )
        cost = np.concatenate([np.tile(weight, 2) * self.unit, np.zeros(self.size - 2 * n), fixed])
        none = [sparse.csr_array((m.shape[0], n)) for m in (self.less, self.equal)]
        rows = [
            Rows(sparse.hstack([self.less, none[0]]), -np.inf, self.right),
            Rows(link, -np.inf, 0.0),
            Rows(sparse.hstack([self.equal, none[1]]), 0.0, 0.0),
        ]
        free = np.full(self.size - 2 * n, np.inf)
        found = integer_program(
            cost,
            rows,
            np.concatenate([np.zeros(2 * n), -free, hidden.astype(float)]),
            np.concatenate([cap, free, np.ones(n)]),
            np.arange(self.size + n) >= self.size,
            _SECONDS,
        )
        return None if found is None else np.asarray(found[-n:] > 0.5)


def _allowed(problem: Problem, allowed: Booleans | None) -> Booleans:
    return ~problem.must_publish if allowed is None else allowed & ~problem.must_publish


def widths(solution: Intervals) -> Floats:
    """The width of every interval."""
    return np.asarray(solution.upper - solution.lower, float)


def intervals(
    problem: Problem, weight: Floats, allowed: Booleans | None = None
) -> Alternative | None:
    """The cheapest intervals against readers; None where there are none or none were found."""
    model = WidthModel(problem, _allowed(problem, allowed))
    if not model.is_small:
        return None
    found = model.narrowest(weight)
    if found is None or exposed(problem, found):
        return None
    return Alternative(float(weight @ widths(found)), found, best=True)


def combined(problem: Problem, fixed: Floats, weight: Floats) -> Alternative | None:
    """Cheap intervals of few cells against readers, each of which has a fixed cost."""
    model = WidthModel(problem, _allowed(problem, None))
    if not model.is_small:
        return None
    patterns = [model.few(fixed, weight)]
    widest = model.narrowest(weight)
    if widest is not None:
        patterns.append(widths(widest) > 0)
    pattern = suppression(problem.replace(weight=fixed))
    if pattern is not None and isinstance(pattern.solution, Suppression):
        patterns.append(pattern.solution.suppressed)
    best: Alternative | None = None
    for each in patterns:
        if each is None:
            continue
        found = WidthModel(problem, _allowed(problem, each)).narrowest(weight)
        if found is None or exposed(problem, found):
            continue
        hidden = (widths(found) > 0) | problem.is_sensitive
        cost = float(fixed[hidden].sum() + weight @ widths(found))
        if best is None or cost < best.cost:
            best = Alternative(cost, found)
    return best
