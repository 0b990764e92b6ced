"""The contributors of a table as attackers: what each knows, and what must stay uncertain to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from tacit.arrays import Booleans, Floats, Integers
from tacit.errors import InputError, TableError, nearest
from tacit.insiders import Insiders, LevelsAgainst
from tacit.problem import Problem, totals_of
from tacit.table.contributors import UNKNOWN, Largest
from tacit.table.judging import Pairs, Verdict, asked_levels
from tacit.tolerances import AGREEMENT

if TYPE_CHECKING:
    from tacit.table.table import Table

Choice: TypeAlias = Literal["singletons", "contributors", "none"]
"""Which contributors attack."""


@dataclass(frozen=True, eq=False)
class _Entries:
    """What contributors know, in any order; `who` tells contributors apart."""

    who: Integers
    cell: Integers
    rank: Integers
    own: Floats
    amount: Floats
    alone: Booleans
    vague: Booleans

    def joined(self, other: _Entries) -> _Entries:
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__annotations__)
        return _Entries(*(np.concatenate(pair) for pair in pairs))

    def take(self, chosen: Integers | Booleans) -> _Entries:
        return _Entries(*(getattr(self, name)[chosen] for name in self.__annotations__))


def check_choice(insiders: str, coalition: int) -> None:
    """Refuse what is not a choice of insiders."""
    if insiders not in get_args(Choice):
        raise InputError(f"insiders: {nearest(str(insiders), get_args(Choice))}")
    whole = isinstance(coalition, int | np.integer) and not isinstance(coalition, bool)
    if not whole or coalition < 1:
        raise InputError("coalition must be a whole number of at least 1")


def insiders_of(table: Table, problem: Problem, choice: str, coalition: int) -> Insiders | None:
    """The contributors of a table who attack, None where there are none.

    Args:
        table: The table.
        problem: The table as algorithms see it.
        choice: Which of them attack.
        coalition: How many of them may pool what they know.
    """
    check_choice(choice, coalition)
    if choice == "none":
        return None
    found = _Contributors(table, problem)
    entries = found.chosen(choice)
    if not len(entries.who):
        return None
    # Numbered by their first cells, whatever the internal numbers are.
    order = np.lexsort((entries.rank, entries.cell))
    entries = entries.take(order)
    _, first, place = np.unique(entries.who, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    entries = entries.take(np.lexsort((entries.cell, number[place])))
    who = np.sort(number[place])
    return Insiders(
        start=np.searchsorted(who, np.arange(len(first) + 1)).astype(np.int64),
        cells=entries.cell,
        amount=np.where(entries.alone, problem.value[entries.cell], entries.own),
        alone=entries.alone,
        own=found.own_levels(entries),
        outside=found.outside_levels(),
        coalition=int(coalition),
        are_identified=found.are_identified,
        are_holdings=found.are_holdings,
    )


class _Contributors:
    """What a table knows of its contributors, or of its holdings where it has any.

    Attributes:
        are_holdings: Whether holdings attack.
        are_identified: Whether a contributor is recognised in every cell.
    """

    def __init__(self, table: Table, problem: Problem):
        self._table, self._problem = table, problem
        self.are_holdings = table.holding_count is not None or table.holdings is not None
        self._largest: Largest | None = table.contributors
        count = table.count
        if self.are_holdings:
            count, self._largest = table.holding_count, table.holdings
        n = table.cell_count
        self._count: Floats = self._uncounted() if count is None else count
        hidden = ~problem.must_publish
        self._hidden = hidden
        self._alone: Booleans = (self._count == 1) & hidden
        negative = (table.value < 0) | (problem.lower < 0)
        known = np.zeros((n, 0), bool)
        if self._largest is not None:
            known = self._largest.is_known
            negative |= (self._largest.amount < 0).any(axis=1)
        # Of several variables one may be negative, and others never.
        signed = np.zeros(len(table.variables), bool)
        signed[table.variable[negative]] = True
        self._signed: Booleans = signed[table.variable]
        self._known = known
        self._nameless = self._alone & ~known.any(axis=1)
        self.are_identified = self._largest is not None and not self._nameless.any()

    def _uncounted(self) -> Floats:
        """The numbers of contributors of a table that does not count them, as far as they show.

        Whoever contributes all of a cell is taken to be alone in it. A cell with one contributor
        has one holding.
        """
        table, largest = self._table, self._largest
        count = np.full(table.cell_count, np.nan)
        if largest is None or not largest.amount.shape[1]:
            return count
        if table.count is not None:
            count[table.count == 1] = 1
        value = table.value if table.shadow is None else table.shadow
        count[(largest.amount[:, 0] >= value * (1 - AGREEMENT)) & (value > 0)] = 1
        return count

    def chosen(self, choice: str) -> _Entries:
        """What the contributors of a choice know."""
        listed = self._listed()
        if choice == "contributors":
            if not self.are_identified:
                who = "holding" if self.are_holdings else "contributor"
                raise TableError(
                    f"insiders = contributors needs to know who contributes to which cell; "
                    f"tabulate with a {who}, or name the columns that tell (top_{who})"
                )
        else:
            listed = listed.take(np.isin(listed.who, listed.who[listed.alone]))
        if self._nameless.any():
            listed = listed.joined(self._without_names())
        return listed

    def _listed(self) -> _Entries:
        """Contributors that are recognised, in all cells that list them and may be suppressed."""
        if self._largest is None:
            nobody = np.zeros(0, np.int64)
            none, no = np.zeros(0), np.zeros(0, bool)
            return _Entries(nobody, nobody, nobody, none, none, no, no)
        cell, rank = np.nonzero(self._known & self._hidden[:, None])
        amount = self._largest.amount[cell, rank]
        alone = self._alone[cell]
        own = np.clip(amount, 0.0, np.maximum(self._problem.value[cell], 0.0))
        if self._table.shadow is not None:
            own = np.zeros(len(cell))
        entries = _Entries(
            self._largest.who[cell, rank],
            cell,
            rank,
            own,
            np.abs(amount),
            alone,
            np.zeros(len(cell), bool),
        )
        # What somebody contributes is no lower bound where others may contribute less than nothing.
        return entries.take(alone | ~self._signed[cell])

    def _without_names(self) -> _Entries:
        """Single contributors that nobody recognises: each cell, with its totals, another one."""
        relations = self._problem.relations
        label = respondents(relations, self._nameless)
        cell = np.flatnonzero(self._nameless)
        who, value = label[cell], self._problem.value[cell]
        # What is reported of a part is no lower bound where other parts may be negative.
        signed = abs(relations) @ self._signed.astype(np.int64) != 0
        relations = relations[np.flatnonzero(~signed)]
        up = _totals_above(relations) + self._equal_parts(relations)
        n = self._table.cell_count
        known = who * n + cell
        parts = [(who, cell, value)]
        while len(cell):
            start, end = up.indptr[cell], up.indptr[cell + 1]
            size = end - start
            inside = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
            above = up.indices[np.repeat(start, size) + inside]
            who, value = np.repeat(who, size), np.repeat(value, size)
            fresh = self._hidden[above] & ~self._alone[above]
            keys, first = np.unique(who[fresh] * n + above[fresh], return_index=True)
            new = ~np.isin(keys, known)
            known = np.concatenate([known, keys[new]])
            who, cell, value = keys[new] // n, keys[new] % n, value[fresh][first[new]]
            parts.append((who, cell, value))
        who, cell, value = (np.concatenate(column) for column in zip(*parts, strict=True))
        alone = self._nameless[cell]
        return _Entries(
            # Internal numbers are not negative.
            who=UNKNOWN - 1 - who,
            cell=cell,
            rank=np.zeros(len(cell), np.int64) - (who + 1),
            own=value,
            amount=np.abs(value) * (self._table.shadow is None),
            alone=alone,
            vague=~alone,
        )

    def _equal_parts(self, relations: sparse.csr_array[Any, Any]) -> sparse.csr_array[Any, Any]:
        """For each total the parts of the same value with as many contributors: the same ones."""
        below = _totals_above(relations).T.tocoo()
        total, part = below.row, below.col
        value = self._problem.value
        off = np.abs(value[total] - value[part])
        same = (self._count[total] == self._count[part]) & (off <= AGREEMENT * np.abs(value[total]))
        at = (total[same], part[same])
        return sparse.csr_array((np.ones(len(at[0]), np.int8), at), shape=below.shape)

    def own_levels(self, entries: _Entries) -> LevelsAgainst:
        """Levels against the contributor of each entry."""
        found = LevelsAgainst.zero(len(entries.who))
        asked = np.flatnonzero(self._problem.is_sensitive[entries.cell] & ~entries.alone)
        some = entries.take(asked)
        levels = self._levels(some.cell, some.own, some.amount, some.rank == 0, some.vague)
        found.lower[asked] = levels.lower
        found.upper[asked] = levels.upper
        found.sliding[asked] = levels.sliding
        return found

    def outside_levels(self) -> LevelsAgainst:
        """Levels against somebody who is not listed in the cell, for each sensitive cell.

        Whoever is not listed contributes no more than the last one who is, and nothing where all
        are listed. Where contributors are not recognised, it may be any of them.
        """
        cells = self._problem.sensitive
        amount = np.zeros(len(cells))
        vague = np.ones(len(cells), bool)
        if self._largest is not None:
            size = self._largest.amount[cells]
            there = ~np.isnan(size)
            listed = there.sum(axis=1)
            complete = self._count[cells] <= listed
            last = np.take_along_axis(size, np.maximum(listed - 1, 0)[:, None], axis=1)[:, 0]
            recognised = (self._known[cells] == there).all(axis=1) & (listed > 0)
            plain = ~self._signed[cells]
            amount = np.where(complete | ~plain, 0.0, np.nan_to_num(np.abs(last)))
            vague = ~plain | ~recognised | (not self.are_identified)
        largest = np.zeros(len(cells), bool)
        return self._levels(cells, np.zeros(len(cells)), amount, largest, vague)

    def _levels(
        self, cell: Integers, own: Floats, amount: Floats, largest: Booleans, vague: Booleans
    ) -> LevelsAgainst:
        """The highest levels that any rule asks for, none above the level against readers."""
        table, problem = self._table, self._problem
        place = np.searchsorted(problem.sensitive, cell)
        readers = LevelsAgainst(
            problem.lower_level[place], problem.upper_level[place], problem.sliding_level[place]
        )
        found, said = LevelsAgainst.zero(len(cell)), LevelsAgainst.zero(len(cell))
        where = np.full(table.cell_count, -1, np.int64)
        for verdict in table.verdicts:
            where[:] = -1
            where[verdict.cells] = np.arange(len(verdict.cells))
            asked = np.flatnonzero(where[cell] >= 0)
            at = where[cell[asked]]
            mine = _at(verdict, at)
            pairs = Pairs(
                value=problem.value[cell[asked]],
                lower=mine.lower,
                upper=mine.upper,
                sliding=np.zeros(len(at)) if mine.sliding is None else mine.sliding,
                own=own[asked],
                amount=amount[asked],
                is_largest=largest[asked],
                is_vague=vague[asked],
                facts=mine.facts,
                are_holdings=self.are_holdings,
            )
            rule = verdict.rule
            levels = pairs.percentage() if rule is None else rule.levels_against(pairs)
            _raise(found, asked, asked_levels(mine, "both", levels))
            _raise(said, asked, asked_levels(mine, "both"))
        # Levels that no rule asked for, such as the least level of cells without any.
        other = np.flatnonzero(
            (readers.lower > said.lower)
            | (readers.upper > said.upper)
            | (readers.sliding > said.sliding)
        )
        rest = readers.take(other)
        pairs = Pairs(
            value=problem.value[cell[other]],
            lower=rest.lower,
            upper=rest.upper,
            sliding=rest.sliding,
            own=own[other],
            amount=amount[other],
            is_largest=largest[other],
            is_vague=vague[other],
            facts={},
            are_holdings=self.are_holdings,
        )
        levels = pairs.percentage()
        columns = (levels.lower, levels.upper, levels.sliding)
        _raise(found, other, dict(zip(_LEVELS, columns, strict=True)))
        return LevelsAgainst(
            np.minimum(found.lower, readers.lower),
            np.minimum(found.upper, readers.upper),
            np.minimum(found.sliding, readers.sliding),
        )


_LEVELS = ("lower_level", "upper_level", "sliding_level")


def _at(verdict: Verdict, places: Integers) -> Verdict:
    """A verdict with its levels and facts at some of its cells, some of them several times."""
    sliding = verdict.sliding
    return Verdict(
        reason=verdict.reason,
        cells=verdict.cells[places],
        lower=verdict.lower[places],
        upper=verdict.upper[places],
        sliding=None if sliding is None else sliding[places],
        levels=verdict.levels,
        facts={name: column[places] for name, column in verdict.facts.items()},
    )


def _raise(levels: LevelsAgainst, at: Integers, asked: dict[str, Floats]) -> None:
    """Raise some levels to what is asked for."""
    for column, name in zip((levels.lower, levels.upper, levels.sliding), _LEVELS, strict=True):
        if name in asked:
            column[at] = np.maximum(column[at], asked[name])


def _totals_above(relations: sparse.csr_array[Any, Any]) -> sparse.csr_array[Any, Any]:
    """For each cell the totals that it is a part of."""
    row = np.repeat(np.arange(relations.shape[0]), np.diff(relations.indptr))
    total = totals_of(relations)
    part = relations.data > 0
    at = (relations.indices[part], total[row[part]])
    n = relations.shape[1]
    inside = at[1] >= 0
    entries = (np.ones(int(inside.sum()), np.int8), (at[0][inside], at[1][inside]))
    return sparse.csr_array(entries, shape=(n, n))


def respondents(relations: sparse.csr_array[Any, Any], alone: Booleans) -> Integers:
    """Numbers of the respondents of cells with a single one, -1 for all other cells.

    A total with one contributor has the same one as the only part with a contributor: follow
    the relations down from such totals.
    """
    row = np.repeat(np.arange(relations.shape[0]), np.diff(relations.indptr))
    total = totals_of(relations)
    part = (relations.data > 0) & alone[relations.indices] & (total[row] >= 0)
    part &= alone[total[row]]
    pairs = (np.ones(int(part.sum()), np.int8), (total[row[part]], relations.indices[part]))
    graph = sparse.csr_array(pairs, shape=(len(alone), len(alone)))
    _, label = csgraph.connected_components(graph, directed=False)
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    return np.where(alone, first[inverse], -1)
