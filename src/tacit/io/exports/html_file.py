"""HTML: one self-contained page, with a table for each table and the legend."""

from __future__ import annotations

from html import escape
from pathlib import Path

from tacit.io.exports.layouts import Layout, cell_lists, chosen_layout
from tacit.io.files import replacing
from tacit.release.flags import Flags, flag_columns, flag_meanings
from tacit.release.labels import Labels
from tacit.release.marks import DEFAULT_MARK, Marks, Rounding, decimals, legend, number_texts
from tacit.release.pivot import table_names
from tacit.release.published import Published
from tacit.release.rendering import STYLE, THIN_SPACE, bare_pivot, legend_list, list_table
from tacit.version import __version__

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="tacit {version}">
<title>{title}</title>
<style>
body{{font-family:system-ui,sans-serif;margin:2em;color:#111;background:#fff}}
.scroll{{overflow-x:auto;margin-bottom:2em}}
{style}
</style>
</head>
<body>
<main class="tacit">
<h1>{title}</h1>
{tables}
{legend}
</main>
</body>
</html>
"""


def write_html(
    published: Published,
    path: str | Path,
    *,
    value: str = "value",
    marks: Marks = DEFAULT_MARK,
    flags: Flags | None = None,
    layout: Layout | None = None,
    title: str | None = None,
    labels: Labels = "beside",
) -> None:
    """Write a web page; see `Published.to_html`.

    Raises:
        InputError: The file cannot be written.
    """
    meanings = legend(published, marks)
    if chosen_layout(layout, flags) == "pivot":
        pivots = (published.pivot(table=n) for n in range(max(1, len(published.grids))))
        tables = [bare_pivot(pivot, marks, labels) for pivot in pivots]
        if len(tables) > 1:
            heads = table_names(published)
            tables = [f"<h2>{escape(h)}</h2>{t}" for h, t in zip(heads, tables, strict=True)]
    else:
        flags = flags or "status"
        tables = _lists(published, value, flags, marks, labels)
        meanings += flag_meanings(flag_columns(published, flags))
    heading = " by ".join(published.codes) if title is None else title
    page = _PAGE.format(
        version=__version__,
        title=escape(heading),
        style=STYLE,
        tables="\n".join(f'<div class="scroll">{table}</div>' for table in tables),
        legend=legend_list(meanings),
    )
    with replacing(path, confidential=False) as stream:
        stream.write(page.encode())


def _lists(
    published: Published, value: str, flags: Flags, marks: Marks, labels: Labels
) -> list[str]:
    digits = decimals(published)
    outwards: dict[str, Rounding] = {"lower": "down", "upper": "up"}
    tables = []
    for cells in cell_lists(published, value, flags, marks, labels):
        texts: dict[str, list[str]] = {}
        numeric = [name for name, column in cells.columns.items() if column.dtype.kind == "f"]
        for name, column in cells.columns.items():
            texts[name] = column.tolist()
            if name in numeric:
                to = outwards.get(name.removeprefix("cell_"), "nearest")
                shown = number_texts(column, digits, THIN_SPACE, to)
                texts[name] = ["" if text == "nan" else text for text in shown]
            if name == cells.value_name:
                marked = zip(texts[name], cells.marks.tolist(), strict=True)
                texts[name] = [mark or text for text, mark in marked]
        tables.append(list_table(texts, numeric, cells.name))
    return tables
