"""Tables and texts as HTML that needs nothing else, readable by screen readers and in print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from tacit.release.flags import PublishedStatus
from tacit.release.labels import Labels
from tacit.release.marks import DEFAULT_MARK, Marks, legend

if TYPE_CHECKING:
    from tacit.release.pivot import Pivot

THIN_SPACE = "\u202f"
"""Stands between thousands, and does not break lines."""
DEEPEST = 9
"""Codes that lie deeper are not moved any further to the right."""

STYLE = "\n".join(
    [
        ".tacit table{border-collapse:collapse;font-variant-numeric:tabular-nums}",
        ".tacit caption{text-align:left;padding:.4em 0;font-weight:bold}",
        ".tacit th,.tacit td{padding:.15em .6em;border-bottom:1px solid #ddd;color:#111}",
        ".tacit th{text-align:left;font-weight:normal}",
        ".tacit thead th{border-bottom:2px solid #444;vertical-align:bottom}",
        ".tacit td,.tacit .c{text-align:right;white-space:nowrap}",
        ".tacit .t,.tacit .g{text-align:left}",
        ".tacit .l0{font-weight:bold}",
        *(
            f".tacit th.l{level}{{padding-left:{0.6 + level:g}em}}"
            for level in range(1, DEEPEST + 1)
        ),
        ".tacit .h{background:#eee}",
        "@media print{.tacit thead{display:table-header-group}.tacit tr{break-inside:avoid}}",
    ]
)


def in_box(inside: str) -> str:
    """Something with the style that it needs, for a notebook or a page of somebody else."""
    return f'<div class="tacit"><style>{STYLE}</style>{inside}</div>'


def pivot_table(pivot: Pivot, marks: Marks = DEFAULT_MARK, labels: Labels = "beside") -> str:
    """A pivot with its style and its legend."""
    return in_box(bare_pivot(pivot, marks, labels) + legend_list(legend(pivot.published, marks)))


def bare_pivot(pivot: Pivot, marks: Marks, labels: Labels = "beside") -> str:
    """A pivot as a table element: headers name what they are headers of."""
    above_columns = zip(pivot.column_texts(labels), pivot.column_levels.tolist(), strict=True)
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in pivot.row_names)
    columns = "".join(
        f'<th scope="col" class="c{" l0" if level == 0 else ""}">{escape(code)}</th>'
        for code, level in above_columns
    )
    above = ""
    if pivot.column_name is not None:
        above = (
            f'<tr><td colspan="{len(pivot.row_names)}"></td><th scope="colgroup" class="g" '
            f'colspan="{len(pivot.columns)}">{escape(pivot.column_name)}</th></tr>'
        )
    hidden = (*(pivot.published.status != PublishedStatus.VALUE.value).tolist(), False)
    texts = pivot.texts(marks, grouping=THIN_SPACE, same_decimals=True)
    lines = []
    for codes, levels, cells, shown in zip(
        pivot.row_texts(labels),
        pivot.row_levels.tolist(),
        pivot.cells.tolist(),
        texts,
        strict=True,
    ):
        line = "".join(
            f'<th scope="row" class="l{min(level, DEEPEST)}">{escape(code)}</th>'
            for code, level in zip(codes, levels, strict=True)
        )
        line += "".join(
            f'<td class="h">{escape(text)}</td>' if hidden[cell] else f"<td>{escape(text)}</td>"
            for cell, text in zip(cells, shown, strict=True)
        )
        lines.append(f"<tr>{line}</tr>")
    return _table(pivot.title, f"{above}<tr>{heads}{columns}</tr>", lines)


def list_table(columns: Mapping[str, Sequence[str]], numeric: Iterable[str], caption: str) -> str:
    """Columns as a table element, one line per cell."""
    right = set(numeric)
    heads = "".join(
        f'<th scope="col"{" class=c" if name in right else ""}>{escape(name)}</th>'
        for name in columns
    )
    opening = ["<td>" if name in right else '<td class="t">' for name in columns]
    lines = [
        "<tr>"
        + "".join(f"{td}{escape(text)}</td>" for td, text in zip(opening, line, strict=True))
        + "</tr>"
        for line in zip(*columns.values(), strict=True)
    ]
    return _table(caption, f"<tr>{heads}</tr>", lines)


def rows_table(rows: Mapping[str, str], caption: str) -> str:
    """Names and texts as a table element."""
    lines = [
        f'<tr><th scope="row" class="l0">{escape(name)}</th><td class="t" '
        f'style="white-space:normal">{escape(text)}</td></tr>'
        for name, text in rows.items()
    ]
    return _table(caption, "", lines)


def legend_list(meanings: Sequence[tuple[str, str]]) -> str:
    """Marks or flags with what they mean."""
    if not meanings:
        return ""
    items = "".join(f"<li><b>{escape(mark)}</b>: {escape(told)}</li>" for mark, told in meanings)
    return f"<ul>{items}</ul>"


def _table(caption: str, head: str, lines: Sequence[str]) -> str:
    above = f"<thead>{head}</thead>" if head else ""
    body = "\n".join(lines)
    return f"<table><caption>{escape(caption)}</caption>{above}<tbody>\n{body}\n</tbody></table>"
