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
        "confidential)",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def run(arguments: argparse.Namespace) -> int:
    """Tabulate and write the table."""
    out: Path = arguments.out
    if not out.name.lower().endswith(_CELLS):
        raise InputError(f"the name of the output must end in {', '.join(_CELLS)}", path=out)
    refuse_unwritable(out, inputs=(arguments.config, Path(arguments.microdata)))
    from tacit.cli.job_runs import records
    from tacit.io.cells import confidential, write_columns
    from tacit.jobs import job_table, read_job

    job = read_job(arguments.config, microdata=arguments.microdata)
    reports: list[TabulationReport] = []
    with Progress.on_stderr(quiet=arguments.quiet, stops_gracefully=False) as progress:
        table = job_table(job, observer=progress, report=reports.append)
    write_columns(confidential(table.to_frame("dict")), out)
    sizes = " x ".join(f"{name} ({len(codes)})" for name, codes in table.dimensions.items())
    rows = {
        "records": records(reports[0]),
        "table": f"{sizes}, {table.cell_count} cells",
        "wrote": str(out),
    }
    print("\n".join([arguments.microdata, *(f"  {line}" for line in as_lines(rows))]))
    print(f"note: {out} contains true values; it is confidential", file=sys.stderr)
    return ExitCode.DONE
