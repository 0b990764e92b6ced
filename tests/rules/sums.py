"""Tables in which sums of suppressed cells give a firm away."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.microdata import tabulate
from tacit.rules import PPercent
from tacit.table import Table
from tests.table.firms import keys


def hidden_cells(table: Table, *cells: tuple[str, ...]) -> Any:
    """Some cells of a table as a mask."""
    mask = np.zeros(table.cell_count, bool)
    mask[[keys(table).index(cell) for cell in cells]] = True
    return mask


def two_cells(second: str = "big") -> Table:
    """A firm with 600 of 603 and 400 of 402 in two of three cells; others have many firms."""
    rows = [("a", "big", 600.0), ("a", "g", 3.0), ("b", second, 400.0), ("b", "h", 2.0)]
    rows += [("c", f"c{number}", 100.0) for number in range(9)]
    place, firm, value = zip(*rows, strict=True)
    records = {"r": place, "firm": firm, "v": value}
    return tabulate(records, {"r": None}, "v", contributor="firm").apply(PPercent(10))
