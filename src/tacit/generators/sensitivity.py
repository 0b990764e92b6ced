"""Which cells of a generated table are sensitive, and how much protection they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tacit.errors import InputError
from tacit.problem import Booleans, Floats, Integers


@dataclass(frozen=True, eq=False)
class Cells:
    """What decides whether a cell is sensitive; arrays with one entry for each cell.

    Attributes:
        value: The cell values.
        count: The number of contributors of each cell.
        top: The largest and the second largest contribution to each cell, in two columns.
        candidate: Cells among which sensitive ones may be drawn.
    """

    value: Floats
    count: Floats | Integers
    top: Floats
    candidate: Booleans


@dataclass(frozen=True, eq=False)
class Marked:
    """Sensitive cells with their protection levels.

    Attributes:
        sensitive: Numbers of the sensitive cells, increasing.
        lower_level: How far below its value each of them is to be protected.
        upper_level: The same above its value.
    """

    sensitive: Integers
    lower_level: Floats
    upper_level: Floats


class Sensitivity(Protocol):
    """A way to choose the sensitive cells of a generated table."""

    def mark(self, cells: Cells, random: np.random.Generator) -> Marked:
        """Choose the sensitive cells and their protection levels."""
        ...


@dataclass(frozen=True, kw_only=True)
class SensitiveShare:
    """A fixed share of the candidates is sensitive, drawn at random.

    The number of sensitive cells is `percent` of all candidates, rounded down; empty
    candidates count, but are never drawn. With the same seed a smaller share is a part of a
    larger one. The lower level is `lower_percent` of the value, rounded up to a whole number
    (but never above the value), the upper level `asymmetry` times the lower level.

    Attributes:
        percent: How many of the candidates are sensitive.
        lower_percent: The lower protection level, as a percentage of the value.
        asymmetry: The upper protection level divided by the lower one.
    """

    percent: float = 10.0
    lower_percent: float = 10.0
    asymmetry: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.percent <= 100:
            raise InputError("percent must lie between 0 and 100: the share of sensitive cells")
        if not 0 < self.lower_percent <= 100:
            raise InputError("lower_percent must lie above 0 and at most at 100")
        if not 0 <= self.asymmetry < np.inf:
            raise InputError("asymmetry must not be negative")

    def mark(self, cells: Cells, random: np.random.Generator) -> Marked:
        """Draw the sensitive cells among the candidates that are not empty."""
        return self.draw(cells.value, cells.candidate, random)

    def draw(self, value: Floats, candidate: Booleans, random: np.random.Generator) -> Marked:
        """The same from what this needs to know: values, and who may be drawn."""
        wanted = int(self.percent * np.count_nonzero(candidate) // 100)
        possible = np.flatnonzero(candidate & (value > 0))
        if wanted > len(possible):
            raise InputError(
                f"{wanted} cells are to be sensitive, but only {len(possible)} candidates are not "
                "empty; ask for fewer sensitive or fewer empty cells"
            )
        sensitive = np.sort(random.permutation(possible)[:wanted])
        chosen = value[sensitive]
        lower = np.minimum(np.ceil(self.lower_percent * chosen / 100), chosen)
        return Marked(sensitive, lower, self.asymmetry * lower)


@dataclass(frozen=True, kw_only=True)
class SensitiveRule:
    """Cells are sensitive by the p% rule, or because too few contribute to them.

    With contributions x1 >= x2 >= ... to a cell of value x, the second largest contributor
    can estimate x1 to within x - x1 - x2. The cell is sensitive if that is less than p% of
    x1, and both protection levels are what is missing. The rule is applied to all cells,
    totals included; empty cells are not sensitive.

    Attributes:
        p: The percentage of the p% rule; 0 switches the rule off.
        minimum_count: Cells with fewer contributors are sensitive; 0 switches this off.
        count_percent: The protection levels of a cell with too few contributors, as a
            percentage of its value, where the p% rule does not ask for more.
    """

    p: float = 15.0
    minimum_count: int = 0
    count_percent: float = 10.0

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 100:
            raise InputError("p must lie between 0 and 100: the percentage of the p% rule")
        if not self.minimum_count >= 0:
            raise InputError("minimum_count must not be negative")
        if not 0 < self.count_percent <= 100:
            raise InputError("count_percent must lie above 0 and at most at 100")

    def mark(self, cells: Cells, random: np.random.Generator) -> Marked:  # noqa: ARG002 Protocol
        """Apply the rule to every cell; nothing is drawn."""
        largest, second = cells.top[:, 0], cells.top[:, 1]
        # Sums of fractional contributions may leave less than nothing.
        remainder = np.maximum(cells.value - largest - second, 0.0)
        missing = np.maximum(self.p * largest / 100 - remainder, 0.0)
        is_few = (cells.count < self.minimum_count) & (cells.value > 0)
        level = np.where(
            is_few, np.maximum(missing, self.count_percent * cells.value / 100), missing
        )
        sensitive = np.flatnonzero(level > 0)
        return Marked(sensitive, level[sensitive], level[sensitive])
