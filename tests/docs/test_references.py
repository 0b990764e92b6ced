"""Papers are cited by key, and every key that is cited stands in docs/references.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from .blocks import PAGES, ROOT

REFERENCES = ROOT / "docs" / "references.md"
SOURCES = (*PAGES, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "src").rglob("*.py")))
LINES = [line for line in REFERENCES.read_text().splitlines() if line.startswith("- <a id=")]
_ENTRY = re.compile(
    r'- <a id="(?P<key>\w+)"></a>\*\*\[(?P=key)\]\*\* (?P<authors>[^*(]+) \((?P<year>\d{4})\)\. '
    r"\*(?P<title>[^*]+)\*\. (?P<where>.+?)\. For: (?P<use>.+)\."
)
_DOI = re.compile(r"\[doi:(?P<doi>10\.\d{4,9}/[^]\s]+)\]\(https://doi\.org/(?P<link>[^)\s]+)\)")
_CITED = re.compile(r"\[(?P<key>[A-Z][A-Za-z]+\d{4}[a-z]?)(?:, [^]\n]+)?\]")


def keys() -> list[str]:
    """The keys of all entries, in the order of the page."""
    return [found["key"] for line in LINES if (found := _ENTRY.fullmatch(line))]


def cited(text: str) -> Iterator[str]:
    """The keys that a text cites."""
    for found in _CITED.finditer(text):
        yield found["key"]


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.partition('"')[2].partition('"')[0])
def test_an_entry_says_who_when_and_what(line: str) -> None:
    """Each has authors, year, title and where it appeared; the key ends with the year."""
    entry = _ENTRY.fullmatch(line)
    assert entry is not None
    assert re.fullmatch(rf"[A-Z][A-Za-z]+{entry['year']}[a-z]?", entry["key"])
    assert len(entry["authors"].split()) > 1
    assert entry["title"].strip()
    found = _DOI.search(line)
    assert (found is None) == ("doi" not in line.lower())
    assert found is None or found["doi"] == found["link"]


def test_keys_stand_once() -> None:
    """A key means one publication."""
    assert len(set(keys())) == len(keys()) == len(LINES) > 40


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_keys_that_are_cited_exist(path: Path) -> None:
    """Pages, docstrings and comments cite only what the page of references has."""
    assert set(cited(path.read_text())) <= set(keys())


_NUMBERED = re.compile(r"\bpapers?\s+\**00[0-4]\b", re.IGNORECASE)
OTHERS = (*ROOT.glob("studies/*"), *ROOT.glob("studies/**/*.py"), *ROOT.glob("tests/**/*.py"))


@pytest.mark.parametrize(
    "path",
    sorted(path for path in {*SOURCES, *OTHERS, ROOT / "CHANGELOG.md"} if path.is_file()),
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_papers_have_no_numbers(path: Path) -> None:
    """Nobody outside the project knows which paper a number stands for."""
    assert _NUMBERED.findall(path.read_text()) == []


def test_citations_in_pages_lead_to_the_references() -> None:
    """Whoever reads a page can follow a citation to its entry."""
    for path in PAGES:
        if path == REFERENCES:
            continue
        text = re.sub(r"(?ms)^```.*?^```|`[^`\n]*`", "", path.read_text())
        for found in _CITED.finditer(text):
            link = text[found.end() :].partition(")")[0]
            assert link.endswith(f"references.md#{found['key']}"), f"{path.name}: {found[0]}"


def test_citations_are_recognised() -> None:
    """By key alone, or with an equation, section or figure; indices and links are not citations."""
    text = (
        "as in [Castro2012, (16)] and [Cox1995]; [BenAmeurNeto2007, section 3]; a[N2], [the guide]"
    )
    assert list(cited(text)) == ["Castro2012", "Cox1995", "BenAmeurNeto2007"]
