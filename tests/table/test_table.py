"""Tables: what goes in, what comes out, and what is refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit.errors import InputError, TableError
from tacit.hierarchy import Hierarchy
from tacit.table import CellStatus, Table

FRAMES: list[Callable[[dict[str, list[Any]]], Any]] = [dict, pd.DataFrame, pl.DataFrame, pa.table]
REGION = Hierarchy.from_nested({"North": ["N1", "N2"], "South": None}, total="T")
DIMENSIONS = {"region": REGION, "size": Hierarchy.flat([1, 2], total="T")}
FINEST: dict[str, list[Any]] = {
    "region": ["South", "N1", "N2", "N1"],
    "size": [1, 2, 1, 1],
    "value": [4, 3, 0, 1],
    "n": [4, 1, 0, 2],
}


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_of_every_library_go_in_and_come_out(frame: Any) -> None:
    """A table reads any frame and returns the same kind, which makes the same table again."""
    source = frame(FINEST)
    table = Table.from_frame(source, DIMENSIONS, count="n")
    out = table.to_frame()
    assert type(out) is type(source)
    again = Table.from_frame(out, DIMENSIONS, count="count", status="status")
    np.testing.assert_array_equal(again.value, table.value)
    np.testing.assert_array_equal(again.count, table.count)
    np.testing.assert_array_equal(again.status, table.status)
    assert list(again.labels) == list(table.labels)


def test_totals_are_computed_from_the_finest_cells() -> None:
    """A frame with leaf codes only gets every total that is not empty, row-major."""
    table = Table.from_frame(FINEST, DIMENSIONS, count="n")
    assert table.labels[:3] == ["region=T, size=T", "region=T, size=1", "region=T, size=2"]
    assert table.value.tolist() == [8, 5, 3, 4, 1, 3, 4, 1, 3, 0, 0, 4, 4]
    assert table.count is not None
    assert table.count.tolist() == [7, 6, 1, 3, 2, 1, 3, 2, 1, 0, 0, 4, 4]
    assert table.labels[-1] == "region=South, size=1"


def test_all_cells_are_taken_as_they_are() -> None:
    """A frame with totals is not added up again, in whatever order its rows are."""
    table = Table.from_frame(FINEST, DIMENSIONS, count="n")
    frame = {name: column[::-1] for name, column in table.to_frame("dict").items()}
    again = Table.from_frame(frame, DIMENSIONS, count="count")
    np.testing.assert_array_equal(again.value, table.value)


def test_other_columns_stay_with_their_cells() -> None:
    """Status, weight, bounds and levels follow the finest cells; totals have none."""
    frame = {
        "size": [2, 1],
        "value": [20, 10],
        "state": ["sensitive", None],
        **{name: [2.5, np.nan] for name in ("w", "lo", "hi", "ll", "ul", "sl")},
    }
    columns: dict[str, Any] = {
        "weight": "w",
        "lower": "lo",
        "upper": "hi",
        "lower_level": "ll",
        "upper_level": "ul",
        "sliding_level": "sl",
    }
    table = Table.from_frame(frame, {"size": DIMENSIONS["size"]}, status="state", **columns)
    assert table.status.tolist() == ["safe", "safe", "sensitive"]
    for name in columns:
        np.testing.assert_array_equal(getattr(table, name), [np.nan, np.nan, 2.5])
    out = table.to_frame("pandas")
    assert list(out) == ["size", "value", "status", *columns]


def test_flat_dimension_finds_its_total() -> None:
    """Without a hierarchy the codes seen are flat below the code that reads total."""
    frame = {"sex": ["f", "TOTAL", "m"], "value": [1, 3, 2]}
    table = Table.from_frame(frame, {"sex": None})
    assert table.dimensions["sex"] == Hierarchy.flat(["f", "m"], total="TOTAL")
    assert table.value.tolist() == [3, 1, 2]


def test_a_cell_without_contributors_is_empty() -> None:
    """A count of zero makes a cell empty, its empty total too, and both must be published."""
    table = Table.from_frame(FINEST, DIMENSIONS, count="n")
    empty = [table.labels[k] for k in np.flatnonzero(table.status == CellStatus.EMPTY).tolist()]
    assert empty == ["region=N2, size=T", "region=N2, size=1"]
    problem = table.problem()
    assert problem.must_publish.tolist() == (table.status == "empty").tolist()


def test_an_empty_cell_needs_no_total() -> None:
    """A frame with all cells may list an empty cell without the totals it adds nothing to."""
    table = Table.from_frame(FINEST, DIMENSIONS, count="n")
    frame = table.to_frame("pandas")
    frame = frame[~((frame["region"] == "N2") & (frame["size"] == "T"))]
    again = Table.from_frame(frame, DIMENSIONS, count="count")
    assert again.cell_count == table.cell_count - 1


def test_problem_has_defaults_for_all_that_is_not_given() -> None:
    """Cells are non-negative, unbounded and weigh their value; one contributor is a singleton."""
    problem = Table.from_frame(FINEST, DIMENSIONS, count="n").problem()
    assert problem.validate() is problem
    assert problem.lower.tolist() == [0] * 13
    assert problem.upper.tolist() == [np.inf] * 13
    assert problem.weight.tolist() == np.maximum(problem.value, 1).tolist()
    assert np.flatnonzero(problem.singleton >= 0).tolist() == [2, 5, 8]
    assert problem.singleton[2] == 2, "a respondent of its own"
    assert problem.name_cell(12) == "cell region=South, size=1"


def test_a_total_and_its_only_contributor_are_one_respondent() -> None:
    """One firm in a row is the same respondent in the row's cell, its total and theirs."""
    frame = {"r": ["a", "a", "b"], "c": ["x", "y", "x"], "v": [7, 0, 9], "n": [1, 0, 1]}
    table = Table.from_frame(frame, {"r": None, "c": None}, value="v", count="n")
    respondent = dict(zip(table.labels, table.problem().singleton.tolist(), strict=True))
    assert respondent["r=a, c=x"] == respondent["r=a, c=Total"] >= 0
    assert respondent["r=b, c=x"] == respondent["r=b, c=Total"] >= 0
    assert respondent["r=a, c=x"] != respondent["r=b, c=x"]
    assert respondent["r=Total, c=x"] == -1


def test_problem_takes_what_is_given() -> None:
    """Given statuses, levels, bounds and weights reach the problem; NaN means not given."""
    table = Table.from_cube([1.0, 2.0, 3.0], {"region": REGION}).replace(
        status=["safe", "publish", "sensitive", "secondary", "sensitive"],
        upper_level=[np.nan, np.nan, 0.5, np.nan, np.nan],
        weight=[np.nan, 7, 7, 7, 7],
        upper=[np.nan, 9, 9, 9, 9],
    )
    problem = table.problem().validate()
    assert problem.sensitive.tolist() == [2, 4]
    assert problem.upper_level.tolist() == [0.5, 0]
    assert problem.weight.tolist() == [6, 7, 7, 7, 7]
    assert problem.upper.tolist() == [np.inf, 9, 9, 9, 9]
    assert problem.must_publish.tolist() == [False, True, False, False, False]


def test_negative_values_leave_cells_without_lower_bound() -> None:
    """Where one cell is negative, an attacker cannot take any cell to be non-negative."""
    problem = Table.from_cube([1.0, -2.0, 3.0], {"region": REGION}).problem()
    assert problem.lower.tolist() == [-np.inf] * 5
    problem.validate()


def test_table_is_frozen() -> None:
    """Columns cannot be written to, and replace leaves the old table alone."""
    table = Table.from_cube([1.0, 2.0, 3.0], {"region": REGION})
    with pytest.raises(ValueError, match="read-only"):
        table.value[0] = 1
    with pytest.raises(AttributeError):
        table.value = table.value  # type: ignore[misc]
    table.replace(value=table.value * 2)
    assert table.value.tolist() == [6, 3, 1, 2, 3]


def test_labels_are_a_sequence() -> None:
    """Labels are counted from either end, sliced and pickled like a list."""
    labels = Table.from_cube([1.0, 2.0, 3.0], {"region": REGION}).labels
    assert len(labels) == 5
    assert labels[-1] == labels[4] == "region=South"
    assert labels[1:3] == ["region=North", "region=N1"]
    assert list(pickle.loads(pickle.dumps(labels))) == list(labels)
    with pytest.raises(IndexError):
        labels[5]


def test_codes_of_cells() -> None:
    """The codes of all cells can be had a dimension at a time."""
    table = Table.from_frame(FINEST, DIMENSIONS)
    assert table.codes("size").tolist()[:6] == ["T", "1", "2", "T", "1", "2"]
    with pytest.raises(TableError, match="no dimension colour"):
        table.codes("colour")


def test_column_names_give_way_to_dimensions() -> None:
    """A dimension called status keeps its name in the frame."""
    table = Table.from_frame({"status": ["a", "b"], "value": [1, 2]}, {"status": None})
    assert list(table.to_frame()) == ["status", "value", "cell_status"]
    with pytest.raises(InputError, match="not a known library"):
        table.to_frame("excel")


def test_table_says_what_it_is() -> None:
    """The short form names dimensions, cells and sensitive cells."""
    table = Table.from_frame(FINEST, DIMENSIONS)
    assert repr(table) == "Table(region x size, 13 cells, 0 sensitive)"


def _frame(**changes: Any) -> dict[str, Any]:
    return {**FINEST, **changes}


@pytest.mark.parametrize(
    ("frame", "options", "message", "cells"),
    [
        (
            _frame(region=["South", "N1", "N2", "N1"], size=[1, 1, 1, 1]),
            {},
            "more than once",
            ["region=N1, size=1"],
        ),
        (_frame(region=["South", "N1", "N9", "N1"]), {}, "codes N9 of dimension region", []),
        (_frame(region=["South", None, "N2", "N1"]), {}, "column region, row 1", []),
        (_frame(region=["South", float("nan"), "N2", "N1"]), {}, "column region, row 1", []),
        (_frame(size=[1, 2.5, 1, 1]), {}, "column size, row 1", []),
        (
            _frame(region=["South", "North", "N2", "N1"]),
            {"cells": "finest"},
            "cells are totals",
            ["region=North, size=2"],
        ),
        (_frame(), {"cells": "all"}, "totals are missing", ...),
        (_frame(), {"cells": "some"}, "auto, all or finest", []),
        (_frame(), {"value": "worth"}, "no column worth", []),
        (_frame(value=["a", 1, 2, 3]), {}, "not a number", []),
        (_frame(value=[1, None, 2, 3]), {}, "the value is missing", ...),
        (_frame(value=[1, 2]), {}, "different lengths", []),
        (_frame(value=[4, 3, 5, 1]), {"count": "n"}, "count is zero", ...),
        (_frame(n=[4, 3, -1, 1]), {"count": "n"}, "count is negative", ...),
        (_frame(s=["safe", "odd", "", "safe"]), {"status": "s"}, "status odd is unknown", []),
        (3, {}, "not a data frame", []),
    ],
)
def test_what_is_no_table_is_refused(
    frame: Any, options: dict[str, Any], message: str, cells: Any
) -> None:
    """Duplicates, unknown or missing codes, missing totals and odd values are named."""
    with pytest.raises(TableError, match=message) as caught:
        Table.from_frame(frame, DIMENSIONS, **options)
    if cells is not ...:
        assert list(caught.value.cells) == cells


def test_missing_totals_are_named() -> None:
    """Each total that is missing is named once."""
    frame = {"region": ["N1", "N2", "T", "South"], "value": [1, 2, 5, 2]}
    with pytest.raises(TableError, match="totals are missing") as caught:
        Table.from_frame(frame, {"region": REGION})
    assert caught.value.cells == ("region=North",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"values": np.ones((2, 2))}, "the values have shape"),
        ({"values": np.ones(3), "counts": np.ones(4)}, "counts has shape"),
        ({"values": np.ones(3), "top": np.ones((4, 2))}, "top has shape"),
    ],
)
def test_cubes_of_the_wrong_shape_are_refused(options: dict[str, Any], message: str) -> None:
    """A cube says which shape it needs."""
    with pytest.raises(TableError, match=message):
        Table.from_cube(dimensions={"region": REGION}, **options)


def test_columns_of_the_wrong_length_are_refused() -> None:
    """A replaced column needs one entry per cell."""
    table = Table.from_cube([1.0, 2.0, 3.0], {"region": REGION})
    with pytest.raises(TableError, match="weight has shape"):
        table.replace(weight=[1, 2])
    with pytest.raises(TableError, match="at least one dimension"):
        Table.from_cube(1.0, {})


def test_errors_do_not_tell_values() -> None:
    """No message about cells contains their true values."""
    frame = {"region": ["N1", "N2", "South"], "value": [987123, 555444, 1], "n": [0, 1, 1]}
    with pytest.raises(TableError) as caught:
        Table.from_frame(frame, {"region": REGION}, count="n")
    assert "987123" not in str(caught.value)
