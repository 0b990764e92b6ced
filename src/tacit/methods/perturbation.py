"""How much a published table differs from the true one, level by level.

For methods that publish changed values: adjustment and rounding. The summary is confidential:
it tells by how much values were changed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError
from tacit.methods.adjust.totals import heights
from tacit.outcome import Values
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.table import Table


@dataclass(frozen=True)
class LevelChange:
    """How the cells of one level of one hierarchy were changed.

    Attributes:
        dimension: The dimension; `steps up` where a problem has no dimensions.
        level: The level of its hierarchy, 0 for the total. Without dimensions, steps from the
            finest cells upwards, as far as relations tell.
        cells: Number of cells at this level.
        changed: How many of them were changed.
        mean_absolute: Mean of |deviation| over all cells of the level.
        mean_relative: Mean of |deviation| / |value| over cells that are not 0; nan without any.
        max_relative: The largest of these.
    """

    dimension: str
    level: int
    cells: int
    changed: int
    mean_absolute: float
    mean_relative: float
    max_relative: float


def perturbation(source: Table | Problem, values: Values | npt.ArrayLike) -> list[LevelChange]:
    """Summarise the deviations of a published table for each level of each hierarchy.

    Args:
        source: The true table, or the problem made from it.
        values: What is published.

    >>> from tacit import examples
    >>> example = examples.get("003-figure-16")
    >>> for change in perturbation(example.problem, example.published["adjusted, lower sense"]):
    ...     print(change.level, change.cells, change.changed, change.mean_absolute)
    0 9 4 2.2222222222222223
    1 6 0 0.0
    2 1 0 0.0
    """
    published = np.asarray(values.value if isinstance(values, Values) else values, float)
    if published.shape != source.value.shape:
        raise InputError(f"there are {len(source.value)} cells, but {published.size} values")
    if isinstance(source, Problem):
        level = heights(source.relations)
        return _by_level("steps up", level, source.value, published)
    found = []
    for dimension in source.dimensions:
        level = _levels(source, dimension)
        found += _by_level(dimension, level, source.value, published)
    return found


def _levels(table: Table, dimension: str) -> Integers:
    """The level of each cell's code; -1 for cells that have no such code."""
    hierarchy = table.dimensions[dimension]
    codes, inverse = np.unique(table.codes(dimension), return_inverse=True)
    known = [hierarchy.positions.get(code, -1) for code in codes.tolist()]
    level = np.array([-1 if at < 0 else hierarchy.level[at] for at in known], np.int64)
    return level[inverse]


def _by_level(
    dimension: str, level: Integers, value: Floats, published: Floats
) -> list[LevelChange]:
    size = np.abs(published - value)
    changes = []
    for each in np.unique(level[level >= 0]).tolist():
        here: Booleans = level == each
        nonzero = here & (value != 0)
        relative = size[nonzero] / np.abs(value[nonzero])
        changes.append(
            LevelChange(
                dimension,
                int(each),
                int(here.sum()),
                int((size[here] > 0).sum()),
                float(size[here].mean()),
                float(relative.mean()) if nonzero.any() else float("nan"),
                float(relative.max()) if nonzero.any() else float("nan"),
            )
        )
    return changes
