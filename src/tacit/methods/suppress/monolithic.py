"""`monolithic`: the compact model of papers 003, (7), and 004, (10), left to a solver as it is.

For every attacker, sensitive cell and side it contains a deviation of the whole table that shows
the cell safe. It grows with the number of cells times that of sensitive ones: small tables only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.errors import InputError
from tacit.methods.suppress.cleanup import clean_up
from tacit.methods.suppress.construct import Constructor
from tacit.methods.suppress.master import Master
from tacit.methods.suppress.search import Rival, Search
from tacit.methods.suppress.start import first_pattern
from tacit.methods.suppress.subproblems import room_of_asked
from tacit.problem import Booleans, Floats, Integers, component_labels
from tacit.solver.highs_mip import HighsMip, WholeSolution

_MOST_ENTRIES = 20_000_000
_FAR = 1e3
"""Outside networks a cell is never needed to move further than this, in units of the level."""


def monolithic(search: Search) -> None:
    """Solve the compact model."""
    deviations = _deviations(search)
    _refuse_too_large(search, deviations)
    constructor = Constructor(search)
    first_pattern(search, constructor)
    if search.finished():
        return
    model = _CompactModel(search, deviations)
    while not search.finished():
        search.iterations += 1
        found = model.solve(constructor)
        if found.status == "infeasible":
            if np.isfinite(search.objective):
                search.raise_bound(search.objective)
            else:
                search.stopped_by = "infeasible"
            return
        if found.status == "optimal" and found.x is not None:
            hidden = model.pattern(found.x)
            if not search.exposed(hidden):
                return
            # Safe only within the solver's tolerance.
            model.rule_out(hidden)


@dataclass(frozen=True, eq=False)
class _Deviation:
    """One deviation of the table, in units of a level: what it may do.

    Attributes:
        cell: The sensitive cell that it shows safe.
        side: 1 if the cell is to rise, -1 if it is to fall.
        unit: What is counted as 1.
        least: How far the cell has to move at least.
        most: How far it may.
        cells: The cells that may move, increasing.
        up: How far each of them may rise.
        down: How far each of them may fall.
        slides: Does it make up a sliding level together with the next deviation?
        is_second: Is it that next deviation?
    """

    cell: int
    side: int
    unit: float
    least: float
    most: float
    cells: Integers
    up: Floats
    down: Floats
    slides: bool
    is_second: bool


def _deviations(search: Search) -> list[_Deviation]:
    usable = search.secondary | search.sensitive
    A = sparse.csr_array(search.structure.A[:, np.flatnonzero(usable)])
    component = np.full(len(usable), -1, np.int64)
    component[usable] = component_labels(A)
    return [
        deviation
        for rival in search.rivals
        for deviation in _deviations_of(search, rival, component)
    ]


def _deviations_of(search: Search, rival: Rival, component: Integers) -> Iterator[_Deviation]:
    separator, in_network = rival.separator, search.structure.in_network
    own = room_of_asked(search, rival)
    moves = (component >= 0) & ((separator.up > 0) | (separator.down > 0))
    members: dict[int, Integers] = {}

    def deviation(
        cell: int, side: int, unit: float, level: float, slides: bool, is_second: bool = False
    ) -> _Deviation:
        number = int(component[cell])
        if number not in members:
            members[number] = np.flatnonzero(moves & (component == number))
        cells = members[number]
        # In a network nothing needs to move further than the asked cell.
        far = 1.0 if in_network[cell] else _FAR
        room = own[0 if side > 0 else 1][cell] / unit
        least = level / unit
        cells = np.union1d(cells, [cell])
        return _Deviation(
            cell,
            side,
            unit,
            least,
            max(min(room, 1.0), least) if slides else least,
            cells,
            np.minimum(separator.up[cells] / unit, far),
            np.minimum(separator.down[cells] / unit, far),
            slides and not is_second,
            is_second,
        )

    levels = _levels(search, rival)
    for cell, (upper, lower, sliding) in levels.items():
        slides = sliding > upper + lower
        unit = sliding if slides else 1.0
        if slides:
            yield deviation(cell, 1, unit, upper, True)
            yield deviation(cell, -1, unit, lower, True, is_second=True)
            continue
        if upper > 0:
            yield deviation(cell, 1, upper, upper, False)
        if lower > 0:
            yield deviation(cell, -1, lower, lower, False)


def _levels(search: Search, rival: Rival) -> dict[int, tuple[float, float, float]]:
    """Upper, lower and sliding level of the cells that an attacker must not come close to."""
    problem = search.problem
    asked = ~rival.attacker.spares(problem)[problem.sensitive]
    rows = zip(
        problem.sensitive[asked].tolist(),
        problem.upper_level[asked].tolist(),
        problem.lower_level[asked].tolist(),
        problem.sliding_level[asked].tolist(),
        strict=True,
    )
    return {cell: (upper, lower, sliding) for cell, upper, lower, sliding in rows}


def _refuse_too_large(search: Search, deviations: list[_Deviation]) -> None:
    per_cell = np.diff(search.structure.columns.indptr)
    links = np.where(search.secondary, 4, 0)
    total = sum(int((per_cell + links)[each.cells].sum()) for each in deviations)
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
        side = sparse.csr_array(self._master.side)
        side.resize((side.shape[0], self._count))
        self._append(side, self._master.side_lower, self._master.side_upper)
        for deviation, start in zip(deviations, starts.tolist(), strict=False):
            self._add_deviation(deviation, start)
        cost = np.zeros(self._count)
        cost[:y] = self._master.weight
        ends = [np.concatenate(end) for end in zip(*self._sides, strict=True)]
        self._model = HighsMip(
            sparse.csr_array(sparse.vstack(self._blocks)),
            row_lower=ends[0],
            row_upper=ends[1],
            lower=self._lower,
            upper=self._upper,
            cost=cost,
            whole=np.arange(self._count) < y,
            offset=search.base,
            seed=search.options.seed,
            # Loose tolerances let cells move that are not suppressed.
            tolerance=1e-9,
        )
        self._blocks, self._sides = [], []

    def _append(self, rows: sparse.csr_array[Any, Any], lower: Floats, upper: Floats) -> None:
        self._blocks.append(rows)
        self._sides.append((lower, upper))

    def _add_deviation(self, deviation: _Deviation, start: int) -> None:
        search, cells = self._search, deviation.cells
        here = np.arange(start, start + len(cells))
        asked = start + int(np.searchsorted(cells, deviation.cell))
        self._lower[here], self._upper[here] = -deviation.down, deviation.up
        ends = sorted([deviation.side * deviation.least, deviation.side * deviation.most])
        self._lower[asked], self._upper[asked] = ends

        structure = search.structure
        A = sparse.csr_array(structure.A[:, cells])
        A = A[(np.diff(A.indptr) > 0) & structure.essential]
        self._append(
            sparse.csr_array((A.data, A.indices + start, A.indptr), (A.shape[0], self._count)),
            np.zeros(A.shape[0]),
            np.zeros(A.shape[0]),
        )
        places = np.searchsorted(self._cells, cells)
        free = search.secondary[cells]
        for room, sign in ((deviation.up, 1.0), (deviation.down, -1.0)):
            linked = np.flatnonzero(free & (room > 0))
            count = len(linked)
            # sign * x <= room * y
            indices = np.column_stack([places[linked], here[linked]])
            data = np.column_stack([-room[linked], np.full(count, sign)])
            rows = (data.ravel(), indices.ravel(), 2 * np.arange(count + 1))
            self._append(
                sparse.csr_array(rows, (count, self._count)),
                np.full(count, -np.inf),
                np.zeros(count),
            )
        if deviation.slides:
            self._rising = asked
        if deviation.is_second:
            both = (np.array([1.0, -1.0]), np.array([self._rising, asked]), np.array([0, 2]))
            self._append(
                sparse.csr_array(both, (1, self._count)), np.ones(1), np.full(1, np.inf)
            )

    def solve(self, constructor: Constructor) -> WholeSolution:
        """Solve the model; patterns and bounds go to the search."""
        search = self._search
        start = None
        if search.best is not None:
            start = np.full(self._count, np.nan)
            start[: len(self._cells)] = search.best[self._cells]

        def watch(so_far: WholeSolution) -> bool:
            if so_far.x is not None:
                self._offer(so_far.x, constructor)
            search.raise_bound(so_far.bound)
            return search.finished()

        found = self._model.minimise(
            seconds=search.seconds_left, gap=0.5 * search.options.gap, start=start, watch=watch
        )
        if found.x is not None:
            self._offer(found.x, constructor)
        near = found.objective - 1e-9 * abs(found.objective)
        search.raise_bound(found.objective if found.bound >= near else found.bound)
        return found

    def pattern(self, x: Floats) -> Booleans:
        """The pattern in a vector of the model."""
        return self._master.full(np.round(x[: len(self._cells)])) > 0.5

    def _offer(self, x: Floats, constructor: Constructor) -> None:
        search = self._search
        hidden = self.pattern(x)
        if search.weigh(hidden) >= search.objective or search.finished():
            return
        search.offer(hidden)
        safe = constructor.construct(hidden)
        if safe is not None:
            search.offer(clean_up(search, safe))

    def rule_out(self, hidden: Booleans) -> None:
        """Ask for a cell outside an unsafe pattern: less suppression is never safer."""
        row = np.zeros((1, self._count))
        row[0, : len(self._cells)] = ~hidden[self._cells]
        self._model.add_rows(sparse.csr_array(row), np.ones(1), np.full(1, np.inf))
