"""The relaxed master problem, its cuts, and the root loop that separates them.

Cuts are sought at the relaxation's own optimum, or between it and a point inside the safe region
(in-out separation [BenAmeurNeto2007]): with many different weights that needs far fewer cuts.
Whichever moves the bound is used.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.attack.cuts import Cuts
from tacit.clock import Clock, check_time
from tacit.methods.engine import turns
from tacit.methods.engine.cut_pool import Rows
from tacit.methods.engine.relaxation import Relaxation
from tacit.methods.engine.root_loop import RootLoop
from tacit.methods.suppress.heuristics.cleanup import clean_up
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.heuristics.first_pattern import is_large
from tacit.methods.suppress.heuristics.joint import JointPatterns, serves
from tacit.methods.suppress.model import Search
from tacit.problem import Booleans, Floats, Integers
from tacit.tolerances import INTEGRAL, ROUNDING_NOISE, VIOLATED

_TOO_LARGE = 50_000
"""From this number of cells on, the relaxation is left alone;"""
_TOO_LARGE_IN_STRIPS = 500_000
"""from this one where cuts are found in strips, which are small."""
_MOST_CUTS = 1500
"""Cuts that one attacker adds in one round."""
_CEILINGS: tuple[float, ...] = (1.0, 0.5, 0.2, 0.08, 0.03)
"""How capacities are cut off, as shares of a level, while less and less obvious cuts are sought."""


def is_too_large(search: Search) -> bool:
    """Has a table too many cells for its relaxation to be solved?"""
    in_strips = search.outside_networks and search.structure.strips_cover
    most = _TOO_LARGE_IN_STRIPS if in_strips else _TOO_LARGE
    return int(search.secondary.sum()) > most


class Master(Relaxation):
    """The linear relaxation over the secondary cells; its steady rows are side conditions.

    Attributes:
        cells: The secondary cells, the columns of the relaxation.
        fixed_out: Columns proven to be 0 in every better solution.
        fixed_in: Columns proven to be 1 in every better solution.
        ceiling: Patterns that weigh at least this may be out of reach of the fixed columns.
    """

    def __init__(self, search: Search):
        self._search = search
        self.cells = np.flatnonzero(search.secondary)
        count = len(self.cells)
        super().__init__(
            search.problem.weight[self.cells],
            np.zeros(count),
            np.ones(count),
            on_cuts=self._note_cuts,
        )
        self._column = np.full(search.problem.cell_count, -1, np.int64)
        self._column[self.cells] = np.arange(count)
        self.fixed_out = np.zeros(count, bool)
        self.fixed_in = np.zeros(count, bool)
        self.ceiling = np.inf
        self.add_steady(*self._side_rows())

    def _note_cuts(self, count: int) -> None:
        self._search.cut_count += count
        self._search.observer.on_cuts(self._search.seconds, count)

    @property
    def y(self) -> Floats:
        """The last optimum."""
        return self.x

    @property
    def objective(self) -> float:
        """No pattern weighs less, sensitive cells included.

        The optimum, or the cutoff by which columns were fixed if that is less.
        """
        return min(self._search.base + max(self.bound, 0.0), self.ceiling)

    def _side_rows(self) -> tuple[Rows, Floats, Floats]:
        search = self._search
        rows, needed = search.singleton_rows()
        pattern = abs(search.problem.relations[rows]).sign()
        have = np.asarray(pattern @ search.sensitive.astype(np.float64))
        blocks = [sparse.csr_array(pattern[:, self.cells])]
        lower = [np.maximum(needed - have, 0.0)]
        upper = [np.full(len(rows), np.inf)]
        limit = search.options.max_suppressed
        if limit is not None:
            blocks.append(sparse.csr_array(np.ones((1, len(self.cells)))))
            lower.append(np.zeros(1))
            upper.append(np.array([float(limit - search.sensitive.sum())]))
        return (
            sparse.csr_array(sparse.vstack(blocks)),
            np.concatenate(lower),
            np.concatenate(upper),
        )

    def full(self, y: Floats) -> Floats:
        """A vector over the secondary cells, extended to all cells."""
        everywhere = self._search.sensitive.astype(np.float64)
        everywhere[self.cells] = y
        return everywhere

    def add_cuts(self, cuts: Cuts) -> int:
        """Add protection cuts; returns how many of them were not at work before."""
        rows = sparse.csr_array(cuts.coefficients[:, self.cells])
        return self.add(rows, np.ones(len(cuts)))

    def bridgeless(self, y: Floats, most: int = 1000) -> int:
        """Add violated bridgeless rows: a suppressed cell needs another one in each relation.

        Sensitive cells with a level need it in any safe pattern. Of the other cells with a
        positive weight some best pattern has none that stands alone: it could be published.
        """
        search = self._search
        problem, A = search.problem, search.problem.relations
        everywhere = self.full(y)
        useful = search.secondary | search.sensitive
        row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        counted = np.where(useful[A.indices], everywhere[A.indices], 0.0)
        total = np.bincount(row, counted, minlength=A.shape[0])
        needs = np.zeros(len(everywhere), bool)
        levels = problem.lower_level + problem.upper_level + problem.sliding_level
        needs[problem.sensitive[levels > 0]] = True
        if len(search.singleton_rows()[0]) == 0:
            # Otherwise a cell may be suppressed just to make up the number beside singletons.
            needs[self.cells[self.cost > 0]] = True
        lonely = 2 * counted - total[row]
        violated = np.flatnonzero(needs[A.indices] & useful[A.indices] & (lonely > VIOLATED))
        violated = violated[np.argsort(-lonely[violated], kind="stable")[:most]]
        columns: list[Integers] = []
        data: list[Floats] = []
        right: list[float] = []
        for entry in violated.tolist():
            cell, relation = int(A.indices[entry]), int(row[entry])
            others = A.indices[A.indptr[relation] : A.indptr[relation + 1]]
            others = others[useful[others] & (others != cell)]
            if search.sensitive[others].any():
                continue
            here, ones = self._column[others], np.ones(len(others))
            if not search.sensitive[cell]:
                here, ones = np.append(here, self._column[cell]), np.append(ones, -1.0)
            columns.append(here)
            data.append(ones)
            right.append(1.0 if search.sensitive[cell] else 0.0)
        return self._add_bridgeless(columns, data, right)

    def _add_bridgeless(
        self, columns: list[Integers], data: list[Floats], right: list[float]
    ) -> int:
        if not right:
            return 0
        pointer = np.concatenate([[0], np.cumsum([len(each) for each in columns])])
        entries = (np.concatenate(data), np.concatenate(columns), pointer)
        rows = sparse.csr_array(entries, shape=(len(right), len(self.cells)))
        rows.sort_indices()
        return self.add(rows, np.array(right))

    def tighten(self) -> bool:
        """Solve, raise the search's bound and fix columns; False if nothing better is left."""
        if not self.solve():
            self._search.nothing_better()
            return False
        self._search.raise_bound(self.objective)
        self.fix()
        return True

    def recall_violated(self) -> bool:
        """Add cuts of the pool and bridgeless rows that the optimum violates, if there are any."""
        return self.recall(self.y) + self.bridgeless(self.y) > 0

    def fix(self) -> int:
        """Fix columns by their reduced costs, given the best pattern; returns how many."""
        slack = self._search.cutoff - self.objective
        if not np.isfinite(slack):
            return 0
        # What sums lose by rounding is a share of what is added up.
        margin = max(slack, 0.0) + ROUNDING_NOISE * abs(self.objective)
        out = (self.reduced > margin) & (self.y < INTEGRAL) & ~self.fixed_out
        into = (self.reduced < -margin) & (self.y > 1 - INTEGRAL) & ~self.fixed_in
        changed = np.flatnonzero(out | into)
        self.fixed_out |= out
        self.fixed_in |= into
        if len(changed):
            self.ceiling = min(self.ceiling, self._search.cutoff)
            lower = self.fixed_in[changed].astype(np.float64)
            upper = 1.0 - self.fixed_out[changed]
            self.set_bounds(changed, lower, upper)
        return len(changed)


class Root(RootLoop):
    """Raises the bound of the relaxation and keeps improving the best pattern."""

    def __init__(
        self,
        search: Search,
        master: Master,
        constructor: Constructor | None,
        *,
        pattern_seconds: float = 0.0,
    ):
        """Prepare the loop.

        Args:
            search: The run.
            master: The relaxation.
            constructor: Builds patterns along the way; None for the bound alone.
            pattern_seconds: What building a pattern took before.
        """
        super().__init__(search)
        self._search = search
        self._master = master
        self._constructor = constructor
        # Everything suppressed is safe if anything is.
        self._inside = np.ones(len(master.cells))
        self._best_seen: Booleans | None = None
        self._is_between = False
        self._separations_left = np.inf
        self._built_at, self._built_for = search.seconds, pattern_seconds
        self._joint = JointPatterns(search) if serves(search) else None

    def run(self, *, seconds: float, rounds: float = np.inf, separations: float = np.inf) -> bool:
        """Go on until nothing is violated, progress stalls, or time or rounds are up.

        Args:
            seconds: The longest time.
            rounds: The largest number of rounds.
            separations: How often cuts are sought at most.
        """
        search = self._search
        self._separations_left = separations
        # Between the points all cells move a little: flows do not mind, linear programs do.
        self._is_between = bool(search.structure.in_network[search.problem.sensitive].any())
        is_open = super().run(seconds=seconds, rounds=rounds)
        if is_open and not search.should_stop():
            self.improve()
        return is_open

    @property
    def bound(self) -> float:
        """The relaxation's bound."""
        return self._master.objective

    def tighten(self) -> bool:
        """Solve the relaxation; False if nothing better is left."""
        self._search.hear()
        return self._master.tighten()

    def recall(self) -> bool:
        """Add cuts of the pool and bridgeless rows that the optimum violates."""
        return self._master.recall_violated()

    def change_way(self) -> bool:
        """Separate the optimum itself from now on."""
        was_between, self._is_between = self._is_between, False
        return was_between

    def cut(self) -> bool:
        """Separate between the inner point and the optimum until they have met, then there."""
        self._separations_left -= 1
        if self._separations_left < 0:
            return False
        if not self._is_between:
            return self._cut_here() > 0
        self._is_between = self._cut_between()
        return True

    def _cut_between(self) -> bool:
        """Separate between the inner point and the optimum; False once they have met."""
        y = self._master.y
        self._draw_inside()
        for _ in range(4):
            point = 0.5 * y + 0.5 * self._inside
            if self.cut_off(point):
                return True
            self._inside = point
        return bool(np.abs(self._inside - y).max(initial=0.0) > 1e-3)

    def _cut_here(self) -> int:
        """Separate the optimum itself, looking for less and less obvious cuts."""
        # Where flows find nothing in a large table, linear programs hardly ever do, and take long.
        programs = _CEILINGS
        if self._joint is not None:
            programs = () if is_large(self._search) else _CEILINGS[:1]
        if self._search.structure.strips_cover:
            programs = ()
        for thorough, ceilings in ((False, _CEILINGS), (True, programs)):
            for ceiling in ceilings:
                added = self.cut_off(self._master.y, ceiling, thorough=thorough)
                if added:
                    return added
        return 0

    def _draw_inside(self) -> None:
        """A new best pattern draws the inner point towards it."""
        best = self._search.best
        if best is not None and best is not self._best_seen:
            self._best_seen = best
            self._inside = 0.5 * self._inside + 0.5 * best[self._master.cells]

    def may_build(self) -> bool:
        """Whether patterns were built in few rounds only; in large tables, in little time."""
        if 15 * self._improvements > self._search.iterations:
            return False
        # Small tables go the same way whatever the machine does beside.
        is_cheap = self._joint is None
        return is_cheap or self._search.seconds - self._built_at >= self._built_for

    def cut_off(self, y: Floats, ceiling: float = 1.0, *, thorough: bool = True) -> int:
        """Add cuts that a point violates; returns how many are new."""
        master = self._master
        added = 0
        for state in self._search.states:
            check_time()
            cuts = state.cuts(master.full(y), ceiling=ceiling, thorough=thorough)
            if len(cuts) > _MOST_CUTS:
                worst = np.argsort(-cuts.violation(master.full(y)), kind="stable")
                cuts = cuts.take(worst[:_MOST_CUTS])
            added += master.add_cuts(cuts)
        return added

    def build(self) -> None:
        """Build a pattern along the relaxation's suggestion and offer it."""
        search, master = self._search, self._master
        if self._constructor is None:
            return
        began = search.seconds
        self._build(self._constructor, master.full(master.y))
        self._built_at, self._built_for = search.seconds, search.seconds - began

    def _build(self, constructor: Constructor, guide: Floats) -> None:
        search = self._search
        seconds = turns.SUPPRESS_CLEAN_UP * search.options.time_limit
        for threshold in (0.6, 0.9):
            start: Booleans = guide > threshold
            if self._joint is not None and threshold > 0.6:
                with Clock(turns.SUPPRESS_JOINT_PATTERN * search.options.time_limit):
                    start = self._joint.pattern(start, guide)
            hidden = constructor.construct(start, guide)
            if hidden is not None:
                search.offer(clean_up(search, hidden, guide, seconds=seconds))
            if search.should_stop():
                break
