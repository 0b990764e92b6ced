"""Microdata by Spark: contributors are spread over its workers, which each tabulate their own."""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark import TaskContext
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sql

from tacit.errors import InputError
from tacit.hierarchy import Hierarchy
from tacit.microdata.cells import Cells, leaf_strides
from tacit.microdata.contributions import Layout, Orders, Records, Tally
from tacit.microdata.csv_files import columns_of
from tacit.microdata.file_names import for_spark, matching_files, refuse_same_files
from tacit.microdata.report import (
    DIGITS,
    EXAMPLES,
    MASK,
    Fault,
    Finding,
    code_findings,
    refuse_several_holdings,
)
from tacit.microdata.sources import Files, SparkFrame
from tacit.microdata.specification import NO, RECORDS, YES, Specification
from tacit.problem import Integers
from tacit.table.contributors import ALONE, HOLDING, numbers_of, numbers_without_codes

FLOATING = ("float", "double")
NUMERIC = (*FLOATING, "tinyint", "smallint", "int", "bigint", "decimal", "boolean")
NUMBER = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
"""What a number looks like as text; Spark itself would also read 1d."""


class SparkMicrodata:
    """Microdata in a Spark data frame, or in files that Spark reads.

    Attributes:
        backend: None: tables are small and come back as plain columns.
        record_count: The number of records, once prepared.
    """

    def __init__(self, source: SparkFrame | Files, specification: Specification):
        self.backend: str | None = None
        self.record_count = 0
        self._source = source
        self._asked_for = specification
        self._faults = False
        self.notes: list[str] = []
        self._token = secrets.randbits(62)

    def __enter__(self) -> Self:
        with _plain_errors():
            frame = self._read()
        wanted = self._asked_for
        wanted.refuse_missing_columns(tuple(frame.columns))
        self._types = {name: kind.split("(")[0] for name, kind in frame.dtypes}
        flags = () if wanted.request is None else (wanted.request,)
        for name in (*wanted.numbers, *flags):
            if self._types[name] not in (*NUMERIC, "string"):
                raise InputError(
                    f"column {name} is of type {self._types[name]}; numbers are needed",
                    key=wanted.key_of(name),
                )
        # Plain names, whatever the columns are called.
        self._place = {name: f"column_{place}" for place, name in enumerate(wanted.columns)}
        quoted = {name: "`" + name.replace("`", "``") + "`" for name in self._place}
        self._frame = frame.select(
            *(sql.col(quoted[name]).alias(plain) for name, plain in self._place.items())
        )
        return self

    def __exit__(self, *problem: object) -> None:
        """Nothing is kept open: the session belongs to somebody else."""

    def _read(self) -> DataFrame:
        if isinstance(self._source, SparkFrame):
            frame: DataFrame = self._source.frame
            return frame
        session = SparkSession.builder.getOrCreate()
        names = _readable(self._source.names)
        if self._source.kind == "parquet":
            # Names of folders are not data, even if one is called turnover=7.
            return session.read.option("recursiveFileLookup", "true").parquet(*names)
        first = session.read.text(names, recursiveFileLookup=True).first()
        if first is None:
            raise InputError("the files are empty; their first line must name the columns")
        separator, _ = columns_of(str(first[0]))
        reader = session.read.option("columnPruning", "false")
        # Otherwise Spark reads records with too many or too few entries as well as it can, and
        # files with columns in another order as if they were in the order of the first.
        return reader.csv(
            names,
            header=True,
            sep=separator,
            escape='"',
            mode="FAILFAST",
            enforceSchema=False,
            recursiveFileLookup=True,
        )

    # --- What a column says --------------------------------------------------------------------

    def _code(self, name: str) -> Column:
        """A code as text, NULL where it is missing."""
        found, stand_in = self._given_code(name), self._asked_for.missing_code(name)
        return found if stand_in is None else sql.coalesce(found, sql.lit(stand_in))

    def _given_code(self, name: str) -> Column:
        column = sql.col(self._place[name])
        text = column.cast("string")
        if self._types[name] in FLOATING:
            whole = (column == sql.floor(column)) & (sql.abs(column) < 9e15)
            text = sql.when(whole, column.cast("bigint").cast("string")).otherwise(text)
            return sql.when(~sql.isnan(column), text)
        return sql.when(text != "", text)

    def _number(self, name: str) -> Column:
        """A number, NULL where there is none."""
        column = sql.col(self._place[name])
        if self._types[name] == "string":
            number = sql.when(column.rlike(NUMBER), sql.trim(column).try_cast("double"))
        else:
            number = column.cast("double")
        return sql.when(~sql.isnan(number) & (sql.abs(number) < math.inf), number)

    def _is_missing(self, name: str) -> Column:
        column = sql.col(self._place[name])
        if self._types[name] == "string":
            return column.isNull() | sql.lower(sql.trim(column)).isin("", "nan")
        if self._types[name] in FLOATING:
            return column.isNull() | sql.isnan(column)
        return column.isNull()

    def _flag(self, name: str) -> Column:
        """1 or 0, NULL where it is neither."""
        column = sql.col(self._place[name])
        if self._types[name] == "string":
            text = sql.lower(sql.trim(column))
            no = column.isNull() | text.isin("", *NO)
            return sql.when(no, 0).when(text.isin(*YES), 1)
        number = self._number(name)
        return sql.when(number.isNull() | (number == 0), 0).otherwise(1)

    # --- What engines do -------------------------------------------------------------------------

    def codes(self, column: str) -> list[str]:
        """The codes that occur in a column."""
        code = self._frame.select(self._code(column).alias("code")).distinct()
        with _plain_errors():
            return [row["code"] for row in code.where(sql.col("code").isNotNull()).collect()]

    def findings(self, dimensions: Mapping[str, Hierarchy]) -> list[Finding]:
        """What is wrong with the records."""
        wanted = self._asked_for
        found: list[Finding] = []
        for name, hierarchy in dimensions.items():
            counted = self._frame.groupBy(self._code(name).alias("code")).count().collect()
            cases = [(row["code"], row["count"]) for row in counted]
            found += code_findings(name, hierarchy, cases)
        suspects: list[tuple[str, Fault, Column]] = []
        if wanted.contributor is not None:
            missing = self._code(wanted.contributor).isNull()
            suspects.append((wanted.contributor, Fault.MISSING, missing))
        for name in wanted.numbers:
            missing = self._is_missing(name)
            suspects.append((name, Fault.MISSING, missing))
            odd = ~missing & self._number(name).isNull()
            suspects.append((name, Fault.NOT_A_NUMBER, odd))
        if wanted.weight is not None:
            below = self._number(wanted.weight) < 0
            suspects.append((wanted.weight, Fault.NEGATIVE_WEIGHT, below))
        if wanted.request is not None:
            suspects.append((wanted.request, Fault.NOT_A_FLAG, self._flag(wanted.request).isNull()))
        if not suspects:
            return found
        (counts,) = self._frame.agg(
            *(sql.count_if(condition) for _, _, condition in suspects)
        ).collect()
        for (name, fault, condition), count in zip(suspects, counts, strict=True):
            if count:
                found.append(Finding(name, fault, count, self._examples(name, fault, condition)))
        return found

    def _examples(self, name: str, fault: Fault, condition: Column) -> tuple[str, ...]:
        is_text = self._types[name] == "string"
        if not is_text or fault not in (Fault.NOT_A_NUMBER, Fault.NOT_A_FLAG):
            return ()
        masked = sql.regexp_replace(sql.col(self._place[name]), DIGITS, MASK).alias("masked")
        cases = self._frame.where(condition).groupBy(masked).count()
        first = cases.orderBy(sql.desc("count"), "masked").limit(EXAMPLES).collect()
        return tuple(row["masked"] for row in first)

    def prepare(self, dimensions: Mapping[str, Hierarchy]) -> Integers:
        """Number codes; the leaf keys that occur, increasing."""
        wanted = self._asked_for
        self._coded = self._code_records(dimensions)
        values = [f"value_{place}" for place in range(len(wanted.values))]
        sums = [sql.sum(sql.isnull(name).cast("long")).alias(name) for name in values]
        counted = self._coded.groupBy("leaf_key").agg(sql.count(sql.lit(1)).alias("records"), *sums)
        with _plain_errors():
            keys = counted.toArrow()
        leaf_key = _numpy(keys["leaf_key"])
        self.record_count = int(_numpy(keys["records"]).sum())
        faulty = [bool(_numpy(keys[name]).any()) for name in values]
        self._faults = bool((leaf_key < 0).any()) or any(faulty)
        return np.sort(leaf_key[leaf_key >= 0]).astype(np.int64)

    def has_faults(self) -> bool:
        """Whether anything is wrong with any record."""
        return self._faults

    def _code_records(self, dimensions: Mapping[str, Hierarchy]) -> DataFrame:
        """The records as numbers, spread so that those of one contributor are together."""
        wanted = self._asked_for
        columns = {f"value_{place}": self._number(n) for place, n in enumerate(wanted.values)}
        needed = [f"code_{place}" for place in range(len(dimensions))]
        if wanted.shadow is not None:
            columns["shadow"] = self._number(wanted.shadow)
            needed.append("shadow")
        if wanted.weight is not None:
            weight = self._number(wanted.weight)
            columns["weight"] = sql.when(weight >= 0, weight)
            needed.append("weight")
        if wanted.request is not None:
            columns["asked"] = self._flag(wanted.request)
            needed.append("asked")
        if wanted.contributor is not None:
            columns["contributor"] = self._code(wanted.contributor)
            needed.append("contributor")
        if wanted.holding is not None:
            columns["holding"] = self._code(wanted.holding)
        codes = {f"code_{place}": self._code(name) for place, name in enumerate(dimensions)}
        chosen = {**columns, **codes}
        coded = self._frame.select(*(column.alias(name) for name, column in chosen.items()))
        key = sql.lit(0)
        strides = leaf_strides(dimensions)
        for place, (hierarchy, stride) in enumerate(zip(dimensions.values(), strides, strict=True)):
            leaves = {
                f"code_{place}": pa.array(hierarchy.leaves, pa.string()),
                f"key_{place}": pa.array(stride * np.arange(len(hierarchy.leaves))),
            }
            listed = coded.sparkSession.createDataFrame(pa.table(leaves))
            coded = coded.join(sql.broadcast(listed), f"code_{place}", "left")
            needed[place] = f"key_{place}"
            key = key + sql.col(f"key_{place}")
        faultless = sql.col(needed[0]).isNotNull()
        for name in needed[1:]:
            faultless &= sql.col(name).isNotNull()
        leaf_key = sql.when(faultless, key).otherwise(-1).cast("bigint").alias("leaf_key")
        return coded.select(leaf_key, *columns)

    def fill(
        self, cells: Cells, tallies: Mapping[str, Tally], progress: Callable[[int, int], None]
    ) -> dict[str, int]:
        """Have the workers tabulate their contributors, and put the results together."""
        wanted = self._asked_for
        # Records at fault stay: they too say which holding, and who asked for protection.
        coded = self._coded
        if wanted.contributor is not None and wanted.holding is not None:
            coded = self._with_holdings(coded)
        if wanted.owner is not None:
            together = "contributor" if wanted.holding is None else "holding"
            # Records without holding may go anywhere.
            alone = sql.monotonically_increasing_id().cast("string")
            coded = coded.withColumn("together", sql.coalesce(sql.col(together), alone))
            coded = coded.repartition("together").drop("together")
        layout = next(iter(tallies.values())).layout
        width = layout.added + layout.top * sum(layout.tops)
        numbers = ", ".join(f"number_{place} double" for place in range(width))
        schema = f"value int, records bigint, cell bigint, {numbers}"
        worker = Worker(wanted, cells, layout.top, self._token)
        rows = coded.mapInArrow(worker, schema)
        # Cell by cell on the workers too: the driver sees each cell once.
        merged = rows.repartition("value", "cell").mapInArrow(partial(_merge, layout), schema)
        with _plain_errors():
            table = merged.toArrow()
        value, cell = _numpy(table["value"]), _numpy(table["cell"])
        records = _numpy(table["records"])
        matrix = np.stack([_numpy(table[f"number_{place}"]) for place in range(width)], axis=1)
        used = {}
        for place, (name, tally) in enumerate(tallies.items()):
            mine = value == place
            tally.put_rows(cell[mine], matrix[mine])
            used[name] = int(records[mine].sum())
        progress(1, 1)
        return used

    def _with_holdings(self, coded: DataFrame) -> DataFrame:
        """Each contributor with the one holding that any of its records names, or itself."""
        wanted = self._asked_for
        units = self._coded.where(sql.col("contributor").isNotNull()).groupBy("contributor")
        held = units.agg(sql.min("holding").alias("one"), sql.max("holding").alias("other"))
        several = held.where(sql.col("one") != sql.col("other")).count()
        if several:
            refuse_several_holdings(several, str(wanted.contributor), str(wanted.holding))
        together = Window.partitionBy("contributor")
        holding = sql.min("holding").over(together)
        named = sql.concat(sql.lit(f"{HOLDING} "), holding)
        group = sql.coalesce(named, sql.concat(sql.lit(f"{ALONE} "), sql.col("contributor")))
        return coded.withColumn("holding", group)


def _readable(names: Iterable[str]) -> list[str]:
    """Names that Spark takes for these files; what is not here may be where Spark looks."""
    found: list[str] = []
    here: list[str] = []
    for name in names:
        files = matching_files(name)
        here += files
        found += [for_spark(file) for file in files] if files else [name]
    refuse_same_files(here)
    return found


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Turn errors of Spark into ours: they quote records and go on for pages."""
    try:
        yield
    except AnalysisException as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"Spark cannot read the microdata: {reason}") from None
    except (PySparkException, Py4JJavaError) as error:
        file = re.search(r"reading file (?:file://)?([^\s]+?)\.?\s", str(error))
        if "CSV header does not conform to the schema" in str(error):
            raise InputError(
                "the files differ in their first lines, and Spark reads columns by their places; "
                "write the same columns in the same order, or use engine='duckdb'"
            ) from None
        raise InputError(
            "Spark cannot read the microdata; check that all records have as many entries as the "
            "first line, and look into its log",
            path=None if file is None else file[1],
        ) from None


@dataclass(frozen=True)
class Worker:
    """Tabulates the records of one partition, which has all records of its contributors.

    Attributes:
        specification: What is tabulated.
        cells: The cells.
        top: How many of the largest contributors are kept.
        token: Tells contributors without codes from those of other sources.
    """

    specification: Specification
    cells: Cells
    top: int
    token: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row for each value and cell; the first row of a value has its number of records."""
        given = list(batches)
        if not given or not sum(batch.num_rows for batch in given):
            return
        table = pa.Table.from_batches(given)
        records = _records(table, self.specification)
        orders = Orders.of(records, self.cells)
        for place, name in enumerate(records.values):
            tally = Tally(
                self.cells,
                top=self.top,
                shadow=records.shadow is not None,
                weight=records.weight is not None,
                holding=records.holding is not None,
                request=records.asked is not None,
            )
            used = tally.add(records, name, orders)
            tally.identify(partial(self._internal_numbers, table))
            cell, rows = tally.rows()
            if len(cell):
                yield _batch(place, used, cell, rows)

    def _internal_numbers(self, table: pa.Table, units: Integers, holdings: bool) -> Integers:
        """Internal numbers of contributors or holdings, by their numbers in this partition."""
        context = TaskContext.get()
        partition = 0 if context is None else context.partitionId()
        # As many places for each partition as it can have records.
        places = units + (partition << 33)
        found = numbers_without_codes(self.token + int(holdings), places)
        column = "holding" if holdings else "contributor"
        if column not in table.column_names:
            return found
        names = _encoded(table, column).dictionary
        coded = np.flatnonzero(units < len(names))
        codes = names.take(pa.array(units[coded])).to_pylist()
        if holdings and self.specification.contributor is not None:
            # The kind stands before the code already.
            kinds = [code.split(" ", 1)[0] for code in codes]
            codes = [code.split(" ", 1)[1] for code in codes]
        else:
            kinds = [column] * len(codes)
        for kind in set(kinds):
            those = [place for place, each in enumerate(kinds) if each == kind]
            found[coded[those]] = numbers_of(kind, [codes[place] for place in those])
        return found


def _records(table: pa.Table, specification: Specification) -> Records:
    values = {
        name: _numpy(table[f"value_{place}"]) for place, name in enumerate(specification.values)
    }
    contributor = _numbered(table, "contributor")
    asked = None
    if "asked" in table.column_names:
        flags = _numpy(table["asked"]) > 0
        asked = flags
        if contributor is not None:
            asked = np.zeros(int(contributor.max()) + 1, bool)
            np.logical_or.at(asked, contributor, flags)
    return Records(
        leaf_key=_numpy(table["leaf_key"]),
        values=values or {RECORDS: np.ones(table.num_rows)},
        shadow=_numpy(table["shadow"]) if "shadow" in table.column_names else None,
        weight=_numpy(table["weight"]) if "weight" in table.column_names else None,
        contributor=contributor,
        holding=_numbered(table, "holding"),
        asked=asked,
    )


def _numbered(table: pa.Table, name: str) -> Any:
    """Units as numbers; each record without is a unit of its own."""
    if name not in table.column_names:
        return None
    encoded = _encoded(table, name)
    number = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    alone = number < 0
    number[alone] = len(encoded.dictionary) + np.arange(np.count_nonzero(alone), dtype=np.int32)
    return number


def _encoded(table: pa.Table, name: str) -> Any:
    """A column of units as the distinct ones and their numbers."""
    encoded = table[name].combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks() if encoded.num_chunks != 1 else encoded.chunk(0)
    return encoded


def _batch(value: int, used: int, cell: Any, rows: Any) -> pa.RecordBatch:
    records = np.zeros(len(cell), np.int64)
    records[0] = used
    columns: dict[str, Any] = {
        "value": pa.array(np.full(len(cell), value, np.int32)),
        "records": pa.array(records),
        "cell": pa.array(cell.astype(np.int64)),
    }
    for place in range(rows.shape[1]):
        columns[f"number_{place}"] = pa.array(np.ascontiguousarray(rows[:, place]))
    return pa.RecordBatch.from_pydict(columns)


def _merge(layout: Layout, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All rows of a value and cell, made one."""
    given = list(batches)
    if not given or not sum(batch.num_rows for batch in given):
        return
    table = pa.Table.from_batches(given)
    value, records = _numpy(table["value"]), _numpy(table["records"])
    width = table.num_columns - 3
    rows = np.stack([_numpy(table[f"number_{place}"]) for place in range(width)], axis=1)
    for place in np.unique(value).tolist():
        mine = value == place
        cell, merged = layout.merge(_numpy(table["cell"])[mine], rows[mine])
        yield _batch(place, int(records[mine].sum()), cell, merged)


def _numpy(column: Any) -> Any:
    """A column of Arrow as an array of its own, NaN where a number is missing."""
    array = column.to_numpy()
    return array.astype(np.float64) if array.dtype == object else np.array(array)
