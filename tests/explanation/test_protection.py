"""Whom a cell protects, held against linear programs of the publication without it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.explanation import Explainer, Explanation, Protected
from tacit.problem import Booleans, Problem
from tests.attack.contributors import KINDS, RULES, contributed, minimal
from tests.attack.tables import Published, brute_force, published_tables

SIDES = ("lower", "upper", "sliding")


def _shares(published: Published) -> dict[tuple[int, str], float]:
    """What is there of each level of each sensitive cell, by linear programs of scipy."""
    p = published.problem
    low, high = brute_force(published, p.sensitive)
    fall, rise = p.value[p.sensitive] - low, high - p.value[p.sensitive]
    levels = (p.lower_level, p.upper_level, p.sliding_level)
    return {
        (cell, side): min(far / level, 1.0)
        for side, level_of, far_of in zip(SIDES, levels, (fall, rise, fall + rise), strict=True)
        for cell, level, far in zip(
            p.sensitive.tolist(), level_of.tolist(), far_of.tolist(), strict=True
        )
        if level > 0
    }


def _without(published: Published, cell: int) -> Published:
    hidden = published.hidden.copy()
    hidden[cell] = False
    return Published(published.problem, hidden, published.scale)


def _with_audit(problem: Problem, hidden: Booleans, cell: int) -> Explanation:
    """The explanation where an audit is at hand: only what relies on the cell is attacked."""
    found = tacit.audit(problem, hidden, cells="sensitive", exact=False)
    return Explainer(problem, hidden, audit=found).explain(cell)


def _claim(each: Protected) -> tuple[int, str, str, float]:
    return each.cell, each.side, each.attacker, round(each.left, 6)


def _assert_circuits(told: Explanation, published: Published) -> None:
    """Circuits go through both cells, meet all relations, and contain no smaller one."""
    A = published.problem.relations.toarray()
    for each in told.circuits:
        circuit = each.circuit
        assert circuit is not None
        cells = list(circuit.cells)
        assert {told.cell, each.cell} <= set(cells)
        assert published.hidden[cells].all()
        assert np.abs(A[:, cells] @ np.array(circuit.changes)).max(initial=0.0) < 1e-6
        rank = np.linalg.matrix_rank(A[:, cells]) if len(A) else 0
        assert rank == len(cells) - 1
        assert abs(circuit.changes[0]) == pytest.approx(1.0)
        assert cells[0] == each.cell


@settings(max_examples=40)
@given(published_tables(units=(1.0,)), st.integers(0, 10**6))
def test_a_cell_protects_what_is_exposed_without_it(published: Published, number: int) -> None:
    """Exactly the levels that fall are named, with the share that a linear program leaves."""
    cells = published.cells
    if not len(cells):
        return
    cell = int(cells[number % len(cells)])
    told = Explainer(published.problem, published.hidden).explain(cell, seconds=5)
    before, after = _shares(published), _shares(_without(published, cell))
    named = {(each.cell, each.side): each for each in told.protects}
    for key, share in after.items():
        if key[0] == cell:
            assert key not in named
            continue
        falls = share < before[key] - 1e-6
        assert (key in named) == falls, (key, share, before[key])
        if falls:
            assert named[key].left == pytest.approx(share, abs=1e-6)
            assert named[key].before == pytest.approx(before[key], abs=1e-6)
            assert named[key].attacker == "reader"
    known = _with_audit(published.problem, published.hidden, cell)
    assert list(map(_claim, known.protects)) == list(map(_claim, told.protects))
    _assert_circuits(told, published)
    # With bounds that leave room there is a circuit for each of the first cells.
    assert len(told.circuits) == min(len({each.cell for each in told.protects}), 6)


@settings(max_examples=20)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from(KINDS), st.sampled_from(RULES), st.integers(0, 10**6)
)
def test_contributors_are_faced(seed: int, kind: str, rule: str, number: int) -> None:
    """What would be exposed to somebody who knows its own figures is named, and nothing else."""
    case = contributed(seed, kind, rule)
    hidden = np.flatnonzero(case.hidden)
    if not len(hidden):
        return
    cell = int(hidden[number % len(hidden)])
    fewer = case.hidden.copy()
    fewer[cell] = False
    told = Explainer(case.problem, case.hidden).explain(cell)
    exposed_now = {each[0] for each in case.exposed()}
    without = type(case)(case.problem, fewer, case.amounts, case.rule, case.p, case.listed)
    expected = {
        (each, side, bool(who))
        for each, side, who in minimal(without.exposed())
        if each not in exposed_now and each != cell
    }
    # Who is exposed to readers need not be looked at again.
    to_readers = {each for each, _, insider in expected if not insider}
    expected = {key for key in expected if not (key[2] and key[0] in to_readers)}
    found = {
        (each.cell, each.side, each.attacker != "reader")
        for each in told.protects
        if each.cell not in exposed_now
    }
    assert found == expected
    known = _with_audit(case.problem, case.hidden, cell)
    assert {_claim(each) for each in known.protects} == {_claim(each) for each in told.protects}
    for each in told.protects:
        if each.circuit is not None:
            moves = np.zeros(case.problem.cell_count)
            moves[list(each.circuit.cells)] = each.circuit.changes
            off = np.asarray(case.problem.relations @ moves)
            assert np.abs(off).max(initial=0.0) < 1e-6
            assert {cell, each.cell} <= set(each.circuit.cells)


@settings(max_examples=15)
@given(published_tables(units=(1.0,)), st.integers(0, 10**6))
def test_cells_that_help_stay_safe(published: Published, number: int) -> None:
    """Who would stay safe in another way is named apart from those that would not."""
    cells = published.cells
    if not len(cells):
        return
    cell = int(cells[number % len(cells)])
    told = Explainer(published.problem, published.hidden).explain(cell)
    after = _shares(_without(published, cell))
    before = _shares(published)
    for other in told.helps:
        assert published.problem.is_sensitive[other]
        for side in SIDES:
            share = after.get((other, side), 1.0)
            assert share >= min(before.get((other, side), 1.0), 1.0) - 1e-6


@settings(max_examples=20)
@given(published_tables(units=(1.0,)), st.integers(0, 10**6))
def test_intervals_are_those_of_linear_programs(published: Published, number: int) -> None:
    """Of a suppressed cell what readers deduce, of a published one what they would."""
    p = published.problem
    cell = number % p.cell_count
    told = Explainer(p, published.hidden).explain(cell)
    hidden = published.hidden.copy()
    hidden[cell] = True
    low, high = brute_force(Published(p, hidden, published.scale), [cell])
    assert told.interval is not None
    assert told.interval[0] == pytest.approx(low[0], abs=1e-6)
    assert told.interval[1] == pytest.approx(high[0], abs=1e-6)
    assert told.exact


@settings(max_examples=15)
@given(published_tables(units=(1.0,)), st.integers(0, 10**6))
def test_intervals_in_place_of_suppressed_cells(published: Published, number: int) -> None:
    """Of published intervals, publishing the cell exposes exactly what the audit says."""
    p = published.problem
    rng = np.random.default_rng(number)
    n = p.cell_count
    lower = np.where(
        published.hidden, np.maximum(p.value - rng.integers(0, 9, n), p.lower), p.value
    )
    upper = np.where(
        published.hidden, np.minimum(p.value + rng.integers(0, 9, n), p.upper), p.value
    )
    cells = np.flatnonzero(lower < upper)
    if not len(cells):
        return
    cell = int(cells[number % len(cells)])
    told = Explainer(p, tacit.Intervals(lower, upper)).explain(cell)
    before = tacit.audit(p, tacit.Intervals(lower, upper))
    exactly = (lower.copy(), upper.copy())
    for ends in exactly:
        ends[cell] = p.value[cell]
    after = tacit.audit(p, tacit.Intervals(*exactly))
    was = {(each.cell, each.level): each.share for each in before.exposures}
    expected = {
        (each.cell, each.level): each.share
        for each in after.exposures
        if each.share < was.get((each.cell, each.level), 1.0) - 1e-6 and each.cell != cell
    }
    found = {(each.cell, each.side): each.left for each in told.protects}
    assert found == pytest.approx(expected)
