"""What insiders know of cells, and the levels against them, for single ones and coalitions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.reach import TOLERANCE, Limits, repeated_ranges
from tacit.errors import InputError
from tacit.insiders import Insiders
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.tolerances import AGREEMENT

Deviations = sparse.csr_array[Any, Any]
LEVELS = ("lower", "upper", "sliding")
"""Names of the levels in the order of their numbers here."""


class InsiderKnowledge:
    """What the insiders of a problem know, arranged for looking up.

    Attributes:
        insiders: The insiders.
    """

    def __init__(self, problem: Problem):
        """Arrange what is known.

        Args:
            problem: The true table.

        Raises:
            InputError: The problem has no insiders.
        """
        if problem.insiders is None:
            raise InputError("the table has no insiders; give it contributors, or leave them out")
        self.insiders: Insiders = problem.insiders
        self._problem = problem
        insiders = self.insiders
        self._who = insiders.insider
        self._keys = self._who * problem.cell_count + insiders.cells
        self._threshold = self._thresholds()
        self._by_cell = np.lexsort((self._threshold, insiders.cells))
        counts = np.bincount(insiders.cells, minlength=problem.cell_count)
        self._first = np.concatenate([[0], np.cumsum(counts)])

    def _thresholds(self) -> Floats:
        """How far each entry's cell may fall before its insider can matter.

        Below 0 where the insider may also matter if the cell rises: it knows the cell exactly,
        or might do so together with others.
        """
        insiders, value = self.insiders, self._problem.value
        value = value[insiders.cells]
        slack = np.maximum(value - insiders.amount, 0.0)
        if insiders.coalition > 1:
            slack = slack - self._largest_others()
            slack = np.where(slack <= AGREEMENT * np.abs(value), -1.0, slack)
        return np.where(insiders.alone, -1.0, slack)

    def _largest_others(self) -> Floats:
        """At most what the other members of a coalition contribute to each entry's cell."""
        insiders = self.insiders
        order = np.lexsort((-insiders.amount, insiders.cells))
        cells = insiders.cells[order]
        rank = np.arange(len(cells)) - np.searchsorted(cells, cells)
        among = rank < insiders.coalition - 1
        most = np.bincount(
            cells[among], insiders.amount[order][among], minlength=self._problem.cell_count
        )
        return np.asarray(most[insiders.cells], np.float64)

    def entries(self, cells: Integers, members: Integers) -> Integers:
        """The entry of insiders for cells, -1 where they have none.

        Args:
            cells: Numbers of cells.
            members: For each of them a row of insiders, -1 for nobody.
        """
        if not len(self._keys):
            return np.full(members.shape, -1, np.int64)
        wanted = members * self._problem.cell_count + cells[:, None]
        place = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.where((members >= 0) & (self._keys[place] == wanted), place, -1)

    def levels(self, cells: Integers, members: Integers) -> Floats:
        """The lower, upper and sliding levels of sensitive cells against coalitions.

        Against several contributors to the cell it is the level against the largest of them,
        plus what the others contribute. Those who are the only contributors learn nothing.

        Args:
            cells: Sensitive cells.
            members: For each of them a row of insiders, -1 for nobody.

        Returns:
            One row per level; see `LEVELS`.
        """
        problem, insiders = self._problem, self.insiders
        entry = self.entries(cells, members)
        takes_part: Booleans = entry >= 0
        amount = np.where(takes_part, insiders.amount[entry] if len(insiders.amount) else 0.0, 0.0)
        largest = np.argmax(np.where(takes_part, amount, -1.0), axis=1)
        each = np.arange(len(cells))
        foremost = entry[each, largest]
        contributes = foremost >= 0
        together = amount.sum(axis=1)
        others = together - amount[each, largest]
        several = takes_part.sum(axis=1) > 1
        value = problem.value[cells]
        settled = several & (together >= value - AGREEMENT * np.abs(value))
        if len(insiders.alone):
            settled |= (takes_part & insiders.alone[entry]).any(axis=1)
        place = np.searchsorted(problem.sensitive, cells)
        levels = np.zeros((3, len(cells)))
        for number, (own, outside, readers) in enumerate(
            (
                (insiders.own.lower, insiders.outside.lower, problem.lower_level),
                (insiders.own.upper, insiders.outside.upper, problem.upper_level),
                (insiders.own.sliding, insiders.outside.sliding, problem.sliding_level),
            )
        ):
            against = own[foremost] + others if len(own) else np.zeros(len(cells))
            level = np.where(contributes, against, outside[place])
            levels[number] = np.where(settled, 0.0, np.minimum(level, readers[place]))
        # Nobody can be made to believe that the others contribute less than nothing.
        levels[0] = np.where(several, np.minimum(levels[0], value - together), levels[0])
        # Differences of figures as large as the cell are known no better than their last digits.
        return np.where(levels > 16 * np.spacing(np.abs(value)), levels, 0.0)

    def highest(self) -> tuple[Floats, Floats]:
        """The highest lower and upper level of each cell against any insider; 0 without one.

        With coalitions those against readers, which none exceeds.
        """
        problem, insiders = self._problem, self.insiders
        lower, upper = np.zeros(problem.cell_count), np.zeros(problem.cell_count)
        if insiders.coalition > 1:
            sliding = problem.sliding_level
            lower[problem.sensitive] = np.maximum(problem.lower_level, sliding)
            upper[problem.sensitive] = np.maximum(problem.upper_level, sliding)
            return lower, upper
        outside, own = insiders.outside, insiders.own
        lower[problem.sensitive] = np.maximum(outside.lower, outside.sliding)
        upper[problem.sensitive] = np.maximum(outside.upper, outside.sliding)
        np.maximum.at(lower, insiders.cells, np.maximum(own.lower, own.sliding))
        np.maximum.at(upper, insiders.cells, np.maximum(own.upper, own.sliding))
        return lower, upper

    def alone_in(self) -> Integers:
        """For each cell the insider who is alone in it, -1 where nobody is."""
        alone = np.full(self._problem.cell_count, -1, np.int64)
        is_alone = self.insiders.alone
        alone[self.insiders.cells[is_alone]] = self._who[is_alone]
        return alone

    def capped(
        self, cells: Integers, up: Floats, down: Floats, against: Booleans
    ) -> tuple[Floats, Floats]:
        """How far cells may rise and fall whoever of some insiders attacks.

        Args:
            cells: The cells, increasing.
            up: How far each may rise otherwise.
            down: How far each may fall.
            against: The insiders.
        """
        place = np.minimum(np.searchsorted(cells, self.insiders.cells), len(cells) - 1)
        counts = against[self._who] & (cells[place] == self.insiders.cells)
        least = np.full(len(cells), np.inf)
        np.minimum.at(least, place[counts], self._threshold[counts])
        return np.where(least < 0, 0.0, up), np.minimum(down, np.maximum(least, 0.0))

    def touched(self, deviations: Deviations) -> Integers:
        """For how many insiders each deviation may move a cell too far."""
        row, _ = self.touching(deviations)
        return np.bincount(row, minlength=deviations.shape[0])

    def limits(self, members: Integers) -> Limits:
        """What coalitions know of cells, as limits of as many requests.

        Args:
            members: For each request a row of insiders, -1 for nobody.
        """
        insiders = self.insiders
        lists, chosen = np.unique(members, axis=0, return_inverse=True)
        row, column = np.nonzero(lists >= 0)
        who = lists[row, column]
        first, length = insiders.start[who], np.diff(insiders.start)[who]
        entry = repeated_ranges(first, length)
        number = np.repeat(row, length)
        order = np.lexsort((insiders.cells[entry], number))
        entry, number = entry[order], number[order]
        cells = insiders.cells[entry]
        is_first = np.ones(len(entry), bool)
        is_first[1:] = (np.diff(number) != 0) | (np.diff(cells) != 0)
        place = np.cumsum(is_first) - 1
        head = np.flatnonzero(is_first)
        cells, number = cells[head], number[head]
        together = np.bincount(place, insiders.amount[entry], minlength=len(head))
        alone = np.bincount(place, insiders.alone[entry], minlength=len(head)) > 0
        several = np.bincount(place, minlength=len(head)) > 1
        value = self._problem.value[cells]
        slack = np.maximum(value - together, 0.0)
        known = alone | (several & (slack <= AGREEMENT * np.abs(value)))
        # A difference in the last digits only may be rounding.
        slack = np.where(known | (slack <= 4 * np.spacing(np.abs(value))), 0.0, slack)
        return Limits(
            chosen.reshape(-1).astype(np.int64),
            np.searchsorted(number, np.arange(len(lists) + 1)).astype(np.int64),
            cells,
            np.where(known, 0.0, np.inf),
            slack,
        )

    def touching(self, deviations: Deviations) -> tuple[Integers, Integers]:
        """Pairs of a deviation and an insider for whom it may move a cell too far.

        With coalitions this also finds those for whom it may do so together with others.

        Returns:
            The row of each pair, and the insider.
        """
        x = sparse.csr_array(deviations)
        row = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
        moved = np.flatnonzero((x.data != 0) & (np.diff(self._first)[x.indices] > 0))
        row, cell, data = row[moved], x.indices[moved].astype(np.int64), x.data[moved]
        fall = np.where(data < 0, -data / (1 + TOLERANCE), 0.0)
        # Sorted among the thresholds of its cell, a fall comes after those it goes beyond.
        cells = np.concatenate([self.insiders.cells, cell])
        amounts = np.concatenate([self._threshold, fall])
        is_entry = np.concatenate([np.ones(len(self._threshold), bool), np.zeros(len(cell), bool)])
        order = np.lexsort((is_entry, amounts, cells))
        before = np.empty(len(cells), np.int64)
        before[order] = np.cumsum(is_entry[order])
        first = self._first[cell]
        length = before[len(self._threshold) :] - first
        entry = self._by_cell[repeated_ranges(first, length)]
        pair = np.unique(np.repeat(row, length) * len(self.insiders) + self._who[entry])
        count = max(len(self.insiders), 1)
        return pair // count, pair % count

    def contributing(self, cells: Integers) -> tuple[Integers, Integers]:
        """Positions in a list of cells, and the insiders with an entry for the cell there."""
        first = self._first[cells]
        length = self._first[cells + 1] - first
        entry = self._by_cell[repeated_ranges(first, length)]
        return np.repeat(np.arange(len(cells)), length), self._who[entry]

    def name(self, members: Integers) -> str:
        """Whom a coalition consists of, for reports: insiders are known by their cells."""
        names = []
        for member in members[members >= 0].tolist():
            part = self.insiders.entries(member)
            cells, alone = self.insiders.cells[part], self.insiders.alone[part]
            if alone.any():
                names.append(
                    f"contributor alone in {self._problem.name_cell(int(cells[alone][0]))}"
                )
            elif len(cells):
                names.append(f"contributor to {self._problem.name_cell(int(cells[0]))}")
            else:
                names.append("contributor")
        return " with ".join(names)
