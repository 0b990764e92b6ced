"""Patterns from deviations that sensitive cells have in common."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.attack.audit import audit
from tacit.methods.suppress.heuristics import first_pattern as first
from tacit.methods.suppress.heuristics.joint import JointPatterns
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.options import SuppressOptions
from tacit.methods.suppress.run import suppress
from tests.methods.suppress.larger_tables import cube, medium_table


def begun(seed: int, size: int = 5) -> Search:
    """A search on a cube that has not done anything yet."""
    return Search(cube(seed, size), SuppressOptions(time_limit=60))


@pytest.mark.parametrize("seed", range(6))
def test_cells_that_are_seen_to_be_protected_are(seed: int) -> None:
    """Whatever is not called exposed is safe under an audit."""
    search = begun(seed)
    joint = JointPatterns(search)
    rng = np.random.default_rng(seed)
    for share in (0.2, 0.5, 0.9):
        hidden = (rng.random(search.problem.cell_count) < share) | search.sensitive
        open_cells = set(audit(search.problem, hidden, cells="sensitive").exposed_cells)
        assert open_cells <= set(joint.exposed(hidden).tolist())


@pytest.mark.parametrize("seed", range(6))
def test_patterns_protect_nearly_all_and_reduced_ones_stay_within(seed: int) -> None:
    """From nothing a pattern is built that leaves at most one cell open, and made lighter."""
    search = begun(seed)
    joint = JointPatterns(search)
    hidden = joint.pattern(search.sensitive)
    assert hidden[search.sensitive].all()
    assert len(audit(search.problem, hidden, cells="sensitive").exposed_cells) <= 1
    everything = search.sensitive | search.secondary
    fewer = joint.reduced(everything)
    assert not (fewer & ~everything).any()
    assert search.weigh(fewer) < search.weigh(everything)


@pytest.mark.parametrize("seed", range(8))
def test_relaxing_first_finds_the_same_optimum(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables that are treated as large ones have the optimum of the compact model."""
    problem = medium_table(seed)
    expected = suppress(problem, algorithm="monolithic", time_limit=60, gap=0)
    monkeypatch.setattr(first, "_BY_MODULES", 0)
    found = suppress(problem, algorithm="auto", time_limit=60, gap=0)
    assert found.status is expected.status
    assert found.report.objective == pytest.approx(expected.report.objective)
