"""Generated enterprise microdata: firms with local units, skewed as business registers are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError
from tacit.generators.contributions import streams
from tacit.hierarchy import Hierarchy
from tacit.problem import Floats, Integers

INDUSTRIES: Mapping[str, range] = {
    "C": range(10, 34),
    "F": range(41, 44),
    "G": range(45, 48),
    "H": range(49, 54),
    "I": range(55, 57),
    "J": range(58, 64),
    "M": range(69, 76),
    "N": range(77, 83),
}
"""Sections of an industry classification with the numbers of their divisions."""
INDUSTRY_LENGTHS = (1, 3)
"""Lengths of the codes of sections and divisions."""
REGION_LENGTHS = (3, 4)
"""Lengths of the codes of regions and their districts."""

_REGIONS, _DISTRICTS = 5, 4
_LARGE = 500.0
"""Firms with more turnover than this are all asked, others are sampled."""


@dataclass(frozen=True, eq=False)
class Enterprises:
    """Records of firms.

    Attributes:
        records: The columns: `firm`, `holding` (empty where a firm belongs to none),
            `industry`, `region`, `turnover`, `employees` and `weight`. A record is a local
            unit; all those of a firm have its holding and its weight.
        dimensions: The hierarchies of `industry` and `region`.
    """

    records: Mapping[str, npt.NDArray[np.generic]]
    dimensions: Mapping[str, Hierarchy]

    @property
    def record_count(self) -> int:
        """Number of records."""
        return len(self.records["firm"])


def industry_hierarchy() -> Hierarchy:
    """Sections and divisions of industries, coded as in NACE.

    >>> industry_hierarchy().children("I")
    ('I55', 'I56')
    """
    nested = {
        section: [f"{section}{division}" for division in divisions]
        for section, divisions in INDUSTRIES.items()
    }
    return Hierarchy.from_nested(nested)


def region_hierarchy(regions: int = _REGIONS, districts: int = _DISTRICTS) -> Hierarchy:
    """Regions and their districts, coded as in NUTS.

    >>> region_hierarchy(2, 2).codes
    ('Total', 'XX1', 'XX11', 'XX12', 'XX2', 'XX21', 'XX22')
    """
    if not (1 <= regions <= 9 and 1 <= districts <= 9):
        raise InputError("there can be 1 to 9 regions with 1 to 9 districts each")
    nested = {
        f"XX{region}": [f"XX{region}{district}" for district in range(1, districts + 1)]
        for region in range(1, regions + 1)
    }
    return Hierarchy.from_nested(nested)


def generate_enterprises(
    firms: int = 10_000, seed: int = 1, dimensions: Mapping[str, Hierarchy] | None = None
) -> Enterprises:
    """Microdata of firms by industry and region.

    Most firms are small, few are very large, and the large ones have local units in other
    regions and industries. Industries and regions attract firms unequally. One firm in twenty
    belongs to a holding. Small firms are a sample with weights, large ones stand for
    themselves.

    Args:
        firms: How many firms.
        seed: The same seed gives the same records with the same release of numpy.
        dimensions: Hierarchies of `industry` and `region` in place of the usual ones.

    >>> enterprises = generate_enterprises(100)
    >>> len(set(enterprises.records["firm"]))
    100
    """
    if firms < 1:
        raise InputError("there must be at least one firm")
    chosen = {"industry": industry_hierarchy(), "region": region_hierarchy(), **(dimensions or {})}
    if len(chosen) > 2:
        raise InputError("dimensions can only be industry and region")
    places, sizes, units, groups = streams(seed, 4)
    turnover = sizes.lognormal(3.5, 1.6, firms)
    # A large firm has about one more unit each time it doubles.
    extra = units.poisson(np.clip(np.log2(turnover / 200.0), 0.0, 8.0))
    firm = np.repeat(np.arange(firms), 1 + extra)
    main = np.r_[True, np.diff(firm) > 0]
    columns = {name: _placed(hierarchy, firm, main, places) for name, hierarchy in chosen.items()}
    amount = np.ceil(turnover[firm] * _shares(firm, main, units))
    employees = np.ceil(amount / sizes.lognormal(1.8, 0.4, firms)[firm])
    weight = np.where(turnover > _LARGE, 1.0, np.where(turnover > _LARGE / 10, 2.0, 5.0))
    width = len(str(firms))
    names = np.array([f"F{number:0{width}d}" for number in range(1, firms + 1)])
    return Enterprises(
        {
            "firm": names[firm],
            "holding": _holdings(firms, groups)[firm],
            **columns,
            "turnover": amount,
            "employees": employees,
            "weight": weight[firm],
        },
        chosen,
    )


def _placed(
    hierarchy: Hierarchy,
    firm: Integers,
    main: npt.NDArray[np.bool_],
    random: np.random.Generator,
) -> npt.NDArray[np.str_]:
    """The finest code of each record: that of the firm, for other units often another one."""
    leaves = np.array(hierarchy.leaves)
    attraction = random.lognormal(0.0, 0.6, len(leaves))
    code = random.choice(len(leaves), len(firm), p=attraction / attraction.sum())
    own = code[main][firm]
    stays = main | (random.random(len(firm)) < 0.3)
    return leaves[np.where(stays, own, code)]


def _shares(firm: Integers, main: npt.NDArray[np.bool_], random: np.random.Generator) -> Floats:
    """How each firm divides among its units; the first one has most."""
    part = np.where(main, 2.0, random.uniform(0.1, 1.0, len(firm)))
    return np.asarray(part / np.bincount(firm, part)[firm])


def _holdings(firms: int, random: np.random.Generator) -> npt.NDArray[np.str_]:
    """The holding of each firm, empty for most."""
    count = max(1, firms // 60)
    width = len(str(count))
    names = np.array(["", *(f"H{number:0{width}d}" for number in range(1, count + 1))])
    belongs = random.random(firms) < 0.05
    return names[np.where(belongs, random.integers(1, count + 1, firms), 0)]
