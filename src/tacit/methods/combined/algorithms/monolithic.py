"""`monolithic`: one mixed-integer program with a table for every sensitive cell and side.

This is [KarlssonOlsson2015, (3.28)], a yardstick for small tables.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.clock import check_time
from tacit.methods.combined.cuts import Master
from tacit.methods.combined.heuristics.patterns import Patterns
from tacit.methods.combined.model import Search
from tacit.methods.engine import turns
from tacit.methods.engine.cut_pool import Rows
from tacit.methods.intervals.algorithms.monolithic import (
    compact_entries,
    refuse_too_large,
    table_bounds,
    table_rows,
)
from tacit.problem import Floats
from tacit.solver.mip import MipSolution
from tacit.solver.scaled_mip import ScaledMip
from tacit.tolerances import FAR, SOLVER_EXACT

_MOST_ENTRIES = 20_000_000
"""Larger models are refused: they would not be solved in any useful time."""


def run(search: Search) -> None:
    """Solve the whole model at once."""
    refuse_too_large(search.model, _MOST_ENTRIES)
    patterns = Patterns(search)
    patterns.first(seconds=turns.COMBINED_PATTERN_MONOLITHIC * search.options.time_limit)
    model = search.model
    while not search.should_stop() and compact_entries(model) <= _MOST_ENTRIES:
        found = _Compact(search, patterns).solve()
        search.iterations += 1
        if found.status == "infeasible":
            if search.best is None:
                search.nothing_better()
            return
        search.raise_bound(found.settled_bound, "solver")
        if found.x is None:
            return
        # The intervals of its pattern alone are narrowest only roughly while the gap is open.
        search.offer(found.x[: model.size])
        search.confirm()
        if not search.probe(found.x[: model.size]):
            return
        # Which requests against contributors matter shows only now.
        model.catch_up()


class _Compact:
    """Places, x, and behind them the deviations of one table after the other."""

    def __init__(self, search: Search, patterns: Patterns):
        self._search = search
        self._patterns = patterns
        model = search.model
        # Its columns, links and steady rows are wanted here, not its cuts.
        master = self._master = Master(search)
        requests = [(state, at) for state in model.states for at in range(len(state.cells))]
        n = model.problem.cell_count
        self._size = master.size + n * len(requests)
        links = master.links(master.linkable())
        blocks = [
            master.steady,
            (links, np.zeros(links.shape[0]), np.full(links.shape[0], np.inf)),
        ]
        bounds = [(master.lower, master.upper)]
        far = FAR * float(master.unit[0])
        for place, (state, number) in enumerate(requests):
            check_time()
            low, high = table_bounds(model, state, number)
            bounds.append((np.maximum(low, -far), np.minimum(high, far)))
            start = master.size + n * place
            blocks.append(table_rows(model, state, number, start, self._size))
        self._rows: Rows = sparse.csr_array(sparse.vstack([self._wide(b) for b, _, _ in blocks]))
        self._row_lower = np.concatenate([low for _, low, _ in blocks])
        self._row_upper = np.concatenate([high for _, _, high in blocks])
        self._lower = np.concatenate([low for low, _ in bounds])
        self._upper = np.concatenate([high for _, high in bounds])

    def _wide(self, rows: Rows) -> Rows:
        shape = (rows.shape[0], self._size)
        return sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=shape)

    def solve(self) -> MipSolution:
        """Solve the model; solutions and bounds go to the search."""
        search, master = self._search, self._master
        unit = np.full(self._size, master.unit[0])
        unit[: master.size] = master.unit
        cost = np.zeros(self._size)
        cost[: master.size] = master.cost
        columns = np.arange(self._size)
        is_x = (columns >= search.model.size) & (columns < master.size)
        mip = ScaledMip(
            self._rows,
            row_lower=self._row_lower,
            row_upper=self._row_upper,
            lower=self._lower,
            upper=self._upper,
            cost=cost,
            integer=is_x,
            offset=search.model.base,
            seed=search.options.seed,
            # Loose tolerances let cells move that are not suppressed.
            tolerance=SOLVER_EXACT,
            unit=unit,
            cost_unit=master.cost_unit,
        )
        start = None
        if search.best is not None:
            start = np.full(self._size, np.nan)
            start[is_x] = search.model.suppressed(search.best)[master.choices]

        def watch(so_far: MipSolution) -> bool:
            if so_far.x is not None:
                self._offer(so_far.x[is_x])
            search.raise_bound(min(so_far.bound, search.objective), "solver")
            return search.should_stop()

        found = mip.minimise(
            seconds=search.seconds_left, gap=0.5 * search.options.gap, start=start, watch=watch
        )
        if found.x is not None:
            self._offer(found.x[is_x])
        return found

    def _offer(self, x: Floats) -> None:
        """Offer the narrowest intervals of the cells that a vector of the model suppresses."""
        pattern = self._search.model.is_always.copy()
        pattern[self._master.choices] = x > 0.5
        self._patterns.mend(pattern, pattern.astype(np.float64))
