"""Excel workbooks: a sheet as columns of text and numbers, with codes as they are seen."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import InputError, first_few, name_columns
from tacit.microdata.workbook_size import refuse_oversized

_ARCHIVES = (".xlsx", ".xlsm")
SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_MOST_EXACT = 2.0**53
_FORBIDDEN = re.compile(r"[\[\]:*?/\\']")
LONGEST_TITLE = 31
"""So many characters Excel allows for the name of a sheet."""


def is_workbook(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a workbook, by its name."""
    return os.fspath(path).lower().endswith(SUFFIXES)


def sheet_title(name: str) -> str:
    """What a sheet is called that is to have some name, as far as Excel allows it.

    >>> sheet_title("turnover: industry/region")
    'turnover_ industry_region'
    """
    return _FORBIDDEN.sub("_", name)[:LONGEST_TITLE].strip() or "table"


def require_calamine() -> None:
    """Refuse to read workbooks where the library for them is not installed."""
    try:
        import python_calamine  # noqa: F401
    except ImportError:
        raise InputError(
            "reading Excel files needs python-calamine: pip install 'tacit[excel]'; or save the "
            "sheet as CSV"
        ) from None


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook.

    Attributes:
        path: The workbook.
        name: The sheet.
        others: The other sheets that are not empty.
        header_row: The row with the names of the columns, counted from 1.
        columns: The columns by name, None where a cell is empty. Numbers and truth values are as
            they are; dates are text such as 2024-01-31.
        rows: The row of each entry, counted from 1.
    """

    path: Path
    name: str
    others: tuple[str, ...]
    header_row: int
    columns: dict[str, list[Any]]
    rows: tuple[int, ...]


def read_sheet(
    path: str | os.PathLike[str],
    sheet: str | int | None = None,
    needed: Collection[str] = (),
) -> Sheet:
    """Read a sheet: its first row that is not empty names the columns.

    Args:
        path: The workbook.
        sheet: The name of the sheet, or its place counted from 1. Without it the only sheet that
            is not empty, or the only one that has all columns that are needed.
        needed: The columns that are needed.

    Raises:
        InputError: The workbook cannot be read, or nothing tells which sheet is meant.
    """
    path = Path(path)
    book = _book(path)
    names = list(book.sheet_names)
    if sheet is not None:
        return _sheet(book, path, _chosen(names, sheet, path), ())
    found: list[Sheet] = []
    for name in names:
        try:
            found.append(_sheet(book, path, name, ()))
        except InputError:
            # What is wrong with one of several sheets matters only if it is the one that is meant.
            if len(names) == 1:
                raise
    found = [each for each in found if each.columns]
    if not found:
        raise InputError("all sheets are empty", path=path)
    fitting = [each for each in found if all(name in each.columns for name in needed)]
    if len(found) == 1 or len(fitting) == 1:
        (chosen,) = found if len(found) == 1 else fitting
        others = tuple(each.name for each in found if each is not chosen)
        return Sheet(path, chosen.name, others, chosen.header_row, chosen.columns, chosen.rows)
    listed = first_few([each.name for each in found])
    if not fitting:
        lacking = next((n for n in needed if all(n not in each.columns for each in found)), "")
        what = f"no sheet has a column {lacking}" if lacking else "no sheet has all columns"
        raise InputError(
            f"{what} ({listed}); the first row of a sheet names its columns, and in "
            f"{found[0].name} {name_columns(found[0].columns)}",
            path=path,
        )
    raise InputError(
        f'there are several sheets ({listed}); name one, as in sheet = "{names[0]}"',
        path=path,
        key=("sheet",),
    )


def sheet_rows(path: str | os.PathLike[str]) -> list[tuple[str, list[tuple[int, list[Any]]]]]:
    """All sheets that are not empty: names, and rows that are not empty with their numbers."""
    path = Path(path)
    book = _book(path)
    found = [(name, _filled(book, name)) for name in book.sheet_names]
    return [(name, rows) for name, rows in found if rows]


def sheets_of(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The sheets of a workbook that are not empty, in their order."""
    book = _book(Path(path))
    return tuple(
        name for name in book.sheet_names if any(map(any, book.get_sheet_by_name(name).to_python()))
    )


def _book(path: Path) -> Any:
    require_calamine()
    import python_calamine as calamine

    if path.is_file() and path.suffix.lower() in _ARCHIVES:
        refuse_oversized(path)
    try:
        return calamine.CalamineWorkbook.from_path(str(path))
    except FileNotFoundError:
        raise InputError("the file cannot be read: no such file", path=path) from None
    except calamine.PasswordError:
        raise InputError("this workbook has a password; save it without", path=path) from None
    except (calamine.CalamineError, OSError, ValueError):
        why = "this is a directory" if path.is_dir() else "this is not an Excel workbook"
        raise InputError(f"{why}, or it is damaged", path=path) from None


def _filled(book: Any, name: str) -> list[tuple[int, list[Any]]]:
    """The rows of a sheet that are not empty, with their numbers."""
    rows = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    read = [(number, [_entry(cell) for cell in row]) for number, row in enumerate(rows, start=1)]
    return [(number, row) for number, row in read if any(cell is not None for cell in row)]


def _chosen(names: list[str], sheet: str | int, path: Path) -> str:
    if isinstance(sheet, int) and not isinstance(sheet, bool):
        if 1 <= sheet <= len(names):
            return names[sheet - 1]
    elif sheet in names:
        return str(sheet)
    raise InputError(
        f"there is no sheet {sheet!r}; the sheets are {first_few(names, limit=20)}",
        path=path,
        key=("sheet",),
    )


def _sheet(book: Any, path: Path, name: str, others: tuple[str, ...]) -> Sheet:
    filled = _filled(book, name)
    if not filled:
        return Sheet(path, name, others, 1, {}, ())
    header_row, header = filled[0]
    columns: dict[str, list[Any]] = {}
    for place, title in enumerate(header):
        entries = [row[place] for _, row in filled[1:]]
        if title is None:
            if any(entry is not None for entry in entries):
                raise InputError(
                    f"sheet {name}: column {column_letters(place)} has entries but no name; the "
                    "first row that is not empty names the columns",
                    path=path,
                    line=header_row,
                )
            continue
        text = str(title).strip()
        if text in columns:
            raise InputError(
                f"sheet {name}: column {text!r} is there more than once", path=path, line=header_row
            )
        columns[text] = entries
    return Sheet(path, name, others, header_row, columns, tuple(number for number, _ in filled[1:]))


def _entry(cell: Any) -> Any:
    """A cell: whole numbers without decimals, dates as text, None where it is empty."""
    if isinstance(cell, str):
        return cell if cell.strip() else None
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _MOST_EXACT:
        # Excel knows no whole numbers.
        return int(cell)
    if isinstance(cell, datetime.datetime):
        midnight = cell.time() == datetime.time()
        return cell.date().isoformat() if midnight else cell.isoformat(sep=" ")
    if isinstance(cell, datetime.date | datetime.time | datetime.timedelta):
        return str(cell)
    return cell


def column_letters(place: int) -> str:
    """What Excel calls a column, counted from 0.

    >>> column_letters(0), column_letters(27)
    ('A', 'AB')
    """
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
