"""Simulated annealing over the finest cells: tables that add up, one after the other.

Where all totals can be computed from the finest cells, these alone decide, and a change of one of
them costs what it changes in itself and in its totals: that is computed at once, without a linear
model. What is found is a table of integers wherever levels and limits are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tacit.methods.adjust.heuristics.annealing_kernels import anneal, total_cost
from tacit.methods.adjust.model import Adjustment, Search
from tacit.problem import Floats
from tacit.tolerances import LAST_DIGITS

_FIRST = 100
"""Trials for each sensitive cell in the first run."""
_LONGER = 2.0
"""By which factor each run is longer than the one before."""
_LONGEST = 30_000_000
"""Trials of the longest run."""
_HOT, _COLD = 30.0, 0.005
"""Heat at the beginning and at the end, in what a sensitive cell costs on average."""
_REHEATED = 1.0
"""Heat where a run begins with the best table."""
_DEAR = 2.0
"""What missing a level or a limit costs, in what it costs to make up for it by a finest cell."""
_ENTRIES = 300_000
"""Entries looked at between two looks at the clock: some milliseconds."""


class Annealing:
    """Runs of simulated annealing, each longer than the one before."""

    def __init__(self, search: Search, table: _Finest):
        self._search, self._table = search, table
        model = search.model
        self._trials = max(_FIRST * len(model.sensitive), 1000)
        self._run: _Run | None = None
        self._runs = 0

    @classmethod
    def of(cls, search: Search) -> Annealing | None:
        """Prepare to anneal; None where totals cannot be computed from finest cells.

        The largest deviation is no sum over cells, and squares are left to the interior point.
        """
        if search.model.norm != "l1" or len(search.model.sensitive) == 0:
            return None
        table = _Finest.of(search.model)
        return None if table is None else cls(search, table)

    def first_table(self) -> None:
        """One short run, whose table is offered."""
        self._step_through(2**62, self._trials)
        self._run = None

    def improve(self, seconds: float, trials: int = 2**62) -> None:
        """Anneal for this long, or this many trials."""
        self._step_through(self._search.seconds + seconds, trials)

    def _step_through(self, until: float, trials: int) -> None:
        search = self._search
        portion = max(_ENTRIES // self._table.usual_width, 100)
        while trials > 0 and search.seconds < until and not search.should_stop():
            if self._run is None:
                self._run = self._next_run()
            count = min(portion, trials, self._run.left)
            self._run.go_on(count)
            trials -= count
            if self._run.left == 0:
                self._offer(self._run)
                self._run = None

    def _next_run(self) -> _Run:
        """From nothing at great heat and from the best table at less, in turn."""
        search, table = self._search, self._table
        self._runs += 1
        is_new = search.best is None or self._runs % 2 == 1
        start = None
        if not is_new:
            assert search.best is not None
            start = table.expanded(search.best)
        if is_new and self._runs > 1:
            self._trials = int(min(_LONGER * self._trials, _LONGEST))
        return _Run(table, start, _HOT if is_new else _REHEATED, self._trials, search.rng)

    def _offer(self, run: _Run) -> None:
        # Sums of many steps are off by the last digits: totals are computed once more.
        finest = run.best[self._table.leaves]
        self._search.offer((self._table.of_finest @ finest)[self._search.model.cells])


class _Finest:
    """The table as the kernel takes it: limits of all cells, and what finest cells change.

    Attributes:
        leaves: The finest cells that can move.
        of_finest: What all cells change by, in terms of them.
        usual_width: How many cells change with one of them.
        usual_cost: What a sensitive cell costs on average.
    """

    def __init__(self, model: Adjustment, leaves: Any, of_finest: sparse.csr_array[Any, Any]):
        n = model.problem.cell_count
        self.leaves = leaves
        self.of_finest = of_finest
        weight, low, high = np.zeros(n), np.zeros(n), np.zeros(n)
        rise, fall = np.zeros(n), np.zeros(n)
        weight[model.cells] = model.weight
        low[model.cells], high[model.cells] = -model.down, model.up
        self.sensitive = model.cells[model.sensitive]
        rise[self.sensitive], fall[self.sensitive] = model.rise, model.fall
        columns = sparse.csc_array(of_finest)
        self.usual_width = max(1, columns.nnz // max(len(leaves), 1))
        share = weight[self.sensitive] * model.level
        self.usual_cost = max(float(share.mean()), float(weight.max()) * model.unit * LAST_DIGITS)
        column_cost = np.asarray(abs(columns).T @ weight)
        dear = np.full(n, np.inf)
        price = column_cost[of_finest.indices] / np.abs(of_finest.data)
        row = np.repeat(np.arange(n), np.diff(of_finest.indptr))
        np.minimum.at(dear, row, price)
        dear = np.where(np.isfinite(dear), dear, 0.0)
        # Where nothing costs anything, levels still have to be met.
        dear = _DEAR * np.maximum(dear, self.usual_cost / model.unit)
        self._cells = model.cells
        self.limits = (weight, low, high, rise, fall, dear)
        chosen = of_finest
        if model.integer:
            # By cells that count twice, others would be moved by halves.
            chosen = of_finest.copy()
            chosen.data[np.abs(chosen.data) != 1.0] = 0.0
            chosen.eliminate_zeros()
        self.structure = (
            columns.indptr.astype(np.int64),
            columns.indices.astype(np.int64),
            columns.data.astype(float),
            chosen.indptr.astype(np.int64),
            chosen.indices.astype(np.int64),
            chosen.data.astype(float),
        )

    @classmethod
    def of(cls, model: Adjustment) -> _Finest | None:
        """The table by its finest cells; None where they do not decide."""
        if model.finest is None:
            return None
        leaves, of_finest = model.finest
        place = np.full(model.problem.cell_count, -1)
        place[model.cells] = np.arange(model.size)
        can_move = np.flatnonzero(place[leaves] >= 0)
        if len(can_move) == 0:
            return None
        part = sparse.csr_array(sparse.csc_array(of_finest)[:, can_move])
        part.sort_indices()
        return cls(model, leaves[can_move], part)

    def expanded(self, z: Floats) -> Floats:
        """Deviations of all cells, totals computed from finest cells once more."""
        every = np.zeros(self.of_finest.shape[0])
        every[self._cells] = z
        return np.asarray(self.of_finest @ every[self.leaves])


class _Run:
    """One run: from hot to cold.

    Attributes:
        left: Trials that are left.
        best: The best deviations of all cells so far.
    """

    def __init__(
        self,
        table: _Finest,
        start: Floats | None,
        heat: float,
        trials: int,
        random: np.random.Generator,
    ):
        self._table, self._random = table, random
        self.left = trials
        n = len(table.limits[0])
        self._z = np.zeros(n) if start is None else start
        self._cost = np.zeros(n)
        self._total = total_cost(self._z, *table.limits, self._cost)
        self.best, self._least = self._z.copy(), self._total
        self._heat = heat * table.usual_cost
        self._cooling = float((_COLD / heat) ** (1.0 / trials))

    def go_on(self, trials: int) -> None:
        """Some trials more."""
        self.left -= trials
        self._total, self._least, self._heat = anneal(
            *self._table.structure,
            *self._table.limits,
            self._table.sensitive,
            self._z,
            self._cost,
            self._total,
            self.best,
            self._least,
            self._heat,
            self._cooling,
            trials,
            self._random,
        )
