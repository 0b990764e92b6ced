"""How wide intervals are: those that are published, or those that can be deduced."""

from __future__ import annotations

import math
import time
from itertools import pairwise

import numpy as np

from tacit.attack.knowledge import Knowledge
from tacit.attack.reach import Requests
from tacit.attack.sweep import Attack
from tacit.errors import InputError
from tacit.outcome import Suppression
from tacit.problem import Booleans, Floats, Integers
from tacit.release import PublishedStatus, Release
from tacit.report.bars import Bar, draw_bars
from tacit.report.marks import INTERVAL, SECONDARY, SENSITIVE
from tacit.report.picture import Numbers, Picture
from tacit.report.texts import counted, percent

EDGES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Classes of widths, as shares of a value."""
SAMPLE = 400
"""Of more suppressed cells than this, this many are looked at."""
SECONDS = 10.0
"""What can be deduced is looked for no longer than this."""


def has_widths(release: Release, *, confidential: bool) -> bool:
    """Whether there are intervals to show."""
    if (release.published.status == PublishedStatus.INTERVAL.value).any():
        return True
    solution = release.papers.outcome.solution
    return confidential and isinstance(solution, Suppression) and bool(solution.suppressed.any())


def interval_widths(release: Release, *, confidential: bool = False) -> Picture:
    """How wide the intervals of cells are that are not published with a value.

    These are the published intervals. Where cells are suppressed it is what can be deduced,
    computed anew, which only the confidential picture shows; of very many cells some are taken.

    Args:
        release: The release.
        confidential: Whether sensitive cells are told from those that protect them.

    Raises:
        InputError: The release has no intervals to show.
    """
    if not has_widths(release, confidential=confidential):
        raise InputError(
            "this release publishes no intervals; what can be deduced of suppressed cells is "
            "shown with confidential=True"
        )
    published = release.published
    if published.lower is not None and published.upper is not None:
        cells = np.flatnonzero(published.status == PublishedStatus.INTERVAL.value)
        lower, upper = published.lower[cells], published.upper[cells]
        title, of_all = "How wide the published intervals are", len(cells)
    else:
        cells, lower, upper, of_all = _deducible(release)
        title = "How closely suppressed cells can be deduced"
    share = _shares(lower, upper)
    kinds: list[Booleans] = [np.ones(len(cells), bool)]
    marks = [INTERVAL]
    if confidential:
        sensitive = release.papers.problem.is_sensitive[cells]
        kinds, marks = [sensitive, ~sensitive], [SENSITIVE, SECONDARY]
    place = np.searchsorted(EDGES, share, side="left")
    bars, rows = [], []
    for number, label in enumerate(_labels()):
        counts = [int(np.count_nonzero(kind & (place == number))) for kind in kinds]
        bars.append(Bar(label, tuple(map(float, counts)), counted(sum(counts))))
        rows.append((label, *map(counted, counts)))
    sample = "" if len(cells) == of_all else f" Looked at: {len(cells)} of {of_all} cells."
    finite = share[np.isfinite(share)]
    median = percent(float(np.median(finite))) if len(finite) else "unlimited"
    return Picture(
        "widths",
        title,
        f"Bars: numbers of cells by the width of their interval. The median width is {median} of "
        "the middle of the interval.",
        draw_bars("widths", bars, marks, unit="", legend=confidential),
        "Width as a share of the middle of the interval; numbers of cells. The median is "
        f"{median}.{sample}",
        Numbers(("width", *(mark.name for mark in marks)), tuple(rows)),
        confidential=confidential,
    )


def _shares(lower: Floats, upper: Floats) -> Floats:
    """Widths as shares of the middles."""
    ended = np.isfinite(lower) & np.isfinite(upper)
    middle = np.abs(np.where(ended, lower + upper, 0.0)) / 2
    width = np.where(ended, upper - lower, np.inf)
    share = np.full(len(width), np.inf)
    np.divide(width, middle, out=share, where=ended & (middle > 0))
    return share


def _deducible(release: Release) -> tuple[Integers, Floats, Floats, int]:
    """What a reader can deduce of suppressed cells, exactly, as far as time allows."""
    papers = release.papers
    assert papers.outcome.solution is not None
    hidden = papers.outcome.suppressed
    every = max(math.ceil(len(hidden) / SAMPLE), 1)
    cells = hidden[::every]
    problem = papers.problem
    attack = Attack(problem, Knowledge.of(problem, papers.outcome.solution))
    end = time.perf_counter() + SECONDS
    found = attack.reach(Requests.both_sides(cells), progress=lambda _: time.perf_counter() > end)
    both = found.answered.reshape(2, -1).all(axis=0)
    up, down = found.amount.reshape(2, -1)
    lower, upper = problem.value[cells] - down, problem.value[cells] + up
    return cells[both], lower[both], upper[both], len(hidden)


def _labels() -> list[str]:
    names = [f"up to {percent(EDGES[0])}"]
    names += [f"{percent(low)} to {percent(high)}" for low, high in pairwise(EDGES)]
    return [*names, f"more than {percent(EDGES[-1])}"]
