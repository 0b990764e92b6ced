"""Published structures of 1H2D tables by name, and their rows."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tacit.errors import InputError
from tacit.generators import Structure1H2D
from tacit.generators.structure import PUBLISHED_ROWS


def sizes(structure: Structure1H2D) -> tuple[int, int, int]:
    """Cells, sensitive cells and relations."""
    return structure.cell_count, structure.sensitive_count, structure.relation_count


def test_sixteen_row_counts_make_48_names() -> None:
    """Four numbers of rows times four numbers of columns are published."""
    assert set(PUBLISHED_ROWS) == {(r, c) for r in (40, 50, 60, 70) for c in (50, 60, 70, 80)}


def test_published_sizes_of_all_48(shared: Path) -> None:
    """Every published instance has the published n, s, m and nz."""
    with (shared / "published" / "seed004_table1.csv").open() as file:
        published = list(csv.DictReader(file))
    assert len(published) == 48
    for line in published:
        structure = Structure1H2D.from_name(line["instance"])
        expected = tuple(int(line[key]) for key in ("n", "s", "m", "nz"))
        assert (*sizes(structure), structure.coefficient_count) == expected, line["instance"]


def test_published_sizes_of_small_tables(shared: Path) -> None:
    """The identified small instances have the published n, s and m."""
    with (shared / "published" / "seed000_table1.csv").open() as file:
        published = {line["instance"]: line for line in csv.DictReader(file)}
    for name in ("Table 1", "Table 3a", "Table 3b", "Table 4", "Table 5", "Table 6"):
        line = published[name.rstrip("ab")]
        expected = tuple(int(line[key]) for key in ("n", "s", "m"))
        assert sizes(Structure1H2D.from_name(name)) == expected, name


def test_identified_structures_agree(shared: Path) -> None:
    """Rows, columns and subtables are those identified from the published sizes."""
    with (shared / "instances" / "1h2d_structure.csv").open() as file:
        lines = [line for line in csv.DictReader(file) if line["consistent"] == "yes"]
    assert len(lines) == 54
    for line in lines:
        structure = Structure1H2D.from_name(line["instance"].replace("_", ""))
        found = (structure.rows, structure.columns, structure.subtables, structure.percent)
        assert found == tuple(int(line[key]) for key in ("R", "c", "T", "pct")), line["instance"]


def test_other_names_have_the_named_rows_on_average() -> None:
    """A name that was not published has four subtables of the named number of rows."""
    structure = Structure1H2D.from_name("20-25-15")
    assert structure == Structure1H2D(rows=81, columns=25, subtables=4, percent=15)
    assert sizes(structure) == (81 * 26, 300, 81 + 4 * 26)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("40-50", "expected rows of a subtable, columns and percentage"),
        ("40x50x10", "as in '40-50-10'"),
        ("", "as in '40-50-10'"),
        ("40-50-10-5", "as in '40-50-10'"),
        ("-40-50-10", "as in '40-50-10'"),
        ("٤٠-50-10", "as in '40-50-10'"),
        ("40-50-101", "between 0 and 100"),
        ("40-1-10", "at least 2 columns"),
        ("1-50-10", "too few for 4 subtables"),
        ("Table 2", "no structure fits"),
        ("table3", "'table3a' and 'table3b'"),
        ("table9", "or one of 'table1'"),
    ],
)
def test_malformed_names_say_what_is_expected(name: str, message: str) -> None:
    """A name that is no structure is refused, named, and told what is expected."""
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        Structure1H2D.from_name(name)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("choices", [{"subtables": 0}, {"splits": 0}])
def test_impossible_sizes_are_refused(choices: dict[str, int]) -> None:
    """A table needs a subtable, and a subtable that can be split."""
    with pytest.raises(InputError, match="at least one subtable"):
        Structure1H2D(rows=50, columns=5, **choices)


@given(
    rows=st.integers(3, 120),
    subtables=st.integers(1, 31),
    splits=st.integers(1, 5),
    seed=st.integers(0, 1000),
)
def test_rows_form_the_subtables(rows: int, subtables: int, splits: int, seed: int) -> None:
    """Rows are a tree in pre-order with the given number of subtables of two or more rows."""
    try:
        structure = Structure1H2D(rows, 5, subtables, splits=splits)
    except InputError:
        assume(False)
    parent = structure.draw_rows(np.random.default_rng(seed))
    assert len(parent) == rows
    assert parent[0] == -1
    split, size = np.unique(parent[1:], return_counts=True)
    assert len(split) == subtables
    assert size.min() >= 2
    split_in = np.bincount(parent[split[1:]], minlength=rows)
    assert split_in.max() <= splits
    for row in range(1, rows):
        # Pre-order: the parent is the row before, or one of that row's ancestors.
        ancestor = row - 1
        while ancestor != parent[row]:
            ancestor = parent[ancestor]
            assert ancestor >= 0


def test_complete_binary_tree() -> None:
    """Fifteen subtables with two split rows each are four full levels."""
    parent = Structure1H2D.from_name("table4").draw_rows(np.random.default_rng(1))
    level = np.zeros(len(parent), int)
    for row in range(1, len(parent)):
        level[row] = level[parent[row]] + 1
    split = np.unique(parent[1:])
    assert np.bincount(level[split]).tolist() == [1, 2, 4, 8]
