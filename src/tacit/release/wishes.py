"""Wishes that cannot be granted, found before the search: which, and which cells stand against.

Whatever is suppressed besides, a reader knows no less than with everything suppressed that may be.
What is exposed then is exposed in every publication that grants the wishes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tacit.attack.audit import Audit, audit
from tacit.attack.knowledge import Attacker
from tacit.clock import Clock
from tacit.observer import Observer
from tacit.problem import ADDITIVITY_TOLERANCE, Booleans, Integers, Problem
from tacit.table import CellStatus, Table
from tacit.table.labels import name_cells

METHODS = ("suppress", "intervals", "combined")
"""Methods that hide cells; others say themselves why there is nothing to find."""

_SHARE = 0.2
"""The share of the time limit that may be spent on this."""
_MOST = 5
"""How many exposed cells are explained."""
_LARGE = 3000
"""Tables of more cells are not attacked where relations alone show wishes to be impossible."""


class _Until(Observer):
    """Ends what takes too long."""

    def __init__(self, clock: Clock, observer: Observer | None):
        self._clock = clock
        self._observer = observer

    def should_stop(self) -> bool:
        asked = self._observer is not None and self._observer.should_stop()
        return asked or self._clock.is_up


def impossible_wishes(
    table: Table,
    problem: Problem,
    attackers: Sequence[Attacker],
    limit: float,
    observer: Observer | None = None,
    tolerance: float = ADDITIVITY_TOLERANCE,
) -> list[str]:
    """Why cells that must be published by a mark cannot be; empty if they may, or if time is short.

    Args:
        table: The table with its marks.
        problem: What methods see of it.
        attackers: Who attacks; a reader where there are none.
        limit: The time limit of the method.
        observer: May stop it.
        tolerance: How exactly the table must add up.
    """
    wished = np.flatnonzero(table.status == CellStatus.PUBLISH.value)
    if not len(wished) or not len(problem.sensitive):
        return []
    clock = Clock(_SHARE * limit)
    found = _Wishes(table, problem, wished, attackers, clock, _Until(clock, observer), tolerance)
    return found.reasons()


class _Wishes:
    def __init__(
        self,
        table: Table,
        problem: Problem,
        wished: Integers,
        attackers: Sequence[Attacker],
        clock: Clock,
        observer: Observer,
        tolerance: float,
    ):
        self._table = table
        self._problem = problem
        self._wished = wished
        self._attackers = attackers
        self._clock = clock
        self._observer = observer
        self._tolerance = tolerance

    def reasons(self) -> list[str]:
        with self._clock:
            return self._reasons()
        # Nothing was found out in time; the search will tell.
        return []

    def _reasons(self) -> list[str]:
        if self._problem.cell_count > _LARGE:
            alone = self._left_alone()
            if alone:
                return self._listed([*alone], alone.__getitem__, "at least ")
        # Readers are asked first: contributors take longer, and know no less.
        problems = [self._problem.with_insiders(None)]
        if self._problem.insiders is not None:
            problems.append(self._problem)
        exposed: set[int] = set()
        for problem in problems:
            exposed = self._exposed(problem, self._wished)
            if exposed:
                # What is exposed without any wish is not for a mark to change.
                exposed -= self._exposed(problem, np.zeros(0, np.int64))
            if exposed:
                break
        if not exposed or self._clock.is_up:
            return []
        return self._listed(sorted(exposed), self._guilty)

    def _listed(
        self, cells: Sequence[int], guilty: Callable[[int], list[int]], least: str = ""
    ) -> list[str]:
        told = [self._told(cell, guilty(cell)) for cell in cells[:_MOST]]
        if len(cells) > _MOST:
            told.append(f"and {least}{len(cells) - _MOST} more sensitive cells")
        return told

    def _left_alone(self) -> dict[int, list[int]]:
        """Sensitive cells that a relation tells, with the wishes in it; found without attacks.

        That is the case if a cell is the only one in a relation that may be hidden. Most wishes
        that are too much are found here, at once however large the table is; fewer of those in
        the relation may be too much already.
        """
        problem = self._problem
        needs = np.zeros(problem.cell_count, bool)
        levels = (problem.lower_level, problem.upper_level, problem.sliding_level)
        needs[problem.sensitive] = np.maximum.reduce(levels) > 0
        may_vary = (~problem.must_publish | problem.is_sensitive) & (problem.lower < problem.upper)
        A = abs(problem.relations).sign().tocsr()
        rows = np.flatnonzero(A @ may_vary.astype(np.float64) == 1)
        is_wished = np.zeros(problem.cell_count, bool)
        is_wished[self._wished] = True
        found: dict[int, list[int]] = {}
        for row in rows.tolist():
            cells = A.indices[A.indptr[row] : A.indptr[row + 1]].astype(np.int64)
            (cell,) = cells[may_vary[cells]].tolist()
            guilty = cells[is_wished[cells]].tolist()
            if needs[cell] and (cell not in found or len(guilty) < len(found[cell])):
                found[cell] = guilty
        # What is told without any wish is not for a mark to change.
        return {cell: found[cell] for cell in sorted(found) if found[cell]}

    def _exposed(self, problem: Problem, granted: Integers) -> set[int]:
        """Sensitive cells that are exposed although all is hidden but what must be published."""
        hidden = ~self._problem.must_publish
        hidden[self._wished] = True
        hidden[granted] = False
        hidden[problem.sensitive] = True
        found = self._audited(problem, hidden)
        return set(found.exposed_cells)

    def _audited(self, problem: Problem, hidden: Booleans) -> Audit:
        return audit(
            problem,
            np.flatnonzero(hidden),
            cells="sensitive",
            exact=False,
            attackers=self._attackers,
            observer=self._observer,
            tolerance=self._tolerance,
        )

    def _told(self, cell: int, wished: Sequence[int]) -> str:
        labels, reason = self._table.labels, self._table.reason
        guilty = [labels[each] for each in wished]
        why = "" if reason is None or not reason[cell] else f" ({reason[cell]})"
        several = "they are" if len(guilty) > 1 else "it is"
        return (
            f"{name_cells(guilty)} must be published, but where {several}, ({labels[cell]}), which "
            f"is sensitive{why}, can be deduced too closely whatever else is suppressed; take back "
            f"{'one of the marks' if len(guilty) > 1 else 'the mark'}"
        )

    def _guilty(self, cell: int) -> list[int]:
        """Wishes of which none can be left out without the cell being safe.

        Halves are tried first, so that few of many wishes are found in few steps. Where time runs
        out, there may be more than needed.
        """
        alone = self._alone(cell)
        readers = self._exposed(alone, self._wished)
        problem = alone if cell in readers else self._problem

        def is_exposed(granted: list[int]) -> bool:
            return cell in self._exposed(problem, np.array(sorted(granted), np.int64))

        def needed(fixed: list[int], added: bool, open_ones: list[int]) -> list[int]:
            if added and is_exposed(fixed):
                return []
            if len(open_ones) == 1 or self._clock.is_up:
                return open_ones
            first, second = np.array_split(np.array(open_ones), 2)
            later = needed(fixed + first.tolist(), True, second.tolist())
            sooner = needed(fixed + later, bool(later), first.tolist())
            return sooner + later

        return sorted(needed([], False, self._nearby(cell)))

    def _alone(self, cell: int) -> Problem:
        """The problem in which only this cell is sensitive, and readers attack."""
        problem = self._problem
        place = problem.sensitive == cell
        levels = {
            name: getattr(problem, name)[place]
            for name in ("lower_level", "upper_level", "sliding_level")
        }
        return problem.with_insiders(None).replace(sensitive=[cell], **levels)

    def _nearby(self, cell: int) -> list[int]:
        """The wishes, those first that share a relation with the cell: the first ones are named."""
        A = self._problem.relations
        rows = np.unique(A[:, [cell]].nonzero()[0])
        near = np.isin(self._wished, A[rows].nonzero()[1])
        return [*self._wished[near].tolist(), *self._wished[~near].tolist()]
