"""Protection cuts: inequalities that keep attackers from coming too close to sensitive cells.

Any row multipliers g give a valid cut [KarlssonOlsson2015, (3.12) and (3.15)]. With d = e_s - A'g,

    sum over cells of (d+ up + d- down) y  >=  upper level of s,

and each coefficient may be cut off at the level, because no more than that is ever needed. The
art is to choose g, and to strengthen the cut. Here the attacker's problem is solved with
capacities cut off at the level and multiplied by y, s itself free; in a network this finds a
violated cut with coefficients cut off at the level whenever there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from tacit.attack.engines import SolverFactory
from tacit.attack.knowledge import Attacker, Knowledge
from tacit.attack.known_flows import KnownFlows, Room
from tacit.attack.network_parts import NetworkPart
from tacit.attack.reach import Requests, SparseRows, snapped, within
from tacit.attack.shrink import Structure
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.solver.highs import HighsModel, optimum
from tacit.threads import Found, Item, Threads
from tacit.tolerances import CANCELLED, FRACTION, MET, ROUNDING_NOISE, SOLVER, VIOLATED

VIOLATION = VIOLATED
"""A cut is violated when it misses its right-hand side by more than this share."""

SparseRow = tuple[Integers, Floats]

_FLOWS_AT_ONCE = 1024
_FLOWS_WORTH_IT = 64
"""Fewer flows than this are not shared among threads."""
_ENOUGH = 500
"""Once so many requests were found to miss their targets, no further networks are asked."""
_SMALL = 1000
"""Up to this number of cells outside networks, linear programs are as quick as flows in parts of
the table, and find all cuts."""
_FEW = 50
"""If fewer were found, other networks are asked."""
_MOST_PARTS = 64
"""This many networks together find all but a few of the cuts that there are."""

_FULLY = 0.999
"""From this y on, a cell counts as fully suppressed."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """Inequalities `coefficients y >= 1` that every safe suppression meets.

    Attributes:
        coefficients: One row per cut, scaled so that the right-hand side is 1.
        cells: The sensitive cell that each cut protects.
        sides: 1 for its upper level, -1 for its lower, 0 for its sliding level.
    """

    coefficients: sparse.csr_array[Any, Any]
    cells: Integers
    sides: Integers

    def __len__(self) -> int:
        return len(self.cells)

    def violation(self, y: Floats) -> Floats:
        """By how much y misses each cut; positive means violated."""
        return np.asarray(1.0 - self.coefficients @ y)

    def take(self, index: Any) -> Cuts:
        """Some of the cuts."""
        return Cuts(
            sparse.csr_array(self.coefficients[index]), self.cells[index], self.sides[index]
        )


class Separator:
    """Finds protection cuts that a given point violates.

    It keeps its models between calls: ask it again and again with changing points.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        structure: Structure | None = None,
        attacker: Attacker | None = None,
        solver: SolverFactory = HighsModel,
        threads: Threads | None = None,
    ):
        """Prepare the separator.

        Args:
            problem: The true table.
            structure: The examined relations, if at hand.
            attacker: Against whom; by default someone who knows nothing more.
            solver: Makes linear solvers.
            threads: Share the work of finding flows, which changes nothing in the cuts.
        """
        self.problem = problem
        self._threads = threads
        self.structure = structure or Structure.of(problem)
        attacker = attacker or Attacker.external()
        may_hide = ~problem.must_publish
        everything = Knowledge(
            np.where(may_hide, problem.upper - problem.value, 0.0),
            np.where(may_hide, problem.value - problem.lower, 0.0),
        )
        told = attacker.learn(problem, everything)
        self.up, self.down = told.up, told.down
        reopened = attacker.reopened(problem)
        self._own_up = np.where(reopened, everything.up, told.up)
        self._own_down = np.where(reopened, everything.down, told.down)
        self._asked = ~attacker.spares(problem)[problem.sensitive]
        self._always = problem.is_sensitive
        movable = (self.up > 0) | (self.down > 0)
        movable |= reopened
        self._linear = _LinearSeparator(self.structure, movable, solver)
        self._turn = 0
        # Networks come and go, and what is known of them with them.
        self._known: WeakKeyDictionary[NetworkPart, KnownFlows] = WeakKeyDictionary()
        self._in_parts = int((movable & ~self.structure.in_network).sum()) > _SMALL

    def requests(self) -> Requests:
        """Every sensitive cell with its upper and lower level, where there is one."""
        problem = self.problem
        theirs = self._asked
        cells = problem.sensitive[theirs]
        both = Requests.both_sides(cells, problem.upper_level[theirs], problem.lower_level[theirs])
        return both.positive()

    def sliding(self) -> tuple[Integers, Floats]:
        """Sensitive cells with a sliding level, and the levels."""
        asked = self._asked & (self.problem.sliding_level > 0)
        return self.problem.sensitive[asked], self.problem.sliding_level[asked]

    def own_capacity(self, cell: int) -> tuple[float, float]:
        """How far a cell may rise and fall while it is itself attacked."""
        return float(self._own_up[cell]), float(self._own_down[cell])

    def cuts(
        self,
        y: Floats,
        requests: Requests | None = None,
        *,
        ceiling: float = 1.0,
        thorough: bool = True,
    ) -> Cuts:
        """Violated cuts for a suppression vector, fractional or 0/1.

        Args:
            y: How far each cell is suppressed, from 0 to 1; sensitive cells count as 1.
            requests: Cells, sides and levels to look at; by default all of the problem's,
                sliding levels included. Cells that are limited in a request contribute to its
                cut no more than that.
            ceiling: The share of the level at which capacities of cells that are not fully
                suppressed are cut off. Below 1 other cuts come into view: those in which
                fully suppressed cells already provide most of the level.
            thorough: Solve linear programs where flows in networks, and in parts of the table
                that are networks, find no cut at all.
        """
        y = np.clip(y, 0.0, 1.0)
        y[self.problem.sensitive] = 1.0
        asked = self.requests() if requests is None else requests
        sliding: list[tuple[SparseRow, int, int]] = []
        if requests is None:
            cells, levels = self.sliding()
            both = Requests(cells, np.ones(len(cells), np.int64), levels)
            sliding = self._sliding_cuts(y, both)
        caps = asked.targets * ceiling
        found = self._rows(asked, self._by_flows(asked, caps, y), y)
        cuts = self._violated([*found, *sliding], y)
        if thorough and not len(cuts):
            found = self._rows(asked, self._by_programs(asked, caps, y), y)
            cuts = self._violated(found, y)
        return cuts

    def _rows(
        self, asked: Requests, found: Iterator[tuple[int, Integers, Floats]], y: Floats
    ) -> list[tuple[SparseRow, int, int]]:
        """Cuts from multipliers, each with the cell and the side that it protects."""
        rows: list[tuple[SparseRow, int, int]] = []
        for number, cells, d in found:
            charge = self._charge(cells, d, float(asked.targets[number]), asked, number)
            cell, side = int(asked.cells[number]), int(asked.sides[number])
            rows += [(row, cell, side) for row in self._strengthened(cells, charge, y)]
        return rows

    def _charge(
        self, cells: Integers, d: Floats, level: float, requests: Requests, number: int
    ) -> Floats:
        """What each cell can contribute to the level of a request, as a share of it."""
        capacity = np.where(d > 0, self.up[cells], self.down[cells])
        if requests.limits is not None:
            same = np.full(len(cells), number)
            capacity = np.minimum(capacity, requests.limits.at(same, cells, d > 0))
        capacity = capacity / level
        # No strengthened cut distinguishes more than this from infinity.
        return np.abs(d) * np.minimum(capacity, 1e6)

    def _strengthened(self, cells: Integers, charge: Floats, y: Floats) -> list[SparseRow]:
        return strengthened(cells, charge, y[cells], self._always[cells])

    def sliding_cuts(self, y: Floats, requests: Requests) -> Cuts:
        """Violated cuts for sliding levels, of which those of one attacker may differ from others'.

        Args:
            y: How far each cell is suppressed, from 0 to 1; sensitive cells count as 1.
            requests: Cells with their sliding levels as targets; sides do not matter.
        """
        y = np.clip(y, 0.0, 1.0)
        y[self.problem.sensitive] = 1.0
        return self._violated(self._sliding_cuts(y, requests), y)

    def _violated(self, found: list[tuple[SparseRow, int, int]], y: Floats) -> Cuts:
        matrix = SparseRows(len(found), self.problem.cell_count)
        for number, ((cells, coefficients), _, _) in enumerate(found):
            matrix.put(number, cells, coefficients)
        cuts = Cuts(
            matrix.matrix(),
            np.array([cell for _, cell, _ in found], np.int64),
            np.array([side for _, _, side in found], np.int64),
        )
        return cuts.take(cuts.violation(y) > VIOLATION)

    def _sliding_cuts(self, y: Floats, asked: Requests) -> list[tuple[SparseRow, int, int]]:
        """Cuts for sliding levels: what both sides charge together [KarlssonOlsson2015, (3.16)]."""
        found: list[tuple[SparseRow, int, int]] = []
        for place in range(len(asked)):
            cell, level = int(asked.cells[place]), float(asked.targets[place])
            limits = None if asked.limits is None else asked.limits.take(np.array([place]))
            either = Requests.both_sides(np.array([cell]), level, level, limits)
            capacity = np.array(self.own_capacity(cell))
            if limits is not None:
                here = np.zeros(2, np.int64)
                capacity = np.minimum(
                    capacity, limits.at(here, np.full(2, cell), np.array([True, False]))
                )
            own = np.minimum(capacity, level)
            pair = replace(either, targets=own).positive()
            charge = np.zeros(self.problem.cell_count)
            settled = own[0] + own[1]
            caps = np.full(len(pair), level)
            for number, cells, d in self._multipliers(pair, caps, y):
                charge[cells] += self._charge(cells, d, level, pair, number)
                # The other side gets as far as the cell's own bound: count it as that.
                settled -= own[0] if pair.sides[number] > 0 else own[1]
            rest = 1.0 - settled / level
            # Without any cell to charge this says that the level is out of reach.
            if rest > VIOLATION:
                cells = np.flatnonzero(charge)
                rows = self._strengthened(cells, charge[cells] / rest, y)
                found += [(row, cell, 0) for row in rows]
        return found

    def _multipliers(
        self, requests: Requests, caps: Floats, share: Floats
    ) -> Iterator[tuple[int, Integers, Floats]]:
        """For each request that misses its target its number, and cells with d = e_s - A'g."""
        yield from self._in_network(requests, caps, share)
        yield from self._by_programs(requests, caps, share)

    def _by_flows(
        self, requests: Requests, caps: Floats, share: Floats
    ) -> Iterator[tuple[int, Integers, Floats]]:
        """As `_multipliers`, for cells outside networks, from networks inside the table."""
        yield from self._in_network(requests, caps, share)
        others = np.flatnonzero(~self.structure.in_network[requests.cells])
        if not len(others) or not self._in_parts:
            return
        for found_there in self._one_by_one(
            lambda part: list(self._in_part(requests, others, caps, share, part)),
            self.structure.strips.parts,
        ):
            yield from found_there
        if self.structure.strips_cover:
            return
        found, asked = 0, 0
        while found < _FEW and asked < _MOST_PARTS:
            parts = self.structure.parts.get()
            for _ in range(len(parts)):
                part = parts[self._turn % len(parts)]
                self._turn += 1
                asked += 1
                for each in self._in_part(requests, others, caps, share, part):
                    found += 1
                    yield each
                if found >= _ENOUGH:
                    return
            # These networks have given most of their cuts; others find different ones.
            if not self.structure.parts.renew():
                return

    def _in_network(
        self, requests: Requests, caps: Floats, share: Floats
    ) -> Iterator[tuple[int, Integers, Floats]]:
        """As `_multipliers`, for cells in networks only."""
        inside = np.flatnonzero(self.structure.in_network[requests.cells])
        if len(inside):
            whole = self._whole
            size = _FLOWS_AT_ONCE
            if self._threads is not None:
                size = min(size, max(_FLOWS_WORTH_IT, -(-len(inside) // self._threads.count)))
            pieces = [inside[start : start + size] for start in range(0, len(inside), size)]
            for found in self._one_by_one(
                lambda piece: list(self._in_part(requests, piece, caps, share, whole)), pieces
            ):
                yield from found

    @cached_property
    def _whole(self) -> NetworkPart:
        """All networks of the table together."""
        network = self.structure.network
        assert network is not None
        return NetworkPart(network, np.flatnonzero(self.structure.in_network))

    def _one_by_one(self, task: Callable[[Item], Found], items: Sequence[Item]) -> Iterator[Found]:
        """What a task gives for each item, in order; threads share the work where there are any."""
        if self._threads is None or len(items) < 2:
            return map(task, items)
        return self._threads.each(task, items)

    def _in_part(
        self,
        requests: Requests,
        chosen: Integers,
        caps: Floats,
        share: Floats,
        part: NetworkPart,
    ) -> Iterator[tuple[int, Integers, Floats]]:
        """As `_multipliers`, for chosen requests and relations that form a network."""
        place = np.minimum(np.searchsorted(part.cells, requests.cells[chosen]), len(part.cells) - 1)
        inside = chosen[part.cells[place] == requests.cells[chosen]]
        if len(inside):
            asked = requests.take(inside)
            for number, cells, d in self._cut_arcs(asked, caps[inside], share, part):
                yield int(inside[number]), cells, d

    def _by_programs(
        self, requests: Requests, caps: Floats, share: Floats
    ) -> Iterator[tuple[int, Integers, Floats]]:
        """As `_multipliers`, for cells outside networks."""
        others = np.flatnonzero(~self.structure.in_network[requests.cells])
        if not len(others):
            return
        part = requests.take(others)
        for number, g in self._linear.multipliers(part, self.up, self.down, caps[others], share):
            d = self._reduced(g, int(part.cells[number]), int(part.sides[number]))
            cells = np.flatnonzero(d)
            yield int(others[number]), cells, d[cells]

    def _reduced(self, g: Floats, cell: int, side: int) -> Floats:
        """Reduced costs d = e_s - A'g, with g scaled so that s itself costs nothing."""
        v = self.structure.columns.T @ g
        if abs(v[cell]) > ROUNDING_NOISE:
            v *= side / v[cell]
        v[np.abs(v) < CANCELLED] = 0.0
        d = -v
        d[cell] += side
        return np.asarray(d)

    def _cut_arcs(
        self, requests: Requests, caps: Floats, share: Floats, inside: NetworkPart
    ) -> Iterator[tuple[int, Integers, Floats]]:
        """In networks d is 1 on arcs that leave a minimum cut, -1 on arcs that enter it."""
        from tacit.attack.flow import maximum_flows

        network, cells = inside.network, inside.cells
        targets = requests.targets * (1 - VIOLATION)
        known = self._known.setdefault(inside, KnownFlows())
        room = Room(self.up, self.down, share, share > _FULLY)
        is_open = np.flatnonzero(~known.meet(requests, targets, caps, room))
        if not len(is_open):
            return
        asked, targets, caps = requests.take(is_open), targets[is_open], caps[is_open]
        arc = np.searchsorted(cells, asked.cells)
        limits = asked.limits
        # Arcs that carry nothing slow the search for paths down; the asked arcs must be there.
        carrying = share[cells] > 0
        carrying[arc] = True
        arcs = np.flatnonzero(carrying)
        part = network.restricted(arcs)
        place = np.cumsum(carrying)[arc] - 1
        inner = cells[arcs]
        if limits is not None:
            number = np.full(len(self.up), -1, np.int64)
            number[inner] = np.arange(len(inner))
            limits = limits.numbered_by(number)
        for start in range(0, len(asked), _FLOWS_AT_ONCE):
            some = slice(start, start + _FLOWS_AT_ONCE)
            amount, pointer, moved, moves, cut = maximum_flows(
                part.first,
                part.link,
                part.tail,
                part.head,
                self.up[inner],
                self.down[inner],
                place[some],
                asked.sides[some],
                targets[some],
                caps[some],
                share[inner],
                room.is_full[inner],
                None if limits is None else limits.take(some),
            )
            is_met = amount >= targets[some]
            known.keep(asked.take(some), is_met, amount, pointer, inner[moved], moves)
            for position in np.flatnonzero(~is_met).tolist():
                source_side = cut[position].astype(np.int8)
                d = source_side[network.tail] - source_side[network.head]
                d[arc[start + position]] = 0
                crossing = np.flatnonzero(d)
                number_asked = int(is_open[start + position])
                yield number_asked, cells[crossing], d[crossing].astype(np.float64)


class _LinearSeparator:
    """Multipliers by linear programs, for cells outside networks.

    Deviations are measured in units of the level at hand: then almost all bounds are y itself,
    whichever cell is asked, and the model moves little from request to request.
    """

    def __init__(self, structure: Structure, movable: Booleans, solver: SolverFactory):
        self._structure = structure
        self._cells = np.flatnonzero(movable & ~structure.in_network)
        self._solver = solver
        self._model: Any = None
        self._rows = np.zeros(0, np.int64)

    def _start(self) -> None:
        A = sparse.csr_array(self._structure.A[:, self._cells])
        self._rows = np.flatnonzero((np.diff(A.indptr) > 0) & self._structure.essential)
        zeros = np.zeros(len(self._rows))
        nothing = np.zeros(len(self._cells))
        self._model = self._solver(
            sparse.csr_array(A[self._rows]),
            row_lower=zeros,
            row_upper=zeros,
            lower=nothing,
            upper=nothing,
            tolerance=SOLVER,
        )
        self._lower, self._upper = nothing.copy(), nothing.copy()
        self._asked: int | None = None

    def multipliers(
        self, requests: Requests, up: Floats, down: Floats, caps: Floats, share: Floats
    ) -> Iterator[tuple[int, Floats]]:
        """Number and row multipliers of each request that misses its target."""
        if self._model is None:
            self._start()
        where = np.full(len(up), -1, np.int64)
        where[self._cells] = np.arange(len(self._cells))
        up, down, share = up[self._cells], down[self._cells], share[self._cells]
        full = share > _FULLY
        cold = True
        # Similar levels one after the other: fewer bounds change.
        for number in np.lexsort((requests.cells, requests.targets)).tolist():
            level, cap = float(requests.targets[number]), float(caps[number])
            column, side = int(where[requests.cells[number]]), int(requests.sides[number])
            if column < 0:
                # The cell cannot move at all: no relation needs to be charged.
                yield number, np.zeros(self._structure.A.shape[0])
                continue
            limited, rise, fall = requests.limited(number)
            inside = where[limited] >= 0
            here = (where[limited[inside]], rise[inside], fall[inside])
            above, below = within(up, down, here)
            lower = -np.minimum(below, np.where(full, np.inf, cap)) * share / level
            upper = np.minimum(above, np.where(full, np.inf, cap)) * share / level
            np.maximum(lower, -1e3, out=lower)
            np.minimum(upper, 1e3, out=upper)
            lower[column], upper[column] = -np.inf, np.inf
            solution = self._solve(column, side, lower, upper, cold)
            cold = False
            if solution is None or side * solution.x[column] >= 1 - VIOLATION:
                continue
            g = np.zeros(self._structure.A.shape[0])
            g[self._rows] = snapped(-solution.row_dual, FRACTION)
            yield number, g

    def _solve(self, column: int, side: int, lower: Floats, upper: Floats, cold: bool) -> Any:
        changed = np.flatnonzero((lower != self._lower) | (upper != self._upper))
        if len(changed):
            self._model.set_bounds(changed, lower[changed], upper[changed])
            self._lower, self._upper = lower, upper
        if self._asked is not None:
            self._model.set_cost(np.array([self._asked]), np.zeros(1))
        self._model.set_cost(np.array([column]), np.array([-float(side)]))
        self._asked = column
        # Without an optimum there is no cut; whether a pattern is safe is not decided here.
        return optimum(self._model, cold=cold)


def strengthened(cells: Integers, charge: Floats, y: Floats, always: Booleans) -> list[SparseRow]:
    """Turn `charge y >= 1` into stronger cuts that still hold for every safe 0/1 vector.

    Whatever set F of cells is counted in full, the others must make up for the rest r: the sum
    over cells outside F of min(charge, r) y is at least r (knapsack cover). Sensitive cells are
    always suppressed and belong to F; of the other cells those with the largest y are added as
    long as that makes the cut more violated. Where several cells are needed in any case, the
    number of cells is bounded, too. The cut with nothing but the sensitive cells in F comes along:
    master problems in integers need it as soon as they publish a cell of F.

    Args:
        cells: Numbers of the cells with a coefficient.
        charge: Their coefficients, positive, for a right-hand side of 1.
        y: The point to cut off, for these cells.
        always: Which of the cells have y = 1 in every solution.

    Returns:
        Cells and coefficients of the cuts, right-hand side 1. A cut without cells says that
        there is no safe solution.
    """
    from tacit.attack.kernels import knapsack_cover

    rest = 1.0 - float(charge[always].sum())
    if rest <= ROUNDING_NOISE:
        return []
    order = np.flatnonzero(~always)
    order = order[np.lexsort((cells[order], -y[order]))]
    cells, charge, y = cells[order], charge[order], y[order]
    plain = (cells, _rounded_off(np.minimum(charge / rest, 1.0)))
    count, rest = knapsack_cover(charge, y, rest)
    cells, y = cells[count:], y[count:]
    row = _rounded_off(np.minimum(charge[count:] / rest, 1.0))
    rows = [(cells, row)]
    needed = int(np.searchsorted(np.cumsum(np.sort(row)[::-1]), 1.0 - MET)) + 1
    if 2 <= needed <= len(cells):
        counted = np.full(len(cells), 1.0 / needed)
        if float(counted @ y) < min(float(row @ y), 1.0 - VIOLATION):
            rows.append((cells, counted))
    if count > 0:
        # Where some of the cells counted in full are published, the others say little.
        rows.append(plain)
    return rows


def _rounded_off(row: Floats) -> Floats:
    """Drop coefficients that are mere rounding; what they could give is taken off the rest."""
    tiny = (row > 0) & (row < ROUNDING_NOISE)
    dropped = float(row[tiny].sum())
    row = np.where(tiny, 0.0, row)
    return np.minimum(row / (1.0 - dropped), 1.0) if dropped else row
