"""`tacit audit`: what can be deduced from a publication, with evidence that can be saved."""

from __future__ import annotations

import argparse
import dataclasses
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.arguments import add_tolerance, tolerance_of, whole_number
from tacit.cli.exits import ExitCode
from tacit.cli.files import (
    INPUT_HELP,
    SOLUTION_HELP,
    as_problem,
    is_job,
    read_publication,
    write_json,
)
from tacit.cli.progress import Progress
from tacit.cli.workers import workers
from tacit.errors import InputError, ProblemError, TableError
from tacit.io.files import refuse_unwritable
from tacit.version import __version__

if TYPE_CHECKING:
    from tacit.attack.audit import Audit
    from tacit.attack.knowledge import Attacker
    from tacit.outcome import Solution
    from tacit.problem import Problem
    from tacit.rules.sums import SensitiveSum
    from tacit.table import Table

ATTACKERS = ("external", "singletons", "all-singletons")
CELLS = ("sensitive", "suppressed", "all")
_CONFIDENTIAL = "shows what can be deduced about cells that are not published; do not publish"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("input", type=Path, metavar="INPUT", help=INPUT_HELP)
    parser.add_argument("solution", type=Path, nargs="+", metavar="SOLUTION", help=SOLUTION_HELP)
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write verdict and intervals (confidential)"
    )
    parser.add_argument(
        "--cells",
        type=_cells,
        metavar="sensitive|suppressed|all|1,2,3",
        help="whose intervals to compute, besides the sensitive cells (default: suppressed)",
    )
    parser.add_argument(
        "--levels-only",
        action="store_true",
        help="stop for each sensitive cell once its levels are known to be met",
    )
    parser.add_argument(
        "--attackers",
        type=_attackers,
        metavar=",".join(ATTACKERS),
        help="a reader who knows nothing more, each single respondent, all of them together "
        "(default: those that the job protects against, insiders included; external for a JJ "
        "file)",
    )
    evidence = parser.add_mutually_exclusive_group()
    evidence.add_argument(
        "--save-evidence",
        type=Path,
        metavar="FILE",
        help="write the evidence for the findings, for instance to audit.confidential.json",
    )
    evidence.add_argument(
        "--check-evidence",
        type=Path,
        metavar="FILE",
        help="verify saved evidence against INPUT and SOLUTION instead of auditing anew",
    )
    parser.add_argument(
        "--jobs",
        type=whole_number(1),
        default=1,
        metavar="N",
        help="processes that share the work (default: 1)",
    )
    add_tolerance(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def run(arguments: argparse.Namespace) -> int:
    """Audit, or verify an earlier audit, and print the findings."""
    from tacit.jobs import faced_by, job_attackers

    inputs = tuple(
        path
        for path in (arguments.input, *arguments.solution, arguments.check_evidence)
        if path is not None
    )
    refuse_unwritable(arguments.json, arguments.save_evidence, inputs=inputs)
    job, source, solution = read_publication(
        arguments.input,
        *arguments.solution,
        quiet=arguments.quiet,
        tolerance=tolerance_of(arguments),
    )
    if arguments.attackers is None:
        try:
            problem = faced_by(job, source)
        except TableError as error:
            raise InputError(str(error), path=arguments.input) from None
        attackers = job_attackers(job, source)
    else:
        problem = as_problem(source)
        attackers = _known_attackers(arguments.attackers, problem, arguments.input)
    began = time.monotonic()
    try:
        if arguments.check_evidence is None:
            audit = _audited(arguments, problem, solution, attackers)
        else:
            audit = _verified(arguments, problem, solution, attackers)
    except ProblemError as error:
        raise InputError(str(error), path=arguments.input) from None
    print(audit.summary())
    sums = _known_sums(source, solution)
    if arguments.attackers is None and is_job(arguments.input):
        contributors = "" if audit.insiders is None else ", contributors"
        print(f"attackers: {_who(attackers)}{contributors}, as the job protects against them")
    if arguments.save_evidence is not None:
        from tacit.io.audits import write_audit

        write_audit(audit, arguments.save_evidence)
        print(f"evidence written to {arguments.save_evidence}; it is confidential")
    if arguments.json is not None:
        seconds = time.monotonic() - began
        write_json(arguments.json, _members(arguments, audit, seconds, sums))
    return ExitCode.DONE if audit.safe else ExitCode.EXPOSED


def _known_sums(source: Table | Problem, solution: Solution) -> list[SensitiveSum]:
    """Sums of hidden cells that everybody knows though rules find them sensitive, printed."""
    from tacit.problem import Problem
    from tacit.release.sums import left_known
    from tacit.release.wording import sums_row

    if isinstance(source, Problem):
        return []
    found = left_known(source, source.problem(), solution)
    if found:
        print(f"known sums: {sums_row(found, source)}")
    return found


def _audited(
    arguments: argparse.Namespace,
    problem: Problem,
    solution: Solution,
    attackers: list[Attacker],
) -> Audit:
    import tacit

    with Progress.on_stderr(quiet=arguments.quiet) as progress, workers(arguments.jobs) as pool:
        found = tacit.audit(
            problem,
            solution,
            cells="suppressed" if arguments.cells is None else arguments.cells,
            exact=not arguments.levels_only,
            attackers=attackers,
            executor=pool,
            observer=progress,
            tolerance=tolerance_of(arguments),
        )
    found.check()
    return found


def _verified(
    arguments: argparse.Namespace,
    problem: Problem,
    solution: Solution,
    attackers: list[Attacker],
) -> Audit:
    from tacit.attack.evidence import EvidenceError
    from tacit.io.audits import read_audit

    path: Path = arguments.check_evidence
    if arguments.cells is not None or arguments.levels_only or arguments.jobs > 1:
        raise InputError(
            "--check-evidence computes nothing anew: leave out --cells, --levels-only and --jobs"
        )
    audit = read_audit(path, problem, solution, tolerance=tolerance_of(arguments))
    # A file could name an attacker for whom nothing needs protection.
    audited = [found.attacker for found in audit.findings]
    missing = [attacker.name for attacker in attackers if attacker not in audited]
    if missing:
        raise InputError(
            f"there is no evidence about attacker {missing[0]!r} in this file; audit anew, or name "
            "the attackers that it is about with --attackers",
            path=path,
        )
    # Nor does it say whom else the publication has to withstand.
    audit = dataclasses.replace(
        audit,
        findings=tuple(found for found in audit.findings if found.attacker in attackers),
    )
    try:
        audit.check()
    except EvidenceError as error:
        raise InputError(str(error), path=path) from None
    print(f"evidence verified: {audit.checked} claims hold")
    return audit


def _cells(text: str) -> str | list[int]:
    if text in CELLS:
        return text
    numbers = text.split(",")
    if not all(number.isascii() and number.isdigit() for number in numbers):
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither one of {', '.join(CELLS)} nor cell numbers such as 1,2,3"
        )
    return [int(number) for number in numbers]


def _attackers(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(text.split(",")))
    unknown = [name for name in names if name not in ATTACKERS]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"unknown attacker {unknown[0]!r}; known are {', '.join(ATTACKERS)}"
        )
    return names


def _known_attackers(names: tuple[str, ...], problem: Problem, path: Path) -> list[Attacker]:
    from tacit.attack.knowledge import Attacker, singleton_respondents

    if names != ("external",) and not (problem.singleton >= 0).any():
        raise InputError(
            "this input does not say which cells have a single respondent (a JJ file cannot); "
            "leave singletons out of --attackers",
            path=path,
        )
    chosen: list[Attacker] = []
    for name in names:
        if name == "external":
            chosen.append(Attacker.external())
        elif name == "singletons":
            chosen += singleton_respondents(problem)
        else:
            chosen.append(Attacker.all_singletons(problem))
    return chosen


def _who(attackers: list[Attacker]) -> str:
    """The attackers by name; many of them by their number."""
    names = [attacker.name for attacker in attackers]
    if len(names) <= 5:
        return ", ".join(names)
    return f"{', '.join(names[:3])} and {len(names) - 3} more"


def _members(
    arguments: argparse.Namespace, audit: Audit, seconds: float, sums: list[SensitiveSum]
) -> dict[str, Any]:
    return {
        "confidential": _CONFIDENTIAL,
        "tacit": __version__,
        "input": str(arguments.input),
        "solution": " ".join(map(str, arguments.solution)),
        "seconds": seconds,
        "cells": audit.problem.cell_count,
        "sensitive": len(audit.problem.sensitive),
        "hidden": int(audit.hidden.sum()),
        "audit": {
            "safe": audit.safe,
            "checked": audit.checked,
            "exposed": audit.exposed_cells,
            "attackers": len(audit.findings),
            "verified": True,
            "unchecked": audit.unchecked,
            "exactly_disclosed": audit.exactly_disclosed,
            "narrowly_determined": audit.narrowly_determined,
        },
        "exposures": [
            [exposure.cell, exposure.attacker, exposure.level, exposure.share]
            for exposure in audit.exposures
        ],
        "known_sums": [[each.cells.tolist(), each.reason, each.is_exact] for each in sums],
        "deduced": [
            {
                "attacker": found.attacker.name,
                "cells": found.cells.tolist(),
                "lower": _ends(found.lower.tolist()),
                "upper": _ends(found.upper.tolist()),
                "exact": found.exact.tolist(),
            }
            for found in audit.findings
        ],
    }


def _ends(numbers: list[float]) -> list[float | None]:
    """Ends of intervals as JSON knows them: null for infinity."""
    return [number if math.isfinite(number) else None for number in numbers]
