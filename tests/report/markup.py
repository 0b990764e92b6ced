"""Reads markup as strictly as an editor would, and finds what it refers to."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Outline(HTMLParser):
    """What a page holds: its headings, ids and links; every element must be closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[tuple[int, str]] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.elements: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the element."""
        self.elements.append(tag)
        named = dict(attrs)
        if named.get("id"):
            self.ids.append(str(named["id"]))
        if "href" in named:
            self.links.append(str(named["href"]))
        if tag in ("h1", "h2", "h3"):
            self.headings.append((int(tag[1]), ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that closes itself."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        """It must be the one opened last."""
        assert self.open, f"{tag} was never opened"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Text, of headings in particular."""
        if "style" not in self.open:
            self.text.append(data)
        if self.open and self.open[-1] in ("h1", "h2", "h3"):
            level, before = self.headings[-1]
            self.headings[-1] = (level, before + data)

    @classmethod
    def of(cls, page: str) -> Outline:
        """Read a page."""
        found = cls()
        found.feed(page)
        found.close()
        assert not found.open
        return found


def references(page: str) -> list[str]:
    """Whatever a page would fetch from elsewhere."""
    named = page.replace('xmlns="http://www.w3.org/2000/svg"', "")
    found = re.findall(r"https?:[^\s\"']*|//[\w.-]+\.\w+|\bsrc\s*=|@import|<link|<script", named)
    found += [url for url in re.findall(r"url\(([^)]*)\)", named) if not url.startswith("#")]
    return found + [link for link in Outline.of(page).links if not link.startswith("#")]
