"""Patterns from groups of sensitive cells, each with a deviation of its own."""

from __future__ import annotations

import pytest

from tacit.attack.audit import audit
from tacit.methods.suppress.heuristics.groups import Groups
from tacit.methods.suppress.heuristics.joint import JointPatterns
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.options import SuppressOptions
from tests.methods.suppress.larger_tables import cube


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [1, 4, 100])
def test_patterns_of_groups_are_lighter_and_protect_what_they_show(seed: int, size: int) -> None:
    """Within everything suppressed lies a lighter pattern; an audit confirms every witness."""
    search = Search(cube(seed, 5), SuppressOptions(time_limit=60))
    everything = search.sensitive | search.secondary
    hidden = Groups(search, JointPatterns(search)).pattern(everything, size=size)
    assert not (hidden & ~everything).any()
    assert hidden[search.sensitive].all()
    assert search.weigh(hidden) < search.weigh(everything)
    reader = search.states[0]
    shown = reader.witnesses.show(reader.requests(), hidden)
    exposed = audit(search.problem, hidden, cells="sensitive").exposed_cells
    open_cells = set(reader.requests().cells[~shown].tolist())
    assert set(exposed) <= open_cells
    # What protects everything is there: only a solver that gives up leaves a cell open.
    assert len(open_cells) <= 1


@pytest.mark.parametrize("seed", range(3))
def test_each_division_makes_the_pattern_lighter_or_leaves_it(seed: int) -> None:
    """What a new division finds lies within the pattern before."""
    search = Search(cube(seed, 5), SuppressOptions(time_limit=60))
    groups = Groups(search, JointPatterns(search))
    hidden = search.sensitive | search.secondary
    for _ in range(3):
        fewer = groups.pattern(hidden, size=3)
        assert not (fewer & ~hidden).any()
        hidden = fewer
    assert not audit(search.problem, hidden, cells="sensitive").exposed_cells
