"""Microdata by DuckDB: read, checked and numbered in SQL, then passed on as arrays."""

from __future__ import annotations

import dataclasses
import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Self

import duckdb
import numpy as np

from tacit.entries import AmbiguousNumbersError, likely_cause
from tacit.errors import InputError
from tacit.hierarchy import Hierarchy
from tacit.microdata.cells import Cells, leaf_shape, leaf_strides, occurring
from tacit.microdata.contributions import Orders, Records, Tally
from tacit.microdata.csv_files import CsvFiles
from tacit.microdata.duck_columns import NUMERIC, TEXT, SqlColumns
from tacit.microdata.duck_errors import plain_errors
from tacit.microdata.duck_units import MOST_RECORDS, Units
from tacit.microdata.duck_watch import WatchedConnection, byte_count
from tacit.microdata.file_format import Reading
from tacit.microdata.file_names import for_duckdb, found_files
from tacit.microdata.places import FaultPlaces, SheetRecords, Written, located
from tacit.microdata.queries import one_select, refuse_no_database
from tacit.microdata.quoting import quoted_name, quoted_text
from tacit.microdata.report import (
    DIGITS,
    EXAMPLES,
    MASK,
    Fault,
    Finding,
    code_findings,
)
from tacit.microdata.sources import (
    Database,
    FileQuery,
    Files,
    Frame,
    Relation,
    is_query,
    refuse_undecodable_text,
    source_number,
    table_name,
)
from tacit.microdata.specification import RECORDS, Specification
from tacit.observer import Observer
from tacit.problem import Booleans, Integers

_FILE_READER = "read_parquet"
_SELECT_THEM = "have the query select them"
"""In place of the columns that a query gives: it may have made their names from records."""


class DuckMicrodata:
    """Microdata that DuckDB reads.

    Attributes:
        backend: The data frame library that they came from, if any.
        record_count: The number of records, once prepared.
    """

    def __init__(
        self,
        source: Files | Frame | Relation | Database | FileQuery,
        specification: Specification,
        memory_limit: str | None = None,
        temp_directory: str | None = None,
        observer: Observer | None = None,
        reading: Reading | None = None,
    ):
        self.backend = source.backend if isinstance(source, Frame) else None
        self._source = source
        self._asked_for = specification
        self._memory_limit = memory_limit
        self._temp_directory = temp_directory
        self._observer = observer or Observer()
        self._open = ExitStack()
        self._reading = reading or Reading()
        self._files: dict[str, str] = {}
        self._written: Written | None = None
        self._notes: list[str] = []
        self._is_closed_off = False
        self._whole: dict[str, Any] | None = None
        self._token = source_number(source)
        self.record_count = 0

    def __enter__(self) -> Self:
        with ExitStack() as stack, self._plain_errors():
            self._folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="tacit-", dir=self._temp_directory)
            )
            self._duck = stack.enter_context(WatchedConnection(self._observer))
            limit = self._memory_limit or self._one("SELECT current_setting('memory_limit')")
            self._budget = byte_count(str(limit)) // 2
            self._duck.execute(f"SET memory_limit = '{self._budget}B'")
            self._duck.execute(f"SET temp_directory = {quoted_text(self._folder)}")
            # Columns of mixed objects are read as text: their first entries say little.
            self._duck.execute("SET pandas_analyze_sample = 0")
            self._observer.on_phase("reading")
            self._table = self._door()
            if not self._table.startswith(_FILE_READER):
                self._close_off()
            described = self._duck.execute(f"DESCRIBE SELECT * FROM {self._table}").fetchall()
            self._types = {row[0]: str(row[1]).split("(")[0] for row in described}
            self._check_types()
            self._columns = SqlColumns(self._types, self._asked_for)
            if not isinstance(self._source, FileQuery):
                try:
                    self._columns.look_at_points(self._rows, self._table, self._reading.numbers)
                except AmbiguousNumbersError as error:
                    raise self._located(error) from None
            self._open = stack.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._open.close()

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        with plain_errors(self._files):
            try:
                yield
            except (duckdb.Error, UnicodeEncodeError):
                if isinstance(self._source, Frame):
                    refuse_undecodable_text(self._source)
                raise

    def _one(self, query: str) -> Any:
        ((entry,),) = self._duck.execute(query).fetchall()
        return entry

    def _door(self) -> str:
        """What to read from; sources that are expensive to read twice are copied first."""
        source, wanted = self._source, self._asked_for
        if isinstance(source, Frame):
            wanted.refuse_missing_columns(source.columns)
            self._duck.register("records", source.native)
            return "records"
        if isinstance(source, Files):
            self._files |= {file: file for file in found_files(source.names)}
            if source.kind == "parquet":
                names = ", ".join(quoted_text(for_duckdb(name)) for name in self._files)
                # Names of folders are not data, even if one is called turnover=7.
                return f"{_FILE_READER}([{names}], union_by_name = true, hive_partitioning = false)"
            return self._read_sheets() if source.kind == "excel" else self._read_csv()
        if isinstance(source, FileQuery):
            self._files |= {file: file for file in source.files}
            self._written = source
            return self._copy(f"({source.query})")
        if isinstance(source, Relation):
            return self._copy_relation(source.relation)
        asks = is_query(source.query)
        query = one_select(source.query) if asks else ""
        if not isinstance(source.database, str):
            connection = source.database
            relation = connection.sql(f"FROM {query}") if asks else connection.table(source.query)
            return self._copy_relation(relation, _SELECT_THEM if asks else None)
        self._files[source.database] = source.database
        refuse_no_database(source.database)
        self._duck.execute(
            f"ATTACH {quoted_text(source.database)} AS source (TYPE duckdb, READ_ONLY)"
        )
        self._close_off()
        if not asks:
            parts = ["source", *table_name(source.query)]
            return ".".join(quoted_name(part) for part in parts)
        self._duck.execute("USE source")
        copied = self._copy(query, _SELECT_THEM)
        self._duck.execute("USE memory")
        return copied

    def _read_csv(self) -> str:
        written = CsvFiles(self._duck, self._files, self._asked_for, self._reading, self._folder)
        self._written = written
        self._files |= written.shown
        try:
            copied = self._copy(f"({written.query()})")
        except duckdb.InvalidInputException:
            if not written.copy_odd_ones():
                raise
            self._files |= written.shown
            copied = self._copy(f"({written.query()})")
        columns = ", ".join(quoted_name(name) for name in self._asked_for.columns)
        if self._duck.execute(
            f"SELECT 1 FROM {copied} WHERE coalesce({columns}, NULL) IS NULL LIMIT 1"
        ).fetchall():
            written.skips_empty = True
            self._duck.execute(f"DROP TABLE {copied}")
            copied = self._copy(f"({written.query()})")
        self._notes += written.notes
        return copied

    def _read_sheets(self) -> str:
        sheets = SheetRecords(self._files, self._asked_for, self._reading.sheet)
        self._written = sheets
        self._notes += sheets.notes
        self._duck.register("records", sheets.arrays())
        return "records"

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self._duck.execute(query).fetchall()
        return rows

    def _look_closely(self, dimensions: Iterable[str]) -> bool:
        """Look how codes and numbers are written; whether not as was thought.

        Readers of other formats give codes and numbers as they are to be.
        """
        if isinstance(self._source, FileQuery):
            return False
        columns = self._columns
        try:
            other = columns.look_at_numbers(self._rows, self._table, self._reading.numbers)
        except AmbiguousNumbersError as error:
            raise self._located(error) from None
        return columns.look_at_codes(self._rows, self._table, dimensions) or other

    def _located(self, error: AmbiguousNumbersError) -> InputError:
        if self._written is None:
            return error
        return located(error, self._written, self._asked_for.numbers)

    def _close_off(self) -> None:
        """Let nothing that runs from here on reach files, apart from what was opened."""
        if not self._is_closed_off:
            self._duck.execute("SET enable_external_access = false")
            self._duck.execute("SET lock_configuration = true")
            self._is_closed_off = True

    def _copy_relation(self, relation: Any, advice: str | None = None) -> str:
        """Copy what somebody else's connection reads to where ours can."""
        wanted = self._asked_for
        wanted.refuse_missing_columns(tuple(relation.columns), advice)
        copy = f"{self._folder}/records.parquet"
        relation.project(", ".join(quoted_name(name) for name in wanted.columns)).write_parquet(
            copy
        )
        return f"{_FILE_READER}([{quoted_text(for_duckdb(copy))}], hive_partitioning = false)"

    def _copy(self, table: str, advice: str | None = None) -> str:
        present = [
            row[0] for row in self._duck.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()
        ]
        self._asked_for.refuse_missing_columns(tuple(present), advice)
        chosen = ", ".join(quoted_name(name) for name in self._asked_for.columns)
        self._duck.execute(f"CREATE TEMP TABLE copied AS SELECT {chosen} FROM {table}")
        return "copied"

    def _check_types(self) -> None:
        wanted = self._asked_for
        wanted.refuse_missing_columns(self._types)
        flags = () if wanted.request is None else (wanted.request,)
        for name in (*wanted.numbers, *flags):
            if self._types[name] not in (*NUMERIC, *TEXT):
                raise InputError(
                    f"column {name} is of type {self._types[name]}; numbers are needed",
                    key=wanted.key_of(name),
                )

    # --- What engines do -------------------------------------------------------------------------

    @property
    def notes(self) -> list[str]:
        """What was guessed about how the source is written, once prepared."""
        shown = next(iter(self._files.values()), None)
        prefix = "" if shown is None else f"{shown}: "
        return [*self._notes, *(f"{prefix}{note}" for note in self._columns.notes)]

    def codes(self, column: str) -> list[str]:
        """The codes that occur in a column."""
        with self._plain_errors():
            found = self._codes(column)
            if isinstance(self._source, FileQuery):
                return found
            columns = self._columns
            columns.note_codes(column, found)
            return self._codes(column) if column in columns.untidy | columns.floats else found

    def _codes(self, column: str) -> list[str]:
        query = f"SELECT DISTINCT {self._columns.code(column)} AS code FROM {self._table}"
        return [row[0] for row in self._rows(f"SELECT code FROM ({query}) WHERE code IS NOT NULL")]

    def findings(self, dimensions: Mapping[str, Hierarchy]) -> list[Finding]:
        """What is wrong with the records."""
        wanted, columns = self._asked_for, self._columns
        self._observer.on_phase("looking for faults")
        with self._plain_errors():
            found: list[Finding] = []
            for name, hierarchy in dimensions.items():
                query = f"SELECT {columns.code(name)}, count(*) FROM {self._table} GROUP BY 1"
                found += code_findings(name, hierarchy, self._duck.execute(query).fetchall())
            if wanted.contributor is not None:
                missing = f"{columns.unit(wanted.contributor)} IS NULL"
                found += self._counted(wanted.contributor, Fault.MISSING, missing)
            for name in wanted.numbers:
                missing, number = columns.is_missing(name), columns.number(name)
                found += self._counted(name, Fault.MISSING, missing)
                odd = f"NOT {missing} AND {number} IS NULL"
                found += self._counted(name, Fault.NOT_A_NUMBER, odd, examples=True)
            if wanted.weight is not None:
                below = f"{columns.number(wanted.weight)} < 0"
                found += self._counted(wanted.weight, Fault.NEGATIVE_WEIGHT, below)
            if wanted.request is not None:
                odd = f"({columns.flag(wanted.request)}) IS NULL"
                found += self._counted(wanted.request, Fault.NOT_A_FLAG, odd, examples=True)
            if self._written is None:
                return found
            places = FaultPlaces(self._written, dimensions, columns)
            return [dataclasses.replace(each, places=places.of(each)) for each in found]

    def _counted(
        self, name: str, fault: Fault, condition: str, *, examples: bool = False
    ) -> list[Finding]:
        count = int(self._one(f"SELECT count(*) FROM {self._table} WHERE {condition}"))
        if not count:
            return []
        shown: list[str] = []
        causes: dict[str, None] = {}
        if examples and self._types[name] in TEXT:
            text = f"CAST({quoted_name(name)} AS VARCHAR)"
            masked = f"regexp_replace({text}, '{DIGITS}', '{MASK}', 'g')"
            query = (
                f"SELECT {masked}, min({text}) FROM {self._table} WHERE {condition} "
                f"GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT {EXAMPLES}"
            )
            for example, one in self._duck.execute(query).fetchall():
                shown.append(example)
                if fault is Fault.NOT_A_NUMBER:
                    causes[likely_cause(one, self._columns.format)] = None
        cause = ", or ".join(list(filter(None, causes))[:2])
        return [Finding(name, fault, count, tuple(shown), cause=cause)]

    def prepare(self, dimensions: Mapping[str, Hierarchy]) -> Integers:
        """Number codes and contributors; the leaf keys that occur, increasing."""
        self._observer.on_phase("numbering codes and contributors")
        found = self._prepare(dimensions)
        # What is wrong may be only how codes and numbers are written.
        with self._plain_errors():
            again = self.has_faults() and self._look_closely(dimensions)
        return self._prepare(dimensions) if again else found

    def _prepare(self, dimensions: Mapping[str, Hierarchy]) -> Integers:
        with self._plain_errors():
            size = math.prod(leaf_shape(dimensions))
            self.record_count = int(self._one(f"SELECT count(*) FROM {self._table}"))
            query, width = self._coded(dimensions, size)
            # Twice: DuckDB's result and the arrays made of it.
            parts = math.ceil(2 * width * self.record_count / self._budget)
            parts = max(parts, math.ceil(self.record_count / MOST_RECORDS), 1)
            if parts == 1:
                self._whole = self._duck.execute(query).fetchnumpy()
                self._conditions = [""]
                return occurring(self._whole["leaf_key"], size)
            self._duck.execute(f"CREATE OR REPLACE TEMP TABLE coded AS {query}")
            self._conditions = self._cut(parts)
            keys = self._duck.execute(
                "SELECT DISTINCT CAST(leaf_key AS BIGINT) AS leaf_key FROM coded "
                "WHERE leaf_key >= 0"
            ).fetchnumpy()["leaf_key"]
            return np.sort(keys)

    def has_faults(self) -> bool:
        """Whether anything is wrong with any record."""
        values = [f"value_{place}" for place in range(len(self._asked_for.values))]
        if self._whole is not None:
            return bool((self._whole["leaf_key"] < 0).any()) or any(
                bool(np.isnan(self._whole[name]).any()) for name in values
            )
        odd = " OR ".join(["leaf_key < 0", *(f"isnan({name})" for name in values)])
        with self._plain_errors():
            return bool(self._one(f"SELECT count(*) FROM coded WHERE {odd}"))

    def _cut(self, parts: int) -> list[str]:
        """Conditions for equal parts of the records, with contributors and holdings kept whole."""
        column = "rowid" if self._asked_for.owner is None else "unit"
        shares = [number / parts for number in range(1, parts)]
        found = self._one(f"SELECT approx_quantile({column}, {shares}) FROM coded")
        cuts = sorted({max(int(cut), 0) for cut in found})
        holding = self._units.holding
        if holding is not None:
            # Not through the middle of a holding; their numbers increase with their contributors'.
            begins = np.searchsorted(holding, holding[cuts])
            cuts = np.unique(begins).tolist()
        lower = [f"{column} >= {cut}" for cut in cuts]
        upper = [f"{column} < {cut}" for cut in cuts]
        inner = [f"{a} AND {b}" for a, b in zip(lower, upper[1:], strict=False)]
        return [f"WHERE {condition}" for condition in (upper[0], *inner, lower[-1])]

    def fill(
        self, cells: Cells, tallies: Mapping[str, Tally], progress: Callable[[int, int], None]
    ) -> dict[str, int]:
        """Add all records to the tallies, part by part; the number of records in each."""
        used = dict.fromkeys(tallies, 0)
        self._observer.on_phase("adding up")
        first = 0
        for number, condition in enumerate(self._conditions, start=1):
            with self._plain_errors():
                if self._whole is None:
                    arrays = self._duck.execute(f"SELECT * FROM coded {condition}").fetchnumpy()
                else:
                    arrays, self._whole = self._whole, None
            records = self._as_records(arrays, first)
            first += len(records.leaf_key)
            orders = Orders.of(records, cells)
            for name, tally in tallies.items():
                used[name] += tally.add(records, name, orders)
            progress(number, len(self._conditions))
        with self._plain_errors():
            for tally in tallies.values():
                tally.identify(self._units.internal_numbers)
        return used

    def _as_records(self, arrays: dict[str, Any], first: int) -> Records:
        wanted = self._asked_for
        leaf_key = arrays["leaf_key"]
        values = {name: arrays[f"value_{place}"] for place, name in enumerate(wanted.values)}
        unit = arrays.get("unit")
        contributor = holding = None
        asked: Booleans | None = None
        if wanted.contributor is not None:
            contributor = unit
            asked = self._units.asked
            if self._units.holding is not None:
                # Records without contributor have number -1 and are not looked at.
                holding = self._units.holding[np.maximum(arrays["unit"], 0)]
        elif wanted.holding is not None:
            holding = unit
        if wanted.request is not None and wanted.contributor is None:
            asked = arrays["asked"] > 0
        return Records(
            leaf_key=leaf_key,
            values=values or {RECORDS: np.ones(len(leaf_key))},
            shadow=arrays.get("shadow"),
            weight=arrays.get("weight"),
            contributor=contributor,
            holding=holding,
            asked=asked,
            first=first,
        )

    def _coded(self, dimensions: Mapping[str, Hierarchy], size: int) -> tuple[str, int]:
        """The query that gives records as numbers, and how many bytes each record takes."""
        wanted = self._asked_for
        key_type, width = ("INTEGER", 4) if size < 2**31 else ("BIGINT", 8)
        terms = []
        strides = leaf_strides(dimensions)
        for place, (name, hierarchy) in enumerate(dimensions.items()):
            self._make_enum(f"dimension_{place}", hierarchy.leaves)
            code = f"enum_code(TRY_CAST({self._columns.code(name)} AS dimension_{place}))"
            terms.append(f"CAST({code} AS BIGINT) * {strides[place]}")
        inner = {"key": " + ".join(terms)}
        outer = {}
        nan = "'NaN'::DOUBLE"
        for place, name in enumerate(wanted.values):
            inner[f"value_{place}"] = self._columns.number(name)
            outer[f"value_{place}"] = f"coalesce(r.value_{place}, {nan})"
        needed = ["key"]
        if wanted.shadow is not None:
            inner["shadow"] = self._columns.number(wanted.shadow)
            outer["shadow"] = f"coalesce(r.shadow, {nan})"
            needed.append("shadow")
        if wanted.weight is not None:
            inner["weight"] = self._columns.weight(wanted.weight)
            outer["weight"] = f"coalesce(r.weight, {nan})"
            needed.append("weight")
        if wanted.request is not None:
            inner["asked"] = self._columns.flag(wanted.request)
            needed.append("asked")
            if wanted.contributor is None:
                outer["asked"] = "CAST(coalesce(r.asked, 0) AS UTINYINT)"
        joined = ""
        self._units = Units(
            self._duck,
            wanted,
            self._columns,
            self._table,
            token=self._token,
            record_count=self.record_count,
            are_tidy=isinstance(self._source, FileQuery),
        )
        if wanted.owner is not None:
            outer["unit"], joined = self._units.numbered(wanted.owner)
            inner["owner"] = self._columns.unit(wanted.owner)
            if wanted.contributor is not None:
                needed.append("owner")
        faultless = " AND ".join(f"r.{column} IS NOT NULL" for column in needed)
        outer["leaf_key"] = f"CAST(CASE WHEN {faultless} THEN r.key ELSE -1 END AS {key_type})"
        chosen = ", ".join(f"{expression} AS {column}" for column, expression in inner.items())
        coded = ", ".join(f"{expression} AS {column}" for column, expression in outer.items())
        # Besides the columns: the cell, the order by contributor and by holding.
        width += 8 * len(outer) + 12
        return f"SELECT {coded} FROM (SELECT {chosen} FROM {self._table}) AS r {joined}", width

    def _make_enum(self, name: str, codes: tuple[str, ...]) -> None:
        column = np.empty(len(codes), object)
        column[:] = codes
        self._duck.execute(f"DROP TYPE IF EXISTS {name}")
        self._duck.register("codes", {"place": np.arange(len(codes)), "code": column})
        self._duck.execute(f"CREATE TYPE {name} AS ENUM (SELECT code FROM codes ORDER BY place)")
        self._duck.unregister("codes")
