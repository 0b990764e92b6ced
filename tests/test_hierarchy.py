"""Hierarchies: every way in, the tree that comes out, and what is refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import HierarchyError, InputError
from tacit.hierarchy import Hierarchy

NESTED = {"A": {"A1": None, "A2": ["A21", "A22"]}, "B": []}
CODES = ("Total", "A", "A1", "A2", "A21", "A22", "B")
FRAMES: list[Callable[[dict[str, list[Any]]], Any]] = [dict, pd.DataFrame, pl.DataFrame, pa.table]


def test_flat_puts_codes_below_one_total() -> None:
    """A flat list is one level below the total, in its order; whole numbers become text."""
    sizes = Hierarchy.flat([3, "b", np.int64(1)], total="all")
    assert sizes.codes == ("all", "3", "b", "1")
    assert sizes.parents == (-1, 0, 0, 0)
    assert sizes.children("all") == ("3", "b", "1")


def test_flat_takes_the_total_among_the_codes() -> None:
    """The total may be listed with the other codes, as frames with all cells do."""
    assert Hierarchy.flat(["a", "Total", "b"]) == Hierarchy.flat(["a", "b"])


def test_nested_mapping_keeps_its_order() -> None:
    """Nested mappings and lists become a tree in pre-order."""
    tree = Hierarchy.from_nested(NESTED)
    assert tree.codes == CODES
    assert tree.parents == (-1, 0, 1, 1, 3, 3, 0)
    assert tree.level.tolist() == [0, 1, 2, 2, 3, 3, 1]
    assert tree.depth == 3


def test_nested_mapping_may_begin_with_the_total() -> None:
    """A mapping with the total as its only key is not put below another total."""
    assert Hierarchy.from_nested({"Total": NESTED}) == Hierarchy.from_nested(NESTED)


def test_tree_answers_questions() -> None:
    """Children, ancestors, leaves, levels and positions are those of the tree."""
    tree = Hierarchy.from_nested(NESTED)
    assert tree.total == "Total"
    assert tree.children("A") == ("A1", "A2")
    assert tree.children("B") == ()
    assert tree.ancestors("A21") == ("A2", "A", "Total")
    assert tree.ancestors("Total") == ()
    assert tree.parent_of("A21") == "A2"
    assert tree.parent_of("Total") is None
    assert tree.leaves == ("A1", "A21", "A22", "B")
    assert tree.is_leaf.tolist() == [False, False, True, False, True, True, True]
    assert tree.codes_at(1) == ("A", "B")
    assert tree.index("A22") == 5
    assert "A22" in tree
    assert "C" not in tree
    assert len(tree) == 7
    assert list(tree) == list(CODES)
    assert repr(tree) == "Hierarchy('Total', 7 codes, 4 levels)"


def test_equal_trees_are_equal_and_hash_alike() -> None:
    """Hierarchies compare by what they hold, also after a trip through pickle."""
    tree = Hierarchy.from_nested(NESTED)
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree
    assert hash(again) == hash(tree)
    assert tree != Hierarchy.flat(CODES)


@pytest.mark.parametrize("frame", FRAMES)
def test_parents_come_from_any_frame_in_any_order(frame: Any) -> None:
    """A parent-child frame of any library gives the tree, children in the order of rows."""
    rows = {
        "code": ["A21", "B", "A", "A1", "A2", "A22"],
        "above": ["A2", "Total", "Total", "A", "A", "A2"],
    }
    tree = Hierarchy.from_parents(frame(rows), child="code", parent="above")
    assert tree.codes == ("Total", "B", "A", "A1", "A2", "A21", "A22")


@pytest.mark.parametrize("nothing", [None, "", float("nan")])
def test_missing_parent_marks_the_total(nothing: object) -> None:
    """A code with a missing parent is the total."""
    tree = Hierarchy.from_parents({"a": "T", "T": nothing, "b": "T"})
    assert tree.codes == ("T", "a", "b")


def test_parents_below_a_new_total() -> None:
    """Codes without parent are put below the given total."""
    tree = Hierarchy.from_parents({"a1": "a", "b1": "b"}, total="T")
    assert tree.codes == ("T", "a", "a1", "b", "b1")


def test_prefixes_make_the_codes_above() -> None:
    """Where only finest codes are given, of whatever length, the coarser ones are made."""
    tree = Hierarchy.from_prefixes(["0111", "0112", "012", "02"], lengths=(2, 3, 4), total="T")
    assert tree.codes == ("T", "01", "011", "0111", "0112", "012", "02")
    assert tree.ancestors("0112") == ("011", "01", "T")


def test_prefixes_take_all_codes() -> None:
    """Where all codes are given, total included, nothing is made."""
    codes = ["T", "01", "011", "012", "02", "021"]
    assert Hierarchy.from_prefixes(codes, lengths=(2, 3), total="T").codes == tuple(codes)


@pytest.mark.parametrize("frame", FRAMES)
def test_levels_come_from_any_frame(frame: Any) -> None:
    """Level columns give the tree; a repeated code is one code and a row may end early."""
    rows = {"one": ["A", "A", "B", "C"], "two": ["A1", "A2", "B", None], "more": [1, 2, 3, 4]}
    tree = Hierarchy.from_levels(frame(rows), columns=["one", "two"])
    assert tree.codes == ("Total", "A", "A1", "A2", "B", "C")


def test_levels_use_all_columns_by_default() -> None:
    """Without a choice every column is a level, the first one the coarsest."""
    tree = Hierarchy.from_levels({"one": ["A", "A"], "two": [1, 2]}, total="T")
    assert tree.codes == ("T", "A", "1", "2")


@pytest.mark.parametrize(
    ("build", "message", "codes"),
    [
        (lambda: Hierarchy.flat(["a", "b", "a"]), "more than once", ("a",)),
        (lambda: Hierarchy.flat(["a", None]), "missing", ()),
        (lambda: Hierarchy.flat(["a", float("nan")]), "missing", ()),
        (lambda: Hierarchy.flat(["a", pd.NA]), "missing", ()),
        (lambda: Hierarchy.flat(["a", ""]), "missing", ()),
        (lambda: Hierarchy.flat(["a", 1.5]), "cannot be a code", ("1.5",)),
        (lambda: Hierarchy.flat(["a", True]), "cannot be a code", ("True",)),
        (lambda: Hierarchy.flat("abc"), "give a list", ()),
        (lambda: Hierarchy.from_nested({"A": ["x"], "B": ["x"]}), "more than once", ("x",)),
        (lambda: Hierarchy.from_nested({"A": "x"}), "give a mapping", ("A",)),
        (lambda: Hierarchy.from_parents({"a": "T", "b": "U"}), "without a parent", ("T", "U")),
        (lambda: Hierarchy.from_parents({"a": "T", "T": None, "b": "U"}), "not in the", ("b",)),
        (lambda: Hierarchy.from_parents({"a": "b", "b": "c", "c": "a"}), "below thems", ...),
        (lambda: Hierarchy.from_parents({"x": "T", "a": "b", "b": "a"}), "below thems", ("a", "b")),
        (lambda: Hierarchy.from_parents({"x": "T", "a": "a"}), "below thems", ("a",)),
        (
            lambda: Hierarchy.from_parents({"child": ["a", "a"], "parent": ["T", "U"]}),
            "more than once",
            ("a",),
        ),
        (lambda: Hierarchy.from_parents({}), "no codes", ()),
        (lambda: Hierarchy.from_parents(3), "not a data frame", ()),
        (lambda: Hierarchy.from_parents(pd.DataFrame({"child": []})), "no column parent", ()),
        (lambda: Hierarchy.from_prefixes(["01", "021"], (2, 3, 4, 3)), "increase", ()),
        (lambda: Hierarchy.from_prefixes(["01", "0"], (2, 3)), "lengths", ("0",)),
        (lambda: Hierarchy.from_prefixes(["01", "011", "021"], (2, 3)), "no parent", ("021",)),
        (lambda: Hierarchy.from_prefixes(["011"], (2, 3), total="01"), "the total", ("01",)),
        (lambda: Hierarchy.from_levels({"a": ["A", "B"], "b": ["x", "x"]}), "twice", ("x",)),
        (lambda: Hierarchy.from_levels({"a": ["A", None], "b": ["x", "y"]}), "no parent", ("y",)),
        (lambda: Hierarchy(("T", "a", "b"), (-1, 0, -1)), "without a parent", ("T", "b")),
        (lambda: Hierarchy(("T", "a", "b", "c"), (-1, 0, 0, 1)), "pre-order", ("c",)),
        (lambda: Hierarchy(("T", "a"), (-1,)), "each code needs one", ()),
        (lambda: Hierarchy.flat(["a"]).index("b"), "no code b", ("b",)),
    ],
)
def test_what_is_no_tree_is_refused(build: Callable[[], object], message: str, codes: Any) -> None:
    """Several roots, cycles, duplicates, orphans and missing codes are named."""
    with pytest.raises(HierarchyError, match=message) as caught:
        build()
    if codes is not ...:
        assert caught.value.codes == codes


@st.composite
def parent_lists(draw: st.DrawFn) -> dict[str, str]:
    """A random tree as child -> parent, in random order."""
    size = draw(st.integers(1, 12))
    pairs = [(f"c{k}", f"c{draw(st.integers(0, k - 1))}") for k in range(1, size + 1)]
    return dict(draw(st.permutations(pairs)))


@given(parent_lists())
def test_any_tree_is_kept(parents: dict[str, str]) -> None:
    """Every code keeps its parent, and everything below a code directly follows it."""
    tree = Hierarchy.from_parents(parents)
    assert {code: tree.parent_of(code) for code in tree if code != "c0"} == parents
    for position, code in enumerate(tree):
        below = [p for p, other in enumerate(tree) if code in tree.ancestors(other)]
        assert below == list(range(position + 1, position + 1 + len(below)))
        assert tree.level[position] == len(tree.ancestors(code))


@given(parent_lists())
def test_levels_undo_paths(parents: dict[str, str]) -> None:
    """Writing every leaf with all codes above it in level columns gives the same tree back."""
    tree = Hierarchy.from_parents(parents)
    paths = [[leaf, *tree.ancestors(leaf)][::-1][1:] for leaf in tree.leaves]
    columns = {
        str(level): [path[level] if level < len(path) else None for path in paths]
        for level in range(tree.depth)
    }
    assert Hierarchy.from_levels(columns, total="c0") == tree


def test_hrc_files(tmp_path: Path) -> None:
    """A .hrc file gives the tree of its marks, with another mark and total where they are named."""
    path = tmp_path / "tree.hrc"
    path.write_text("A\n@A1\n@@A11\n@A2\nB\n")
    nested = {"A": {"A1": ["A11"], "A2": None}, "B": None}
    assert Hierarchy.from_hrc(path) == Hierarchy.from_nested(nested)
    path.write_text("A\r\n  . A1\r\n")
    found = Hierarchy.from_hrc(str(path), indent=".", total="EU")
    assert found == Hierarchy.from_nested({"A": ["A1"]}, total="EU")


@pytest.mark.parametrize(
    ("content", "indent", "message"),
    [
        ("A\n@@A1\n", "@", r"tree\.hrc:2: code A1 is more than one level below"),
        ("A\nTotal\n", "@", r"tree\.hrc:2: code Total is listed more than once"),
        ("A\n  A1\n", "  ", "the mark before codes cannot be blank"),
    ],
)
def test_hrc_files_that_are_wrong(tmp_path: Path, content: str, indent: str, message: str) -> None:
    """What is wrong in a .hrc file is named with its line."""
    path = tmp_path / "tree.hrc"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        Hierarchy.from_hrc(path, indent)
