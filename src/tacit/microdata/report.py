"""What was wrong with the records, without telling what they report."""

from __future__ import annotations

import re
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
        places: Files and lines of the first of them, where there are files.
        cause: What probably went wrong, and what to do about it; empty where nothing suggests
            itself.
    """

    column: str
    fault: Fault
    records: int
    examples: tuple[str, ...] = ()
    places: tuple[tuple[str, int], ...] = ()
    cause: str = ""

    def __str__(self) -> str:
        shown = f" ({', '.join(self.examples)})" if self.examples else ""
        cause = f", probably {self.cause}" if self.cause else ""
        return (
            f"{self.column}: {self.fault} in {_records(self.records)}{shown}{self._where()}{cause}"
        )

    def _where(self) -> str:
        """Where they stand: at most a few lines, by file."""
        by_file: dict[str, list[int]] = {}
        for file, line in self.places:
            by_file.setdefault(file, []).append(line)
        told = [
            f"{file} line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"
            for file, lines in by_file.items()
        ]
        more = self.records - len(self.places)
        if not told:
            return ""
        return f" in {'; '.join(told)}" + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True)
class TabulationReport:
    """How many records went into the tables, and why others did not.

    Attributes:
        records: The number of records read.
        tabulated: For each value the number of records in its table; empty where all were refused.
        findings: What was wrong. A record may occur in several of them.
        notes: What was guessed about how files are written, and how to say otherwise.
    """

    records: int
    tabulated: Mapping[str, int]
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    def summary(self) -> str:
        """The report as a few lines of text."""
        lines = [f"{_records(self.records)} read"]
        for name, used in self.tabulated.items():
            lines.append(f"{name}: {_records(used)} tabulated, {self.records - used} dropped")
        return "\n".join([*lines, *(str(finding) for finding in self.findings), *self.notes])


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
            cause=_why_unknown(hierarchy, cases[0][0]) if fault is Fault.UNKNOWN_CODE else "",
        )
        for fault, cases in sorted_out.items()
    ]


def _why_unknown(hierarchy: Hierarchy, code: str) -> str:
    """What probably happened to a code that is not in a hierarchy."""
    if code.isdecimal():
        padded = [leaf for leaf in hierarchy.leaves if leaf.lstrip("0") == code.lstrip("0")]
        if padded:
            return (
                f"{padded[0]} with another number of zeros in front: did a spreadsheet drop them?"
            )
    alike = [leaf for leaf in hierarchy.leaves if leaf.casefold() == code.casefold()]
    if alike:
        return f"{alike[0]} in another case"
    if code.endswith(".0") and code[:-2] in hierarchy:
        return f"{code[:-2]} written as a decimal number"
    if re.search("Ã.|Â.|\ufffd", code):
        return "text in another encoding; write encoding"
    return ""


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
