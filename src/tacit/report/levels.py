"""What is lost at each level of each hierarchy."""

from __future__ import annotations

import numpy as np

from tacit.problem import Booleans, Floats
from tacit.release import Published, Release
from tacit.report.arrangement import levels_of
from tacit.report.bars import Bar, draw_bars
from tacit.report.marks import SUPPRESSED, Mark, marked
from tacit.report.picture import Numbers, Picture
from tacit.report.texts import counted, percent

DEVIATION = Mark("mean deviation", "", "line")


def loss_by_level(
    release: Release, *, confidential: bool = False, table: int | None = None
) -> Picture:
    """The share of cells not published as they are, at each level of each hierarchy.

    Args:
        release: The release.
        confidential: Whether sensitive cells are told from those that protect them, and how much
            of the weight is lost. By default the picture shows only what readers see.
        table: Which one of linked tables, counted from 0; by default all cells.
    """
    found = marked(release, confidential=confidential, table=table)
    marks = found.marks or (SUPPRESSED,)
    weight = release.papers.problem.weight if confidential else None
    published = release.published
    if table is not None and published.grids:
        weight = None if weight is None else weight[published.grids[table].numbers]
        published = published.of_table(table)
    bars, rows = [], []
    for group, label, chosen in _levels(published):
        size = int(np.count_nonzero(chosen))
        counts = [
            int(np.count_nonzero(chosen & (found.of_cell == place))) for place in range(len(marks))
        ]
        lost = f"{counted(sum(counts))} of {counted(size)}"
        bars.append(Bar(label, tuple(100 * count / size for count in counts), lost, group))
        row = [f"{group}, {label}" if group else label, counted(size), *map(counted, counts)]
        row.append(percent(sum(counts) / size))
        if weight is not None:
            row.append(_weight_lost(weight, chosen, found.of_cell >= 0))
        rows.append(tuple(row))
    header = ["level", "cells", *(mark.name for mark in marks), "share"]
    if weight is not None:
        header.append("share of weight")
    name = "levels" if table is None else f"levels-{table}"
    return Picture(
        name,
        "What is lost at each level",
        "Bars: the share of cells that are not published as they are, at each level of each "
        f"hierarchy. {_worst(bars)}",
        draw_bars(name, bars, marks),
        "Share of the cells of a level that are not published as they are. Level 0 of a dimension "
        "is its total; every cell counts once in each dimension.",
        Numbers(tuple(header), tuple(rows)),
        confidential=confidential,
    )


def perturbation_by_level(release: Release) -> Picture:
    """How far published values are from the true ones, at each level of each hierarchy.

    The picture is confidential: where a level has few cells it tells their true values.

    Args:
        release: A release of a method that changes values.

    Raises:
        InputError: The method does not change values.
    """
    has_dimensions = release.papers.table is not None
    bars, rows = [], []
    for change in release.papers.perturbation():
        group = change.dimension if has_dimensions else ""
        label = _level(change.level) if has_dimensions else _height(change.level)
        # A level that holds only zeros has no shares.
        mean, most = np.nan_to_num((change.mean_relative, change.max_relative)).tolist()
        told = f"mean {percent(mean)}, largest {percent(most)}"
        bars.append(Bar(label, (100 * mean,), told, group))
        name = f"{group}, {label}" if group else label
        counts = counted(change.cells), counted(change.changed)
        rows.append((name, *counts, percent(mean), percent(most)))
    return Picture(
        "perturbation",
        "How far published values are from the true ones",
        "Bars: the mean relative deviation at each level of each hierarchy.",
        draw_bars("perturbation", bars, (DEVIATION,), legend=False),
        "Mean of |published - true| / |true| over the cells of a level whose true value is not "
        "zero.",
        Numbers(("level", "cells", "changed", "mean deviation", "largest deviation"), tuple(rows)),
        confidential=True,
    )


def _levels(published: Published) -> list[tuple[str, str, Booleans]]:
    """Each dimension and level that has cells, and which cells these are."""
    found: list[tuple[str, str, Booleans]] = []
    for dimension in published.dimensions:
        level = levels_of(published, dimension)
        found += [
            (dimension, _level(number), level == number) for number in np.unique(level).tolist()
        ]
    return found or [("", "all cells", np.ones(published.cell_count, bool))]


def _level(number: int) -> str:
    return "total (level 0)" if number == 0 else f"level {number}"


def _height(number: int) -> str:
    """A level where there are no hierarchies, only relations."""
    return f"{number} step{'s' * (number > 1)} up" if number else "finest cells"


def _weight_lost(weight: Floats, chosen: Booleans, lost: Booleans) -> str:
    total = float(weight[chosen].sum())
    return percent(float(weight[chosen & lost].sum()) / total) if total > 0 else ""


def _worst(bars: list[Bar]) -> str:
    worst = max(bars, key=lambda bar: sum(bar.parts))
    return f"It is largest at {worst.group} {worst.label}: {worst.told} cells."
