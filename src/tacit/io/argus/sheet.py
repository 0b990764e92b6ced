"""`Sheet`: one table of a publication in the order in which tau-ARGUS writes its cells.

That order is row-major over the codes of all dimensions, totals first, with a line for every
combination: those that do not occur are empty. A sheet is made of what readers may see alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError
from tacit.io.files import replacing
from tacit.problem import Booleans, Floats, Integers
from tacit.release.marks import decimals, number_texts
from tacit.release.published import Published
from tacit.table.grid import Grid

HIDDEN = "x"
"""What stands for a value that is not published."""
EMPTY = "-"
"""What stands for the value of an empty cell."""

Texts = Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Described:
    """What metadata say of a table, and the table itself does not.

    Attributes:
        response: The name of the response variable.
        decimals: How many decimals values are written with; None for as many as they need.
        widths: For each dimension the width that codes are right-aligned to; codes of others
            are written as they are. Longer codes, such as totals, stay as long as they are.
    """

    response: str = "value"
    decimals: int | None = None
    widths: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Sheet:
    """The lines of a table, one per combination of codes.

    Attributes:
        published: What readers may see.
        grid: The table; None for a publication without dimensions.
        key: The number of each line among all combinations of codes.
        cell: The number of the cell of each line; -1 where the combination does not occur.
        codes: For each dimension the code of every line, as it is written.
        empty: The lines of empty cells.
        digits: How many decimals values are written with; None for as many as they need.
    """

    published: Published
    grid: Grid | None
    key: Integers
    cell: Integers
    codes: Mapping[str, npt.NDArray[np.object_]]
    empty: Booleans
    digits: int | None

    @classmethod
    def of(
        cls,
        published: Published,
        described: Described,
        *,
        table: int | None = None,
        frequency: bool = False,
        without_empty: bool = False,
    ) -> Sheet:
        """The lines of one table.

        Args:
            published: What readers may see.
            described: What the metadata say.
            table: Which one of several linked tables, counted from 0.
            frequency: Whether it is a table of frequencies, which have no decimals.
            without_empty: Leave out empty cells.

        Raises:
            InputError: There is no such table, or it is not said which one of several.
        """
        digits = described.decimals
        if digits is None:
            digits = 0 if frequency else decimals(published)
        grid = chosen_grid(published, table)
        if grid is None:
            key = cell = np.arange(published.cell_count)
            codes = {name: column.astype(object) for name, column in published.codes.items()}
        else:
            key = grid.all_keys if without_empty else np.arange(grid.size)
            place = grid.find(key)
            cell = np.where(place < 0, -1, grid.numbers[place])
            codes = {}
            for (name, hierarchy), stride in zip(
                grid.dimensions.items(), grid.strides, strict=True
            ):
                width = described.widths.get(name, 0)
                # A blank behind a code tells it from the same one elsewhere in its hierarchy.
                texts = [code.rstrip() or code for code in hierarchy.codes]
                aligned = np.array([text.rjust(width) for text in texts], object)
                codes[name] = aligned[key // stride % len(hierarchy)]
        empty = cell < 0
        if published.empty is not None:
            empty = empty | published.empty[cell]
        sheet = cls(published, grid, key, cell, codes, empty, digits)
        return sheet.chosen(~empty) if without_empty else sheet

    def __len__(self) -> int:
        return len(self.cell)

    def chosen(self, lines: Booleans) -> Sheet:
        """Some of the lines."""
        return Sheet(
            self.published,
            self.grid,
            self.key[lines],
            self.cell[lines],
            {name: column[lines] for name, column in self.codes.items()},
            self.empty[lines],
            self.digits,
        )

    def position(self, name: str) -> Integers:
        """The position in its hierarchy of the code of each line, for one dimension."""
        assert self.grid is not None
        stride = dict(zip(self.grid.dimensions, self.grid.strides, strict=True))[name]
        return np.asarray(self.key // stride % len(self.grid.dimensions[name]))

    def level(self, name: str) -> Integers:
        """How deep the code of each line lies in its hierarchy; 0 for the total."""
        if self.grid is None:
            return np.zeros(len(self), np.int64)
        return self.grid.dimensions[name].level[self.position(name)]

    @property
    def hidden(self) -> Booleans:
        """The lines whose value is not published."""
        return np.asarray(self.published.is_hidden[self.cell] & (self.cell >= 0))

    def of_cells(self, column: Floats) -> Floats:
        """A column of the table's cells in the order of the lines; 0 where there is no cell."""
        return np.where(self.cell < 0, 0.0, column[self.cell])

    def numbers(self, column: Floats, digits: int | None) -> list[str]:
        """A column of the table's cells as texts, line by line."""
        return number_texts(self.of_cells(column), digits)

    def values(self) -> list[str]:
        """The value of each line as readers see it."""
        shown = np.where(self.published.is_hidden, 0.0, self.published.value)
        texts = np.array(self.numbers(shown, self.digits), object)
        texts[self.hidden] = HIDDEN
        texts[self.empty] = EMPTY
        return list(texts.tolist())


def chosen_grid(published: Published, table: int | None) -> Grid | None:
    """The table that is meant; None for a publication without dimensions."""
    grids = published.grids
    if table is None:
        if len(grids) > 1:
            raise InputError(
                f"these are {len(grids)} linked tables, and a file of tau-ARGUS holds one; say "
                "which one by its number (table)",
                key=("table",),
            )
        table = 0
    if not 0 <= table < max(len(grids), 1):
        raise InputError(
            f"there is no table {table}; there are {max(len(grids), 1)}, counted from 0",
            key=("table",),
        )
    return grids[table] if grids else None


def quoted(texts: Iterable[str], separator: str, *, always: bool) -> list[str]:
    """Codes as they stand in a file: in quotes always, or where they would not be understood.

    >>> quoted([" 2", "A,B"], ",", always=False), quoted(["2"], ",", always=True)
    ([' 2', '"A,B"'], ['"2"'])
    """
    found: dict[str, str] = {}
    written = []
    for text in texts:
        if text not in found:
            odd = any(sign in text for sign in (separator, '"', "\n", "\r"))
            inside = text.replace('"', '""')
            found[text] = f'"{inside}"' if always or odd else text
        written.append(found[text])
    return written


def write_lines(path: Path, lines: Iterable[str], *, confidential: bool) -> None:
    """Write lines of text; the file appears complete or not at all."""
    with replacing(path, confidential=confidential) as stream:
        for line in lines:
            stream.write(f"{line}\n".encode())
