"""What tabulation finds about contributors is kept with the cells of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tacit.errors import TableError
from tacit.microdata import tabulate
from tacit.table import Table
from tests.microdata.obvious import BY, COLUMNS, TOPS, assert_same_tables

DATA: dict[str, list[Any]] = {
    "region": ["N1a", "N1b", "South", "South"],
    "industry": ["01", "02", "11", "11"],
    "firm": ["f", "g", "h", "i"],
    "holding": ["a", None, "b", "b"],
    "turnover": [5, 6, 7, 8],
    "staff": [2, 1, 4, 3],
    "weight": [1.0, 2.0, 1.5, 1.0],
    "asks": [0, 1, 0, 1],
}
EVERYTHING: dict[str, Any] = {
    "contributor": "firm",
    "holding": "holding",
    "weight": "weight",
    "shadow": "staff",
    "request": "asks",
}


@pytest.fixture
def table() -> Table:
    """A table with all that can be known of contributors."""
    made: Table = tabulate(DATA, BY, "turnover", **EVERYTHING)
    return made


def names(count: int = 2) -> dict[str, Any]:
    """The columns of a frame, for `from_frame`."""
    single = {name: name for name in COLUMNS if name != "value"}
    return single | {name: [f"{name}_{rank + 1}" for rank in range(count)] for name in TOPS}


def test_frames_carry_everything(table: Table) -> None:
    """A table written to a frame and read again is the same."""
    frame = table.to_frame("pandas")
    assert {"shadow", "weighted_count", "top_weight_2", "holding_top_1"} <= set(frame)
    assert_same_tables(Table.from_frame(frame, BY, **names()), table)


def test_totals_are_computed_for_everything(table: Table) -> None:
    """Finest cells of contributors in one cell each give the totals of tabulation."""
    frame = table.to_frame("pandas")
    finest = frame[
        frame["region"].isin(BY["region"].leaves) & frame["industry"].isin(BY["industry"].leaves)
    ]
    assert_same_tables(Table.from_frame(finest, BY, **names()), table)


def test_what_is_known_of_the_largest_keeps_their_order(table: Table) -> None:
    """Contributions given in any order are sorted together with their weights and requests."""
    turned = {name: getattr(table, name)[:, ::-1] for name in TOPS}
    assert_same_tables(table.replace(**turned), table)
    with pytest.raises(TableError, match="top_weight has shape"):
        table.replace(top_weight=np.ones((table.cell_count, 3)))
    with pytest.raises(TableError, match="is given without top"):
        Table.from_cube([1.0], {"r": BY["region"].flat(["x"])}).replace(top_weight=[[1.0], [1.0]])


def test_linked_tables_keep_everything(table: Table) -> None:
    """Cells of linked tables keep what the first table with contributions says of them."""
    north = tabulate(DATA, {"region": BY["region"]}, "turnover", **EVERYTHING)
    linked = table.link(north)
    assert_same_tables(linked, table)
    plain = tabulate(DATA, {"region": BY["region"]}, "turnover", weight="weight")
    bare = plain.replace(top_weight=None, weighted_count=None)
    mixed = bare.link(table)
    assert mixed.top is not None
    assert mixed.top_weight is not None
    assert mixed.shadow is not None
    assert bare.top is not None
    common = bare.cell_count
    np.testing.assert_array_equal(mixed.top[:common], bare.top)
    assert np.isnan(mixed.top_weight[:common]).all()
    np.testing.assert_array_equal(mixed.shadow[:common], bare.value)
    assert not np.isnan(mixed.top_weight[common:, 0]).any()
