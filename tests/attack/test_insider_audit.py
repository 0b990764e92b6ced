"""Audits that face the contributors of a table: verdicts, evidence and forgeries."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from tacit.attack.audit import Audit, audit
from tacit.attack.evidence import Evidence, EvidenceError
from tacit.attack.insider_audit import InsiderAudit
from tacit.attack.insider_knowledge import InsiderKnowledge
from tacit.attack.insider_search import open_pairs, readers_requests
from tacit.attack.knowledge import Attacker, Knowledge
from tacit.attack.sweep import Attack
from tacit.errors import InputError
from tacit.insiders import Insiders, LevelsAgainst
from tacit.microdata import tabulate
from tacit.observer import Observer
from tacit.outcome import Intervals, Values
from tacit.problem import Problem
from tacit.rules import PPercent
from tests.attack.contributors import (
    KINDS,
    RULES,
    assert_shown,
    contributed,
    exposures,
    insiders_of,
    level_against,
    minimal,
)


@pytest.mark.parametrize("coalition", [1, 2])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), everyone=st.booleans(), exact=st.booleans())
def test_audits_agree_with_brute_force(
    kind: str, rule: str, coalition: int, seed: int, everyone: bool, exact: bool
) -> None:
    """Verdicts are those of linear models with each insider's figures fixed; evidence holds."""
    made = contributed(seed, kind, rule, coalition=coalition, everyone=everyone)
    expected = made.exposed()
    found = audit(made.problem, made.hidden, exact=exact)
    found.check()
    assert found.safe == (not expected)
    readers = {cell for cell, _, who in expected if not who}
    assert set(found.exposed_cells) == {cell for cell, _, _ in expected}
    theirs = {each for each in expected if each[0] not in readers}
    assert {(cell, name) for cell, name, _ in minimal(theirs)} <= exposures(found)
    assert exposures(found) <= {(cell, name) for cell, name, _ in theirs}
    if found.safe:
        assert_shown(made, found)


def row_of_firms(first: float, second: float) -> Problem:
    """Two cells, each of a single firm, and their total."""
    A = [[1, 1, -1]]
    value = np.array([first, second, first + second])
    amounts = np.array([[first, 0, first], [0, second, second]])
    readers = np.array([level_against(amounts[:, i], None, "percentage", 0.1) for i in range(3)])
    sensitive = np.array([0, 1])
    return Problem(
        value=value,
        relations=A,
        sensitive=sensitive,
        lower_level=readers[:2, 0],
        upper_level=readers[:2, 1],
        insiders=insiders_of(amounts, [0, 1], sensitive, readers, "percentage", 0.1),
        labels=["left", "right", "total"],
    )


def test_two_single_firms_in_a_row_expose_each_other() -> None:
    """With nothing else suppressed each of two single firms computes the other, both ways."""
    problem = row_of_firms(200, 30)
    assert audit(problem, [0, 1], insiders=False).safe
    found = audit(problem, [0, 1])
    found.check()
    assert not found.safe
    assert found.exposed_cells == [0, 1]
    assert found.insiders is not None
    assert {(each.name, each.attacker) for each in found.insiders.exposures} == {
        ("cell left", "contributor alone in cell right"),
        ("cell right", "contributor alone in cell left"),
    }
    assert {each.level for each in found.exposures} == {"lower", "upper"}


def test_a_parent_with_one_child_from_one_firm_is_feasible() -> None:
    """Both are one thing known: asking for the readers' levels would make this infeasible."""
    # Two parents of a total; the first has one child from one firm, the second two others.
    A = [[1, 1, -1, 0, 0, 0], [-1, 0, 0, 1, 0, 0], [0, -1, 0, 0, 1, 1]]
    amounts = np.array([[50, 0, 50, 50, 0, 0], [0, 20, 20, 0, 20, 0], [0, 19, 19, 0, 0, 19]], float)
    value = amounts.sum(axis=0)
    readers = np.array([level_against(amounts[:, i], None, "percentage", 0.2) for i in range(6)])
    sensitive = np.array([0, 3])
    problem = Problem(
        value=value,
        relations=A,
        sensitive=sensitive,
        lower_level=readers[sensitive, 0],
        upper_level=readers[sensitive, 1],
        insiders=insiders_of(amounts, [0, 1, 2], sensitive, readers, "percentage", 0.2),
    )
    found = audit(problem, [0, 1, 3, 4, 5])
    found.check()
    assert found.safe
    assert found.insiders is not None
    # The other firms know cells that have to move: each was looked at.
    assert found.insiders.pairs > 0


def test_a_small_firm_and_a_large_one_under_a_minimum_frequency() -> None:
    """Firms of 200 and 3 alone in two children: their parent, of two firms, is sensitive, too."""
    # The parent and its children, its sister, and the total of both.
    A = [[-1, 1, 1, 0, 0], [1, 0, 0, 1, -1]]
    firms = [[200, 200, 0, 0, 200], [3, 0, 3, 0, 3], [0, 0, 0, 40, 40], [0, 0, 0, 25, 25]]
    amounts = np.array(firms, float)
    value = amounts.sum(axis=0)
    readers = np.array([level_against(amounts[:, i], None, "percentage", 0.1) for i in range(5)])
    sensitive = np.array([0, 1, 2])
    insiders = insiders_of(amounts, [0, 1], sensitive, readers, "percentage", 0.1)
    problem = Problem(
        value=value,
        relations=A,
        sensitive=sensitive,
        lower_level=readers[sensitive, 0],
        upper_level=readers[sensitive, 1],
        insiders=insiders,
    )
    found = audit(problem, [0, 1, 2, 3])
    found.check()
    assert found.safe
    # Together they know all of it, and nothing of others is to be found out.
    both = problem.replace(insiders=dataclasses.replace(insiders, coalition=2))
    again = audit(both, [0, 1, 2, 3])
    again.check()
    assert again.safe
    # With the parent published each computes the other.
    children = problem.replace(
        sensitive=[1, 2],
        lower_level=[0.3, 0.3],
        upper_level=[0.3, 0.3],
        insiders=insiders_of(amounts, [0, 1], np.array([1, 2]), readers, "percentage", 0.1),
    )
    assert audit(children, [1, 2]).exposed_cells == [1, 2]


def test_coalitions_find_out_what_their_members_do_not() -> None:
    """Three single firms in a row are safe against each of them, but not against two."""
    A = [[1, 1, 1, -1]]
    amounts = np.array([[20, 0, 0, 20], [0, 30, 0, 30], [0, 0, 40, 40]], float)
    readers = np.array([level_against(amounts[:, i], None, "percentage", 0.1) for i in range(4)])
    sensitive = np.arange(3)
    problems = [
        Problem(
            value=amounts.sum(axis=0),
            relations=A,
            sensitive=sensitive,
            lower_level=readers[:3, 0],
            upper_level=readers[:3, 1],
            insiders=insiders_of(
                amounts, [0, 1, 2], sensitive, readers, "percentage", 0.1, coalition
            ),
        )
        for coalition in (1, 2)
    ]
    single, double = (audit(problem, [0, 1, 2]) for problem in problems)
    single.check()
    double.check()
    assert single.safe
    assert double.exposed_cells == [0, 1, 2]
    assert {each.attacker.count("contributor") for each in double.exposures} == {2}
    assert "up to 2 together" in double.summary()


def many_firms(coalition: int = 1) -> tuple[Problem, np.ndarray[Any, np.dtype[np.bool_]]]:
    """A safe table in which some pairs had to be looked at again."""
    for seed in range(200):
        made = contributed(seed, "chain", "percentage", coalition=coalition)
        found = audit(made.problem, made.hidden)
        if found.safe and found.insiders is not None and found.insiders.pairs > 3:
            return made.problem, made.hidden
    raise AssertionError("no such table was found")


def forged(found: Audit, **changes: Any) -> Audit:
    """The audit with something of what it says of insiders changed."""
    assert found.insiders is not None
    return dataclasses.replace(found, insiders=dataclasses.replace(found.insiders, **changes))


def without(found: Audit, kept: Any) -> Audit:
    """The audit with some of the claims about insiders only."""
    assert found.insiders is not None
    evidence = found.insiders.evidence
    fewer = Evidence(
        evidence.cells[kept],
        evidence.sides[kept],
        evidence.amount[kept],
        sparse.csr_array(evidence.deviations[kept]),
        evidence.limit[kept],
        sparse.csr_array(evidence.multipliers[kept]),
    )
    return forged(found, evidence=fewer, members=found.insiders.members[kept])


@pytest.mark.parametrize("coalition", [1, 2])
def test_a_claim_left_out_is_missed(coalition: int) -> None:
    """Each pair that needs a row of its own is found by the check."""
    problem, hidden = many_firms(coalition)
    found = audit(problem, hidden)
    found.check()
    assert found.insiders is not None
    members = found.insiders.members
    own = np.flatnonzero((members >= 0).any(axis=1))
    missed = 0
    for claim in own.tolist():
        try:
            without(found, np.arange(len(members)) != claim).check()
        except EvidenceError:
            missed += 1
    assert missed == len(own)
    with pytest.raises(EvidenceError, match="contributors"):
        without(found, np.zeros(len(members), bool)).check()


def test_rows_of_one_insider_do_not_do_for_another() -> None:
    """Claims given to others, or to readers, are refused or leave the pair without a claim."""
    problem, hidden = many_firms()
    found = audit(problem, hidden)
    assert found.insiders is not None
    members = found.insiders.members
    assert problem.insiders is not None
    for changed in (
        np.where(members >= 0, (members + 1) % len(problem.insiders), members),
        np.full_like(members, -1),
        members + len(problem.insiders),
        members[:-1],
        np.column_stack([members, members]),
    ):
        with pytest.raises(EvidenceError):
            forged(found, members=changed).check()


def test_rows_that_move_what_the_insider_knows_are_refused() -> None:
    """The readers' row, claimed for an insider who knows a cell in it, does not pass."""
    problem = row_of_firms(200, 30)
    found = audit(problem, [0, 1])
    assert found.insiders is not None
    evidence = found.insiders.evidence
    readers = found.findings[0].evidence
    place = [
        int(np.flatnonzero((readers.cells == cell) & (readers.sides == side))[0])
        for cell, side in zip(evidence.cells.tolist(), evidence.sides.tolist(), strict=True)
    ]
    lying = dataclasses.replace(
        evidence,
        amount=readers.amount[place],
        tables=readers.deviations[place],
        row=np.arange(len(evidence)),
        limit=np.full(len(evidence), np.inf),
    )
    with pytest.raises(EvidenceError):
        forged(found, evidence=lying, exposures=(), undecided=()).check()


def test_an_unsafe_verdict_needs_proof() -> None:
    """Neither left out nor invented exposures pass, and no limit without multipliers."""
    problem = row_of_firms(200, 30)
    found = audit(problem, [0, 1])
    found.check()
    assert found.insiders is not None
    first, *rest = found.insiders.exposures
    for changes in (
        {"exposures": ()},
        {"exposures": tuple(rest)},
        {"exposures": (dataclasses.replace(first, share=0.9), *rest)},
        {"exposures": (dataclasses.replace(first, attacker="nobody"), *rest)},
        {"undecided": (0,)},
        {"pairs": 0},
        {"count": 7},
    ):
        with pytest.raises(EvidenceError, match="contributors"):
            forged(found, **changes).check()
    evidence = found.insiders.evidence
    lazy = dataclasses.replace(evidence, limit=np.full(len(evidence), np.inf))
    again = InsiderAudit.of(problem, found.findings[0], lazy, found.insiders.members)
    assert again.exposures == ()
    assert again.undecided == (0, 1)
    assert not dataclasses.replace(found, insiders=again).safe
    unproven = dataclasses.replace(
        evidence, multipliers=sparse.csr_array(evidence.multipliers.shape)
    )
    with pytest.raises(EvidenceError):
        forged(found, evidence=unproven).check()


def dressed_up(found: Audit, rng: np.random.Generator) -> list[Audit]:
    """An audit that finds exposures, changed in several ways so that it claims to be safe."""
    assert found.insiders is not None
    insider, readers = found.insiders, found.findings[0].evidence
    evidence, count = insider.evidence, len(insider.evidence)
    place = [
        int(np.flatnonzero((readers.cells == cell) & (readers.sides == side))[0])
        for cell, side in zip(evidence.cells.tolist(), evidence.sides.tolist(), strict=True)
    ]
    endless = np.full(count, np.inf)
    generous = dataclasses.replace(evidence, amount=evidence.amount + 1e6, limit=endless)
    of_readers = dataclasses.replace(
        evidence,
        amount=readers.amount[place],
        tables=sparse.csr_array(readers.deviations[place]),
        row=np.arange(count),
        limit=endless,
    )
    order = rng.permutation(count)
    mixed = dataclasses.replace(
        of_readers, tables=sparse.csr_array(evidence.deviations[order]), limit=endless
    )
    members = insider.members
    claims = [
        (evidence, members),
        (generous, members),
        (of_readers, members),
        (mixed, members),
        (of_readers, np.full_like(members, -1)),
        (Evidence.none(found.problem), members[:0]),
        (of_readers, members[order]),
    ]
    return [
        forged(found, evidence=given, members=who, exposures=(), undecided=())
        for given, who in claims
    ]


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(KINDS),
    rule=st.sampled_from(RULES),
    coalition=st.sampled_from([1, 2]),
)
def test_no_forgery_makes_an_exposed_cell_safe(
    seed: int, kind: str, rule: str, coalition: int
) -> None:
    """Whatever is claimed, what exposes a cell to an insider does not pass as safe."""
    made = contributed(seed, kind, rule, coalition=coalition)
    found = audit(made.problem, made.hidden)
    if found.insiders is None or not found.insiders.exposures:
        return
    for lie in dressed_up(found, np.random.default_rng(seed)):
        with pytest.raises(EvidenceError):
            lie.check()


def test_an_audit_of_insiders_includes_readers() -> None:
    """Whoever else is asked for, readers are looked at, for insiders are readers, too."""
    problem = row_of_firms(200, 30)
    attacker = Attacker(name="someone", known=(2,))
    found = audit(problem, [0, 1], attackers=[attacker])
    assert [each.attacker.name for each in found.findings] == ["someone", "external"]
    found.check()
    left = audit(problem, [0, 1], attackers=[attacker], insiders=False)
    assert [each.attacker.name for each in left.findings] == ["someone"]
    assert left.insiders is None
    assert "not looked at" in left.summary()
    with pytest.raises(EvidenceError, match="readers"):
        dataclasses.replace(found, findings=found.findings[:1]).check()


def test_the_summary_counts_insiders_and_pairs() -> None:
    """It says how many contributors there are, and which cells are exposed to whom."""
    found = audit(row_of_firms(200, 30), [0, 1])
    text = found.summary()
    assert "2 contributors who know their own figures: 2 exposed, 4 pairs" in text
    assert "cell left: 0% of the lower and upper levels to contributor alone in cell right" in text
    assert "200" not in text
    plain = audit(row_of_firms(200, 30).replace(insiders=None), [0, 1])
    assert plain.safe
    assert "contributor" not in plain.summary()


def test_cells_exposed_to_readers_are_not_asked_again() -> None:
    """They are reported once, for readers."""
    problem = row_of_firms(200, 30)
    found = audit(problem, [0])
    found.check()
    assert found.exposed_cells == [0, 1]
    assert found.insiders is not None
    assert found.insiders.pairs == 0
    assert {each.attacker for each in found.exposures} == {"external"}


def test_adjusted_values_tell_insiders_no_more_than_their_own_figures() -> None:
    """Nothing is deduced from values of which nobody is told how far they are off."""
    problem = row_of_firms(200, 30)
    found = audit(problem, Values(np.array([260.0, 8.0, 268.0])))
    assert found.insiders is not None
    assert found.insiders.count == 2
    assert found.safe
    found.check()
    assert "no more than these" in found.summary()
    with pytest.raises(EvidenceError):
        forged(found, undecided=(0,)).check()


def test_rounded_values_and_intervals_are_attacked_by_insiders() -> None:
    """Whoever is alone in one of two cells learns the other to within what the total leaves."""
    problem = row_of_firms(200, 30)
    wide = Values(np.array([200.0, 0.0, 200.0]), radius=np.full(3, 100.0))
    narrow = Values(np.array([200.0, 30.0, 230.0]), radius=np.array([50.0, 50.0, 1.0]))
    for values, safe in ((wide, True), (narrow, False)):
        assert values.radius is not None
        found = audit(problem, values)
        found.check()
        assert found.safe == safe
        assert audit(problem, values, insiders=False).safe
        low, high = values.value - values.radius, values.value + values.radius
        same = audit(problem, Intervals(low, high))
        same.check()
        assert same.safe == safe


def test_an_audit_that_is_stopped_is_not_safe() -> None:
    """Pairs without an answer leave their cells without a verdict."""

    class Impatient(Observer):
        """Stops once readers have been looked at."""

        def __init__(self) -> None:
            self.asked = 0

        def should_stop(self) -> bool:
            self.asked += 1
            return self.asked > 1

    problem, hidden = many_firms()
    stopped = audit(problem, hidden, observer=Impatient())
    assert not stopped.safe
    assert stopped.unchecked
    stopped.check()


def test_threads_find_the_same() -> None:
    """However the work is spread, exposures and evidence are the same."""
    made = contributed(5, "3-D", "percentage", coalition=2, everyone=True)
    alone = audit(made.problem, made.hidden)
    with ThreadPoolExecutor(2) as pool:
        spread = audit(made.problem, made.hidden, executor=pool)
    assert alone.insiders is not None
    assert spread.insiders is not None
    assert alone.exposures == spread.exposures
    assert np.array_equal(alone.insiders.members, spread.insiders.members)
    assert np.array_equal(alone.insiders.evidence.amount, spread.insiders.evidence.amount)


def test_suggested_deviations_are_used_for_insiders() -> None:
    """What a method knows is checked against the insider's figures before it is used."""
    problem, hidden = many_firms()
    found = audit(problem, hidden, exact=False)
    assert found.insiders is not None
    rows = sparse.csr_array(found.insiders.evidence.deviations)
    again = audit(problem, hidden, exact=False, suggested=rows)
    again.check()
    assert again.safe


def test_a_table_without_insiders_cannot_be_asked_about_them() -> None:
    """The error says what is missing."""
    problem = row_of_firms(200, 30).replace(insiders=None)
    reader = audit(problem, [0, 1]).findings[0]
    with pytest.raises(InputError, match="no insiders"):
        InsiderAudit.of(problem, reader, Evidence.none(problem), np.zeros((0, 1), np.int64))


def test_insiders_without_any_entry_are_readers() -> None:
    """An insider whose cells were all removed from the table adds nothing."""
    problem = row_of_firms(200, 30)
    nobody = Insiders(
        start=np.zeros(3, np.int64),
        cells=np.zeros(0, np.int64),
        amount=np.zeros(0),
        alone=np.zeros(0, bool),
        own=LevelsAgainst.zero(0),
        outside=LevelsAgainst(problem.lower_level.copy(), problem.upper_level.copy(), np.zeros(2)),
        coalition=2,
    )
    found = audit(problem.replace(insiders=nobody), [0, 1])
    found.check()
    assert found.safe
    assert found.insiders is not None
    assert (found.insiders.count, found.insiders.pairs) == (2, 0)


def test_knowledge_of_readers_is_not_changed_by_insiders() -> None:
    """What everyone knows stays what the publication says."""
    problem = row_of_firms(200, 30)
    found = audit(problem, [0, 1])
    told = Knowledge.of(problem, [0, 1])
    assert np.array_equal(found.knowledge.up, told.up)
    assert np.array_equal(found.knowledge.down, told.down)


def test_rows_that_move_most_cells_are_looked_for_again() -> None:
    """Of a table that is no network few pairs are asked, though optima move nearly all cells."""
    generator = np.random.default_rng(3)
    count = 260
    records = {
        **{name: generator.integers(0, 5, count) for name in "rst"},
        "firm": generator.integers(0, 200, count),
        "v": generator.integers(1, 100, count),
    }
    table = tabulate(records, dict.fromkeys("rst"), "v", contributor="firm").apply(PPercent(10))
    problem = table.problem("singletons")
    hidden = np.arange(problem.cell_count) > 0
    known = InsiderKnowledge(problem)
    requests = readers_requests(problem)
    attack = Attack(problem, Knowledge.of(problem, hidden))
    dense, few = attack.reach(requests), attack.reach(requests, moves="few")
    assert dense.reached(requests).all()
    assert few.reached(requests).all()
    assert few.deviations.nnz < dense.deviations.nnz / 10
    spoilt = len(open_pairs(problem, requests, dense.deviations, known))
    found = audit(problem, hidden, cells="sensitive", exact=False)
    found.check()
    assert found.insiders is not None
    assert found.insiders.pairs < spoilt / 10
