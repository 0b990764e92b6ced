"""Contributors against the methods that publish intervals: what must hold of small tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.attack.audit import audit
from tacit.attack.knowledge import Attacker
from tacit.outcome import Intervals, Outcome, Status
from tests.methods.firms import lone_child, two_singles

METHODS: list[Callable[..., Outcome]] = [tacit.intervals, tacit.combined]
ALGORITHMS = ["auto", "benders", "monolithic"]


def opened(outcome: Outcome, table: tacit.Table) -> set[str]:
    """The labels of cells that are not published as they are."""
    found = outcome.solution
    assert isinstance(found, Intervals)
    return {table.labels[cell] for cell in np.flatnonzero(found.upper > found.lower).tolist()}


def loss(outcome: Outcome) -> float:
    """The objective of an outcome that must have one."""
    assert outcome.report.objective is not None
    return outcome.report.objective


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_two_single_firms_in_a_row(method: Callable[..., Outcome], algorithm: str) -> None:
    """Intervals for the two alone do for readers, but tell each firm the other's figure."""
    table = two_singles()
    problem = table.problem("singletons")
    few = method(problem.with_insiders(None), algorithm=algorithm)
    assert opened(few, table) == {"place=a", "place=b"}
    exposed = audit(problem, few, cells="sensitive")
    assert {each.name for each in exposed.exposures} == {"cell place=a", "cell place=b"}
    outcome = method(problem, algorithm=algorithm)
    assert outcome.status is Status.OPTIMAL
    assert len(opened(outcome, table)) > 2
    assert loss(outcome) > loss(few)
    assert audit(problem, outcome, cells="sensitive").safe


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_parent_with_one_child_from_one_firm(
    method: Callable[..., Outcome], algorithm: str
) -> None:
    """The firm knows both and learns nothing: no more is asked than against readers."""
    problem = lone_child().problem("singletons")
    assert problem.insiders is not None
    outcome = method(problem, algorithm=algorithm)
    assert outcome.status is Status.OPTIMAL
    readers = method(problem.with_insiders(None), algorithm=algorithm)
    assert loss(outcome) == pytest.approx(loss(readers), rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_what_stands_in_the_way_is_named(method: Callable[..., Outcome]) -> None:
    """Where all other cells are published, the cell, the contributor and ways out are told."""
    table = two_singles()
    problem = table.problem("singletons")
    kept = [label not in ("place=a", "place=b") for label in table.labels]
    problem = problem.replace(must_publish=kept)
    assert method(problem.with_insiders(None)).status is Status.OPTIMAL
    outcome = method(problem)
    assert outcome.status is Status.INFEASIBLE
    named = "cell place=a cannot be protected against the contributor alone in cell place=b"
    assert named in outcome.message
    assert "known to it" in outcome.message
    assert "recode" in outcome.message
    assert 'insiders = "none"' in outcome.message
    assert not any(figure in outcome.message for figure in ("100", "80"))


@pytest.mark.parametrize("method", METHODS)
def test_readers_are_faced_wherever_contributors_are(method: Callable[..., Outcome]) -> None:
    """An attacker in place of the reader does not leave the reader out."""
    problem = two_singles().problem("singletons")
    first = int(problem.sensitive[0])
    knowing = Attacker(name="knowing", known=(first,), own=frozenset([first]))
    outcome = method(problem, attackers=[knowing])
    assert outcome.status is Status.OPTIMAL
    assert audit(problem, outcome, attackers=[knowing], cells="sensitive").safe


@pytest.mark.parametrize("method", ["intervals", "combined"])
@pytest.mark.parametrize("choices", [{}, {"insiders": "contributors", "coalition": 2}])
def test_from_microdata_to_a_release(method: str, choices: dict[str, Any]) -> None:
    """What is released of a table from microdata is safe from the contributors asked for."""
    release = tacit.protect(two_singles(), method, time_limit=20, **choices)
    found = release.papers.audit
    assert found.insiders is not None
    assert found.insiders.count
    assert found.safe
    found.check()
    # A release against readers alone protects the sum of the two firms, which costs as much.
    alone = getattr(tacit, method)(two_singles().problem(), time_limit=20)
    assert loss(alone) < loss(release.papers.outcome)
