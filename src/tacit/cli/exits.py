"""Exit codes of the command line: scripts rely on them."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended."""

    DONE = 0
    """Done; where a publication is concerned, it is safe."""
    WRONG_INPUT = 1
    """A file, an option or the table is wrong."""
    NO_SAFE_OUTCOME = 2
    """No safe outcome exists."""
    STOPPED = 3
    """Stopped before any safe outcome was known."""
    EXPOSED = 4
    """An audit found cells exposed, or could not check them all."""
    INTERRUPTED = 130
    """Ended at once by Ctrl-C, as shells expect it."""
    BROKEN_PIPE = 141
    """The reader of the output has closed it; the code is the one that shells expect."""
