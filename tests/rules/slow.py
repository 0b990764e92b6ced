"""Rules as they are defined, over plain lists of contributions and without numpy."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from hypothesis import strategies as st

from tacit.table import Table

Contributions: TypeAlias = list[int]

contribution_lists = st.lists(st.lists(st.integers(0, 60), max_size=5), min_size=1, max_size=4)
signed_lists = st.lists(st.lists(st.integers(-40, 60), max_size=5), min_size=1, max_size=4)
percentages = st.integers(1, 99)


def table_of(cells: Sequence[Sequence[float]], width: int = 20) -> Table:
    """A table with one cell for each list of contributions, and their total as the first cell.

    Args:
        cells: The contributions to each cell.
        width: How many of the largest contributions the table knows.
    """
    frame: dict[str, list[Any]] = {
        "code": [f"c{number}" for number in range(len(cells))],
        "value": [sum(parts) for parts in cells],
        "count": [len(parts) for parts in cells],
    }
    for rank in range(width):
        frame[f"top{rank}"] = [
            sorted(parts, key=abs, reverse=True)[rank] if rank < len(parts) else None
            for parts in cells
        ]
    top = [f"top{rank}" for rank in range(width)]
    return Table.from_frame(frame, {"code": None}, count="count", top=top)


def with_total(cells: Sequence[list[Any]]) -> list[list[Any]]:
    """The contributions to all cells of `table_of`, in the order of its cells."""
    return [[part for parts in cells for part in parts], *cells]


def estimates(
    parts: Sequence[Fraction | int], q: int, coalition: int
) -> list[tuple[Fraction, Fraction, Fraction]]:
    """What each coalition of contributors finds out about each other contribution.

    Everybody knows the total, and every contribution to within q% beforehand; a coalition knows
    those of its members exactly.

    Returns:
        For each coalition and each contribution outside it: the contribution, and the least and
        the largest that it can be.
    """
    found = []
    everybody = range(len(parts))
    share = Fraction(q, 100)
    for victim in everybody:
        others = [number for number in everybody if number != victim]
        for size in range(min(coalition, len(others)) + 1):
            for members in itertools.combinations(others, size):
                known = sum(parts[number] for number in members)
                unknown = sum(parts[number] for number in others if number not in members)
                left = sum(parts) - known
                largest = left - (1 - share) * unknown
                least = left - (1 + share) * unknown
                found.append((Fraction(parts[victim]), least, largest))
    return found


def is_estimated(parts: Sequence[Fraction | int], p: int, q: int, coalition: int) -> bool:
    """Whether a coalition estimates a contribution to within less than p%, from above or below."""
    share = Fraction(p, 100)
    return any(
        largest < (1 + share) * part or least > (1 - share) * part
        for part, least, largest in estimates(parts, q, coalition)
    )


def is_estimated_at(
    parts: Sequence[Fraction | int], p: int, q: int, coalition: int, error: Fraction
) -> bool:
    """The same if attackers know the total only to within an error on either side."""
    share = Fraction(p, 100)
    return any(
        largest + error < (1 + share) * part or least - error > (1 - share) * part
        for part, least, largest in estimates(parts, q, coalition)
    )


def dominant_share(parts: Sequence[Fraction | int], n: int) -> Fraction:
    """Which share of the total the n largest contribute; 0 if there is no total."""
    total = sum(parts)
    largest = sum(sorted(parts, reverse=True)[:n])
    return Fraction(largest) / total if total else Fraction(0)
