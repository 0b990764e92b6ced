"""Pivots: two dimensions, codes indented."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.errors import InputError
from tacit.hierarchy import Hierarchy
from tacit.outcome import Outcome, Status, Suppression
from tacit.release import Published
from tacit.table import Table
from tests.release.tables import intervals, linked, published


def test_codes_are_indented_by_their_hierarchy() -> None:
    """Rows follow the hierarchy, totals first; hidden cells have marks."""
    pivot = published().pivot(rows="industry", columns="region")
    assert pivot.to_text().splitlines() == [
        "industry    Total       N      S",
        "Total     22927.5  9999.5  12928",
        "  A       10706.5  4444.5   6262",
        "    A1     3333.5       x      x",
        "    A2       7373       x      x",
        "  B         12221    5555   6666",
    ]
    assert str(pivot) == pivot.to_text()
    assert repr(pivot) == "Pivot(industry by region, 5 rows, 3 columns)"
    assert published().pivot().to_text("c").count("c") == 4


def test_intervals_in_a_pivot() -> None:
    """Both ends are shown."""
    assert "1000–1250.25" in intervals().pivot().to_text()


def test_frames_of_texts_and_of_numbers() -> None:
    """A pivot is a frame of the requested library."""
    pivot = published().pivot("region", "industry")
    frame = pivot.to_frame("polars")
    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == ["region", "Total", "A", "A1", "A2", "B"]
    assert frame["A1"].to_list() == ["3333.5", "x", "x"]
    numbers = pivot.to_frame("dict", marks=None)
    np.testing.assert_array_equal(numbers["A1"], [3333.5, np.nan, np.nan])
    same = Table.from_cube(np.ones((1, 1)), {name: Hierarchy.flat(["a"]) for name in "ab"})
    outcome = Outcome(status=Status.FEASIBLE, solution=Suppression(np.zeros(4, bool)))
    clash = Published.of(same, outcome).pivot()
    assert list(clash.to_frame("dict")) == ["a", "Total", "b a"]


def test_one_dimension_fixed() -> None:
    """What is not in rows or columns is held at the code that was given, or at its total."""
    held = published().pivot("industry", fixed={"region": "N"})
    assert held.columns == ("value",)
    assert held.title == "industry (region N)"
    assert [row[0] for row in held.texts()] == ["9999.5", "4444.5", "x", "x", "5555"]
    at_total = published().pivot("region")
    assert at_total.fixed == {"industry": "Total"}
    assert [row[0] for row in at_total.texts()] == ["22927.5", "9999.5", "12928"]


def test_linked_tables_are_chosen_by_their_dimensions() -> None:
    """The first table with the dimensions is taken, or the requested one."""
    both = linked()
    assert both.pivot("industry", "size").columns == ("Total", "small", "large")
    assert both.pivot(table=0).columns == ("Total", "N", "S")
    assert both.pivot(table=1).title == "industry by size"
    with pytest.raises(InputError, match="no single table has all of the dimensions region, size"):
        both.pivot("region", "size")
    with pytest.raises(InputError, match="there is no table 2; they are 0 to 1"):
        both.pivot(table=2)


@pytest.mark.parametrize(
    ("rows", "columns", "fixed", "message"),
    [
        ("industri", None, {}, "there is no dimension 'industri'; did you mean 'industry'"),
        ("industry", "industry", {}, "industry is named twice"),
        ("industry", None, {"region": "NN"}, "region has no code 'NN'; did you mean 'N'"),
        (None, "region", {"industry": "A"}, "no dimension is left for the rows"),
    ],
)
def test_what_cannot_be_shown_gets_a_message(
    rows: str | None, columns: str | None, fixed: dict[str, str], message: str
) -> None:
    """Unknown or doubled dimensions and codes are named."""
    with pytest.raises(InputError, match=message):
        published().pivot(rows, columns, fixed)


def test_a_problem_is_a_column_of_cells() -> None:
    """Cells without codes are shown by their numbers, in their order."""
    problem = tacit.examples.get("003-figure-11").problem
    outcome = tacit.Outcome(
        status=tacit.Status.FEASIBLE, solution=tacit.Suppression(problem.is_sensitive)
    )
    pivot = Published.of(problem, outcome).pivot()
    assert pivot.rows == tuple((str(cell),) for cell in range(problem.cell_count))


@given(st.data())
def test_every_cell_is_where_its_codes_say(data: st.DataObject) -> None:
    """Whatever is in rows and columns, each cell is at its codes and no cell is lost."""
    shape = data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=3))
    names = ["x", "y", "z"][: len(shape)]
    dimensions = {
        name: Hierarchy.flat([f"{name}{code}" for code in range(size)], total=f"{name}*")
        for name, size in zip(names, shape, strict=True)
    }
    cells = int(np.prod(shape))
    table = Table.from_cube(np.arange(1.0, cells + 1).reshape(shape), dimensions)
    hidden = np.array(
        data.draw(st.lists(st.booleans(), min_size=table.cell_count, max_size=table.cell_count))
    )
    outcome = Outcome(status=Status.FEASIBLE, solution=Suppression(hidden))
    order = data.draw(st.permutations(names))
    rows, column = order[:-1], order[-1]
    pivot = Published.of(table, outcome).pivot(rows, column)
    assert sorted(pivot.cells.ravel().tolist()) == list(range(table.cell_count))
    for row, codes in enumerate(pivot.rows):
        for place, code in enumerate(pivot.columns):
            cell = pivot.cells[row, place]
            where = {**dict(zip(rows, codes, strict=True)), column: code}
            assert {name: table.codes(name)[cell] for name in names} == where
            assert pivot.texts("?")[row][place] == (
                "?" if hidden[cell] else f"{table.value[cell]:g}"
            )
