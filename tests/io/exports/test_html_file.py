"""Publications as web pages."""

from __future__ import annotations

from pathlib import Path

from tests.io.exports.reading import Page
from tests.release.tables import intervals, linked, published


def test_a_page_needs_nothing_else(tmp_path: Path) -> None:
    """There is a language, a title, a legend, and no link to anywhere."""
    path = tmp_path / "published.html"
    published().to_html(path, title="Turnover <2024>", marks="c")
    text = path.read_text()
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert "<title>Turnover &lt;2024&gt;</title>" in text
    page = Page.of(text)
    assert page.links == []
    assert page.cells.count("c") == 4
    assert "http" not in text


def test_linked_tables_on_one_page(tmp_path: Path) -> None:
    """Each has a caption that names its dimensions."""
    path = tmp_path / "published.html"
    linked().to_html(path)
    assert Page.of(path.read_text()).captions == ["industry by region", "industry by size"]


def test_a_list_with_flags(tmp_path: Path) -> None:
    """One line per cell, numbers with thousands apart, flags explained."""
    path = tmp_path / "published.html"
    intervals().to_html(path, flags="status", value="turnover")
    page = Page.of(path.read_text())
    assert page.headers("col") == ["industry", "region", "turnover", "lower", "upper", "status"]
    lines = [tuple(page.cells[place : place + 6]) for place in range(0, len(page.cells), 6)]
    assert ("A1", "N", "", "1\u202f000.0", "1\u202f250.3", "interval") in lines
    assert ("A2", "N", "x", "", "", "suppressed") in lines
    assert "published as an interval, to protect respondents" in page.text
