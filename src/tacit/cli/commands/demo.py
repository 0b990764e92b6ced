"""`tacit demo`: from generated microdata to a published table with evidence, by one job."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.arguments import number, whole_number
from tacit.cli.exits import ExitCode
from tacit.cli.outcomes import summary
from tacit.cli.published import Excerpt
from tacit.errors import InputError
from tacit.io.files import refuse_unwritable

if TYPE_CHECKING:
    from tacit.generators.microdata import Enterprises
    from tacit.problem import Problem
    from tacit.table import Table

FIRMS = 10_000
SECONDS = 15.0
MICRODATA, INDUSTRIES, JOB = "microdata.csv", "industries.csv", "job.toml"
TEMPLATE = """\
# Confidential: readers must not know the parameters of rules.

[data]
microdata = "{microdata}"
value = "turnover"
contributor = "firm"
holding = "holding"

[dimensions.industry]
file = "{industries}"      # columns code and parent
child = "code"

[dimensions.region]
lengths = [3, 4]            # XX1 is the parent of XX11, as in NUTS

[[rules]]
rule = "min-frequency"
minimum = 3

[[rules]]
rule = "p-percent"
p = 10
holding = true              # firms of a holding count as one

[weights]
by = "value"                # lose as little turnover as possible

[method]
name = "suppress"
time_limit = {seconds:g}
seed = {seed}

[outputs]
published = ["published.csv", "published.parquet"]
report = "report.html"
json = "result.confidential.json"
table = "table.confidential.csv"
evidence = "evidence.confidential.json"
working_report = "report.confidential.html"
"""
_FILES = {
    MICRODATA: "the records",
    INDUSTRIES: "the hierarchy of industries",
    JOB: "what is to be done with them",
    "published.csv": "for readers: codes, turnover where it is published, and status",
    "published.parquet": "the same for computers",
    "report.html": "for readers: what was protected, what was lost, with pictures",
    "result.confidential.json": "which cells are suppressed, and how good that is",
    "table.confidential.csv": "the true table, why cells are sensitive, and their levels",
    "evidence.confidential.json": "the evidence that the publication is safe",
    "report.confidential.html": "the internal report: sensitive cells, costs, bounds",
}


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
        help="another seed makes other firms (default: 1)",
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
    """Generate, tabulate, judge, protect, audit, show, write."""
    from tacit.cli.job_runs import JobProgress
    from tacit.jobs import read_job, run_job, write_outputs
    from tacit.release import NoReleaseError

    class Steps(JobProgress):
        """Says when protection begins."""

        def on_source(self, source: Table | Problem) -> None:
            super().on_source(source)
            _headline(3, "Protection, and an audit that computes anew what can be deduced")

    folder: Path = arguments.out
    _make(folder)
    _headline(1, "Microdata and a job")
    enterprises = _write_inputs(folder, arguments)
    print(
        f"{enterprises.record_count} records of {FIRMS} generated firms, some of them in holdings; "
        f"{folder / JOB} says\nwhich table to make of them, which cells are sensitive, and how to "
        "protect them"
    )
    _headline(2, "Tabulation with all totals, and sensitivity rules")
    job = read_job(folder / JOB)
    try:
        release = run_job(job, listener=Steps(job, quiet=arguments.quiet))
    except NoReleaseError as error:
        # Such tables can always be protected, so only time can have been too short.
        print("\n".join(summary(error.outcome, error.problem)))
        print("no safe pattern was found in the time given; allow more with --time-limit")
        return ExitCode.STOPPED
    papers = release.papers
    print("\n".join(summary(papers.outcome, papers.problem)))
    print(f"{'audit':<12}{papers.audit.checked} claims, all verified with evidence")
    _headline(4, "The publication")
    excerpt = Excerpt.of(release.published)
    print(f"excerpt: {excerpt.title} (x: not published)\n")
    excerpt.show()
    _headline(5, "Files")
    write_outputs(job, release)
    width = max(len(str(folder / name)) for name in _FILES)
    for name, told in _FILES.items():
        print(f"{folder / name!s:<{width}}  {told}")
    print(
        "\nThe same again, and a check of the evidence by whoever has these files:\n"
        f"  tacit protect {folder / JOB}\n"
        f"  tacit audit {folder / JOB} {job.outputs.json} --check-evidence {job.outputs.evidence}"
    )
    return ExitCode.DONE


def _write_inputs(folder: Path, arguments: argparse.Namespace) -> Enterprises:
    """Write microdata, hierarchy and job."""
    from tacit.generators.microdata import generate_enterprises
    from tacit.io.cells import write_columns
    from tacit.io.files import replacing

    refuse_unwritable(*(folder / name for name in _FILES))
    enterprises = generate_enterprises(FIRMS, arguments.seed)
    write_columns(dict(enterprises.records), folder / MICRODATA)
    write_columns(_pairs(enterprises), folder / INDUSTRIES)
    text = TEMPLATE.format(
        microdata=MICRODATA,
        industries=INDUSTRIES,
        seconds=arguments.time_limit,
        seed=arguments.seed,
    )
    with replacing(folder / JOB, confidential=False) as stream:
        stream.write(text.encode())
    return enterprises


def _pairs(enterprises: Enterprises) -> dict[str, Any]:
    """Each industry with the one above it."""
    import numpy as np

    hierarchy = enterprises.dimensions["industry"]
    parents = [hierarchy.parent_of(code) or "" for code in hierarchy.codes]
    return {"code": np.array(hierarchy.codes), "parent": np.array(parents)}


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InputError(f"the folder cannot be created: {reason}", path=folder) from None


def _headline(place: int, text: str) -> None:
    print(f"\n{place}. {text}" if place > 1 else f"{place}. {text}")
