"""CSV files for DuckDB: read as they are where it can, and through a plain copy where it cannot."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tacit.entries import tidy_code
from tacit.errors import InputError
from tacit.microdata.file_format import Reading, guess_delimiter
from tacit.microdata.file_names import for_duckdb, is_remote
from tacit.microdata.quoting import quoted_name, quoted_text
from tacit.microdata.specification import Specification
from tacit.microdata.text_files import (
    has_odd_line_ends,
    known_encoding,
    marked_encoding,
    needs_copy,
    opened,
    sample_of,
    write_plain_copy,
)

NO_SEPARATOR = "\x1f"
"""Occurs in no line, so that a whole line can be read as one column."""

_SAMPLE_LINES = 50


class CsvFiles:
    """CSV files of the same records.

    DuckDB would guess how files are made from their first records, and skip those that do not
    fit. Told everything, it refuses them; then `copy_odd_ones` helps, or nothing does.

    Attributes:
        shown: For each name that DuckDB reads, the name of the file that it stands for.
        notes: What was guessed, and how to say otherwise.
    """

    def __init__(
        self,
        duck: Any,
        files: Iterable[str],
        wanted: Specification,
        reading: Reading,
        folder: str,
    ):
        self._duck = duck
        self._wanted = wanted
        self._reading = reading
        self._folder = Path(folder)
        self.shown = {file: file for file in files}
        self.notes: list[str] = []
        told = None if reading.encoding is None else known_encoding(reading.encoding)
        for file in list(self.shown):
            if is_remote(file) or file.lower().endswith(".zst"):
                continue
            if told not in (None, "utf-8") or (told is None and _is_odd(sample_of(file))):
                self._copy(file)
        self._formats = {name: self._format(name) for name in self.shown}

    def copy_odd_ones(self) -> bool:
        """Copy files that DuckDB cannot read as they are; whether there were any."""
        odd = [
            file
            for file, shown in self.shown.items()
            if file == shown
            and not is_remote(file)
            and not file.lower().endswith(".zst")
            and self._is_readable_otherwise(file)
        ]
        for file in odd:
            del self._formats[file]
            copy = self._copy(file)
            self._formats[copy] = self._format(copy)
        return bool(odd)

    def _is_readable_otherwise(self, file: str) -> bool:
        # What is said to be UTF-8 and is not is refused when it is copied, with its line.
        return self._reading.encoding is not None or needs_copy(file)

    def _copy(self, file: str) -> str:
        copy = str(self._folder / f"plain-{[*self.shown].index(file)}.csv")
        found = write_plain_copy(file, Path(copy), self._reading.encoding)
        # In its place: the order of files is that of contributors.
        self.shown = {(copy if name == file else name): shown for name, shown in self.shown.items()}
        if self._reading.encoding is None:
            self.notes += found.notes(file)
        return copy

    def _format(self, file: str) -> tuple[str, tuple[str, ...]]:
        """What separates columns, and their names."""
        lines = self._first_lines(file)
        if not lines or not lines[0].strip():
            raise InputError(
                "the first line is empty; it must name the columns", path=self.shown[file]
            )
        mark = self._reading.delimiter or guess_delimiter([line for line in lines if line])
        return mark, tuple(names_in(lines[0], mark))

    def _first_lines(self, file: str) -> list[str]:
        if is_remote(file) or file.lower().endswith(".zst"):
            query = (
                f"SELECT line FROM read_csv([{quoted_text(for_duckdb(file))}], auto_detect = "
                "false, header = false, columns = {'line': 'VARCHAR'}, "
                f"delim = '{NO_SEPARATOR}', quote = '', escape = '', hive_partitioning = false) "
                f"LIMIT {_SAMPLE_LINES}"
            )
            return [str(row[0] or "") for row in self._duck.execute(query).fetchall()]
        sample = sample_of(file)
        lines = sample.decode(errors="replace").removeprefix("\ufeff").splitlines()
        if len(lines) > 1 and not sample.endswith((b"\n", b"\r")):
            lines.pop()
        return lines[:_SAMPLE_LINES]

    def query(self) -> str:
        """A query for the columns that are needed, all as text."""
        alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for file, found in self._formats.items():
            alike.setdefault(found, []).append(file)
        return " UNION ALL ".join(
            self._query(mark, names, files) for (mark, names), files in alike.items()
        )

    def _query(self, mark: str, names: tuple[str, ...], files: list[str]) -> str:
        """A query for files that begin with the same line."""
        wanted = self._wanted
        try:
            wanted.refuse_missing_columns(names)
        except InputError as error:
            if len(names) == 1 and self._reading.delimiter is not None:
                raise InputError(
                    f"{error}, or is delimiter {mark!r} wrong?", key=("delimiter",)
                ) from None
            raise
        for name in wanted.columns:
            if names.count(name) > 1:
                raise InputError(
                    f"the first line names column {name} more than once", path=self.shown[files[0]]
                )
        # Plain names, whatever the columns are called.
        kinds = ", ".join(f"'column_{place}': 'VARCHAR'" for place in range(len(names)))
        chosen = ", ".join(
            f"column_{names.index(name)} AS {quoted_name(name)}" for name in wanted.columns
        )
        every = ", ".join(f"column_{place}" for place in range(len(names)))
        listed = ", ".join(quoted_text(for_duckdb(file)) for file in files)
        # Spreadsheets write lines of nothing but separators below the data.
        where = f" WHERE coalesce({every}) IS NOT NULL" if self.skips_empty else ""
        return (
            f"SELECT {chosen} FROM read_csv([{listed}], auto_detect = false, header = true, "
            f"columns = {{{kinds}}}, delim = {quoted_text(mark)}, quote = '\"', escape = '\"', "
            # A folder called turnover=7 would have its name in place of the column.
            f"hive_partitioning = false){where}"
        )

    skips_empty = False
    """Whether records without a single entry are left out."""

    def entries(self, column: str) -> Iterator[tuple[str, int, str]]:
        """The entries of a column as text, with their files and lines; to name what is wrong."""
        for file, (mark, names) in self._formats.items():
            if is_remote(file) or file.lower().endswith(".zst"):
                continue
            place = names.index(column)
            with open_text(file) as stream:
                rows = csv.reader(stream, delimiter=mark)
                begins = 1
                for row in rows:
                    line, begins = begins, rows.line_num + 1
                    if line > 1 and any(row):
                        # A record in quotation marks may go over several lines.
                        entry = row[place] if place < len(row) else ""
                        yield self.shown[file], line, entry


def open_text(file: str) -> io.TextIOWrapper:
    """A file in UTF-8, plain or gzip, as text for the csv module."""
    return io.TextIOWrapper(opened(file), encoding="utf-8-sig", errors="replace", newline="")


def names_in(line: str, separator: str) -> list[str]:
    """The names of columns in the first line of a file.

    >>> names_in('region;"turnover, net"', ";")
    ['region', 'turnover, net']
    """
    return [tidy_code(name) for name in next(csv.reader([line], delimiter=separator))]


def columns_of(line: str) -> tuple[str, list[str]]:
    """What separates columns, and their names, from the first line of a file alone."""
    separator = guess_delimiter([line])
    return separator, names_in(line, separator)


def _is_odd(start: bytes) -> bool:
    """Whether the beginning of a file shows that DuckDB cannot read it as it is."""
    if marked_encoding(start) not in (None, "utf-8") or b"\0" in start:
        return True
    if has_odd_line_ends(start[:-1]):
        return True
    try:
        # A character may be cut at the end of what was read.
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return True
    return False
