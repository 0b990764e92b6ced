"""The same answers, bit for bit, whoever does the work."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tacit.attack.audit import Audit, audit
from tacit.attack.knowledge import Attacker, Knowledge
from tacit.attack.reach import Requests
from tacit.attack.sweep import Attack
from tests.attack.tables import SIZES, assert_identical, table_for_tasks


def assert_same_audit(one: Audit, two: Audit) -> None:
    """Findings of all attackers are the same, bit for bit."""
    assert one.exposures == two.exposures
    assert one.unchecked == two.unchecked
    for ours, theirs in zip(one.findings, two.findings, strict=True):
        assert np.array_equal(ours.cells, theirs.cells)
        assert ours.lower.tobytes() == theirs.lower.tobytes()
        assert ours.upper.tobytes() == theirs.upper.tobytes()
        for name in ("deviations", "multipliers"):
            one_matrix, two_matrix = getattr(ours.evidence, name), getattr(theirs.evidence, name)
            assert (one_matrix != two_matrix).nnz == 0


@pytest.mark.parametrize("kind", sorted(SIZES))
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_threads_give_identical_answers(kind: str, workers: int) -> None:
    """However many threads there are, amounts and evidence do not change."""
    problem, hidden = table_for_tasks(kind)
    attack = Attack(problem, Knowledge.of(problem, hidden))
    requests = Requests.both_sides(np.arange(problem.cell_count))
    alone = attack.reach(requests)
    with ThreadPoolExecutor(workers) as pool:
        assert_identical(alone, attack.reach(requests, executor=pool))


@pytest.fixture(scope="module")
def pools() -> Any:
    """Process pools of two sizes that import everything themselves."""
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(1, mp_context=context) as one,
        ProcessPoolExecutor(2, mp_context=context) as two,
    ):
        yield [one, two]


@pytest.mark.parametrize("kind", sorted(SIZES))
def test_processes_give_identical_answers(kind: str, pools: list[Executor]) -> None:
    """However many processes there are, amounts and evidence do not change."""
    problem, hidden = table_for_tasks(kind)
    attack = Attack(problem, Knowledge.of(problem, hidden))
    requests = Requests.both_sides(np.flatnonzero(hidden))
    alone = attack.reach(requests)
    for pool in pools:
        assert_identical(alone, attack.reach(requests, executor=pool))


@pytest.mark.parametrize("exact", [True, False])
def test_audits_are_identical(exact: bool, pools: list[Executor]) -> None:
    """An audit with several attackers is the same in threads, processes and alone."""
    problem, hidden = table_for_tasks("cube")
    attackers = [
        Attacker.external(),
        Attacker.all_singletons(problem),
        Attacker(name="insider", known=(7, 20)),
    ]
    alone = audit(problem, hidden, cells="sensitive", exact=exact, attackers=attackers)
    with ThreadPoolExecutor(3) as threads:
        for pool in (threads, pools[1]):
            found = audit(
                problem,
                hidden,
                cells="sensitive",
                exact=exact,
                attackers=attackers,
                executor=pool,
            )
            assert_same_audit(alone, found)
    alone.check()


class Scrambled(Executor):
    """Runs tasks at once, the last submitted one twice, and counts them."""

    def __init__(self) -> None:
        self.tasks = 0

    def submit(self, task: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run the task twice, as a cluster that retries may, and hand over the second answer."""
        self.tasks += 1
        task(*args, **kwargs)
        future: Future[Any] = Future()
        future.set_result(task(*args, **kwargs))
        return future


@pytest.mark.parametrize("kind", sorted(SIZES))
def test_tasks_may_be_retried(kind: str) -> None:
    """A task that runs twice gives the same answer twice, and there are several tasks."""
    problem, hidden = table_for_tasks(kind)
    attack = Attack(problem, Knowledge.of(problem, hidden))
    requests = Requests.both_sides(np.arange(problem.cell_count))
    executor = Scrambled()
    assert_identical(attack.reach(requests), attack.reach(requests, executor=executor))
    assert executor.tasks >= 2


@pytest.mark.parametrize("kind", sorted(SIZES))
def test_answers_do_not_depend_on_earlier_questions(kind: str) -> None:
    """The same attack asked twice, with other questions between, answers the same."""
    problem, hidden = table_for_tasks(kind)
    attack = Attack(problem, Knowledge.of(problem, hidden))
    cells = np.flatnonzero(hidden)
    requests = Requests.both_sides(cells[:60])
    first = attack.reach(requests)
    attack.reach(Requests.both_sides(cells[::-3]))
    assert_identical(first, attack.reach(requests))


def test_the_order_of_questions_does_not_matter() -> None:
    """Asked in another order, the same cells get the same intervals."""
    problem, hidden = table_for_tasks("cube")
    attack = Attack(problem, Knowledge.of(problem, hidden))
    cells = np.flatnonzero(hidden)
    order = np.random.default_rng(0).permutation(len(cells))
    lower, upper = attack.intervals(cells)
    other_lower, other_upper = attack.intervals(cells[order])
    scale = problem.value.max()
    assert np.allclose(other_lower, lower[order], rtol=0, atol=1e-7 * scale)
    assert np.allclose(other_upper, upper[order], rtol=0, atol=1e-7 * scale)


@pytest.mark.parametrize("kind", sorted(SIZES))
@pytest.mark.parametrize("threads", [0, 2])
def test_stopping_marks_what_is_open(kind: str, threads: int) -> None:
    """When progress says stop, answers so far are kept and the rest is marked."""
    problem, hidden = table_for_tasks(kind)
    attack = Attack(problem, Knowledge.of(problem, hidden))
    requests = Requests.both_sides(np.flatnonzero(hidden))
    told: list[int] = []

    def stop_at_once(count: int) -> bool:
        told.append(count)
        return True

    whole = attack.reach(requests)
    if threads:
        with ThreadPoolExecutor(threads) as pool:
            part = attack.reach(requests, executor=pool, progress=stop_at_once)
    else:
        part = attack.reach(requests, progress=stop_at_once)
    assert 0 < part.answered.sum() < len(requests)
    assert part.amount[part.answered].tobytes() == whole.amount[part.answered].tobytes()
    assert told == [part.answered.sum()]


def test_an_error_in_a_task_reaches_the_caller() -> None:
    """A worker that fails is not taken for a cell that cannot move."""

    class Broken(Executor):
        def submit(self, task: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ARG002
            future: Future[Any] = Future()
            future.set_exception(RuntimeError("a worker was lost"))
            return future

    problem, hidden = table_for_tasks("cube")
    attack = Attack(problem, Knowledge.of(problem, hidden))
    with pytest.raises(RuntimeError, match="lost"):
        attack.reach(Requests.both_sides(np.flatnonzero(hidden)), executor=Broken())
