"""What DuckDB says when it cannot read something, in one line that quotes no record."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb

from tacit.errors import InputError

HARMLESS = (
    duckdb.IOException,
    duckdb.CatalogException,
    duckdb.BinderException,
    duckdb.ParserException,
)
"""Errors that speak of files, names and queries. Others may quote what records report."""

KNOWN = (
    (r"not utf-8 encoded", "this is not text in UTF-8; convert the file"),
    (r"unterminated quote", "a quotation mark is opened but not closed"),
    (r"Parquet|magic bytes|thrift", "this is not a Parquet file, or it is damaged"),
    (r"not a valid DuckDB database", "this is not a DuckDB database, or it is damaged"),
    (r"database does not exist|No files found", "the file cannot be read: no such file"),
)
"""What to make of errors that are about a file."""

_COLUMNS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_LINE = re.compile(r"Line: (\d+)")
_FILE = re.compile(
    r"^\s*file = (?P<a>.+?)\s*$"
    r"|[Ff]ile ['\"](?P<b>[^'\"\n]+)['\"]"
    r"|(?:database|pattern) \"(?P<c>[^\"\n]+)\"",
    re.MULTILINE,
)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn errors of DuckDB into ours."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise InputError(
            "the memory limit does not suffice; give a larger memory_limit, or a temp_directory "
            "with more room"
        ) from None
    except duckdb.Error as error:
        raise _plain(error) from None


def _plain(error: duckdb.Error) -> InputError:
    text = str(error)
    named, line = _FILE.search(text), _LINE.search(text)
    place: dict[str, Any] = {
        "path": None if named is None else next(filter(None, named.groups())),
        "line": None if line is None else int(line[1]),
    }
    columns = _COLUMNS.search(text)
    if columns is not None:
        return InputError(
            f"a record of {columns[2]} entries, but the first line names {columns[1]} columns; "
            "correct it, or quote entries that contain the separator",
            **place,
        )
    for pattern, meaning in KNOWN:
        if re.search(pattern, text):
            return InputError(meaning, **place)
    if isinstance(error, HARMLESS):
        reason = text.splitlines()[0].partition("Error: ")
        return InputError(f"the microdata cannot be read: {reason[2] or reason[0]}")
    return InputError(
        "the microdata cannot be read; check the files and the types of the columns", **place
    )
