"""`Progress`: what every search keeps: the clock, the best objective, the bound, the trace."""

from __future__ import annotations

import dataclasses

import numpy as np

from tacit.clock import Clock
from tacit.observer import Observer
from tacit.options import Options
from tacit.outcome import BoundSource, Report, StopReason, TracePoint
from tacit.tolerances import ROUNDING_NOISE, TINY


class Progress:
    """How far a search has come.

    A method's `Search` adds what it searches for. Losses are minimised. A search may count them
    in units of its own; whoever listens or reads the report is told them as they were given.

    Attributes:
        clock: The time there is. The search runs inside it, and keeps as `clock.reserve` what the
            steps after the search will take.
        observer: Who listens; may stop the search.
        unit: What one unit of loss within the search is to the user.
        objective: The loss of the best solution so far; inf without one.
        bound: No safe solution loses less.
        bound_source: Where the bound comes from; see `Report`.
        cut_count: Cuts generated.
        iterations: Rounds of the algorithm's outer loop.
        stop_reason: Why the search ended, where that has been said; see `why_stopped`.
        reasons: Why there is nothing to find, once that is known.
    """

    def __init__(
        self,
        options: Options,
        observer: Observer | None = None,
        *,
        bound: float = 0.0,
        clock: Clock | None = None,
    ):
        self._limits = options
        self.clock = clock or Clock(options.time_limit)
        self.observer = observer or Observer()
        self.unit = 1.0
        self.objective = np.inf
        self.bound = bound
        self.bound_source: BoundSource = "recomputed"
        self.cut_count = 0
        self.iterations = 0
        self.stop_reason: StopReason | None = None
        self.reasons: list[str] = []
        self._recomputed = bound
        self._trace: list[TracePoint] = []

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return self.clock.seconds

    @property
    def seconds_left(self) -> float:
        """Seconds until the search must end, never below zero."""
        return self.clock.left

    @property
    def trace(self) -> tuple[TracePoint, ...]:
        """Objective and bound over time."""
        return tuple(self._trace)

    @property
    def gap(self) -> float:
        """(objective - bound) / |objective|; inf without a solution."""
        return self.gap_of(self.objective)

    def gap_of(self, objective: float) -> float:
        """The gap that a solution with this objective would have."""
        if not np.isfinite(objective):
            return np.inf
        return (objective - self.bound) / max(abs(objective), TINY)

    def should_stop(self) -> bool:
        """Is it time to stop? Asking changes nothing."""
        return (
            self.stop_reason is not None
            or self.gap <= self._limits.gap
            or self.observer.should_stop()
            or self.clock.is_up
        )

    def stop(self, reason: StopReason) -> None:
        """Say that the search is over, and why; the last reason given counts."""
        self.stop_reason = reason

    def why_stopped(self) -> StopReason:
        """Why the search is over."""
        if self.stop_reason is not None:
            return self.stop_reason
        if self.gap <= self._limits.gap:
            return StopReason.GAP
        if self.observer.should_stop():
            return StopReason.USER
        if self.clock.ran_out or self.clock.is_up:
            return StopReason.TIME
        return StopReason.EXHAUSTED

    def raise_bound(self, bound: float, source: BoundSource = "recomputed") -> None:
        """Take note of a bound on the objective of all safe solutions.

        Args:
            bound: No safe solution loses less.
            source: `solver` where a branch-and-bound solver says so and nothing else shows it.
        """
        if bound >= self.objective - ROUNDING_NOISE * abs(self.objective):
            # What is left is rounding.
            bound = self.objective
        if (
            bound > self.bound + ROUNDING_NOISE * abs(self.bound)
            or self.bound < bound == self.objective
        ):
            self.bound, self.bound_source = bound, source
            if source == "recomputed":
                self._recomputed = bound
            self.note()
            self.observer.on_bound(self.seconds, bound * self.unit)

    def better(self, objective: float) -> None:
        """Take note of a better solution, which the caller keeps."""
        self.objective = self.above_bound(objective)
        self.note()
        self.observer.on_solution(self.seconds, self.objective * self.unit)

    def above_bound(self, objective: float) -> float:
        """The objective of a safe solution, where rounding alone puts it below the bound.

        A solution well below the bound of a solver shows that the solver is wrong: what was
        recomputed is then all that is known.
        """
        is_refuted = objective < self.bound - ROUNDING_NOISE * abs(self.bound)
        if is_refuted and self.bound_source == "solver":
            self.bound, self.bound_source = min(self._recomputed, objective), "recomputed"
        return max(objective, self.bound)

    def note(self) -> None:
        """Write objective and bound of this moment into the trace."""
        objective = self.objective * self.unit if np.isfinite(self.objective) else None
        bound = self.bound * self.unit
        self._trace.append(TracePoint(self.seconds, objective, bound, self.iterations))

    def forget_below(self, objective: float) -> None:
        """Take objectives below this one out of the trace: they will not be handed over."""
        least = objective * self.unit if np.isfinite(objective) else None
        self._trace = [
            point
            if point.objective is None or (least is not None and point.objective >= least)
            else dataclasses.replace(point, objective=least)
            for point in self._trace
        ]

    def forget_bounds(self, bound: float) -> None:
        """Return to a lower bound, and take higher ones out of the trace."""
        self.bound, self.bound_source = bound, "recomputed"
        most = bound * self.unit
        self._trace = [
            dataclasses.replace(point, bound=min(point.bound, most)) for point in self._trace
        ]

    def report(self, objective: float | None, published_objective: float | None = None) -> Report:
        """The progress as part of an outcome with this objective, see `Report`."""
        return Report(
            objective=None if objective is None else objective * self.unit,
            published_objective=published_objective,
            bound=self.bound * self.unit,
            bound_source=self.bound_source,
            seconds=self.seconds,
            iterations=self.iterations,
            cuts=self.cut_count,
            trace=self.trace,
        )
