"""Flows that met requests before, kept for the next point.

A cutting plane moves the relaxation's optimum in some cells; elsewhere the flows of the last point
still serve. To check them takes a fraction of what finding them takes, and of a hundred requests
all but one or two are met that way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tacit.attack.reach import Requests
from tacit.problem import Booleans, Floats, Integers


@dataclass(frozen=True, eq=False)
class Room:
    """How far cells may move at a point.

    Attributes:
        up: How far each cell may rise.
        down: How far each cell may fall.
        share: The share of its room that each cell may use.
        is_full: Cells that no ceiling concerns.
    """

    up: Floats
    down: Floats
    share: Floats
    is_full: Booleans


class KnownFlows:
    """The last flow in a network that met each request."""

    def __init__(self) -> None:
        self._flows: dict[tuple[int, int, int], tuple[Integers, Floats, float]] = {}

    def meet(self, requests: Requests, targets: Floats, caps: Floats, room: Room) -> Booleans:
        """Whether a flow that is known meets each request.

        Args:
            requests: Cells and sides, and limits of those against insiders.
            targets: How far each has to get.
            caps: For each request a ceiling on how far any one cell may move.
            room: How far cells may move.
        """
        is_met = np.zeros(len(requests), bool)
        known = [(at, *self._flows[key]) for at, key in _numbered(requests) if key in self._flows]
        if not known:
            return is_met
        asked = np.array([at for at, _, _, _ in known])
        request = np.repeat(asked, [len(cells) for _, cells, _, _ in known])
        cell = np.concatenate([cells for _, cells, _, _ in known])
        move = np.concatenate([moves for _, _, moves, _ in known])
        rises = move > 0
        most = np.where(rises, room.up[cell], room.down[cell])
        if requests.limits is not None:
            most = np.minimum(most, requests.limits.at(request, cell, rises))
        most = np.where(room.is_full[cell], most, np.minimum(most, caps[request]))
        fails = np.abs(move) > most * room.share[cell]
        is_met[asked] = np.array([amount for _, _, _, amount in known]) >= targets[asked]
        is_met[request[fails]] = False
        return is_met

    def keep(
        self,
        requests: Requests,
        is_met: Booleans,
        amounts: Floats,
        pointer: Integers,
        cells: Integers,
        moves: Floats,
    ) -> None:
        """Keep the flows that meet their requests.

        Args:
            requests: The requests.
            is_met: Which of them are met.
            amounts: How far each gets.
            pointer: Where the flow of each request begins, and the end of the last.
            cells: The cells that move, without those that are asked.
            moves: How far, negative for those that fall.
        """
        for at, key in _numbered(requests):
            if not is_met[at]:
                continue
            part = slice(int(pointer[at]), int(pointer[at + 1]))
            # Copies: otherwise a few flows would keep those of all requests in memory.
            self._flows[key] = (cells[part].copy(), moves[part].copy(), float(amounts[at]))


def _numbered(requests: Requests) -> Iterable[tuple[int, tuple[int, int, int]]]:
    """Each request's place, and what tells it from others: cell, side and list of limits."""
    count, limits = len(requests), requests.limits
    chosen = np.full(count, -1, np.int64) if limits is None else limits.chosen
    return enumerate(
        zip(requests.cells.tolist(), requests.sides.tolist(), chosen.tolist(), strict=True)
    )
