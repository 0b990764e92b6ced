"""`Tables`: the table of the job that is being made, kept until something of it changes.

Reading may take minutes. It goes on in a thread of its own, which pages ask how far it is, and
ends when it is stopped, or when the job is about something else in the meantime.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.app.grid import Shown
from tacit.app.texts import text
from tacit.errors import InputError, StoppedError, TacitError
from tacit.io.jj import read_jj
from tacit.jobs import Job, job_table, judged
from tacit.jobs.job import JJFile
from tacit.observer import Observer
from tacit.problem import Problem
from tacit.table import Table

_MADE_OF = ("data", "dimensions", "tables", "equations", "recode")
_NOT_JUDGING = ("method", "outputs", "insiders", "coalition")
SECONDS_TO_WAIT = 2.0
"""How long a page waits for a table before it tells how far the reading is."""


class StillReadingError(Exception):
    """The table is still being read.

    Attributes:
        reading: What goes on.
    """

    def __init__(self, reading: Reading):
        super().__init__()
        self.reading = reading


class Reading(Observer):
    """A table that is being read.

    Args:
        key: What it is made of.
        job: The job whose table it is.
        before: A reading that has to end first: there is memory for one.

    Attributes:
        phase: What is being done.
        share: Which part of that is done, where it is known.
    """

    def __init__(self, key: str, job: Job, before: Reading | None = None):
        self.key = key
        self.phase = ""
        self.share: float | None = None
        self._job = job
        self._before = before
        self._stopping = threading.Event()
        self._over = threading.Event()
        self._found: Table | Problem | TacitError | None = None
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        if self._before is not None:
            self._before._thread.join()
            self._before = None
        try:
            if not self.should_stop():
                data = self._job.data
                if isinstance(data, JJFile):
                    self._found = read_jj(data.path)
                else:
                    self._found = job_table(self._job, observer=self)
        except TacitError as error:
            self._found = error
        except MemoryError:
            self._found = InputError(text("reading.memory"))
        finally:
            self._over.set()

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self._began

    def on_phase(self, name: str) -> None:
        """A part of it begins."""
        self.phase, self.share = name, None

    def on_progress(self, done: int, total: int) -> None:
        """So much is done."""
        self.share = done / total if total else None

    def should_stop(self) -> bool:
        """Whether nobody wants it any more."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """End it; whoever waits for it is told at once."""
        self._stopping.set()
        self._over.set()

    def table(self, seconds: float) -> Table | Problem:
        """What was read.

        Args:
            seconds: How long to wait for it.

        Raises:
            StillReadingError: It takes longer.
            InputError: It cannot be read, or was stopped.
        """
        if not self._over.wait(seconds):
            raise StillReadingError(self)
        found = self._found
        if found is None or isinstance(found, StoppedError) or self.should_stop():
            raise StoppedError(text("reading.stopped"))
        if isinstance(found, TacitError):
            # It may be told several times; what its frames hold is needed no more.
            raise found.with_traceback(None)
        return found

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self._over.is_set()

    @property
    def has_failed(self) -> bool:
        """Whether it has ended without a table."""
        return self.is_over and (self.should_stop() or isinstance(self._found, TacitError))


class Tables:
    """Makes tables of jobs, and keeps the latest.

    Args:
        seconds: How long to wait for a table before telling that it is still being read.
    """

    def __init__(self, seconds: float = SECONDS_TO_WAIT) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._reading: Reading | None = None
        self._judged_key: str | None = None
        self._judged: Shown | None = None

    def table(self, job: Job, draft: Mapping[str, Any]) -> Table | Problem:
        """The table of a job before any rule, or the problem of a JJ file.

        Args:
            job: The job.
            draft: What it was made of.

        Raises:
            StillReadingError: It is being read.
        """
        key = _key(job, draft)
        with self._lock:
            if self._reading is None or key != self._reading.key:
                before = self._reading
                if before is not None:
                    before.stop()
                self._judged = None
                self._reading = Reading(key, job, before)
            reading = self._reading
        return reading.table(self._seconds)

    @property
    def reading(self) -> Reading | None:
        """What is being read, or was."""
        return self._reading

    def stop(self) -> None:
        """Stop reading."""
        with self._lock:
            if self._reading is not None:
                self._reading.stop()

    def again(self) -> None:
        """Read once more, what was stopped or could not be read."""
        with self._lock:
            if self._reading is not None and self._reading.has_failed:
                self._reading = None

    def judged(self, job: Job, draft: Mapping[str, Any]) -> Table | Problem:
        """The table of a job with its sensitive cells."""
        return self.shown(job, draft).source

    def shown(self, job: Job, draft: Mapping[str, Any]) -> Shown:
        """What the grid shows of the table before it is protected."""
        table = self.table(job, draft)
        judged_by = {name: part for name, part in draft.items() if name not in _NOT_JUDGING}
        key = json.dumps([_key(job, draft), judged_by], default=str)
        with self._lock:
            if self._judged is None or key != self._judged_key:
                self._judged = None
                found = table if isinstance(table, Problem) else judged(job, table)
                self._judged, self._judged_key = Shown(found, None), key
            return self._judged


def _key(job: Job, draft: Mapping[str, Any]) -> str:
    needed = max([2, *(getattr(rule, "largest_needed", 0) for rule in job.rules)])
    made_of = {name: draft.get(name) for name in _MADE_OF}
    files = [_stamp(path) for path in job.inputs if path != job.path]
    return json.dumps([made_of, needed, files], default=str)


def _stamp(path: Path) -> tuple[str, int, int] | None:
    """What changes when a file does."""
    try:
        found = path.stat()
    except OSError:
        return None
    return str(path), found.st_mtime_ns, found.st_size
