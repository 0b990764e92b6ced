"""Rules about how many contribute, and rules for tables that count respondents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from tacit.errors import InputError, TableError, first_few
from tacit.insiders import LevelsAgainst
from tacit.problem import Booleans
from tacit.rules.rule import (
    PercentRule,
    SensitivityRule,
    check_flag,
    check_number,
    is_occupied,
    needed_column,
    refuse_cells,
)
from tacit.table import Table
from tacit.table.judging import Pairs, Verdict


@dataclass(frozen=True)
class MinFrequency(PercentRule):
    """The minimum frequency rule: fewer contribute than a minimum.

    Cells without contributors are not sensitive.

    Attributes:
        minimum: With this many contributors a cell is no longer sensitive.
        weighted: Those that a sample stands for count, not those in the sample.
        holding: Holdings count instead of contributors.

    >>> from tacit.table import Table
    >>> table = Table.from_frame(
    ...     {"sex": ["f", "m"], "value": [50, 60], "count": [2, 7]}, {"sex": None}, count="count")
    >>> table.apply(MinFrequency(3)).upper_level.tolist()
    [nan, 5.0, nan]
    """

    key: ClassVar[str] = "min-frequency"
    title: ClassVar[str] = "minimum frequency"

    minimum: float
    weighted: bool = False
    holding: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.minimum, "minimum", above=0)
        check_flag(self.weighted, "weighted")
        check_flag(self.holding, "holding")
        if self.weighted and self.holding:
            raise InputError(
                "weighted and holding exclude each other: holdings have no weights",
                key=("weighted",),
            )

    @property
    def in_words(self) -> str:
        """What the rule finds, for confidential explanations."""
        who = "holdings" if self.holding else "contributors"
        weighted = " by weight" if self.weighted else ""
        return f"there are fewer than {self.minimum:g} {who}{weighted}"

    def judge(self, table: Table) -> Verdict:
        """The cells with too few contributors."""
        name = "count"
        if self.weighted:
            name = "weighted_count"
        elif self.holding:
            name = "holding_count"
        remedy = f"tabulate with contributors, or name the column that holds it ({name})"
        count = needed_column(table, name, self, remedy)
        return self.percentages(table, (count < self.minimum) & is_occupied(table))


@dataclass(frozen=True)
class SmallCounts(SensitivityRule):
    """For tables that count respondents: small counts other than zero are sensitive.

    Attackers must not be able to exclude zero, nor the smallest count that is not sensitive: the
    levels reach to both. With `percent` they are a percentage of the count instead.

    Attributes:
        minimum: The smallest count that is not sensitive.
        percent: The protection levels as a percentage of the count.

    >>> from tacit.table import Table
    >>> table = Table.from_frame({"sex": ["f", "m"], "value": [1, 6]}, {"sex": None})
    >>> judged = table.apply(SmallCounts(3))
    >>> judged.lower_level.tolist(), judged.upper_level.tolist()
    ([nan, 1.0, nan], [nan, 2.0, nan])
    """

    key: ClassVar[str] = "small-counts"
    title: ClassVar[str] = "small count"
    is_for_counts: ClassVar[bool] = True

    minimum: float
    percent: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.minimum, "minimum", above=0)
        if self.percent is not None:
            check_number(self.percent, "percent", at_least=0)

    @property
    def in_words(self) -> str:
        """What the rule finds, for confidential explanations."""
        return f"the count is not zero, but below {self.minimum:g}"

    def judge(self, table: Table) -> Verdict:
        """The cells with small counts."""
        _refuse_negative(table, self)
        value = table.value
        cells = np.flatnonzero((value > 0) & (value < self.minimum) & is_occupied(table))
        if self.percent is not None:
            return self.verdict(cells, self.percent * value[cells] / 100)
        return self.verdict(cells, value[cells], self.minimum - value[cells])

    def levels_against(self, pairs: Pairs) -> LevelsAgainst:
        """A respondent must not be able to exclude that there is nobody else, or enough others."""
        return pairs.capped() if self.percent is None else pairs.percentage()


@dataclass(frozen=True)
class GroupDisclosure(SensitivityRule):
    """For tables that count respondents: all respondents of a row are in one of its cells.

    Whoever knows that somebody belongs to the row then knows in which cell. What gives it away
    are the zeros beside the full cell: all of them are sensitive, empty or not, and so is the
    full cell, so that one respondent at least may be in another cell. A row is any total with
    the cells that add up to it.

    Attributes:
        by: The dimensions that nobody's code may be found out in, by default all. A row counts
            if it divides its total by one of these.
        level: How many respondents attackers must think possible in another cell.
        absent: What to do when none of the zeros is a cell of the table. Only a cell can be
            suppressed: `refuse` such tables, or take it that these zeros are `known` to all.

    >>> from tacit.table import Table
    >>> table = Table.from_frame(
    ...     {"region": ["N", "N", "S", "S"], "ill": ["yes", "no", "yes", "no"],
    ...      "value": [5, 0, 2, 4]}, {"region": None, "ill": None})
    >>> judged = table.apply(GroupDisclosure(by=["ill"]))
    >>> [judged.labels[cell] for cell in judged.problem().sensitive]
    ['region=N, ill=yes', 'region=N, ill=no']
    """

    key: ClassVar[str] = "group-disclosure"
    title: ClassVar[str] = "group disclosure"
    is_for_counts: ClassVar[bool] = True

    by: str | Sequence[str] | None = None
    level: float = 1.0
    absent: Literal["refuse", "known"] = "refuse"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by is not None:
            by = [self.by] if isinstance(self.by, str) else self.by
            if not (isinstance(by, Sequence) and by and all(isinstance(name, str) for name in by)):
                raise InputError("by must name one dimension or more", key=("by",))
            object.__setattr__(self, "by", tuple(by))
        check_number(self.level, "level", above=0)
        if self.absent not in ("refuse", "known"):
            raise InputError(
                f"absent must be refuse or known; it is {self.absent!r}", key=("absent",)
            )

    @property
    def judges_sums(self) -> bool:
        """No: it is about rows of cells."""
        return False

    @property
    def in_words(self) -> str:
        """What the rule finds, for confidential explanations."""
        return "all respondents of a row are in one of its cells"

    def judge(self, table: Table) -> Verdict:
        """The full cells and the zeros beside them."""
        _refuse_negative(table, self)
        by = [*table.totals] if self.by is None else self.by
        unknown = [name for name in by if name not in table.totals]
        if unknown:
            raise TableError(
                f"the rule '{self.reason}' names the dimensions {first_few(unknown)}; the table "
                f"has {first_few([*table.totals])}"
            )
        sensitive, bare = _lone_cells(table, by)
        if self.absent == "refuse":
            refuse_cells(
                table,
                bare,
                "all respondents of a row are in one cell, and the zeros beside it are not in the "
                "table",
                "add them as cells of value zero, or say absent='known' if everybody knows that "
                "nobody can be there",
            )
        cells = np.flatnonzero(sensitive)
        value = table.value[cells]
        lower = np.minimum(self.level, value)
        upper = np.where(value == 0, self.level, 0.0)
        return self.verdict(cells, lower, upper)

    def levels_against(self, pairs: Pairs) -> LevelsAgainst:
        """As many respondents in another cell as for readers, without the one who attacks."""
        return pairs.capped()


def _refuse_negative(table: Table, rule: SensitivityRule) -> None:
    refuse_cells(
        table,
        table.value < 0,
        f"the rule '{rule.reason}' is for tables that count respondents, but values are negative",
        "use a rule for magnitudes",
    )


def _lone_cells(table: Table, by: Sequence[str]) -> tuple[Booleans, Booleans]:
    """Cells of rows with a single filled cell, and full cells with no zero beside them.

    A row in which everything but one cell is absent is of the second kind, unless its total has
    no other code below it.
    """
    lone, bare = np.zeros((2, table.cell_count), bool)
    for grid in table.grids:
        filled = table.value[grid.numbers] > 0
        for dimension, (name, hierarchy) in enumerate(grid.dimensions.items()):
            if name not in by:
                continue
            below, keys = grid.total_keys(dimension)
            total = grid.find(keys)
            below, total = below[total >= 0], total[total >= 0]
            size = grid.cell_count
            parts = np.bincount(total, minlength=size)
            full = np.bincount(total[filled[below]], minlength=size)
            codes = np.bincount(hierarchy.parent[1:], minlength=len(hierarchy))
            possible = codes[grid.positions[:, dimension]]
            single = (full == 1) & (possible > 1)
            lone[grid.numbers[below[(single & (parts > 1))[total]]]] = True
            bare[grid.numbers[below[(single & (parts == 1))[total]]]] = True
    return lone, bare
