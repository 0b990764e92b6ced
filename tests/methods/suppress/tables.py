"""Random small tables to protect, and a brute force that finds their optima.

The brute force goes through all patterns, lightest first, and asks for every sensitive cell and
every attacker one dense linear program on the full model `A x = b`, `l <= x <= u` with the
published cells fixed. What it knows of attackers is written down here a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import hypothesis.strategies as st
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from tacit.attack.knowledge import Attacker
from tacit.methods.suppress.run import suppress
from tacit.outcome import Outcome, Status, Suppression
from tacit.problem import Booleans, Floats, Problem
from tests.attack.tables import (
    FINITE_BOUNDS,
    Codes,
    Matrix,
    crossed,
    flat,
    linked,
    magnitude,
    published_tables,
    with_bounds,
)

EXACT = ["auto", "branch-and-cut"]
"""Algorithms that prove an optimum when they are given the time."""
HEURISTIC = ["paths", "hypercube", "modular"]
"""Algorithms that promise a safe pattern only."""
ALGORITHMS = [*EXACT, *HEURISTIC]

MOST_SECONDARY = 13
"""So many cells leave few enough patterns to go through them all."""

minimise: Any = linprog
"""Its stubs know no bounds as an array."""


class Question(NamedTuple):
    """One thing that must be out of an attacker's reach."""

    attacker: Attacker
    cell: int
    kind: Literal["lower", "upper", "sliding"]
    level: float


@dataclass(eq=False)
class BruteForce:
    """All patterns of a small table, and which of them are safe.

    Attributes:
        problem: The table; its weights count.
        attackers: Everybody who attacks.
        is_local: Does every relation need one more suppressed cell than it has sensitive
            singletons [Castro2012, (8)]?
        max_suppressed: Suppress at most so many cells.
    """

    problem: Problem
    attackers: Sequence[Attacker] = (Attacker(),)
    is_local: bool = False
    max_suppressed: int | None = None
    _asked: dict[tuple[int, bytes], tuple[bool, Booleans]] = field(default_factory=dict)

    @cached_property
    def candidates(self) -> list[int]:
        """Cells that may be suppressed besides the sensitive ones."""
        free = ~self.problem.must_publish & ~self.problem.is_sensitive
        if self.is_local:
            # A cell that cannot vary is known to everybody: it hides nothing beside a singleton.
            free &= self.problem.lower < self.problem.upper
        return [int(cell) for cell in np.flatnonzero(free)]

    @cached_property
    def questions(self) -> list[Question]:
        """What a safe pattern has to withstand."""
        p = self.problem
        found = []
        for attacker in self.attackers:
            for at, cell in enumerate(p.sensitive.tolist()):
                if cell in attacker.known and cell in attacker.own:
                    continue
                levels = {
                    "lower": p.lower_level[at],
                    "upper": p.upper_level[at],
                    "sliding": p.sliding_level[at],
                }
                found += [
                    Question(attacker, cell, kind, float(level))  # type: ignore[arg-type]
                    for kind, level in levels.items()
                    if level > 0
                ]
        return found

    def limits(self, hidden: Booleans, attacker: Attacker, asked: int) -> tuple[Floats, Floats]:
        """Bounds of all cells as an attacker sees them who is after one of them."""
        p = self.problem
        lower, upper = np.where(hidden, p.lower, p.value), np.where(hidden, p.upper, p.value)
        public = lower[asked], upper[asked]
        for cell in (*attacker.known, *attacker.colluding):
            lower[cell] = upper[cell] = p.value[cell]
        for cell, amount in attacker.at_least.items():
            lower[cell] = max(lower[cell], amount)
        for cell, amount in attacker.at_most.items():
            upper[cell] = min(upper[cell], amount)
        if asked in attacker.colluding or asked in attacker.own:
            lower[asked], upper[asked] = public
        return lower, upper

    def furthest(
        self, hidden: Booleans, attacker: Attacker, cell: int, side: int
    ) -> tuple[float, Booleans]:
        """How far a cell moves up (1) or down (-1), and which cells' bounds do not matter to it."""
        p = self.problem
        unit = 2.0 ** np.floor(np.log2(magnitude(p)))
        lower, upper = self.limits(hidden, attacker, cell)
        cost = np.zeros(p.cell_count)
        cost[cell] = -side
        answer = minimise(
            cost,
            A_eq=p.relations.toarray() if p.relation_count else None,
            b_eq=p.rhs / unit if p.relation_count else None,
            bounds=np.column_stack([lower, upper]) / unit,
            method="highs-ds",
            options={"presolve": False},
        )
        if answer.status == 3:
            return np.inf, np.zeros(p.cell_count, bool)
        assert answer.status == 0, f"brute force failed: {answer.message}"
        price = np.abs(answer.lower.marginals) + np.abs(answer.upper.marginals)
        return side * (float(answer.x[cell]) * unit - p.value[cell]), price < 1e-9

    def ask(self, number: int, hidden: Booleans) -> tuple[bool, Booleans]:
        """Does a pattern withstand a question, and which cells' bounds do not matter to it?"""
        key = number, hidden.tobytes()
        if key not in self._asked:
            attacker, cell, kind, level = self.questions[number]
            sides = {"upper": [1], "lower": [-1], "sliding": [1, -1]}[kind]
            answers = [self.furthest(hidden, attacker, cell, side) for side in sides]
            moved = sum(amount for amount, _ in answers)
            slack = np.logical_and.reduce([mask for _, mask in answers])
            self._asked[key] = moved >= level - 1e-7 * magnitude(self.problem), slack
        return self._asked[key]

    def first_failure(self, hidden: Booleans) -> int | None:
        """The number of a question that a pattern does not withstand; None if it is safe."""
        for number in range(len(self.questions)):
            if not self.ask(number, hidden)[0]:
                return number
        return None

    def is_safe(self, hidden: Booleans) -> bool:
        """Is a pattern safe, and does it keep to the conditions?"""
        return self.is_allowed(hidden) and self.first_failure(hidden) is None

    def is_allowed(self, hidden: Booleans) -> bool:
        """Are the conditions met that have nothing to do with attackers?"""
        p = self.problem
        if (hidden & p.must_publish).any() or not hidden[p.sensitive].all():
            return False
        if self.max_suppressed is not None and hidden.sum() > self.max_suppressed:
            return False
        return not self.is_local or bool(self._is_crowded(hidden[None, :])[0])

    def _is_crowded(self, patterns: Booleans) -> Booleans:
        inside = (self.problem.relations.toarray() != 0).astype(int)
        singletons = inside @ ((self.problem.singleton >= 0) & self.problem.is_sensitive)
        enough = patterns.astype(int) @ inside.T >= singletons + 1
        return np.asarray((enough | (singletons == 0)).all(axis=1))

    def optimum(self) -> float | None:
        """The least weight of a safe pattern; None if there is none."""
        p, k = self.problem, len(self.candidates)
        assert k <= 16, "too many patterns for brute force"
        number = np.arange(2**k)
        chosen = (number[:, None] >> np.arange(k)) & 1 == 1
        patterns = np.zeros((2**k, p.cell_count), bool)
        patterns[:, p.sensitive] = True
        patterns[:, self.candidates] = chosen
        alive = np.ones(2**k, bool)
        if self.max_suppressed is not None:
            alive &= patterns.sum(axis=1) <= self.max_suppressed
        if self.is_local:
            alive &= self._is_crowded(patterns)
        order = np.argsort(patterns @ p.weight, kind="stable")
        while alive[order].any():
            hidden = patterns[order[np.argmax(alive[order])]]
            failed = self.first_failure(hidden)
            if failed is None:
                return float(p.weight[hidden].sum())
            # Less suppression is never safer, so all patterns within an unsafe one are out.
            # Cells that the answer did not feel may join, if the question still fails then.
            wider = hidden | (self.ask(failed, hidden)[1] & ~p.must_publish)
            unsafe = hidden if self.ask(failed, wider)[0] else wider
            alive &= (patterns & ~unsafe).any(axis=1)
        return None


@dataclass(frozen=True, eq=False)
class Instance:
    """A table with everything that `suppress` is to be told about it."""

    problem: Problem
    attackers: tuple[Attacker, ...] = ()
    singletons: str = "ignore"
    max_suppressed: int | None = None

    def suppress(self, algorithm: str, **options: Any) -> Outcome:
        """Protect the table."""
        chosen: dict[str, Any] = {"gap": 1e-9, **options}
        return suppress(
            self.problem,
            algorithm=algorithm,  # type: ignore[arg-type]
            attackers=self.attackers,
            singletons=self.singletons,
            max_suppressed=self.max_suppressed,
            **chosen,
        )

    def brute_force(self, weight: Floats | None = None) -> BruteForce:
        """The obvious way to do the same."""
        everyone = list(self.attackers) or [Attacker()]
        singleton = self.problem.singleton
        cells = np.flatnonzero(singleton >= 0).tolist()
        if self.singletons == "respondents":
            for number in np.unique(singleton[singleton >= 0]).tolist():
                own = tuple(np.flatnonzero(singleton == number).tolist())
                everyone.append(Attacker(known=own, own=frozenset(own)))
        elif self.singletons == "global":
            everyone.append(Attacker(colluding=tuple(cells)))
        weighted = self.problem if weight is None else self.problem.replace(weight=weight)
        return BruteForce(weighted, everyone, self.singletons == "local", self.max_suppressed)


def hidden_by(outcome: Outcome) -> Booleans:
    """The pattern of an outcome that must have one."""
    assert isinstance(outcome.solution, Suppression)
    return outcome.solution.suppressed


def assert_consistent(outcome: Outcome, problem: Problem, brute: BruteForce | None) -> None:
    """What must hold of every outcome whatever happened: it is safe and tells no fairy tales."""
    report = outcome.report
    if outcome.solution is None:
        assert outcome.status in (Status.INFEASIBLE, Status.INTERRUPTED)
        assert report.objective is None
        assert report.gap is None
        assert outcome.audit is None
        assert len(outcome.suppressed) == 0
    else:
        hidden = hidden_by(outcome)
        assert outcome.status in (Status.OPTIMAL, Status.FEASIBLE)
        assert hidden[problem.sensitive].all()
        assert not (hidden & problem.must_publish).any()
        assert report.objective is not None
        assert report.gap is not None
        total = problem.weight[hidden].sum()
        assert np.isclose(report.objective, total, rtol=1e-9, atol=0.0)
        # That the bound is not a rounding error above is a test of its own.
        assert report.bound <= report.objective * (1 + 1e-12)
        assert report.gap == (report.objective - report.bound) / max(report.objective, 1e-10)
        assert np.array_equal(outcome.suppressed, np.flatnonzero(hidden))
        assert outcome.audit is not None
        assert outcome.audit.safe
        outcome.audit.check()
        if brute is not None:
            assert brute.is_safe(hidden), f"suppressed {np.flatnonzero(hidden).tolist()}"
    assert outcome.stopped_by
    assert report.seconds >= 0
    assert report.bound >= 0
    if outcome.status is Status.INFEASIBLE:
        assert outcome.message
    objectives = [point.objective for point in report.trace if point.objective is not None]
    bounds = [point.bound for point in report.trace]
    seconds = [point.seconds for point in report.trace]
    assert objectives == sorted(objectives, reverse=True)
    assert bounds == sorted(bounds)
    assert seconds == sorted(seconds)
    if objectives and report.objective is not None:
        assert objectives[-1] == report.objective


def assert_lean(instance: Instance, outcome: Outcome) -> None:
    """Safe by brute force, no lighter than the optimum, and nothing suppressed for nothing."""
    brute = instance.brute_force()
    assert_consistent(outcome, instance.problem, brute)
    optimum = brute.optimum()
    assert (outcome.solution is None) == (optimum is None)
    if optimum is None:
        return
    assert outcome.report.objective is not None
    assert outcome.report.objective >= optimum * (1 - 1e-7)
    hidden = hidden_by(outcome)
    for cell in np.flatnonzero(hidden & ~instance.problem.is_sensitive).tolist():
        fewer = hidden.copy()
        fewer[cell] = False
        assert not brute.is_safe(fewer), f"cell {cell} could be published"


def same_weight(found: float | None, expected: float | None) -> bool:
    """Whether two objectives are the same but for rounding."""
    if found is None or expected is None:
        return found is expected
    return bool(np.isclose(found, expected, rtol=1e-7, atol=1e-12))


def assert_matches(instance: Instance, brute: BruteForce, expected: float | None) -> None:
    """Exact algorithms find the optimum and prove it; all are safe and bound it from below."""
    for algorithm in ALGORITHMS:
        outcome = instance.suppress(algorithm)
        found = outcome.report.objective
        assert_consistent(outcome, brute.problem, brute)
        if expected is None:
            assert outcome.solution is None
        else:
            assert outcome.status is not Status.INFEASIBLE, algorithm
            assert outcome.report.bound <= expected * (1 + 1e-7) + 1e-12, algorithm
        if algorithm in EXACT:
            proven = Status.INFEASIBLE if expected is None else Status.OPTIMAL
            assert same_weight(found, expected), f"{algorithm}: {found}, optimum {expected}"
            assert outcome.status is proven, algorithm
        elif instance.max_suppressed is None and expected is not None:
            assert found is not None, f"{algorithm} finds nothing"
            assert found >= expected * (1 - 1e-7), algorithm


def compact_optimum(problem: Problem) -> float:
    """The optimum of the compact model [Castro2012, (7)] against a reader; bounds are finite."""
    p, n = problem, problem.cell_count
    A = p.relations.toarray()
    up, down = p.upper - p.value, p.value - p.lower
    questions = [
        (side, int(cell), float(level))
        for side, levels in ((1, p.upper_level), (-1, p.lower_level))
        for cell, level in zip(p.sensitive, levels, strict=True)
        if level > 0
    ]
    q, m = len(questions), len(A)
    total = n * (1 + q)
    rows, low, high = [], [], []
    must = np.zeros(n)
    must[p.sensitive] = 1.0
    lower, upper = np.full(total, -np.inf), np.full(total, np.inf)
    lower[:n], upper[:n] = must, ~p.must_publish
    for number, (side, cell, level) in enumerate(questions):
        here = slice(n * (1 + number), n * (2 + number))
        for block, capacity, ends in ((-1.0, up, (-np.inf, 0.0)), (1.0, down, (0.0, np.inf))):
            part = np.zeros((n, total))
            part[:, :n] = block * np.diag(capacity)
            part[:, here] = np.eye(n)
            rows.append(part)
            low.append(np.full(n, ends[0]))
            high.append(np.full(n, ends[1]))
        flow = np.zeros((m, total))
        flow[:, here] = A
        rows.append(flow)
        low.append(np.zeros(m))
        high.append(np.zeros(m))
        lower[here.start + cell] = level if side > 0 else -np.inf
        upper[here.start + cell] = np.inf if side > 0 else -level
    answer = milp(
        np.concatenate([p.weight, np.zeros(total - n)]),
        integrality=np.concatenate([np.ones(n), np.zeros(total - n)]),
        bounds=Bounds(lower, upper),
        constraints=LinearConstraint(np.vstack(rows), np.concatenate(low), np.concatenate(high)),
        options={"mip_rel_gap": 0.0},
    )
    assert answer.status == 0, answer.message
    return float(answer.fun)


def _structure(rng: np.random.Generator, kind: str) -> tuple[Matrix, Matrix | None]:
    if kind == "any":
        kind = str(rng.choice(["2-D", "2-D", "1H2D", "3-D", "linked"]))
    if kind == "2-D":
        return crossed([flat(int(rng.integers(2, 4))), flat(int(rng.integers(2, 4)))])
    if kind == "1H2D":
        shapes = [(-1, 0, 0, 1, 1), (-1, 0, 0, 0, 1, 1), (-1, 0, 0, 1, 1, 2, 2)]
        return crossed([Codes(shapes[rng.integers(len(shapes))]), flat(2)])
    if kind == "3-D":
        return crossed([flat(2), flat(2), flat(int(rng.integers(1, 3)))])
    if kind == "linked":
        rows = flat(int(rng.integers(2, 4)))
        return linked([rows, flat(2)], [rows, flat(2)])
    n, m = int(rng.integers(5, 14)), int(rng.integers(2, 6))
    return rng.choice([0.0, 0.0, 0.0, 1.0, 1.0, -1.0, 2.0, -3.0], (m, n)), None


def _bounds(rng: np.random.Generator, value: Floats, kind: str) -> tuple[Floats, Floats]:
    n = len(value)
    total = float(np.abs(value).max()) + 1.0
    style = "infinite" if kind == "infinite" else rng.choice(["total", "around", "mixed"])
    if kind == "negative":
        style = rng.choice(["around", "free", "mixed"])
    if style == "total":
        return np.minimum(value, 0.0), np.full(n, total)
    if style == "infinite":
        return np.minimum(value, 0.0), np.full(n, np.inf)
    if style == "free":
        return np.full(n, -np.inf), np.full(n, np.inf)
    slack = np.ceil(np.abs(value) * rng.choice([0.5, 1.0])) + rng.integers(0, 4, n)
    if style == "around":
        return value - slack, value + slack
    return with_bounds(value, [str(kind) for kind in rng.choice(FINITE_BOUNDS, n)], slack)


def _levels(rng: np.random.Generator, problem: Problem, kind: str) -> dict[str, Floats]:
    s = problem.sensitive
    above = np.minimum(problem.upper - problem.value, 1e6)[s]
    below = np.minimum(problem.value - problem.lower, 1e6)[s]
    asked = np.maximum(1.0, np.ceil(np.abs(problem.value[s]) * rng.choice([0.1, 0.3, 0.6])))
    share = rng.choice([1.0, 1.0, 1.0, 0.0], (2, len(s)))
    levels = {
        "upper_level": np.minimum(asked * share[0], above),
        "lower_level": np.minimum(asked * share[1], below),
        "sliding_level": np.zeros(len(s)),
    }
    if kind == "sliding" or rng.random() < 0.15:
        levels["sliding_level"] = np.minimum(np.ceil(asked * rng.choice([1.0, 2.5])), above + below)
        if rng.random() < 0.4:
            levels["upper_level"] = levels["lower_level"] = np.zeros(len(s))
    return levels


def _attackers(rng: np.random.Generator, problem: Problem) -> tuple[Attacker, ...]:
    chosen = [Attacker.external()] if rng.random() < 0.6 else []
    for number in range(int(rng.integers(1, 3))):
        cells = rng.choice(problem.cell_count, 2, replace=False).tolist()
        if rng.random() < 0.5:
            cells[0] = int(problem.sensitive[0])
        floor = np.maximum(problem.lower, problem.value - 50.0)
        share = float(rng.choice([0.25, 0.5, 0.75]))
        amounts = {
            cell: float(floor[cell] * (1 - share) + problem.value[cell] * share) for cell in cells
        }
        match int(rng.integers(3)):
            case 0:
                chosen.append(Attacker.respondent(amounts, name=f"contributor {number}"))
            case 1:
                alone = cells[:1]
                chosen.append(Attacker.respondent(amounts, alone=alone, name=f"single {number}"))
            case _:
                known = [cell for cell in cells if cell not in problem.sensitive.tolist()]
                most = {cells[0]: float(problem.value[cells[0]] + rng.integers(0, 9))}
                chosen.append(Attacker(name=f"insider {number}", known=tuple(known), at_most=most))
    return tuple(chosen)


KINDS = ("2-D", "1H2D", "3-D", "linked", "coefficients", "negative", "infinite", "sliding")
"""Tables that differ in their structure, values, bounds or levels only."""
SINGLETON_KINDS = ("local", "respondents", "global")
ATTACKER_KIND = "attackers"


def seeded_instance(kind: str, seed: int, *, most: int = MOST_SECONDARY) -> Instance:
    """A random small table of some kind; most can be protected, not all.

    Args:
        kind: One of `KINDS`, `SINGLETON_KINDS` or `ATTACKER_KIND`.
        seed: The same seed gives the same table.
        most: So many cells may be suppressed besides the sensitive ones.
    """
    rng = np.random.default_rng([seed, sum(map(ord, kind))])
    wants_protectable = rng.random() < 0.9
    while True:
        instance = _instance(rng, kind, most)
        brute = instance.brute_force()
        everything = ~instance.problem.must_publish
        is_protectable = brute.is_allowed(everything) and brute.first_failure(everything) is None
        if is_protectable or not wants_protectable:
            return instance


def _instance(rng: np.random.Generator, kind: str, most: int) -> Instance:
    structured = kind in ("2-D", "1H2D", "3-D", "linked", "coefficients")
    A, sums = _structure(rng, kind if structured else "any")
    n = A.shape[1]
    leaves = n if sums is None else sums.shape[1]
    smallest = -20 if kind == "negative" else 0
    leaf = rng.integers(smallest, 25, leaves) * (rng.random(leaves) < 0.85)
    value = leaf.astype(float) if sums is None else sums @ leaf
    lower, upper = _bounds(rng, value, kind)
    movable = np.flatnonzero((lower < value) | (value < upper))
    if len(movable) == 0:
        movable = np.arange(n)
    count = min(len(movable), int(rng.integers(1, 4)))
    sensitive = np.sort(rng.choice(movable, count, replace=False))
    others = np.setdiff1d(np.arange(n), sensitive)
    fixed = max(len(others) - most, int(rng.choice([0, 0, 1, 2])))
    must_publish = np.zeros(n, bool)
    must_publish[rng.choice(others, min(fixed, len(others)), replace=False)] = True
    weight = {
        0: np.ones(n),
        1: np.maximum(np.abs(value), 1.0),
        2: np.round(rng.uniform(0.05, 3.0, n), 3),
        3: rng.integers(0, 5, n).astype(float),
    }[int(rng.integers(4))]
    singleton = np.full(n, -1)
    if kind in SINGLETON_KINDS:
        lonely = sensitive[rng.random(count) < 0.7]
        if kind != "local" and rng.random() < 0.3:
            lonely = np.append(lonely, rng.choice(others))
        singleton[lonely] = rng.integers(0, 3, len(lonely))
    problem = Problem(
        value=value,
        lower=lower,
        upper=upper,
        weight=weight,
        relations=A,
        rhs=A @ value,
        sensitive=sensitive,
        must_publish=must_publish,
        singleton=singleton,
    )
    problem = problem.replace(sensitive=sensitive, **_levels(rng, problem, kind)).validate()
    attackers = _attackers(rng, problem) if kind == ATTACKER_KIND else ()
    singletons = kind if kind in SINGLETON_KINDS else "ignore"
    return Instance(problem, attackers, singletons)


@st.composite
def odd_instances(draw: st.DrawFn, *, is_sliding: bool) -> Instance:
    """A table full of oddities: repeated relations, empty rows, zeros, infinite bounds."""
    problem = draw(published_tables(units=(1.0, 1.0, 1e9, 1e-6))).problem
    if not is_sliding:
        problem = problem.replace(sliding_level=None)
    s = problem.sensitive
    # Most levels that reach beyond the bounds are cut back, or nothing else would ever happen.
    if draw(st.sampled_from([True, True, True, False])):
        above, below = problem.upper[s] - problem.value[s], problem.value[s] - problem.lower[s]
        problem = problem.replace(
            sensitive=s,
            upper_level=np.minimum(problem.upper_level, above),
            lower_level=np.minimum(problem.lower_level, below),
            sliding_level=np.minimum(problem.sliding_level, above + below),
        )
    free = np.flatnonzero(~problem.must_publish & ~problem.is_sensitive)
    kept = problem.must_publish.copy()
    kept[free[MOST_SECONDARY:]] = True
    weights = st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0, 7.25])
    n = problem.cell_count
    weight = draw(st.lists(weights, min_size=n, max_size=n))
    return Instance(problem.replace(must_publish=kept, weight=weight))
