"""Safe points around a point: how safe intervals are made, from the first on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tacit.methods.intervals.cuts import Found, Master, Opened, Separation
from tacit.methods.intervals.heuristics.repair import Repair
from tacit.methods.intervals.search import Search
from tacit.problem import Floats

_PULL = 0.5
"""The share of the way that the point inside follows the best point of a round."""
_LEAP = 0.9
"""The same where linear programs have found a point at less than half the cost."""
_SHORTEST_REST, _LONGEST_REST = 2, 8
"""Rounds from one time that linear programs make a point safe to the next."""
_WIDER = 1.2
"""How much wider than a safe point the first point inside is."""


class Surroundings:
    """A point inside, and what is found on the way to it.

    Attributes:
        inside: A point that is safe and has slack; None without one.
        separation: Finds cuts.
    """

    def __init__(self, search: Search):
        self._search = search
        self._model = search.model
        self._repairs = [Repair(search.model, state) for state in search.model.states]
        self.separation = Separation(search.model, search.out_of_time)
        self.inside: Floats | None = None
        self._rest = _SHORTEST_REST
        self._next_repair = 0
        self._cheap: list[Floats] = []

    def first(self) -> bool:
        """Offer a first safe point, and have a point inside; False if time was too short."""
        search, model = self._search, self._model
        point = model.least_point()
        while True:
            safe = self._opened(point)
            if safe is None:
                return False
            search.offer(safe)
            if model.insiders is not None:
                search.confirm()
            if not model.is_behind:
                break
            if search.out_of_time():
                return False
            model.catch_up()
            point = model.lengthened(safe)
        inside = np.minimum(_WIDER * safe, np.maximum(model.upper, safe))
        network = np.repeat(model.structure.in_network, 2)
        wide = self._wide(safe)
        inside[: model.cell_ends][network] = 0.5 * (wide + safe)[: model.cell_ends][network]
        inside[model.cell_ends :] = safe[model.cell_ends :]
        self.inside = inside
        return True

    def renew(self) -> None:
        """Ask what has turned out to matter against contributors, and be inside again."""
        model = self._model
        model.catch_up()
        if self.inside is None:
            return
        before = model.lengthened(self.inside)
        safe = self._opened(before)
        if safe is None:
            self.inside = None
            return
        self._search.offer(safe)
        self.inside = np.minimum(
            safe + (_WIDER - 1) * (safe - before), np.maximum(model.upper, safe)
        )

    def _opened(self, point: Floats) -> Floats | None:
        """A point opened where that is needed; None if that failed or was stopped."""
        if self._model.has_no_networks:
            # How far each request would have to walk is of no use yet, only which ones are missed.
            missed = [
                self._model.missed(state, point, np.arange(len(state.cells)))
                for state in self._model.states
            ]
            opened = Opened(point, missed)
        else:
            opened = self.separation.approach(point, self._wide(point)).quick
        return next(iter(self._repaired(opened)), None)

    def _wide(self, point: Floats) -> Floats:
        """A point opened as far as it can be of use in a network."""
        model = self._model
        targets = [float(state.targets(point).max(initial=0.0)) for state in model.states]
        # In a network no deviation needs more than the level that it is for.
        wide = np.minimum(model.upper, max(targets, default=0.0))
        wide = np.maximum(wide, point)
        wide[model.cell_ends :] = point[model.cell_ends :]
        return wide

    def approach(
        self, point: Floats, cost: Callable[[Floats], float]
    ) -> tuple[Found, Floats | None]:
        """Cuts on the way from a point inside, and the cheapest safe point on it.

        The point inside follows that point. Both are safe up to rounding.
        """
        found = self.separation.approach(point, self.inside)
        if self.inside is None:
            return found, point if found.walked == 0 else None
        best = min(self._safe_points(point, self.inside, found), key=cost)
        pull = _LEAP if self._is_leap(best, cost) else _PULL
        self.inside = self.inside + pull * (best - self.inside)
        return found, best

    def _is_leap(self, best: Floats, cost: Callable[[Floats], float]) -> bool:
        assert self.inside is not None
        by_programs = any(best is point for point in self._cheap)
        return by_programs and 2 * cost(best) < cost(self.inside)

    def _safe_points(self, point: Floats, inside: Floats, found: Found) -> list[Floats]:
        points = [point + found.walked * (inside - point)]
        if found.walked == 0:
            return points
        now = self._search.iterations
        is_due = now >= self._next_repair
        if is_due or not found.quick.count:
            points += self._repaired(found.quick)
        if not is_due or not found.plain.count:
            return points
        if not self._any_helps(points):
            # Cheapest deviations take a linear program each, and cost less than flows.
            self._cheap = self._repaired(found.plain)
            points += self._cheap
        # Linear programs are slow: the less they help, the longer they pause.
        self._rest = (
            _SHORTEST_REST if self._any_helps(points) else min(2 * self._rest, _LONGEST_REST)
        )
        self._next_repair = now + self._rest
        return points

    def _any_helps(self, points: list[Floats]) -> bool:
        """Is one of some points better than what was found before?"""
        cost, best = self._model.objective, self._search.cutoff
        return any(cost(point) < best for point in points)

    def _repaired(self, opened: Opened) -> list[Floats]:
        """A point with what it misses opened at the least cost; none where that was stopped."""
        point: Floats | None = opened.point
        for repair, missed in zip(self._repairs, opened.missed, strict=True):
            if point is not None and len(missed):
                point = repair.repair(point, missed, self._search.out_of_time)
        return [] if point is None else [point]


def optima(search: Search, surroundings: Surroundings, *, purges: bool = True) -> Iterator[Master]:
    """The relaxation at one optimum after the other, each to be cut off before the next.

    Args:
        search: The run, which is told bounds and vertices.
        surroundings: Renewed where more turns out to be asked.
        purges: Whether cuts may leave that are not tight for long.
    """
    master = Master(search, purges=purges)
    while not search.should_stop():
        if search.model.is_behind:
            surroundings.renew()
            master = master.renewed()
        search.iterations += 1
        search.raise_bound(master.minimise())
        search.vertex = master.x
        if search.should_stop():
            return
        yield master
