"""Random small tables and a brute-force attacker to hold the real one against.

The brute force is one dense linear program a question on the full model `A x = b`,
`l <= x <= u` with published cells fixed: no shrinking, no networks, no deviations.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import hypothesis.strategies as st
import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from tacit.attack.audit import audit
from tacit.attack.cuts import Separator
from tacit.attack.knowledge import Attacker, Knowledge
from tacit.attack.reach import Limits, Reaches
from tacit.attack.sweep import Attack
from tacit.generators import generate_2d, random_hierarchy
from tacit.outcome import Intervals
from tacit.problem import Booleans, Floats, Problem

Matrix = npt.NDArray[np.float64]

minimise: Any = linprog
"""Its stubs know neither sparse relations nor bounds as an array."""

FINITE_BOUNDS = ("near", "zero width", "from below", "from above", "natural", "wide")
ANY_BOUNDS = (*FINITE_BOUNDS, "no upper", "no lower", "none")
SIZES = {"network": (30, 22), "cube": (5, 5, 4)}
"""Of tables large enough for several tasks."""


@dataclass(frozen=True)
class Codes:
    """One classification: for each code its parent's number, -1 for the total (code 0)."""

    parents: tuple[int, ...]

    @property
    def leaves(self) -> list[int]:
        """Codes that are nobody's parent."""
        return [code for code in range(len(self.parents)) if code not in self.parents]

    def sums(self) -> Matrix:
        """One row per code, one column per leaf: 1 where the leaf lies under the code."""
        rows = np.zeros((len(self.parents), len(self.leaves)))
        for column, leaf in enumerate(self.leaves):
            code = leaf
            while code >= 0:
                rows[code, column] = 1.0
                code = self.parents[code]
        return rows

    def relations(self) -> Matrix:
        """One row per parent: its children's sum less itself."""
        rows = []
        for parent in sorted(set(self.parents) - {-1}):
            row = np.zeros(len(self.parents))
            row[[code for code, above in enumerate(self.parents) if above == parent]] = 1.0
            row[parent] = -1.0
            rows.append(row)
        return np.array(rows)


def flat(size: int) -> Codes:
    """A total and so many codes below it."""
    return Codes((-1, *[0] * size))


def kron(factors: Sequence[Matrix]) -> Matrix:
    """The Kronecker product of several matrices."""
    product = np.eye(1)
    for factor in factors:
        product = np.asarray(np.kron(product, factor))
    return product


def crossed(dimensions: Sequence[Codes]) -> tuple[Matrix, Matrix]:
    """All relations of the crossed table, and its cells as sums of leaf cells."""
    blocks = []
    for place, codes in enumerate(dimensions):
        factors = [np.eye(len(other.parents)) for other in dimensions]
        factors[place] = codes.relations()
        blocks.append(kron(factors))
    return np.vstack(blocks), kron([codes.sums() for codes in dimensions])


def linked(first: Sequence[Codes], second: Sequence[Codes]) -> tuple[Matrix, Matrix]:
    """Two two-dimensional tables over the same rows that share their total column."""
    A, S = crossed(first)
    B, T = crossed(second)
    rows, width, other = len(first[0].parents), len(first[1].parents), len(second[1].parents)
    shared = np.arange(rows) * other
    own = np.setdiff1d(np.arange(rows * other), shared)
    place = np.empty(rows * other, int)
    place[shared] = np.arange(rows) * width
    place[own] = rows * width + np.arange(len(own))
    total = np.zeros((len(A) + len(B), rows * width + len(own)))
    total[: len(A), : A.shape[1]] = A
    total[len(A) :, place] = B
    # The second table's leaves are split off the first one's row totals in equal parts.
    split = np.kron(np.eye(len(first[0].leaves)), np.full((len(second[1].leaves), 1), 1.0))
    row_sums = np.kron(np.eye(len(first[0].leaves)), np.ones((1, len(first[1].leaves))))
    return total, np.vstack([S, (T @ split @ row_sums)[own] / len(second[1].leaves)])


@dataclass(frozen=True, eq=False)
class Published:
    """A table together with what of it is published.

    Attributes:
        problem: The table.
        hidden: The suppressed cells.
        scale: The magnitude of the numbers, by which errors are measured.
    """

    problem: Problem
    hidden: npt.NDArray[np.bool_]
    scale: float

    @property
    def tolerance(self) -> float:
        """How far two right answers may differ."""
        return 1e-6 * self.scale

    @property
    def knowledge(self) -> Knowledge:
        """What a reader knows."""
        return Knowledge.of(self.problem, self.hidden)

    @property
    def cells(self) -> npt.NDArray[np.int64]:
        """Numbers of the suppressed cells."""
        return np.flatnonzero(self.hidden)

    def bounds(self) -> tuple[Floats, Floats]:
        """The bounds of each cell after publication."""
        p = self.problem
        lower = np.where(self.hidden, p.lower, p.value)
        return lower, np.where(self.hidden, p.upper, p.value)


def magnitude(problem: Problem) -> float:
    """The largest finite number among values and bounds, at least a tiny one."""
    numbers = np.abs(np.concatenate([problem.value, problem.lower, problem.upper]))
    return float(max(numbers[np.isfinite(numbers)].max(initial=0.0), 1e-9))


def extreme(problem: Problem, lower: Floats, upper: Floats, cell: int, side: int) -> float:
    """The largest (side 1) or smallest (side -1) value of a cell within bounds."""
    # The units are free to choose; the solver's absolute tolerances need numbers near 1.
    unit = 2.0 ** np.floor(np.log2(magnitude(problem)))
    cost = np.zeros(problem.cell_count)
    cost[cell] = -side
    given: dict[str, Any] = {
        "A_eq": problem.relations.toarray() if problem.relation_count else None,
        "b_eq": problem.rhs / unit if problem.relation_count else None,
        "bounds": np.column_stack([lower, upper]) / unit,
    }
    tight = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
    answer = minimise(cost, **given, method="highs-ds", options=tight)
    if answer.status == 4:  # unbounded or infeasible: only without presolve it tells which
        answer = minimise(cost, **given, method="highs-ds", options={**tight, "presolve": False})
    if answer.status == 3:
        return float(side * np.inf)
    assert answer.status == 0, f"brute force failed: {answer.message}"
    return float(answer.x[cell] * unit)


def brute_force(
    published: Published,
    cells: Sequence[int] | npt.NDArray[np.int64],
    attacker: Attacker | None = None,
    intervals: Intervals | None = None,
) -> tuple[Floats, Floats]:
    """Smallest and largest value of cells, one linear program each."""
    p = published.problem
    lower, upper = published.bounds()
    if intervals is not None:
        lower, upper = np.maximum(p.lower, intervals.lower), np.minimum(p.upper, intervals.upper)
    smallest, largest = [], []
    for cell in np.asarray(cells).tolist():
        l, u = lower.copy(), upper.copy()
        if attacker is not None:
            # Colluding singletons know each other, but not the one they attack [Castro2012, (9)].
            known = [*attacker.known, *(other for other in attacker.colluding if other != cell)]
            l[known] = u[known] = p.value[known]
            for other, amount in attacker.at_least.items():
                l[other] = max(l[other], amount)
            for other, amount in attacker.at_most.items():
                u[other] = min(u[other], amount)
        smallest.append(extreme(p, l, u, cell, -1))
        largest.append(extreme(p, l, u, cell, 1))
    return np.array(smallest), np.array(largest)


def agree(found: Floats, expected: Floats, tolerance: float) -> bool:
    """Whether answers agree: the same infinities, finite ones within the tolerance."""
    same_ends = np.array_equal(np.isfinite(found), np.isfinite(expected))
    if not same_ends:
        return False
    finite = np.isfinite(expected)
    return bool(
        np.all(found[~finite] == expected[~finite])
        and np.all(np.abs(found[finite] - expected[finite]) <= tolerance)
    )


def both_engines(published: Published) -> list[Attack]:
    """The attack with networks where possible, and with linear programs only."""
    return [
        Attack(published.problem, published.knowledge, networks=networks)
        for networks in (True, False)
    ]


def assert_agreement(
    published: Published,
    cells: Sequence[int] | npt.NDArray[np.int64],
) -> None:
    """Brute force and both engines find the same intervals for these cells."""
    cells = np.asarray(cells, np.int64)
    expected = brute_force(published, cells)
    for attack, engine in zip(both_engines(published), ("networks", "linear"), strict=True):
        found = attack.intervals(cells)
        for end, ours, theirs in zip(("lower", "upper"), found, expected, strict=True):
            assert agree(ours, theirs, published.tolerance), (
                f"{engine}, {end} ends of cells {cells.tolist()}: {ours} instead of {theirs}"
            )


def with_bounds(value: Floats, kinds: Sequence[str], width: Floats) -> tuple[Floats, Floats]:
    """Bounds of many kinds around values; `width` says how wide, in the values' own units."""
    lower, upper = value - width, value + width
    for cell, kind in enumerate(kinds):
        if kind in ("zero width", "from above", "no upper"):
            lower[cell] = value[cell]
        if kind in ("zero width", "from below", "no lower"):
            upper[cell] = value[cell]
        if kind == "natural":
            lower[cell] = min(value[cell], 0.0)
        if kind == "wide":
            upper[cell] = value[cell] + 1000 * width[cell]
        if kind in ("no upper", "none"):
            upper[cell] = np.inf
        if kind in ("no lower", "none"):
            lower[cell] = -np.inf
    return lower, upper


@st.composite
def hierarchies(draw: st.DrawFn) -> Codes:
    """A row hierarchy of two or three levels."""
    first = draw(st.integers(2, 3))
    parents = [-1, *[0] * first]
    for parent in range(1, first + 1):
        parents += [parent] * draw(st.sampled_from([0, 0, 2, 3, 1]))
    return Codes(tuple(parents))


@st.composite
def structures(draw: st.DrawFn, kinds: Sequence[str]) -> tuple[Matrix, Matrix | None]:
    """Relations of a kind of table, and its cells as sums of leaf cells (None: free cells)."""
    kind = draw(st.sampled_from(kinds))
    small = st.integers(1, 3)
    if kind == "2-D":
        return crossed([flat(draw(small)), flat(draw(small))])
    if kind == "1H2D":
        return crossed([draw(hierarchies()), flat(draw(st.integers(1, 2)))])
    if kind == "3-D":
        return crossed([flat(draw(st.integers(1, 2))) for _ in range(3)])
    if kind == "linked":
        rows = flat(draw(st.integers(1, 2)))
        return linked([rows, flat(draw(small))], [rows, flat(draw(small))])
    n, m = draw(st.integers(2, 9)), draw(st.integers(0, 6))
    pool: dict[str, list[float]] = {
        "sparse": [0, 0, 0, 1, -1],
        "coefficients": [0, 0, 0, 1, -1, 2, -3],
        "fractions": [0, 0, 0, 1, -0.5, 0.75, -3],
    }
    flattened = draw(st.lists(st.sampled_from(pool[kind]), min_size=n * m, max_size=n * m))
    return np.array(flattened, float).reshape(m, n), None


ALL_KINDS = ("2-D", "1H2D", "3-D", "linked", "sparse", "coefficients", "fractions")


@st.composite
def published_tables(
    draw: st.DrawFn,
    kinds: Sequence[str] = ALL_KINDS,
    bound_kinds: Sequence[str] = ANY_BOUNDS,
    units: Sequence[float] = (1.0, 1e12, 1e-6),
) -> Published:
    """A table, what of it is published, and sensitive cells with levels.

    Values are small whole numbers times a unit, often zero or negative; a relation may come
    twice, scaled or turned round.
    """
    A, sums = draw(structures(kinds))
    n = A.shape[1]
    unit = draw(st.sampled_from(units))
    leaves = n if sums is None else sums.shape[1]
    numbers = st.sampled_from([0, 0, 1, 2, 3, 5, 8, 13, 40, -1, -4])
    leaf = np.array(draw(st.lists(numbers, min_size=leaves, max_size=leaves)), float)
    value = leaf if sums is None else sums @ leaf
    if len(A):
        repeated = draw(st.lists(st.integers(0, len(A) - 1), max_size=2))
        factor = draw(st.sampled_from([1.0, -1.0, 2.0]))
        A = np.vstack([A, factor * A[repeated]])
    if draw(st.booleans()):
        bound = draw(st.sampled_from(bound_kinds))
        bounds_of_cells = [bound] * n
    else:
        bounds_of_cells = draw(st.lists(st.sampled_from(bound_kinds), min_size=n, max_size=n))
    width = np.array(draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)), float)
    lower, upper = with_bounds(value, bounds_of_cells, width)
    hidden = np.array(
        draw(st.lists(st.sampled_from([True, True, False]), min_size=n, max_size=n)), bool
    )
    sensitive = np.flatnonzero(
        draw(st.lists(st.sampled_from([True, False, False]), min_size=n, max_size=n))
    )
    s = len(sensitive)
    levels = [
        np.array(draw(st.lists(st.integers(0, 6), min_size=s, max_size=s)), float) * unit
        for _ in range(3)
    ]
    is_sensitive = np.zeros(n, bool)
    is_sensitive[sensitive] = True
    problem = Problem(
        value=value * unit,
        lower=lower * unit,
        upper=upper * unit,
        relations=A,
        rhs=A @ value * unit,
        sensitive=sensitive,
        lower_level=levels[0],
        upper_level=levels[1],
        sliding_level=levels[2] * draw(st.sampled_from([0.0, 1.0])),
        must_publish=~hidden & ~is_sensitive & (np.arange(n) % 2 == 0),
    )
    return Published(problem, hidden, magnitude(problem))


def seeded_table(rng: np.random.Generator) -> Published:
    """A bounded random table of some kind, cheaply."""
    kind = rng.integers(5)
    sums: Matrix | None
    if kind == 0:
        A, sums = crossed([flat(int(rng.integers(2, 5))), flat(int(rng.integers(2, 5)))])
    elif kind == 1:
        A, sums = crossed([Codes((-1, 0, 0, 1, 1, 2, 2, 2)), flat(int(rng.integers(2, 4)))])
    elif kind == 2:
        A, sums = crossed([flat(2), flat(2), flat(int(rng.integers(1, 3)))])
    elif kind == 3:
        rows = flat(int(rng.integers(2, 4)))
        A, sums = linked([rows, flat(2)], [rows, flat(int(rng.integers(2, 4)))])
    else:
        n, m = int(rng.integers(3, 12)), int(rng.integers(1, 7))
        A, sums = rng.choice([0.0, 0.0, 0.0, 1.0, -1.0, 2.0, -3.0], (m, n)), None
    n = A.shape[1]
    leaf = rng.integers(-3, 30, n if sums is None else sums.shape[1]) * (rng.random() < 0.9)
    value = leaf.astype(float) if sums is None else sums @ leaf
    bounds_of_cells = [str(kind) for kind in rng.choice(FINITE_BOUNDS, n)]
    width = rng.integers(0, 12, n).astype(float)
    lower, upper = with_bounds(value, bounds_of_cells, width)
    hidden = np.asarray(rng.random(n) < rng.uniform(0.3, 1.0))
    problem = Problem(value=value, lower=lower, upper=upper, relations=A, rhs=A @ value)
    return Published(problem, hidden, magnitude(problem))


def small_problem(seed: int, *, cube: bool = False, hierarchies: bool = False) -> Problem:
    """A table with a few sensitive cells of all kinds of levels and at most nine others free."""
    rng = np.random.default_rng(seed)
    if cube:
        return _small_cube(rng)
    table = generate_2d(3, 3, seed=seed)
    if hierarchies:
        rows, columns = (random_hierarchy(4, depth=2, seed=seed + place) for place in (0, 1))
        table = generate_2d(rows, columns, seed=seed)
    problem = table.problem()
    n = problem.cell_count
    order = rng.permutation(n)
    sensitive, free = np.sort(order[:3]), order[3:12]
    publish = np.ones(n, bool)
    publish[sensitive] = False
    publish[free] = False
    value = problem.value[sensitive]
    return problem.replace(
        upper=problem.value + rng.integers(0, 3, n) * problem.value + 5,
        sensitive=sensitive,
        lower_level=np.minimum(np.ceil(value * rng.random(3)), value),
        upper_level=np.ceil(1 + 4 * rng.random(3)),
        sliding_level=np.where(rng.random(3) < 0.3, 3.0, 0.0),
        must_publish=publish,
    )


def _small_cube(rng: np.random.Generator) -> Problem:
    """The same in three dimensions, with levels that can be met: cells inside move together."""
    A, sums = crossed([flat(2), flat(2), flat(2)])
    value = sums @ rng.integers(4, 100, sums.shape[1]).astype(float)
    n = len(value)
    is_total = np.asarray(sums.sum(axis=1)).ravel() > 1
    inside, totals = (rng.permutation(np.flatnonzero(each)) for each in (~is_total, is_total))
    sensitive = np.sort(inside[:3])
    publish = np.ones(n, bool)
    publish[inside] = False
    publish[totals[:4]] = False
    most = value[inside].min()
    return Problem(
        value=value,
        relations=A,
        upper=value + rng.integers(0, 3, n) * value + 5,
        sensitive=sensitive,
        lower_level=np.ceil(most * rng.random(3) ** 2),
        upper_level=np.ceil(1 + 4 * rng.random(3)),
        sliding_level=np.where(rng.random(3) < 0.3, 3.0, 0.0),
        must_publish=publish,
    )


def safe_patterns(problem: Problem, attacker: Attacker) -> list[Booleans]:
    """All safe patterns, by enumeration, the largest first.

    What is not safe does not become so by publishing more.
    """
    free = np.flatnonzero(~problem.must_publish & ~problem.is_sensitive)
    safe: set[tuple[bool, ...]] = set()
    found = []
    for chosen in itertools.product((True, False), repeat=len(free)):
        more = [(*chosen[:at], True, *chosen[at + 1 :]) for at in range(len(free))]
        if any(each != chosen and each not in safe for each in more):
            continue
        hidden = problem.is_sensitive
        hidden[free] = chosen
        if audit(problem, hidden, cells="sensitive", exact=False, attackers=[attacker]).safe:
            safe.add(chosen)
            found.append(hidden)
    return found


def assert_flow_cuts_hold(problem: Problem, seed: int) -> None:
    """Cuts that flows find are violated where they are sought, and by no safe pattern."""
    separator = Separator(problem)
    patterns = np.array(safe_patterns(problem, Attacker.external()), float)
    patterns = patterns.reshape(-1, problem.cell_count)
    rng = np.random.default_rng(seed)
    for trial in range(8):
        y = np.where(problem.must_publish, 0.0, rng.random(problem.cell_count))
        found = separator.cuts(y, ceiling=(1.0, 0.3)[trial % 2], thorough=False)
        assert (found.violation(np.where(problem.is_sensitive, 1.0, y)) > 0).all()
        assert (patterns @ found.coefficients.T >= 1 - 1e-9).all()


def assert_separation_is_exact(problem: Problem, seed: int) -> None:
    """For random patterns no cut is found if and only if all sensitive cells are safe."""
    separator = Separator(problem)
    free = np.flatnonzero(~problem.must_publish & ~problem.is_sensitive)
    rng = np.random.default_rng(seed)
    for _ in range(15):
        hidden = problem.is_sensitive
        hidden[free] = rng.random(len(free)) < 0.7
        safe = audit(problem, hidden, cells="sensitive", exact=False).safe
        assert (len(separator.cuts(hidden.astype(float))) == 0) == safe


def table_for_tasks(kind: str) -> tuple[Problem, Booleans]:
    """A table large enough for several tasks, and a suppression."""
    A, sums = crossed([flat(size) for size in SIZES[kind]])
    rng = np.random.default_rng(4)
    value = sums @ np.round(rng.lognormal(2, 1.5, sums.shape[1]), 1)
    sensitive = np.sort(rng.choice(len(value), len(value) // 5, replace=False))
    hidden = rng.random(len(value)) < 0.7
    hidden[sensitive] = True
    problem = Problem(
        value=value,
        upper=2 * value,
        relations=A,
        sensitive=sensitive,
        lower_level=0.2 * value[sensitive],
        upper_level=0.2 * value[sensitive],
        singleton=np.where(rng.random(len(value)) < 0.1, np.arange(len(value)), -1),
    )
    return problem, hidden


def assert_identical(one: Reaches, two: Reaches) -> None:
    """Every number is the same, bit for bit."""
    for name in ("amount", "limit", "answered"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
    for name in ("deviations", "multipliers"):
        ours, theirs = getattr(one, name), getattr(two, name)
        assert ours.shape == theirs.shape
        assert (ours != theirs).nnz == 0


def random_limits(rng: np.random.Generator, n: int, count: int, unit: float) -> Limits:
    """Lists of a few cells with little left to move, of which requests share some."""
    lists = 3
    cells = [np.flatnonzero(rng.random(n) < 0.3) for _ in range(lists)]
    total = sum(map(len, cells))
    up, down = (np.floor(4 * rng.random(total)) * unit for _ in range(2))
    closed = rng.random(total) < 0.4
    up = np.where(closed, 0.0, np.where(rng.random(total) < 0.5, np.inf, up))
    return Limits(
        rng.integers(-1, lists, count),
        np.cumsum([0, *map(len, cells)]),
        np.concatenate(cells),
        up,
        np.where(closed, 0.0, down),
    )
