"""The summary of deviations by level."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import examples
from tacit.errors import InputError
from tacit.methods.adjust.run import adjust
from tacit.methods.perturbation import perturbation
from tacit.outcome import Values

EXAMPLE = examples.get("003-figure-16")
ADJUSTED = EXAMPLE.published["adjusted, upper sense"]


def test_every_level_of_every_dimension() -> None:
    """Cells, changes, means and largest shares are those of a loop over the cells."""
    table = EXAMPLE.table
    assert table is not None
    solution = adjust(table.problem()).solution
    assert isinstance(solution, Values)
    moved = np.abs(solution.value - table.value)
    found = perturbation(table, solution)
    assert len(found) == 4
    for change in found:
        hierarchy = table.dimensions[change.dimension]
        codes = table.codes(change.dimension).tolist()
        level = [hierarchy.level[hierarchy.index(code)] for code in codes]
        here = [cell for cell, each in enumerate(level) if each == change.level]
        assert change.cells == len(here)
        assert change.changed == sum(moved[i] > 0 for i in here)
        assert change.mean_absolute == pytest.approx(sum(moved[i] for i in here) / len(here))
        assert change.max_relative == pytest.approx(max(moved[i] / table.value[i] for i in here))


def test_problems_are_summed_up_by_their_relations() -> None:
    """Without dimensions, levels are the steps from the finest cells to the total."""
    found = perturbation(EXAMPLE.problem, ADJUSTED)  # type: ignore[arg-type]
    assert [change.cells for change in found] == [9, 6, 1]
    assert [change.changed for change in found] == [4, 0, 0]


def test_values_of_another_table_are_refused() -> None:
    """A value for every cell is needed."""
    with pytest.raises(InputError, match="16 cells"):
        perturbation(EXAMPLE.problem, [1.0, 2.0])
