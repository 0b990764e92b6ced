"""A picture of a circuit: which cells move together so that nobody notices. Confidential."""

from __future__ import annotations

from tacit.errors import InputError
from tacit.explanation import Explanation
from tacit.explanation.words import Sketch, moved
from tacit.report.marks import SECONDARY, SENSITIVE, patterns
from tacit.report.picture import Numbers, Picture
from tacit.report.svg import Drawing, element, number, shortened, text_width

_ROW, _COLUMN, _HEAD, _LEGEND = 46.0, 104.0, 34.0, 34.0
_BOX = 88.0
_MOST_LETTERS = 24
_NAME = "circuit"


def circuit_picture(told: Explanation, which: int = 0) -> Picture:
    """Draw a circuit as a small table: cells that rise, cells that fall, in a ring.

    Args:
        told: The explanation of a cell.
        which: The number of the circuit, see `Explanation.circuits`.

    Raises:
        InputError: There is no such circuit.
    """
    if not 0 <= which < len(told.circuits):
        raise InputError(
            f"there is no circuit {which} to draw: {told.name} has {len(told.circuits)}"
        )
    partner = told.circuits[which]
    circuit, sketch = partner.circuit, partner.sketch
    assert circuit is not None
    assert sketch is not None
    assert told.names is not None
    sensitive = told.names.problem.is_sensitive
    drawing, places = _grid(sketch)
    drawing.add(patterns(_NAME, (SECONDARY,)))
    if len(places) == len(sketch.entries):
        drawing.path(_ring([places[cell] for cell in circuit.cells]), "t-axis")
    roles = {partner.cell: " protected", told.cell: " this cell"}
    for row, column, cell, change in sketch.entries:
        x, y = _middle(drawing_left(sketch), row, column, sketch)
        mark = SENSITIVE if sensitive[cell] else SECONDARY
        title = f"{told.names.cell(cell)} {'rises' if change > 0 else 'falls'}"
        drawing.rectangle(x - _BOX / 2, y - 15, _BOX, 30, fill=mark.fill(_NAME), title=title)
        if cell == told.cell:
            frame = {"x": x - _BOX / 2 - 3, "y": y - 18, "width": _BOX + 6, "height": 36.0}
            drawing.add(element("rect", **frame, class_="t-line", fill="none"))
        text = moved(change, "−") + roles.get(cell, "")
        drawing.text(x, y + 4, text, f"t-{mark.style}-ink t-strong", anchor="middle")
    _legend(drawing)
    moves = list(zip(circuit.cells, circuit.changes, strict=True))
    rises, falls = (
        told.names.cells([cell for cell, change in moves if (change > 0) == up], limit=8)
        for up in (True, False)
    )
    description = f"If {rises} rise and {falls} fall together, nothing that is published changes."
    return Picture(
        _NAME,
        f"How {told.name} protects {partner.name}",
        description,
        drawing,
        caption=f"{sketch.caption + ': ' if sketch.caption else ''}{description}",
        numbers=Numbers(
            ("cell", "moves by"), tuple((told.names.cell(c), f"{m:+.6g}") for c, m in moves)
        ),
        confidential=True,
    )


def drawing_left(sketch: Sketch) -> float:
    """How much room the names of rows take."""
    longest = max((text_width(shortened(name, _MOST_LETTERS)) for name in sketch.rows), default=0.0)
    return longest + 18.0


def _middle(left: float, row: int, column: int, sketch: Sketch) -> tuple[float, float]:
    width = _column_width(sketch)
    return left + (column + 0.5) * width, _HEAD + (row + 0.5) * _ROW


def _column_width(sketch: Sketch) -> float:
    widest = max((text_width(shortened(name, _MOST_LETTERS)) for name in sketch.columns), default=0)
    return max(_COLUMN, widest + 16.0)


def _grid(sketch: Sketch) -> tuple[Drawing, dict[int, tuple[float, float]]]:
    """The empty table with its names, and where the cells are."""
    left, width = drawing_left(sketch), _column_width(sketch)
    right, bottom = left + width * len(sketch.columns), _HEAD + _ROW * len(sketch.rows)
    drawing = Drawing(max(right + 6.0, 330.0), bottom + _LEGEND)
    for column, name in enumerate(sketch.columns):
        x, _ = _middle(left, 0, column, sketch)
        drawing.text(x, _HEAD - 12, shortened(name, _MOST_LETTERS), anchor="middle", title=name)
    for row, name in enumerate(sketch.rows):
        _, y = _middle(left, row, 0, sketch)
        drawing.text(left - 10, y + 4, shortened(name, _MOST_LETTERS), anchor="end", title=name)
        drawing.line(left, _HEAD + row * _ROW, right, _HEAD + row * _ROW)
    drawing.line(left, bottom, right, bottom)
    places: dict[int, tuple[float, float]] = {}
    for row, column, cell, _ in sketch.entries:
        places.setdefault(cell, _middle(left, row, column, sketch))
    return drawing, places


def _ring(places: list[tuple[float, float]]) -> str:
    """A closed line through the cells, in their order."""
    points = [f"{number(x)} {number(y)}" for x, y in places]
    return f"M{'L'.join(points)}Z"


def _legend(drawing: Drawing) -> None:
    x, y = 2.0, drawing.height - 20
    for mark, name in ((SENSITIVE, "sensitive"), (SECONDARY, "not sensitive")):
        drawing.rectangle(x, y, 16, 13, fill=mark.fill(_NAME))
        drawing.text(x + 22, y + 11, name, "t-soft")
        x += 42 + text_width(name)
    drawing.text(x, y + 11, "+ rises   − falls", "t-soft")
