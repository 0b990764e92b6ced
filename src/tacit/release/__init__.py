"""`protect`: from a table to a `Release`, which keeps what may be published separate."""

from tacit.release.against import Against
from tacit.release.flags import PublishedStatus
from tacit.release.pivot import Pivot
from tacit.release.published import Published
from tacit.release.release import NoReleaseError, Release, WorkingPapers
from tacit.release.run import MOST_HINTS, check_insiders, faced, protect, recoding_hint
from tacit.release.wording import audit_rows, guarantee, outcome_rows

__all__ = [
    "MOST_HINTS",
    "Against",
    "NoReleaseError",
    "Pivot",
    "Published",
    "PublishedStatus",
    "Release",
    "WorkingPapers",
    "audit_rows",
    "check_insiders",
    "faced",
    "guarantee",
    "outcome_rows",
    "protect",
    "recoding_hint",
]
