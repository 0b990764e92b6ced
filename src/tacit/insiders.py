"""`Insiders`: contributors as attackers, and what must stay uncertain to each of them.

A contributor knows its own figures. What must stay secret from it is the figure of another
contributor, not the total of a cell, so each contributor has protection levels of its own; the
sensitivity rules compute them. All numbers here are over the cells of one `Problem`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Booleans, Floats, Integers
from tacit.errors import ProblemError


@dataclass(frozen=True, eq=False)
class LevelsAgainst:
    """Protection levels against insiders, one entry each for what they are about.

    Attributes:
        lower: How far below its value the smallest possible value must lie for the insider.
        upper: The same above its value.
        sliding: The least width of the interval that the insider can deduce.
    """

    lower: Floats
    upper: Floats
    sliding: Floats

    @classmethod
    def zero(cls, count: int) -> LevelsAgainst:
        """No level at all, for this many entries."""
        return cls(np.zeros(count), np.zeros(count), np.zeros(count))

    def __len__(self) -> int:
        return len(self.lower)

    def take(self, chosen: Integers | Booleans) -> LevelsAgainst:
        """Some of the entries."""
        return LevelsAgainst(self.lower[chosen], self.upper[chosen], self.sliding[chosen])


@dataclass(frozen=True, eq=False)
class Insiders:
    """Contributors who attack, with what each knows of which cell.

    Entries are ordered by insider, and by cell within an insider: those of insider k are
    `start[k]` to `start[k + 1]`. A cell of the table that an insider contributes to without being
    listed here is one it knows no more about than readers do.

    Attributes:
        start: Where the entries of each insider begin, and the end of the last.
        cells: The cell of each entry, totals included.
        amount: What the insider contributes to it: the cell is at least that much.
        alone: Whether nobody else contributes, so that the insider knows the cell exactly.
        own: The levels of each entry's cell against this insider; 0 where it is not sensitive
            and where the insider is alone in it.
        outside: For each sensitive cell of the problem, the levels against an insider without an
            entry for it. Never above the levels against readers.
        coalition: How many insiders may pool what they know.
        are_identified: Whether an insider is recognised in every cell. Otherwise each cell with
            a single contributor was taken for another insider.
        are_holdings: Whether insiders are holdings, groups of contributors that count as one.
    """

    start: Integers
    cells: Integers
    amount: Floats
    alone: Booleans
    own: LevelsAgainst
    outside: LevelsAgainst
    coalition: int = 1
    are_identified: bool = True
    are_holdings: bool = False

    def __post_init__(self) -> None:
        lengths = {len(self.cells), len(self.amount), len(self.alone), len(self.own)}
        if len(lengths) != 1 or int(self.start[-1]) != len(self.cells):
            raise ProblemError("insiders: entries and their columns differ in length")
        for array in (self.start, self.cells, self.amount, self.alone):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def insider(self) -> Integers:
        """The insider of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def entries(self, insider: int) -> slice:
        """Where the entries of one insider stand."""
        return slice(int(self.start[insider]), int(self.start[insider + 1]))

    def expect(self, cell_count: int, sensitive_count: int) -> None:
        """Refuse insiders that are about another table than one of this size."""
        if len(self.cells) and not 0 <= self.cells.min() <= self.cells.max() < cell_count:
            raise ProblemError(
                f"insiders know about cells that do not exist; they are 0 to {cell_count - 1}"
            )
        if len(self.outside) != sensitive_count:
            raise ProblemError(
                f"insiders have levels for {len(self.outside)} sensitive cells; "
                f"there are {sensitive_count}"
            )

    def renumbered(self, number: Integers, place: Integers, sensitive_count: int) -> Insiders:
        """The same insiders over the cells of another problem.

        Where several cells become one, the insider knows of it what it knows of any of them, and
        the highest levels hold. Insiders without any cell left stay, so that their numbers do.

        Args:
            number: For each cell its number in the other problem, -1 for those that are not there.
            place: For each sensitive cell its place among the sensitive ones of the other
                problem, -1 for those that are not there.
            sensitive_count: How many sensitive cells the other problem has.
        """
        kept = np.flatnonzero(number[self.cells] >= 0)
        who, where = self.insider[kept], number[self.cells[kept]]
        order = np.lexsort((where, who))
        kept, who, where = kept[order], who[order], where[order]
        is_first = np.ones(len(kept), bool)
        is_first[1:] = (np.diff(who) != 0) | (np.diff(where) != 0)
        first = np.flatnonzero(is_first)

        def largest(column: Floats | Booleans) -> Floats | Booleans:
            return np.maximum.reduceat(column[kept], first) if len(first) else column[kept]

        outside = LevelsAgainst.zero(sensitive_count)
        there = np.flatnonzero(place >= 0)
        for level, before in (
            (outside.lower, self.outside.lower),
            (outside.upper, self.outside.upper),
            (outside.sliding, self.outside.sliding),
        ):
            np.maximum.at(level, place[there], before[there])
        return replace(
            self,
            start=np.searchsorted(who[first], np.arange(len(self) + 1)).astype(np.int64),
            cells=where[first],
            amount=largest(self.amount).astype(np.float64),
            alone=largest(self.alone).astype(bool),
            own=LevelsAgainst(
                *(
                    largest(level).astype(np.float64)
                    for level in (self.own.lower, self.own.upper, self.own.sliding)
                )
            ),
            outside=outside,
        )
