"""Reads published files again, independently of tacit."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Self
from xml.etree import ElementTree

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


class Page(HTMLParser):
    """The parts of an HTML page that tests ask for."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.shaded: list[str] = []
        self.captions: list[str] = []
        self.text = ""
        self.links: list[str] = []
        self._headers: list[tuple[str, str]] = []
        self._open: list[tuple[str, dict[str, str | None]]] = []
        self._inside = ""

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a page."""
        page = cls()
        page.feed(text)
        page.close()
        return page

    def headers(self, scope: str) -> list[str]:
        """The header cells with a scope."""
        return [text for found, text in self._headers if found == scope]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what opens; links would need the network."""
        given = dict(attrs)
        self.links += [str(given[name]) for name in ("src", "href") if name in given]
        if tag in ("th", "td", "caption"):
            self._open.append((tag, given))
            self._inside = ""

    def handle_data(self, data: str) -> None:
        """Note text."""
        self.text += data
        self._inside += data

    def handle_endtag(self, tag: str) -> None:
        """Note what was in it."""
        if tag not in ("th", "td", "caption"):
            return
        opened, given = self._open.pop()
        assert opened == tag
        if tag == "th":
            self._headers.append((str(given.get("scope")), self._inside))
        elif tag == "caption":
            self.captions.append(self._inside)
        elif "colspan" not in given:
            self.cells.append(self._inside)
            if given.get("class") == "h":
                self.shaded.append(self._inside)


@dataclass
class Workbook:
    """The sheets of an Excel file: texts and numbers by the place of the cell."""

    sheets: dict[str, dict[str, str | float]] = field(default_factory=dict)
    formulas: int = 0
    quoted: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a workbook."""
        book = cls()
        with zipfile.ZipFile(path) as archive:
            shared = [
                "".join(part.itertext())
                for part in ElementTree.fromstring(archive.read("xl/sharedStrings.xml"))
            ]
            names = [
                str(sheet.get("name"))
                for sheet in ElementTree.fromstring(archive.read("xl/workbook.xml")).iter(
                    f"{_MAIN}sheet"
                )
            ]
            styles = ElementTree.fromstring(archive.read("xl/styles.xml"))
            formats = styles.find(f"{_MAIN}cellXfs")
            assert formats is not None
            prefixed = [entry.get("quotePrefix") == "1" for entry in formats]
            for number, name in enumerate(names, 1):
                sheet = ElementTree.fromstring(archive.read(f"xl/worksheets/sheet{number}.xml"))
                cells: dict[str, str | float] = {}
                for cell in sheet.iter(f"{_MAIN}c"):
                    book.formulas += cell.find(f"{_MAIN}f") is not None
                    value = cell.find(f"{_MAIN}v")
                    if value is None or value.text is None:
                        continue
                    text = cell.get("t") == "s"
                    shown = shared[int(value.text)] if text else float(value.text)
                    cells[str(cell.get("r"))] = shown
                    if prefixed[int(cell.get("s", "0"))]:
                        book.quoted.add(str(shown))
                book.sheets[name] = cells
        return book
