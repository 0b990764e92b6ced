"""How a file is written: told by the user, and otherwise recognised."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tacit.entries import AmbiguousNumbersError, NumberFormat, Told, format_of, shapes_of
from tacit.errors import InputError
from tacit.microdata.text_files import (
    chunks,
    has_odd_line_ends,
    known_encoding,
    marked_encoding,
    sample_of,
    start_of,
)
from tacit.microdata.workbooks import is_workbook, read_sheet

SEPARATORS = (",", ";", "\t", "|")
"""What may stand between columns; the beginning of a file tells which does."""

_SEPARATOR_NAMES = {",": "commas", ";": "semicolons", "\t": "tabulators", "|": "bars"}
_SAMPLE_LINES = 200
_EXAMPLES = 5
_SAME_SEPARATOR = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "bar": "|"}


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a user says about how files are written; what is None is recognised.

    Attributes:
        encoding: The encoding of text, such as `cp1252`.
        delimiter: What stands between columns of a CSV file.
        decimal: The decimal sign.
        thousands: What separates thousands, empty for nothing.
        sheet: The sheet of a workbook, by its name or its place counted from 1.
    """

    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    sheet: str | int | None = None

    def __post_init__(self) -> None:
        if self.encoding is not None:
            known_encoding(self.encoding)
        if self.delimiter is not None:
            mark = _SAME_SEPARATOR.get(self.delimiter, self.delimiter)
            if len(mark) != 1 or not mark.isascii() or mark.isalnum() or mark in '"\r\n':
                raise InputError('delimiter must be one character, such as ";"', key=("delimiter",))
            object.__setattr__(self, "delimiter", mark)
        object.__setattr__(self, "numbers", Told(self.decimal, self.thousands))
        if isinstance(self.sheet, bool) or not isinstance(self.sheet, str | int | None):
            raise InputError("sheet must be a name or a number counted from 1", key=("sheet",))

    numbers: Told = field(default=Told(), init=False, repr=False)
    """What the user says about numbers."""

    @property
    def given(self) -> list[str]:
        """What is told, by name."""
        names = ("encoding", "delimiter", "decimal", "thousands", "sheet")
        return [name for name in names if getattr(self, name) is not None]


@dataclass(frozen=True, kw_only=True)
class FileFormat:
    """How a file seems to be written, as far as its contents tell.

    Attributes:
        path: The file.
        kind: `csv`, `excel` or `parquet`.
        encoding: The encoding of text; None for other files.
        encoding_is_guess: Whether other encodings would do as well.
        delimiter: What stands between columns; None for other files.
        decimal: The decimal sign; None where numbers could mean two things.
        thousands: The marks that separate thousands, empty where none do.
        header: The names of the columns.
        examples: The first records, as text. They are confidential.
        odd_line_ends: Whether lines end in several ways, or in a way that few programs know.
        sheet: The sheet; None for other files.
        sheets: All sheets that are not empty.
    """

    path: Path
    kind: str
    encoding: str | None = None
    encoding_is_guess: bool = False
    delimiter: str | None = None
    decimal: str | None = "."
    thousands: str = ""
    header: tuple[str, ...] = ()
    examples: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    odd_line_ends: bool = False
    sheet: str | None = None
    sheets: tuple[str, ...] = ()

    @property
    def is_ambiguous(self) -> bool:
        """Whether somebody has to say what is the decimal sign."""
        return self.decimal is None

    def summary(self) -> str:
        """The format in a line.

        >>> FileFormat(path=Path("a.csv"), kind="csv", encoding="cp1252", delimiter=";").summary()
        'text in cp1252, columns separated by semicolons, decimal point'
        """
        parts = []
        if self.kind == "parquet":
            return "Parquet"
        if self.kind == "csv":
            parts = [f"text in {self.encoding}"]
            if len(self.header) != 1:
                marks = _SEPARATOR_NAMES.get(self.delimiter or "", repr(self.delimiter))
                parts.append(f"columns separated by {marks}")
        elif self.sheet is not None:
            parts = [f"sheet {self.sheet}"]
        if self.decimal is None:
            parts.append("the decimal sign is not clear")
        else:
            parts.append(str(NumberFormat(self.decimal, self.thousands)))
        return ", ".join(parts)


def sniff(
    path: str | os.PathLike[str],
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    sheet: str | int | None = None,
    examples: int = _EXAMPLES,
) -> FileFormat:
    """How a file is written, for somebody to confirm or correct.

    The decimal sign and the thousands separator are those of columns at the beginning of the file
    that hold nothing but numbers. Tabulation looks at all records of the columns that it needs.

    Args:
        path: A CSV, Excel or Parquet file.
        encoding: What the user says about it already, and so for the others.
        delimiter: See `FileFormat`.
        decimal: See `FileFormat`.
        thousands: See `FileFormat`.
        sheet: See `FileFormat`.
        examples: How many of the first records to keep, at most 200.

    Raises:
        InputError: The file cannot be read, or is not text in the encoding that is told.
    """
    path = Path(path)
    told = Reading(
        encoding=encoding, delimiter=delimiter, decimal=decimal, thousands=thousands, sheet=sheet
    )
    if path.name.lower().endswith((".parquet", ".pq")):
        return FileFormat(path=path, kind="parquet", header=_parquet_columns(path))
    if is_workbook(path):
        read = read_sheet(path, sheet)
        columns = list(read.columns.values())
        rows = [
            tuple("" if column[row] is None else str(column[row]) for column in columns)
            for row in range(min(len(read.rows), _SAMPLE_LINES))
        ]
        texts = [entry for column in columns for entry in column if isinstance(entry, str)]
        found = _numbers(told.numbers, [_filled(texts)])
        return FileFormat(
            path=path,
            kind="excel",
            header=tuple(read.columns),
            examples=tuple(rows[:examples]),
            sheet=read.name,
            sheets=tuple(sorted({read.name, *read.others})),
            decimal=None if found is None else found.decimal,
            thousands="" if found is None else found.thousands,
        )
    start = sample_of(path)
    text, known = start_of(start, path, told.encoding)
    lines = text.split("\n")
    if len(lines) > 1 and text and not text.endswith("\n") and len(start) >= 1 << 16:
        lines.pop()
    lines = [line for line in lines if line.strip()][:_SAMPLE_LINES]
    mark = told.delimiter or guess_delimiter(lines)
    records = [
        [entry.strip() for entry in row]
        for row in csv.reader(io.StringIO("\n".join(lines)), delimiter=mark)
    ]
    header, rows_ = (records[0], records[1:]) if records else ([], [])
    columns_ = [[row[place] for row in rows_ if place < len(row)] for place in range(len(header))]
    found = _numbers(told.numbers, [_filled(column) for column in columns_])
    return FileFormat(
        path=path,
        kind="csv",
        encoding=known.name,
        encoding_is_guess=known.is_guess,
        delimiter=mark,
        header=tuple(header),
        examples=tuple(tuple(row) for row in rows_[:examples]),
        odd_line_ends=any(has_odd_line_ends(chunk) for chunk in chunks(path))
        if marked_encoding(start) in (None, "utf-8")
        else False,
        decimal=None if found is None else found.decimal,
        thousands="" if found is None else found.thousands,
    )


def _parquet_columns(path: Path) -> tuple[str, ...]:
    # Slow to import, and needed for few files.
    import duckdb

    from tacit.microdata.duck_errors import plain_errors
    from tacit.microdata.file_names import for_duckdb, found_files

    (file,) = found_files([str(path)])
    with plain_errors([file]), duckdb.connect() as duck:
        return tuple(duck.read_parquet(for_duckdb(file), hive_partitioning=False).columns)


def _filled(entries: Sequence[str]) -> list[str]:
    return [entry for entry in entries if entry.strip()]


def _numbers(told: Told, columns: list[list[str]]) -> NumberFormat | None:
    """How numbers are written in columns that hold nothing else; None where that is unclear."""
    texts = [
        entry
        for column in columns
        if column and all(_NUMBER_LIKE.fullmatch(entry) for entry in column)
        for entry in column
    ]
    try:
        return format_of(shapes_of(texts), told)
    except AmbiguousNumbersError:
        return None


_NUMBER_LIKE = re.compile("[-+\u2212]?[0-9.,][0-9.,'\u2019 \t\u00a0\u2007\u2009\u202feE+-]*")


def guess_delimiter(lines: Sequence[str]) -> str:
    """What separates columns: what divides all records into as many entries as the first line.

    >>> guess_delimiter(["region;turnover, net", "N;5,5", "S;7"])
    ';'
    """
    if not lines:
        return SEPARATORS[0]
    outside = re.sub('"[^"]*"', "", lines[0])
    present = [mark for mark in SEPARATORS if mark in outside]
    if len(present) < 2:
        return present[0] if present else SEPARATORS[0]

    def fit(mark: str) -> tuple[float, int]:
        try:
            rows = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=mark))
        except csv.Error:
            return 0.0, 0
        width = len(rows[0])
        alike = sum(len(row) == width for row in rows[1:])
        return alike / max(len(rows) - 1, 1), width

    return max(present, key=fit)
