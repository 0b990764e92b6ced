"""CSV files for DuckDB. The first line is trusted; nothing is guessed from records."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import Any

from tacit.errors import InputError
from tacit.microdata.file_names import for_duckdb
from tacit.microdata.quoting import quoted_name, quoted_text
from tacit.microdata.specification import Specification

SEPARATORS = (",", ";", "\t", "|")
"""What may stand between columns; the first line tells which does."""

NO_SEPARATOR = "\x1f"
"""Occurs in no line, so that a whole line can be read as one column."""


def csv_query(duck: Any, files: Iterable[str], specification: Specification) -> str:
    """A query for the columns that are needed, all as text.

    DuckDB would guess how files are made from their first records, and skip those that do not
    fit. Told everything, it refuses them.

    Args:
        duck: A connection.
        files: The files.
        specification: Which columns are needed.
    """
    alike: dict[str, list[str]] = {}
    for file in files:
        alike.setdefault(_first_line(duck, file), []).append(file)
    return " UNION ALL ".join(_query(line, files, specification) for line, files in alike.items())


def columns_of(line: str) -> tuple[str, list[str]]:
    """What separates columns, and their names, from the first line of a file.

    >>> columns_of('region;"turnover, net"')
    (';', ['region', 'turnover, net'])
    """
    separator = max(SEPARATORS, key=re.sub('"[^"]*"', "", line).count)
    return separator, [name.strip() for name in next(csv.reader([line], delimiter=separator))]


def _first_line(duck: Any, file: str) -> str:
    name = quoted_text(for_duckdb(file))
    query = (
        f"SELECT line FROM read_csv([{name}], auto_detect = false, header = false, "
        f"columns = {{'line': 'VARCHAR'}}, delim = '{NO_SEPARATOR}', quote = '', escape = '', "
        "hive_partitioning = false) "
        "LIMIT 1"
    )
    lines = duck.execute(query).fetchall()
    if not lines or not lines[0][0]:
        raise InputError("the first line is empty; it must name the columns", path=file)
    return str(lines[0][0])


def _query(line: str, files: list[str], specification: Specification) -> str:
    """A query for files that begin with the same line."""
    separator, names = columns_of(line)
    specification.refuse_missing_columns(tuple(names))
    for name in specification.columns:
        if names.count(name) > 1:
            raise InputError(f"the first line names column {name} more than once", path=files[0])
    # Plain names, whatever the columns are called.
    kinds = ", ".join(f"'column_{place}': 'VARCHAR'" for place in range(len(names)))
    chosen = ", ".join(
        f"column_{names.index(name)} AS {quoted_name(name)}" for name in specification.columns
    )
    listed = ", ".join(quoted_text(for_duckdb(file)) for file in files)
    return (
        f"SELECT {chosen} FROM read_csv([{listed}], auto_detect = false, header = true, "
        f"columns = {{{kinds}}}, delim = '{separator}', quote = '\"', escape = '\"', "
        # A folder called turnover=7 would have its name in place of the column.
        "hive_partitioning = false)"
    )
