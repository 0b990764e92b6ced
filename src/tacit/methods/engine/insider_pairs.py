"""Pairs of a request and contributors that a search has found worth asking.

Which contributor matters for which request shows only in a solution: where the deviation that
protects a cell against readers moves what the contributor knows. Such pairs are collected from
solution to solution.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.attack.insider_knowledge import InsiderKnowledge
from tacit.attack.insider_search import InsiderPairs
from tacit.attack.reach import Limits, Requests
from tacit.problem import Integers


class WatchedPairs:
    """Requests against contributors, each once, with lists of limits that keep their numbers.

    Attributes:
        known: What contributors know.
        requests: Those with a level on one side.
        sliding: Cells with sliding levels, which are the targets; sides do not matter.
    """

    def __init__(self, known: InsiderKnowledge):
        self.known = known
        self._list: dict[tuple[int, ...], int] = {}
        self._limits = Limits.none(0)
        self._seen: set[tuple[int, int, int]] = set()
        nothing = np.zeros(0, np.int64)
        self.requests = Requests(nothing, nothing, np.zeros(0), limits=Limits.none(0))
        self.sliding = self.requests

    def numbered(self, pairs: InsiderPairs) -> Requests:
        """The requests of some pairs with our lists of limits."""
        asked = pairs.requests
        chosen = self._lists(pairs.members)
        limits = replace(self._limits, chosen=chosen)
        return Requests(asked.cells, asked.sides, asked.targets, limits=limits)

    def together(self, *parts: Requests) -> Requests:
        """Several requests as one, all with our lists of limits."""
        chosen = [
            np.full(len(part), -1, np.int64) if part.limits is None else part.limits.chosen
            for part in parts
        ]
        return Requests(
            np.concatenate([part.cells for part in parts]),
            np.concatenate([part.sides for part in parts]),
            np.concatenate([part.targets for part in parts]),
            limits=replace(self._limits, chosen=np.concatenate(chosen)),
        )

    def name(self, number: int) -> str:
        """Whose list it is."""
        members = next(key for key, each in self._list.items() if each == number)
        return self.known.name(np.array(members))

    def _lists(self, members: Integers) -> Integers:
        """The numbers of the lists of coalitions; new ones come last."""
        rows, place = np.unique(members, axis=0, return_inverse=True)
        keys = [tuple(row) for row in rows.tolist()]
        new = [number for number, key in enumerate(keys) if key not in self._list]
        if new:
            fresh = self.known.limits(rows[new])
            before = len(self._limits.start) - 1
            for number, list_number in zip(new, fresh.chosen.tolist(), strict=True):
                self._list[keys[number]] = before + list_number
            self._limits = Limits.joined([self._limits, fresh])
            self._limits = replace(self._limits, chosen=np.zeros(0, np.int64))
            # Lists only ever come behind those that there are.
            self.requests = self._renewed(self.requests)
            self.sliding = self._renewed(self.sliding)
        numbers = np.array([self._list[key] for key in keys], np.int64)
        return numbers[place.reshape(-1)] if len(numbers) else np.zeros(0, np.int64)

    def _renewed(self, requests: Requests) -> Requests:
        assert requests.limits is not None
        return replace(requests, limits=replace(self._limits, chosen=requests.limits.chosen))

    def watch(self, pairs: InsiderPairs, sliding: InsiderPairs) -> None:
        """Watch pairs from now on.

        Args:
            pairs: Those with a level on one side; others among them are left out.
            sliding: Those with a sliding level, as of `InsiderFindings.missed_sliding`.
        """
        pairs = pairs.take(np.flatnonzero(pairs.level > 0))
        asked = replace(self.numbered(pairs), targets=pairs.level)
        self.requests = self._with_new(self.requests, asked, slides=False)
        self.sliding = self._with_new(self.sliding, self.numbered(sliding), slides=True)

    def _with_new(self, requests: Requests, more: Requests, *, slides: bool) -> Requests:
        assert more.limits is not None
        fresh: list[int] = []
        sides = np.zeros(len(more), np.int64) if slides else more.sides
        keys = zip(more.cells.tolist(), sides.tolist(), more.limits.chosen.tolist(), strict=True)
        for number, key in enumerate(keys):
            if key not in self._seen:
                self._seen.add(key)
                fresh.append(number)
        return self.together(requests, more.take(np.array(fresh, np.int64)))
