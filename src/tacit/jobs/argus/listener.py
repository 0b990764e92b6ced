"""Who listens to a batch file of tau-ARGUS as it runs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from tacit.jobs.run import JobListener
from tacit.microdata import TabulationReport
from tacit.observer import Observer
from tacit.release import Release
from tacit.table import Table


class ArgusListener:
    """Listens to a batch file as it runs and does nothing; overridden to show progress."""

    def note(self, text: str) -> None:
        """Something that users should know."""

    def silence(self) -> None:
        """The batch file asks for silence: nothing but errors is to be shown."""

    def reading(self) -> AbstractContextManager[Observer]:
        """The observer of what is read and tabulated, in the meantime."""
        return nullcontext(Observer())

    def searching(self, time_limit: float) -> AbstractContextManager[Observer]:  # noqa: ARG002
        """The observer of a search, while it goes on."""
        return nullcontext(Observer())

    def on_records(self, report: TabulationReport) -> None:
        """Records have been tabulated."""

    def on_table(self, number: int, name: str, table: Table) -> None:
        """A table is there, with its sensitive cells."""

    def on_release(self, numbers: Sequence[int], release: Release) -> None:
        """Tables are protected, together if there are several."""

    def on_written(self, paths: Sequence[Path]) -> None:
        """Files have been written."""


class SearchListener(JobListener):
    """Passes on the search of a job that a batch file makes."""

    def __init__(self, listener: ArgusListener, time_limit: float):
        self._listener = listener
        self._time_limit = time_limit

    def searching(self) -> AbstractContextManager[Observer]:
        """As the listener says."""
        return self._listener.searching(self._time_limit)
