"""Reports: complete, self-contained, and without what readers must not know."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.methods import registry
from tacit.report import html_report, write_report
from tests.leaks import distinctive_release, leaks
from tests.report.markup import Outline, references
from tests.report.releases import (
    changed_release,
    large_release,
    made_table,
    pattern,
    put_together,
    small_release,
    wide_release,
)

METHODS = tuple(registry.METHODS)


@pytest.mark.parametrize("confidential", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_a_report_is_one_sound_page_that_fetches_nothing(method: str, confidential: bool) -> None:
    """Elements are closed, ids are unique, links lead somewhere, and nothing lies elsewhere."""
    page = html_report(small_release(method), confidential=confidential)
    outline = Outline.of(page)
    assert references(page) == []
    assert len(outline.ids) == len(set(outline.ids))
    assert {link.removeprefix("#") for link in outline.links} <= set(outline.ids)
    assert [level for level, _ in outline.headings] == [1] + [2] * (len(outline.headings) - 1)


def test_the_parts_of_the_two_versions() -> None:
    """Readers get what they may see; the working version also has costs and objective."""
    release = small_release()
    readers = [text for _, text in Outline.of(html_report(release)).headings]
    assert readers == [
        "Table by business and location",
        "What was done and what holds",
        "Which cells are published",
        "What is lost at each level",
        "The published table",
    ]
    house = [text for _, text in Outline.of(html_report(release, confidential=True)).headings]
    assert house == [
        "Table by business and location",
        "What was done and what holds",
        "Where the sensitive and the secondary cells are",
        "What is lost at each level",
        "How closely suppressed cells can be deduced",
        "Objective and proven bound over time",
        "What protecting each sensitive cell costs",
        "The published table",
    ]


def test_published_intervals_are_shown_to_readers() -> None:
    """The widths of published intervals are in both versions, and so are their ends."""
    release = small_release("intervals")
    for confidential in (False, True):
        assert "How wide the published intervals are" in html_report(
            release, confidential=confidential
        )
    assert release.published.lower is not None
    low = np.nanmin(release.published.lower[release.published.is_hidden])
    assert f"{low:g} – " in html_report(release)


def test_changed_values_are_compared_in_the_house_only() -> None:
    """Only the working version shows how far values are from the truth."""
    release = changed_release()
    assert "How far published values are" in html_report(release, confidential=True)
    assert "How far published values are" not in html_report(release)


@pytest.mark.parametrize("method", METHODS)
def test_the_report_for_readers_leaks_nothing(method: str) -> None:
    """No value, contribution, level, parameter, objective or bound is in the bytes."""
    release = distinctive_release(method)
    assert leaks(html_report(release).encode(), release) == []


@pytest.mark.parametrize("method", METHODS)
def test_a_leak_would_be_found(method: str, tmp_path: Path) -> None:
    """The working version, which holds true values, is caught by the same search."""
    release = distinctive_release(method)
    path = release.report(tmp_path / "r.confidential.html", confidential=True)
    found = leaks(path.read_bytes(), release)
    assert any(name.startswith("value of") for name in found)
    assert "objective" in found


def test_readers_cannot_tell_sensitive_cells_from_those_that_protect_them() -> None:
    """With other sensitive cells and the same cells suppressed, pictures are the same."""
    table = made_table(6, 5, 4)
    solution = pattern(table, 0.3)
    other = np.where(solution.suppressed, "sensitive", "safe")
    swapped = table.replace(status=other)
    first, second = put_together(table, solution), put_together(swapped, solution)
    counts = [len(release.papers.problem.sensitive) for release in (first, second)]
    assert counts == [4, int(solution.suppressed.sum())]
    for picture in (tacit.report.heat_map, tacit.report.loss_by_level):
        assert picture(first).svg == picture(second).svg
        assert picture(first, confidential=True).svg != picture(second, confidential=True).svg


def test_confidential_reports_say_so(tmp_path: Path) -> None:
    """In the name, in the first line, in the title of the window and on the page."""
    release = small_release()
    with pytest.raises(tacit.InputError, match=r"as in report\.confidential\.html"):
        release.report(tmp_path / "report.html", confidential=True)
    with pytest.raises(tacit.InputError, match=r"must end in \.html"):
        release.report(tmp_path / "report.pdf")
    assert list(tmp_path.iterdir()) == []
    path = release.report(tmp_path / "report.confidential.html", confidential=True)
    page = path.read_text()
    assert "CONFIDENTIAL" in page.splitlines()[0]
    assert "<title>CONFIDENTIAL - " in page
    assert "CONFIDENTIAL" in "".join(Outline.of(page).text)
    assert "CONFIDENTIAL" not in html_report(release)


def test_a_title_is_escaped_and_shown() -> None:
    """Titles, codes and names of dimensions are text, never markup."""
    codes = tacit.Hierarchy.flat(["<b>", "a&b", '"x"'])
    table = tacit.Table.from_cube(np.array([5.0, 7.0, 9.0]), {"<i>": codes})
    release = put_together(table, tacit.Suppression(np.zeros(4, bool)))
    page = html_report(release, title="Turnover <2024>")
    outline = Outline.of(page)
    assert outline.headings[0] == (1, "Turnover <2024>")
    assert not {"b", "i"} & set(outline.elements)
    assert references(page) == []


def test_a_problem_without_dimensions_has_a_report() -> None:
    """Cells of a JJ file are shown in their order, without a table by codes."""
    problem = tacit.generators.generate_by_name("2d", structure="5-6-3", seed=1)
    release = tacit.protect(problem, time_limit=5)
    page = html_report(release, confidential=True)
    assert f"A table of {problem.cell_count} cells" in page
    assert 'class="cells"' not in page
    assert "What is lost at each level" in page


@pytest.mark.parametrize("confidential", [False, True])
def test_twenty_thousand_cells_are_light(confidential: bool, tmp_path: Path) -> None:
    """Less than 3 MB and a few seconds of computing for a large table."""
    release = large_release()
    assert release.published.cell_count > 20_000
    start = time.process_time()
    path = write_report(release, tmp_path / "r.confidential.html", confidential=confidential)
    assert time.process_time() - start < 10
    assert path.stat().st_size < 3_000_000
    assert references(path.read_text()) == []


def test_a_wide_table_is_turned_for_paper() -> None:
    """In numbers the longer dimension goes down the page, however the table was given."""
    page = html_report(wide_release())
    assert "<caption>region by industry" in page


def test_the_same_release_gives_the_same_report() -> None:
    """Nothing in a report depends on when it is written."""
    assert html_report(small_release()) == html_report(small_release())
