"""What relations tell about the cells in them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tacit.problem import Problem, totals_of
from tacit.table import Table


def totals_in(rows: list[list[float]]) -> list[int]:
    """The totals of a few relations."""
    return [int(cell) for cell in totals_of(sparse.csr_array(np.array(rows)))]


def test_the_total_has_another_sign_than_its_parts() -> None:
    """Whichever sign that is, and whatever the coefficients are."""
    assert totals_in([[1, 1, -1, 0], [-1, 0, 1, -2], [0, 3, 2, -7]]) == [2, 2, 3]


@pytest.mark.parametrize(
    "row", [[1, 1, -1, -1], [1, 1, 1, 0], [-1, -1, 0, 0], [1, 0, 0, 0], [0, 0, -1, 0], [0, 0, 0, 0]]
)
def test_not_every_relation_has_a_total(row: list[float]) -> None:
    """Neither one with several cells on both sides, nor one with all of them on the same."""
    assert totals_in([row]) == [-1]


def test_a_total_with_one_part_is_told_by_the_others() -> None:
    """Of two equal cells the total is the one with the sign that totals have in this table."""
    assert totals_in([[1, -1, 0, 0]]) == [1]
    assert totals_in([[1, -1, 0, 0], [0, 1, -1, -1]]) == [0, 1]
    assert totals_in([[1, -1, 0, 0], [0, 1, -1, -1], [1, 1, 0, -1]]) == [1, 1, 3]


@given(st.lists(st.lists(st.sampled_from([-2, -1, 0, 1, 3]), min_size=4, max_size=4), max_size=6))
def test_against_counting_signs(rows: list[list[int]]) -> None:
    """The same by counting, relation by relation; multiplying all by -1 changes pairs only."""
    A = np.array(rows, float).reshape(len(rows), 4)
    found = totals_of(sparse.csr_array(A)).tolist()
    turned = totals_of(sparse.csr_array(-A)).tolist()
    for row, total, other in zip(rows, found, turned, strict=True):
        sides = [[c for c, x in enumerate(row) if x * sign > 0] for sign in (1, -1)]
        alone = [side[0] for side in sides if len(side) == 1]
        if not all(sides) or not alone:
            assert total == other == -1
        elif len(alone) == 1:
            assert total == other == alone[0]
        else:
            assert total in alone
            assert other in alone


def test_totals_of_a_table_are_its_totals() -> None:
    """Also of those with a single part: the code above it."""
    frame = {"region": ["N"], "sex": ["f"], "value": [4.0]}
    table = Table.from_frame(frame, {"region": None, "sex": None})
    total = totals_of(table.relations)
    assert sorted(np.unique(total).tolist()) == [0, 1, 2]


def test_relations_are_named_by_what_their_cells_have_in_common() -> None:
    """Codes tell what is added up where; five parts and the number of others are enough."""
    codes = [str(number) for number in range(1, 9)]
    frame = {"size": ["4"] * 8, "region": codes, "value": range(1, 9)}
    problem = Table.from_frame(frame, {"size": None, "region": None}).problem()
    names = {problem.name_relation(row) for row in range(problem.relation_count)}
    assert "size=4: Total = 1 + 2 + 3 + 4 + 5 + 3 more" in names
    assert "region=3: Total = 4" in names
    listed = problem.name_relations(np.arange(problem.relation_count))
    assert listed.endswith(f"and {problem.relation_count - 5} more")


def test_relations_of_a_problem_are_named_by_labels_or_numbers() -> None:
    """Labels without codes stand as they are; without labels there is a number."""
    plain = Problem(value=[3, 1, 2], relations=[[-1, 1, 1]])
    assert plain.name_relation(0) == "relation 0"
    assert plain.replace(labels=["a", "b", "c"]).name_relation(0) == "(a) = (b) + (c)"
    turned = Problem(value=[3, 1, 2], relations=[[1, -1, -1]], labels=["a", "b", "c"])
    assert turned.name_relation(0) == "(a) = (b) + (c)"


def test_tables_that_do_not_add_up_are_told_worst_first() -> None:
    """With total, parts and the difference as a share of the total; no value is told."""
    frame = {"region": ["Total", "N", "S"], "value": [2000, 1100, 1000]}
    (found,) = Table.from_frame(frame, {"region": None}).problem().violations()
    assert "region: Total = N + S (differs by 5%)" in found.message
    assert not any(number in found.message for number in ("2000", "1100", "1000"))
