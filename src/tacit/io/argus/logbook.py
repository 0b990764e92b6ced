"""`Logbook`: what was done and when, one line per step, as tau-ARGUS keeps it.

17-Nov-2026 17:40:03 : Start of batch procedure
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from tacit.errors import InputError

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""Not by the settings of the machine: a log book reads the same everywhere."""
_OWNER_ALONE = 0o600


class Logbook:
    """A log book; lines are added at its end, also to one that is there already.

    What a run did may tell how many cells are unsafe: a new log book can be read by its owner
    alone, and one that is there keeps its permissions.
    """

    def __init__(self, path: str | Path, now: Callable[[], datetime] = datetime.now):
        """Keep a log book.

        Args:
            path: The file; it is there from the first line on.
            now: Tells the time.
        """
        self.path = Path(path)
        self._now = now

    def line(self, text: str) -> None:
        """Add a line with the time; a text of several lines becomes one.

        Raises:
            InputError: The file cannot be written.
        """
        now = self._now()
        time = f"{now:%d}-{_MONTHS[now.month - 1]}-{now:%Y %H:%M:%S}"
        entry = f"{time} : {' '.join(text.split())}\n".encode(errors="backslashreplace")
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            with open(os.open(self.path, flags, _OWNER_ALONE), "ab") as stream:
                stream.write(entry)
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or "such a name is not possible").lower()
            raise InputError(
                f"the log book cannot be written: {reason}; name another file", path=self.path
            ) from None
