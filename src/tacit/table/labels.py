"""Names of cells, made when somebody asks for one, and labels of codes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np

from tacit.errors import HierarchyError, TableError, first_few
from tacit.hierarchy import labels_from
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

    def relation(self, cells: Sequence[int], signs: Sequence[float]) -> str:
        """A relation by what its cells have in common and by what tells them apart.

        Args:
            cells: Its cells.
            signs: Their coefficients, or anything of the same signs.

        >>> from tacit.table import Table
        >>> table = Table.from_frame(
        ...     {"size": ["4", "4"], "region": ["N", "S"], "value": [1, 2]},
        ...     {"size": None, "region": None},
        ... )
        >>> table.labels.relation([3, 4, 5], [-1, 1, 1])
        'size=4: Total = N + S'
        """
        found = self._codes_of(cells)
        names = dict.fromkeys(name for codes in found for name in codes)
        apart = [name for name in names if len({codes.get(name) for codes in found}) > 1]
        # A cell that is alone, as all others of its relation are empty, is told by its variable.
        apart = apart or [*names][: 1 if found[0][""] else 2]
        alike = [f"{name}={found[0][name]}" for name in names if name not in apart and name]
        variable = found[0][""] if "" not in apart else ""
        shown = [", ".join(codes.get(name, "") for name in apart) for codes in found]
        negative = [text for text, sign in zip(shown, signs, strict=True) if sign < 0]
        positive = [text for text, sign in zip(shown, signs, strict=True) if sign > 0]
        if len(positive) == 1 and len(negative) > 1:
            negative, positive = positive, negative
        sides = " = ".join(_added(side) for side in (negative, positive))
        common = ", ".join(alike) or ", ".join(name for name in apart if name)
        common = f"{variable} at {common}" if variable else common
        return f"{common}: {sides}" if common else sides

    def _codes_of(self, cells: Sequence[int]) -> list[dict[str, str]]:
        """The codes of some cells, of one table that has them all if there is one.

        The variable is there under a name that is empty.
        """
        for grid in self._grids:
            place = np.full(self._cell_count, -1, np.int64)
            place[grid.numbers] = np.arange(grid.cell_count)
            if (place[list(cells)] >= 0).all():
                return [_codes(grid, int(place[cell])) for cell in cells]
        home, places = self._homes
        return [_codes(self._grids[int(home[cell])], int(places[cell])) for cell in cells]

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


def labelled(
    grids: Sequence[Grid], dimensions: Mapping[str, Any], labels: Mapping[str, Any], unknown: str
) -> tuple[Grid, ...]:
    """Grids with labels of codes; arguments as of `Table.with_labels`."""
    given: dict[str, dict[str, str]] = {}
    for name, of_codes in labels.items():
        if name not in dimensions:
            raise TableError(f"there is no dimension {name}; there are {first_few([*dimensions])}")
        given[name] = labels_from(of_codes)
        known = {
            code for grid in grids if name in grid.dimensions for code in grid.dimensions[name]
        }
        strange = [code for code in given[name] if code not in known]
        if strange and unknown != "ignore":
            raise HierarchyError(
                f"dimension {name}: there are labels of {first_few(strange)}, but no such codes; "
                "correct the codes or leave their labels out",
                strange,
            )
    found = []
    for grid in grids:
        named = {
            name: hierarchy.with_labels(given.get(name, {}), unknown="ignore")
            for name, hierarchy in grid.dimensions.items()
        }
        found.append(dataclasses.replace(grid, dimensions=named))
    return tuple(found)


def _codes(grid: Grid, place: int) -> dict[str, str]:
    codes = grid.codes_at(place if grid.keys is None else int(grid.keys[place]))
    return {"": grid.variable, **codes}


MOST_PARTS = 5
"""A relation is written with so many parts."""


def _added(names: Sequence[str]) -> str:
    shown = " + ".join(names[:MOST_PARTS])
    more = len(names) - MOST_PARTS
    return (f"{shown} + {more} more" if more > 0 else shown) or "0"
