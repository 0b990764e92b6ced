"""Jobs: one TOML file that specifies everything, from data to a published table."""

from tacit.jobs.job import Job, Outputs, open_job, read_job
from tacit.jobs.run import (
    JobListener,
    faced_by,
    job_attackers,
    job_problem,
    job_table,
    run_job,
    write_outputs,
)

__all__ = [
    "Job",
    "JobListener",
    "Outputs",
    "faced_by",
    "job_attackers",
    "job_problem",
    "job_table",
    "open_job",
    "read_job",
    "run_job",
    "write_outputs",
]
