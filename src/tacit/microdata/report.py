"""What was wrong with the records, without telling what they report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn

from tacit.errors import InputError, KeyPath
from tacit.hierarchy import Hierarchy
from tacit.microdata.specification import Specification

EXAMPLES = 5
"""How many examples a finding gives."""

DIGITS, MASK = "[0-9]+", "#"
"""Text where a number belongs is shown with digits masked: it may be a number after all."""


class Fault(StrEnum):
    """What may be wrong with a record."""

    UNKNOWN_CODE = "unknown code"
    """The hierarchy does not have the code."""
    INNER_CODE = "not a finest code"
    """The hierarchy divides the code further, so the record has no finest cell."""
    MISSING = "missing"
    """There is nothing in a column that is needed."""
    NOT_A_NUMBER = "not a number"
    """There is text, or an infinite number, where a number is needed."""
    NEGATIVE_WEIGHT = "negative weight"
    """The sampling weight is below zero."""
    NOT_A_FLAG = "neither yes nor no"
    """The request for protection is neither true nor false."""

    @property
    def policy(self) -> str:
        """The argument of `tabulate` that says what happens to such records."""
        if self in (Fault.UNKNOWN_CODE, Fault.INNER_CODE):
            return "unknown"
        return "missing" if self is Fault.MISSING else "unreadable"


@dataclass(frozen=True)
class Finding:
    """Records with the same fault in the same column.

    Attributes:
        column: The column.
        fault: What is wrong with it.
        records: In how many records.
        examples: Codes, or text in which each number is written `#`; never what is reported.
    """

    column: str
    fault: Fault
    records: int
    examples: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = f" ({', '.join(self.examples)})" if self.examples else ""
        return f"{self.column}: {self.fault} in {_records(self.records)}{shown}"


@dataclass(frozen=True)
class TabulationReport:
    """How many records went into the tables, and why others did not.

    Attributes:
        records: The number of records read.
        tabulated: For each value the number of records in its table; empty where all were refused.
        findings: What was wrong. A record may occur in several of them.
    """

    records: int
    tabulated: Mapping[str, int]
    findings: tuple[Finding, ...] = ()

    def summary(self) -> str:
        """The report as a few lines of text."""
        lines = [f"{_records(self.records)} read"]
        for name, used in self.tabulated.items():
            lines.append(f"{name}: {_records(used)} tabulated, {self.records - used} dropped")
        return "\n".join([*lines, *(str(finding) for finding in self.findings)])


class MicrodataError(InputError):
    """Records that cannot be tabulated.

    Attributes:
        report: What is wrong with them.
    """

    def __init__(self, message: str, report: TabulationReport, *, key: KeyPath = ()):
        self.report = report
        super().__init__(message, key=key)


def code_findings(
    column: str, hierarchy: Hierarchy, codes: Sequence[tuple[str | None, int]]
) -> list[Finding]:
    """Findings about one dimension, from each code that occurs with its number of records."""
    sorted_out: dict[Fault, list[tuple[str, int]]] = {}
    for code, records in sorted(codes, key=lambda item: (-item[1], item[0] or "")):
        if code is None:
            fault = Fault.MISSING
        elif code not in hierarchy:
            fault = Fault.UNKNOWN_CODE
        elif not hierarchy.is_leaf[hierarchy.positions[code]]:
            fault = Fault.INNER_CODE
        else:
            continue
        sorted_out.setdefault(fault, []).append((code or "", records))
    return [
        Finding(
            column,
            fault,
            sum(records for _, records in cases),
            () if fault is Fault.MISSING else tuple(code for code, _ in cases[:EXAMPLES]),
        )
        for fault, cases in sorted_out.items()
    ]


def refuse(report: TabulationReport, specification: Specification) -> None:
    """Refuse records as the policies say."""
    refused = [
        finding
        for finding in report.findings
        if getattr(specification, finding.fault.policy) == "refuse"
    ]
    if refused:
        policies = dict.fromkeys(f"{finding.fault.policy}='drop'" for finding in refused)
        raise MicrodataError(
            f"records cannot be tabulated: {'; '.join(str(finding) for finding in refused)}; "
            f"correct them, or leave them out with {' and '.join(policies)}",
            report,
            key=specification.key_of(refused[0].column),
        )


def refuse_several_holdings(count: int, contributor: str, holding: str) -> NoReturn:
    """Refuse contributors that belong to more than one holding."""
    raise InputError(
        f"{count} contributor{'s' * (count != 1)} in column {contributor} "
        f"belong{'s' * (count == 1)} to several holdings in column {holding}; "
        "give each one holding",
        key=("contributor",),
    )


def _records(count: int) -> str:
    return f"{count} record{'s' * (count != 1)}"
