"""What jobs say about how files are written."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.errors import InputError
from tacit.jobs import job_table, read_job
from tests.cli.dirty.case import workbook

JOB = '[data]\nmicrodata = "firms.csv"\nvalue = "v"\n{}\n[dimensions.r]\n{}\n'


@pytest.mark.parametrize(
    ("data", "dimension", "line", "message"),
    [
        ('decimal = "-"', "", 4, 'decimal must be "." or ","'),
        ('thousands = "x"', "", 4, "thousands must be one of"),
        ('decimal = "."\nthousands = "."', "", 5, "the same sign"),
        ('encoding = "klingon"', "", 4, "encoding 'klingon' is not known"),
        ('delimiter = "ab"', "", 4, "delimiter must be one character"),
        ("sheet = true", "", 4, "'sheet' must be a text or a whole number"),
        ('layout = "a.rda"\nencoding = "cp1252"', "", 5, "leave out 'encoding'"),
        ("missing = {safe = true}", "", 4, "there is no 'code'"),
        ('missing = {code = "", safe = true}', "", 4, "'code' must not be empty"),
        ('missing = {code = "9", save = true}', "", 4, "did you mean 'safe'"),
        ('missing = {code = {s = "9"}}', "", 4, "there is no dimension s; dimensions are r"),
        ('missing = "ignore"', "", 4, "'missing' cannot be 'ignore'"),
        ("", 'encoding = "cp1252"', 6, "'encoding' needs a 'file'"),
        ("", 'file = "r.csv"\ndelimiter = "ab"', 7, "delimiter must be one character"),
    ],
)
def test_mistakes_are_named_with_their_line(
    tmp_path: Path, data: str, dimension: str, line: int, message: str
) -> None:
    """What cannot be meant is refused before any file is read, at its line."""
    path = tmp_path / "job.toml"
    path.write_text(JOB.format(data, dimension))
    with pytest.raises(InputError, match=message) as caught:
        read_job(path)
    assert caught.value.path == path
    assert caught.value.line == line


def test_workbooks_need_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without python-calamine a message says how to get it."""
    (tmp_path / "firms.xlsx").write_bytes(workbook({"a": [["r", "v"], ["N", 1]]}))
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(InputError, match=r"pip install 'tacit\[excel\]'"):
        tacit.tabulate(tmp_path / "firms.xlsx", {"r": None}, "v")


def test_finished_tables_of_all_kinds_are_the_same(tmp_path: Path) -> None:
    """CSV with a decimal comma, Excel with numbers, and the job's own words for both."""
    (tmp_path / "a.csv").write_bytes("r;v\nZürich;1 250,5\nBern;20\n".encode("cp1252"))
    (tmp_path / "a.xlsx").write_bytes(
        workbook({"x": [["note"]], "y": [["r", "v"], ["Zürich", 1250.5], ["Bern", 20]]})
    )
    found = []
    for name, more in (("a.csv", 'decimal = ","\nencoding = "cp1252"'), ("a.xlsx", 'sheet = "y"')):
        (tmp_path / "job.toml").write_text(
            f'[data]\ntable = "{name}"\nvalue = "v"\n{more}\n[dimensions.r]\n'
        )
        found.append(job_table(read_job(tmp_path / "job.toml")))
    assert np.array_equal(found[0].value, found[1].value)
    assert [*found[0].labels] == [*found[1].labels] == ["r=Total", "r=Zürich", "r=Bern"]


def test_missing_codes_of_finished_tables(tmp_path: Path) -> None:
    """Cells without a code get the one for missing ones, right below the total."""
    (tmp_path / "cells.csv").write_text("r,value,count\nN1,5,4\nS1,6,1\n,7,1\n")
    text = '[data]\ntable = "cells.csv"\ncount = "count"\nmissing = {code = "99", safe = true}\n'
    text += '[dimensions.r]\nlengths = [1, 2]\n[[rules]]\nrule = "min-frequency"\nminimum = 3\n'
    (tmp_path / "job.toml").write_text(text)
    job = read_job(tmp_path / "job.toml")
    table = job_table(job)
    assert table.dimensions["r"].parent_of("99") == "Total"
    judged = table.apply(*job.rules)
    assert [judged.labels[n] for n in np.flatnonzero(judged.is_sensitive).tolist()] == [
        "r=S",
        "r=S1",
    ]


def test_info_says_how_data_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Format and names of columns are shown, and what is a guess; no record is."""
    path = tmp_path / "firms.csv"
    path.write_bytes("région;turnover\nNord;1.234\nSud;5.678\n".encode("cp1252"))
    assert main(["info", str(path)]) == 0
    told = capsys.readouterr()
    assert told.out == (
        f"{path}\n  written     text in cp1252, columns separated by semicolons, the decimal sign "
        "is not clear\n  columns     the columns are région, turnover\n"
    )
    assert told.err == (
        'note: encoding = "cp1252" is a guess\nnote: decimal is not clear: say it in [data]\n'
    )
