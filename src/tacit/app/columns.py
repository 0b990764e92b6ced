"""What a file of data looks like: its columns, what they seem to be, and examples."""

from __future__ import annotations

import csv
import itertools
from dataclasses import dataclass
from pathlib import Path

from tacit.errors import InputError
from tacit.microdata.csv_files import columns_of
from tacit.microdata.quoting import quoted_text

ROWS_LOOKED_AT = 1000
EXAMPLES = 4
MOST_CODES = 0.5
"""A column of texts with more different ones than this share of rows is hardly a code."""

MICRODATA_ROLES = ("none", "code", "value", "contributor", "holding", "weight", "shadow", "request")
TABLE_ROLES = (
    "none",
    "code",
    "value",
    "count",
    "top",
    "status",
    "weight",
    "shadow",
    "lower",
    "upper",
    "lower_level",
    "upper_level",
    "sliding_level",
    "holding_count",
    "holding_top",
    "weighted_count",
    "top_weight",
    "top_contributor",
    "top_holding",
    "requested",
    "top_requested",
)
LISTS = (
    "top",
    "top_weight",
    "holding_top",
    "top_requested",
    "top_contributor",
    "top_holding",
)
"""Roles that several columns may have."""
_WORDS = {
    "contributor": ("firm", "enterprise", "respondent", "contributor", "company", "person", "id"),
    "holding": ("holding", "group"),
    "weight": ("weight",),
    "request": ("request",),
}


@dataclass(frozen=True)
class Column:
    """A column of a file.

    Attributes:
        name: Its name.
        kind: `number`, `whole`, `text` or `empty`.
        examples: The first different entries.
        different: How many different entries the first rows have.
    """

    name: str
    kind: str
    examples: tuple[str, ...]
    different: int


@dataclass(frozen=True)
class Look:
    """The beginning of a file.

    Attributes:
        columns: Its columns.
        rows: How many rows were looked at.
    """

    columns: tuple[Column, ...]
    rows: int

    @property
    def is_table(self) -> bool:
        """Whether it seems to be a finished table, with one row per cell."""
        names = {column.name.lower() for column in self.columns}
        return "value" in names and bool(names & {"count", "status", "top_1", "freq"})

    def roles(self, *, table: bool) -> dict[str, str]:
        """What each column seems to be."""
        return _table_roles(self) if table else _microdata_roles(self)


def look_at(path: Path) -> Look:
    """Look at the beginning of a file.

    Raises:
        InputError: It cannot be read.
    """
    name = path.name.lower()
    if name.endswith((".parquet", ".pq")):
        names, rows = _parquet(path)
    elif name.endswith((".csv", ".tsv", ".txt", ".csv.gz", ".tab", ".dat")):
        names, rows = _csv(path)
    else:
        raise InputError("files of this kind cannot be read as data", path=path.name)
    columns = [[row[place] for row in rows if place < len(row)] for place in range(len(names))]
    return Look(
        tuple(_column(name, entries) for name, entries in zip(names, columns, strict=True)),
        len(rows),
    )


def _csv(path: Path) -> tuple[list[str], list[list[str]]]:
    import gzip

    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as stream:
            first = stream.readline()
            if not first.strip():
                raise InputError("the first line is empty; it must name the columns", path=path)
            separator, names = columns_of(first.rstrip("\r\n"))
            rows = list(itertools.islice(csv.reader(stream, delimiter=separator), ROWS_LOOKED_AT))
    except UnicodeDecodeError:
        raise InputError("this is not text in UTF-8; convert the file", path=path) from None
    except (OSError, csv.Error) as error:
        raise InputError(f"the file cannot be read: {error}", path=path) from None
    return names, [row for row in rows if row]


def _parquet(path: Path) -> tuple[list[str], list[list[str]]]:
    import duckdb

    try:
        with duckdb.connect() as connection:
            found = connection.execute(
                f"SELECT * FROM read_parquet({quoted_text(str(path))}) LIMIT {ROWS_LOOKED_AT}"
            )
            names = [each[0] for each in found.description or ()]
            rows = found.fetchall()
    except duckdb.Error:
        raise InputError("this is not a Parquet file, or it is damaged", path=path) from None
    return names, [["" if entry is None else str(entry) for entry in row] for row in rows]


def _column(name: str, entries: list[str]) -> Column:
    filled = [entry.strip() for entry in entries if entry.strip()]
    different = list(dict.fromkeys(filled))
    return Column(name, _kind(filled), tuple(different[:EXAMPLES]), len(different))


def _kind(entries: list[str]) -> str:
    if not entries:
        return "empty"
    try:
        numbers = [float(entry) for entry in entries]
    except ValueError:
        return "text"
    # Codes such as 011 are not numbers.
    if any(len(entry) > 1 and entry[0] == "0" and entry.isdigit() for entry in entries):
        return "text"
    return "whole" if all(each == int(each) for each in numbers if abs(each) < 1e15) else "number"


def _microdata_roles(look: Look) -> dict[str, str]:
    roles: dict[str, str] = {}
    for column in look.columns:
        named = [
            role
            for role, words in _WORDS.items()
            if any(word in column.name.lower().split("_") for word in words)
        ]
        if named and named[0] not in roles.values():
            roles[column.name] = named[0]
        elif column.kind == "text":
            few = column.different <= max(20, MOST_CODES * look.rows)
            roles[column.name] = "code" if few else "none"
        elif column.kind in ("number", "whole") and "value" not in roles.values():
            roles[column.name] = "value"
        else:
            roles[column.name] = "none"
    return roles


def _table_roles(look: Look) -> dict[str, str]:
    roles: dict[str, str] = {}
    for column in look.columns:
        name = column.name.lower()
        listed = next((role for role in LISTS[::-1] if name.startswith(f"{role}_")), None)
        if name in ("freq", "n"):
            roles[column.name] = "count"
        elif name in TABLE_ROLES:
            roles[column.name] = name
        elif listed is not None:
            roles[column.name] = listed
        elif column.kind == "text" and name != "reason":
            roles[column.name] = "code"
        else:
            roles[column.name] = "none"
    if "value" not in roles.values():
        for column in look.columns:
            if column.kind in ("number", "whole") and roles[column.name] == "none":
                roles[column.name] = "value"
                break
    return roles
