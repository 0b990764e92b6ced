"""Sums of suppressed cells that everybody knows, and those of them that rules find sensitive.

In each relation the sum of the suppressed parts is known: the total minus what is published. Two
relations that share suppressed cells tell one more sum, from which these cancel out. A rule that
finds such a sum sensitive, taken as a cell to which a firm in several of the cells contributes
once, finds something sensitive published, although each single cell is uncertain. Differences of
suppressed cells tell no sum and are left out.

Contributors of a sum are exact where all contributors of its cells are listed and recognised. Else
the worst case counts: as few of them, and contributions as large, as there can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from tacit.arrays import Booleans, Floats, Integers
from tacit.errors import first_few
from tacit.hierarchy import Hierarchy
from tacit.insiders import LevelsAgainst
from tacit.table import Grid, Table
from tacit.table.contributors import Largest
from tacit.table.judging import Pairs, Verdict, asked_levels, join_reasons
from tacit.tolerances import LAST_DIGITS

Sums: TypeAlias = sparse.csr_array[Any, Any]
"""One row per sum with a 1 at each of its cells."""

_PAIRS_AT_ONCE = 20_000
_ALL_SUMS_OF = 8
_NARROWEST = 16
_FEWEST_TOPS = 5
_LEVELS = ("lower_level", "upper_level", "sliding_level")
_LEAST_SHARE = 1e-3
"""The level of a sum for which its rules imply none, as a share of its value."""


@dataclass(frozen=True, eq=False)
class SensitiveSum:
    """A sum of suppressed cells that everybody knows and a rule finds sensitive. Confidential.

    Attributes:
        cells: Its cells.
        reason: The rules that find it sensitive.
        is_exact: Whether its contributors are known; else it may be sensitive in the worst case.
        lower: How far below its value it would have to be uncertain.
        upper: The same above its value.
        sliding: How wide the interval around it would have to be.
        verdicts: What each rule says of it, each verdict with one entry.
        is_close: Whether everybody knows it closely, rather than exactly.
    """

    cells: Integers
    reason: str
    is_exact: bool
    lower: float
    upper: float
    sliding: float
    verdicts: tuple[Verdict, ...] = ()
    is_close: bool = False

    def levels_against(
        self, value: float, own: Floats, *, are_identified: bool, are_holdings: bool
    ) -> LevelsAgainst:
        """How uncertain the sum would have to be to contributors.

        Args:
            value: What it amounts to.
            own: What each contributor adds to it, 0 for those from elsewhere.
            are_identified: Whether this is all that they add to it; else it is the least.
            are_holdings: Whether they are holdings.
        """
        count = len(own)
        found = {name: np.zeros(count) for name in _LEVELS}
        for verdict in self.verdicts:
            lower, upper, sliding = (
                np.zeros(count) if column is None else np.repeat(column, count)
                for column in (verdict.lower, verdict.upper, verdict.sliding)
            )
            facts = {name: np.repeat(column, count) for name, column in verdict.facts.items()}
            largest = own >= facts["first"] * (1 - LAST_DIGITS) if facts else np.zeros(count, bool)
            pairs = Pairs(
                value=np.full(count, value),
                lower=lower,
                upper=upper,
                sliding=sliding,
                own=own,
                amount=own,
                is_largest=largest,
                is_vague=np.full(count, not are_identified),
                facts=facts,
                are_holdings=are_holdings,
            )
            rule = verdict.rule
            levels = pairs.percentage() if rule is None else rule.levels_against(pairs)
            for name, asked in asked_levels(verdict, "both", levels).items():
                found[name] = np.maximum(found[name], asked)
        readers = (self.lower, self.upper, self.sliding)
        capped = (np.minimum(found[n], r) for n, r in zip(_LEVELS, readers, strict=True))
        return LevelsAgainst(*capped)

    def label(self, table: Table) -> str:
        """Its cells by name, and why it is sensitive."""
        names = first_few([f"({table.labels[cell]})" for cell in self.cells.tolist()])
        certainty = "" if self.is_exact else ", in the worst case"
        certainty += ", closely" if self.is_close else ""
        return f"{names}: {self.reason}{certainty}"


def sensitive_sums(table: Table, hidden: Booleans) -> list[SensitiveSum]:
    """The sums that everybody knows and that rules applied to the table find sensitive.

    Args:
        table: A table to which rules were applied.
        hidden: The cells that are not published with a value.
    """
    return _judged_sums(table, hidden, known_sums(table.relations, hidden, _occupied(table)))


def newly_sensitive_sums(table: Table, before: Booleans, hidden: Booleans) -> list[SensitiveSum]:
    """Sensitive sums that everybody knows with one suppression and did not know with another.

    Args:
        table: A table to which rules were applied.
        before: The cells that were not published with a value.
        hidden: Those that are not now.
    """
    occupied = _occupied(table)
    old, new = (known_sums(table.relations, each, occupied) for each in (before, hidden))
    known = {_cells_of(old, row) for row in range(old.shape[0])}
    fresh = [row for row in range(new.shape[0]) if _cells_of(new, row) not in known]
    return _judged_sums(table, hidden, sparse.csr_array(new[fresh]))


def _cells_of(sums: Sums, row: int) -> bytes:
    """The cells of a sum, for comparison."""
    return np.sort(sums.indices[sums.indptr[row] : sums.indptr[row + 1]]).tobytes()


def nearly_known_sums(table: Table, width: Floats) -> list[SensitiveSum]:
    """Sums that rules find sensitive and that may be known closely, though not exactly.

    In a relation the sum of some hidden cells is known to within what is known of the others. In
    relations of up to eight hidden cells all of their sums are looked at; in longer ones the sums
    without one of the narrowest cells, and without several of them. How closely readers know such
    a sum has to be found out: other relations may tell more.

    Args:
        table: A table to which rules were applied.
        width: How closely each cell is known: 0 for published ones, inf where nothing is told.
    """
    hidden = width > 0
    relations, occupied = table.relations, _occupied(table)
    value = np.abs(table.value)
    inside = relations.copy()
    inside.data = np.sign(inside.data) * (occupied & hidden)[inside.indices]
    inside.eliminate_zeros()
    row = np.repeat(np.arange(inside.shape[0]), np.diff(inside.indptr))
    is_part = inside.data > 0
    # A hidden total is as uncertain as its own interval.
    about_total = np.bincount(
        row[~is_part], width[inside.indices[~is_part]], minlength=inside.shape[0]
    )
    row, cell = row[is_part], inside.indices[is_part].astype(np.int64)
    order = np.lexsort((width[cell], row))
    row, cell = row[order], cell[order]
    count = np.bincount(row, minlength=inside.shape[0])
    first = np.cumsum(count) - count
    # All parts together are the total, which is a cell itself.
    parts = np.asarray((relations.sign() * occupied > 0).sum(axis=1)).ravel()
    found = [np.zeros((0, 2), np.int64)]
    rows = 0
    for size in np.unique(count[count > 1]).tolist():
        of_size = np.flatnonzero(count == size)
        cells = cell[first[of_size][:, None] + np.arange(size)]
        for kept in _choices(size):
            left_out = np.setdiff1d(np.arange(size), kept)
            rest = width[cells[:, left_out]].sum(axis=1) + about_total[of_size]
            # What is known exactly is found elsewhere, and no rule asks for more than the value.
            near = (rest > 0) & (rest < value[cells[:, kept]].sum(axis=1))
            near &= len(kept) < parts[of_size]
            chosen = cells[near][:, kept]
            number = rows + np.arange(len(chosen))
            found.append(np.column_stack([np.repeat(number, len(kept)), chosen.ravel()]))
            rows += len(chosen)
    at = np.concatenate(found)
    sums = sparse.csr_array(
        (np.ones(len(at)), (at[:, 0], at[:, 1])), shape=(rows, len(table.value))
    )
    judged = _judged_sums(table, hidden, _distinct(sums))
    return [replace(each, is_close=True) for each in judged]


def _choices(size: int) -> list[Integers]:
    """Which of so many hidden cells, the narrowest first, are taken for a sum."""
    every = np.arange(size)
    if size <= _ALL_SUMS_OF:
        masks = (np.array(each, bool) for each in product((False, True), repeat=size))
        return [every[mask] for mask in masks if mask.sum() > 1]
    few = range(min(size - 2, _NARROWEST))
    ones = [every[every != place] for place in few]
    return [every, *ones, *(every[place + 1 :] for place in few if place)]


def _occupied(table: Table) -> Booleans:
    return np.asarray(table.value != 0 if table.count is None else table.count != 0)


def _judged_sums(table: Table, hidden: Booleans, sums: Sums) -> list[SensitiveSum]:
    """Those of some sums that rules applied to the table find sensitive."""
    rules: list[Verdict] = []
    for verdict in table.verdicts:
        if verdict.rule is not None and verdict.rule.judges_sums:
            same = [v for v in rules if v.rule == verdict.rule and v.levels == verdict.levels]
            rules += [] if same else [verdict]
    for column in (table.count, table.holding_count, table.weighted_count):
        if column is not None and np.isnan(column).any():
            # Of linked tables some may not say it: rules have nothing to judge there.
            said = sums @ (~np.isnan(column)).astype(np.int64) > 0
            sums = sums[np.flatnonzero(said)]
    if not rules or not hidden.any() or not sums.shape[0]:
        return []
    union = _Union(table, sums, [v.rule.largest_needed for v in rules if v.rule is not None])
    count = sums.shape[0]
    reason = np.full(count, "", object)
    exact = np.ones(count, bool)
    level = {name: np.zeros(count) for name in _LEVELS}
    verdicts = [_judged(union, verdict) for verdict in rules]
    for found in verdicts:
        reason[found.cells] = join_reasons(
            reason[found.cells], np.full(len(found.cells), found.reason, object)
        )
        exact[found.cells] &= union.is_exact(found)
        for name, asked in asked_levels(found, "both").items():
            level[name][found.cells] = np.maximum(level[name][found.cells], asked)
    value = np.abs(sums @ table.value)
    none = sum(level.values()) == 0
    level["lower_level"][none] = level["upper_level"][none] = _LEAST_SHARE * value[none]
    return [
        SensitiveSum(
            cells=sums.indices[sums.indptr[row] : sums.indptr[row + 1]].astype(np.int64),
            reason=str(reason[row]),
            is_exact=bool(exact[row]),
            lower=float(level["lower_level"][row]),
            upper=float(level["upper_level"][row]),
            sliding=float(level["sliding_level"][row]),
            verdicts=tuple(at for found in verdicts for at in _at(found, row)),
        )
        for row in np.flatnonzero(reason != "").tolist()
    ]


def _at(verdict: Verdict, cell: int) -> list[Verdict]:
    """A verdict on one cell alone, none where the cell is not sensitive."""
    place = int(np.searchsorted(verdict.cells, cell))
    if place == len(verdict.cells) or verdict.cells[place] != cell:
        return []
    one = slice(place, place + 1)
    return [
        replace(
            verdict,
            cells=verdict.cells[one],
            lower=verdict.lower[one],
            upper=verdict.upper[one],
            sliding=None if verdict.sliding is None else verdict.sliding[one],
            facts={name: column[one] for name, column in verdict.facts.items()},
        )
    ]


def known_sums(relations: Sums, hidden: Booleans, occupied: Booleans) -> Sums:
    """Sums of two or more hidden cells that follow from one relation or from two.

    The sum of all parts of a published total is that total, and is left out.

    Args:
        relations: Totals and their parts, each relation with right-hand side 0.
        hidden: The cells that are not published with a value.
        occupied: The cells that are not empty: others add nothing.
    """
    shown = relations.copy()
    shown.data = shown.data * (occupied[shown.indices] & ~hidden[shown.indices])
    shown.eliminate_zeros()
    inside = relations.copy()
    inside.data = np.sign(inside.data) * (occupied & hidden)[inside.indices]
    inside.eliminate_zeros()
    size = np.diff(inside.indptr)
    # Nothing but hidden parts, and a total that may be published.
    bare = np.asarray((shown > 0).sum(axis=1)).ravel() == 0
    plus, minus = (inside > 0).astype(np.int32), (inside < 0).astype(np.int32)
    has_total = np.asarray(minus.sum(axis=1)).ravel() > 0
    found = [inside[np.flatnonzero(~has_total & ~bare & (size > 1))]]
    same = sparse.triu(plus @ plus.T + minus @ minus.T, k=1).tocoo()
    # One of the two sums has to be part of the other where no total is hidden in either.
    useful = has_total[same.row] | has_total[same.col]
    useful |= same.data == np.minimum(size[same.row], size[same.col])
    found += _combined(inside, same.row[useful], same.col[useful], -1.0)
    other = sparse.triu(plus @ minus.T + minus @ plus.T, k=1).tocoo()
    useful = ~(bare[other.row] & bare[other.col])
    found += _combined(inside, other.row[useful], other.col[useful], 1.0)
    together = sparse.vstack([abs(rows) for rows in found], format="csr")
    return _distinct(together)


def _distinct(sums: Sums) -> Sums:
    """Each sum once: the same one may follow from several relations."""
    key = sums @ np.random.default_rng(0).integers(1, 2**40, sums.shape[1])
    _, first = np.unique(key, return_index=True)
    found: Sums = sums[np.sort(first)]
    found.sort_indices()
    return found


def _combined(inside: Sums, one: Integers, two: Integers, sign: float) -> list[Sums]:
    """Combinations of two relations each in which all cells have the same sign, and are several."""
    found = []
    for begin in range(0, len(one), _PAIRS_AT_ONCE):
        chosen = slice(begin, begin + _PAIRS_AT_ONCE)
        rows = inside[one[chosen]] + sign * inside[two[chosen]]
        rows.eliminate_zeros()
        ones = np.asarray((abs(rows) > 1).sum(axis=1)).ravel() == 0
        net, size = np.asarray(rows.sum(axis=1)).ravel(), np.diff(rows.indptr)
        found.append(rows[np.flatnonzero(ones & (np.abs(net) == size) & (size > 1))])
    return found


def _judged(union: _Union, verdict: Verdict) -> Verdict:
    """What a rule says of the sums."""
    rule = verdict.rule
    assert rule is not None
    judged = union.largest if rule.largest_needed else union.counted
    return replace(rule.judge(judged), levels=verdict.levels)


class _Union:
    """Sums as the cells of tables that rules can judge.

    Attributes:
        counted: With the numbers of contributors.
        largest: With the largest contributions, without numbers: in the worst case contributions
            need not add up.
    """

    def __init__(self, table: Table, sums: Sums, needed: Sequence[int]):
        self._sums = sums
        self._judged = table.value
        if table.shadow is not None:
            self._judged = np.where(np.isnan(table.shadow), table.value, table.shadow)
        width = max([_FEWEST_TOPS, *needed])
        contributors = self._merged(table.contributors, table.count, table.top, width)
        holdings = self._merged(table.holdings, table.holding_count, table.holding_top, width)
        self._exact = {False: contributors[2], True: holdings[2]}
        codes = [str(number) for number in range(sums.shape[0])]
        grid = Grid({"sum": Hierarchy.flat(codes)}, np.arange(1, len(codes) + 1))
        value = sums @ table.value
        weighted = table.weighted_count
        self.counted = Table(
            grids=(grid,),
            value=value,
            count=contributors[0],
            holding_count=holdings[0],
            weighted_count=None if weighted is None else self._most(weighted),
        )
        self.largest = Table(
            grids=(grid,),
            value=value,
            shadow=sums @ self._judged,
            top=contributors[1],
            holding_top=holdings[1],
        )

    def is_exact(self, verdict: Verdict) -> Booleans:
        """Whether contributors are known of the sums that a verdict is about."""
        holding = bool(getattr(verdict.rule, "holding", False))
        return self._exact[holding][verdict.cells]

    def _most(self, column: Floats) -> Floats:
        """The largest entry among the cells of each sum; NaN where no cell has any."""
        entries = column[self._sums.indices]
        return np.asarray(np.fmax.reduceat(entries, self._sums.indptr[:-1]), np.float64)

    def _merged(
        self, largest: Largest | None, count: Floats | None, top: Floats | None, width: int
    ) -> tuple[Floats | None, Floats | None, Booleans]:
        """The number of contributors of each sum, the largest, and whether both are exact."""
        sums = self._sums
        exact = np.zeros(sums.shape[0], bool)
        fewest = None if count is None else self._most(count)
        amount = top if largest is None else largest.amount
        if amount is None:
            return fewest, None, exact
        # The largest of all cells may be the same contributor, and so may the second.
        size = np.abs(np.nan_to_num(amount))
        tops = np.zeros((sums.shape[0], width))
        shown = min(width, size.shape[1])
        tops[:, :shown] = (sums @ size)[:, :shown]
        tops[:, shown:] = tops[:, shown - 1 : shown]
        if largest is None or count is None:
            return fewest, self._within(tops, exact, amount), exact
        there = ~np.isnan(largest.amount)
        complete = count <= there.sum(axis=1)
        named = (largest.is_known == there).all(axis=1) & there.any(axis=1)
        signed = (np.nan_to_num(largest.amount) < 0).any(axis=1)
        exact = ~self._any(~(complete & named))
        better = np.flatnonzero(exact | ~self._any(~named | signed))
        if len(better) and fewest is not None:
            number, tops[better] = self._by_name(largest, ~complete, better, width)
            fewest[better] = np.where(exact[better], number, np.fmax(fewest[better], number))
        return fewest, self._within(tops, exact, amount), exact

    def _within(self, tops: Floats, exact: Booleans, amount: Floats) -> Floats:
        """Contributions in the worst case, none beyond what is left of the total.

        Where contributions may be negative, nothing tells what others contribute: one is taken to
        contribute all.
        """
        total = self._sums @ self._judged
        negative = (np.nan_to_num(amount) < 0).any(axis=1) | (self._judged < 0)
        signed = self._any(np.asarray(negative)) & ~exact
        before = np.cumsum(tops, axis=1) - tops
        capped = np.clip(np.maximum(total, 0.0)[:, None] - before, 0.0, tops)
        found = np.where(exact[:, None], tops, capped)
        found[signed] = 0.0
        found[signed, 0] = total[signed]
        return found

    def _any(self, cells: Booleans) -> Booleans:
        return np.asarray(self._sums @ cells.astype(np.int64) > 0)

    def _by_name(
        self, largest: Largest, open_ended: Booleans, chosen: Integers, width: int
    ) -> tuple[Floats, Floats]:
        """How many contributors are listed in sums, and the most that the largest can contribute.

        Whoever is not listed in a cell that has more contributors than it lists contributes at
        most as much as the last one listed, and no more than the rest.
        """
        sums = self._sums[chosen]
        amount = np.nan_to_num(largest.amount)
        listed = (~np.isnan(largest.amount)).sum(axis=1)
        last = np.take_along_axis(amount, np.maximum(listed - 1, 0)[:, None], axis=1)[:, 0]
        rest = np.maximum(self._judged - amount.sum(axis=1), 0.0)
        unlisted = np.where(open_ended, np.minimum(np.abs(last), rest), 0.0)
        row = np.repeat(np.arange(len(chosen)), np.diff(sums.indptr))
        entry, rank = np.nonzero(largest.who[sums.indices] >= 0)
        row, cell = row[entry], sums.indices[entry]
        who = largest.who[cell, rank]
        extra = amount[cell, rank] - unlisted[cell]
        order = np.lexsort((who, row))
        row, who, extra = row[order], who[order], extra[order]
        first = np.flatnonzero(np.append(True, (np.diff(row) != 0) | (np.diff(who) != 0)))
        row, total = row[first], np.add.reduceat(extra, first)
        others = sums @ unlisted
        total = total + others[row]
        order = np.lexsort((-np.abs(total), row))
        row, total = row[order], total[order]
        place = np.arange(len(row)) - np.searchsorted(row, row)
        tops = np.repeat(others[:, None], width, axis=1)
        kept = place < width
        tops[row[kept], place[kept]] = total[kept]
        return np.bincount(row, minlength=len(chosen)).astype(np.float64), tops
