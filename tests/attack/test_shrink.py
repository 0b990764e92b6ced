"""Shrinking leaves out only what says nothing, and multipliers find their way back."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from scipy import sparse

from tacit.attack.evidence import Evidence
from tacit.attack.reach import Requests
from tacit.attack.shrink import Structure, essential_rows, shrink
from tacit.problem import Problem
from tests.attack.tables import (
    Published,
    agree,
    both_engines,
    brute_force,
    crossed,
    flat,
    published_tables,
)


@settings(max_examples=200)
@given(published=published_tables())
def test_essential_rows_imply_all_others(published: Published) -> None:
    """The relations kept have the rank of all relations."""
    A = published.problem.relations
    kept = essential_rows(A)
    dense = A.toarray()
    if dense.size:
        whole = np.linalg.matrix_rank(dense)
        assert (np.linalg.matrix_rank(dense[kept]) if kept.any() else 0) == whole


def test_repeated_relations_of_tables_are_dropped() -> None:
    """In a cube exactly as many relations stay as the rank asks for."""
    A, _ = crossed([flat(3), flat(2), flat(4)])
    kept = essential_rows(sparse.csr_array(A))
    assert kept.sum() == np.linalg.matrix_rank(A)
    assert np.linalg.matrix_rank(A[kept]) == np.linalg.matrix_rank(A)


@settings(max_examples=70)
@given(published=published_tables())
def test_components_are_apart_and_complete(published: Published) -> None:
    """Components share no cell; a cell that left cannot move in the full model."""
    p, knowledge = published.problem, published.knowledge
    for networks in (True, False):
        shrunk = shrink(
            Structure.of(p, networks=networks), knowledge.up, knowledge.down, networks=networks
        )
        cells = np.concatenate([np.zeros(0, int), *(part.cells for part in shrunk.components)])
        assert len(np.unique(cells)) == len(cells)
        assert np.array_equal(np.sort(cells), np.flatnonzero(shrunk.place >= 0))
        for number, part in enumerate(shrunk.components):
            assert np.all(shrunk.place[part.cells] == number)
            assert np.array_equal(part.up, knowledge.up[part.cells])
            assert np.array_equal(part.down, knowledge.down[part.cells])
            whole = p.relations[part.rows][:, part.cells]
            assert np.array_equal(part.A.toarray(), whole.toarray())
        gone = np.flatnonzero(published.hidden & (shrunk.place < 0))[:1]
        for end in brute_force(published, gone):
            assert agree(end, p.value[gone], published.tolerance)


@settings(max_examples=100)
@given(published=published_tables())
def test_lifted_evidence_passes_the_check_with_all_relations(published: Published) -> None:
    """What the engines prove on the small problem also holds on the whole one."""
    p = published.problem
    requests = Requests.both_sides(np.arange(p.cell_count))
    for attack in both_engines(published):
        reaches = attack.reach(requests)
        assert reaches.answered.all()
        Evidence.of(requests, reaches).check(p, published.knowledge)
        assert agree(reaches.amount, reaches.limit, published.tolerance)


def test_chains_of_determined_cells_are_proven() -> None:
    """Cells that follow one from another are proven exact with the multipliers of all steps."""
    relations = [[1, -1, 0, 0, 0], [0, 1, -2, 0, 0], [0, 0, 1, -3, 0], [0, 0, 0, 1, -1]]
    problem = Problem(value=[6, 6, 3, 1, 1], relations=relations, rhs=[0, 0, 0, 0])
    hidden = np.array([0, 1, 2, 3])
    published = Published(problem, np.isin(np.arange(5), hidden), 6.0)
    requests = Requests.both_sides(hidden)
    for attack in both_engines(published):
        reaches = attack.reach(requests)
        assert reaches.amount.tolist() == [0.0] * 8
        assert reaches.limit.tolist() == [0.0] * 8
        assert (np.diff(reaches.multipliers.indptr) > 0).all()
        Evidence.of(requests, reaches).check(problem, published.knowledge)


@settings(max_examples=60)
@given(published=published_tables())
def test_targets_are_met_or_shown_out_of_reach(published: Published) -> None:
    """With finite targets a request ends with a table that reaches it or proof that none does."""
    p = published.problem
    cells = np.arange(p.cell_count)
    target = 0.1 * published.scale
    requests = Requests.both_sides(cells, up=target, down=target)
    exact = Requests.both_sides(cells)
    for attack in both_engines(published):
        reaches, full = attack.reach(requests), attack.reach(exact)
        Evidence.of(requests, reaches).check(p, published.knowledge)
        reached = reaches.reached(requests)
        possible = full.amount >= target - published.tolerance
        assert np.array_equal(reached, possible)
        assert np.all(reaches.limit[~reached] <= full.amount[~reached] + published.tolerance)
