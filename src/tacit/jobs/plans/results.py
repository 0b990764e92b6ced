"""How the jobs of a plan ended: for readers from what is published alone, and for the office."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

import numpy as np

from tacit.outcome import Outcome, Status
from tacit.problem import Problem
from tacit.release import NoReleaseError, Published, PublishedStatus, Release
from tacit.release.wording import loss


class Ending(StrEnum):
    """How a job ended, from best to worst; `code` is the exit code that stands for it."""

    DONE = "done"
    """There is a safe publication."""
    WRONG_INPUT = "wrong input"
    """A file, an option or the table is wrong."""
    NO_SAFE_OUTCOME = "no safe outcome"
    """No safe outcome exists."""
    STOPPED = "stopped"
    """Stopped before any safe outcome was known, or never begun."""
    EXPOSED = "exposed"
    """The audit found cells exposed."""

    @property
    def code(self) -> int:
        """The exit code of a command that ends like this."""
        return list(Ending).index(self)


@dataclass(frozen=True, kw_only=True)
class JobResult:
    """How one job ended.

    Attributes:
        name: What it is called in the plan.
        path: Its file.
        ending: How it ended.
        message: What was wrong, if anything was.
        published: What readers may know, by name; made from what is published alone, and empty
            where nothing is published.
        working: What they may not: objective, bound, gap, sensitive cells, seconds.
        files: What was written.
        unchanged: Whether it was not run, because nothing has changed since the last time.
        cut_short: Whether somebody asked it to stop, so that it ended with what it had.
    """

    name: str
    path: Path
    ending: Ending
    message: str = ""
    published: Mapping[str, Any] = field(default_factory=dict)
    working: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    unchanged: bool = False
    cut_short: bool = False

    def to_json(self) -> dict[str, Any]:
        """As members of a JSON object."""
        members = asdict(self)
        return {**members, "path": str(self.path), "files": [str(file) for file in self.files]}

    @classmethod
    def from_json(cls, members: Mapping[str, Any]) -> Self:
        """What `to_json` made."""
        given = dict(members)
        given["files"] = tuple(map(Path, given["files"]))
        given["path"] = Path(given["path"])
        given["ending"] = Ending(given["ending"])
        return cls(**given)


@dataclass(frozen=True)
class PlanResult(Sequence[JobResult]):
    """How all jobs of a plan ended, in the order of the plan."""

    results: tuple[JobResult, ...]

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, place: Any) -> Any:
        return self.results[place]

    def __iter__(self) -> Iterator[JobResult]:
        return iter(self.results)

    @property
    def worst(self) -> Ending:
        """The worst of all endings."""
        return max((result.ending for result in self.results), key=lambda each: each.code)

    def summary(self, *, confidential: bool = True) -> str:
        """All jobs in lines of text.

        Args:
            confidential: Whether to tell what readers may not know; by default it does, as it is
                for those who run the plan.
        """
        from tacit.jobs.plans.summary import summary_text

        return summary_text(self, confidential=confidential)

    def write(self, path: str | Path) -> None:
        """Write a summary as text, CSV or HTML, as the name of the file says.

        A name that contains `confidential` asks for everything; otherwise the summary holds only
        what readers may know.
        """
        from tacit.jobs.plans.summary import write_summary

        write_summary(self, Path(path))


def published_facts(published: Published) -> dict[str, Any]:
    """What readers may know of a table, by what is published alone."""
    counts = {
        status: int(np.count_nonzero(published.status == status.value))
        for status in PublishedStatus
    }
    return {
        "table": " x ".join(published.codes),
        "method": published.method,
        "cells": published.cell_count,
        "with value": counts[PublishedStatus.VALUE],
        "intervals": counts[PublishedStatus.INTERVAL],
        "suppressed": counts[PublishedStatus.SUPPRESSED],
        "loss": loss(published),
    }


def working_facts(outcome: Outcome, problem: Problem) -> dict[str, Any]:
    """How a search ended; confidential."""
    report = outcome.report
    return {
        "status": outcome.status.value,
        "stopped by": str(outcome.stopped_by),
        "algorithm": outcome.algorithm,
        "sensitive": len(problem.sensitive),
        "objective": report.objective,
        "bound": report.bound,
        "gap": report.gap,
        "seconds": round(report.seconds, 1),
    }


def ending_of(error: NoReleaseError) -> Ending:
    """How a job ended that has nothing to publish."""
    if error.audit is not None:
        return Ending.EXPOSED
    infeasible = error.outcome.status is Status.INFEASIBLE
    return Ending.NO_SAFE_OUTCOME if infeasible else Ending.STOPPED


def facts_of(release: Release) -> tuple[dict[str, Any], dict[str, Any]]:
    """What readers may know of a release, and what they may not."""
    papers = release.papers
    return published_facts(release.published), working_facts(papers.outcome, papers.problem)
