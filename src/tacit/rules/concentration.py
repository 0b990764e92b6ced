"""Rules about the largest contributions: dominance, p% and prior-posterior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tacit.errors import InputError
from tacit.insiders import LevelsAgainst
from tacit.problem import Floats
from tacit.rules.contributions import Magnitudes, contributions
from tacit.rules.rule import (
    SensitivityRule,
    check_flag,
    check_number,
    check_whole,
    is_occupied,
)
from tacit.table import Table
from tacit.table.judging import Pairs, Verdict
from tacit.tolerances import LAST_DIGITS


@dataclass(frozen=True)
class Dominance(SensitivityRule):
    """The (n, k)-dominance rule: the n largest contribute more than k% of the total.

    The levels are what must be added to the total until they no longer do:
    100/k times their sum, minus the total.

    Attributes:
        n: How many of the largest contributors are looked at.
        k: The percentage of the total that they may contribute.
        holding: Holdings count instead of contributors.

    >>> from tacit.table import Table
    >>> table = Table.from_frame(
    ...     {"place": ["1", "2"], "value": [300, 200], "largest": [280, 99], "second": [15, 99]},
    ...     {"place": None}, top=["largest", "second"])
    >>> judged = table.apply(Dominance(1, 90))
    >>> [judged.labels[cell] for cell in judged.problem().sensitive]
    ['place=1']
    """

    key: ClassVar[str] = "dominance"
    title: ClassVar[str] = "dominance"

    n: int
    k: float
    holding: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.n, "n", 1)
        check_number(self.k, "k", above=0, below=100)
        check_flag(self.holding, "holding")

    @property
    def largest_needed(self) -> int:
        """Those who may dominate."""
        return self.n

    @property
    def in_words(self) -> str:
        """What the rule finds, for confidential explanations."""
        who = "holdings" if self.holding else "contributors"
        largest = (
            f"the {self.n} largest {who} add" if self.n > 1 else f"the largest of the {who} adds"
        )
        return f"{largest} more than {self.k:g}% of the total"

    def judge(self, table: Table) -> Verdict:
        """The cells that few dominate."""
        found = contributions(table, self, holding=self.holding)
        dominant = 100 * found.largest(self.n)
        excess = dominant - self.k * found.total
        return _verdict(self, table, found, excess, dominant, self.k)


@dataclass(frozen=True)
class PriorPosterior(SensitivityRule):
    """The (p, q)-prior-posterior rule: contributors learn too much about the largest one.

    Before publication everybody can estimate every contribution to within q%. The second largest
    contributor, who knows its own, can then compute the largest from the total to within q% of
    what all others contribute; the cell is sensitive if that is less than p% of the largest
    contribution. The levels are what is missing, [KarlssonOlsson2015, (3.3)].

    Attributes:
        p: Nobody may estimate a contribution to within this percentage.
        q: Everybody can estimate contributions to within this percentage beforehand, above p.
        coalition: This many of the largest contributors after the first share what they know.
        holding: Holdings count instead of contributors.

    >>> from tacit.table import Table
    >>> table = Table.from_frame(
    ...     {"place": ["1", "2"], "value": [300, 200], "largest": [280, 99], "second": [15, 99]},
    ...     {"place": None}, top=["largest", "second"])
    >>> table.apply(PriorPosterior(20, 50)).problem().upper_level.tolist()
    [53.5, 18.8]
    """

    key: ClassVar[str] = "prior-posterior"
    title: ClassVar[str] = "prior-posterior"

    p: float
    q: float
    coalition: int = 1
    holding: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.p, "p", above=0)
        check_number(self.q, "q", above=0)
        if not self.p < self.q:
            raise InputError(
                "p must be below q: what is estimated after publication is closer", key=("p",)
            )
        check_whole(self.coalition, "coalition", 1)
        check_flag(self.holding, "holding")

    @property
    def largest_needed(self) -> int:
        """The largest contributor, and those who estimate it."""
        return self.coalition + 1

    @property
    def in_words(self) -> str:
        """What the rule finds, for confidential explanations."""
        return (
            f"{_estimators(self.coalition, self.holding)} who knows all others to within "
            f"{self.q:g}% could estimate one to within {self.p:g}%"
        )

    def judge(self, table: Table) -> Verdict:
        """The cells whose largest contribution can be estimated too closely."""
        found = contributions(table, self, holding=self.holding)
        return _estimated(self, table, found, self.p, self.q, self.coalition)

    def levels_against(self, pairs: Pairs) -> LevelsAgainst:
        """What is missing until the contributor cannot estimate the largest other one to within p%.

        It knows its own contribution and all others to within q%, so it finds the largest other
        one between hi - own - (100 - q)% and lo - own - (100 + q)% of the rest, where hi and lo
        are the ends that it finds for the cell.
        """
        level = _missing(pairs, self.p, self.q, holding=self.holding)
        level = np.minimum(level, pairs.upper)
        lower = np.minimum(np.minimum(level, pairs.lower), pairs.capped().lower)
        return LevelsAgainst(lower, level, np.zeros(len(level)))


@dataclass(frozen=True)
class PPercent(SensitivityRule):
    """The p% rule: contributors can estimate the largest contribution to within p%.

    Attackers know beforehand only that contributions are not negative: this is the
    prior-posterior rule with q = 100.

    Attributes:
        p: Nobody may estimate a contribution to within this percentage.
        coalition: This many of the largest contributors after the first share what they know.
        holding: Holdings count instead of contributors.

    >>> from tacit.table import Table
    >>> table = Table.from_frame(
    ...     {"place": ["1", "2"], "value": [300, 200], "largest": [280, 99], "second": [15, 99]},
    ...     {"place": None}, top=["largest", "second"])
    >>> judged = table.apply(PPercent(10))
    >>> judged.reason.tolist(), judged.problem().upper_level.tolist()
    (['', 'p%', 'p%'], [23.0, 7.9])
    """

    key: ClassVar[str] = "p-percent"
    title: ClassVar[str] = "p%"

    p: float
    coalition: int = 1
    holding: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.p, "p", above=0, below=100)
        check_whole(self.coalition, "coalition", 1)
        check_flag(self.holding, "holding")

    @property
    def largest_needed(self) -> int:
        """The largest contributor, and those who estimate it."""
        return self.coalition + 1

    @property
    def in_words(self) -> str:
        """What the rule finds, for confidential explanations."""
        return (
            f"{_estimators(self.coalition, self.holding)} could estimate the largest to within "
            f"{self.p:g}%"
        )

    def judge(self, table: Table) -> Verdict:
        """The cells whose largest contribution can be estimated too closely."""
        found = contributions(table, self, holding=self.holding)
        return _estimated(self, table, found, self.p, 100.0, self.coalition)

    def levels_against(self, pairs: Pairs) -> LevelsAgainst:
        """What is missing until the contributor cannot estimate the largest other one to within p%.

        It bounds the largest other contribution by hi - own, where hi is the upper end that it
        finds for the cell. From below it knows only that nobody contributes less than nothing,
        so there is no lower level.
        """
        level = np.minimum(_missing(pairs, self.p, 100.0, holding=self.holding), pairs.upper)
        return LevelsAgainst(np.zeros(len(level)), level, np.zeros(len(level)))


def _estimators(coalition: int, holding: bool) -> str:
    """Who could estimate what another one contributes."""
    who = "holding" if holding else "contributor"
    return f"a {who}" if coalition == 1 else f"one of {coalition} {who}s together"


def _estimated(
    rule: SensitivityRule, table: Table, found: Magnitudes, p: float, q: float, coalition: int
) -> Verdict:
    """Cells in which a coalition estimates the largest contribution too closely, by (2.1)."""
    too_close = p * found.largest(1)
    excess = too_close - q * found.beyond(coalition + 1)
    return _verdict(rule, table, found, excess, too_close, 100.0, _facts(found, coalition))


def _facts(found: Magnitudes, coalition: int) -> dict[str, Floats]:
    """What has to be known of a cell to say how closely a given contributor can estimate others.

    Sampling weights leave open who contributes what: nothing is noted, and the worst case counts.
    """
    if found.weight is not None:
        return {}
    amount = np.pad(found.amount, ((0, 0), (0, max(coalition + 1 - found.amount.shape[1], 0))))
    return {
        "first": amount[:, 0],
        "second": amount[:, 1],
        "total": found.total,
        # Those behind the first that a coalition may be of; without the last; without the first.
        "coalition": amount[:, 1 : coalition + 1].sum(axis=1),
        "others": amount[:, 1:coalition].sum(axis=1),
        "third": amount[:, 2 : coalition + 1].sum(axis=1),
        "scale": np.broadcast_to(np.asarray(found.scale, np.float64), len(amount)),
    }


def _missing(pairs: Pairs, p: float, q: float, *, holding: bool) -> Floats:
    """What is missing until a contributor cannot estimate the largest other one too closely.

    With t the largest other contribution and `known` what the contributor, with those who share
    what they know with it, contributes itself: p% of t, minus q% of all the rest.
    """
    if not pairs.facts:
        return pairs.upper
    facts = pairs.facts
    # Who belongs to which holding is not known: the largest one counts as somebody else.
    same_kind = holding == pairs.are_holdings
    is_largest = pairs.is_largest & same_kind
    # Whoever surely contributes more than the second is the first.
    is_largest |= pairs.is_vague & same_kind & (pairs.amount > facts["second"])
    t = np.where(is_largest, facts["second"], facts["first"])
    most = facts["coalition"] if same_kind else np.inf
    known = np.where(
        is_largest,
        np.maximum(pairs.amount, facts["first"]) + facts["third"],
        np.minimum(pairs.amount + facts["others"], most),
    )
    rest = np.maximum(facts["total"] - t - known, 0.0)
    level = np.maximum(p * t - q * rest, 0.0) * facts["scale"] / 100
    return np.where(pairs.is_vague & ~is_largest, pairs.upper, level)


def _verdict(
    rule: SensitivityRule,
    table: Table,
    found: Magnitudes,
    excess: Floats,
    size: Floats,
    unit: float,
    facts: Mapping[str, Floats] | None = None,
) -> Verdict:
    """Cells with an excess are sensitive, and the level is the excess in units of the total."""
    sensitive = (excess > LAST_DIGITS * size) & is_occupied(table)
    cells = np.flatnonzero(sensitive)
    scale = found.scale if isinstance(found.scale, float) else found.scale[cells]
    noted = {name: column[cells] for name, column in (facts or {}).items()}
    return rule.verdict(cells, excess[cells] * scale / unit, facts=noted)
