"""1H2D tables: one hierarchical dimension crossed with one flat one."""

from __future__ import annotations

from typing import TypedDict, Unpack

import numpy as np

from tacit.generators.contributions import Contributions, draw_finest_cells, streams
from tacit.generators.hierarchies import numbered_codes
from tacit.generators.sensitivity import SensitiveShare
from tacit.generators.structure import Structure1H2D
from tacit.generators.weights_and_bounds import UPPER_FACTOR, Weights, with_sensitive_cells
from tacit.hierarchy import DEFAULT_TOTAL, Hierarchy
from tacit.problem import Problem
from tacit.table import Table


class Choices1H2D(TypedDict, total=False):
    """What `generate_1h2d` leaves to choose besides the structure; see `generate_1h2d_table`."""

    contributions: Contributions
    lower_percent: float
    asymmetry: float
    weight: Weights
    upper_factor: float


def generate_1h2d(
    structure: str | Structure1H2D = "40-50-10", seed: int = 1, **choices: Unpack[Choices1H2D]
) -> Problem:
    """A 1H2D table with the size of a published instance, as algorithms see it.

    This is the problem of `generate_1h2d_table`, without its singletons: the published
    instances know nothing about contributors. Cell i * (c + 1) + j belongs to row i and
    column j. Row 0 is the grand total, each row comes before the rows that it is split into,
    and column 0 is the total. There is a relation for each column of each subtable, the total
    column included, and one for each row.

    Args:
        structure: The name of a published instance, a name of the same form, or the sizes.
        seed: The same seed gives the same table.
        **choices: As in `generate_1h2d_table`.

    Raises:
        InputError: The structure is not one.

    >>> generate_1h2d("40-50-10", seed=1)
    Problem(7242 cells, 346 relations, 705 sensitive)
    """
    return generate_1h2d_table(structure, seed, **choices).problem().replace(singleton=None)


def generate_1h2d_table(
    structure: str | Structure1H2D = "40-50-10",
    seed: int = 1,
    *,
    contributions: Contributions | None = None,
    lower_percent: float = 3.0,
    asymmetry: float = 5.0,
    weight: Weights = "value",
    upper_factor: float = UPPER_FACTOR,
) -> Table:
    """A 1H2D table with the size of a published instance; its dimensions are row and column.

    The numbers of cells, sensitive cells, relations and coefficients are those of the
    published instance. The publications say no more, so the rest is chosen here: how rows are
    shared out to subtables and which rows are split (`Structure1H2D.draw_rows`), the values
    (`Contributions`), the levels (upper ones of 15 % of the value, as a p% rule with p = 15
    asks for at most, and lower ones of a fifth of that), the weights and the attacker's
    bounds. Sensitive cells are drawn among the cells outside the row of the grand total and
    the total column, without regard to counts. With the same seed, names that differ only in
    the percentage give the same table with more or fewer sensitive cells.

    Args:
        structure: The name of a published instance, a name of the same form, or the sizes.
        seed: The same seed gives the same table.
        contributions: How cells are filled; by default none is empty.
        lower_percent: The lower protection level, as a percentage of the value; rounded up.
        asymmetry: The upper protection level divided by the lower one.
        weight: The cell value, or 1 for all.
        upper_factor: The attacker knows that cells are not negative and that none exceeds
            this many times the grand total; more where the largest upper level asks for it.

    Raises:
        InputError: The structure is not one.

    >>> generate_1h2d_table("table5").dimensions["column"]
    Hierarchy('Total', 12 codes, 2 levels)
    """
    if isinstance(structure, str):
        structure = Structure1H2D.from_name(structure)
    for_rows, for_values, for_sensitive = streams(seed, 3)
    parents = structure.draw_rows(for_rows)
    rows = Hierarchy(
        (DEFAULT_TOTAL, *numbered_codes(structure.rows - 1, "r")), tuple(parents.tolist())
    )
    columns = Hierarchy.flat(numbered_codes(structure.columns, "c"))
    shape = (len(rows.leaves), structure.columns)
    finest = draw_finest_cells(shape, contributions or Contributions(), for_values)
    table = Table.from_cube(
        finest.value, {"row": rows, "column": columns}, counts=finest.count, top=finest.top
    )
    share = SensitiveShare(
        percent=structure.percent, lower_percent=lower_percent, asymmetry=asymmetry
    )
    candidate = np.ones((structure.rows, structure.columns + 1), bool)
    candidate[0, :] = candidate[:, 0] = False
    marked = share.draw(table.value, candidate.ravel(), for_sensitive)
    return with_sensitive_cells(table, marked, weight, upper_factor)
