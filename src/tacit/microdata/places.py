"""Where records stand in their files, and records of Excel workbooks, which know their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tacit.entries import AROUND_NUMBERS, MISSING, AmbiguousNumbersError, shapes_of, tidy_code
from tacit.errors import InputError
from tacit.hierarchy import Hierarchy
from tacit.microdata.duck_columns import SqlColumns
from tacit.microdata.report import EXAMPLES, Fault, Finding
from tacit.microdata.specification import NO, YES, Specification
from tacit.microdata.workbooks import read_sheet


class Written(Protocol):
    """Records in files that have lines."""

    @property
    def entries(self) -> Callable[[str], Iterator[tuple[str, int, str]]]:
        """Gives the entries of a column as text, with their files and lines."""


class SheetRecords:
    """Records in sheets of workbooks.

    Attributes:
        notes: Which sheets are read, where there are several.
    """

    def __init__(self, files: Iterable[str], wanted: Specification, sheet: str | int | None):
        self._wanted = wanted
        self.notes: list[str] = []
        self._sheets = []
        for file in files:
            found = read_sheet(Path(file), sheet, wanted.columns)
            wanted.refuse_missing_columns(found.columns)
            self._sheets.append(found)
            if found.others:
                self.notes.append(
                    f'{file}: sheet {found.name} is read (sheet = "..." says otherwise)'
                )

    def arrays(self) -> dict[str, Any]:
        """The columns that are needed: numbers where there is nothing else, and otherwise text."""
        return {name: self._array(name) for name in self._wanted.columns}

    def _array(self, name: str) -> Any:
        entries = [entry for sheet in self._sheets for entry in sheet.columns[name]]
        kinds = {type(entry) for entry in entries} - {type(None)}
        if kinds and kinds <= {int, float}:
            return np.array([np.nan if entry is None else entry for entry in entries], np.float64)
        array = np.empty(len(entries), object)
        is_number = name in self._wanted.numbers
        array[:] = [None if entry is None else _text(entry, is_number) for entry in entries]
        return array

    def entries(self, column: str) -> Iterator[tuple[str, int, str]]:
        """The entries of a column as text, with their files and rows."""
        is_number = column in self._wanted.numbers
        for sheet in self._sheets:
            for row, entry in zip(sheet.rows, sheet.columns[column], strict=True):
                yield str(sheet.path), row, "" if entry is None else _text(entry, is_number)


def _text(entry: Any, is_number: bool) -> str:
    if isinstance(entry, float) and is_number and "e" not in repr(entry):
        # It is a number already: nobody is to wonder what its point means.
        return f"{entry!r}e0"
    return str(entry)


def located(error: AmbiguousNumbersError, written: Written, numbers: Iterable[str]) -> InputError:
    """The error about numbers that could mean two things, at the first of them.

    Args:
        error: The error.
        written: The records.
        numbers: The columns that hold numbers.
    """
    for name in numbers:
        for file, line, text in written.entries(name):
            if f"either {error.mark}" in shapes_of([text]):
                return InputError(f"column {name}: {error}", path=file, line=line, key=error.key)
    return error


class FaultPlaces:
    """Finds the lines of records with a fault, once it is known that there are some.

    Args:
        written: The records.
        dimensions: The hierarchies.
        columns: How codes and numbers are read.
    """

    def __init__(self, written: Written, dimensions: Mapping[str, Hierarchy], columns: SqlColumns):
        self._written = written
        self._dimensions = dimensions
        self._columns = columns

    def of(self, finding: Finding) -> tuple[tuple[str, int], ...]:
        """The first places of a finding."""
        is_wrong = self._test(finding)
        found: list[tuple[str, int]] = []
        for file, line, text in self._written.entries(finding.column):
            if is_wrong(text):
                found.append((file, line))
                if len(found) == EXAMPLES:
                    break
        return tuple(found)

    def _test(self, finding: Finding) -> Callable[[str], bool]:
        name, written = finding.column, self._columns.format
        is_number = name in self._columns.wanted.numbers

        def nothing(text: str) -> bool:
            if is_number:
                return text.strip(AROUND_NUMBERS).lower() in MISSING
            return not (tidy_code(text) if name in self._columns.untidy else text)

        def unreadable(text: str) -> bool:
            return not nothing(text) and written.read(text) is None

        def negative(text: str) -> bool:
            return (written.read(text) or 0.0) < 0

        def neither(text: str) -> bool:
            return text.strip().lower() not in ("", *YES, *NO)

        def unknown(text: str) -> bool:
            code = self._code(name, text)
            return bool(code) and code not in hierarchy

        def inner(text: str) -> bool:
            code = self._code(name, text)
            return code in hierarchy and not hierarchy.is_leaf[hierarchy.positions[code]]

        hierarchy = self._dimensions.get(name) or Hierarchy.flat([])
        return {
            Fault.MISSING: nothing,
            Fault.NOT_A_NUMBER: unreadable,
            Fault.NEGATIVE_WEIGHT: negative,
            Fault.NOT_A_FLAG: neither,
            Fault.UNKNOWN_CODE: unknown,
            Fault.INNER_CODE: inner,
        }[finding.fault]

    def _code(self, name: str, text: str) -> str:
        code = tidy_code(text) if name in self._columns.untidy else text
        return code.removesuffix(".0") if name in self._columns.floats else code
