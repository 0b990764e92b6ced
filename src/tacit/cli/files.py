"""Files of the command line: inputs by their kind, outputs checked before the work begins."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import InputError
from tacit.tolerances import ADDITIVITY

if TYPE_CHECKING:
    from tacit.jobs import Job
    from tacit.outcome import Solution
    from tacit.problem import Problem
    from tacit.table import Table


INPUT_HELP = "a .jj or .jj.gz file, or a job in a .toml file"
SOLUTION_HELP = (
    "what is published: JSON of tacit, a list of the numbers of suppressed cells, a JJ file with "
    "statuses u and m, or the published table (.csv, .xlsx, .parquet, files of tau-ARGUS and R) "
    "with codes and a status, or empty or marked values; of linked tables a sheet for each, "
    "or a file for each, by a name with {table} in it"
)


def is_job(path: Path) -> bool:
    """Whether an input is a job, by its name."""
    return path.suffix.lower() == ".toml"


def is_data(path: Path) -> bool:
    """Whether an input is a file of records or cells, by its name."""
    from tacit.jobs.job import DATA_SUFFIXES

    return path.name.lower().endswith(DATA_SUFFIXES)


def read_source(path: Path, *, quiet: bool = False) -> Table | Problem:
    """Read an input; the data of a job are tabulated and judged.

    Args:
        path: The input.
        quiet: Show no progress.

    Raises:
        InputError: The file cannot be read, or what it says cannot be done.
    """
    from tacit.cli.progress import Progress
    from tacit.jobs import job_problem, open_job

    job = open_job(path)
    with Progress.on_stderr(quiet=quiet, stops_gracefully=False) as progress:
        return job_problem(job, observer=progress)


def read_publication(
    path: Path, *solution: Path, quiet: bool = False, tolerance: float = ADDITIVITY
) -> tuple[Job, Table | Problem, Solution]:
    """Read an input and what is published of it.

    Args:
        path: The input.
        solution: What is published, in one of the forms of `read_solution`; of linked tables a
            file for each does as well, or a name with `{table}` in it.
        quiet: Show no progress.
        tolerance: How exactly linked tables must agree, where that is less than usual.

    Returns:
        The job, what it protects, and the solution.

    Raises:
        InputError: A file cannot be read, or they do not belong together.
    """
    from tacit.cli.progress import Progress
    from tacit.jobs import job_problem, open_job

    job = open_job(path)
    with Progress.on_stderr(quiet=quiet, stops_gracefully=False) as progress:
        source = job_problem(job, observer=progress, tolerance=tolerance)
    return job, source, _solution(solution, job, source)


def _solution(paths: Sequence[Path], job: Job, source: Table | Problem) -> Solution:
    """What is published: one file, or one for each of linked tables."""
    from tacit.io.linked_solutions import read_linked_solution
    from tacit.io.solutions import read_solution
    from tacit.jobs.tables import TABLE, expanded
    from tacit.problem import Problem

    patterns = [path for path in paths if TABLE in path.name]
    if len(paths) == 1 and not patterns:
        return read_solution(paths[0], source, value=job.value_name, note=_tell)
    if isinstance(source, Problem) or not job.table_names:
        raise InputError(
            "several files are for linked tables, one for each; this input has one table",
            path=job.path,
        )
    written = {name: list(files.published) for name, files in job.outputs.of_tables.items()}
    chosen = [path for path in paths if path not in patterns]
    for pattern in patterns:
        for name, path in expanded(pattern, job.table_names).items():
            written.setdefault(name, []).append(path)
            chosen.append(path)
    return read_linked_solution(chosen, source, written=written, value=job.value_name, note=_tell)


def _tell(text: str) -> None:
    print(f"note: {text}", file=sys.stderr)


def as_problem(source: Table | Problem) -> Problem:
    """What algorithms see of it, without contributors who attack."""
    from tacit.problem import Problem

    return source if isinstance(source, Problem) else source.problem("none")


def write_json(path: Path, members: Mapping[str, Any]) -> None:
    """Write one JSON object, one key per line; it is confidential, and complete or not there."""
    from tacit.io.files import write_members

    write_members(path, members)
