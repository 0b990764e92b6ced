"""Deviations that show requests to be met, remembered from one pattern to the next.

A deviation that stays within the suppressed cells of one pattern also shows the request met in
every other pattern that suppresses the same cells. Asking again is then not needed, and in tables
that are no networks asking is what takes the time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tacit.attack.cuts import Separator
from tacit.attack.reach import TOLERANCE, Requests
from tacit.attack.shrink import Structure
from tacit.problem import Booleans, Floats, Integers


class Witness(NamedTuple):
    """A deviation: how far the asked cell moves, which cells move with it, and how far."""

    moved: float
    cells: Integers
    x: Floats


class Witnesses:
    """For each cell and side the last deviation that was seen to reach far enough.

    Each is checked when it comes in: relations, bounds and how far the cell moves. From then on
    it matters only which cells move.
    """

    def __init__(self, structure: Structure, separator: Separator):
        self._rows: sparse.csc_array[Any] = structure.A.tocsc()
        self._up, self._down = separator.up, separator.down
        self._moving: dict[tuple[int, int], Witness] = {}

    def remember(self, cell: int, side: int, target: float, cells: Integers, x: Floats) -> bool:
        """Take note of a deviation, unless it misses the target or does not hold.

        Args:
            cell: The asked cell.
            side: 1 to rise, -1 to fall.
            target: How far it is to move.
            cells: The cells that move.
            x: How far each of them moves.
        """
        moved = side * float(x[cells == cell].sum())
        if not target * (1 - TOLERANCE) <= moved < np.inf:
            return False
        if not self._has_room(cells, x):
            return False
        columns = sparse.csc_array(self._rows[:, cells])
        if (np.abs(columns @ x) > TOLERANCE * (abs(columns) @ np.abs(x))).any():
            return False
        self._moving[cell, side] = Witness(moved, cells, x)
        return True

    def _has_room(self, cells: Integers, x: Floats) -> bool:
        room = np.where(x > 0, self._up[cells], self._down[cells])
        return bool((np.abs(x) <= room * (1 + TOLERANCE)).all())

    def spread(
        self, requests: Requests, still_open: Booleans, cells: Integers, x: Floats
    ) -> Booleans:
        """Which open requests a deviation meets, too, once it is stretched to the bounds.

        Args:
            requests: Cells, sides and targets.
            still_open: Those that are asked about.
            cells: The cells that move.
            x: How far each of them moves.
        """
        met = np.zeros(len(requests), bool)
        full = np.zeros(len(self._up))
        for direction in (1.0, -1.0):
            turned = direction * x
            room = np.where(turned > 0, self._up[cells], self._down[cells]) / np.abs(turned)
            stretch = float(room.min(initial=np.inf))
            if not 0 < stretch < np.inf:
                continue
            full[cells] = stretch * turned
            reaching = requests.sides * full[requests.cells] >= requests.targets
            for number in np.flatnonzero(still_open & reaching & ~met).tolist():
                met[number] = self.remember(
                    int(requests.cells[number]),
                    int(requests.sides[number]),
                    float(requests.targets[number]),
                    cells,
                    full[cells],
                )
        return met

    def moving(self, cell: int, side: int, target: float, hidden: Booleans) -> Integers | None:
        """Suppressed cells that move in a deviation that reaches the target, if one is known."""
        found = self._moving.get((cell, side))
        if found is None or not _serves(found, target, hidden):
            return None
        return found.cells

    def show(
        self, requests: Requests, hidden: Booleans, others: Witnesses | None = None
    ) -> Booleans:
        """Which requests are known to be met by a pattern.

        Args:
            requests: Cells, sides and targets.
            hidden: The pattern.
            others: What is known of another attacker; deviations that this one's bounds allow
                serve here, too.
        """
        asked = zip(
            requests.cells.tolist(), requests.sides.tolist(), requests.targets.tolist(), strict=True
        )
        return np.fromiter(
            (
                self.moving(cell, side, target, hidden) is not None
                or (others is not None and self._borrow(others, cell, side, target, hidden))
                for cell, side, target in asked
            ),
            bool,
            len(requests),
        )

    def _borrow(
        self, others: Witnesses, cell: int, side: int, target: float, hidden: Booleans
    ) -> bool:
        found = others._moving.get((cell, side))
        if found is None or not _serves(found, target, hidden):
            return False
        if not self._has_room(found.cells, found.x):
            return False
        self._moving[cell, side] = found
        return True

    def deviations(self) -> list[Witness]:
        """All that are remembered now."""
        return list(self._moving.values())


def _serves(found: Witness, target: float, hidden: Booleans) -> bool:
    """Does a deviation reach a target within a pattern?"""
    return found.moved >= target * (1 - TOLERANCE) and bool(hidden[found.cells].all())
