"""Spark, with several worker processes, gives the same tables as DuckDB."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit.errors import InputError
from tacit.microdata import MicrodataError, TabulationReport, tabulate
from tacit.table import Table
from tests.microdata.obvious import BY, Row, assert_same_tables, assert_tabulated, obvious

pytestmark = [
    # One session for all: starting Spark takes longer than all tests.
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A Spark of two threads, each with a Python worker in a separate process."""
    lacking = [name for name in ("pyspark", "pyarrow") if importlib.util.find_spec(name) is None]
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        lacking.append("java")
    if lacking:
        reason = f"Spark needs {', '.join(lacking)}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    from pyspark.sql import SparkSession

    builder = (
        # Executors in separate processes start three times slower, for the same Python workers.
        SparkSession.builder.master("local[2]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        # Compiling queries over a few records takes longer than running them.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.sql.adaptive.coalescePartitions.enabled", "false")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
    )
    with pytest.MonkeyPatch.context() as patch:
        # Workers need the Python that has tacit.
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        session = builder.getOrCreate()
        yield session
        session.stop()


def rows() -> list[Row]:
    """Records of forty firms, some in holdings, some with several records in several cells."""
    chance = random.Random(1)
    firms = [f"f{number}" for number in range(40)]
    holdings = {firm: chance.choice([None, None, "h", "g"]) for firm in firms}
    result = []
    for _ in range(200):
        firm = chance.choice(firms)
        row = {
            "region": chance.choice(BY["region"].leaves),
            "industry": chance.choice(BY["industry"].leaves),
            "firm": firm,
            "turnover": chance.randint(-5, 40),
            "staff": chance.randint(0, 9),
            "weight": chance.choice([1.0, 1.0, 2.0, 3.5]),
            "asks": chance.random() < 0.05,
            "holding": holdings[firm],
        }
        result.append(row)
    return result


EVERYTHING = {
    "contributor": "firm",
    "holding": "holding",
    "weight": "weight",
    "shadow": "staff",
    "request": "asks",
}


def assert_same_contributors(table: Table, other: Table, *, named: bool) -> None:
    """Two tables list contributors and holdings of the same size, by the same numbers."""
    kinds = [(table.contributors, other.contributors, table.count)]
    if table.holding_count is not None:
        kinds.append((table.holdings, other.holdings, table.holding_count))
    for mine, theirs, count in kinds:
        assert mine is not None
        assert theirs is not None
        assert count is not None
        np.testing.assert_allclose(mine.amount, theirs.amount, rtol=1e-12)
        assert np.array_equal(mine.is_known, theirs.is_known)
        if named:
            # Among equals in size, which of them is the last to be listed is left open.
            for cell in np.flatnonzero(count <= mine.who.shape[1]):
                assert set(mine.who[cell].tolist()) == set(theirs.who[cell].tolist())


@pytest.mark.parametrize("left_out", [(), ("contributor",), ("holding", "shadow", "weight")])
def test_spark_gives_the_table_of_duckdb(spark: Any, left_out: tuple[str, ...]) -> None:
    """The same specification gives the same table, which is the obvious one."""
    data = rows()
    options: dict[str, Any] = {k: v for k, v in EVERYTHING.items() if k not in left_out}
    schema = (
        "region string, industry string, firm string, turnover int, staff bigint, weight double, "
        "asks boolean, holding string"
    )
    frame = spark.createDataFrame([tuple(row.values()) for row in data], schema).repartition(2)
    options["keep_empty"] = not left_out
    by_spark = tabulate(frame, BY, ["turnover", "staff"], **options)
    by_duckdb = tabulate(pd.DataFrame(data), BY, ["turnover", "staff"], **options)
    del options["keep_empty"]
    for name, table in by_spark.items():
        assert_same_tables(table, by_duckdb[name])
        assert_same_contributors(table, by_duckdb[name], named="contributor" not in left_out)
        if left_out:
            assert_tabulated(table, obvious(data, BY, name, **options))


def test_work_is_done_by_several_processes(spark: Any) -> None:
    """The session of these tests runs Python in more than one process, none of them this one."""

    def process(batches: Any) -> Any:
        import os
        import time

        import pyarrow

        for _ in batches:
            time.sleep(0.5)
        yield pyarrow.RecordBatch.from_pydict({"process": [os.getpid()]})

    frame = spark.range(0, 8, numPartitions=4).mapInArrow(process, "process bigint")
    processes = {row["process"] for row in frame.collect()}
    assert len(processes) >= 2
    assert os.getpid() not in processes


@pytest.mark.usefixtures("spark")
def test_files_with_faults_give_the_same_report(tmp_path: Path) -> None:
    """CSV files with every fault are reported alike, and what is left makes the same table."""
    good = "N1a,01,f,5.5,1\nSouth,11,g,7,0\nN2,02,g,1e1,\nSouth,01,h,3,yes\n"
    codes = "N9,01,f,5,1\nNorth,01,f,5,1\n,01,f,5,1\nN1a,01,,5,1\nN1a,01,f,4,maybe\n"
    numbers = "".join(f"N1a,01,f,{text},1\n" for text in ("", "1d", '"12,5"', "nan", "1_0"))
    path = tmp_path / "records.csv"
    path.write_text("region,industry,firm,turnover,asks\n" + good + codes + numbers)
    by = {"region": BY["region"], "industry": None}
    options: dict[str, Any] = {"contributor": "firm", "request": "asks"}
    drop: dict[str, Any] = dict.fromkeys(("unknown", "missing", "unreadable"), "drop")
    told: list[TabulationReport] = []
    tables = [
        tabulate(path, by, "turnover", engine=engine, report=told.append, **options, **drop)
        for engine in ("spark", "duckdb")
    ]
    assert_same_tables(*tables)
    # Only DuckDB knows lines, and what is probably wrong with numbers.
    bare = [dataclasses.replace(found, places=(), cause="") for found in told[1].findings]
    assert told[0] == dataclasses.replace(told[1], findings=tuple(bare))
    assert told[0].tabulated == {"turnover": 4}
    assert len(told[0].findings) == 7
    with pytest.raises(MicrodataError, match="unknown code") as caught:
        tabulate(path, by, "turnover", engine="spark", **options)
    assert caught.value.report.findings == told[0].findings


@pytest.mark.usefixtures("spark")
def test_files_are_taken_at_their_word(tmp_path: Path) -> None:
    """Separators and quotation marks are understood; records of another length are refused."""
    path = tmp_path / "records.csv"
    path.write_text('r;v\n"a ""b""; c";987654\nd;2\n')
    tables = [tabulate(path, {"r": None}, "v", engine=engine) for engine in ("spark", "duckdb")]
    assert_same_tables(*tables)
    path.write_text("r,v\nx,987654,3\nx,2\n")
    for engine in ("spark", "duckdb"):
        with pytest.raises(InputError, match="entries") as caught:
            tabulate(path, {"r": None}, "v", engine=engine)
        assert caught.value.path == path
        assert "987654" not in str(caught.value)
    with pytest.raises(InputError, match="does not exist"):
        tabulate(tmp_path / "none.csv", {"r": None}, "v", engine="spark")


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_names_of_files_are_taken_literally(tmp_path: Path, ending: str) -> None:
    """Odd names are those files, names of folders are no data, no file is read twice."""
    for place, number in (("v=7/f[1]", 100), ("v=7/f1", 5), ("v=8/{a}", 20)):
        path = tmp_path / f"{place}.{ending}"
        path.parent.mkdir(exist_ok=True)
        frame = pd.DataFrame({"r": ["x"], "v": [number]})
        frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    for source, total in {
        str(tmp_path / f"v=7/f[1].{ending}"): 100,
        str(tmp_path / f"v=8/{{a}}.{ending}"): 20,
        str(tmp_path / f"*/*.{ending}"): 125,
    }.items():
        for engine in ("spark", "duckdb"):
            table = tabulate(source, {"r": None}, "v", engine=engine)
            assert table.value.tolist() == [total, total]
    again = [str(tmp_path / f"v=7/f1.{ending}")] * 2
    with pytest.raises(InputError, match="counted twice"):
        tabulate(again, {"r": None}, "v", engine="spark")


@pytest.mark.usefixtures("spark")
def test_columns_in_another_order_are_refused(tmp_path: Path) -> None:
    """Spark reads columns by their places: a file that has them elsewhere is not mixed in."""
    (tmp_path / "a.csv").write_text("r,v\n1,2\n")
    (tmp_path / "b.csv").write_text("v,r\n4,3\n")
    with pytest.raises(InputError, match="differ in their first lines"):
        tabulate(str(tmp_path / "*.csv"), {"r": None}, "v", engine="spark")


def test_spark_refuses_what_is_not_its_own(spark: Any) -> None:
    """Settings of DuckDB, types without numbers and several holdings are refused."""
    frame = spark.createDataFrame(
        [("x", "f", "h"), ("x", "f", "g")], "r string, f string, h string"
    )
    with pytest.raises(InputError, match="configure the Spark session"):
        tabulate(frame, {"r": None}, memory_limit="1GB")
    with pytest.raises(InputError, match="use engine='spark'"):
        tabulate(frame, {"r": None}, engine="duckdb")
    with pytest.raises(InputError, match="no column v"):
        tabulate(frame, {"r": None}, "v")
    with pytest.raises(InputError, match="1 contributor in column f belongs to several holdings"):
        tabulate(frame, {"r": None}, contributor="f", holding="h")
    days = spark.sql("SELECT 'x' AS r, DATE '2024-01-01' AS v")
    with pytest.raises(InputError, match="column v is of type date"):
        tabulate(days, {"r": None}, "v")
    numbers = spark.sql("SELECT CAST(3 AS DOUBLE) AS r, CAST(2.5 AS DECIMAL(4, 1)) AS v")
    assert tabulate(numbers, {"r": None}, "v").codes("r").tolist() == ["Total", "3"]
