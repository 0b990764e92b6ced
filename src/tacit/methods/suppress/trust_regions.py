"""Trust regions: patterns close to the best one [BaenaCastroFrangioni2020, section 3].

A master problem restricted to them ends many times sooner, and what it finds is easily made safe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tacit.methods.engine.cut_pool import Rows
from tacit.methods.suppress.model import Search
from tacit.problem import Booleans, Integers


@dataclass(frozen=True, eq=False)
class Region:
    """Patterns that differ from a centre in a limited number of cells."""

    centre: Booleans
    radius: int

    def row(self, cells: Integers) -> tuple[Rows, float]:
        """The region over the columns of some cells: a row, and the most it may be ((5), (6))."""
        inside = self.centre[cells]
        row = sparse.csr_array(np.where(inside, -1.0, 1.0)[None, :])
        return row, self.radius - float(inside.sum())


class TrustRegions:
    """Where the master problem looks: close to the best pattern, then further away.

    Radii are shares of the number of sensitive cells [BaenaCastroFrangioni2020, section 5]. They
    grow as long as there is no progress; after the last one the whole table is looked at.
    """

    def __init__(self, search: Search, shares: Sequence[float], *, goes_back: bool):
        """Nothing has been looked at yet.

        Args:
            search: The run.
            shares: The radii, as shares of the number of sensitive cells.
            goes_back: Begin again with the first radius whenever there is a better pattern.
        """
        self._search = search
        self._goes_back = goes_back
        self._centre = search.best
        self._at = 0
        self._radii: list[int] = []
        last, most = 0, int(search.secondary.sum())
        for share in shares:
            radius = max(last + 1, round(share * len(search.problem.sensitive)))
            if radius >= most:
                break
            self._radii.append(radius)
            last = radius

    def region(self) -> Region | None:
        """The region at present; None for the whole table.

        Its centre is the best pattern. Where that has changed there was progress.
        """
        best = self._search.best
        if best is not None and best is not self._centre:
            self._centre = best
            if self._goes_back:
                self._at = 0
        if self._at >= len(self._radii):
            return None
        centre = self._search.sensitive if self._centre is None else self._centre
        return Region(centre, self._radii[self._at])

    def grow(self) -> None:
        """Look further away."""
        self._at += 1
