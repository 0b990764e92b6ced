"""Solutions from patterns: what is suppressed is decided first, then the narrowest intervals.

Patterns come from complete suppression: every safe solution's suppressed cells are a safe pattern,
and every safe pattern has safe intervals.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np

from tacit.errors import SolverError
from tacit.insiders import LevelsAgainst
from tacit.methods.combined.model import Search
from tacit.methods.engine import turns
from tacit.methods.intervals.algorithms import auto
from tacit.methods.intervals.options import EndsOptions
from tacit.methods.suppress.algorithms.auto import run as suppress
from tacit.methods.suppress.heuristics.cleanup import clean_up
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.model import Search as SuppressSearch
from tacit.methods.suppress.options import SuppressOptions
from tacit.observer import Quiet
from tacit.problem import Booleans, Floats, Problem
from tacit.tolerances import ROUNDING_NOISE

_COMPLETE_GAP = 1e-3
"""How exactly complete suppression is solved."""
_ROUGHEST = 1e-3
"""The intervals of a pattern are computed at least so exactly, more so as the open gap closes."""


class Patterns:
    """Makes patterns safe and light, and finds their narrowest intervals.

    Attributes:
        inner: The suppression problem, with cells that cost what they cost here and about what
            their intervals cost.
    """

    def __init__(self, search: Search):
        self._search = search
        model = search.model
        problem = model.problem
        level = np.maximum(problem.lower_level + problem.upper_level, problem.sliding_level)
        usual = float(np.median(level[level > 0])) if (level > 0).any() else 0.0
        width = 0.5 * (model.width_weight[0::2] + model.width_weight[1::2])
        weight = model.suppress_weight + width * np.maximum(usual, model.least_width)
        problem = problem.replace(weight=weight)
        self.inner = self._searching(problem)
        shared_out = evenly(problem)
        # Without sliding levels clean-up is many times faster, and patterns are hardly worse.
        self._quick = self.inner if shared_out is problem else self._searching(shared_out)
        self._constructors = [Constructor(each) for each in (self._quick, self.inner)]
        self._known: dict[bytes, float] = {}

    def _searching(
        self, problem: Problem, seconds: float = np.inf, gap: float = 0.0
    ) -> SuppressSearch:
        search = self._search
        options = SuppressOptions(
            time_limit=max(min(seconds, search.seconds_left), 1e-3),
            gap=gap,
            seed=search.options.seed,
            max_suppressed=search.model.max_suppressed,
            jobs=1,
        )
        return SuppressSearch(problem, options, search.model.attackers, Quiet(search.observer))

    def first(self, seconds: float) -> None:
        """Offer a solution whose pattern is that of complete suppression.

        Args:
            seconds: Time for the pattern.
        """
        complete = self._searching(self._quick.problem, seconds, _COMPLETE_GAP)
        with contextlib.suppress(SolverError), complete.clock:
            suppress(complete)
        if complete.best is not None:
            self.polish(complete.best)
        if self._search.best is None and not self._search.out_of_time():
            self.along(None, None)
        if self._search.best is None and self._search.model.max_suppressed is not None:
            # Only the number of cells can stand in the way: look for fewer cells.
            self._build(None, None, np.ones(self._search.problem.cell_count))

    def along(self, start: Booleans | None, guide: Floats | None) -> None:
        """Offer a solution that contains a start, built along a guide, cleaned up."""
        self._build(start, guide, None)

    def _build(self, start: Booleans | None, guide: Floats | None, cost: Floats | None) -> None:
        for inner, constructor in zip((self._quick, self.inner), self._constructors, strict=True):
            safe = constructor.construct(start, guide, cost)
            if safe is None:
                continue
            seconds = turns.COMBINED_CLEAN_UP * self._search.options.time_limit
            self.polish(clean_up(inner, safe, guide, seconds=seconds))
            if self._search.best is not None:
                return

    def mend(self, pattern: Booleans, guide: Floats) -> None:
        """Offer a solution for a pattern, which is made safe if it is not."""
        if self.inner.exposed(pattern):
            self.along(pattern, guide)
        else:
            self.polish(pattern)

    def narrow(self, pattern: Booleans) -> None:
        """Offer a solution for the pattern of narrow intervals, which are safe from readers."""
        if self._search.model.insiders is None:
            self.polish(pattern)
        else:
            self.mend(pattern, pattern.astype(np.float64))

    def polish(self, pattern: Booleans) -> None:
        """Offer the narrowest intervals of a safe pattern."""
        search = self._search
        pattern = pattern | search.model.is_always
        gap = max(min(_ROUGHEST, 0.1 * search.gap), 0.2 * search.options.gap, ROUNDING_NOISE)
        key = np.packbits(pattern).tobytes()
        if self._known.get(key, np.inf) <= 2 * gap or search.out_of_time():
            return
        if float(search.model.suppress_weight[pattern].sum()) >= search.objective:
            return
        self._known[key] = gap
        options = EndsOptions(
            time_limit=max(search.seconds_left, 1e-3), gap=gap, seed=search.options.seed
        )
        part = search.within(search.model.restricted(pattern), options)
        try:
            auto.run(part)
            part.confirm()
        except SolverError:
            return
        finally:
            # What was found before time ran out counts, too.
            if part.best is not None:
                search.offer(part.best)
        search.confirm()


def evenly(problem: Problem) -> Problem:
    """The problem with sliding levels shared out evenly between both sides.

    What protects that protects the sliding levels. The problem itself if none slides.
    """
    lower, upper = problem.lower_level, problem.upper_level
    missing = problem.sliding_level - lower - upper
    if not (missing > 0).any():
        return problem
    above, below = problem.upper - problem.value, problem.value - problem.lower
    cells, insiders = problem.sensitive, problem.insiders
    readers = LevelsAgainst(lower, upper, problem.sliding_level)
    halves = _halved(readers, above[cells], below[cells])
    if insiders is not None:
        inside = insiders.cells
        slack = np.minimum(below[inside], np.maximum(problem.value[inside] - insiders.amount, 0.0))
        insiders = replace(
            insiders,
            own=_halved(insiders.own, above[inside], slack),
            outside=_halved(insiders.outside, above[cells], below[cells]),
        )
    return problem.replace(
        lower_level=halves.lower,
        upper_level=halves.upper,
        sliding_level=halves.sliding,
        insiders=insiders,
    )


def _halved(levels: LevelsAgainst, above: Floats, below: Floats) -> LevelsAgainst:
    """Sliding levels shared out between the sides, as far as there is slack above and below."""
    lower, upper, sliding = levels.lower, levels.upper, levels.sliding
    half = np.maximum(sliding - lower - upper, 0.0) / 2
    high = np.clip(upper + half, upper, np.maximum(above, upper))
    low = np.clip(np.maximum(sliding - high, lower), lower, np.maximum(below, lower))
    high = np.maximum(sliding - low, upper)
    return LevelsAgainst(low, high, np.zeros(len(sliding)))
