"""The grid: windows, filters, search and map, compared with plain Python."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.app.grid import HIDDEN, KINDS, Shown, View, codes_of
from tacit.errors import InputError
from tacit.examples import get
from tacit.hierarchy import Hierarchy
from tacit.release import protect
from tacit.rules import MinFrequency
from tacit.table import Table

TREES = [
    Hierarchy.flat(["a", "b", "c"]),
    Hierarchy.from_nested({"N": ["N1", "N2"], "S": ["S1", "S2", "S3"]}),
    Hierarchy.flat(["x"]),
]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Small tables of one to three dimensions, with some cells missing."""
    trees = draw(st.lists(st.sampled_from(TREES), min_size=1, max_size=3))
    names = [f"d{place}" for place in range(len(trees))]
    everything = list(itertools.product(*(tree.leaves for tree in trees)))
    rows = draw(st.lists(st.sampled_from(everything), min_size=1, max_size=12, unique=True))
    frame: dict[str, list[object]] = {
        name: [row[place] for row in rows] for place, name in enumerate(names)
    }
    frame["value"] = [draw(st.integers(1, 50)) for _ in rows]
    frame["count"] = [draw(st.integers(1, 6)) for _ in rows]
    made = Table.from_frame(frame, dict(zip(names, trees, strict=True)), count="count")
    return made.apply(MinFrequency(3))


@given(tables(), st.data())
def test_a_window_shows_the_cells_that_are_there(table: Table, data: st.DataObject) -> None:
    """Whatever part is asked for, each cell has the value and kind that its codes have."""
    by_codes = {tuple(codes_of(table, cell).values()): cell for cell in range(table.cell_count)}
    names = [*table.dimensions]
    rows = data.draw(st.sampled_from(names))
    others = [name for name in names if name != rows]
    columns = data.draw(st.sampled_from(others)) if others else None
    fixed = {
        name: data.draw(st.sampled_from(table.dimensions[name].codes))
        for name in others
        if name != columns
    }
    only = data.draw(st.sampled_from(["", HIDDEN, "sensitive", "published"]))
    view = View(Shown(table, None), rows, columns, fixed, only=only)
    sensitive = table.is_sensitive

    def cells_of(row: str) -> list[int]:
        codes = table.dimensions[columns].codes if columns else [""]
        at = [{**fixed, rows: row, **({columns: code} if columns else {})} for code in codes]
        return [by_codes.get(tuple(each[name] for name in names), -1) for each in at]

    def fits(cell: int) -> bool:
        return cell >= 0 and (not only or sensitive[cell] == (only != "published"))

    expected = [
        row for row in table.dimensions[rows].codes if not only or any(map(fits, cells_of(row)))
    ]
    assert view.row_count == len(expected)
    if not expected:
        return
    top = data.draw(st.integers(0, len(expected) - 1))
    left = data.draw(st.integers(0, view.column_count - 1))
    window = view.window(top, left, 3, 2)
    assert [head.code for head, _ in window.rows] == expected[top : top + 3]
    assert [head.place for head, _ in window.rows] == list(range(len(expected)))[top : top + 3]
    for head, line in window.rows:
        assert [cell.number for cell in line] == cells_of(head.code)[left : left + 2]
        for cell in line:
            if cell.number >= 0:
                assert cell.value == table.value[cell.number]
                assert (cell.kind == "sensitive") == sensitive[cell.number]
    fields = view.map()
    shown = [cell for row in expected for cell in cells_of(row) if cell >= 0]
    assert sum(field.cells for field in fields) == len(shown)
    assert sum(field.hidden for field in fields) == int(sensitive[shown].sum())


def test_kinds_after_protection() -> None:
    """Sensitive cells, those that protect them, and published ones are told apart."""
    frame = {
        "r": ["a"] * 3 + ["b"] * 3 + ["c"] * 3,
        "s": ["x", "y", "z"] * 3,
        "value": [20, 50, 10, 8, 19, 22, 17, 32, 12],
        "count": [9, 21, 5, 4, 2, 11, 8, 14, 6],
    }
    table = Table.from_frame(frame, {"r": None, "s": None}, count="count")
    table = table.apply(MinFrequency(3, percent=20))
    release = protect(table, "suppress", time_limit=10)
    shown = Shown(table, release)
    hidden = release.published.is_hidden
    assert (shown.kind == KINDS.index("sensitive")).tolist() == table.is_sensitive.tolist()
    secondary = shown.kind == KINDS.index("secondary")
    assert secondary.tolist() == (hidden & ~table.is_sensitive).tolist()
    assert shown.counts["sensitive"] + shown.counts["secondary"] == int(hidden.sum())
    found = View(shown).find("B")
    assert [(each.axis, each.text) for each in found] == [("row", "b")]


def test_a_problem_is_a_list_of_cells() -> None:
    """The cells of a JJ file, which have no codes, stand below each other by their numbers."""
    problem = get("003-figure-11").problem
    view = View(Shown(problem, None))
    window = view.window(0, 0, 200, 5)
    assert [cell.value for _, line in window.rows for cell in line] == problem.value.tolist()


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"rows": "no"}, "no dimension no"),
        ({"rows": "r", "columns": "r"}, "same dimension"),
        ({"fixed": {"t": "no"}}, "no code no"),
        ({"table": 3}, "no table 4"),
        ({"only": "nonsense"}, "kind nonsense"),
    ],
)
def test_wrong_views_are_refused(choice: dict[str, object], message: str) -> None:
    """What an address asks for may be nonsense: it says what is wrong."""
    frame = {"r": ["a"], "s": ["x"], "t": ["u"], "value": [1]}
    table = Table.from_frame(frame, {"r": None, "s": None, "t": None})
    choice = {"rows": "r", "columns": "s", **choice}
    with pytest.raises(InputError, match=message):
        View(Shown(table, None), **choice)  # type: ignore[arg-type]
