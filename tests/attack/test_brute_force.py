"""Both engines against one dense linear program a question."""

from __future__ import annotations

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from tacit.attack.evidence import Evidence
from tacit.attack.knowledge import Knowledge
from tacit.attack.reach import Requests
from tacit.attack.sweep import Attack
from tacit.outcome import Intervals
from tacit.problem import Problem
from tests.attack.tables import (
    ALL_KINDS,
    FINITE_BOUNDS,
    Published,
    agree,
    assert_agreement,
    both_engines,
    brute_force,
    crossed,
    flat,
    magnitude,
    minimise,
    published_tables,
    seeded_table,
)


def few_cells(published: Published, data: st.DataObject, limit: int = 3) -> list[int]:
    """A few suppressed cells to ask for, and one published one."""
    n = published.problem.cell_count
    asked = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=limit, unique=True))
    return sorted(asked)


@pytest.mark.parametrize("kind", ALL_KINDS)
@settings(max_examples=90)
@given(data=st.data())
def test_engines_agree_with_brute_force(kind: str, data: st.DataObject) -> None:
    """Brute force, maximum flows and linear programs find the same intervals."""
    published = data.draw(published_tables(kinds=(kind,)))
    assert_agreement(published, few_cells(published, data))


@pytest.mark.parametrize("unit", [1.0, 1e12, 1e-6])
@settings(max_examples=60)
@given(data=st.data())
def test_engines_agree_on_bounded_tables(unit: float, data: st.DataObject) -> None:
    """Where all bounds are finite, also degenerate ones, all three agree at every magnitude."""
    published = data.draw(published_tables(bound_kinds=FINITE_BOUNDS, units=(unit,)))
    assert_agreement(published, few_cells(published, data))


@settings(max_examples=100)
@given(published=published_tables())
def test_engines_agree_with_each_other_on_all_cells(published: Published) -> None:
    """Maximum flows and linear programs agree on every cell, published ones included."""
    cells = np.arange(published.problem.cell_count)
    (lower, upper), (other_lower, other_upper) = (
        attack.intervals(cells) for attack in both_engines(published)
    )
    assert agree(lower, other_lower, published.tolerance)
    assert agree(upper, other_upper, published.tolerance)
    shown = ~published.hidden
    assert np.array_equal(lower[shown], published.problem.value[shown])
    assert np.array_equal(upper[shown], published.problem.value[shown])


@settings(max_examples=100)
@given(data=st.data())
def test_published_intervals_agree_with_brute_force(data: st.DataObject) -> None:
    """What intervals leave open is found the same way as what suppression leaves open."""
    published = data.draw(published_tables())
    p = published.problem
    n, unit = p.cell_count, magnitude(p) / 20
    widths = np.array(data.draw(st.lists(st.integers(0, 5), min_size=2 * n, max_size=2 * n)))
    intervals = Intervals(p.value - unit * widths[:n], p.value + unit * widths[n:])
    cells = np.array(few_cells(published, data, limit=2))
    expected = brute_force(published, cells, intervals=intervals)
    for networks in (True, False):
        attack = Attack(p, Knowledge.of(p, intervals), networks=networks)
        found = attack.intervals(cells)
        assert agree(found[0], expected[0], published.tolerance)
        assert agree(found[1], expected[1], published.tolerance)


def test_a_thousand_seeded_tables_agree() -> None:
    """On more than 1000 bounded tables one cell each, solved jointly by the brute force, agrees."""
    rng = np.random.default_rng(2011)
    for _ in range(26):
        batch = [table for table in (seeded_table(rng) for _ in range(40)) if table.hidden.any()]
        asked = [int(rng.choice(table.cells)) for table in batch]
        side = [int(rng.choice([-1, 1])) for _ in batch]
        # The tables have nothing in common, so that one program finds all optima at once.
        A = sparse.block_diag([table.problem.relations for table in batch], format="csr")
        b = np.concatenate([table.problem.rhs for table in batch])
        bounds = np.hstack([table.bounds() for table in batch]).T
        start = np.cumsum([0, *(table.problem.cell_count for table in batch[:-1])])
        place = start + np.array(asked)
        cost = np.zeros(len(bounds))
        cost[place] = -np.array(side)
        answer = minimise(cost, A_eq=A, b_eq=b, bounds=bounds, method="highs-ds")
        assert answer.status == 0, answer.message
        for table, cell, direction, end in zip(batch, asked, side, answer.x[place], strict=True):
            for attack in both_engines(table):
                lower, upper = attack.intervals(np.array([cell]))
                ours = float(upper[0] if direction > 0 else lower[0])
                assert ours == pytest.approx(end, abs=table.tolerance)


@pytest.mark.parametrize("networks", [True, False])
@pytest.mark.parametrize("relations", [[[1, 1], [-1, 2]], [[2, -3], [1, 1]], [[-3, 1], [2, -3]]])
def test_cells_that_several_relations_determine(
    relations: list[list[float]], networks: bool
) -> None:
    """Two relations that only together determine two cells leave them nothing to move."""
    problem = Problem(value=[0, 0], lower=[-2, -1], upper=[2, 1], relations=relations, rhs=[0, 0])
    attack = Attack(problem, Knowledge.of(problem, np.array([0, 1])), networks=networks)
    lower, upper = attack.intervals(np.array([0, 1]))
    assert lower == pytest.approx(0.0, abs=1e-9)
    assert upper == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("networks", [True, False])
def test_a_huge_bound_beside_a_small_cell(networks: bool) -> None:
    """An upper bound that stands for infinity does not spoil the evidence of small cells."""
    problem = Problem(value=[0.1, 0.2, 0.7, 1.0], upper=1e12, relations=[[1, 1, 1, -1]], rhs=[0])
    knowledge = Knowledge.of(problem, np.array([0, 1]))
    requests = Requests.both_sides(np.array([0, 1]))
    reaches = Attack(problem, knowledge, networks=networks).reach(requests)
    assert reaches.amount == pytest.approx([0.2, 0.1, 0.1, 0.2], rel=1e-9)
    Evidence.of(requests, reaches).check(problem, knowledge)


@pytest.mark.parametrize("networks", [True, False])
def test_a_cell_without_any_bound_carries_the_others(networks: bool) -> None:
    """A cell that may take any value balances one with bounds, and the table shows it."""
    problem = Problem(
        value=[3, 4], lower=[1, -np.inf], upper=[9, np.inf], relations=[[1, 1]], rhs=[7]
    )
    knowledge = Knowledge.of(problem, np.array([0, 1]))
    requests = Requests.both_sides(np.array([0, 1]))
    reaches = Attack(problem, knowledge, networks=networks).reach(requests)
    assert reaches.amount.tolist() == [6.0, 2.0, 2.0, 6.0]
    assert reaches.deviations.toarray().tolist() == [[6, -6], [-2, 2], [-2, 2], [6, -6]]
    Evidence.of(requests, reaches).check(problem, knowledge)


def test_unbounded_cells_come_with_a_direction() -> None:
    """Two cells that sum to a total with no upper bound rise for ever, and a ray shows it."""
    problem = Problem(value=[3, 4, 7], relations=[[1, 1, -1]], rhs=[0])
    knowledge = Knowledge.of(problem, np.array([0, 2]))
    for networks in (True, False):
        requests = Requests.both_sides(np.array([0, 2]))
        reaches = Attack(problem, knowledge, networks=networks).reach(requests)
        assert reaches.amount.tolist() == [np.inf, np.inf, 3.0, 3.0]
        ray = reaches.deviations.toarray()[0]
        assert np.array_equal(problem.relations @ ray, [0.0])
        assert ray[0] > 0
        assert ray[1] == 0
        assert ray[2] == ray[0]
        Evidence.of(requests, reaches).check(problem, knowledge)


@settings(max_examples=80)
@given(published=published_tables(bound_kinds=("no upper", "none", "no lower", "near", "natural")))
def test_rays_never_end(published: Published) -> None:
    """Every infinite claim comes with a direction along which only unbounded cells move."""
    p, knowledge = published.problem, published.knowledge
    requests = Requests.both_sides(np.arange(p.cell_count))
    for attack in both_engines(published):
        reaches = attack.reach(requests)
        for row in np.flatnonzero(np.isinf(reaches.amount)):
            ray = reaches.deviations[[row]].toarray()[0]
            assert ray[requests.cells[row]] * requests.sides[row] > 0
            largest = np.abs(ray).max()
            assert np.all(np.isinf(knowledge.up[ray > 1e-7 * largest]))
            assert np.all(np.isinf(knowledge.down[ray < -1e-7 * largest]))
            assert np.abs(p.relations @ ray).max(initial=0.0) <= 1e-7 * largest


def exactly_proven(
    problem: Problem, knowledge: Knowledge, requests: Requests, row: int, g: list[float]
) -> Fraction:
    """The bound that multipliers prove, in exact arithmetic and straight from (3.10)."""
    A = problem.relations.toarray()
    bound = Fraction(0)
    cell, side = int(requests.cells[row]), int(requests.sides[row])
    for j in range(problem.cell_count):
        d = Fraction(side if j == cell else 0)
        d -= sum((Fraction(A[i, j]) * Fraction(g[i]) for i in range(len(g))), Fraction(0))
        if d != 0:
            capacity = knowledge.up[j] if d > 0 else knowledge.down[j]
            bound += abs(d) * Fraction(float(capacity))
    return bound


@pytest.mark.parametrize("networks", [True, False])
def test_huge_and_tiny_numbers_in_one_table(networks: bool) -> None:
    """With 1e12 beside 1e-6 in one table, exact arithmetic confirms both ends of intervals."""
    rng = np.random.default_rng(7)
    for _ in range(25):
        A, sums = crossed([flat(2), flat(3)])
        value = sums @ np.zeros(6)
        # Capacities are powers of two, so that amounts are sums without rounding.
        capacity = 2.0 ** rng.integers(-20, 41, len(value))
        hidden = rng.random(len(value)) < 0.8
        problem = Problem(
            value=value, lower=-capacity, upper=capacity * 2, relations=A, rhs=A @ value
        )
        knowledge = Knowledge.of(problem, hidden)
        requests = Requests.both_sides(np.flatnonzero(hidden))
        reaches = Attack(problem, knowledge, networks=networks).reach(requests)
        x = reaches.deviations.toarray()
        moved = x[np.arange(len(requests)), requests.cells] * requests.sides
        assert np.allclose(moved, reaches.amount, rtol=1e-9, atol=0.0)
        size = np.abs(x).max(axis=1)
        assert np.all(np.abs(A @ x.T).max(axis=0) <= 1e-9 * size)
        assert np.all(x <= knowledge.up * (1 + 1e-9) + 1e-15 * size[:, None])
        assert np.all(x >= -knowledge.down * (1 + 1e-9) - 1e-15 * size[:, None])
        for row, g in enumerate(reaches.multipliers.toarray().tolist()):
            bound = exactly_proven(problem, knowledge, requests, row, g)
            assert float(bound) == pytest.approx(reaches.amount[row], rel=1e-6)
