"""Deviations that spare contributors, on small tables that are taken for large ones."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.attack.audit import audit
from tacit.attack.insider_knowledge import InsiderKnowledge
from tacit.attack.insider_search import readers_requests
from tacit.attack.knowledge import Knowledge
from tacit.attack.sparing import Sparing
from tacit.attack.suggestions import Suggestions
from tacit.attack.sweep import Attack
from tests.attack.contributors import RULES, assert_shown, contributed, exposures, minimal

KINDS = ("3-D", "linked")


@pytest.mark.parametrize("coalition", [1, 2])
@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=5)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(KINDS), everyone=st.booleans())
def test_audits_agree_with_brute_force(
    rule: str, coalition: int, seed: int, kind: str, everyone: bool
) -> None:
    """Verdicts are those of linear models with each insider's figures fixed; evidence holds."""
    made = contributed(seed, kind, rule, coalition=coalition, everyone=everyone)
    expected = made.exposed()
    with patch("tacit.attack.sparing.LARGE", 0):
        found = audit(made.problem, made.hidden)
    found.check()
    assert found.safe == (not expected)
    assert set(found.exposed_cells) == {cell for cell, _, _ in expected}
    readers = {cell for cell, _, who in expected if not who}
    theirs = {each for each in expected if each[0] not in readers}
    assert {(cell, name) for cell, name, _ in minimal(theirs)} <= exposures(found)
    assert exposures(found) <= {(cell, name) for cell, name, _ in theirs}
    if found.safe:
        assert_shown(made, found)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(KINDS), rule=st.sampled_from(RULES))
def test_what_is_not_left_open_is_safe_by_brute_force(seed: int, kind: str, rule: str) -> None:
    """A cell that no request is left open for, and that readers cannot find out, is not exposed."""
    made = contributed(seed, kind, rule, everyone=True)
    problem = made.problem
    known, store = InsiderKnowledge(problem), Suggestions(problem)
    told = Knowledge.of(problem, made.hidden)
    with patch("tacit.attack.sparing.LARGE", 0):
        sparing = Sparing(problem, known, store)
        requests = sparing.targets(readers_requests(problem)).positive()
        left = sparing.unspared(Attack(problem, told), told, requests)
    expected = made.exposed()
    readers = {cell for cell, _, who in expected if not who}
    assert {cell for cell, _, who in expected if who} - readers <= set(left.cells.tolist())
    assert np.isclose(abs(store.known @ problem.relations.T).sum(), 0.0)


def test_what_everybody_leaves_possible_is_what_each_leaves() -> None:
    """Cells are capped by the strictest of the contributors that count, and by no others."""
    made = contributed(3, "3-D", "p%", everyone=True)
    problem = made.problem
    known = InsiderKnowledge(problem)
    cells = np.arange(problem.cell_count)
    far = np.full(problem.cell_count, np.inf)
    for chosen in ([], [0], list(range(len(known.insiders)))):
        against = np.zeros(len(known.insiders), bool)
        against[chosen] = True
        up, down = known.capped(cells, far, far, against)
        for cell in cells.tolist():
            who = [made.listed[k] for k in chosen]
            knows = any(made.knows(frozenset([k]), cell) for k in who)
            least = min((problem.value[cell] - made.amounts[k, cell] for k in who), default=np.inf)
            listed = [k for k in who if made.amounts[k, cell] > 0]
            assert up[cell] == (0.0 if knows else np.inf)
            assert down[cell] == pytest.approx(0.0 if knows else least if listed else np.inf)
