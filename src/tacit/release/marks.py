"""Cells as text for people: numbers, intervals, and marks where nothing is published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError
from tacit.release.flags import MEANINGS, PublishedStatus
from tacit.tolerances import LAST_DIGITS

if TYPE_CHECKING:
    from tacit.problem import Floats
    from tacit.release.published import Published

Marks: TypeAlias = str | Mapping[str, str]
"""One mark for all suppressed cells, or one under `primary` and one under `secondary`."""

DEFAULT_MARK = "x"
BETWEEN = "–"
"""What stands between the ends of an interval."""
MOST_DECIMALS = 6
_EXACT_DECIMALS = 12
"""Numbers with more decimals are kept to 15 digits."""
_EXACT_BELOW = 2.0**53
"""Integers below this are stored exactly."""
Rounding: TypeAlias = Literal["nearest", "down", "up"]
_ROUND = {"nearest": np.rint, "down": np.floor, "up": np.ceil}
_KINDS = ("primary", "secondary")


def check_marks(marks: Marks) -> None:
    """Refuse marks that are neither one text nor one for each kind of cell."""
    if isinstance(marks, str):
        return
    if set(marks) != set(_KINDS) or not all(isinstance(mark, str) for mark in marks.values()):
        raise InputError(
            "marks are one text, or two texts under 'primary' and 'secondary'", key=("marks",)
        )


def mark_column(published: Published, marks: Marks) -> npt.NDArray[np.str_]:
    """The mark of each suppressed cell; nothing for all others.

    Raises:
        InputError: Marks tell primary from secondary, but the publication does not.
    """
    check_marks(marks)
    suppressed = published.status == PublishedStatus.SUPPRESSED.value
    if isinstance(marks, str):
        return np.where(suppressed, marks, "")
    if published.primary is None:
        raise InputError(
            "which cells are primary is not told to readers, so one mark has to do; tell it with "
            "tell_primary"
        )
    primary, secondary = (marks[kind] for kind in _KINDS)
    return np.where(suppressed, np.where(published.primary, primary, secondary), "")


def decimals(published: Published) -> int | None:
    """How many decimals the published values need; None if there are too many to write.

    Ends of intervals count only where there are no values: they are rounded outwards.
    """
    columns = (published.value, published.lower, published.upper)
    given = [column[np.isfinite(column)] for column in columns if column is not None]
    return _needed(given[0] if len(given[0]) else np.concatenate(given), MOST_DECIMALS)


def settled(numbers: Floats) -> Floats:
    """Numbers without rounding noise: 15.600000000000001 is 15.6.

    What stands there comes from adding up: it depends on the order, and so on hidden cells.
    """
    # Larger ones have no decimals, and NaN is not a number.
    small = np.abs(numbers) < _EXACT_BELOW
    digits = _needed(numbers, _EXACT_DECIMALS)
    # Adding zero makes minus zero a plain one.
    rounded = numbers + 0.0
    if digits is not None:
        rounded[small] = np.round(rounded[small], digits) + 0.0
    if digits == 0:
        return rounded
    return np.array([float(plain_number(number)) for number in rounded.tolist()])


def plain_number(number: float) -> str:
    """A number with no more digits than are sure to mean something.

    >>> plain_number(0.1 + 0.2), plain_number(1234567890123456.0), plain_number(1e20)
    ('0.3', '1234567890123456', '1e+20')
    """
    # Adding zero makes minus zero a plain one.
    whole = number.is_integer() and abs(number) < _EXACT_BELOW
    return f"{number + 0.0:.0f}" if whole else f"{number:.15g}"


def _needed(numbers: Floats, most: int) -> int | None:
    """The decimals that numbers have, apart from how they are stored."""
    numbers = np.unique(numbers[np.abs(numbers) < _EXACT_BELOW])
    size = np.abs(numbers)
    smallest = 1e-3 * min(1.0, float(size.max(initial=0.0)))
    allowed = LAST_DIGITS * np.maximum(size, smallest)
    for count in range(most + 1):
        if (np.abs(numbers - np.round(numbers, count)) <= allowed).all():
            return count
    return None


def number_texts(
    numbers: Floats, digits: int | None, grouping: str = "", to: Rounding = "nearest"
) -> list[str]:
    """Numbers with this many decimals, and with something between the thousands.

    Args:
        numbers: Any numbers.
        digits: How many decimals; None for as many as there are.
        grouping: What stands between thousands.
        to: Which way to round: ends of intervals are rounded outwards, `down` or `up`.
    """
    if digits is None:
        return list(map(plain_number, numbers.tolist()))
    # What is cut off must not be a whole digit only because of how numbers are stored.
    scaled = np.round(numbers * 10.0**digits, MOST_DECIMALS)
    rounded = _ROUND[to](scaled) / 10.0**digits + 0.0
    return [f"{number:,.{digits}f}".replace(",", grouping) for number in rounded.tolist()]


def cell_texts(
    published: Published,
    marks: Marks = DEFAULT_MARK,
    *,
    between: str = BETWEEN,
    grouping: str = "",
    same_decimals: bool = False,
) -> list[str]:
    """Each cell as readers see it.

    Args:
        published: What readers may see.
        marks: What stands for suppressed cells.
        between: What stands between the ends of an interval.
        grouping: What stands between thousands.
        same_decimals: Write all numbers with as many decimals as values need; ends of
            intervals are rounded outwards.
    """
    digits = decimals(published) if same_decimals else None
    texts = number_texts(published.value, digits, grouping)
    marked = mark_column(published, marks).tolist()
    for cell in np.flatnonzero(published.status == PublishedStatus.SUPPRESSED.value).tolist():
        texts[cell] = marked[cell]
    spread = np.flatnonzero(published.status == PublishedStatus.INTERVAL.value)
    if published.lower is not None and published.upper is not None:
        lower, upper = published.lower[spread], published.upper[spread]
        ends = zip(
            spread.tolist(),
            number_texts(lower, digits, grouping, "down"),
            number_texts(upper, digits, grouping, "up"),
            np.isfinite(lower).tolist(),
            np.isfinite(upper).tolist(),
            strict=True,
        )
        for cell, low, high, from_below, from_above in ends:
            if from_below and from_above:
                texts[cell] = f"{low}{between}{high}"
            else:
                texts[cell] = f"≥{low}" if from_below else f"≤{high}"
    return texts


def legend(published: Published, marks: Marks = DEFAULT_MARK) -> list[tuple[str, str]]:
    """The marks that occur, each with what it means."""
    found: list[tuple[str, str]] = []
    statuses = set(published.status.tolist())
    if PublishedStatus.SUPPRESSED in statuses:
        not_published = MEANINGS[PublishedStatus.SUPPRESSED]
        if isinstance(marks, str):
            found.append((marks, not_published))
        else:
            found += [(marks[kind], f"not published: {MEANINGS[kind]}") for kind in _KINDS]
    if PublishedStatus.INTERVAL in statuses:
        found.append((f"a{BETWEEN}b", "lies between a and b: an interval, to protect respondents"))
    if published.altered:
        told = "may differ from the true ones"
        if published.radius is not None:
            told += f" by up to {published.radius.max(initial=0):.15g}"
        found.append(("values", f"{told}, to protect respondents"))
    return found
