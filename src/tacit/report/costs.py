"""What protecting each sensitive cell costs. Confidential."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.errors import InputError
from tacit.outcome import Intervals, Suppression
from tacit.problem import Floats
from tacit.release import Release
from tacit.report.bars import Bar, draw_bars
from tacit.report.marks import SECONDARY, SENSITIVE, Mark
from tacit.report.picture import Numbers, Picture
from tacit.report.texts import counted, percent

MOST = 20
"""This many cells are shown, those with the highest costs."""
_OWN = Mark("the cell itself", "", SENSITIVE.style)
_OTHERS = Mark("its share of the cells that protect it", "", SECONDARY.style, hatched=True)


def has_costs(release: Release) -> bool:
    """Whether there is anything to attribute."""
    return _cell_costs(release) is not None and len(release.papers.problem.sensitive) > 0


def attributed_costs(release: Release) -> tuple[Floats, Floats]:
    """For each sensitive cell what it costs itself, and its share of what protects it.

    The audit shows for each sensitive cell tables in which it has other values. Whatever moves in
    them protects it; what a secondary cell costs is divided equally among the cells that it
    protects there. Other tables might show the same, so this is one way to share the costs; their
    sum is the objective without secondary cells that move in no table.
    """
    cost = _cell_costs(release)
    if cost is None:
        raise InputError(f"method {release.papers.outcome.method} hides no cells to attribute")
    problem = release.papers.problem
    place = np.full(problem.cell_count, -1, np.int64)
    place[problem.sensitive] = np.arange(len(problem.sensitive))
    rows, columns = [], []
    for finding in release.papers.audit.findings:
        moved = sparse.coo_array(finding.evidence.deviations)
        of_claim = place[finding.evidence.cells]
        told = (moved.data != 0) & (of_claim[moved.row] >= 0)
        rows.append(of_claim[moved.row[told]])
        columns.append(moved.col[told])
    row, column = np.concatenate(rows), np.concatenate(columns)
    keep = ~problem.is_sensitive[column] & (cost[column] > 0)
    pairs = np.unique(np.stack([row[keep], column[keep]]), axis=1)
    users = np.bincount(pairs[1], minlength=problem.cell_count)
    share = cost[pairs[1]] / users[pairs[1]]
    others = np.bincount(pairs[0], weights=share, minlength=len(problem.sensitive))
    return cost[problem.sensitive], others.astype(np.float64)


def protection_costs(release: Release) -> Picture:
    """The sensitive cells whose protection costs most, each with its share of secondary cells.

    Args:
        release: A release of a method that hides cells.

    Raises:
        InputError: The method hides no cells, or none is sensitive.
    """
    if not has_costs(release):
        raise InputError("no cell is sensitive and hidden; there are no costs to attribute")
    own, others = attributed_costs(release)
    problem = release.papers.problem
    total = float((own + others).sum()) or 1.0
    order = np.argsort(-(own + others), kind="stable")[:MOST]
    bars, rows = [], []
    for place in order.tolist():
        label = problem.name_cell(int(problem.sensitive[place])).removeprefix("cell ")
        label = label if problem.labels is not None else f"cell {label}"
        parts = (100 * float(own[place]) / total, 100 * float(others[place]) / total)
        bars.append(Bar(label, parts, percent(sum(parts) / 100)))
        rows.append((label, *(percent(part / 100) for part in parts), percent(sum(parts) / 100)))
    count = len(problem.sensitive)
    shown = f"The {len(bars)} of {counted(count)} sensitive cells with the highest costs"
    if len(bars) == count:
        shown = f"All {counted(count)} sensitive cells" if count > 1 else "The sensitive cell"
    return Picture(
        "costs",
        "What protecting each sensitive cell costs",
        f"Bars: {shown[0].lower()}{shown[1:]}. The first is {bars[0].label} with {bars[0].told}.",
        draw_bars("costs", bars, (_OWN, _OTHERS)),
        f"{shown}, as shares of the costs of all. A secondary cell counts in equal parts for the "
        "cells that it protects in the tables which the audit keeps as evidence; other tables "
        "might divide it otherwise.",
        Numbers(("cell", _OWN.name, _OTHERS.name, "together"), tuple(rows)),
        confidential=True,
    )


def _cell_costs(release: Release) -> Floats | None:
    """What each cell costs as it is published; None where the method hides none."""
    problem, solution = release.papers.problem, release.papers.outcome.solution
    if isinstance(solution, Suppression):
        return np.where(solution.suppressed, problem.weight, 0.0)
    if isinstance(solution, Intervals):
        # Nobody loses what lies beyond the bounds.
        upper = np.minimum(solution.upper, problem.upper)
        width = upper - np.maximum(solution.lower, problem.lower)
        return problem.weight * np.where(np.isfinite(width), width, 0.0)
    return None
