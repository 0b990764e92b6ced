"""What would have to be suppressed instead, held against all patterns of small tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.attack.audit import audit
from tacit.attack.knowledge import Attacker
from tacit.explanation import Explainer
from tacit.problem import Problem
from tests.attack.contributors import KINDS, contributed
from tests.attack.tables import safe_patterns, small_problem


def _weighted(problem: Problem, seed: int) -> Problem:
    """The problem with random weights, and with at most six cells that may be suppressed."""
    rng = np.random.default_rng(seed)
    must_publish = problem.must_publish.copy()
    free = np.flatnonzero(~must_publish & ~problem.is_sensitive)
    must_publish[free[6:]] = True
    weight = rng.integers(0, 20, problem.cell_count).astype(float)
    return problem.replace(weight=weight, must_publish=must_publish)


@settings(max_examples=8)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_the_cheapest_pattern_is_found(seed: int, cube: bool, hierarchies: bool) -> None:
    """Of all safe patterns without the cell that keep the rest, none is cheaper."""
    problem = _weighted(small_problem(seed, cube=cube, hierarchies=hierarchies), seed)
    patterns = safe_patterns(problem, Attacker.external())
    if not patterns:
        return
    # A light one, in which cells are needed.
    hidden = min(patterns, key=lambda each: (each.sum(), problem.weight[each].sum()))
    explainer = Explainer(problem, hidden)
    for cell in np.flatnonzero(hidden & ~problem.is_sensitive).tolist():
        found = explainer.explain(cell, seconds=20).publishing
        assert found is not None
        kept = hidden.copy()
        kept[cell] = False
        others = [each for each in patterns if not each[cell] and (each | ~kept).all()]
        costs = [float(problem.weight[each & ~kept].sum()) for each in others]
        assert found.possible is bool(costs)
        if not costs:
            assert found.against
            assert found.suppresses_instead == ()
            continue
        assert found.exact
        assert found.cost == pytest.approx(min(costs), abs=1e-9)
        assert found.at_least == pytest.approx(min(costs), abs=1e-9)
        assert found.change == pytest.approx(min(costs) - problem.weight[cell], abs=1e-9)
        new = kept.copy()
        new[list(found.suppresses_instead)] = True
        assert not new[cell]
        assert not (new & problem.must_publish).any()
        assert audit(problem, new).safe


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS), st.integers(0, 10**6))
def test_contributors_are_kept_out_too(seed: int, kind: str, number: int) -> None:
    """Where a contributor would come too close, what is suppressed instead keeps it out."""
    case = contributed(seed, kind, "p%")
    weight = np.random.default_rng(seed).integers(0, 20, case.problem.cell_count)
    problem = case.problem.replace(weight=weight)
    everything = np.ones(problem.cell_count, bool)
    if not audit(problem, everything).safe:
        return
    candidates = np.flatnonzero(~problem.is_sensitive)
    if not len(candidates):
        return
    # Publish what is not needed, in a random order: every cell that stays is needed.
    hidden = everything
    for cell in np.random.default_rng(seed).permutation(candidates).tolist():
        hidden[cell] = False
        hidden[cell] = not audit(problem, hidden, cells="sensitive", exact=False).safe
    secondary = np.flatnonzero(hidden & ~problem.is_sensitive)
    if not len(secondary):
        return
    cell = int(secondary[number % len(secondary)])
    told = Explainer(problem, hidden).explain(cell, seconds=20)
    assert told.protects
    found = told.publishing
    assert found is not None
    kept = hidden.copy()
    kept[cell] = False
    most = np.ones(problem.cell_count, bool)
    most[cell] = False
    assert found.possible is audit(problem, most, cells="sensitive", exact=False).safe
    if found.possible:
        new = kept.copy()
        new[list(found.suppresses_instead)] = True
        assert not new[cell]
        assert audit(problem, new).safe
        assert found.cost is not None
        assert found.at_least <= found.cost + 1e-9


def test_a_cell_without_need_costs_nothing() -> None:
    """Where nothing is exposed without the cell, nothing else has to be suppressed."""
    problem = Problem(
        value=[5, 7, 9, 21],
        relations=[[1, 1, 1, -1]],
        rhs=[0],
        weight=[5, 7, 9, 21],
        sensitive=[0],
        upper_level=[2],
        lower_level=[2],
    )
    told = Explainer(problem, [0, 1, 2]).explain(2)
    assert told.protects == ()
    assert told.publishing is not None
    assert told.publishing.possible
    assert told.publishing.suppresses_instead == ()
    assert (told.publishing.cost, told.publishing.change) == (0.0, -9.0)
    assert told.publishing.exact


def test_a_sensitive_cell_cannot_be_published() -> None:
    """The rule says so, whatever others do."""
    problem = Problem(value=[5, 7, 12], relations=[[1, 1, -1]], rhs=[0], sensitive=[0])
    found = Explainer(problem, [0, 1]).explain(0).publishing
    assert found is not None
    assert found.possible is False
    assert "sensitive itself" in found.reason
