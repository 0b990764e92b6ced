"""Names of cells, made when somebody asks for one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import overload

import numpy as np

from tacit.errors import first_few
from tacit.problem import Integers
from tacit.table.grid import Grid


def name_cells(labels: Sequence[str]) -> str:
    """Name the first few of several cells in a message.

    >>> name_cells(["region=N, sex=f", "region=S, sex=f"])
    '(region=N, sex=f), (region=S, sex=f)'
    """
    return first_few([f"({label})" for label in labels])


class CellLabels(Sequence[str]):
    """The name of each cell: its codes in the first of the linked tables it occurs in."""

    def __init__(self, grids: tuple[Grid, ...], cell_count: int):
        self._grids = grids
        self._cell_count = cell_count

    def __len__(self) -> int:
        return self._cell_count

    def __repr__(self) -> str:
        return f"CellLabels({self._cell_count} cells)"

    @overload
    def __getitem__(self, cell: int) -> str: ...
    @overload
    def __getitem__(self, cell: slice) -> list[str]: ...
    def __getitem__(self, cell: int | slice) -> str | list[str]:
        """The name of a cell, or the names of some."""
        if isinstance(cell, slice):
            return [self[number] for number in range(self._cell_count)[cell]]
        number = range(self._cell_count)[cell]
        if len(self._grids) == 1 and self._grids[0].cells is None:
            grid, place = self._grids[0], number
        else:
            home, places = self._homes
            grid, place = self._grids[int(home[number])], int(places[number])
        return grid.label(place if grid.keys is None else int(grid.keys[place]))

    @cached_property
    def _homes(self) -> tuple[Integers, Integers]:
        """For each cell the first grid it occurs in, and its place there."""
        home = np.zeros(self._cell_count, np.int64)
        place = np.zeros(self._cell_count, np.int64)
        for number in reversed(range(len(self._grids))):
            cells = self._grids[number].numbers
            home[cells] = number
            place[cells] = np.arange(len(cells))
        return home, place
