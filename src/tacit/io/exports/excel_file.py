"""Excel: a sheet for each table and one with the legend; no text is ever a formula."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tacit.errors import InputError
from tacit.io.exports.formulas import is_formula
from tacit.io.exports.layouts import CellList, Layout, cell_lists, chosen_layout
from tacit.io.files import replacing
from tacit.microdata.workbooks import LONGEST_TITLE, sheet_title
from tacit.release.flags import Flags, PublishedStatus, flag_columns, flag_meanings
from tacit.release.labels import Labels
from tacit.release.marks import DEFAULT_MARK, Marks, decimals, legend
from tacit.release.pivot import Pivot
from tacit.release.published import Published
from tacit.version import __version__

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
"""What Excel can hold in a sheet."""
MOST_INDENT = 15
_WIDEST = 40
_GREY = "#EEEEEE"


def write_excel(
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
    """Write an Excel workbook; see `Published.to_excel`.

    Raises:
        InputError: xlsxwriter is not installed, a sheet cannot hold the table, or the file cannot
            be written.
    """
    workbook = _Workbook(path, published)
    if chosen_layout(layout, flags) == "pivot":
        for number in range(max(1, len(published.grids))):
            name = published.grids[number].name if published.grids else ""
            workbook.add_pivot(published.pivot(table=number), marks, title, labels, name)
        meanings = legend(published, marks)
    else:
        flags = flags or "status"
        for cells in cell_lists(published, value, flags, marks, labels):
            workbook.add_list(cells, title)
        meanings = [*legend(published, marks), *flag_meanings(flag_columns(published, flags))]
    workbook.add_legend(meanings)
    workbook.write()


def write_pivot_excel(
    pivot: Pivot, path: str | Path, *, marks: Marks = DEFAULT_MARK, labels: Labels = "beside"
) -> None:
    """Write a pivot as an Excel workbook; see `Pivot.to_excel`."""
    workbook = _Workbook(path, pivot.published)
    workbook.add_pivot(pivot, marks, pivot.title, labels)
    workbook.add_legend(legend(pivot.published, marks))
    workbook.write()


def require_xlsxwriter(path: str | Path) -> ModuleType:
    """The library that writes workbooks, which is not installed with tacit itself.

    Raises:
        InputError: It is missing.
    """
    try:
        import xlsxwriter
    except ImportError:
        raise InputError(
            f"{Path(path).name}: files published for Excel need xlsxwriter, which is not "
            "installed; run pip install 'tacit[excel]', or choose another format"
        ) from None
    found: ModuleType = xlsxwriter
    return found


class _Workbook:
    """A workbook that writes text as text and numbers as numbers."""

    def __init__(self, path: str | Path, published: Published):
        self._path = path
        self._content = io.BytesIO()
        self._book = require_xlsxwriter(path).Workbook(
            self._content,
            {
                "in_memory": True,
                "strings_to_formulas": False,
                "strings_to_urls": False,
                "strings_to_numbers": False,
            },
        )
        # Equal publications give equal files, whenever they are written.
        self._book.set_properties(
            {"comments": f"made by tacit {__version__}", "created": datetime(2000, 1, 1)}
        )
        self._formats: dict[tuple[tuple[str, Any], ...], Any] = {}
        self._names: set[str] = {"legend"}
        self._published = published
        digits = decimals(published)
        self._number = (
            "General" if digits is None else "#,##0" + (f".{'0' * digits}" if digits else "")
        )

    def _format(self, **properties: Any) -> Any:
        key = tuple(sorted(properties.items()))
        if key not in self._formats:
            self._formats[key] = self._book.add_format(properties)
        return self._formats[key]

    def _sheet(self, name: str) -> Any:
        clean = sheet_title(name)
        unique, count = clean, 1
        while unique.lower() in self._names:
            count += 1
            ending = f" {count}"
            unique = clean[: LONGEST_TITLE - len(ending)] + ending
        self._names.add(unique.lower())
        return self._book.add_worksheet(unique)

    def _fits(self, rows: int, columns: int) -> None:
        if rows > MOST_ROWS or columns > MOST_COLUMNS:
            raise InputError(
                f"{rows} rows and {columns} columns are more than an Excel sheet holds; write "
                "CSV or Parquet, or a part with pivot",
                path=self._path,
            )

    def _text(self, sheet: Any, row: int, column: int, text: str, **properties: Any) -> None:
        if is_formula(text):
            # Text stays text also when somebody edits the cell.
            properties["quote_prefix"] = True
        if sheet.write_string(row, column, text, self._format(**properties)) != 0:
            raise InputError("a code is longer than an Excel cell holds", path=self._path)

    def _number_cell(
        self, sheet: Any, row: int, column: int, number: float, **properties: Any
    ) -> None:
        if np.isfinite(number):
            properties = {"num_format": self._number, **properties}
            sheet.write_number(row, column, number, self._format(**properties))
        elif not np.isnan(number):
            self._text(sheet, row, column, f"{number:g}", align="right")

    def add_pivot(
        self, pivot: Pivot, marks: Marks, title: str | None, labels: Labels, name: str = ""
    ) -> None:
        """A sheet with codes to the left and above."""
        row_texts = pivot.row_texts(labels)
        heads = len(pivot.row_names)
        top = 0 if title is None else 2
        self._fits(top + 2 + len(pivot.rows), heads + len(pivot.columns))
        sheet = self._sheet(name or " x ".join([*pivot.row_names, pivot.column_name or "value"]))
        if title is not None:
            self._text(sheet, 0, 0, title, bold=True)
        if pivot.column_name is not None:
            self._text(sheet, top, heads, pivot.column_name)
        for place, name in enumerate(pivot.row_names):
            self._text(sheet, top + 1, place, name, bottom=2)
        for place, (code, level) in enumerate(
            zip(pivot.column_texts(labels), pivot.column_levels.tolist(), strict=True), heads
        ):
            self._text(sheet, top + 1, place, code, align="right", bottom=2, bold=level == 0)
        first = top + 2
        for row, (codes, levels) in enumerate(
            zip(row_texts, pivot.row_levels.tolist(), strict=True), first
        ):
            for place, (code, level) in enumerate(zip(codes, levels, strict=True)):
                indent = {"indent": min(level, MOST_INDENT)} if level else {"bold": True}
                self._text(sheet, row, place, code, **indent)
        texts = pivot.texts(marks, grouping="\u202f", same_decimals=True)
        values = self._published.value.tolist()
        hidden = (self._published.status != PublishedStatus.VALUE.value).tolist()
        for row, (cells, shown) in enumerate(zip(pivot.cells.tolist(), texts, strict=True), first):
            for column, (cell, text) in enumerate(zip(cells, shown, strict=True), heads):
                if cell < 0:
                    continue
                if hidden[cell]:
                    self._text(sheet, row, column, text, align="right", bg_color=_GREY)
                else:
                    self._number_cell(sheet, row, column, values[cell])
        sheet.freeze_panes(first, heads)
        for place, name in enumerate(pivot.row_names):
            longest = max(map(len, [name, *(codes[place] for codes in row_texts)]))
            sheet.set_column(place, place, min(longest + 4, _WIDEST))

    def add_list(self, cells: CellList, title: str | None) -> None:
        """A sheet with a row for each cell."""
        top = 0 if title is None else 2
        self._fits(top + 1 + len(cells.marks), len(cells.columns))
        sheet = self._sheet(cells.name)
        if title is not None:
            self._text(sheet, 0, 0, title, bold=True)
        for place, (name, column) in enumerate(cells.columns.items()):
            numeric = column.dtype.kind == "f"
            align = "right" if numeric else "left"
            self._text(sheet, top, place, name, bold=True, bottom=2, align=align)
            is_end = name != cells.value_name
            for row, entry in enumerate(column.tolist(), top + 1):
                if numeric:
                    # Ends of intervals may have more decimals than values.
                    shown = {"num_format": "General"} if is_end else {}
                    self._number_cell(sheet, row, place, entry, **shown)
                elif entry:
                    self._text(sheet, row, place, entry)
            if name == cells.value_name:
                for row in np.flatnonzero(cells.marks != "").tolist():
                    mark = str(cells.marks[row])
                    self._text(sheet, top + 1 + row, place, mark, align="right", bg_color=_GREY)
        sheet.freeze_panes(top + 1, 0)

    def add_legend(self, meanings: Sequence[tuple[str, str]]) -> None:
        """The last sheet: what marks and flags mean."""
        self._names.discard("legend")
        sheet = self._sheet("Legend")
        for row, (mark, told) in enumerate(meanings):
            self._text(sheet, row, 0, mark, bold=True)
            self._text(sheet, row, 1, told)
        self._text(sheet, len(meanings) + 1, 0, f"made by tacit {__version__}")
        sheet.set_column(1, 1, 80)

    def write(self) -> None:
        """Write the file, complete or not at all."""
        with replacing(self._path, confidential=False) as stream:
            self._book.close()
            stream.write(self._content.getvalue())
