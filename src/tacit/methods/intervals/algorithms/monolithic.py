"""One linear programme with a table for every sensitive cell and side (paper 000, (3))."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tacit.clock import check_time
from tacit.errors import InputError
from tacit.methods.intervals.heuristics.surroundings import Surroundings
from tacit.methods.intervals.master import usual_price
from tacit.methods.intervals.model import IntervalsModel, Rival
from tacit.methods.intervals.search import Search
from tacit.problem import Floats
from tacit.solver.highs import HighsModel

_MOST_ENTRIES = 100_000_000
"""Larger models are refused: they would not fit into the memory of usual machines."""


def run(search: Search) -> None:
    """Solve the whole model at once."""
    refuse_too_large(search.model, _MOST_ENTRIES)
    Surroundings(search).first()
    if search.should_stop():
        return
    model = search.model
    compact = _Compact(model)
    lp = HighsModel(
        compact.rows(),
        row_lower=compact.right / compact.unit,
        row_upper=compact.most / compact.unit,
        lower=compact.lower / compact.unit,
        upper=compact.upper / compact.unit,
        cost=compact.cost / compact.price,
        tolerance=1e-8,
    )
    for name, setting in (
        ("presolve", "on"),
        ("time_limit", search.seconds_left),
        ("random_seed", search.options.seed),
        ("simplex_iteration_limit", 2**31 - 1),
    ):
        lp.set_option(name, setting)
    solution = lp.solve(cold=True, strategy="dual")
    search.iterations += 1
    if solution.status != "optimal":
        return
    point = solution.x[: model.size] * compact.unit
    search.offer(np.clip(point, model.lower, np.maximum(model.upper, model.lower)))
    search.confirm()
    search.raise_bound(compact.proven(solution.row_dual * compact.price, search.cutoff))


def refuse_too_large(model: IntervalsModel, most: int) -> None:
    """Refuse a table whose compact model would have more entries than this."""
    requests = sum(len(rival.cells) for rival in model.rivals)
    entries = requests * (model.structure.A.nnz + 4 * model.problem.cell_count)
    if entries > most:
        raise InputError(
            f"the compact model of this table would have about {entries / 1e6:,.0f} million "
            f"entries, more than {most / 1e6:.0f} million; choose algorithm 'auto'"
        )


class _Compact:
    """The model (3), attackers and sliding levels included.

    After the places of the point come the deviations of one table after the other.
    """

    def __init__(self, model: IntervalsModel):
        self._model = model
        self._A = sparse.csr_array(model.structure.A[model.structure.essential])
        n = model.problem.cell_count
        count = sum(len(rival.cells) for rival in model.rivals)
        self.cost = np.concatenate([model.weight, np.zeros(n * count)])
        lower, upper = [model.lower], [model.upper]
        for rival in model.rivals:
            known = np.where(model.is_free | model.is_withheld, rival.room, 0.0)
            for cell in rival.cells.tolist():
                check_time()
                high, low = known[0::2].copy(), known[1::2].copy()
                # The asked cell is judged by what everyone knows of it.
                own = rival.attacker.reopened(model.problem)[cell]
                if own:
                    high[cell], low[cell] = model.widest()[2 * cell : 2 * cell + 2]
                lower.append(-low)
                upper.append(high)
        self.lower, self.upper = np.concatenate(lower), np.concatenate(upper)
        levels = np.concatenate([rival.level for rival in model.rivals] + [model.right])
        positive = levels[levels > 0]
        self.unit = float(np.median(positive)) if len(positive) else 1.0
        self.price = usual_price(model.weight)
        self.right, self.most = np.zeros(0), np.zeros(0)
        self._rows: sparse.csr_array[Any, Any] | None = None

    def rows(self) -> sparse.csr_array[Any, Any]:
        """All rows; `right` and `most` are their sides."""
        if self._rows is not None:
            return self._rows
        model = self._model
        width = len(self.cost)
        rest = sparse.csr_array((model.rows.shape[0], width - model.size))
        blocks = [sparse.csr_array(sparse.hstack([model.rows, rest]))]
        right = [model.right]
        most = [np.full(len(model.right), np.inf)]
        start = model.size
        n, m = model.problem.cell_count, self._A.shape[0]
        for rival in model.rivals:
            for number in range(len(rival.cells)):
                check_time()
                block, target = self._table(rival, number, start, width)
                blocks.append(block)
                right.append(np.concatenate([np.zeros(block.shape[0] - 1), [target]]))
                free = np.full(block.shape[0], np.inf)
                free[:m] = 0.0
                most.append(free)
                start += n
        self.right, self.most = np.concatenate(right), np.concatenate(most)
        self._rows = sparse.csr_array(sparse.vstack(blocks))
        return self._rows

    def _table(
        self, rival: Rival, number: int, start: int, width: int
    ) -> tuple[sparse.csr_array[Any, Any], float]:
        """A consistent table within the published rooms that gets as far as asked."""
        model = self._model
        n = model.problem.cell_count
        ends = np.flatnonzero(model.is_free)
        sign = np.where(ends % 2 == 0, -1.0, 1.0)
        own = np.arange(len(ends))
        within = sparse.csr_array(
            (
                np.concatenate([np.ones(len(ends)), sign]),
                (np.concatenate([own, own]), np.concatenate([ends, start + ends // 2])),
            ),
            shape=(len(ends), width),
        )
        A = self._A.tocoo()
        relations = sparse.csr_array(
            (A.data, (A.row, start + A.col)), shape=(self._A.shape[0], width)
        )
        column, side = start + int(rival.cells[number]), float(rival.sides[number])
        place = int(rival.place[number])
        columns, data = ([column], [side]) if place < 0 else ([place, column], [-1.0, side])
        asked = sparse.csr_array(
            (np.array(data), (np.zeros(len(data), np.int64), np.array(columns))), shape=(1, width)
        )
        assert start + n <= width
        target = float(rival.level[number]) if place < 0 else 0.0
        return sparse.csr_array(sparse.vstack([relations, within, asked])), target

    def proven(self, prices: Floats, cutoff: float) -> float:
        """The bound that row prices prove, recomputed outside the solver."""
        rows = self.rows()
        equal = self.most == self.right
        prices = np.where(equal, prices, np.maximum(prices, 0.0))
        reduced = self.cost - rows.T @ prices
        lower, upper = self.lower.copy(), self.upper.copy()
        costly = np.flatnonzero(self.cost > 0)
        upper[costly] = np.minimum(upper[costly], cutoff / self.cost[costly])
        # No deviation leaves the rooms of a point that is no dearer than the best.
        tables = lower[self._model.size :].reshape(-1, self._model.problem.cell_count)
        most = upper[: self._model.cell_ends]
        free = self._model.is_free
        tables_upper = upper[self._model.size :].reshape(tables.shape)
        np.minimum(tables_upper, np.where(free[0::2], most[0::2], np.inf), out=tables_upper)
        np.maximum(tables, np.where(free[1::2], -most[1::2], -np.inf), out=tables)
        room = np.where(reduced > 0, lower, upper)
        # On a column without bound, a price is rounding.
        used = np.isfinite(room) & (reduced != 0)
        return float(prices @ self.right + reduced[used] @ room[used])
