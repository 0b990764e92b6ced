"""`Outcome`: what a method returns: how it ended, what it found, and how that was reached."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError
from tacit.tolerances import TINY

if TYPE_CHECKING:
    from tacit.attack.audit import Audit


class Status(StrEnum):
    """How a method ended."""

    OPTIMAL = "optimal"
    """Safe, and proven best within the requested gap."""
    FEASIBLE = "feasible"
    """Safe; the report says how far from the proven bound."""
    INFEASIBLE = "infeasible"
    """No safe solution exists."""
    INTERRUPTED = "interrupted"
    """Stopped before any safe solution was known."""


class StopReason(StrEnum):
    """Why a method ended."""

    GAP = "gap"
    """The requested gap was reached."""
    TIME = "time"
    """The time limit was reached."""
    USER = "user"
    """Somebody stopped it: an observer, or Ctrl-C."""
    INFEASIBLE = "infeasible"
    """There is nothing to find."""
    HEURISTIC = "heuristic"
    """The algorithm proves no quality, and has ended."""
    ITERATIONS = "iterations"
    """The largest number of iterations was reached."""
    EXHAUSTED = "exhausted"
    """The algorithm ended without a proof."""


@dataclass(frozen=True, eq=False)
class Suppression:
    """Cells left out of the publication.

    Attributes:
        suppressed: True for each cell that is not published.
    """

    suppressed: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        _freeze(self, "suppressed", np.array(self.suppressed, bool))


@dataclass(frozen=True, eq=False)
class Intervals:
    """Each cell published as an interval; an interval of width zero is a published value.

    Attributes:
        lower: The published lower end of each cell.
        upper: The published upper end of each cell.
    """

    lower: npt.NDArray[np.float64]
    upper: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        _freeze(self, "lower", np.array(self.lower, float))
        _freeze(self, "upper", np.array(self.upper, float))
        if self.lower.shape != self.upper.shape:
            raise InputError("an interval needs both ends for every cell")


@dataclass(frozen=True, eq=False)
class Values:
    """Each cell published as a value that may differ from the true one.

    Attributes:
        value: The published value of each cell.
        radius: What readers are told about the difference: the true value of each cell lies at
            most this far from the published one, as where values are rounded to a base that is
            known. One number does for all cells. None where readers are not told.
    """

    value: npt.NDArray[np.float64]
    radius: npt.NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        _freeze(self, "value", np.array(self.value, float))
        if self.radius is None:
            return
        radius = np.array(self.radius, float)
        if radius.ndim == 0:
            radius = np.full(self.value.shape, float(radius))
        _freeze(self, "radius", radius)
        if radius.shape != self.value.shape:
            raise InputError("radius must have one entry per cell, or be one number for all")
        if not (radius >= 0).all():
            raise InputError("radius must not be negative")


Solution: TypeAlias = Suppression | Intervals | Values


def _freeze(holder: object, name: str, array: npt.NDArray[Any]) -> None:
    if array.ndim != 1:
        raise InputError(f"{name} must have one entry per cell")
    array.setflags(write=False)
    object.__setattr__(holder, name, array)


BoundSource: TypeAlias = Literal["recomputed", "solver"]
"""Where a bound comes from: tacit's own arithmetic, or a branch-and-bound solver alone."""


@dataclass(frozen=True)
class TracePoint:
    """What was known at one moment: the best safe objective, if any, and the bound.

    Attributes:
        seconds: When, since the start.
        objective: The best safe objective; None without one.
        bound: No safe solution loses less.
        iteration: The round of the method's outer loop.
    """

    seconds: float
    objective: float | None
    bound: float
    iteration: int = 0


@dataclass(frozen=True, kw_only=True)
class Report:
    """How a solution was reached.

    Attributes:
        objective: The solution's information loss. Of intervals, that of the ends as found.
        bound: No safe solution loses less than this.
        bound_source: How the bound is known. `recomputed`: from dual values or levels, in
            tacit's own arithmetic. `solver`: as the branch-and-bound solver says, within its
            tolerances; its tree is not verified.
        published_objective: For intervals, the loss of what is published, whose ends may have
            been moved outwards to round numbers; None for other methods.
        seconds: Wall time.
        iterations: Rounds of the method's outer loop.
        cuts: Protection cuts generated.
        trace: Objective and bound over time.
    """

    objective: float | None = None
    bound: float = 0.0
    bound_source: BoundSource = "recomputed"
    seconds: float = 0.0
    iterations: int = 0
    cuts: int = 0
    trace: tuple[TracePoint, ...] = ()
    published_objective: float | None = None

    @property
    def gap(self) -> float | None:
        """(objective - bound) / |objective|, or None without a solution."""
        if self.objective is None:
            return None
        return (self.objective - self.bound) / max(abs(self.objective), TINY)

    @property
    def bound_name(self) -> str:
        """What to call the bound in a sentence."""
        return "proven bound" if self.bound_source == "recomputed" else "solver's bound"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of a method.

    Attributes:
        status: How it ended.
        stopped_by: Why it ended.
        solution: What to publish; None when no safe solution is known.
        report: How it was reached.
        method: `suppress`, `intervals`, ...
        algorithm: Which of the method's algorithms.
        seed: The seed it ran with.
        message: A sentence for people, for instance why there is no safe solution.
        audit: The independent audit of the solution, once made.
        exposed: Where there is no solution because the method was stopped: sensitive cells that
            were still exposed, or not looked at, in what had been tried.
        left_out: For intervals, cells that are not published. They are withheld, or their
            interval would say no more than the bounds that everybody knows, or it is a point
            because they are sensitive and need no further protection.
    """

    status: Status
    stopped_by: StopReason = StopReason.GAP
    solution: Solution | None = None
    report: Report = field(default_factory=Report)
    method: str = "suppress"
    algorithm: str = "auto"
    seed: int = 1
    message: str = ""
    audit: Audit | None = None
    exposed: tuple[int, ...] = ()
    left_out: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        needs_solution = self.status in (Status.OPTIMAL, Status.FEASIBLE)
        if needs_solution and self.solution is None:
            raise InputError(f"an outcome that is {self.status} needs a solution")

    @property
    def cut_short(self) -> bool:
        """Whether more time could have changed anything: it ran out, or somebody stopped it."""
        return self.stopped_by in (StopReason.TIME, StopReason.USER)

    @property
    def suppressed(self) -> npt.NDArray[np.int64]:
        """Numbers of the suppressed cells; empty for methods that suppress none.

        For `combined` these are all cells that are not published exactly.
        """
        if isinstance(self.solution, Suppression):
            return np.flatnonzero(self.solution.suppressed)
        if isinstance(self.solution, Intervals) and self.method == "combined":
            hidden = self.solution.lower < self.solution.upper
            hidden[list(self.left_out)] = True
            return np.flatnonzero(hidden)
        return np.zeros(0, np.int64)
