"""Adjustment ends when its time is up, whatever it is doing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tacit import clock as clocks
from tacit.methods.adjust.mip import Mip
from tacit.methods.adjust.model import build
from tacit.methods.adjust.run import adjust
from tacit.outcome import Status
from tacit.problem import Problem
from tests.attack.tables import crossed, flat
from tests.clocks import Hand

LIMIT = 3.0


def large_levels(seed: int) -> Problem:
    """A three-dimensional table with a third of its cells sensitive."""
    rng = np.random.default_rng(seed)
    relations, definitions = crossed([flat(4), flat(4), flat(3)])
    value = np.asarray(definitions @ rng.integers(1, 1000, definitions.shape[1]).astype(float))
    own = np.sort(rng.permutation(len(value))[: len(value) // 3])
    level = np.ceil(value[own] * rng.uniform(0.05, 0.3, len(own)))
    return Problem(
        value=value,
        lower=0,
        upper=3 * value,
        relations=relations,
        sensitive=own,
        lower_level=level,
        upper_level=level + 1,
    )


@pytest.mark.parametrize("norm", ["l1", "linf", "l2"])
@pytest.mark.parametrize("algorithm", ["auto", "milp", "benders", "descent"])
def test_the_time_limit_holds(monkeypatch: pytest.MonkeyPatch, algorithm: Any, norm: Any) -> None:
    """On a clock that moves whenever somebody looks, the end comes within a tenth of the limit."""
    problem = large_levels(1)
    hand = Hand(step=0.02)
    monkeypatch.setattr(clocks, "now", hand)
    began = hand.at
    outcome = adjust(problem, algorithm=algorithm, norm=norm, gap=0.0, time_limit=LIMIT)
    assert hand.at - began <= 1.1 * LIMIT
    assert outcome.status is not Status.INFEASIBLE
    if outcome.solution is not None:
        assert outcome.audit is not None
        assert outcome.audit.safe


def test_scip_is_limited_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """SCIP is asked to end with the clock."""
    problem = large_levels(2)
    hand = Hand(step=0.02)
    monkeypatch.setattr(clocks, "now", hand)
    began = hand.at
    outcome = adjust(problem, algorithm="milp", solver="scip", gap=0.0, time_limit=LIMIT)
    assert hand.at - began <= 1.1 * LIMIT
    assert outcome.status in (Status.OPTIMAL, Status.FEASIBLE)


def test_wide_ranges_are_not_asked_to_be_integers() -> None:
    """Solvers tighten ranges of whole columns one by one, which would take for ever at 1e12."""
    problem = large_levels(3)
    for factor, expected in ((1.0, True), (1e9, False)):
        big = problem.replace(
            value=problem.value * factor,
            upper=problem.upper * factor,
            lower_level=problem.lower_level * factor,
            upper_level=problem.upper_level * factor,
        )
        model = build(big, big.weight, big.upper - big.value, big.value, norm="l1", integer=True)
        assert Mip(model, integer=True).asks_for_integers is expected
