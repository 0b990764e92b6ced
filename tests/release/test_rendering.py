"""HTML of releases, for notebooks and pages."""

from __future__ import annotations

import numpy as np

import tacit
from tacit.hierarchy import Hierarchy
from tacit.release import Published
from tacit.table import Table
from tests.io.exports.reading import Page
from tests.release.tables import HIDDEN, mask, published


def test_headers_name_what_they_are_headers_of() -> None:
    """Screen readers learn of each number which row and column it is in."""
    page = Page.of(published().pivot("industry", "region").to_html())
    assert page.headers("col") == ["industry", "Total", "N", "S"]
    assert page.headers("colgroup") == ["region"]
    assert page.headers("row") == ["Total", "A", "A1", "A2", "B"]
    assert page.captions == ["industry by region"]
    assert len(page.cells) == 15
    assert page.cells.count("x") == 4
    assert "not published, to protect respondents" in page.text


def test_codes_cannot_become_markup() -> None:
    """Names, codes and marks are text, whatever is in them."""
    evil = "<script>alert('&')</script>"
    table = Table.from_cube(np.ones(2), {evil: Hierarchy.flat([evil, "b"])})
    outcome = tacit.Outcome(
        status=tacit.Status.FEASIBLE, solution=tacit.Suppression(np.array([False, True, True]))
    )
    shown = Published.of(table, outcome).pivot().to_html(marks="<b>")
    assert "<script" not in shown
    page = Page.of(shown)
    assert page.headers("row") == ["Total", evil, "b"]
    assert page.cells == ["2", "<b>", "<b>"]


def test_a_notebook_shows_a_part_of_a_large_table() -> None:
    """Not more rows and columns than one looks at."""
    table = Table.from_cube(
        np.ones((200, 40)),
        {"x": Hierarchy.flat(range(200)), "y": Hierarchy.flat(range(40))},
    )
    outcome = tacit.Outcome(
        status=tacit.Status.FEASIBLE, solution=tacit.Suppression(np.zeros(table.cell_count, bool))
    )
    page = Page.of(Published.of(table, outcome)._repr_html_())
    assert len(page.headers("row")) == 60
    assert len(page.headers("col")) == 21


def test_a_release_in_a_notebook() -> None:
    """The summary is there line by line, with the guarantee."""
    table = tacit.examples.get("002-figure-2.4").table
    assert table is not None
    release = tacit.protect(table.apply(tacit.PPercent(10)), "suppress", time_limit=10)
    page = Page.of(release._repr_html_())
    assert page.headers("row") == list(release.summary_rows())
    assert release.guarantee in page.text
    assert page.captions == [repr(release)]


def test_hidden_cells_are_not_told_by_colour_alone() -> None:
    """Every cell that is shaded has a mark or an interval as well."""
    page = Page.of(published().pivot().to_html())
    assert page.shaded == ["x"] * int(mask(*HIDDEN).sum())
