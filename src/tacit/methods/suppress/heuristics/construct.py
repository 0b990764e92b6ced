"""Build a safe pattern: protect one sensitive cell after the other as cheaply as possible.

In a network a cell is protected by shortest paths [Castro2012, Figure 14]; in any other table by
the cheapest deviation that reaches its level, a linear program [KellyGoldenAssad1992]. Either way
what is already suppressed comes for free, and values of a relaxation can guide the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit.attack.nearby import Nearby
from tacit.attack.reach import NOTHING_LIMITED, TOLERANCE, Limited, Limits, Requests
from tacit.attack.tied_cells import TiedCells
from tacit.clock import check_time
from tacit.errors import SolverError
from tacit.methods.suppress.attackers import AttackerState
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.weights import HIDDEN_COST, steering
from tacit.problem import Booleans, Floats, Integers
from tacit.solver.highs import HighsModel
from tacit.tolerances import FAR_LEAST_MOVES, NEGLIGIBLE_MOVE, ROUNDING_NOISE, SOLVER

if TYPE_CHECKING:
    from tacit.methods.suppress.heuristics.insider_patterns import InsiderPatterns

_REPAIRS = 20
_BATCH = 12
_FEW = 1000
"""Up to this number of cells outside networks, linear programs are as quick as paths in strips."""
_VAST = 20_000
"""From this number of cells outside networks on, deviations are looked for nearby first."""
_NEAR = (150, 600)
"""The number of cells that count as near."""


class Constructor:
    """Makes patterns safe; keeps its models between calls.

    Attributes:
        unfinished: What the last call had suppressed when it ended, safe or not.
    """

    def __init__(self, search: Search):
        self._search = search
        self.unfinished = search.sensitive
        self._linear: dict[int, CheapestDeviation] = {}
        self._nearby: Nearby | None = None
        self._insider_patterns: InsiderPatterns | None = None

    def construct(
        self,
        start: Booleans | None = None,
        guide: Floats | None = None,
        cost: Floats | None = None,
    ) -> Booleans | None:
        """A safe pattern that contains the start, or None if time ran out or none exists.

        Args:
            start: Cells that are suppressed from the beginning, besides the sensitive ones.
            guide: How far a relaxation suppresses each cell, from 0 to 1.
            cost: What cells cost, where that is not their weight.
        """
        search = self._search
        hidden = self.unfinished = search.sensitive.copy()
        if start is not None:
            hidden |= start & search.secondary
        cost = steering(search.problem.weight) if cost is None else cost
        if guide is not None:
            cost = cost * (1.01 - np.clip(guide, 0.0, 1.0))
        self._meet_singleton_rows(hidden, cost)
        if len(search.states) > 1:
            # What protects against one attacker mostly protects against the next, too, and what
            # shows that for the first one is looked at first.
            for state in search.states:
                check_time()
                if state is search.insiders and self._is_slow(hidden):
                    self._add_for_insiders(hidden, guide)
                    continue
                self._protect(state, search.missed(state, hidden), hidden, cost)
                if state is search.states[0]:
                    search.missed(state, hidden)
        for _ in range(_REPAIRS):
            exposed = search.exposed(hidden)
            if not exposed:
                return hidden
            before = int(hidden.sum())
            for state, missed in exposed:
                self._protect(state, missed, hidden, cost)
                if search.should_stop():
                    return None
            if int(hidden.sum()) == before:
                return None
        return None

    def _is_slow(self, hidden: Booleans) -> bool:
        """Does each pair of a level and a contributor take a linear program of some size?"""
        insiders = self._search.insiders
        return insiders is not None and insiders.sparing.serves(
            self._search.attack(insiders, hidden)
        )

    def _add_for_insiders(self, hidden: Booleans, guide: Floats | None) -> None:
        """Suppress more, in place, because of contributors: for many levels together."""
        from tacit.methods.suppress.heuristics.insider_patterns import InsiderPatterns

        if self._insider_patterns is None:
            self._insider_patterns = InsiderPatterns(self._search)
        hidden |= self._insider_patterns.protecting(hidden, guide)

    def _meet_singleton_rows(self, hidden: Booleans, cost: Floats) -> None:
        """Suppress the cheapest cells of relations with singletons until there are enough."""
        rows, needed = self._search.singleton_rows()
        A = self._search.problem.relations
        for row, count in zip(rows.tolist(), needed.tolist(), strict=True):
            cells = A.indices[A.indptr[row] : A.indptr[row + 1]]
            free = cells[~hidden[cells] & self._search.secondary[cells]]
            lacking = count - int(hidden[cells].sum())
            hidden[free[np.argsort(cost[free], kind="stable")][: max(lacking, 0)]] = True

    def _protect(
        self, state: AttackerState, missed: Requests, hidden: Booleans, cost: Floats
    ) -> None:
        in_network = self._search.structure.in_network[missed.cells]
        largest_first = np.lexsort((missed.cells, -missed.targets))
        missed, in_network = missed.take(largest_first), in_network[largest_first]
        if in_network.any():
            self._by_paths(state, missed.take(in_network), hidden, cost)
        rest = missed.take(~in_network)
        if len(rest) and self._has_strips:
            rest = rest.take(~self._in_strips(state, rest, hidden, cost))
        if len(rest):
            self._by_deviations(state, rest, hidden, cost)

    @property
    def _has_strips(self) -> bool:
        """Whether strips of the table are at hand, and so many cells that they pay."""
        search = self._search
        return search.outside_networks > _FEW and len(search.structure.strips.moving) > 0

    def _in_strips(
        self, state: AttackerState, missed: Requests, hidden: Booleans, cost: Floats
    ) -> Booleans:
        """Protect what shortest paths in strips can; tells which requests that are."""
        from tacit.methods.suppress.heuristics.kernels import protect_in_strips

        search = self._search
        usable = search.secondary | search.sensitive
        limits = missed.limits or Limits.none(len(missed))
        return protect_in_strips(
            search.structure.strips.arrays,
            np.where(usable, state.separator.up, 0.0),
            np.where(usable, state.separator.down, 0.0),
            cost,
            hidden,
            missed.cells,
            missed.sides,
            missed.targets,
            limits.arrays,
        )

    def _by_paths(
        self, state: AttackerState, missed: Requests, hidden: Booleans, cost: Floats
    ) -> None:
        from tacit.methods.suppress.heuristics.kernels import protect_by_paths

        structure, separator = self._search.structure, state.separator
        network = structure.network
        assert network is not None
        cells = np.flatnonzero(structure.in_network)
        arc = np.cumsum(structure.in_network)[missed.cells] - 1
        usable = (self._search.secondary | self._search.sensitive)[cells]
        inside = hidden[cells]
        protect_by_paths(
            network.arrays,
            np.where(usable, separator.up[cells], 0.0),
            np.where(usable, separator.down[cells], 0.0),
            cost[cells],
            inside,
            arc,
            missed.sides,
            missed.targets,
            limits_of(missed, structure.in_network),
        )
        hidden[cells] = inside

    def _by_deviations(
        self, state: AttackerState, missed: Requests, hidden: Booleans, cost: Floats
    ) -> None:
        search = self._search
        open_requests = np.ones(len(missed), bool)
        since_check = 0
        while open_requests.any() and not search.should_stop():
            request = int(np.flatnonzero(open_requests)[0])
            open_requests[request] = False
            used, x = self._cheapest(
                state, missed, request, np.where(hidden, HIDDEN_COST, 1.0) * cost
            )
            if state.is_plain and len(used):
                state.witnesses.remember(missed, request, used, x)
                open_requests &= ~state.witnesses.spread(missed, open_requests, used, x)
            grown = not hidden[used].all()
            hidden[used] = True
            since_check += grown
            if since_check >= max(_BATCH, len(missed) // 16):
                # What was suppressed for some cells often protects others, too.
                since_check = 0
                rest = np.flatnonzero(open_requests)
                open_requests[rest[search.reached(state, missed.take(rest), hidden)]] = False

    def _cheapest(
        self, state: AttackerState, requests: Requests, number: int, cost: Floats
    ) -> tuple[Integers, Floats]:
        """Cells that move in a cheap deviation, and how far; none if there is none.

        In a large table the cheapest one among the cells nearby is nearly as cheap as that of all,
        and much quicker to find.
        """
        search = self._search
        if state.is_plain and search.outside_networks > _VAST:
            found = self._near(state).deviation(
                int(requests.cells[number]),
                int(requests.sides[number]),
                float(requests.targets[number]),
                _NEAR,
                limited=requests.limited(number),
                cost=cost,
            )
            if found is not None:
                return found
        place = search.states.index(state)
        if place not in self._linear:
            self._linear[place] = CheapestDeviation(search, state)
        return self._linear[place].cheapest(requests, number, cost)

    def _near(self, state: AttackerState) -> Nearby:
        """Looks among the cells near an asked one; plain attackers know the same of cells."""
        if self._nearby is None:
            search, separator = self._search, state.separator
            structure = search.structure
            self._nearby = Nearby(structure.A, separator.up, separator.down, HighsModel)
            self._nearby.usable = (search.secondary | search.sensitive) & ~structure.in_network
        return self._nearby


class CheapestDeviation:
    """min cost |x| subject to A x = 0, capacities of the cells, and x_s at its level; persistent.

    Cells whose deviations are multiples of each other share a column. Deviations are measured
    in units of the level, so that the same bounds serve almost all cells.

    Attributes:
        barred: Columns that may not move; the owner may change it between calls.
    """

    def __init__(
        self,
        search: Search,
        state: AttackerState,
        cells: Integers | None = None,
        *,
        cold: bool = True,
    ):
        """Prepare the model.

        Args:
            search: The run.
            state: Whose capacities count.
            cells: Cells that may move; by default all that may be suppressed. Cells of
                networks have their own method.
            cold: Start each time from standing still, which is dual feasible since no cost is
                negative. While costs change, this is up to 90 times faster than going on from
                the last basis; where only bounds change, the last basis is better.
        """
        self._cold = cold
        separator, structure = state.separator, search.structure
        if cells is None:
            usable = search.secondary | search.sensitive
            cells = np.flatnonzero(usable & ~structure.in_network)
        A = sparse.csr_array(structure.A[:, cells])
        A = sparse.csr_array(A[(np.diff(A.indptr) > 0) & structure.essential])
        # Where the capacity of a cell depends on which one is asked, each keeps its own column.
        tied = TiedCells.of(A, cells, search.problem.cell_count, tie=state.is_plain)
        self._own_capacity = None if state.is_plain else search.own_capacity(state)
        self._tied = tied
        self._cells, self._column, self._ratio = tied.cells, tied.column, tied.ratio
        self._up, self._down = tied.capacities(separator.up, separator.down)
        reduced = _without_repeats(tied.combined(A))
        zeros = np.zeros(reduced.shape[0])
        count = 2 * tied.size
        self._lower, self._upper = np.zeros(count), np.zeros(count)
        self._cost = np.zeros(count)
        self._model = HighsModel(
            sparse.csr_array(sparse.hstack([reduced, -reduced])),
            row_lower=zeros,
            row_upper=zeros,
            lower=self._lower,
            upper=self._upper,
            tolerance=SOLVER,
        )
        self.barred = np.zeros(tied.size, bool)

    @property
    def column_count(self) -> int:
        """Number of columns that move independently."""
        return len(self.barred)

    def column(self, cell: int) -> int:
        """The column that a cell belongs to; -1 if it cannot move."""
        return int(self._column[cell])

    def columns(self, cells: Integers) -> Integers:
        """The columns that some cells belong to."""
        return self._tied.columns(cells)

    def cheapest(self, requests: Requests, number: int, cost: Floats) -> tuple[Integers, Floats]:
        """Cells that move in the cheapest deviation, and how far; none if there is none."""
        cell, side = int(requests.cells[number]), int(requests.sides[number])
        level = float(requests.targets[number])
        x = self.deviation(cell, side, level, cost, requests.limited(number))
        if x is None:
            return self._cells[:0], np.zeros(0)
        return self.moves(x, cell, level)

    def moves(self, x: Floats, cell: int, level: float) -> tuple[Integers, Floats]:
        """Cells that move with the columns, and how far.

        Args:
            x: How far each column moves, as `deviation` tells for the cell and the level.
            cell: The asked cell.
            level: How far it is to move.
        """
        unit = level / abs(self._ratio[cell])
        moving = np.abs(x[self._column[self._cells]]) > NEGLIGIBLE_MOVE
        cells = self._cells[moving]
        return cells, x[self._column[cells]] * self._ratio[cells] * unit

    def deviation(
        self,
        cell: int,
        side: int,
        level: float,
        cost: Floats,
        limited: Limited = NOTHING_LIMITED,
    ) -> Floats | None:
        """The cheapest deviation of the columns, or None if the level is out of reach.

        Args:
            cell: The asked cell.
            side: 1 to rise, -1 to fall.
            level: How far it is to move.
            cost: What each cell costs that moves.
            limited: Cells that may move less far than usually.
        """
        here = self.column(cell)
        if here < 0 or self.barred[here]:
            return None
        count = self.column_count
        factor = self._ratio[cell] * side
        unit = level / abs(factor)
        capacity = np.concatenate([self._up, self._down]) / unit
        moving, still = (here, here + count) if factor > 0 else (here + count, here)
        if self._own_capacity is not None:
            capacity[moving] = self._own_capacity[0 if side > 0 else 1][cell] / unit
        self._narrow(capacity, limited, unit)
        if capacity[moving] < 1 - TOLERANCE:
            return None
        # Capacity beyond this is never needed; leaving it out keeps the bounds alike.
        upper = np.minimum(capacity, FAR_LEAST_MOVES)
        upper[np.tile(self.barred, 2)] = 0.0
        lower = np.zeros(2 * count)
        lower[moving], upper[moving], upper[still] = 1.0, 1.0, 0.0
        column_cost = np.tile(
            np.bincount(
                self._column[self._cells],
                cost[self._cells] * np.abs(self._ratio[self._cells]),
                minlength=count,
            ),
            2,
        ) / np.clip(capacity, 1e-3, 1.0)
        column_cost[[moving, still]] = 0.0
        self._update(lower, upper, column_cost)
        try:
            solution: Any = self._model.solve(cold=self._cold, strategy="dual")
        except SolverError:
            return None
        if solution.status != "optimal":
            return None
        return np.asarray(solution.x[:count] - solution.x[count:])

    def _narrow(self, capacity: Floats, limited: Limited, unit: float) -> None:
        """Lower the capacities of columns, in place, to what limited cells allow."""
        cells, rise, fall = limited
        inside = self._column[cells] >= 0
        cells, column = cells[inside], self._column[cells[inside]]
        above, below = self._tied.per_column(cells, rise[inside], fall[inside])
        np.minimum.at(capacity, column, above / unit)
        np.minimum.at(capacity, column + self.column_count, below / unit)

    def _update(self, lower: Floats, upper: Floats, column_cost: Floats) -> None:
        changed = np.flatnonzero((lower != self._lower) | (upper != self._upper))
        if len(changed):
            self._model.set_bounds(changed, lower[changed], upper[changed])
        changed = np.flatnonzero(column_cost != self._cost)
        if len(changed):
            self._model.set_cost(changed, column_cost[changed])
        self._lower, self._upper, self._cost = lower, upper, column_cost


def limits_of(
    requests: Requests, inside: Booleans
) -> tuple[Integers, Integers, Integers, Floats, Floats]:
    """The limits of requests as the kernels for networks take them.

    Args:
        requests: What is asked.
        inside: The cells of the network, which are its arcs one after the other.
    """
    limits = requests.limits or Limits.none(len(requests))
    limits = limits.numbered_by(np.where(inside, np.cumsum(inside) - 1, -1))
    return limits.arrays


def _without_repeats(A: sparse.csr_array[Any, Any]) -> sparse.csr_array[Any, Any]:
    """Rows without rounding, empty rows and rows that are multiples of others."""
    A.data[np.abs(A.data) < ROUNDING_NOISE] = 0.0
    A.eliminate_zeros()
    A.sort_indices()
    seen: set[tuple[bytes, bytes]] = set()
    keep = []
    for row in range(A.shape[0]):
        entries = slice(A.indptr[row], A.indptr[row + 1])
        if entries.start == entries.stop:
            continue
        scaled = np.round(A.data[entries] / A.data[entries.start], 9)
        key = (A.indices[entries].tobytes(), scaled.tobytes())
        if key not in seen:
            seen.add(key)
            keep.append(row)
    return sparse.csr_array(A[keep])
