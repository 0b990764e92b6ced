"""Batch files of tau-ARGUS on the command line, with progress and a summary."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli.job_runs import records
from tacit.cli.outcomes import as_lines, summary
from tacit.cli.progress import Progress
from tacit.jobs.argus import ArgusListener

if TYPE_CHECKING:
    from tacit.microdata import TabulationReport
    from tacit.release import Release
    from tacit.table import Table


class Shown(ArgusListener):
    """Shows what happens, unless the batch file asks for silence."""

    def __init__(self, batch: Path, *, quiet: bool):
        self._batch = batch
        self._quiet = quiet
        self._silent = False
        self._told_records = False

    def note(self, text: str) -> None:
        """On standard error."""
        if not self._silent:
            print(f"note: {text}", file=sys.stderr)

    def silence(self) -> None:
        """Nothing more is shown."""
        self._silent = True

    def reading(self) -> AbstractContextManager[Progress]:
        """A half-made table is of no use: Ctrl-C ends it at once."""
        return Progress.on_stderr(quiet=self._quiet or self._silent, stops_gracefully=False)

    def searching(self, time_limit: float) -> AbstractContextManager[Progress]:
        """Ctrl-C asks for the best outcome so far."""
        return Progress.on_stderr(quiet=self._quiet or self._silent, time_limit=time_limit)

    def on_records(self, report: TabulationReport) -> None:
        """How many there are; the same for every table."""
        if not self._told_records and not self._silent:
            self._print(str(self._batch), {"records": records(report)})
        self._told_records = True

    def on_table(self, number: int, name: str, table: Table) -> None:
        """Its size and how many cells are sensitive."""
        self._print(
            f"table {number}: {name}",
            {"cells": f"{table.cell_count}, {int(table.is_sensitive.sum())} sensitive"},
        )

    def on_release(self, numbers: Sequence[int], release: Release) -> None:
        """How the search ended."""
        if not self._silent:
            told = " and ".join(map(str, numbers))
            linked = ", linked as one problem" if len(numbers) > 1 else ""
            papers = release.papers
            lines = summary(papers.outcome, papers.problem)
            print("\n".join([f"table {told} protected{linked}", *(f"  {line}" for line in lines)]))

    def on_written(self, paths: Sequence[Path]) -> None:
        """Each file."""
        if not self._silent:
            for path in paths:
                print(f"wrote {path}")

    def _print(self, title: str, rows: dict[str, str]) -> None:
        if not self._silent:
            print("\n".join([title, *(f"  {line}" for line in as_lines(rows))]))
