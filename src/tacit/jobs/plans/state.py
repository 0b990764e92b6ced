"""What was run before: fingerprints of jobs, by which a plan runs again only what has changed.

The file is confidential: it keeps how searches ended, and hashes of data.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import InputError
from tacit.io.files import replacing
from tacit.jobs.job import Job, Microdata
from tacit.jobs.plans.results import JobResult
from tacit.jobs.sections import Section
from tacit.microdata.file_names import is_remote
from tacit.release.wording import versions
from tacit.version import __version__

_WARNING = "state of a plan of tacit: figures that are not for readers, do not publish"


@dataclass(frozen=True)
class Record:
    """A job that was run.

    Attributes:
        fingerprint: What it was run with.
        outputs: The hash of each file that it wrote.
        result: How it ended.
    """

    fingerprint: str
    outputs: Mapping[str, str]
    result: JobResult

    def holds(self, fingerprint: str, files: list[Path]) -> bool:
        """Whether running the job again would do the same: its files are there as it left them."""
        written = {str(file) for file in files}
        return (
            self.fingerprint == fingerprint
            and bool(written)
            and written == {*self.outputs}
            and all(_digest(Path(file)) == known for file, known in self.outputs.items())
        )


def fingerprint(job: Job, tolerance: float) -> str | None:
    """A hash of all that a job depends on; None where that cannot be known.

    These are the content of its file and of all files that it reads, all its options, and the
    versions of tacit and its solver.

    Args:
        job: The job as it will run.
        tolerance: How exactly the table must add up.
    """
    sources = job.data.source if isinstance(job.data, Microdata) else ()
    if any(is_remote(name) for name in sources):
        return None
    found = hashlib.sha256(f"{__version__}\0{versions()}\0{tolerance!r}\0".encode())
    for file in dict.fromkeys(job.inputs):
        known = _digest(file)
        if known is None:
            return None
        found.update(f"{os.path.abspath(file)}\0{known}\0".encode())
    found.update(_steady(job).encode())
    return found.hexdigest()


def _steady(choice: Any) -> str:
    """What something says, in words that are the same in every process."""
    if isinstance(choice, Section):
        # The content of its file counts already.
        return ""
    if dataclasses.is_dataclass(choice) and not isinstance(choice, type):
        given = {item.name: getattr(choice, item.name) for item in dataclasses.fields(choice)}
        return f"{type(choice).__name__}{_steady(given)}"
    if isinstance(choice, Mapping):
        return f"{{{','.join(f'{_steady(key)}:{_steady(choice[key])}' for key in choice)}}}"
    if isinstance(choice, list | tuple):
        return f"[{','.join(map(_steady, choice))}]"
    if isinstance(choice, set | frozenset):
        # Their order is that of hashes, which differ from process to process.
        return f"<{','.join(sorted(map(_steady, choice)))}>"
    if isinstance(choice, np.ndarray):
        return f"{choice.dtype}{choice.shape}{_steady(choice.tolist())}"
    return repr(choice)


def recorded(fingerprint: str, result: JobResult) -> Record:
    """What to remember of a job that has just written its files."""
    digests = {str(file): _digest(file) for file in result.files}
    return Record(fingerprint, {file: known or "" for file, known in digests.items()}, result)


def _digest(path: Path) -> str | None:
    """The hash of a file, or of all files in a folder; None where it cannot be read."""
    try:
        if path.is_dir():
            inside = hashlib.sha256()
            for file in sorted(part for part in path.rglob("*") if part.is_file()):
                inside.update(f"{file.relative_to(path)}\0{_digest(file)}\0".encode())
            return inside.hexdigest()
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, ValueError):
        return None


class State:
    """The file that remembers what was run.

    Args:
        path: The file; None remembers nothing. One that cannot be understood is as good as none:
            everything runs again.
    """

    def __init__(self, path: Path | None):
        self._path = path
        self._records: dict[str, Record] = {}
        if path is None:
            return
        try:
            members = json.loads(path.read_bytes())
            for job, given in members["jobs"].items():
                result = JobResult.from_json(given["result"])
                self._records[job] = Record(given["fingerprint"], given["outputs"], result)
        except FileNotFoundError:
            return
        except OSError as error:
            reason = (error.strerror or "unknown reason").lower()
            raise InputError(f"the file cannot be read: {reason}", path=path) from None
        except (ValueError, KeyError, TypeError, AttributeError):
            self._records = {}

    def record(self, job: Path) -> Record | None:
        """What is remembered of a job."""
        return self._records.get(os.path.realpath(job))

    def remember(self, job: Path, record: Record | None) -> None:
        """Remember a job from now on, or forget it."""
        key = os.path.realpath(job)
        if record is None:
            if self._records.pop(key, None) is None:
                return
        else:
            self._records[key] = record
        self._write()

    def _write(self) -> None:
        if self._path is None:
            return
        jobs = {
            job: {
                "fingerprint": record.fingerprint,
                "outputs": dict(record.outputs),
                "result": record.result.to_json(),
            }
            for job, record in self._records.items()
        }
        members = {"confidential": _WARNING, "tacit": __version__, "jobs": jobs}
        with replacing(self._path, confidential=True) as stream:
            stream.write(f"{json.dumps(members, indent=1)}\n".encode())
