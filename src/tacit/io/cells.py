"""Columns of cells or codes as CSV and Parquet files."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError
from tacit.io.files import read_text, replacing

CELL_SUFFIXES = (".csv", ".csv.gz", ".parquet")
CONFIDENTIAL = "confidential: true values, do not publish"
"""The name of a column without entries, for files that are not for readers.

It says so in the first line of a CSV file, and leaves it a CSV file that anything can read.
"""

_SEPARATORS = (";", "\t", ",")


def read_columns(path: Path) -> dict[str, list[Any]]:
    """The columns of a CSV or Parquet file, None where there is nothing.

    Everything in a CSV file is text. Its separator is a semicolon or a tabulator if the first
    line has one, otherwise a comma.

    Raises:
        InputError: The file is neither, cannot be read, or a line has too few entries or too many.
    """
    if path.name.lower().endswith(".parquet"):
        return _read_parquet(path)
    if not path.name.lower().endswith((".csv", ".csv.gz", ".tsv", ".txt")):
        raise InputError("the name of the file must end in .csv, .tsv, .txt or .parquet", path=path)
    text = read_text(path)
    first = text.partition("\n")[0]
    if not first.strip():
        raise InputError("the first line is empty; it must name the columns", path=path, line=1)
    separator = next((mark for mark in _SEPARATORS if mark in first), ",")
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        header = [name.strip() for name in next(lines)]
        twice = [name for name in header if header.count(name) > 1]
        if twice:
            raise InputError(f"column {twice[0]!r} is there more than once", path=path, line=1)
        rows = []
        for row in lines:
            if len(row) != len(header) and any(row):
                raise InputError(
                    f"this line has {len(row)} entries, but the first line names {len(header)} "
                    "columns",
                    path=path,
                    line=lines.line_num,
                )
            if any(row):
                rows.append(row)
    except csv.Error as error:
        raise InputError(f"this is not CSV: {error}", path=path, line=lines.line_num) from None
    columns = zip(*rows, strict=True) if rows else ([] for _ in header)
    return {
        name: [entry.strip() or None for entry in column]
        for name, column in zip(header, columns, strict=True)
    }


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
