"""The report on a table of a tau-ARGUS job: what was asked for, and what became of the cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tacit.io.argus.sheet import Described, Sheet
from tacit.io.argus.statuses import NAMES, ArgusStatus, statuses
from tacit.problem import Integers
from tacit.release import Release
from tacit.report.heat_map import heat_map
from tacit.report.page import Page, PageSection, facts, figure, numbers_table, paragraph
from tacit.report.picture import REPORT_SUFFIX, WARNING, Numbers, check_name, joined
from tacit.report.texts import counted, percent, value_text

_UNSAFE = (
    ArgusStatus.UNSAFE,
    ArgusStatus.REQUEST,
    ArgusStatus.FREQUENCY,
    ArgusStatus.ZERO,
    ArgusStatus.UNSAFE_BY_HAND,
)
_SECONDARY = (ArgusStatus.SECONDARY, ArgusStatus.SECONDARY_BY_HAND)


def write_argus_report(
    release: Release,
    path: str | Path,
    *,
    specification: Mapping[str, str] | None = None,
    files: Sequence[str | Path] = (),
    described: Described | None = None,
    table: int | None = None,
) -> Path:
    """Write the report that tau-ARGUS writes with a saved table: one HTML file, confidential.

    It says how the table was specified and protected, and for each status how many cells have
    it, with contributors, values and costs added up.

    Args:
        release: The table, protected.
        path: The file, ending in .html; its name says that it is confidential.
        specification: What was asked for, by name: files, safety rules, method, as the batch
            file has them.
        files: What was written.
        described: What the metadata say.
        table: Which one of several linked tables, counted from 0.

    Returns:
        The path.

    Raises:
        InputError: The name does not fit, there is no such table, or the file cannot be written.
    """
    target = Path(path)
    check_name(target, REPORT_SUFFIX, confidential=True)
    described = described or Described()
    sheet = Sheet.of(release.published, described, table=table)
    # The last one, number -1, is that of combinations that do not occur.
    status = np.append(statuses(release.papers), int(ArgusStatus.EMPTY))[sheet.cell]
    names = [*sheet.codes]
    asked = {"explanatory variables": joined(names), "response": described.response}
    asked |= dict(specification or {})
    if files:
        asked["written"] = ", ".join(Path(file).name for file in files)
    sections = [
        PageSection("specification", "What was asked for", facts(asked)),
        PageSection(
            "statuses",
            "Cells by status",
            numbers_table(_by_status(release, sheet, status), "Cells by status"),
        ),
        PageSection("protection", "What was done and what holds", _protection(release)),
    ]
    linked = table if len(release.published.grids) > 1 else None
    picture = heat_map(release, confidential=True, table=linked)
    sections.append(PageSection("part-cells", picture.title, figure(picture)))
    Page(
        kind="tau-ARGUS job",
        title=f"{described.response} by {joined(names)}",
        lead=f"{counted(len(sheet))} cells, protected and audited.",
        figures=_figures(status),
        sections=sections,
        warning=WARNING,
    ).write(target)
    return target


def _figures(status: Integers) -> dict[str, str]:
    total = max(len(status), 1)
    counts = {
        "unsafe": int(np.isin(status, _UNSAFE).sum()),
        "secondary": int(np.isin(status, _SECONDARY).sum()),
        "empty": int((status == ArgusStatus.EMPTY).sum()),
    }
    return {"cells": counted(len(status))} | {
        name: f"{counted(count)} ({percent(count / total)})" for name, count in counts.items()
    }


def _by_status(release: Release, sheet: Sheet, status: Integers) -> Numbers:
    """For each status that occurs how many cells have it, and what they add up to."""
    problem, table = release.papers.problem, release.papers.table
    count = None if table is None else table.count
    columns = {
        "contributors": None if count is None else np.nan_to_num(count),
        "value": problem.value,
        "cost": problem.weight,
    }
    known = {name: sheet.of_cells(column) for name, column in columns.items() if column is not None}
    rows = []
    for number in ArgusStatus:
        chosen = status == number
        if chosen.any():
            sums = [value_text(float(column[chosen].sum())) for column in known.values()]
            rows.append((f"{int(number)} {NAMES[number]}", counted(int(chosen.sum())), *sums))
    total = [value_text(float(column.sum())) for column in known.values()]
    rows.append(("all", counted(len(status)), *total))
    return Numbers(("status", "cells", *known), tuple(rows))


def _protection(release: Release) -> str:
    rows = release.summary_rows() | release.papers.summary_rows()
    del rows["guarantee"]
    return paragraph(release.guarantee) + facts(rows)
