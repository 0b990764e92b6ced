"""Marks that a person gives by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit import InputError, ProblemError, TableError
from tacit.rules import Manual, MinFrequency, from_mapping
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
    """A CSV file gives status and levels; without levels it is the percentage, or the least."""
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
    assert sensitive(judged) == ["region=N, sex=m", "region=S, sex=f", "region=S, sex=m"]
    assert judged.problem().lower_level.tolist() == [3.0, 3.0, 1.0]
    assert judged.problem().upper_level.tolist() == [0.0, 3.0, 1.0]


def test_sliding_levels_from_marks(table: Table) -> None:
    """A sliding level is taken as it is given."""
    marks = {"region": ["N"], "sex": ["m"], "sliding_level": [7]}
    problem = table.apply(Manual(marks)).problem()
    assert problem.sliding_level.tolist() == [7.0]
    assert problem.upper_level.tolist() == [0.0]


ALONE = {"region": ["N"], "sex": ["f"]}


@pytest.mark.parametrize("status", ["safe", "publish"])
def test_marks_do_not_override_rules_silently(table: Table, status: str) -> None:
    """Cells and rules are named, no value is, whatever the order and however the cell was found."""
    mark = Manual({**ALONE, "status": [status]})
    found: dict[str, list[tuple[Any, Any]]] = {
        "minimum frequency": [(mark, MinFrequency(3)), (MinFrequency(3), mark)],
        "two few": [(MinFrequency(3, name="two few"), mark)],
        "manual": [(Manual(ALONE), mark)],
    }
    for reason, orders in found.items():
        for rules in orders:
            with pytest.raises(TableError, match=rf"\(region=N, sex=f\) by {reason};") as caught:
                table.apply(*rules)
            assert caught.value.cells == ("region=N, sex=f",)
            assert "override = true" in str(caught.value)
            assert "10" not in str(caught.value)
    with pytest.raises(TableError, match="by minimum frequency"):
        table.apply(MinFrequency(3)).apply(mark)
    given = table.replace(status=np.where(np.arange(9) == 4, "sensitive", "safe"))
    with pytest.raises(TableError, match="by given"):
        given.apply(mark)


def test_marks_override_rules_where_that_is_decided(table: Table) -> None:
    """What a person decides holds whatever rules say, in any order, and the reason tells."""
    safe = Manual({**ALONE, "status": ["safe"]}, override=True)
    for judged in (
        table.apply(safe, MinFrequency(3)),
        table.apply(MinFrequency(3), safe),
        table.apply(MinFrequency(3)).apply(safe),
        table.apply(MinFrequency(3), safe).apply(Manual({"region": ["S"]})),
    ):
        assert "region=N, sex=f" not in sensitive(judged)
        assert judged.reason is not None
        assert judged.reason[4] == "minimum frequency; overridden"
        assert np.flatnonzero(judged.overridden).tolist() == [4]
        assert judged.problem().overridden.tolist() == [4]
        assert judged.to_frame("dict")["reason"][4] == "minimum frequency; overridden"
    publish = Manual({**ALONE, "status": ["publish"]}, override=True)
    judged = table.apply(publish, MinFrequency(3))
    assert judged.status[4] == "publish"
    assert judged.problem().must_publish[4]
    assert judged.problem().overridden.tolist() == [4]


def test_marks_that_override_nothing_leave_no_trace(table: Table) -> None:
    """Cells that no rule finds sensitive are marked without a reason, with override or without."""
    for override in (False, True):
        mark = Manual({"region": ["S"], "status": ["publish"]}, override=override)
        judged = table.apply(mark, MinFrequency(3))
        assert not judged.overridden.any()
        assert judged.reason is not None
        assert judged.reason[6] == ""
        assert judged.status[6] == "publish"


def test_a_cell_that_is_judged_anew_is_overridden_no_more(table: Table) -> None:
    """Rules that are applied later judge cells that were marked as safe; the old reasons stay."""
    safe = Manual({**ALONE, "status": ["safe"]}, override=True)
    judged = table.apply(MinFrequency(3), safe).apply(Manual(ALONE))
    assert sensitive(judged) == ["region=N, sex=f"]
    assert not judged.overridden.any()
    assert judged.reason is not None
    assert judged.reason[4] == "minimum frequency; manual"


def test_overridden_cells_of_linked_tables(table: Table) -> None:
    """A cell that is overridden in one of the tables is so in all of them."""
    other = Table.from_frame(
        {"region": ["N", "S"], "age": ["old", "old"], "value": [30, 70]},
        {"region": None, "age": None},
    )
    mark = Manual({**ALONE, "status": ["publish"]}, override=True)
    linked = table.apply(MinFrequency(3), mark).link(other)
    assert [linked.labels[cell] for cell in np.flatnonzero(linked.overridden).tolist()] == [
        "region=N, sex=f"
    ]
    part = linked.problem().subproblem(np.arange(3, 6))
    assert part.overridden.tolist() == [1]
    with pytest.raises(ProblemError, match="overridden names cells that do not exist"):
        part.replace(overridden=[3])


def test_override_is_a_choice(table: Table) -> None:
    """Only true and false are accepted, and no rule can have this name."""
    with pytest.raises(InputError, match="override must be true or false"):
        Manual(ALONE, override="yes")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="name must not be overridden"):
        MinFrequency(3, name="overridden")
    assert from_mapping({"rule": "manual", "marks": "m.csv", "override": True}).override  # type: ignore[attr-defined]
    assert not table.overridden.any()


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
