"""Tables as statisticians hold them."""

from tacit.table.bounds import Bounds
from tacit.table.grid import Grid
from tacit.table.judging import Rule, Verdict
from tacit.table.status import CellStatus
from tacit.table.table import Table
from tacit.table.weighting import Weighting

__all__ = ["Bounds", "CellStatus", "Grid", "Rule", "Table", "Verdict", "Weighting"]
