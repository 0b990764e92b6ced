"""`Plan`: which jobs, what is common to them, and where everything is written."""

from __future__ import annotations

import dataclasses
import glob
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from tacit.errors import InputError
from tacit.jobs.job import JOB_SUFFIX, Job, open_job
from tacit.jobs.job import read_insiders as insiders_in
from tacit.jobs.outputs import CONFIDENTIAL, Outputs
from tacit.jobs.outputs import read_outputs as outputs_in
from tacit.jobs.sections import Section
from tacit.methods.registry import METHODS, find_method

NAME = "{name}"
"""Stands for the name of each job in the names of files that a plan writes for all of them."""
SUMMARIES = (".txt", ".csv", ".html")
_KEYS = (
    "jobs",
    "parallel",
    "out_dir",
    "summary",
    "state",
    "insiders",
    "coalition",
    "method",
    "outputs",
)
_STATE = "state.confidential.json"


@dataclass(frozen=True)
class Entry:
    """One job of a plan.

    Attributes:
        name: What it is called in summaries and messages: its path, as short as tells it apart.
        path: Its file.
    """

    name: str
    path: Path

    @property
    def file_name(self) -> str:
        """The name as a part of names of files."""
        return self.name.replace("/", "-")


Change: TypeAlias = Callable[[Job, Entry], Job]
"""Makes of each job what is to be run; for several processes it must be possible to pickle it."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Jobs to run, and what holds for all of them.

    Attributes:
        entries: The jobs.
        method: The method for all of them, in place of what they say.
        options: Options of the method for all of them, in place of their own.
        insiders: Which contributors attack, in place of what they say.
        coalition: How many of them may pool what they know.
        outputs: Files to write for each of them, besides its own; names hold `{name}`.
        out_dir: A folder for the files that the jobs name; each has a folder of its own there.
        summary: Files with a summary of all.
        state: The file that remembers what was run; None remembers nothing.
        parallel: How many jobs run side by side; None for one after the other.
        change: A last change to each job.
        path: The file of the plan, if there is one.
    """

    entries: tuple[Entry, ...]
    method: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    insiders: str | None = None
    coalition: int | None = None
    outputs: Outputs = field(default_factory=Outputs)
    out_dir: Path | None = None
    summary: tuple[Path, ...] = ()
    state: Path | None = None
    parallel: int | None = None
    change: Change | None = None
    path: Path | None = None

    def job(self, entry: Entry) -> Job:
        """One of its jobs, with all that the plan changes.

        Raises:
            InputError: The job cannot be read, or what the plan says does not fit it.
        """
        job = open_job(entry.path)
        if self.out_dir is not None:
            folder = self.out_dir / entry.file_name
            job = job.replace(outputs=moved(job.outputs, lambda file: folder / file.name))
        named = moved(self.outputs, lambda file: _named(file, entry))
        outputs = _with_outputs(job.outputs, named).for_tables(job.table_names)
        job = job.replace(outputs=outputs)
        if self.method is not None or self.options:
            job = job.with_options(self.options, self.method)
        job = job.replace(
            insiders=self.insiders or job.insiders, coalition=self.coalition or job.coalition
        )
        return job if self.change is None else self.change(job, entry)

    def replace(self, **changes: Any) -> Plan:
        """The same plan with something changed."""
        return dataclasses.replace(self, **changes)


def is_plan(path: str | Path) -> bool:
    """Whether a TOML file is a plan: it lists jobs, and has no data of its own.

    A file that cannot be read is none: whoever reads it as a job says what is wrong.
    """
    path = Path(path)
    if path.suffix.lower() != JOB_SUFFIX:
        return False
    try:
        given = tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False
    return "jobs" in given and "data" not in given


def read_plan(path: str | Path) -> Plan:
    """Read a plan from a TOML file.

    Args:
        path: The file; paths and patterns in it are relative to its folder.

    Raises:
        InputError: Something is not TOML, unknown or of the wrong type, or there are no such jobs.
    """
    path = Path(path)
    top = Section.read(path)
    top.refuse_unknown(_KEYS)
    patterns = top.texts("jobs")
    if patterns is None:
        raise top.fault("there are no 'jobs'; list their files or patterns")
    folder = path.parent
    escaped = glob.escape(str(folder))
    try:
        files = [
            file
            for pattern in patterns
            for file in _matching(folder / pattern, str(Path(escaped) / pattern))
            if os.path.realpath(file) != os.path.realpath(path)
        ]
        entries = _entries(files)
    except InputError as error:
        raise top.blame(error, ("jobs",)) if error.path is None else error from None
    parallel = top.get("parallel", int)
    if parallel is not None and parallel < 1:
        raise top.fault("'parallel' is how many jobs run side by side, at least 1", "parallel")
    method, options = _method(top)
    who = insiders_in(top)
    outputs = outputs_in(top)
    for file in outputs.files:
        if NAME not in file.name:
            raise top.fault(
                f"{file.name} would be written for every job; put {NAME} into the name", "outputs"
            )
    summary = tuple(folder / name for name in top.texts("summary") or ())
    try:
        refuse_summaries(summary)
    except InputError as error:
        raise top.blame(InputError(str(error)), ("summary",)) from None
    state = top.path("state")
    if state is not None and CONFIDENTIAL not in state.name.lower():
        raise top.fault(
            "'state' holds figures that are not for readers: its name must contain 'confidential'",
            "state",
        )
    return Plan(
        entries=entries,
        method=method,
        options=options,
        insiders=who["insiders"],
        coalition=who["coalition"] if "coalition" in top.given else None,
        outputs=outputs,
        out_dir=top.path("out_dir"),
        summary=summary,
        state=state or path.with_name(f"{path.stem}.{_STATE}"),
        parallel=parallel,
        path=path,
    )


def make_plan(inputs: Iterable[str | Path] | str | Path, **changes: Any) -> Plan:
    """A plan of the file of one, or of some jobs.

    Args:
        inputs: The file of a plan; or jobs and JJ files, as paths or patterns such as
            `jobs/*.toml`.
        **changes: Other attributes of the plan, in place of what its file says.

    Raises:
        InputError: There are no such files, or the plan cannot be read.
    """
    given = [inputs] if isinstance(inputs, str | Path) else list(inputs)
    files = [file for name in given for file in _matching(Path(name), str(name))]
    if len(files) == 1 and is_plan(files[0]):
        return read_plan(files[0]).replace(**changes)
    changes.setdefault("state", Path(f"tacit.{_STATE}"))
    return Plan(entries=_entries(files), **changes)


def _matching(path: Path, pattern: str) -> list[Path]:
    """The files that a pattern matches, in order; a file of just that name comes first."""
    if os.path.lexists(path) or not glob.has_magic(pattern):
        return [path]
    found = sorted(map(Path, glob.glob(pattern, recursive=True)))
    if not found:
        raise InputError(f"no file matches {path}; correct the pattern")
    return found


def _entries(files: Sequence[Path]) -> tuple[Entry, ...]:
    """Each file once, with a name that tells it from all others."""
    distinct = {os.path.realpath(file): file for file in reversed(files)}
    ordered = [file for file in dict.fromkeys(files) if distinct[os.path.realpath(file)] is file]
    if not ordered:
        raise InputError("there are no jobs; name at least one")
    for file in ordered:
        if len(ordered) > 1 and is_plan(file):
            raise InputError("this is a plan, which cannot be part of another one", path=file)
    stems = [_stem(file) for file in ordered]
    names = [
        stem if stems.count(stem) == 1 else f"{Path(os.path.abspath(file)).parent.name}/{stem}"
        for file, stem in zip(ordered, stems, strict=True)
    ]
    for place, name in enumerate(names):
        if names.count(name) > 1:
            # Folders alone do not tell them apart.
            names[place] = os.path.abspath(ordered[place]).strip(os.sep).replace(os.sep, "/")
    entries = tuple(Entry(*pair) for pair in zip(names, ordered, strict=True))
    taken: dict[str, Entry] = {}
    for entry in entries:
        other = taken.setdefault(entry.file_name.casefold(), entry)
        if other is not entry:
            raise InputError(
                f"{other.path} and this job are both called {entry.file_name}; rename one",
                path=entry.path,
            )
    return entries


def _stem(file: Path) -> str:
    name = file.name.removesuffix(".gz")
    return Path(name).stem or name


def _method(top: Section) -> tuple[str | None, dict[str, Any]]:
    if isinstance(top.given.get("method"), str):
        return top.one_of("method", [*METHODS]), {}
    section = top.section("method")
    if section is None:
        return None, {}
    name = section.one_of("name", [*METHODS])
    options = {key: given for key, given in section.given.items() if key != "name"}
    if name is not None:
        kind = find_method(name).options()
        section.refuse_unknown(["name", *(option.name for option in dataclasses.fields(kind))])
        try:
            kind.from_mapping(options)
        except InputError as error:
            raise section.blame(error) from None
        return name, options
    known = {
        option.name
        for method in METHODS.values()
        for option in dataclasses.fields(method.options())
    }
    section.refuse_unknown(["name", *sorted(known)])
    return None, options


def refuse_summaries(paths: Iterable[Path]) -> None:
    """Refuse names of summaries that say no format.

    Raises:
        InputError: A name ends in something else.
    """
    for path in paths:
        if not path.name.lower().endswith(SUMMARIES):
            raise InputError(
                f"the name of a summary must end in one of {', '.join(SUMMARIES)}", path=path
            )


def moved(outputs: Outputs, place: Callable[[Path], Path]) -> Outputs:
    """Outputs at other places, whatever they are outputs of."""
    found: Outputs = _moved(outputs, place)
    return found


def _moved(given: Any, place: Callable[[Path], Path]) -> Any:
    if isinstance(given, Path):
        return place(given)
    if isinstance(given, tuple):
        return tuple(_moved(part, place) for part in given)
    if isinstance(given, Mapping):
        return {key: _moved(part, place) for key, part in given.items()}
    if dataclasses.is_dataclass(given) and not isinstance(given, type):
        changes = {
            item.name: _moved(getattr(given, item.name), place)
            for item in dataclasses.fields(given)
        }
        return dataclasses.replace(given, **changes)
    return given


def _named(file: Path, entry: Entry) -> Path:
    return file.with_name(file.name.replace(NAME, entry.file_name))


def _with_outputs(own: Outputs, common: Outputs) -> Outputs:
    """What a job writes, and what its plan writes for every job."""
    changes: dict[str, Any] = {
        item.name: getattr(common, item.name)
        for item in dataclasses.fields(Outputs)
        if isinstance(getattr(common, item.name), Path)
    }
    shown = {
        item.name: getattr(common.presentation, item.name)
        for item in dataclasses.fields(common.presentation)
        if getattr(common.presentation, item.name) not in (None, False)
    }
    return dataclasses.replace(
        own,
        published=(*own.published, *common.published),
        presentation=dataclasses.replace(own.presentation, **shown),
        **changes,
    )
