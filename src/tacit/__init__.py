"""tacit: publish statistical tables without disclosing confidential figures.

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
    "AdjustOptions",
    "Attack",
    "Attacker",
    "Audit",
    "Bounds",
    "CombinedOptions",
    "Comparison",
    "Described",
    "Dominance",
    "EvidenceError",
    "Explanation",
    "FileFormat",
    "GroupDisclosure",
    "Hierarchy",
    "HierarchyError",
    "InputError",
    "Insiders",
    "Intervals",
    "IntervalsOptions",
    "Knowledge",
    "LevelChange",
    "LevelSuggestion",
    "LevelSuggestions",
    "LevelsAgainst",
    "Manual",
    "MicrodataError",
    "MinFrequency",
    "MissingSafe",
    "NoReleaseError",
    "Observer",
    "Options",
    "Outcome",
    "PPercent",
    "Previous",
    "PriorPosterior",
    "Problem",
    "ProblemError",
    "QualityBound",
    "Release",
    "Report",
    "Request",
    "RoundOptions",
    "SmallCounts",
    "SolverError",
    "Status",
    "StopReason",
    "StoppedError",
    "Suggestion",
    "Suggestions",
    "SuppressOptions",
    "Suppression",
    "Table",
    "TableError",
    "TabulationReport",
    "TacitError",
    "Values",
    "Verdict",
    "Violation",
    "Weighting",
    "WriteOptions",
    "ZeroCells",
    "__version__",
    "adjust",
    "audit",
    "combined",
    "compare",
    "examples",
    "explain",
    "fixed_width",
    "generators",
    "grouped",
    "intervals",
    "jobs",
    "largest_contributors",
    "perturbation",
    "problem_from_frames",
    "problem_to_frame",
    "problem_to_frames",
    "protect",
    "read_audit",
    "read_columns",
    "read_jj",
    "read_solution",
    "recode",
    "report",
    "round",
    "rules",
    "run_argus",
    "sensitive_sums",
    "singleton_respondents",
    "sniff",
    "suggest_levels",
    "suggest_recodes",
    "suppress",
    "tabulate",
    "write_apriori",
    "write_argus",
    "write_audit",
    "write_jj",
]

_HOMES = {
    "AdjustOptions": "tacit.methods.adjust.options",
    "Attack": "tacit.attack.sweep",
    "Attacker": "tacit.attack.knowledge",
    "Audit": "tacit.attack.audit",
    "Bounds": "tacit.table",
    "CombinedOptions": "tacit.methods.combined.options",
    "Comparison": "tacit.comparison",
    "Described": "tacit.io.argus.sheet",
    "Dominance": "tacit.rules",
    "EvidenceError": "tacit.attack.evidence",
    "Explanation": "tacit.explanation",
    "FileFormat": "tacit.microdata",
    "GroupDisclosure": "tacit.rules",
    "Hierarchy": "tacit.hierarchy",
    "HierarchyError": "tacit.errors",
    "InputError": "tacit.errors",
    "Insiders": "tacit.insiders",
    "Intervals": "tacit.outcome",
    "IntervalsOptions": "tacit.methods.intervals.options",
    "Knowledge": "tacit.attack.knowledge",
    "LevelChange": "tacit.methods.perturbation",
    "LevelSuggestion": "tacit.methods.recoding.levels",
    "LevelSuggestions": "tacit.methods.recoding.levels",
    "LevelsAgainst": "tacit.insiders",
    "Manual": "tacit.rules",
    "MicrodataError": "tacit.microdata",
    "MinFrequency": "tacit.rules",
    "MissingSafe": "tacit.rules",
    "NoReleaseError": "tacit.release",
    "Observer": "tacit.observer",
    "Options": "tacit.options",
    "Outcome": "tacit.outcome",
    "PPercent": "tacit.rules",
    "PriorPosterior": "tacit.rules",
    "Previous": "tacit.io.previous",
    "Problem": "tacit.problem",
    "ProblemError": "tacit.errors",
    "QualityBound": "tacit.methods.adjust.quality",
    "Release": "tacit.release",
    "Report": "tacit.outcome",
    "Request": "tacit.rules",
    "RoundOptions": "tacit.methods.rounding.options",
    "SmallCounts": "tacit.rules",
    "SolverError": "tacit.errors",
    "Status": "tacit.outcome",
    "StopReason": "tacit.outcome",
    "StoppedError": "tacit.errors",
    "Suggestion": "tacit.methods.recoding.suggest",
    "Suggestions": "tacit.methods.recoding.suggest",
    "SuppressOptions": "tacit.methods.suppress.options",
    "Suppression": "tacit.outcome",
    "Table": "tacit.table",
    "TableError": "tacit.errors",
    "TabulationReport": "tacit.microdata",
    "TacitError": "tacit.errors",
    "Values": "tacit.outcome",
    "Verdict": "tacit.table",
    "Violation": "tacit.problem",
    "Weighting": "tacit.table",
    "WriteOptions": "tacit.io.argus.written",
    "ZeroCells": "tacit.rules",
    "adjust": "tacit.methods.adjust.run",
    "audit": "tacit.attack.audit",
    "combined": "tacit.methods.combined.run",
    "compare": "tacit.comparison",
    "explain": "tacit.explanation",
    "fixed_width": "tacit.io.argus.microdata",
    "grouped": "tacit.methods.recoding.plan",
    "intervals": "tacit.methods.intervals.run",
    "largest_contributors": "tacit.attack.knowledge",
    "perturbation": "tacit.methods.perturbation",
    "problem_from_frames": "tacit.io.frames",
    "problem_to_frame": "tacit.io.frames",
    "problem_to_frames": "tacit.io.frames",
    "protect": "tacit.release",
    "read_audit": "tacit.io.audits",
    "read_columns": "tacit.io.cells",
    "read_jj": "tacit.io.jj",
    "read_solution": "tacit.io.solutions",
    "recode": "tacit.methods.recoding.run",
    "round": "tacit.methods.rounding.run",
    "run_argus": "tacit.jobs.argus",
    "sensitive_sums": "tacit.rules.sums",
    "singleton_respondents": "tacit.attack.knowledge",
    "sniff": "tacit.microdata",
    "suggest_levels": "tacit.methods.recoding.levels",
    "suggest_recodes": "tacit.methods.recoding.suggest",
    "suppress": "tacit.methods.suppress.run",
    "tabulate": "tacit.microdata",
    "write_apriori": "tacit.io.argus.apriori_files",
    "write_argus": "tacit.io.argus.written",
    "write_audit": "tacit.io.audits",
    "write_jj": "tacit.io.jj",
}
"""The module that each public name comes from."""

_ROOMS = ("examples", "generators", "jobs", "report", "rules")
"""Subpackages that are public as they are."""

if TYPE_CHECKING:
    from tacit import examples, generators, jobs, report, rules
    from tacit.attack.audit import Audit, audit
    from tacit.attack.evidence import EvidenceError
    from tacit.attack.knowledge import (
        Attacker,
        Knowledge,
        largest_contributors,
        singleton_respondents,
    )
    from tacit.attack.sweep import Attack
    from tacit.comparison import Comparison, compare
    from tacit.errors import (
        HierarchyError,
        InputError,
        ProblemError,
        SolverError,
        StoppedError,
        TableError,
        TacitError,
    )
    from tacit.explanation import Explanation, explain
    from tacit.hierarchy import Hierarchy
    from tacit.insiders import Insiders, LevelsAgainst
    from tacit.io.argus.apriori_files import write_apriori
    from tacit.io.argus.microdata import fixed_width
    from tacit.io.argus.sheet import Described
    from tacit.io.argus.written import WriteOptions, write_argus
    from tacit.io.audits import read_audit, write_audit
    from tacit.io.cells import read_columns
    from tacit.io.frames import problem_from_frames, problem_to_frame, problem_to_frames
    from tacit.io.jj import read_jj, write_jj
    from tacit.io.previous import Previous
    from tacit.io.solutions import read_solution
    from tacit.jobs.argus import run_argus
    from tacit.methods.adjust.options import AdjustOptions
    from tacit.methods.adjust.quality import QualityBound
    from tacit.methods.adjust.run import adjust
    from tacit.methods.combined.options import CombinedOptions
    from tacit.methods.combined.run import combined
    from tacit.methods.intervals.options import IntervalsOptions
    from tacit.methods.intervals.run import intervals
    from tacit.methods.perturbation import LevelChange, perturbation
    from tacit.methods.recoding.levels import LevelSuggestion, LevelSuggestions, suggest_levels
    from tacit.methods.recoding.plan import grouped
    from tacit.methods.recoding.run import recode
    from tacit.methods.recoding.suggest import Suggestion, Suggestions, suggest_recodes
    from tacit.methods.rounding.options import RoundOptions
    from tacit.methods.rounding.run import round  # noqa: A004 - the name of the method
    from tacit.methods.suppress.options import SuppressOptions
    from tacit.methods.suppress.run import suppress
    from tacit.microdata import FileFormat, MicrodataError, TabulationReport, sniff, tabulate
    from tacit.observer import Observer
    from tacit.options import Options
    from tacit.outcome import Intervals, Outcome, Report, Status, StopReason, Suppression, Values
    from tacit.problem import Problem, Violation
    from tacit.release import NoReleaseError, Release, protect
    from tacit.rules import (
        Dominance,
        GroupDisclosure,
        Manual,
        MinFrequency,
        MissingSafe,
        PPercent,
        PriorPosterior,
        Request,
        SmallCounts,
        ZeroCells,
    )
    from tacit.rules.sums import sensitive_sums
    from tacit.table import Bounds, Table, Verdict, Weighting
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
