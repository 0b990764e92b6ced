"""`Release`: a table that may be published, apart from the papers that may not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.attack.audit import Audit
from tacit.errors import InputError, TacitError
from tacit.outcome import Outcome, Values
from tacit.problem import Problem
from tacit.release.published import Published
from tacit.release.wording import guarantee, limits, loss, summary_rows, versions
from tacit.table import Table
from tacit.version import __version__

if TYPE_CHECKING:
    from tacit.methods.perturbation import LevelChange


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
        return f"{holds[0].upper()}{holds[1:]}. {limits(papers.outcome)}"

    def publish(self, *, tell_primary: bool = False) -> Published:
        """What readers may see, with what they are told about it chosen.

        Args:
            tell_primary: Tell readers which of the cells without a value are sensitive
                themselves, and which only protect others. It helps those who attack: by
                default, as in `published`, it is not told.
        """
        if not tell_primary:
            return self.published
        papers = self.papers
        source = papers.problem if papers.table is None else papers.table
        return Published.of(source, papers.outcome, tell_primary=True)

    def summary(self) -> str:
        """What was protected, how, at which loss and with which guarantee, as lines of text.

        It may be shown to readers: it tells neither values nor levels. The objective is left to
        the working papers, because it adds up weights of suppressed cells, which may be values.
        """
        return "\n".join(f"{name:<12}{text}" for name, text in self.summary_rows().items())

    def summary_rows(self) -> dict[str, str]:
        """The lines of `summary`, each under its name."""
        outcome, problem = self.papers.outcome, self.papers.problem
        report = outcome.report
        quality = {}
        if report.gap is not None:
            quality = {"gap": f"{report.gap:.3%} to the {report.bound_name}"}
        names = " x ".join(self.published.codes)
        linked = len(self.published.grids)
        if linked > 1:
            names = f"{linked} linked tables over {', '.join(self.published.codes)}"
        return {
            "table": f"{names}, {problem.cell_count} cells",
            **summary_rows(outcome, problem, quality),
            "loss": loss(self.published),
            "guarantee": self.guarantee,
            "made by": f"tacit {__version__}, method {outcome.method}{_seed(outcome)}",
            "versions": versions(),
        }

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
        return f"Release({self.papers.outcome.method}, {self.published!r})"

    def _repr_html_(self) -> str:
        """In a notebook: the summary as a table."""
        from tacit.release.rendering import in_box, rows_table

        return in_box(rows_table(self.summary_rows(), repr(self)))


def _seed(outcome: Outcome) -> str:
    """The seed as readers may know it: what was rounded at random could be undone with it."""
    return "" if outcome.algorithm == "random" else f", seed {outcome.seed}"
