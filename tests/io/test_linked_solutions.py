"""Published files of linked tables, read back as one solution."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InputError
from tacit.io.linked_solutions import read_linked_solution
from tacit.io.solutions import read_solution
from tacit.outcome import Intervals, Solution, Suppression, Values
from tacit.release import Published

REGION, SEX, AGE = (tacit.Hierarchy.flat([*codes]) for codes in ("NS", "fm", "yo"))


def _linked() -> tacit.Table:
    cube = np.arange(1, 9).reshape(2, 2, 2)
    one = tacit.Table.from_cube(cube.sum(axis=2), {"region": REGION, "sex": SEX})
    two = tacit.Table.from_cube(cube.sum(axis=0), {"sex": SEX, "age": AGE})
    return one.named("one").link(two.named("two"))


def _written(table: tacit.Table, solution: Solution, folder: Path) -> list[Path]:
    published = _published(table, solution)
    paths = []
    for grid in table.grids:
        paths.append(folder / f"{grid.name}.csv")
        published.of_table(grid.name).to_csv(paths[-1])
    return paths


def _published(table: tacit.Table, solution: Solution) -> Published:
    outcome = tacit.suppress(table.problem(), time_limit=5)
    return Published.of(table, replace(outcome, solution=solution))


@settings(max_examples=25, deadline=None)
@given(hidden=st.lists(st.booleans(), min_size=15, max_size=15), kind=st.sampled_from("siv"))
def test_files_of_tables_are_the_solution_they_were_written_from(
    tmp_path_factory: pytest.TempPathFactory, hidden: list[bool], kind: str
) -> None:
    """Suppression, intervals and changed values come back as they were, whatever is hidden."""
    table = _linked()
    assert table.cell_count == len(hidden)
    mask = np.array(hidden)
    value = table.value
    solution: Solution = Suppression(mask)
    if kind == "i":
        solution = Intervals(np.where(mask, value - 1, value), np.where(mask, value + 2, value))
    elif kind == "v":
        solution = Values(value + mask)
    folder = tmp_path_factory.mktemp("files")
    found = read_linked_solution(_written(table, solution, folder), table)
    if isinstance(solution, Values) and not mask.any():
        assert isinstance(found, Suppression)
        assert not found.suppressed.any()
        return
    assert type(found) is type(solution)
    for name in vars(solution):
        given, read = getattr(solution, name), getattr(found, name)
        if given is not None:
            np.testing.assert_allclose(read, given)


@settings(max_examples=15, deadline=None)
@given(
    hidden=st.lists(st.booleans(), min_size=15, max_size=15),
    layout=st.sampled_from(["pivot", "list"]),
)
def test_a_workbook_with_a_sheet_for_each_table(
    tmp_path_factory: pytest.TempPathFactory, hidden: list[bool], layout: Literal["pivot", "list"]
) -> None:
    """What tacit writes to one workbook is read again, as rows and columns and as lists."""
    table = _linked()
    path = tmp_path_factory.mktemp("books") / "published.xlsx"
    _published(table, Suppression(np.array(hidden))).to_excel(path, layout=layout)
    found = read_solution(path, table)
    assert isinstance(found, Suppression)
    assert found.suppressed.tolist() == hidden


def test_a_cell_is_known_as_soon_as_one_table_publishes_it(tmp_path: Path) -> None:
    """Of two files that do not agree, the one that tells more counts."""
    table = _linked()
    both = np.ones(table.cell_count, bool)
    one, _ = _written(table, Suppression(both), tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    _, two = _written(table, Suppression(~both), other)
    found = read_linked_solution([one, two], table)
    assert isinstance(found, Suppression)
    expected = np.ones(table.cell_count, bool)
    expected[table.grids[1].numbers] = False
    np.testing.assert_array_equal(found.suppressed, expected)


def test_files_that_do_not_fit(tmp_path: Path) -> None:
    """A table without a file, a file without a table, and one for two are refused."""
    table = _linked()
    one, two = _written(table, Suppression(np.zeros(table.cell_count, bool)), tmp_path)
    with pytest.raises(InputError, match="no file or sheet for table two"):
        read_linked_solution([one], table)
    with pytest.raises(InputError, match="has a file already"):
        read_linked_solution([one, one], table)
    (tmp_path / "x.csv").write_text("region,value\nN,1\n")
    with pytest.raises(InputError, match="fits no table"):
        read_linked_solution([one, two, tmp_path / "x.csv"], table)
    with pytest.raises(InputError, match="leave out all others"):
        read_linked_solution([one, tmp_path / "x.json"], table)
    changed = two.read_text().replace("36,", "37,", 1)
    two.write_text(changed)
    with pytest.raises(InputError, match="other values of the same cells"):
        read_linked_solution([one, two], table)
