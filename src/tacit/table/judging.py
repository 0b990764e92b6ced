"""What sensitivity rules say of the cells of a table, brought together.

A rule is anything that judges a table (`Rule`); the table knows none of them by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError, TableError, about, first_few
from tacit.insiders import LevelsAgainst
from tacit.problem import ADDITIVITY_TOLERANCE, Booleans, Floats, Integers
from tacit.table.former import Former
from tacit.table.labels import name_cells
from tacit.table.status import CellStatus, Statuses
from tacit.table.wishes import Wishes, wished_bounds

if TYPE_CHECKING:
    from tacit.table.table import Table

Levels: TypeAlias = Literal["both", "lower", "upper", "sliding"]
"""On which side of its value a sensitive cell is protected.

`sliding` asks for an interval as wide as both levels together, wherever it lies.
"""

Reasons: TypeAlias = npt.NDArray[np.object_]

GIVEN = "given"
"""The reason of a cell that was sensitive before any rule was applied."""

SEPARATOR = "; "
"""What stands between the reasons of a cell that several rules find sensitive."""

OVERRIDDEN = "overridden"
"""The last reason of a cell that is not sensitive because a mark overrides the rules."""

_LAST = f"{SEPARATOR}{OVERRIDDEN}"

_SMALL_SHARE = 1e-3


@dataclass(frozen=True, eq=False, kw_only=True)
class Verdict:
    """What one rule says of the cells of a table.

    Attributes:
        reason: Why these cells are sensitive, in a word or two without parameters.
        cells: Numbers of the sensitive cells, increasing.
        lower: How far below its value each of them is to be protected.
        upper: The same above its value.
        sliding: How wide the attacker's interval must be, where that is asked for as such.
        levels: Which of the levels count; None leaves it to whoever applies the rule.
        decided: Numbers of cells whose status is decided by hand.
        decided_status: Their statuses. `safe` and `publish` of a cell that any rule finds
            sensitive are refused, or hold where that is decided too.
        lenient: For each of these whether the decision is void where the cell is sensitive.
        override: Whether it is.
        rule: What says so, to be asked for levels against contributors; None where these are
            the percentage of what is not a contributor's own.
        facts: Columns with one entry per sensitive cell that the rule needs to answer.
        wishes: What cells cost and what attackers know of them, where that is marked by hand.
        former: What was published of the table before, where this is about that.
    """

    reason: str
    cells: Integers
    lower: Floats
    upper: Floats
    sliding: Floats | None = None
    levels: Levels | None = None
    decided: Integers | None = None
    decided_status: Statuses | None = None
    lenient: Booleans | None = None
    override: bool = False
    rule: LevelsRule | None = None
    facts: Mapping[str, Floats] = field(default_factory=dict)
    wishes: Wishes | None = None
    former: Former | None = None

    def moved(self, number: Integers) -> Verdict:
        """The same verdict on a table in which cells have other numbers."""
        cells = number[self.cells]
        order = np.argsort(cells, kind="stable")
        decided = None if self.decided is None else number[self.decided]
        return replace(
            self,
            cells=cells[order],
            lower=self.lower[order],
            upper=self.upper[order],
            sliding=None if self.sliding is None else self.sliding[order],
            decided=decided,
            facts={name: column[order] for name, column in self.facts.items()},
        )

    def among(self, number: Integers) -> Verdict:
        """The same verdict on some of the cells, whose new numbers are not negative."""
        kept = number[self.cells] >= 0
        decided, status, lenient = self.decided, self.decided_status, self.lenient
        if decided is not None and status is not None:
            those = number[decided] >= 0
            decided, status = decided[those], status[those]
            lenient = None if lenient is None else lenient[those]
        chosen = replace(
            self,
            cells=self.cells[kept],
            lower=self.lower[kept],
            upper=self.upper[kept],
            sliding=None if self.sliding is None else self.sliding[kept],
            decided=decided,
            decided_status=status,
            lenient=lenient,
            facts={name: column[kept] for name, column in self.facts.items()},
        )
        return chosen.moved(number)


@dataclass(frozen=True, eq=False, kw_only=True)
class Pairs:
    """Pairs of a sensitive cell and a contributor who attacks it; one entry each.

    Attributes:
        value: The value of the cell.
        lower: The lower level against readers, as the rule asks for it.
        upper: The upper one.
        sliding: The sliding one.
        own: What the contributor surely adds to the value: 0 for one from elsewhere, and where
            contributions may be negative or are known of a shadow only.
        amount: What it adds to the total that the rule judges, as a magnitude.
        is_largest: Whether nobody contributes more than it does.
        is_vague: Whether it is not known which of the contributors it is, or whether it is one
            of them at all: the worst case counts. `own` and `amount` are then the least.
        facts: What the rule noted about the cell.
        are_holdings: Whether contributors are holdings.
    """

    value: Floats
    lower: Floats
    upper: Floats
    sliding: Floats
    own: Floats
    amount: Floats
    is_largest: Booleans
    is_vague: Booleans
    facts: Mapping[str, Floats]
    are_holdings: bool

    def percentage(self) -> LevelsAgainst:
        """The percentage of the value that readers' levels are, of what is not its own.

        Downwards never more than what is not its own.
        """
        others = np.maximum(self.value - self.own, 0.0)
        share = np.ones(len(self.value))
        np.divide(others, self.value, out=share, where=(self.own > 0) & (self.value > 0))
        capped = self.capped()
        return LevelsAgainst(
            np.minimum(self.lower * share, capped.lower), self.upper * share, self.sliding * share
        )

    def capped(self) -> LevelsAgainst:
        """Readers' levels, downwards never more than what is not its own."""
        # Where nothing is its own, values may be negative and the level stays as it is.
        others = np.where(self.own > 0, np.maximum(self.value - self.own, 0.0), np.inf)
        return LevelsAgainst(np.minimum(self.lower, others), self.upper, self.sliding)


class LevelsRule(Protocol):
    """A rule that knows how much is to stay uncertain to a contributor."""

    @property
    def judges_sums(self) -> bool:
        """Whether the rule makes sense for a sum of cells as well."""
        ...

    @property
    def largest_needed(self) -> int:
        """How many of the largest contributions to a cell it needs to know."""
        ...

    @property
    def in_words(self) -> str:
        """What the rule finds, with its parameters: confidential."""
        ...

    def judge(self, table: Table) -> Verdict:
        """The sensitive cells of a table with the protection levels that they need."""
        ...

    def levels_against(self, pairs: Pairs) -> LevelsAgainst:
        """Protection levels of cells against contributors."""
        ...


class Rule(Protocol):
    """Anything that can tell which cells of a table are sensitive."""

    def judge(self, table: Table) -> Verdict:
        """The sensitive cells of a table with the protection levels that they need."""
        ...


def judged(
    table: Table,
    rules: Sequence[Rule],
    *,
    levels: Levels,
    least_level: float | None,
    lower: Floats | None,
    upper: Floats | None,
) -> tuple[dict[str, Any], list[Wishes]]:
    """The columns of a table that change when rules are applied; see `Table.apply`.

    What marks wish of weights is handed over: these are settled last.

    Args:
        table: The table to judge.
        rules: What judges it.
        levels: Which levels count where the rule does not say.
        least_level: The level of a cell whose rules imply none.
        lower: The lower bounds that attackers will know, NaN or None where not given.
        upper: The same for upper bounds.
    """
    if levels not in get_args(Levels):
        raise InputError(
            f"levels must be one of {', '.join(get_args(Levels))}; it is {levels!r}",
            key=("levels",),
        )
    is_number = isinstance(least_level, int | float | np.number)
    if least_level is not None and not (is_number and 0 < least_level < np.inf):
        raise InputError("least_level must be a positive number", key=("least_level",))
    for rule in rules:
        if isinstance(rule, type):
            raise InputError(f"apply takes rules with their parameters: write {rule.__name__}(...)")
        if not callable(getattr(rule, "judge", None)):
            raise InputError(
                f"{type(rule).__name__} is not a rule; give rules one after the other, such as "
                "MinFrequency(3), PPercent(10)"
            )
    verdicts = []
    for place, rule in enumerate(rules):
        with about("rules", place):
            verdicts.append(rule.judge(table))
    wishes = [verdict.wishes for verdict in verdicts if verdict.wishes is not None]
    lower, upper = wished_bounds(lower, upper, wishes)
    sensitive = table.is_sensitive
    before = [] if table.verdicts else _given_before(table)
    # Rules that find nothing here may find sums of cells, and decisions are remembered.
    noted = [
        replace(v, levels=v.levels or levels, wishes=None, former=None)
        for v in verdicts
        if len(v.cells) or v.rule or v.decided is not None
    ]
    level = {name: np.nan_to_num(_copied(table, name)) for name in _LEVELS}
    for verdict in verdicts:
        sensitive[verdict.cells] = True
        for name, asked in asked_levels(verdict, levels).items():
            level[name][verdict.cells] = np.maximum(level[name][verdict.cells], asked)
    reason = _reasons(table, verdicts)
    status = _statuses(table, verdicts, sensitive, reason)
    overridden = sensitive & (status != CellStatus.SENSITIVE.value)
    sensitive = np.asarray(status == CellStatus.SENSITIVE.value)
    _fit_levels(table, np.flatnonzero(sensitive), level, least_level, lower, upper)
    changes: dict[str, Any] = {
        name: np.where(sensitive, column, np.nan)
        for name, column in level.items()
        if name != "sliding_level" or column.any() or table.sliding_level is not None
    }
    overridden |= table.overridden & ~sensitive
    reason[overridden] = join_reasons(reason[overridden], np.full(overridden.sum(), OVERRIDDEN))
    reason[~sensitive & ~overridden] = ""
    said = (*table.verdicts, *before, *noted)
    changes |= {"status": status, "reason": reason, "verdicts": said}
    former = [verdict.former for verdict in verdicts if verdict.former is not None]
    if former:
        changes["former"] = former[-1]
    return changes | {"lower": lower, "upper": upper}, wishes


def _given_before(table: Table) -> list[Verdict]:
    """Levels of cells that were sensitive before any rule was applied, as a verdict."""
    cells = np.flatnonzero(table.is_sensitive)
    lower, upper, sliding = (np.nan_to_num(_copied(table, name))[cells] for name in _LEVELS)
    if not len(cells):
        return []
    return [
        Verdict(reason=GIVEN, cells=cells, lower=lower, upper=upper, sliding=sliding, levels="both")
    ]


_LEVELS = ("lower_level", "upper_level", "sliding_level")


def _copied(table: Table, name: str) -> Floats:
    column: Floats | None = getattr(table, name)
    return np.zeros(table.cell_count) if column is None else column


def asked_levels(
    verdict: Verdict, levels: Levels, against: LevelsAgainst | None = None
) -> dict[str, Floats]:
    """The levels of a verdict on the sides that count.

    Args:
        verdict: The verdict.
        levels: Which levels count where the rule does not say.
        against: Levels against others than readers, to be taken in their place.
    """
    side = verdict.levels or levels
    lower, upper, sliding = verdict.lower, verdict.upper, verdict.sliding
    if against is not None:
        lower, upper = against.lower, against.upper
        sliding = None if sliding is None else against.sliding
    asked: dict[str, Floats] = {}
    if side in ("both", "lower"):
        asked["lower_level"] = lower
    if side in ("both", "upper"):
        asked["upper_level"] = upper
    if side == "sliding":
        asked["sliding_level"] = lower + upper
    if sliding is not None:
        asked["sliding_level"] = np.maximum(asked.get("sliding_level", 0.0), sliding)
    return asked


def _statuses(
    table: Table, verdicts: Sequence[Verdict], sensitive: Booleans, reason: Reasons
) -> Statuses:
    """The statuses after all verdicts; what was decided by hand holds."""
    status = table.status.copy()
    cleared = np.zeros(table.cell_count, bool)
    override = np.zeros(table.cell_count, bool)
    for verdict in verdicts:
        if verdict.decided is not None and verdict.decided_status is not None:
            holds = np.ones(len(verdict.decided), bool)
            if verdict.lenient is not None:
                holds = ~(verdict.lenient & sensitive[verdict.decided])
            decided, given = verdict.decided[holds], verdict.decided_status[holds]
            status[decided] = given
            cleared[decided] = given != CellStatus.SECONDARY.value
            override[decided] = verdict.override
    against = np.flatnonzero(sensitive & cleared & ~override)
    if len(against):
        names = _names(table, against)
        told = [f"({name}) by {reason[cell]}" for name, cell in zip(names, against, strict=True)]
        raise TableError(
            f"cells are marked as safe or to be published, but are sensitive: {first_few(told)}; "
            "take the marks away, or set override = true (Manual(..., override=True)) if it is "
            "decided to publish them nevertheless",
            names,
        )
    clash = sensitive & ~cleared & (status == CellStatus.PUBLISH.value)
    if clash.any():
        names = _names(table, np.flatnonzero(clash))
        raise TableError(
            f"cells are sensitive, but are to be published: {name_cells(names)}; change their "
            "status, or mark them with Manual(..., override=True) in the same call if it is "
            "decided to publish them nevertheless",
            names,
        )
    status[sensitive & ~cleared] = CellStatus.SENSITIVE.value
    return status


def _fit_levels(
    table: Table,
    cells: Integers,
    level: dict[str, Floats],
    least_level: float | None,
    lower: Floats | None,
    upper: Floats | None,
) -> None:
    """Give a small level where none is implied, and refuse levels that bounds make impossible."""
    value = table.value[cells]
    # What an attacker knows where nothing is given: as in `Table.problem`.
    floor = -np.inf if (table.value < 0).any() else 0.0
    below = value - _given(lower, cells, floor)
    if floor == 0:
        # Nobody takes anything below zero for possible, so no level can ask for that.
        unbounded = np.isnan(_given(lower, cells, np.nan))
        asked = level["lower_level"][cells]
        level["lower_level"][cells] = np.where(unbounded, np.minimum(asked, below), asked)
    above = _given(upper, cells, np.inf) - value
    slack = ADDITIVITY_TOLERANCE * np.maximum(np.abs(value), 1.0)
    # A level of zero would ask for nothing at all: the cell could be computed exactly.
    none = np.flatnonzero(sum(level[name][cells] for name in _LEVELS) <= 0)
    if len(none):
        small = _small_level(table) if least_level is None else least_level
        known = none[(below[none] <= slack[none]) & (above[none] <= slack[none])]
        _refuse(
            table,
            cells[known],
            "cells are sensitive, but attackers know their value from the bounds",
            "widen the bounds",
        )
        level["lower_level"][cells[none]] = np.clip(below[none], 0.0, small)
        level["upper_level"][cells[none]] = np.clip(above[none], 0.0, small)
    beyond = level["lower_level"][cells] > below + slack
    beyond |= level["upper_level"][cells] > above + slack
    beyond |= level["sliding_level"][cells] > below + above + slack
    _refuse(
        table,
        cells[beyond],
        "protection levels reach beyond the bounds that attackers know",
        "widen the bounds, or protect one side only (levels)",
    )


def _given(bound: Floats | None, cells: Integers, default: float) -> Floats:
    if bound is None:
        return np.full(len(cells), default)
    return np.where(np.isnan(bound[cells]), default, bound[cells])


def _small_level(table: Table) -> float:
    """1 where all values are whole numbers, otherwise small compared with the values that occur."""
    if np.array_equal(table.value, np.round(table.value)):
        return 1.0
    return _SMALL_SHARE * float(np.median(np.abs(table.value[table.value != 0])))


def _reasons(table: Table, verdicts: Sequence[Verdict]) -> Reasons:
    """For each cell the reasons of all rules that find it sensitive, now or before."""
    # Few texts occur, each in many cells: cells carry the number of their text.
    texts = ["", GIVEN]
    number = table.is_sensitive.astype(np.int64)
    if table.reason is not None:
        before = np.flatnonzero((table.is_sensitive | table.overridden) & (table.reason != ""))
        found, place = np.unique(table.reason[before].astype(str), return_inverse=True)
        number[before] = place + len(texts)
        # Whether a cell is still overridden is told once that is known.
        texts += [_joined(*(word for word in _words(text) if word != OVERRIDDEN)) for text in found]
    for verdict in verdicts:
        joined = np.zeros(len(texts), np.int64)
        for old in np.unique(number[verdict.cells]).tolist():
            joined[old] = len(texts)
            texts.append(_joined(texts[old], verdict.reason))
        number[verdict.cells] = joined[number[verdict.cells]]
    return np.array(texts, dtype=object)[number]


def join_reasons(first: Reasons, second: Reasons) -> Reasons:
    """The reasons of both, cell by cell, each once.

    >>> join_reasons(np.array(["", "zero"], object), np.array(["p%", "p%"], object)).tolist()
    ['p%', 'zero; p%']
    """
    both = zip(first.tolist(), second.tolist(), strict=True)
    return np.array([_joined(*pair) for pair in both], dtype=object)


def _joined(*texts: str) -> str:
    words = [word for text in texts for word in _words(text)]
    return SEPARATOR.join(dict.fromkeys(words))


def _words(text: str) -> list[str]:
    return [word for word in text.split(SEPARATOR) if word]


def is_overridden(reason: Reasons) -> Booleans:
    """Cells whose last reason is that the others are overridden."""
    return np.array([text.endswith(_LAST) for text in reason.tolist()], bool)


def _refuse(table: Table, cells: Integers, wrong: str, remedy: str) -> None:
    if len(cells):
        names = _names(table, cells)
        raise TableError(f"{wrong}: {name_cells(names)}; {remedy}", names)


def _names(table: Table, cells: Integers) -> list[str]:
    return [table.labels[cell] for cell in cells.tolist()]
