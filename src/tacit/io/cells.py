"""Columns of cells or codes: read from CSV, Excel and Parquet files, written as CSV and Parquet."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.entries import (
    MISSING,
    PLAIN,
    AmbiguousNumbersError,
    NumberFormat,
    Told,
    are_floats,
    format_of,
    likely_cause,
    shapes_of,
    tidy_code,
)
from tacit.errors import InputError, first_few
from tacit.hierarchy import Hierarchy
from tacit.io.files import read_bytes, replacing
from tacit.microdata.file_format import Reading, guess_delimiter
from tacit.microdata.report import EXAMPLES
from tacit.microdata.text_files import SAMPLE, text_of
from tacit.microdata.workbooks import SUFFIXES as WORKBOOKS
from tacit.microdata.workbooks import is_workbook, read_sheet

CELL_SUFFIXES = (".csv", ".csv.gz", ".parquet")
CONFIDENTIAL = "confidential: true values, do not publish"
"""The name of a column without entries, for files that are not for readers.

It says so in the first line of a CSV file, and leaves it a CSV file that anything can read.
"""

_SAMPLE_LINES = 200
COLUMN_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".txt", ".parquet", *WORKBOOKS)
"""Files that hold columns."""


@dataclass(eq=False)
class ColumnFile:
    """The columns of a file, as they were read.

    Attributes:
        path: The file.
        columns: The entries by name, None where there is nothing. In a CSV file all are text.
        lines: The line or row of each entry, counted from 1; None where files have none.
        notes: What was guessed about how the file is written.
    """

    path: Path
    columns: dict[str, list[Any]]
    lines: Sequence[int] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def is_ours(self) -> bool:
        """Whether tacit wrote it: then numbers are as computers write them."""
        return CONFIDENTIAL in self.columns

    def line(self, row: int) -> int | None:
        """The line of a row, counted from 0."""
        return None if self.lines is None else self.lines[row]

    def read_numbers(self, names: Iterable[str], told: Told) -> None:
        """Make numbers of columns of text, NaN where there is nothing.

        Args:
            names: The columns; those that are not there are left to others.
            told: What the user says about how numbers are written.

        Raises:
            InputError: An entry is not a number, or numbers could mean two things.
        """
        wanted = [name for name in dict.fromkeys(names) if name in self.columns]
        texts = {name: [e for e in self.columns[name] if isinstance(e, str)] for name in wanted}
        texts = {name: entries for name, entries in texts.items() if entries}
        if not texts:
            return
        if self.is_ours and told == Told():
            told = Told(".", "")
        written = self._number_format(texts, told)
        wrong: list[tuple[str, int, str]] = []
        for name in texts:
            column = self.columns[name]
            for row, entry in enumerate(column):
                if not isinstance(entry, str):
                    continue
                column[row] = None if entry.lower() in MISSING else _number(entry, written)
                if column[row] is None and entry.lower() not in MISSING:
                    wrong.append((name, row, entry))
        if wrong:
            name, row, entry = wrong[0]
            causes = dict.fromkeys(likely_cause(entry, written) for _, _, entry in wrong[:EXAMPLES])
            cause = ", or ".join([cause for cause in causes if cause][:2])
            further = [
                f"{'line' if other == name else f'column {other}, line'} {self.line(place)}"
                if self.lines is not None
                else f"column {other}"
                for other, place, _ in wrong[1:EXAMPLES]
            ]
            more = len(wrong) - EXAMPLES
            rest = f" (also {', '.join(further)}{f' and {more} more' * (more > 0)})"
            raise InputError(
                f"column {name}: this is not a number{rest if further else ''}"
                + (f"; probably {cause}" if cause else "; correct it"),
                path=self.path,
                line=self.line(row),
            )
        if written != PLAIN and told == Told():
            self.notes.append(
                f"{self.path}: numbers are read with {written} (guessed; decimal and thousands say "
                "otherwise)"
            )

    def read_codes(self, name: str, missing: str | None = None) -> None:
        """Make texts of a column of codes: numbers of a spreadsheet are written out.

        Args:
            name: The column.
            missing: What stands for nothing.
        """
        given = self.columns[name]
        codes = [missing if entry is None else str(entry) for entry in given]
        filled = [code for code in codes if code is not None]
        if are_floats(filled):
            codes = [None if code is None else code.removesuffix(".0") for code in codes]
            self.notes.append(f"{self.path}: {name}: codes such as 1.0 are read as 1")
        self.columns[name] = codes

    def refuse_unknown(self, name: str, hierarchy: Hierarchy) -> None:
        """Refuse codes that a hierarchy does not have, with the first of their lines."""
        codes = self.columns[name]
        rows = [row for row, code in enumerate(codes) if code is None or code not in hierarchy]
        unknown = dict.fromkeys(codes[row] for row in rows)
        if not unknown:
            return
        if None in unknown:
            row = codes.index(None)
            raise InputError(
                f"column {name}: a code is missing; every cell needs one",
                path=self.path,
                line=self.line(row),
            )
        raise InputError(
            f"column {name}: codes {first_few(list(unknown))} are not in the hierarchy of the "
            f"dimension {hierarchy!r}; add them there or correct the cells",
            path=self.path,
            line=self.line(rows[0]),
        )

    def _number_format(self, texts: Mapping[str, list[str]], told: Told) -> NumberFormat:
        if told == Told() and all(map(_is_plain, texts.values())):
            points = [entry for entries in texts.values() for entry in entries if "." in entry]
            if not points or any("decimal ." in shapes_of([entry]) for entry in points):
                return PLAIN
        try:
            return format_of(shapes_of(e for entries in texts.values() for e in entries), told)
        except AmbiguousNumbersError as error:
            for name in texts:
                for row, entry in enumerate(self.columns[name]):
                    if isinstance(entry, str) and f"either {error.mark}" in shapes_of([entry]):
                        raise InputError(
                            f"column {name}: {error}",
                            path=self.path,
                            line=self.line(row),
                            key=error.key,
                        ) from None
            raise


def _number(entry: str, format: NumberFormat) -> float | None:
    # Most numbers are plain, and Python reads those faster than any pattern.
    if format is PLAIN and entry.isascii() and "_" not in entry and entry[-1] in "0123456789":
        try:
            return float(entry)
        except ValueError:
            return None
    return format.read(entry)


def _is_plain(entries: list[str]) -> bool:
    try:
        np.array(entries, np.float64)
    except ValueError:
        return False
    return True


def read_columns(
    path: str | Path,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    sheet: str | int | None = None,
    numbers: Iterable[str] = (),
    note: Callable[[str], object] | None = None,
) -> dict[str, list[Any]]:
    """The columns of a CSV, Excel or Parquet file, None where there is nothing.

    Everything in a CSV file is text, without blanks and quotation marks around it. How it is
    written is recognised where it is not given, see `tacit.sniff`.

    Args:
        path: The file.
        encoding: The encoding of text, such as `cp1252`.
        delimiter: What stands between columns.
        decimal: The decimal sign of `numbers`.
        thousands: What separates thousands in them, empty for nothing.
        sheet: The sheet of a workbook, by its name or its place counted from 1.
        numbers: Columns that hold numbers.
        note: Is told what was guessed.

    Raises:
        InputError: The file is of another kind, cannot be read, a line has too few entries or too
            many, or an entry is not a number.
    """
    reading = Reading(
        encoding=encoding, delimiter=delimiter, decimal=decimal, thousands=thousands, sheet=sheet
    )
    read = read_column_file(Path(path), reading)
    read.read_numbers(numbers, reading.numbers)
    for text in read.notes if note is not None else ():
        assert note is not None
        note(text)
    return read.columns


def read_column_file(
    path: Path, reading: Reading | None = None, needed: Collection[str] = ()
) -> ColumnFile:
    """The columns of a CSV, Excel or Parquet file, with their lines; see `read_columns`.

    Args:
        path: The file.
        reading: What the user says about how it is written.
        needed: Columns that are needed, by which a sheet is found.
    """
    reading = reading or Reading()
    name = path.name.lower()
    if not name.endswith(COLUMN_SUFFIXES):
        raise InputError(
            "the name of the file must end in .csv, .tsv, .txt, .xlsx or .parquet", path=path
        )
    if name.endswith(".parquet"):
        return ColumnFile(path, _read_parquet(path))
    if is_workbook(path):
        found = read_sheet(path, reading.sheet, needed)
        notes = []
        if found.others:
            notes = [f'{path}: sheet {found.name} is read (sheet = "..." says otherwise)']
        columns = {
            title: [_tidy(entry) for entry in entries] for title, entries in found.columns.items()
        }
        return ColumnFile(path, columns, found.rows, notes)
    return _read_csv(path, reading)


def _read_csv(path: Path, reading: Reading) -> ColumnFile:
    text, encoding = text_of(read_bytes(path), path, reading.encoding)
    notes = encoding.notes(path) if reading.encoding is None else []
    start = text[:SAMPLE].split("\n")
    if not start[0].strip():
        raise InputError("the first line is empty; it must name the columns", path=path, line=1)
    lines = [line for line in start[:-1] or start if line.strip()][:_SAMPLE_LINES]
    separator = reading.delimiter or guess_delimiter(lines)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[list[str]] = []
    places: list[int] = []
    try:
        header = [tidy_code(name) for name in next(reader)]
        # A separator at the end of every line is common.
        while len(header) > 1 and not header[-1]:
            header.pop()
        twice = [name for name in header if header.count(name) > 1]
        if twice:
            raise InputError(f"column {twice[0]!r} is there more than once", path=path, line=1)
        begins = reader.line_num + 1
        for row in reader:
            line, begins = begins, reader.line_num + 1
            if not any(entry.strip() for entry in row):
                continue
            while len(row) > len(header) and not row[-1].strip():
                row.pop()
            if len(row) != len(header):
                raise InputError(
                    f"this line has {len(row)} entries, but the first line names {len(header)} "
                    "columns",
                    path=path,
                    line=line,
                )
            rows.append(row)
            places.append(line)
    except csv.Error as error:
        raise InputError(f"this is not CSV: {error}", path=path, line=reader.line_num) from None
    columns = zip(*rows, strict=True) if rows else ([] for _ in header)
    return ColumnFile(
        path,
        {
            name: [_tidy(entry) for entry in column]
            for name, column in zip(header, columns, strict=True)
        },
        places,
        notes,
    )


def _tidy(entry: Any) -> Any:
    return (tidy_code(entry) or None) if isinstance(entry, str) else entry


def _read_parquet(path: Path) -> dict[str, list[Any]]:
    import duckdb

    from tacit.microdata.file_names import for_duckdb

    if not path.is_file():
        kind = "this is a directory" if path.is_dir() else "no such file"
        raise InputError(f"the file cannot be read: {kind}", path=path)
    with duckdb.connect() as duck:
        try:
            # Names of folders are not data, even if one is called value=7.
            relation = duck.read_parquet(for_duckdb(str(path)), hive_partitioning=False)
            rows = relation.fetchall()
        except duckdb.Error:
            raise InputError("this is not a Parquet file", path=path) from None
        columns = list(zip(*rows, strict=True)) if rows else [() for _ in relation.columns]
        return {name: list(column) for name, column in zip(relation.columns, columns, strict=True)}


def write_columns(columns: Mapping[str, npt.NDArray[Any]], path: Path) -> None:
    """Write columns as CSV or Parquet, as the name of the file says.

    NaN is written as nothing. The file appears complete or not at all.

    Raises:
        InputError: The name says neither, or the file cannot be written.
    """
    if not path.name.lower().endswith(CELL_SUFFIXES):
        raise InputError(f"the name must end in {', '.join(CELL_SUFFIXES)}", path=path)
    if path.name.lower().endswith(".parquet"):
        content: str | bytes = _parquet(columns)
    else:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*map(_texts, columns.values()), strict=True))
        content = text.getvalue()
    with replacing(path, confidential=CONFIDENTIAL in columns) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


def _texts(column: npt.NDArray[Any]) -> Sequence[Any]:
    if column.dtype.kind == "f":
        return ["" if entry != entry else f"{entry:.15g}" for entry in column.tolist()]
    entries: list[Any] = column.tolist()
    return entries


def _parquet(columns: Mapping[str, npt.NDArray[Any]]) -> bytes:
    import duckdb

    from tacit.microdata.quoting import quoted_name

    # Numbered, because names may be any text.
    arrays = {
        f"column{place}": column.astype(object) if column.dtype.kind == "U" else column
        for place, column in enumerate(columns.values())
    }
    chosen = ", ".join(
        f"{_filled(source, column)} AS {quoted_name(name)}"
        for (source, column), name in zip(arrays.items(), columns, strict=True)
    )
    with tempfile.TemporaryDirectory(prefix="tacit-") as folder, duckdb.connect() as duck:
        file = Path(folder) / "cells.parquet"
        # Columns of text are text, also where the first entries are missing.
        duck.execute("SET pandas_analyze_sample = 0")
        duck.register("cells", arrays)
        try:
            target = str(file).replace("'", "''")
            duck.execute(f"COPY (SELECT {chosen} FROM cells) TO '{target}' (FORMAT parquet)")
        except duckdb.Error as error:
            raise InputError(f"the cells cannot be written as Parquet: {error}") from None
        return file.read_bytes()


def _filled(source: str, column: npt.NDArray[Any]) -> str:
    """SQL for a column, without NaN."""
    if column.dtype.kind != "f":
        return source
    return f"CASE WHEN isnan({source}) THEN NULL ELSE {source} END"


def confidential(columns: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The columns with one more whose name says that they are confidential."""
    length = len(next(iter(columns.values())))
    return {**columns, CONFIDENTIAL: np.full(length, "", object)}
