"""`monolithic`: the compact model, left to a solver as it is.

It is [Castro2012, (7)] and [BaenaCastroFrangioni2020, (10)].

For every attacker, sensitive cell and side it contains a deviation of the whole table that shows
the cell safe. It grows with the number of cells times that of sensitive ones: small tables only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.cuts import Cuts
from tacit.errors import InputError
from tacit.methods.suppress.attackers import AttackerState
from tacit.methods.suppress.cuts import Master
from tacit.methods.suppress.heuristics.cleanup import clean_up
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.heuristics.first_pattern import first_pattern
from tacit.methods.suppress.model import Search
from tacit.outcome import StopReason
from tacit.problem import Booleans, Floats, Integers, component_labels
from tacit.solver.highs_mip import HighsMip
from tacit.solver.mip import MipSolution
from tacit.tolerances import FAR_NEARBY, SOLVER_EXACT

_MOST_ENTRIES = 20_000_000


def run(search: Search) -> None:
    """Solve the compact model."""
    deviations = _deviations(search)
    _refuse_too_large(deviations)
    constructor = Constructor(search)
    first_pattern(search, constructor)
    if search.should_stop():
        return
    model = _CompactModel(search, deviations)
    while not search.should_stop():
        search.iterations += 1
        found = model.solve(constructor)
        if found.status == "infeasible":
            # With a safe pattern at hand the solver contradicts itself, and nothing is proven.
            if search.best is None:
                search.stop(StopReason.INFEASIBLE)
            return
        if found.status == "optimal" and found.x is not None:
            hidden = model.pattern(found.x)
            exposed = search.exposed(hidden)
            if not exposed:
                return
            # Safe only within the solver's tolerance, or not safe against contributors, of whom
            # the model knows nothing yet.
            model.rule_out(hidden)
            for state, missed in exposed:
                model.cut_off(state.cuts(hidden.astype(np.float64), missed))


@dataclass(frozen=True, eq=False)
class _Deviation:
    """One deviation of the table that shows a sensitive cell safe.

    Attributes:
        movement: How cells may move.
        cell: The sensitive cell.
        side: 1 if the cell is to rise, -1 if it is to fall.
        level: How far the cell has to move at least.
        unit: The level in whose units the deviation is measured.
        slides: Does it make up a sliding level together with its neighbour in the list? The
            one that rises comes first.
    """

    movement: _Movement
    cell: int
    side: int
    level: float
    unit: float
    slides: bool

    @property
    def cells(self) -> Integers:
        """The cells that may move, increasing."""
        return np.union1d(self.movement.companions(self.cell), [self.cell])

    def bounds(self, cells: Integers) -> tuple[Floats, Floats]:
        """How far each of the cells may fall and rise, in units."""
        # In a network nothing needs to move further than the asked cell.
        far = 1.0 if self.movement.in_network[self.cell] else FAR_NEARBY
        down = np.minimum(self.movement.down[cells] / self.unit, far)
        return down, np.minimum(self.movement.up[cells] / self.unit, far)

    def ends(self) -> tuple[float, float]:
        """Between what the sensitive cell itself must lie, in units."""
        # A deviation that goes further than asked can be scaled down.
        least = most = self.level / self.unit
        if self.slides:
            own = float(self.movement.own[0 if self.side > 0 else 1][self.cell])
            most = max(min(own / self.unit, 1.0), least)
        return (least, most) if self.side > 0 else (-most, -least)


class _Movement:
    """How cells may move in the eyes of one attacker."""

    def __init__(self, search: Search, state: AttackerState, component: Integers):
        self.up, self.down = state.separator.up, state.separator.down
        self.own = search.own_capacity(state)
        self.in_network = search.structure.in_network
        self._component = component
        self._moves = (self.up > 0) | (self.down > 0)
        self._companions: dict[int, Integers] = {}
        self._size: dict[int, int] = {}
        self._entries = np.diff(search.structure.columns.indptr) + np.where(search.secondary, 4, 0)

    def companions(self, cell: int) -> Integers:
        """The cells that may move together with a cell."""
        number = int(self._component[cell])
        if number not in self._companions:
            self._companions[number] = np.flatnonzero(self._moves & (self._component == number))
            self._size[number] = int(self._entries[self._companions[number]].sum())
        return self._companions[number]

    def size(self, cell: int) -> int:
        """About how many entries of the model a deviation for the cell takes."""
        self.companions(cell)
        return self._size[int(self._component[cell])]


def _deviations(search: Search) -> list[_Deviation]:
    usable = search.secondary | search.sensitive
    component = np.full(len(usable), -1, np.int64)
    component[usable] = component_labels(search.structure.A[:, np.flatnonzero(usable)])
    found: list[_Deviation] = []
    for state in search.outsiders:
        movement = _Movement(search, state, component)
        for cell, (upper, lower, sliding) in _levels(search, state).items():
            # A sliding level that the other two do not imply asks more of each.
            slides = sliding > upper + lower
            found += [
                _Deviation(movement, cell, side, level, sliding if slides else level, slides)
                for side, level in ((1, upper), (-1, lower))
                if level > 0 or slides
            ]
    return found


def _levels(search: Search, state: AttackerState) -> dict[int, tuple[float, float, float]]:
    """Upper, lower and sliding level of the cells that an attacker must not come close to."""
    problem = search.problem
    asked = ~state.attacker.spares(problem)[problem.sensitive]
    rows = zip(
        problem.sensitive[asked].tolist(),
        problem.upper_level[asked].tolist(),
        problem.lower_level[asked].tolist(),
        problem.sliding_level[asked].tolist(),
        strict=True,
    )
    return {cell: (upper, lower, sliding) for cell, upper, lower, sliding in rows}


def _refuse_too_large(deviations: list[_Deviation]) -> None:
    total = sum(each.movement.size(each.cell) for each in deviations)
    if total > _MOST_ENTRIES:
        raise InputError(
            f"the compact model of this table would have about {total / 1e6:,.0f} million "
            f"entries, more than {_MOST_ENTRIES / 1e6:.0f} million; choose algorithm 'auto', or "
            "'stabilized' for a decomposition of the same model"
        )


class _CompactModel:
    """Suppression variables of the secondary cells, then the deviations one after the other."""

    def __init__(self, search: Search, deviations: list[_Deviation]):
        self._search = search
        # Its conditions other than protection are wanted here, not its relaxation.
        self._master = Master(search)
        self._cells = self._master.cells
        y = len(self._cells)
        starts = y + np.cumsum([0, *(len(each.cells) for each in deviations)])
        self._count = int(starts[-1])
        self._lower, self._upper = np.zeros(self._count), np.ones(self._count)
        self._blocks: list[sparse.csr_array[Any, Any]] = []
        self._sides: list[tuple[Floats, Floats]] = []
        steady, least, most = self._master.steady
        self._append(steady, 0, least, most)
        before = -1
        for deviation, start in zip(deviations, starts[:-1].tolist(), strict=True):
            asked = self._add_deviation(deviation, start)
            if deviation.slides and deviation.side < 0:
                self._add_sliding(before, asked)
            before = asked
        cost = np.zeros(self._count)
        cost[:y] = self._master.cost
        ends = [np.concatenate(end) for end in zip(*self._sides, strict=True)]
        self._model = HighsMip(
            sparse.csr_array(sparse.vstack(self._blocks)),
            row_lower=ends[0],
            row_upper=ends[1],
            lower=self._lower,
            upper=self._upper,
            cost=cost,
            integer=np.arange(self._count) < y,
            offset=search.base,
            seed=search.options.seed,
            # Loose tolerances let cells move that are not suppressed.
            tolerance=SOLVER_EXACT,
        )
        self._blocks, self._sides = [], []

    def _append(
        self, rows: sparse.csr_array[Any, Any], start: int, lower: Floats, upper: Floats
    ) -> None:
        """Add rows whose first column is the given one."""
        entries = (rows.data, rows.indices + start, rows.indptr)
        self._blocks.append(sparse.csr_array(entries, shape=(rows.shape[0], self._count)))
        self._sides.append((lower, upper))

    def _add_deviation(self, deviation: _Deviation, start: int) -> int:
        """Add the rows of a deviation; returns the column of the asked cell."""
        search, cells = self._search, deviation.cells
        down, up = deviation.bounds(cells)
        here = np.arange(start, start + len(cells))
        asked = start + int(np.searchsorted(cells, deviation.cell))
        self._lower[here], self._upper[here] = -down, up
        self._lower[asked], self._upper[asked] = deviation.ends()
        structure = search.structure
        A = sparse.csr_array(structure.A[:, cells])
        A = sparse.csr_array(A[(np.diff(A.indptr) > 0) & structure.essential])
        self._append(A, start, np.zeros(A.shape[0]), np.zeros(A.shape[0]))
        places = np.searchsorted(self._cells, cells)
        free = search.secondary[cells]
        for capacity, sign in ((up, 1.0), (down, -1.0)):
            linked = np.flatnonzero(free & (capacity > 0))
            count = len(linked)
            # sign * x <= capacity * y
            indices = np.column_stack([places[linked], here[linked]])
            data = np.column_stack([-capacity[linked], np.full(count, sign)])
            entries = (data.ravel(), indices.ravel(), 2 * np.arange(count + 1))
            rows = sparse.csr_array(entries, shape=(count, self._count))
            self._append(rows, 0, np.full(count, -np.inf), np.zeros(count))
        return asked

    def _add_sliding(self, rising: int, falling: int) -> None:
        """What one cell rises and falls in two deviations adds up to its sliding level."""
        entries = (np.array([1.0, -1.0]), np.array([rising, falling]), np.array([0, 2]))
        row = sparse.csr_array(entries, shape=(1, self._count))
        self._append(row, 0, np.ones(1), np.full(1, np.inf))

    def solve(self, constructor: Constructor) -> MipSolution:
        """Solve the model; patterns and bounds go to the search."""
        search = self._search
        start = None
        if search.best is not None:
            start = np.full(self._count, np.nan)
            start[: len(self._cells)] = search.best[self._cells]

        def watch(so_far: MipSolution) -> bool:
            if so_far.x is not None:
                self._offer(so_far.x, constructor)
            search.raise_bound(so_far.bound, "solver")
            return search.should_stop()

        found = self._model.minimise(
            seconds=search.seconds_left, gap=0.5 * search.options.gap, start=start, watch=watch
        )
        if found.x is not None:
            self._offer(found.x, constructor)
        if found.status != "infeasible":
            search.raise_bound(found.settled_bound, "solver")
        return found

    def pattern(self, x: Floats) -> Booleans:
        """The pattern in a vector of the model."""
        return self._master.full(np.round(x[: len(self._cells)])) > 0.5

    def _offer(self, x: Floats, constructor: Constructor) -> None:
        search = self._search
        hidden = self.pattern(x)
        if search.weigh(hidden) >= search.objective or search.should_stop():
            return
        search.offer(hidden)
        safe = constructor.construct(hidden)
        if safe is not None:
            search.offer(clean_up(search, safe))

    def cut_off(self, cuts: Cuts) -> None:
        """Add protection cuts."""
        part = sparse.csr_array(cuts.coefficients[:, self._cells])
        entries = (part.data, part.indices, part.indptr)
        rows = sparse.csr_array(entries, shape=(len(cuts), self._count))
        self._model.add_rows(rows, np.ones(len(cuts)), np.full(len(cuts), np.inf))

    def rule_out(self, hidden: Booleans) -> None:
        """Ask for a cell outside an unsafe pattern: less suppression is never safer."""
        row = np.zeros((1, self._count))
        row[0, : len(self._cells)] = ~hidden[self._cells]
        self._model.add_rows(sparse.csr_array(row), np.ones(1), np.full(1, np.inf))
