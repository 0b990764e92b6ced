"""Mixed-integer models, independent of the solver: what goes in, what comes out."""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NotRequired, Protocol, TypedDict, Unpack
from weakref import WeakSet

from scipy import sparse

from tacit.problem import Booleans, Floats
from tacit.tolerances import ROUNDING_NOISE


@dataclass(frozen=True, eq=False)
class MipSolution:
    """A solver's answer, final or so far. It is a claim: whoever uses it checks it.

    Attributes:
        status: `optimal`, `infeasible`, `stopped` by a limit or on demand, or `running`.
        x: The best vector; None if there is none.
        objective: Its objective; inf without one.
        bound: No vector has a smaller objective, as far as the solver knows.
    """

    status: str
    x: Floats | None
    objective: float
    bound: float

    @property
    def settled_bound(self) -> float:
        """The bound; the objective itself where they differ by mere rounding."""
        open_gap = self.objective - self.bound
        is_met = self.x is not None and open_gap <= ROUNDING_NOISE * abs(self.objective)
        return self.objective if is_met else self.bound


Watcher = Callable[[MipSolution], bool]
"""Told how far the solver got (`x` only if it is new); returns True to stop it."""


class Run(Protocol):
    """A solver at work in a thread of its own."""

    @property
    def has_ended(self) -> bool:
        """Has the solver come back?"""


_runs: WeakSet[Run] = WeakSet()
_PATIENCE_AT_EXIT = 60.0
"""Seconds that solvers have to end once Python does; all were told to stop before."""


def remember_run(run: Run) -> None:
    """Take note of a solver that may have to be left behind."""
    _runs.add(run)


def solvers_left_behind() -> int:
    """How many solvers are still running; once all calls have returned, nobody waits for them."""
    return sum(not run.has_ended for run in _runs)


@atexit.register
def _let_solvers_end() -> None:
    """Wait a little: a process that ends while a solver runs is aborted by the C++ library."""
    until = time.monotonic() + _PATIENCE_AT_EXIT
    while solvers_left_behind() and time.monotonic() < until:
        time.sleep(0.02)


class MipParts(TypedDict):
    """min cost x + offset, row_lower <= A x <= row_upper, lower <= x <= upper, some x integer.

    Attributes:
        row_lower: The lower ends of the rows, which are given apart.
        row_upper: Their upper ends.
        lower: The least of each column.
        upper: The most of each column.
        cost: What a unit of each column costs.
        integer: Columns that take integers only.
        offset: What every vector costs besides; 0 by default.
    """

    row_lower: Floats
    row_upper: Floats
    lower: Floats
    upper: Floats
    cost: Floats
    integer: Booleans
    offset: NotRequired[float]


class Mip(Protocol):
    """A model as in `MipParts`.

    `HighsMip`, `ScaledMip` and `ScipMip` are such; what only one of them can do is said there.
    """

    def __init__(
        self,
        A: sparse.csr_array[Any, Any],
        *,
        seed: int = 1,
        **parts: Unpack[MipParts],
    ) -> None: ...

    def minimise(
        self,
        *,
        seconds: float,
        gap: float = 0.0,
        start: Floats | None = None,
        watch: Watcher | None = None,
    ) -> MipSolution:
        """Minimise, or come as far as time allows.

        Args:
            seconds: Time limit.
            gap: Stop when (objective - bound) / objective is at most this.
            start: A vector to begin with.
            watch: Told how far the solver got; returns True to stop it.

        Raises:
            SolverError: The solver broke down.
            TimeUpError: The clocks around the caller ran out before it began.
        """
