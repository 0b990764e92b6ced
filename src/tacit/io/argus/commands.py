"""Commands of a batch file of tau-ARGUS, each with its line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

COST_BY_FREQUENCY, COST_UNIT, COST_BY_DISTANCE = -1, -2, -3
"""Costs that are not a variable."""

FREQUENCY = "<freq>"
"""The response of a table that counts records."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command of a batch file.

    Attributes:
        line: Its line.
    """

    line: int


@dataclass(frozen=True, kw_only=True)
class OpenMicrodata(Command):
    """Names the file with the records."""

    file: str


@dataclass(frozen=True, kw_only=True)
class OpenTableData(Command):
    """Names the file with a finished table."""

    file: str


@dataclass(frozen=True, kw_only=True)
class OpenMetadata(Command):
    """Names the file that describes the data."""

    file: str


@dataclass(frozen=True, kw_only=True)
class SpecifyTable(Command):
    """Specifies a table.

    Attributes:
        explanatory: The explanatory variables.
        response: The response variable; None counts records.
        shadow: The variable that the rules judge, if it is another one.
        cost: The cost variable, one of the three numbers for other costs, or None.
        power: The exponent of the costs (lambda).
    """

    explanatory: tuple[str, ...]
    response: str | None
    shadow: str | None = None
    cost: str | int | None = None
    power: float = 1.0


@dataclass(frozen=True)
class RuleCall:
    """A rule with its parameters, such as `P(10,1)`."""

    name: str
    parameters: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class SafetyRule(Command):
    """The rules of the table before it."""

    rules: tuple[RuleCall, ...]


@dataclass(frozen=True, kw_only=True)
class ReadMicrodata(Command):
    """Tabulates the records."""


@dataclass(frozen=True, kw_only=True)
class ReadTable(Command):
    """Reads the finished table.

    Attributes:
        totals: 0: it must add up; 1: totals are computed; 2: it need not add up.
        keep_status: Whether computed totals keep the status that the file gives them.
    """

    totals: int = 0
    keep_status: bool = False


@dataclass(frozen=True, kw_only=True)
class Recode(Command):
    """Recodes a variable of a table.

    Attributes:
        table: The number of the table; 0 is all.
        variable: The variable.
        file: The file with the recoding; None where a level is given.
        level: The level of the hierarchy to keep.
    """

    table: int
    variable: str
    file: str | None = None
    level: int | None = None


@dataclass(frozen=True, kw_only=True)
class Apriori(Command):
    """Applies an a priori file to a table.

    Attributes:
        file: The file.
        table: The number of the table.
        separator: What separates its entries.
        ignore_errors: Whether lines that cannot be applied are passed over.
        expand_trivial: Whether a line counts for all cells that are equal because a code has a
            single one below it.
    """

    file: str
    table: int = 1
    separator: str = ","
    ignore_errors: bool = False
    expand_trivial: bool = True


@dataclass(frozen=True, kw_only=True)
class Suppress(Command):
    """Protects a table.

    Attributes:
        method: How.
        table: The number of the table; 0 for all of them, linked.
        parameters: What stands behind the number.
        text: What stands behind the parentheses.
    """

    method: str
    table: int
    parameters: tuple[float, ...] = ()
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class WriteTable(Command):
    """Writes a table.

    Attributes:
        table: The number of the table.
        format: 1 CSV, 2 CSV for pivot tables, 3 code-value, 4 SBS, 5 intermediate, 6 JJ, 7 cell
            keys.
        options: Letters with signs, one number, or nothing.
        file: The file.
    """

    table: int
    format: int
    options: str
    file: str


@dataclass(frozen=True, kw_only=True)
class Logbook(Command):
    """Names the file that keeps account of the run."""

    file: str


@dataclass(frozen=True, kw_only=True)
class VersionInfo(Command):
    """Writes the version to a file."""

    file: str


@dataclass(frozen=True, kw_only=True)
class Solver(Command):
    """Names the solver, with its licence."""

    name: str
    licence: str = ""


@dataclass(frozen=True, kw_only=True)
class Silent(Command):
    """Nothing is shown."""


@dataclass(frozen=True, kw_only=True)
class Anco(Command):
    """Runs as the analysis server does."""


@dataclass(frozen=True, kw_only=True)
class Clear(Command):
    """Forgets all data and tables."""


@dataclass(frozen=True, kw_only=True)
class GoInteractive(Command):
    """Goes on in windows."""


AnyCommand: TypeAlias = (
    OpenMicrodata
    | OpenTableData
    | OpenMetadata
    | SpecifyTable
    | SafetyRule
    | ReadMicrodata
    | ReadTable
    | Recode
    | Apriori
    | Suppress
    | WriteTable
    | Logbook
    | VersionInfo
    | Solver
    | Silent
    | Anco
    | Clear
    | GoInteractive
)
