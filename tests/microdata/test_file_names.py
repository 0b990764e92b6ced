"""A file that exists is read literally, and no record is read twice or from a name."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from tacit.errors import InputError
from tacit.microdata import occurring_codes, tabulate
from tacit.microdata.file_names import for_duckdb, matching_files


def total(source: object) -> float:
    """The grand total that tabulation finds."""
    return float(tabulate(source, {"r": None}, "turnover").value[0])


def write(path: Path, turnover: int) -> Path:
    """Write one record, as the name of the file says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        parquet.write_table(pa.table({"r": ["x"], "turnover": [turnover]}), path)
    else:
        path.write_text(f"r,turnover\nx,{turnover}\n")
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_names_of_folders_are_no_data(tmp_path: Path, ending: str) -> None:
    """A folder called turnover=7 does not replace the column turnover."""
    path = write(tmp_path / "turnover=7" / f"a.{ending}", 360)
    write(tmp_path / "turnover=8" / f"b.{ending}", 40)
    assert total(path) == 360
    assert total(str(tmp_path / "*" / f"*.{ending}")) == 400
    with pytest.raises(InputError, match="no column year"):
        tabulate(write(tmp_path / "year=7" / f"c.{ending}", 1), {"year": None}, "turnover")


def test_names_of_folders_are_no_codes(tmp_path: Path) -> None:
    """Codes that occur, and a folder as source, are read from the files alone."""
    write(tmp_path / "r=North" / "a.parquet", 360)
    assert occurring_codes(tmp_path / "r=North" / "a.parquet", "r") == ("x",)
    assert occurring_codes(tmp_path, "r") == ("x",)
    assert total(tmp_path) == 360


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["f[1]", "f*", "f?", "it's", "{a,b}", "~f", "a\\b", "a;b", "ü"])
def test_existing_files_are_read_literally(
    tmp_path: Path, name: str, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file whose name looks like a pattern is that file, alone and among others."""
    monkeypatch.chdir(tmp_path)
    write(Path(f"{name}.{ending}"), 100)
    for other in ("f1", "fx", "a", "ab"):
        write(Path(f"{other}.{ending}"), 5)
    assert total(f"{name}.{ending}") == 100
    assert total(str(tmp_path / f"{name}.{ending}")) == 100
    assert total(str(tmp_path / f"*.{ending}")) == 120


def test_folders_with_odd_names(tmp_path: Path) -> None:
    """Glob characters in the name of a folder do not keep its files from being found."""
    write(tmp_path / "a[1]" / "f.parquet", 100)
    write(tmp_path / "a1" / "f.parquet", 5)
    assert total(tmp_path / "a[1]") == 100
    assert matching_files(str(tmp_path / "a[1]" / "f.parquet")) == [
        str(tmp_path / "a[1]" / "f.parquet")
    ]


def test_folders_leave_out_what_is_no_data(tmp_path: Path) -> None:
    """Hidden files, and folders in which Spark works, are not read with a folder."""
    write(tmp_path / "part.parquet", 100)
    write(tmp_path / ".hidden.parquet", 5)
    write(tmp_path / "_temporary" / "part.parquet", 5)
    write(tmp_path / "more" / "part.parquet", 10)
    assert total(tmp_path) == 110


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_no_file_is_counted_twice(tmp_path: Path, ending: str) -> None:
    """The same file named twice, by overlapping patterns or through a link, is refused."""
    path = write(tmp_path / f"a.{ending}", 100)
    again = [[path, path], [str(tmp_path / f"*.{ending}"), str(path)]]
    for source in again:
        with pytest.raises(InputError, match="counted twice") as caught:
            total(source)
        assert f"a.{ending}" in str(caught.value)
    (tmp_path / f"latest.{ending}").symlink_to(path)
    with pytest.raises(InputError, match="is a link to another"):
        total(str(tmp_path / f"*.{ending}"))
    os.unlink(tmp_path / f"latest.{ending}")
    assert total(str(tmp_path / f"*.{ending}")) == 100


def test_names_that_cannot_be_read(tmp_path: Path) -> None:
    """Broken links, empty and undecodable names are refused in words."""
    (tmp_path / "gone.csv").symlink_to(tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match="no such file"):
        total(tmp_path / "gone.csv")
    with pytest.raises(InputError, match="name of a file is empty"):
        total("")
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.csv")
    with open(odd, "w") as stream:
        stream.write("r,turnover\nx,1\n")
    with pytest.raises(InputError, match="not text in UTF-8"):
        total(odd)
    with pytest.raises(InputError, match="backslash"):
        for_duckdb("a\\[1].csv")


def test_folders_for_temporary_files_may_be_called_anything(tmp_path: Path) -> None:
    """What is copied on the way is read back, whatever the folder is called."""
    for name in ("a[1]", "turnover=7", "it's"):
        (tmp_path / name).mkdir()
        relation = duckdb.sql("SELECT 'x' AS r, 360 AS turnover")
        table = tabulate(relation, {"r": None}, "turnover", temp_directory=tmp_path / name)
        assert table.value.tolist() == [360, 360]


def test_home_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tilde stands for the home of the user where no file is called so."""
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / "f.csv", 7)
    assert total("~/f.csv") == 7
