"""Rounding at any magnitude, within its time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tacit import clock as clocks
from tacit.methods.rounding.model import Lattice
from tacit.methods.rounding.options import RoundOptions
from tacit.methods.rounding.run import round as rounded
from tacit.outcome import Status, Values
from tacit.problem import Problem
from tests.attack.tables import crossed, flat
from tests.clocks import Hand

LIMIT = 3.0


def table(scale: float, *, three: bool = True, sensitive: int = 3) -> Problem:
    """A random table of a magnitude."""
    rng = np.random.default_rng(8)
    sizes = [flat(4), flat(3), flat(3)] if three else [flat(5), flat(5)]
    relations, definitions = crossed(sizes)
    value = np.asarray(definitions @ rng.integers(1, 999, definitions.shape[1]).astype(float))
    own = np.sort(rng.permutation(len(value))[:sensitive])
    level = np.full(len(own), 3.0)
    return Problem(
        value=value * scale,
        lower=0,
        upper=np.inf,
        weight=rng.integers(1, 9, len(value)) * scale,
        relations=relations,
        sensitive=own,
        lower_level=level * scale,
        upper_level=level * scale,
    )


@pytest.mark.parametrize("algorithm", ["auto", "milp", "partition"])
@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_magnitudes_change_nothing(scale: float, algorithm: Any) -> None:
    """A table in other units is rounded in the same way, at the same cost in those units."""
    usual = rounded(table(1.0), 10.0, algorithm="milp")
    assert usual.status is Status.OPTIMAL
    outcome = rounded(table(scale), 10.0 * scale, algorithm=algorithm, time_limit=10)
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective is not None
    assert usual.report.objective is not None
    assert outcome.report.objective == pytest.approx(
        usual.report.objective * scale * scale, rel=1e-3
    )
    assert outcome.report.bound <= usual.report.objective * scale * scale * (1 + 1e-6)


def test_large_values_are_no_multiples_for_being_large() -> None:
    """Values of 1e12 are multiples of 5 only where they are."""
    problem = Problem(value=[1e12 + 1, 1e12 + 5, 2e12 + 6], lower=0, relations=[[1, 1, -1]])
    lattice = Lattice(problem, problem.weight, RoundOptions(base=5.0), 1)
    assert lattice.is_multiple.tolist() == [False, True, False]
    outcome = rounded(problem, 5.0)
    assert isinstance(outcome.solution, Values)
    assert (outcome.solution.value % 5 == 0).all()


def test_networks_prove_their_bound() -> None:
    """The bound of a network comes from dual values; others are called the solver's."""
    flat_table = table(1.0, three=False, sensitive=0)
    outcome = rounded(flat_table, 10.0)
    assert (outcome.status, outcome.report.bound_source) == (Status.OPTIMAL, "recomputed")
    cubic = rounded(table(1.0, sensitive=0), 100.0, algorithm="milp", gap=0.0)
    assert (cubic.status, cubic.report.bound_source) == (Status.OPTIMAL, "solver")


@pytest.mark.parametrize("algorithm", ["auto", "milp", "partition", "random"])
def test_the_time_limit_holds(monkeypatch: pytest.MonkeyPatch, algorithm: Any) -> None:
    """On a clock that moves whenever somebody looks, the end comes within a tenth of the limit."""
    problem = table(1.0)
    hand = Hand(step=0.02)
    monkeypatch.setattr(clocks, "now", hand)
    began = hand.at
    outcome = rounded(problem, 10.0, algorithm=algorithm, gap=0.0, time_limit=LIMIT)
    assert hand.at - began <= 1.1 * LIMIT + 0.5
    assert outcome.status is not Status.INFEASIBLE
