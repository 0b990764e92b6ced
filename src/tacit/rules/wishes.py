"""What a person wishes of cells, in words: `industry=C10, region=*: publish`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.errors import TableError, nearest
from tacit.table import CellStatus, Table
from tacit.table.selection import read_selection

SUPPRESS = "suppress"
"""A cell that is never published: sensitive, with the least levels, so that none computes it."""
LENIENT = "publish unless sensitive"
"""Cells of which those that no rule finds sensitive must be published."""

STATUSES = (
    CellStatus.SENSITIVE.value,
    CellStatus.SAFE.value,
    CellStatus.PUBLISH.value,
    LENIENT,
    SUPPRESS,
)
"""What can be wished of a cell, besides numbers."""

SYNONYMS: Mapping[str, str] = {
    "must be published": CellStatus.PUBLISH.value,
    "must publish": CellStatus.PUBLISH.value,
    "must stay": CellStatus.PUBLISH.value,
    "never suppress": CellStatus.PUBLISH.value,
    "never suppressed": CellStatus.PUBLISH.value,
    "publish if safe": LENIENT,
    "must be suppressed": SUPPRESS,
    "never publish": SUPPRESS,
    "never published": SUPPRESS,
    CellStatus.SECONDARY.value: SUPPRESS,
    # Published elsewhere: whoever attacks knows it, so it cannot protect others.
    "known": CellStatus.PUBLISH.value,
    "already known": CellStatus.PUBLISH.value,
}
"""Other words for the same."""

NUMBERS = ("weight", "factor", "lower", "upper", "within")
"""Columns with numbers: what the cell costs, a factor for that, bounds, and bounds in percent."""

_VARIABLE = re.compile(r"\s*variable\s*=\s*(.*?)\s*")
_NUMBER = r"\s+([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)"
_NUMBERS = {
    "weight": re.compile(f"weight{_NUMBER}"),
    "factor": re.compile(f"factor{_NUMBER}"),
    "lower": re.compile(f"at least{_NUMBER}"),
    "upper": re.compile(f"at most{_NUMBER}"),
    "within": re.compile(rf"within{_NUMBER}\s*%"),
}
_EXAMPLES = ("weight 10", "factor 0.5", "at least 0", "at most 100", "within 20%")


def status_word(text: str) -> str | None:
    """The status that a text stands for, None where it stands for none.

    >>> status_word("Must stay"), status_word("hidden")
    ('publish', None)
    """
    word = " ".join(text.lower().split())
    word = SYNONYMS.get(word, word)
    return word if word in STATUSES else None


def wish_of_variable(text: str, variable: str, known: Sequence[str] | None = None) -> str:
    """A wish as one for a table of one variable: nothing if it names another one.

    Args:
        text: The wish; `variable=exports` among its cells names a variable.
        variable: The variable; nothing where a table has one only.
        known: The variables that there are, to refuse others.

    >>> wish_of_variable("variable=exports, region=N: publish", "exports")
    'region=N: publish'
    >>> wish_of_variable("variable=exports, region=N: publish", "home")
    ''
    """
    cells, colon, wish = text.rpartition(":")
    if not variable and known is None:
        return text
    others, own = [], True
    for part in cells.split(","):
        match = _VARIABLE.fullmatch(part)
        if match is None:
            others.append(part)
            continue
        if known is not None and match[1] not in known:
            raise TableError(f"there is no variable {match[1]!r}; {nearest(match[1], known)}")
        own = match[1] == variable
    return f"{','.join(others).strip()}{colon}{wish}" if own else ""


def read_wish(text: str, table: Table) -> dict[str, Any]:
    """A wish as a row of marks: codes for each dimension, and a status or a number.

    Args:
        text: Cells, a colon and what is wished of them.
        table: The table.

    Raises:
        TableError: The text is not understood.

    >>> table = Table.from_frame({"sex": ["f", "m"], "value": [1, 2]}, {"sex": None})
    >>> read_wish("sex=f: must stay", table)
    {'sex': 'f', 'status': 'publish'}
    >>> read_wish("sex level 1: factor 0.5", table)
    {'sex': 'level 1', 'factor': 0.5}
    """
    cells, colon, wish = text.rpartition(":")
    if not colon or not cells.strip():
        raise TableError(
            f"{text!r} is not a wish; write cells, a colon and what is wished of them, as in "
            f"'{next(iter(table.totals))}=*: publish'"
        )
    wanted: dict[str, Any] = dict(read_selection(cells, table))
    word = status_word(wish)
    if word is not None:
        return {**wanted, "status": word}
    plain = " ".join(wish.lower().split())
    for name, pattern in _NUMBERS.items():
        match = pattern.fullmatch(plain)
        if match:
            return {**wanted, name: float(match[1])}
    known = [*STATUSES, *SYNONYMS, *_EXAMPLES]
    raise TableError(f"{text!r}: {wish.strip()!r} cannot be wished; {nearest(plain, known)}")
