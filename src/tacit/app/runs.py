"""`Runs`: searches in processes of their own, watched from here.

A run has a folder with what was asked for and what came out. The application may end at any
time: what was found is there when it starts again.
"""

from __future__ import annotations

import json
import os
import queue
import secrets
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.app.grid import Shown
from tacit.app.kept import load, own_key
from tacit.app.texts import text
from tacit.app.worker import COMPARISON, RELEASE, REQUEST
from tacit.app.workspace import Workspace, make_private
from tacit.errors import InputError
from tacit.io.files import replacing

if TYPE_CHECKING:
    from tacit.comparison import Comparison
    from tacit.release import Release

RUNS_KEPT = 4
"""Older ones are deleted: each holds a whole table."""
POINTS_KEPT = 2000
SECONDS_TO_END = 5.0
SECONDS_TO_EXPLAIN = 60.0
"""How long an explanation may take, with the start of its process."""


@dataclass
class Progress:
    """What is known of a run.

    Attributes:
        state: `starting`, `reading`, `searching`, `done`, `failed`, or `lost` where the process
            ended without a word.
        seconds: How long it has taken.
        task: What is being done.
        done: How many steps of a phase are done, of `total`.
        trace: Time, best objective and bound, as they changed.
        message: Why there is no result.
        key: What in the job that is about.
        levels: What could be left out of the table, where there is no safe result.
    """

    state: str = "starting"
    seconds: float = 0.0
    task: str = ""
    done: int = 0
    total: int = 0
    cells: int | None = None
    sensitive: int | None = None
    trace: list[tuple[float, float | None, float | None]] = field(default_factory=list)
    message: str = ""
    key: tuple[str | int, ...] = ()
    levels: list[dict[str, Any]] = field(default_factory=list)
    stopping: bool = False
    search_began: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ("done", "failed", "lost")

    @property
    def best(self) -> float | None:
        """The best safe objective so far."""
        return self.trace[-1][1] if self.trace else None

    @property
    def bound(self) -> float | None:
        """The best bound so far."""
        return self.trace[-1][2] if self.trace else None

    def now(self) -> Progress:
        """How it is now: a copy, which does not change while a page is made of it."""
        return replace(self, trace=[*self.trace])

    def hear(self, told: Mapping[str, Any]) -> None:
        """Take note of a line of the worker."""
        self.seconds = told["seconds"]
        match told["event"]:
            case "start":
                self.task, self.done, self.total = told["task"], 0, told["total"] or 0
                if self.state == "starting":
                    self.state = "reading"
            case "phase":
                self.task, self.done, self.total = told["name"], 0, 0
            case "progress":
                self.done, self.total = told["done"], told["total"]
            case "table":
                self.cells, self.sensitive = told["cells"], told["sensitive"]
            case "search":
                self.state, self.search_began = "searching", self.seconds
            case "bound":
                self._point(self.best, told["bound"])
            case "solution":
                self._point(told["objective"], self.bound)
            case "error":
                self.state, self.message = "failed", told["message"]
                self.key = tuple(told.get("key", ()))
                self.levels = told.get("levels", [])
            case "done":
                self.state = "done"

    def _point(self, best: float | None, bound: float | None) -> None:
        if len(self.trace) >= POINTS_KEPT:
            # Every other point will do for a picture.
            self.trace[:-1] = self.trace[:-1:2]
        self.trace.append((self.seconds, best, bound))


class Explainer:
    """A process that explains cells, one after the other.

    Args:
        process: The process.
    """

    def __init__(self, process: subprocess.Popen[str]):
        self._process = process
        self._told: queue.Queue[str] = queue.Queue()
        self._ended = False
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process:
            for line in self._process.stdout:
                self._told.put(line)
        # Nothing more will be told: whoever waits need not wait longer.
        self._told.put("")

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return not self._ended and self._process.poll() is None

    def ask(self, cell: int, seconds: float) -> Any:
        """What it tells about a cell.

        Raises:
            TimeoutError: It takes longer. The process is ended; another one can be asked.
            OSError, ValueError: It has ended.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(f"{cell}\n")
        self._process.stdin.flush()
        try:
            return json.loads(self._told.get(timeout=max(seconds, 0)))
        except queue.Empty:
            self.end()
            raise TimeoutError from None

    def end(self) -> None:
        """End it at once."""
        self._ended = True
        self._process.kill()


class Run:
    """One search, or several methods compared.

    Args:
        folder: Its folder.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.name = folder.name
        self.progress = Progress()
        self._process: subprocess.Popen[str] | None = None
        self._kept: Release | None = None
        self._shown: Shown | None = None
        self._request: Any = None
        self._lock = threading.Lock()
        self._explainer: Explainer | None = None
        self._explaining = threading.Lock()

    @property
    def request(self) -> Any:
        """What was asked for."""
        if self._request is None:
            self._request = json.loads((self.folder / REQUEST).read_bytes())
        return self._request

    @property
    def is_comparison(self) -> bool:
        """Whether it compares methods."""
        return bool(self.request["methods"])

    def start(self) -> None:
        """Start the process."""
        self._began = time.monotonic()
        self._process = _started(self.folder)
        self._watcher = threading.Thread(target=self._watch, args=(self._process,), daemon=True)
        self._watcher.start()

    def _watch(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process:
            for line in process.stdout:
                try:
                    self.progress.hear(json.loads(line))
                except (ValueError, KeyError):
                    # A library may print something of its own.
                    continue
        if not self.progress.is_over:
            self.progress.state = "lost"

    def seconds(self) -> float:
        """How long it has taken so far."""
        if self.progress.is_over or self._process is None:
            return self.progress.seconds
        return time.monotonic() - self._began

    def stop(self) -> None:
        """Ask for the best safe result so far."""
        if self._process is None or self.progress.is_over:
            return
        self.progress.stopping = True
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("stop\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            # It has ended in the meantime.
            return

    def end(self) -> None:
        """End its processes at once, whatever they are doing."""
        if self._explainer is not None:
            self._explainer.end()
            self._explainer = None
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.kill()
        self._watcher.join(SECONDS_TO_END)

    def restore(self) -> None:
        """Take note of what an earlier session has left."""
        there = (self.folder / RELEASE).exists() or (self.folder / COMPARISON).exists()
        self.progress.state = "done" if there else "lost"

    @property
    def release(self) -> Release:
        """What came out."""
        with self._lock:
            if self._kept is None:
                self._kept = load(self.folder / RELEASE)
            return self._kept

    @property
    def shown(self) -> Shown:
        """What the grid shows of what came out."""
        release = self.release
        with self._lock:
            if self._shown is None:
                papers = release.papers
                source = papers.problem if papers.table is None else papers.table
                self._shown = Shown(source, release)
            return self._shown

    def prepare_to_explain(self) -> Explainer:
        """The process that explains, started where there is none: its first words take seconds."""
        with self._lock:
            if self._explainer is None or not self._explainer.is_alive:
                self._explainer = Explainer(_started(self.folder, "explain"))
            return self._explainer

    def why(self, cell: int, seconds: float = SECONDS_TO_EXPLAIN) -> str:
        """Why a cell is as it is, in words, found by a process of its own.

        Args:
            cell: The cell.
            seconds: How long that may take.

        Raises:
            InputError: It cannot be explained, or not in time.
        """
        until = time.monotonic() + seconds
        if not self._explaining.acquire(timeout=seconds):
            raise InputError(text("look.too_long", seconds=f"{seconds:g}"))
        try:
            told = self.prepare_to_explain().ask(cell, until - time.monotonic())
        except TimeoutError:
            raise InputError(text("look.too_long", seconds=f"{seconds:g}")) from None
        except (OSError, ValueError):
            raise InputError("the cell could not be explained; try again") from None
        finally:
            self._explaining.release()
        if "fault" in told:
            raise InputError(told["fault"])
        return str(told["text"])

    @property
    def comparison(self) -> Comparison:
        """What came out of several methods."""
        found: Comparison = load(self.folder / COMPARISON)
        return found


def _is_run(folder: Path, name: str) -> bool:
    """Whether a run of this name was left by an earlier session; the name may say anything."""
    return name in os.listdir(folder) and (folder / name / REQUEST).is_file()


def _started(folder: Path, *task: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tacit.app.worker", str(folder), *task],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        # Ctrl-C in the terminal is for the application, which ends its workers itself.
        start_new_session=True,
    )


class Runs:
    """The runs of a workspace.

    Args:
        workspace: Where they are kept.
    """

    def __init__(self, workspace: Workspace):
        self._workspace = workspace
        self._folder = workspace.private / "runs"
        make_private(self._folder)
        # Where there can be no key, that is told now, not when a search has ended.
        own_key()
        self._lock = threading.Lock()
        self._by_name: dict[str, Run] = {}
        name = workspace.state.run
        if name is not None and _is_run(self._folder, name):
            found = Run(self._folder / name)
            found.restore()
            self._by_name[name] = found

    @property
    def latest(self) -> Run | None:
        """The latest run that protects."""
        return self._by_name.get(self._workspace.state.run or "")

    def named(self, name: str) -> Run | None:
        """A run of this session by its name."""
        return self._by_name.get(name)

    @property
    def comparison(self) -> Run | None:
        """The latest run that compares."""
        found = [run for run in self._by_name.values() if run.is_comparison]
        return found[-1] if found else None

    def start(
        self, draft: Mapping[str, Any], *, methods: Sequence[str] = (), time_limit: float = 60.0
    ) -> Run:
        """Start a run; one that is still going on is ended."""
        with self._lock:
            self.end()
            name = secrets.token_hex(8)
            folder = self._folder / name
            folder.mkdir(mode=0o700)
            request = {
                "job": draft,
                "path": str(self._workspace.folder / self._workspace.state.name),
                "methods": list(methods),
                "time_limit": time_limit,
            }
            with replacing(folder / REQUEST, confidential=True) as stream:
                stream.write(json.dumps(request).encode())
            run = self._by_name[name] = Run(folder)
            run.start()
            if not methods:
                self._workspace.remember_run(name)
            self._forget_old()
            return run

    def _forget_old(self) -> None:
        kept = [*self._by_name][-RUNS_KEPT:]
        latest = self._workspace.state.run
        for folder in self._folder.iterdir():
            if folder.name not in kept and folder.name != latest:
                self._by_name.pop(folder.name, None)
                shutil.rmtree(folder, ignore_errors=True)

    def end(self) -> None:
        """End whatever is going on."""
        for run in self._by_name.values():
            run.end()
