"""`tacit info`: what an input is, and what is wrong with it. It tells no value of any cell."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.arguments import add_tolerance, tolerance_of, whole_number
from tacit.cli.exits import ExitCode
from tacit.cli.files import INPUT_HELP, as_problem, is_data, is_job, read_source, write_json
from tacit.cli.outcomes import as_lines
from tacit.errors import InputError, TacitError, first_few, name_columns
from tacit.io.files import refuse_unwritable
from tacit.version import __version__

if TYPE_CHECKING:
    from tacit.methods.recoding.levels import LevelSuggestions
    from tacit.methods.recoding.suggest import Suggestions
    from tacit.problem import Problem, Violation
    from tacit.table import Table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare input, tolerance and JSON output."""
    parser.add_argument(
        "input", type=Path, metavar="INPUT", help=f"{INPUT_HELP}; of data, how they are written"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the same as JSON")
    parser.add_argument(
        "--suggest-recodes",
        type=whole_number(1),
        metavar="N",
        help="of a job: up to N merges of categories that remove most sensitive cells",
    )
    parser.add_argument(
        "--suggest",
        action="store_true",
        help="of a job: how many sensitive cells go when whole levels of hierarchies are left out",
    )
    add_tolerance(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def run(arguments: argparse.Namespace) -> int:
    """Describe the input; an input that is wrong ends in an error."""
    path: Path = arguments.input
    refuse_unwritable(arguments.json, inputs=(path,))
    if is_data(path):
        return _describe_data(arguments)
    source = read_source(path, quiet=arguments.quiet)
    problem = as_problem(source)
    violations = problem.violations(tolerance_of(arguments))
    facts = describe(problem)
    print("\n".join([str(path), *_lines(facts, violations)]))
    if arguments.suggest:
        levels = _levels(source, path)
        facts["levels_to_leave_out"] = [dataclasses.asdict(choice) for choice in levels]
        print("\n".join(f"  {line}" for line in str(levels).splitlines()))
    recodes = None if arguments.suggest_recodes is None else _suggested(arguments)
    if recodes is not None:
        facts["recodes"] = [dataclasses.asdict(step) for step in recodes]
        print("\n".join(f"  {line}" for line in str(recodes).splitlines()))
    if arguments.json is not None:
        wrong = [
            {
                "condition": violation.condition,
                "message": violation.message,
                "cells": violation.cells,
                "relations": violation.relations,
            }
            for violation in violations
        ]
        head = {"tacit": __version__, "input": str(path)}
        write_json(arguments.json, {**head, **facts, "violations": wrong})
    if violations:
        messages = [violation.message for violation in violations]
        raise InputError("\n  ".join(["this table is wrong", *messages]), path=path)
    return ExitCode.DONE


def _describe_data(arguments: argparse.Namespace) -> int:
    """Say how a file of data is written; nothing of what it holds but the names of its columns."""
    from tacit.microdata import sniff

    if arguments.suggest or arguments.suggest_recodes is not None:
        raise InputError("suggestions are for a job; this is data", path=arguments.input)
    found = sniff(arguments.input)
    rows = {"written": found.summary(), "columns": name_columns(found.header)}
    if found.sheets:
        rows["sheets"] = first_few(found.sheets, limit=20)
    print("\n".join([str(arguments.input), *(f"  {line}" for line in as_lines(rows))]))
    guessed = (
        f"encoding = {found.encoding!r} is a guess" if found.encoding_is_guess else "",
        "decimal is not clear: say it in [data]" if found.is_ambiguous else "",
    )
    for text in filter(None, guessed):
        print(f"note: {text}".replace("'", '"'), file=sys.stderr)
    if arguments.json is not None:
        members = dataclasses.asdict(found) | {"path": str(found.path)}
        # Records are confidential, and nobody asked for them.
        del members["examples"]
        head = {"tacit": __version__, "input": str(arguments.input)}
        write_json(arguments.json, {**head, **members})
    return ExitCode.DONE


def _levels(source: Table | Problem, path: Path) -> LevelSuggestions:
    """Levels that can be left out."""
    from tacit.methods.recoding.levels import suggest_levels
    from tacit.problem import Problem

    if isinstance(source, Problem):
        raise InputError("a JJ file has no levels to leave out; give a job", path=path)
    return suggest_levels(source)


def _suggested(arguments: argparse.Namespace) -> Suggestions:
    """Merges of categories that remove most sensitive cells."""
    from tacit.cli.progress import Progress
    from tacit.jobs import job_table, read_job
    from tacit.jobs.job import JJFile
    from tacit.methods.recoding.suggest import suggest_recodes

    path: Path = arguments.input
    job = read_job(path) if is_job(path) else None
    if job is None or isinstance(job.data, JJFile):
        raise InputError("a JJ file names no categories to merge; give a job", path=path)
    with Progress.on_stderr(quiet=arguments.quiet) as progress:
        table = job_table(job, observer=progress)
        try:
            return suggest_recodes(
                table, *job.rules, most=arguments.suggest_recodes, observer=progress
            )
        except TacitError as error:
            raise InputError(str(error), path=path) from None


def describe(problem: Problem) -> dict[str, Any]:
    """Facts about a problem that show none of its values."""
    import numpy as np

    from tacit.attack.network import recognise

    components = problem.components()
    _, in_network = recognise(problem.relations)
    in_relations = np.zeros(problem.cell_count, bool)
    in_relations[problem.relations.indices] = True
    lower, upper = problem.lower_level > 0, problem.upper_level > 0
    sliding = problem.sliding_level > 0

    def count(mask: Any) -> int:
        return int(np.count_nonzero(mask))

    return {
        "cells": problem.cell_count,
        "relations": problem.relation_count,
        "coefficients": int(problem.relations.nnz),
        "sensitive": len(problem.sensitive),
        "must_publish": count(problem.must_publish),
        "zero": count(problem.value == 0),
        "negative": count(problem.value < 0),
        "in_no_relation": count(~in_relations),
        "components": len(components),
        "largest_component": max(map(len, components), default=0),
        "network_cells": count(in_network & in_relations),
        "levels": {
            "lower": count(lower),
            "upper": count(upper),
            "sliding": count(sliding),
            "none": count(~(lower | upper | sliding)),
        },
        "weights": _kind_of_weights(problem),
        "memory": problem.nbytes,
    }


def _kind_of_weights(problem: Problem) -> str:
    from tacit.io.weights import with_weights

    if (problem.weight == 1).all():
        return "unit"
    if (problem.weight == with_weights(problem, "value").weight).all():
        return "value"
    return "own"


_WEIGHTS = {"unit": "all 1", "value": "the magnitude of the value", "own": "as given"}


def _lines(facts: dict[str, Any], violations: list[Violation]) -> list[str]:
    levels = facts["levels"]
    related = facts["cells"] - facts["in_no_relation"]
    share = facts["network_cells"] / related if related else 0.0
    network = f"{'yes' if share == 1 else 'in part' if share else 'no'}, {share:.0%} of the cells"
    conditions = ", ".join(dict.fromkeys(violation.condition for violation in violations))
    rows = {
        "cells": f"{facts['cells']}: {facts['sensitive']} sensitive, {facts['must_publish']} must "
        f"be published, {facts['zero']} zero, {facts['negative']} negative",
        "relations": f"{facts['relations']} with {facts['coefficients']} coefficients; "
        f"{facts['in_no_relation']} cells in none",
        "components": f"{facts['components']}, the largest of {facts['largest_component']} cells",
        "network": network,
        "levels": f"{levels['lower']} lower, {levels['upper']} upper, {levels['sliding']} "
        f"sliding; {levels['none']} sensitive cells without any",
        "weights": _WEIGHTS[facts["weights"]],
        "memory": _bytes(facts["memory"]),
        "sound": f"no: {conditions}" if violations else "yes",
    }
    return [f"  {name:<12}{text}" for name, text in rows.items()]


def _bytes(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
