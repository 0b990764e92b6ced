"""Random hierarchies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InputError
from tacit.generators import random_hierarchy


@given(depth=st.integers(1, 5), more=st.integers(0, 60), seed=st.integers(0, 1000))
def test_leaves_and_levels_are_as_asked_for(depth: int, more: int, seed: int) -> None:
    """All leaves lie on the lowest level, and every other code has two children or more."""
    leaves = 2**depth + more
    hierarchy = random_hierarchy(leaves, depth=depth, seed=seed)
    assert len(hierarchy.leaves) == leaves
    assert set(hierarchy.level[hierarchy.is_leaf].tolist()) == {depth}
    above = [code for code in hierarchy.codes if code not in set(hierarchy.leaves)]
    assert all(len(hierarchy.children(code)) >= 2 for code in above)


def test_same_seed_same_hierarchy() -> None:
    """A seed gives the same hierarchy again, another seed another one."""
    hierarchy = random_hierarchy(60, depth=3, seed=4)
    assert hierarchy == random_hierarchy(60, depth=3, seed=4)
    assert hierarchy != random_hierarchy(60, depth=3, seed=5)


def test_flat_hierarchy_of_one_leaf() -> None:
    """A flat hierarchy may have a single leaf, with the chosen names."""
    assert random_hierarchy(1, depth=1, prefix="R", total="All").codes == ("All", "R1")


@pytest.mark.parametrize(
    ("leaves", "depth", "message"),
    [(7, 3, "at least 8 leaves"), (0, 1, "at least one leaf"), (5, 0, "one level below")],
)
def test_impossible_trees_are_refused(leaves: int, depth: int, message: str) -> None:
    """Too few leaves for the levels are refused with what would do."""
    with pytest.raises(InputError, match=message):
        random_hierarchy(leaves, depth=depth)
