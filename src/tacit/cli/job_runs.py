"""Jobs on the command line: with progress, and with a word on what they found."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tacit.cli.files import as_problem
from tacit.cli.outcomes import as_lines
from tacit.cli.progress import Progress
from tacit.options import Options

if TYPE_CHECKING:
    from tacit.jobs import Job
    from tacit.microdata import TabulationReport
    from tacit.problem import Problem
    from tacit.release import Release
    from tacit.table import Table


def prepared(job: Job, *, quiet: bool) -> Table | Problem:
    """Make what a job protects, and print what it is."""
    from tacit.jobs import job_problem

    reports: list[TabulationReport] = []
    # A table that is half made is of no use: Ctrl-C ends it at once.
    with Progress.on_stderr(quiet=quiet, stops_gracefully=False) as progress:
        source = job_problem(job, observer=progress, report=reports.append)
    problem = as_problem(source)
    rows = {}
    for report in reports:
        rows["records"] = records(report)
    rows["table"] = (
        f"{problem.cell_count} cells, {problem.relation_count} relations, "
        f"{len(problem.sensitive)} sensitive"
    )
    print("\n".join([str(job.path), *(f"  {line}" for line in as_lines(rows))]))
    if len(problem.sensitive) == 0:
        print("note: no cell is sensitive, everything will be published", file=sys.stderr)
    return source


def records(report: TabulationReport) -> str:
    """How many records were tabulated; why others were not goes to standard error."""
    for finding in report.findings:
        print(f"note: {finding}; dropped", file=sys.stderr)
    (used,) = report.tabulated.values()
    dropped = report.records - used
    return f"{report.records} read" + (f", {dropped} dropped" if dropped else "")


def weighted(source: Table | Problem, weights: str | None) -> Table | Problem:
    """The same with weights as typed."""
    from tacit.io.weights import with_weights
    from tacit.problem import Problem

    if weights is None or weights == "file":
        return source
    if isinstance(source, Problem):
        return with_weights(source, "unit" if weights == "unit" else "value")
    return source.apply(weight=weights)


def protected(job: Job, source: Table | Problem, *, quiet: bool, tolerance: float) -> Release:
    """Protect what a job is about, showing the progress."""
    from tacit.jobs import protect_job

    limit = job.options.get("time_limit", Options.time_limit)
    with Progress.on_stderr(quiet=quiet, time_limit=limit) as progress:
        return protect_job(job, source, observer=progress, tolerance=tolerance)
