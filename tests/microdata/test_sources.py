"""Microdata come from frames, files, relations and databases, and give the same table."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from tacit.errors import InputError
from tacit.microdata import tabulate
from tacit.microdata.duck_watch import byte_count
from tacit.observer import Observer
from tests.microdata.obvious import BY, assert_same_tables

DATA: dict[str, list[Any]] = {
    "region": ["N1a", "N1b", "N1a", "South", "N2", "N2"],
    "industry": ["01", "02", "02", "11", "01", "01"],
    "firm": ["f", "f", "g", "h", "g", "h"],
    "turnover": [4.5, 3.0, 6.0, 5.0, -1.25, 8.0],
    "odd name; \"'` column": [1, 2, 3, 4, 5, 6],
}
OPTIONS: dict[str, Any] = {"contributor": "firm", "shadow": "odd name; \"'` column"}


def _csv(folder: Path) -> str:
    csv.write_csv(pa.table(DATA), folder / "records.csv")
    return str(folder / "records.csv")


def _csv_with_semicolons(folder: Path) -> Path:
    path = folder / "records.txt"
    pd.DataFrame(DATA).to_csv(path, sep=";", index=False)
    return path


def _compressed(folder: Path) -> Path:
    path = folder / "records.csv.gz"
    pd.DataFrame(DATA).to_csv(path, index=False)
    return path


def _parquet(folder: Path) -> Path:
    parquet.write_table(pa.table(DATA), folder / "records.parquet")
    return folder / "records.parquet"


def _halves(folder: Path) -> list[Path]:
    table = pa.table(DATA)
    parquet.write_table(table.slice(0, 4), folder / "part-1.parquet")
    # Columns of the other half in another order.
    parquet.write_table(table.slice(4).select(table.column_names[::-1]), folder / "part-2.parquet")
    return sorted(folder.glob("part-*.parquet"))


def _glob(folder: Path) -> str:
    _halves(folder)
    return str(folder / "part-*.parquet")


def _folder(folder: Path) -> Path:
    _halves(folder)
    return folder


def _database(folder: Path) -> Path:
    path = folder / "records.duckdb"
    with duckdb.connect(path) as connection:
        connection.register("data", pa.table(DATA))
        connection.execute("CREATE SCHEMA more")
        connection.execute("CREATE TABLE more.firms AS SELECT * FROM data")
    return path


def _relation(folder: Path) -> Any:
    connection = duckdb.connect(_database(folder))
    return connection.sql("SELECT * FROM more.firms WHERE firm <> 'nobody'")


SOURCES: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: pd.DataFrame(DATA),
    "pandas of objects": lambda _: pd.DataFrame(DATA, dtype=object),
    "pandas categories": lambda _: pd.DataFrame(DATA).astype({"region": "category"}),
    "polars": lambda _: pl.DataFrame(DATA),
    "polars categories": lambda _: pl.DataFrame(DATA).cast({"region": pl.Categorical}),
    "polars lazy": lambda _: pl.DataFrame(DATA).lazy(),
    "pyarrow": lambda _: pa.table(DATA),
    "arrays": lambda _: {name: np.array(column) for name, column in DATA.items()},
    "CSV": _csv,
    "CSV with semicolons": _csv_with_semicolons,
    "compressed CSV": _compressed,
    "Parquet": _parquet,
    "list of Parquet files": _halves,
    "glob": _glob,
    "folder": _folder,
    "relation": _relation,
    "connection and table": lambda folder: (duckdb.connect(_database(folder)), "more.firms"),
    "connection and query": lambda folder: (
        duckdb.connect(_database(folder)),
        "FROM more.firms WHERE true",
    ),
    "database and table": lambda folder: (_database(folder), "more.firms"),
    "database and query": lambda folder: (str(_database(folder)), "SELECT * FROM more.firms;"),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_every_source_gives_the_same_table(source: Any, tmp_path: Path) -> None:
    """Wherever the records come from, the table is the one of a dict of columns."""
    expected = tabulate(DATA, BY, "turnover", **OPTIONS)
    assert_same_tables(tabulate(source(tmp_path), BY, "turnover", **OPTIONS), expected)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_come_back_in_their_library(library: str) -> None:
    """A table of a data frame gives frames of the same library."""
    frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library](DATA)
    assert type(tabulate(frame, BY, "turnover").to_frame()) is type(frame)


def test_polars_does_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no pyarrow, frames that DuckDB cannot read are copied."""
    expected = tabulate(DATA, BY, "turnover", **OPTIONS)
    frame = pl.DataFrame(DATA)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert_same_tables(tabulate(frame, BY, "turnover", **OPTIONS), expected)


def test_spark_without_its_libraries_gets_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where pyspark is not installed, the message says what to install."""
    monkeypatch.setitem(sys.modules, "pyspark.errors", None)
    monkeypatch.delitem(sys.modules, "tacit.microdata.spark", raising=False)
    path = tmp_path / "records.csv"
    path.write_text("industry,v\n01,1\n")
    with pytest.raises(InputError, match=r"pip install 'tacit\[spark\]'"):
        tabulate(path, {"industry": None}, "v", engine="spark")


def test_codes_keep_their_leading_zeros(tmp_path: Path) -> None:
    """Codes of a CSV file are text, also where they look like numbers."""
    path = tmp_path / "records.csv"
    path.write_text("industry,v\n01,1\n02,2\n")
    assert tabulate(path, {"industry": None}, "v").codes("industry").tolist() == [
        "Total",
        "01",
        "02",
    ]


def test_whole_numbers_with_gaps_are_codes() -> None:
    """Whole numbers that pandas made floating to leave a gap are the codes they were."""
    frame = pd.DataFrame({"r": [1, None, 2], "v": [1, 2, 3]})
    table = tabulate(frame, {"r": None}, "v", missing="drop")
    assert table.codes("r").tolist() == ["Total", "1", "2"]


@pytest.mark.parametrize("kind", [np.int16, np.int64, np.uint64, np.float64, str])
def test_contributors_of_any_type_are_told_apart(kind: Any) -> None:
    """Contributors may be numbers near or far apart, or text."""
    firms = np.array([7, 7, 30000, 9]).astype(kind)
    table = tabulate(
        {"r": ["x"] * 4, "f": firms, "v": [1, 2, 4, 8]}, {"r": None}, "v", contributor="f"
    )
    assert table.count is not None
    assert table.count.tolist() == [3, 3]
    assert table.top is not None
    assert table.top[0].tolist() == [8, 4]
    far = {"r": ["x"] * 3, "f": [-(2**62), 2**62, 2**62], "v": [1, 2, 4]}
    again = tabulate(far, {"r": None}, "v", contributor="f")
    assert again.top is not None
    assert again.top[0].tolist() == [6, 1]


def test_little_memory_makes_parts_on_disk(tmp_path: Path) -> None:
    """With a small limit the records are tabulated in parts, and nothing is left on disk."""
    count = 2_000_000
    rng = np.random.default_rng(1)
    data = {
        "r": rng.integers(0, 9, count),
        "f": rng.integers(0, 50_000, count) * 10_000_000,
        "v": rng.integers(1, 99, count),
        "h": rng.integers(0, 9, count),
    }
    options: dict[str, Any] = {"by": {"r": None}, "value": "v", "contributor": "f"}
    steps: list[int] = []

    class Listener(Observer):
        def on_progress(self, done: int, total: int) -> None:
            steps.append(total - done)

    table = tabulate(
        data, memory_limit="200MB", temp_directory=tmp_path, observer=Listener(), **options
    )
    assert len(steps) > 1
    assert not any(tmp_path.iterdir())
    assert_same_tables(table, tabulate(data, **options))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (3, "not a source of microdata"),
        ([], "not a source of microdata"),
        ("records.doc", "none of the endings"),
        (["a.csv", "b.parquet"], "different kinds"),
        ("nothing-*.parquet", "no such file"),
        (("nothing.duckdb", "t"), "no such file"),
        (("nothing.duckdb", " "), "name of a table or a query"),
        ({"r": ["x"], "v": [1, 2]}, "different lengths"),
        (pa.table({"r": ["x"], "v": [pd.Timestamp("2024-01-01")]}), "column v is of type"),
    ],
)
def test_what_is_no_source_is_refused(source: Any, message: str) -> None:
    """A source that cannot be read is refused with the reason."""
    with pytest.raises(InputError, match=message):
        tabulate(source, {"r": None}, "v")


def test_a_connection_alone_is_refused() -> None:
    """A connection does not say what to read from it."""
    with duckdb.connect() as connection, pytest.raises(InputError, match="not a source"):
        tabulate(connection, {"r": None}, "v")


def test_wrong_queries_are_refused(tmp_path: Path) -> None:
    """A query that DuckDB does not understand says why."""
    database = _database(tmp_path)
    with pytest.raises(InputError, match="syntax error"):
        tabulate((database, "SELCT 1 FROM x"), {"r": None}, "v")
    with pytest.raises(InputError, match="no columns r, v"):
        tabulate((database, "more.firms"), {"r": None}, "v")


def test_broken_files_do_not_tell_values(tmp_path: Path) -> None:
    """A file that cannot be parsed is refused without quoting its lines."""
    path = tmp_path / "records.csv"
    path.write_text("r,v\n" + "x,1\n" * 30000 + "x,987123,5\n" + "x,1\n" * 30000)
    with pytest.raises(InputError, match="first line names 2 columns") as caught:
        tabulate(path, {"r": None}, "v")
    assert "987123" not in str(caught.value)
    assert caught.value.line == 30002
    (tmp_path / "no.parquet").write_text("not parquet")
    with pytest.raises(InputError, match="this is not a Parquet file") as caught:
        tabulate(tmp_path / "no.parquet", {"r": None}, "v")
    assert caught.value.path == tmp_path / "no.parquet"


@pytest.mark.parametrize(
    ("text", "count"), [("1GB", 10**9), ("0.5 GiB", 2**29), ("3 mb", 3 * 10**6)]
)
def test_amounts_of_memory_are_read(text: str, count: int) -> None:
    """Amounts of memory are read in powers of ten or of two."""
    assert byte_count(text) == count
