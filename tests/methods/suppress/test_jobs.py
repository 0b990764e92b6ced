"""Several cores: the same optimum, the same cuts, and nothing left behind."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from tacit.attack import cuts
from tacit.attack.cuts import Separator
from tacit.errors import InputError
from tacit.generators import generate_1h2d, generate_table, random_hierarchy
from tacit.methods.suppress.algorithms import auto
from tacit.methods.suppress.beside import TreeBeside
from tacit.methods.suppress.cuts import Master, Root
from tacit.methods.suppress.options import SuppressOptions
from tacit.methods.suppress.run import suppress
from tacit.outcome import Status
from tacit.problem import Problem
from tacit.release import protect
from tacit.threads import Threads
from tests.methods.suppress.larger_tables import (
    cube,
    medium_table,
    started,
    table,
    two_hierarchies,
)
from tests.methods.suppress.tables import BruteForce


@pytest.fixture
def always_beside(monkeypatch: pytest.MonkeyPatch) -> list[TreeBeside]:
    """A tree grows beside from the first round on; the trees that grew."""
    begun: list[TreeBeside] = []
    start = TreeBeside.start

    def noting(beside: TreeBeside) -> None:
        begun.append(beside)
        start(beside)

    begin = auto.Rounds.run

    def beginning(rounds: auto.Rounds) -> bool:
        rounds._beside.begin()
        return begin(rounds)

    monkeypatch.setattr(auto.Rounds, "run", beginning)
    monkeypatch.setattr(TreeBeside, "start", noting)
    return begun


def in_strips() -> Problem:
    """A table with two hierarchies, large enough for cuts from strips."""
    rows, columns = random_hierarchy(40, depth=3), random_hierarchy(30, depth=3)
    return generate_table({"industry": rows, "region": columns}, seed=2).problem()


@pytest.mark.parametrize(
    "problem", [table("1H2D", 1), table("linked", 1), cube(1), two_hierarchies(1)]
)
def test_the_optimum_does_not_depend_on_the_cores(
    problem: Problem, always_beside: list[TreeBeside]
) -> None:
    """One core and two prove the same optimum, and both patterns are safe."""
    alone, together = (suppress(problem, jobs=jobs, gap=0.0) for jobs in (1, 2))
    for outcome in (alone, together):
        assert outcome.status is Status.OPTIMAL
        assert outcome.audit is not None
        assert outcome.audit.safe
    assert together.report.objective == pytest.approx(alone.report.objective, rel=1e-9)
    assert all(beside.has_ended for beside in always_beside)


@pytest.mark.parametrize("kind", ["1H2D", "3-D", "linked"])
def test_same_seed_same_pattern_on_two_cores(kind: str) -> None:
    """As long as no tree grows beside, the pattern is the same every time."""
    problem = table(kind, 11).replace(weight=1.0)
    runs = [suppress(problem, seed=3, jobs=2, gap=0.1) for _ in range(3)]
    assert [run.suppressed.tolist() for run in runs] == [runs[0].suppressed.tolist()] * 3
    assert [run.report.bound for run in runs] == [runs[0].report.bound] * 3


@pytest.mark.parametrize("seed", range(4))
def test_the_tree_beside_proves_the_optimum_alone(seed: int) -> None:
    """Patterns, bound and cuts of the tree reach the search, and the cuts spare the optimum."""
    problem = medium_table(seed)
    best = suppress(problem, jobs=1, gap=0.0)
    search, constructor = started(problem)
    search.settle_unit()
    with search.clock:
        master = Master(search)
        Root(search, master, constructor).run(seconds=1.0, rounds=2)
        known = len(master.pool)
        beside = TreeBeside(search, master)
        beside.start()
        assert beside._end.wait(30)
        search.hear()
        beside.stop()
    assert best.report.objective is not None
    assert search.objective * search.unit == pytest.approx(best.report.objective, rel=1e-3)
    assert search.bound * search.unit >= best.report.objective * (1 - 1e-3)
    hidden = np.zeros(problem.cell_count, bool)
    hidden[best.suppressed] = True
    fresh = master.pool.matrix[known:] @ hidden[master.cells]
    assert (fresh >= master.pool.right[known:] - 1e-6).all()


@pytest.mark.parametrize("seed", range(4))
def test_safe_patterns_meet_the_cuts_of_threads(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cuts found by several threads hold for every safe pattern of a small table."""
    monkeypatch.setattr(cuts, "_FLOWS_WORTH_IT", 1)
    problem = medium_table(4 * seed + 2)
    found = Separator(problem, threads=Threads(2)).cuts(np.zeros(problem.cell_count))
    assert len(found)
    judge, random = BruteForce(problem), np.random.default_rng(seed)
    safe = 0
    for _ in range(60):
        hidden = problem.is_sensitive | (random.random(problem.cell_count) < 0.6)
        hidden &= ~problem.must_publish | problem.is_sensitive
        if judge.is_safe(hidden):
            safe += 1
            assert (found.coefficients @ hidden >= 1 - 1e-9).all()
    assert safe > 0


@pytest.mark.parametrize("make", [lambda: generate_1h2d("10-10-10", seed=1), in_strips])
def test_threads_find_the_same_cuts(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many threads share the flows, cuts come out the same, in the same order."""
    monkeypatch.setattr(cuts, "_FLOWS_WORTH_IT", 8)
    monkeypatch.setattr(cuts, "_SMALL", 0)
    problem = make()
    random = np.random.default_rng(5)
    separators = [Separator(problem), Separator(problem, threads=Threads(3))]
    for _ in range(3):
        y = random.random(problem.cell_count) ** 3
        alone, shared = (each.cuts(y, thorough=False) for each in separators)
        assert len(alone) > 0
        assert np.array_equal(alone.cells, shared.cells)
        assert abs(alone.coefficients - shared.coefficients).sum() == 0


def test_an_interrupt_ends_the_tree_beside(
    always_beside: list[TreeBeside], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while both cores work gives the best pattern, and leaves no thread at work."""

    def interrupted(*_: Any) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(auto.Rounds, "_tighten", interrupted)
    outcome = suppress(table("3-D", 1), jobs=2, gap=0.0, time_limit=20)
    assert len(always_beside) == 1
    assert outcome.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert outcome.audit is not None
    assert outcome.audit.safe
    assert "branch and cut" not in [thread.name for thread in threading.enumerate()]


def test_a_fault_of_the_tree_beside_is_not_lost(
    always_beside: list[TreeBeside], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What breaks in the other thread is raised where the search goes on."""

    def broken(*_: Any) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(TreeBeside, "_grow", broken)
    with pytest.raises(RuntimeError, match="on purpose"):
        suppress(table("3-D", 1), jobs=2, gap=0.0, time_limit=20)
    assert len(always_beside) == 1


def test_releases_take_the_number_of_cores() -> None:
    """`protect` hands the number of cores on, and the publication is the same."""
    table = generate_table({"industry": random_hierarchy(12, depth=2), "region": 5}, seed=2)
    one, two = (protect(table, "suppress", jobs=jobs, gap=0.0) for jobs in (1, 2))
    assert one.papers.outcome.suppressed.tolist() == two.papers.outcome.suppressed.tolist()


def test_the_number_of_cores_is_checked() -> None:
    """There is at least one core; by default all are used that there are."""
    with pytest.raises(InputError, match="jobs must be at least 1"):
        SuppressOptions(jobs=0)
    assert SuppressOptions().cores >= 1
    assert SuppressOptions(jobs=3).cores == 3
