"""Cells that are equal are one cell.

In real hierarchies many parents have one child that is not empty. A relation of two cells ties
them: whoever knows one knows the other, so either both are published or neither is. They are
merged before anything else is done: weights add up, levels and bounds are the strictest of them,
and what is found for the merged cell holds for each of its parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.attack.knowledge import Attacker, Knowledge
from tacit.outcome import Intervals, Solution, Suppression, Values
from tacit.problem import Booleans, Floats, Integers, Problem, component_labels


@dataclass(frozen=True, eq=False)
class EqualCells:
    """A problem in which equal cells are merged.

    Attributes:
        given: The problem as it was given.
        problem: The smaller one.
        group: For each cell of the given problem, its cell in the smaller one.
    """

    given: Problem
    problem: Problem
    group: Integers

    @classmethod
    def of(
        cls,
        given: Problem,
        *,
        attackers: Sequence[Attacker] = (),
        apart: Booleans | None = None,
        agreeing: Sequence[Floats] = (),
    ) -> EqualCells:
        """Merge equal cells.

        Args:
            given: The problem as it is given.
            attackers: Who attacks. A cell of which one of them is judged not to know what it
                knows stays a cell of its own: what is known of its equals counts.
            apart: Further cells that stay cells of their own. So do those that must be published,
                and sensitive ones without any level: their equals may be published.
            agreeing: Columns that must be the same for all cells that are merged; where they
                differ, cells stay cells of their own.

        Raises:
            InputError: An attacker is certain of something that is not true.
        """
        alone = given.must_publish.copy() if apart is None else apart | given.must_publish
        for attacker in attackers:
            attacker.expect_cells(given)
            if attacker.at_least or attacker.at_most:
                # Errors name cells as they were given.
                attacker.learn(given, _bounds(given))
            alone[[*attacker.own, *attacker.colluding]] = True
        levels = given.lower_level + given.upper_level + given.sliding_level
        alone[given.sensitive[levels == 0]] = True
        group, relations = _merged(given, alone)
        differ = _differ(agreeing, group) | _insiders_differ(given, group)
        if differ.any():
            group, relations = _merged(given, alone | differ)
        return cls(given, _problem(given, group, relations), group)

    @classmethod
    def none(cls, given: Problem) -> EqualCells:
        """Nothing merged."""
        return cls(given, given, np.arange(given.cell_count))

    @property
    def is_identity(self) -> bool:
        """Whether there was nothing to merge."""
        return self.problem is self.given

    def sum(self, column: Floats) -> Floats:
        """What the parts of each cell add up to."""
        count = self.problem.cell_count
        return np.asarray(np.bincount(self.group, column, minlength=count), np.float64)

    def largest(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The largest entry among the parts of each cell; of a mask, whether any is set."""
        return _strictest(np.maximum, column, self.group, self.problem.cell_count)

    def smallest(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The smallest entry among the parts of each cell; of a mask, whether all are set."""
        return _strictest(np.minimum, column, self.group, self.problem.cell_count)

    def attackers(self, attackers: Sequence[Attacker]) -> list[Attacker]:
        """What attackers know of the merged cells: what they know of any part."""
        return [self._attacker(attacker) for attacker in attackers]

    def _attacker(self, attacker: Attacker) -> Attacker:
        at_least: dict[int, float] = {}
        at_most: dict[int, float] = {}
        for cell, amount in attacker.at_least.items():
            merged = int(self.group[cell])
            at_least[merged] = max(at_least.get(merged, -np.inf), amount)
        for cell, amount in attacker.at_most.items():
            merged = int(self.group[cell])
            at_most[merged] = min(at_most.get(merged, np.inf), amount)
        return replace(
            attacker,
            known=self._numbers(attacker.known),
            colluding=self._numbers(attacker.colluding),
            own=frozenset(self._numbers(sorted(attacker.own))),
            at_least=at_least,
            at_most=at_most,
        )

    def _numbers(self, cells: Sequence[int]) -> tuple[int, ...]:
        return tuple(np.unique(self.group[np.array(cells, np.int64)]).tolist())

    def expand(self, solution: Solution) -> Solution:
        """What is published of the given problem, from what is published of the smaller one."""
        if self.is_identity:
            return solution
        group = self.group
        if isinstance(solution, Suppression):
            return Suppression(solution.suppressed[group])
        if isinstance(solution, Intervals):
            return Intervals(solution.lower[group], solution.upper[group])
        radius = None if solution.radius is None else solution.radius[group]
        return Values(solution.value[group], radius)

    def expand_rows(self, rows: sparse.csr_array[Any, Any]) -> sparse.csr_array[Any, Any]:
        """Rows over the cells of the smaller problem, such as deviations, as rows over all."""
        return rows if self.is_identity else sparse.csr_array(rows[:, self.group])

    def cells(self, merged: Sequence[int] | Integers) -> Integers:
        """The cells of the given problem that some cells of the smaller one stand for."""
        chosen = np.zeros(self.problem.cell_count, bool)
        chosen[np.asarray(merged, np.int64)] = True
        return np.flatnonzero(chosen[self.group])


def _bounds(problem: Problem) -> Knowledge:
    """What everybody knows: the bounds."""
    above, below = problem.upper - problem.value, problem.value - problem.lower
    return Knowledge(np.maximum(above, 0.0), np.maximum(below, 0.0))


def _differ(columns: Sequence[Floats], group: Integers) -> Booleans:
    """Cells whose groups have different entries in one of the columns."""
    count = int(group.max(initial=-1)) + 1
    differ = np.zeros(count, bool)
    for column in columns:
        least = _strictest(np.minimum, column, group, count)
        differ |= least != _strictest(np.maximum, column, group, count)
    return differ[group]


def _merged(problem: Problem, alone: Booleans) -> tuple[Integers, sparse.csr_array[Any, Any]]:
    """The group of each cell, and the relations among groups with their right-hand sides last.

    Merging can leave further relations of two cells, so it is repeated until there are none.
    """
    n = problem.cell_count
    group = np.arange(n)
    # The right-hand side is a column of its own: relations are the same only if it is, too.
    rows = sparse.csr_array(
        sparse.hstack([problem.relations, sparse.csr_array(problem.rhs[:, None])])
    )
    while True:
        width = rows.shape[1] - 1
        ties = _ties(rows, alone)
        if len(ties) == 0:
            return group, rows
        label = component_labels(sparse.csr_array(rows[ties, :width]))
        count = int(label.max()) + 1
        alone = _strictest(np.maximum, alone, label, count)
        group = label[group]
        entries = (np.ones(width + 1), (np.arange(width + 1), np.append(label, count)))
        rows = sparse.csr_array(rows @ sparse.csr_array(entries, shape=(width + 1, count + 1)))
        rows.eliminate_zeros()
        rows = _distinct(rows)


def _ties(rows: sparse.csr_array[Any, Any], alone: Booleans) -> Integers:
    """Relations that make two cells equal, neither of which is to stay alone."""
    two = np.flatnonzero(np.diff(rows.indptr) == 2)
    first = rows.indptr[two]
    opposite = rows.data[first] == -rows.data[first + 1]
    left, right = rows.indices[first], rows.indices[first + 1]
    # A constant in the last column makes the relation one of a single cell.
    among_cells = np.maximum(left, right) < rows.shape[1] - 1
    free = ~np.append(alone, True)
    return np.asarray(two[opposite & among_cells & free[left] & free[right]])


def _distinct(rows: sparse.csr_array[Any, Any]) -> sparse.csr_array[Any, Any]:
    """The relations without empty and repeated ones."""
    rows.sort_indices()
    seen: dict[bytes, int] = {}
    for row in np.flatnonzero(np.diff(rows.indptr)).tolist():
        entries = slice(rows.indptr[row], rows.indptr[row + 1])
        seen.setdefault(rows.indices[entries].tobytes() + rows.data[entries].tobytes(), row)
    return sparse.csr_array(rows[np.array(list(seen.values()), np.int64)])


def _insiders_differ(given: Problem, group: Integers) -> Booleans:
    """Cells of groups about whose parts some contributor does not know the same.

    Equal cells have the same contributors. Where a table that was given says otherwise, the level
    of one part must not be forgotten because the contributor is alone in another one.
    """
    differ = np.zeros(given.cell_count, bool)
    insiders = given.insiders
    if insiders is None or not len(insiders.cells):
        return differ
    place = group[insiders.cells]
    key, number = np.unique(insiders.insider * (int(group.max()) + 1) + place, return_inverse=True)
    known = np.bincount(number, minlength=len(key))
    alone = np.bincount(number, insiders.alone, minlength=len(key))
    parts = np.bincount(group)[key % (int(group.max()) + 1)]
    odd = (known != parts) | ((alone > 0) & (alone < known))
    return np.isin(group, key[odd] % (int(group.max()) + 1))


def _strictest(
    choose: np.ufunc, column: npt.NDArray[Any], group: Integers, count: int
) -> npt.NDArray[Any]:
    order = np.argsort(group, kind="stable")
    first = np.searchsorted(group[order], np.arange(count))
    return np.asarray(choose.reduceat(column[order], first))


def _problem(given: Problem, group: Integers, rows: sparse.csr_array[Any, Any]) -> Problem:
    count = int(group.max(initial=-1)) + 1
    if count == given.cell_count:
        return given
    # The first of several equal cells gives their value, the first sensitive one their name.
    _, first = np.unique(group, return_index=True)
    named = first.copy()
    named[group[given.sensitive[::-1]]] = given.sensitive[::-1]

    def strictest(choose: np.ufunc, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return _strictest(choose, column, group, count)

    levels = {}
    for name in ("lower_level", "upper_level", "sliding_level"):
        level = np.zeros(given.cell_count)
        level[given.sensitive] = getattr(given, name)
        levels[name] = strictest(np.maximum, level)
    sensitive = np.flatnonzero(strictest(np.maximum, given.is_sensitive))
    value = given.value[first]
    strips = None
    if given.strips is not None:
        strips = [np.unique(group[cells]) for cells in given.strips]
    insiders = None
    if given.insiders is not None:
        place = np.searchsorted(sensitive, group[given.sensitive])
        insiders = given.insiders.renumbered(group, place, len(sensitive))
    return Problem(
        value=value,
        # Where a table is rounded, equal cells may differ a little, and so may their bounds.
        lower=np.minimum(strictest(np.maximum, given.lower), np.maximum(value, given.lower[first])),
        upper=np.maximum(strictest(np.minimum, given.upper), np.minimum(value, given.upper[first])),
        weight=np.bincount(group, given.weight, minlength=count),
        relations=rows[:, :count],
        rhs=rows[:, [count]].toarray().ravel(),
        sensitive=sensitive,
        **{name: level[sensitive] for name, level in levels.items()},
        must_publish=given.must_publish[first],
        singleton=strictest(np.maximum, given.singleton),
        insiders=insiders,
        strips=strips,
        labels=[given.name_cell(cell).removeprefix("cell ") for cell in named.tolist()],
    )
