"""`Exposure`: a sensitive cell that is not protected as asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Exposure:
    """A sensitive cell that is not protected as asked.

    Attributes:
        cell: The cell's number.
        name: The cell's label.
        attacker: Who comes too close.
        level: Which level is missed: `lower`, `upper` or `sliding`.
        share: How much of the level is there, from 0 to 1.
        members: The insiders who come too close together, by their numbers in the problem; empty
            for other attackers.
    """

    cell: int
    name: str
    attacker: str
    level: str
    share: float
    members: tuple[int, ...] = ()


def name_exposures(
    exposures: Sequence[Exposure], *, limit: int = 5, with_attackers: bool = False
) -> list[str]:
    """Lines about exposed cells, one for each cell and attacker; the first few of many.

    >>> low = Exposure(3, "cell region=N", "reader", "lower", 0.0)
    >>> high = Exposure(3, "cell region=N", "reader", "upper", 0.25)
    >>> name_exposures([low, high])
    ['cell region=N: 0% of the lower and 25% of the upper level']
    """
    by_cell: dict[tuple[int, str], list[Exposure]] = {}
    for exposure in exposures:
        by_cell.setdefault((exposure.cell, exposure.attacker), []).append(exposure)
    lines = []
    for (_, attacker), levels in list(by_cell.items())[:limit]:
        shares = {f"{each.share:.0%}" for each in levels}
        if len(levels) > 1 and len(shares) == 1:
            missed = " and ".join(each.level for each in levels)
            text = f"{shares.pop()} of the {missed} levels"
        else:
            text = " and ".join(f"{each.share:.0%} of the {each.level}" for each in levels)
            text += " level"
        lines.append(f"{levels[0].name}: {text}{f' to {attacker}' if with_attackers else ''}")
    if len(by_cell) > limit:
        lines.append(f"and {len(by_cell) - limit} more")
    return lines
