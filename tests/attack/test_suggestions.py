"""Suggested deviations save work and never change a verdict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tacit.attack import audit as auditing
from tacit.attack.audit import Audit, audit
from tacit.attack.knowledge import Attacker
from tacit.attack.suggestions import Suggestions
from tacit.clock import Clock
from tacit.errors import InputError
from tacit.generators import SensitiveShare, generate_3d
from tacit.problem import Booleans, Problem


def cube(seed: int) -> Problem:
    """A table that is no network."""
    chosen = SensitiveShare(percent=15)
    return generate_3d(4, 4, 3, seed=seed, sensitivity=chosen).problem()


def everything(problem: Problem) -> Booleans:
    """All cells that may be suppressed."""
    return ~problem.must_publish


def verdict(found: Audit) -> list[tuple[int, str, str]]:
    """Who comes too close to what."""
    return [(each.cell, each.attacker, each.level) for each in found.exposures]


def shown(problem: Problem, hidden: Booleans) -> Any:
    """Deviations that an audit has found."""
    first = audit(problem, hidden, cells="sensitive", exact=False)
    return first.findings[0].evidence.deviations


def refuse(*_: Any, **__: Any) -> Any:
    """What must not be called."""
    raise AssertionError("the attack was asked although everything had been suggested")


@pytest.mark.parametrize("seed", range(3))
def test_what_is_suggested_is_not_sought(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given the deviations of an earlier audit, nothing is solved, and the evidence holds."""
    problem = cube(seed)
    hidden = everything(problem)
    suggested = shown(problem, hidden)
    monkeypatch.setattr(auditing, "Attack", refuse)
    again = audit(problem, hidden, cells="sensitive", exact=False, suggested=suggested)
    assert again.safe
    again.check()


@pytest.mark.parametrize("seed", range(3))
def test_what_does_not_hold_is_not_used(seed: int) -> None:
    """Deviations that break relations or bounds, or are no numbers, show nothing."""
    problem = cube(seed)
    # Half of the cells: some of the sensitive ones are exposed.
    hidden = problem.is_sensitive | (np.arange(problem.cell_count) % 2 == 0)
    plain = audit(problem, hidden, cells="sensitive", exact=False)
    assert plain.exposures
    of_all = shown(problem, everything(problem))
    n = problem.cell_count
    false = [
        of_all,
        1e6 * of_all,
        sparse.csr_array(np.full((1, n), np.nan)),
        sparse.csr_array(np.eye(n) * 1e3),
    ]
    for suggested in (*false, sparse.csr_array(sparse.vstack(false))):
        told = audit(problem, hidden, cells="sensitive", exact=False, suggested=suggested)
        assert verdict(told) == verdict(plain)
        told.check()


def test_a_suggestion_is_judged_by_what_each_attacker_knows() -> None:
    """A deviation in which a cell moves says nothing against somebody who knows the cell."""
    problem = cube(1)
    hidden = everything(problem)
    known = tuple(np.flatnonzero(hidden & ~problem.is_sensitive)[::2].tolist())
    attackers = [Attacker.external(), Attacker(name="insider", known=known)]
    asked: dict[str, Any] = {"cells": "sensitive", "exact": False, "attackers": attackers}
    plain = audit(problem, hidden, **asked)
    assert {exposure.attacker for exposure in plain.exposures} == {"insider"}
    told = audit(problem, hidden, **asked, suggested=shown(problem, hidden))
    assert verdict(told) == verdict(plain)
    told.check()


def test_suggestions_for_another_table_are_refused() -> None:
    """The number of cells must be that of the table."""
    problem = cube(1)
    with pytest.raises(InputError, match="suggested for 3 cells"):
        audit(problem, everything(problem), suggested=sparse.csr_array(np.ones((1, 3))))


def test_without_time_nothing_is_claimed() -> None:
    """An audit inside a clock that has run out checks nothing, and does not call that safe."""
    problem = cube(1)
    with Clock(0.0):
        found = audit(problem, everything(problem), cells="sensitive", exact=False)
    assert not found.safe
    assert not found.exposures
    assert list(found.unchecked) == problem.sensitive.tolist()


def test_parts_that_are_checked_together_make_no_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many deviations are checked at once, the same ones are kept, in the same order."""
    problem = cube(1)
    A = problem.relations.toarray()
    kernel = np.linalg.svd(A)[2][np.linalg.matrix_rank(A) :]
    rows = np.vstack([kernel, np.eye(problem.cell_count)[:3], np.full(problem.cell_count, np.nan)])
    given = sparse.csr_array(rows[np.random.default_rng(1).permutation(len(rows))])
    found = []
    for at_once in (1, 2 * problem.cell_count, 500_000):
        monkeypatch.setattr("tacit.attack.suggestions._AT_ONCE", at_once)
        known = Suggestions(problem, given).known
        assert known.shape[0] == len(kernel)
        found.append(known.toarray())
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
