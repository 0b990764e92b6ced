"""What all sensitivity rules have in common."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

import numpy as np

from tacit.errors import InputError, TableError
from tacit.insiders import LevelsAgainst
from tacit.problem import Booleans, Floats, Integers
from tacit.table import CellStatus, Table
from tacit.table.judging import OVERRIDDEN, SEPARATOR, Levels, Pairs, Verdict
from tacit.table.labels import name_cells


@dataclass(frozen=True, kw_only=True)
class SensitivityRule(ABC):
    """Base of the rules: how they are called, and which of their levels count.

    Attributes:
        levels: `both`, `lower`, `upper`, or `sliding` for an interval as wide as both levels
            together, wherever it lies; by default as `Table.apply` says.
        name: What the rule is called among the reasons of a cell, to tell two rules of a kind
            apart; by default what kind of rule it is.
    """

    key: ClassVar[str]
    """The name of the rule in files."""
    title: ClassVar[str]
    """The reason that the rule gives, without parameters: those are confidential."""
    is_for_counts: ClassVar[bool] = False
    """Whether it takes values for counts of respondents."""

    levels: Levels | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        if self.levels is not None and self.levels not in get_args(Levels):
            known = ", ".join(get_args(Levels))
            raise InputError(
                f"levels must be one of {known}; it is {self.levels!r}", key=("levels",)
            )
        if self.name is not None and (
            not isinstance(self.name, str) or not self.name or SEPARATOR.strip() in self.name
        ):
            raise InputError("name must be a text without semicolons", key=("name",))
        if self.name == OVERRIDDEN:
            raise InputError(
                f"name must not be {OVERRIDDEN}: that is what marks make of reasons", key=("name",)
            )

    @property
    def largest_needed(self) -> int:
        """How many of the largest contributions to a cell it needs to know."""
        return 0

    @property
    def judges_sums(self) -> bool:
        """Whether the rule makes sense for a sum of cells as well."""
        return True

    @property
    def reason(self) -> str:
        """What the rule is called among the reasons of a cell."""
        return self.name or self.title

    @property
    def in_words(self) -> str:
        """What the rule finds, with its parameters: for confidential explanations only."""
        given = [
            f"{field.name} {getattr(self, field.name)}"
            for field in dataclasses.fields(self)
            if field.name not in ("levels", "name")
        ]
        return f"{self.title}, {', '.join(given)}" if given else self.title

    @abstractmethod
    def judge(self, table: Table) -> Verdict:
        """The sensitive cells of a table with the protection levels that they need."""

    def verdict(
        self,
        cells: Integers,
        lower: Floats,
        upper: Floats | None = None,
        facts: Mapping[str, Floats] | None = None,
    ) -> Verdict:
        """The verdict that some cells are sensitive; both levels are the same unless given."""
        return Verdict(
            reason=self.reason,
            cells=cells,
            lower=lower,
            upper=lower if upper is None else upper,
            levels=self.levels,
            rule=self,
            facts=facts or {},
        )

    def levels_against(self, pairs: Pairs) -> LevelsAgainst:
        """How much is to stay uncertain of a cell to a contributor, which knows its own figure.

        What must stay secret is what others contribute, so the level is the percentage of that;
        rules that are about something else say so themselves. Nothing above the level against
        readers is ever asked for.

        Args:
            pairs: Cells that the rule found sensitive, each with a contributor who attacks it.
        """
        return pairs.percentage()


@dataclass(frozen=True, kw_only=True)
class PercentRule(SensitivityRule):
    """Base of the rules that imply no level of their own: it is a percentage of the value.

    Attributes:
        percent: The protection levels as a percentage of the cell's value.
    """

    percent: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.percent, "percent", at_least=0.0)

    def percentages(self, table: Table, sensitive: Booleans) -> Verdict:
        """The verdict that the cells of a mask are sensitive."""
        cells = np.flatnonzero(sensitive)
        return self.verdict(cells, self.percent * np.abs(table.value[cells]) / 100)


def check_number(
    given: Any,
    name: str,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    below: float = math.inf,
) -> None:
    """Refuse what is not a finite number within limits.

    >>> check_number("3", "p", above=0)
    Traceback (most recent call last):
        ...
    tacit.errors.InputError: p must be a number above 0
    """
    fits = isinstance(given, int | float | np.integer | np.floating)
    fits = fits and not isinstance(given, bool)
    if not (fits and above < given < below and at_least <= given and math.isfinite(given)):
        limits = [f"above {above:g}"] if above > -math.inf else []
        limits += [f"of at least {at_least:g}"] if at_least > -math.inf else []
        limits += [f"below {below:g}"] if below < math.inf else []
        raise InputError(f"{name} must be a number {' and '.join(limits)}", key=(name,))


def check_whole(given: Any, name: str, at_least: int) -> None:
    """Refuse what is not a whole number, or too small a one."""
    whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if not (whole and given >= at_least):
        raise InputError(f"{name} must be a whole number of at least {at_least}", key=(name,))


def check_flag(given: Any, name: str) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(given, bool):
        raise InputError(f"{name} must be true or false", key=(name,))


def is_occupied(table: Table) -> Booleans:
    """Cells that are not known to be empty."""
    occupied = np.asarray(table.status != CellStatus.EMPTY.value)
    if table.count is not None:
        occupied &= table.count != 0
    return occupied


def needed_column(table: Table, name: str, rule: SensitivityRule, remedy: str) -> Floats:
    """A column without which a rule cannot judge, complete for all cells that are not empty."""
    column: Floats | None = getattr(table, name)
    if column is None:
        raise TableError(f"the rule '{rule.reason}' needs the {name} of each cell; {remedy}")
    refuse_cells(
        table,
        is_occupied(table) & np.isnan(column),
        f"the rule '{rule.reason}' needs the {name} of each cell, which is not given",
        remedy,
    )
    return column


def refuse_cells(table: Table, bad: Booleans, wrong: str, remedy: str) -> None:
    """Raise an error that names the cells of a mask, if there are any."""
    cells = np.flatnonzero(bad)
    if len(cells):
        names = [table.labels[cell] for cell in cells.tolist()]
        raise TableError(f"{wrong}: {name_cells(names)}; {remedy}", names)
