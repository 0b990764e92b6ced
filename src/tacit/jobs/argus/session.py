"""A batch file of tau-ARGUS while it runs; each table is a job and takes the road of all jobs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np

from tacit.errors import HierarchyError, InputError, ProblemError, TableError, TacitError
from tacit.io.argus.apriori import read_apriori
from tacit.io.argus.batch import BatchFile
from tacit.io.argus.commands import (
    Anco,
    AnyCommand,
    Apriori,
    Clear,
    GoInteractive,
    Logbook,
    OpenMetadata,
    OpenMicrodata,
    OpenTableData,
    ReadMicrodata,
    ReadTable,
    Recode,
    RuleCall,
    SafetyRule,
    Silent,
    Solver,
    SpecifyTable,
    Suppress,
    VersionInfo,
    WriteTable,
)
from tacit.io.argus.logbook import Logbook as LogFile
from tacit.io.argus.metadata import Metadata, read_metadata
from tacit.io.argus.paths import Folders, base_name
from tacit.io.argus.recodings import Recoding, read_recoding
from tacit.io.argus.sheet import Described
from tacit.io.argus.written import FORMATS, WriteOptions, write_argus
from tacit.io.files import replacing
from tacit.jobs.argus.decisions import apply_apriori
from tacit.jobs.argus.listener import ArgusListener, SearchListener
from tacit.jobs.argus.methods import Treatment, treatment
from tacit.jobs.argus.rules import SafetyRules, safety_rules
from tacit.jobs.argus.sources import (
    FromMicrodata,
    FromTable,
    Report,
    Source,
    find,
    refuse_wrong_totals,
    value_name,
)
from tacit.jobs.job import Job, MadeTable
from tacit.jobs.run import job_problem, run_job
from tacit.jobs.sections import Section
from tacit.jobs.tables import link_tables
from tacit.microdata import MicrodataError
from tacit.observer import Observer
from tacit.options import Options
from tacit.outcome import StopReason
from tacit.problem import ADDITIVITY_TOLERANCE
from tacit.release import NoReleaseError, Release
from tacit.report.argus import write_argus_report
from tacit.table import Table
from tacit.version import __version__


@dataclass(eq=False)
class ArgusTable:
    """A table of a batch file, as far as it has got.

    Attributes:
        number: Its number.
        spec: What is specified.
        calls: Its rules as written.
        rule_line: Their line.
        recodes: What is recoded.
        rules: Its rules.
        source: The table before any rule.
        table: The table with its sensitive cells, and what was decided by hand.
        decided: Whether an a priori file was applied.
        decided_costs: Whether such a file gave costs.
        release: What came out, perhaps of several tables that are linked.
        place: Which of these tables it is, counted from 0.
        how: The command that protected it.
    """

    number: int
    spec: SpecifyTable
    calls: tuple[RuleCall, ...] = ()
    rule_line: int | None = None
    recodes: dict[str, int | Recoding] = field(default_factory=dict)
    rules: SafetyRules = field(default_factory=SafetyRules)
    source: Source | None = None
    table: Table | None = None
    decided: bool = False
    decided_costs: bool = False
    release: Release | None = None
    place: int = 0
    how: Suppress | None = None

    @property
    def name(self) -> str:
        """What to call it."""
        return f"{' x '.join(self.spec.explanatory)} | {value_name(self.spec)}"


class Session:
    """A batch file while it runs."""

    def __init__(
        self, batch: BatchFile, out: Path, time_limit: float | None, listener: ArgusListener
    ):
        self._batch = batch
        self._listener = listener
        self._time_limit = time_limit
        self._log: LogFile | None = None
        self._folders = Folders(batch.path.parent, out, self._note)
        self._finished: list[ArgusTable] = []
        # What is named further down must not be replaced before it is read.
        self._inputs = {batch.path.name.casefold()}
        for command in batch.commands:
            if isinstance(command, _READS) and command.file is not None:
                self._inputs.add(base_name(command.file).casefold())
        self._tables: list[ArgusTable] = []
        self._maker: FromMicrodata | FromTable | None = None
        self._forget()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._forget()

    def _forget(self) -> None:
        """Forget data and tables."""
        if self._maker is not None:
            self._maker.close()
        self._finished += self._tables
        self._maker = None
        self._tables = []
        self._data: OpenMicrodata | OpenTableData | None = None
        self._metadata: OpenMetadata | None = None

    def releases(self) -> list[Release]:
        """What came out, in order."""
        everything = [*self._finished, *self._tables]
        found = {id(each.release): each.release for each in everything if each.release is not None}
        return list(found.values())

    def run(self) -> None:
        """Run all commands, one after the other."""
        for command in self._batch.commands:
            try:
                _refuse_impossible(command)
            except InputError as error:
                raise self._located(error, command) from None
        for command in self._batch.commands:
            self._record(f"<{_keyword(command)}> in line {command.line}")
            try:
                self._execute(command)
            except TacitError as error:
                self._record(f"ended in line {command.line}")
                if isinstance(error, _ABOUT_INPUT):
                    raise self._located(error, command) from None
                raise
        self._check_unread()
        self._record("all commands are done")

    def _located(self, error: TacitError, command: AnyCommand) -> InputError:
        """An error with the line of the command, unless it is about another file."""
        if isinstance(error, InputError) and error.path not in (None, self._batch.path):
            located = InputError(f"{error} ({self._batch.path.name}, line {command.line})")
            located.path, located.line = error.path, error.line
            return located
        if isinstance(error, InputError) and error.line is not None:
            return error
        text = str(error).removeprefix(f"{self._batch.path}: ")
        return self._batch.fault(text.replace("\n", "\n  "), command.line)

    def _execute(self, command: AnyCommand) -> None:
        match command:
            case OpenMicrodata() | OpenTableData():
                self._data = command
            case OpenMetadata():
                self._metadata = command
            case SpecifyTable():
                self._specify(command)
            case SafetyRule():
                self._safety_rule(command)
            case ReadMicrodata() | ReadTable():
                self._read(command)
            case Recode():
                self._recode(command)
            case Apriori():
                self._apriori(command)
            case Suppress():
                self._suppress(command)
            case WriteTable():
                self._write(command)
            case _:
                self._others(command)

    def _others(self, command: AnyCommand) -> None:
        """Commands that are not about tables."""
        match command:
            case Logbook():
                self._keep_log(self._target(command))
            case VersionInfo():
                self._write_version(self._target(command))
            case Solver():
                if command.name != "FREE":
                    self._note(f"{command.name} is not needed: tacit has solvers of its own")
            case Silent():
                self._listener.silence()
            case Clear():
                self._forget()
            case GoInteractive():
                self._note("<GOINTERACTIVE> is passed over: there are no windows to go on in")
            case Anco():
                self._note("<ANCO> is passed over: it is about windows of tau-ARGUS")

    def _target(self, command: Logbook | VersionInfo | WriteTable) -> Path:
        """Where to write what a command writes."""
        target = self._folders.target(command.file, path=self._batch.path, line=command.line)
        self._refuse_inputs([target])
        # Hierarchies are named by metadata, which may be read later.
        is_input = target.suffix.lower() in _INPUTS and target.exists()
        if is_input and not isinstance(command, WriteTable):
            raise InputError(
                f"{target.name} seems to be read by batch files; write to another name"
            )
        return target

    def _refuse_inputs(self, targets: Iterable[Path]) -> None:
        for target in targets:
            named = target.name.casefold() in self._inputs and target.exists()
            if named or target.resolve() in self._folders.found:
                raise InputError(f"{target.name} is read by this batch file; write to another name")

    def _keep_log(self, target: Path) -> None:
        self._log = LogFile(target)
        self._record(f"tacit {__version__} runs {self._batch.path.name}")

    def _write_version(self, target: Path) -> None:
        with replacing(target, confidential=False) as stream:
            stream.write(f"tacit {__version__}\n".encode())
        self._listener.on_written([target])

    def _note(self, text: str) -> None:
        self._record(text)
        self._listener.note(text)

    def _record(self, text: str) -> None:
        if self._log is not None:
            self._log.line(text)

    # --- Tables ---------------------------------------------------------------------------------

    def _specify(self, command: SpecifyTable) -> None:
        if self._maker is not None:
            raise InputError("tables are specified before the data are read; move the line up")
        self._tables.append(ArgusTable(len(self._tables) + 1, command))

    def _safety_rule(self, command: SafetyRule) -> None:
        if not self._tables:
            raise InputError("<SAFETYRULE> stands behind the <SPECIFYTABLE> that it is about")
        if self._maker is not None:
            raise InputError("rules are given before the data are read; move the line up")
        table = self._tables[-1]
        table.calls = (*table.calls, *command.rules)
        table.rule_line = command.line
        table.rules = safety_rules(table.calls)

    def _check_unread(self) -> None:
        """Say it if data were opened and never read; a file that is not there is an error."""
        if self._data is None or self._maker is not None:
            return
        data = self._find(self._data)
        if self._metadata is not None:
            self._find(self._metadata, near=data.parent)
        is_table = isinstance(self._data, OpenTableData)
        command = "<READTABLE>" if is_table else "<READMICRODATA>"
        self._note(f"nothing is read from {self._data.file}: there is no {command}")

    def _find(
        self, command: OpenMicrodata | OpenTableData | OpenMetadata, near: Path | None = None
    ) -> Path:
        """The file that a command opens."""
        return self._folders.find(command.file, path=self._batch.path, line=command.line, near=near)

    def _read(self, command: ReadMicrodata | ReadTable) -> None:
        if self._data is None or self._metadata is None:
            missing = "<OPENMETADATA>" if self._data is not None else "<OPENMICRODATA>"
            raise InputError(f"there is nothing to read yet; {missing} names the file")
        if not self._tables:
            raise InputError("no table is specified; <SPECIFYTABLE> stands before it")
        if self._maker is not None:
            raise InputError("the data have been read; <CLEAR> begins anew")
        tabular = isinstance(self._data, OpenTableData)
        if tabular != isinstance(command, ReadTable):
            raise InputError(
                "<OPENMICRODATA> goes with <READMICRODATA>, <OPENTABLEDATA> with <READTABLE>"
            )
        data = self._find(self._data)
        metadata_file = self._find(self._metadata, near=data.parent)
        self._metadata_read: Metadata = read_metadata(metadata_file, tabular=tabular)
        self._files = (data, metadata_file)
        if isinstance(command, ReadTable):
            self._maker = FromTable(
                data, self._metadata_read, self._folders, command.totals, command.keep_status
            )
        else:
            self._maker = FromMicrodata(data, self._metadata_read, self._folders)
        for table in self._tables:
            self._make(table, table.spec.line)

    def _make(self, argus: ArgusTable, line: int) -> None:
        """Make a table and judge it, as the first half of a job; the line is to blame for it."""
        job = self._job(argus, line)
        with self._listener.reading() as observer:
            table = job_problem(job, observer=observer, report=self._listener.on_records)
        assert isinstance(table, Table)
        assert argus.source is not None
        if argus.source.tolerance is None:
            refuse_wrong_totals(table)
        argus.table = table
        argus.decided = argus.decided_costs = False
        argus.release = None
        self._told(argus)

    def _told(self, argus: ArgusTable) -> None:
        assert argus.table is not None
        sensitive = int(np.count_nonzero(argus.table.is_sensitive))
        self._record(
            f"table {argus.number} ({argus.name}): {argus.table.cell_count} cells, "
            f"{sensitive} sensitive"
        )
        self._listener.on_table(argus.number, argus.name, argus.table)

    def _job(self, argus: ArgusTable, line: int) -> Job:
        """The job that makes and judges a table."""
        maker = self._maker
        assert maker is not None

        def make(observer: Observer | None, report: Report | None) -> Table:
            argus.source = source = maker.make(
                argus.spec, argus.rules, argus.recodes, observer, report
            )
            try:
                # Some rules know more than the table: they are made with it.
                return source.table.apply(*source.rules, weight=source.weights)
            except TacitError as error:
                if error.key[:1] == ("rules",) and argus.rule_line is not None:
                    raise self._batch.fault(str(error), argus.rule_line) from None
                raise

        data = MadeTable(make, value_name(argus.spec), self._files)
        top = Section({}, self._batch.path, {(): line})
        return Job(path=self._batch.path, data=data, top=top)

    def _numbered(self, number: int) -> ArgusTable:
        if not 1 <= number <= len(self._tables):
            raise InputError(
                f"there is no table {number}; {len(self._tables)} are specified before this line"
            )
        table = self._tables[number - 1]
        if table.table is None:
            raise InputError(
                f"table {number} has not been read; <READMICRODATA> or <READTABLE> stands before"
            )
        return table

    def _recode(self, command: Recode) -> None:
        chosen = self._tables if command.table == 0 else [self._numbered(command.table)]
        for argus in chosen:
            self._numbered(argus.number)
            if argus.decided:
                raise InputError(
                    f"recoding makes table {argus.number} anew, and what <APRIORI> decided is "
                    "lost; recode first"
                )
            variable = find(self._metadata_read, command.variable, "explanatory").name
            named = [
                find(self._metadata_read, n, "explanatory").name for n in argus.spec.explanatory
            ]
            if variable not in named:
                raise InputError(f"table {argus.number} has no variable {command.variable}")
            if command.file is not None:
                file = self._folders.find(command.file, path=self._batch.path, line=command.line)
                argus.recodes[variable] = read_recoding(file)
            else:
                assert command.level is not None
                argus.recodes[variable] = command.level
            self._make(argus, command.line)

    def _apriori(self, command: Apriori) -> None:
        argus = self._numbered(command.table)
        assert argus.table is not None
        assert argus.source is not None
        path = self._folders.find(command.file, path=self._batch.path, line=command.line)
        file = read_apriori(path, len(argus.spec.explanatory), command.separator)
        applied = apply_apriori(
            argus.table,
            file,
            manual=argus.rules.manual,
            expand_trivial=command.expand_trivial,
            weights=argus.source.weights,
        )
        if applied.faults:
            if not command.ignore_errors:
                raise applied.faults[0]
            count = len(applied.faults)
            self._note(
                f"{path.name}: {count} line{'s' * (count != 1)} could not be applied and "
                f"{'were' if count != 1 else 'was'} passed over, the first: {applied.faults[0]}"
            )
        argus.table = applied.table
        argus.decided = True
        argus.decided_costs |= any(decision.command == "C" for decision in file.decisions)
        argus.release = None
        self._record(f"{path.name} changed {applied.count} cells of table {argus.number}")
        self._told(argus)

    # --- Protection -----------------------------------------------------------------------------

    def _suppress(self, command: Suppress) -> None:
        how = treatment(command, self._note)
        if command.table == 0:
            if not self._tables:
                raise InputError("no table is specified; there is nothing to protect")
            self._suppress_linked(command, how)
            return
        argus = self._numbered(command.table)
        assert argus.table is not None
        table = how.prepared(argus.table)
        argus.release, argus.place = self._protected([argus], table, how, command), 0
        argus.how = command
        self._listener.on_release([argus.number], argus.release)

    def _suppress_linked(self, command: Suppress, how: Treatment) -> None:
        chosen = [self._numbered(each.number) for each in self._tables]
        tables = [how.prepared(each.table) for each in chosen if each.table is not None]
        release = self._protected(chosen, self._linked(chosen, tables), how, command)
        for place, argus in enumerate(chosen):
            argus.release, argus.place, argus.how = release, place, command
        self._listener.on_release([each.number for each in chosen], release)

    def _linked(self, chosen: Sequence[ArgusTable], tables: Sequence[Table]) -> Table:
        """Several tables as one, whatever has become of them so far."""
        named = zip(chosen, tables, strict=True)
        return link_tables([(f"table {a.number}", value_name(a.spec), t) for a, t in named])

    def _protected(
        self, chosen: Sequence[ArgusTable], table: Table, how: Treatment, command: Suppress
    ) -> Release:
        options = dict(how.options)
        if self._time_limit is not None:
            options["time_limit"] = self._time_limit
        path = self._batch.path
        job = Job(
            path=path,
            data=MadeTable(lambda _observer, _report: table, value_name(chosen[0].spec)),
            insiders=how.insiders,
            method=how.method,
            options=options,
            top=Section({}, path, {(): command.line}),
        )
        known = [each.source.tolerance for each in chosen if each.source is not None]
        tolerances = [each for each in known if each is not None]
        release = self._searched(job, how, max(tolerances, default=ADDITIVITY_TOLERANCE))
        told = ", ".join(str(each.number) for each in chosen)
        hidden = int(np.count_nonzero(release.published.is_hidden))
        self._record(
            f"table {told} is protected: {hidden} cells have no value; the audit found it safe"
        )
        return release

    def _searched(self, job: Job, how: Treatment, tolerance: float) -> Release:
        """The release of a job; with more time if needed, where minutes are for subtables."""
        limit = float(job.options.get("time_limit", Options.time_limit))
        last = MOST_ATTEMPTS if how.limits_parts and self._time_limit is None else 1
        for attempt in range(1, last + 1):
            try:
                return run_job(
                    job,
                    listener=SearchListener(self._listener, limit),
                    tolerance=tolerance,
                    time_limit=limit,
                )
            except NoReleaseError as error:
                found_nothing = error.outcome.stopped_by is StopReason.TIME and error.audit is None
                if attempt == last or not found_nothing:
                    raise
            limit *= MORE_TIME
            self._note(
                f"nothing safe was found in time; the search goes on for {limit:g} seconds, as "
                "minutes are for parts of a table in tau-ARGUS"
            )
        raise AssertionError("the last attempt returns or raises")

    def _write(self, command: WriteTable) -> None:
        argus = self._numbered(command.table)
        options = WriteOptions.parsed(command.options)
        target = self._target(command)
        self._refuse_inputs(target.with_suffix(ending) for ending in _BESIDE[command.format])
        if argus.release is None:
            argus.release, argus.place = self._as_it_is(argus, command), 0
        described = self._described(argus)
        written = write_argus(
            argus.release,
            target,
            command.format,
            options,
            frequency=argus.spec.response is None,
            described=described,
            table=argus.place,
            say=self._note,
        )
        report = write_argus_report(
            argus.release,
            target.with_name(f"{target.stem}-confidential.html"),
            specification=self._asked_for(argus),
            files=[path.name for path in written],
            described=described,
            table=argus.place,
        )
        for path in (*written, report):
            self._record(f"table {argus.number} is written to {path.name}")
        self._listener.on_written([*written, report])

    def _described(self, argus: ArgusTable) -> Described:
        """What metadata say of a table; its codes are aligned already."""
        response = argus.spec.response
        if response is None:
            return Described(response=value_name(argus.spec), decimals=0)
        variable = find(self._metadata_read, response, "numeric")
        return Described(response=variable.name, decimals=variable.decimals)

    def _asked_for(self, argus: ArgusTable) -> dict[str, str]:
        """What the batch file asks for, as it is written there."""
        lines = self._batch.lines
        asked = {"data": self._files[0].name, "metadata": self._files[1].name}
        asked["table"] = lines[argus.spec.line - 1]
        if argus.rule_line is not None:
            asked["rules"] = lines[argus.rule_line - 1]
        if argus.how is not None:
            asked["method"] = lines[argus.how.line - 1]
        return asked

    def _as_it_is(self, argus: ArgusTable, command: WriteTable) -> Release:
        """The release of a table that no <SUPPRESS> protects: only if it needs none."""
        assert argus.table is not None
        sensitive = int(np.count_nonzero(argus.table.is_sensitive))
        if sensitive:
            raise InputError(
                f"table {argus.number} has {sensitive} sensitive cells and no <SUPPRESS> before "
                "this line; as it is, they could be computed"
            )
        before = Suppress(line=command.line, method="OPT", table=argus.number)
        return self._protected([argus], argus.table, Treatment(method="suppress"), before)


_ABOUT_INPUT = (InputError, ProblemError, TableError, HierarchyError, MicrodataError)


_READS = OpenMicrodata | OpenTableData | OpenMetadata | Recode | Apriori
"""Commands that name files to read."""

_INPUTS = (".arb", ".asc", ".cdl", ".grc", ".hrc", ".hst", ".rda", ".tab")
"""Endings of files that batch files read."""

_BESIDE = {5: (".rda",), 6: (".frq",), **dict.fromkeys((1, 2, 3, 4, 7), ())}
"""Endings of the files that formats write beside the one that is named."""

MORE_TIME = 4
"""How many times as long a search may take that found nothing safe, where minutes are for parts."""
MOST_ATTEMPTS = 3


def _refuse_impossible(command: AnyCommand) -> None:
    """Refuse what has no counterpart, before any work is done."""
    match command:
        case Suppress():
            treatment(command, lambda _text: None)
        case SafetyRule():
            safety_rules(command.rules)
        case WriteTable():
            WriteOptions.parsed(command.options)
            if command.format not in FORMATS:
                raise InputError("format 7 is for the cell key method, which tacit does not have")


def _keyword(command: AnyCommand) -> str:
    return type(command).__name__.upper()
