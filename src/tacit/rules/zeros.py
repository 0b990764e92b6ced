"""The rule about cells of value zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tacit.rules.rule import SensitivityRule, check_flag, check_number, is_occupied
from tacit.table import Table
from tacit.table.judging import Verdict


@dataclass(frozen=True)
class ZeroCells(SensitivityRule):
    """Cells of value zero are sensitive: publishing one tells what each contributor contributes.

    Attributes:
        level: How far above zero attackers must think the value possible; by default the least
            level of `Table.apply`. A percentage of zero would be nothing.
        empty: Cells without contributors are sensitive too, because not everybody knows that
            they are empty.

    >>> from tacit.table import Table
    >>> table = Table.from_frame(
    ...     {"sex": ["f", "m"], "value": [0, 6], "count": [4, 3]}, {"sex": None}, count="count")
    >>> table.apply(ZeroCells(level=2)).upper_level.tolist()
    [nan, 2.0, nan]
    """

    key: ClassVar[str] = "zero-cells"
    title: ClassVar[str] = "zero"

    level: float | None = None
    empty: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.level is not None:
            check_number(self.level, "level", above=0)
        check_flag(self.empty, "empty")

    @property
    def in_words(self) -> str:
        """What the rule finds, for confidential explanations."""
        return "the value is zero, which tells what each contributes"

    def judge(self, table: Table) -> Verdict:
        """The cells of value zero."""
        zero = table.value == 0
        cells = np.flatnonzero(zero if self.empty else zero & is_occupied(table))
        upper = np.full(len(cells), self.level or 0.0)
        return self.verdict(cells, np.zeros(len(cells)), upper)
