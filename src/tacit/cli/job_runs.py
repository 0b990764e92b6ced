"""Jobs on the command line, with progress and a summary."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from tacit.cli.files import as_problem
from tacit.cli.outcomes import as_lines
from tacit.cli.progress import Progress
from tacit.jobs import JobListener, job_problem
from tacit.jobs.job import JJFile, Job
from tacit.options import Options
from tacit.problem import Problem
from tacit.table import Weighting

if TYPE_CHECKING:
    from tacit.microdata import TabulationReport
    from tacit.table import Table


class JobProgress(JobListener):
    """Shows the progress of a job, and prints what it is about."""

    def __init__(self, job: Job, *, quiet: bool):
        self._job = job
        self._quiet = quiet
        self._reports: list[TabulationReport] = []

    def reading(self) -> AbstractContextManager[Progress]:
        """A half-made table is of no use: Ctrl-C ends it at once."""
        return Progress.on_stderr(quiet=self._quiet, stops_gracefully=False)

    def searching(self) -> AbstractContextManager[Progress]:
        """Ctrl-C asks for the best outcome so far."""
        limit = self._job.options.get("time_limit", Options.time_limit)
        return Progress.on_stderr(quiet=self._quiet, time_limit=limit)

    def on_records(self, report: TabulationReport) -> None:
        """Keep it until the table is there."""
        self._reports.append(report)

    def on_source(self, source: Table | Problem) -> None:
        """Print what is protected, and from whom it is not.

        For a JJ file there is nothing to say beyond its outcome.
        """
        if isinstance(self._job.data, JJFile) and self._job.data.path == self._job.path:
            return
        problem = as_problem(source)
        rows = {}
        told = list(dict.fromkeys(records(report) for report in self._reports))
        if told:
            rows["records"] = "; ".join(told)
        size = (
            f"{problem.cell_count} cells, {problem.relation_count} relations, "
            f"{len(problem.sensitive)} sensitive"
        )
        lines = [f"  {line}" for line in as_lines({**rows, "table": size})]
        if self._job.table_names and not isinstance(source, Problem):
            lines = [f"  {line}" for line in as_lines({**rows, "linked": size})]
            lines += [f"    {line}" for line in _linked(source)]
        print("\n".join([str(self._job.path), *lines]))
        if len(problem.sensitive) == 0:
            print("note: no cell is sensitive, everything will be published", file=sys.stderr)
        if self._job.insiders == "none":
            print(
                "note: insiders = none: contributors, who know their own figures, may deduce what "
                "others contribute",
                file=sys.stderr,
            )


def _linked(table: Table) -> list[str]:
    """The linked tables, one per line."""
    sensitive = table.is_sensitive
    return [
        f"{grid.name}: {' x '.join(grid.dimensions)}, {grid.cell_count} cells, "
        f"{int(sensitive[grid.numbers].sum())} sensitive"
        for grid in table.grids
    ]


def with_typed_weights(job: Job, weights: str | None) -> Job:
    """The job with weights as typed: `unit` or `value` in place of what it says."""
    return job if weights in (None, "file") else job.replace(weights=Weighting(weights))


def prepared(job: Job, *, quiet: bool) -> Table | Problem:
    """Make what a job protects, and print what it is."""
    listener = JobProgress(job, quiet=quiet)
    with listener.reading() as progress:
        source = job_problem(job, observer=progress, report=listener.on_records)
    listener.on_source(source)
    return source


def records(report: TabulationReport) -> str:
    """How many records were tabulated; why others were not goes to standard error."""
    for finding in report.findings:
        print(f"note: {finding}; dropped", file=sys.stderr)
    # Of several values tabulated at once, the one of which most records are missing.
    dropped = report.records - min(report.tabulated.values())
    return f"{report.records} read" + (f", {dropped} dropped" if dropped else "")
