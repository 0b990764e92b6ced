"""How fast tabulation is, against the plain way that gets contributors wrong.

Run with `python -m benchmarks.tabulate`. The plain way is DuckDB's own CUBE with the two largest
records of each cell: a firm with several records counts several times. `tacit` adds up the records
of each firm in every total first. Records are generated as Parquet: three dimensions of 30 codes
(29,791 cells with totals), 25 records a firm, spread over the cells at random, which is the hardest
case: nothing can be added up beforehand.

Each measurement is a separate process; seconds are those of the work, without imports, the best
of several runs in turns; memory is the peak of the process. `--records 100000000 --memory-limit 6GB
--alone` shows work that moves to disk.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

DIMENSIONS = ("industry", "region", "size")
RECORDS_A_FIRM = 25
CONTRIBUTORS = {"text": "firm", "number": "firm_number"}


def generate(path: Path, records: int) -> None:
    """Write records; the same every time."""
    firms = max(1, records // RECORDS_A_FIRM)
    codes = ", ".join(
        f"'{name[0].upper()}' || lpad(CAST(hash(i * 3 + {salt}) % 30 AS VARCHAR), 2, '0') AS {name}"
        for salt, name in enumerate(DIMENSIONS)
    )
    uniform = "((hash(i * 13 + 3) % 1000000) + 1) / 1000001.0"
    with duckdb.connect() as duck:
        duck.execute("SET preserve_insertion_order = false")
        duck.execute(
            f"COPY (SELECT {codes}, 'F' || CAST(hash(i * 7 + 5) % {firms} AS VARCHAR) AS firm, "
            f"CAST(hash(i * 7 + 5) % {firms} AS BIGINT) AS firm_number, "
            f"round(20 * pow({uniform}, -0.8)) AS turnover FROM range({records}) AS t(i)) "
            f"TO '{path}' (FORMAT parquet)"
        )


def plain(path: Path) -> int:
    """The plain way: two largest records of each cell, firms counted as often as they report."""
    names = ", ".join(DIMENSIONS)
    with duckdb.connect() as duck:
        found = duck.execute(
            f"SELECT {names}, sum(turnover) AS value, count(*) AS count, max(turnover, 2) AS top "
            f"FROM '{path}' GROUP BY CUBE ({names})"
        ).fetchnumpy()
    return len(found["value"])


def tabulated(path: Path, contributor: str, memory_limit: str | None, check: bool) -> int:
    """The right way, checked against SQL for the totals of each dimension."""
    from tacit.microdata import tabulate

    table = tabulate(
        path,
        dict.fromkeys(DIMENSIONS),
        "turnover",
        contributor=contributor,
        memory_limit=memory_limit,
    )
    if check:
        _check(table.to_frame("dict"), path, contributor)
    return table.cell_count


def _check(cells: dict[str, Any], path: Path, contributor: str) -> None:
    rows = zip(*(cells[name] for name in (*DIMENSIONS, "count", "top_1", "top_2")), strict=True)
    ours = {tuple(row[:3]): tuple(map(float, row[3:])) for row in rows}
    with duckdb.connect() as duck:
        for place, name in enumerate(DIMENSIONS):
            expected = duck.execute(
                f"SELECT {name}, count(*), max(v, 2) FROM (SELECT {name}, {contributor}, "
                f"sum(turnover) AS v FROM '{path}' GROUP BY ALL) GROUP BY ALL"
            ).fetchall()
            for code, count, top in expected:
                key = ["Total"] * 3
                key[place] = code
                if ours[tuple(key)] != (count, *top):
                    raise SystemExit(f"the totals of {name} are wrong")


def measure(arguments: argparse.Namespace) -> None:
    """Do one piece of work in this process and print what it took."""
    path = Path(arguments.path)
    if arguments.measure != "plain":
        import tacit.microdata.duck  # noqa: F401  (imports are not part of the work)
    wall, cpu = time.perf_counter(), time.process_time()
    if arguments.measure == "plain":
        cells = plain(path)
    else:
        contributor = CONTRIBUTORS[arguments.measure]
        cells = tabulated(path, contributor, arguments.memory_limit, check=False)
    taken = {
        "cells": cells,
        "seconds": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "gigabytes": _peak_memory() / 1e9,
    }
    print(json.dumps(taken))


def _peak_memory() -> int:
    """The most memory that this process had, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        # What getrusage says begins with the memory of the process that started this one.
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _in_a_process(what: str, path: Path, memory_limit: str | None) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.tabulate", "--measure", what, "--path", str(path)]
    if memory_limit is not None:
        command += ["--memory-limit", memory_limit]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def main(arguments: argparse.Namespace) -> None:
    """Generate records and measure."""
    work = ["text"] if arguments.alone else ["plain", *CONTRIBUTORS]
    with tempfile.TemporaryDirectory(prefix="tacit-", dir=arguments.folder) as folder:
        path = Path(folder) / "records.parquet"
        generate(path, arguments.records)
        if not arguments.alone:
            tabulated(path, CONTRIBUTORS["text"], arguments.memory_limit, check=True)
        best: dict[str, dict[str, float]] = {}
        for _ in range(1 if arguments.alone else arguments.runs):
            for what in work:
                taken = _in_a_process(what, path, arguments.memory_limit)
                before = best.setdefault(what, taken)
                best[what] = {name: min(before[name], taken[name]) for name in taken}
        megabytes = path.stat().st_size / 1e6
    firms = arguments.records // RECORDS_A_FIRM
    print(f"{arguments.records:,} records of {firms:,} firms, {megabytes:,.0f} MB of Parquet")
    print(f"{'':28}{'cells':>8}{'seconds':>9}{'cpu':>8}{'GB':>7}{'ratio':>7}{'cpu':>6}")
    names = {
        "plain": "plain CUBE, firms wrong",
        "text": "tacit, firms as text",
        "number": "tacit, firms as numbers",
    }
    for what, taken in best.items():
        line = (
            f"{names[what]:28}{taken['cells']:>8,.0f}{taken['seconds']:>9.2f}{taken['cpu']:>8.2f}"
        )
        line += f"{taken['gigabytes']:>7.2f}"
        if "plain" in best:
            ratios = [taken[name] / best["plain"][name] for name in ("seconds", "cpu")]
            line += f"{ratios[0]:>7.2f}{ratios[1]:>6.2f}"
        print(line)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How fast tabulation is.")
    parser.add_argument("--records", type=int, default=5_000_000)
    parser.add_argument("--memory-limit")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help="without the plain way, one run")
    parser.add_argument("--folder", help="where to put the records; removed afterwards")
    parser.add_argument("--measure", choices=["plain", *CONTRIBUTORS], help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure:
        measure(chosen)
    else:
        main(chosen)
