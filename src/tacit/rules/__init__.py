"""Sensitivity rules: which cells of a table must not be published, and how much they need.

Each rule is a small frozen class that judges a table; `Table.apply` takes any number of them. A
cell is sensitive if one of them says so, its levels are the largest that any of them asks for.
"""

from tacit.rules.concentration import Dominance, PPercent, PriorPosterior
from tacit.rules.frequency import GroupDisclosure, MinFrequency, SmallCounts
from tacit.rules.mapping import (
    RULES,
    bounds_from_mapping,
    from_mapping,
    weighting_from_mapping,
)
from tacit.rules.marks import Manual
from tacit.rules.missing import MissingSafe
from tacit.rules.requests import Request
from tacit.rules.rule import SensitivityRule
from tacit.rules.zeros import ZeroCells

__all__ = [
    "RULES",
    "Dominance",
    "GroupDisclosure",
    "Manual",
    "MinFrequency",
    "MissingSafe",
    "PPercent",
    "PriorPosterior",
    "Request",
    "SensitivityRule",
    "SmallCounts",
    "ZeroCells",
    "bounds_from_mapping",
    "from_mapping",
    "weighting_from_mapping",
]
