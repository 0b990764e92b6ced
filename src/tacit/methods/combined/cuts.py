"""The relaxed combined problem, and mixed cuts, which charge slacks and x.

The columns of the relaxation are the places of a point and, behind them, x for each cell that may
be suppressed or not. Slacks are linked to x, [KarlssonOlsson2015, (3.28b) to (3.28e)], with the
most that any solution needs in place of the bounds; those rows join when they are violated.

In a mixed cut each cell is charged for its slack or for being suppressed, whichever is less. No
deviation moves a cell beyond its slack, nor at all if the cell is published. So with charges
d = e_s - A'g as everywhere, every solution satisfies

    sum over cells of min(d slack, d most x)  >=  level of s,

where `most` is what the bounds leave, and the minimum may be decided cell by cell. Charging all
cells for their slacks gives the cuts of intervals, charging all for x those of complete
suppression; what is between is stronger than both. As x is integer, coefficients of x may be cut
off at the level, and cells may be counted in full (knapsack cover). For a sliding level the charges
of both sides are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from scipy import sparse

from tacit.attack.reach import Requests
from tacit.attack.sweep import Attack
from tacit.errors import SolverError
from tacit.methods.combined.model import CombinedModel, Search
from tacit.methods.combined.sides import Charges, Request, Sides
from tacit.methods.engine import turns
from tacit.methods.engine.cut_pool import Rows
from tacit.methods.engine.relaxation import Relaxation
from tacit.methods.intervals.attackers import AttackerState
from tacit.methods.intervals.cuts import usual_cost
from tacit.problem import Booleans, Floats, Integers
from tacit.tolerances import (
    CLEARLY_VIOLATED,
    FAR,
    FAR_IN_FLOWS,
    NEGLIGIBLE,
    ONWARD,
    ROUNDING_NOISE,
    SOLVER,
    TINY,
    VIOLATED,
)

_PATIENCE = 3
"""Rounds after which a cut that was never tight leaves the relaxation, for the first time."""
_TURNS = 3
"""How often the relaxation is solved at once, with more links each time."""
_MOST_BRIDGELESS = 1000
"""Bridgeless rows that are added at once, at most."""
_STEPS = 12
"""Steps on the way inside, at most."""
_FULLY = 0.5
"""From this x on a cell may be counted in full."""

Cut = tuple[Integers, Floats, float]
"""Columns, coefficients and right-hand side."""
Cuts = tuple[Rows, Floats]
"""Rows `rows vector >= right`, and their right-hand sides."""


class Master(Relaxation):
    """The cheapest slacks and suppressions, fractional, subject to the cuts so far.

    Attributes:
        choices: The cells with an x, in the order of their columns.
        columns: For each cell the column of its x; -1 where there is none.
    """

    def __init__(self, search: Search):
        self._search = search
        model = self._model = search.model
        self.choices = np.flatnonzero(model.is_choice)
        count = len(self.choices)
        cost = np.concatenate([model.weight, model.suppress_weight[self.choices]])
        unit = np.ones(model.size + count)
        unit[: model.size] = model.usual_level
        super().__init__(
            cost,
            np.concatenate([model.lower, np.zeros(count)]),
            np.concatenate([np.maximum(_most_slacks(search), model.lower), np.ones(count)]),
            unit=unit,
            cost_unit=usual_cost(cost * unit),
            patience=_PATIENCE,
            seed=search.options.seed,
            on_cuts=search.note_cuts,
        )
        self.columns = np.full(model.problem.cell_count, -1, np.int64)
        self.columns[self.choices] = model.size + np.arange(count)
        self._is_linked = np.zeros(self.size, bool)
        self._duals = np.zeros(0)
        rows, right = self._side_rows()
        self._side_count = len(right)
        self.add_steady(rows, right)

    def _side_rows(self) -> tuple[Rows, Floats]:
        """Rows besides cuts and links: reaches, least widths, the number of cells."""
        model = self._model
        blocks = [_wider(model.rows, self.size)]
        right = [model.right]
        always, width = model.wide_rows(model.is_always)
        blocks.append(_wider(always, self.size))
        right.append(width)
        chosen = np.flatnonzero(model.is_choice & (model.least_width > 0))
        rows, width = model.wide_rows(model.is_choice)
        mine = sparse.csr_array(
            (-width, (np.arange(len(chosen)), self.columns[chosen])), shape=(len(chosen), self.size)
        )
        blocks.append(sparse.csr_array(_wider(rows, self.size) + mine))
        right.append(np.zeros(len(chosen)))
        if np.isfinite(model.most_suppressed):
            number = np.zeros((1, self.size))
            number[0, model.size :] = -1.0
            blocks.append(sparse.csr_array(number))
            right.append(np.array([float(model.is_always.sum() - model.most_suppressed)]))
        return sparse.csr_array(sparse.vstack(blocks)), np.concatenate(right)

    @property
    def steady(self) -> tuple[Rows, Floats, Floats]:
        """The rows that stay, and between what they lie; integer masters get `links` besides."""
        rows, lower, upper = super().steady
        count = self._side_count
        return sparse.csr_array(rows[:count]), lower[:count], upper[:count]

    def links(self, ends: Integers) -> Rows:
        """Rows `most x - slack >= 0`, in units of the most, for some ends."""
        cells = ends // 2
        row = np.arange(len(ends))
        most = np.maximum(self.upper[ends], TINY)
        entries = (
            np.concatenate([np.ones(len(ends)), -1.0 / most]),
            (np.concatenate([row, row]), np.concatenate([self.columns[cells], ends])),
        )
        return sparse.csr_array(entries, shape=(len(ends), self.size))

    def linkable(self) -> Integers:
        """Ends that an x decides on, and that may still be opened."""
        ends = np.arange(self._model.cell_ends)
        owned = self.columns[ends // 2] >= 0
        return ends[owned & (self.upper[ends] > 0)]

    @property
    def suppressed(self) -> Floats:
        """How far each cell is suppressed in the last optimum."""
        shares = self._model.is_always.astype(np.float64)
        shares[self.choices] = np.clip(self.x[self._model.size :], 0.0, 1.0)
        return shares

    @property
    def point(self) -> Floats:
        """The slacks and reaches in the last optimum."""
        return self.x[: self._model.size]

    @property
    def is_open(self) -> Booleans:
        """Columns of x that are not settled."""
        return np.asarray(self.upper[self._model.size :] > self.lower[self._model.size :])

    def add_for_points(self, rows: Rows, right: Floats) -> int:
        """Add cuts over the places of a point; returns how many were not at work before."""
        return self.add(_wider(rows, self.size), right)

    def minimise(self) -> float:
        """Solve, with links and bridgeless rows where they lack; returns a proven bound.

        Links that still lack after a few turns are left to the next call.
        """
        search = self._search
        for turn in range(_TURNS):
            if not self.solve(search.objective):
                search.nothing_better()
                return search.bound
            if turn + 1 == _TURNS or not self._link() + self._bridgeless():
                break
        super()._purge(self._duals)
        return self._model.base + self.bound

    def _purge(self, duals: Floats) -> None:
        """Cuts are given time by calls of `minimise`, not by its turns."""
        self._duals = duals

    def _link(self) -> int:
        """Add links that the optimum violates; returns how many."""
        ends = self.linkable()
        ends = ends[~self._is_linked[ends]]
        beyond = self.x[ends] / self.upper[ends] - self.x[self.columns[ends // 2]]
        ends = ends[beyond > VIOLATED]
        if len(ends):
            self._is_linked[ends] = True
            self.add_steady(self.links(ends), np.zeros(len(ends)))
        return len(ends)

    def _bridgeless(self) -> int:
        """Add violated bridgeless rows; returns how many.

        Some best solution has no suppressed cell alone in a relation, as the others would tell
        its value.
        """
        model = self._model
        A = model.problem.relations
        row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        x = np.where(model.is_free_cell, self.suppressed, 0.0)[A.indices]
        alone = 2 * x - np.bincount(row, x, minlength=A.shape[0])[row]
        # Next to a cell that is always suppressed no cell is alone.
        sensitive = np.bincount(row, model.is_always[A.indices], minlength=A.shape[0])[row]
        is_missed = (alone > CLEARLY_VIOLATED) & (self.columns[A.indices] >= 0) & (sensitive == 0)
        entries = np.flatnonzero(is_missed)
        entries = entries[np.argsort(-alone[entries], kind="stable")[:_MOST_BRIDGELESS]]
        touches = sparse.csr_array(abs(A).sign()[row[entries]][:, self.choices])
        own = sparse.csr_array(
            (
                np.full(len(entries), -2.0),
                (np.arange(len(entries)), self.columns[A.indices[entries]] - model.size),
            ),
            shape=touches.shape,
        )
        empty = sparse.csr_array((len(entries), model.size))
        rows = sparse.csr_array(sparse.hstack([empty, touches + own]))
        return self.add(rows, np.zeros(len(entries)))

    @contextmanager
    def held(self, pattern: Booleans) -> Iterator[None]:
        """For a while only vectors that suppress the cells of a pattern and no others."""
        lower, upper = self.lower.copy(), self.upper.copy()
        ends = np.flatnonzero(upper[: self._model.cell_ends] > lower[: self._model.cell_ends])
        ends = ends[(self.columns[ends // 2] >= 0) & ~pattern[ends // 2]]
        x = np.flatnonzero(self.is_open) + self._model.size
        is_in = pattern[self.choices[x - self._model.size]].astype(np.float64)
        columns = np.concatenate([ends, x])
        self.set_bounds(
            columns,
            np.concatenate([lower[ends], is_in]),
            np.concatenate([lower[ends], is_in]),
        )
        try:
            yield
        finally:
            self.set_bounds(columns, lower[columns], upper[columns])
            # No vector of this pattern is left, or none cheap enough: others are.
            self.infeasible = False

    def fix(self, bound: float) -> int:
        """Settle and tighten columns by their reduced costs; returns how many x were settled."""
        slack = self._search.objective - bound
        if not np.isfinite(slack) or self.infeasible:
            return 0
        slack = max(slack, 0.0) + SOLVER * (1.0 + abs(bound))
        lower, upper = self.lower.copy(), self.upper.copy()
        rising = np.flatnonzero(self.reduced > 0)
        upper[rising] = np.minimum(upper[rising], lower[rising] + slack / self.reduced[rising])
        x = np.arange(self._model.size, self.size)
        upper[x] = np.where(upper[x] < 1 - ROUNDING_NOISE, lower[x], 1.0)
        into = (self.reduced[x] < -slack) & (upper[x] > 0)
        lower[x] = np.where(into, 1.0, lower[x])
        shut = np.zeros(self._model.problem.cell_count, bool)
        shut[self.choices] = upper[x] == 0
        upper[: self._model.cell_ends][np.repeat(shut, 2)] = 0.0
        upper = np.maximum(upper, lower)
        # Bounds that hardly move are not worth a change of the model.
        changed = (upper < 0.9 * self.upper) | (lower > self.lower)
        columns = np.flatnonzero(changed)
        self.set_bounds(columns, lower[columns], upper[columns])
        return int(changed[x].sum())


def _wider(rows: Rows, columns: int) -> Rows:
    """The same rows with more columns, which are empty."""
    return sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], columns))


def _most_slacks(search: Search) -> Floats:
    """The most that each place needs to be in some best solution.

    In a network no deviation that meets a level needs more than the level in any cell. Elsewhere
    slack is of no use beyond what a reader cannot rule out when every cell is suppressed.
    """
    model = search.model
    most = model.upper.copy()
    ends = most[: model.cell_ends]
    targets = [float(state.targets(model.upper).max(initial=0.0)) for state in model.states]
    largest = max(targets, default=0.0)
    in_network = np.repeat(model.structure.in_network, 2)
    np.minimum(ends, np.where(in_network, largest, FAR * largest), out=ends)
    outside = np.flatnonzero(model.is_free_cell & ~model.structure.in_network)
    if len(outside):
        np.minimum(ends, _reach(search, outside), out=ends)
    wide = np.repeat(model.least_width, 2)
    ends[:] = np.maximum(ends, np.minimum(wide, model.upper[: model.cell_ends]))
    return np.maximum(most, model.lower)


def _reach(search: Search, cells: Integers) -> Floats:
    """How far a reader thinks ends may lie with every cell suppressed; inf where not known."""
    model = search.model
    attack = Attack(model.problem, model.knowledge(model.widest()), structure=model.structure)
    end = search.seconds + turns.COMBINED_REACH * search.options.time_limit
    reach = np.full(model.cell_ends, np.inf)
    try:
        answer = attack.reach(
            Requests.both_sides(cells),
            progress=lambda _: search.seconds > end or search.out_of_time(),
        )
    except SolverError:
        return reach
    places = np.concatenate([2 * cells, 2 * cells + 1])
    # The proven limit, not the amount reached.
    limit = np.where(answer.answered, np.maximum(answer.limit, answer.amount), np.inf)
    reach[places] = limit
    return reach


class MixedSeparation:
    """Finds mixed cuts against all attackers; keeps its models between calls."""

    def __init__(
        self, model: CombinedModel, columns: Integers, stop: Callable[[], bool] = lambda: False
    ):
        """Prepare.

        Args:
            model: The combined problem.
            columns: For each cell the column of its x in the rows to be made; -1 for none.
            stop: Asked before each request; True ends a round early, with the cuts found so far.
        """
        self._model = model
        self._columns = columns
        self._stop = stop
        self._size = model.size + int((columns >= 0).sum())
        self._sides = [Sides(model, state) for state in model.states]

    def cuts(self, ends: Floats, x: Floats) -> Cuts:
        """Violated cuts at some slacks and an x for each cell."""
        found = _Collected(self._size)
        for sides in self._sides:
            for request in sides.requests:
                if self._stop():
                    return found.matrix()
                charges = sides.missed(request, ends, x)
                if charges is not None:
                    found.put(self._best(sides.state, request, charges, ends, x))
        return found.matrix()

    def approach(self, outer: Floats, inner: Floats) -> tuple[Cuts, float]:
        """Cuts on the way from a vector to one that is inside, each request on its own.

        Where a level is out of reach, the cut is a line along the way: the next vector is where
        that line meets its right-hand side (Newton's method), and the last cut found supports
        what the request allows.

        Args:
            outer: Places of a point, and x of each cell that may be suppressed or not.
            inner: The same, and safe, if x may be fractional.

        Returns:
            The cuts, and the share of the way after which all levels are within reach.
        """
        found = _Collected(self._size)
        furthest = 0.0
        first, last = self._split(outer), self._split(inner)
        for sides in self._sides:
            for request in sides.requests:
                if self._stop():
                    return found.matrix(), 1.0
                share = 0.0
                for _ in range(_STEPS):
                    ends, x = (a + share * (b - a) for a, b in zip(first, last, strict=True))
                    charges = sides.missed(request, ends, x)
                    if charges is None:
                        break
                    cut = self._best(sides.state, request, charges, ends, x)
                    if cut is None:
                        break
                    found.put(cut)
                    columns, data, right = cut
                    here, there = float(data @ outer[columns]), float(data @ inner[columns])
                    further = (right - here) / (there - here) if there > right else 1.0
                    # The next vector lies further on, if only by rounding.
                    share = min(1.0, max(share * (1 + ONWARD) + ROUNDING_NOISE, further))
                    if share >= 1.0:
                        break
                furthest = max(furthest, share)
        return found.matrix(), furthest

    def _split(self, vector: Floats) -> tuple[Floats, Floats]:
        x = np.ones(len(self._columns))
        chosen = self._columns >= 0
        x[chosen] = vector[self._columns[chosen]]
        x[~chosen & ~self._model.is_always] = 0.0
        return vector[: self._model.cell_ends], x

    def _best(
        self,
        state: AttackerState,
        request: Request,
        charges: list[Charges],
        ends: Floats,
        x: Floats,
    ) -> Cut | None:
        """The most violated choice between slacks and x, as columns, coefficients, right side."""
        level = request.level
        number = np.repeat(np.array(request.numbers), [len(each[1]) for each in charges])
        charged = np.concatenate([each[1] for each in charges])
        charge = np.concatenate([each[2] for each in charges])
        cells, place = np.unique(charged // 2, return_inverse=True)
        most = charge * np.minimum(state.most(number, charged), FAR_IN_FLOWS * level)
        full = _summed(place, most, len(cells))
        slack = _summed(place, charge * ends[charged], len(cells))
        always = self._columns[cells] < 0
        share = np.where(always, 1.0, x[cells])
        best, settled, rest, count = np.inf, -1, level, 0
        # Cells whose slack is no less than all they can give may be counted in full.
        order = np.flatnonzero((share > _FULLY) & (slack >= full * (1 - ROUNDING_NOISE)))
        order = order[np.lexsort((cells[order], -share[order]))]
        needed = int(always[order].sum())
        order = np.concatenate([order[always[order]], order[~always[order]]])
        left = np.ones(len(cells), bool)
        while True:
            if count >= needed:
                term = np.minimum(slack, np.minimum(full, rest) * share)
                met = float(term[left].sum()) / rest
                if met < best - ROUNDING_NOISE:
                    best, settled = met, count
            if count == len(order):
                break
            rest -= full[order[count]]
            left[order[count]] = False
            count += 1
            if rest <= NEGLIGIBLE * level:
                break
        if best > 1 - CLEARLY_VIOLATED:
            return None
        return self._row(cells, charged, charge, slack, full, share, order[:settled], level)

    def _row(
        self,
        cells: Integers,
        charged: Integers,
        charge: Floats,
        slack: Floats,
        full: Floats,
        share: Floats,
        settled: Integers,
        level: float,
    ) -> Cut:
        rest = level - float(full[settled].sum())
        left: Booleans = np.ones(len(cells), bool)
        left[settled] = False
        most = np.minimum(full, rest)
        by_x = left & (self._columns[cells] >= 0) & (most * share < slack)
        by_slack = left & ~by_x
        kept = by_slack[np.searchsorted(cells, charged // 2)]
        columns = np.concatenate([charged[kept], self._columns[cells[by_x]]])
        data = np.concatenate([charge[kept], most[by_x]])
        # An end may be charged by both sides of a sliding level.
        columns, place = np.unique(columns, return_inverse=True)
        return columns.astype(np.int64), _summed(place, data, len(columns)), rest


def _summed(place: Integers, data: Floats, count: int) -> Floats:
    return np.bincount(place, data, minlength=count).astype(np.float64)


class _Collected:
    """Collects cuts."""

    def __init__(self, size: int):
        self._size = size
        self._cuts: list[Cut] = []

    def put(self, cut: Cut | None) -> None:
        """Add a cut, if there is one."""
        if cut is not None:
            self._cuts.append(cut)

    def matrix(self) -> Cuts:
        """All cuts."""
        pointer = np.concatenate([[0], np.cumsum([len(cut[0]) for cut in self._cuts])])
        columns = np.concatenate([np.zeros(0, np.int64), *(cut[0] for cut in self._cuts)])
        data = np.concatenate([np.zeros(0), *(cut[1] for cut in self._cuts)])
        shape = (len(self._cuts), self._size)
        right = np.array([cut[2] for cut in self._cuts], np.float64)
        return sparse.csr_array((data, columns, pointer), shape=shape), right
