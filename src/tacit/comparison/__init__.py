"""Several methods on one table, measured in the same way, to help choose."""

from tacit.comparison.measures import Measures, measure
from tacit.comparison.run import ComparedOutcome, Comparison, compare

__all__ = ["ComparedOutcome", "Comparison", "Measures", "compare", "measure"]
