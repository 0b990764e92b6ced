"""Bars one below the other, in groups, each made of parts that patterns tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.report.marks import Mark, patterns
from tacit.report.svg import Drawing, round_steps, shortened, text_width

_ROW, _BAR, _HEADING, _AXIS = 24.0, 15.0, 26.0, 26.0


@dataclass(frozen=True)
class Bar:
    """One bar.

    Attributes:
        label: What it is about.
        parts: The length of each of its parts.
        told: The numbers, written at its end.
        group: Bars of one group stand together under this heading.
    """

    label: str
    parts: tuple[float, ...]
    told: str
    group: str = ""


def draw_bars(
    name: str,
    bars: Sequence[Bar],
    marks: Sequence[Mark],
    *,
    unit: str = "%",
    width: float = 920.0,
    legend: bool = True,
) -> Drawing:
    """Draw bars on one scale from zero.

    Args:
        name: The name of the picture.
        bars: The bars, those of a group after each other.
        marks: How each part of a bar is drawn.
        unit: Written after the numbers of the scale.
        width: How wide the picture is.
        legend: Whether to say what the parts are.
    """
    left = min(max((text_width(shortened(bar.label, 40)) for bar in bars), default=0) + 18, 300.0)
    right = max((text_width(bar.told) for bar in bars), default=0) + 18
    drawing = Drawing(width)
    drawing.add(patterns(name, tuple(marks)))
    y = 4.0
    if legend:
        _draw_legend(drawing, name, marks)
        y = 30.0
    longest = max((sum(bar.parts) for bar in bars), default=0.0)
    steps = round_steps(0, longest) if longest > 0 else [0.0, 1.0]
    scale = (width - left - right) / steps[-1]
    top, group = y, ""
    placed = []
    for bar in bars:
        if bar.group != group:
            group = bar.group
            y += _HEADING
            drawing.text(2, y - 7, group, "t-strong")
        placed.append(y)
        y += _ROW
    for step in steps:
        drawing.line(left + step * scale, top, left + step * scale, y)
        drawing.text(left + step * scale, y + 15, f"{step:g}{unit}", "t-soft", anchor="middle")
    for bar, place in zip(bars, placed, strict=True):
        middle = place + _ROW / 2
        label = shortened(bar.label, 40)
        drawing.text(left - 8, middle + 4, label, anchor="end")
        x = left
        for mark, length in zip(marks, bar.parts, strict=True):
            if length > 0:
                title = f"{bar.label}: {mark.name}, {bar.told}"
                fill = mark.fill(name)
                drawing.rectangle(
                    x, middle - _BAR / 2, length * scale, _BAR, fill=fill, title=title
                )
            x += length * scale
        drawing.text(x + 7, middle + 4, bar.told, "t-soft")
    drawing.line(left, top, left, y, "t-axis")
    drawing.height = y + _AXIS
    return drawing


def _draw_legend(drawing: Drawing, name: str, marks: Sequence[Mark]) -> None:
    x = 2.0
    for mark in marks:
        drawing.rectangle(x, 3, 16, 13, fill=mark.fill(name))
        drawing.text(x + 22, 14, mark.name, "t-soft")
        x += 42 + text_width(mark.name)
