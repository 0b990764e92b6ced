"""Public instances whose optima are known, and worked examples of the papers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tacit import examples
from tacit.attack.audit import audit
from tacit.io.jj import read_jj
from tacit.methods.suppress.run import suppress
from tacit.outcome import Status
from tacit.problem import Problem
from tests.methods.suppress.tables import ALGORITHMS, EXACT, assert_consistent

SMALL = [
    ("small", "given", 14.0),
    ("small", "unit", 14.0),
    ("example_2D", "given", 0.0256),
    ("example_2D", "unit", 8.0),
    ("targus", "given", 2440.0),
]


def instance(shared: Path, name: str) -> Problem:
    """A public instance."""
    return read_jj(shared / "instances" / f"{name}.jj")


def weighted(problem: Problem, weights: str) -> Problem:
    """The problem with the weights that were asked for."""
    return problem.replace(weight=1.0) if weights == "unit" else problem


@pytest.mark.parametrize("algorithm", EXACT)
@pytest.mark.parametrize(("name", "weights", "optimum"), SMALL)
def test_small_instances(
    shared: Path, name: str, weights: str, optimum: float, algorithm: str
) -> None:
    """The known optimum is found and proven with no gap left."""
    problem = instance(shared, name)
    outcome = suppress(problem, algorithm=algorithm, weights=weights, gap=0.0)  # type: ignore[arg-type]
    assert_consistent(outcome, weighted(problem, weights), None)
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective == pytest.approx(optimum, rel=1e-9)
    assert audit(problem, outcome).safe


@pytest.mark.parametrize(("name", "weights", "optimum"), SMALL)
def test_paths_on_small_instances(shared: Path, name: str, weights: str, optimum: float) -> None:
    """The heuristic is safe, between the optimum and twice as much."""
    problem = instance(shared, name)
    outcome = suppress(problem, algorithm="paths", weights=weights)
    assert_consistent(outcome, weighted(problem, weights), None)
    assert outcome.report.objective is not None
    assert optimum * (1 - 1e-9) <= outcome.report.objective <= 2 * optimum
    assert outcome.report.bound <= optimum * (1 + 1e-9)


@pytest.mark.parametrize(
    ("name", "optimum", "gap"), [("enterprise500", 26256.0, 0.0), ("enterprise5k", 310831.0, 1e-6)]
)
def test_generated_business_statistics(shared: Path, name: str, optimum: float, gap: float) -> None:
    """Hundreds to thousands of cells: the optimum within the gap, safe by an own audit."""
    problem = instance(shared, name)
    outcome = suppress(problem, gap=gap)
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective == pytest.approx(optimum, rel=max(gap, 1e-9))
    assert_consistent(outcome, problem, None)


CUBE = """
import sys, tacit
outcome = tacit.suppress(tacit.read_jj(sys.argv[1]), time_limit=15)
outcome.audit.check()
print(outcome.status.value, outcome.report.objective, outcome.report.bound)
"""


def test_a_cube_in_a_process_of_its_own(shared: Path) -> None:
    """A three-dimensional table: bound and pattern enclose the optimum, within the time limit."""
    path = shared / "instances" / "cube8.jj"
    # A solver that does not return cannot be interrupted from within.
    told = subprocess.run(
        [sys.executable, "-c", CUBE, str(path)], capture_output=True, text=True, timeout=90
    )
    assert told.returncode == 0, told.stderr
    status, objective, bound = told.stdout.split()
    assert status in ("optimal", "feasible")
    assert float(bound) <= 35736.0 <= float(objective) <= 1.05 * 35736.0


def test_cheap_patterns_of_a_generated_table(shared: Path) -> None:
    """Shortest paths come within a tenth of the optimum of a hierarchical table."""
    outcome = suppress(instance(shared, "enterprise5k"), algorithm="paths")
    assert outcome.audit is not None
    assert outcome.audit.safe
    assert outcome.report.objective is not None
    assert 310831.0 <= outcome.report.objective <= 1.1 * 310831.0


def test_a_limit_below_the_fewest_cells(shared: Path) -> None:
    """As many cells as the unit optimum has are enough, one less is not."""
    problem = instance(shared, "example_2D")
    enough = suppress(problem, max_suppressed=8, gap=0.0)
    assert enough.status is Status.OPTIMAL
    assert len(enough.suppressed) <= 8
    assert enough.report.objective is not None
    assert enough.report.objective >= 0.0256 * (1 - 1e-9)
    few = suppress(problem, max_suppressed=7, gap=0.0)
    assert few.status is Status.INFEASIBLE
    assert few.solution is None


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_castro_figure_11(algorithm: str) -> None:
    """One sensitive cell of a 3 by 3 table needs a rectangle of four cells."""
    example = examples.get("003-figure-11")
    outcome = suppress(example.problem, algorithm=algorithm, weights="unit")  # type: ignore[arg-type]
    assert outcome.report.objective == 4
    assert outcome.suppressed.tolist()
    assert audit(example.problem, outcome).safe


@pytest.mark.parametrize("name", examples.names())
def test_worked_examples(name: str) -> None:
    """All printed tables: the algorithms agree on the optimum, and nobody is worse than print."""
    example = examples.get(name)
    problem = example.problem.replace(weight=1.0)
    found = [suppress(problem, algorithm=algorithm, gap=0.0) for algorithm in EXACT]  # type: ignore[arg-type]
    assert len({outcome.report.objective for outcome in found}) == 1
    assert len({outcome.status for outcome in found}) == 1
    for outcome in found:
        assert_consistent(outcome, problem, None)
    if example.suppressed is not None and audit(problem, example.suppressed).safe:
        printed = float(np.sum(example.suppressed | problem.is_sensitive))
        assert found[0].report.objective is not None
        assert found[0].report.objective <= printed
