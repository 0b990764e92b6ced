"""The root loop of cutting planes: solve the relaxation, cut its optimum off, improve on the way.

Methods say what to solve, how to cut and what to build; when to stop, to change the way of cutting
and to build a solution is decided here. Rounds are counted, not seconds, so that the same table
always goes the same way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from tacit.methods.engine.progress import Progress
from tacit.tolerances import ROUNDING_NOISE


class RootLoop(ABC):
    """Raises the bound of a relaxation and lets it guide solutions.

    Attributes:
        window: Rounds over which progress is measured.
        window_share: The same as a share of all rounds, where that is more.
        least_gain: The loop stalls when the bound closes less than this share of the gap in them.
    """

    window: ClassVar[int] = 40
    window_share: ClassVar[float] = 0.25
    least_gain: ClassVar[float] = 0.01

    def __init__(self, progress: Progress):
        self._progress = progress
        self._improved_at = -np.inf
        self._improvements = 0

    @property
    @abstractmethod
    def bound(self) -> float:
        """The bound that the relaxation gives now."""

    @abstractmethod
    def tighten(self) -> bool:
        """Solve the relaxation and take note of its bound; False if nothing better is left."""

    def recall(self) -> bool:
        """Add rows that are found at once; True if there were any, to be followed by `tighten`."""
        return False

    @abstractmethod
    def cut(self) -> bool:
        """Add cuts; False if there are none to be found."""

    def change_way(self) -> bool:
        """Cut in another way, as this one stalls; False if there is no other."""
        return False

    @abstractmethod
    def build(self) -> None:
        """Build solutions along the relaxation's optimum."""

    def may_build(self) -> bool:
        """Whether there is time for a solution now."""
        return True

    def run(self, *, seconds: float, rounds: float = np.inf) -> bool:
        """Go on until nothing is violated, progress stalls, or time or rounds are up.

        Args:
            seconds: The longest time.
            rounds: The largest number of rounds.

        Returns:
            False if it turned out that nothing better is left.
        """
        progress = self._progress
        end, last = progress.seconds + seconds, progress.iterations + rounds
        history: list[float] = []
        while not progress.should_stop() and progress.seconds < end and progress.iterations < last:
            progress.iterations += 1
            if not self.tighten():
                return False
            if self.recall():
                continue
            history.append(self.bound)
            if self._stalls(history):
                if not self.change_way():
                    break
                history = []
            if not self.cut():
                break
            if self.may_build() and self._has_moved():
                self.improve()
        return True

    def improve(self) -> None:
        """Build solutions, and take note of when."""
        self._improvements += 1
        self._improved_at = self.bound
        self.build()

    def _has_moved(self) -> bool:
        """Has the bound moved far since the last solution was built?"""
        return self.bound - self._improved_at > 0.1 * (self._progress.objective - self.bound)

    def _stalls(self, history: list[float]) -> bool:
        """Has the bound hardly closed the gap over the last rounds?"""
        bound = history[-1]
        window = max(self.window, int(self.window_share * len(history)))
        if len(history) <= window:
            return False
        open_gap = min(self._progress.objective, 2 * abs(bound)) - bound
        gained = bound - history[-1 - window]
        return gained < self.least_gain * max(open_gap, ROUNDING_NOISE * abs(bound))
