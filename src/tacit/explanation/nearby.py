"""What has to do with some cells: the part of a table that is worth attacking for them.

Cells that can move fall into components that share no relation. What happens in one of them tells
nothing about the others, so that for the sake of some cells all others may be taken as published:
attacks find the same, and are many times as quick.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.attack.knowledge import Knowledge
from tacit.outcome import Intervals, Solution, Suppression, Values
from tacit.problem import Integers, Problem, component_labels


def components(problem: Problem, knowledge: Knowledge) -> Integers:
    """The component of each cell among those that can move; -1 for cells that cannot."""
    movable = np.flatnonzero((knowledge.up > 0) | (knowledge.down > 0))
    label = np.full(problem.cell_count, -1, np.int64)
    label[movable] = component_labels(sparse.csr_array(problem.relations[:, movable]))
    return label


def around(problem: Problem, solution: Solution, cells: Integers) -> Solution:
    """A publication in which everything is published that has nothing to do with some cells.

    Args:
        problem: The true table.
        solution: The publication; readers of values know how far the true ones may be.
        cells: The cells.
    """
    label = components(problem, Knowledge.of(problem, solution))
    away = ~np.isin(label, label[cells][label[cells] >= 0])
    if isinstance(solution, Suppression):
        return Suppression(solution.suppressed & ~away)
    if isinstance(solution, Values):
        assert solution.radius is not None
        low, high = solution.value - solution.radius, solution.value + solution.radius
    else:
        low, high = solution.lower, solution.upper
    value = problem.value
    return Intervals(np.where(away, value, low), np.where(away, value, high))


def restricted(problem: Problem, cells: Integers) -> Problem:
    """The same table with some of its sensitive cells; the others count as any cell."""
    chosen = np.isin(problem.sensitive, cells)
    insiders = problem.insiders
    if insiders is not None:
        place = np.where(chosen, np.cumsum(chosen) - 1, -1)
        everyone = np.arange(problem.cell_count)
        insiders = insiders.renumbered(everyone, place, int(chosen.sum()))
    return problem.replace(
        sensitive=problem.sensitive[chosen],
        lower_level=problem.lower_level[chosen],
        upper_level=problem.upper_level[chosen],
        sliding_level=problem.sliding_level[chosen],
        insiders=insiders,
    )
