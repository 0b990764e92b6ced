"""Deviations that many requests have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.attack import joint_moves, sweep
from tacit.attack.audit import audit
from tacit.attack.joint_moves import JointMoves
from tacit.attack.reach import Requests
from tacit.attack.sweep import Attack
from tacit.solver.highs import HighsModel
from tests.attack.tables import Published, brute_force, published_tables, table_for_tasks


@pytest.fixture(scope="module", autouse=True)
def everything_jointly() -> Iterator[None]:
    """Small tables are asked jointly, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep, "LARGE", 0)
        patch.setattr(joint_moves, "_MANY", 1)
        yield


@settings(max_examples=200)
@given(
    published_tables(units=(1.0, 1e6)),
    st.floats(0.05, 1.2),
    st.sampled_from(get_args(joint_moves.Moves)),
)
def test_what_is_reached_is_what_brute_force_reaches(
    published: Published, share: float, moves: joint_moves.Moves
) -> None:
    """Targets below and above what each cell can do are told apart, by deviations that hold."""
    problem, cells = published.problem, published.cells
    lower, upper = brute_force(published, cells)
    far = np.concatenate([upper - problem.value[cells], problem.value[cells] - lower])
    far = np.where(np.isfinite(far), far, 10 * published.scale)
    targets = share * far
    requests = Requests.both_sides(cells, targets[: len(cells)], targets[len(cells) :])
    attack = Attack(problem, published.knowledge, networks=False)
    found = attack.reach(requests, moves=moves)
    certain = np.abs(share - 1) > 1e-3
    reached = found.amount >= targets * (1 - 1e-9)
    if certain and share < 1:
        assert reached[far > published.tolerance].all()
    if certain and share > 1:
        assert not (reached & (far > published.tolerance)).any() or not np.isfinite(upper).all()
    x = found.deviations.toarray()
    told = published.knowledge
    assert (x <= told.up * (1 + 1e-9) + 1e-12).all()
    assert (-x <= told.down * (1 + 1e-9) + 1e-12).all()
    assert np.abs(problem.relations @ x.T).max(initial=0.0) <= published.tolerance
    moved = x[np.arange(len(requests)), requests.cells] * requests.sides
    finite = np.isfinite(found.amount)
    assert (moved[finite] >= found.amount[finite] - published.tolerance).all()


@pytest.mark.parametrize("kind", ["network", "cube"])
def test_audits_agree_with_those_that_ask_one_by_one(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict is the same, and the evidence passes its check."""
    problem, hidden = table_for_tasks(kind)
    structure = Attack(problem, audit(problem, hidden).knowledge, networks=False)
    assert structure.shrunk.components
    jointly = audit(problem, hidden, exact=False)
    jointly.check()
    monkeypatch.setattr(sweep, "LARGE", 10**9)
    apart = audit(problem, hidden, exact=False)
    assert jointly.exposed_cells == apart.exposed_cells


def test_one_deviation_serves_many_claims() -> None:
    """Evidence holds a deviation once, however many claims it shows."""
    problem, hidden = table_for_tasks("cube")
    found = audit(problem, hidden, cells="sensitive", exact=False)
    evidence = found.findings[0].evidence
    assert evidence.tables.shape[0] < len(evidence)
    assert evidence.deviations.shape[0] == len(evidence)
    found.check()


def test_a_deviation_falls_apart_into_deviations() -> None:
    """Parts that share no relation are deviations of their own, and add up to the whole."""
    problem, hidden = table_for_tasks("cube")
    up = np.where(hidden, problem.upper - problem.value, 0.0)
    down = np.where(hidden, problem.value, 0.0)
    level = np.zeros(problem.cell_count)
    level[problem.sensitive] = problem.upper_level
    moves = JointMoves(problem.relations, up, down, level, HighsModel)
    asked = moves.possible(moves.columns(problem.sensitive[moves.can_rise[problem.sensitive]]))
    assert len(asked)
    for few in (asked[:1], asked[:5], asked):
        z = moves.solve(few, moves.least)
        assert z is not None
        parts = moves.apart(z)
        whole = moves.deviation(z)
        assert np.allclose(parts.sum(axis=0), whole)
        size = abs(problem.relations) @ np.abs(whole)
        off = np.abs(problem.relations @ parts.T.toarray()).max(axis=1)
        assert (off <= 1e-8 * size + 1e-9).all()


def test_deviations_of_any_size_take_fewer_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What shows that levels can be met is evidence: the same answers from fewer programs."""
    problem, hidden = table_for_tasks("cube")
    knowledge = audit(problem, hidden).knowledge
    levels = (problem.upper_level, problem.lower_level)
    requests = Requests.both_sides(problem.sensitive, *levels)
    programs = 0
    solve = JointMoves.solve

    def counted(self: JointMoves, *arguments: Any) -> Any:
        nonlocal programs
        programs += 1
        return solve(self, *arguments)

    monkeypatch.setattr(JointMoves, "solve", counted)
    needed, reached = [], []
    for moves in get_args(joint_moves.Moves):
        programs = 0
        answers = Attack(problem, knowledge, networks=False).reach(requests, moves=moves)
        needed.append(programs)
        reached.append(answers.reached(requests).tolist())
    assert reached[0] == reached[1] == reached[2]
    assert needed[2] < needed[1] < needed[0]
