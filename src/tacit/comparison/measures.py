"""What readers are left with after a table was protected, whatever the method.

The width of a cell is that of the interval in which it can lie for all that a reader knows, as a
share of its value: 0 where the value is published, at most 2, because a cell that can be anything
up to twice its value may as well be lost. Half the width is the share of the cell that is lost.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.attack.audit import Audit, audit
from tacit.observer import Observer, Relay
from tacit.options import Options
from tacit.outcome import Intervals, Outcome, Solution, Suppression, Values
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.tolerances import ROUNDING_NOISE

WIDEST = 2.0
"""Nothing is known about a cell whose interval is this wide, as a share of its value."""
SAMPLE = 1000
"""The width of at most this many cells that are not sensitive is measured."""
_AFTER_STOP = 2.0
"""Seconds for which measuring goes on after somebody asked to stop."""


@dataclass(frozen=True, kw_only=True)
class Measures:
    """What readers are left with; all but the counts are shares.

    Attributes:
        suppressed: Cells that are not published at all.
        intervals: Cells that are published as intervals.
        changed: Cells that are published with another value than the true one.
        exact: Share of cells whose true value is published.
        loss: Half the mean width over all cells: 0 where everything is known, 1 where nothing
            is.
        width: Mean width of the cells whose true value is not published.
        deviation: Mean over all cells of how far a reader's best guess is from the truth.
        max_deviation: The largest of these.
        sensitive_width: Mean width of the sensitive cells with protection levels.
        min_sensitive_width: The smallest of these.
        exposed: Share of sensitive cells that an audit found exposed or could not check.
        measured: Number of cells whose width was measured.
        to_measure: Number of cells that are not published exactly, or whose reader cannot be
            sure of it.
    """

    suppressed: int
    intervals: int
    changed: int
    exact: float
    loss: float | None
    width: float | None
    deviation: float | None
    max_deviation: float | None
    sensitive_width: float | None
    min_sensitive_width: float | None
    exposed: float
    measured: int
    to_measure: int


def measure(
    problem: Problem,
    outcome: Outcome,
    *,
    seconds: float = Options.time_limit,
    sample: int = SAMPLE,
    seed: int = Options.seed,
    observer: Observer | None = None,
) -> Measures:
    """Measure an outcome that has a solution.

    Args:
        problem: The table, sound.
        outcome: What a method found.
        seconds: For how long at most to measure.
        sample: Of how many hidden cells that are not sensitive the width is measured, chosen at
            random; it stands for those of the others.
        seed: For the choice.
        observer: Listens.
    """
    solution = outcome.solution
    assert solution is not None
    watch = _Watch(observer or Observer(), seconds)
    cells = _cells(problem, solution, sample, seed)
    found = audit(problem, solution, cells=cells, observer=watch, tolerance=None)
    findings = found.findings[0]
    size = np.abs(problem.value)
    width = np.zeros(problem.cell_count)
    guess = problem.value.copy()
    known = ~found.hidden
    if isinstance(solution, Values):
        guess = solution.value.copy()
    if isinstance(solution, Values) and solution.radius is None:
        # As wide as an interval around what is published that just holds the truth.
        width = 2 * np.abs(solution.value - problem.value)
        known[:] = True
    else:
        at = findings.cells[findings.exact]
        lower, upper = findings.lower[findings.exact], findings.upper[findings.exact]
        width[at] = upper - lower
        known[at] = True
        if not isinstance(solution, Values):
            guess[at] = np.where(np.isfinite(upper + lower), (upper + lower) / 2, np.inf)
    width = np.minimum(_share(width, size), WIDEST)
    away = np.minimum(_share(np.abs(guess - problem.value), size), 1.0)
    asking = problem.sensitive[
        problem.lower_level + problem.upper_level + problem.sliding_level > 0
    ]
    asking = asking[known[asking]]
    guesses: Booleans = known if not isinstance(solution, Values) else np.ones_like(known)
    shown = _shown(problem, solution)
    means = _Means(problem.is_sensitive, found.hidden, known)
    return Measures(
        suppressed=int(shown["suppressed"].sum()),
        intervals=int(shown["intervals"].sum()),
        changed=int(shown["changed"].sum()),
        exact=1.0 - float(np.mean(_any(shown))) if problem.cell_count else 1.0,
        loss=means.of(width / 2),
        width=means.of(width, _any(shown)),
        deviation=means.of(away),
        max_deviation=float(away[guesses].max()) if guesses.any() else None,
        sensitive_width=float(width[asking].mean()) if len(asking) else None,
        min_sensitive_width=float(width[asking].min()) if len(asking) else None,
        exposed=_exposed(problem, outcome, found),
        measured=int((found.hidden & known).sum()),
        to_measure=int(found.hidden.sum()),
    )


def _cells(problem: Problem, solution: Solution, sample: int, seed: int) -> Integers:
    """Cells whose widths are to be measured, besides the sensitive ones."""
    hidden = np.flatnonzero(_any(_shown(problem, solution)) & ~problem.is_sensitive)
    if isinstance(solution, Values) and solution.radius is not None:
        # A reader is as unsure about a value that happens to be right as about any other.
        hidden = np.flatnonzero((solution.radius > 0) & ~problem.is_sensitive)
    if len(hidden) <= sample:
        return hidden
    return np.sort(np.random.default_rng(seed).choice(hidden, sample, replace=False))


def _shown(problem: Problem, solution: Solution) -> dict[str, Booleans]:
    """Which cells are not published exactly, by how they are published."""
    none = np.zeros(problem.cell_count, bool)
    found = {"suppressed": none, "intervals": none, "changed": none}
    if isinstance(solution, Suppression):
        found["suppressed"] = solution.suppressed
    elif isinstance(solution, Intervals):
        spread = solution.lower < solution.upper
        blank = (solution.lower <= problem.lower) & (solution.upper >= problem.upper)
        found["suppressed"], found["intervals"] = spread & blank, spread & ~blank
    else:
        scale = ROUNDING_NOISE * np.maximum(np.abs(problem.value), 1.0)
        found["changed"] = np.abs(solution.value - problem.value) > scale
    return found


def _any(shown: dict[str, Booleans]) -> Booleans:
    return shown["suppressed"] | shown["intervals"] | shown["changed"]


def _share(amount: Floats, size: Floats) -> Floats:
    """Amounts as shares of the cells' sizes; any amount is an infinite share of an empty cell."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share: npt.NDArray[np.float64] = amount / size
    return np.where(amount > 0, share, 0.0)


@dataclass(frozen=True, eq=False)
class _Means:
    """Means over cells, of which some were measured and stand for others like them.

    Attributes:
        sensitive: The sensitive cells; like them are sensitive ones only.
        hidden: Cells that are not known for sure; the others need no measuring.
        known: Cells that were measured, or need not be.
    """

    sensitive: Booleans
    hidden: Booleans
    known: Booleans

    def of(self, figures: Floats, among: Booleans | None = None) -> float | None:
        """The mean; None where there is nothing, or nothing that was measured."""
        chosen = np.ones(len(figures), bool) if among is None else among
        total = float(figures[chosen & ~self.hidden].sum())
        for group in (self.sensitive, ~self.sensitive):
            alike = chosen & self.hidden & group
            measured = alike & self.known
            if not alike.any():
                continue
            if not measured.any():
                return None
            total += float(figures[measured].mean()) * int(alike.sum())
        count = int(chosen.sum())
        return total / count if count else None


def _exposed(problem: Problem, outcome: Outcome, found: Audit) -> float:
    """The share of sensitive cells that some audit has not found safe."""
    if len(problem.sensitive) == 0:
        return 0.0
    # Measuring may be stopped; the audit that every method ends with is not.
    judged = found if outcome.audit is None else outcome.audit
    bad = {*found.exposed_cells, *judged.exposed_cells, *judged.unchecked}
    return 1.0 if not bad and not judged.safe else len(bad) / len(problem.sensitive)


class _Watch(Relay):
    """Stops when the time is over."""

    def __init__(self, listener: Observer, seconds: float):
        super().__init__(listener)
        self._end = time.monotonic() + seconds

    def on_start(self, task: str, *, total: int | None = None) -> None:
        """What is an audit elsewhere is here to measure."""
        del task
        super().on_start("measuring", total=total)

    def should_stop(self) -> bool:
        """Whether the time is over; somebody who wants to stop waits a moment for figures."""
        if super().should_stop():
            self._end = min(self._end, time.monotonic() + _AFTER_STOP)
        return time.monotonic() > self._end
