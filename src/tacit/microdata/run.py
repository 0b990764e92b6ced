"""`tabulate`: from microdata to a table with every total."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, overload

import numpy as np

from tacit.errors import HierarchyError, InputError, StoppedError, about
from tacit.hierarchy import Hierarchy
from tacit.microdata.cells import Cells, leaf_shape
from tacit.microdata.contributions import Tally, listed_count
from tacit.microdata.file_format import Reading
from tacit.microdata.report import Finding, MicrodataError, TabulationReport, refuse
from tacit.microdata.sources import Files, SparkFrame, recognise
from tacit.microdata.specification import (
    Specification,
    flat_hierarchy,
    missing_policy,
    with_missing_code,
)
from tacit.observer import Observer
from tacit.problem import Integers
from tacit.table import Grid, Table

Policy = Literal["refuse", "drop"]

MOST_CELLS_WITH_EMPTY = 20_000_000
"""At most this many cells are tabulated where empty ones are kept."""


class Microdata(Protocol):
    """What every engine does."""

    backend: str | None
    record_count: int

    @property
    def notes(self) -> list[str]:
        """What was guessed about how the source is written, once prepared."""

    def codes(self, column: str) -> list[str]:
        """The codes that occur in a column."""

    def prepare(self, dimensions: Mapping[str, Hierarchy]) -> Integers:
        """Number codes and contributors; the leaf keys that occur, increasing."""

    def has_faults(self) -> bool:
        """Whether anything is wrong with any record."""

    def findings(self, dimensions: Mapping[str, Hierarchy]) -> list[Finding]:
        """What is wrong with the records."""

    def fill(
        self, cells: Cells, tallies: Mapping[str, Tally], progress: Callable[[int, int], None]
    ) -> dict[str, int]:
        """Add all records to the tallies; the number of records in each."""


@overload
def tabulate(
    source: Any,
    by: Mapping[str, Hierarchy | None],
    value: str | None = None,
    *,
    contributor: str | None = None,
    holding: str | None = None,
    weight: str | None = None,
    shadow: str | None = None,
    request: str | None = None,
    top: int = 2,
    unknown: Policy = "refuse",
    missing: Policy | Mapping[str, Any] = "refuse",
    unreadable: Policy = "refuse",
    keep_empty: bool = False,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    sheet: str | int | None = None,
    memory_limit: str | None = None,
    temp_directory: str | Path | None = None,
    engine: Literal["auto", "duckdb", "spark"] = "auto",
    report: Callable[[TabulationReport], object] | None = None,
    observer: Observer | None = None,
) -> Table: ...
@overload
def tabulate(
    source: Any,
    by: Mapping[str, Hierarchy | None],
    value: Sequence[str],
    *,
    contributor: str | None = None,
    holding: str | None = None,
    weight: str | None = None,
    shadow: str | None = None,
    request: str | None = None,
    top: int = 2,
    unknown: Policy = "refuse",
    missing: Policy | Mapping[str, Any] = "refuse",
    unreadable: Policy = "refuse",
    keep_empty: bool = False,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    sheet: str | int | None = None,
    memory_limit: str | None = None,
    temp_directory: str | Path | None = None,
    engine: Literal["auto", "duckdb", "spark"] = "auto",
    report: Callable[[TabulationReport], object] | None = None,
    observer: Observer | None = None,
) -> dict[str, Table]: ...
def tabulate(
    source: Any,
    by: Mapping[str, Hierarchy | None],
    value: str | Sequence[str] | None = None,
    *,
    contributor: str | None = None,
    holding: str | None = None,
    weight: str | None = None,
    shadow: str | None = None,
    request: str | None = None,
    top: int = 2,
    unknown: Policy = "refuse",
    missing: Policy | Mapping[str, Any] = "refuse",
    unreadable: Policy = "refuse",
    keep_empty: bool = False,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    sheet: str | int | None = None,
    memory_limit: str | None = None,
    temp_directory: str | Path | None = None,
    engine: Literal["auto", "duckdb", "spark"] = "auto",
    report: Callable[[TabulationReport], object] | None = None,
    observer: Observer | None = None,
) -> Table | dict[str, Table]:
    """Tabulate microdata over crossed hierarchies, with every total that is not empty.

    Counts and largest contributions are those of contributors, not of records: the records of a
    contributor in a cell are added up first, in each total anew.

    Args:
        source: A data frame (pandas, polars, pyarrow, a dict of columns), the path or glob
            pattern of Parquet, CSV or Excel files or a list of them, a DuckDB relation, a pair of a
            DuckDB database (path or connection) and a table or query, or a Spark data frame.
        by: The dimensions (columns with codes) and their hierarchies. None puts the codes that
            occur below one total. Records need a finest code of each hierarchy.
        value: The column to add up, or several for a table each. None counts records.
        contributor: The column that identifies the contributor of each record. None takes
            each record for a contributor.
        holding: The column that says which holding a contributor belongs to; contributors
            without are holdings of their own. What a holding contributes is what it adds to
            the total, sampling weights included.
        weight: The column with sampling weights: a record with weight w stands for w of them.
            Values are weighted, the largest contributions are not but come with their weights.
            A contributor has the average weight of its records, weighted by the size of what
            they report.
        shadow: The column that the rules judge in place of the value; the largest contributions
            are then those to this column.
        request: The column that is true (1, yes) where a contributor asks for protection. One of
            its records suffices.
        top: How many of the largest contributions to keep, by size whatever their sign.
        unknown: Whether to `refuse` or `drop` records with codes that are not in a hierarchy
            or not finest ones.
        missing: Whether to refuse or drop records where a code, contributor or number is missing.
            Or a code that stands for missing ones, as in `{"code": "99"}` or
            `{"code": {"region": "99"}}`: records without a code get it, and it lies right below
            the total where the hierarchy does not have it. `tacit.MissingSafe` makes its cells
            safe.
        unreadable: Whether to refuse or drop records with text where a number belongs.
        keep_empty: Whether to keep cells that nobody contributes to: then every combination of
            codes is a cell. Otherwise they are left out, which says that all know them to be
            empty.
        encoding: The encoding of CSV files. Like the following it is recognised where it is not
            given; `report` is told what was guessed (see `tacit.sniff`).
        delimiter: What stands between the columns of CSV files.
        decimal: The decimal sign in text, `.` or `,`.
        thousands: What separates thousands in text: a blank (of any kind), `'`, `.`, `,` or
            nothing.
        sheet: The sheet of a workbook, by its name or its place counted from 1.
        memory_limit: How much memory to use, such as `4GB`; beyond it, work moves to disk. By
            default as much as DuckDB takes.
        temp_directory: Where to put what does not fit into memory.
        engine: `duckdb` in this process, or `spark`; `auto` uses Spark for its data frames.
        report: Called with a `TabulationReport` that says how many records were tabulated and
            what was wrong with others, also before an error is raised for them.
        observer: Listens to the progress; may stop it.

    Returns:
        The table, or tables by value column where several were named.

    Raises:
        MicrodataError: Records that cannot be tabulated; its `report` says why.
        InputError: A source or column that cannot be read.
        StoppedError: The observer asked to stop.

    >>> records = {"region": ["N", "N", "S"], "firm": ["f", "f", "g"], "turnover": [5, 3, 4]}
    >>> table = tabulate(records, {"region": None}, "turnover", contributor="firm")
    >>> table.to_frame("dict")["count"], table.top.tolist()
    (array([2, 1, 1]), [[8.0, 4.0], [8.0, nan], [4.0, nan]])
    """
    several = value is not None and not isinstance(value, str)
    policy, missing_codes = missing_policy(missing, by)
    specification = Specification(
        by=dict(by) if isinstance(by, Mapping) else by,
        values=() if value is None else tuple(value) if several else (str(value),),
        contributor=contributor,
        holding=holding,
        weight=weight,
        shadow=shadow,
        request=request,
        top=top,
        unknown=unknown,
        missing=policy,
        missing_codes=missing_codes,
        unreadable=unreadable,
        keep_empty=keep_empty,
    )
    if several and not specification.values:
        raise InputError(
            "value names no column; name some, or give None to count records", key=("value",)
        )
    watcher = observer or Observer()
    watcher.on_start("tabulate")
    reading = Reading(
        encoding=encoding, delimiter=delimiter, decimal=decimal, thousands=thousands, sheet=sheet
    )
    opened = _open(source, specification, engine, memory_limit, temp_directory, watcher, reading)
    with opened as microdata:
        tables = _tabulate(microdata, specification, report, watcher)
        watcher.on_end()
    return tables if several else tables[specification.names[0]]


def occurring_codes(
    source: Any,
    column: str,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    sheet: str | int | None = None,
    memory_limit: str | None = None,
    temp_directory: str | Path | None = None,
    engine: Literal["auto", "duckdb", "spark"] = "auto",
    observer: Observer | None = None,
) -> tuple[str, ...]:
    """The codes that occur in a column of microdata, in order; arguments as in `tabulate`.

    >>> occurring_codes({"region": ["S", "N", None, "S"]}, "region")
    ('N', 'S')
    """
    specification = Specification(by={column: None}, values=())
    watcher = observer or Observer()
    watcher.on_start(f"codes of {column}")
    reading = Reading(
        encoding=encoding, delimiter=delimiter, decimal=decimal, thousands=thousands, sheet=sheet
    )
    opened = _open(source, specification, engine, memory_limit, temp_directory, watcher, reading)
    with opened as microdata:
        codes = _occurring(microdata, column).leaves
        watcher.on_end()
    return codes


def _occurring(microdata: Microdata, column: str) -> Hierarchy:
    """The codes that occur in a column, below one total."""
    try:
        return flat_hierarchy(microdata.codes(column))
    except HierarchyError as error:
        raise InputError(f"column {column}: {error}", key=("by", column)) from None


def _open(
    source: Any,
    specification: Specification,
    engine: str,
    memory_limit: str | None,
    temp_directory: str | Path | None,
    observer: Observer,
    reading: Reading,
) -> AbstractContextManager[Microdata]:
    if engine not in ("auto", "duckdb", "spark"):
        raise InputError(f"engine is {engine!r}; it can be auto, duckdb or spark", key=("engine",))
    with about("source"):
        recognised = recognise(source, specification.columns)
    on_spark = isinstance(recognised, SparkFrame)
    if engine == "spark" or (engine == "auto" and on_spark):
        if not isinstance(recognised, SparkFrame | Files):
            raise InputError(
                "Spark tabulates its own data frames and files; use engine='duckdb'",
                key=("engine",),
            )
        if memory_limit is not None or temp_directory is not None:
            raise InputError(
                "memory_limit and temp_directory are for DuckDB; configure the Spark session",
                key=("temp_directory" if memory_limit is None else "memory_limit",),
            )
        if reading.given or (isinstance(recognised, Files) and recognised.kind == "excel"):
            named = reading.given[0] if reading.given else "an Excel file"
            raise InputError(
                f"{named} is for DuckDB; have Spark read the data, and pass its data frame",
                key=tuple(reading.given[:1]),
            )
        try:
            from tacit.microdata.spark import SparkMicrodata
        except ImportError:
            raise InputError(
                "tabulating with Spark needs pyspark and pyarrow, which are not installed; run "
                "pip install 'tacit[spark]', also on the workers",
                key=("engine",),
            ) from None
        return SparkMicrodata(recognised, specification)
    if isinstance(recognised, SparkFrame):
        raise InputError(
            "DuckDB does not read Spark data frames; use engine='spark'", key=("engine",)
        )
    if temp_directory is not None and not os.path.isdir(temp_directory):
        raise InputError("temp_directory is not a directory; create it", path=temp_directory)
    from tacit.microdata.duck import DuckMicrodata

    folder = None if temp_directory is None else os.fspath(temp_directory)
    return DuckMicrodata(recognised, specification, memory_limit, folder, observer, reading)


def _tabulate(
    microdata: Microdata,
    specification: Specification,
    tell: Callable[[TabulationReport], object] | None,
    observer: Observer,
) -> dict[str, Table]:
    dimensions: dict[str, Hierarchy] = {}
    for name, given in specification.by.items():
        _refuse_to_go_on(observer)
        dimensions[name] = _occurring(microdata, name) if given is None else given
        lost = specification.missing_code(name)
        if given is not None and lost is not None and lost in microdata.codes(name):
            dimensions[name] = with_missing_code(given, lost)
    # Refuses more combinations than can be numbered before anything is.
    space = Grid(dimensions)
    if specification.keep_empty and space.cell_count > MOST_CELLS_WITH_EMPTY:
        raise InputError(
            f"the dimensions cross in {space.cell_count} cells; leave empty ones out "
            "(keep_empty), or use coarser hierarchies",
            key=("keep_empty",),
        )
    leaf_keys = microdata.prepare(dimensions)
    notes = tuple(microdata.notes)
    for note in notes:
        observer.on_note(note)
    _refuse_to_go_on(observer)
    findings: tuple[Finding, ...] = ()
    if microdata.has_faults():
        findings = tuple(microdata.findings(dimensions))
        report = TabulationReport(microdata.record_count, {}, findings, notes)
        try:
            refuse(report, specification)
        except MicrodataError:
            if tell is not None:
                tell(report)
            raise
    used = dict.fromkeys(specification.names, 0)
    if len(leaf_keys):
        if specification.keep_empty:
            leaf_keys = np.arange(math.prod(leaf_shape(dimensions)))
        cells = Cells.above(space.dimensions, leaf_keys)
        listed = 0
        if specification.lists_contributors:
            listed = listed_count(specification.top, cells.grid.cell_count, microdata.record_count)
        tallies = {
            name: Tally(
                cells,
                top=listed,
                shadow=specification.shadow is not None,
                weight=specification.weight is not None,
                holding=specification.holding is not None,
                request=specification.request is not None,
            )
            for name in used
        }
        used = microdata.fill(cells, tallies, partial(_advance, observer))
    report = TabulationReport(microdata.record_count, used, findings, notes)
    if tell is not None:
        tell(report)
    if not report.records:
        raise MicrodataError("there are no records, only the names of columns", report)
    if not all(used.values()):
        nothing = ", ".join(name for name, count in used.items() if not count)
        raise MicrodataError(f"no records are left to tabulate {nothing}", report)
    return {
        name: tally.table(
            microdata.backend,
            top=specification.top if specification.keeps_top else 0,
            with_empty=specification.keep_empty,
        ).replace(of_counts=not specification.values)
        for name, tally in tallies.items()
    }


def _advance(observer: Observer, done: int, total: int) -> None:
    observer.on_progress(done, total)
    if done < total:
        _refuse_to_go_on(observer)


def _refuse_to_go_on(observer: Observer) -> None:
    """A half-made table is of no use: an observer that stops gets none."""
    if observer.should_stop():
        raise StoppedError("the tabulation was stopped")
