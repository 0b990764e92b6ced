"""Cells in rows and columns: the dimensions of a table laid out on a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.problem import Integers
from tacit.release import Published
from tacit.release.labels import code_texts, known_labels

WIDEST = 300
"""With more columns than this, the longer dimension goes down the page."""


@dataclass(frozen=True, eq=False)
class Axis:
    """Rows or columns.

    Attributes:
        name: The dimensions, in words.
        labels: A name for each row or column.
        levels: How far below the total each lies.
    """

    name: str
    labels: tuple[str, ...]
    levels: Integers

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Where each cell stands.

    Attributes:
        rows: The rows.
        columns: The columns.
        row: The row of each cell.
        column: The column of each cell.
    """

    rows: Axis
    columns: Axis
    row: Integers
    column: Integers


@dataclass(frozen=True, eq=False)
class _Dimension:
    """One dimension: the place of each cell, and what the places are called."""

    name: str
    texts: tuple[str, ...]
    levels: Integers
    place: Integers


def levels_of(published: Published, dimension: str) -> Integers:
    """How far below its total the code of each cell lies, in one dimension."""
    found = _dimension(published, dimension)
    return found.levels[found.place]


def arrange(published: Published, widest: int = WIDEST) -> Arrangement:
    """Put the cells of a table in rows and columns.

    Two dimensions are rows and columns as they come, unless there would be very many columns;
    of more dimensions, all but one share the rows or the columns, whichever makes the better
    page. Combinations that do not occur take no space. Cells without dimensions are put in lines,
    in their order.

    Args:
        published: The table.
        widest: With more columns than this, the longer of two dimensions goes down the page.
    """
    if not published.dimensions:
        return _lines(published.cell_count)
    dimensions = [_dimension(published, name) for name in published.dimensions]
    if len(dimensions) == 1:
        only = np.zeros(published.cell_count, np.int64)
        rows, row = _axis(dimensions)
        return Arrangement(rows, Axis("", ("",), np.zeros(1, np.int64)), row, only)
    if len(dimensions) == 2:
        rows, row = _axis(dimensions[:1])
        columns, column = _axis(dimensions[1:])
        if len(columns) > widest and len(columns) > len(rows):
            return Arrangement(columns, rows, column, row)
        return Arrangement(rows, columns, row, column)
    found = []
    for place in range(len(dimensions)):
        alone = _axis(dimensions[place : place + 1])
        others = _axis([*dimensions[:place], *dimensions[place + 1 :]])
        found += [(*alone, *others), (*others, *alone)]
    best = min(found, key=lambda axes: abs(math.log(len(axes[0]) / len(axes[2]) / 1.3)))
    return Arrangement(best[0], best[2], best[1], best[3])


def _lines(cell_count: int) -> Arrangement:
    """Cells one after the other, as in a text."""
    per_line = max(10, math.ceil(math.sqrt(cell_count * 1.5) / 10) * 10)
    cells = np.arange(cell_count)
    lines = math.ceil(cell_count / per_line) if cell_count else 0
    starts = tuple(str(line * per_line) for line in range(lines))
    width = min(per_line, cell_count)
    return Arrangement(
        Axis("cell, from", starts, np.ones(lines, np.int64)),
        Axis("", tuple(f"+{place}" for place in range(width)), np.ones(width, np.int64)),
        cells // per_line,
        cells % per_line,
    )


def _dimension(published: Published, name: str) -> _Dimension:
    hierarchy = published.dimensions[name]
    codes, inverse = np.unique(published.codes[name], return_inverse=True)
    known = hierarchy.positions
    # Linked tables may divide a dimension in several ways, of which one is the hierarchy here.
    strange = [code for code in codes.tolist() if code not in known]
    places = {**known, **{code: len(known) + k for k, code in enumerate(strange)}}
    place = np.array([places[code] for code in codes.tolist()], np.int64)[inverse.reshape(-1)]
    levels = np.concatenate([hierarchy.level, np.ones(len(strange), np.int64)])
    texts = code_texts(known_labels(published).get(name, {}), "together")
    shown = tuple(texts.get(code, code) for code in (*hierarchy.codes, *strange))
    return _Dimension(name, shown, levels, place)


def _axis(dimensions: Sequence[_Dimension]) -> tuple[Axis, Integers]:
    """The combinations of codes that occur, and which of them each cell has."""
    key = np.zeros(len(dimensions[0].place), np.int64)
    for dimension in dimensions:
        key = key * len(dimension.texts) + dimension.place
    found, place = np.unique(key, return_inverse=True)
    parts: list[list[str]] = []
    levels = np.zeros(len(found), np.int64)
    for dimension in reversed(dimensions):
        found, position = np.divmod(found, len(dimension.texts))
        parts.insert(0, [dimension.texts[k] for k in position.tolist()])
        levels += dimension.levels[position]
    labels = tuple(" · ".join(codes) for codes in zip(*parts, strict=True))
    name = " · ".join(dimension.name for dimension in dimensions)
    return Axis(name, labels, levels), place.reshape(-1)
