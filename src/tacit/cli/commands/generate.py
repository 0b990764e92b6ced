"""`tacit generate`: a generated table as a JJ file."""

from __future__ import annotations

import argparse
from pathlib import Path

from tacit.cli.arguments import whole_number
from tacit.cli.exits import ExitCode
from tacit.cli.progress import Progress
from tacit.errors import InputError
from tacit.io.files import refuse_unwritable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare kind, structure, seed and output."""
    parser.add_argument(
        "kind",
        metavar="1h2d|2d|3d",
        help="one hierarchical with one flat dimension, or two or three flat ones",
    )
    parser.add_argument(
        "--structure",
        metavar="40-50-10",
        help="1h2d: rows of a subtable, columns, percentage of sensitive cells; 2d and 3d: codes "
        "of each dimension and, if wanted, that percentage",
    )
    parser.add_argument(
        "--seed",
        type=whole_number(0),
        default=1,
        metavar="N",
        help="the same seed gives the same table (default: 1)",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE.jj", help="a name in .jj or .jj.gz"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def run(arguments: argparse.Namespace) -> int:
    """Generate the table and write it."""
    out: Path = arguments.out
    if not out.name.lower().endswith((".jj", ".jj.gz")):
        raise InputError("the name of the output must end in .jj or .jj.gz", path=out)
    refuse_unwritable(out)
    from tacit.generators import generate_by_name
    from tacit.io.jj import write_jj

    with Progress.on_stderr(quiet=arguments.quiet, stops_gracefully=False) as progress:
        progress.on_start("generate")
        problem = generate_by_name(arguments.kind, arguments.structure, arguments.seed)
        progress.on_phase("writing")
        write_jj(problem, out, confidential=False)
    print(
        f"wrote {out}: {problem.cell_count} cells, {problem.relation_count} relations, "
        f"{len(problem.sensitive)} sensitive, seed {arguments.seed}"
    )
    return ExitCode.DONE
