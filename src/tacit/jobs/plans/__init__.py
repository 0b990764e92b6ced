"""Plans: many tables in one run, each on the same road as a single job."""

from tacit.jobs.plans.plan import Entry, Plan, is_plan, make_plan, read_plan
from tacit.jobs.plans.results import Ending, JobResult, PlanResult
from tacit.jobs.plans.run import PlanListener, run_plan

__all__ = [
    "Ending",
    "Entry",
    "JobResult",
    "Plan",
    "PlanListener",
    "PlanResult",
    "is_plan",
    "make_plan",
    "read_plan",
    "run_plan",
]
