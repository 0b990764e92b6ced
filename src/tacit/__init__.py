"""tacit: publish statistical tables without giving anybody away.

Everything a user needs is here; it is imported when it is first used, so that `import tacit`
costs nothing.

>>> import tacit
>>> tacit.Problem(value=[20, 22, 42], relations=[[1, 1, -1]], rhs=[0])
Problem(3 cells, 1 relation, 0 sensitive)
"""

from importlib import import_module
from typing import TYPE_CHECKING

from tacit.version import __version__

__all__ = [
    "Attack",
    "Attacker",
    "Audit",
    "Bounds",
    "Dominance",
    "EvidenceError",
    "GroupDisclosure",
    "Hierarchy",
    "HierarchyError",
    "InputError",
    "Intervals",
    "IntervalsOptions",
    "Knowledge",
    "Manual",
    "MicrodataError",
    "MinFrequency",
    "NoReleaseError",
    "Observer",
    "Options",
    "Outcome",
    "PPercent",
    "PriorPosterior",
    "Problem",
    "ProblemError",
    "Release",
    "Report",
    "Request",
    "SmallCounts",
    "SolverError",
    "Status",
    "StoppedError",
    "SuppressOptions",
    "Suppression",
    "Table",
    "TableError",
    "TabulationReport",
    "TacitError",
    "Values",
    "Violation",
    "Weighting",
    "ZeroCells",
    "__version__",
    "audit",
    "examples",
    "generators",
    "intervals",
    "problem_from_frames",
    "problem_to_frame",
    "problem_to_frames",
    "protect",
    "read_audit",
    "read_jj",
    "read_solution",
    "rules",
    "suppress",
    "tabulate",
    "write_audit",
    "write_jj",
]

_HOMES = {
    "Attack": "tacit.attack.sweep",
    "Attacker": "tacit.attack.knowledge",
    "Audit": "tacit.attack.audit",
    "Bounds": "tacit.table",
    "Dominance": "tacit.rules",
    "EvidenceError": "tacit.attack.evidence",
    "GroupDisclosure": "tacit.rules",
    "Hierarchy": "tacit.hierarchy",
    "HierarchyError": "tacit.errors",
    "InputError": "tacit.errors",
    "Intervals": "tacit.outcome",
    "IntervalsOptions": "tacit.methods.intervals.options",
    "Knowledge": "tacit.attack.knowledge",
    "Manual": "tacit.rules",
    "MinFrequency": "tacit.rules",
    "NoReleaseError": "tacit.release",
    "Observer": "tacit.observer",
    "Options": "tacit.options",
    "Outcome": "tacit.outcome",
    "PPercent": "tacit.rules",
    "PriorPosterior": "tacit.rules",
    "Problem": "tacit.problem",
    "ProblemError": "tacit.errors",
    "Release": "tacit.release",
    "Report": "tacit.outcome",
    "Request": "tacit.rules",
    "SmallCounts": "tacit.rules",
    "SolverError": "tacit.errors",
    "Status": "tacit.outcome",
    "StoppedError": "tacit.errors",
    "SuppressOptions": "tacit.methods.suppress.options",
    "Suppression": "tacit.outcome",
    "Table": "tacit.table",
    "TableError": "tacit.errors",
    "TacitError": "tacit.errors",
    "Values": "tacit.outcome",
    "Violation": "tacit.problem",
    "Weighting": "tacit.table",
    "ZeroCells": "tacit.rules",
    "audit": "tacit.attack.audit",
    "intervals": "tacit.methods.intervals.run",
    "problem_from_frames": "tacit.io.frames",
    "problem_to_frame": "tacit.io.frames",
    "problem_to_frames": "tacit.io.frames",
    "protect": "tacit.release",
    "read_audit": "tacit.io.audits",
    "read_jj": "tacit.io.jj",
    "read_solution": "tacit.io.solutions",
    "suppress": "tacit.methods.suppress.run",
    "MicrodataError": "tacit.microdata",
    "TabulationReport": "tacit.microdata",
    "tabulate": "tacit.microdata",
    "write_audit": "tacit.io.audits",
    "write_jj": "tacit.io.jj",
}
"""The module that each public name comes from."""

_ROOMS = ("examples", "generators", "rules")
"""Subpackages that are public as they are."""

if TYPE_CHECKING:
    from tacit import examples, generators, rules
    from tacit.attack.audit import Audit, audit
    from tacit.attack.evidence import EvidenceError
    from tacit.attack.knowledge import Attacker, Knowledge
    from tacit.attack.sweep import Attack
    from tacit.errors import (
        HierarchyError,
        InputError,
        ProblemError,
        SolverError,
        StoppedError,
        TableError,
        TacitError,
    )
    from tacit.hierarchy import Hierarchy
    from tacit.io.audits import read_audit, write_audit
    from tacit.io.frames import problem_from_frames, problem_to_frame, problem_to_frames
    from tacit.io.jj import read_jj, write_jj
    from tacit.io.solutions import read_solution
    from tacit.methods.intervals.options import IntervalsOptions
    from tacit.methods.intervals.run import intervals
    from tacit.methods.suppress.options import SuppressOptions
    from tacit.methods.suppress.run import suppress
    from tacit.microdata import MicrodataError, TabulationReport, tabulate
    from tacit.observer import Observer
    from tacit.options import Options
    from tacit.outcome import Intervals, Outcome, Report, Status, Suppression, Values
    from tacit.problem import Problem, Violation
    from tacit.release import NoReleaseError, Release, protect
    from tacit.rules import (
        Dominance,
        GroupDisclosure,
        Manual,
        MinFrequency,
        PPercent,
        PriorPosterior,
        Request,
        SmallCounts,
        ZeroCells,
    )
    from tacit.table import Bounds, Table, Weighting
else:
    # Hidden from type checkers, which would otherwise take every misspelt name for granted.
    def __getattr__(name):
        if name in _ROOMS:
            return import_module(f"tacit.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module 'tacit' has no attribute {name!r}")
        found = getattr(import_module(_HOMES[name]), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted(__all__)
