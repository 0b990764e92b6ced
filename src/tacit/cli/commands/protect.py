"""`tacit protect`: a safe publication of a table that loses as little as possible."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from tacit.cli.arguments import (
    INSIDERS,
    add_tolerance,
    add_weights,
    named_option,
    number,
    one_of,
    seed,
    tolerance_of,
    whole_number,
)
from tacit.cli.exits import ExitCode
from tacit.cli.files import INPUT_HELP, is_job
from tacit.cli.outcomes import summary
from tacit.errors import InputError
from tacit.io.files import refuse_unwritable
from tacit.methods.registry import DEFAULT_METHOD, METHODS
from tacit.methods.suppress.options import (
    Singletons,
    Subproblem,
    SubproblemSolver,
    SubproblemWeights,
    SuppressOptions,
)
from tacit.options import Options

if TYPE_CHECKING:
    from tacit.io.exports import Presentation
    from tacit.io.previous import Previous
    from tacit.jobs import Job
    from tacit.jobs.plans import Entry
    from tacit.outcome import Outcome
    from tacit.problem import Problem
    from tacit.release import NoReleaseError

_FLAGS = ("status", "sdmx", "none")
_LABELS = ("beside", "together", "instead", "none")
_JJ = (".jj", ".jj.gz")
_PATTERN = ".txt"
"""An output that says which cells are suppressed."""
_CONFIDENTIAL = "confidential"
"""In the name of a JJ file it asks for the true values."""
_OPTIONS = (
    "algorithm",
    "time_limit",
    "gap",
    "seed",
    "singletons",
    "max_suppressed",
    "subproblem",
    "subproblem_solver",
    "subproblem_weights",
    "radius",
    "reset_radius",
    "improvement",
    "jobs",
)
"""Arguments that are options of a method; those not typed are left to the job or the method."""
_PLANS = ("again", "out_dir", "summary", "state")
"""Arguments that mean something for several inputs only."""
_NAME = "{name}"
_PUBLISHES = {"suppress": "pattern", "adjust": "table", "round": "rounding"}
"""What methods look for, where there is a word for it."""
_MEANT_FOR = {
    "subproblem": ("benders", "stabilized"),
    "subproblem_solver": ("benders", "stabilized"),
    "subproblem_weights": ("benders", "stabilized"),
    "radius": ("stabilized",),
    "reset_radius": ("stabilized",),
    "improvement": ("stabilized",),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; they take precedence over what a job says."""
    parser.add_argument(
        "input",
        type=Path,
        nargs="+",
        metavar="INPUT",
        help=f"{INPUT_HELP}; several of them, a pattern such as 'jobs/*.toml', or the .toml file "
        "of a plan",
    )
    parser.add_argument(
        "--method",
        type=one_of("method", tuple(METHODS)),
        metavar="|".join(METHODS),
        help=f"how to protect (default: {DEFAULT_METHOD})",
    )
    parser.add_argument(
        "--algorithm",
        type=one_of("algorithm", _algorithms()),
        metavar="NAME",
        help=f"how to search: {', '.join(_algorithms())} (default: {SuppressOptions.algorithm})",
    )
    parser.add_argument(
        "--time-limit",
        type=number(above=0),
        metavar="SECONDS",
        help=f"stop with the best safe outcome after this time (default: {Options.time_limit:g})",
    )
    parser.add_argument(
        "--gap",
        type=number(least=0),
        metavar="X",
        help=f"stop when (objective - bound) / objective is at most this (default: {Options.gap})",
    )
    parser.add_argument(
        "--seed",
        type=seed,
        metavar="N",
        help="the same seed gives the same outcome, unless the time limit is reached "
        f"(default: {Options.seed}; for rounding at random one that is drawn in secret)",
    )
    add_weights(parser)
    parser.add_argument(
        "--wish",
        action="append",
        default=[],
        metavar="CELLS:WISH",
        help="what is wished of cells, besides what the job says, such as 'region=*: publish', "
        "'industry level 2: factor 5' or 'region=North: suppress'; again for others",
    )
    parser.add_argument(
        "--previous",
        type=Path,
        action="append",
        metavar="FILE",
        help="what was published of the table last time (.csv, .xlsx, .parquet, .json): stay close "
        "to it; again for further ones of linked tables",
    )
    parser.add_argument(
        "--keep",
        type=number(least=0),
        metavar="X",
        help="what a cell that had no value last time costs, as a share of its weight (default: "
        "as the job says, or 0.01)",
    )
    parser.add_argument(
        "--insiders",
        type=one_of("choice of insiders", INSIDERS),
        metavar="|".join(INSIDERS),
        help="contributors who attack, knowing their own figures: those alone in a cell, all that "
        "the table knows, or none (default: singletons, for jobs whose table counts contributors)",
    )
    parser.add_argument(
        "--coalition",
        type=whole_number(1),
        metavar="N",
        help="how many insiders may pool what they know (default: 1)",
    )
    parser.add_argument(
        "--singletons",
        type=one_of("protection", get_args(Singletons)),
        metavar="|".join(get_args(Singletons)),
        help="protection against cells with a single respondent as in papers, in place of "
        f"--insiders (default: {SuppressOptions.singletons})",
    )
    parser.add_argument(
        "--max-suppressed",
        type=whole_number(0),
        metavar="N",
        help="suppress at most this many cells, sensitive ones included",
    )
    parser.add_argument(
        "--subproblem",
        type=one_of("subproblem", get_args(Subproblem)),
        metavar="|".join(get_args(Subproblem)),
        help="form of the cut-making subproblem, for benders and stabilized "
        f"(default: {SuppressOptions.subproblem})",
    )
    parser.add_argument(
        "--radius",
        type=_radius,
        metavar="X,X,...",
        help="trust region radii as shares of the number of sensitive cells, for stabilized "
        f"(default: {','.join(f'{share:g}' for share in SuppressOptions.radius)})",
    )
    parser.add_argument(
        "--subproblem-solver",
        type=one_of("method", get_args(SubproblemSolver)),
        metavar="|".join(get_args(SubproblemSolver)),
        help="how the subproblem's linear programs are solved (default: flows where possible)",
    )
    parser.add_argument(
        "--subproblem-weights",
        type=one_of("kind of weights", get_args(SubproblemWeights)),
        metavar="|".join(get_args(SubproblemWeights)),
        help="weights in the subproblem, for meth4 and meth5 "
        f"(default: {SuppressOptions.subproblem_weights})",
    )
    parser.add_argument(
        "--reset-radius",
        action="store_const",
        const=True,
        help="begin with the first radius again when the centre has moved, for stabilized",
    )
    parser.add_argument(
        "--improvement",
        type=number(above=0),
        metavar="X",
        help="a master problem in a trust region ends at a pattern that is lighter by this share "
        f"of what is open, for stabilized (default: {SuppressOptions.improvement:g})",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        type=named_option,
        metavar="NAME=VALUE",
        help="any option of the method, as a job would have it under [method]; again for others",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write the published table (.csv, .csv.gz, .parquet, .xlsx, .html, .jj, .jj.gz) or "
        "the numbers of the suppressed cells (.txt); a name such as table.confidential.jj asks for "
        "the true values too, with statuses u and m",
    )
    parser.add_argument(
        "--marks",
        type=_marks,
        metavar="MARK[,MARK]",
        help="what stands for suppressed values in .csv (default: nothing), .xlsx and .html "
        "(default: x); two marks are for primary and secondary cells, with --tell-primary",
    )
    parser.add_argument(
        "--flags",
        type=one_of("kind of flags", _FLAGS),
        metavar="|".join(_FLAGS),
        help="columns that say how each cell is published: tacit's own words, or CONF_STATUS and "
        "OBS_STATUS (default: status)",
    )
    parser.add_argument(
        "--labels",
        type=one_of("place for labels", _LABELS),
        metavar="|".join(_LABELS),
        help="where labels of codes stand, if the job has any: in columns of their own, after the "
        "codes, or in their place (default: beside)",
    )
    parser.add_argument(
        "--tell-primary",
        action="store_true",
        help="tell readers which suppressed cells are themselves sensitive",
    )
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE.html",
        help="write a report with pictures that may be published with the table",
    )
    parser.add_argument(
        "--working-report",
        type=Path,
        metavar="FILE.confidential.html",
        help="write the internal report: sensitive cells, costs, bounds",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write result and trace as JSON")
    parser.add_argument(
        "--jobs",
        type=whole_number(1),
        metavar="N",
        help="cores that suppression may use (default: all); of several inputs, how many run side "
        "by side, each with one core (default: 1)",
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="of several inputs: run all of them, also those that have not changed",
    )
    parser.add_argument(
        "--out-dir",
        type=Path,
        metavar="DIR",
        help="of several inputs: a folder for the files that jobs name, with one for each job",
    )
    parser.add_argument(
        "--summary",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="of several inputs: write a summary (.txt, .csv, .html) that may be published; a name "
        "such as plan.confidential.csv asks for objectives, gaps and messages, too",
    )
    parser.add_argument(
        "--state",
        type=Path,
        metavar="FILE.confidential.json",
        help="of several inputs: the file that remembers what was run (default: "
        "tacit.state.confidential.json here, or beside the plan)",
    )
    add_tolerance(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def run(arguments: argparse.Namespace) -> int:
    """Protect the table, write the requested files, and print a summary."""
    from tacit.cli.job_runs import JobProgress
    from tacit.cli.plan_runs import is_several
    from tacit.jobs import open_job, run_job, write_outputs
    from tacit.jobs.run import write_without_release
    from tacit.release import MOST_HINTS, NoReleaseError

    _check_reports(arguments)
    if is_several(arguments.input):
        return _run_plan(arguments)
    for name in _PLANS:
        if getattr(arguments, name):
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} is for several inputs or a plan; leave it out")
    (path,) = arguments.input
    job = _changed(arguments, open_job(path))
    pattern = _pattern(arguments.out)
    if pattern is not None and job.method != "suppress":
        raise _not_a_pattern(pattern, job.method)
    refuse_unwritable(*job.outputs.files, pattern, inputs=job.inputs)
    listener = JobProgress(job, quiet=arguments.quiet)
    try:
        release = run_job(job, listener=listener, tolerance=tolerance_of(arguments))
    except NoReleaseError as error:
        write_without_release(job, error)
        _print_summary(path, error.outcome, error.problem)
        if error.audit is not None:
            print(f"tacit: {path}: {error}", file=sys.stderr)
            return ExitCode.EXPOSED
        for choice in error.recodes.choices[:MOST_HINTS] if error.recodes is not None else ():
            print(f"  recoding    without {choice}")
        unwritten = [file for file in job.outputs.files if file != job.outputs.json]
        return _without_solution(error, path, *unwritten, pattern)
    papers = release.papers
    _print_summary(path, papers.outcome, papers.problem)
    if papers.changes is not None:
        print(f"  previous    {papers.changes}")
    if papers.sums:
        print(f"  known sums  {papers.summary_rows()['known sums']}")
    write_outputs(job, release)
    if pattern is not None:
        _write_pattern(papers.problem, papers.outcome, pattern)
    if is_job(path):
        for file in [*job.outputs.files, *([] if pattern is None else [pattern])]:
            print(f"  wrote       {file}")
    return ExitCode.DONE


def _not_a_pattern(out: Path, method: str) -> InputError:
    told = "a list of suppressed cells", "write another format, or JSON"
    if out.name.lower().endswith(_JJ):
        told = (
            "a JJ file with the true values",
            f"leave {_CONFIDENTIAL!r} out of its name to write what is published",
        )
    return InputError(f"{told[0]} does not say what method {method} publishes; {told[1]}", path=out)


def _presentation(arguments: argparse.Namespace, job: Job) -> Presentation:
    """How to write the published table: as typed, and otherwise as the job says."""
    from tacit.io.exports import SUFFIXES, Presentation

    out: Path | None = arguments.out
    if out is not None and not out.name.lower().endswith((*SUFFIXES, _PATTERN)):
        endings = ", ".join((*SUFFIXES, _PATTERN))
        raise InputError(f"the name of the output must end in one of {endings}", path=out)
    written = job.outputs.presentation
    presentation = replace(
        written,
        marks=written.marks if arguments.marks is None else arguments.marks,
        flags=written.flags if arguments.flags is None else arguments.flags,
        tell_primary=written.tell_primary or arguments.tell_primary,
        labels=written.labels if arguments.labels is None else arguments.labels,
    )
    job.refuse_labels_without_codes(arguments.labels)
    if is_job(job.path) or job.outputs.published:
        # A title stands in jobs only, and was looked at when the job was read.
        presentation.refuse_unused(*job.outputs.all_published, reported=True)
    elif presentation != Presentation():
        raise InputError(
            "no published table is written; name a file with --out, or leave out options for it"
        )
    return presentation


def _run_plan(arguments: argparse.Namespace) -> int:
    """Protect many tables."""
    from tacit.cli.plan_runs import run_shown
    from tacit.jobs import make_plan

    for name in ("out", "json", "report", "working_report"):
        file = getattr(arguments, name)
        if file is not None and _NAME not in file.name:
            raise InputError(
                f"this file would be written for every input; put {_NAME} into its name, which "
                "stands for that of each",
                path=file,
            )
    if _pattern(arguments.out) is not None:
        raise InputError(
            "cells by number are written for one input only; write another format, or --json",
            path=arguments.out,
        )
    if arguments.state is not None and _CONFIDENTIAL not in arguments.state.name.lower():
        raise InputError(
            "this file holds figures that are not for readers: its name must contain "
            "'confidential'",
            path=arguments.state,
        )
    typed = {
        "out_dir": arguments.out_dir,
        "summary": tuple(arguments.summary),
        "state": arguments.state,
    }
    plan = make_plan(arguments.input, **{name: given for name, given in typed.items() if given})
    return run_shown(
        plan.replace(change=partial(_as_typed, arguments)),
        jobs=arguments.jobs,
        again=arguments.again,
        quiet=arguments.quiet,
        tolerance=tolerance_of(arguments),
    )


def _as_typed(arguments: argparse.Namespace, job: Job, entry: Entry) -> Job:
    """One of several jobs as it was typed, with its name in the names of files."""
    own = argparse.Namespace(**vars(arguments))
    own.jobs = None
    for name in ("out", "json", "report", "working_report"):
        file = getattr(arguments, name)
        if file is not None:
            named = file.with_name(file.name.replace(_NAME, entry.file_name))
            setattr(own, name, named)
    return _changed(own, job)


def _changed(arguments: argparse.Namespace, job: Job) -> Job:
    """The job; options on the command line take precedence over it."""
    from tacit.cli.job_runs import with_typed_weights

    outputs = job.outputs
    for name in ("json", "report", "working_report"):
        if getattr(arguments, name) is not None:
            outputs = replace(outputs, **{name: getattr(arguments, name)})
    if arguments.out is not None and _pattern(arguments.out) is None:
        outputs = replace(outputs, published=(*outputs.published, arguments.out))
    outputs = outputs.for_tables(job.table_names)
    job = job.replace(outputs=outputs)
    outputs = replace(outputs, presentation=_presentation(arguments, job))
    job = _with_options(arguments, job).replace(
        outputs=outputs,
        insiders=arguments.insiders or job.insiders,
        coalition=arguments.coalition or job.coalition,
        wishes=(*job.wishes, *arguments.wish),
        previous=_previous(arguments, job),
    )
    return with_typed_weights(job, arguments.weights)


def _previous(arguments: argparse.Namespace, job: Job) -> Previous | None:
    """The last publication: as typed, and otherwise as the job says."""
    from tacit.io.previous import Previous

    previous = job.previous
    if arguments.previous is not None:
        if previous is None:
            previous = Previous(arguments.previous)
        previous = replace(previous, table=arguments.previous)
    if arguments.keep is not None:
        if previous is None:
            raise InputError("--keep says how close to stay to --previous, which is not given")
        previous = replace(previous, keep=arguments.keep)
    return previous


def _with_options(arguments: argparse.Namespace, job: Job) -> Job:
    """The job with typed options; one unknown to the method or without effect is refused."""
    typed = {name: getattr(arguments, name) for name in _OPTIONS}
    options: dict[str, Any] = {name: given for name, given in typed.items() if given is not None}
    named = dict(arguments.option)
    for name in named:
        if typed.get(name) is not None:
            raise InputError(f"{name} is given by --option and by its own option; leave one out")
    if arguments.weights is not None:
        if "weights" in named:
            raise InputError("weights is given by --option and by --weights; leave one out")
        # Options on the command line take precedence over the job.
        job = job.replace(options={k: v for k, v in job.options.items() if k != "weights"})
    job = job.with_options({**options, **named}, arguments.method)
    algorithm = job.options.get("algorithm", "auto")
    for name, meant_for in _MEANT_FOR.items():
        if typed[name] is not None and algorithm not in meant_for:
            raise InputError(
                f"--{name.replace('_', '-')} has no effect on algorithm {algorithm}; "
                "leave it out, or choose "
                f"--algorithm {' or '.join(meant_for)}"
            )
    return job


def _check_reports(arguments: argparse.Namespace) -> None:
    """Refuse names of reports before any work is done for them."""
    if arguments.report is None and arguments.working_report is None:
        return
    from tacit.report.picture import REPORT_SUFFIX, check_name

    if arguments.report is not None:
        check_name(arguments.report, REPORT_SUFFIX, confidential=False)
    if arguments.working_report is not None:
        check_name(arguments.working_report, REPORT_SUFFIX, confidential=True)


def _print_summary(path: Path, outcome: Outcome, problem: Problem) -> None:
    if not is_job(path):
        print(path)
    print("\n".join(f"  {line}" for line in summary(outcome, problem)))


def _without_solution(error: NoReleaseError, path: Path, *outputs: Path | None) -> int:
    from tacit.outcome import Status
    from tacit.release import recoding_hint

    outcome, hint = error.outcome, recoding_hint(error.recodes)
    named = [str(output) for output in outputs if output is not None]
    unwritten = f"; {', '.join(named)} {'was' if len(named) == 1 else 'were'} not written"
    unwritten = unwritten if named else ""
    what = _PUBLISHES.get(outcome.method, "publication")
    if outcome.status is Status.INFEASIBLE:
        reason = outcome.message.replace("\n", "\n  ")
        print(
            f"tacit: {path}: no safe {what} exists{unwritten}:\n  {reason}{hint}", file=sys.stderr
        )
        return ExitCode.NO_SAFE_OUTCOME
    told = f"\n  {outcome.message}" if outcome.message else ""
    if outcome.cut_short:
        ended = f"stopped before any safe {what} was known{unwritten}; allow more time with "
        ended += "--time-limit"
    else:
        ended = f"ended without a safe {what}{unwritten}"
        ended += "" if told else "; choose another algorithm"
    print(f"tacit: {path}: {ended}{told}{hint}", file=sys.stderr)
    return ExitCode.STOPPED


def _pattern(out: Path | None) -> Path | None:
    """The output, if it says which cells are suppressed and is not for readers."""
    if out is None:
        return None
    name = out.name.lower()
    true_values = name.endswith(_JJ) and _CONFIDENTIAL in name
    return out if true_values or name.endswith(_PATTERN) else None


def _write_pattern(problem: Problem, outcome: Outcome, out: Path) -> None:
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
    # Readers see which cells have no value.
    with replacing(out, confidential=False) as stream:
        stream.write(f"{lines}\n".encode())


def _algorithms() -> tuple[str, ...]:
    """The algorithms of all methods."""
    found: dict[str, None] = {}
    for method in METHODS.values():
        hint = get_type_hints(method.options()).get("algorithm")
        found |= dict.fromkeys(get_args(hint))
    return tuple(found)


def _marks(text: str) -> str | dict[str, str]:
    primary, comma, secondary = text.partition(",")
    return {"primary": primary, "secondary": secondary} if comma else text


def _radius(text: str) -> tuple[float, ...]:
    return tuple(number(above=0)(part) for part in text.split(","))
