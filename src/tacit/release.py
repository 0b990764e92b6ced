"""`protect`: from a table to a `Release`, in which what may be published is kept apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.attack.audit import Audit, audit
from tacit.attack.knowledge import Attacker
from tacit.errors import TacitError
from tacit.hierarchy import Hierarchy
from tacit.methods.registry import find_method
from tacit.observer import Observer
from tacit.outcome import Intervals, Outcome, Status, Suppression, Values
from tacit.problem import ADDITIVITY_TOLERANCE, Floats, Problem
from tacit.table import Table
from tacit.table.frames import to_frame
from tacit.version import __version__

ENDS = {
    "gap": "proven within the gap asked for",
    "time": "the time limit was reached",
    "user": "stopped by Ctrl-C",
    "heuristic": "a heuristic, without proof of quality",
    "exhausted": "the search ended without a proof",
}
"""Why a search ended, in words."""


class NoReleaseError(TacitError):
    """There is nothing that may be published.

    Attributes:
        outcome: How the method ended.
        problem: The table as the method saw it.
        audit: The audit that found cells exposed, if it came to that.
    """

    def __init__(
        self, message: str, outcome: Outcome, problem: Problem, audit: Audit | None = None
    ):
        self.outcome = outcome
        self.problem = problem
        self.audit = audit
        super().__init__(message)


class PublishedAs(StrEnum):
    """How a reader sees a cell."""

    VALUE = "published"
    """With a value."""
    INTERVAL = "interval"
    """As an interval."""
    SUPPRESSED = "suppressed"
    """Not at all. Whether the cell is sensitive or protects another one is not told."""


@dataclass(frozen=True, eq=False, repr=False)
class Published:
    """What readers may see, and nothing else: it keeps no way back to the true table.

    Attributes:
        codes: For each dimension the code of every cell; for a problem without dimensions the
            number of every cell, under `cell`.
        value: The published value of each cell, NaN where there is none.
        lower: The lower end of what is published of each cell; None where the method publishes
            no intervals.
        upper: The upper end.
        status: How each cell is published, see `PublishedAs`.
        dimensions: The hierarchy of each dimension; none for a problem.
        backend: The data frame library that `to_frame` uses.
    """

    codes: Mapping[str, npt.NDArray[np.str_]]
    value: Floats
    lower: Floats | None
    upper: Floats | None
    status: npt.NDArray[np.str_]
    dimensions: Mapping[str, Hierarchy]
    backend: str | None = None

    @classmethod
    def of(cls, source: Table | Problem, outcome: Outcome) -> Published:
        """What is published of a table according to an outcome."""
        problem = source if isinstance(source, Problem) else source.problem()
        value, ends, status = _seen(problem, outcome)
        codes: dict[str, npt.NDArray[np.str_]]
        if isinstance(source, Table):
            codes = {name: source.codes(name) for name in source.totals}
            dimensions, backend = source.dimensions, source.backend
        else:
            codes = {"cell": np.arange(problem.cell_count).astype(str)}
            dimensions, backend = {}, None
        return cls(
            codes,
            _frozen(value),
            None if ends is None else _frozen(ends[0]),
            None if ends is None else _frozen(ends[1]),
            _frozen(status),
            dimensions,
            backend,
        )

    @property
    def cell_count(self) -> int:
        """Number of cells."""
        return len(self.value)

    def columns(self, value: str = "value") -> dict[str, npt.NDArray[Any]]:
        """The columns of `to_frame`.

        Args:
            value: What to call the column of the values.
        """
        cells: dict[str, npt.NDArray[Any]] = {value: self.value}
        if self.lower is not None and self.upper is not None:
            cells |= {"lower": self.lower, "upper": self.upper}
        cells["status"] = self.status
        columns: dict[str, npt.NDArray[Any]] = dict(self.codes)
        for name, column in cells.items():
            columns[f"cell_{name}" if name in columns else name] = column
        return {name: column.copy() for name, column in columns.items()}

    def to_frame(self, backend: str | None = None, *, value: str = "value") -> Any:
        """All cells as a data frame: codes, value (NaN where there is none), and status.

        Where intervals are published, their ends are in `lower` and `upper`. A column whose name
        is taken by a dimension is called `cell_...`.

        Args:
            backend: `pandas`, `polars`, `pyarrow`, or `dict` for a dict of arrays; by default
                the library that the table came from.
            value: What to call the column of the values.
        """
        return to_frame(self.columns(value), backend or self.backend)

    def __repr__(self) -> str:
        names = " x ".join(self.codes)
        shown = int(np.count_nonzero(self.status == PublishedAs.VALUE.value))
        return f"Published({names}, {self.cell_count} cells, {shown} with a value)"


@dataclass(frozen=True, eq=False, repr=False)
class WorkingPapers:
    """Everything behind a release. Confidential: it holds true values, levels and evidence.

    Attributes:
        table: The true table; None where the release was made from a problem.
        problem: The table as methods see it.
        outcome: What the method found.
        audit: What shows that it is safe.
    """

    table: Table | None
    problem: Problem
    outcome: Outcome
    audit: Audit

    def __repr__(self) -> str:
        return "WorkingPapers(confidential)"


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A table that may be published, apart from the papers that may not.

    Attributes:
        published: What readers may see.
        papers: The confidential working papers.
    """

    published: Published
    papers: WorkingPapers

    @property
    def guarantee(self) -> str:
        """What holds against whom and what does not, in plain words."""
        papers = self.papers
        holds = guarantee(papers.problem, papers.audit)
        if len(papers.problem.sensitive) == 0:
            return f"{holds}."
        return (
            f"{holds[0].upper()}{holds[1:]}. This does not hold against anyone who knows more, "
            "for instance from another publication or, unless named here, from contributing. "
            "Cells that are not sensitive may be deduced closely, or exactly."
        )

    def summary(self) -> str:
        """What was protected, how, at which loss and with which guarantee, as lines of text.

        It may be shown to readers: it tells neither values nor levels. The objective is left to
        the working papers, because it adds up weights of suppressed cells, which may be values.
        """
        outcome, problem = self.papers.outcome, self.papers.problem
        gap = outcome.report.gap
        quality = {} if gap is None else {"gap": f"{gap:.3%} to the proven bound"}
        rows = {
            "table": f"{' x '.join(self.published.codes)}, {problem.cell_count} cells",
            **summary_rows(outcome, problem, quality),
            "guarantee": self.guarantee,
            "made by": f"tacit {__version__}, method {outcome.method}, seed {outcome.seed}",
        }
        return "\n".join(f"{name:<12}{text}" for name, text in rows.items())

    def __repr__(self) -> str:
        return f"Release({self.papers.outcome.method}, {self.published!r})"


def protect(
    table: Table | Problem,
    method: str = "suppress",
    *,
    attackers: Sequence[Attacker] = (),
    observer: Observer | None = None,
    tolerance: float = ADDITIVITY_TOLERANCE,
    **options: Any,
) -> Release:
    """Make a table publishable, and have it audited independently of how that was done.

    Args:
        table: A table with sensitive cells and their levels, as `Table.apply` marks them. A
            `Problem` does as well.
        method: `suppress`, or another one of `tacit.methods.registry.METHODS`.
        attackers: Who attacks; by default a reader who knows nothing more than the
            publication, the relations and the bounds.
        observer: Listens to bounds and solutions; may stop the search.
        tolerance: How exactly the table must add up (see `Problem.validate`).
        **options: Options of the method, such as `time_limit=60`.

    Returns:
        The release: what readers may see, and apart from it the confidential working papers.

    Raises:
        NoReleaseError: No safe outcome exists, or none was found; its `outcome` says which.
        ProblemError: The table contradicts itself.
        InputError: There is no such method or option.

    >>> import tacit
    >>> table = tacit.examples.get("002-figure-2.4").table.apply(tacit.PPercent(10))
    >>> release = tacit.protect(table, "suppress", time_limit=10)
    >>> release
    Release(suppress, Published(business x location, 9 cells, 5 with a value))
    """
    run = find_method(method).run()
    problem = table if isinstance(table, Problem) else table.problem()
    if attackers:
        options["attackers"] = attackers
    outcome = run(problem, observer=observer, tolerance=tolerance, **options)
    if outcome.solution is None:
        raise NoReleaseError(_why_none(outcome), outcome, problem)
    found = audit(
        problem,
        outcome,
        cells="sensitive",
        exact=False,
        attackers=_audited_attackers(outcome, attackers),
        tolerance=tolerance,
    )
    found.check()
    if not found.safe:
        raise NoReleaseError(
            "the audit found cells exposed: "
            f"{problem.name_cells(found.exposed_cells)}; nothing may be published",
            outcome,
            problem,
            found,
        )
    papers = WorkingPapers(table if isinstance(table, Table) else None, problem, outcome, found)
    return Release(Published.of(table, outcome), papers)


def guarantee(problem: Problem, found: Audit | None) -> str:
    """What an audit has established, in one sentence without a full stop."""
    if len(problem.sensitive) == 0:
        return "none is needed: no cell is sensitive"
    if found is None or not found.safe:
        return "none: no audit has found this safe"
    levels = problem.lower_level + problem.upper_level + problem.sliding_level
    bare = int((levels == 0).sum())
    names = [finding.attacker.name for finding in found.findings]
    who = "a reader who knows the published cells, all relations and the bounds"
    others = [name for name in names if name != "external"]
    if others:
        shown = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        shown += " (knowing what is its own)" if len(others) == 1 else " (each knowing its own)"
        who = f"neither {who} nor {shown}" if "external" in names else shown
    verb = "can" if who.startswith("neither") else "cannot"
    text = f"{who} {verb} deduce any sensitive cell more closely than its protection levels allow"
    if bare:
        text += f" ({bare} of {len(levels)} ask for none and are only left out)"
    return text


def summary_rows(outcome: Outcome, problem: Problem, quality: Mapping[str, str]) -> dict[str, str]:
    """How a method ended, as names and texts.

    Args:
        outcome: What the method found.
        problem: The table.
        quality: How good it is, as such rows.
    """
    end = ENDS.get(outcome.stopped_by, outcome.stopped_by)
    told = outcome.status.value
    rows = {"status": told if end == told else f"{told}: {end}", **quality}
    rows["seconds"] = f"{outcome.report.seconds:.1f} with algorithm {outcome.algorithm}"
    if outcome.solution is None:
        return rows
    _, _, status = _seen(problem, outcome)
    sensitive = problem.is_sensitive
    usual = {Suppression: PublishedAs.SUPPRESSED, Intervals: PublishedAs.INTERVAL}
    for name, how in (("suppressed", PublishedAs.SUPPRESSED), ("intervals", PublishedAs.INTERVAL)):
        hidden = status == how.value
        if hidden.any() or usual.get(type(outcome.solution)) is how:
            count, own = int(hidden.sum()), int((hidden & sensitive).sum())
            rows[name] = (
                f"{count} of {problem.cell_count} cells: {own} sensitive, {count - own} secondary"
            )
    return rows


def _seen(
    problem: Problem, outcome: Outcome
) -> tuple[Floats, tuple[Floats, Floats] | None, npt.NDArray[np.str_]]:
    """Values, interval ends and statuses as readers see them."""
    solution = outcome.solution
    ends: tuple[Floats, Floats] | None = None
    blank = spread = np.zeros(problem.cell_count, bool)
    value = problem.value
    if isinstance(solution, Suppression):
        blank = solution.suppressed
    elif isinstance(solution, Intervals):
        spread = np.asarray(solution.lower < solution.upper)
        # An interval that tells no more than everybody knew is a suppressed cell.
        known = (solution.lower <= problem.lower) & (solution.upper >= problem.upper)
        blank = spread & known
        ends = (
            np.where(blank, np.nan, solution.lower),
            np.where(blank, np.nan, solution.upper),
        )
    elif isinstance(solution, Values):
        value = solution.value
    status = np.full(problem.cell_count, PublishedAs.VALUE.value, _STATUS_TYPE)
    status[spread] = PublishedAs.INTERVAL.value
    status[blank] = PublishedAs.SUPPRESSED.value
    return np.where(blank | spread, np.nan, value), ends, status


_STATUS_TYPE = np.dtype(f"<U{max(len(status) for status in PublishedAs)}")


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.setflags(write=False)
    return array


def _why_none(outcome: Outcome) -> str:
    if outcome.status is Status.INFEASIBLE:
        reason = outcome.message.replace("\n", "\n  ")
        return f"no safe outcome exists:\n  {reason}"
    told = f"\n  {outcome.message}" if outcome.message else ""
    return f"stopped before any safe outcome was known; allow more time (time_limit){told}"


def _audited_attackers(outcome: Outcome, given: Sequence[Attacker]) -> Sequence[Attacker]:
    """Those whom the method was to withstand: options may have added to those given."""
    if outcome.audit is None:
        return given
    return [found.attacker for found in outcome.audit.findings]
