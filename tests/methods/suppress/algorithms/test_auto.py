"""`auto` chooses by size: modules for what is no network, no relaxation for what is too large."""

from __future__ import annotations

import pytest

from tacit.methods.suppress import cuts
from tacit.methods.suppress.algorithms import modular
from tacit.methods.suppress.heuristics import first_pattern
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.run import suppress
from tests.methods.suppress.larger_tables import cube


def test_tables_too_large_for_a_relaxation_begin_with_modules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Large tables relax first and find the same optimum; very large ones take modules."""
    asked: list[Search] = []
    protect_by_modules = modular.protect_by_modules

    def listening(search: Search, **named: float) -> None:
        asked.append(search)
        protect_by_modules(search, **named)

    monkeypatch.setattr(modular, "protect_by_modules", listening)
    problem = cube(1)
    before = suppress(problem, time_limit=60)
    assert asked == []
    monkeypatch.setattr(first_pattern, "_BY_MODULES", 3)
    after = suppress(problem, time_limit=60)
    assert asked == []
    assert after.report.objective == before.report.objective
    monkeypatch.setattr(cuts, "_TOO_LARGE", 3)
    by_modules = suppress(problem, time_limit=60)
    assert len(asked) == 1
    assert by_modules.audit is not None
    assert by_modules.audit.safe


def test_too_large_tables_are_left_without_a_relaxation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit there is a safe pattern and no proof, and it says so."""
    monkeypatch.setattr(cuts, "_TOO_LARGE", 3)
    outcome = suppress(cube(1), time_limit=60)
    assert outcome.stopped_by == "heuristic"
    assert outcome.report.cuts == 0
    assert outcome.audit is not None
    assert outcome.audit.safe
