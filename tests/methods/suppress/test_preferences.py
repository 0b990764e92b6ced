"""Of patterns that cost the same, the one with the least value and the deepest cells is chosen."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tacit import Hierarchy
from tacit.methods.suppress.preferences import TieBreak, heights
from tacit.methods.suppress.run import suppress
from tacit.observer import Observer
from tacit.outcome import Status
from tacit.problem import Problem
from tacit.table import Table
from tests.methods.suppress.tables import BruteForce


def small_table(seed: int) -> Problem:
    """A table of two by three cells with a sensitive one, all of the same weight."""
    rng = np.random.default_rng(seed)
    dimensions = {"r": Hierarchy.flat(["a", "b"]), "c": Hierarchy.flat(["x", "y", "z"])}
    table = Table.from_cube(rng.integers(3, 40, (2, 3)).astype(float), dimensions)
    cell = int(rng.integers(12))
    status = np.where(np.arange(12) == cell, "sensitive", "safe")
    level = np.full(12, 2.0)
    judged = table.replace(status=status, lower_level=level, upper_level=level)
    return judged.apply(weight="unit").problem()


@pytest.mark.parametrize("seed", range(8))
def test_the_least_value_among_the_patterns_of_least_weight(seed: int) -> None:
    """As brute force finds it over all patterns; objective and bound are those of the weights."""
    problem = small_table(seed)
    brute = BruteForce(problem)
    best = brute.optimum()
    assert best is not None
    value = np.inf
    for cells in itertools.combinations(brute.candidates, int(best) - 1):
        hidden = problem.is_sensitive.copy()
        hidden[list(cells)] = True
        if brute.is_safe(hidden):
            value = min(value, problem.value[hidden].sum())
    outcome = suppress(problem, prefer="leaves", time_limit=20)
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective == outcome.report.bound == best
    assert problem.value[outcome.suppressed].sum() == pytest.approx(value)
    assert suppress(problem, prefer="leaves").suppressed.tolist() == outcome.suppressed.tolist()


def test_the_deeper_of_equal_cells_goes() -> None:
    """With equal weights and values a finest cell is suppressed rather than a total."""
    # Total = a + b, a = a1 + a2, where a2 is zero: a and a1 are alike but for their height.
    problem = Problem(
        value=[20, 10, 10, 10, 0],
        relations=[[-1, 1, 1, 0, 0], [0, -1, 0, 1, 1]],
        sensitive=[2],
        lower_level=[1],
        upper_level=[1],
        weight=[1, 1, 1, 1, 1],
    )
    assert heights(problem).tolist() == [2, 1, 0, 0, 0]
    ties = TieBreak.of(problem, problem.weight)
    assert ties is not None
    assert ties.added[3] < ties.added[1] < ties.added[0]
    assert ties.added[2] == 0, "every pattern pays for what is sensitive"
    assert ties.most < 0.5


class Listener(Observer):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[float] = []

    def on_bound(self, seconds: float, bound: float) -> None:  # noqa: ARG002
        """Keep it."""
        self.told.append(bound)

    def on_solution(self, seconds: float, objective: float) -> None:  # noqa: ARG002
        """Keep it."""
        self.told.append(objective)


def test_everybody_is_told_the_weights_as_given() -> None:
    """Observers and the trace see whole numbers where weights are whole numbers."""
    listener = Listener()
    outcome = suppress(small_table(3), prefer="leaves", observer=listener, time_limit=20)
    traced = [each for point in outcome.report.trace for each in (point.objective, point.bound)]
    numbers = [each for each in (*listener.told, *traced) if each is not None]
    assert listener.told
    assert numbers == [round(each) for each in numbers]


@pytest.mark.parametrize("seed", range(4))
def test_weights_without_a_step_are_changed_by_a_thousandth_of_the_least(seed: int) -> None:
    """The objective is that of the weights as given, and the bound holds for them."""
    problem = small_table(seed)
    weight = 0.1 + np.random.default_rng(seed).random(12)
    best = BruteForce(problem.replace(weight=weight)).optimum()
    outcome = suppress(problem, weights=weight, prefer="leaves", time_limit=20)
    report = outcome.report
    assert best is not None
    assert report.objective is not None
    assert report.objective == pytest.approx(weight[outcome.suppressed].sum())
    assert report.bound <= best * (1 + 1e-9)
    assert report.objective <= best + 1e-3 * weight.min() + 1e-4 * best
