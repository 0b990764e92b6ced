"""`tacit explain`: why a cell is suppressed, and what publishing it would take."""

from __future__ import annotations

import argparse
from pathlib import Path

from tacit.cli.arguments import add_tolerance, number, tolerance_of
from tacit.cli.exits import ExitCode
from tacit.cli.files import (
    INPUT_HELP,
    SOLUTION_HELP,
    read_publication,
    write_json,
)
from tacit.errors import InputError, ProblemError
from tacit.io.files import refuse_unwritable
from tacit.version import __version__


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("input", type=Path, metavar="INPUT", help=INPUT_HELP)
    parser.add_argument("solution", type=Path, metavar="SOLUTION", help=SOLUTION_HELP)
    parser.add_argument(
        "cell",
        metavar="CELL",
        help="a number, or codes as in industry=C10,region=North; a dimension that is not named "
        "stands at its total",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the explanation (confidential)"
    )
    parser.add_argument(
        "--picture",
        type=Path,
        metavar="FILE.svg",
        help="draw the circuit that goes through the cell, for instance to "
        "circuit.confidential.svg",
    )
    parser.add_argument(
        "--seconds",
        type=number(above=0.0),
        default=1.0,
        metavar="S",
        help="how long to look for something cheaper to suppress instead (default: 1)",
    )
    add_tolerance(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def run(arguments: argparse.Namespace) -> int:
    """Explain a cell and print it."""
    from tacit.explanation import Explainer, find_cell
    from tacit.jobs import faced_by, job_attackers, job_weight
    from tacit.table import Table

    inputs = (arguments.input, arguments.solution)
    refuse_unwritable(arguments.json, arguments.picture, inputs=inputs)
    if arguments.picture is not None:
        from tacit.report.picture import check_name

        check_name(arguments.picture, ".svg", confidential=True)
    job, source, solution = read_publication(
        arguments.input,
        arguments.solution,
        quiet=arguments.quiet,
        tolerance=tolerance_of(arguments),
    )
    cell = find_cell(source, arguments.cell)
    problem = faced_by(job, source)
    try:
        explainer = Explainer(
            problem,
            solution,
            table=source if isinstance(source, Table) else None,
            attackers=job_attackers(job, source),
            weight=job_weight(job, problem),
            tolerance=tolerance_of(arguments),
        )
    except ProblemError as error:
        raise InputError(str(error), path=arguments.input) from None
    told = explainer.explain(cell, seconds=arguments.seconds)
    print(told.summary())
    if arguments.picture is not None:
        told.picture().save(arguments.picture)
        print(f"circuit drawn in {arguments.picture}; it is confidential")
    if arguments.json is not None:
        members = told.to_json()
        start = {"confidential": members.pop("confidential"), "tacit": __version__}
        files = {"input": str(arguments.input), "solution": str(arguments.solution)}
        write_json(arguments.json, {**start, **files, **members})
    return ExitCode.DONE
