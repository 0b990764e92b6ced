"""Evidence that was tampered with is refused, whatever was changed."""

from __future__ import annotations

import dataclasses
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from tacit import examples
from tacit.attack.audit import Audit, audit
from tacit.attack.evidence import Evidence, EvidenceError
from tacit.attack.knowledge import Attacker, Knowledge
from tacit.attack.reach import Requests
from tacit.attack.sweep import Attack
from tacit.problem import Problem
from tests.attack.tables import brute_force, published_tables


@pytest.fixture
def found() -> Audit:
    """The audit of a printed table whose intervals are known."""
    example = examples.get("003-figure-11")
    assert example.suppressed is not None
    return audit(example.problem, example.suppressed)


def claims(found: Audit) -> Evidence:
    """The evidence of the only attacker."""
    return found.findings[0].evidence


def check(found: Audit, **changes: Any) -> None:
    """Check the audit's evidence with some of its arrays changed."""
    dataclasses.replace(claims(found), **changes).check(found.problem, found.knowledge)


def changed(matrix: Any, row: int, column: int, add: float) -> sparse.csr_array[Any, Any]:
    """A copy of a sparse matrix with one entry raised."""
    dense = matrix.toarray().copy()
    dense[row, column] += add
    return sparse.csr_array(dense)


def test_untouched_evidence_passes(found: Audit) -> None:
    """What the audit hands over passes its own check."""
    check(found)
    found.check()
    assert found.checked == len(claims(found)) == 8


@pytest.mark.parametrize("claim", range(8))
def test_a_larger_amount_is_refused(found: Audit, claim: int) -> None:
    """A table that does not reach what is claimed shows nothing."""
    amount = claims(found).amount.copy()
    amount[claim] += 0.01
    with pytest.raises(EvidenceError) as caught:
        check(found, amount=amount)
    assert caught.value.cells == (claims(found).cells[claim],)


@pytest.mark.parametrize("claim", range(8))
def test_a_smaller_limit_is_refused(found: Audit, claim: int) -> None:
    """Multipliers do not prove a tighter limit than theirs."""
    limit = claims(found).limit.copy()
    limit[claim] -= 0.01
    with pytest.raises(EvidenceError) as caught:
        check(found, limit=limit)
    assert caught.value.cells == (claims(found).cells[claim],)


@pytest.mark.parametrize("claim", range(8))
def test_a_table_that_does_not_add_up_is_refused(found: Audit, claim: int) -> None:
    """Moving one more cell breaks a relation."""
    cell = int(claims(found).cells[claim])
    for other in np.flatnonzero(found.hidden):
        if other != cell:
            table = changed(claims(found).deviations, claim, int(other), 0.01)
            with pytest.raises(EvidenceError) as caught:
                check(found, tables=table)
            assert caught.value.cells == (cell,)


def test_a_table_that_changes_published_cells_is_refused(found: Audit) -> None:
    """Adding one to a cell and its totals all the way keeps sums, but shows nothing."""
    example = examples.get("003-figure-11")
    table = claims(found).deviations.toarray().copy()
    moved = [example.cell(label) for label in ("M3P2", "M3TOTAL", "TOTALP2", "TOTALTOTAL")]
    table[0, moved] += 1.0
    assert np.abs(found.problem.relations @ table[0]).max() == 0.0
    with pytest.raises(EvidenceError):
        check(found, tables=sparse.csr_array(table))


def test_a_table_beyond_the_bounds_is_refused(found: Audit) -> None:
    """Twice the deviation reaches twice as far and adds up, but leaves the bounds."""
    with pytest.raises(EvidenceError) as caught:
        check(found, tables=claims(found).deviations * 2.0, amount=claims(found).amount * 2.0)
    assert set(caught.value.cells) == set(claims(found).cells.tolist())


def test_other_multipliers_are_refused(found: Audit) -> None:
    """No, zero, doubled and turned multipliers prove nothing about the limit."""
    g = claims(found).multipliers
    for wrong in (g * 0.0, g * 2.0, -g, sparse.csr_array(g.shape), g[:, ::-1]):
        with pytest.raises(EvidenceError):
            check(found, multipliers=sparse.csr_array(wrong))


def test_turned_sides_and_exchanged_cells_are_refused(found: Audit) -> None:
    """Evidence belongs to its cell and its side."""
    with pytest.raises(EvidenceError):
        check(found, sides=-claims(found).sides)
    with pytest.raises(EvidenceError):
        check(found, cells=claims(found).cells[::-1])
    with pytest.raises(EvidenceError):
        check(found, cells=np.zeros(8, np.int64))


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(found: Audit, wrong: float) -> None:
    """Neither not-a-number nor infinity slips through a comparison."""
    filled = np.full(8, wrong)
    with pytest.raises(EvidenceError):
        check(found, amount=filled)
    table = changed(claims(found).deviations, 0, int(claims(found).cells[0]), wrong)
    with pytest.raises(EvidenceError):
        check(found, tables=table)
    with pytest.raises(EvidenceError):
        check(found, multipliers=changed(claims(found).multipliers, 0, 0, wrong))


@pytest.mark.parametrize("wrong", [np.nan, -np.inf])
def test_a_limit_that_is_no_number_is_refused(found: Audit, wrong: float) -> None:
    """A limit of not-a-number or minus infinity claims something, and nothing shows it."""
    with pytest.raises(EvidenceError):
        check(found, limit=np.full(8, wrong))


def test_a_table_without_relations_passes() -> None:
    """Where no relation exists, bounds are all there is to know, and the check says so."""
    found = audit(Problem(value=[1, 2], upper=[5, 5]), np.array([0, 1]))
    assert found.findings[0].upper.tolist() == [5.0, 5.0]
    found.check()


def test_matrices_of_another_shape_are_refused(found: Audit) -> None:
    """Evidence for another table is no evidence for this one."""
    with pytest.raises(EvidenceError):
        check(found, tables=claims(found).deviations[:, :-1])
    with pytest.raises(EvidenceError):
        check(found, tables=claims(found).deviations[:-1])
    with pytest.raises(EvidenceError):
        check(found, multipliers=claims(found).multipliers[:, :-1])


def test_evidence_for_one_publication_is_refused_for_another(found: Audit) -> None:
    """With one cell fewer suppressed the tables are inconsistent."""
    hidden = found.hidden.copy()
    hidden[np.flatnonzero(hidden)[0]] = False
    with pytest.raises(EvidenceError):
        claims(found).check(found.problem, Knowledge.of(found.problem, hidden))


def test_limits_are_refused_for_a_publication_that_hides_more(found: Audit) -> None:
    """With more cells suppressed the limits no longer hold."""
    everything = Knowledge.of(found.problem, np.ones(found.problem.cell_count, bool))
    with pytest.raises(EvidenceError):
        claims(found).check(found.problem, everything)


def test_evidence_for_one_attacker_is_refused_for_a_better_informed_one(found: Audit) -> None:
    """Who knows one of the cells does not find the same tables possible."""
    insider = Attacker(name="insider", known=(int(claims(found).cells[0]),))
    with pytest.raises(EvidenceError):
        claims(found).check(found.problem, found.knowledge, insider)


def test_a_false_ray_is_refused() -> None:
    """A direction that meets a bound, breaks a sum or goes the wrong way does not last."""
    problem = Problem(
        value=[3, 4, 2, 9], upper=[np.inf, 9, np.inf, np.inf], relations=[[1, 1, 1, -1]], rhs=[0]
    )
    knowledge = Knowledge.of(problem, np.array([0, 1, 3]))
    requests = Requests(np.array([0]), np.array([1]), np.array([np.inf]))
    reaches = Attack(problem, knowledge).reach(requests)
    evidence = Evidence.of(requests, reaches)
    evidence.check(problem, knowledge)
    assert evidence.amount.tolist() == [np.inf]
    for ray in ([1, -1, 0, 0], [1, 0, 0, 0], [-1, 0, 0, -1], [0, 0, 0, 0], [1, 0, 1, 2]):
        false = dataclasses.replace(evidence, tables=sparse.csr_array([ray], dtype=float))
        with pytest.raises(EvidenceError):
            false.check(problem, knowledge)


def test_huge_multipliers_that_cancel_prove_nothing() -> None:
    """Where a relation comes twice, opposite multipliers add nothing, however large."""
    problem = Problem(value=[3, 4, 7], relations=[[1, 1, -1], [1, 1, -1]])
    knowledge = Knowledge.of(problem, np.array([0, 2]))
    requests = Requests(np.array([0]), np.array([1]), np.array([np.inf]))
    evidence = Evidence.of(requests, Attack(problem, knowledge).reach(requests))
    tampered = dataclasses.replace(
        evidence,
        amount=np.zeros(1),
        limit=np.zeros(1),
        multipliers=sparse.csr_array([[1e12, -1e12]]),
    )
    with pytest.raises(EvidenceError):
        tampered.check(problem, knowledge)


def test_a_finite_cell_does_not_move_without_end(found: Audit) -> None:
    """Claiming infinity for a bounded cell is refused."""
    amount = claims(found).amount.copy()
    amount[0] = np.inf
    with pytest.raises(EvidenceError):
        check(found, amount=amount)


def test_the_audit_checks_its_evidence(found: Audit) -> None:
    """`Audit.check` refuses when one finding's evidence was tampered with."""
    amount = claims(found).amount + 1.0
    tampered = dataclasses.replace(
        found.findings[0], evidence=dataclasses.replace(claims(found), amount=amount)
    )
    with pytest.raises(EvidenceError):
        dataclasses.replace(found, findings=(tampered,)).check()


def test_messages_name_cells_and_no_values() -> None:
    """An error about evidence tells which cell, not what is in it."""
    problem = Problem(
        value=[31415.25, 27182.75, 58598.0],
        relations=[[1, 1, -1]],
        labels=["north", "south", "all"],
    )
    found = audit(problem, np.array([0, 1]))
    with pytest.raises(EvidenceError) as caught:
        check(found, amount=claims(found).amount * 2)
    text = str(caught.value)
    assert "north" in text
    assert not any(digits in text for digits in ("31415", "27182", "58598", "62830", "54365"))


@settings(max_examples=150)
@given(data=st.data())
def test_whatever_passes_the_check_is_true(data: st.DataObject) -> None:
    """After any change to one entry, evidence that still passes still tells the truth."""
    published = data.draw(published_tables(units=(1.0,)))
    p, knowledge = published.problem, published.knowledge
    cell = data.draw(st.integers(0, p.cell_count - 1))
    side = data.draw(st.sampled_from([1, -1]))
    requests = Requests(np.array([cell]), np.array([side]), np.array([np.inf]))
    evidence = Evidence.of(requests, Attack(p, knowledge).reach(requests))
    what = data.draw(st.sampled_from(["amount", "limit", "sides", "tables", "multipliers", "both"]))
    by = data.draw(st.sampled_from([-7.0, -1.0, -1e-4, 1e-4, 0.5, 1.0, 100.0]))
    changes: dict[str, Any] = {}
    if what in ("amount", "limit"):
        changes[what] = np.abs(getattr(evidence, what) + by)
    elif what == "sides":
        changes[what] = -evidence.sides
    elif what == "both":
        factor = data.draw(st.sampled_from([0.5, 1.5, -1.0]))
        changes["tables"] = evidence.tables * factor
        changes["amount"] = evidence.amount * abs(factor)
    else:
        matrix = getattr(evidence, what)
        if matrix.shape[1] == 0:
            return
        column = data.draw(st.integers(0, matrix.shape[1] - 1))
        changes[what] = changed(matrix, 0, column, by)
    tampered = dataclasses.replace(evidence, **changes)
    try:
        tampered.check(p, knowledge)
    except EvidenceError:
        return
    lower, upper = brute_force(published, [cell])
    above = int(tampered.sides[0]) > 0
    reach = float(upper[0] - p.value[cell] if above else p.value[cell] - lower[0])
    assert tampered.amount[0] <= reach + published.tolerance
    assert tampered.limit[0] >= reach - published.tolerance
