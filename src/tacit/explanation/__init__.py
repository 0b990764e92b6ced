"""Why a cell is shown as it is, and what publishing it would take. Confidential."""

from tacit.explanation.cells import CellChoice, find_cell
from tacit.explanation.circuits import Circuit
from tacit.explanation.result import Explanation, Protected, Publishing
from tacit.explanation.run import Explainer, explain

__all__ = [
    "CellChoice",
    "Circuit",
    "Explainer",
    "Explanation",
    "Protected",
    "Publishing",
    "explain",
    "find_cell",
]
