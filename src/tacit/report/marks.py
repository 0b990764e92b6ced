"""How cells are marked: for readers by what they see, internally by what is behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.problem import Integers
from tacit.release import PublishedStatus, Release
from tacit.report.svg import hatching


@dataclass(frozen=True)
class Mark:
    """A kind of cell that is drawn in its own way.

    Attributes:
        name: What the cells are, in words.
        letter: What stands in the cell.
        style: The name of its colours in the style sheet.
        hatched: Whether slanted lines tell it from others as well.
    """

    name: str
    letter: str
    style: str
    hatched: bool = False

    def fill(self, picture: str) -> str:
        """How to fill an area within a picture that has the `patterns`."""
        return f"url(#{picture}-{self.style})" if self.hatched else f"var(--t-{self.style})"


SUPPRESSED = Mark("suppressed", "×", "hidden")
INTERVAL = Mark("published as an interval", "–", "interval", hatched=True)
SENSITIVE = Mark("sensitive", "P", "sensitive")
SECONDARY = Mark("secondary, protects others", "s", "secondary", hatched=True)


@dataclass(frozen=True, eq=False)
class Marked:
    """The marks of all cells.

    Attributes:
        marks: The marks there are.
        of_cell: For each cell the place of its mark among them; -1 for a cell without one.
    """

    marks: tuple[Mark, ...]
    of_cell: Integers

    def count(self, place: int) -> int:
        """How many cells have a mark."""
        return int(np.count_nonzero(self.of_cell == place))


def marked(release: Release, *, confidential: bool, table: int | None = None) -> Marked:
    """Mark the cells of a release.

    Args:
        release: The release.
        confidential: Whether sensitive cells may be told from those that protect them. Readers
            are only shown what is published and how.
        table: Which one of linked tables, counted from 0; by default all cells.
    """
    published = release.published
    marks: tuple[Mark, ...] = (SUPPRESSED, INTERVAL)
    of_cell = np.full(published.cell_count, -1, np.int64)
    if not confidential:
        of_cell[published.status == PublishedStatus.SUPPRESSED.value] = 0
        of_cell[published.status == PublishedStatus.INTERVAL.value] = 1
    else:
        papers = release.papers
        marks = (SENSITIVE, SECONDARY)
        of_cell[published.status != PublishedStatus.VALUE.value] = 1
        of_cell[papers.problem.is_sensitive] = 0
    if table is not None and published.grids:
        of_cell = of_cell[published.grids[table].numbers]
    used = [place for place in range(len(marks)) if (of_cell == place).any()]
    renumbered = np.full(len(marks) + 1, -1, np.int64)
    renumbered[used] = np.arange(len(used))
    return Marked(tuple(marks[place] for place in used), renumbered[of_cell])


def patterns(picture: str, marks: tuple[Mark, ...]) -> str:
    """The patterns that the marks of a picture need."""
    return "".join(
        hatching(f"{picture}-{mark.style}", f"var(--t-{mark.style}-line)", f"var(--t-{mark.style})")
        for mark in marks
        if mark.hatched
    )
