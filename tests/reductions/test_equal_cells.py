"""Merged problems have the optimum of the given ones, and the way back is exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.attack.audit import audit
from tacit.attack.knowledge import Attacker
from tacit.errors import InputError, ProblemError
from tacit.outcome import Intervals, Suppression, Values
from tacit.problem import Problem
from tacit.reductions.equal_cells import EqualCells
from tests.methods.suppress.tables import KINDS, BruteForce, seeded_instance
from tests.reductions.chains import with_chains


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_is_that_of_the_given_problem(kind: str, seed: int) -> None:
    """Brute force finds the same optimum with and without merging, and it is safe expanded."""
    rng = np.random.default_rng(seed)
    base = seeded_instance(kind, seed).problem
    whole = with_chains(base, rng, 3)
    reduction = EqualCells.of(whole)
    small = reduction.problem
    assert BruteForce(small).optimum() == pytest.approx(BruteForce(whole).optimum())


@settings(max_examples=80)
@given(st.integers(0, 10_000), st.sampled_from(KINDS), st.integers(1, 6))
def test_patterns_are_safe_together(seed: int, kind: str, count: int) -> None:
    """A pattern of the merged problem is safe exactly if the expanded one is."""
    rng = np.random.default_rng(seed)
    whole = with_chains(seeded_instance(kind, seed % 14).problem, rng, count)
    reduction = EqualCells.of(whole)
    small = reduction.problem
    hidden = small.is_sensitive | (rng.random(small.cell_count) < 0.6) & ~small.must_publish
    expanded = reduction.expand(Suppression(hidden))
    assert audit(small, hidden).safe == audit(whole, expanded).safe


def test_a_chain_of_three_becomes_one() -> None:
    """Weights add up, levels and bounds are the strictest; the first sensitive one names it."""
    whole = Problem(
        value=[5, 5, 5, 9, 14],
        lower=[0, 1, 2, 0, 0],
        upper=[30, 20, 25, 99, 99],
        weight=[1, 2, 4, 8, 16],
        relations=[[1, -1, 0, 0, 0], [0, 2, -2, 0, 0], [1, 0, 0, 1, -1], [0, 1, 0, 1, -1]],
        sensitive=[0, 2],
        lower_level=[1, 2],
        upper_level=[3, 1],
        singleton=[-1, 7, 7, -1, -1],
        labels=["a", "b", "c", "d", "t"],
    )
    reduction = EqualCells.of(whole)
    small = reduction.problem
    assert reduction.group.tolist() == [0, 0, 0, 1, 2]
    assert small.weight.tolist() == [7, 8, 16]
    assert (small.lower.tolist(), small.upper.tolist()) == ([2, 0, 0], [20, 99, 99])
    assert (small.lower_level.tolist(), small.upper_level.tolist()) == ([2], [3])
    assert small.relation_count == 1
    assert small.singleton.tolist() == [7, -1, -1]
    assert small.name_cell(0) == "cell a"
    later = EqualCells.of(whole.replace(sensitive=[1, 2], upper_level=[1, 1])).problem
    assert [later.name_cell(cell) for cell in range(3)] == ["cell b", "cell d", "cell t"]
    assert reduction.cells([0]).tolist() == [0, 1, 2]


def test_merging_goes_on_where_it_makes_new_pairs() -> None:
    """Two relations of three cells become one of two once their parts are merged."""
    # p = a, q = b, p + q = t, and a + b = s: t and s are the same only by two relations.
    whole = Problem(
        value=[1, 2, 1, 2, 3],
        relations=[[1, 0, -1, 0, 0], [0, 1, 0, -1, 0], [1, 1, 0, 0, -1], [0, 0, 1, 1, -1]],
    )
    reduction = EqualCells.of(whole)
    assert reduction.group.tolist() == [0, 1, 0, 1, 2]
    assert reduction.problem.relation_count == 1


def test_constants_are_no_cells() -> None:
    """A relation of two cells with a right-hand side does not make them equal."""
    whole = Problem(value=[5, 3], relations=[[1, -1]], rhs=[2])
    assert EqualCells.of(whole).is_identity


def test_cells_that_must_be_published_stay_apart() -> None:
    """What has to be published is not merged with a cell that may be suppressed."""
    whole = Problem(value=[5, 5], relations=[[1, -1]], must_publish=[True, False])
    assert EqualCells.of(whole).is_identity


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from(KINDS), st.integers(2, 6))
def test_columns_agree_within_merged_cells(seed: int, kind: str, count: int) -> None:
    """With a column that must agree every merged cell has one entry, and what agrees is merged."""
    rng = np.random.default_rng(seed)
    whole = with_chains(seeded_instance(kind, seed % 14).problem, rng, count)
    column = rng.integers(0, 2, whole.cell_count).astype(float)
    reduction = EqualCells.of(whole, agreeing=[column])
    assert (reduction.largest(column) == reduction.smallest(column)).all()
    same = EqualCells.of(whole, agreeing=[np.ones(whole.cell_count)])
    assert same.group.tolist() == EqualCells.of(whole).group.tolist()


def test_cells_that_do_not_agree_stay_apart() -> None:
    """A chain of three with one odd entry is not merged; a pair elsewhere still is."""
    whole = Problem(
        value=[5, 5, 5, 9, 9],
        relations=[[1, -1, 0, 0, 0], [0, 1, -1, 0, 0], [0, 0, 0, 1, -1]],
    )
    column = np.array([1.0, 1.0, 2.0, 3.0, 3.0])
    assert EqualCells.of(whole, agreeing=[column]).group.tolist() == [0, 1, 2, 3, 3]


def test_wrong_attackers_are_told_the_cell_they_were_given() -> None:
    """Whoever is certain of something untrue is told the cell that was named, not its equal."""
    whole = Problem(value=[5, 5], relations=[[1, -1]], labels=["parent", "child"])
    with pytest.raises(InputError, match="cell child"):
        EqualCells.of(whole, attackers=[Attacker(at_least={1: 7.0})])


def test_solutions_and_attackers_are_translated() -> None:
    """Intervals, values and what attackers know go to every part of a merged cell and back."""
    whole = Problem(value=[5, 5, 4], relations=[[1, -1, 0]])
    reduction = EqualCells.of(whole)
    lower, upper = np.array([4.0, 3.0]), np.array([6.0, 5.0])
    intervals = reduction.expand(Intervals(lower, upper))
    assert isinstance(intervals, Intervals)
    assert intervals.lower.tolist() == [4, 4, 3]
    values = reduction.expand(Values(np.array([7.0, 4.0]), np.array([2.0, 1.0])))
    assert isinstance(values, Values)
    assert values.radius is not None
    assert (values.value.tolist(), values.radius.tolist()) == ([7, 7, 4], [2, 2, 1])
    attacker = Attacker(known=(2,), at_least={0: 1.0, 1: 2.0}, own=frozenset({1, 2}))
    (told,) = reduction.attackers([attacker])
    assert (told.known, dict(told.at_least), told.own) == ((1,), {0: 2.0}, frozenset({0, 1}))


def test_strips_are_renumbered() -> None:
    """A strip holds the merged cells of its cells; other relations have other strips."""
    problem = Problem(
        value=[5, 5, 2, 3],
        relations=[[1, -1, 0, 0], [0, -1, 1, 1]],
        strips=[np.array([0, 1]), np.array([1, 2, 3])],
    )
    merged = EqualCells.of(problem).problem
    assert merged.cell_count == 3
    assert merged.strips is not None
    assert [cells.tolist() for cells in merged.strips] == [[0], [0, 1, 2]]
    assert problem.replace(relations=[[0, -1, 1, 1]], rhs=[0]).strips is None
    with pytest.raises(ProblemError, match="strips names cells that do not exist"):
        problem.replace(strips=[np.array([4])])
