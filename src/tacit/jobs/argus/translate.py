"""Batch files of tau-ARGUS translated into jobs: TOML files that do the same."""

from __future__ import annotations

import csv
import dataclasses
import io
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from tacit.errors import InputError, first_few
from tacit.hierarchy import Hierarchy
from tacit.io.argus.batch import BatchFile, read_batch
from tacit.io.argus.commands import Suppress, WriteTable
from tacit.io.cells import confidential, write_columns
from tacit.io.files import replacing
from tacit.jobs.argus.listener import ArgusListener
from tacit.jobs.argus.methods import Treatment, treatment
from tacit.jobs.argus.session import ArgusTable, Session
from tacit.jobs.argus.sources import FromMicrodata, value_name
from tacit.jobs.job import JOB_SUFFIX
from tacit.jobs.toml import toml_key, toml_section, toml_value
from tacit.microdata.quoting import quoted_name
from tacit.rules import MissingSafe
from tacit.rules.rule import SensitivityRule
from tacit.table import CellStatus, Table

_LEVELS = ("lower_level", "upper_level")
_COLUMNS = ("value", "shadow", "holding", "weight", "request")
_OWN = ("value", "shadow")
"""What each of several linked tables may have columns of its own for."""


def translate_argus(
    path: str | Path,
    target: str | Path,
    *,
    listener: ArgusListener | None = None,
    within: Path | None = None,
) -> list[Path]:
    """Translate a batch file into jobs, one for each table that it protects.

    Data become Parquet or CSV files beside the jobs, and what is decided about single cells a CSV
    file with marks; all of them are confidential. Codes lose the blanks around them.

    Args:
        path: The batch file.
        target: The job to write, a name in `.toml`; of several tables each gets its number.
        listener: Told about what has no counterpart in a job.
        within: Refuse to read files outside this folder; by default they may lie anywhere.

    Returns:
        The jobs.

    Raises:
        InputError: The batch file is wrong, or a table cannot be described by a job.
    """
    path, target = Path(path), Path(target)
    if target.suffix.lower() != JOB_SUFFIX:
        raise InputError(f"the name of a job must end in {JOB_SUFFIX}", path=target)
    if not target.parent.is_dir():
        raise InputError("this is not a folder; create it", path=target.parent)
    with _Translation(read_batch(path), target, listener or ArgusListener()) as session:
        session.read_within(within)
        session.run()
        return session.write()


@dataclasses.dataclass(eq=False)
class _Translated:
    """A job as far as it is written: its parts, and the files that it publishes.

    Attributes:
        target: Its file.
        sections: Its parts before its tables.
        after: Those after them.
        tables: What it says of each of several linked tables.
        published: What it publishes; linked tables say it themselves.
    """

    target: Path
    sections: list[str]
    after: list[str]
    tables: dict[ArgusTable, dict[str, Any]] = dataclasses.field(default_factory=dict)
    published: list[str] = dataclasses.field(default_factory=list)


class _Translation(Session):
    """A batch file of which the data are read, but nothing is protected."""

    def __init__(self, batch: BatchFile, target: Path, listener: ArgusListener):
        super().__init__(batch, target.parent, None, listener)
        count = sum(isinstance(command, Suppress) for command in batch.commands)
        self._names = [target]
        if count > 1:
            self._names = [
                target.with_name(f"{target.stem}-{place}{target.suffix}")
                for place in range(1, count + 1)
            ]
        self._jobs: list[_Translated] = []
        self._job_of: dict[ArgusTable, _Translated] = {}

    def read_within(self, folder: Path | None) -> None:
        """Refuse files outside a folder."""
        self._folders.within = folder

    def write(self) -> list[Path]:
        """Write the jobs, once everything is known about them."""
        if not self._jobs:
            raise InputError(
                "nothing is protected: there is no <SUPPRESS> to translate", path=self._batch.path
            )
        for job in self._jobs:
            outputs = {"published": job.published}
            sections = [
                *job.sections,
                *(toml_section("[tables]", given) for given in job.tables.values()),
                *job.after,
                *([toml_section("outputs", outputs)] if job.published else []),
            ]
            with replacing(job.target, confidential=True) as stream:
                stream.write(("\n\n".join(sections) + "\n").encode())
        return [job.target for job in self._jobs]

    def _keep_log(self, target: Path) -> None:
        """Nothing is run: there is nothing to keep account of."""

    def _write_version(self, target: Path) -> None:
        """Nothing is run."""

    def _write(self, command: WriteTable) -> None:
        argus = self._numbered(command.table)
        if argus not in self._job_of:
            raise InputError(
                f"table {command.table} has no <SUPPRESS> before this line; a job protects a table "
                "before it writes it"
            )
        job, file = self._job_of[argus], f"{self._target(command).stem}.csv"
        published: list[str] = job.published
        if argus in job.tables:
            published = job.tables[argus].setdefault("published", [])
        if file not in published:
            published.append(file)

    def _suppress(self, command: Suppress) -> None:
        how = treatment(command, self._note)
        chosen = self._tables if command.table == 0 else [self._numbered(command.table)]
        if not chosen:
            raise InputError("no table is specified; there is nothing to protect")
        for argus in chosen:
            self._numbered(argus.number)
        if how.known_percent is not None:
            self._note(
                f"line {command.line}: within how many percent attackers know cells is not "
                "translated; give [bounds] in the job"
            )
        target = self._names[len(self._jobs)]
        job = self._translated(target, chosen, how)
        self._jobs.append(job)
        self._job_of |= dict.fromkeys(chosen, job)

    def _translated(
        self, target: Path, chosen: Sequence[ArgusTable], how: Treatment
    ) -> _Translated:
        sources = [argus.source for argus in chosen if argus.source is not None]
        numbers = [str(argus.number) for argus in chosen]
        sections = [
            f"# Translated from {self._batch.path.name}, "
            f"{'table' if len(chosen) == 1 else 'tables'} {', '.join(numbers)}.\n"
            "# Confidential: readers must not know the parameters of rules."
        ]
        if how.insiders is not None:
            sections.append(f"insiders = {toml_value(how.insiders)}")
        data, of_tables = self._source(target, chosen)
        sections.append(toml_section("data", data))
        shared: dict[str, Hierarchy] = {}
        own: list[dict[str, Hierarchy]] = []
        for source in sources:
            own.append({})
            for name, hierarchy in source.by.items():
                _refuse_alike(name, hierarchy)
                if not _is_same(shared.setdefault(name, hierarchy), hierarchy):
                    own[-1][name] = hierarchy
        sections += [
            toml_section(f"dimensions.{toml_key(name)}", _written_out(hierarchy))
            for name, hierarchy in shared.items()
        ]
        tables: dict[ArgusTable, dict[str, Any]] = {}
        if len(chosen) > 1:
            for argus, source, given, others in zip(chosen, sources, of_tables, own, strict=True):
                tables[argus] = {"name": _name(argus), "dimensions": [*source.by], **given}
                if others:
                    tables[argus]["hierarchies"] = {
                        name: _written_out(hierarchy) for name, hierarchy in others.items()
                    }
        # Every table with a dimension has to be recoded alike.
        recoded = [{**dict.fromkeys(s.by), **_stripped(s.merged)} for s in sources]
        merged = _agreed(recoded, chosen, "recodings")
        merged = {name: given for name, given in merged.items() if given is not None}
        after = [toml_section("recode", merged)] if merged else []
        plain = [[r for r in s.rules if isinstance(r, SensitivityRule)] for s in sources]
        after += [toml_section("[rules]", given) for given in _common_rules(plain, chosen)]
        by_hand = any(len(p) < len(s.rules) for p, s in zip(plain, sources, strict=True))
        if by_hand or any(a.decided for a in chosen):
            ruled = self._linked(
                chosen, [s.table.apply(*p) for s, p in zip(sources, plain, strict=True)]
            )
            judged = [argus.table for argus in chosen if argus.table is not None]
            marks = _marks(self._linked(chosen, judged), ruled)
            if marks:
                name = f"{target.stem}-marks.confidential.csv"
                _write_marks(marks, target.with_name(name))
                manual = {"rule": "manual", "marks": name, "override": True}
                after.append(toml_section("[rules]", manual))
        weights = [self._weights(argus, how) for argus in chosen]
        for argus, each in zip(chosen, weights, strict=True):
            if each != weights[0]:
                raise _different(argus, chosen[0], "costs")
        after.append(toml_section("weights", weights[0]))
        after.append(toml_section("method", {"name": how.method, **how.options}))
        return _Translated(target, sections, after, tables=tables)

    def _weights(self, argus: ArgusTable, how: Treatment) -> dict[str, Any]:
        assert argus.source is not None
        weights = argus.source.weights
        if how.unit_weights:
            return {"by": "unit"}
        if not isinstance(weights.by, str) or argus.decided_costs:
            raise InputError(
                f"table {argus.number} has costs of its own (a variable that is neither response "
                "nor shadow, or an a priori file); they cannot be translated, run the batch file"
            )
        return {"by": weights.by, "power": float(weights.power)}

    def _source(
        self, target: Path, chosen: Sequence[ArgusTable]
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """What [data] says, and what each of several tables says in its place."""
        sources = [argus.source for argus in chosen if argus.source is not None]
        if isinstance(self._maker, FromMicrodata):
            records = target.with_name(f"{target.stem}-records.confidential.parquet")
            arguments = [
                {name: value for name, value in source.arguments.items() if value is not None}
                for source in sources
            ]
            codes = dict.fromkeys(name for source in sources for name in source.by)
            others = dict.fromkeys(
                given[name] for given in arguments for name in _COLUMNS if name in given
            )
            columns = [f"trim({quoted_name(name)}) AS {quoted_name(name)}" for name in codes]
            columns += [quoted_name(name) for name in others if name not in codes]
            query = f"SELECT {', '.join(columns)} FROM ({self._maker.records().query})"
            # DuckDB makes a file that others could read: in a folder that they cannot enter.
            with tempfile.TemporaryDirectory(prefix="tacit-") as folder:
                made = Path(folder) / "records.parquet"
                with duckdb.connect() as connection:
                    connection.sql(query).write_parquet(str(made))
                with replacing(records, confidential=True) as stream, open(made, "rb") as content:
                    shutil.copyfileobj(content, stream)
            if len(chosen) == 1:
                return {"microdata": records.name, **arguments[0]}, [{}]
            own = [{n: given.pop(n) for n in _OWN if n in given} for given in arguments]
            # How many of the largest are kept follows from the rules, which are the same.
            common = _agreed(arguments, chosen, "holdings, weights or requests")
            return {"microdata": records.name, **common}, own
        found: list[dict[str, Any]] = []
        for argus, source in zip(chosen, sources, strict=True):
            number = f"-{argus.number}" if len(chosen) > 1 else ""
            cells = target.with_name(f"{target.stem}-table{number}.confidential.csv")
            frame = confidential(source.table.to_frame("dict"))
            frame = {name: column for name, column in frame.items() if name != "status"}
            write_columns(frame, cells)
            named: dict[str, Any] = {"table": cells.name, "value": "value"}
            named |= {name: name for name in ("count", "shadow", "weight") if name in frame}
            tops = [name for name in frame if name.startswith("top_")]
            found.append(named | ({"top": tops} if tops else {}))
            if len(chosen) > 1:
                found[-1]["variable"] = value_name(argus.spec)
        return (found[0], [{}]) if len(chosen) == 1 else ({}, found)


def _name(argus: ArgusTable) -> str:
    return f"table-{argus.number}"


def _different(one: ArgusTable, other: ArgusTable, what: str) -> InputError:
    return InputError(
        f"tables {other.number} and {one.number} are linked and differ in their {what}; a job has "
        "one set for all of its tables, run the batch file"
    )


def _common_rules(
    rules: Sequence[Sequence[SensitivityRule]], chosen: Sequence[ArgusTable]
) -> list[dict[str, Any]]:
    """The parameters of the rules of all tables, with the missing codes of all dimensions."""
    lost = [
        {k: v for r in own if isinstance(r, MissingSafe) for k, v in r.codes.items()}
        for own in rules
    ]
    codes = _agreed(lost, chosen, "codes for missing ones")

    def parameters(own: Sequence[SensitivityRule]) -> list[dict[str, Any]]:
        return [
            _parameters(
                dataclasses.replace(rule, codes=codes) if isinstance(rule, MissingSafe) else rule
            )
            for rule in own
        ]

    for argus, own in zip(chosen[1:], rules[1:], strict=True):
        if parameters(own) != parameters(rules[0]):
            raise _different(argus, chosen[0], "rules")
    return parameters(rules[0])


def _agreed(
    given: Sequence[dict[str, Any]], chosen: Sequence[ArgusTable], what: str
) -> dict[str, Any]:
    """What all tables say, where none contradicts another about the same thing."""
    found: dict[str, Any] = {}
    for argus, each in zip(chosen, given, strict=True):
        for name, value in each.items():
            if found.setdefault(name, value) != value:
                raise _different(argus, chosen[0], what)
    return found


def _is_same(one: Hierarchy, other: Hierarchy) -> bool:
    return one.codes == other.codes and np.array_equal(one.parent, other.parent)


def _written_out(hierarchy: Hierarchy) -> dict[str, Any]:
    labels = {code.strip(): label for code, label in hierarchy.labels.items()}
    return {
        "total": hierarchy.total.strip(),
        "codes": _nested(hierarchy, 0),
        **({"labels": labels} if labels else {}),
    }


def _refuse_alike(name: str, hierarchy: Hierarchy) -> None:
    """Jobs read codes without the blanks around them."""
    texts = [code.strip() for code in hierarchy.codes]
    alike = [text for text in dict.fromkeys(texts) if texts.count(text) > 1 or not text]
    if alike:
        raise InputError(
            f"variable {name} has codes that differ by blanks only ({first_few(alike)}); a job "
            "cannot tell them apart, run the batch file"
        )


def _marks(table: Table, ruled: Table) -> dict[str, Any]:
    """What rules of a job alone would not find, as columns of a file with marks.

    Args:
        table: The table with everything that was decided.
        ruled: The table as these rules judge it.
    """
    sensitive = table.is_sensitive
    more = sensitive & ~ruled.is_sensitive
    levels: dict[str, Any] = {}
    for name in _LEVELS:
        wanted, found = (
            np.zeros(table.cell_count) if column is None else np.nan_to_num(column)
            for column in (getattr(table, name), getattr(ruled, name))
        )
        more |= sensitive & (wanted > found)
        levels[name] = np.where(sensitive, wanted, np.nan)
    publish = np.asarray(table.status == CellStatus.PUBLISH.value)
    spared = ruled.is_sensitive & ~sensitive & ~publish
    told = np.flatnonzero(more | publish | spared)
    if not len(told):
        return {}
    status = np.where(publish, "publish", np.where(sensitive, "sensitive", "safe"))
    columns = {name: column[told] for name, column in table.cell_keys().items()}
    return {**columns, "status": status[told], **{n: c[told] for n, c in levels.items()}}


def _write_marks(marks: Mapping[str, Any], path: Path) -> None:
    """Columns as CSV; nothing stands where there is no number."""
    texts = [
        ["" if entry != entry else str(entry) for entry in column.tolist()]
        for column in marks.values()
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(marks)
    writer.writerows(zip(*texts, strict=True))
    with replacing(path, confidential=True) as stream:
        stream.write(text.getvalue().encode())


def _nested(hierarchy: Hierarchy, position: int) -> Any:
    """What lies below a code: a list of codes, or each code with what lies below it."""
    children = np.flatnonzero(hierarchy.parent == position).tolist()
    if all(hierarchy.is_leaf[child] for child in children):
        return [hierarchy.codes[child].strip() for child in children]
    return {hierarchy.codes[child].strip(): _nested(hierarchy, child) for child in children}


def _stripped(merged: Mapping[str, Any]) -> dict[str, Any]:
    """Recodes by codes without blanks around them."""
    return {
        name: {new.strip(): [old.strip() for old in members] for new, members in given.items()}
        if isinstance(given, Mapping)
        else given
        for name, given in merged.items()
    }


def _parameters(rule: SensitivityRule) -> dict[str, Any]:
    given: dict[str, Any] = {"rule": rule.key}
    for field in dataclasses.fields(rule):
        value = getattr(rule, field.name)
        if value is not None and value != field.default:
            given[field.name] = value
    return given
