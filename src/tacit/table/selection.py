"""Cells chosen by codes, wildcards and levels, as people write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import TableError, first_few, nearest
from tacit.hierarchy import Hierarchy
from tacit.problem import Booleans, Integers

if TYPE_CHECKING:
    from tacit.table.table import Table

EVERYTHING = "*"
"""All codes of a dimension; as a text of its own, all cells of the table."""
_LEVEL = re.compile(r"level\s+(\d+)", re.IGNORECASE)
_LEAVES = "leaves"


def is_pattern(entry: str, table: Table, dimension: str) -> bool:
    """Whether an entry stands for several codes; a code that is written like that is a code."""
    if any(entry in grid.dimensions.get(dimension, ()) for grid in table.grids):
        return False
    return EVERYTHING in entry or bool(_LEVEL.fullmatch(entry)) or entry.lower() == _LEAVES


def select(table: Table, wanted: Mapping[str, str]) -> Integers:
    """The cells with these codes, increasing.

    Args:
        table: The table; cells that it does not have are known to be empty and are left out.
        wanted: For each dimension a code, `*` for all codes, `C1*` for those that begin so,
            `level 2` for those of one level (the total is level 0), or `leaves` for the finest
            ones. A dimension that is not named is at its total.

    Raises:
        TableError: There is no such dimension, code or level.

    >>> from tacit.table import Table
    >>> frame = {"region": ["N", "S"], "sex": ["f", "m"], "value": [1, 2]}
    >>> table = Table.from_frame(frame, {"region": None, "sex": None})
    >>> [table.labels[cell] for cell in select(table, {"region": "level 1", "sex": "*"})]
    ['region=N, sex=Total', 'region=N, sex=f', 'region=S, sex=Total', 'region=S, sex=m']
    """
    for name in wanted:
        if name not in table.totals:
            raise TableError(f"there is no dimension {name!r}; {nearest(name, [*table.totals])}")
    chosen = np.zeros(table.cell_count, bool)
    found = dict.fromkeys(wanted, False)
    for grid in table.grids:
        inside = np.ones(grid.cell_count, bool)
        for name, total in table.totals.items():
            entry = wanted.get(name, total)
            place = [*grid.dimensions].index(name) if name in grid.dimensions else None
            if place is None:
                matches: Booleans = np.array([_is_total(entry, total)])
                inside &= matches[0]
            else:
                matches = _matching(grid.dimensions[name], entry)
                inside &= matches[grid.positions[:, place]]
            if name in found:
                found[name] |= bool(matches.any())
        chosen[grid.numbers[inside]] = True
    for name, there in found.items():
        if not there:
            raise TableError(_nothing(table, name, wanted[name]))
    return np.flatnonzero(chosen)


def _matching(hierarchy: Hierarchy, entry: str) -> Booleans:
    """Which codes of a hierarchy an entry stands for."""
    if entry in hierarchy:
        found = np.zeros(len(hierarchy), bool)
        found[hierarchy.positions[entry]] = True
        return found
    level = _LEVEL.fullmatch(entry)
    if level:
        return np.asarray(hierarchy.level == int(level[1]))
    if entry.lower() == _LEAVES:
        return np.asarray(hierarchy.is_leaf)
    return np.array([_is_like(code, entry) for code in hierarchy.codes], bool)


def _is_total(entry: str, total: str) -> bool:
    """Whether an entry stands for the total, which cells of a table without the dimension have."""
    level = _LEVEL.fullmatch(entry)
    return entry == total or _is_like(total, entry) or (level is not None and int(level[1]) == 0)


def _is_like(code: str, entry: str) -> bool:
    # Brackets and question marks are parts of codes here.
    pattern = "".join(f"[{mark}]" if mark in "[?" else mark for mark in entry)
    return EVERYTHING in entry and fnmatchcase(code, pattern)


def _nothing(table: Table, name: str, entry: str) -> str:
    level = _LEVEL.fullmatch(entry)
    hierarchies = [grid.dimensions[name] for grid in table.grids if name in grid.dimensions]
    if level:
        depth = max(hierarchy.depth for hierarchy in hierarchies)
        return f"dimension {name} has no level {level[1]}; its levels are 0 (the total) to {depth}"
    if EVERYTHING in entry:
        return f"no code of dimension {name} is like {entry}; correct it"
    return f"dimension {name} has no code {entry!r}; {nearest(entry, hierarchies[0].codes)}"


def read_selection(text: str, table: Table) -> dict[str, str]:
    """The codes in a text such as `industry=C10, region=*` or `industry level 2`.

    Args:
        text: Parts with commas between them: a dimension with `=` and a code or a pattern, or a
            dimension with `level 2` or `leaves`. `*` alone is all cells.
        table: The table.

    Raises:
        TableError: A part does not begin with a dimension of the table, or one is named twice.

    >>> from tacit.table import Table
    >>> table = Table.from_frame({"sex": ["f", "m"], "value": [1, 2]}, {"sex": None})
    >>> read_selection("sex level 1", table), read_selection("*", table)
    ({'sex': 'level 1'}, {'sex': '*'})
    """
    if text.strip() == EVERYTHING:
        return dict.fromkeys(table.totals, EVERYTHING)
    # Longest first: one dimension may begin like another one.
    names = sorted(table.totals, key=len, reverse=True)
    start = re.compile(
        rf"\s*(?P<name>{'|'.join(map(re.escape, names))})"
        r"(?:\s*=\s*|\s+(?=(?i:level\s+\d+|leaves)\s*$))(?P<entry>.*)",
        re.DOTALL,
    )
    example = next(iter(table.totals))
    wanted: dict[str, str] = {}
    last: str | None = None
    for part in text.split(","):
        match = start.fullmatch(part)
        if match is None and last is not None:
            # A comma within a code.
            joined = f"{wanted[last]},{part}".strip()
            if any(joined in grid.dimensions.get(last, ()) for grid in table.grids):
                wanted[last] = joined
                continue
        if match is None:
            raise TableError(
                f"{part.strip()!r} does not say which cells; write a dimension "
                f"({first_few([*table.totals])}) and a code, as in "
                f"{example}={table.totals[example]}, or {example} level 1"
            )
        last = match["name"]
        if last in wanted:
            raise TableError(f"dimension {last} is named twice; name it once")
        wanted[last] = match["entry"]
    return {name: entry.strip() for name, entry in wanted.items()}
