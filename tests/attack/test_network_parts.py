"""Networks inside tables that are none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from tacit.attack import cuts
from tacit.attack.cuts import Separator
from tacit.attack.network_parts import NetworkParts
from tacit.attack.shrink import Structure
from tests.attack.tables import (
    Published,
    assert_flow_cuts_hold,
    assert_separation_is_exact,
    published_tables,
    small_problem,
)


@settings(max_examples=150)
@given(published_tables())
def test_every_part_is_a_network(published: Published) -> None:
    """A cell sits in at most two relations of a part, once with either sign; arcs say which."""
    A = published.problem.relations
    parts = NetworkParts(A, np.ones(A.shape[1], bool))
    for part in parts.get():
        network = part.network
        turned = A[network.rows].toarray() * network.sign[:, None]
        assert (np.abs(turned) <= 1).all()
        assert ((turned > 0).sum(axis=0) <= 1).all()
        assert ((turned < 0).sum(axis=0) <= 1).all()
        assert np.flatnonzero(np.abs(turned).sum(axis=0)).tolist() == part.cells.tolist()
        root = len(network.rows)
        for arc, cell in enumerate(part.cells.tolist()):
            into, out = np.flatnonzero(turned[:, cell] > 0), np.flatnonzero(turned[:, cell] < 0)
            assert network.head[arc] == (into[0] if len(into) else root)
            assert network.tail[arc] == (out[0] if len(out) else root)


@settings(max_examples=100)
@given(published_tables(kinds=("3-D", "linked", "1H2D")))
def test_all_relations_have_their_turn(published: Published) -> None:
    """Each relation with coefficients 1 and -1 is in one of the networks."""
    A = published.problem.relations
    parts = NetworkParts(A, np.ones(A.shape[1], bool))
    covered = {row for part in parts.get() for row in part.network.rows.tolist()}
    usual = [
        row
        for row in range(A.shape[0])
        if A.indptr[row] < A.indptr[row + 1]
        and (np.abs(A.data[A.indptr[row] : A.indptr[row + 1]]) == 1).all()
    ]
    assert covered == set(usual)


@pytest.mark.parametrize("seed", range(12))
def test_cuts_of_parts_hold_for_every_safe_pattern(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Relations that are left out only make an attacker weaker: no safe pattern is cut off."""
    monkeypatch.setattr(cuts, "_SMALL", 0)
    problem = small_problem(seed, cube=True)
    assert not Structure.of(problem).in_network.any()
    assert_flow_cuts_hold(problem, seed)


def test_parts_find_cuts_without_linear_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing suppressed but the sensitive cells is cut off by flows alone."""
    monkeypatch.setattr(cuts, "_SMALL", 0)
    found = 0
    for seed in range(6):
        problem = small_problem(seed, cube=True)
        nothing = np.zeros(problem.cell_count)
        found += len(Separator(problem).cuts(nothing, thorough=False))
    assert found > 0


@pytest.mark.parametrize("seed", range(4))
def test_separation_with_parts_is_exact(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where flows find nothing, programs decide: no cut is found if and only if all are safe."""
    monkeypatch.setattr(cuts, "_SMALL", 0)
    problem = small_problem(seed + 50, cube=True)
    assert_separation_is_exact(problem, seed)
