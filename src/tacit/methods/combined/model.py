"""The combined problem: intervals as in `tacit.intervals`, and a cost for each cell that has one.

A point is that of the intervals problem. A cell is suppressed when its interval has a width, and
so is every sensitive cell; x of [KarlssonOlsson2015, (3.28)] follows from the slacks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from tacit.attack.knowledge import Attacker
from tacit.attack.shrink import Structure
from tacit.clock import Clock
from tacit.methods.combined.options import CombinedOptions
from tacit.methods.engine.cut_pool import Rows
from tacit.methods.engine.insider_pairs import WatchedPairs
from tacit.methods.intervals import search as intervals
from tacit.methods.intervals.model import IntervalsModel
from tacit.methods.intervals.options import EndsOptions
from tacit.methods.intervals.publication import Publication
from tacit.methods.registry import find_algorithm
from tacit.observer import Observer, Quiet
from tacit.outcome import StopReason
from tacit.problem import Booleans, Floats, Problem
from tacit.tolerances import TINY


class GrownError(Exception):
    """Sliding levels against contributors turned out to matter: the algorithm begins again."""


class WideModel(IntervalsModel):
    """The intervals problem over chosen cells, all of whose intervals have a least width.

    Attributes:
        least_width: For each cell the least width of its interval; 0 where there is none.
    """

    def __init__(
        self,
        problem: Problem,
        width_weight: Floats,
        allowed: Booleans,
        least_width: Floats,
        attackers: Sequence[Attacker] = (),
        pairs: WatchedPairs | None = None,
        structure: Structure | None = None,
    ):
        nothing = np.zeros(problem.cell_count, bool)
        super().__init__(problem, width_weight, allowed, nothing, attackers, pairs, structure)
        most = np.where(self.is_free, self.widest(), 0.0)
        self.least_width = np.minimum(least_width, most[0::2] + most[1::2])

    def wide_rows(self, cells: Booleans) -> tuple[Rows, Floats]:
        """Rows that ask for the least width of the intervals of some cells."""
        chosen = np.flatnonzero(cells & (self.least_width > 0))
        row = np.arange(len(chosen))
        entries = (
            np.ones(2 * len(chosen)),
            (np.concatenate([row, row]), np.concatenate([2 * chosen, 2 * chosen + 1])),
        )
        rows = sparse.csr_array(entries, shape=(len(chosen), self.size))
        return rows, self.least_width[chosen]

    def widened(self, point: Floats, cells: Booleans) -> Floats:
        """The point with the intervals of some cells opened to their least width."""
        ends = point[: self.cell_ends]
        missing = np.where(cells, self.least_width - ends[0::2] - ends[1::2], 0.0)
        if not (missing > 0).any():
            return point
        point = point.copy()
        # The cheaper end first, the other for what is left.
        below_first = (self.weight[1 : self.cell_ends : 2] < self.weight[: self.cell_ends : 2]) * 1
        for turn in (0, 1):
            end = 2 * np.arange(len(missing)) + (below_first ^ turn)
            more = np.clip(missing, 0.0, np.maximum(self.upper[end] - point[end], 0.0))
            point[end] += more
            missing = missing - more
        return point


class RestrictedModel(WideModel):
    """The intervals problem over the cells of a pattern, all of which are suppressed."""

    def __init__(
        self,
        problem: Problem,
        width_weight: Floats,
        pattern: Booleans,
        least_width: Floats,
        attackers: Sequence[Attacker] = (),
        pairs: WatchedPairs | None = None,
        structure: Structure | None = None,
    ):
        super().__init__(problem, width_weight, pattern, least_width, attackers, pairs, structure)
        rows, right = self.wide_rows(pattern)
        self.rows = sparse.csr_array(sparse.vstack([self.rows, rows]))
        self.right = np.concatenate([self.right, right])

    def completed(self, ends: Floats) -> Floats:
        """Slacks with the intervals of all cells opened to their least width."""
        return self.widened(ends, self.least_width > 0)


class CombinedModel(WideModel):
    """What all algorithms for combined suppression share.

    Attributes:
        suppress_weight: What it costs not to publish a cell exactly.
        width_weight: What a unit of each end costs, whether it may be opened or not.
        is_always: Cells that are suppressed in every solution: the sensitive ones.
        is_choice: Cells that may be suppressed or not.
        most_suppressed: How many cells may be suppressed.
    """

    def __init__(
        self,
        problem: Problem,
        suppress_weight: Floats,
        width_weight: Floats,
        least_width: Floats,
        attackers: Sequence[Attacker] = (),
        max_suppressed: int | None = None,
    ):
        super().__init__(
            problem, width_weight, np.ones(problem.cell_count, bool), least_width, attackers
        )
        self.suppress_weight = suppress_weight
        self.width_weight = width_weight
        self.is_always = problem.is_sensitive
        self.is_choice: Booleans = self.is_free_cell & ~self.is_always
        self.max_suppressed = max_suppressed
        self.most_suppressed = np.inf if max_suppressed is None else max_suppressed

    @property
    def base(self) -> float:
        """What every solution pays for the sensitive cells being suppressed."""
        return float(self.suppress_weight[self.is_always].sum())

    @property
    def has_choice(self) -> bool:
        """Does it matter which cells are suppressed, and not only how wide their intervals are?"""
        matters = (self.suppress_weight > 0) | (self.least_width > 0)
        return bool((matters & self.is_choice).any()) or np.isfinite(self.most_suppressed)

    def suppressed(self, point: Floats) -> Booleans:
        """Cells that count as suppressed at a point."""
        return self.open_cells(point) | self.is_always

    def width_cost(self, point: Floats) -> float:
        """What the widths of the intervals cost."""
        return super().objective(point)

    def objective(self, point: Floats) -> float:
        """What the suppressed cells and the widths of their intervals cost."""
        cells = self.suppressed(point)
        return self.width_cost(point) + float(self.suppress_weight[cells].sum())

    def completed(self, ends: Floats) -> Floats:
        """Slacks with the intervals of all suppressed cells opened to their least width."""
        return self.widened(ends, self.suppressed(ends))

    def allows(self, point: Floats) -> bool:
        """Are there few enough suppressed cells?"""
        return int(self.suppressed(point).sum()) <= self.most_suppressed

    def restricted(self, pattern: Booleans) -> RestrictedModel:
        """The intervals problem with exactly these cells suppressed, and the sensitive ones."""
        return RestrictedModel(
            self.problem,
            self.width_weight,
            pattern | self.is_always,
            self.least_width,
            self.attackers,
            self.pairs,
            self.structure,
        )


class Search(intervals.Search):
    """Keeps the best safe slacks, with suppressed cells paid for; see the intervals' `Search`.

    Attributes:
        reasons: Why there is no solution, once that is known.
    """

    method = "combined"
    model: CombinedModel
    options: CombinedOptions

    def __init__(
        self,
        model: CombinedModel,
        options: CombinedOptions,
        observer: Observer | None = None,
        clock: Clock | None = None,
        publication: Publication | None = None,
    ):
        super().__init__(model, options, observer, clock, publication)
        self.model = model
        self.options = options

    def obstacles(self) -> list[str]:
        """Why the table cannot be protected, or not with so few cells."""
        model = self.model
        count = int(model.is_always.sum())
        if count > model.most_suppressed:
            return [
                f"at most {model.max_suppressed} cells may be suppressed, but {count} are sensitive"
            ]
        return super().obstacles()

    def _run_algorithm(self) -> None:
        run = find_algorithm(self.method, self.options.algorithm)
        while True:
            try:
                run(self)
            except GrownError:
                # What was found stays; what was prepared for shorter points is of no use.
                continue
            return

    def catch_up(self) -> bool:
        """Ask what has turned out to matter against contributors; True if there was something.

        Raises:
            GrownError: Points have become longer by that.
        """
        model = self.model
        if not model.is_behind:
            return False
        size = model.size
        model.catch_up()
        if model.size > size:
            raise GrownError
        return True

    def excuse(self) -> tuple[str, Sequence[int]]:
        """What to say where nothing safe was found."""
        if self.model.max_suppressed is None:
            return "", ()
        return (
            f"no safe solution with at most {self.model.max_suppressed} suppressed cells was "
            "found; allow more cells or more time"
        ), ()

    def offer(self, point: Floats) -> None:
        """Propose a point; it counts once `confirm` has found it safe."""
        model = self.model
        ends = point[: model.cell_ends]
        ends = np.maximum(np.where(ends < self.negligible, 0.0, ends), model.lower[: len(ends)])
        point = model.completed(ends)
        if model.allows(point):
            super().offer(point)

    def take(self, point: Floats) -> None:
        """Keep a point without checking it: the audit will say whether it is safe."""
        point = self.model.completed(point[: self.model.cell_ends])
        if self.model.allows(point):
            super().take(point)

    def closable(self, ends: Floats) -> Booleans:
        """Open cells that might be closed and cost nothing but their width: others are paid for."""
        return np.asarray(super().closable(ends) & (self.model.suppress_weight == 0))

    def within(self, model: IntervalsModel, options: EndsOptions) -> intervals.Search:
        """A search over the cells of a pattern, as part of this one."""
        assert isinstance(model, RestrictedModel)
        return RestrictedSearch(model, options, Quiet(self.observer))

    def tightened(self, ends: Floats) -> Floats:
        """Slacks cut back to what a reader can deduce from all of them, or to their least width."""
        model = self.model
        wide = ends[: model.cell_ends]
        tight = super().tightened(wide)
        before, after = wide[0::2] + wide[1::2], tight[0::2] + tight[1::2]
        # A cell that a reader can deduce exactly may as well be published.
        narrow = (after > 0) & (after < model.least_width)
        narrow |= model.is_always & (after < model.least_width)
        missing = np.where(narrow, model.least_width - after, 0.0)
        back = np.clip(missing / np.maximum(before - after, TINY), 0.0, 1.0)
        back = np.repeat(np.where(missing > 0, back, 0.0), 2)
        return np.asarray(tight + back * (wide - tight))

    def nothing_better(self) -> None:
        """Take note that no solution is better than the best, or that there is none."""
        self.confirm()
        if np.isfinite(self.objective):
            self.raise_bound(self.objective, "solver")
        elif self.model.max_suppressed is not None:
            self.reasons = [
                "no solution meets all conditions at once, the number of suppressed cells included"
            ]
            self.stop(StopReason.INFEASIBLE)


class RestrictedSearch(intervals.Search):
    """Keeps the best safe slacks of a pattern, all of whose intervals have their least width."""

    def __init__(self, model: RestrictedModel, options: EndsOptions, observer: Observer):
        super().__init__(model, options, observer)
        self._wide = model

    def offer(self, point: Floats) -> None:
        """Propose a point; it counts once `confirm` has found it safe."""
        super().offer(self._wide.completed(point))
