"""Senses improved one by one, block by block with the rest held, and by annealing, in turns."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tacit.errors import SolverError
from tacit.methods.adjust.heuristics.annealing import Annealing
from tacit.methods.adjust.heuristics.flips import Flips
from tacit.methods.adjust.heuristics.senses import SenseLp
from tacit.methods.adjust.mip import Mip
from tacit.methods.adjust.model import Search
from tacit.methods.engine.turns import ADJUST_TURN
from tacit.problem import Floats, Integers
from tacit.solver.highs_mip import MipSolution
from tacit.tolerances import SUBPROBLEM_GAP

_SECONDS = 2.0
"""Time for one block."""
_COUNTED = 1000.0
"""Blocks are solved in integers where the usual level has at most this many."""
_LEAST_SHARE = 0.15
"""Share of the time for what saved nothing of late."""
_ANNEALED = 100
"""Trials of annealing for each sense tried."""
_QUICK, _SLOW = 0.15, 0.8
"""Blocks that take less grow, blocks that take more shrink."""


def improve(
    search: Search,
    lp: SenseLp,
    seconds: float,
    *,
    annealing: Annealing | None = None,
    trials: int | None = None,
) -> None:
    """Improve the best table in turns: single senses, blocks of cells, annealing.

    What saved more in its last turn gets more time in its next one.

    Args:
        search: The run.
        lp: The closest table for given senses.
        seconds: For how long at most.
        annealing: Simulated annealing, where the table allows it.
        trials: One turn only, with this many senses tried, a block for every fifty of them, and
            runs of annealing that take about as long.
    """
    until = search.seconds + seconds
    flips, blocks = Flips(search, lp), Blocks(search)
    if trials is not None:
        flips.improve(seconds, trials)
        blocks.improve(until - search.seconds, 1 + trials // 50)
        if annealing is not None:
            annealing.improve(until - search.seconds, trials * _ANNEALED)
        return
    improvers: list[Improver] = [flips, blocks]
    if annealing is not None:
        improvers.append(annealing)
    turn = min(max(0.2, ADJUST_TURN * seconds), 3.0)
    count = len(improvers)
    share = np.full(count, 1.0 / count)
    while search.seconds < until and not search.should_stop():
        saved = np.zeros(count)
        for number, improver in enumerate(improvers):
            if blocks.is_exhausted:
                return
            before = search.objective
            improver.improve(min(count * turn * share[number], until - search.seconds))
            saved[number] = (before - search.objective) / share[number]
        if saved.sum() > 0:
            earned = np.clip(saved / saved.sum(), _LEAST_SHARE, None)
            share = 0.5 * share + 0.5 * earned / earned.sum()


class Improver(Protocol):
    """What improves the best table."""

    def improve(self, seconds: float) -> None:
        """Improve for this long."""
        ...


class Blocks:
    """Improvement of the best table, one block of cells at a time.

    Attributes:
        is_exhausted: Whether a block that holds all cells has nothing left to improve.
    """

    def __init__(self, search: Search):
        self._search = search
        self._model = search.model
        self._size = float(min(search.options.block, search.model.size))
        self.is_exhausted = False
        count = len(self._model.sensitive)
        # Cells whose surroundings brought no improvement wait longer for their next turn.
        self._patience = np.zeros(count)

    def improve(self, seconds: float, count: int = 2**62) -> None:
        """Improve for this long, or this many blocks."""
        search = self._search
        until = search.seconds + seconds
        last = search.iterations + count
        while search.seconds < until and search.iterations < last:
            if self.is_exhausted or search.should_stop():
                return
            self._step(until - search.seconds)

    def _step(self, seconds: float) -> bool:
        search, model = self._search, self._model
        assert search.best is not None
        search.iterations += 1
        seed = self._seed()
        inside = self._block(seed)
        own = model.place[inside]
        own = own[own >= 0]
        mip = Mip(
            model,
            inside=inside,
            held=search.best,
            cutoff=search.objective,
            # Beyond that, integers are found sooner by rounding what is closest.
            integer=model.integer and model.unit <= _COUNTED,
        )
        began = search.seconds
        found = _solved(mip, search.best, min(seconds, _SECONDS), search)
        took = search.seconds - began
        is_done = found is not None and found.status == "optimal"
        self.is_exhausted = is_done and len(inside) == model.size
        if is_done and took < _QUICK:
            self._size = min(self._size * 1.1, model.size)
        elif not is_done or took > _SLOW:
            self._size = max(self._size * 0.9, 20.0)
        improved = False
        if found is not None and found.x is not None:
            improved = search.offer(mip.deviations(found.x))
        self._patience[own] = np.where(improved, 0.0, self._patience[own] + 1.0)
        return improved

    def _seed(self) -> int:
        """A sensitive cell that had few turns, or costs more than expected nearby."""
        rng = self._search.rng
        least = self._patience + rng.random(len(self._patience))
        return int(np.argmin(least))

    def _block(self, seed: int) -> Integers:
        """Cells around a sensitive cell, grown relation by relation."""
        model, rng = self._model, self._search.rng
        A, columns = model.A, model.columns
        chosen = np.zeros(model.size, bool)
        seen = np.zeros(A.shape[0], bool)
        best = self._search.best
        assert best is not None
        moved = best != 0
        start = int(model.sensitive[seed])
        chosen[start] = True
        count, frontier = 1, [start]
        while frontier and count < self._size:
            # Cells that move already lead on to others that could move less.
            weights = np.where(moved[frontier], 4.0, 1.0)
            at = int(rng.choice(len(frontier), p=weights / weights.sum()))
            cell = frontier[at]
            rows = columns.indices[columns.indptr[cell] : columns.indptr[cell + 1]]
            rows = rows[~seen[rows]]
            if len(rows) == 0:
                frontier[at] = frontier[-1]
                frontier.pop()
                continue
            row = int(rng.choice(rows))
            seen[row] = True
            cells = A.indices[A.indptr[row] : A.indptr[row + 1]]
            new = cells[~chosen[cells]]
            if len(new) > self._size / 2:
                important = moved[new] | (model.place[new] >= 0)
                rank = np.argsort(-(important + rng.random(len(new))))
                new = new[rank[: int(self._size / 2)]]
            chosen[new] = True
            count += len(new)
            frontier.extend(new.tolist())
        return np.flatnonzero(chosen)


def _solved(mip: Mip, z: Floats, seconds: float, search: Search) -> MipSolution | None:
    """The model solved from a known table; None if the solver broke down."""
    try:
        return mip.solve(
            seconds=seconds,
            gap=SUBPROBLEM_GAP,
            start=mip.vector(z),
            watch=lambda _: search.out_of_time(),
            seed=search.options.seed,
        )
    except SolverError:
        return None
