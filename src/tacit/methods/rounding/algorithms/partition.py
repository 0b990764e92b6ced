"""Large tables: totals first, then part after part, then one neighbourhood after the other.

The linear relaxation is a table that adds up, but not of integer numbers of bases. Its parts are
made integral one after the other: the slice of the totals first, then slice after slice, then the
subtables below. A slice of a three-dimensional table is a network, so that it can be made integral
by rounding every number in it up or down; what is not yet integral is solved again after each part
and makes good for it. At the end everything is integral.

What comes out is improved in neighbourhoods: cells that relations connect are set free, and all
others kept.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.attack.subtables import Subtables
from tacit.methods.engine.turns import ROUND_RELAXATION
from tacit.methods.rounding.algorithms import milp
from tacit.methods.rounding.model import Search
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.solver.highs import HighsModel
from tacit.solver.highs_mip import HighsMip
from tacit.tolerances import INTEGRAL

_PARTS = 40
"""Parts are put together until they hold this share of all cells."""
_FIRST_SIZE = 400
_QUICK = 0.5
"""Seconds within which a neighbourhood counts as easy; the next one is larger."""
_LONGEST = 3.0
"""Seconds after which a neighbourhood is given up; the next one is smaller."""


def run(search: Search) -> None:
    """Round part after part, and improve what comes out as long as there is time."""
    while True:
        if search.candidate is None:
            _Dive(search).run()
        if search.candidate is None and not search.impossible and not search.should_stop():
            milp.run(search, first=True)
        if search.candidate is None:
            return
        # What is found first is audited at once, so that something safe is always at hand.
        if search.confirm():
            break
        if search.should_stop():
            return
    _improve(search)


class _Dive:
    """The relaxation made integral part after part."""

    def __init__(self, search: Search):
        self._search = search
        lattice = search.lattice
        self._decided = lattice.low == lattice.high

    def run(self) -> None:
        """Offer the rounding that comes out, if one does."""
        search, lattice = self._search, self._search.lattice
        model = search.mip.linear(ROUND_RELAXATION * search.seconds_left)
        began = search.seconds
        answer = model.solve(cold=True, strategy="dual")
        if answer.status == "infeasible":
            search.impossible = True
        if answer.status != "optimal":
            return
        search.raise_bound(search.mip.bound_of(answer.row_dual))
        # From here on only bounds change, and the last basis is the best start.
        model.set_option("presolve", "off")
        columns = answer.x
        for part in parts(search.problem):
            if search.should_stop():
                return
            search.iterations += 1
            counts = lattice.counts_of(columns)
            integral = self._made_integral(counts, part)
            if integral is None:
                return
            moved = bool((np.abs(integral - counts)[part] > INTEGRAL).any())
            self._fix(model, part, integral)
            self._decided[part] = True
            if moved:
                # The solver counts all seconds since the first solve.
                model.set_option("time_limit", search.options.time_limit - began)
                answer = model.solve(strategy="dual")
                if answer.status != "optimal":
                    return
                columns = answer.x
        search.offer(np.round(lattice.counts_of(columns)).astype(np.int64))

    def _made_integral(self, counts: Floats, part: Integers) -> Floats | None:
        """The numbers with those of one part rounded up or down; None if that cannot be."""
        nearest = np.round(counts)
        broken = np.zeros(len(counts), bool)
        broken[part] = np.abs(counts - nearest)[part] > INTEGRAL
        integral = np.where(broken, np.floor(counts), nearest)
        if not broken.any():
            return integral
        A = self._search.problem.relations
        known = self._decided.copy()
        known[part] = True
        # Relations with a cell that is still open make no demand yet.
        closed = np.flatnonzero(abs(A) @ (~known).astype(float) == 0)
        cells = np.flatnonzero(broken)
        rows = sparse.csr_array(A[closed][:, cells])
        right = self._search.lattice.right_hand_side[closed] - A[closed] @ np.where(
            known, integral, 0.0
        )
        used = np.flatnonzero(np.diff(rows.indptr) > 0)
        model = HighsMip(
            sparse.csr_array(rows[used]),
            row_lower=right[used],
            row_upper=right[used],
            lower=np.zeros(len(cells)),
            upper=np.ones(len(cells)),
            # The nearer of the two is better; to first order both cost the same.
            cost=1.0 - 2.0 * (counts - integral)[cells],
            integer=np.ones(len(cells), bool),
            seed=self._search.options.seed,
        )
        answer = model.minimise(
            seconds=min(_LONGEST, self._search.seconds_left),
            watch=lambda _: self._search.should_stop(),
        )
        if answer.x is None:
            return None
        integral[cells] += np.round(answer.x)
        return integral

    def _fix(self, model: HighsModel, part: Integers, integral: Floats) -> None:
        lattice = self._search.lattice
        cells = np.zeros(len(integral), bool)
        cells[part] = True
        columns = np.flatnonzero(cells[lattice.column_cell])
        given = lattice.columns_of(integral)[columns]
        model.set_bounds(columns, given, given)


def parts(problem: Problem) -> list[Integers]:
    """The cells in the order in which they are made integral, those nearer to the totals first.

    A subtable with three or more dimensions goes slice by slice along its longest one, the
    slice of the totals first.
    """
    found: list[Integers] = []
    taken = np.zeros(problem.cell_count, bool)
    subtables = Subtables.of(problem.relations)
    waiting: list[Integers] = []
    least = max(1, problem.cell_count // _PARTS)

    def put(cells: Integers) -> None:
        new = np.unique(cells[(cells >= 0) & ~taken[cells]])
        taken[new] = True
        waiting.append(new)
        if sum(map(len, waiting)) >= least:
            found.append(np.concatenate(waiting))
            waiting.clear()

    for number in range(len(subtables)):
        grid = subtables.grid(number)
        if grid.ndim < 3:
            put(grid.ravel())
            continue
        slices = np.moveaxis(grid, int(np.argmax(grid.shape)), 0)
        for cells in slices:
            put(cells.ravel())
    found.append(np.concatenate([*waiting, np.flatnonzero(~taken)]))
    return [part for part in found if len(part)]


def _improve(search: Search) -> None:
    """Improve the candidate in one neighbourhood after the other until time is up."""
    rng = np.random.default_rng(search.options.seed)
    problem, lattice = search.problem, search.lattice
    movable = lattice.low < lattice.high
    size = float(_FIRST_SIZE)
    while not search.should_stop():
        assert search.candidate is not None
        if size >= np.count_nonzero(movable):
            milp.run(search)
            return
        search.iterations += 1
        free = _neighbourhood(problem, movable, int(size), rng)
        began = search.seconds
        counts, ended = search.mip.improve(
            search.candidate,
            free,
            seconds=min(_LONGEST, search.seconds_left),
            seed=search.options.seed,
            watch=lambda _: search.should_stop(),
        )
        search.offer(counts)
        if not ended:
            size = max(size / 1.5, 50.0)
        elif search.seconds - began < _QUICK:
            size = min(size * 1.2, float(problem.cell_count))


def _neighbourhood(
    problem: Problem, movable: Booleans, size: int, rng: np.random.Generator
) -> Booleans:
    """Cells that can move, gathered relation by relation from a random one."""
    A = problem.relations
    columns = sparse.csc_array(A)
    free = np.zeros(problem.cell_count, bool)
    start = int(rng.choice(np.flatnonzero(movable)))
    free[start] = True
    seen = np.zeros(A.shape[0], bool)
    waiting = columns.indices[columns.indptr[start] : columns.indptr[start + 1]].tolist()
    while waiting and np.count_nonzero(free & movable) < size:
        row = waiting.pop(int(rng.integers(len(waiting))))
        if seen[row]:
            continue
        seen[row] = True
        cells = A.indices[A.indptr[row] : A.indptr[row + 1]]
        new = cells[~free[cells] & movable[cells]]
        free[cells] = True
        if len(new):
            waiting += columns[:, new].indices.tolist()
    return free & movable
