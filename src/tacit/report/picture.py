"""`Picture`: what can be seen, what it says in words, and the numbers behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tacit.errors import InputError
from tacit.io.files import replacing
from tacit.report.style import PICTURE_STYLE
from tacit.report.svg import Drawing

CONFIDENTIAL = "confidential"
REPORT_SUFFIX = ".html"
WARNING = "CONFIDENTIAL: working version with what readers must not know; not for publication"


@dataclass(frozen=True)
class Numbers:
    """The numbers behind a picture, for those who would rather read.

    Attributes:
        header: What the columns hold.
        rows: The rows, as text; the first column names the row.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Picture:
    """A picture, drawn as SVG. Notebooks show it; `save` writes it to a file.

    Attributes:
        name: A short name without spaces.
        title: What it shows.
        description: What can be seen in it, for those who cannot see it.
        drawing: The picture itself.
        caption: How it is to be read.
        numbers: The numbers behind it; None where they would be too many.
        confidential: Whether it shows what readers must not know.
    """

    name: str
    title: str
    description: str
    drawing: Drawing
    caption: str = ""
    numbers: Numbers | None = None
    confidential: bool = False

    @property
    def svg(self) -> str:
        """The picture for a page that has the style sheet."""
        return self.drawing.svg(self.name, self.title, self.description)

    def _repr_svg_(self) -> str:
        return self.drawing.svg(self.name, self.title, self.description, style=PICTURE_STYLE)

    def _repr_html_(self) -> str:
        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        return f"<figure>{self._repr_svg_()}{caption}</figure>"

    def save(self, path: str | Path) -> Path:
        """Write the picture as an SVG file that stands alone.

        Raises:
            InputError: The name does not end in .svg, or does not say that the picture is
                confidential when it is.
        """
        target = Path(path)
        check_name(target, ".svg", confidential=self.confidential)
        mark = f"<!-- {WARNING} -->\n" if self.confidential else ""
        with replacing(target, confidential=self.confidential) as stream:
            stream.write(f"{mark}{self._repr_svg_()}\n".encode())
        return target

    def __repr__(self) -> str:
        return f"Picture({self.title!r})"


def check_name(path: Path, ending: str, *, confidential: bool) -> None:
    """Refuse a file of another kind, and one that does not say that it is confidential."""
    if not path.name.lower().endswith(ending):
        raise InputError(f"the name must end in {ending}", path=path)
    if confidential and CONFIDENTIAL not in path.name.lower():
        raise InputError(
            "this holds what readers must not know: its name must say so, as in "
            f"{path.stem}.{CONFIDENTIAL}{path.suffix}",
            path=path,
        )


def joined(texts: Sequence[str]) -> str:
    """Texts as a list within a sentence.

    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
