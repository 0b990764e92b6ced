"""The modular method: modules agree about their margins, and the whole table is always safe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit import examples
from tacit.attack.audit import audit
from tacit.generators import generate_2d, generate_3d, random_hierarchy
from tacit.io.jj import read_jj
from tacit.methods.suppress.algorithms import modular as module
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.options import SuppressOptions
from tacit.methods.suppress.run import suppress
from tacit.observer import Observer
from tacit.outcome import Status
from tacit.problem import Problem
from tests.attack.tables import Codes, crossed, flat
from tests.methods.suppress.tables import (
    ATTACKER_KIND,
    KINDS,
    SINGLETON_KINDS,
    assert_consistent,
    assert_lean,
    seeded_instance,
)


def two_hierarchies(seed: int = 1, leaves: int = 16) -> Problem:
    """A table that is no network: both dimensions are hierarchical."""
    rows, columns = (random_hierarchy(leaves, depth=2, seed=seed + k) for k in (0, 1))
    return generate_2d(rows, columns, seed=seed).problem()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [*KINDS, *SINGLETON_KINDS, ATTACKER_KIND])
def test_random_small_tables(kind: str, seed: int) -> None:
    """Safe by brute force, no lighter than the optimum, and nothing suppressed for nothing."""
    instance = seeded_instance(kind, 600 + seed)
    assert_lean(instance, instance.suppress("modular"))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["3-D", "1H2D", "linked", "respondents"])
def test_without_exact_modules(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths and deviations in every module, as in large ones: still safe."""
    monkeypatch.setattr(module, "_SMALL", 0)
    monkeypatch.setattr(module, "_SMALL_LINEAR", 0)
    instance = seeded_instance(kind, 900 + seed)
    outcome = instance.suppress("modular")
    assert_consistent(outcome, instance.problem, instance.brute_force())


def test_modules_agree() -> None:
    """When all is done every cell can move in each of its modules as far as any other asks."""
    search = Search(two_hierarchies(), SuppressOptions(algorithm="modular"))
    whole = module._Modular(search)
    whole.protect()
    hidden = whole.hidden
    assert not search.exposed(hidden)
    assert len(whole._modules) > 4
    asked = 0
    for part in whole._modules:
        lacking = whole.need[:, part.cells] > part.served * (1 + 1e-6)
        assert not lacking.any()
        asked += int((whole.need[:, part.cells] > 0).sum())
    assert asked > 2 * len(search.problem.sensitive)


def test_a_margin_that_must_be_suppressed() -> None:
    """What a lower module needs from its margin is protected in the module above, too."""
    # Rows: total = A + b, A = c + d. Row d must be published: row c needs row A.
    A, sums = crossed([Codes((-1, 0, 0, 1, 1)), flat(3)])
    value = sums @ np.repeat([30.0, 40.0, 20.0], 3)
    must_publish = np.zeros(20, bool)
    must_publish[16:] = True
    problem = Problem(
        value=value,
        relations=A,
        weight=value,
        sensitive=[13],
        upper_level=[5.0],
        lower_level=[5.0],
        must_publish=must_publish,
    )
    search = Search(problem, SuppressOptions(algorithm="modular"))
    whole = module._Modular(search)
    whole.protect()
    hidden = whole.hidden
    assert hidden[4:8].any(), "row A"
    assert hidden[8:12].any(), "row b, the only one left to balance row A"
    assert audit(problem, hidden).safe
    exact = suppress(problem, algorithm="monolithic")
    assert suppress(problem, algorithm="modular").report.objective == exact.report.objective


def test_paper_003_figure_11() -> None:
    """The worked example has one module, which is solved exactly."""
    example = examples.get("003-figure-11")
    outcome = suppress(example.problem, algorithm="modular", weights="unit")
    assert outcome.report.objective == 4.0
    assert outcome.stopped_by == "heuristic"
    assert audit(example.problem, outcome).safe


@pytest.mark.parametrize(
    ("name", "most"), [("small", 14.0), ("targus", 2440.0), ("table7", 60.0), ("cube8", 45000.0)]
)
def test_public_instances(shared: Path, name: str, most: float) -> None:
    """Safe by an audit of its own; the optimum where the modules are solved exactly."""
    problem = read_jj(shared / "instances" / f"{name}.jj")
    outcome = suppress(problem, algorithm="modular")
    assert_consistent(outcome, problem, None)
    assert outcome.report.objective is not None
    assert outcome.report.objective <= most


def test_generated_business_statistics(shared: Path) -> None:
    """Within a thousandth of the known optimum of a hierarchical table with 4,992 cells."""
    problem = read_jj(shared / "instances" / "enterprise5k.jj")
    outcome = suppress(problem, algorithm="modular")
    assert_consistent(outcome, problem, None)
    assert outcome.report.objective is not None
    assert 310831.0 <= outcome.report.objective <= 1.001 * 310831.0


@pytest.mark.parametrize("seed", [1, 2])
def test_two_hierarchies(seed: int) -> None:
    """A table that is no network: safe, close to the proven bound, the same every time."""
    problem = two_hierarchies(seed)
    outcome = suppress(problem, algorithm="modular")
    assert_consistent(outcome, problem, None)
    again = suppress(problem, algorithm="modular")
    assert np.array_equal(again.suppressed, outcome.suppressed)
    exact = suppress(problem, time_limit=10.0)
    assert outcome.report.objective is not None
    assert exact.report.bound * (1 - 1e-9) <= outcome.report.objective
    assert outcome.report.objective <= 1.05 * exact.report.bound


def test_three_hierarchies() -> None:
    """Modules of three dimensions go by cheapest deviations."""
    rows, columns, layers = [random_hierarchy(6, depth=2, seed=seed) for seed in range(3)]
    problem = generate_3d(rows, columns, layers, seed=2).problem()
    outcome = suppress(problem, algorithm="modular")
    assert_consistent(outcome, problem, None)
    assert outcome.report.objective is not None
    assert outcome.report.objective < problem.weight.sum()


def test_parts_that_overlap_too_much(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are no modules to speak of, the whole table is protected at once."""
    monkeypatch.setattr(module, "_MOST_OVERLAP", 0.5)
    problem = read_jj(shared / "instances" / "targus.jj")
    outcome = suppress(problem, algorithm="modular")
    assert outcome.report.iterations == 0
    assert_consistent(outcome, problem, None)


class Listener(Observer):
    """Counts steps and stops after some of them."""

    def __init__(self, stop_after: int | None = None):
        self.steps: list[tuple[int, int]] = []
        self._stop_after = stop_after

    def on_progress(self, done: int, total: int) -> None:
        """Take note."""
        self.steps.append((done, total))

    def should_stop(self) -> bool:
        """Is it enough?"""
        return self._stop_after is not None and len(self.steps) > self._stop_after


def test_progress_is_told() -> None:
    """The observer hears of every module, in order."""
    listener = Listener()
    suppress(two_hierarchies(), algorithm="modular", observer=listener)
    done = [step for step, _ in listener.steps]
    modules = listener.steps[0][1]
    # Round after round.
    assert done == list(range(modules)) * (len(done) // modules)


@pytest.mark.parametrize("algorithm", ["modular", "hypercube"])
@pytest.mark.parametrize("how", ["time", "user"])
def test_interrupted_runs_are_honest(algorithm: Any, how: str) -> None:
    """Stopped before anything was safe: no pattern, and the reason."""
    listener = Listener(stop_after=0 if how == "user" else None)
    limit = 1e-4 if how == "time" else 60.0
    outcome = suppress(two_hierarchies(), algorithm=algorithm, observer=listener, time_limit=limit)
    assert outcome.status is Status.INTERRUPTED
    assert outcome.stopped_by == how
    assert outcome.solution is None


@pytest.mark.parametrize("algorithm", ["modular", "hypercube"])
def test_a_limit_on_the_number_of_cells(algorithm: Any) -> None:
    """A pattern with too many cells is not returned, however safe it is."""
    problem = examples.get("003-figure-11").problem
    enough = suppress(problem, algorithm=algorithm, max_suppressed=4)
    assert len(enough.suppressed) == 4
    assert suppress(problem, algorithm=algorithm, max_suppressed=3).solution is None
