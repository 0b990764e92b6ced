"""`Problem`: a table as algorithms see it.

A table is a vector of cell values `a` that satisfies linear relations `A a = b`. The attacker
knows the relations and that every cell lies between its bounds; sensitive cells ask for
protection levels. Nothing here knows where the numbers came from.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Booleans as Booleans
from tacit.arrays import Floats as Floats
from tacit.arrays import Integers as Integers
from tacit.errors import ProblemError, first_few, percentage, unwritable
from tacit.insiders import Insiders
from tacit.tolerances import ADDITIVITY

ADDITIVITY_TOLERANCE = ADDITIVITY
"""A relation holds when its residual is at most this times the sum of its absolute terms.

Published tables are often rounded cell by cell; validate those with a larger tolerance.
"""


@dataclass(frozen=True)
class Violation:
    """One condition that a Problem does not meet.

    Attributes:
        condition: A short stable name, such as `additivity` or `bounds`.
        message: What is wrong, where, and what to do.
        cells: Numbers of the cells concerned.
        relations: Numbers of the relations concerned.
    """

    condition: str
    message: str
    cells: tuple[int, ...] = ()
    relations: tuple[int, ...] = ()


def refuse(found: Sequence[Violation]) -> None:
    """Raise a `ProblemError` that names all violations, if there are any."""
    if found:
        raise ProblemError(
            "\n".join(violation.message for violation in found),
            cells=[cell for violation in found for cell in violation.cells],
            relations=[relation for violation in found for relation in violation.relations],
        )


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Problem:
    """A table with linear relations, bounds, weights and sensitive cells.

    Arrays are copied where needed and frozen; a changed problem is a new one (`replace`).
    Everything but `value` has a default: non-negative cells without upper bound, weight 1,
    no relation, nothing sensitive.

    Attributes:
        value: The true value `a` of each cell.
        lower: The lower bound `l` an attacker knows for each cell; may be -inf.
        upper: The upper bound `u` an attacker knows for each cell; may be inf.
        weight: The information lost when the cell is suppressed.
        relations: The coefficients `A`, one row per relation.
        rhs: The right-hand sides `b`.
        sensitive: Numbers of the sensitive cells, increasing.
        lower_level: For each sensitive cell, how far below its value an attacker's
            smallest possible value must lie.
        upper_level: The same above its value.
        sliding_level: The least width of the attacker's interval.
        must_publish: True for each cell that must be published as it is: a mask with one entry
            per cell, not numbers of cells.
        overridden: Numbers of the cells that somebody decided to publish although a rule found
            them sensitive, increasing. Methods take them for any others; what is guaranteed does
            not hold for them.
        singleton: For each cell with one single respondent a number that identifies the
            respondent, -1 for every other cell.
        insiders: Contributors as attackers with levels of their own, if the table knows any.
        strips: Sets of cells within which to look for networks, if the table knows its dimensions:
            the columns below one parent, in all rows. Methods find what they need without, too,
            where all combinations of codes occur.
        labels: Names of the cells for messages and reports, if there are any.

    >>> problem = Problem(value=[20, 22, 42], relations=[[1, 1, -1]], rhs=[0],
    ...                   sensitive=[0], upper_level=[2], lower_level=[2])
    >>> problem.validate()
    Problem(3 cells, 1 relation, 1 sensitive)
    """

    value: Floats
    lower: Floats
    upper: Floats
    weight: Floats
    relations: sparse.csr_array[np.float64, tuple[int, int]]
    rhs: Floats
    sensitive: Integers
    lower_level: Floats
    upper_level: Floats
    sliding_level: Floats
    must_publish: Booleans
    overridden: Integers
    singleton: Integers
    insiders: Insiders | None
    strips: Sequence[Integers] | None
    labels: Sequence[str] | None

    def __init__(
        self,
        *,
        value: npt.ArrayLike,
        lower: npt.ArrayLike | None = None,
        upper: npt.ArrayLike | None = None,
        weight: npt.ArrayLike | None = None,
        relations: Any = None,
        rhs: npt.ArrayLike | None = None,
        sensitive: npt.ArrayLike | None = None,
        lower_level: npt.ArrayLike | None = None,
        upper_level: npt.ArrayLike | None = None,
        sliding_level: npt.ArrayLike | None = None,
        must_publish: npt.ArrayLike | None = None,
        overridden: npt.ArrayLike | None = None,
        singleton: npt.ArrayLike | None = None,
        insiders: Insiders | None = None,
        strips: Sequence[Integers] | None = None,
        labels: Sequence[str] | None = None,
    ):
        a = _floats(value, "value", None)
        n = len(a)
        self._set("value", a)
        self._set("lower", _floats(lower, "lower", n, default=0.0, infinite=True))
        self._set("upper", _floats(upper, "upper", n, default=np.inf, infinite=True))
        self._set("weight", _floats(weight, "weight", n, default=1.0))
        A = _relations(relations, n)
        object.__setattr__(self, "relations", A)
        self._set("rhs", _floats(rhs, "rhs", A.shape[0], default=0.0))
        object.__setattr__(self, "strips", strips)
        if strips is not None and any(len(s) and not 0 <= s.min() <= s.max() < n for s in strips):
            raise ProblemError(f"strips names cells that do not exist; they are 0 to {n - 1}")
        object.__setattr__(self, "labels", labels)
        if labels is not None and len(labels) != n:
            raise ProblemError(f"labels has {len(labels)} entries; there are {n} cells")
        # Those of a table are made when asked for, from codes that were looked at already.
        for cell, label in enumerate(labels if isinstance(labels, list | tuple) else ()):
            odd = unwritable(str(label))
            if odd is not None:
                raise ProblemError(f"label of cell {cell}: {odd}; correct it", cells=[cell])
        self._set_sensitive(
            np.array([] if sensitive is None else sensitive),
            {
                "lower_level": lower_level,
                "upper_level": upper_level,
                "sliding_level": sliding_level,
            },
        )
        published = np.zeros(n, bool) if must_publish is None else np.array(must_publish, bool)
        self._set("must_publish", _shaped(published, "must_publish", n))
        decided = np.unique(np.array([] if overridden is None else overridden, np.int64))
        if len(decided) and not 0 <= decided[0] <= decided[-1] < n:
            raise ProblemError(f"overridden names cells that do not exist; they are 0 to {n - 1}")
        self._set("overridden", decided)
        respondent = np.full(n, -1) if singleton is None else np.array(singleton)
        self._set("singleton", _shaped(respondent.astype(np.int64), "singleton", n))
        if insiders is not None:
            insiders.expect(n, len(self.sensitive))
        object.__setattr__(self, "insiders", insiders)

    def _set_sensitive(
        self, sensitive: npt.NDArray[Any], levels: dict[str, npt.ArrayLike | None]
    ) -> None:
        n = self.cell_count
        if sensitive.dtype == bool:
            sensitive = np.flatnonzero(_shaped(sensitive, "sensitive (as a mask)", n))
        sensitive = sensitive.astype(np.int64)
        outside = sensitive[(sensitive < 0) | (sensitive >= n)]
        if len(outside):
            raise ProblemError(
                f"sensitive cells {first_few(outside.tolist())} do not exist; cells are numbered "
                f"0 to {n - 1}",
                cells=outside,
            )
        order = np.argsort(sensitive, kind="stable")
        twice = np.flatnonzero(np.diff(sensitive[order]) == 0)
        if len(twice):
            cells = sensitive[order][twice]
            raise ProblemError(
                f"{self.name_cells(cells)} listed twice as sensitive; list each once", cells=cells
            )
        self._set("sensitive", sensitive[order])
        for name, given in levels.items():
            level = _floats(given, name, len(sensitive), default=0.0)
            self._set(name, level[order])

    def _set(self, name: str, array: npt.NDArray[Any]) -> None:
        array.setflags(write=False)
        object.__setattr__(self, name, array)

    def __repr__(self) -> str:
        m, s = self.relation_count, len(self.sensitive)
        return f"Problem({self.cell_count} cells, {m} relation{'s' * (m != 1)}, {s} sensitive)"

    @property
    def cell_count(self) -> int:
        """Number of cells, n."""
        return len(self.value)

    @property
    def relation_count(self) -> int:
        """Number of relations, m."""
        return int(self.relations.shape[0])

    @property
    def is_sensitive(self) -> Booleans:
        """The sensitive cells as a mask over all cells."""
        mask = np.zeros(self.cell_count, bool)
        mask[self.sensitive] = True
        return mask

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the arrays take."""
        A = self.relations
        arrays = [getattr(self, field.name) for field in dataclasses.fields(self)]
        total = sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
        return int(total + A.data.nbytes + A.indices.nbytes + A.indptr.nbytes)

    def name_cell(self, cell: int) -> str:
        """The cell's label, or `cell 7` where there are no labels."""
        return f"cell {cell}" if self.labels is None else f"cell {self.labels[cell]}"

    def name_cells(self, cells: Sequence[int] | Integers, limit: int = 5) -> str:
        """Name the first few of several cells."""
        numbers = [int(cell) for cell in cells[: limit + 1]]
        names = [self.name_cell(cell) for cell in numbers]
        return first_few([*names, *[""] * (len(cells) - len(names))], limit)

    def name_relation(self, relation: int) -> str:
        """A relation by labels, as `size=4: Nr = 1 + 2 + 3`, or `relation 7` without labels."""
        if self.labels is None:
            return f"relation {relation}"
        A = self.relations
        inside = slice(A.indptr[relation], A.indptr[relation + 1])
        cells, signs = A.indices[inside].tolist(), A.data[inside].tolist()
        by_codes = getattr(self.labels, "relation", None)
        if by_codes is not None and not self.rhs[relation]:
            return str(by_codes(cells, signs))
        named = [(f"({self.labels[c]})", sign) for c, sign in zip(cells, signs, strict=True)]
        sides = [[name for name, sign in named if side * sign > 0] for side in (-1, 1)]
        if len(sides[1]) == 1 and len(sides[0]) > 1:
            sides.reverse()
        told = " = ".join(_added(side) for side in sides)
        return f"{told} with known cells" if self.rhs[relation] else told

    def name_relations(self, relations: Sequence[int] | Integers, limit: int = 5) -> str:
        """Name the first few of several relations."""
        names = [self.name_relation(int(relation)) for relation in relations[:limit]]
        more = len(relations) - len(names)
        shown = "; ".join(names) if self.labels is not None else ", ".join(names)
        return f"{shown} and {more} more" if more else shown

    def replace(self, **changes: Any) -> Self:
        """The same problem with some arrays changed.

        A new set of sensitive cells without levels starts with levels of zero, and without
        insiders.
        """
        if "relations" in changes:
            changes.setdefault("strips", None)
        if "sensitive" in changes:
            for name in ("lower_level", "upper_level", "sliding_level", "insiders"):
                changes.setdefault(name, None)
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return type(self)(**{**fields, **changes})

    def with_insiders(self, insiders: Insiders | None) -> Self:
        """The same problem, arrays shared, with these contributors as attackers or with none."""
        if insiders is not None:
            insiders.expect(self.cell_count, len(self.sensitive))
        changed = copy.copy(self)
        object.__setattr__(changed, "insiders", insiders)
        return changed

    def residual(self, values: Floats | None = None) -> Floats:
        """`A x - b` for the given cell values, by default the true ones."""
        return np.asarray(self.relations @ (self.value if values is None else values) - self.rhs)

    def scale(self) -> Floats:
        """For each relation the sum of its absolute terms: what its residual is measured by."""
        terms = np.asarray(abs(self.relations) @ np.abs(self.value))
        return terms + np.abs(self.rhs)

    def violations(self, tolerance: float = ADDITIVITY_TOLERANCE) -> list[Violation]:
        """Everything that is wrong with this problem; empty when it is sound.

        Args:
            tolerance: A relation holds when its residual is at most this times the sum of its
                absolute terms. The same share of a cell's magnitude is allowed at its bounds.
        """
        a, l, u = self.value, self.lower, self.upper
        s = self.sensitive
        slack = tolerance * np.maximum(np.abs(a), 1.0)
        found: list[Violation] = []

        def cells(condition: str, bad: Booleans, numbers: Integers, text: str, remedy: str) -> None:
            if bad.any():
                hit = numbers[bad]
                message = f"{text}: {self.name_cells(hit)}; {remedy}"
                found.append(Violation(condition, message, cells=tuple(hit.tolist())))

        everyone = np.arange(self.cell_count)
        not_additive = np.flatnonzero(np.abs(self.residual()) > tolerance * self.scale())
        if len(not_additive):
            found.append(
                Violation(
                    "additivity",
                    f"the cells do not add up in {len(not_additive)} relation"
                    f"{'s' * (len(not_additive) > 1)}: {self._named_with_shares(not_additive)}. "
                    "Correct the table, or allow for rounding with a larger tolerance",
                    relations=tuple(not_additive.tolist()),
                )
            )
        cells(
            "bounds",
            l > u,
            everyone,
            "the lower bound lies above the upper bound",
            "exchange or correct them",
        )
        cells(
            "bounds",
            (a < l - slack) | (a > u + slack),
            everyone,
            "the value lies outside its bounds",
            "correct the one or the other",
        )
        cells(
            "weight",
            self.weight < 0,
            everyone,
            "the weight is negative",
            "give what it costs to lose the cell, at least 0",
        )
        negative = (self.lower_level < 0) | (self.upper_level < 0) | (self.sliding_level < 0)
        cells(
            "negative levels",
            negative,
            s,
            "a protection level is negative",
            "give how uncertain the cell must stay, at least 0",
        )
        slack = slack[s]
        beyond = (self.lower_level > a[s] - l[s] + slack) | (self.upper_level > u[s] - a[s] + slack)
        beyond |= self.sliding_level > u[s] - l[s] + slack
        cells(
            "levels",
            beyond,
            s,
            "a protection level reaches beyond the bounds that an attacker knows",
            "widen the bounds or lower the level",
        )
        cells(
            "status",
            self.must_publish[s],
            s,
            "sensitive, but also marked as a cell that must be published",
            "choose one",
        )
        return found

    def _named_with_shares(self, relations: Integers, limit: int = 5) -> str:
        """Relations that do not hold, worst first, each with what total and parts differ by."""
        off, total = np.abs(self.residual())[relations], totals_of(self.relations)[relations]
        size = np.where(total >= 0, np.abs(self.value[total]), 0.0)
        size = np.where(size > 0, size, self.scale()[relations])
        share = off / np.maximum(size, np.finfo(float).tiny)
        order = np.argsort(-share, kind="stable")[:limit]
        told = [
            f"{self.name_relation(int(relations[at]))} (differs by {percentage(share[at])})"
            for at in order.tolist()
        ]
        more = len(relations) - len(told)
        return "; ".join(told) + (f" and {more} more" if more else "")

    def validate(self, tolerance: float = ADDITIVITY_TOLERANCE) -> Self:
        """Return the problem itself, or raise `ProblemError` naming all that is wrong."""
        refuse(self.violations(tolerance))
        return self

    def subproblem(self, cells: Sequence[int] | Integers | Booleans) -> Problem:
        """The problem over some of the cells, the others known at their true values.

        Relations lose the known cells (their right-hand sides change accordingly); relations
        without any remaining cell are dropped. Cell i of the result is the i-th chosen cell
        in increasing order.
        """
        keep = np.zeros(self.cell_count, bool)
        keep[cells] = True
        chosen = np.flatnonzero(keep)
        known = np.where(keep, 0.0, self.value)
        A = self.relations[:, chosen]
        rows = np.flatnonzero(np.diff(A.indptr) > 0)
        is_kept = keep[self.sensitive]
        insiders = None
        if self.insiders is not None:
            number = np.where(keep, np.cumsum(keep) - 1, -1)
            place = np.where(is_kept, np.cumsum(is_kept) - 1, -1)
            insiders = self.insiders.renumbered(number, place, int(is_kept.sum()))
        return Problem(
            value=self.value[chosen],
            lower=self.lower[chosen],
            upper=self.upper[chosen],
            weight=self.weight[chosen],
            relations=A[rows],
            rhs=(self.rhs - self.relations @ known)[rows],
            sensitive=np.searchsorted(chosen, self.sensitive[is_kept]),
            lower_level=self.lower_level[is_kept],
            upper_level=self.upper_level[is_kept],
            sliding_level=self.sliding_level[is_kept],
            must_publish=self.must_publish[chosen],
            overridden=np.searchsorted(chosen, self.overridden[keep[self.overridden]]),
            singleton=self.singleton[chosen],
            insiders=insiders,
            labels=None if self.labels is None else [self.labels[cell] for cell in chosen.tolist()],
        )

    def components(self) -> list[Integers]:
        """Sets of cells that share no relation with each other, ordered by their first cell."""
        label = component_labels(self.relations)
        order = np.argsort(label, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(label[order])) + 1)


def _added(names: Sequence[str], limit: int = 5) -> str:
    more = len(names) - limit
    return (" + ".join(names[:limit]) or "0") + (f" + {more} more" if more > 0 else "")


def component_labels(A: sparse.csr_array[Any, Any]) -> Integers:
    """Number the connected components of the cells, in the order of their first cells."""
    n = A.shape[1]
    if n == 0:
        return np.zeros(0, np.int64)
    # Cells are nodes 0 to n-1, relations the nodes after them.
    row = n + np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    edges = (np.ones(A.nnz, np.int8), (row, A.indices))
    graph = sparse.csr_array(edges, shape=(n + A.shape[0],) * 2)
    _, label = sparse.csgraph.connected_components(graph, directed=False)
    _, first, inverse = np.unique(label[:n], return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[inverse])


def totals_of(A: sparse.csr_array[Any, Any]) -> Integers:
    """For each relation the cell that is the total of the others; -1 where there is none.

    It is the one cell whose coefficient has another sign than all others. In a relation of two
    cells either could be: there it is the one with the sign that totals have elsewhere in the
    table, and the negative one if that does not decide.

    Some callers count fewer relations. The attack computes totals modulo a prime, which needs a
    coefficient of 1 or -1 at the total; subtables are sums and need them at all cells. Adjustment
    leaves relations of two cells out, as neither of two equal cells is a coarser figure.

    >>> totals_of(sparse.csr_array([[1, 1, -1, 0], [0, 1, 0, -1], [1, 1, -1, -1]])).tolist()
    [2, 3, -1]
    """
    m = A.shape[0]
    row = np.repeat(np.arange(m), np.diff(A.indptr))
    negative = A.data < 0
    minus = np.bincount(row[negative], minlength=m)
    plus = np.bincount(row[~negative], minlength=m)
    is_usual = ((minus == 1) & (plus > 1)).sum() >= ((plus == 1) & (minus > 1)).sum()
    is_pair = (minus == 1) & (plus == 1)
    by_minus = (minus == 1) & (plus > 1) | is_pair & is_usual
    by_plus = (plus == 1) & (minus > 1) | is_pair & ~is_usual
    is_total = np.where(negative, by_minus[row], by_plus[row])
    total = np.full(m, -1, np.int64)
    total[row[is_total]] = A.indices[is_total]
    return total


def _shaped(array: npt.NDArray[Any], name: str, n: int) -> npt.NDArray[Any]:
    if array.shape != (n,):
        raise ProblemError(f"{name} has shape {array.shape}; it needs {n} entries")
    return array


def _floats(
    given: Any, name: str, n: int | None, default: float = 0.0, infinite: bool = False
) -> Floats:
    if given is None:
        return np.full(n or 0, default)
    try:
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ProblemError(f"{name} contains something that is not a number") from None
    if array.ndim == 0 and n is not None:
        array = np.full(n, float(array))
    _shaped(array, name, array.size if n is None else n)
    bad = np.flatnonzero(np.isnan(array) if infinite else ~np.isfinite(array))
    if len(bad):
        kind = "not a number" if infinite else "not a number or infinite"
        raise ProblemError(f"{name} is {kind} at {first_few(bad.tolist())}", cells=bad)
    return array


def _relations(given: Any, n: int) -> sparse.csr_array[np.float64, tuple[int, int]]:
    if given is None:
        given = np.zeros((0, n))
    # Any shape of sparse or dense matrix is taken; copies keep the caller's arrays untouched.
    A = sparse.csr_array(given, dtype=np.float64, copy=True)
    if A.ndim != 2 or A.shape[1] != n:
        raise ProblemError(f"relations has shape {A.shape}; it needs {n} columns, one per cell")
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    bad = np.unique(row[~np.isfinite(A.data)])
    if len(bad):
        raise ProblemError(
            f"relations {first_few(bad.tolist())} have a coefficient that is not a finite number",
            relations=bad,
        )
    if not A.has_sorted_indices:
        A.sort_indices()
    same = (np.diff(A.indices) == 0) & (np.diff(row) == 0)
    if same.any():
        rows = np.unique(row[1:][same])
        raise ProblemError(
            f"relations {first_few(rows.tolist())} name a cell twice; add its coefficients up",
            cells=np.unique(A.indices[1:][same]),
            relations=rows,
        )
    if not A.data.all():
        A.eliminate_zeros()
    for array in (A.data, A.indices, A.indptr):
        array.setflags(write=False)
    return A
