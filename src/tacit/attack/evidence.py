"""Evidence: what an audit claims, in a form that anybody can check with numpy alone.

That a cell is safe is shown by a consistent table that reaches its protection level. That it
is exposed, or that an interval is exact, is shown by row multipliers g: with d = e_s - A'g no
consistent table moves the cell by more than the sum of d+ up + d- down
[KarlssonOlsson2015, (3.10)].

Numbers are rounded, so that no table is exactly consistent. What it misses is therefore counted,
in units of cells: its residuals in all relations, what it exceeds the bounds by, and what it falls
short of the amount. Their sum must be a tiny share of the amount that is claimed, whatever the
size of the table. Multipliers g that prove a limit prove the same limit for such a table, but for
max|g| times that sum: a claim that passes is true up to the tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.attack.knowledge import Attacker, Knowledge
from tacit.attack.reach import Limits, Reaches, Requests
from tacit.errors import TacitError
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.tolerances import EVIDENCE, LIMIT

EVIDENCE_TOLERANCE = EVIDENCE
"""A claimed table may miss relations, bounds and the amount by this share of the amount in all."""
_ROUNDING = np.finfo(float).eps / 2
"""The largest relative error of one operation."""
_FRACTION, _LARGEST_MULTIPLIER, _LARGEST_COEFFICIENT, _MOST_TERMS = 2.0**20, 2.0**12, 2.0**8, 2**13
"""Sums of so many products of such multiples of 1 / fraction need 53 bits: they are exact."""

_AT_ONCE = 1024
"""Claims with capacities of their own that are looked at together."""


class EvidenceError(TacitError):
    """Evidence that does not show what it claims.

    Attributes:
        cells: The cells whose claims fail.
    """

    def __init__(self, message: str, cells: Integers):
        self.cells = tuple(cells.tolist())
        super().__init__(message)


@dataclass(frozen=True, eq=False)
class Capacities:
    """How far cells may move in each of several claims.

    Attributes:
        up: How far above its true value each cell may lie, for the attacker.
        down: How far below.
        cells: The cell of each claim.
        sides: Its side.
        own: How far the cell of each claim may itself move to its side.
        limits: Cells that may move less far in some of the claims; None if there are none.
    """

    up: Floats
    down: Floats
    cells: Integers
    sides: Integers
    own: Floats
    limits: Limits | None = None

    @classmethod
    def of(
        cls,
        problem: Problem,
        knowledge: Knowledge,
        attacker: Attacker,
        cells: Integers,
        sides: Integers,
        limits: Limits | None = None,
    ) -> Capacities:
        """The capacities that an attacker leaves.

        Args:
            problem: The true table.
            knowledge: What everyone knows from the publication.
            attacker: Who is attacking.
            cells: The cell of each claim.
            sides: Its side.
            limits: Cells that may move less far in some of the claims.
        """
        told = attacker.learn(problem, knowledge)
        raised = sides > 0
        alone = np.where(raised, told.up[cells], told.down[cells])
        free = np.where(raised, knowledge.up[cells], knowledge.down[cells])
        own = np.where(attacker.reopened(problem)[cells], free, alone)
        return cls(told.up, told.down, cells, sides, own, limits)

    def take(self, claims: Any) -> Capacities:
        """The capacities of some of the claims."""
        limits = None if self.limits is None else self.limits.take(claims)
        own = self.own[claims]
        return Capacities(self.up, self.down, self.cells[claims], self.sides[claims], own, limits)

    @property
    def are_alike(self) -> Booleans:
        """Claims in which every cell has the capacity that it has in all of them."""
        usual = np.where(self.sides > 0, self.up[self.cells], self.down[self.cells])
        alike: Booleans = np.asarray(self.own == usual)
        return alike if self.limits is None else alike & (self.limits.chosen < 0)

    def at(self, claim: npt.NDArray[Any], cell: npt.NDArray[Any], rises: Booleans) -> Floats:
        """The capacity of cells in claims, upwards where they rise and else downwards."""
        capacity = np.where(rises, self.up[cell], self.down[cell])
        asked = (cell == self.cells[claim]) & (rises == (self.sides[claim] > 0))
        capacity = np.where(asked, self.own[claim], capacity)
        if self.limits is not None:
            capacity = np.minimum(capacity, self.limits.at(claim, cell, rises))
        return np.asarray(capacity)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Claims of one audit against one attacker, with what shows them.

    Attributes:
        cells: The cell of each claim.
        sides: 1 where the claim is about rising, -1 about falling.
        amount: The cell moves at least so far in a consistent table; inf if without limit.
        tables: Such tables, as deviations from the true one, one per row; directions for inf.
            Several claims may have a table in common.
        limit: No consistent table moves it further; inf where nothing is claimed.
        multipliers: Row multipliers that show the limit.
        row: The table of each claim; by default each has its own.
    """

    cells: Integers
    sides: Integers
    amount: Floats
    tables: sparse.csr_array[Any, Any]
    limit: Floats
    multipliers: sparse.csr_array[Any, Any]
    row: Integers = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.row is None:
            object.__setattr__(self, "row", np.arange(len(self.cells)))

    @property
    def deviations(self) -> sparse.csr_array[Any, Any]:
        """The table of each claim, one row per claim."""
        return sparse.csr_array(self.tables[self.row])

    @classmethod
    def of(cls, requests: Requests, reaches: Reaches) -> Evidence:
        """Turn answers into claims; unanswered requests claim nothing."""
        told = reaches.answered
        used, row = np.unique(reaches.row[told], return_inverse=True)
        return cls(
            requests.cells[told],
            requests.sides[told],
            reaches.amount[told],
            sparse.csr_array(reaches.tables[used]),
            reaches.limit[told],
            sparse.csr_array(reaches.multipliers[told]),
            row,
        )

    @classmethod
    def none(cls, problem: Problem) -> Evidence:
        """No claims about a table."""
        numbers, amounts = np.zeros(0, np.int64), np.zeros(0)
        deviations = sparse.csr_array((0, problem.cell_count))
        multipliers = sparse.csr_array((0, problem.relation_count))
        return cls(numbers, numbers, amounts, deviations, amounts, multipliers)

    @classmethod
    def joined(cls, parts: Sequence[Evidence]) -> Evidence:
        """Several lists of claims as one."""
        before = np.cumsum([0, *(part.tables.shape[0] for part in parts)])[:-1].tolist()
        return cls(
            np.concatenate([part.cells for part in parts]),
            np.concatenate([part.sides for part in parts]),
            np.concatenate([part.amount for part in parts]),
            sparse.csr_array(sparse.vstack([part.tables for part in parts])),
            np.concatenate([part.limit for part in parts]),
            sparse.csr_array(sparse.vstack([part.multipliers for part in parts])),
            np.concatenate([part.row + first for part, first in zip(parts, before, strict=True)]),
        )

    def __len__(self) -> int:
        return len(self.cells)

    def check(
        self,
        problem: Problem,
        knowledge: Knowledge,
        attacker: Attacker | None = None,
        *,
        limits: Limits | None = None,
        tolerance: float = EVIDENCE_TOLERANCE,
    ) -> None:
        """Verify every claim from scratch.

        Args:
            problem: The true table.
            knowledge: What everyone knows from the publication.
            attacker: Who is attacking; by default someone who knows nothing more.
            limits: Cells that may move less far in some of the claims.
            tolerance: What a claimed table may miss in all, as a share of the claimed amount.

        Raises:
            EvidenceError: Some claim does not hold.
        """
        refused = self.refused(
            problem,
            knowledge,
            attacker or Attacker.external(),
            limits=limits,
            tolerance=tolerance,
        )
        if refused.any():
            cells = np.unique(self.cells[refused])
            cells = cells[(cells >= 0) & (cells < problem.cell_count)]
            raise EvidenceError(
                f"the evidence does not show what it claims about {problem.name_cells(cells)}; "
                "audit again, and do not rely on this one",
                cells,
            )

    def refused(
        self,
        problem: Problem,
        knowledge: Knowledge,
        attacker: Attacker,
        *,
        limits: Limits | None = None,
        tolerance: float = EVIDENCE_TOLERANCE,
    ) -> Booleans:
        """The claims that are not shown; see `check`."""
        count = len(self)
        is_wrong = self.tables.shape[1] != problem.cell_count
        is_wrong |= self.multipliers.shape != (count, problem.relation_count)
        columns = (self.sides, self.amount, self.limit, self.row)
        is_wrong |= any(len(each) != count for each in columns)
        is_wrong |= bool(((self.row < 0) | (self.row >= self.tables.shape[0])).any())
        is_wrong |= bool(((self.cells < 0) | (self.cells >= problem.cell_count)).any())
        if is_wrong:
            return np.ones(count, bool)
        capacities = Capacities.of(problem, knowledge, attacker, self.cells, self.sides, limits)
        refused = np.abs(self.sides) != 1
        refused |= ~tables_hold(
            problem, capacities, self.amount, self.tables, self.row, tolerance=tolerance
        )
        # The other way round not-a-number would pass.
        refused |= ~(self.limit >= self.amount)
        bounded = np.flatnonzero(self.limit != np.inf)
        shown = limits_shown(problem, capacities.take(bounded), self.multipliers[bounded])
        enough = shown <= self.limit[bounded] * (1 + LIMIT)
        refused[bounded[~enough]] = True
        return np.asarray(refused)


def entries_of(
    matrix: sparse.csr_array[Any, Any],
) -> tuple[sparse.csr_array[Any, Any], Integers, Booleans]:
    """A matrix without repeated entries, the row of each entry, and rows with no numbers in them.

    What is not a finite number is taken out.
    """
    given = sparse.csr_array(matrix).astype(np.float64)
    given.sum_duplicates()
    row = np.repeat(np.arange(given.shape[0]), np.diff(given.indptr))
    usable = np.isfinite(given.data)
    spoilt = np.zeros(given.shape[0], bool)
    spoilt[row[~usable]] = True
    given.data = np.where(usable, given.data, 0.0)
    return given, row, spoilt


def tables_hold(
    problem: Problem,
    capacities: Capacities,
    amount: Floats,
    tables: sparse.csr_array[Any, Any],
    row: Integers | None = None,
    *,
    tolerance: float = EVIDENCE_TOLERANCE,
) -> Booleans:
    """Which claims are shown by a consistent table that reaches the amount.

    Args:
        problem: The true table.
        capacities: How far cells may move.
        amount: What each claim is to reach; inf for an unbounded direction.
        tables: Deviations from the true table.
        row: The table of each claim; by default each has its own.
        tolerance: What they may miss in all, as a share of the amount; of a direction, as a share
            of what the cell itself moves along it.
    """
    x, _, spoilt = entries_of(tables)
    row = np.arange(len(amount)) if row is None else row
    endless = np.isinf(amount)
    own = entries_at(x, row, capacities.cells)
    reached = own * capacities.sides
    wrong = spoilt[row] | (endless & ~(reached > 0))
    goal = np.where(endless, reached, amount)
    barred, beyond = _beyond_capacities(x, row, capacities, endless)
    missed = np.maximum(goal - reached, 0.0) + beyond + Residuals(problem).of(x)[row]
    with np.errstate(invalid="ignore"):
        holds: Booleans = np.asarray(missed <= tolerance * goal)
    # That a cell moves by nothing needs no table.
    return np.asarray(~(wrong | barred) & (holds | (amount == 0)))


def entries_at(x: sparse.csr_array[Any, Any], row: Integers, column: Integers) -> Floats:
    """Some entries of a matrix."""
    if not len(row):
        return np.zeros(0)
    return np.asarray(x[row, column], np.float64).ravel()


def _beyond_capacities(
    x: sparse.csr_array[Any, Any], row: Integers, capacities: Capacities, endless: Booleans
) -> tuple[Booleans, Floats]:
    """For each claim, whether a cell moves that must not, and the total excess of the others."""
    alike = capacities.are_alike & ~endless
    barred, beyond = np.zeros(len(row), bool), np.zeros(len(row))
    # Claims to which no cell has a capacity of its own judge a table alike.
    used, place = np.unique(row[alike], return_inverse=True)
    part = sparse.csr_array(x[used])
    bound = np.where(part.data > 0, capacities.up[part.indices], capacities.down[part.indices])
    closed, over = _too_far(part, bound, np.zeros(len(used), bool))
    barred[alike], beyond[alike] = closed[place], over[place]
    others = np.flatnonzero(~alike)
    for start in range(0, len(others), _AT_ONCE):
        some = others[start : start + _AT_ONCE]
        part = sparse.csr_array(x[row[some]])
        claim = some[np.repeat(np.arange(len(some)), np.diff(part.indptr))]
        bound = capacities.at(claim, part.indices, part.data > 0)
        barred[some], beyond[some] = _too_far(part, bound, endless[some])
    return barred, beyond


def _too_far(
    x: sparse.csr_array[Any, Any], capacity: Floats, endless: Booleans
) -> tuple[Booleans, Floats]:
    """For each row, whether a cell moves that must not, and the total excess of the others."""
    count = x.shape[0]
    row = np.repeat(np.arange(count), np.diff(x.indptr))
    size = np.abs(x.data)
    # A published cell does not move at all; along an unbounded direction, no cell with a bound.
    closed = (size > 0) & np.where(endless[row], np.isfinite(capacity), capacity == 0)
    barred = np.zeros(count, bool)
    barred[row[closed]] = True
    over = np.maximum(size - capacity, 0.0)
    excess = np.bincount(row, np.where(np.isfinite(over), over, 0.0), minlength=count)
    return barred, excess.astype(np.float64)


class Residuals:
    """What deviations miss the relations by; the relations are prepared once for all of them."""

    def __init__(self, problem: Problem):
        A = problem.relations
        self._across = sparse.csr_array(A.T)
        self._sizes = abs(self._across)
        unit = _smallest_coefficients(A)
        # A residual could be put right by moving one cell of the relation: that is its size.
        self._per_unit = 1.0 / unit
        # It is computed with rounding, which huge deviations would hide behind.
        self._rounding = np.asarray(self._sizes @ (_ROUNDING * np.diff(A.indptr) / unit))

    def of(self, x: sparse.csr_array[Any, Any]) -> Floats:
        """What each row misses the relations by in all, in units of cells."""
        with np.errstate(over="ignore", invalid="ignore"):
            missed = np.asarray(abs(sparse.csr_array(x @ self._across)) @ self._per_unit)
            missed += abs(x) @ self._rounding
        return np.asarray(missed)

    def are_met(self, x: sparse.csr_array[Any, Any], tolerance: float) -> Booleans:
        """Which rows meet all relations, up to a share of the amounts in each."""
        off = abs(sparse.csr_array(x @ self._across))
        wrong = sparse.csr_array(off - tolerance * (abs(x) @ self._sizes) > 0)
        return np.asarray(np.diff(wrong.indptr) == 0)


def _smallest_coefficients(A: sparse.csr_array[Any, Any]) -> Floats:
    """The smallest coefficient of each relation, in size; 1 for an empty relation."""
    smallest = np.full(A.shape[0], np.inf)
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    used = A.data != 0
    np.minimum.at(smallest, row[used], np.abs(A.data[used]))
    return np.where(np.isfinite(smallest), smallest, 1.0)


def limits_shown(
    problem: Problem, capacities: Capacities, multipliers: sparse.csr_array[Any, Any]
) -> Floats:
    """How far cells move at most, as row multipliers prove; inf where they prove nothing.

    What rounding may have done to the reduced costs d is charged for: multipliers so large that
    it matters prove little.

    Args:
        problem: The true table.
        capacities: How far cells may move.
        multipliers: One row per claim.
    """
    g, _, spoilt = entries_of(multipliers)
    A = problem.relations
    count = len(capacities.cells)
    at_cell = (np.arange(count), capacities.cells)
    sided = sparse.csr_array(
        (capacities.sides.astype(np.float64), at_cell), shape=(count, A.shape[1])
    )
    with np.errstate(over="ignore", invalid="ignore"):
        d, claim, overflown = entries_of(sparse.csr_array(sided - g @ A))
    spoilt |= overflown
    capacity = capacities.at(claim, d.indices, d.data > 0)
    size = np.abs(d.data)
    open_ended = np.isinf(capacity) & (size > 0)
    charge = size * np.where(np.isinf(capacity), 0.0, capacity)

    rounded = np.flatnonzero(~computed_exactly(A, g) & ~spoilt)
    shown = np.zeros(count)
    if len(rounded):
        terms = _ROUNDING * 16 * (1 + np.diff(sparse.csc_array(A).indptr))
        blur = (abs(sided) + abs(g) @ abs(A))[rounded]
        blur = sparse.csr_array(blur @ sparse.diags_array(terms.astype(np.float64)))
        place = np.full(count, -1)
        place[rounded] = np.arange(len(rounded))
        doubtful = np.flatnonzero(open_ended & (place[claim] >= 0))
        if len(doubtful):
            allowed = blur[place[claim[doubtful]], d.indices[doubtful]]
            # Without bound, only a reduced cost of 0 proves anything: this one may be 0.
            open_ended[doubtful] = size[doubtful] > np.asarray(allowed).ravel()
        entry, error_row, _ = entries_of(blur)
        either = np.stack(
            [
                capacities.at(rounded[error_row], entry.indices, np.full(entry.nnz, up))
                for up in (True, False)
            ]
        )
        either = np.where(np.isinf(either), 0.0, either).max(axis=0)
        shown[rounded] = np.bincount(error_row, entry.data * either, minlength=len(rounded))
    shown += np.bincount(claim, charge, minlength=count)
    shown[claim[open_ended]] = np.inf
    shown[spoilt] = np.inf
    return shown


def computed_exactly(A: sparse.csr_array[Any, Any], g: sparse.csr_array[Any, Any]) -> Booleans:
    """Rows of multipliers whose reduced costs are computed without any rounding."""
    exact = np.ones(g.shape[0], bool)
    coefficients = np.abs(A.data)
    in_one_cell = np.diff(sparse.csc_array(A).indptr).max(initial=0)
    simple = coefficients == np.rint(coefficients)
    if not (simple & (coefficients <= _LARGEST_COEFFICIENT)).all() or in_one_cell > _MOST_TERMS:
        return ~exact
    parts = g.data * _FRACTION
    fits = (parts == np.rint(parts)) & (np.abs(g.data) <= _LARGEST_MULTIPLIER)
    exact[np.repeat(np.arange(g.shape[0]), np.diff(g.indptr))[~fits]] = False
    return exact
