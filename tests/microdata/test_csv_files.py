"""CSV files are taken at their word: nothing is guessed, skipped or mixed up."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tacit.errors import InputError
from tacit.microdata import occurring_codes, tabulate


def totals(path: Path | list[str]) -> dict[str, float]:
    """What tabulation makes of a file."""
    table = tabulate(path, {"r": None}, "v")
    return dict(zip(table.codes("r").tolist(), table.value.tolist(), strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "r,v\nx,1\ny,2\n",
        "r;v\r\nx;1\r\ny;2\r\n",
        "v\tother\tr\n1\t\tx\n2\tz\ty",
        '\ufeff"r"|"v"\n"x"|"1"\n\ny|2\n\n',
        "r,v,v2,,\nx,1,9,,\ny,2,9,,\n",
        'r,"a, b; c; d; e",v\nx,"1;2",1\ny,3,2\n',
        " r , v \nx,1\ny,2\n",
    ],
)
def test_usual_ways_to_write_a_file(tmp_path: Path, text: str) -> None:
    """Separators, quotation marks, line ends, byte order marks, unnamed and blank ones."""
    path = tmp_path / "records.csv"
    path.write_text(text, newline="")
    assert totals(path) == {"Total": 3, "x": 1, "y": 2}


def test_files_with_columns_in_another_order(tmp_path: Path) -> None:
    """Files are put together by the names of their columns, not by their places."""
    (tmp_path / "a.csv").write_text("r,v\nx,1\n")
    (tmp_path / "b.csv").write_text("v;r;w\n2;y;3\n")
    with gzip.open(tmp_path / "c.csv.gz", "wt") as stream:
        stream.write("r,v\nx,4\n")
    patterns = [str(tmp_path / "*.csv"), str(tmp_path / "c*.csv.gz")]
    assert totals(patterns) == {"Total": 7, "x": 5, "y": 2}
    assert occurring_codes([str(tmp_path / "b.csv"), str(tmp_path / "a.csv")], "r") == ("x", "y")


def test_odd_records_in_front_are_not_skipped(tmp_path: Path) -> None:
    """Records unlike most others are refused with their line, wherever they stand."""
    path = tmp_path / "records.csv"
    path.write_text("r,v\nx,987654,1\n" + "x,1\n" * 100)
    with pytest.raises(InputError, match="a record of 3 entries, but the first line names 2"):
        totals(path)
    path.write_text("r,v\n" + "x,1,1\n" * 100)
    with pytest.raises(InputError) as caught:
        totals(path)
    assert (caught.value.path, caught.value.line) == (path, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the first line is empty"),
        ("\nr,v\nx,1\n", "the first line is empty"),
        ("r,v,v\nx,1,2\n", "names column v more than once"),
        ("x,987654\ny,2\n", "no columns r, v; some columns have numbers for names"),
        ('r,v\nx,"1\ny,2\n', "a quotation mark is opened but not closed"),
    ],
)
def test_files_that_cannot_be_understood(tmp_path: Path, text: str, message: str) -> None:
    """A fault of a file is reported in one line that quotes none of its records."""
    path = tmp_path / "records.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        totals(path)
    assert "987654" not in str(caught.value)
    assert "\n" not in str(caught.value)
