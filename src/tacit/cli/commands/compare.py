"""`tacit compare`: several methods on one table, to help choose."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.arguments import (
    add_tolerance,
    add_weights,
    named_option,
    number,
    one_of,
    seed,
    tolerance_of,
)
from tacit.cli.exits import ExitCode
from tacit.cli.files import INPUT_HELP, is_job, write_json
from tacit.cli.progress import Progress
from tacit.errors import InputError, ProblemError
from tacit.io.files import refuse_unwritable
from tacit.methods.registry import METHODS
from tacit.options import Options
from tacit.version import __version__

if TYPE_CHECKING:
    from tacit.comparison import Comparison
    from tacit.jobs import Job
    from tacit.problem import Problem
    from tacit.table import Table

_COMMON = ("time_limit", "gap", "seed")
"""Options that all methods have."""
_CONFIDENTIAL = "says how closely sensitive cells are protected; do not publish"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("input", type=Path, metavar="INPUT", help=INPUT_HELP)
    parser.add_argument(
        "--methods",
        type=_methods,
        default=tuple(METHODS),
        metavar=",".join(METHODS),
        help="which to compare; with an algorithm as in suppress:hypercube (default: all)",
    )
    parser.add_argument(
        "--time-limit",
        type=number(above=0),
        metavar="SECONDS",
        help=f"for each method; measuring comes on top (default: {Options.time_limit:g})",
    )
    parser.add_argument("--gap", type=number(least=0), metavar="X", help="when a method may stop")
    parser.add_argument("--seed", type=seed, metavar="N", help=f"of all (default: {Options.seed})")
    add_weights(parser)
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        type=_option_of,
        metavar="METHOD.NAME=VALUE",
        help="any option of a method, such as suppress.max_suppressed=20; again for others",
    )
    parser.add_argument(
        "--report", type=Path, metavar="FILE.html", help="write figures and picture as a page"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON")
    add_tolerance(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def run(arguments: argparse.Namespace) -> int:
    """Run the methods, print the figures side by side, and write the requested files."""
    from tacit.cli.job_runs import prepared, with_typed_weights
    from tacit.jobs import open_job

    path: Path = arguments.input
    report: Path | None = arguments.report
    if report is not None and report.suffix.lower() != ".html":
        raise InputError("the name of the report must end in .html", path=report)
    job = with_typed_weights(open_job(path), arguments.weights)
    refuse_unwritable(report, arguments.json, inputs=job.inputs)
    options = _options(arguments, job)
    source = prepared(job, quiet=arguments.quiet)
    found = _compared(arguments, source, options, job.options)
    if not is_job(path):
        print(f"{path}\n  {'table':<12}{found.cells} cells, {found.sensitive} sensitive")
    print(f"  {'each':<12}at most {found.time_limit:g} s, seed {found.seed}\n")
    print(found.summary())
    if arguments.json is not None:
        write_json(arguments.json, _members(path, found))
    if report is not None:
        found.report(report, table=path.name)
        print(f"\nwrote {report}")
    return _exit_code(found)


def _options(arguments: argparse.Namespace, job: Job) -> dict[str, dict[str, Any]]:
    """Options by method: those that a job has for its own method, and those typed."""
    found: dict[str, dict[str, Any]] = {}
    names = {label.partition(":")[0] for label in arguments.methods}
    if is_job(job.path) and job.method in names:
        own = {name: given for name, given in job.options.items() if name not in _COMMON}
        found[job.method] = own
        if arguments.weights is not None:
            own.pop("weights", None)
        if any(label.startswith(f"{job.method}:") for label in arguments.methods):
            own.pop("algorithm", None)
    for label, name, given in arguments.option:
        found.setdefault(label, {})[name] = given
    return found


def _compared(
    arguments: argparse.Namespace,
    source: Table | Problem,
    options: dict[str, dict[str, Any]],
    written: Mapping[str, Any],
) -> Comparison:
    """Compare; what is typed counts more than what a job has written for its method."""
    from tacit.comparison import compare

    chosen = {
        "time_limit": Options.time_limit,
        "gap": Options.gap,
        "seed": Options.seed,
        **{name: given for name, given in written.items() if name in _COMMON},
        **{name: given for name in _COMMON if (given := getattr(arguments, name)) is not None},
    }
    limit = chosen["time_limit"]
    with Progress.on_stderr(quiet=arguments.quiet, time_limit=limit) as progress:
        try:
            return compare(
                source,
                arguments.methods,
                **chosen,
                options=options,
                observer=progress,
                tolerance=tolerance_of(arguments),
            )
        except ProblemError as error:
            reasons = str(error).replace("\n", "\n  ")
            raise InputError(reasons, path=arguments.input) from None


def _exit_code(found: Comparison) -> ExitCode:
    if any(row.safe for row in found.rows):
        return ExitCode.DONE
    hopeless = all(row.status == "infeasible" for row in found.rows)
    return ExitCode.NO_SAFE_OUTCOME if hopeless else ExitCode.STOPPED


def _members(path: Path, found: Comparison) -> dict[str, Any]:
    columns = found.columns()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return {
        "confidential": _CONFIDENTIAL,
        "tacit": __version__,
        "input": str(path),
        "cells": found.cells,
        "sensitive": found.sensitive,
        "time_limit": found.time_limit,
        "seed": found.seed,
        "methods": rows,
    }


def _methods(text: str) -> tuple[str, ...]:
    labels = tuple(part.strip() for part in text.split(","))
    for label in labels:
        one_of("method", tuple(METHODS))(label.partition(":")[0])
    return labels


def _option_of(text: str) -> tuple[str, str, Any]:
    method, dot, rest = text.partition(".")
    if not dot:
        raise argparse.ArgumentTypeError(f"{text!r} is not written METHOD.NAME=VALUE")
    name, given = named_option(rest)
    return method.strip(), name, given
