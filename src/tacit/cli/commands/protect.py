"""`tacit protect`: a safe publication of a table that loses as little as possible."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from tacit.cli.arguments import add_tolerance, number, tolerance_of, whole_number
from tacit.cli.exits import ExitCode
from tacit.cli.files import read_problem, refuse_unwritable
from tacit.cli.outcomes import summary
from tacit.cli.progress import Progress
from tacit.errors import InputError, ProblemError
from tacit.methods.suppress.options import Algorithm, Singletons, Subproblem, SuppressOptions

if TYPE_CHECKING:
    from tacit.outcome import Outcome
    from tacit.problem import Problem

METHODS = ("suppress",)
WEIGHTS = {"file": "given", "unit": "unit", "value": "value"}
"""Words of the command line, each with that of `tacit.suppress`."""
_LARGEST_SEED = 10**9
"""Solvers count on from a seed, and must not run out of numbers."""
_JJ = (".jj", ".jj.gz")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("input", type=Path, metavar="INPUT", help="a .jj or .jj.gz file")
    parser.add_argument(
        "--method",
        type=_one_of("method", METHODS),
        default="suppress",
        metavar="|".join(METHODS),
        help="how to protect (default: suppress)",
    )
    algorithms = get_args(Algorithm)
    parser.add_argument(
        "--algorithm",
        type=_one_of("algorithm", algorithms),
        default="auto",
        metavar="NAME",
        help=f"how to search: {', '.join(algorithms)} (default: auto)",
    )
    parser.add_argument(
        "--time-limit",
        type=number(above=0),
        default=SuppressOptions.time_limit,
        metavar="SECONDS",
        help="stop with the best safe pattern after so long (default: 60)",
    )
    parser.add_argument(
        "--gap",
        type=number(least=0),
        default=SuppressOptions.gap,
        metavar="X",
        help="stop when (objective - bound) / objective is at most this (default: 0.0001)",
    )
    parser.add_argument(
        "--seed",
        type=_seed,
        default=SuppressOptions.seed,
        metavar="N",
        help="the same seed gives the same pattern, unless the time limit cuts in (default: 1)",
    )
    parser.add_argument(
        "--weights",
        choices=WEIGHTS,
        default="file",
        help="what a suppressed cell costs: as in the file, 1, or its value (default: file)",
    )
    parser.add_argument(
        "--singletons",
        choices=get_args(Singletons),
        default="ignore",
        help="protection against cells with a single respondent, for inputs that name them "
        "(default: ignore)",
    )
    parser.add_argument(
        "--max-suppressed",
        type=whole_number(0),
        metavar="N",
        help="suppress at most so many cells, sensitive ones included",
    )
    parser.add_argument(
        "--subproblem",
        choices=get_args(Subproblem),
        help="form of the cut-making subproblem, for benders and stabilized (default: meth1)",
    )
    parser.add_argument(
        "--radius",
        type=_radius,
        metavar="X,X,...",
        help="trust region radii as shares of the number of sensitive cells, for stabilized "
        "(default: 0.01,0.02,0.5,1)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write the table with statuses u and m (.jj or .jj.gz; confidential: it holds the "
        "true values), or the numbers of the suppressed cells (.txt)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write result and trace as JSON")
    add_tolerance(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def run(arguments: argparse.Namespace) -> int:
    """Protect the table, write what was asked for, and say what came out."""
    path: Path = arguments.input
    out: Path | None = arguments.out
    if out is not None and not out.name.lower().endswith((*_JJ, ".txt")):
        raise InputError("the name of the output must end in .jj, .jj.gz or .txt", path=out)
    refuse_unwritable(out, arguments.json, inputs=(path,))
    options = _options(arguments)
    problem = read_problem(path)
    if arguments.singletons != "ignore" and not (problem.singleton >= 0).any():
        raise InputError(
            "this input does not say which cells have a single respondent (a JJ file cannot); "
            "leave out --singletons",
            path=path,
        )
    outcome = _suppressed(arguments, problem, options)
    if arguments.json is not None:
        from tacit.io.solutions import write_outcome_json

        write_outcome_json(outcome, problem, str(path), arguments.json)
    print("\n".join([str(path), *(f"  {line}" for line in summary(outcome, problem))]))
    if outcome.solution is None:
        return _without_solution(outcome, path, out)
    if out is not None:
        _write(problem, outcome, out)
    return ExitCode.DONE


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Options beyond those of every method; one that would have no effect is refused."""
    algorithm: str = arguments.algorithm
    options: dict[str, Any] = {"singletons": arguments.singletons}
    if arguments.max_suppressed is not None:
        options["max_suppressed"] = arguments.max_suppressed
    for name, meant_for in (("subproblem", ("benders", "stabilized")), ("radius", ("stabilized",))):
        given = getattr(arguments, name)
        if given is None:
            continue
        if algorithm not in meant_for:
            raise InputError(
                f"--{name} has no effect on algorithm {algorithm}; leave it out, or choose "
                f"--algorithm {' or '.join(meant_for)}"
            )
        options[name] = given
    return options


def _suppressed(
    arguments: argparse.Namespace, problem: Problem, options: dict[str, Any]
) -> Outcome:
    import tacit

    limit: float = arguments.time_limit
    with Progress.on_stderr(quiet=arguments.quiet, time_limit=limit) as progress:
        try:
            return tacit.suppress(
                problem,
                algorithm=arguments.algorithm,
                time_limit=limit,
                gap=arguments.gap,
                seed=arguments.seed,
                weights=WEIGHTS[arguments.weights],
                observer=progress,
                tolerance=tolerance_of(arguments),
                **options,
            )
        except ProblemError as error:
            reasons = str(error).replace("\n", "\n  ")
            raise InputError(reasons, path=arguments.input) from None


def _without_solution(outcome: Outcome, path: Path, out: Path | None) -> int:
    from tacit.outcome import Status

    unwritten = "" if out is None else f"; {out} was not written"
    if outcome.status is Status.INFEASIBLE:
        reason = outcome.message.replace("\n", "\n  ")
        print(f"tacit: {path}: no safe pattern exists{unwritten}:\n  {reason}", file=sys.stderr)
        return ExitCode.NO_SAFE_OUTCOME
    print(
        f"tacit: {path}: stopped before any safe pattern was known{unwritten}; allow more time "
        "with --time-limit",
        file=sys.stderr,
    )
    return ExitCode.STOPPED


def _write(problem: Problem, outcome: Outcome, out: Path) -> None:
    from tacit.io.files import replacing
    from tacit.io.jj import write_jj

    cells = outcome.suppressed
    if out.name.lower().endswith(_JJ):
        write_jj(problem, out, suppressed=cells)
        print(
            f"note: {out} contains the true value of every cell; it is confidential",
            file=sys.stderr,
        )
        return
    # An empty file would not say that nothing is suppressed.
    lines = "\n".join(map(str, cells.tolist())) or "[]"
    with replacing(out) as stream:
        stream.write(f"{lines}\n".encode())


def _one_of(kind: str, known: tuple[str, ...]) -> Any:
    def convert(text: str) -> str:
        if text not in known:
            raise argparse.ArgumentTypeError(
                f"there is no {kind} {text!r} (yet); there is: {', '.join(known)}"
            )
        return text

    return convert


def _seed(text: str) -> int:
    found = whole_number(0)(text)
    if found > _LARGEST_SEED:
        raise argparse.ArgumentTypeError(f"{text!r} is above the largest seed, {_LARGEST_SEED}")
    return found


def _radius(text: str) -> tuple[float, ...]:
    return tuple(number(above=0)(part) for part in text.split(","))
