"""Columns as CSV and Parquet."""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InputError
from tacit.io.cells import CONFIDENTIAL, confidential, read_columns, write_columns

COLUMNS = {
    "industry": np.array(["A", 'B "b"', "C,c", "ü"]),
    "weight": np.array([1.5, np.nan, 3e20, -0.1]),
    "value": np.array([0.1 + 0.2, 2.0, np.nan, 4.0]),
    "count": np.array([1, 2, 3, 4]),
    "reason": np.array(["", "zero", "", "p%; zero"], object),
}


@pytest.mark.parametrize("name", ["cells[1]", "cells*", "it's"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_names_are_taken_literally(tmp_path: Path, name: str, ending: str) -> None:
    """A file is read whatever it and its folder are called, and no other."""
    folder = tmp_path / "value=7"
    folder.mkdir()
    write_columns({"value": np.array([5.0])}, folder / f"cells1.{ending}")
    write_columns({"value": np.array([360.0])}, folder / f"{name}.{ending}")
    assert [float(entry) for entry in read_columns(folder / f"{name}.{ending}")["value"]] == [360]


@pytest.mark.parametrize("name", ["cells.csv", "cells.csv.gz", "CELLS.CSV"])
def test_csv_can_be_read_by_anything(tmp_path: Path, name: str) -> None:
    """Fifteen digits, nothing for NaN, and quotes where they are needed."""
    path = tmp_path / name
    write_columns(COLUMNS, path)
    content = path.read_bytes()
    text = gzip.decompress(content).decode() if name.endswith(".gz") else content.decode()
    rows = list(csv.reader(text.splitlines()))
    assert rows[0] == list(COLUMNS)
    assert rows[1] == ["A", "1.5", "0.3", "1", ""]
    assert rows[2] == ['B "b"', "", "2", "2", "zero"]
    assert rows[3][1] == "3e+20"
    assert read_columns(path)["industry"] == COLUMNS["industry"].tolist()
    assert read_columns(path)["weight"] == ["1.5", None, "3e+20", "-0.1"]


def test_parquet_keeps_types_and_nulls(tmp_path: Path) -> None:
    """Numbers stay numbers, NaN becomes null."""
    path = tmp_path / "cells.parquet"
    write_columns(COLUMNS, path)
    frame = pl.read_parquet(path)
    assert frame.columns == list(COLUMNS)
    assert frame["value"].to_list() == [0.1 + 0.2, 2.0, None, 4.0]
    assert frame["count"].dtype == pl.Int64
    assert frame["industry"].to_list() == COLUMNS["industry"].tolist()
    assert read_columns(path)["weight"] == [1.5, None, 3e20, -0.1]


@settings(max_examples=20)
@given(st.lists(st.floats(allow_infinity=False, width=32), min_size=1, max_size=20))
def test_numbers_survive(tmp_path_factory: pytest.TempPathFactory, numbers: list[float]) -> None:
    """What is written is read back, to fifteen digits in CSV and exactly in Parquet."""
    folder = tmp_path_factory.mktemp("cells")
    column = np.array(numbers, np.float64)
    for name, relative in (("cells.csv", 1e-14), ("cells.parquet", 0.0)):
        write_columns({"code": np.arange(len(column)), "value": column}, folder / name)
        back = read_columns(folder / name)["value"]
        read = np.array([np.nan if entry is None else float(entry) for entry in back])
        np.testing.assert_allclose(read, column, rtol=relative, atol=0)


def test_the_same_columns_give_the_same_bytes(tmp_path: Path) -> None:
    """Neither form has a time or a name in it."""
    for name in ("a.csv", "a.csv.gz", "a.parquet"):
        write_columns(COLUMNS, tmp_path / name)
        first = (tmp_path / name).read_bytes()
        write_columns(COLUMNS, tmp_path / name)
        assert (tmp_path / name).read_bytes() == first


def test_confidential_columns_say_so(tmp_path: Path) -> None:
    """The first line says so, and the file is CSV all the same."""
    write_columns(confidential(COLUMNS), tmp_path / "cells.csv")
    lines = (tmp_path / "cells.csv").read_text().splitlines()
    assert CONFIDENTIAL in lines[0]
    assert list(read_columns(tmp_path / "cells.csv")) == [*COLUMNS, CONFIDENTIAL]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_are_recognised(tmp_path: Path, separator: str) -> None:
    """Blank lines, spaces around entries, a byte order mark and other line ends do not matter."""
    text = f"\ufeffcode{separator} value\r\nA {separator}1\r\n\r\nB{separator}\r\n"
    (tmp_path / "cells.csv").write_bytes(text.encode())
    found = read_columns(tmp_path / "cells.csv")
    assert found == {"code": ["A", "B"], "value": ["1", None]}


def test_a_file_without_rows_has_columns(tmp_path: Path) -> None:
    """Nothing below the names is nothing in each column."""
    (tmp_path / "cells.csv").write_text("a,b\n")
    assert read_columns(tmp_path / "cells.csv") == {"a": [], "b": []}
    pl.DataFrame({"a": [], "b": []}).write_parquet(tmp_path / "cells.parquet")
    assert read_columns(tmp_path / "cells.parquet") == {"a": [], "b": []}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"a,b\n1,2\n3\n", "a.csv:3: this line has 1 entries, but the first line names 2"),
        ("a.csv", b'a,b\n"x\ny",2\n3\n', "a.csv:4: this line has 1 entries"),
        ("a.csv", b"a,a\n1,2\n", "a.csv:1: column 'a' is there more than once"),
        ("a.csv", b"", "a.csv:1: the first line is empty"),
        ("a.csv", b'a,b\n1,"2', "a.csv:2: this is not CSV"),
        ("a.csv", b"a\n\x81\n", "a.csv:2: this is not text in UTF-8, and probably not in cp1252"),
        ("a.xlsx", b"", "a.xlsx: this is not an Excel workbook, or it is damaged"),
        ("a.csv", None, "a.csv: the file cannot be read: no such file"),
        ("a.parquet", b"PAR1", "a.parquet: this is not a Parquet file"),
        ("a.parquet", None, "a.parquet: the file cannot be read: no such file"),
        ("a.doc", b"", "a.doc: the name of the file must end in .csv"),
    ],
)
def test_what_cannot_be_read_is_named(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    """File and line are in the message."""
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as raised:
        read_columns(tmp_path / name)
    assert message in str(raised.value)


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    """A name of an unknown kind or a folder that is not there is an error, and no file is left."""
    for path, message in (
        (tmp_path / "cells.xls", "the name must end in .csv"),
        (tmp_path / "no" / "cells.csv", "cannot be written"),
        (tmp_path / "no" / "cells.parquet", "cannot be written"),
    ):
        with pytest.raises(InputError, match=message):
            write_columns(COLUMNS, path)
    assert os.listdir(tmp_path) == []
