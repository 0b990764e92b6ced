"""Queries on databases read and do nothing else, and their errors tell nothing of records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tacit.errors import InputError
from tacit.microdata import occurring_codes, tabulate
from tacit.microdata.sources import is_query, table_name


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with firms, a table with an odd name, and a view on a file."""
    path = tmp_path / "firms.duckdb"
    (tmp_path / "other.csv").write_text("r,v\nx,1\n")
    with duckdb.connect(path) as connection:
        connection.execute(
            "CREATE TABLE firms AS SELECT * FROM (VALUES ('N', 'Ash Ltd', 'file \"Birch\"', 5), "
            "('S', 'Cedar Ltd', 'x', 6)) t(r, firm, note, v)"
        )
        connection.execute('CREATE TABLE "firms of 2024" AS FROM firms')
        connection.execute(f"CREATE VIEW outside AS FROM read_csv('{tmp_path}/other.csv')")
    return path


def sources(database: Path, query: str) -> Iterator[Any]:
    """The same query on a database that tacit opens, and then on a connection of the user."""
    yield str(database), query
    with duckdb.connect(database) as connection:
        yield connection, query


@pytest.mark.parametrize(
    "query",
    [
        "FROM firms) t; COPY (SELECT firm FROM firms) TO '{out}'; FROM (FROM firms",
        "SELECT * FROM firms; COPY firms TO '{out}'",
        "COPY firms TO '{out}'",
        "INSERT INTO firms VALUES ('N', 'Elm', 'x', 1)",
        "WITH a AS (INSERT INTO firms VALUES ('N', 'Elm', 'x', 1) RETURNING *) FROM a",
        "ATTACH '{out}'",
        "SET threads = 1",
        "EXPORT DATABASE '{out}'",
        ";;  ;",
    ],
)
def test_queries_only_read(database: Path, tmp_path: Path, query: str) -> None:
    """Whatever is not exactly one SELECT is refused, writes nothing and tells nothing."""
    before = {path.name for path in tmp_path.iterdir()}
    for source in sources(database, query.format(out=tmp_path / "out.csv")):
        with pytest.raises(InputError) as caught:
            tabulate(source, {"r": None}, "v")
        assert "Ash" not in str(caught.value)
    after = {path.name for path in tmp_path.iterdir()}
    assert {name for name in after - before if not name.endswith(".wal")} == set()
    with duckdb.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM firms").fetchall() == [(2,)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('{folder}/other.csv')",
        "FROM '{folder}/other.csv' WHERE true",
        "SELECT * FROM outside",
        "outside",
        "SELECT file AS r, 1 AS v FROM glob('{folder}/*')",
    ],
)
def test_queries_do_not_reach_files(database: Path, tmp_path: Path, query: str) -> None:
    """A database that tacit opens is all that its queries and views can read."""
    with pytest.raises(InputError, match="reaches beyond the database"):
        tabulate((database, query.format(folder=tmp_path)), {"r": None}, "v")


def test_queries_do_not_see_the_program(database: Path) -> None:
    """Data frames of the program are not tables of a query."""
    secret = {"r": ["x"], "v": [1]}
    assert secret
    with pytest.raises(InputError, match="secret"):
        tabulate((database, "SELECT * FROM secret"), {"r": None}, "v")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM firms",
        "SELECT * FROM firms -- all of them;",
        "-- all\nFROM firms;",
        "WITH a AS (FROM firms) FROM a",
        "TABLE firms",
        "(SELECT r, v FROM firms)",
        "FROM firms ORDER BY v LIMIT 5",
        "SELECT note, r, ';' AS x, v FROM firms",
        "firms",
        "main.firms",
        '"firms of 2024"',
        'main."firms of 2024"',
    ],
)
def test_every_way_to_select_is_read(database: Path, query: str) -> None:
    """Comments, brackets, common tables and quoted names are understood in both places."""
    for source in sources(database, query):
        assert tabulate(source, {"r": None}, "v").value.tolist() == [11, 5, 6]
        assert occurring_codes(source, "r") == ("N", "S")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT CAST(firm AS INTEGER) AS r, v FROM firms",
        "SELECT r, CAST(note AS DOUBLE) AS v FROM firms",
        "SELECT CAST(firm AS DATE) AS r, v FROM firms",
        "SELECT r, error(firm) AS v FROM firms",
        "SELECT r, error('File \"' || firm || '\" Line: 7') AS v FROM firms",
        "SELECT CAST(firm AS ENUM ('a')) AS r, v FROM firms",
        "SELECT strptime(firm, '%Y') AS r, v FROM firms",
        "SELECT r, (SELECT v FROM firms f WHERE f.firm <> 'x') AS v FROM firms",
        "PIVOT firms ON firm USING sum(v)",
        "SELECT 1 FROM firms WHERE frm = 'Ash Ltd'",
        "SELECT CAST('Ash Ltd' AS INTEGER) AS r, v FROM firms",
        "SELECT * FROM firms WHERE firm LIKE 'Ash Ltd' ESCAPE 'Ash Ltd'",
        "SELECT * FROM firms 'Ash Ltd' WHERE",
        "SELECT r, nothing('Ash Ltd') AS v FROM firms",
        "SELECT r, CAST(9e9 + v AS INTEGER) AS v FROM firms",
    ],
)
def test_errors_do_not_quote_records(database: Path, query: str) -> None:
    """Casts, constraints and columns that fail name no firm and no value."""
    for source in sources(database, query):
        with pytest.raises(InputError) as caught:
            tabulate(source, {"r": None}, "v")
        for told in ("Ash", "Birch", "Cedar", "9000000005"):
            assert told not in str(caught.value)
        assert caught.value.line is None


def test_what_is_no_database(tmp_path: Path) -> None:
    """Folders, servers and other files are refused before DuckDB tries to reach them."""
    for name, message in {
        str(tmp_path): "this is a directory",
        "postgres:dbname=x": "no such file",
        "https://example.org/a.duckdb": "no such file",
    }.items():
        with pytest.raises(InputError, match=message):
            tabulate((name, "t"), {"r": None}, "v")
    (tmp_path / "text.duckdb").write_text("Ash Ltd")
    with pytest.raises(InputError, match="not a DuckDB database"):
        tabulate((tmp_path / "text.duckdb", "t"), {"r": None}, "v")


def test_databases_that_are_open_elsewhere(database: Path) -> None:
    """A database that somebody may be writing to is named, with what to do."""
    with (
        duckdb.connect(database),
        pytest.raises(InputError, match="open for writing") as caught,
    ):
        tabulate((database, "firms"), {"r": None}, "v")
    assert caught.value.path == database


def test_names_of_tables() -> None:
    """Names of tables are told from queries by how they are written."""
    assert [is_query(text) for text in ("a.b.c", '"a b"', '"a""b".c')] == [False] * 3
    assert [is_query(text) for text in ("FROM t", "SELECT*FROM(t)", "a; b", "a;b")] == [True] * 4
    assert table_name('"a""b".c') == ['a"b', "c"]
