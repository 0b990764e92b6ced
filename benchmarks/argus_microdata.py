"""How fast records of fixed width are tabulated, against DuckDB on the same records as CSV.

Run with `python -m benchmarks.argus_microdata`. A million records with eight variables, three of
them explanatory; DuckDB reads the CSV file, told everything about it, and makes a CUBE with the two
largest records of each cell. tacit runs a batch file of tau-ARGUS up to the table. Seconds are
those of the work, without imports, the best of several runs in turns; at most three times what
DuckDB needs is the aim.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

METADATA = """\
industry 1 3
  <RECODEABLE>
region 4 2
  <RECODEABLE>
size 6 1
  <RECODEABLE>
firm 7 7
turnover 14 9
  <NUMERIC>
staff 23 5
  <NUMERIC>
profit 28 9
  <NUMERIC>
weight 37 5
  <NUMERIC>
"""
BATCH = """\
<OPENMICRODATA> "records.asc"
<OPENMETADATA> "records.rda"
<SPECIFYTABLE> "industry""region""size"|"turnover"||
<SAFETYRULE> P(10,1)
<READMICRODATA>
"""
DIMENSIONS = "industry, region, size"
WIDTHS = (3, 2, 1, 7, 9, 5, 9, 5)


def generate(folder: Path, records: int) -> None:
    """Write the same records in fixed columns and as CSV, with metadata and a batch file."""
    columns = {
        "industry": "100 + hash(i * 3) % 40",
        "region": "1 + hash(i * 3 + 1) % 30",
        "size": "1 + hash(i * 3 + 2) % 9",
        "firm": "hash(i * 7) % 1000000",
        "turnover": "round(20 * pow(((hash(i * 13) % 1000000) + 1) / 1000001.0, -0.5), 1)",
        "staff": "hash(i * 11) % 10000",
        "profit": "round((hash(i * 17) % 1000000) / 10.0, 1)",
        "weight": "round(1 + (hash(i * 19) % 90) / 10.0, 1)",
    }
    chosen = ", ".join(f"{made} AS {name}" for name, made in columns.items())
    fixed = " || ".join(
        f"lpad(CAST({name} AS VARCHAR), {width}, ' ')"
        for name, width in zip(columns, WIDTHS, strict=True)
    )
    with duckdb.connect() as duck:
        duck.execute(f"CREATE TABLE records AS SELECT {chosen} FROM range({records}) AS t(i)")
        duck.execute(f"COPY records TO '{folder / 'records.csv'}' (HEADER)")
        duck.execute(
            f"COPY (SELECT {fixed} FROM records) TO '{folder / 'records.asc'}' "
            "(HEADER false, QUOTE '', DELIMITER '|')"
        )
    (folder / "records.rda").write_text(METADATA)
    (folder / "job.arb").write_text(BATCH)


def plain(folder: Path) -> int:
    """DuckDB alone; the number of cells."""
    names = (*DIMENSIONS.split(", "), "firm", "turnover", "staff", "profit", "weight")
    kinds = ", ".join(
        f"'{name}': '{'VARCHAR' if place < 4 else 'DOUBLE'}'" for place, name in enumerate(names)
    )
    with duckdb.connect() as duck:
        found = duck.execute(
            f"SELECT {DIMENSIONS}, sum(turnover) AS value, count(*) AS count, "
            f"max(turnover, 2) AS top FROM read_csv('{folder / 'records.csv'}', header = true, "
            f"auto_detect = false, columns = {{{kinds}}}) GROUP BY CUBE ({DIMENSIONS})"
        ).fetchnumpy()
    return len(found["value"])


def argus(folder: Path) -> int:
    """The batch file; the number of cells of its table."""
    from tacit.jobs.argus import ArgusListener, run_argus
    from tacit.table import Table

    class Counts(ArgusListener):
        cells = 0

        def on_table(self, number: int, name: str, table: Table) -> None:  # noqa: ARG002
            self.cells = table.cell_count

    counts = Counts()
    run_argus(folder / "job.arb", listener=counts)
    return counts.cells


def main(records: int, runs: int) -> None:
    """Generate records and measure."""
    ways: dict[str, Callable[[Path], int]] = {"DuckDB, CSV": plain, "tacit argus, fixed": argus}
    best = dict.fromkeys(ways, float("inf"))
    with tempfile.TemporaryDirectory(prefix="tacit-") as name:
        folder = Path(name)
        generate(folder, 1000)
        argus(folder)
        generate(folder, records)
        for _ in range(runs):
            for way, work in ways.items():
                begun = time.perf_counter()
                work(folder)
                best[way] = min(best[way], time.perf_counter() - begun)
    print(f"{records:,} records, 8 variables, 3 of them explanatory")
    base = best["DuckDB, CSV"]
    for way, seconds in best.items():
        print(f"{way:20}{seconds:8.2f} s{seconds / base:8.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How fast records of fixed width are tabulated.")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    main(chosen.records, chosen.runs)
