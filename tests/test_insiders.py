"""Insiders over the cells of a problem, and over those of a smaller one."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.errors import ProblemError
from tacit.insiders import Insiders, LevelsAgainst
from tacit.problem import Problem
from tacit.reductions.equal_cells import EqualCells


def _insiders(*, outside: int = 2) -> Insiders:
    """The first is alone in cell 0 and its total 3, the second contributes to cells 1 and 2."""
    own = LevelsAgainst(np.zeros(4), np.array([0.0, 0.0, 2.0, 5.0]), np.zeros(4))
    return Insiders(
        start=np.array([0, 2, 4]),
        cells=np.array([0, 3, 1, 2]),
        amount=np.array([7.0, 7.0, 4.0, 1.0]),
        alone=np.array([True, True, False, False]),
        own=own,
        outside=LevelsAgainst(np.zeros(outside), np.arange(1.0, outside + 1), np.zeros(outside)),
    )


def _problem() -> Problem:
    """Cell 3 is the total of cell 0 alone, cell 4 that of 1, 2 and 3."""
    return Problem(
        value=[7, 9, 6, 7, 22],
        relations=[[1, 0, 0, -1, 0], [0, 1, 1, 1, -1]],
        sensitive=[0, 2],
        upper_level=[3, 4],
        insiders=_insiders(),
    )


def test_equal_cells_are_one_thing_known() -> None:
    """A total and its only child, both from one firm, become one entry of that firm."""
    merged = EqualCells.of(_problem()).problem.insiders
    assert merged is not None
    assert merged.cells[merged.entries(0)].tolist() == [0]
    assert merged.alone[merged.entries(0)].tolist() == [True]
    assert merged.cells[merged.entries(1)].tolist() == [1, 2]
    assert merged.own.upper[merged.entries(1)].tolist() == [2, 5]


def test_subproblems_keep_what_is_known_of_their_cells() -> None:
    """Entries of other cells go, numbers of insiders stay, levels follow the sensitive cells."""
    part = _problem().subproblem([1, 2, 4]).insiders
    assert part is not None
    assert part.start.tolist() == [0, 0, 2]
    assert part.cells.tolist() == [0, 1]
    assert part.outside.upper.tolist() == [2]


def test_other_sensitive_cells_have_no_insiders() -> None:
    """Levels against insiders belong to the sensitive cells they were computed for."""
    assert _problem().replace(sensitive=[1]).insiders is None


def test_insiders_of_another_table_are_refused() -> None:
    """Cells that do not exist, and levels for another number of sensitive cells."""
    with pytest.raises(ProblemError, match="0 to 2"):
        Problem(value=[1, 2, 3], sensitive=[0, 1], insiders=_insiders())
    with pytest.raises(ProblemError, match="3 sensitive cells; there are 2"):
        _problem().replace(insiders=_insiders(outside=3))


def test_cells_of_which_a_contributor_knows_different_things_stay_apart() -> None:
    """A table may say that a firm is alone in a part, but not in the total that equals it."""
    insiders = replace(_insiders(), alone=np.array([True, False, False, False]))
    reduction = EqualCells.of(_problem().replace(insiders=insiders))
    assert reduction.is_identity
