"""`Tables`: the table of the job that is being made, kept until something of it changes."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.app.grid import Shown
from tacit.io.jj import read_jj
from tacit.jobs import Job, job_table, judged
from tacit.jobs.job import JJFile
from tacit.problem import Problem
from tacit.table import Table

_MADE_OF = ("data", "dimensions", "tables", "equations", "recode")
_NOT_JUDGING = ("method", "outputs", "insiders", "coalition")


class Tables:
    """Makes tables of jobs, and keeps the latest."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: str | None = None
        self._kept: Table | Problem | None = None
        self._judged_key: str | None = None
        self._judged: Shown | None = None

    def table(self, job: Job, draft: Mapping[str, Any]) -> Table | Problem:
        """The table of a job before any rule, or the problem of a JJ file.

        Args:
            job: The job.
            draft: What it was made of.
        """
        key = _key(job, draft)
        with self._lock:
            if self._kept is None or key != self._key:
                self._kept = None
                jj = isinstance(job.data, JJFile)
                self._kept = read_jj(job.data.path) if jj else job_table(job)  # type: ignore[union-attr]
                self._key = key
            return self._kept

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
