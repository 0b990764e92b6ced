"""`Bounds`: what attackers know of cells before anything is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError, TableError
from tacit.problem import Floats

if TYPE_CHECKING:
    from tacit.table.table import Table


@dataclass(frozen=True, eq=False, kw_only=True)
class Bounds:
    """Between which bounds attackers know every cell to lie.

    Whatever is said counts: a cell has the tightest of its bounds, those that the table has
    already included. Nothing said on one side leaves that side as it is.

    Attributes:
        lower_factor: No cell lies below this many times its value, 0 to 1.
        upper_factor: No cell lies above this many times its value, at least 1. Below zero it is
            the other way round: a cell of -10 with factors 0 and 11 lies between -110 and 0. A
            cell of value zero is known exactly once both factors are given.
        total_factor: No cell is larger than this many times the largest one.
        lower: A lower bound for all cells, or one for each.
        upper: An upper bound for all cells, or one for each.

    >>> from tacit.table import Table
    >>> table = Table.from_frame({"sex": ["f", "m"], "value": [4, 6]}, {"sex": None})
    >>> bounded = table.apply(bounds=Bounds(lower_factor=0, upper_factor=11))
    >>> bounded.upper.tolist()
    [110.0, 44.0, 66.0]
    """

    lower_factor: float | None = None
    upper_factor: float | None = None
    total_factor: float | None = None
    lower: float | Sequence[float] | Floats | None = None
    upper: float | Sequence[float] | Floats | None = None

    def __post_init__(self) -> None:
        near, far, total = self.lower_factor, self.upper_factor, self.total_factor
        if near is not None and not (_is_number(near) and 0 <= near <= 1):
            raise InputError("lower_factor must be a number between 0 and 1", key=("lower_factor",))
        if far is not None and not (_is_number(far) and 1 <= far < np.inf):
            raise InputError("upper_factor must be a number not below 1", key=("upper_factor",))
        if total is not None and not (_is_number(total) and 1 <= total < np.inf):
            raise InputError("total_factor must be a number not below 1", key=("total_factor",))

    def columns(self, table: Table) -> tuple[Floats, Floats]:
        """Lower and upper bounds of all cells of a table, NaN where nothing is given."""
        value = table.value
        nothing = np.full(table.cell_count, np.nan)
        lower = nothing if table.lower is None else table.lower
        upper = nothing if table.upper is None else table.upper
        if self.lower_factor is not None:
            near = self.lower_factor * value
            lower = np.where(value >= 0, np.fmax(lower, near), lower)
            upper = np.where(value < 0, np.fmin(upper, near), upper)
        if self.upper_factor is not None:
            far = self.upper_factor * value
            lower = np.where(value < 0, np.fmax(lower, far), lower)
            upper = np.where(value >= 0, np.fmin(upper, far), upper)
        if self.total_factor is not None:
            largest = self.total_factor * float(np.abs(value).max(initial=0.0))
            upper = np.fmin(upper, largest)
            if (value < 0).any():
                lower = np.fmax(lower, -largest)
        if self.lower is not None:
            lower = np.fmax(lower, _column(self.lower, "lower", table.cell_count))
        if self.upper is not None:
            upper = np.fmin(upper, _column(self.upper, "upper", table.cell_count))
        return lower, upper


def _is_number(given: Any) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool)


def _column(given: Any, name: str, cell_count: int) -> Floats:
    try:
        column = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise TableError(f"{name} of the bounds contains something that is not a number") from None
    if column.shape not in ((), (cell_count,)):
        raise TableError(
            f"{name} of the bounds has shape {column.shape}; give one number, or one for each of "
            f"{cell_count} cells"
        )
    return np.broadcast_to(column, cell_count)
