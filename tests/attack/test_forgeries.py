"""Forged evidence: claims that look right next to huge numbers, and verdicts nothing shows."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tacit import examples
from tacit.attack.audit import Audit, audit
from tacit.attack.evidence import Evidence, EvidenceError
from tacit.attack.exposure import Exposure
from tacit.attack.findings import AttackerFindings
from tacit.attack.knowledge import Attacker, Knowledge
from tacit.problem import Problem


def claim(
    problem: Problem,
    hidden: Any,
    x: Any,
    amount: float,
    *,
    cell: int = 0,
    limit: float = np.inf,
    g: Any = None,
    attacker: Attacker | None = None,
) -> None:
    """Check one claim that the first cell rises by so much."""
    multipliers = np.zeros(problem.relation_count) if g is None else np.asarray(g, float)
    evidence = Evidence(
        np.array([cell]),
        np.array([1]),
        np.array([amount]),
        sparse.csr_array(np.asarray(x, float)[None, :]),
        np.array([limit]),
        sparse.csr_array(multipliers[None, :]),
    )
    evidence.check(problem, Knowledge.of(problem, hidden), attacker)


def refused(*args: Any, **kwargs: Any) -> None:
    """The claim does not pass."""
    with pytest.raises(EvidenceError):
        claim(*args, **kwargs)


HUGE_NEIGHBOUR = Problem(
    value=[100, 1e8, 1e8 + 100],
    relations=[[1, 1, -1]],
    sensitive=[0],
    upper_level=[10],
    lower_level=[10],
)


def test_a_residual_is_not_small_because_the_table_is_huge() -> None:
    """A cell that moves alone breaks its relation, however large the other cells are."""
    refused(HUGE_NEIGHBOUR, [0], [10, 0, 0], 10.0)
    exposed = audit(HUGE_NEIGHBOUR, [0])
    assert exposed.exposed_cells == [0]
    exposed.check()


def test_published_cells_do_not_move_at_all() -> None:
    """Not even by a last digit of a huge value."""
    refused(HUGE_NEIGHBOUR, [0], [1e-9, -1e-9, 0], 1e-9)
    refused(HUGE_NEIGHBOUR, [0, 2], [10, 1e-12, 10], 10.0)
    claim(HUGE_NEIGHBOUR, [0, 2], [10, 0, 10], 10.0)


def test_a_residual_is_not_small_because_the_moves_are_huge() -> None:
    """Cells that are far away and move against each other hide no small cell."""
    problem = Problem(
        value=[100, 1e10, 1e10, 2e10 + 100, 2e10],
        relations=[[1, 1, 1, -1, 0], [0, 1, 1, 0, -1]],
    )
    hidden = [0, 1, 2]
    # The second relation keeps the sum of the huge cells, so that the first cell is known.
    refused(problem, hidden, [10, 1e9, -1e9, 0, 0], 10.0)
    refused(problem, hidden, [10, 1e9, -1e9 - 10, 0, 0], 10.0)
    assert audit(problem.replace(sensitive=[0], upper_level=[10]), hidden).exposed_cells == [0]


def test_moves_that_swallow_the_amount_are_refused() -> None:
    """Where cells have no bound, moves so large that adding up loses the small one show nothing."""
    problem = Problem(
        value=[100, 50, 150, 200],
        relations=[[1, 1, -1, 0], [0, 1, -1, 1]],
        rhs=[0, 100],
    )
    hidden = [0, 1, 2]
    far = 1e18
    assert 10.0 + far - far == 0.0
    refused(problem, hidden, [10, far, far, 0], 10.0)


def test_bounds_are_not_exceeded_by_a_share_of_a_huge_value() -> None:
    """A huge cell whose interval is narrow leaves no more capacity than its interval."""
    problem = Problem(
        value=[100, 1e12, 1e12 + 100], upper=[200, 1e12 + 1, 2e12], relations=[[1, 1, -1]]
    )
    refused(problem, [0, 1], [-2, 2, 0], 2.0, cell=1)
    refused(problem, [0, 1], [-1.001, 1.001, 0], 1.001, cell=1)
    claim(problem, [0, 1], [-1, 1, 0], 1.0, cell=1)


def test_many_small_residuals_do_not_add_up_to_the_amount() -> None:
    """A chain of relations, each missed by little, does not carry a cell to its level."""
    length = 200
    relations = np.zeros((length, length + 1))
    relations[np.arange(length), np.arange(length)] = 1
    relations[np.arange(length), np.arange(length) + 1] = -1
    problem = Problem(value=np.full(length + 1, 5.0), relations=relations)
    x = np.linspace(1.0, 1.0 - 1e-6, length + 1)
    refused(problem, np.arange(length + 1), x, 1.0)
    claim(problem, np.arange(length + 1), np.ones(length + 1), 1.0)


def test_small_coefficients_do_not_shrink_residuals() -> None:
    """A relation in tiny units is no looser than the same relation in large ones."""
    for unit in (1e-9, 1.0, 1e9):
        problem = Problem(value=[100, 50, 150], relations=sparse.csr_array([[unit, unit, -unit]]))
        refused(problem, [0], [10, 0, 0], 10.0)
        claim(problem, [0, 2], [10, 0, 10], 10.0)


def test_a_limit_below_the_amount_is_refused() -> None:
    """Nobody moves further than it can."""
    problem = Problem(value=[3, 4, 7], upper=[5, 9, 9], relations=[[1, 1, -1]])
    claim(problem, [0, 1], [2, -2, 0], 2.0, limit=2.0, g=[0])
    refused(problem, [0, 1], [2, -2, 0], 2.0, limit=1.9999, g=[0])
    refused(problem, [0, 1], [2, -2, 0], 2.0, limit=-np.inf, g=[0])
    refused(problem, [0, 1], [2, -2, 0], -1.0, limit=2.0, g=[0])


def test_huge_multipliers_do_not_prove_by_rounding() -> None:
    """Multipliers whose rounding is larger than the limit prove nothing, finite capacity or not."""
    relations = [[1, 1, -1], [1, 1, -1]]
    for upper in (np.inf, 1e6):
        problem = Problem(value=[3, 4, 7], upper=upper, relations=relations)
        big = 2.0**60
        # In numbers that are rounded, 1 - big + big is 0.
        refused(problem, [0, 2], [0, 0, 0], 0.0, limit=0.0, g=[big, -big])
        refused(problem, [0, 2], [0, 0, 0], 0.0, limit=0.0, g=[1e17, -1e17 + 16])


def test_reduced_costs_of_cells_without_bound_are_zero_or_prove_nothing() -> None:
    """A reduced cost of 1e-10 is not rounding where nothing was rounded."""
    problem = Problem(value=[1, 1e10], relations=sparse.csr_array([[1.0, -1e-10]]), upper=np.inf)
    refused(problem, [0, 1], [0, 0], 0.0, limit=0.0, g=[1.0])
    # What is taken off the reduced cost of a huge cell is missing at one without bound.
    problem = Problem(
        value=[10, 1e13, 5, 1e13 + 15, 5],
        upper=[np.inf, 2e13, np.inf, 1e13 + 15, np.inf],
        relations=[[1, -1, 1, 0, 0], [0, 0, 1, 0, -1]],
        rhs=[15 - 1e13, 0],
    )
    honest = 1e13
    claim(problem, [0, 1], [0] * 5, 0.0, limit=honest, g=[1, 0])
    off = 1 - 1e-10
    refused(problem, [0, 1, 2], [0] * 5, 0.0, limit=honest * off, g=[off, 0])


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_moves_nothing(wrong: float) -> None:
    """Neither amounts, moves nor multipliers pass that are no numbers."""
    problem = Problem(value=[3, 4, 7], upper=[5, 9, 9], relations=[[1, 1, -1]])
    refused(problem, [0, 1], [wrong, -2, 0], 2.0)
    refused(problem, [0, 1], [2, wrong, 0], 2.0)
    refused(problem, [0, 1], [2, -2, 0], 2.0, limit=2.0, g=[wrong])
    refused(problem, [0, 1], [2, -2, 0], wrong)


def test_a_direction_that_does_not_add_up_is_refused() -> None:
    """Along a direction without end every residual grows without end."""
    problem = Problem(value=[3, 4, 7, 7], relations=[[1, 1, -1, 0], [0, 0, 1, -1]])
    claim(problem, [0, 2, 3], [1, 0, 1, 1], np.inf)
    refused(problem, [0, 2, 3], [1, 0, 1, 1 - 1e-6], np.inf)
    refused(problem, [0, 2], [1, 0, 1, 0], np.inf)
    refused(problem, [0, 2, 3], [1e-320, 0, 0, 0], np.inf)


def test_entries_given_twice_count_as_their_sum() -> None:
    """A move and its opposite in the same cell are no move."""
    problem = Problem(value=[3, 4, 7], upper=[5, 9, 9], relations=[[1, 1, -1]])
    x = sparse.csr_array(
        (np.array([-2.0, 2.0, -2.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 3)
    )
    evidence = Evidence(
        np.array([0]),
        np.array([1]),
        np.array([2.0]),
        x,
        np.array([np.inf]),
        sparse.csr_array((1, 1)),
    )
    with pytest.raises(EvidenceError):
        evidence.check(problem, Knowledge.of(problem, [0, 1]))


def test_a_cell_known_to_the_attacker_has_no_capacity_of_its_own() -> None:
    """Only a cell judged without what the attacker knows of it has a capacity of its own."""
    problem = Problem(value=[3, 4, 7], upper=[9, 9, 9], relations=[[1, 1, -1]])
    insider = Attacker(name="insider", known=(0,))
    refused(problem, [0, 1], [2, -2, 0], 2.0, attacker=insider)
    colluding = Attacker(name="colluding", colluding=(0,))
    claim(problem, [0, 1], [2, -2, 0], 2.0, attacker=colluding)
    refused(problem, [0, 1], [-2, 2, 0], 2.0, cell=1, attacker=colluding)
    owner = Attacker(name="owner", own=frozenset({0}), at_least={0: 2.5})
    refused(problem, [0, 1], [-2, 2, 0], 2.0, cell=1, attacker=owner)


@pytest.fixture
def found() -> Audit:
    """The audit of a printed table, one of whose cells asks for more than it has."""
    example = examples.get("003-figure-11")
    assert example.suppressed is not None
    cell = int(example.problem.sensitive[0])
    asking = example.problem.replace(sensitive=[cell, 1], upper_level=[1, 1], lower_level=[1, 1])
    return audit(asking, example.suppressed)


def forged(found: Audit, **changes: Any) -> Audit:
    """The audit with something of its only attacker changed."""
    return dataclasses.replace(found, findings=(dataclasses.replace(found.findings[0], **changes),))


def test_a_verdict_follows_from_the_evidence(found: Audit) -> None:
    """Neither left out nor invented exposures pass, nor do other shares or other intervals."""
    found.check()
    (findings,) = found.findings
    assert found.exposed_cells == [1]
    (first, *rest) = findings.exposures
    invented = Exposure(int(found.problem.sensitive[1]), "x", "external", "upper", 0.5)
    for exposures in (
        (),
        tuple(rest),
        (*findings.exposures, invented),
        (dataclasses.replace(first, share=0.9), *rest),
    ):
        with pytest.raises(EvidenceError, match="verdict"):
            forged(found, exposures=exposures).check()
    with pytest.raises(EvidenceError, match="verdict"):
        forged(found, upper=findings.upper + 1).check()
    with pytest.raises(EvidenceError, match="verdict"):
        forged(found, exact=~findings.exact).check()


def test_every_sensitive_cell_and_side_is_covered(found: Audit) -> None:
    """Claims left out leave cells without a verdict, which no audit can hide."""
    (findings,) = found.findings
    evidence = findings.evidence
    for kept in (evidence.cells != 1, ~((evidence.cells == 1) & (evidence.sides == 1))):
        fewer = Evidence(
            evidence.cells[kept],
            evidence.sides[kept],
            evidence.amount[kept],
            sparse.csr_array(evidence.deviations[kept]),
            evidence.limit[kept],
            sparse.csr_array(evidence.multipliers[kept]),
        )
        with pytest.raises(EvidenceError, match="verdict"):
            forged(found, evidence=fewer, exposures=()).check()
        honest = AttackerFindings.of(found.problem, findings.attacker, fewer)
        assert honest.undecided == (1,)
        assert not dataclasses.replace(found, findings=(honest,)).safe
    with pytest.raises(EvidenceError, match="no attacker"):
        dataclasses.replace(found, findings=()).check()


def test_claims_about_other_tables_are_refused(found: Audit) -> None:
    """Cells that do not exist and lists of different lengths show nothing."""
    (findings,) = found.findings
    evidence = findings.evidence
    for changes in (
        {"cells": evidence.cells + found.problem.cell_count},
        {"cells": evidence.cells - found.problem.cell_count},
        {"sides": 2 * evidence.sides},
        {"sides": evidence.sides[1:]},
        {"amount": evidence.amount[1:]},
        {"limit": evidence.limit[1:]},
    ):
        false = dataclasses.replace(evidence, **changes)
        with pytest.raises(EvidenceError):
            false.check(found.problem, found.knowledge)


def test_an_exposure_needs_a_limit_below_the_level(found: Audit) -> None:
    """A table that does not reach the level shows no exposure: another one might."""
    (findings,) = found.findings
    evidence = findings.evidence
    lazy = dataclasses.replace(
        evidence,
        amount=np.zeros(len(evidence)),
        limit=np.full(len(evidence), np.inf),
    )
    judged = AttackerFindings.of(found.problem, findings.attacker, lazy)
    assert judged.exposures == ()
    assert judged.undecided == tuple(found.problem.sensitive.tolist())
    with pytest.raises(EvidenceError, match="verdict"):
        forged(found, evidence=lazy).check()


def test_cells_that_are_not_sensitive_have_no_level_to_miss() -> None:
    """A last digit in the wrong direction exposes nobody who asks for nothing."""
    problem = Problem(value=[3, 4, 7], relations=[[1, 1, -1]], sensitive=[1])
    every = np.arange(3)
    evidence = Evidence(
        np.tile(every, 2),
        np.repeat([1, -1], 3),
        np.full(6, -1e-17),
        sparse.csr_array((6, 3)),
        np.zeros(6),
        sparse.csr_array((6, 1)),
    )
    judged = AttackerFindings.of(problem, Attacker.external(), evidence)
    assert judged.exposures == ()
    assert judged.undecided == ()
