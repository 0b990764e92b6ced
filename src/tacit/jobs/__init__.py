"""Jobs: one TOML file that says all, from data to a published table."""

from tacit.jobs.job import Job, Outputs, read_job
from tacit.jobs.run import job_problem, job_table, protect_job, write_outputs

__all__ = [
    "Job",
    "Outputs",
    "job_problem",
    "job_table",
    "protect_job",
    "read_job",
    "write_outputs",
]
