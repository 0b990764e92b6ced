"""Tables as statisticians hold them."""

from tacit.table.grid import Grid
from tacit.table.status import CellStatus
from tacit.table.table import Table

__all__ = ["CellStatus", "Grid", "Table"]
