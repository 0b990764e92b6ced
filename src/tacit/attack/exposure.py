"""`Exposure`: a sensitive cell that is not protected as asked."""

from __future__ import annotations

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
