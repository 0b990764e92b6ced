"""`Workspace`: the chosen folder, the job that is being made in it, and its undo.

The job is kept as what its TOML file would say, wrong or unfinished as it may be: what is typed
stays as it was typed. It lies in a folder `.tacit` that only its owner can enter, and is written
at every change, so that nothing is lost when the application ends.
"""

from __future__ import annotations

import copy
import json
import os
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.errors import InputError
from tacit.io.files import replacing
from tacit.jobs import Job
from tacit.jobs.job import JOB_SUFFIX, Microdata, job_from_mapping
from tacit.jobs.tables import LinkedTables
from tacit.jobs.toml import job_text
from tacit.microdata.file_names import is_remote

STATE = ".tacit"
STEPS_KEPT = 100
"""How many steps can be undone."""
FILES_SHOWN = 500
DEPTH_SHOWN = 4
KINDS = {
    ".toml": "job",
    ".arb": "batch",
    ".jj": "jj",
    ".jj.gz": "jj",
    ".csv": "data",
    ".csv.gz": "data",
    ".tsv": "data",
    ".txt": "data",
    ".tab": "data",
    ".parquet": "data",
    ".pq": "data",
    ".xlsx": "data",
    ".asc": "data",
    ".dat": "data",
    ".hrc": "hierarchy",
    ".rda": "layout",
}
"""What files are, by how their names end."""

_NAMING = (
    *("microdata", "database", "table", "jj", "layout", "temp_directory"),
    *("file", "labels", "marks"),
    *("published", "report", "json", "evidence", "working_report"),
)
"""Keys of jobs that name files."""

Draft = dict[str, Any]


class ChangedElsewhereError(Exception):
    """The job was changed in another tab since this page was shown."""


@dataclass(frozen=True)
class Seen:
    """What a change was made for.

    Attributes:
        version: The version of the job that was shown.
        page: What tells the page that showed it from others.
    """

    version: int
    page: str = ""


@dataclass(frozen=True)
class Listed:
    """A file in the folder.

    Attributes:
        name: Its path within the folder.
        kind: What it is, see `KINDS`.
        size: Its size in bytes.
    """

    name: str
    kind: str
    size: int


@dataclass
class State:
    """What is kept between visits.

    Attributes:
        name: The file that the job will be saved as.
        draft: What the job says so far.
        version: Grows with every change.
        history: The drafts before, oldest first, each with what was done next.
        run: The latest run, by the name of its folder.
    """

    name: str = "job.toml"
    draft: Draft = field(default_factory=dict)
    version: int = 0
    history: list[tuple[str, str, Draft]] = field(default_factory=list)
    run: str | None = None


class Workspace:
    """A folder, and the job that is being made in it.

    Args:
        folder: The folder; no file outside is read or written.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder).resolve()
        if not self.folder.is_dir():
            raise InputError("this is not a folder; create it", path=folder)
        self.private = self.folder / STATE
        self._lock = threading.RLock()
        self._latest: Seen | None = None
        make_private(self.private)
        self.state = self._load()

    def _load(self) -> State:
        try:
            kept = json.loads((self.private / "state.json").read_bytes())
            kept["history"] = [(done, name, draft) for done, name, draft in kept["history"]]
            state = State(**kept)
            kinds = (state.name, str), (state.draft, dict), (state.version, int)
            if not all(isinstance(part, kind) for part, kind in (*kinds, (state.run, str | None))):
                raise TypeError
            return state
        except FileNotFoundError:
            return State()
        except (OSError, ValueError, TypeError, KeyError):
            # Whatever it was, saved jobs are files of their own.
            return State()

    def _save(self) -> None:
        with replacing(self.private / "state.json", confidential=True) as stream:
            stream.write(json.dumps(self.state.__dict__).encode())

    @property
    def draft(self) -> Draft:
        """What the job says so far: a copy."""
        return copy.deepcopy(self.state.draft)

    @property
    def version(self) -> int:
        """Grows with every change."""
        return self.state.version

    def change(self, done: str, edit: Callable[[Draft], None], *, seen: Seen | None = None) -> None:
        """Change the draft, so that it can be undone.

        Args:
            done: What was done, for the undo.
            edit: Changes the draft that it is given.
            seen: The version that the change was made for. A page may send its form several
                times in quick succession, before it is shown the version that it has made.

        Raises:
            ChangedElsewhereError: It is not the current version, nor one that only the same page
                has changed since.
        """
        with self._lock:
            if seen is not None and seen.version != self.state.version and seen != self._latest:
                raise ChangedElsewhereError
            draft = self.draft
            edit(draft)
            if draft != self.state.draft:
                self._put(done, draft, self.state.name)
                self._latest = seen if seen is not None and seen.page else None

    def open(self, done: str, draft: Draft, name: str) -> None:
        """Put another job in the place of the draft, so that it can be undone."""
        with self._lock:
            self._put(done, copy.deepcopy(draft), name)

    def _put(self, done: str, draft: Draft, name: str) -> None:
        state = self.state
        state.history.append((done, state.name, state.draft))
        del state.history[:-STEPS_KEPT]
        state.draft, state.name = draft, name
        state.version += 1
        self._latest = None
        self._save()

    def undo(self, *, seen: Seen | None = None) -> str | None:
        """Take back the last change, and tell what it was.

        Args:
            seen: The version that was shown, and with it what the last change was.

        Raises:
            ChangedElsewhereError: It is not the current version.
        """
        with self._lock:
            if seen is not None and seen.version != self.state.version:
                raise ChangedElsewhereError
            if not self.state.history:
                return None
            done, self.state.name, self.state.draft = self.state.history.pop()
            self.state.version += 1
            self._latest = None
            self._save()
            return done

    @property
    def undoable(self) -> str | None:
        """What the last change was."""
        return self.state.history[-1][0] if self.state.history else None

    def remember_run(self, name: str | None) -> None:
        """Keep which run is the latest."""
        with self._lock:
            self.state.run = name
            self._save()

    def inside(self, name: str) -> Path:
        """A file of the folder by its name.

        Raises:
            InputError: It lies elsewhere, whether by its name or by a link, or is private.
        """
        if not name or "\0" in name:
            raise InputError("the name of the file is empty; name a file of the folder")
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder) or path == self.folder:
            raise InputError(
                "this file is outside the folder that the application was started for; copy it "
                "there",
                path=Path(name).name or name,
            )
        if path.is_relative_to(self.private):
            raise InputError("this file belongs to the application; name another one")
        return path

    def files(self) -> list[Listed]:
        """The files that may be opened, by name."""
        return sorted(self._listed(), key=lambda file: (file.name.count("/"), file.name))

    def _listed(self) -> Iterator[Listed]:
        left = FILES_SHOWN
        for place, folders, names in os.walk(self.folder):
            depth = len(Path(place).relative_to(self.folder).parts)
            hidden = depth + 1 >= DEPTH_SHOWN
            folders[:] = [] if hidden else sorted(f for f in folders if not f.startswith("."))
            for name in sorted(names):
                kind = kind_of(name)
                path = Path(place, name)
                if kind is None or name.startswith(".") or path.is_symlink():
                    continue
                if left == 0:
                    return
                left -= 1
                yield Listed(str(path.relative_to(self.folder)), kind, path.stat().st_size)

    def job(self, draft: Mapping[str, Any] | None = None) -> Job:
        """The job as the draft says it.

        Raises:
            InputError: It is wrong or unfinished, or names files outside the folder.
        """
        given = self.state.draft if draft is None else draft
        path = self.folder / self.state.name
        # Beforehand: hierarchies are read while a job is made.
        for name in _names(given):
            self.inside(str(path.parent / name))
        return self.checked(job_from_mapping(given, path))

    def checked(self, job: Job) -> Job:
        """A job that reads and writes files of the folder alone."""
        linked = job.data.tables if isinstance(job.data, LinkedTables) else ()
        for data in (job.data, *(each.data for each in linked)):
            source = data.source if isinstance(data, Microdata) else []
            for name in source if isinstance(source, list) else source[:1]:
                if is_remote(name):
                    raise InputError("data elsewhere cannot be read here; copy them to the folder")
        for path in (*job.inputs, *job.outputs.files):
            self.inside(str(path))
        return job

    def text(self) -> str:
        """The job as a TOML file."""
        return job_text(self.state.draft)

    def save_job(self, name: str) -> Path:
        """Write the job as a TOML file of the folder, which `tacit protect` runs."""
        if not name.lower().endswith(JOB_SUFFIX):
            raise InputError(f"the name of a job must end in {JOB_SUFFIX}")
        if "/" in name or "\\" in name:
            raise InputError("a job is saved in the folder itself; give a name without a slash")
        path = self.inside(name)
        with replacing(path, confidential=True) as stream:
            stream.write(self.text().encode())
        with self._lock:
            self.state.name = name
            self._save()
        return path


def _names(part: Any, key: str = "") -> Iterator[str]:
    """Whatever in a draft may name a file; that some of it does not, does no harm."""
    if isinstance(part, Mapping):
        for inner, each in part.items():
            yield from _names(each, inner)
    elif isinstance(part, list):
        for each in part:
            yield from _names(each, key)
    elif isinstance(part, str) and key in _NAMING and part:
        yield part


def kind_of(name: str) -> str | None:
    """What a file is, by its name; None where it is nothing that can be opened."""
    lower = name.lower()
    endings = [ending for ending in KINDS if lower.endswith(ending)]
    return KINDS[max(endings, key=len)] if endings else None


def make_private(folder: Path) -> None:
    """Make a folder that only its owner can enter, and from which nothing leads elsewhere.

    It may have come with a folder that somebody else has made: a link in it would have us write
    or delete what it leads to.

    Raises:
        InputError: It cannot be made, or is another's.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or (
            hasattr(os, "getuid") and found.st_uid != os.getuid()
        ):
            raise InputError(
                "this must be a folder of your own; rename it, or choose another folder",
                path=folder,
            )
        folder.chmod(0o700)
        for path in folder.iterdir():
            if path.is_symlink():
                path.unlink()
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InputError(
            f"the application keeps its work in this folder, which cannot be made: {reason}",
            path=folder,
        ) from None
