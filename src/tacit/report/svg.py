"""Hand-made SVG: elements as text, a drawing they are collected in, axes with round numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise

from tacit.tolerances import ROUNDING_NOISE

LETTER = 0.56
"""The usual width of a letter as a share of the size of the font."""
SMALL = 12.0
"""The size of the font in pictures, in pixels."""


def number(value: float) -> str:
    """A coordinate in as few characters as are needed to see no difference.

    Never more than four digits: what is drawn tells no number more exactly than can be seen.

    >>> number(12.0), number(0.3333), number(-0.001), number(1234.56)
    ('12', '0.3', '0', '1235')
    """
    text = f"{value:.{1 if abs(value) < 999.95 else 0}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def element(tag: str, *inside: str, **attributes: object) -> str:
    """An element; what is inside it is markup already, attributes are escaped here.

    A trailing underscore of a name is dropped and others become hyphens, as in `class_` and
    `text_anchor`; attributes that are None are left out.
    """
    told = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_attribute(given)}"'
        for name, given in attributes.items()
        if given is not None
    )
    return f"<{tag}{told}>{''.join(inside)}</{tag}>" if inside else f"<{tag}{told}/>"


def _attribute(given: object) -> str:
    if isinstance(given, float):
        return number(given)
    return escape(str(given))


def text_width(text: str, size: float = SMALL) -> float:
    """About how wide a text is."""
    return len(text) * size * LETTER


def shortened(text: str, most: int = 26) -> str:
    """A text that is not longer than this many letters.

    >>> shortened("manufacture of furniture", 12)
    'manufacture…'
    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


class Drawing:
    """Parts of a picture, in the order in which they are drawn.

    Attributes:
        width: Width in pixels.
        height: Height in pixels; may be set when it is known.
    """

    def __init__(self, width: float, height: float = 0.0):
        self.width = width
        self.height = height
        self._parts: list[str] = []

    def add(self, *parts: str) -> None:
        """Add markup."""
        self._parts += parts

    def rectangle(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        class_: str | None = None,
        *,
        fill: str | None = None,
        title: str | None = None,
    ) -> None:
        """A rectangle; its title is shown under the mouse and read aloud."""
        inside = () if title is None else (element("title", escape(title)),)
        self.add(
            element(
                "rect",
                *inside,
                x=float(x),
                y=float(y),
                width=float(width),
                height=float(height),
                class_=class_,
                fill=fill,
            )
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, class_: str = "t-rule") -> None:
        """A straight line."""
        self.add(
            element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=class_)
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        class_: str | None = None,
        *,
        anchor: str | None = None,
        turned: float | None = None,
        title: str | None = None,
    ) -> None:
        """A line of text, at its baseline; `turned` by degrees around its beginning."""
        inside = [escape(text)]
        if title is not None:
            inside.append(element("title", escape(title)))
        turn = None if turned is None else f"rotate({number(turned)} {number(x)} {number(y)})"
        self.add(
            element(
                "text",
                *inside,
                x=float(x),
                y=float(y),
                class_=class_,
                text_anchor=anchor,
                transform=turn,
            )
        )

    def path(self, commands: str, class_: str | None = None, *, fill: str | None = None) -> None:
        """A path."""
        self.add(element("path", d=commands, class_=class_, fill=fill))

    def svg(self, name: str, title: str, description: str, *, style: str = "") -> str:
        """The whole picture.

        Args:
            name: Makes its ids differ from those of other pictures.
            title: What it shows, for those who do not see it.
            description: What can be seen in it.
            style: A style sheet for a picture that stands alone.
        """
        ids = f"{name}-title {name}-description"
        head = [
            element("title", escape(title), id=f"{name}-title"),
            element("desc", escape(description), id=f"{name}-description"),
        ]
        if style:
            head.append(element("style", style))
            head.append(element("rect", class_="t-surface", width="100%", height="100%"))
        return element(
            "svg",
            *head,
            *self._parts,
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {number(self.width)} {number(self.height)}",
            width=float(self.width),
            height=float(self.height),
            class_="tacit-picture",
            role="img",
            aria_labelledby=ids,
        )


def hatching(name: str, colour: str, ground: str, step: float = 5.0) -> str:
    """A pattern of slanted lines, for those who cannot go by colours."""
    lines = element("path", d=f"M0 0V{number(step)}", stroke=colour, stroke_width=step * 0.44)
    return element(
        "defs",
        element(
            "pattern",
            element("rect", width=step, height=step, fill=ground),
            lines,
            id=name,
            width=step,
            height=step,
            patternUnits="userSpaceOnUse",
            patternTransform="rotate(45)",
        ),
    )


def round_steps(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers from at most `low` to at least `high`, about this many.

    >>> round_steps(0, 87)
    [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
    >>> round_steps(3, 3)
    [2.0, 3.0, 4.0]
    """
    if high - low <= ROUNDING_NOISE * max(abs(low), abs(high)):
        # Practically one number, which gets a step to either side.
        reach = max(abs(low) / 3, ROUNDING_NOISE)
        low, high, count = low - reach, high + reach, 3
    rough = (high - low) / count
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    first, last = math.floor(low / step + ROUNDING_NOISE), math.ceil(high / step - ROUNDING_NOISE)
    return [round(place * step, 12) for place in range(first, last + 1)]


def spread(placed: Sequence[float], room: float) -> list[float]:
    """Places for labels that want to be at given places but need this much space each."""
    order = sorted(range(len(placed)), key=placed.__getitem__)
    found = list(placed)
    for before, after in pairwise(order):
        found[after] = max(found[after], found[before] + room)
    return found
