"""`monolithic`: one linear program with a table for every sensitive cell and side.

This is [CastroVia2016, (3)], attackers and sliding levels included.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.clock import check_time
from tacit.errors import InputError, SolverError
from tacit.methods.engine.cut_pool import Rows
from tacit.methods.engine.relaxation import Relaxation
from tacit.methods.intervals.attackers import AttackerState
from tacit.methods.intervals.cuts import usual_cost
from tacit.methods.intervals.heuristics.surroundings import Surroundings
from tacit.methods.intervals.model import IntervalsModel
from tacit.methods.intervals.search import Search
from tacit.problem import Floats
from tacit.tolerances import ROUNDING_NOISE, SOLVER

_MOST_ENTRIES = 100_000_000
"""Larger models are refused: they would not fit into the memory of usual machines."""
_TOLERANCE = 0.1 * SOLVER
"""Slacks of one table add up over many relations."""


def run(search: Search) -> None:
    """Solve the whole model at once."""
    model = search.model
    refuse_too_large(model, _MOST_ENTRIES)
    surroundings = Surroundings(search)
    surroundings.first()
    while not search.should_stop() and compact_entries(model) <= _MOST_ENTRIES:
        compact = _Compact(search)
        search.iterations += 1
        try:
            if not compact.solve(search.cutoff):
                return
        except SolverError:
            return
        search.raise_bound(compact.bound)
        search.offer(compact.x[: model.size])
        search.confirm()
        if not search.probe(compact.x):
            return
        # Which requests against contributors matter shows only now.
        surroundings.renew()


def compact_entries(model: IntervalsModel) -> int:
    """About how many entries the compact model of a table has."""
    requests = sum(len(state.cells) for state in model.states)
    return int(requests * (model.structure.A.nnz + 4 * model.problem.cell_count))


def refuse_too_large(model: IntervalsModel, most: int) -> None:
    """Refuse a table whose compact model would have more entries than this."""
    entries = compact_entries(model)
    if entries > most:
        raise InputError(
            f"the compact model of this table would have about {entries / 1e6:,.0f} million "
            f"entries, more than {most / 1e6:.0f} million; choose algorithm 'auto'"
        )


def table_bounds(model: IntervalsModel, state: AttackerState, number: int) -> tuple[Floats, Floats]:
    """How far below and above its values the table of a request may lie for an attacker."""
    known = np.where(model.is_free | model.is_withheld, state.capacity, 0.0)
    cell = int(state.cells[number])
    # The asked cell is judged by what everyone knows of it.
    if state.attacker.reopened(model.problem)[cell]:
        known[2 * cell : 2 * cell + 2] = model.widest()[2 * cell : 2 * cell + 2]
    known = state.limited(number, known)
    return -known[1::2], known[0::2]


def table_rows(
    model: IntervalsModel, state: AttackerState, number: int, start: int, width: int
) -> tuple[Rows, Floats, Floats]:
    """A consistent table within the published slacks that gets as far as asked.

    Args:
        model: The intervals problem.
        state: The attacker.
        number: The request.
        start: The column of the table's first cell; points come first.
        width: The number of columns.

    Returns:
        The rows, and between what they lie.
    """
    A = sparse.coo_array(model.structure.A[model.structure.essential])
    ends = np.flatnonzero(model.is_free)
    own = A.shape[0] + np.arange(len(ends))
    count = A.shape[0] + len(ends) + 1
    column, place = start + int(state.cells[number]), int(state.place[number])
    asked = [column] if place < 0 else [column, place]
    entries = (
        np.concatenate(
            [
                A.data,
                np.ones(len(ends)),
                np.where(ends % 2 == 0, -1.0, 1.0),
                [float(state.sides[number]), -1.0][: len(asked)],
            ]
        ),
        (
            np.concatenate([A.row, own, own, np.full(len(asked), count - 1)]),
            np.concatenate([start + A.col, ends, start + ends // 2, asked]),
        ),
    )
    lower, upper = np.zeros(count), np.full(count, np.inf)
    lower[-1] = state.level[number] if place < 0 else 0.0
    upper[: A.shape[0]] = 0.0
    return sparse.csr_array(entries, shape=(count, width)), lower, upper


class _Compact(Relaxation):
    """The places of a point, and behind them the deviations of one table after the other."""

    def __init__(self, search: Search):
        model = search.model
        n, unit = model.problem.cell_count, model.usual_level
        requests = [(state, at) for state in model.states for at in range(len(state.cells))]
        # No deviation leaves the slacks of a point that costs no more than the best.
        most, weight = model.upper[: model.cell_ends].copy(), model.weight[: model.cell_ends]
        costly = weight > 0
        most[costly] = np.minimum(
            most[costly], (1 + ROUNDING_NOISE) * search.cutoff / weight[costly]
        )
        most = np.where(model.is_free, most, np.inf)
        bounds = [(model.lower, model.upper)]
        for state, number in requests:
            check_time()
            low, high = table_bounds(model, state, number)
            bounds.append((np.maximum(low, -most[1::2]), np.minimum(high, most[0::2])))
        cost = np.concatenate([model.weight, np.zeros(n * len(requests))])
        super().__init__(
            cost,
            np.concatenate([low for low, _ in bounds]),
            np.concatenate([high for _, high in bounds]),
            unit=unit,
            cost_unit=usual_cost(model.weight * unit),
            seed=search.options.seed,
        )
        points: Rows = sparse.csr_array(
            (model.rows.data, model.rows.indices, model.rows.indptr),
            shape=(model.rows.shape[0], len(cost)),
        )
        blocks = [(points, model.right, np.full(len(model.right), np.inf))]
        for place, (state, number) in enumerate(requests):
            check_time()
            blocks.append(table_rows(model, state, number, model.size + n * place, len(cost)))
        rows, lower, upper = zip(*blocks, strict=True)
        self.add_steady(
            sparse.csr_array(sparse.vstack(rows)), np.concatenate(lower), np.concatenate(upper)
        )
        # One large model, which is solved once.
        for name, setting in (
            ("presolve", "on"),
            ("simplex_iteration_limit", 2**31 - 1),
            ("primal_feasibility_tolerance", _TOLERANCE),
            ("dual_feasibility_tolerance", _TOLERANCE),
        ):
            self._lp.set_option(name, setting)
