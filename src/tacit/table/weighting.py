"""`Weighting`: how much information is lost when a cell is suppressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import InputError, TableError, nearest
from tacit.problem import Floats

if TYPE_CHECKING:
    from tacit.table.table import Table

UNIT = "unit"
COLUMNS = ("value", "count", "weighted_count", "holding_count", "shadow", "weight")
"""The columns of a table that weights can be taken from."""


@dataclass(frozen=True, eq=False)
class Weighting:
    """The weight of each cell: a column of the table, or a power of it.

    Magnitudes count: a cell of -10 weighs as much as one of 10. What is zero weighs as much as
    a one, so that nothing is suppressed for free. Where the column is not given, the weight is
    not given either.

    Attributes:
        by: `unit` (all alike), `value`, `count` (contributors), `weighted_count`,
            `holding_count`, `shadow`, `weight` (as the table has them), or a number for each
            cell.
        power: The exponent, between 0 and 1 to even out. 0 stands for log(1 + x).

    >>> from tacit.table import Table
    >>> table = Table.from_frame({"sex": ["f", "m"], "value": [16, 9]}, {"sex": None})
    >>> Weighting("value", power=0.5).weights(table).tolist()
    [5.0, 4.0, 3.0]
    """

    by: str | Sequence[float] | Floats = "value"
    power: float = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.by, str) and self.by not in (UNIT, *COLUMNS):
            hint = nearest(self.by, (UNIT, *COLUMNS))
            raise InputError(f"there are no weights {self.by!r}; {hint}", key=("by",))
        if not (isinstance(self.power, int | float) and 0 <= self.power < np.inf):
            raise InputError("power must be a number and not negative", key=("power",))

    def weights(self, table: Table) -> Floats:
        """The weights of all cells of a table, NaN where they are not given."""
        size = np.abs(self._column(table))
        size = np.where(size == 0, 1.0, size)
        with np.errstate(over="ignore"):
            weights = np.log1p(size) if self.power == 0 else size**self.power
        if np.isinf(weights).any():
            raise TableError("a weight is infinite; use a smaller power, or correct the column")
        return weights

    def _column(self, table: Table) -> Floats:
        if not isinstance(self.by, str):
            try:
                given = np.array(self.by, np.float64)
            except (TypeError, ValueError):
                raise TableError("the weights contain something that is not a number") from None
            if given.shape != (table.cell_count,):
                raise TableError(
                    f"the weights have shape {given.shape}; give one number for each of "
                    f"{table.cell_count} cells"
                )
            if (given < 0).any():
                raise TableError("a weight is negative; give numbers of zero or more")
            return given
        if self.by == UNIT:
            return np.ones(table.cell_count)
        column: Floats | None = getattr(table, self.by)
        if column is None:
            there = [name for name in COLUMNS if getattr(table, name) is not None]
            raise TableError(
                f"the table has no {self.by} to take weights from; it has {', '.join(there)}"
            )
        return column


def default_weights(table: Table) -> Floats:
    """What a cell costs where nobody says: its value, or 1 where values are counts.

    >>> from tacit.table import Table
    >>> frame = {"sex": ["f", "m"], "value": [16, 0], "count": [3, 1]}
    >>> default_weights(Table.from_frame(frame, {"sex": None})).tolist()
    [16.0, 16.0, 1.0]
    """
    if len(table.variables) > 1:
        weights = np.ones(table.cell_count)
        for number, variable in enumerate(table.variables):
            weights[table.variable == number] = default_weights(table.of_variable(variable))
        return weights
    return Weighting(UNIT if table.has_counts else "value").weights(table)
