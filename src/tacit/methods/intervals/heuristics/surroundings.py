"""Safe points around a point: how safe intervals are made."""

from __future__ import annotations

import numpy as np

from tacit.methods.intervals.cuts import Found, Separation
from tacit.methods.intervals.heuristics.repair import Repair
from tacit.methods.intervals.search import Search
from tacit.problem import Floats

_SHORTEST_REST, _LONGEST_REST = 2, 8
"""Rounds from one time that linear programmes make a point safe to the next."""
_AIR = 1.2
"""How much wider than a safe point the first inner point is."""


class Surroundings:
    """Safe points around a point: how safe intervals are made, from the first on."""

    def __init__(self, search: Search):
        self._search = search
        self._model = search.model
        self._repairs = [Repair(search.model, rival) for rival in search.model.rivals]
        self.separation = Separation(search.model, search.out_of_time)
        self._rest = _SHORTEST_REST
        self._next_repair = 0

    def first(self) -> Floats | None:
        """Offer a first safe point; returns a point inside, or None if time was too short."""
        search, model = self._search, self._model
        point = model.least_point()
        targets = [float(rival.targets(point).max(initial=0.0)) for rival in model.rivals]
        # In a network no deviation needs more than the level that it is for.
        wide = np.minimum(model.upper, max(targets, default=0.0))
        wide = np.maximum(wide, point)
        wide[model.cell_ends :] = point[model.cell_ends :]
        found = self.separation.approach(point, wide)
        safe = self._repaired(found)
        if safe is None:
            return None
        search.offer(safe)
        inside = np.minimum(_AIR * safe, np.maximum(model.upper, safe))
        network = np.repeat(model.structure.in_network, 2)
        inside[: model.cell_ends][network] = 0.5 * (wide + safe)[: model.cell_ends][network]
        inside[model.cell_ends :] = safe[model.cell_ends :]
        return inside

    def _repaired(self, found: Found) -> Floats | None:
        """What the walk left open, opened at the least cost."""
        point: Floats | None = found.repaired
        for repair, missed in zip(self._repairs, found.missed, strict=True):
            if point is not None and len(missed):
                point = repair.repair(point, missed, self._search.out_of_time)
        return point

    def safe_points(self, point: Floats, inside: Floats, found: Found) -> list[Floats]:
        """Points that are safe up to rounding, given what a walk inside has found."""
        points = [point + found.walked * (inside - point)]
        if found.walked == 0:
            return points
        now = self._search.iterations
        is_costly = any(len(missed) for missed in found.missed)
        if is_costly and now < self._next_repair:
            return points
        repaired = self._repaired(found)
        if repaired is not None:
            points.append(repaired)
            # Linear programmes take their time: the less they help, the longer they rest.
            helps = self._model.objective(repaired) < self._search.cutoff
            self._rest = _SHORTEST_REST if helps else min(2 * self._rest, _LONGEST_REST)
            self._next_repair = now + self._rest
        return points
