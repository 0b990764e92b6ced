"""Random tables made of contributions, and a brute-force insider to hold the real one against.

Everything here is computed from raw contributions with plain loops; the linear models are scipy's,
on the full table: no deviations, no witnesses, no shrinking.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.attack.audit import Audit
from tacit.insiders import Insiders, LevelsAgainst
from tacit.problem import Floats, Problem
from tests.attack.tables import Codes, Matrix, crossed, flat, linked, minimise

KINDS = ("2-D", "chain", "3-D", "linked")
RULES = ("p%", "percentage", "sliding")


@dataclass(frozen=True, eq=False)
class Demand:
    """How uncertain a sensitive cell must stay to somebody.

    Attributes:
        cell: The cell.
        levels: Its lower, upper and sliding level.
        least: What the attacker knows each cell to be at least.
        most: What the attacker knows each cell to be at most.
    """

    cell: int
    levels: tuple[float, float, float]
    least: Floats
    most: Floats


@dataclass(frozen=True, eq=False)
class Contributed:
    """A table of contributions and what of it is published.

    Attributes:
        problem: The table, with its insiders.
        hidden: The suppressed cells.
        amounts: One row per contributor: what it contributes to each cell.
        rule: What the levels come from.
        p: Its percentage, as a share.
        listed: The contributors that are insiders, in their order.
    """

    problem: Problem
    hidden: npt.NDArray[np.bool_]
    amounts: Matrix
    rule: str
    p: float
    listed: list[int]

    def is_alone(self, who: frozenset[int], cell: int) -> bool:
        """Whether nobody else contributes to a cell to which these do."""
        mine = sum(self.amounts[k, cell] for k in who)
        return bool(mine > 0 and mine >= self.amounts[:, cell].sum() * (1 - 1e-9))

    def knows(self, who: frozenset[int], cell: int) -> bool:
        """Whether contributors know a cell exactly."""
        return self.is_alone(who, cell)

    def level(self, who: frozenset[int], cell: int) -> tuple[float, float, float]:
        """The lower, upper and sliding level of a sensitive cell against contributors."""
        p, place = self.problem, int(np.searchsorted(self.problem.sensitive, cell))
        readers = (p.lower_level[place], p.upper_level[place], p.sliding_level[place])
        inside = sorted(k for k in who if self.amounts[k, cell] > 0)
        if self.knows(who, cell):
            return 0.0, 0.0, 0.0
        if not inside:
            levels = level_against(self.amounts[:, cell], None, self.rule, self.p)
        else:
            largest = max(inside, key=lambda k: (self.amounts[k, cell], -k))
            others = sum(self.amounts[k, cell] for k in inside) - self.amounts[largest, cell]
            own = level_against(self.amounts[:, cell], largest, self.rule, self.p)
            levels = (own[0] + others, own[1] + others, own[2] + others)
            if len(inside) > 1:
                rest = float(p.value[cell]) - others - self.amounts[largest, cell]
                levels = (min(levels[0], rest), levels[1], levels[2])
        low, high, wide = (
            float(min(level, most)) for level, most in zip(levels, readers, strict=True)
        )
        return low, high, wide

    def coalitions(self) -> list[frozenset[int]]:
        """Everybody who attacks: nobody, who is a reader, each insider, and those who join."""
        size = 1 if self.problem.insiders is None else self.problem.insiders.coalition
        return [
            frozenset(who)
            for count in range(size + 1)
            for who in itertools.combinations(self.listed, count)
        ]

    def told(self, lower: Floats, upper: Floats) -> Contributed:
        """The same where every cell is published as an interval."""
        hidden = np.ones(self.problem.cell_count, bool)
        return replace(self, problem=self.problem.replace(lower=lower, upper=upper), hidden=hidden)

    def demands(self) -> list[Demand]:
        """Every level against every attacker, with what the attacker knows besides bounds."""
        p = self.problem
        found = []
        for who in self.coalitions():
            least, most = np.full(p.cell_count, -np.inf), np.full(p.cell_count, np.inf)
            for cell in range(p.cell_count if who else 0):
                least[cell] = sum(self.amounts[k, cell] for k in who)
                if self.knows(who, cell):
                    least[cell] = most[cell] = p.value[cell]
            for cell in p.sensitive.tolist():
                levels = self.levels(who, cell)
                if max(levels) > 0:
                    found.append(Demand(cell, levels, least, most))
        return found

    def exposed(self) -> set[tuple[int, str, frozenset[int]]]:
        """What linear models say is exposed, to readers (nobody) and to every coalition."""
        found = set()
        asked = []
        for who in self.coalitions():
            for cell in self.problem.sensitive.tolist():
                levels = self.levels(who, cell)
                if any(level > 0 for level in levels):
                    asked.append((who, cell, levels))
        ends = self._ends(asked)
        for (who, cell, levels), (fall, rise) in zip(asked, ends, strict=True):
            reached = (fall, rise, fall + rise)
            for name, level, far in zip(
                ("lower", "upper", "sliding"), levels, reached, strict=True
            ):
                assert abs(far - level) > 1e-5 or far >= level - 1e-7 or far == level
                if level > 0 and far < level - 1e-6:
                    found.add((cell, name, who))
        return found

    def levels(self, who: frozenset[int], cell: int) -> tuple[float, float, float]:
        """The same against anybody; nobody is a reader."""
        if who:
            return self.level(who, cell)
        p, place = self.problem, int(np.searchsorted(self.problem.sensitive, cell))
        return (
            float(p.lower_level[place]),
            float(p.upper_level[place]),
            float(p.sliding_level[place]),
        )

    def _ends(
        self, asked: list[tuple[frozenset[int], int, tuple[float, float, float]]]
    ) -> list[tuple[float, float]]:
        """How far each asked cell falls and rises, as far as its levels need."""
        if not asked:
            return []
        p = self.problem
        bounds: list[Matrix] = []
        costs, places = [], []
        for who, cell, levels in asked:
            low = np.where(self.hidden, p.lower, p.value)
            high = np.where(self.hidden, p.upper, p.value)
            for other in np.flatnonzero(self.hidden).tolist():
                if self.knows(who, other):
                    low[other] = high[other] = p.value[other]
                low[other] = max(low[other], sum(self.amounts[k, other] for k in who))
            # Further than that nobody asks; it keeps the model bounded.
            far = 2 * max(levels)
            for side in (-1, 1):
                l, u = low.copy(), high.copy()
                l[cell] = max(l[cell], p.value[cell] - far)
                u[cell] = min(u[cell], p.value[cell] + far)
                cost = np.zeros(p.cell_count)
                cost[cell] = -side
                places.append(len(bounds) * p.cell_count + cell)
                bounds.append(np.column_stack([l, np.maximum(l, u)]))
                costs.append(cost)
        A = sparse.block_diag([p.relations] * len(bounds), format="csr")
        answer = minimise(
            np.concatenate(costs),
            A_eq=A,
            b_eq=np.tile(p.rhs, len(bounds)),
            bounds=np.concatenate(bounds),
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
        )
        assert answer.status == 0, answer.message
        moved = np.abs(answer.x[places] - np.tile(p.value, len(bounds))[places])
        return [(float(moved[k]), float(moved[k + 1])) for k in range(0, len(moved), 2)]


def level_against(
    amounts: Floats, who: int | None, rule: str, p: float
) -> tuple[float, float, float]:
    """The levels of a cell against one of its contributors, or somebody from elsewhere."""
    total = float(amounts.sum())
    own = 0.0 if who is None else float(amounts[who])
    others = [float(amount) for k, amount in enumerate(amounts) if k != who]
    if rule == "p%":
        return 0.0, max(own + (1 + p) * max(others) - total, 0.0), 0.0
    level = p * (total - own)
    return (0.0, 0.0, level) if rule == "sliding" else (level, level, 0.0)


def structure(kind: str, rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    """Relations of a small table, and its cells as sums of leaf cells."""
    if kind == "2-D":
        return crossed([flat(int(rng.integers(2, 4))), flat(int(rng.integers(2, 4)))])
    if kind == "chain":
        # Two parents, one of them with a single child below it.
        return crossed([Codes((-1, 0, 0, 1, 2, 2)), flat(int(rng.integers(2, 4)))])
    if kind == "two hierarchies":
        return crossed([Codes((-1, 0, 0, 1, 1)), Codes((-1, 0, 0, 0, 1, 1))])
    if kind == "3-D":
        return crossed([flat(2), flat(2), flat(2)])
    rows = flat(int(rng.integers(2, 4)))
    return linked([rows, flat(2)], [rows, flat(2)])


def contributed(
    seed: int,
    kind: str = "2-D",
    rule: str = "p%",
    *,
    coalition: int = 1,
    everyone: bool = False,
) -> Contributed:
    """A table of a few contributors, some in several cells, and a suppression.

    Args:
        seed: Of the random numbers.
        kind: The structure of the table.
        rule: What the levels come from.
        coalition: So many insiders join.
        everyone: Every contributor is an insider; otherwise those alone in a cell.
    """
    rng = np.random.default_rng(seed)
    A, sums = structure(kind, rng)
    leaves = sums.shape[1]
    count = int(rng.integers(3, 7))
    amounts = np.zeros((count, leaves))
    for firm in range(count):
        for leaf in rng.integers(0, leaves, int(rng.integers(1, 4))):
            amounts[firm, leaf] += rng.choice([1, 2, 3, 5, 10, 40, 100, 200])
    # A holding counts as one contributor with the figures of its members.
    if count > 4 and rng.random() < 0.5:
        amounts = np.vstack([amounts[0] + amounts[1], amounts[2:]])
    table = amounts @ sums.T
    value = table.sum(axis=0)
    p = float(rng.choice([0.05, 0.1, 0.5]))
    n = len(value)
    if rule == "p%":
        readers = np.zeros((n, 3))
        for cell in range(n):
            second, first = np.sort(table[:, cell])[-2:]
            readers[cell, 1] = max(second + (1 + p) * first - value[cell], 0.0)
        is_sensitive = readers[:, 1] > 1e-9
    else:
        readers = np.array([level_against(table[:, cell], None, rule, p) for cell in range(n)])
        is_sensitive = (rng.random(n) < 0.3) & (value > 0)
    sensitive = np.flatnonzero(is_sensitive)
    hidden = is_sensitive | (rng.random(n) < rng.uniform(0.4, 1.0))
    bound = rng.choice([1.5, 3.0, np.inf])
    upper = np.where(value > 0, value, 1.0) * bound
    # Levels that reach beyond the bounds nobody can meet; wide enough for readers at least.
    upper = np.maximum(upper, value + np.max(readers, axis=1))
    listed = [
        k
        for k in range(len(table))
        if everyone or any(0 < value[i] <= table[k, i] * (1 + 1e-9) for i in range(n))
    ]
    insiders = insiders_of(table, listed, sensitive, readers, rule, p, coalition)
    problem = Problem(
        value=value,
        upper=upper,
        relations=A,
        rhs=A @ value,
        sensitive=sensitive,
        lower_level=readers[sensitive, 0],
        upper_level=readers[sensitive, 1],
        sliding_level=readers[sensitive, 2],
        insiders=insiders,
    )
    return Contributed(problem, hidden, table, rule, p, listed)


def insiders_of(
    amounts: Matrix,
    listed: list[int],
    sensitive: npt.NDArray[np.int64],
    readers: Matrix,
    rule: str,
    p: float,
    coalition: int = 1,
) -> Insiders:
    """Contributors as insiders, each with all cells that it contributes to."""
    start, cells, amount, alone = [0], [], [], []
    own: list[tuple[float, float, float]] = []
    value = amounts.sum(axis=0)
    asked = set(sensitive.tolist())
    for k in listed:
        for i in np.flatnonzero(amounts[k] > 0).tolist():
            cells.append(i)
            amount.append(amounts[k, i])
            alone.append(bool(value[i] <= amounts[k, i] * (1 + 1e-9)))
            if i in asked and not alone[-1]:
                levels = level_against(amounts[:, i], k, rule, p)
                low, high, wide = (min(a, b) for a, b in zip(levels, readers[i], strict=True))
                own.append((low, high, wide))
            else:
                own.append((0.0, 0.0, 0.0))
        start.append(len(cells))
    outside = [level_against(amounts[:, i], None, rule, p) for i in sensitive.tolist()]
    return Insiders(
        start=np.array(start),
        cells=np.array(cells, np.int64),
        amount=np.array(amount, float),
        alone=np.array(alone, bool),
        own=LevelsAgainst(*np.array(own, float).reshape(-1, 3).T.copy()),
        outside=LevelsAgainst(*np.array(outside, float).reshape(-1, 3).T.copy()),
        coalition=coalition,
    )


def minimal(
    found: set[tuple[int, str, frozenset[int]]],
) -> set[tuple[int, str, frozenset[int]]]:
    """Without coalitions to whom a smaller part of them, or a reader, shows the cell exposed."""
    return {
        (cell, name, who)
        for cell, name, who in found
        if not any(other == cell and fewer < who for other, _, fewer in found)
    }


def exposures(found: Audit) -> set[tuple[int, str]]:
    """Cells and levels that insiders get below."""
    assert found.insiders is not None
    return {(each.cell, each.level) for each in found.insiders.exposures}


def assert_shown(made: Contributed, found: Audit) -> None:
    """Every insider and coalition has a row for each level, by a check with plain loops.

    Rows of readers and of coalitions are tried one by one; a row may be scaled down, and one that
    is a direction without end to any length.
    """
    assert found.insiders is not None
    assert made.problem.insiders is not None
    insider = found.insiders
    readers = found.findings[0].evidence
    rows = [
        (int(evidence.cells[claim]), int(evidence.sides[claim]), evidence.amount[claim], x)
        for evidence in (readers, insider.evidence)
        for claim, x in enumerate(evidence.deviations.toarray())
    ]
    for size in range(1, made.problem.insiders.coalition + 1):
        for who in itertools.combinations(made.listed, size):
            members = frozenset(who)
            rest = made.problem.value - made.amounts[list(who)].sum(axis=0)
            known = [i for i in range(len(rest)) if made.knows(members, i)]
            for cell in made.problem.sensitive.tolist():
                for side, level in zip((-1, 1), made.level(members, cell)[:2], strict=True):
                    if level <= 1e-9:
                        continue
                    scaled = [
                        x * min(level / abs(x[cell]), np.inf if np.isinf(amount) else 1.0)
                        for asked, to, amount, x in rows
                        if (asked, to) == (cell, side) and amount >= level * (1 - 1e-8)
                    ]
                    assert any(not x[known].any() and (x >= -rest - 1e-7).all() for x in scaled), (
                        f"cell {cell}, side {side}, contributors {who}"
                    )
