"""`tacit argus`: runs a batch file of tau-ARGUS, or translates it into jobs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli.arguments import number
from tacit.cli.exits import ExitCode
from tacit.errors import InputError

if TYPE_CHECKING:
    from tacit.release import NoReleaseError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the batch file, the folder for outputs and the time limit."""
    parser.add_argument("batch", type=Path, metavar="JOB.arb", help="a tau-ARGUS batch file")
    parser.add_argument(
        "--out-dir",
        type=Path,
        metavar="DIR",
        help="the folder for everything that is written (default: that of the batch file)",
    )
    parser.add_argument(
        "--time-limit",
        type=number(above=0),
        metavar="S",
        help="seconds for each table, in place of the minutes in the batch file",
    )
    parser.add_argument(
        "--to-job",
        type=Path,
        metavar="JOB.toml",
        help="translate the batch file into a job, and run nothing",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def run(arguments: argparse.Namespace) -> int:
    """Run or translate the batch file."""
    from tacit.cli.argus_runs import Shown
    from tacit.jobs.argus import run_argus, translate_argus
    from tacit.release import NoReleaseError

    batch: Path = arguments.batch
    listener = Shown(batch, quiet=arguments.quiet)
    if arguments.to_job is not None:
        for name in ("out_dir", "time_limit"):
            if getattr(arguments, name) is not None:
                option = f"--{name.replace('_', '-')}"
                raise InputError(f"{option} has no effect with --to-job; leave it out")
        jobs = translate_argus(batch, arguments.to_job, listener=listener)
        for job in jobs:
            print(f"wrote {job}; run it with: tacit protect {job}")
        print("note: the data beside it are confidential", file=sys.stderr)
        return ExitCode.DONE
    try:
        run_argus(
            batch, out_dir=arguments.out_dir, time_limit=arguments.time_limit, listener=listener
        )
    except NoReleaseError as error:
        print(f"tacit: {batch}: {error}", file=sys.stderr)
        return _exit_code(error)
    return ExitCode.DONE


def _exit_code(error: NoReleaseError) -> ExitCode:
    from tacit.outcome import Status

    if error.audit is not None:
        return ExitCode.EXPOSED
    infeasible = error.outcome.status is Status.INFEASIBLE
    return ExitCode.NO_SAFE_OUTCOME if infeasible else ExitCode.STOPPED
