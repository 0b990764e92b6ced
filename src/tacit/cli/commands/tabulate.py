"""`tacit tabulate`: from microdata to a table with every total, as a job describes it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli.exits import ExitCode
from tacit.cli.outcomes import as_lines
from tacit.cli.progress import Progress
from tacit.errors import InputError
from tacit.io.files import refuse_unwritable

if TYPE_CHECKING:
    from tacit.microdata import TabulationReport
    from tacit.table import Table

_CELLS = (".csv", ".csv.gz", ".parquet")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare microdata, job and output."""
    parser.add_argument(
        "microdata", metavar="MICRODATA", help="CSV, Excel or Parquet files: a path or a pattern"
    )
    parser.add_argument(
        "--config",
        type=Path,
        required=True,
        metavar="JOB.toml",
        help="a job that says in [data] and [dimensions] how to tabulate; its rules are not "
        "applied here",
    )
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="TABLE",
        help="write the table with counts and largest contributions (.csv, .csv.gz, .parquet; "
        "confidential); {table} in the name stands for each of linked tables",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def run(arguments: argparse.Namespace) -> int:
    """Tabulate and write the table."""
    out: Path = arguments.out
    if not out.name.lower().endswith(_CELLS):
        raise InputError(f"the name of the output must end in {', '.join(_CELLS)}", path=out)
    from tacit.jobs import job_table, read_job
    from tacit.jobs.tables import TABLE, expanded

    job = read_job(arguments.config, microdata=arguments.microdata)
    files: dict[str | None, Path] = {None: out}
    if TABLE in out.name:
        if not job.table_names:
            raise InputError(
                f"{TABLE} stands for the name of each of several linked tables; this job has one "
                "table",
                path=out,
            )
        files = dict(expanded(out, job.table_names).items())
    refuse_unwritable(*files.values(), inputs=job.inputs)
    # Slow to import.
    from tacit.cli.job_runs import records
    from tacit.io.cells import confidential, write_columns
    from tacit.jobs.run import columns_of

    reports: list[TabulationReport] = []
    with Progress.on_stderr(quiet=arguments.quiet, stops_gracefully=False) as progress:
        table = job_table(job, observer=progress, report=reports.append)
    for name, path in files.items():
        write_columns(confidential(columns_of(table, name)), path)
    told = "; ".join(dict.fromkeys(map(records, reports)))
    lines = [f"  {line}" for line in as_lines({"records": told, **_size(table)})]
    if len(table.grids) > 1:
        lines += [
            f"    {grid.name}: {' x '.join(grid.dimensions)}, {grid.cell_count} cells"
            for grid in table.grids
        ]
    print("\n".join([arguments.microdata, *lines]))
    for path in files.values():
        print(f"  wrote       {path}")
    them = "it is" if len(files) == 1 else "they are"
    contain = "contains" if len(files) == 1 else "contain"
    print(
        f"note: {', '.join(map(str, files.values()))} {contain} true values; {them} confidential",
        file=sys.stderr,
    )
    return ExitCode.DONE


def _size(table: Table) -> dict[str, str]:
    """What was tabulated."""
    if len(table.grids) > 1:
        return {"linked": f"{table.cell_count} cells"}
    sizes = " x ".join(f"{name} ({len(codes)})" for name, codes in table.dimensions.items())
    return {"table": f"{sizes}, {table.cell_count} cells"}
