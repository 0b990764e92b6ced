"""Pairs of slices: what they show of a cube."""

from __future__ import annotations

import numpy as np
from studies.slice_pairs import Slices

from tacit.generators import generate_3d


def test_a_cube_of_eight_cells_moves_in_two_slices() -> None:
    """Eight inner cells move against each other by the least of them; one fewer, and none moves."""
    problem = generate_3d(3, 3, 3, seed=1).problem()
    number = np.arange(problem.cell_count).reshape(4, 4, 4)
    cube = number[1:3, 1:3, 1:3].ravel()
    problem = problem.replace(lower=problem.value - 10, upper=problem.value + 10)
    hidden = np.isin(np.arange(problem.cell_count), cube)
    cell = int(cube[0])
    slices = Slices(problem, hidden, 3)
    assert slices.meet(cell, 1, 10.0)
    assert slices.meet(cell, -1, 10.0)
    assert not slices.meet(cell, 1, 10.5)
    hidden[cube[-1]] = False
    assert not Slices(problem, hidden, 3).meet(cell, 1, 0.5)


def test_a_total_moves_with_its_slice() -> None:
    """Without a second inner slice the totals above take part, in the same direction."""
    problem = generate_3d(3, 3, 3, seed=1).problem()
    number = np.arange(problem.cell_count).reshape(4, 4, 4)
    cells = number[np.ix_([0, 1], [1, 2], [1, 2])].ravel()
    problem = problem.replace(lower=problem.value - 10, upper=problem.value + 10)
    hidden = np.isin(np.arange(problem.cell_count), cells)
    assert Slices(problem, hidden, 3).meet(int(number[1, 1, 1]), 1, 10.0)
