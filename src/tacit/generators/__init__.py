"""Generated tables and microdata: seeded, sized and skewed like business statistics."""

from tacit.generators.by_name import generate_by_name
from tacit.generators.contributions import Contributions
from tacit.generators.hierarchies import random_hierarchy
from tacit.generators.microdata import Enterprises, generate_enterprises
from tacit.generators.sensitivity import SensitiveRule, SensitiveShare, Sensitivity
from tacit.generators.structure import Structure1H2D
from tacit.generators.table_1h2d import generate_1h2d, generate_1h2d_table
from tacit.generators.tables import generate_2d, generate_3d, generate_table

__all__ = [
    "Contributions",
    "Enterprises",
    "SensitiveRule",
    "SensitiveShare",
    "Sensitivity",
    "Structure1H2D",
    "generate_1h2d",
    "generate_1h2d_table",
    "generate_2d",
    "generate_3d",
    "generate_by_name",
    "generate_enterprises",
    "generate_table",
    "random_hierarchy",
]
