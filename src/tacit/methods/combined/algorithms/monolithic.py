"""One mixed-integer programme with a table for every sensitive cell and side: a yardstick."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tacit.methods.combined.heuristics.patterns import Patterns
from tacit.methods.combined.limits import most_rooms
from tacit.methods.combined.master import Master
from tacit.methods.combined.search import Search
from tacit.methods.intervals.algorithms.monolithic import refuse_too_large
from tacit.methods.intervals.model import Rival
from tacit.problem import Floats
from tacit.solver.highs_mip import HighsMip, WholeSolution
from tacit.tolerances import FAR

_MOST_ENTRIES = 20_000_000


def run(search: Search) -> None:
    """Solve the whole model at once."""
    refuse_too_large(search.model, _MOST_ENTRIES)
    patterns = Patterns(search)
    patterns.first(seconds=0.1 * search.options.time_limit)
    if search.should_stop():
        return
    compact = _Compact(search)
    found = compact.solve(patterns)
    search.iterations += 1
    if found.status == "infeasible":
        if search.best is None:
            search.nothing_better()
        return
    search.raise_bound(found.settled_bound, "solver")
    if found.x is not None:
        compact.offer(found.x, patterns)


class _Compact:
    """Places, x, and behind them the deviations of one table after the other."""

    def __init__(self, search: Search):
        self._search = search
        # Its columns, links and other rows are wanted here, not its relaxation.
        self._master = Master(search, most_rooms(search))
        self._A = sparse.csr_array(search.model.structure.A[search.model.structure.essential])
        rows, right = self._master.side_rows()
        links = self._master.links(self._master.linkable())
        self._blocks: list[sparse.csr_array[Any, Any]] = [rows, links]
        self._low = [right, np.zeros(links.shape[0])]
        self._high = [np.full(rows.shape[0], np.inf), np.full(links.shape[0], np.inf)]
        self._bounds = [(self._master.lower, self._master.upper)]
        self._start = self._master.size
        for rival in search.model.rivals:
            for number in range(len(rival.cells)):
                self._add_table(rival, number)

    def _add_table(self, rival: Rival, number: int) -> None:
        """A consistent table within the published rooms that gets as far as asked."""
        model = self._search.model
        n, start = model.problem.cell_count, self._start
        cell, side = int(rival.cells[number]), float(rival.sides[number])
        far = FAR * float(self._master.unit[0])
        known = np.minimum(np.where(model.is_free, rival.room, 0.0), far)
        high, low = known[0::2].copy(), known[1::2].copy()
        # The asked cell is judged by what everyone knows of it.
        if rival.attacker.reopened(model.problem)[cell]:
            high[cell], low[cell] = np.minimum(model.widest()[2 * cell : 2 * cell + 2], far)
        self._bounds.append((-low, high))
        ends = np.flatnonzero(model.is_free)
        row = np.arange(len(ends))
        within = sparse.csr_array(
            (
                np.concatenate([np.ones(len(ends)), np.where(ends % 2 == 0, -1.0, 1.0)]),
                (np.concatenate([row, row]), np.concatenate([ends, start + ends // 2])),
            ),
            shape=(len(ends), start + n),
        )
        empty = sparse.csr_array((self._A.shape[0], start))
        relations = sparse.csr_array(sparse.hstack([empty, self._A]))
        place = int(rival.place[number])
        asked = np.zeros((1, start + n))
        asked[0, start + cell] = side
        if place >= 0:
            asked[0, place] = -1.0
        target = float(rival.level[number]) if place < 0 else 0.0
        self._blocks += [relations, within, sparse.csr_array(asked)]
        self._low += [np.zeros(self._A.shape[0]), np.zeros(len(ends)), np.array([target])]
        self._high += [np.zeros(self._A.shape[0]), np.full(len(ends) + 1, np.inf)]
        self._start += n

    def solve(self, patterns: Patterns) -> WholeSolution:
        """Solve the model; solutions and bounds go to the search."""
        search, master = self._search, self._master
        total = self._start
        unit = np.full(total, master.unit[0])
        unit[: master.size] = master.unit
        rows = sparse.csr_array(
            sparse.vstack(
                [
                    sparse.csr_array((b.data, b.indices, b.indptr), shape=(b.shape[0], total))
                    for b in self._blocks
                ]
            )
        )
        scale = np.asarray(abs(rows * unit[None, :]).max(axis=1).todense()).ravel()
        scale = np.maximum(scale, 1e-300)
        lower = np.concatenate([low for low, _ in self._bounds])
        upper = np.concatenate([high for _, high in self._bounds])
        cost = np.zeros(total)
        cost[: master.size] = master.cost * master.unit / master.price
        columns = np.arange(total)
        whole = (columns >= search.model.size) & (columns < master.size)
        mip = HighsMip(
            sparse.csr_array(rows.multiply(unit[None, :]).multiply(1 / scale[:, None])),
            row_lower=np.concatenate(self._low) / scale,
            row_upper=np.concatenate(self._high) / scale,
            lower=lower / unit,
            upper=upper / unit,
            cost=cost,
            whole=whole,
            offset=search.model.base / master.price,
            seed=search.options.seed,
            # Loose tolerances let cells move that are not suppressed.
            tolerance=1e-9,
        )
        start = None
        if search.best is not None:
            start = np.full(total, np.nan)
            start[whole] = search.model.suppressed(search.best)[master.choices]

        def watch(so_far: WholeSolution) -> bool:
            if so_far.x is not None:
                self.offer(so_far.x * unit, patterns)
            search.raise_bound(min(so_far.bound * master.price, search.objective), "solver")
            return search.should_stop()

        found = mip.minimise(
            seconds=search.seconds_left, gap=0.5 * search.options.gap, start=start, watch=watch
        )
        return WholeSolution(
            found.status,
            None if found.x is None else found.x * unit,
            found.objective * master.price,
            found.bound * master.price,
        )

    def offer(self, x: Floats, patterns: Patterns) -> None:
        """Offer the narrowest intervals of the cells that a vector of the model suppresses."""
        model, master = self._search.model, self._master
        pattern = model.is_always.copy()
        pattern[master.choices] = x[model.size : master.size] > 0.5
        patterns.mend(pattern, pattern.astype(np.float64))
