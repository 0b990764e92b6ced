"""`Attack`: everything an attacker can deduce from one publication.

Requests are grouped by component and cut into chunks of fixed size. A chunk is a pure task: it
may run here, in another thread, another process or on another machine, and gives the same
answer everywhere.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.engines import LinearEngine, SolverFactory, flow_reaches
from tacit.attack.evidence import Capacities, computed_exactly, limits_shown
from tacit.attack.joint_moves import JointAnswers, Moves, reach_jointly
from tacit.attack.knowledge import Knowledge
from tacit.attack.reach import Reaches, Requests, SparseRows
from tacit.attack.shrink import Component, Structure, shrink
from tacit.attack.strip_moves import reach_in_strips
from tacit.clock import TimeUpError, check_time
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.solver.highs import HighsModel

FLOW_CHUNK = 512
LINEAR_CHUNK = 128
LARGE = 1000
"""From this number of cells on, components are asked for many answers at once first."""


class Attack:
    """What can be deduced by someone with the given knowledge.

    Attributes:
        shrunk: The attacker's problem after shrinking.
    """

    def __init__(
        self,
        problem: Problem,
        knowledge: Knowledge,
        *,
        structure: Structure | None = None,
        keep: Booleans | None = None,
        networks: bool = True,
        solver: SolverFactory = HighsModel,
    ):
        """Prepare the attack.

        Args:
            problem: The true table.
            knowledge: What is known of each cell alone.
            structure: The examined relations, if at hand from an earlier attack.
            keep: Cells that will be asked for with a capacity of their own.
            networks: Use maximum flows where possible; without, linear programs only.
            solver: Makes linear solvers.
        """
        structure = structure or Structure.of(problem, networks=networks)
        self._problem = problem
        self._solver = solver
        self.shrunk = shrink(structure, knowledge.up, knowledge.down, keep=keep, networks=networks)

    def reach(
        self,
        requests: Requests,
        *,
        executor: Executor | None = None,
        moves: Moves = "some",
        proofs: bool = True,
        progress: Callable[[int], bool] | None = None,
    ) -> Reaches:
        """Answer requests about any cells.

        Args:
            requests: What to find out.
            executor: Runs the chunks; by default they run here, one after the other.
            moves: How many cells deviations may move: `few`, so that they also serve attackers
                who know some cells; `some`; or `any` number, where nobody else is served by
                them. Limited requests are always answered by few.
            proofs: Tell why nothing gets further, too: the multipliers. Without, limits are what
                the solver says.
            progress: Told how many requests have just been answered; returns True to stop.
                What is then still open is marked as not answered, also where time ran out.

        Raises:
            TimeUpError: Time ran out (see `tacit.clock`), and no `progress` was given.
        """
        place = self.shrunk.place[requests.cells]
        m, n = self.shrunk.structure.A.shape
        amount = np.zeros(len(requests))
        limit = np.full(len(requests), np.inf)
        answered = np.zeros(len(requests), bool)
        deviations, multipliers = SparseRows(len(requests), n), SparseRows(len(requests), m)

        # These ask for nothing: a table in which nothing moves shows it.
        place = np.where(requests.targets <= 0, -1, place)
        still = np.flatnonzero(place < 0)
        answered[still] = True
        proven = still[requests.targets[still] > 0]
        limit[proven] = 0.0
        for start in range(0, len(proven) if proofs else 0, FLOW_CHUNK):
            index = proven[start : start + FLOW_CHUNK]
            self._put_proofs(multipliers, index, requests, np.zeros((m, len(index))))
        try:
            jointly = self._jointly(place, requests, moves)
        except TimeUpError:
            if progress is None:
                raise
            jointly = JointAnswers.none()
        done = jointly.requests
        amount[done], answered[done], place[done] = jointly.amount, True, -1
        row = np.arange(len(requests))
        row[done] = len(requests) + jointly.row
        chunks = self._chunks(place, requests.cells)
        answers = self._run(chunks, requests, executor, moves == "few")
        if progress is not None:
            answers = _in_time(answers)
        for (component, index), answer in zip(chunks, answers, strict=False):
            amount[index], limit[index] = answer.amount, answer.limit
            answered[index] = True
            found = sparse.coo_array(answer.deviations)
            deviations.put_many(index[found.row], component.cells[found.col], found.data)
            bounded = np.isfinite(answer.limit) & proofs
            g = np.zeros((m, int(bounded.sum())))
            g[component.rows] = answer.multipliers[bounded].toarray().T
            self._put_proofs(multipliers, index[bounded], requests, g)
            if progress is not None and progress(int(answered.sum())):
                break
        shown = multipliers.matrix()
        if proofs:
            self._charge_rounding(limit, requests, shown)
        tables = sparse.csr_array(sparse.vstack([deviations.matrix(), jointly.tables(n)]))
        return Reaches(amount, limit, tables, shown, answered, row)

    def _jointly(self, place: Integers, requests: Requests, moves: Moves) -> JointAnswers:
        """Answers that many requests about large components have in common."""
        found = [JointAnswers.none()]
        for number, component in enumerate(self.shrunk.components):
            if component.network is None and len(component.cells) > LARGE:
                asked = np.flatnonzero(place == number)
                shrunk = self.shrunk
                in_strips = reach_in_strips(
                    shrunk.structure.strips, shrunk.up, shrunk.down, requests, asked
                )
                found.append(in_strips)
                asked = np.setdiff1d(asked, in_strips.requests)
                found.append(reach_jointly(component, requests, asked, self._solver, moves=moves))
        return JointAnswers.joined(found)

    def _charge_rounding(
        self, limit: Floats, requests: Requests, proofs: sparse.csr_array[Any, Any]
    ) -> None:
        """Raise limits, in place, to what multipliers show that are not simple numbers."""
        inexact = np.isfinite(limit) & ~computed_exactly(self._problem.relations, proofs)
        index = np.flatnonzero(inexact)
        if not len(index):
            return
        up, down = self.shrunk.up, self.shrunk.down
        part = requests.take(index)
        own = part.capacity(up, down)
        capacities = Capacities(up, down, part.cells, part.sides, own, part.limits)
        shown = limits_shown(self._problem, capacities, sparse.csr_array(proofs[index]))
        limit[index] = np.where(np.isfinite(shown), np.maximum(shown, limit[index]), limit[index])

    def _put_proofs(self, rows: SparseRows, index: Integers, requests: Requests, g: Floats) -> None:
        """Complete multipliers found in a component and store them, one column per request."""
        g = self.shrunk.lift(g, requests.cells[index], requests.sides[index])
        relation, position = np.nonzero(g)
        rows.put_many(index[position], relation, g[relation, position])

    def _chunks(self, place: Integers, cells: Integers) -> list[tuple[Component, Integers]]:
        """Requests by component, cut into pieces whose size does not depend on who runs them.

        Both sides of a cell come together: what moves it up, turned round, often moves it down.
        """
        chunks = []
        for number in np.unique(place[place >= 0]).tolist():
            component = self.shrunk.components[number]
            index = np.flatnonzero(place == number)
            index = index[np.argsort(cells[index], kind="stable")]
            size = LINEAR_CHUNK if component.network is None else FLOW_CHUNK
            chunks += [(component, index[i : i + size]) for i in range(0, len(index), size)]
        return chunks

    def _run(
        self,
        chunks: list[tuple[Component, Integers]],
        requests: Requests,
        executor: Executor | None,
        few_moves: bool,
    ) -> Iterator[Reaches]:
        number = np.full(len(self.shrunk.place), -1, np.int64)
        local = []
        for component, index in chunks:
            number[component.cells] = np.arange(len(component.cells))
            local.append(requests.take(index).numbered_by(number))
            number[component.cells] = -1
        if executor is not None:
            futures = [
                executor.submit(solve_chunk, component, part, self._solver, few_moves)
                for (component, _), part in zip(chunks, local, strict=True)
            ]
            try:
                for future in futures:
                    yield future.result()
            finally:
                for future in futures:
                    future.cancel()
            return
        engine, engine_of = None, None
        for (component, _), part in zip(chunks, local, strict=True):
            if component.network is not None:
                yield flow_reaches(component, component.network, part)
                continue
            if engine is None or engine_of is not component:
                engine, engine_of = LinearEngine(component, self._solver), component
            yield engine.reaches(part, few_moves=few_moves)

    def intervals(
        self, cells: Integers, *, executor: Executor | None = None
    ) -> tuple[Floats, Floats]:
        """Smallest and largest value that the attacker can deduce for each cell."""
        answer = self.reach(Requests.both_sides(cells), executor=executor)
        value = self._problem.value[cells]
        return value - answer.amount[len(cells) :], value + answer.amount[: len(cells)]


def _in_time(answers: Iterator[Reaches]) -> Iterator[Reaches]:
    """The answers that come before time runs out."""
    with contextlib.suppress(TimeUpError):
        for answer in answers:
            yield answer
            check_time()


def solve_chunk(
    component: Component, requests: Requests, solver: SolverFactory, few_moves: bool = False
) -> Reaches:
    """Answer requests about one component; a pure task for any worker."""
    if component.network is not None:
        return flow_reaches(component, component.network, requests)
    return LinearEngine(component, solver).reaches(requests, few_moves=few_moves)
