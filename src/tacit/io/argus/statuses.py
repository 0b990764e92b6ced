"""The status of each cell by tau-ARGUS' numbers and letters, and which rule struck.

All of this is confidential: it tells sensitive cells from those that protect them.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from tacit.outcome import Suppression
from tacit.problem import Booleans, Integers
from tacit.release.release import WorkingPapers
from tacit.rules import (
    Dominance,
    GroupDisclosure,
    MinFrequency,
    MissingSafe,
    PPercent,
    PriorPosterior,
    Request,
    SmallCounts,
    ZeroCells,
)
from tacit.table import CellStatus, Table
from tacit.table.judging import SEPARATOR, Verdict


class ArgusStatus(IntEnum):
    """The numbers that tau-ARGUS writes.

    There are more in its files (7 and 8, singletons; 13, empty but not by nature), for which
    tacit has no counterpart: they are never written.
    """

    SAFE = 1
    SAFE_BY_HAND = 2
    UNSAFE = 3
    REQUEST = 4
    FREQUENCY = 5
    ZERO = 6
    UNSAFE_BY_HAND = 9
    PROTECTED = 10
    SECONDARY = 11
    SECONDARY_BY_HAND = 12
    EMPTY = 14


SUPPRESSED = "secondary by hand"
"""The reason of a verdict that cells are to be suppressed, although they are not sensitive."""

NAMES = {
    ArgusStatus.SAFE: "safe",
    ArgusStatus.SAFE_BY_HAND: "safe (manual)",
    ArgusStatus.UNSAFE: "unsafe",
    ArgusStatus.REQUEST: "unsafe (request)",
    ArgusStatus.FREQUENCY: "unsafe (frequency)",
    ArgusStatus.ZERO: "unsafe (zero cell)",
    ArgusStatus.UNSAFE_BY_HAND: "unsafe (manual)",
    ArgusStatus.PROTECTED: "protected",
    ArgusStatus.SECONDARY: "secondary",
    ArgusStatus.SECONDARY_BY_HAND: "secondary (manual)",
    ArgusStatus.EMPTY: "empty",
}
"""What the statuses are called in reports."""

_LETTERS = {
    ArgusStatus.SAFE: "S",
    ArgusStatus.SAFE_BY_HAND: "S",
    ArgusStatus.PROTECTED: "P",
    ArgusStatus.SECONDARY: "M",
    ArgusStatus.SECONDARY_BY_HAND: "M",
    ArgusStatus.EMPTY: "E",
}
"""Letters of statuses in a table file; all others are unsafe, U."""


class Cause(IntEnum):
    """Why a cell is unsafe, in the order in which tau-ARGUS asks.

    A decision by hand overrides rules, so it comes first. Cells that are only to be suppressed
    are unsafe to tacit, but not to tau-ARGUS.
    """

    BY_HAND = 0
    DOMINANCE = 1
    SECOND_DOMINANCE = 2
    P_PERCENT = 3
    REQUEST = 4
    FREQUENCY = 5
    ZERO = 6
    SUPPRESSED = 7
    NONE = 8


_STATUS = {
    Cause.BY_HAND: ArgusStatus.UNSAFE_BY_HAND,
    Cause.DOMINANCE: ArgusStatus.UNSAFE,
    Cause.SECOND_DOMINANCE: ArgusStatus.UNSAFE,
    Cause.P_PERCENT: ArgusStatus.UNSAFE,
    Cause.REQUEST: ArgusStatus.REQUEST,
    Cause.FREQUENCY: ArgusStatus.FREQUENCY,
    Cause.ZERO: ArgusStatus.ZERO,
    Cause.SUPPRESSED: ArgusStatus.SECONDARY_BY_HAND,
}

_FLAGS = {
    Cause.BY_HAND: "B",
    Cause.DOMINANCE: "B",
    Cause.SECOND_DOMINANCE: "C",
    Cause.P_PERCENT: "F",
    Cause.REQUEST: "B",
    Cause.FREQUENCY: "A",
    Cause.ZERO: "B",
    Cause.SUPPRESSED: "D",
}
"""Flags of unsafe cells for structural business statistics."""

_BY_TITLE = {
    Dominance.title: Cause.DOMINANCE,
    PriorPosterior.title: Cause.P_PERCENT,
    PPercent.title: Cause.P_PERCENT,
    Request.title: Cause.REQUEST,
    MinFrequency.title: Cause.FREQUENCY,
    SmallCounts.title: Cause.FREQUENCY,
    GroupDisclosure.title: Cause.FREQUENCY,
    ZeroCells.title: Cause.ZERO,
    SUPPRESSED: Cause.SUPPRESSED,
}


def causes(papers: WorkingPapers) -> Integers:
    """Why each cell of the table is unsafe, see `Cause`; NONE for all that are not."""
    sensitive = papers.problem.is_sensitive
    found = np.full(len(sensitive), int(Cause.NONE))
    table = papers.table
    if table is not None:
        rules = dict.fromkeys(v.rule for v in table.verdicts if isinstance(v.rule, Dominance))
        for verdict in table.verdicts:
            cause = _cause(verdict, [*rules])
            found[verdict.cells] = np.minimum(found[verdict.cells], int(cause))
        _by_reason(table, sensitive & (found == Cause.NONE), found)
    # Nobody says why: it was given with the table.
    found[sensitive & (found == Cause.NONE)] = int(Cause.BY_HAND)
    return np.where(sensitive, found, int(Cause.NONE))


def _cause(verdict: Verdict, dominance: list[Dominance]) -> Cause:
    """Why a verdict finds cells unsafe; of several dominance rules, the first one is apart.

    Rules for holdings are counted apart from those for contributors.
    """
    rule = verdict.rule
    if rule is None:
        return Cause.SUPPRESSED if verdict.reason == SUPPRESSED else Cause.BY_HAND
    if isinstance(rule, Dominance):
        alike = [each for each in dominance if each.holding == rule.holding]
        return Cause.SECOND_DOMINANCE if alike.index(rule) else Cause.DOMINANCE
    return _BY_TITLE.get(getattr(rule, "title", ""), Cause.DOMINANCE)


def _by_reason(table: Table, cells: Booleans, found: Integers) -> None:
    """Causes from what the table calls its reasons, where no verdict is left."""
    if table.reason is None:
        return
    for cell in np.flatnonzero(cells).tolist():
        words = str(table.reason[cell]).split(SEPARATOR)
        found[cell] = min(
            [int(_BY_TITLE.get(word, Cause.BY_HAND)) for word in words if word] or [0]
        )


def statuses(papers: WorkingPapers, why: Integers | None = None) -> Integers:
    """The status of each cell of the table by number, see `ArgusStatus`.

    Args:
        papers: The working papers.
        why: What `causes` found, if it is at hand.
    """
    problem, table = papers.problem, papers.table
    why = causes(papers) if why is None else why
    found = np.full(problem.cell_count, int(ArgusStatus.SAFE))
    found[problem.must_publish] = int(ArgusStatus.PROTECTED)
    given = np.zeros(problem.cell_count, bool)
    if table is not None:
        by_hand = np.zeros(problem.cell_count, bool)
        for verdict in table.verdicts:
            if verdict.decided is not None and verdict.reason != MissingSafe.title:
                by_hand[verdict.decided] = True
        found[by_hand & (table.status == CellStatus.SAFE.value)] = int(ArgusStatus.SAFE_BY_HAND)
        found[table.status == CellStatus.EMPTY.value] = int(ArgusStatus.EMPTY)
        given = by_hand & (table.status == CellStatus.SECONDARY.value)
    solution = papers.outcome.solution
    if isinstance(solution, Suppression):
        found[solution.suppressed] = int(ArgusStatus.SECONDARY)
        found[solution.suppressed & given] = int(ArgusStatus.SECONDARY_BY_HAND)
    for cause, status in _STATUS.items():
        found[why == cause] = int(status)
    return found


def letters(status: Integers) -> npt.NDArray[np.object_]:
    """Statuses as the letters of a table file: S, U, P, M and E."""
    known = {int(number): letter for number, letter in _LETTERS.items()}
    return np.array([known.get(number, "U") for number in status.tolist()], object)


def flags(status: Integers, why: Integers) -> npt.NDArray[np.object_]:
    """Statuses as the flags of structural business statistics: A, B, C, D, F, V and `-`.

    Args:
        status: What `statuses` found.
        why: What `causes` found.
    """
    found = np.full(len(status), "V", object)
    found[np.isin(status, (ArgusStatus.SECONDARY, ArgusStatus.SECONDARY_BY_HAND))] = "D"
    found[status == ArgusStatus.EMPTY] = "-"
    for cause, flag in _FLAGS.items():
        found[why == cause] = flag
    return found
