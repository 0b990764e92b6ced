"""Numbers as people write them."""

from __future__ import annotations

import numpy as np

from tacit.release import Published, PublishedStatus
from tacit.release.marks import plain_number

THIN = "\u202f"
"""A narrow space that no line breaks at, between groups of three digits."""


def value_text(value: float) -> str:
    """A value with its digits in groups of three.

    >>> value_text(1234567.5).replace(THIN, " "), value_text(0.25), value_text(-3.0)
    ('1 234 567.5', '0.25', '-3')
    """
    if not np.isfinite(value):
        return "unlimited"
    plain = plain_number(value)
    if "e" in plain:
        return plain
    whole, point, rest = plain.partition(".")
    return f"{int(whole):,}".replace(",", THIN) + point + rest if whole != "-0" else plain


def cell_texts(published: Published) -> list[str]:
    """Each cell as readers see it; nothing where it is suppressed."""
    texts = [value_text(value) for value in published.value.tolist()]
    for cell in np.flatnonzero(published.status != PublishedStatus.VALUE.value).tolist():
        texts[cell] = ""
        if published.status[cell] == PublishedStatus.INTERVAL.value:
            assert published.lower is not None
            assert published.upper is not None
            ends = (float(published.lower[cell]), float(published.upper[cell]))
            texts[cell] = " – ".join(value_text(end) for end in ends)
    return texts


def counted(count: int) -> str:
    """A count with its digits in groups of three."""
    return f"{count:,}".replace(",", THIN)


def percent(share: float) -> str:
    """A share in percent, with as many digits as tell something.

    >>> percent(0), percent(1e-6), percent(0.0004), percent(0.031), percent(0.25), percent(1.5)
    ('0%', 'below 0.01%', '0.04%', '3.1%', '25%', '150%')
    """
    if not np.isfinite(share):
        return "unlimited"
    size = abs(100 * share)
    if 0 < size < 0.005:
        return "below 0.01%"
    digits = 0 if size >= 10 else 1 if size >= 1 else 2
    return f"{round(100 * share, digits):g}%"
