"""Linked tables from a job, as `tacit protect` runs it: four French tables of rtauargus.

    python -m studies.linked_job

Contributors attack, too, which is what jobs ask for by default.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from studies.common import RESULTS, Results, add_jobs, jobs_note, shared, warm_up
from tacit.jobs import read_job, run_job
from tacit.jobs.run import job_problem
from tacit.table import Table

FRENCH = """\
[data]
value = "TOT"
count = "N_OBS"
top = ["MAX"]

[dimensions.ACTIVITY]
file = "activity_corr_table.csv"
levels = ["A10", "A21", "A88"]

[dimensions.NUTS]
file = "nuts23_fr_corr_table.csv"
levels = ["NUTS2", "NUTS3"]

[dimensions.SIZE]

[dimensions.CJ]

[[tables]]
name = "act_size"
table = "turnover_act_size.csv"
dimensions = ["ACTIVITY", "SIZE"]

[[tables]]
name = "act_cj"
table = "turnover_act_cj.csv"
dimensions = ["ACTIVITY", "CJ"]

[[tables]]
name = "nuts_size"
table = "turnover_nuts_size.csv"
dimensions = ["NUTS", "SIZE"]

[[tables]]
name = "nuts_cj"
table = "turnover_nuts_cj.csv"
dimensions = ["NUTS", "CJ"]

[[rules]]
rule = "min-frequency"
minimum = 3

[[rules]]
rule = "dominance"
n = 1
k = 85

[method]
name = "suppress"
"""
"""Tests have it, too, with outputs of their own."""
COLUMNS = (
    *("tables", "cells", "relations", "sensitive", "limit", "status", "weight", "bound"),
    *("gap_pct", "suppressed", "safe", "seconds", "cpu_seconds"),
)


def main() -> None:
    """Run the job and write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds")
    parser.add_argument("--out", type=Path, default=RESULTS)
    add_jobs(parser)
    given = parser.parse_args()
    warm_up()
    notes = (
        "the job of the module, with the default insiders; seconds with reading and audit",
        jobs_note(given.jobs),
    )
    with (
        Results(given.out / "linked_job.csv", COLUMNS, notes) as results,
        tempfile.TemporaryDirectory() as folder,
    ):
        for file in (shared() / "tables" / "rtauargus").glob("*.csv"):
            shutil.copy(file, folder)
        path = Path(folder) / "french.toml"
        path.write_text(f"{FRENCH}time_limit = {given.limit}\njobs = {given.jobs}\n")
        began, cpu = time.perf_counter(), time.process_time()
        job = read_job(path)
        outcome = run_job(job).papers.outcome
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
        assert outcome.audit is not None
        assert outcome.report.gap is not None
        source = job_problem(job)
        problem = source.problem() if isinstance(source, Table) else source
        results.add(
            {
                "tables": "french",
                "cells": problem.cell_count,
                "relations": problem.relation_count,
                "sensitive": len(problem.sensitive),
                "limit": given.limit,
                "status": outcome.status.value,
                "weight": outcome.report.objective,
                "bound": outcome.report.bound,
                "gap_pct": 100 * outcome.report.gap,
                "suppressed": len(outcome.suppressed),
                "safe": "yes" if outcome.audit.safe else "no",
                "seconds": seconds,
                "cpu_seconds": cpu_seconds,
            }
        )


if __name__ == "__main__":
    main()
