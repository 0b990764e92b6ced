"""Pages: one HTML file with everything in it, and nothing that is fetched from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tacit.io.files import replacing
from tacit.report.picture import WARNING, Numbers, Picture
from tacit.report.style import PAGE_STYLE
from tacit.report.svg import element
from tacit.version import __version__

# A browser that honours this would refuse to fetch anything, whatever the page asked for.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True)
class PageSection:
    """A part of a page.

    Attributes:
        anchor: Its id.
        title: Its heading.
        content: Its markup.
    """

    anchor: str
    title: str
    content: str


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page.

    Attributes:
        kind: What kind of paper it is, in a few words.
        title: Its title.
        lead: One sentence on what it is about.
        figures: The few numbers that matter most, by name.
        sections: Its parts.
        warning: What readers must be warned of; nothing for a page that may be published.
    """

    kind: str
    title: str
    lead: str
    figures: Mapping[str, str]
    sections: Sequence[PageSection]
    warning: str = ""

    def html(self) -> str:
        """The whole page."""
        mark = f"<!-- {escape(self.warning)} -->" if self.warning else ""
        links = "".join(
            f'<li><a href="#{part.anchor}">{escape(part.title)}</a></li>' for part in self.sections
        )
        return "\n".join(
            [
                f"<!DOCTYPE html>{mark}",
                '<html lang="en">',
                "<head>",
                '<meta charset="utf-8">',
                f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
                '<meta name="viewport" content="width=device-width, initial-scale=1">',
                f'<meta name="generator" content="tacit {__version__}">',
                f"<title>{escape(self._window_title())}</title>",
                f"<style>{PAGE_STYLE}</style>",
                "</head>",
                "<body>",
                '<a class="skip" href="#content">To the content</a>',
                '<header class="masthead">',
                f'<p class="kind">{escape(self.kind)}</p>',
                f"<h1>{escape(self.title)}</h1>",
                f'<p class="lead">{escape(self.lead)}</p>',
                f'<p class="warning" role="note">{escape(self.warning)}</p>' * bool(self.warning),
                f'<nav aria-label="Contents"><ul>{links}</ul></nav>',
                "</header>",
                '<main id="content">',
                key_figures(self.figures),
                *(_section(part) for part in self.sections),
                "</main>",
                f"<footer><p>Made with tacit {__version__}.</p></footer>",
                "</body>",
                "</html>",
                "",
            ]
        )

    def _window_title(self) -> str:
        return f"{'CONFIDENTIAL - ' * (self.warning == WARNING)}{self.title}"

    def write(self, path: Path) -> None:
        """Write the page; it appears complete or not at all."""
        with replacing(path, confidential=bool(self.warning)) as stream:
            stream.write(self.html().encode())


def _section(part: PageSection) -> str:
    heading = f"{part.anchor}-heading"
    return (
        f'<section id="{part.anchor}" aria-labelledby="{heading}">'
        f'<h2 id="{heading}">{escape(part.title)}</h2>\n{part.content}\n</section>'
    )


def key_figures(figures: Mapping[str, str]) -> str:
    """The few numbers that matter most, large."""
    inside = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(told)}</dd></div>"
        for name, told in figures.items()
    )
    return f'<dl class="figures">{inside}</dl>'


def paragraph(text: str) -> str:
    """A paragraph."""
    return f"<p>{escape(text)}</p>"


def figure(picture: Picture) -> str:
    """A picture with its caption, and its numbers for those who would rather read."""
    parts = [f'<div class="scroll">{picture.svg}</div>']
    if picture.caption:
        parts.append(element("figcaption", escape(picture.caption)))
    if picture.numbers is not None:
        table = numbers_table(picture.numbers, f"{picture.title}: the numbers")
        parts.append(f"<details><summary>The numbers</summary>{table}</details>")
    return f"<figure>{''.join(parts)}</figure>"


def numbers_table(numbers: Numbers, caption: str) -> str:
    """Numbers as a table."""
    head = "".join(
        f'<th scope="col"{_words(place == 0)}>{escape(name)}</th>'
        for place, name in enumerate(numbers.header)
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in numbers.rows
    )
    return (
        f'<div class="scroll" tabindex="0"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def facts(rows: Mapping[str, str]) -> str:
    """Names and texts as a table."""
    inside = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(told)}</td></tr>'
        for name, told in rows.items()
    )
    return f'<table class="facts"><tbody>{inside}</tbody></table>'


def _words(are_words: bool) -> str:
    return ' class="words"' if are_words else ""
