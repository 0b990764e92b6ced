"""Finished tables of tau-ARGUS (`.tab`): one cell per line, in the columns of the metadata."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tacit.arrays import Floats
from tacit.errors import InputError
from tacit.io.argus.metadata import Metadata, Variable
from tacit.io.argus.paths import read_argus_text

NOTHING = ("", "-", ".")
"""What stands for no number."""


@dataclass(frozen=True, eq=False)
class TabFile:
    """The columns of a finished table.

    Attributes:
        path: The file.
        lines: The line of each row.
        texts: The entries of columns that hold codes and statuses, without blanks around them.
        numbers: Those of columns that hold numbers, NaN where there is none.
    """

    path: Path
    lines: tuple[int, ...]
    texts: dict[str, list[str]]
    numbers: dict[str, Floats]


def read_tab(path: str | Path, metadata: Metadata) -> TabFile:
    """Read a finished table.

    Args:
        path: The file.
        metadata: What its columns are.

    Raises:
        InputError: A line with another number of entries, or something that is no number.
    """
    path = Path(path)
    variables = list(metadata.variables.values())
    separator = metadata.separator or ";"
    rows: list[list[str]] = []
    lines: list[int] = []
    for line, text in enumerate(read_argus_text(path).split("\n"), start=1):
        if not text.strip():
            continue
        row = _entries(text, separator)
        # A separator at the end of lines is common.
        while len(row) > len(variables) and not row[-1].strip():
            row.pop()
        if len(row) != len(variables):
            raise InputError(
                f"there are {len(row)} entries, but the metadata describe {len(variables)} "
                f"variables ({metadata.path.name})",
                path=path,
                line=line,
            )
        rows.append([entry.strip() for entry in row])
        lines.append(line)
    if not rows:
        raise InputError("the table has no cells", path=path)
    columns = list(zip(*rows, strict=True))
    texts: dict[str, list[str]] = {}
    numbers: dict[str, Floats] = {}
    for variable, column in zip(variables, columns, strict=True):
        if holds_numbers(variable):
            numbers[variable.name] = _numbers(column, variable, path, lines)
        else:
            texts[variable.name] = list(column)
    return TabFile(path, tuple(lines), texts, numbers)


def holds_numbers(variable: Variable) -> bool:
    """Whether a column of a finished table holds numbers."""
    return not variable.is_status and (
        variable.is_numeric
        or variable.is_frequency
        or variable.is_top
        or variable.is_shadow
        or variable.is_cost
        or variable.is_lower_level
        or variable.is_upper_level
    )


def _entries(text: str, separator: str) -> list[str]:
    if '"' not in text:
        return text.split(separator)
    try:
        # A blank may stand before a quotation mark.
        (row,) = csv.reader([text], delimiter=separator, skipinitialspace=separator != " ")
    except (csv.Error, ValueError):
        return text.split(separator)
    return row


def _numbers(column: tuple[str, ...], variable: Variable, path: Path, lines: list[int]) -> Floats:
    found = np.empty(len(column))
    for place, text in enumerate(column):
        try:
            found[place] = number(text)
        except ValueError:
            # Not the text itself, which may be confidential.
            raise InputError(
                f"variable {variable.name} is not a number; write it with a decimal point or comma",
                path=path,
                line=lines[place],
            ) from None
    return found


def number(text: str) -> float:
    """A number with a decimal point or comma; NaN where nothing stands.

    >>> number("12,50"), number("1.5"), number("-")
    (12.5, 1.5, nan)
    """
    text = text.strip()
    if text in NOTHING:
        return math.nan
    plain = text.replace(",", ".") if "." not in text else text
    if "_" in plain:
        raise ValueError("digits in groups")
    found = float(plain)
    if not math.isfinite(found):
        raise ValueError("not finite")
    return found
