"""The rule about contributors who ask for protection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tacit.errors import TableError
from tacit.problem import Booleans
from tacit.rules.contributions import contributions
from tacit.rules.rule import (
    PercentRule,
    check_number,
    check_whole,
    is_occupied,
    needed_column,
)
from tacit.table import Table
from tacit.table.judging import Verdict


@dataclass(frozen=True)
class Request(PercentRule):
    """Cells are sensitive because a contributor with a large share asked for protection.

    Attributes:
        share: Requests of contributors with more than this percentage of the total count; 0
            counts every request.
        minimum: With fewer contributors than this, every request counts whatever its share.

    >>> from tacit.table import Table
    >>> table = Table.from_frame(
    ...     {"sex": ["f", "m"], "value": [5, 6], "asked": [0, 1]}, {"sex": None},
    ...     requested="asked")
    >>> judged = table.apply(Request())
    >>> [judged.labels[cell] for cell in judged.problem().sensitive]
    ['sex=Total', 'sex=m']
    """

    key: ClassVar[str] = "request"
    title: ClassVar[str] = "request"

    share: float = 0.0
    minimum: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.share, "share", at_least=0, below=100)
        check_whole(self.minimum, "minimum", 0)

    @property
    def judges_sums(self) -> bool:
        """No: a contributor asks for the protection of cells."""
        return False

    @property
    def largest_needed(self) -> int:
        """The largest one, where shares count."""
        return int(self.share > 0)

    @property
    def in_words(self) -> str:
        """What the rule finds, for confidential explanations."""
        share = f" with more than {self.share:g}% of the total" if self.share else ""
        return f"a contributor{share} asked for protection"

    def judge(self, table: Table) -> Verdict:
        """The cells to which a contributor with a request contributes much."""
        remedy = "tabulate with requests, or name the column that holds it (requested)"
        asked = needed_column(table, "requested", self, remedy) > 0
        counts = asked if self.share == 0 else self._is_large(table)
        if self.minimum > 0:
            count = needed_column(table, "count", self, "tabulate with contributors")
            counts = counts | (count < self.minimum)
        return self.percentages(table, asked & counts & is_occupied(table))

    def _is_large(self, table: Table) -> Booleans:
        """Whether a contributor who asked may have more than the share."""
        if table.top_requested is None or table.requested is None:
            raise TableError(
                f"the rule '{self.reason}' needs to know which of the largest contributors asked; "
                "tabulate with requests, or name the columns that hold it (top_requested)"
            )
        found = contributions(table, self, holding=False)
        limit = self.share * found.total / 100
        listed = np.nan_to_num(table.top_requested) > 0
        large = np.any(listed & (found.amount > limit[:, None]), axis=1)
        # Whoever asked without being listed contributes no more than the last one listed.
        unlisted = table.requested > listed.sum(axis=1)
        most = np.minimum(found.amount[:, -1], found.rest)
        return np.asarray(large | (unlisted & (most > limit)), bool)
