"""Tables of any number of dimensions, flat or hierarchical."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TypedDict, Unpack

import numpy as np

from tacit.errors import InputError
from tacit.generators.contributions import Contributions, draw_finest_cells, streams
from tacit.generators.hierarchies import numbered_codes
from tacit.generators.sensitivity import Cells, SensitiveRule, Sensitivity
from tacit.generators.weights_and_bounds import UPPER_FACTOR, Weights, with_sensitive_cells
from tacit.hierarchy import Hierarchy
from tacit.problem import Booleans
from tacit.table import Table


class TableChoices(TypedDict, total=False):
    """What can be chosen for every generated table; see `generate_table`."""

    sensitivity: Sensitivity
    contributions: Contributions
    weight: Weights
    upper_factor: float


def generate_2d(
    rows: int | Hierarchy = 20,
    columns: int | Hierarchy = 20,
    seed: int = 1,
    **choices: Unpack[TableChoices],
) -> Table:
    """A table with the dimensions `row` and `column`.

    Args:
        rows: A hierarchy, or the number of codes below the total of a flat one.
        columns: The same for the columns.
        seed: The same seed gives the same table.
        **choices: As in `generate_table`.

    >>> generate_2d(4, 5)
    Table(row x column, 30 cells, ... sensitive)
    """
    return generate_table({"row": rows, "column": columns}, seed, **choices)


def generate_3d(
    rows: int | Hierarchy = 10,
    columns: int | Hierarchy = 10,
    layers: int | Hierarchy = 10,
    seed: int = 1,
    **choices: Unpack[TableChoices],
) -> Table:
    """A table with the dimensions `row`, `column` and `layer`.

    Args:
        rows: A hierarchy, or the number of codes below the total of a flat one.
        columns: The same for the columns.
        layers: The same for the layers.
        seed: The same seed gives the same table.
        **choices: As in `generate_table`.
    """
    return generate_table({"row": rows, "column": columns, "layer": layers}, seed, **choices)


def generate_table(
    dimensions: Mapping[str, int | Hierarchy],
    seed: int = 1,
    *,
    sensitivity: Sensitivity | None = None,
    contributions: Contributions | None = None,
    weight: Weights = "value",
    upper_factor: float = UPPER_FACTOR,
) -> Table:
    """A table with any number of dimensions, with counts and the two largest contributions.

    Every combination of codes is a cell. Contributors differ from cell to cell, so the largest
    contributions to a total are the largest of its parts. A safe suppression of the table
    always exists: all cells that are not empty.

    Args:
        dimensions: For each dimension a hierarchy, or the number of codes below the total of
            a flat one. `random_hierarchy` makes hierarchies.
        seed: The same seed gives the same table. Values do not depend on `sensitivity`.
        sensitivity: `SensitiveShare` (of the finest cells) or `SensitiveRule` (for all cells);
            by default the p% rule with p = 15.
        contributions: How cells are filled; by default one finest cell in ten is empty.
        weight: The cell value (1 for an empty cell), or 1 for all.
        upper_factor: The attacker knows that cells are not negative and that none exceeds
            this many times the grand total; more where the largest upper level asks for it.

    >>> from tacit.generators import random_hierarchy
    >>> industry = random_hierarchy(12, depth=2)
    >>> generate_table({"industry": industry, "region": 4, "size": 3})
    Table(industry x region x size, 320 cells, ... sensitive)
    """
    hierarchies = {name: _hierarchy(name, given) for name, given in dimensions.items()}
    for_values, for_sensitive = streams(seed, 2)
    shape = [len(hierarchy.leaves) for hierarchy in hierarchies.values()]
    finest = draw_finest_cells(shape, contributions or Contributions(empty=0.1), for_values)
    table = Table.from_cube(finest.value, hierarchies, counts=finest.count, top=finest.top)
    marked = (sensitivity or SensitiveRule()).mark(_cells(table), for_sensitive)
    return with_sensitive_cells(table, marked, weight, upper_factor)


def _hierarchy(name: str, given: int | Hierarchy) -> Hierarchy:
    if isinstance(given, Hierarchy):
        return given
    if given < 1:
        raise InputError(f"dimension {name} needs at least one code below its total")
    return Hierarchy.flat(numbered_codes(given, name[:1]))


def _cells(table: Table) -> Cells:
    is_finest: Booleans = reduce(
        np.logical_and.outer, [hierarchy.is_leaf for hierarchy in table.dimensions.values()]
    )
    assert table.count is not None
    assert table.top is not None
    return Cells(table.value, table.count, table.top, is_finest.ravel())
