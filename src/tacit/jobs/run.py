"""Runs a job: data to a table, rules, protection, audit, outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from tacit.attack.knowledge import Attacker, attackers_of
from tacit.errors import (
    InputError,
    KeyPath,
    ProblemError,
    StoppedError,
    TableError,
    TacitError,
)
from tacit.io.audits import write_audit
from tacit.io.cells import confidential, write_columns
from tacit.io.exports import write_published
from tacit.io.jj import read_jj
from tacit.io.solutions import write_outcome_json
from tacit.io.weights import with_weights
from tacit.jobs.hierarchies import Dimension
from tacit.jobs.job import (
    CellFile,
    JJFile,
    Job,
    MadeTable,
    Microdata,
)
from tacit.jobs.outputs import Outputs, TableOutputs
from tacit.jobs.sources import codes_in_files, read_table, tabulated
from tacit.jobs.tables import (
    LinkedTable,
    LinkedTables,
    link_tables,
    same_source,
    whole_totals,
)
from tacit.methods.inputs import chosen_weights
from tacit.methods.recoding.run import recode
from tacit.microdata import TabulationReport
from tacit.observer import Observer
from tacit.problem import ADDITIVITY_TOLERANCE, Floats, Problem
from tacit.release import NoReleaseError, Published, Release, check_insiders, faced, protect
from tacit.rules import Manual
from tacit.table import CellStatus, Rule, Table
from tacit.table.insiders import Choice
from tacit.table.linking import AGREEMENT_TOLERANCE


def job_table(
    job: Job,
    *,
    observer: Observer | None = None,
    report: Callable[[TabulationReport], object] | None = None,
    tolerance: float = ADDITIVITY_TOLERANCE,
) -> Table:
    """The table of a job, before any rule.

    Args:
        job: A job whose data are microdata or finished tables.
        observer: Listens to the tabulation.
        report: Called with what was wrong with records, see `tacit.tabulate`.
        tolerance: How exactly linked tables must agree, where that is less than usual.
    """
    for given in job.all_dimensions:
        for note in given.notes:
            (observer or Observer()).on_note(note)
    if isinstance(job.data, LinkedTables):
        return _linked(job, job.data, observer, report, tolerance)
    try:
        if isinstance(job.data, Microdata):
            (table,) = tabulated(job, [job.data], job.dimensions, observer, report)
        elif isinstance(job.data, MadeTable):
            table = job.data.make(observer, report)
        else:
            assert isinstance(job.data, CellFile)
            table = read_table(job.dimensions, job.data, observer)
    except StoppedError:
        raise
    except TacitError as error:
        raise _at_its_line(job, error) from None
    recoded = table
    if job.recodes:
        try:
            recoded = recode(table, job.recodes, overlap=job.overlap)
        except TacitError as error:
            raise _at_its_line(job, error) from None
    return _labelled(job.dimensions, table, recoded)


def _labelled(dimensions: Mapping[str, Dimension], table: Table, recoded: Table) -> Table:
    """The recoded table with the labels of its codes, those of merged ones included."""
    named = {name: given for name, given in dimensions.items() if given.labels}
    if not named:
        return recoded
    labels = {}
    for name, given in named.items():
        codes = {*table.dimensions[name].codes, *recoded.dimensions[name].codes}
        given.refuse_labels(codes)
        labels[name] = given.labels
    return recoded.with_labels(labels, unknown="ignore")


def _linked(
    job: Job,
    data: LinkedTables,
    observer: Observer | None,
    report: Callable[[TabulationReport], object] | None,
    tolerance: float,
) -> Table:
    """The linked tables of a job as one."""
    made: list[tuple[LinkedTable, Table]] = []
    occurring = codes_in_files(data)
    for group in same_source(data.tables):
        records = [table.data for table in group if isinstance(table.data, Microdata)]
        dimensions = group[0].dimensions
        try:
            if records:
                tables = tabulated(job, records, dimensions, observer, report)
            else:
                files = [table.data for table in group if isinstance(table.data, CellFile)]
                tables = [read_table(dimensions, file, observer, occurring) for file in files]
        except TacitError as error:
            raise _at_its_line(job, error, group[0]) from None
        recodes = {name: given for name, given in job.recodes.items() if name in dimensions}
        recoded = tables
        if recodes:
            try:
                recoded = [recode(table, recodes, overlap=job.overlap) for table in tables]
            except TacitError as error:
                raise _at_its_line(job, error) from None
        for linked, before, after in zip(group, tables, recoded, strict=True):
            made.append((linked, _labelled(dimensions, before, after)))
    try:
        return link_tables(
            [(linked.name, linked.variable, table) for linked, table in made],
            totals=whole_totals(made),
            equations=data.equations,
            tolerance=max(AGREEMENT_TOLERANCE, tolerance),
        )
    except TacitError as error:
        raise job.top.blame(error, ("tables",)) from None


def _at_its_line(job: Job, error: TacitError, table: LinkedTable | None = None) -> InputError:
    """An error about arguments of what makes the table, where the job gives these arguments."""
    key: KeyPath
    data = job.data if table is None else table.data
    match error.key:
        case ("by" | "dimensions", *rest):
            key = ("dimensions", *rest)
        case ("recodes", *rest):
            key = ("recode", *rest)
        case ("overlap", *_):
            key = ("recode", "overlap")
        case ("source", *rest) if isinstance(data, Microdata):
            in_files = isinstance(data.source, list)
            key = ("data", "microdata", *rest) if in_files else ("data", _DATABASE[rest == [1]])
        case () if isinstance(error, TableError) and error.cells and table is None:
            # Cells are named by the codes of their dimensions.
            key = ("dimensions",)
        case rest:
            key = ("data", *rest)
    if table is not None and (key == ("data",) or (key[1:2] and key[1] in table.section.given)):
        return table.section.blame(error, key[1:])
    if table is not None and key[0] == "dimensions":
        name = str(key[1]) if key[1:] else ""
        dimension = table.dimensions.get(name)
        return (table.section if dimension is None else dimension.section).blame(error, key[2:])
    section = job.top.section(str(key[0]))
    return (section or job.top).blame(error, key[1:])


_DATABASE = ("database", "query")


def job_problem(
    job: Job,
    *,
    observer: Observer | None = None,
    report: Callable[[TabulationReport], object] | None = None,
    tolerance: float = ADDITIVITY_TOLERANCE,
) -> Table | Problem:
    """What a job protects: a table with its sensitive cells, or the problem of a JJ file.

    Arguments are those of `job_table`.
    """
    if isinstance(job.data, JJFile):
        if job.wishes or job.previous is not None:
            what = "wishes name" if job.wishes else "a former publication names"
            raise InputError(f"{what} cells by codes, which a JJ file has not", path=job.path)
        problem = read_jj(job.data.path)
        return problem if job.weights is None else with_weights(problem, job.weights.by)
    table = job_table(job, observer=observer, report=report, tolerance=tolerance)
    return judged(job, table)


def judged(job: Job, table: Table) -> Table:
    """The table of a job, judged by its rules.

    Args:
        job: The job.
        table: Its table, see `job_table`.
    """
    added: dict[str, Rule] = {}
    if job.wishes:
        added["wishes"] = Manual(job.wishes)
    if job.previous is not None:
        named = replace(job.previous, value=job.value_name)
        added["previous"] = named if job.previous.value == "value" else job.previous
    try:
        return table.apply(
            *job.rules,
            *added.values(),
            levels=job.levels,
            least_level=job.least_level,
            bounds=job.bounds,
            weight=job.weights,
        )
    except TacitError as error:
        key = error.key
        if key[:1] == ("weight",):
            key = ("weights", *key[1:])
        elif key[:1] == ("rules",) and int(key[1]) >= len(job.rules):
            # After the rules come wishes, and the former publication.
            name = [*added][int(key[1]) - len(job.rules)]
            key = (name, *key[3:]) if name == "wishes" else (name, *key[2:])
            given = job.top.given.get("wishes") or ()
            if name == "wishes" and len(key) > 1 and int(key[1]) >= len(given):
                # Wished on the command line: there is no line in the job.
                raise InputError(str(error), path=job.path) from None
        raise job.top.blame(error, key) from None


class JobListener:
    """Listens to a job as it runs and does nothing; overridden to show progress."""

    def reading(self) -> AbstractContextManager[Observer]:
        """The observer of what is read and tabulated, in the meantime."""
        return nullcontext(Observer())

    def searching(self) -> AbstractContextManager[Observer]:
        """The observer of the search, while it goes on."""
        return nullcontext(Observer())

    def on_records(self, report: TabulationReport) -> None:
        """Records have been tabulated."""

    def on_source(self, source: Table | Problem) -> None:
        """What is to be protected is there, with its sensitive cells."""


def run_job(
    job: Job,
    *,
    listener: JobListener | None = None,
    tolerance: float = ADDITIVITY_TOLERANCE,
    **options: Any,
) -> Release:
    """Run a job from its data to a release; `write_outputs` writes what it asks for.

    The command line, jobs in TOML files and JJ files all use this function.

    Args:
        job: The job, see `read_job` and `open_job`.
        listener: Listens to tabulation and search; may stop them.
        tolerance: How exactly the table must add up (see `Problem.validate`).
        **options: Options of the method, in place of those of the job.

    Raises:
        NoReleaseError: No safe outcome exists, or none was found.
        InputError: Data or options are wrong, or the table contradicts itself.
    """
    job = job.replace(options={**job.options, **options})
    try:
        check_insiders(job.options, job.insiders, job.coalition)
    except InputError as error:
        raise InputError(str(error), path=job.path) from None
    listener = listener or JobListener()
    with listener.reading() as observer:
        source = job_problem(
            job, observer=observer, report=listener.on_records, tolerance=tolerance
        )
    listener.on_source(source)
    _refuse_unknown_singletons(job, source)
    with listener.searching() as observer:
        try:
            return protect(
                source,
                job.method,
                insiders=cast("Choice | None", job.insiders),
                coalition=job.coalition,
                observer=observer,
                tolerance=tolerance,
                **job.options,
            )
        except NoReleaseError:
            raise
        except (ProblemError, TableError, InputError) as error:
            reasons = str(error).replace("\n", "\n  ")
            raise InputError(reasons, path=job.path) from None


def _refuse_unknown_singletons(job: Job, source: Table | Problem) -> None:
    if job.options.get("singletons", "ignore") == "ignore":
        return
    problem = source if isinstance(source, Problem) else source.problem("none")
    if not (problem.singleton >= 0).any():
        raise InputError(
            "this input does not say which cells have a single respondent (a JJ file cannot); "
            "leave out singletons",
            path=job.path,
        )


def job_attackers(job: Job, source: Table | Problem) -> list[Attacker]:
    """Whom a job protects against: the attackers that an audit of its publication considers.

    Args:
        job: The job.
        source: What it protects, see `job_problem`.
    """
    _refuse_unknown_singletons(job, source)
    return attackers_of(faced_by(job, source), str(job.options.get("singletons", "ignore")))


def faced_by(job: Job, source: Table | Problem) -> Problem:
    """What algorithms see of what a job protects, with the insiders that it protects against."""
    return faced(source, job.options, job.insiders, job.coalition)


def job_weight(job: Job, problem: Problem) -> Floats:
    """What it costs to lose each cell, as the method of a job counts it.

    Args:
        job: The job.
        problem: What it protects, as algorithms see it.
    """
    return chosen_weights(problem, job.options.get("weights", "given"))


def write_outputs(job: Job, release: Release, outputs: Outputs | None = None) -> None:
    """Write what a job asks for; each file appears complete or not at all.

    Args:
        job: The job.
        release: What came out.
        outputs: What to write in place of what the job says.
    """
    chosen = job.outputs if outputs is None else outputs
    papers = release.papers
    presentation = chosen.presentation
    published = release.publish(tell_primary=presentation.tell_primary)
    for path in chosen.published:
        write_published(published, path, presentation, value=job.value_name)
    for name, files in chosen.of_tables.items():
        part = published.of_table(name) if len(published.grids) > 1 else published
        for path in files.published:
            value = part.grids[0].variable or job.value_name
            write_published(part, path, presentation, value=value)
    if chosen.json is not None:
        write_outcome_json(
            papers.outcome,
            papers.problem,
            str(job.path),
            chosen.json,
            verified=True,
            changes=papers.changes,
        )
    targets: list[tuple[str | None, Path | None]] = [(None, chosen.table)]
    targets += [(name, files.table) for name, files in chosen.of_tables.items()]
    for table, target in targets:
        if target is None:
            continue
        if papers.table is None:
            raise InputError("a JJ file has no table to write; leave out 'table'", path=job.path)
        write_columns(confidential(columns_of(_decided(release), table)), target)
    if chosen.evidence is not None:
        write_audit(papers.audit, chosen.evidence)
    _write_reports(job, release, published, chosen)


def _write_reports(job: Job, release: Release, published: Published, outputs: Outputs) -> None:
    names = [grid.name for grid in published.grids]
    reports: list[tuple[Outputs | TableOutputs, int | None]] = [(outputs, None)]
    for name, of_table in outputs.of_tables.items():
        reports.append((of_table, names.index(name) if len(names) > 1 else None))
    for files, table in reports:
        if files.report is None and files.working_report is None:
            continue
        # Slow to import, and needed for reports only.
        from tacit.report.document import report_title, write_report

        shown = published if table is None else published.of_table(table)
        title = outputs.presentation.title or report_title(shown, job.value_name)
        if files.report is not None:
            write_report(release, files.report, title=title, table=table)
        if files.working_report is not None:
            write_report(release, files.working_report, confidential=True, title=title, table=table)


def columns_of(table: Table, name: str | None) -> dict[str, Any]:
    """The columns of a table, or of one of the linked tables that it consists of."""
    frame: dict[str, Any] = table.to_frame("dict")
    grid = next((grid for grid in table.grids if grid.name == name), None)
    if grid is None or len(table.grids) == 1:
        return frame
    absent = [key for key in table.cell_keys() if key not in grid.dimensions]
    return {key: column[grid.numbers] for key, column in frame.items() if key not in absent}


def write_without_release(job: Job, error: NoReleaseError) -> None:
    """Write the one file that a job has without a release: the JSON, which says why."""
    if job.outputs.json is not None:
        write_outcome_json(
            error.outcome,
            error.problem,
            str(job.path),
            job.outputs.json,
            verified=error.audit is not None,
        )


def _decided(release: Release) -> Table:
    """The true table, with the cells that have no exact value to protect others."""
    table = release.papers.table
    assert table is not None
    secondary = release.published.is_hidden & ~table.is_sensitive
    status = np.where(secondary, CellStatus.SECONDARY.value, table.status)
    return table.replace(status=status)
