"""The pages of the site: all of them, and everything public in the reference."""

from __future__ import annotations

import re

import tacit

from .blocks import PAGES, ROOT

NAVIGATION = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2].partition("\n\n")[0]
REFERENCE = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))


def test_every_page_is_in_the_navigation() -> None:
    """A page that nobody finds is no page."""
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in PAGES if page.parent != ROOT}
    named = set(re.findall(r"(\S+\.md)$", NAVIGATION, re.MULTILINE))
    assert pages <= named


def test_every_page_can_be_reached_from_the_first_one() -> None:
    """Who reads on GitHub has no navigation but the links."""
    index = (ROOT / "docs" / "index.md").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "index.md" or f"]({page.name}" in index, page.name


def test_everything_public_is_in_the_reference() -> None:
    """Each name that `import tacit` offers has its entry."""
    documented = set(re.findall(r"(?m)^::: tacit\.(\w+)", REFERENCE))
    assert set(tacit.__all__) - {"__version__"} <= documented


def test_links_of_the_readme_lead_somewhere() -> None:
    """Those of the pages are checked by `make docs`."""
    linked = re.findall(r"\]\(([^)#:]+)", (ROOT / "README.md").read_text())
    assert linked
    assert all((ROOT / path).exists() for path in linked)
