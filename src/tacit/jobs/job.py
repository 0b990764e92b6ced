"""`Job`: what a TOML file says is to be done, from data to a published table."""

from __future__ import annotations

import dataclasses
import glob
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from tacit.errors import InputError
from tacit.io.previous import Previous
from tacit.jobs.hierarchies import Dimension, read_dimension
from tacit.jobs.outputs import Outputs, read_outputs
from tacit.jobs.sections import Section
from tacit.jobs.tables import LinkedTables, has_linked_tables, read_tables
from tacit.jobs.written import (
    HOW_WRITTEN,
    how_written,
    missing_codes,
    refuse_beside_layout,
    with_safe_missing,
)
from tacit.methods.recoding.run import Overlap
from tacit.methods.registry import DEFAULT_METHOD, METHODS, find_method
from tacit.microdata.file_names import is_remote, matching_files
from tacit.options import Options
from tacit.release.labels import Labels
from tacit.rules import (
    bounds_from_mapping,
    from_mapping,
    weighting_from_mapping,
)
from tacit.table import Bounds, Rule, Weighting
from tacit.table.insiders import Choice
from tacit.table.judging import Levels

if TYPE_CHECKING:
    from tacit.microdata import TabulationReport
    from tacit.observer import Observer
    from tacit.table import Table

TOP_KEYS = (
    "data",
    "dimensions",
    "tables",
    "equations",
    "recode",
    "rules",
    "wishes",
    "previous",
    "levels",
    "least_level",
    "bounds",
    "weights",
    "insiders",
    "coalition",
    "method",
    "outputs",
)
SOURCES = ("microdata", "database", "table", "jj")
MICRODATA_COLUMNS = ("value", "contributor", "holding", "weight", "shadow", "request")
POLICIES = ("unknown", "missing", "unreadable")
HOW_TO_READ = ("memory_limit", "temp_directory", "engine", *HOW_WRITTEN)
TABLE_COLUMNS = (
    "value",
    "count",
    "shadow",
    "weighted_count",
    "holding_count",
    "requested",
    "status",
    "weight",
    "lower",
    "upper",
    "lower_level",
    "upper_level",
    "sliding_level",
)
TABLE_LISTS = (
    "top",
    "top_weight",
    "holding_top",
    "top_requested",
    "top_contributor",
    "top_holding",
)
JOB_SUFFIX = ".toml"
_BATCH_SUFFIX = ".arb"
DATA_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".parquet", ".xlsx", ".xls")
_NOT_FOR_JJ = tuple(key for key in TOP_KEYS if key not in ("data", "method", "outputs"))


@dataclass(frozen=True, eq=False)
class Microdata:
    """Records to tabulate.

    Attributes:
        source: Paths or patterns of files, or a pair of a DuckDB database and a query.
        arguments: How to tabulate them, see `tacit.tabulate`.
        layout: The file that says where variables stand in records of fixed width.
    """

    source: list[str] | tuple[str, str]
    arguments: Mapping[str, Any]
    layout: Path | None = None


@dataclass(frozen=True, eq=False)
class CellFile:
    """A finished table in a CSV, Excel or Parquet file, one row per cell.

    Attributes:
        path: The file.
        columns: Which of its columns is what, see `Table.from_frame`.
        written: How the file is written, as far as the job says; see `tacit.read_columns`.
        missing: The code of cells whose own is missing: one, or one for each dimension.
    """

    path: Path
    columns: Mapping[str, Any]
    written: Mapping[str, Any] = field(default_factory=dict)
    missing: str | Mapping[str, str] | None = None

    def missing_code(self, dimension: str) -> str | None:
        """The code of cells whose own is missing, if there is one for this dimension."""
        given = self.missing
        return given.get(dimension) if isinstance(given, Mapping) else given

    @property
    def numbers(self) -> list[str]:
        """The columns that hold numbers."""
        codes = ("status", "cells", "top_contributor", "top_holding")
        named = [column for key, column in self.columns.items() if key not in codes]
        return [name for each in named for name in ([each] if isinstance(each, str) else each)]


@dataclass(frozen=True)
class JJFile:
    """A problem in a JJ file."""

    path: Path


@dataclass(frozen=True, eq=False)
class MadeTable:
    """A table that something else than a TOML file describes, such as a tau-ARGUS batch file.

    Attributes:
        make: Makes the table, given an observer and who is told about records.
        value: What the values are called.
        files: The files that are read.
    """

    make: Callable[[Observer | None, Callable[[TabulationReport], object] | None], Table]
    value: str
    files: tuple[Path, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """One job.

    Attributes:
        path: The file that it was read from.
        data: What the table is made from; None where it is named elsewhere.
        dimensions: The dimensions of the table; of linked tables those that are described for all.
        recodes: What to merge in some of them, see `tacit.recode`.
        overlap: What to do where a finished table cannot tell who contributes to merged cells.
        rules: The sensitivity rules.
        wishes: What is wished of cells, in words; see `tacit.Manual`.
        previous: What was published of the table last time.
        levels: Which protection levels count, see `Table.apply`.
        least_level: The level of cells for which rules imply none.
        bounds: What attackers know.
        weights: What a suppressed cell costs, where that is not as the data say; for a JJ file, by
            `unit` or `value`.
        insiders: Which contributors attack, see `tacit.protect`; None for the default.
        coalition: How many of them may pool what they know.
        method: How to protect.
        options: The options of the method.
        outputs: What to write.
        top: The whole file, to say where something is wrong.
    """

    path: Path
    data: Microdata | CellFile | JJFile | MadeTable | LinkedTables
    dimensions: Mapping[str, Dimension] = field(default_factory=dict)
    recodes: Mapping[str, Any] = field(default_factory=dict)
    overlap: Overlap = "refuse"
    rules: tuple[Rule, ...] = ()
    wishes: tuple[str, ...] = ()
    previous: Previous | None = None
    levels: Levels = "both"
    least_level: float | None = None
    bounds: Bounds | None = None
    weights: Weighting | None = None
    insiders: str | None = None
    coalition: int = 1
    method: str = DEFAULT_METHOD
    options: Mapping[str, Any] = field(default_factory=dict)
    outputs: Outputs = field(default_factory=Outputs)
    top: Section

    @property
    def value_name(self) -> str:
        """What the values are called."""
        if isinstance(self.data, Microdata):
            return str(self.data.arguments.get("value") or "records")
        if isinstance(self.data, MadeTable):
            return self.data.value
        if isinstance(self.data, LinkedTables):
            variables = self.data.variables
            return variables[0] if len(variables) == 1 else "value"
        return str(self.data.columns["value"]) if isinstance(self.data, CellFile) else "value"

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that it reads."""
        read: list[Path] = [self.path]
        sources: list[Any] = [self.data]
        if isinstance(self.data, LinkedTables):
            sources = [table.data for table in self.data.tables]
        for data in sources:
            if isinstance(data, Microdata):
                source = data.source
                for name in source if isinstance(source, list) else source[:1]:
                    read += map(Path, matching_files(name) or [name])
                read += [] if data.layout is None else [data.layout]
            elif isinstance(data, MadeTable):
                read += data.files
            elif data.path != self.path:
                read.append(data.path)
        hierarchies = [file for given in self.all_dimensions for file in given.files]
        marks = [getattr(rule, "marks", None) for rule in self.rules]
        if self.previous is not None:
            given = self.previous.table
            marks += given if isinstance(given, list) else [given]
        others = [*hierarchies, *(file for file in marks if isinstance(file, Path))]
        return (*read, *(file for file in others if file is not None))

    @property
    def all_dimensions(self) -> list[Dimension]:
        """Its dimensions, with those that only one of several tables has as they are."""
        found = [*self.dimensions.values()]
        if isinstance(self.data, LinkedTables):
            found += [each for table in self.data.tables for each in table.dimensions.values()]
        return found

    @property
    def table_names(self) -> tuple[str, ...]:
        """The names of its linked tables; none where it has one table."""
        return self.data.names if isinstance(self.data, LinkedTables) else ()

    def with_options(self, options: Mapping[str, Any], method: str | None = None) -> Job:
        """The job with options of its method, or of another one, in place of its own.

        Raises:
            InputError: An option is unknown to the method, or cannot be what it is.
        """
        name = method or self.method
        kind = find_method(name).options()
        # Options of another method mean nothing to this one, except those that all have.
        common = Options.__dataclass_fields__ if name != self.method else None
        kept = {k: v for k, v in self.options.items() if common is None or k in common}
        found = {**kept, **options}
        kind.from_mapping(found)
        return self.replace(method=name, options=found)

    def refuse_labels_without_codes(self, labels: Labels | None) -> None:
        """Refuse a place for labels where no dimension has any.

        Raises:
            InputError: At the line of the outputs.
        """
        if labels is not None and not any(given.labels for given in self.all_dimensions):
            raise (self.top.section("outputs") or self.top).fault(
                "no dimension has labels to show; give it some under [dimensions], or leave out "
                "'labels' here",
                "labels",
            )

    def replace(self, **changes: Any) -> Job:
        """The same job with something changed."""
        return dataclasses.replace(self, **changes)


def open_job(path: str | Path) -> Job:
    """A job by the name of its file: a TOML file, or a JJ file as a job with one source.

    Args:
        path: A .toml file, or a JJ file.

    Raises:
        InputError: The name is that of data, or the job cannot be read.
    """
    path = Path(path)
    if path.suffix.lower() == JOB_SUFFIX:
        return read_job(path)
    if path.name.lower().endswith(DATA_SUFFIXES):
        raise InputError(
            "this is data; a job in a .toml file says which table to make of it (tacit demo writes "
            "one)",
            path=path,
        )
    if path.suffix.lower() == _BATCH_SUFFIX:
        raise InputError(
            f"this is a tau-ARGUS batch file; run it with: tacit argus {path}", path=path
        )
    return Job(path=path, data=JJFile(path), top=Section({}, path, {}))


def read_job(path: str | Path, *, microdata: str | None = None) -> Job:
    """Read a job from a TOML file.

    Args:
        path: The file; paths in it are relative to its folder.
        microdata: Files to tabulate in place of what the job names.

    Raises:
        InputError: Something is not TOML, unknown or of the wrong type; the error names the line.
    """
    return _job(Section.read(Path(path)), microdata)


def job_from_mapping(given: Mapping[str, Any], path: str | Path) -> Job:
    """A job from what its TOML file would say, such as what somebody has filled in so far.

    Args:
        given: The keys of the file.
        path: Where the file would be: paths are relative to its folder.

    Raises:
        InputError: Something is unknown or of the wrong type; its `key` says what.
    """
    return _job(Section(given, Path(path), {}))


def _job(top: Section, microdata: str | None = None) -> Job:
    top.refuse_unknown(TOP_KEYS)
    data: Microdata | CellFile | JJFile | LinkedTables
    dimensions: dict[str, Dimension] = {}
    if has_linked_tables(top):
        # Tables may describe all of their dimensions themselves.
        if "dimensions" in top.given or "tables" not in top.given:
            dimensions = _dimensions(top)
        data = read_tables(top, dimensions, partial(_table_source, microdata))
    else:
        data = _data(top, microdata)
    if isinstance(data, JJFile):
        for key in _NOT_FOR_JJ:
            if key in top.given:
                raise top.fault(f"a JJ file describes its cells completely: leave out {key!r}", key)
    elif not isinstance(data, LinkedTables):
        dimensions = _dimensions(top)
    job = Job(
        path=top.file,
        data=data,
        dimensions=dimensions,
        top=top,
        **_recodes(top),
        **_judging(top),
        previous=_previous(top),
        **read_insiders(top),
        **_method(top),
        outputs=_outputs(top, data),
    )
    job.refuse_labels_without_codes(job.outputs.presentation.labels)
    return with_safe_missing(job)


def _data(top: Section, microdata: str | None) -> Microdata | CellFile | JJFile:
    section = top.section("data")
    if section is None:
        raise top.fault("there is no [data]; it names what to protect")
    return _source(section, microdata)


def _table_source(microdata: str | None, section: Section) -> Microdata | CellFile:
    """What one of several linked tables is made from."""
    if "jj" in section.given:
        raise section.fault("a JJ file is one problem; leave out [[tables]]", "jj")
    found = _source(section, microdata)
    assert not isinstance(found, JJFile)
    return found


def _source(section: Section, microdata: str | None) -> Microdata | CellFile | JJFile:
    named = [key for key in SOURCES if key in section.given]
    kind = "microdata" if microdata is not None else named[0] if named else None
    if microdata is None and len(named) > 1:
        raise section.fault(f"give {named[0]!r} or {named[1]!r}, not both", named[1])
    if kind in ("microdata", "database"):
        return _microdata(section, microdata)
    if kind == "table":
        return _cell_file(section)
    if kind == "jj":
        section.refuse_unknown(("jj",))
        path = section.path("jj")
        assert path is not None
        return JJFile(path)
    known = (*SOURCES, *_MICRODATA_KEYS, *TABLE_COLUMNS, *TABLE_LISTS, "cells")
    section.refuse_unknown(known)
    raise section.fault(f"nothing says what to read; name it with one of {', '.join(SOURCES)}")


_MICRODATA_KEYS = (
    *MICRODATA_COLUMNS,
    "top",
    *POLICIES,
    "keep_empty",
    *HOW_TO_READ,
    "layout",
    "query",
)


def _microdata(section: Section, microdata: str | None) -> Microdata:
    section.refuse_unknown(("microdata", "database", *_MICRODATA_KEYS))
    arguments: dict[str, Any] = {key: section.text(key) for key in MICRODATA_COLUMNS}
    arguments |= {key: section.one_of(key, ("refuse", "drop")) for key in ("unknown", "unreadable")}
    arguments["missing"] = missing_codes(section)
    arguments |= how_written(section)
    arguments["top"] = section.get("top", int)
    arguments["keep_empty"] = section.get("keep_empty", bool)
    arguments["memory_limit"] = section.text("memory_limit")
    arguments["temp_directory"] = section.path("temp_directory")
    arguments["engine"] = section.one_of("engine", ("auto", "duckdb", "spark"))
    given = {key: argument for key, argument in arguments.items() if argument is not None}
    database, query = section.path("database"), section.text("query")
    layout = section.path("layout")
    if layout is not None:
        refuse_beside_layout(section)
    if microdata is not None:
        return Microdata([microdata], given, layout)
    if database is not None:
        if query is None:
            raise section.fault("a database needs a 'query', or the name of a table", "database")
        return Microdata((str(database), query), given)
    if query is not None:
        raise section.fault("'query' needs a 'database', which is not given", "query")
    names = section.texts("microdata") or []
    return Microdata([_from_folder(section.file.parent, name) for name in names], given, layout)


def _from_folder(folder: Path, name: str) -> str:
    """A file or pattern that is relative to a folder, whatever the folder is called."""
    path = folder / name
    if is_remote(name):
        return name
    literal = os.path.lexists(path) or not glob.has_magic(name)
    return str(path if literal else Path(glob.escape(str(folder))) / name)


def _cell_file(section: Section) -> CellFile:
    section.refuse_unknown(
        ("table", *TABLE_COLUMNS, *TABLE_LISTS, "cells", "missing", *HOW_WRITTEN)
    )
    missing = missing_codes(section)
    if isinstance(missing, str):
        raise section.fault(
            "the cells of a finished table are not dropped: leave out 'missing', or give a code",
            "missing",
        )
    columns: dict[str, Any] = {key: section.text(key) for key in TABLE_COLUMNS}
    columns |= {key: section.texts(key) for key in TABLE_LISTS}
    columns["cells"] = section.one_of("cells", ("auto", "all", "finest"))
    path = section.path("table")
    assert path is not None
    given = {key: column for key, column in columns.items() if column is not None}
    code = None if missing is None else missing["code"]
    return CellFile(path, {"value": "value", **given}, how_written(section), code)


def _dimensions(top: Section) -> dict[str, Dimension]:
    section = top.section("dimensions")
    if section is None or not section.given:
        raise top.fault("there are no [dimensions]; name the columns with the codes of the table")
    found = {}
    for name in section.given:
        inner = section.section(name)
        assert inner is not None
        found[name] = read_dimension(inner)
    return found


def _recodes(top: Section) -> dict[str, Any]:
    """What to merge, dimension by dimension; whether it is possible shows with the table."""
    section = top.section("recode")
    if section is None:
        return {}
    dimensions = top.section("dimensions")
    named = [] if dimensions is None else [*dimensions.given]
    for table in top.sections("tables"):
        named += [name for name in table.texts("dimensions") or () if name not in named]
    section.refuse_unknown([*named, "overlap"])
    recodes = {name: section.get(name, int, list, dict) for name in section.given if name in named}
    found: dict[str, Any] = {"recodes": recodes}
    if "overlap" not in named:
        found["overlap"] = section.one_of("overlap", get_args(Overlap)) or "refuse"
    return found


def _judging(top: Section) -> dict[str, Any]:
    """Rules, levels, bounds and weights."""
    rules = []
    for section in top.sections("rules"):
        try:
            rules.append(from_mapping(section.given, section.name, section.file.parent))
        except InputError as error:
            raise section.blame(error) from None
    found: dict[str, Any] = {"rules": tuple(rules), "least_level": top.get("least_level", float)}
    found["wishes"] = tuple(top.texts("wishes") or ())
    levels = top.one_of("levels", get_args(Levels))
    if levels is not None:
        found["levels"] = levels
    bounds = top.section("bounds")
    if bounds is not None:
        try:
            found["bounds"] = bounds_from_mapping(bounds.given, bounds.name)
        except InputError as error:
            raise bounds.blame(error) from None
    weights = top.get("weights", str, dict)
    if weights is not None:
        place = top.section("weights") if isinstance(weights, dict) else None
        try:
            found["weights"] = weighting_from_mapping(weights, "weights")
        except InputError as error:
            found_at = top.blame(error, ("weights",)) if place is None else place.blame(error)
            raise found_at from None
    return found


def _previous(top: Section) -> Previous | None:
    """The last publication, and how close to stay to it."""
    section = top.section("previous")
    if section is None:
        return None
    section.refuse_unknown(("table", "keep", "unchanged", "must_stay", "value"))
    if "table" not in section.given:
        raise section.fault("the key 'table' is missing; it names the last publication")
    several = isinstance(section.given.get("unchanged"), list)
    given: dict[str, Any] = {
        "table": [section.file.parent / name for name in section.texts("table") or []],
        "keep": section.get("keep", float),
        "unchanged": section.texts("unchanged") if several else section.text("unchanged"),
        "must_stay": section.get("must_stay", bool),
        "value": section.text("value"),
    }
    try:
        return Previous(**{key: entry for key, entry in given.items() if entry is not None})
    except InputError as error:
        raise section.blame(error) from None


def read_insiders(top: Section) -> dict[str, Any]:
    """Which contributors attack, and how many of them together."""
    choice, coalition = top.one_of("insiders", get_args(Choice)), top.get("coalition", int)
    if coalition is not None:
        if coalition < 1:
            raise top.fault("'coalition' must be a whole number of at least 1", "coalition")
        if choice == "none":
            raise top.fault("'coalition' has no effect where insiders is none", "coalition")
    return {"insiders": choice, "coalition": coalition or 1}


def _method(top: Section) -> dict[str, Any]:
    if isinstance(top.given.get("method"), str):
        # A method without options may be named by itself.
        name, section = top.one_of("method", [*METHODS]) or "", None
    else:
        section = top.section("method")
        given = None if section is None else section.one_of("name", [*METHODS])
        name = given or DEFAULT_METHOD
    options = {} if section is None else {k: v for k, v in section.given.items() if k != "name"}
    if section is not None:
        kind = find_method(name).options()
        known = [option.name for option in dataclasses.fields(kind)]
        section.refuse_unknown(["name", *known])
        try:
            kind.from_mapping(options)
        except InputError as error:
            raise section.blame(error) from None
    return {"method": name, "options": options}


def _outputs(top: Section, data: object) -> Outputs:
    """What is written where, of each of linked tables as well."""
    linked = data.tables if isinstance(data, LinkedTables) else ()
    found = read_outputs(top, linked)
    try:
        return found.for_tables([table.name for table in linked])
    except InputError as error:
        raise (top.section("outputs") or top).blame(error) from None
