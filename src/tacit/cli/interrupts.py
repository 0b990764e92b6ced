"""Ctrl-C: once to stop with what is known, twice to stop at once.

Python calls signal handlers between its own steps only, and a solver may take many seconds in
one. Signals are therefore also counted by a thread: it answers the first Ctrl-C while the
solver is busy, and ends the process after the second if nothing else does.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

from tacit.cli.exits import ExitCode

SECONDS_TO_UNWIND = 1.0
"""How long the main thread may take to end after the second Ctrl-C."""
_NO_MORE = b"\0"


class StoppedAtOnce(BaseException):
    """Ctrl-C was pressed twice.

    Not a `KeyboardInterrupt`, on which a method would still finish with what it knows.
    """


class Interrupts:
    """Counts Ctrl-C while it is open; afterwards Ctrl-C has its usual meaning again.

    In threads other than the main one it does nothing: Python does not tell them of signals.

    Args:
        on_first: Called at the first Ctrl-C, in another thread.
        on_last: Called before the process is ended, in another thread.

    Attributes:
        is_stopping: Whether Ctrl-C was pressed.
    """

    def __init__(self, on_first: Callable[[], None], on_last: Callable[[], None]):
        self.is_stopping = False
        self._on_first = on_first
        self._on_last = on_last
        self._handled = 0
        self._previous: Any = None
        self._watcher: threading.Thread | None = None
        self._unwound = threading.Event()

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread():
            return self
        # Slow to import, and not needed for help.
        import socket

        self._reading, self._writing = socket.socketpair()
        # What a signal handler writes to must never wait.
        self._writing.setblocking(False)
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        self._previous_wakeup = signal.set_wakeup_fd(
            self._writing.fileno(), warn_on_full_buffer=False
        )
        self._previous = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._watcher is None:
            return
        self._unwound.set()
        signal.signal(signal.SIGINT, self._previous)
        signal.set_wakeup_fd(self._previous_wakeup)
        self._writing.send(_NO_MORE)
        self._watcher.join()
        self._reading.close()
        self._writing.close()

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self._handled += 1
        self.is_stopping = True
        if self._handled > 1:
            raise StoppedAtOnce

    def _watch(self) -> None:
        pressed = 0
        while (told := self._reading.recv(1)) not in (_NO_MORE, b""):
            if told[0] != signal.SIGINT:
                continue
            pressed += 1
            if pressed == 1:
                self._on_first()
            elif not self._unwound.wait(SECONDS_TO_UNWIND):
                self._on_last()
                print("tacit: stopped", file=sys.stderr, flush=True)
                os._exit(ExitCode.INTERRUPTED)
