"""Shortest paths in the strips of tables with two hierarchies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.attack import cuts
from tacit.methods.suppress.heuristics import construct, first_pattern
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.options import SuppressOptions
from tacit.methods.suppress.run import suppress
from tacit.outcome import Status
from tests.attack.contributors import RULES, contributed
from tests.methods.suppress.larger_tables import two_hierarchies


@pytest.fixture(autouse=True)
def small_tables_count_as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables go the way that larger ones go."""
    monkeypatch.setattr(construct, "_FEW", 0)
    monkeypatch.setattr(cuts, "_SMALL", 0)
    monkeypatch.setattr(first_pattern, "_BY_MODULES", 0)


@pytest.mark.parametrize("seed", range(12))
def test_what_paths_protect_is_safe(seed: int) -> None:
    """No attack succeeds on a level that paths in strips have answered; the others stay open."""
    search = Search(two_hierarchies(seed), SuppressOptions(time_limit=60))
    assert search.structure.strips_cover
    assert not search.structure.in_network.any()
    state, hidden = search.states[0], search.sensitive.copy()
    missed = search.missed(state, hidden)
    constructor = Constructor(search)
    done = constructor._in_strips(state, missed, hidden, search.problem.weight)
    assert done.any()
    open_requests = search.missed(state, hidden)
    still = set(zip(open_requests.cells.tolist(), open_requests.sides.tolist(), strict=True))
    answered = missed.take(done)
    assert not still & set(zip(answered.cells.tolist(), answered.sides.tolist(), strict=True))
    assert hidden[search.sensitive].all()
    assert not (hidden & ~search.sensitive & ~search.secondary).any()


@pytest.mark.parametrize("seed", range(12))
def test_the_optimum_is_that_of_the_compact_model(seed: int) -> None:
    """Cuts and patterns of strips lead to the same weight as one large model."""
    problem = two_hierarchies(seed)
    expected = suppress(problem, algorithm="monolithic", time_limit=60, gap=0)
    found = suppress(problem, algorithm="auto", time_limit=60, gap=0)
    assert found.status is expected.status
    assert found.report.objective == pytest.approx(expected.report.objective)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), rule=st.sampled_from(RULES))
def test_contributors_learn_nothing_either(seed: int, rule: str) -> None:
    """Who knows cells of a strip finds no other cell there, by brute force."""
    made = contributed(seed, "two hierarchies", rule)
    outcome = suppress(made.problem, time_limit=20.0)
    hidden = np.zeros(made.problem.cell_count, bool)
    if outcome.status is Status.INFEASIBLE:
        hidden = ~made.problem.must_publish
    else:
        hidden[outcome.suppressed] = True
    exposed = replace(made, hidden=hidden).exposed()
    assert bool(exposed) == (outcome.status is Status.INFEASIBLE)
