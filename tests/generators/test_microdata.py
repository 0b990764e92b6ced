"""Generated microdata of firms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InputError
from tacit.generators.microdata import (
    INDUSTRY_LENGTHS,
    REGION_LENGTHS,
    generate_enterprises,
    industry_hierarchy,
    region_hierarchy,
)
from tacit.hierarchy import Hierarchy


def test_the_same_seed_gives_the_same_records() -> None:
    """Another seed gives others."""
    first, again, other = (generate_enterprises(500, seed).records for seed in (1, 1, 2))
    for name, column in first.items():
        np.testing.assert_array_equal(column, again[name])
    assert not np.array_equal(first["turnover"], other["turnover"])


@given(st.integers(1, 300), st.integers(0, 50))
def test_records_are_sound(firms: int, seed: int) -> None:
    """Each firm has a record, finest codes, and one holding and weight in all its records."""
    enterprises = generate_enterprises(firms, seed)
    records = enterprises.records
    assert len(np.unique(records["firm"])) == firms
    for name, hierarchy in enterprises.dimensions.items():
        assert set(records[name]) <= set(hierarchy.leaves)
    for name in ("holding", "weight"):
        pairs = set(zip(records["firm"].tolist(), records[name].tolist(), strict=True))
        assert len(pairs) == firms
    for name in ("turnover", "employees"):
        assert np.all(np.asarray(records[name], float) >= 1)
        np.testing.assert_array_equal(records[name], np.round(np.asarray(records[name], float)))


def test_they_are_like_those_of_registers() -> None:
    """Few firms have most of the turnover, large ones have several units, some are in holdings."""
    records = generate_enterprises(10_000).records
    turnover = np.asarray(records["turnover"], float)
    names, firm = np.unique(records["firm"], return_inverse=True)
    size = np.sort(np.bincount(firm, turnover))[::-1]
    assert size[: len(names) // 10].sum() > 0.5 * size.sum()
    units = np.bincount(firm)
    assert 1.05 < units.mean() < 1.5
    assert units.max() > 3
    in_holding = np.mean(records["holding"] != "")
    assert 0.02 < in_holding < 0.1
    assert set(np.unique(np.asarray(records["weight"], float))) == {1.0, 2.0, 5.0}


def test_codes_are_prefixes_of_each_other() -> None:
    """The hierarchies are those of their codes cut to the lengths of each level."""
    for hierarchy, lengths in (
        (industry_hierarchy(), INDUSTRY_LENGTHS),
        (region_hierarchy(), REGION_LENGTHS),
    ):
        assert Hierarchy.from_prefixes(hierarchy.leaves, lengths) == hierarchy


def test_hierarchies_of_ones_own() -> None:
    """Codes come from the hierarchy that is given."""
    own = Hierarchy.flat(["north", "south"])
    records = generate_enterprises(50, dimensions={"region": own}).records
    assert set(records["region"]) == {"north", "south"}


def test_what_cannot_be_generated_is_refused() -> None:
    """No firm, too many regions or an unknown dimension make no microdata."""
    with pytest.raises(InputError, match="at least one firm"):
        generate_enterprises(0)
    with pytest.raises(InputError, match="1 to 9 regions"):
        region_hierarchy(10)
    with pytest.raises(InputError, match="only be industry and region"):
        generate_enterprises(5, dimensions={"size": Hierarchy.flat(["s"])})
