"""`Clock`: the time that a call may take, and what of it is left.

Inside `with clock:` every solver call is limited to the time that is left, wherever it is made:
`time_left` asks the clocks around the caller. A call that cannot end in time raises `TimeUpError`,
which the innermost clock that has run out absorbs. So a time limit holds without each loop having
to pass it on; loops without solver calls ask `time_left` or `check_time` themselves.

While kernels are compiled, once after installation (`tacit.compiling`), no clock runs.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar, Token
from types import TracebackType

from tacit.errors import TacitError


class Standstill:
    """Time that no clock counts, because it is spent once and not on the table at hand.

    Attributes:
        listeners: Called whenever time comes to a standstill; they return quickly.
    """

    def __init__(self) -> None:
        self.listeners: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._depth = 0
        self._since = 0.0
        self._past = 0.0

    def begin(self) -> None:
        """Stop all clocks; several may do so at the same time, one within the other."""
        with self._lock:
            if self._depth == 0:
                self._since = time.monotonic()
            self._depth += 1
        for listener in tuple(self.listeners):
            listener()

    def end(self) -> None:
        """Let clocks run again, unless another one holds them."""
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._past += time.monotonic() - self._since

    @property
    def seconds(self) -> float:
        """How long clocks have stood still so far."""
        with self._lock:
            going_on = time.monotonic() - self._since if self._depth else 0.0
            return self._past + going_on


standstill = Standstill()
"""The one that all clocks obey."""


def running_time() -> float:
    """Seconds that never decrease, without those at a standstill."""
    return time.monotonic() - standstill.seconds


now: Callable[[], float] = running_time
"""What clocks count by. Tests replace it by their own."""


class TimeUpError(TacitError):
    """The time of the clocks around the caller has run out; the search ends with its best."""

    def __init__(self) -> None:
        super().__init__("the time limit was reached")


class Clock:
    """Counts from its creation to a limit.

    Attributes:
        limit: Seconds that may pass.
        reserve: Seconds at the end that are kept for what must come after, such as the audit.
        ran_out: Whether the block under this clock was ended by it.
    """

    def __init__(self, limit: float = math.inf, *, reserve: float = 0.0):
        self.limit = limit
        self.reserve = reserve
        self.ran_out = False
        self._start = now()
        self._outer: Clock | None = None
        self._token: Token[Clock | None] | None = None

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return now() - self._start

    @property
    def left(self) -> float:
        """Seconds until the reserve begins, never below zero."""
        return max(0.0, self.limit - self.reserve - self.seconds)

    @property
    def is_up(self) -> bool:
        """Whether nothing is left but the reserve."""
        return self.left <= 0.0

    def __enter__(self) -> Clock:
        self._outer = _current.get()
        self._token = _current.set(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> bool:
        assert self._token is not None
        _current.reset(self._token)
        # A clock further out that has run out as well ends more than this block.
        self.ran_out = kind is TimeUpError and self.is_up and time_left() > 0
        return self.ran_out


_current: ContextVar[Clock | None] = ContextVar("tacit_clock", default=None)


def time_left() -> float:
    """Seconds that the caller may still take; inf where nobody set a limit."""
    least, clock = math.inf, _current.get()
    while clock is not None:
        least, clock = min(least, clock.left), clock._outer
    return least


def check_time() -> None:
    """Raise `TimeUpError` if the time is up."""
    if time_left() <= 0:
        raise TimeUpError
