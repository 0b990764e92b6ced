"""`Pivot`: cells in rows and columns, codes indented by how deep they lie in their hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError, first_few, nearest
from tacit.hierarchy import Hierarchy
from tacit.problem import Integers
from tacit.release.labels import Labels, check_labels, code_texts, known_labels
from tacit.release.marks import DEFAULT_MARK, Marks, cell_texts
from tacit.table.frames import to_frame

if TYPE_CHECKING:
    from tacit.release.published import Published

INDENT = "  "
"""The indentation of a code per level of its hierarchy, in text."""


@dataclass(frozen=True, eq=False, repr=False)
class Pivot:
    """A publication in rows and columns.

    Attributes:
        published: What readers may see.
        row_names: The dimensions of the rows.
        rows: The codes of each row, one of each of these dimensions.
        row_levels: How deep each of these codes lies in its hierarchy; 0 for totals.
        column_name: The dimension of the columns; None where there is one column of values.
        columns: The code of each column.
        column_levels: How deep each of these codes lies.
        cells: The number of the cell in each row and column; -1 where there is none.
        fixed: The codes of the dimensions that are in neither.
    """

    published: Published
    row_names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    row_levels: Integers
    column_name: str | None
    columns: tuple[str, ...]
    column_levels: Integers
    cells: Integers
    fixed: Mapping[str, str]

    @property
    def title(self) -> str:
        """What is in rows and columns, and what the other dimensions are fixed at."""
        names = [*self.row_names, *([] if self.column_name is None else [self.column_name])]
        others = ", ".join(f"{name} {code}" for name, code in self.fixed.items())
        return " by ".join(names) + (f" ({others})" if others else "")

    def row_texts(self, labels: Labels = "beside") -> tuple[tuple[str, ...], ...]:
        """The codes of each row as readers see them, with what labels there are."""
        texts = [self._texts_of(name, labels) for name in self.row_names]
        return tuple(
            tuple(of.get(code, code) for of, code in zip(texts, codes, strict=True))
            for codes in self.rows
        )

    def column_texts(self, labels: Labels = "beside") -> tuple[str, ...]:
        """The code of each column as readers see it, with its label."""
        texts = {} if self.column_name is None else self._texts_of(self.column_name, labels)
        return tuple(texts.get(code, code) for code in self.columns)

    def _texts_of(self, dimension: str, labels: Labels) -> dict[str, str]:
        check_labels(labels)
        return code_texts(known_labels(self.published).get(dimension, {}), labels)

    def texts(
        self, marks: Marks = DEFAULT_MARK, *, grouping: str = "", same_decimals: bool = False
    ) -> list[list[str]]:
        """Each cell as readers see it, row by row; nothing where there is no cell."""
        # The last one, number -1, is what stands where there is no cell.
        texts = np.array(
            [
                *cell_texts(self.published, marks, grouping=grouping, same_decimals=same_decimals),
                "",
            ],
            dtype=object,
        )
        shown: list[list[str]] = texts[self.cells].tolist()
        return shown

    def cut(self, rows: int, columns: int) -> Pivot:
        """The first rows and columns only."""
        return Pivot(
            self.published,
            self.row_names,
            self.rows[:rows],
            self.row_levels[:rows],
            self.column_name,
            self.columns[:columns],
            self.column_levels[:columns],
            self.cells[:rows, :columns],
            self.fixed,
        )

    def to_frame(
        self,
        backend: str | None = None,
        *,
        marks: Marks | None = DEFAULT_MARK,
        labels: Labels = "none",
    ) -> Any:
        """A data frame with the codes of the rows and one column for each code of the columns.

        Args:
            backend: `pandas`, `polars`, `pyarrow`, or `dict` for a dict of arrays; by default
                the library that the table came from.
            marks: What stands for suppressed cells, where cells are texts. None makes columns
                of numbers, NaN where there is no value.
            labels: Labels of codes, as for `to_html`; by default codes alone, by which programs
                find rows and columns.
        """
        frame: dict[str, npt.NDArray[Any]] = {
            name: np.array([codes[place] for codes in self.row_texts(labels)], dtype=str)
            for place, name in enumerate(self.row_names)
        }
        cells: npt.NDArray[Any] = np.append(self.published.value, np.nan)[self.cells]
        if marks is not None:
            cells = np.array(self.texts(marks), dtype=str).reshape(self.cells.shape)
        for code, column in zip(self.column_texts(labels), cells.T, strict=True):
            name = f"{self.column_name} {code}" if code in frame else code
            frame[name] = column.copy()
        return to_frame(frame, backend or self.published.backend)

    def to_text(self, marks: Marks = DEFAULT_MARK, labels: Labels = "beside") -> str:
        """Lines of text with aligned columns, codes of the rows indented."""
        lines = [["", *[""] * (len(self.row_names) - 1), *self.column_texts(labels)]]
        lines[0][: len(self.row_names)] = self.row_names
        for codes, levels, cells in zip(
            self.row_texts(labels), self.row_levels.tolist(), self.texts(marks), strict=True
        ):
            heads = [INDENT * level + code for code, level in zip(codes, levels, strict=True)]
            lines.append([*heads, *cells])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        heads_end = len(self.row_names)
        return "\n".join(
            "  ".join(
                [
                    *map(str.ljust, line[:heads_end], widths[:heads_end]),
                    *map(str.rjust, line[heads_end:], widths[heads_end:]),
                ]
            ).rstrip()
            for line in lines
        )

    def to_html(self, marks: Marks = DEFAULT_MARK, labels: Labels = "beside") -> str:
        """A table in HTML, for a page of one's own."""
        from tacit.release.rendering import pivot_table

        return pivot_table(self, marks, labels)

    def to_excel(
        self, path: str | Path, *, marks: Marks = DEFAULT_MARK, labels: Labels = "beside"
    ) -> None:
        """Write an Excel workbook of this part, with a legend.

        Args:
            path: Where to write.
            marks: What to write in place of suppressed values.
            labels: Labels of codes: after the code (`beside` or `together`), `instead` of it, or
                `none`.
        """
        from tacit.io.exports import write_pivot_excel

        write_pivot_excel(self, path, marks=marks, labels=labels)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"Pivot({self.title}, {len(self.rows)} rows, {len(self.columns)} columns)"

    def _repr_html_(self) -> str:
        return self.to_html()


def pivot(
    published: Published,
    rows: str | Sequence[str] | None,
    columns: str | None,
    fixed: Mapping[str, object],
    table: int | None,
) -> Pivot:
    """The pivot that `Published.pivot` promises."""
    row_names = None if rows is None else (rows,) if isinstance(rows, str) else tuple(rows)
    named = [*(row_names or ()), *([] if columns is None else [columns]), *fixed]
    cells, dimensions = _chosen_table(published, named, table)
    twice = [name for name in named if named.count(name) > 1]
    if twice:
        raise InputError(f"{twice[0]} is named twice; each dimension has one place")
    free = [name for name in dimensions if name not in named]
    if row_names is None:
        if columns is None and len(free) > 1:
            columns = free.pop()
        row_names, free = tuple(free), []
    if not row_names:
        raise InputError("no dimension is left for the rows; leave one out of columns and fixed")
    places = {
        name: _Codes(published.codes[name][cells], hierarchy)
        for name, hierarchy in dimensions.items()
    }
    held = {name: places[name].code(name, fixed.get(name)) for name in dimensions if name in fixed}
    held |= {name: places[name].total for name in free}
    inside = np.ones(len(cells), bool)
    for name, code in held.items():
        inside &= places[name].is_code(code)
    cells = cells[inside]
    row_key = np.zeros(len(cells), np.int64)
    for name in row_names:
        row_key = row_key * places[name].size + places[name].position[inside]
    keys, row = np.unique(row_key, return_inverse=True)
    if columns is None:
        column_codes: tuple[str, ...] = ("value",)
        column_levels, column = np.zeros(1, np.int64), np.zeros(len(cells), np.int64)
    else:
        found, column = np.unique(places[columns].position[inside], return_inverse=True)
        column_codes, column_levels = places[columns].named(found)
    grid = np.full((len(keys), len(column_codes)), -1, np.int64)
    grid[row, column] = cells
    codes, levels = [], []
    for name in reversed(row_names):
        keys, position = np.divmod(keys, places[name].size)
        found_codes, found_levels = places[name].named(position)
        codes.append(found_codes)
        levels.append(found_levels)
    return Pivot(
        published,
        row_names,
        tuple(zip(*reversed(codes), strict=True)),
        np.stack(levels[::-1], axis=1),
        columns,
        column_codes,
        column_levels,
        grid,
        held,
    )


class _Codes:
    """The codes of cells in one dimension, as positions in the order in which they are shown."""

    def __init__(self, codes: npt.NDArray[np.str_], hierarchy: Hierarchy | None):
        self.hierarchy = hierarchy
        distinct, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        if hierarchy is None:
            order = np.argsort(first)
            rank = np.empty(len(order), np.int64)
            rank[order] = np.arange(len(order))
            self._codes: tuple[str, ...] = tuple(distinct[order].tolist())
        else:
            rank = np.array([hierarchy.positions[code] for code in distinct.tolist()], np.int64)
            self._codes = hierarchy.codes
        self.position: Integers = rank[inverse]
        self.size = len(self._codes)

    @property
    def total(self) -> str:
        return self._codes[0]

    def code(self, name: str, given: object) -> str:
        """A requested code; an unknown one is refused."""
        code = str(given)
        if code not in self._codes:
            raise InputError(f"{name} has no code {code!r}; {nearest(code, self._codes[:20])}")
        return code

    def is_code(self, code: str) -> npt.NDArray[np.bool_]:
        return np.asarray(self.position == self._codes.index(code))

    def named(self, position: Integers) -> tuple[tuple[str, ...], Integers]:
        """Codes and levels at some positions."""
        level = (
            np.zeros(len(position), np.int64)
            if self.hierarchy is None
            else self.hierarchy.level[position]
        )
        return tuple(self._codes[place] for place in position.tolist()), level


def _chosen_table(
    published: Published, named: Sequence[str], table: int | None
) -> tuple[Integers, Mapping[str, Hierarchy | None]]:
    """The cells of one of the linked tables, and its dimensions."""
    tables = tables_of(published)
    if table is not None and table not in range(len(tables)):
        raise InputError(f"there is no table {table}; they are 0 to {len(tables) - 1}")
    known = list(published.codes)
    unknown = [name for name in named if name not in known]
    if unknown:
        raise InputError(f"there is no dimension {unknown[0]!r}; {nearest(unknown[0], known)}")
    candidates = tables if table is None else tables[table : table + 1]
    for cells, dimensions in candidates:
        if set(named) <= set(dimensions):
            return cells, dimensions
    raise InputError(f"no single table has all of the dimensions {first_few(named)}")


def table_names(published: Published) -> list[str]:
    """For each of the linked tables its name, or its dimensions where nobody named it."""
    if published.grids:
        return [grid.title for grid in published.grids]
    return [" x ".join(published.codes)]


def tables_of(published: Published) -> list[tuple[Integers, Mapping[str, Hierarchy | None]]]:
    """For each of the linked tables its cells and its dimensions."""
    if published.grids:
        return [(grid.numbers, dict(grid.dimensions)) for grid in published.grids]
    dimensions = {name: published.dimensions.get(name) for name in published.codes}
    return [(np.arange(published.cell_count), dimensions)]
