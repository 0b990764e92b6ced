"""Deviations within strips answer what is asked of the whole table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tacit.attack import sweep
from tacit.attack.audit import audit
from tacit.attack.reach import Limits, Requests
from tacit.attack.shrink import Structure
from tacit.attack.strip_moves import reach_in_strips
from tests.methods.suppress.larger_tables import two_hierarchies


@pytest.mark.parametrize("seed", range(20))
def test_answers_are_deviations_of_the_table(seed: int) -> None:
    """They meet all relations, stay within capacities and limits, and get as far as asked."""
    problem = two_hierarchies(seed)
    rng = np.random.default_rng(seed)
    n = problem.cell_count
    hidden = (rng.random(n) < 0.7) | problem.is_sensitive
    up = np.where(hidden, problem.upper - problem.value, 0.0)
    down = np.where(hidden, problem.value - problem.lower, 0.0)
    cells = problem.sensitive
    level = np.maximum(problem.upper_level, 1.0)
    known = np.sort(rng.choice(n, 4, replace=False))
    lists = Limits(
        np.where(rng.random(2 * len(cells)) < 0.5, 0, -1),
        np.array([0, 4]),
        known,
        np.full(4, 1.0),
        np.full(4, 0.5),
    )
    requests = replace(Requests.both_sides(cells, level, level), limits=lists)
    found = reach_in_strips(
        Structure.of(problem).strips, up, down, requests, np.arange(len(requests))
    )
    tables = found.tables(n).toarray()
    for place, request in enumerate(found.requests.tolist()):
        x = tables[found.row[place]]
        cell, side = int(requests.cells[request]), int(requests.sides[request])
        assert x[cell] * side == found.amount[place] >= requests.targets[request]
        assert np.abs(problem.relations @ x).max() <= 1e-9 * np.abs(x).max()
        rise, fall = up.copy(), down.copy()
        if lists.chosen[request] >= 0:
            rise[known], fall[known] = np.minimum(rise[known], 1.0), np.minimum(fall[known], 0.5)
        assert (x <= rise + 1e-9).all()
        assert (-x <= fall + 1e-9).all()


@pytest.mark.parametrize("seed", range(12))
def test_audits_with_strips_find_the_same_cells(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Strips change how answers are found, not the answers; and the evidence holds."""
    problem = two_hierarchies(seed)
    rng = np.random.default_rng(seed)
    hidden = (rng.random(problem.cell_count) < 0.6) | problem.is_sensitive
    expected = audit(problem, hidden, cells="sensitive", exact=False)
    monkeypatch.setattr(sweep, "LARGE", 0)
    found = audit(problem, hidden, cells="sensitive", exact=False)
    assert found.exposed_cells == expected.exposed_cells
    found.check()
