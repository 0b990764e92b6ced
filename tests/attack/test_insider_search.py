"""What insiders can deduce, against one linear model for each question."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from tacit.attack.insider_knowledge import LEVELS, InsiderKnowledge
from tacit.attack.insider_search import (
    InsiderFindings,
    face_insiders,
    open_pairs,
    readers_requests,
)
from tacit.attack.knowledge import Knowledge
from tacit.attack.reach import Requests
from tacit.attack.sweep import Attack
from tests.attack.contributors import KINDS, RULES, Contributed, contributed, minimal


def attacked(
    made: Contributed, *, networks: bool = True, exact: bool = False
) -> tuple[set[int], InsiderFindings]:
    """The cells exposed to readers, and what insiders find out about the others."""
    problem = made.problem
    attack = Attack(problem, Knowledge.of(problem, made.hidden), networks=networks)
    both = Requests.both_sides(problem.sensitive)
    width = attack.reach(both).amount.reshape(2, -1)
    levels = (problem.upper_level, problem.lower_level, problem.sliding_level)
    reached = (width[0], width[1], width.sum(axis=0))
    missed = [far < level * (1 - 1e-9) for far, level in zip(reached, levels, strict=True)]
    exposed = problem.sensitive[np.any(missed, axis=0)]
    requests = readers_requests(problem, np.setdiff1d(problem.sensitive, exposed))
    if exact:
        requests = Requests(requests.cells, requests.sides, np.full(len(requests), np.inf))
    found = face_insiders(
        problem, requests, attack.reach(requests), lambda pairs: attack.reach(pairs.requests)
    )
    return set(exposed.tolist()), found


def names(made: Contributed, found: InsiderFindings) -> set[tuple[int, str, frozenset[int]]]:
    """Exposures as brute force writes them."""
    return {
        (cell, LEVELS[level], frozenset(made.listed[k] for k in members if k >= 0))
        for cell, level, members in zip(
            found.exposed_cells.tolist(),
            found.exposed_level.tolist(),
            found.exposed_members.tolist(),
            strict=True,
        )
    }


def assert_agreement(made: Contributed, *, networks: bool = True, exact: bool = False) -> None:
    """The attack and brute force name the same cells, levels and insiders."""
    expected = made.exposed()
    readers, found = attacked(made, networks=networks, exact=exact)
    assert readers == {cell for cell, _, who in expected if not who}
    ours = names(made, found)
    assert not len(found.undecided)
    theirs = {each for each in expected if each[0] not in readers}
    assert ours <= theirs
    assert minimal(theirs) <= ours


@pytest.mark.parametrize("everyone", [False, True])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), networks=st.booleans(), exact=st.booleans())
def test_single_insiders_agree_with_brute_force(
    kind: str, rule: str, everyone: bool, seed: int, networks: bool, exact: bool
) -> None:
    """Every insider is found to deduce what a linear model with its own figures fixed deduces."""
    made = contributed(seed, kind, rule, everyone=everyone)
    assert_agreement(made, networks=networks, exact=exact)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), everyone=st.booleans(), size=st.sampled_from([2, 2, 3]))
def test_coalitions_agree_with_brute_force(
    kind: str, rule: str, seed: int, everyone: bool, size: int
) -> None:
    """Coalitions that find out more than their members are found, and no others."""
    assert_agreement(contributed(seed, kind, rule, coalition=size, everyone=everyone))


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(KINDS), everyone=st.booleans())
def test_open_pairs_are_those_whose_witness_is_spoilt(seed: int, kind: str, everyone: bool) -> None:
    """A pair is open exactly if the witness, scaled to its level, moves a cell too far."""
    made = contributed(seed, kind, "percentage", everyone=everyone)
    problem = made.problem
    attack = Attack(problem, Knowledge.of(problem, made.hidden))
    requests = readers_requests(problem)
    reaches = attack.reach(requests)
    met = reaches.reached(requests)
    requests, rows = requests.take(met), reaches.deviations[met].toarray()
    pairs = open_pairs(problem, requests, reaches.deviations[met])
    expected = set()
    for number in range(len(requests)):
        cell, side = int(requests.cells[number]), int(requests.sides[number])
        for place, k in enumerate(made.listed):
            level = made.level(frozenset([k]), cell)[1 if side > 0 else 0]
            x = rows[number] * level / abs(rows[number, cell])
            known = [i for i in range(len(x)) if made.knows(frozenset([k]), i)]
            rest = problem.value - made.amounts[k]
            is_spoilt = (x[known] != 0).any() or (x < -rest * (1 + 1e-9) - 1e-12).any()
            if level > 0 and is_spoilt:
                expected.add((cell, side, place))
    asked = pairs.requests
    found = np.column_stack([asked.cells, asked.sides, pairs.members]).tolist()
    assert set(map(tuple, found)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_random_tables_expose_cells_to_insiders_and_coalitions(kind: str) -> None:
    """What is compared with brute force does occur: exposed to one, to two, and to nobody."""
    sizes = set()
    for seed in range(40):
        made = contributed(seed, kind, "percentage", coalition=2, everyone=bool(seed % 2))
        _, found = attacked(made)
        sizes |= {len(who) for _, _, who in names(made, found)}
        if len(found.pairs) and found.safe:
            sizes.add(0)
    assert sizes == {0, 1, 2}


def test_pairs_are_asked_again_of_another_publication() -> None:
    """Pairs depend on the table alone: with everything hidden they are met where that helps."""
    opened = 0
    for seed in range(60):
        made = contributed(seed, "2-D", "percentage")
        _, found = attacked(made)
        pairs = found.missed
        everything = np.ones(made.problem.cell_count, bool)
        attack = Attack(made.problem, Knowledge.of(made.problem, everything))
        met = pairs.met(attack.reach(pairs.requests))
        opened += int(met.sum())
    assert opened > 0


def test_levels_and_limits_of_coalitions() -> None:
    """Known cells are united, amounts add up, and the only contributors have nothing to hide."""
    made = contributed(3, "2-D", "percentage", coalition=2, everyone=True)
    known = InsiderKnowledge(made.problem)
    for one in range(len(made.listed)):
        for two in range(one):
            who = frozenset([made.listed[one], made.listed[two]])
            row = np.array([[two, one]])
            for cell in made.problem.sensitive.tolist():
                assert known.levels(np.array([cell]), row)[:, 0] == pytest.approx(
                    made.level(who, cell)
                )
            cells, up, down = known.limits(row).of(0)
            assert cells.tolist() == np.flatnonzero(made.amounts[sorted(who)].sum(axis=0)).tolist()
            for cell, rise, fall in zip(cells.tolist(), up.tolist(), down.tolist(), strict=True):
                assert (rise == 0) == made.knows(who, cell)
                rest = made.problem.value[cell] - made.amounts[sorted(who), cell].sum()
                assert fall == pytest.approx(rest, abs=1e-9)
