"""`tacit demo`: from a generated table to a safe publication with evidence."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli.arguments import number, whole_number
from tacit.cli.exits import ExitCode
from tacit.cli.outcomes import guarantee, summary
from tacit.cli.progress import Progress
from tacit.cli.published import Published
from tacit.errors import InputError

if TYPE_CHECKING:
    from tacit.attack.audit import Audit
    from tacit.outcome import Outcome
    from tacit.problem import Problem
    from tacit.table import Table

SECONDS = 15.0
DIVISIONS = {
    "C": range(10, 34),
    "F": range(41, 44),
    "G": range(45, 48),
    "H": range(49, 54),
    "I": range(55, 57),
    "J": range(58, 64),
    "M": range(69, 76),
    "N": range(77, 83),
}
"""Sections of an industry classification with the numbers of their divisions."""
PARTS, REGIONS = 5, 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments, all with defaults."""
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("demo"),
        metavar="FOLDER",
        help="where to write; created if missing (default: demo)",
    )
    parser.add_argument(
        "--seed",
        type=whole_number(0),
        default=1,
        metavar="N",
        help="another seed makes another table (default: 1)",
    )
    parser.add_argument(
        "--time-limit",
        type=number(above=0),
        default=SECONDS,
        metavar="SECONDS",
        help=f"for the search (default: {SECONDS:g})",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def run(arguments: argparse.Namespace) -> int:
    """Generate, protect, audit, show, write."""
    folder: Path = arguments.out
    _make(folder)
    table = generated(arguments.seed)
    problem = table.problem()
    _headline(1, "A table")
    print(
        "turnover by industry and region, generated like business statistics; cells that fail\n"
        f"the p% rule are sensitive: {problem.cell_count} cells, {problem.relation_count} "
        f"relations, {len(problem.sensitive)} sensitive"
    )
    _headline(2, "Protection: suppress as little turnover as possible")
    outcome = _suppressed(arguments, problem)
    print("\n".join(line for line in summary(outcome, problem) if "guarantee" not in line))
    if outcome.solution is None:
        # Generated tables can always be protected, so only time can have been too short.
        print("no safe pattern was found in the time given; allow more with --time-limit")
        return ExitCode.STOPPED
    _headline(3, "Audit: what can be deduced, computed anew from the table and the publication")
    began = time.monotonic()
    audit = _audited(arguments, problem, outcome)
    print(audit.summary())
    print(f"{audit.checked} claims verified with evidence in {time.monotonic() - began:.1f} s")
    if not audit.safe:
        return ExitCode.EXPOSED
    print(f"guaranteed: {guarantee(outcome, problem)}")
    _headline(4, "The publication")
    published = Published.of(table, audit.hidden)
    excerpt = published.excerpt()
    print(f"excerpt: {excerpt.title} (x: not published)\n")
    excerpt.show()
    _headline(5, "Files")
    _write(folder, problem, outcome, audit, published)
    return ExitCode.DONE


def generated(seed: int) -> Table:
    """A table of 65 industries by 36 regions, both with a level between codes and total."""
    from tacit.generators import generate_table
    from tacit.hierarchy import Hierarchy

    industries = {
        section: [f"{section}{division}" for division in divisions]
        for section, divisions in DIVISIONS.items()
    }
    regions = {
        f"R{part}": [f"R{part}{region}" for region in range(1, REGIONS + 1)]
        for part in range(1, PARTS + 1)
    }
    return generate_table(
        {
            "industry": Hierarchy.from_nested(industries),
            "region": Hierarchy.from_nested(regions),
        },
        seed,
    )


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InputError(f"the folder cannot be created: {reason}", path=folder) from None


def _headline(place: int, text: str) -> None:
    print(f"\n{place}. {text}" if place > 1 else f"{place}. {text}")


def _suppressed(arguments: argparse.Namespace, problem: Problem) -> Outcome:
    import tacit

    limit: float = arguments.time_limit
    with Progress.on_stderr(quiet=arguments.quiet, time_limit=limit) as progress:
        return tacit.suppress(problem, time_limit=limit, observer=progress)


def _audited(arguments: argparse.Namespace, problem: Problem, outcome: Outcome) -> Audit:
    import tacit

    with Progress.on_stderr(quiet=arguments.quiet) as progress:
        audit = tacit.audit(problem, outcome, observer=progress)
    audit.check()
    return audit


def _write(
    folder: Path, problem: Problem, outcome: Outcome, audit: Audit, published: Published
) -> None:
    from tacit.io.audits import write_audit
    from tacit.io.jj import write_jj
    from tacit.io.solutions import write_outcome_json

    table = folder / "table.confidential.jj"
    suppression = folder / "suppression.confidential.json"
    evidence = folder / "evidence.confidential.json"
    publication = folder / "published.csv"
    published.write_csv(publication, "turnover")
    write_jj(problem, table)
    # Its objective adds up turnover that is not published.
    write_outcome_json(outcome, problem, str(table), suppression)
    write_audit(audit, evidence)
    files = {
        publication: "for readers: codes, and turnover or x",
        table: "the true table",
        suppression: "which cells are suppressed, and how good that is",
        evidence: "what shows that it is safe",
    }
    width = max(len(str(path)) for path in files)
    for path, told in files.items():
        print(f"{path!s:<{width}}  {told}")
    print(
        "\nWhoever has these files can verify all of it:\n"
        f"  tacit audit {table} {suppression} --check-evidence {evidence}"
    )
