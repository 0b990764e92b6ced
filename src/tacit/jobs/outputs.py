"""`Outputs`: what a job writes where, of one table or of several linked ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.errors import InputError
from tacit.io.cells import CELL_SUFFIXES
from tacit.io.exports import SUFFIXES, Presentation
from tacit.jobs.sections import Section
from tacit.jobs.tables import TABLE, LinkedTable, expanded

CONFIDENTIAL = "confidential"
"""What the names of files hold that are not for readers."""
_FILES = ("published", "report", "json", "table", "evidence", "working_report")


@dataclass(frozen=True, kw_only=True)
class TableOutputs:
    """What is written of one of several linked tables; see `Outputs`."""

    published: tuple[Path, ...] = ()
    report: Path | None = None
    table: Path | None = None
    working_report: Path | None = None

    @property
    def files(self) -> list[Path]:
        """All files."""
        others = (self.report, self.table, self.working_report)
        return [*self.published, *(path for path in others if path is not None)]


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """What is written where.

    Attributes:
        published: The published table, for readers.
        report: The report for readers.
        json: The result as the JSON of the contract.
        table: The true table with statuses, reasons and levels; confidential.
        evidence: The audit with its evidence; confidential.
        working_report: The internal report; confidential.
        presentation: How the published table is written.
        of_tables: What is written of single ones of linked tables, by their names.
    """

    published: tuple[Path, ...] = ()
    report: Path | None = None
    json: Path | None = None
    table: Path | None = None
    evidence: Path | None = None
    working_report: Path | None = None
    presentation: Presentation = field(default_factory=Presentation)
    of_tables: Mapping[str, TableOutputs] = field(default_factory=dict)

    @property
    def all_published(self) -> tuple[Path, ...]:
        """The files with published tables, those of single tables among them."""
        of_tables = [path for each in self.of_tables.values() for path in each.published]
        return (*self.published, *of_tables)

    @property
    def files(self) -> list[Path]:
        """All files."""
        others = (self.report, self.json, self.table, self.evidence, self.working_report)
        of_tables = [path for each in self.of_tables.values() for path in each.files]
        return [*self.published, *of_tables, *(path for path in others if path is not None)]

    def for_tables(self, names: Sequence[str]) -> Outputs:
        """The same with a file for each of linked tables where a name has `{table}` in it.

        Raises:
            InputError: There are no linked tables.
        """
        patterns = {
            key: [path for path in given if TABLE in path.name]
            for key, given in self._by_key().items()
        }
        if not any(patterns.values()):
            return self
        for key, paths in patterns.items():
            if not names and paths:
                raise InputError(
                    f"{TABLE} stands for the name of each of several linked tables; this job has "
                    "one table",
                    key=(key,),
                )
        found = dict(self.of_tables)
        for name in names:
            changes: dict[str, Any] = {
                key: expanded(path, [name])[name]
                for key, paths in patterns.items()
                for path in paths
                if key != "published"
            }
            more = (expanded(path, [name])[name] for path in patterns["published"])
            before = found.get(name, TableOutputs())
            changes["published"] = (*before.published, *more)
            found[name] = dataclasses.replace(before, **changes)
        plain = tuple(path for path in self.published if TABLE not in path.name)
        emptied: dict[str, Any] = {
            key: None for key, paths in patterns.items() if paths and key != "published"
        }
        return dataclasses.replace(self, published=plain, of_tables=found, **emptied)

    def _by_key(self) -> dict[str, tuple[Path, ...]]:
        """The files that there may be one of for each table."""
        singles = {key: getattr(self, key) for key in ("report", "table", "working_report")}
        return {
            "published": self.published,
            **{key: () if path is None else (path,) for key, path in singles.items()},
        }


def read_outputs(top: Section, linked: Sequence[LinkedTable] = ()) -> Outputs:
    """What is written where, from `[outputs]` and what linked tables say themselves."""
    of_tables = {
        table.name: TableOutputs(published=table.published) for table in linked if table.published
    }
    section = top.section("outputs")
    if section is None:
        return Outputs(of_tables=of_tables)
    choices = [item.name for item in dataclasses.fields(Presentation)]
    section.refuse_unknown([*_FILES, *choices])
    published = section.texts("published") or []
    for name in published:
        if not name.lower().endswith(SUFFIXES):
            raise section.fault(
                f"the name of a published table must end in {', '.join(SUFFIXES)}",
                "published",
            )
    found = Outputs(
        published=tuple(section.file.parent / name for name in published),
        report=section.path("report"),
        json=section.path("json"),
        table=section.path("table"),
        evidence=section.path("evidence"),
        working_report=section.path("working_report"),
        presentation=_presentation(section),
        of_tables=of_tables,
    )
    reported = found.report is not None or found.working_report is not None
    try:
        found.presentation.refuse_unused(*found.all_published, reported=reported)
    except InputError as error:
        raise section.blame(error) from None
    if found.table is not None and not found.table.name.lower().endswith(CELL_SUFFIXES):
        raise section.fault(f"the name must end in {', '.join(CELL_SUFFIXES)}", "table")
    if reported:
        # Slow to import, and needed for reports only.
        from tacit.report.picture import REPORT_SUFFIX

        for key in ("report", "working_report"):
            path = getattr(found, key)
            if path is not None and not path.name.lower().endswith(REPORT_SUFFIX):
                raise section.fault(f"the name must end in {REPORT_SUFFIX}", key)
    for key in ("table", "evidence", "working_report"):
        path = getattr(found, key)
        if path is not None and CONFIDENTIAL not in path.name.lower():
            raise section.fault(
                f"{key!r} holds true values: its name must say so, as in "
                f"{path.stem}.confidential{path.suffix}",
                key,
            )
    return found


def _presentation(section: Section) -> Presentation:
    marks = section.get("marks", str, dict)
    texts = ("flags", "layout", "title", "labels")
    given: dict[str, Any] = {name: section.text(name) for name in texts}
    try:
        return Presentation(
            marks=marks, tell_primary=bool(section.get("tell_primary", bool)), **given
        )
    except InputError as error:
        raise section.blame(error) from None
