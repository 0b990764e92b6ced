"""Which cell is meant, and what cells and relations are called."""

from __future__ import annotations

import pytest

import tacit
from tacit.explanation import find_cell
from tacit.explanation.words import Names


def _table() -> tacit.Table:
    codes = ["a,b", "c=d", "e"]
    cells = {
        "kind": [code for code in codes for _ in range(2)],
        "sub kind": ["x", "y"] * 3,
        "value": [1, 2, 3, 4, 5, 6],
    }
    return tacit.Table.from_frame(cells, {"kind": None, "sub kind": None})


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("kind=a,b,sub kind=x", "kind=a,b, sub kind=x"),
        ("kind=c=d, sub kind = y", "kind=c=d, sub kind=y"),
        ("sub kind=y,kind=e", "kind=e, sub kind=y"),
        ("kind=e", "kind=e, sub kind=Total"),
    ],
)
def test_codes_may_hold_commas_and_equals_signs(text: str, label: str) -> None:
    """Names of dimensions tell where the next code begins."""
    table = _table()
    assert table.labels[find_cell(table, text)] == label


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (True, "a cell is a number, or codes"),
        (2.5, "a cell is a number, or codes"),
        (12, "there is no cell 12; cells are numbered 0 to 11"),
        ({"kinds": "e"}, "there is no dimension 'kinds'; did you mean 'kind'?"),
        ({"kind": 1.5}, "dimension kind: 1.5 cannot be a code"),
        ({"kind": "f"}, "dimension kind has no code 'f'; known are Total, a,b, c=d, e"),
    ],
)
def test_other_cells_are_refused(cell: object, message: str) -> None:
    """The message says what is wrong and what there is."""
    with pytest.raises(tacit.InputError, match=message):
        find_cell(_table(), cell)  # type: ignore[arg-type]


def test_codes_that_do_not_occur_together() -> None:
    """A combination that nobody contributes to is no cell of a sparse table."""
    cells = {"row": ["a", "b"], "column": ["x", "y"], "value": [1, 2]}
    table = tacit.Table.from_frame(cells, {"row": None, "column": None})
    with pytest.raises(tacit.InputError, match="each of the codes occurs, but not together"):
        find_cell(table, "row=a,column=y")


def test_linked_tables_have_the_cells_of_all() -> None:
    """A cell of the second table is found by its own dimensions, the others at their totals."""
    first = tacit.Table.from_frame({"row": ["a", "b"], "value": [1, 2]}, {"row": None})
    second = tacit.Table.from_frame({"column": ["x", "y"], "value": [1, 2]}, {"column": None})
    linked = first.link(second)
    assert linked.labels[find_cell(linked, "column=y")] == "column=y"
    assert linked.labels[find_cell(linked, {"row": "b"})] == "row=b"


def test_cells_of_a_problem_have_labels_or_numbers() -> None:
    """A label names a cell where there are labels; otherwise only numbers do."""
    problem = tacit.Problem(value=[1, 2], labels=["north", "south"])
    assert find_cell(problem, "south") == 1
    with pytest.raises(tacit.InputError, match="did you mean 'south'"):
        find_cell(problem, "sout")
    with pytest.raises(tacit.InputError, match="this input has none"):
        find_cell(problem, {"region": "south"})


@pytest.mark.parametrize(
    ("relation", "rhs", "text"),
    [
        ([1, 1, -1], 0, "cell 2 = cell 0 + cell 1"),
        ([1, -2, 0], 0, "2 cell 1 = cell 0"),
        ([1, 1, 1], 6, "cell 0 + cell 1 + cell 2 = a known number"),
    ],
)
def test_relations_without_labels(relation: list[float], rhs: float, text: str) -> None:
    """They are written out with the numbers of their cells."""
    problem = tacit.Problem(value=[1, 2, 3], relations=[relation], rhs=[rhs])
    assert Names(problem).relation(0) == text
