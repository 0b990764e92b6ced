"""Equal cells merged for methods that publish a value of every cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tacit.attack.knowledge import Attacker
from tacit.problem import Booleans, Problem
from tacit.reductions.equal_cells import EqualCells


def merged_where_equal(
    problem: Problem, *, attackers: Sequence[Attacker] = (), apart: Booleans | None = None
) -> EqualCells:
    """Merge cells that a relation makes equal, and whose values are so to the last digit.

    Where a table misses its relations by a tolerance, cells that should be equal are not, and a
    value far enough from one of them may be too near to another: they stay cells of their own.
    The first sensitive one of several equal cells speaks for them in messages.

    Args:
        problem: The table.
        attackers: Who attacks, see `EqualCells.of`.
        apart: Further cells that stay cells of their own.
    """
    alone = np.zeros(problem.cell_count, bool) if apart is None else apart.copy()
    while True:
        found = EqualCells.of(problem, attackers=attackers, apart=alone)
        if found.is_identity:
            return found
        differs = found.smallest(problem.value) != found.largest(problem.value)
        if not differs.any():
            break
        alone |= differs[found.group]
    labels = list(found.problem.labels or ())
    for cell in problem.sensitive[::-1].tolist():
        labels[found.group[cell]] = problem.name_cell(cell).removeprefix("cell ")
    return replace(found, problem=found.problem.replace(labels=labels))
