"""`Release`: a table that may be published, separate from the working papers that may not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.attack.audit import Audit
from tacit.errors import InputError, TacitError
from tacit.outcome import Outcome, Values
from tacit.problem import Problem
from tacit.release.flags import PublishedStatus
from tacit.release.published import Published, seen
from tacit.release.wording import (
    audit_rows,
    established,
    guarantee,
    limits,
    outcome_rows,
    public_rows,
    sums_row,
    versions,
)
from tacit.rules.sums import SensitiveSum
from tacit.table import Table
from tacit.table.former import Changes
from tacit.version import __version__

if TYPE_CHECKING:
    from tacit.explanation import CellChoice, Explainer, Explanation
    from tacit.methods.perturbation import LevelChange
    from tacit.methods.recoding.levels import LevelSuggestions


class NoReleaseError(TacitError):
    """There is nothing that may be published.

    Attributes:
        outcome: How the method ended.
        problem: The table as the method saw it.
        audit: The audit that found cells exposed, if it came to that.
        recodes: Levels of hierarchies that could be left out, and how many sensitive cells would
            go with them; confidential. None for a problem, which has no hierarchies.
    """

    def __init__(
        self,
        message: str,
        outcome: Outcome,
        problem: Problem,
        audit: Audit | None = None,
        recodes: LevelSuggestions | None = None,
    ):
        self.recodes = recodes
        self.outcome = outcome
        self.problem = problem
        self.audit = audit
        super().__init__(message)


def _lines(rows: Mapping[str, str]) -> str:
    """Lines of a summary, their names in a column of their own."""
    return "\n".join(f"{name:<12}{text}" for name, text in rows.items())


@dataclass(frozen=True, eq=False, repr=False)
class WorkingPapers:
    """Everything behind a release. Confidential: it holds true values, levels and evidence.

    Attributes:
        table: The true table; None where the release was made from a problem.
        problem: The table as methods see it.
        outcome: What the method found.
        audit: What shows that it is safe.
        sums: Sums of hidden cells that everybody knows although rules find them sensitive.
    """

    table: Table | None
    problem: Problem
    outcome: Outcome
    audit: Audit
    sums: tuple[SensitiveSum, ...] = ()

    def perturbation(self) -> list[LevelChange]:
        """How far published values are from the true ones, for each level of each hierarchy.

        Confidential like all of the papers: where a level has few cells, it tells their true
        values.

        Raises:
            InputError: The method does not change values.
        """
        from tacit.methods.perturbation import perturbation

        solution = self.outcome.solution
        if not isinstance(solution, Values):
            raise InputError(f"method {self.outcome.method} does not change values")
        return perturbation(self.problem if self.table is None else self.table, solution)

    def summary(self) -> str:
        """How the search ended and what the audit found, as lines of text.

        Confidential: objective, bound and gap add up weights of hidden cells, which may be
        values; how many cells are sensitive, against how many attackers the audit looked, the
        seed and even the time taken depend on what readers must not know.
        """
        return _lines(self.summary_rows())

    def summary_rows(self) -> dict[str, str]:
        """The lines of `summary`, each under its name."""
        outcome, problem, found = self.outcome, self.problem, self.audit
        report, attackers = outcome.report, len(found.findings)
        rows = {
            **outcome_rows(outcome, problem),
            "search": f"{report.iterations} iteration{'s' * (report.iterations != 1)}, "
            f"{report.cuts} cut{'s' * (report.cuts != 1)}, seed {outcome.seed}",
            "sensitive": f"{len(problem.sensitive)} of {problem.cell_count} cells",
            **audit_rows(outcome, problem, found),
        }
        if found.safe:
            rows["audit"] = (
                f"{found.checked} claims against {attackers} attacker{'s' * (attackers != 1)}, "
                "all verified with evidence"
            )
        if self.sums and self.table is not None:
            rows["known sums"] = sums_row(self.sums, self.table)
        if self.changes is not None:
            rows["previous"] = str(self.changes)
        made = f"tacit {__version__}, method {outcome.method}"
        return {**rows, "made by": made, "versions": versions()}

    @property
    def changes(self) -> Changes | None:
        """How the release differs from the former one; None where none was given."""
        if self.table is None or self.table.former is None:
            return None
        _, _, status = seen(self.problem, self.outcome)
        return self.table.former.changes(status != PublishedStatus.VALUE.value)

    def __repr__(self) -> str:
        return "WorkingPapers(confidential)"


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A table that may be published, separate from the working papers that may not.

    Attributes:
        published: What readers may see.
        papers: The confidential working papers.
    """

    published: Published
    papers: WorkingPapers

    @property
    def guarantee(self) -> str:
        """What holds against whom and what does not, in plain words for readers."""
        if not self.papers.audit.safe:
            return f"{established(self.papers.problem, self.papers.audit)}."
        holds = guarantee(self.published)
        if not self.published.altered and not self.published.is_hidden.any():
            return f"{holds}."
        return f"{holds[0].upper()}{holds[1:]}. {limits(self.published)}"

    def publish(self, *, tell_primary: bool = False) -> Published:
        """What readers may see, with what they are told about it chosen.

        Args:
            tell_primary: Tell readers which of the cells without a value are sensitive
                themselves, and which only protect others. It helps those who attack: by
                default, as in `published`, it is not told.
        """
        if not tell_primary:
            return self.published
        primary = self.papers.problem.is_sensitive & self.published.is_hidden
        primary.setflags(write=False)
        return self.published.replace(primary=primary)

    def summary(self) -> str:
        """What was protected, how, at which loss and with which guarantee, as lines of text.

        It may be shown to readers: it is made of what is published alone. How the search ended,
        with objective, bound and gap, is told by `papers.summary()`, which is confidential.
        """
        return _lines(self.summary_rows())

    def summary_rows(self) -> dict[str, str]:
        """The lines of `summary`, each under its name."""
        return public_rows(self.published, self.guarantee)

    @cached_property
    def _explainer(self) -> Explainer:
        from tacit.explanation import Explainer

        papers = self.papers
        return Explainer(
            papers.problem,
            papers.outcome,
            table=papers.table,
            attackers=[found.attacker for found in papers.audit.findings],
            audit=papers.audit,
            tolerance=None,
        )

    def explain(self, cell: CellChoice, *, seconds: float = 1.0) -> Explanation:
        """Why a cell is suppressed, or shown as it is, and what publishing it would take.

        Confidential: it tells which cells are sensitive, and why.

        Args:
            cell: The cell: its number, or its codes, as in `{"industry": "C10"}`; a dimension that
                is not named stands at its total.
            seconds: How long to look for something cheaper that could be suppressed instead.

        Raises:
            InputError: There is no such cell.
        """
        return self._explainer.explain(cell, seconds=seconds)

    def report(
        self, path: str | Path, *, confidential: bool = False, title: str | None = None
    ) -> Path:
        """Write a report with pictures: one HTML file that needs nothing else.

        Args:
            path: The file, ending in .html.
            confidential: Write the working version, which tells sensitive cells from those that
                protect them, objective and costs; its name must contain `confidential`. By
                default the report may be published: it is made from what readers may see alone.
            title: The title; by default made from the dimensions.

        Returns:
            The path.

        Raises:
            InputError: The name does not fit, or the file cannot be written.
        """
        from tacit.report.document import write_report

        return write_report(self, path, confidential=confidential, title=title)

    def __repr__(self) -> str:
        return f"Release({self.published.method}, {self.published!r})"

    def _repr_html_(self) -> str:
        """In a notebook: the summary as a table."""
        from tacit.release.rendering import in_box, rows_table

        return in_box(rows_table(self.summary_rows(), repr(self)))
