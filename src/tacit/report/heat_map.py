"""The heat map: every cell of the table, how large it is and whether it is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.problem import Floats, Integers
from tacit.release import Published, Release
from tacit.report.arrangement import Arrangement, Axis, arrange
from tacit.report.marks import INTERVAL, Mark, Marked, marked, patterns
from tacit.report.picture import Picture, joined
from tacit.report.svg import Drawing, element, number, shortened, text_width
from tacit.report.texts import cell_texts, value_text

NAME = "heat-map"
SHADES = 5
TILES = 3_000
"""Up to this many places each cell is drawn separately, with its value as a tooltip."""
ROWS, COLUMNS, PLACES = 800, 420, 60_000
"""With more rows, columns or places than this, several cells share a place."""
_WIDTH = 920.0
_LABELS = 200.0
_LINE = 13.0
_LEGEND = 34.0


@dataclass(frozen=True, eq=False)
class _Shading:
    """How strong the blue of each cell is, from 1 to `SHADES`, and what that says."""

    of_cell: Integers
    name: str
    told: str

    @classmethod
    def by_value(cls, published: Published) -> _Shading:
        """Shades with about as many cells each; values of zero have the lightest."""
        size = np.abs(np.nan_to_num(published.value))
        positive = size[size > 0]
        edges = np.quantile(positive, np.arange(1, SHADES) / SHADES) if len(positive) else [0.0]
        shade = 1 + np.searchsorted(edges, size, side="left")
        return cls(shade, "value", "the stronger its blue, the larger its value")

    @classmethod
    def by_deviation(cls, published: Published, true: Floats) -> _Shading:
        """Shades by how far the published value is from the true one."""
        size = np.maximum(np.abs(true), np.finfo(float).tiny)
        edges = (0.01, 0.02, 0.05, 0.1)
        shade = 1 + np.searchsorted(edges, np.abs(published.value - true) / size, side="left")
        told = (
            "the stronger its blue, the further the published value is from the true one: up to "
            "1%, 2%, 5%, 10% of it, and more"
        )
        return cls(shade, "deviation", told)


@dataclass(frozen=True, eq=False)
class _Grid:
    """A picture's places and their size."""

    rows: Axis
    columns: Axis
    width: float
    height: float
    left: float
    top: float

    @property
    def right(self) -> float:
        return self.left + self.width * len(self.columns)

    @property
    def bottom(self) -> float:
        return self.top + self.height * len(self.rows)


def heat_map(release: Release, *, confidential: bool = False, table: int | None = None) -> Picture:
    """The table along its hierarchies: the larger a value the darker, and marks for the rest.

    Args:
        release: The release.
        confidential: Whether sensitive cells are told from those that protect them. By default
            the picture shows only what readers see, and is drawn from that alone.
        table: Which one of linked tables, counted from 0. By default all their cells are in one
            picture, over all dimensions.

    Raises:
        InputError: There is no such table.
    """
    published = release.published if table is None else release.published.of_table(table)
    name = NAME if table is None else f"{NAME}-{table}"
    arrangement = arrange(published)
    marks = marked(release, confidential=confidential, table=table)
    true = release.papers.problem.value if confidential else None
    if true is not None and table is not None and release.published.grids:
        true = true[release.published.grids[table].numbers]
    rows, columns = len(arrangement.rows), len(arrangement.columns)
    told = _told(marks, published.cell_count)
    title = "Which cells are published"
    shading = _Shading.by_value(published)
    if confidential:
        title = "Where the sensitive and the secondary cells are"
    if true is not None and published.altered:
        title = "Where values were changed"
        shading = _Shading.by_deviation(published, true)
    if rows > ROWS or columns > COLUMNS or rows * columns > PLACES:
        drawing, caption = _binned(arrangement, marks)
    elif rows * columns > TILES:
        drawing = _shaded(arrangement, marks, shading, name)
        caption = f"Each dot is a cell, totals first; {shading.told}."
    else:
        drawing = _tiled(published, arrangement, marks, shading, true, name)
        caption = f"Each tile is a cell, totals first; {shading.told}."
    return Picture(
        name,
        title,
        f"The table as a grid of {rows} rows and {columns} columns. {told}",
        drawing,
        f"{caption} {told}",
        confidential=confidential,
    )


def _told(marks: Marked, cell_count: int) -> str:
    if not marks.marks:
        return f"All {cell_count} cells are published with a value."
    parts = [
        f"{marks.count(place)} {'are' if place == 0 else ''} {mark.name}".replace("  ", " ")
        for place, mark in enumerate(marks.marks)
    ]
    return f"Of {cell_count} cells, {joined(parts)}."


def _tiled(
    published: Published,
    arrangement: Arrangement,
    marks: Marked,
    shading: _Shading,
    true: Floats | None,
    name: str,
) -> Drawing:
    """Every cell separately, with a description; true values only where it is confidential."""
    texts = cell_texts(published)
    unmarked = [texts[cell] for cell in np.flatnonzero(marks.of_cell < 0).tolist()]
    needed = max(map(text_width, unmarked), default=0) + 12
    columns, rows = len(arrangement.columns), len(arrangement.rows)
    room = _WIDTH - _left(arrangement.rows)
    height = 26.0 if rows <= 50 else max(1300 / rows, 4.0)
    lettered = height >= 11
    fits = lettered and needed * columns <= room
    width = max(needed, 52.0) if fits else min(room / columns, 24.0, 8 * height)
    lettered = lettered and width >= 11
    tile = "t-cell" if min(width, height) >= 7 else "t-crisp"
    grid = _placed(arrangement, width, height)
    width, height = grid.width, grid.height
    drawing = Drawing(max(grid.right + 10, 460.0), grid.bottom + 12)
    drawing.add(patterns(name, marks.marks))
    _legend(drawing, shading.name, marks.marks, name)
    _labels(drawing, grid)
    shade = shading.of_cell
    names = _names(published)
    for cell, (row, column) in enumerate(
        zip(arrangement.row.tolist(), arrangement.column.tolist(), strict=True)
    ):
        mark = int(marks.of_cell[cell])
        x, y = grid.left + column * width, grid.top + row * height
        title = f"{names[cell]}: {texts[cell] or 'not published'}"
        if mark < 0:
            drawing.rectangle(x, y, width, height, f"{tile} t-v{shade[cell]}", title=title)
            text, ink = texts[cell], "t-surface" if shade[cell] == SHADES else None
        else:
            kind = marks.marks[mark]
            fill, ink = kind.fill(name), f"t-{kind.style}-ink"
            text = kind.letter
            if kind is INTERVAL and text_width(texts[cell]) + 8 <= width:
                text = texts[cell]
            if true is not None:
                is_truly = value_text(float(true[cell]))
                title = f"{names[cell]}: {kind.name}; true value {is_truly}"
                title += f", published {texts[cell]}" if texts[cell] else ""
            drawing.rectangle(x, y, width, height, tile, fill=fill, title=title)
        if (fits or mark >= 0) and lettered:
            drawing.text(x + width / 2, y + height / 2 + 4, text, ink, anchor="middle")
    return drawing


def _shaded(arrangement: Arrangement, marks: Marked, shading: _Shading, name: str) -> Drawing:
    """Neighbouring cells of one kind as one area: small, however many cells there are."""
    grid = _placed(arrangement, *_size(arrangement))
    drawing = Drawing(max(grid.right + 10, 460.0), grid.bottom + 12)
    _legend(drawing, shading.name, marks.marks, name, patterned=False)
    _labels(drawing, grid)
    kind = _matrix(arrangement, shading.of_cell - 1)
    mark = _matrix(arrangement, marks.of_cell)
    styles = [f"t-v{shade}" for shade in range(1, SHADES + 1)]
    styles += [f"t-{mark.style}" for mark in marks.marks]
    _areas(drawing, grid, np.where(mark >= 0, SHADES + mark, kind), styles)
    return drawing


def _binned(arrangement: Arrangement, marks: Marked) -> tuple[Drawing, str]:
    """Shares of marked cells, for tables with more cells than can be told apart."""
    down = int(np.ceil(len(arrangement.rows) / min(ROWS, 240)))
    across = int(np.ceil(len(arrangement.columns) / 240))
    rows, columns = _thinned(arrangement.rows, down), _thinned(arrangement.columns, across)
    place = (arrangement.row // down) * len(columns) + arrangement.column // across
    size = len(rows) * len(columns)
    count = np.bincount(place, minlength=size)
    hidden = np.bincount(place, weights=marks.of_cell >= 0, minlength=size)
    share = hidden / np.maximum(count, 1)
    edges = (0.0, 0.05, 0.1, 0.25, 0.5)
    kind = np.where(count == 0, -1, np.searchsorted(edges, share, side="left"))
    coarse = Arrangement(rows, columns, arrangement.row, arrangement.column)
    grid = _placed(coarse, *_size(coarse))
    drawing = Drawing(max(grid.right + 10, 620.0), grid.bottom + 12)
    x = 2.0
    told = ("none", "to 5%", "to 10%", "to 25%", "to 50%", "more")
    drawing.text(x, 14, "share of cells not published as they are:", "t-soft")
    x += text_width("share of cells not published as they are:") + 10
    styles = ["t-v1", "t-v2", "t-v3", "t-v4", "t-v5", "t-hidden"]
    for style, text in zip(styles, told, strict=True):
        drawing.rectangle(x, 4, 14, 12, style)
        drawing.text(x + 19, 14, text, "t-soft")
        x += 30 + text_width(text)
    _labels(drawing, grid)
    _areas(drawing, grid, kind.reshape(len(rows), len(columns)), styles)
    return drawing, f"Each dot stands for up to {down * across} cells, totals first."


def _thinned(axis: Axis, step: int) -> Axis:
    """Every n-th row or column, named by the highest code among those it stands for."""
    starts = range(0, len(axis), step)
    best = [start + int(np.argmin(axis.levels[start : start + step])) for start in starts]
    return Axis(axis.name, tuple(axis.labels[place] for place in best), axis.levels[best])


def _size(arrangement: Arrangement) -> tuple[float, float]:
    rows, columns = len(arrangement.rows), len(arrangement.columns)
    width = min((_WIDTH - _left(arrangement.rows)) / columns, 16.0)
    return width, float(np.clip(1000 / rows, 1.5, max(width, 3.0)))


def _placed(arrangement: Arrangement, width: float, height: float) -> _Grid:
    rows, columns = arrangement.rows, arrangement.columns
    left = _left(rows)
    longest = max((text_width(shortened(label, 18)) for label in columns.labels), default=0)
    flat = longest + 6 <= width
    top = _LEGEND + (18 if columns.name else 0) + (16 if flat else longest + 8)
    # Places begin where coordinates can be written exactly, or there would be seams.
    width, height = (float(np.floor(10 * size) / 10) for size in (width, height))
    return _Grid(rows, columns, width, height, float(round(left)), float(round(top)))


def _left(rows: Axis) -> float:
    """The width of the names of the rows."""
    indented = [
        text_width(shortened(label)) + 10 * min(int(level), 6)
        for label, level in zip(rows.labels, rows.levels, strict=True)
    ]
    return min(max([*indented, text_width(rows.name) + 8]) + 12, _LABELS)


def _labels(drawing: Drawing, grid: _Grid) -> None:
    """Names of rows and columns; if not all fit, those of the highest levels."""
    drawing.text(2, grid.top - 8, shortened(grid.rows.name, 30), "t-strong")
    drawing.text(grid.left, _LEGEND + 8, shortened(grid.columns.name, 60), "t-strong")
    for row in _with_room(grid.rows.levels, grid.height, _LINE):
        level = int(grid.rows.levels[row])
        label, y = grid.rows.labels[row], grid.top + (row + 0.5) * grid.height + 4
        drawing.text(
            2 + 10 * min(level, 6),
            y,
            shortened(label),
            "t-strong" if level == 0 else None,
            title=label if len(label) > 26 else None,
        )
    longest = max((text_width(shortened(label, 18)) for label in grid.columns.labels), default=0)
    flat = longest + 6 <= grid.width
    for column in _with_room(grid.columns.levels, grid.width, 0 if flat else _LINE):
        label = grid.columns.labels[column]
        middle = grid.left + (column + 0.5) * grid.width
        drawing.text(
            middle if flat else middle + 4,
            grid.top - 6,
            shortened(label, 18),
            "t-strong" if grid.columns.levels[column] == 0 else None,
            anchor="middle" if flat else None,
            turned=None if flat else -90,
            title=label if len(label) > 18 else None,
        )


def _with_room(levels: Integers, size: float, room: float) -> list[int]:
    """The places whose names can be written without touching another, highest level first."""
    if size >= room:
        return list(range(len(levels)))
    apart = int(np.ceil(room / size))
    free = np.ones(len(levels), bool)
    chosen = []
    for place in np.argsort(levels, kind="stable").tolist():
        if free[place]:
            chosen.append(place)
            free[max(place - apart + 1, 0) : place + apart] = False
    return chosen


def _legend(
    drawing: Drawing, shading: str, marks: Sequence[Mark], name: str, *, patterned: bool = True
) -> None:
    x = 2.0
    drawing.text(x, 14, shading, "t-soft")
    x += text_width(shading) + 8
    for shade in range(1, SHADES + 1):
        drawing.rectangle(x, 4, 14, 12, f"t-v{shade}")
        x += 14
    x += 18
    for mark in marks:
        fill = mark.fill(name) if patterned else f"var(--t-{mark.style})"
        drawing.rectangle(x, 3, 16, 14, fill=fill)
        if patterned:
            drawing.text(x + 8, 14, mark.letter, f"t-{mark.style}-ink", anchor="middle")
        drawing.text(x + 22, 14, mark.name, "t-soft")
        x += 40 + text_width(mark.name)


def _matrix(arrangement: Arrangement, of_cell: Integers) -> Integers:
    """A number for each place; -1 where there is no cell."""
    found = np.full((len(arrangement.rows), len(arrangement.columns)), -1, np.int64)
    found[arrangement.row, arrangement.column] = of_cell
    return found


def _areas(drawing: Drawing, grid: _Grid, kind: Integers, styles: Sequence[str]) -> None:
    """Runs of one kind within a row, one path per kind; places without a cell stay empty."""
    rows, columns = kind.shape
    change = np.ones((rows, columns), bool)
    change[:, 1:] = kind[:, 1:] != kind[:, :-1]
    start = np.flatnonzero(change)
    end = np.append(start[1:], rows * columns)
    of_run = kind.reshape(-1)[start]
    for place, style in enumerate(styles):
        chosen = of_run == place
        if not chosen.any():
            continue
        first, length = start[chosen], (end - start)[chosen]
        runs = zip(
            (first % columns).tolist(), (first // columns).tolist(), length.tolist(), strict=True
        )
        commands = "".join(f"M{x} {y}h{wide}v1h-{wide}z" for x, y, wide in runs)
        scaled = (
            f"translate({number(grid.left)} {number(grid.top)}) "
            f"scale({number(grid.width)} {number(grid.height)})"
        )
        drawing.add(element("path", d=commands, class_=f"{style} t-crisp", transform=scaled))
    drawing.add(
        element(
            "rect",
            x=grid.left,
            y=grid.top,
            width=grid.right - grid.left,
            height=grid.bottom - grid.top,
            class_="t-rule",
        )
    )


def _names(published: Published) -> list[str]:
    columns: Sequence[npt.NDArray[np.str_]] = list(published.codes.values())
    if not published.dimensions:
        return [f"cell {code}" for code in columns[0].tolist()]
    return [", ".join(codes) for codes in zip(*(c.tolist() for c in columns), strict=True)]
