"""A priori files (`.hst`) made from a safe file, so that the next table agrees with it.

A safe file is a code-value file with statuses (format 3 with AS+) of a table that is protected
already. What it publishes is to be published in the next table, too (`p`); what it leaves out,
unsafe or secondary, is unsafe there (`u`). Empty cells are left out.

    "","",p
    RegA,"",p

Only cells that both tables have count: those that are totals in all dimensions that the next
table lacks.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from tacit.errors import InputError
from tacit.io.argus.sheet import quoted, write_lines
from tacit.io.argus.statuses import ArgusStatus
from tacit.io.files import read_content

_PUBLISHED = (ArgusStatus.SAFE, ArgusStatus.SAFE_BY_HAND, ArgusStatus.PROTECTED)
_EMPTY = (13, int(ArgusStatus.EMPTY))
_STATUSES = range(1, 15)
TOTAL = '""'
"""What stands for a total in an a priori file."""


def write_apriori(
    safe: str | Path,
    path: str | Path,
    variables: Sequence[int | None] | None = None,
    *,
    totals: Sequence[str] | None = None,
    dimensions: int | None = None,
    separator: str = ",",
) -> Path:
    """Make an a priori file from a safe file.

    Args:
        safe: A code-value file with statuses.
        path: The a priori file; it holds no values, but is written for its owner alone.
        variables: For each dimension of the next table its column in the safe file, counted from
            0; None where the safe file lacks it, which means the total. By default the next
            table has the dimensions of the safe file.
        totals: The code of the total in each column of codes; by default the codes of the first
            cell, which is the grand total in files as tau-ARGUS and tacit write them.
        dimensions: How many columns of codes the safe file has; by default all but two, value
            and status. Files of changed values have one column more.
        separator: What stands between the entries of the a priori file.

    Returns:
        The a priori file.

    Raises:
        InputError: The safe file cannot be used, or columns are named that it does not have.
    """
    rows = list(_rows(Path(safe), dimensions))
    if not rows:
        raise InputError("the file holds no cell", path=safe)
    width = len(rows[0][0])
    top = tuple(rows[0][0]) if totals is None else tuple(totals)
    if len(top) != width:
        raise InputError(
            f"{len(top)} totals are given, but there are {width} columns of codes",
            path=safe,
            key=("totals",),
        )
    chosen: list[int | None] = [*(range(width) if variables is None else variables)]
    wrong = [column for column in chosen if column is not None and not 0 <= column < width]
    used = [column for column in chosen if column is not None]
    if wrong or len(set(used)) < len(used) or not used:
        raise InputError(
            f"variables must name columns of codes, each once, from 0 to {width - 1}",
            path=safe,
            key=("variables",),
        )
    lines = _lines(rows, top, chosen, separator)
    target = Path(path)
    write_lines(target, lines, confidential=True)
    return target


def _lines(
    rows: list[tuple[list[str], int]],
    top: tuple[str, ...],
    chosen: list[int | None],
    separator: str,
) -> Iterator[str]:
    others = [column for column in range(len(top)) if column not in chosen]
    for codes, status in rows:
        if status in _EMPTY or any(codes[column] != top[column] for column in others):
            continue
        entries = [
            TOTAL
            if column is None or codes[column] == top[column]
            else quoted([codes[column]], separator, always=codes[column] != codes[column].strip())[
                0
            ]
            for column in chosen
        ]
        yield separator.join([*entries, "p" if status in _PUBLISHED else "u"])


def _rows(path: Path, dimensions: int | None) -> Iterator[tuple[list[str], int]]:
    """The codes and the status of each cell of a code-value file."""
    reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    width = None
    try:
        for entries in reader:
            if not any(entry.strip() for entry in entries):
                continue
            if width is None:
                width = len(entries)
                codes = width - 2 if dimensions is None else dimensions
                if not 0 < codes < width - 1:
                    raise InputError(
                        f"{width} entries are too few for codes, a value and a status; write the "
                        "safe file in format 3 with AS+",
                        path=path,
                        line=reader.line_num,
                    )
                if not _is_value(entries[codes]) and not _is_value(entries[-1]):
                    # The names of the variables.
                    continue
            if len(entries) != width:
                raise InputError(
                    f"{len(entries)} entries, but the first line has {width}",
                    path=path,
                    line=reader.line_num,
                )
            status = entries[-1].strip()
            if not (status.isascii() and status.isdigit()) or int(status[:3]) not in _STATUSES:
                raise InputError(
                    "the last entry is not a status from 1 to 14; write the safe file in format 3 "
                    "with AS+",
                    path=path,
                    line=reader.line_num,
                )
            if not _is_value(entries[codes]):
                raise InputError(
                    f"entry {codes + 1} is not a value; write the safe file in format 3 with AS+, "
                    "or say how many columns of codes there are (dimensions)",
                    path=path,
                    line=reader.line_num,
                )
            yield entries[:codes], int(status)
    except csv.Error as error:
        raise InputError(f"this is not CSV: {error}", path=path, line=reader.line_num) from None


def _text(path: Path) -> str:
    """The text of a file in UTF-8 or, as Windows writes accents, in code page 1252."""
    content = read_content(path)
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def _is_value(entry: str) -> bool:
    """Whether an entry is a number, or a mark in place of one."""
    text = entry.strip()
    if text.lower() in ("x", "-"):
        return True
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True
