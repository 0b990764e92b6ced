"""The process that searches: started for one run, told what to do by a file, stopped by a word.

It writes what happens to standard output, one JSON object per line, and what it found to the
folder of the run. `stop` on its standard input asks for the best safe result so far; when the
application is gone, standard input ends, and so does the process.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.app.kept import keep, load
from tacit.errors import TacitError
from tacit.jobs import JobListener, faced_by, job_problem, run_job
from tacit.jobs.job import job_from_mapping
from tacit.observer import Observer
from tacit.release import NoReleaseError

if TYPE_CHECKING:
    from tacit.problem import Problem
    from tacit.table import Table

REQUEST, RELEASE, COMPARISON = "request.json", "release.pickle", "comparison.pickle"
SECONDS_BETWEEN_WORDS = 0.1
LEVELS_TOLD = 4
"""How many levels to leave out are suggested where there is no safe result."""
SECONDS_TO_EXPLAIN = 1.0
"""How long to look for something cheaper to suppress in place of a cell."""


class Telling(Observer):
    """Tells the application what happens."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self._began = time.monotonic()
        self._told = 0.0

    def tell(self, **what: Any) -> None:
        """Write one line."""
        seconds = round(time.monotonic() - self._began, 3)
        sys.stdout.write(json.dumps({"seconds": seconds, **what}) + "\n")
        sys.stdout.flush()

    def on_start(self, task: str, *, total: int | None = None) -> None:
        """A task begins."""
        self.tell(event="start", task=task, total=total)

    def on_phase(self, name: str) -> None:
        """A phase begins."""
        self.tell(event="phase", name=name)

    def on_progress(self, done: int, total: int) -> None:
        """Not every step is worth a line."""
        now = time.monotonic()
        if now - self._told >= SECONDS_BETWEEN_WORDS:
            self._told = now
            self.tell(event="progress", done=done, total=total)

    def on_bound(self, seconds: float, bound: float) -> None:  # noqa: ARG002 told on one clock
        """A better bound."""
        self.tell(event="bound", bound=bound)

    def on_solution(self, seconds: float, objective: float) -> None:  # noqa: ARG002
        """A better solution."""
        self.tell(event="solution", objective=objective)

    def should_stop(self) -> bool:
        """Whether the application said so."""
        return self.stopping.is_set()

    def listen(self) -> None:
        """Wait for words of the application; never returns while it lives."""
        for line in sys.stdin:
            if line.strip() == "stop":
                self.stopping.set()
        # Nobody is left to show a result to.
        os._exit(1)


class Listener(JobListener):
    """Lets the application see the parts of a job."""

    def __init__(self, telling: Telling):
        self._telling = telling

    def reading(self) -> AbstractContextManager[Observer]:
        """Reading tells as well."""
        return nullcontext(self._telling)

    def searching(self) -> AbstractContextManager[Observer]:
        """The search begins."""
        self._telling.tell(event="search")
        return nullcontext(self._telling)

    def on_source(self, source: Table | Problem) -> None:
        """What is protected is known."""
        problem = getattr(source, "problem", None)
        found = source if problem is None else problem("none")
        self._telling.tell(
            event="table", cells=source.cell_count, sensitive=len(getattr(found, "sensitive", ()))
        )


def main(folder: Path) -> int:
    """Run what the request in a folder asks for."""
    telling = Telling()
    threading.Thread(target=telling.listen, daemon=True).start()
    request = json.loads((folder / REQUEST).read_bytes())
    try:
        job = job_from_mapping(request["job"], request["path"])
        if request["methods"]:
            _compare(job, request, telling, folder)
        else:
            keep(run_job(job, listener=Listener(telling)), folder / RELEASE)
    except NoReleaseError as error:
        levels = [asdict(each) for each in error.recodes or ()][:LEVELS_TOLD]
        telling.tell(event="error", kind="none", message=str(error), levels=levels)
        return 0
    except TacitError as error:
        telling.tell(event="error", kind="input", message=str(error), key=list(error.key))
        return 0
    except MemoryError:
        telling.tell(event="error", kind="memory", message="there is not enough memory")
        return 0
    telling.tell(event="done")
    return 0


def _compare(job: Any, request: Any, telling: Telling, folder: Path) -> None:
    from tacit.comparison import compare

    source = job_problem(job, observer=telling)
    telling.tell(event="search")
    keep(
        compare(
            faced_by(job, source),
            request["methods"],
            time_limit=request["time_limit"],
            observer=telling,
        ),
        folder / COMPARISON,
    )


def explain(folder: Path) -> int:
    """Explain cells of what a run has found, one after the other, as their numbers are given."""
    release = load(folder / RELEASE)
    for line in sys.stdin:
        told: dict[str, Any] = {"cell": line.strip()}
        try:
            found = release.explain(int(line), seconds=SECONDS_TO_EXPLAIN)
            told["text"] = found.summary().partition("\n")[2]
        except TacitError as error:
            told["fault"] = str(error)
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    code = (explain if sys.argv[2:] == ["explain"] else main)(Path(sys.argv[1]))
    # A solver that does not end must not keep the process alive, nor may the listening thread.
    sys.stdout.flush()
    os._exit(code)
