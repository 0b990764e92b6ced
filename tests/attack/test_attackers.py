"""Attackers who know more than the publication."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from tacit import examples
from tacit.attack.audit import audit
from tacit.attack.findings import AttackerFindings
from tacit.attack.knowledge import (
    Attacker,
    Knowledge,
    largest_contributors,
    singleton_respondents,
)
from tacit.errors import InputError
from tacit.examples import Example
from tacit.problem import Problem
from tests.attack.tables import Published, agree, brute_force, published_tables


def interval(found: AttackerFindings, cell: int) -> tuple[float, float]:
    """What an attacker deduces of one cell."""
    at = found.cells.tolist().index(cell)
    return float(found.lower[at]), float(found.upper[at])


def worked(figure: str) -> Example:
    """One of the worked examples of [KarlssonOlsson2015]."""
    return examples.get(f"002-figure-{figure}")


@pytest.mark.parametrize("figure", ["3.3", "3.4", "3.5"])
def test_deductions_of_paper_002_to_the_digit(figure: str) -> None:
    """Single contributors deduce the printed bounds, and exposure follows from them."""
    example = worked(figure)
    assert example.suppressed is not None
    assert example.deductions
    for deduction in example.deductions:
        attacker = Attacker.respondent({deduction.attacker: deduction.contribution})
        found = audit(example.problem, example.suppressed, attackers=[attacker])
        _, upper = interval(found.findings[0], deduction.cell)
        assert upper == pytest.approx(deduction.upper, abs=1e-9)
        hit = {exposure.cell for exposure in found.exposures if exposure.level == "upper"}
        assert (deduction.cell in hit) == deduction.is_too_close
        found.check()


def test_example_3_1_is_safe_against_every_largest_contributor() -> None:
    """With the contributions of Figure 3.3 nobody comes too close."""
    example = worked("3.3")
    assert example.suppressed is not None
    contributions = {
        example.cell(label): parts
        for label, parts in example.contributions.items()
        if example.suppressed[example.cell(label)]
    }
    attackers = [Attacker.external(), *largest_contributors(contributions)]
    found = audit(example.problem, example.suppressed, attackers=attackers)
    assert found.safe
    assert len(found.findings) == 5


def test_example_3_2_singletons_expose_each_other() -> None:
    """Of two singletons in a column each computes the other; a reader computes neither."""
    example = worked("3.4")
    assert example.suppressed is not None
    a1, b1 = example.cell("A1"), example.cell("B1")
    readers = audit(example.problem, example.suppressed)
    assert readers.safe
    attackers = singleton_respondents(example.problem)
    assert sorted(attacker.known for attacker in attackers) == [(a1,), (b1,)]
    found = audit(example.problem, example.suppressed, attackers=attackers)
    assert found.exposed_cells == sorted([a1, b1])
    for attacker, result in zip(attackers, found.findings, strict=True):
        (own,) = attacker.known
        other, value = (b1, 80.0) if own == a1 else (a1, 50.0)
        assert interval(result, other) == (value, value)
        assert {exposure.cell for exposure in result.exposures} == {other}
        assert {exposure.attacker for exposure in result.exposures} == {attacker.name}
    found.check()


def test_example_3_3_large_contributor_comes_too_close() -> None:
    """The largest contributor to A1 finds B1 at most 82 where 85 is asked for."""
    example = worked("3.5")
    assert example.suppressed is not None
    a1, b1 = example.cell("A1"), example.cell("B1")
    attackers = largest_contributors({a1: (48, 2), b1: (70, 8, 2)})
    found = audit(example.problem, example.suppressed, attackers=attackers)
    assert found.exposed_cells == [b1]
    (exposure,) = found.exposures
    assert exposure.level == "upper"
    assert exposure.share == pytest.approx(2 / 5)
    assert interval(found.findings[0], b1)[1] == pytest.approx(82)
    # The second largest contributor to B1 alone does not come closer than 122 to A1's column.
    second = audit(example.problem, example.suppressed, attackers=[Attacker.respondent({b1: 8})])
    assert interval(second.findings[0], a1)[1] == pytest.approx(122)


def test_each_attacker_is_reported() -> None:
    """Findings come in the order of the attackers, each under its name."""
    example = worked("3.4")
    assert example.suppressed is not None
    attackers = [Attacker.external(), *singleton_respondents(example.problem)]
    found = audit(example.problem, example.suppressed, attackers=attackers)
    assert [result.attacker.name for result in found.findings] == [a.name for a in attackers]
    assert found.findings[0].exposures == ()
    frame = found.to_frame()
    assert len(frame["cell"]) == sum(len(result.cells) for result in found.findings)
    for attacker in attackers:
        assert attacker.name in found.summary()
        assert attacker.name in list(frame["attacker"])


@pytest.mark.parametrize(
    "attacker",
    [
        Attacker(known=(3,)),
        Attacker(known=(-1,)),
        Attacker(at_least={5: 1.0}),
        Attacker(at_most={-2: 1.0}),
        Attacker(colluding=(9,)),
        Attacker(own=frozenset({9})),
    ],
)
def test_knowledge_of_unknown_cells_is_refused(attacker: Attacker) -> None:
    """An attacker cannot know about a cell that does not exist."""
    problem = Problem(value=[3, 4, 7], relations=[[1, 1, -1]])
    with pytest.raises(InputError):
        audit(problem, np.array([0, 1]), attackers=[attacker])


@pytest.mark.parametrize("attacker", [Attacker(at_least={0: 3.5}), Attacker(at_most={0: 2.5})])
def test_false_knowledge_is_refused(attacker: Attacker) -> None:
    """Nobody knows for certain what is not so."""
    problem = Problem(value=[3, 4, 7], relations=[[1, 1, -1]])
    with pytest.raises(InputError):
        audit(problem, np.array([0, 1]), attackers=[attacker])


def test_contributions_that_sum_to_the_cell_are_taken() -> None:
    """Contributions whose sum is the cell's value up to rounding are true knowledge."""
    problem = Problem(value=[0.6, 0.4, 1.0], relations=[[1, 1, -1]])
    members = [Attacker.respondent({0: 0.1}), Attacker.respondent({0: 0.2})]
    members.append(Attacker.respondent({0: 0.3}))
    everyone = Attacker.coalition(members)
    assert everyone.at_least[0] == pytest.approx(0.6)
    found = audit(problem, np.array([0, 1]), attackers=[everyone])
    assert interval(found.findings[0], 1) == pytest.approx((0.0, 0.4))


def test_coalitions_know_what_their_members_know() -> None:
    """Three in a row of four cells: two of them together find the third's cell."""
    problem = Problem(
        value=[5, 7, 9, 21],
        relations=[[1, 1, 1, -1]],
        sensitive=[0, 1, 2],
        lower_level=[1, 1, 1],
        upper_level=[1, 1, 1],
        singleton=[0, 1, 2, -1],
    )
    members = singleton_respondents(problem)
    hidden = np.array([0, 1, 2])
    assert audit(problem, hidden, attackers=members).safe
    pair = Attacker.coalition(members[:2], name="the first two")
    found = audit(problem, hidden, attackers=[pair])
    assert interval(found.findings[0], 2) == (9.0, 9.0)
    assert {(e.cell, e.attacker) for e in found.exposures} == {(2, "the first two")}


def test_a_coalition_is_at_least_as_strong_as_each_member() -> None:
    """Lower contributions add up, upper bounds keep the smallest, known cells all count."""
    one = Attacker(at_least={0: 2.0}, at_most={1: 9.0}, known=(2,), own=frozenset({0}))
    two = Attacker(at_least={0: 1.5, 3: 1.0}, at_most={1: 8.0}, known=(4,), colluding=(5,))
    both = Attacker.coalition([one, two])
    assert both.at_least == {0: 3.5, 3: 1.0}
    assert both.at_most == {1: 8.0}
    assert both.known == (2, 4)
    assert both.own == {0}
    assert both.colluding == (5,)


def test_one_respondent_behind_several_cells_is_one_attacker() -> None:
    """Cells with the same single respondent are known to it together."""
    problem = Problem(
        value=[5, 7, 9, 21], relations=[[1, 1, 1, -1]], singleton=[4, 4, -1, -1], sensitive=[2],
        lower_level=[1], upper_level=[1],
    )  # fmt: skip
    (attacker,) = singleton_respondents(problem)
    assert attacker.known == (0, 1)
    found = audit(problem, np.array([0, 1, 2]), attackers=[attacker])
    assert interval(found.findings[0], 2) == (9.0, 9.0)
    assert not found.safe


def test_all_singletons_collude_against_each_other() -> None:
    """A singleton is attacked by the others, who know their cells but not its own."""
    problem = Problem(
        value=[5, 7, 9, 21],
        relations=[[1, 1, 1, -1]],
        sensitive=[0, 1],
        lower_level=[1, 1],
        upper_level=[1, 1],
        singleton=[0, 1, -1, -1],
    )
    hidden = np.array([0, 1, 2])
    found = audit(problem, hidden, attackers=[Attacker.all_singletons(problem)])
    result = found.findings[0]
    assert interval(result, 0) == (0.0, 14.0)
    assert interval(result, 1) == (0.0, 16.0)
    assert interval(result, 2) == (9.0, 9.0)
    assert found.safe
    found.check()
    alone = audit(problem, np.array([0, 1]), attackers=[Attacker.all_singletons(problem)])
    assert alone.exposed_cells == [0, 1]
    alone.check()


@pytest.mark.parametrize("coefficient", [1, 2])
def test_a_colluding_singleton_may_itself_be_without_end(coefficient: float) -> None:
    """Attacked by the others, a singleton without upper bound rises for ever, with evidence."""
    problem = Problem(
        value=[3, 4, 7],
        relations=[[coefficient, 1, -1]],
        rhs=[3 * (coefficient - 1)],
        singleton=[0, 1, -1],
    )
    found = audit(problem, np.arange(3), attackers=[Attacker.all_singletons(problem)])
    assert interval(found.findings[0], 0) == (0.0, np.inf)
    assert interval(found.findings[0], 1) == (0.0, np.inf)
    assert interval(found.findings[0], 2) == (7.0, 7.0)
    found.check()


@settings(max_examples=100)
@given(data=st.data())
def test_colluding_singletons_agree_with_brute_force(data: st.DataObject) -> None:
    """Against a brute force that fixes all other singletons, (9) and (10) hold."""
    published = data.draw(published_tables())
    p = published.problem
    n = p.cell_count
    is_singleton = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    p = p.replace(singleton=np.where(is_singleton, np.arange(n), -1))
    published = Published(p, published.hidden, published.scale)
    attacker = Attacker.all_singletons(p)
    assert attacker.colluding == tuple(np.flatnonzero(is_singleton).tolist())
    cells = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=2)))
    found = audit(p, published.hidden, cells=cells, attackers=[attacker])
    found.check()
    result = found.findings[0]
    at = np.searchsorted(result.cells, cells)
    lower, upper = brute_force(published, cells, attacker)
    assert agree(result.lower[at], lower, published.tolerance)
    assert agree(result.upper[at], upper, published.tolerance)


@settings(max_examples=100)
@given(data=st.data())
def test_informed_attackers_agree_with_brute_force(data: st.DataObject) -> None:
    """Known cells, contributions and upper estimates narrow intervals as brute force says."""
    published = data.draw(published_tables())
    p = published.problem
    number = st.integers(0, p.cell_count - 1)
    share = st.sampled_from([0.0, 0.05, 0.3])
    below = data.draw(st.dictionaries(number, share, max_size=3))
    above = data.draw(st.dictionaries(number, share, max_size=3))
    attacker = Attacker(
        known=tuple(sorted(data.draw(st.sets(number, max_size=2)))),
        at_least={cell: p.value[cell] - part * published.scale for cell, part in below.items()},
        at_most={cell: p.value[cell] + part * published.scale for cell, part in above.items()},
    )
    cells = sorted(data.draw(st.sets(number, min_size=1, max_size=2)))
    found = audit(p, published.hidden, cells=cells, attackers=[attacker])
    found.check()
    result = found.findings[0]
    at = np.searchsorted(result.cells, cells)
    lower, upper = brute_force(published, cells, attacker)
    assert agree(result.lower[at], lower, published.tolerance)
    assert agree(result.upper[at], upper, published.tolerance)


@settings(max_examples=60)
@given(data=st.data())
def test_colluding_singletons_keep_quick_and_exact_audits_equal(data: st.DataObject) -> None:
    """Also when singletons collude, stopping at the levels exposes the same cells."""
    published = data.draw(published_tables())
    p = published.problem
    n = p.cell_count
    is_singleton = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    p = p.replace(singleton=np.where(is_singleton, np.arange(n), -1))
    attackers = [Attacker.all_singletons(p), Attacker.external()]
    exact, quick = (
        audit(p, published.hidden, attackers=attackers, exact=exact) for exact in (True, False)
    )
    quick.check()
    assert {(e.cell, e.level, e.attacker) for e in exact.exposures} == {
        (e.cell, e.level, e.attacker) for e in quick.exposures
    }


def test_learning_leaves_common_knowledge_untouched() -> None:
    """What one attacker knows does not spread to the next."""
    problem = Problem(value=[3, 4, 7], relations=[[1, 1, -1]])
    knowledge = Knowledge.of(problem, np.array([0, 1]))
    before = knowledge.up.copy(), knowledge.down.copy()
    Attacker(known=(0,), at_least={1: 4.0}).learn(problem, knowledge)
    assert np.array_equal(knowledge.up, before[0])
    assert np.array_equal(knowledge.down, before[1])
    attackers = [Attacker(known=(0,)), Attacker.external()]
    found = audit(problem, np.array([0, 1]), attackers=attackers)
    assert interval(found.findings[0], 1) == (4.0, 4.0)
    assert interval(found.findings[1], 1) == (0.0, 7.0)
