"""What DuckDB says when it cannot read something, in one line that quotes no record."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb

from tacit.errors import InputError
from tacit.microdata.file_names import for_duckdb
from tacit.microdata.text_files import TELL_ENCODING

HARMLESS = (
    duckdb.CatalogException,
    duckdb.BinderException,
    duckdb.ParserException,
)
"""Errors that speak of names and queries. Others may quote what records report."""

KNOWN = (
    (r"not utf-8 encoded", f"this is not text in UTF-8; {TELL_ENCODING}"),
    (r"unterminated quote", "a quotation mark is opened but not closed"),
    (r"Parquet|magic bytes|thrift", "this is not a Parquet file, or it is damaged"),
    (r"not a valid DuckDB database", "this is not a DuckDB database, or it is damaged"),
    (
        r"^Permission Error: .*disabled by configuration",
        "the query, or a view that it reads, reaches beyond the database; name the files "
        "themselves, or pass a connection",
    ),
    (
        r"Could not set lock on file|file handle conflict|different configuration",
        "the database is open for writing, here or in another program; close it there",
    ),
    (r"^IO Error: .*Permission denied", "the file cannot be read: permission denied"),
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


_LITERAL = re.compile(r"'(?![a-z_]+\([A-Z_, ]*\)')[^']*'")
"""A text in a query, which may name a firm; not a function with the types of its arguments."""


@contextmanager
def plain_errors(files: Sequence[str] | Mapping[str, str] = ()) -> Iterator[None]:
    """Turn errors of DuckDB into ours.

    Args:
        files: What may be at fault. Nothing else is taken for the name of a file: errors quote
            records, and those may look like one. A mapping says what each stands for.
    """
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise InputError(
            "the memory limit is too small; give a larger memory_limit, or a temp_directory "
            "with more space",
            key=("memory_limit",),
        ) from None
    except duckdb.Error as error:
        raise _plain(error, files) from None
    except UnicodeEncodeError:
        raise InputError("the microdata cannot be read: a text is not valid Unicode") from None


def _plain(error: duckdb.Error, files: Sequence[str] | Mapping[str, str]) -> InputError:
    text = str(error)
    shown = files if isinstance(files, Mapping) else {file: file for file in files}
    named = {for_duckdb(file): name for file, name in shown.items()} | dict(shown)
    found = [next(filter(None, match.groups())) for match in _FILE.finditer(text)]
    path = next((named[name] for name in found if name in named), None)
    line = None if path is None else _LINE.search(text)
    place: dict[str, Any] = {"path": path, "line": None if line is None else int(line[1])}
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
        told = _LITERAL.sub("'...'", reason[2] or reason[0])
        return InputError(f"the microdata cannot be read: {told}", path=path)
    return InputError(
        "the microdata cannot be read; check the files and the types of the columns", **place
    )
