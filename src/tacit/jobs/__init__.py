"""Jobs: one TOML file that specifies everything, from data to a published table."""

from tacit.jobs.job import Job, job_from_mapping, open_job, read_job
from tacit.jobs.outputs import Outputs
from tacit.jobs.plans import Plan, PlanListener, PlanResult, make_plan, read_plan, run_plan
from tacit.jobs.run import (
    JobListener,
    faced_by,
    job_attackers,
    job_problem,
    job_table,
    job_weight,
    judged,
    run_job,
    write_outputs,
)
from tacit.jobs.toml import job_text

__all__ = [
    "Job",
    "JobListener",
    "Outputs",
    "Plan",
    "PlanListener",
    "PlanResult",
    "faced_by",
    "job_attackers",
    "job_from_mapping",
    "job_problem",
    "job_table",
    "job_text",
    "job_weight",
    "judged",
    "make_plan",
    "open_job",
    "read_job",
    "read_plan",
    "run_job",
    "run_plan",
    "write_outputs",
]
