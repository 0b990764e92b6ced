"""Marks that a person gives by hand."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit import InputError, TableError
from tacit.rules import Manual, MinFrequency
from tacit.table import Table


@pytest.fixture
def table() -> Table:
    """Two regions and two sexes; one cell has a single contributor."""
    return Table.from_frame(
        {
            "region": ["N", "N", "S", "S"],
            "sex": ["f", "m", "f", "m"],
            "value": [10, 20, 30, 40],
            "count": [1, 5, 6, 7],
        },
        {"region": None, "sex": None},
        count="count",
    )


def sensitive(table: Table) -> list[str]:
    """The names of the sensitive cells."""
    return [table.labels[cell] for cell in table.problem().sensitive]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_marks_from_any_frame(table: Table, library: type) -> None:
    """Marks come from pandas, polars, pyarrow or a dict; a missing dimension is its total."""
    judged = table.apply(Manual(library({"region": ["S", "N"]}), percent=20))
    assert sensitive(judged) == ["region=N, sex=Total", "region=S, sex=Total"]
    assert judged.problem().lower_level.tolist() == [6.0, 14.0]
    assert judged.reason is not None
    assert judged.reason[judged.is_sensitive].tolist() == ["manual", "manual"]


@pytest.mark.parametrize("separator", [",", ";"])
def test_marks_from_a_file(table: Table, tmp_path: Path, separator: str) -> None:
    """A CSV file gives status and levels; a row without levels gets the percentage."""
    lines = [
        "region,sex,status,lower_level,upper_level",
        "N,m,sensitive,3,",
        "S,f,,,",
        "S,m,secondary,,",
        "",
    ]
    path = tmp_path / "marks.csv"
    path.write_text("\n".join(lines).replace(",", separator))
    judged = table.apply(Manual(path))
    assert sensitive(judged) == ["region=N, sex=m", "region=S, sex=f"]
    assert judged.problem().lower_level.tolist() == [3.0, 3.0]
    assert judged.problem().upper_level.tolist() == [0.0, 3.0]
    assert judged.status[8] == "secondary"


def test_sliding_levels_from_marks(table: Table) -> None:
    """A sliding level is taken as it is given."""
    marks = {"region": ["N"], "sex": ["m"], "sliding_level": [7]}
    problem = table.apply(Manual(marks)).problem()
    assert problem.sliding_level.tolist() == [7.0]
    assert problem.upper_level.tolist() == [0.0]


def test_a_mark_as_safe_holds(table: Table) -> None:
    """What a person calls safe is not sensitive whatever rules say, in any order."""
    safe = Manual({"region": ["N"], "sex": ["f"], "status": ["safe"]})
    for rules in ((safe, MinFrequency(3)), (MinFrequency(3), safe)):
        judged = table.apply(*rules)
        assert sensitive(judged) == []
        assert judged.reason is not None
        assert not any(judged.reason)
    assert sensitive(table.apply(MinFrequency(3)).apply(safe)) == []
    publish = Manual({"region": ["N"], "sex": ["f"], "status": ["publish"]})
    judged = table.apply(publish, MinFrequency(3))
    assert judged.status[4] == "publish"
    assert judged.problem().must_publish[4]


def test_a_mark_as_secondary_does_not_hide_a_sensitive_cell(table: Table) -> None:
    """A cell to be suppressed for others is sensitive itself if a rule says so."""
    mark = Manual({"region": ["N"], "sex": ["f"], "status": ["secondary"]})
    assert sensitive(table.apply(mark, MinFrequency(3))) == ["region=N, sex=f"]


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ({"region": ["W"]}, r"no such cell: \(region=W, sex=Total\); correct the codes"),
        ({"region": ["N", "N"]}, r"marked more than once: \(region=N, sex=Total\)"),
        ({"regoin": ["N"]}, "columns regoin are not understood; use the dimensions region, sex"),
        ({"status": ["safe"]}, "columns status are not understood"),
        ({"region": ["N"], "status": ["hidden"]}, "status hidden cannot be given by hand"),
        ({"region": ["N"], "status": ["empty"]}, "status empty cannot be given by hand"),
        ({"region": ["N"], "lower_level": [-1]}, r"level is negative.*region=N, sex=Total"),
        ({"region": ["N"], "lower_level": ["x"]}, "not a number"),
        ({"region": ["N", "S"], "sex": ["f"]}, "different lengths"),
        (17, "int is not a data frame"),
    ],
)
def test_marks_that_cannot_be_used(table: Table, marks: object, message: str) -> None:
    """Marks at fault are refused with what is wrong and where."""
    with pytest.raises(TableError, match=message):
        table.apply(Manual(marks))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"marks.csv: cannot be read: No such file"),
        ("", "the file is empty"),
        ("region,sex\nN\n", "marks.csv:2: 1 entries, but the first line names 2 columns"),
    ],
)
def test_files_that_cannot_be_used(
    table: Table, tmp_path: Path, text: str | None, message: str
) -> None:
    """Files at fault are refused with file and line."""
    path = tmp_path / "marks.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=message):
        table.apply(Manual(str(path)))


def test_marks_in_linked_tables(table: Table) -> None:
    """A mark finds its cell in whichever of the linked tables it is."""
    other = Table.from_frame(
        {"region": ["N", "S"], "age": ["old", "old"], "value": [30, 70]},
        {"region": None, "age": None},
    )
    linked = table.link(other)
    marks = {"region": ["N", "N"], "sex": ["f", "Total"], "age": ["Total", "old"]}
    judged = linked.apply(Manual(marks))
    assert sensitive(judged) == ["region=N, sex=f", "region=N, age=old"]
