"""`Lattice`: which multiples of the base each cell may become, and what each costs.

Values are counted in bases: a cell is published as `k` times the base. Between two multiples the
cost |k base - a| is linear, so that a cell takes up to three columns of a linear model: steps down
from the multiple below the true value, the step to the one above, and steps beyond.

`Search` is what all algorithms share while they run: it keeps the best rounding. An algorithm
offers roundings and raises the bound; whether what is found is safe, the audit decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit.attack.knowledge import Attacker
from tacit.attack.shrink import Structure
from tacit.clock import Clock, TimeUpError
from tacit.methods.engine import driver
from tacit.methods.engine.driver import Case, Result
from tacit.methods.engine.turns import ROUND_FIRST_AUDIT
from tacit.methods.registry import find_algorithm
from tacit.methods.rounding.cuts import protection_cuts
from tacit.methods.rounding.mip import Mip
from tacit.methods.rounding.options import RoundOptions
from tacit.observer import Observer
from tacit.outcome import StopReason, Values
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.tolerances import LAST_DIGITS, ROUNDING_NOISE

if TYPE_CHECKING:
    from tacit.attack.audit import Audit

_COARSE = 0.01
"""Never by more than this, however large it is."""
_EXACT_POWERS = 22
"""Powers of ten up to this one are exact as floating-point numbers."""
_EXACT_INTEGERS = 2**53
"""Integers up to this one are."""
_AUDIT_SLACK = 1.3
"""An audit may take this many times as long as the last one."""
_LEAST = 0.5
"""Seconds for an audit that must take place after the time is up."""
_NOT_ADDITIVE = (
    "rounded at random cell by cell: every expected value is the true one, but the published "
    "values do not add up"
)


class Lattice:
    """Multiples of the base around the true values.

    Attributes:
        problem: The table.
        weight: What a unit of distance costs for each cell.
        base: The base.
        steps: How many bases a published value may lie from the true one.
        is_multiple: Whether the true value of each cell is a multiple of the base.
        floor: The multiple at or below the true value of each cell, in bases.
        low: The smallest multiple that each cell may become.
        high: The largest one.
        radius: How far the true value of each cell may lie from a published one, as readers
            know who know base and steps.
        column_cell: The cell of each column.
        column_sign: 1 where the column raises its cell, -1 where it lowers it.
        lower: The lower bound of each column.
        upper: The upper bound of each column.
        cost: What a unit of each column costs.
        offset: What the multiples at or below the true values cost.
    """

    def __init__(
        self,
        problem: Problem,
        weight: Floats,
        options: RoundOptions,
        steps: int,
        attackers: Sequence[Attacker] = (),
    ):
        self.problem = problem
        self.weight = weight
        self.base = options.base
        self.steps = steps
        exact = problem.value / self.base
        nearest = np.round(exact)
        self.is_multiple: Booleans = np.asarray(np.abs(exact - nearest) <= _noise(exact))
        self.floor = np.where(self.is_multiple, nearest, np.floor(exact)).astype(np.int64)
        self._rest = np.where(self.is_multiple, 0.0, problem.value - self.floor * self.base)
        kept = self.is_multiple & (problem.must_publish | options.zero_restricted)
        self.radius = self._told(options, kept & problem.must_publish)
        self.low = np.where(self.is_multiple, self.floor - steps, self.floor - (steps - 1))
        self.high = self.floor + steps
        self.low[kept] = self.high[kept] = self.floor[kept]
        self._keep_to_bounds()
        self._keep_off(attackers)
        self._lay_out()

    def _told(self, options: RoundOptions, known: Booleans) -> Floats:
        """How far from a published value the true one may lie."""
        radius = self.base * self.steps
        table_is_integral = bool((self.problem.value == np.round(self.problem.value)).all())
        random = options.algorithm == "random"
        if (options.zero_restricted or random) and table_is_integral and self.base % 1 == 0:
            # The ends themselves are multiples, which would have kept their value.
            radius -= 1
        # Readers may know which cells are published as they are, such as empty ones.
        return np.where(known, 0.0, radius)

    def _keep_to_bounds(self) -> None:
        """Stay within bounds that readers know, moved outwards to multiples."""
        lower, upper = self.problem.lower / self.base, self.problem.upper / self.base
        bounded = np.isfinite(lower)
        least = np.floor(lower[bounded] + _noise(lower[bounded]))
        self.low[bounded] = np.maximum(self.low[bounded], least.astype(np.int64))
        bounded = np.isfinite(upper)
        most = np.ceil(upper[bounded] - _noise(upper[bounded]))
        self.high[bounded] = np.minimum(self.high[bounded], most.astype(np.int64))

    def _keep_off(self, attackers: Sequence[Attacker]) -> None:
        """Leave out multiples whose distance alone gives a sensitive cell away."""
        p, s = self.problem, self.problem.sensitive
        judged = np.zeros(p.cell_count, bool)
        for attacker in tuple(attackers) or (Attacker.external(),):
            judged |= ~attacker.spares(p)
        slack = self.radius[s]
        least = (p.value[s] + p.upper_level - slack) / self.base
        most = (p.value[s] - p.lower_level + slack) / self.base
        noise = _noise(p.value[s] / self.base)
        asked = judged[s] & (p.upper_level > 0)
        self.low[s[asked]] = np.maximum(self.low[s], np.ceil(least - noise).astype(np.int64))[asked]
        asked = judged[s] & (p.lower_level > 0)
        self.high[s[asked]] = np.minimum(self.high[s], np.floor(most + noise).astype(np.int64))[
            asked
        ]

    def _lay_out(self) -> None:
        """Make the columns; those that cannot move are left out."""
        low, high, floor = self.low, self.high, self.floor
        unit, slope = self.base * self.weight, self.weight * (self.base - 2 * self._rest)
        nothing = np.zeros_like(floor)
        parts: list[tuple[int, Integers, Integers, Floats]] = [
            (-1, np.maximum(floor - high, nothing), np.maximum(floor - low, nothing), unit),
            (1, (low > floor).astype(np.int64), (high > floor).astype(np.int64), slope),
            (1, np.maximum(low - floor - 1, nothing), np.maximum(high - floor - 1, nothing), unit),
        ]
        used = [np.flatnonzero(upper) for _, _, upper, _ in parts]
        together = list(zip(used, parts, strict=True))
        self.column_cell = np.concatenate(used)
        self.column_sign = np.concatenate(
            [np.full(len(cells), sign) for cells, (sign, _, _, _) in together]
        )
        self.lower = np.concatenate([part[1][cells] for cells, part in together]).astype(float)
        self.upper = np.concatenate([part[2][cells] for cells, part in together]).astype(float)
        self.cost = np.concatenate([part[3][cells] for cells, part in together])
        self.offset = float(self.weight @ self._rest)

    @property
    def spread(self) -> sparse.csr_array[Any, Any]:
        """What a unit of each column does to the cells."""
        entries = (
            self.column_sign.astype(float),
            (self.column_cell, np.arange(len(self.column_cell))),
        )
        return sparse.csr_array(entries, shape=(self.problem.cell_count, len(self.column_cell)))

    @property
    def least_cost(self) -> float:
        """What the nearest multiples cost, whatever else is asked for."""
        return float(self.weight @ np.minimum(self._rest, self.base - self._rest))

    @property
    def nearest_cost(self) -> float:
        """What the nearest multiples cost that are allowed, whether they add up or not."""
        nearest = self.floor + (2 * self._rest > self.base)
        return self.cost_of(np.clip(nearest, self.low, self.high))

    def cost_of(self, counts: Integers) -> float:
        """The weighted distance to the true table."""
        return float(self.weight @ np.abs(counts * self.base - self.problem.value))

    def counts_of(self, columns: Floats) -> Floats:
        """Numbers of bases, integral or not, from the columns."""
        moved = np.bincount(
            self.column_cell, self.column_sign * columns, minlength=self.problem.cell_count
        )
        return np.asarray(self.floor + moved)

    def columns_of(self, counts: Floats) -> Floats:
        """The columns that make these numbers of bases, cheapest ones first."""
        moved = (counts - self.floor)[self.column_cell]
        up = np.flatnonzero(self.column_sign > 0)
        # Of two columns that raise a cell, the later one goes beyond the next multiple.
        beyond = np.ones(len(moved), bool)
        beyond[up[np.unique(self.column_cell[up], return_index=True)[1]]] = False
        raised = np.where(beyond, np.maximum(moved - 1, 0.0), np.clip(moved, 0.0, 1.0))
        return np.where(self.column_sign > 0, raised, np.maximum(-moved, 0.0))

    def values_of(self, counts: Integers) -> Values:
        """What is published, and what readers know of it."""
        value = _multiples(counts, self.base)
        # A cell that keeps its value keeps all its digits.
        return Values(
            np.where(self.is_multiple & (counts == self.floor), self.problem.value, value),
            self.radius,
        )

    def allows(self, counts: Integers) -> bool:
        """Are these numbers within what each cell may become, and do they add up?"""
        if (counts < self.low).any() or (counts > self.high).any():
            return False
        terms = abs(self.problem.relations) @ np.abs(counts).astype(float)
        missed = self.problem.relations @ counts.astype(float) - self.right_hand_side
        return bool((np.abs(missed) <= _noise(terms)).all())

    @property
    def right_hand_side(self) -> Floats:
        """The right-hand sides of the relations, in bases."""
        return self.problem.rhs / self.base

    def obstacles(self) -> list[str]:
        """Why no rounding exists at all, as far as that can be told cell by cell."""
        told = []
        A, right = self.problem.relations, self.right_hand_side
        odd = np.abs(right - np.round(right)) > _noise(right)
        fractional = np.zeros(A.shape[0], bool)
        row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        fractional[row[A.data != np.round(A.data)]] = True
        odd &= ~fractional
        if odd.any():
            named = self.problem.name_relations(np.flatnonzero(odd))
            told.append(
                f"cells add up to a number that is not a multiple of the base in {named}; take a "
                "base that divides it"
            )
        stuck = np.flatnonzero(self.low > self.high)
        sensitive = self.problem.is_sensitive[stuck]
        if (~sensitive).any():
            named = self.problem.name_cells(stuck[~sensitive])
            told.append(f"no multiple of the base within reach respects the bounds of {named}")
        if sensitive.any():
            told.append(
                "every multiple of the base within reach is too close to the true value of a "
                f"sensitive cell: {self.problem.name_cells(stuck[sensitive])}; {self.advice()}"
            )
        return told

    def advice(self) -> str:
        """A base and a number of steps for which the levels do not rule out any cell alone."""
        p = self.problem
        # Each side's level, and the cell's own place between two multiples.
        needed = float(np.max(p.lower_level + p.upper_level, initial=0.0))
        needed = max(needed, float(np.max(p.sliding_level, initial=0.0)))
        base = _next_round(max(needed / (2 * self.steps - 1), self.base))
        # Rounded up: a number that is just large enough would tell a level to within a base.
        steps = _next_round(max(np.ceil((needed / self.base + 1) / 2), self.steps + 1))
        if base <= self.base:
            return f"allow more steps, such as steps={steps:.0f}"
        return (
            f"take a larger base, such as base={base:g}, or more steps, such as steps={steps:.0f}"
        )


def _noise(numbers: Floats) -> Floats:
    """How much numbers of bases may miss integers, as known to floating-point numbers."""
    last_digits = 64 * np.finfo(float).eps * np.abs(numbers)
    return np.minimum(ROUNDING_NOISE + last_digits, _COARSE)


def _multiples(counts: Integers, base: float) -> Floats:
    """Multiples of the base as one would write them: 508 times 0.1 is 50.8, to the last digit."""
    _, digits, exponent = Decimal(repr(base)).as_tuple()
    assert isinstance(exponent, int)
    units = int("".join(map(str, digits)))
    most = int(np.abs(counts).max(initial=0)) * units
    if exponent >= 0 or exponent < -_EXACT_POWERS or most > _EXACT_INTEGERS:
        return np.asarray(counts * base, np.float64)
    # Both numbers are exact, so that what is divided is the nearest to the true multiple.
    return np.asarray(counts * units / 10.0**-exponent, np.float64)


def _next_round(number: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50 and so on."""
    power = 10.0 ** np.floor(np.log10(number))
    least = number * (1 - ROUNDING_NOISE)
    return float(min(power * step for step in (1, 2, 5, 10) if power * step >= least))


class Search(driver.Search):
    """The state of one run.

    Attributes:
        problem: The table that is searched.
        options: What the user chose.
        lattice: The multiples that cells may become.
        mip: The mixed-integer model with all cuts so far.
        candidate: The best rounding that meets all cuts so far, in bases.
        best: The best rounding that an audit found safe.
        audit: That audit.
        exposed: Cells of the given table that the last audit found exposed.
        impossible: No rounding exists within the steps of the lattice.
    """

    method = "round"
    case: Case

    def __init__(
        self,
        case: Case,
        weight: Floats,
        options: RoundOptions,
        observer: Observer | None = None,
        clock: Clock | None = None,
    ):
        super().__init__(options, observer, clock=clock)
        self.case = case
        self.problem = case.problem
        self._given_weight, self._weight = weight, case.reduction.sum(weight)
        self.options = options
        self.lattice: Lattice
        self._given_lattice: Lattice
        self.mip: Mip
        self.candidate: Integers | None = None
        self.best: Integers | None = None
        self.audit: Audit | None = None
        self.exposed: list[int] = []
        self.impossible = False
        if len(self.problem.sensitive):
            self.clock.reserve = ROUND_FIRST_AUDIT * options.time_limit
        self._structure: Structure | None = None

    @property
    def structure(self) -> Structure:
        """The relations of the given table, examined when first asked for."""
        if self._structure is None:
            self._structure = Structure.of(self.case.given)
        return self._structure

    def audited(self, values: Values, observer: Observer | None = None) -> Audit:
        """Have a rounding audited, as one of the table as it was given."""
        return self.case.audited(
            values,
            structure=self.structure if len(self.problem.sensitive) else None,
            observer=observer,
        )

    def note(self) -> None:
        """Write objective and bound of this moment into the trace, once the former is safe."""
        if len(self.problem.sensitive) and self.best is not self.candidate:
            return
        super().note()

    def begin(self, lattice: Lattice) -> None:
        """Start anew with other multiples."""
        self.lattice = lattice
        self.mip = Mip(lattice)
        self.candidate = None
        self.impossible = False
        self.objective = np.inf
        self.bound, self.bound_source, self._recomputed = 0.0, "recomputed", 0.0
        self.raise_bound(lattice.nearest_cost)

    def offer(self, counts: Integers) -> bool:
        """Propose a rounding; returns whether it is better than the best so far."""
        cost = self.lattice.cost_of(counts)
        if cost >= self.objective * (1 - LAST_DIGITS) or not self.lattice.allows(counts):
            return False
        if not self.mip.meets_cuts(counts):
            return False
        self.candidate = counts
        self.objective = self.above_bound(cost)
        if not len(self.problem.sensitive):
            # Nothing can be exposed.
            self.better(cost)
        return True

    def confirm(self) -> bool:
        """Have the candidate audited; where cells are exposed, cuts forbid it from now on."""
        counts = self.candidate
        assert counts is not None
        if counts is self.best:
            return True
        began = self.seconds
        values = self.lattice.values_of(counts)
        # This is what time was kept for.
        self.clock.reserve = 0.0
        found = self.audited(values)
        self.clock.reserve = _AUDIT_SLACK * (self.seconds - began)
        if found.safe:
            self.best, self.audit = counts, found
            if len(self.problem.sensitive):
                self.better(self.objective)
            return True
        self.exposed = found.exposed_cells
        if not self._ruled_out(counts, found):
            # Cut and rounding differ by less than numbers can tell: it would be found again.
            self.stop(StopReason.EXHAUSTED)
        self.candidate = self.best
        self.objective = np.inf if self.best is None else self.lattice.cost_of(self.best)
        return False

    def _ruled_out(self, counts: Integers, found: Audit) -> bool:
        """Rule out a rounding that an audit found exposed; False where cuts do not."""
        group = self.case.reduction.group
        values = self.case.reduction.expand(self.lattice.values_of(counts))
        assert isinstance(values, Values)
        rows, least = protection_cuts(self._given_lattice, values, found)
        # Equal cells are the same multiple: what their coefficients add up to counts.
        entries = (np.ones(len(group)), (np.arange(len(group)), group))
        self.mip.add_cuts(sparse.csr_array(rows @ sparse.csr_array(entries)), least)
        self.cut_count += len(least)
        self.observer.on_cuts(self.seconds, self.cut_count)
        return not self.mip.meets_cuts(counts)

    def run(self) -> None:
        """Round within as few steps as it takes."""
        reasons: list[str] = []
        for steps in range(self.options.steps, self.options.last_steps + 1):
            lattice = self._lattice(steps)
            self._given_lattice = self._lattice_of_given(lattice)
            # Those of the given table speak of its own relations.
            reasons = self._given_lattice.obstacles() or lattice.obstacles()
            if reasons:
                continue
            self.begin(lattice)
            self._until_safe()
            if self.best is not None or not self.impossible:
                return
            reasons = [_why_none(self)]
        self.reasons = reasons

    def _lattice(self, steps: int) -> Lattice:
        """The multiples that the cells may become that are searched."""
        return Lattice(self.problem, self._weight, self.options, steps, self.case.attackers)

    def _lattice_of_given(self, lattice: Lattice) -> Lattice:
        """The multiples that the cells of the table may become as it was given."""
        case = self.case
        if case.reduction.is_identity:
            return lattice
        attackers = case.given_attackers
        return Lattice(case.given, self._given_weight, self.options, lattice.steps, attackers)

    def _until_safe(self) -> None:
        """Find roundings until the audit finds one safe, or there is none, or no more time."""
        find = find_algorithm(self.method, self.options.algorithm)
        while True:
            find(self)
            if self.candidate is None or self.confirm() or self.should_stop():
                return

    def conclude(self) -> Result | None:
        """The best rounding that an audit found safe."""
        cut_short = self.stop_reason is StopReason.USER or self.clock.ran_out
        if self.candidate is not None and cut_short:
            _confirm_at_last(self)
        if self.best is None:
            return None
        lattice = self.lattice
        message = ""
        if lattice.steps > self.options.steps:
            message = (
                f"within {lattice.steps} steps, because there is no safe rounding within fewer"
            )
        objective = self.above_bound(lattice.cost_of(self.best))
        return Result(lattice.values_of(self.best), objective, self.audit, message)

    def excuse(self) -> tuple[str, Sequence[int]]:
        """Which cells the last rounding left exposed."""
        return "", self.exposed

    def given_cells(self, exposed: Sequence[int]) -> Sequence[int]:
        """The audit speaks of cells of the given table."""
        return exposed


class RandomSearch(Search):
    """Rounding at random; what comes out is audited like any other rounding."""

    def run(self) -> None:
        """Round."""
        self.lattice = self._lattice(1)
        find_algorithm(self.method, self.options.algorithm)(self)

    def conclude(self) -> Result | None:
        """The rounding, if it is safe."""
        if self.best is None or self.audit is None:
            return None
        message = _NOT_ADDITIVE if self.audit.faults else ""
        values = self.lattice.values_of(self.best)
        return Result(values, self.objective, self.audit, message, may_be_proven=False)

    def excuse(self) -> tuple[str, Sequence[int]]:
        """Why the random rounding is not safe."""
        if self.audit is None:
            return "", ()
        return (
            "rounding at random ignores protection levels and leaves cells exposed: "
            f"{self.case.given.name_cells(self.exposed)}; choose algorithm auto, or "
            f"{self.lattice.advice()}"
        ), self.exposed


def _confirm_at_last(search: Search) -> None:
    """Have the last candidate audited in the time that was kept for it."""
    try:
        with Clock(max(search.options.time_limit - search.seconds, _LEAST)):
            search.confirm()
    except TimeUpError:
        # Whatever was safe before still is.
        pass


def _why_none(search: Search) -> str:
    options, lattice = search.options, search.lattice
    kept = " that keeps multiples as they are" if options.zero_restricted else ""
    within = f"within {lattice.steps} step{'s' * (lattice.steps > 1)} of {options.base:g}"
    if not search.cut_count:
        away = ""
        if len(search.problem.sensitive):
            away = " without a multiple that gives a sensitive cell away"
        return (
            f"no rounding {within}{kept} adds up{away}; "
            + ("let multiples move (zero_restricted), or " if kept else "")
            + f"allow more steps, such as most_steps={lattice.steps + 1}"
        )
    named = search.case.given.name_cells(search.exposed)
    return f"no rounding {within}{kept} protects {named}; {lattice.advice()}"
