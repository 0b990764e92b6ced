"""What suppressing a generated cell costs, and what the attacker knows about it beforehand."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from tacit.errors import InputError
from tacit.generators.sensitivity import Marked
from tacit.problem import Floats
from tacit.table import CellStatus, Table

Weights: TypeAlias = Literal["value", "unit"]

UPPER_FACTOR = 2.0
"""By default the attacker knows that no cell exceeds this many times the grand total."""


def weights(value: Floats, kind: Weights) -> Floats:
    """The weight of each cell: its value (1 where that is zero), or 1 for all."""
    if kind == "value":
        return np.where(value == 0, 1.0, value)
    if kind == "unit":
        return np.ones(len(value))
    raise InputError(f"weights must be 'value' or 'unit'; they are {kind!r}")


def upper_bounds(value: Floats, upper_level: Floats, factor: float) -> Floats:
    """The upper bound that the attacker knows for each cell: a multiple of the grand total.

    Zero for a cell of value zero, which stands for an empty one. Every other cell may grow
    together with all totals above it by the largest upper level, and may shrink together with
    them to zero. So each sensitive cell is protected when all cells that are not empty are
    suppressed: a generated table always has a safe suppression.

    Args:
        value: The cell values; none is negative, so the grand total is the largest.
        upper_level: The upper protection levels of the sensitive cells.
        factor: How many times the grand total; more where the largest level asks for it.
    """
    if not 1 <= factor < np.inf:
        raise InputError("upper_factor must be at least 1: no bound lies below the grand total")
    grand_total = float(value.max(initial=0.0))
    bound = max(factor * grand_total, grand_total + float(upper_level.max(initial=0.0)))
    return np.where(value == 0, 0.0, bound)


def with_sensitive_cells(
    table: Table, marked: Marked, weight: Weights, upper_factor: float
) -> Table:
    """The table with its sensitive cells, their protection levels, and weights and bounds."""
    status = table.status.copy()
    status[marked.sensitive] = CellStatus.SENSITIVE.value
    lower_level, upper_level = np.full((2, table.cell_count), np.nan)
    lower_level[marked.sensitive] = marked.lower_level
    upper_level[marked.sensitive] = marked.upper_level
    return table.replace(
        status=status,
        weight=weights(table.value, weight),
        lower=np.zeros(table.cell_count),
        upper=upper_bounds(table.value, marked.upper_level, upper_factor),
        lower_level=lower_level,
        upper_level=upper_level,
    )
