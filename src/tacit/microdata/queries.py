"""Queries that users write: one SELECT that reads a database, and nothing that writes."""

from __future__ import annotations

import os

import duckdb

from tacit.errors import InputError, KeyPath

QUERY: KeyPath = ("source", 1)
"""The argument of `tabulate` that holds a query: the second of a pair with the database."""


def one_select(query: str) -> str:
    """A query in brackets, where it can only read.

    Raises:
        InputError: It is not exactly one SELECT.

    >>> one_select("SELECT * FROM firms; DROP TABLE firms")
    Traceback (most recent call last):
        ...
    tacit.errors.InputError: query holds 2 statements; write one SELECT
    """
    statements = duckdb.extract_statements(query)
    if len(statements) != 1:
        raise InputError(f"query holds {len(statements)} statements; write one SELECT", key=QUERY)
    kinds = duckdb.StatementType
    # DuckDB takes PIVOT for several statements, but in brackets it is one that reads.
    if statements[0].type not in (kinds.SELECT, kinds.MULTI):
        kind = statements[0].type.name.replace("_", " ").rstrip()
        raise InputError(
            f"query is a statement of the kind {kind}; write a SELECT, which only reads",
            key=QUERY,
        )
    # The last line may end in a comment.
    bracketed = f"({statements[0].query.strip().rstrip(';')}\n)"
    inside = duckdb.extract_statements(f"FROM {bracketed}")
    if len(inside) != 1 or inside[0].type not in (kinds.SELECT, kinds.MULTI):
        raise InputError("query cannot be read as one SELECT; leave out what follows it", key=QUERY)
    return bracketed


def refuse_no_database(path: str) -> None:
    """Refuse what is not a file: DuckDB would take other names for servers."""
    if os.path.isdir(path):
        raise InputError("this is a directory; name the file of a DuckDB database", path=path)
    if not os.path.exists(path):
        raise InputError("the file cannot be read: no such file", path=path)
