"""The report on a release: a version for readers, and an internal one."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np

from tacit.release import Published, PublishedStatus, Release
from tacit.report.arrangement import Arrangement, arrange
from tacit.report.bounds import bounds_over_time, has_bounds
from tacit.report.costs import has_costs, protection_costs
from tacit.report.heat_map import heat_map
from tacit.report.levels import loss_by_level, perturbation_by_level
from tacit.report.page import Page, PageSection, facts, figure, paragraph
from tacit.report.picture import REPORT_SUFFIX, WARNING, Picture, check_name, joined
from tacit.report.texts import cell_texts, counted, percent
from tacit.report.widths import has_widths, interval_widths

MOST_CELLS = 6_000
"""A table with more places than this is left to the files that it is published in."""
UPRIGHT_COLUMNS = 12
"""A table with more columns than this is printed in landscape."""
MOST_COLUMNS = 30
"""A table with more columns than this is transposed if that makes it narrower, to fit on paper."""


def write_report(
    release: Release,
    path: str | Path,
    *,
    confidential: bool = False,
    title: str | None = None,
    table: int | None = None,
) -> Path:
    """Write the report on a release: one self-contained HTML file.

    Args:
        release: The release.
        path: The file, ending in .html. The name of a confidential one says so.
        confidential: Whether to write the working version, with sensitive cells, objective,
            bounds and costs. By default the version for readers is written, from what they may
            see alone.
        title: The title; by default made from the dimensions.
        table: Which one of linked tables to show, counted from 0; by default each of them, one
            after the other.

    Returns:
        The path.

    Raises:
        InputError: The name does not fit, or the file cannot be written.
    """
    target = Path(path)
    check_name(target, REPORT_SUFFIX, confidential=confidential)
    _page(release, confidential, title, table).write(target)
    return target


def html_report(
    release: Release,
    *,
    confidential: bool = False,
    title: str | None = None,
    table: int | None = None,
) -> str:
    """The report as text, see `write_report`."""
    return _page(release, confidential, title, table).html()


def _page(release: Release, confidential: bool, title: str | None, table: int | None) -> Page:
    linked = len(release.published.grids) > 1
    tables: list[int | None] = [None]
    if linked:
        tables = [*range(len(release.published.grids))] if table is None else [table]
    changes = release.published.altered
    sections = [
        PageSection(
            "protection", "What was done and what holds", _protection(release, confidential)
        )
    ]
    for each in tables:
        sections += _of_table(release, confidential, each)
    if changes and confidential:
        sections.append(_pictured("deviations", perturbation_by_level(release)))
    if has_widths(release, confidential=confidential):
        sections.append(_pictured("widths", interval_widths(release, confidential=confidential)))
    if confidential and has_bounds(release):
        sections.append(_pictured("bounds", bounds_over_time(release)))
    if confidential and has_costs(release):
        sections.append(_pictured("costs", protection_costs(release)))
    for each in tables:
        sections += _as_readers_see_it(release.published, each)
    shown = release.published if table is None else release.published.of_table(table)
    return Page(
        kind="Working paper" if confidential else "Report on disclosure control",
        title=title or report_title(shown),
        lead=_lead(shown, release.published),
        figures=_figures(release, shown, confidential),
        sections=sections,
        warning=WARNING if confidential else "",
    )


def _of_table(release: Release, confidential: bool, table: int | None) -> list[PageSection]:
    """The pictures of one of linked tables, or of the only one."""
    name = "" if table is None else release.published.grids[table].title
    end = "" if table is None else f"-{table}"
    found = [
        _pictured(f"cells{end}", heat_map(release, confidential=confidential, table=table), name)
    ]
    if not release.published.altered:
        levels = loss_by_level(release, confidential=confidential, table=table)
        found.append(_pictured(f"levels{end}", levels, name))
    return found


def _as_readers_see_it(published: Published, table: int | None) -> list[PageSection]:
    """One of linked tables, or the only one, if it is not too large for a page."""
    name = end = ""
    if table is not None:
        name, end = f": {published.grids[table].title}", f"-{table}"
        published = published.of_table(table)
    found = arrange(published, MOST_COLUMNS)
    if not published.dimensions or len(found.rows) * len(found.columns) > MOST_CELLS:
        return []
    return [PageSection(f"table{end}", f"The published table{name}", _table(published, found))]


def _pictured(anchor: str, picture: Picture, table: str = "") -> PageSection:
    title = f"{table}: {picture.title}" if table else picture.title
    return PageSection(f"part-{anchor}", title, figure(picture))


def report_title(published: Published, value: str = "table") -> str:
    """What a report is about, from what is tabulated and the dimensions."""
    if len(published.grids) > 1:
        tables = [grid.title.replace("_", " ") for grid in published.grids]
        return f"{len(tables)} linked tables: {joined(tables)}"
    if published.grids and published.grids[0].variable:
        value = published.grids[0].variable
    names = [name.replace("_", " ") for name in published.dimensions]
    if not names:
        return f"A table of {counted(published.cell_count)} cells"
    name = value.replace("_", " ")
    return f"{name[:1].upper()}{name[1:]} by {joined(names)}"


def _lead(published: Published, whole: Published) -> str:
    how = {
        "suppress": "Cells that would disclose confidential figures are left out, and so are "
        "others from which they could be computed.",
        "intervals": "Cells that would disclose confidential figures are published as intervals, "
        "and so are others from which they could be computed.",
        "combined": "Cells that would disclose confidential figures are left out or published as "
        "intervals.",
        "adjust": "Values are changed, as little as possible, to protect confidential figures.",
        "round": "Values are rounded to protect confidential figures; all totals still add up.",
    }
    if published.at_random:
        how["round"] = (
            "Values are rounded at random, each separately, to protect confidential figures. "
            "Totals are rounded like all others: parts need not add up to them."
        )
    cells = f"{counted(published.cell_count)} cells, made safe to publish."
    if published is not whole:
        cells += f" It was protected together with {len(whole.grids) - 1} tables that share cells."
    return f"{cells} {how.get(published.method, '')}".strip()


def _figures(release: Release, published: Published, confidential: bool) -> dict[str, str]:
    rows = {"cells": counted(published.cell_count)}
    for name, how in (
        ("published with a value", PublishedStatus.VALUE),
        ("published as an interval", PublishedStatus.INTERVAL),
        ("suppressed", PublishedStatus.SUPPRESSED),
    ):
        count = int(np.count_nonzero(published.status == how.value))
        if count or how is PublishedStatus.VALUE:
            rows[name] = f"{counted(count)} ({percent(count / max(published.cell_count, 1))})"
    if confidential:
        rows["sensitive"] = counted(len(release.papers.problem.sensitive))
        report = release.papers.outcome.report
        if report.gap is not None:
            rows[f"gap to the {report.bound_name}"] = percent(max(report.gap, 0.0))
    return rows


def _protection(release: Release, confidential: bool) -> str:
    rows = release.summary_rows()
    if confidential:
        # The working papers say more about hidden cells than readers are told.
        rows |= release.papers.summary_rows()
    del rows["guarantee"]
    return paragraph(release.guarantee) + facts(rows)


def _table(published: Published, arrangement: Arrangement) -> str:
    """The table as readers see it: totals first, the hierarchy indented."""
    rows, columns = arrangement.rows, arrangement.columns
    texts = cell_texts(published)
    places: list[list[str]] = [["<td></td>"] * len(columns) for _ in range(len(rows))]
    for row, column, text in zip(
        arrangement.row.tolist(), arrangement.column.tolist(), texts, strict=True
    ):
        shown = f"<td>{text}</td>" if text else '<td class="mark" aria-label="suppressed">×</td>'
        places[row][column] = shown
    head = "".join(f'<th scope="col">{escape(label)}</th>' for label in columns.labels)
    body = "".join(
        f"<tr{_top(level)}>{_row_heading(label, level)}{''.join(cells)}</tr>"
        for label, level, cells in zip(rows.labels, rows.levels.tolist(), places, strict=True)
    )
    wide = " many" if len(columns) > UPRIGHT_COLUMNS else ""
    names = " by ".join(name for name in (rows.name, columns.name) if name)
    return (
        f'<div class="scroll{wide}" tabindex="0" role="region" aria-label="The published table">'
        f'<table class="cells"><caption>{escape(names)}. ×: not published.</caption>'
        f'<thead><tr><th scope="col" class="words">{escape(rows.name)}</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _top(level: int) -> str:
    return ' class="top"' if level == 0 else ""


def _row_heading(label: str, level: int) -> str:
    indent = f' style="padding-left:{0.9 * level:g}em"' if level else ""
    return f'<th scope="row"{_top(level)}{indent}>{escape(label)}</th>'
