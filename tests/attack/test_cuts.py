"""Tests of protection cuts: valid for every safe pattern, violated by the point, and enough."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.attack.cuts import Separator, strengthened
from tacit.attack.knowledge import Attacker
from tests.attack.tables import assert_separation_is_exact, safe_patterns, small_problem


@pytest.mark.parametrize(
    ("cube", "seed"),
    [*((False, seed) for seed in (2, 5, 6, 12)), *((True, seed) for seed in (0, 1, 3, 5))],
)
def test_every_safe_pattern_meets_every_cut(seed: int, cube: bool) -> None:
    """Cuts never exclude a safe pattern, whatever point and ceiling they come from."""
    problem = small_problem(seed, cube=cube)
    attacker = Attacker.external()
    separator = Separator(problem, attacker=attacker)
    patterns = np.array(safe_patterns(problem, attacker), float).reshape(-1, problem.cell_count)
    assert len(patterns)
    rng = np.random.default_rng(seed + 100)
    found = 0
    for trial in range(12):
        y = (
            rng.random(problem.cell_count)
            if trial % 3
            else np.round(rng.random(problem.cell_count))
        )
        y[problem.must_publish] = 0.0
        cuts = separator.cuts(y, ceiling=(1.0, 0.3, 0.05)[trial % 3])
        whole = np.where(problem.is_sensitive, 1.0, y)
        assert (cuts.violation(whole) > 0).all()
        assert (patterns @ cuts.coefficients.T >= 1 - 1e-9).all()
        found += len(cuts)
    assert found > 0


@pytest.mark.parametrize("cube", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_pattern_without_a_violated_cut_is_safe(seed: int, cube: bool) -> None:
    """For 0/1 vectors separation is exact: no cut is found if and only if all are safe."""
    problem = small_problem(seed + 50, cube=cube)
    assert_separation_is_exact(problem, seed)


def test_cuts_against_an_attacker_who_knows_a_cell_give_it_no_weight() -> None:
    """What the attacker knows anyway cannot help to protect."""
    problem = small_problem(3)
    free = np.flatnonzero(~problem.must_publish & ~problem.is_sensitive)
    attacker = Attacker(name="insider", known=(int(free[0]),))
    cuts = Separator(problem, attacker=attacker).cuts(np.zeros(problem.cell_count))
    assert len(cuts)
    assert cuts.coefficients[:, [free[0]]].nnz == 0


@settings(max_examples=200)
@given(st.data())
def test_strengthened_cuts_keep_every_vector_that_meets_the_original(data: st.DataObject) -> None:
    """Knapsack covers and counts hold for all 0/1 vectors with `charge y >= 1`."""
    count = data.draw(st.integers(1, 7))
    charge = np.array(data.draw(st.lists(st.floats(0.01, 2), min_size=count, max_size=count)))
    y = np.array(data.draw(st.lists(st.floats(0, 1), min_size=count, max_size=count)))
    always = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    rows = strengthened(np.arange(count), charge, np.where(always, 1.0, y), always)
    for vector in itertools.product((0.0, 1.0), repeat=count):
        whole = np.where(always, 1.0, vector)
        if charge @ whole >= 1:
            for cells, coefficients in rows:
                assert coefficients @ whole[cells] >= 1 - 1e-6


def test_the_cut_that_counts_only_sensitive_cells_in_full_comes_along() -> None:
    """A cover says little once one of its cells is published; the plain cut still does."""
    charge, y = np.array([0.5, 0.5, 0.25, 0.25]), np.array([1.0, 0.0, 0.0, 0.0])
    rows = strengthened(np.arange(4), charge, y, np.array([True, False, False, False]))
    assert [(cells.tolist(), row.tolist()) for cells, row in rows] == [([1, 2, 3], [1.0, 0.5, 0.5])]
    rows = strengthened(np.arange(4), charge, y, np.zeros(4, bool))
    found = [dict(zip(cells.tolist(), row.tolist(), strict=True)) for cells, row in rows]
    assert found == [{1: 1.0, 2: 0.5, 3: 0.5}, {0: 0.5, 1: 0.5, 2: 0.25, 3: 0.25}]
