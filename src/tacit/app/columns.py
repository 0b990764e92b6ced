"""What a file of data looks like: its columns, what they seem to be, and examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from tacit.app.texts import text
from tacit.app.workspace import kind_of
from tacit.entries import MISSING, PLAIN, NumberFormat
from tacit.errors import InputError
from tacit.io.argus.metadata import read_metadata
from tacit.io.argus.microdata import fixed_width
from tacit.microdata import FileFormat, sniff
from tacit.microdata.duck_errors import plain_errors
from tacit.microdata.quoting import quoted_text

ROWS_LOOKED_AT = 200
EXAMPLES = 4
MOST_CODES = 0.5
"""A column of texts with more different ones than this share of rows is hardly a code."""

MOST_CELLS = 10_000
"""Of the combinations of codes in the first rows; whoever wants a larger table says so."""

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
        coarser: Columns that follow from a finer one, as NUTS1 does from NUTS2.
        format: How the file is written; None where that is beyond question.
        layout_roles: What a layout says about columns.
    """

    columns: tuple[Column, ...]
    rows: int
    coarser: frozenset[str] = frozenset()
    format: FileFormat | None = None
    layout_roles: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_table(self) -> bool:
        """Whether it seems to be a finished table, with one row per cell."""
        if self.layout_roles:
            return False
        names = {column.name.lower() for column in self.columns}
        return "value" in names and bool(names & {"count", "status", "top_1", "freq"})

    def roles(self, *, table: bool) -> dict[str, str]:
        """What each column seems to be."""
        if self.layout_roles:
            return dict(self.layout_roles)
        return _table_roles(self) if table else _microdata_roles(self)


def look_at(
    path: Path, written: Mapping[str, Any] | None = None, layout: Path | None = None
) -> Look:
    """Look at the beginning of a file.

    Args:
        path: The file.
        written: What the user says about how it is written, see `tacit.sniff`.
        layout: Where variables stand in records of fixed width.

    Raises:
        InputError: It cannot be read.
    """
    name = path.name.lower()
    if layout is not None:
        return _fixed_width(path, layout)
    if name.endswith(".asc"):
        raise InputError(text("data.needs_layout"), path=path, key=("layout",))
    if kind_of(name) != "data":
        raise InputError("files of this kind cannot be read as data", path=path.name)
    if name.endswith((".parquet", ".pq")):
        query = f"SELECT * FROM read_parquet({quoted_text(str(path))})"
        try:
            names, rows = _first_rows(query)
        except duckdb.Error:
            raise InputError("this is not a Parquet file, or it is damaged", path=path) from None
        columns = _columns(names, rows, [PLAIN])
        return Look(columns, len(rows), _coarser(columns, rows))
    found = sniff(path, examples=ROWS_LOOKED_AT, **(written or {}))
    if not any(found.header):
        raise InputError("the first line is empty; it must name the columns", path=path)
    if found.decimal is None:
        # Either may be meant; both are numbers.
        formats = [NumberFormat(".", ","), NumberFormat(",", ".")]
    else:
        formats = [NumberFormat(found.decimal, found.thousands)]
    if found.kind == "excel":
        formats.append(PLAIN)
    rows = [[*row] for row in found.examples if any(row)]
    columns = _columns(found.header, rows, formats)
    return Look(columns, len(rows), _coarser(columns, rows), found)


def _fixed_width(path: Path, layout: Path) -> Look:
    metadata = read_metadata(layout, tabular=False)
    with fixed_width(path, layout) as records, plain_errors(records.files):
        names, rows = _first_rows(records.query)
    known: dict[str, str] = {}
    for variable in metadata.variables.values():
        wanted = [
            role
            for role, holds in (
                ("request", bool(variable.requests)),
                ("weight", variable.is_weight),
                ("holding", variable.is_holding),
                ("shadow", variable.is_shadow),
                ("code", variable.is_explanatory),
                ("value", variable.is_numeric),
            )
            if holds
        ]
        role = wanted[0] if wanted else "none"
        known[variable.name] = role if role == "code" or role not in known.values() else "none"
    return Look(_columns(names, rows, [PLAIN]), len(rows), layout_roles=known)


def _first_rows(query: str) -> tuple[list[str], list[list[str]]]:
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT * FROM ({query}) LIMIT {ROWS_LOOKED_AT}")
        names = [each[0] for each in found.description or ()]
        rows = found.fetchall()
    return names, [["" if entry is None else str(entry) for entry in row] for row in rows]


def _columns(
    names: Sequence[str], rows: Sequence[Sequence[str]], formats: Sequence[NumberFormat]
) -> tuple[Column, ...]:
    found = []
    for place, name in enumerate(names):
        entries = [row[place].strip() for row in rows if place < len(row)]
        filled = [entry for entry in entries if entry.lower() not in MISSING]
        different = list(dict.fromkeys(filled))
        kind = _kind(filled, formats)
        found.append(Column(name, kind, tuple(different[:EXAMPLES]), len(different)))
    return tuple(found)


def _coarser(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> frozenset[str]:
    """Columns that follow from a finer one: of levels of a hierarchy the finest is enough."""
    codes = {
        column.name: [row[place] for row in rows]
        for place, column in enumerate(columns)
        if column.kind == "text" and all(place < len(row) for row in rows)
    }
    different = {name: len({*entries}) for name, entries in codes.items()}
    return frozenset(
        name
        for name, entries in codes.items()
        for finer, others in codes.items()
        # Where nearly every row is different, everything follows from it.
        if 1 < different[name] < different[finer] <= MOST_CODES * len(rows)
        and len({*zip(others, entries, strict=True)}) == different[finer]
    )


def _kind(entries: list[str], formats: Sequence[NumberFormat]) -> str:
    if not entries:
        return "empty"
    # Codes such as 011 are not numbers.
    if any(len(entry) > 1 and entry[0] == "0" and entry.isdigit() for entry in entries):
        return "text"
    numbers = []
    for entry in entries:
        read = next((each for one in formats if (each := one.read(entry)) is not None), None)
        if read is None:
            return "text"
        numbers.append(read)
    return "whole" if all(each == int(each) for each in numbers) else "number"


def _value(look: Look) -> str | None:
    """The column that is likely to be added up: of those with numbers one with many of them."""
    words = [word for words in _WORDS.values() for word in words]
    numbers = [
        column
        for column in look.columns
        if column.kind in ("number", "whole")
        and not any(word in column.name.lower().split("_") for word in words)
    ]
    many = [column for column in numbers if column.different > MOST_CODES * look.rows]
    return next((column.name for column in many or numbers), None)


def _microdata_roles(look: Look) -> dict[str, str]:
    roles: dict[str, str] = {}
    value, cells = _value(look), 1
    for column in look.columns:
        named = [
            role
            for role, words in _WORDS.items()
            if any(word in column.name.lower().split("_") for word in words)
        ]
        if named and named[0] not in roles.values():
            roles[column.name] = named[0]
        elif column.kind == "text" and column.name not in look.coarser:
            few = column.different <= max(20, MOST_CODES * look.rows)
            few &= cells * (column.different + 1) <= MOST_CELLS
            roles[column.name] = "code" if few else "none"
            cells *= column.different + 1 if few else 1
        else:
            roles[column.name] = "value" if column.name == value else "none"
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
