"""The data of a job as tables: records are tabulated, files with finished tables are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from tacit.errors import InputError, about, name_columns
from tacit.hierarchy import Hierarchy
from tacit.io.cells import ColumnFile, read_column_file
from tacit.jobs.hierarchies import Dimension
from tacit.jobs.job import HOW_TO_READ, CellFile, Job, Microdata
from tacit.jobs.tables import LinkedTables
from tacit.methods.recoding.plan import grouped
from tacit.microdata import TabulationReport, occurring_codes, tabulate
from tacit.microdata.file_format import Reading
from tacit.microdata.file_names import matching_files
from tacit.microdata.specification import missing_policy, with_missing_code
from tacit.observer import Observer
from tacit.table import Table


def tabulated(
    job: Job,
    sources: Sequence[Microdata],
    dimensions: Mapping[str, Dimension],
    observer: Observer | None,
    report: Callable[[TabulationReport], object] | None,
) -> list[Table]:
    """The tables of sources that differ by what they add up only."""
    data = sources[0]
    if isinstance(data.source, list):
        for name in data.source:
            absent = not matching_files(name) and not os.path.isdir(name)
            if absent and data.arguments.get("engine") != "spark":
                raise InputError("the file cannot be read: no such file", path=name)
    values = [str(each.arguments["value"]) for each in sources] if len(sources) > 1 else []
    if data.layout is None:
        return _tabulated_from(job, data, data.source, values, dimensions, observer, report)
    # Slow to import, and rarely needed.
    from tacit.io.argus.microdata import fixed_width

    with fixed_width(data.source[0], data.layout) as records:
        return _tabulated_from(job, data, records, values, dimensions, observer, report)


def _tabulated_from(
    job: Job,
    data: Microdata,
    source: Any,
    values: Sequence[str],
    dimensions: Mapping[str, Dimension],
    observer: Observer | None,
    report: Callable[[TabulationReport], object] | None,
) -> list[Table]:
    how = {key: data.arguments[key] for key in HOW_TO_READ if key in data.arguments}
    missing = data.arguments.get("missing", "refuse")
    if isinstance(missing, Mapping) and isinstance(missing["code"], Mapping):
        # Of linked tables, not every one has all dimensions.
        known = {name: code for name, code in missing["code"].items() if name in dimensions}
        missing = {"code": known}
    _, lost = missing_policy(missing, dimensions)

    def occurring(name: str) -> list[str]:
        # The code of missing ones lies right below the total, whatever its beginning is.
        codes = occurring_codes(source, name, observer=observer, **how)
        return [code for code in codes if code != lost.get(name)]

    by = {name: given.resolved(partial(occurring, name)) for name, given in dimensions.items()}
    for name, given in job.recodes.items():
        # Merged codes as totals of their own: so contributors to several of their parts count once.
        if name not in by:
            continue
        hierarchy = by[name]
        if hierarchy is None:
            hierarchy = Hierarchy.flat(occurring(name))
        with about("recodes", name):
            by[name] = grouped(hierarchy, given)
    largest = [getattr(rule, "largest_needed", 0) for rule in job.rules]
    arguments = {"top": max([2, *largest]), **data.arguments, "missing": missing}
    if not values:
        return [tabulate(source, by, observer=observer, report=report, **arguments)]
    arguments["value"] = list(values)
    tables = tabulate(source, by, observer=observer, report=report, **arguments)
    return [tables[value] for value in values]


def codes_in_files(data: LinkedTables) -> dict[Dimension, tuple[str, ...]]:
    """For each dimension the codes that occur in any of the finished tables that have it.

    A table without one of them says that nobody is there.
    """
    found: dict[Dimension, dict[str, None]] = {}
    for table in data.tables:
        if isinstance(table.data, CellFile):
            read = _read(table.data, table.dimensions)
            for name, dimension in table.dimensions.items():
                codes = _codes(read, table.data, name) if name in read.columns else []
                found.setdefault(dimension, {}).update(dict.fromkeys(codes))
    return {dimension: tuple(codes) for dimension, codes in found.items()}


def _read(data: CellFile, described: Mapping[str, Dimension]) -> ColumnFile:
    return read_column_file(data.path, Reading(**data.written), described)


def _codes(read: ColumnFile, data: CellFile, name: str) -> list[str]:
    """The codes of a column that occur, but for the one of missing ones."""
    code = data.missing_code(name)
    read.read_codes(name, code)
    return [each for each in dict.fromkeys(read.columns[name]) if each not in (None, code)]


def read_table(
    described: Mapping[str, Dimension],
    data: CellFile,
    observer: Observer | None,
    occurring: Mapping[Dimension, tuple[str, ...]] | None = None,
) -> Table:
    """A finished table; the codes of linked ones are those that occur in any of them."""
    read = _read(data, described)
    frame = read.columns
    if not any(map(len, frame.values())):
        raise InputError("there are no cells, only the names of columns", path=data.path)
    absent = [name for name in described if name not in frame]
    if absent:
        raise described[absent[0]].section.fault(
            f"there is no column {absent[0]} in {data.path}; {name_columns(frame)}"
        )
    read.read_numbers(data.numbers, Reading(**data.written).numbers)
    dimensions: dict[str, Hierarchy | None] = {}
    for name, given in described.items():
        codes: Sequence[str] = _codes(read, data, name)
        if occurring is not None:
            codes = occurring[given]
        hierarchy = given.resolved(partial(list, codes))
        if occurring is not None and hierarchy is None:
            hierarchy = Hierarchy.flat(codes)
        if hierarchy is not None:
            lost = data.missing_code(name)
            if lost is not None and lost in frame[name]:
                hierarchy = with_missing_code(hierarchy, lost)
            read.refuse_unknown(name, hierarchy)
        dimensions[name] = hierarchy
    for note in read.notes:
        (observer or Observer()).on_note(note)
    return Table.from_frame(frame, dimensions, **data.columns)
